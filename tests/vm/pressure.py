# SPDX-License-Identifier: GPL-2.0
"""Memory pressure on both roles at once, with separate kernels.

Two small guests lend each other a little and each runs a program bigger than
itself; a third, larger guest holds the rest, or is left out. Invariants: the
guests have no other swap; hung tasks panic the guest, so a hang ends the run
as a lost guest; pages between the small guests are counted by the one that
keeps them, and only between two moments at which both programs were eating.
"""
import dataclasses
import json
import time

from nswaptest import check
from nswaptest.check import Failure, wait_for

from .proc import stats, table

EAT_SECONDS = 120
RUN_LIMIT = 250
LENT = "16M"
BIG_MB = 512
BIG_LENT = "340M"
# Two of these fit into what is lent to both: a kernel that has room on its
# swap device keeps the slots of what it has paged in, and a device larger than
# what the others lend is one whose page-outs fail.
DEVICE_MB = 168
# Without the third guest they are to fail. As long as it has free slots the
# kernel tries every page again, about 40 times, before it gives up: with 256 MB
# that is minutes of emulation, so there the slots end soon.
ALONE_MB = {128: 224, 256: 48}
EACH_WAY = 2000
LOCKED_GAP_S = 5
ORDINARY_GAP_S = 20
BEATS = {"locked": (["--mlock"], LOCKED_GAP_S),
         "ordinary": ([], ORDINARY_GAP_S)}


def watch_for_hangs(node):
    """A task stuck for 20 s panics the guest."""
    for name, value in (("hung_task_timeout_secs", 20),
                        ("hung_task_check_interval_secs", 5),
                        ("hung_task_panic", 1)):
        node.write(f"/proc/sys/kernel/{name}", str(value))


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
    """A small guest with its program and its heartbeats."""

    def __init__(self, node, seed):
        self.node = node
        self.beats = Beats(node)
        mb = node.meminfo_kb("MemTotal") // 1024 + 64
        node.write("/eater.json", json.dumps(
            {"state": "starting", "passes": 0, "verified": 0}))
        self.eater = node.popen([
            node.prog("eater"), "--mb", str(mb), "--passes", "2",
            "--seconds", str(EAT_SECONDS), "--seed", str(seed),
            "--out", "/eater.json"])

    def running(self):
        """Whether the program still eats."""
        return self.eater.poll() is None

    def progress(self):
        """Passes and pages compared so far, for the log."""
        now = read_json(self.node, "/eater.json")
        return f"pass {now['passes']}, {now['verified']} pages right;"

    def served(self):
        """What this node did for the other small guest so far: the only one
        that swaps to it, and check_owner() says so."""
        now = stats(self.node)
        return Served(now["pages_stored"], now["pages_loaded"])

    def check_owner(self):
        """Only the other small guest has pages here."""
        check.equal(len(table(self.node, "cache")), 1,
                    f"{self.node}: owners of the pages it holds")

    def result(self):
        """The program's JSON result."""
        done = self.eater.wait(1)
        if done.code != 0:
            raise Failure(f"{self.node}: the program ended with {done.code}: "
                          f"{(done.err or done.out).strip()}")
        return json.loads(done.out)


def _start(t, series, small_mb, third):
    memory = [small_mb, small_mb] + [BIG_MB] * third
    cluster = t.cluster(len(memory), kernel=series, memory_mb=memory)
    for node in cluster:
        watch_for_hangs(node)
        node.up(lend=BIG_LENT if node.index == 2 else LENT)
    cluster.wait_connected()
    for node in cluster.nodes[:2]:
        node.ctl("policy", "place", "round-robin")
        node.swapon(node.device_add(
            f"{DEVICE_MB if third else ALONE_MB[small_mb]}M"))
    return cluster


def _end(cluster, devices):
    """Swap off everywhere; then no guest holds a page for another."""
    for node in cluster.nodes[:2]:
        node.swapoff(devices)
        node.device_del(devices)
    wait_for(lambda: cluster.held_pages() == 0, 20,
             "no node holds a page for another one")


def _follow(t, eating):
    """Wait for the end of both programs; what each guest served while both
    were eating, and for how long both were."""
    wait_for(lambda: any(not e.running() for e in eating) or
             all(read_json(e.node, "/eater.json")["state"] == "running"
                 for e in eating),
             RUN_LIMIT, "both programs have filled their memory", every=0.5)
    first = last = [e.served() for e in eating]
    start = end = time.monotonic()

    def over():
        nonlocal last, end
        now, at = [e.served() for e in eating], time.monotonic()
        if all(e.running() for e in eating):
            last, end = now, at
            t.log(" ".join(f"{e.node}: {e.progress()}" for e in eating))
        return not any(e.running() for e in eating)
    wait_for(over, RUN_LIMIT, "the end of both programs", every=2)
    return [b - a for a, b in zip(first, last)], end - start


def _log_end(t, e, served, seconds):
    t.log(f"{e.node}: while both ate, for {seconds:.0f} s, it stored "
          f"{served.stored} pages of the other small guest and loaded "
          f"{served.loaded} back")
    t.log(f"{e.node}: {json.dumps(stats(e.node))}")


def with_third(t, series, small_mb):
    """Two small guests and a large one: nothing at all may go wrong."""
    t.expect_starved()
    cluster = _start(t, series, small_mb, True)
    eating = [Eating(node, seed=7 + node.index) for node in
              cluster.nodes[:2]]
    each_way, seconds = _follow(t, eating)
    for e, served in zip(eating, each_way):
        _log_end(t, e, served, seconds)
    for e in eating:
        result = e.result()
        t.log(f"{e.node}: {json.dumps(result)}")
        check.equal(result["wrong_pages"], 0, f"{e.node}: wrong pages")
        check.at_least(result["passes"], 2, f"{e.node}: passes")
        check.at_least(result["fill_seconds"] + result["seconds"],
                       EAT_SECONDS, f"{e.node}: seconds of eating")
        e.beats.check(t)
    for e, served in zip(eating, each_way):
        e.check_owner()
        check.at_least(served.stored, EACH_WAY,
                       f"{e.node}: pages stored for the other small guest "
                       "while both ate")
    _end(cluster, "nswap0")


def without_third(t, series, small_mb):
    """Two small guests alone: the programs may be killed for want of
    memory, nothing else may happen."""
    t.expect_oom()
    t.expect_starved()
    cluster = _start(t, series, small_mb, False)
    eating = [Eating(node, seed=7 + node.index) for node in cluster]
    each_way, seconds = _follow(t, eating)
    for e, served in zip(eating, each_way):
        _log_end(t, e, served, seconds)
        done = e.eater.wait(1)
        t.log(f"{e.node}: the program ended with {done.code}")
        if done.code not in (0, -9):
            raise Failure(f"{e.node}: the program ended with {done.code}: "
                          f"{(done.err or done.out).strip()}")
        # what waits for the OOM killer waits; hung tasks panic all the same
        e.beats.check(t, bounded=("locked",))
    _end(cluster, "nswap0")
