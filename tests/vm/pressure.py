# SPDX-License-Identifier: GPL-2.0
"""Memory pressure on both roles at once, with separate kernels.

Small guests lend each other a little and each runs a program bigger than
itself; larger guests hold the rest, or are left out. A Shape says how many
there are, and what protects the pages. Invariants: the guests have no other
swap; hung tasks panic the guest, so a hang ends the run as a lost guest; pages
between the small guests are counted by the one that keeps them, and only
between two moments at which all programs were eating.
"""
import dataclasses
import itertools
import json
import time

from nswaptest import check
from nswaptest.check import Failure, wait_for

from .proc import stats, table

EAT_SECONDS = 60
RUN_LIMIT = 250
LENT = "16M"
# What the others lend has room for every small guest's: a kernel that has room
# on its swap device keeps the slots of what it has paged in, and a device larger
# than what the others lend is one whose page-outs fail.
DEVICE_MB = 168
# Without the third guest they are to fail. As long as it has free slots the
# kernel tries every page again, about 40 times, before it gives up: with 256 MB
# that is minutes of emulation, so there the slots end soon.
CUT_SECONDS = 6         # more than it takes to give up a connection, and as long until the next
ALONE_MB = {128: 224, 256: 48}
EACH_WAY = 2000
SWAPPED = 10000         # pages of each resting program at peers, if protected
LOCKED_GAP_S = 5
ORDINARY_GAP_S = 20
BEATS = {"locked": (["--mlock"], LOCKED_GAP_S),
         "ordinary": ([], ORDINARY_GAP_S)}


@dataclasses.dataclass(frozen=True)
class Shape:
    """The guests of a run, and what they swap to.

    small, small_mb     guests that eat and lend LENT, and the RAM of each
    large, large_mb     guests that hold the rest, likewise
    lent_mb             what each large guest lends
    device_mb           the device of each small guest
    protect             what protects it: that of the first, of the second, in turn
    seconds, passes     each program eats that much at least, of both
    advised             the small guests have the vm.min_free_kbytes that doctor asks for
    over_mb             each program is so much bigger than its guest's RAM
    options             more of device add, and the kind of what the programs write
    data
    keys                the guests have keys, so devices are sealed, and two small
                        ones are cut from each other meanwhile, again and again
    """
    small: int = 2
    small_mb: int = 128
    large: int = 1
    large_mb: int = 512
    lent_mb: int = 340
    device_mb: int = DEVICE_MB
    protect: tuple = ("none",)
    seconds: int = EAT_SECONDS
    passes: int = 2
    advised: bool = False
    over_mb: int = 64
    options: tuple = ()
    data: str = "random"
    keys: bool = False

    @property
    def protected(self):
        """Whether the pages shall survive a peer."""
        return self.protect != ("none",)


# Two copies of a page, or a page and its check, are at two guests: both large
# ones are needed, and each has room for one of everything.
MIRROR = Shape(large=2, lent_mb=350, protect=("mirror",), passes=1, advised=True)
PARITY = dataclasses.replace(MIRROR, protect=("parity:2+1",))
SEALED = dataclasses.replace(MIRROR, protect=MIRROR.protect + PARITY.protect, keys=True,
                             over_mb=16)
COMPRESSED = Shape(options=("--compress", "lz4"), data="mixed", advised=True)
CACHED = Shape(small_mb=160, options=("--cache", "4M", "--early-ack"), advised=True)
THREE = Shape(small=3, large_mb=704, lent_mb=512, passes=1, over_mb=32, advised=True)
THREE_MIRROR = Shape(small=3, large=2, large_mb=704, lent_mb=512,
                     protect=MIRROR.protect, passes=1, advised=True)


def watch_for_hangs(node):
    """A task stuck for 20 s panics the guest."""
    for name, value in (("hung_task_timeout_secs", 20),
                        ("hung_task_check_interval_secs", 5),
                        ("hung_task_panic", 1)):
        node.write(f"/proc/sys/kernel/{name}", str(value))


def follow_advice(t, node):
    """Set vm.min_free_kbytes as doctor says. With the default of
    so small a machine, 1 MiB, a virtual network card may have no memory for what comes
    in, while what would free some waits for that. And no more than that, as usage.md says
    of such machines: where memory is in pieces the kernel adds 150 %, and kills programs
    while as much is free."""
    node.write("/proc/sys/vm/watermark_boost_factor", "0")
    done = node.run([node.prog("nswapctl"), "--json", "doctor"], check=False)
    fixes = [f["fix"] for f in json.loads(done.out) if f["check"] == "memory reserve"]
    check.equal(len(fixes), 1, "findings of doctor about the memory reserve")
    name, kb = fixes[0].split()[-1].split("=")
    check.equal(name, "vm.min_free_kbytes", "what doctor would set")
    node.write("/proc/sys/vm/min_free_kbytes", kb)
    t.log(f"{node}: {name} is {kb}")


def read_json(node, path):
    """A result file that its writer may be rewriting right now."""
    def parsed():
        try:
            return json.loads(node.read(path))
        except ValueError:
            return None
    return wait_for(parsed, 10, f"{node}: a whole line in {path}", every=0.02)


@dataclasses.dataclass(frozen=True)
class Served:
    """What a small guest did as a server: pages it took in for the other one
    and pages it gave back to it."""
    stored: int
    loaded: int

    def __sub__(self, other):
        return Served(self.stored - other.stored, self.loaded - other.loaded)


class Beats:
    """The heartbeats of a guest: one locked in memory, one that is swapped."""

    def __init__(self, node):
        self.node = node
        self.beats = {
            kind: node.popen([node.prog("heartbeat"), "--out",
                              f"/beat-{kind}.json", *args])
            for kind, (args, _) in BEATS.items()}

    def check(self, t, bounded=tuple(BEATS)):
        """End them; fail if one of bounded had too long a gap, or is gone. The
        OOM killer may have chosen one that is not: it is a program like any."""
        for kind, (_, limit) in BEATS.items():
            if kind not in bounded and self.beats[kind].poll() == -9:
                t.log(f"{self.node}: the {kind} heartbeat was killed")
                continue
            if self.beats[kind].poll() is not None:
                raise Failure(f"{self.node}: the {kind} heartbeat is gone")
            self.beats[kind].kill(15)
            done = self.beats[kind].wait(30).check()
            gap = json.loads(done.out)["max_gap_ms"] / 1000
            t.log(f"{self.node}: longest gap of the {kind} heartbeat {gap} s")
            if kind not in bounded:
                continue
            check.at_most(gap, limit, f"{self.node}: longest gap of the "
                                      f"{kind} heartbeat in seconds")


class Eating:
    """A small guest with its program and its heartbeats. Where pages are
    protected the program rests at the end, with all it has, until rest_over()."""

    def __init__(self, node, shape):
        self.node, self.shape = node, shape
        self.beats = Beats(node)
        mb = node.meminfo_kb("MemTotal") // 1024 + shape.over_mb
        node.write("/eater.json", json.dumps(
            {"state": "starting", "passes": 0, "verified": 0}))
        self.eater = node.popen([
            node.prog("eater"), "--mb", str(mb), "--passes", str(shape.passes),
            "--seconds", str(shape.seconds), "--seed", str(7 + node.index),
            "--out", "/eater.json", "--data", shape.data, *["--hold"] * shape.protected])

    def state(self):
        """What the program says of itself; "ended" once it has."""
        if self.eater.poll() is not None:
            return "ended"
        return read_json(self.node, "/eater.json")["state"]

    def eats(self):
        """Whether the program still eats."""
        return self.state() not in ("ended", "holding")

    def progress(self):
        """Passes and pages compared so far, for the log."""
        now = read_json(self.node, "/eater.json")
        return f"pass {now['passes']}, {now['verified']} pages right;"

    def served(self):
        """What this node did for the other small guests so far: the only ones
        that swap to it, and check_owners() says so."""
        now = stats(self.node)
        return Served(now["pages_stored"], now["pages_loaded"])

    def check_owners(self):
        """Only the other small guests have pages here."""
        check.equal(len(table(self.node, "cache")), self.shape.small - 1,
                    f"{self.node}: owners of the pages it holds")

    def check_protected(self, t):
        """While the program rests: enough of it is at peers, and no page is
        exposed in the end, for there is room for all."""
        def unexposed():
            device = self.node.devices()[0]
            t.log(f"{self.node}: {device['exposed_pages']} pages exposed of "
                  f"{device['slots_remote']} at peers")
            return device if not device["exposed_pages"] else None
        device = wait_for(unexposed, 30, f"{self.node}: no page is exposed",
                          every=1)
        check.at_least(device["slots_remote"], SWAPPED,
                       f"{self.node}: pages at peers")

    def rest_over(self):
        """The program compares every page once more and ends."""
        self.eater.kill(15)

    def result(self, limit=1):
        """The program's JSON result, once it has ended."""
        done = self.eater.wait(limit)
        if done.code != 0:
            raise Failure(f"{self.node}: the program ended with {done.code}: "
                          f"{(done.err or done.out).strip()}")
        return json.loads(done.out)


def _start(t, series, shape):
    memory = [shape.small_mb] * shape.small + [shape.large_mb] * shape.large
    cluster = t.cluster(len(memory), kernel=series, memory_mb=memory)
    small = cluster.nodes[:shape.small]
    for node in cluster:
        watch_for_hangs(node)
        node.up(lend=LENT if node in small else f"{shape.lent_mb}M",
                **({"secret": node.secret()} if shape.keys else {}))
    cluster.wait_connected()
    for node, protect in zip(small, itertools.cycle(shape.protect)):
        node.ctl("policy", "place", "round-robin")
        device = node.ctl("device", "add", "--size", f"{shape.device_mb}M",
                          *shape.options)["device"]
        node.wait_sessions()
        if shape.protected:
            node.ctl("device", "protect", device, protect)
        if shape.advised:
            follow_advice(t, node)
        check.true(node.devices()[0]["sealed"] or not shape.keys, "the device is sealed")
        node.swapon(device)
    return cluster, small


def _end(cluster, small):
    """Swap off everywhere; then no guest holds a page for another."""
    for node in small:
        node.swapoff("nswap0")
        node.device_del("nswap0")
    wait_for(lambda: cluster.held_pages() == 0, 20,
             "no node holds a page for another one")


class Cut:
    """Two small guests that are cut from each other while they starve: their
    connections break, and they have to agree on keys again. Pages that wait for the peer
    are most of what the kernel could free then, and it kills no program for that."""

    def __init__(self, cluster, small):
        self.cluster, self.pair = cluster, small[:2]
        self.before, self.away, self.until = None, False, 0

    def step(self):
        """Called now and then: cut them if they have been together for long, and the
        other way round."""
        if time.monotonic() < self.until:
            return
        self.before = self.before or [node.stat()["client"]["sessions"] for node in self.pair]
        self.away = not self.away
        (self.cluster.cut if self.away else self.cluster.heal)(*self.pair)
        self.until = time.monotonic() + CUT_SECONDS

    def check(self, t):
        """They are connected again."""
        check.true(self.before, "they were cut")
        self.cluster.heal(*self.pair)
        self.cluster.wait_connected()
        for node, before in zip(self.pair, self.before):
            now = node.stat()["client"]["sessions"]
            t.log(f"{node}: {before} sessions before the cut, {now} now")
            check.at_least(now, before + 1, f"{node}: sessions that came up")


def _follow(t, eating, cut=None):
    """Wait until no program eats any more; what each guest served while all of
    them did, and for how long they did."""
    wait_for(lambda: not all(e.eats() for e in eating) or
             all(e.state() == "running" for e in eating),
             RUN_LIMIT, "every program has filled its memory", every=0.5)
    first = last = [e.served() for e in eating]
    start = end = time.monotonic()

    def over():
        nonlocal last, end
        now, at = [e.served() for e in eating], time.monotonic()
        eat = [e.eats() for e in eating]
        if all(eat):
            last, end = now, at
            t.log(" ".join(f"{e.node}: {e.progress()}" for e in eating))
            if cut:
                cut.step()
        return not any(eat)
    wait_for(over, RUN_LIMIT, "the end of every program", every=2)
    for e, a, b in zip(eating, first, last):
        served = b - a
        t.log(f"{e.node}: while all ate, for {end - start:.0f} s, it stored "
              f"{served.stored} pages of the other small guests and loaded "
              f"{served.loaded} back")
        t.log(f"{e.node}: {json.dumps(stats(e.node))}")
    return [b - a for a, b in zip(first, last)]


def none_lost(t, series, shape):
    """Small guests and large ones that have room for all: nothing at all may go
    wrong, and what shall be protected is."""
    t.expect_starved()
    cluster, small = _start(t, series, shape)
    eating = [Eating(node, shape) for node in small]
    cut = Cut(cluster, small) if shape.keys else None
    each_way = _follow(t, eating, cut)
    if cut:
        cut.check(t)
    if shape.protected:
        for e in eating:
            e.check_protected(t)
        for e in eating:
            e.rest_over()
    for e in eating:
        result = e.result(RUN_LIMIT)
        t.log(f"{e.node}: {json.dumps(result)}")
        check.equal(result["wrong_pages"], 0, f"{e.node}: wrong pages")
        if shape.data != "random":
            check.at_least(e.node.stat()["client"]["pages_compressed"], EACH_WAY,
                           f"{e.node}: pages that left compressed")
        check.at_least(result["passes"], shape.passes, f"{e.node}: passes")
        check.at_least(result["fill_seconds"] + result["seconds"],
                       shape.seconds, f"{e.node}: seconds of eating")
        e.beats.check(t)
    for e, served in zip(eating, each_way):
        e.check_owners()
        check.at_least(served.stored, EACH_WAY,
                       f"{e.node}: pages stored for the other small guests "
                       "while all ate")
    _end(cluster, small)


def without_third(t, series, small_mb):
    """Two small guests alone: the programs may be killed for want of
    memory, nothing else may happen."""
    t.expect_oom()
    t.expect_starved()
    shape = Shape(small_mb=small_mb, large=0, device_mb=ALONE_MB[small_mb])
    cluster, small = _start(t, series, shape)
    eating = [Eating(node, shape) for node in small]
    _follow(t, eating)
    for e in eating:
        done = e.eater.wait(1)
        t.log(f"{e.node}: the program ended with {done.code}")
        if done.code not in (0, -9):
            raise Failure(f"{e.node}: the program ended with {done.code}: "
                          f"{(done.err or done.out).strip()}")
        # what waits for the OOM killer waits; hung tasks panic all the same
        e.beats.check(t, bounded=("locked",))
    _end(cluster, small)
