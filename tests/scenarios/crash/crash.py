# SPDX-License-Identifier: GPL-2.0
"""Crash: one node after the other dies or falls silent under a random workload.

        node0 ------ node1 … node4     node0 writes, reads and discards

50 rounds, or as many as NSWAP_CRASH_ROUNDS says. In each one something happens to as
many servers as the protection survives, at a random moment or at a named point of the
code, while another server gives its RAM back and a third lends less; see FAULTS and
MOMENTS. The next round begins when every page is protected again: so no read and no
write may fail, and no page may be wrong.

Each round draws from a seed of its own, which is printed and is in the sentence of one
that fails: NSWAP_CRASH_SEED=<seed> repeats that round, NSWAP_CRASH_ROUNDS times. Faults
and moments come in turn, by the number behind the point, so that each comes in 50 rounds.
"""
import collections
import dataclasses
import json
import os
import random
import time

from nswaptest import rawwire
from nswaptest.check import Failure, Unmet, at_least, at_most, equal, hold, slower, true, \
    wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import result_of

paused = sibling("chaos_slots").paused

DESCRIPTION = "one death after the other loses no page of a protected device"
SUITES = ("crash",)
NEEDS = ("inject", "progs", "dmsetup")
CPUS = 2
BUSY = 1        # a round waits for most of its time
ROUNDS = int(os.environ.get("NSWAP_CRASH_ROUNDS", "50"))
SEED = os.environ.get("NSWAP_CRASH_SEED")
TIMEOUT = 240 + 30 * ROUNDS

LENT_MB = 64
DEVICE_MB = 24
DEAD_AFTER = 1
PATIENCE = 20           # dead_after where a death would be one too many
TOGETHER_S = 0.5    # faults of several servers begin within this, or are called off
REACH_S = 3         # for a named point; a round is as good without one


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A kind of protection, and what the harness has to know of it.

    servers     how many the cluster has
    victims     how many of them fail at once
    held        pages at the servers over pages at the owner's peers, at rest: from, to
    moments     where in the code a round may begin
    options     of nswapctl device add
    data        what the workload writes, of blkverify
    """
    protect: str
    servers: int = 4
    victims: int = 1
    held: tuple = (1, 1)
    moments: tuple = ("any", "any", "any", "stored", "claimed", "switch")
    options: tuple = ()
    data: str = "random"


HOME = Scheme("home")
MIRROR = Scheme("mirror", held=(2, 2), moments=(*HOME.moments, "repair"))
PARITY = Scheme("parity:4+1", servers=6, held=(1, 1.8),
                moments=(*HOME.moments, "repair", "half"))
PARITY_TWO = Scheme("parity:4+2", servers=6, victims=2, held=(1, 3),
                    moments=PARITY.moments)

# page-outs end before any peer has the page
EARLY = ("--cache", "1M", "--early-ack")
EARLY_HOME, EARLY_MIRROR, EARLY_PARITY = (
    dataclasses.replace(scheme, options=EARLY) for scheme in (HOME, MIRROR, PARITY))

# what happens to a server: how it begins, how it ends, and how long it lasts
FAULTS = {
    "kill": ("isolate", "reboot", 0.1, 2.5),
    "freeze": ("isolate", "heal", 0.1, 0.9 * DEAD_AFTER),
    "cut": ("isolate", "heal", 2, 4),
    "cut_from_owner": ("cut_from_owner", "heal", 0.5, 4),
    "mute": ("mute", "heal", 0.5, 4),
    "deafen": ("deafen", "heal", 0.5, 4),
    "slow": ("slow", "undisturbed", 0.5, 3),
    "doubled": ("doubled", "undisturbed", 0.5, 3),
    "lost": ("lost", "found", 0.2, 1.5),
    "readdress": ("readdress", "nothing", 0.1, 2),
}


class Faults:
    """What can happen to a server: see FAULTS."""

    dead_after = DEAD_AFTER

    def __init__(self, cluster, lent_mb=LENT_MB):
        self.cluster, self.client, self.lent_mb = cluster, cluster[0], lent_mb
        self.hosts = 100
        self.random = None

    def up(self, node):
        """A server lends as at first, the client nothing."""
        node.up(lend="0" if node is self.client else f"{self.lent_mb}M",
                dead_after=slower(self.dead_after), reconcile=2)

    def isolate(self, victim):
        self.cluster.isolate(victim)

    def mute(self, victim):
        self.cluster.mute(victim)

    def deafen(self, victim):
        self.cluster.deafen(victim)

    def cut_from_owner(self, victim):
        self.cluster.cut(self.client, victim)

    def heal(self, victim):
        self.cluster.heal(victim)

    def reboot(self, victim):
        """It was dead since it was isolated, and is back empty."""
        self.cluster.kill(victim)
        self.cluster.revive(victim)
        self.up(victim)

    def slow(self, victim):
        self.cluster.disturb(victim, "delay", f"{self.random.randrange(20, 200)}ms",
                             "10ms")

    def doubled(self, victim):
        """Some of what it sends is lost, some comes twice, announcements too."""
        self.cluster.disturb(victim, "loss", "2%", "duplicate", "20%")

    def undisturbed(self, victim):
        self.cluster.disturb(victim)

    def lost(self, _):
        """The next few messages of a type, whichever node they are for."""
        what = self.random.choice(sorted(rawwire.LOSABLE))
        self.client.inject(type=rawwire.LOSABLE[what], lose=self.random.randrange(1, 4))

    def found(self, _):
        self.client.inject(lose=0)

    def readdress(self, victim):
        self.hosts = 100 + (self.hosts + 1) % 100
        self.cluster.readdress(victim, self.hosts)

    def nothing(self, _):
        """It has ended by itself."""


class Crash(Faults):
    """What happens to the servers of one client, round by round."""

    device_mb = DEVICE_MB
    number = ROUNDS

    def __init__(self, t, cluster, scheme):
        super().__init__(cluster)
        self.t, self.scheme, self.dev, self.work = t, scheme, None, None
        self.servers, self.done = cluster.nodes[1:], collections.Counter()
        self.point, self.turn = "none", 0

    def device(self):
        """The client's device as it is listed."""
        return next(d for d in self.client.devices() if d["device"] == self.dev)

    def protected(self):
        """No page is exposed, none is owed to home."""
        device = self.device()
        return not device["exposed_pages"] and not device["lag_pages"]

    def as_recorded(self):
        """Each server holds as many pages as the owner has recorded there."""
        recorded = {addr: p["slots"] for addr, p in self.client.peers().items()}
        return all(server.stat()["server"]["held_pages"] == recorded.get(server.addr)
                   for server in self.servers)

    def no_ghost(self):
        """What a server was before it moved and restarted, as an open node, is known to be
        dead: until then its pages do not count as exposed."""
        here = {server.stat()["node"]["id"] for server in self.servers}
        return all(peer["id"] in here or peer["state"] in ("dead", "lost") or
                   not peer["slots"] for peer in self.client.ctl("peers"))

    def all_answer(self):
        """No server owes an answer: after a cut its connections may for some time."""
        return not any(peer["reason"] for peer in self.client.ctl("peers")
                       if peer["state"] == "up")

    def arm(self, point, node):
        """The next task of the node that comes to a point of the code stops there."""
        self.point = point
        self.client.inject(point=f"{point} {node.stat()['node']['id']}")

    def reach(self):
        """Wait until one has, but not for long."""
        try:
            wait_for(lambda: "held" in self.client.read(
                "/sys/module/nswap/parameters/inject_point"), REACH_S, "", every=0.005)
            self.done[f"at {self.point}"] += 1
        except Unmet:
            print(f"  no task came to '{self.point}'")

    def go_on(self):
        """What was held goes on."""
        self.client.inject(point="none")

    def at_once(self, begin, victims):
        """A fault begins at all of them. False if that took so long that they were not
        at once: what was written in between has one peer less for its copies or checks."""
        started = time.monotonic()
        for victim in victims:
            getattr(self, begin)(victim)
        took = time.monotonic() - started
        if len(victims) > 1 and took > TOGETHER_S:
            print(f"  called off: {took:.1f} s from the first to the last, not at once")
            self.done["not at once"] += 1
            return False
        return True

    def strike(self, what, victims):
        """A fault begins, what is held goes on, and later it ends."""
        begin, end, least, most = FAULTS[what]
        lasts = self.at_once(begin, victims)
        self.go_on()
        if lasts:
            hold(self.random.uniform(least, most))
        for victim in victims:
            getattr(self, end)(victim)

    def at_any(self, what, victims, _):
        """Whatever is going on just now."""
        hold(self.random.uniform(0, 0.3))
        self.strike(what, victims)

    def at_stored(self, what, victims, _):
        """A victim has stored pages and not acknowledged them."""
        self.arm("stored", victims[0])
        self.reach()
        self.strike(what, victims)

    def at_half(self, what, victims, _):
        """A group is half written: its pages are acknowledged, not all of its checks
        are sent."""
        self.arm("half", self.client)
        self.reach()
        self.strike(what, victims)

    def at_claimed(self, what, victims, mover):
        """The owner has recorded a move, and the mover does not know yet."""
        self.arm("claimed", self.client)
        mover.ctl("lend", "0")
        self.reach()
        if self.random.random() < 0.5:
            victims = [mover, *victims[1:]]
        self.strike(what, victims)

    def briefly(self, victims):
        """Silent where a death would be one too many. What waits for them is sent
        again within as long as they were, and only then may dead_after end."""
        begin = time.monotonic()
        for victim in victims:
            self.isolate(victim)
        self.go_on()
        hold(self.random.uniform(0.1, 0.5))
        for victim in victims:
            self.heal(victim)
        lasted = time.monotonic() - begin
        at_most(lasted, slower(PATIENCE) / 2, "seconds that a short silence lasted")
        hold(lasted + 0.5)

    def at_repair(self, _, victims, mover):
        """A peer is dead and a repair has marked its pages: it comes back, or another
        one falls silent."""
        self.arm("repairing", self.client)
        lasts = self.at_once("isolate", victims)
        if lasts:
            self.reach()
        if lasts and self.random.random() < 0.5:
            self.client.ctl("set", "dead_after_ms", 1000 * slower(PATIENCE))
            self.briefly([mover])
        for victim in victims:
            self.heal(victim)

    def at_switch(self, _, victims, __):
        """Protection was off, and is being turned on."""
        self.client.ctl("set", "dead_after_ms", 1000 * slower(PATIENCE))
        self.client.ctl("device", "protect", self.dev, "none")
        hold(self.random.uniform(0, 0.3))
        self.arm("repairing", self.client)
        self.client.ctl("device", "protect", self.dev, self.scheme.protect, "--no-wait")
        self.reach()
        self.briefly(victims)

    def settle(self):
        """Every page is protected, and no page-out is under way that began while the last
        victim was silent: it might end exposed yet."""
        with paused([self.work]):
            wait_for(lambda: self.client.read(f"/sys/block/{self.dev}/inflight").split() ==
                     ["0", "0"], 30, "all requests end")
            wait_for(self.protected, 60, "every page is protected")

    def round(self):
        """Servers are gone for a while, another one gives its RAM back, and a third
        one lends less."""
        self.settle()
        chosen = self.random.sample(self.servers, self.scheme.victims + 2)
        victims, (mover, resized) = chosen[:-2], chosen[-2:]
        what = sorted(FAULTS)[self.turn % len(FAULTS)]
        moments = self.scheme.moments
        moment = moments[(self.turn + self.turn // len(FAULTS)) % len(moments)]
        named = moment in ("repair", "switch")
        self.done[moment] += 1
        self.done.update([] if named else [what])
        print(f"{moment}{'' if named else ' ' + what}: {', '.join(map(str, victims))}, "
              f"beside {mover} and {resized}")
        if moment != "claimed":
            mover.ctl("lend", f"{self.random.choice((0, 2, LENT_MB))}M")
        resized.ctl("lend", f"{self.random.choice((32, 48, LENT_MB))}M")
        getattr(self, f"at_{moment}")(what, victims, mover)
        self.go_on()
        for server in (mover, resized):
            server.ctl("lend", f"{LENT_MB}M")
        self.cluster.wait_connected()
        self.client.ctl("set", "dead_after_ms", 1000 * slower(self.dead_after))
        wait_for(self.no_ghost, 30, "a server that is another node now is dead as it was")
        wait_for(self.all_answer, 30, "every server answers")

    def log_of(self, failed):
        """What the kernel's log says of those that failed."""
        if not any(failed):
            return ""
        said = [x for x in self.client.run("dmesg").out.splitlines() if "failed: " in x]
        return "".join(f" ({x.partition('nswap: ')[2]})" for x in said[-1:])

    def all_right(self, work):
        """No read or write has failed so far, and no page was wrong."""
        stat = self.client.stat()["client"]
        failed = stat["read_errors"], stat["write_errors"]
        equal(failed, (0, 0), "failed reads and writes" + self.log_of(failed))
        wrong = [x for x in work.errors().splitlines() if "wrong page" in x]
        true(not wrong, "; ".join(wrong[:1]))
        true(work.poll() is None, "the workload ended")

    def check_covered(self):
        """In as many rounds as a run has by itself each moment came, and each fault."""
        points = {"stored": "stored", "claimed": "claimed", "half": "half",
                  "repair": "repairing", "switch": "repairing"}
        moments = self.scheme.moments
        named = (f"at {points[moment]}" for moment in moments if moment in points)
        for what in (*FAULTS, *moments, *named):
            at_least(self.done[what], 1, f"rounds with {what}")

    def rounds(self, work):
        """All of them; the sentence of one that fails has its seed."""
        self.work = work
        for number in range(self.number):
            seed = SEED or f"{self.t.seed}.{number}"
            self.random = random.Random(seed)
            self.turn = int(seed.rpartition(".")[2])
            print(f"round {number}, NSWAP_CRASH_SEED={seed}: ", end="")
            try:
                self.round()
                self.all_right(work)
            except Failure as why:
                raise type(why)(f"NSWAP_CRASH_SEED={seed}: {why}") from why


def start(t, scheme, home=None, kind=Crash, **options):
    """A client with a protected device, and its servers; options are the cluster's."""
    cluster = t.cluster(1 + scheme.servers, **options or {"inject": True})
    crash = kind(t, cluster, scheme)
    for node in cluster:
        crash.up(node)
    cluster.wait_connected()
    cluster[0].ctl("policy", "place", "round-robin")
    crash.dev = cluster[0].ctl("device", "add", "--size", f"{crash.device_mb}M",
                               *(["--home", home.path] if home else []),
                               *scheme.options)["device"]
    cluster[0].wait_sessions()
    cluster[0].ctl("device", "protect", crash.dev, scheme.protect)
    return crash


def workload(crash, *options):
    """A program that writes, reads and discards at random, and compares. It rests for a
    moment after each request: two processors that are busy make a round take twice as long."""
    client = crash.client
    return client.popen([
        client.prog("blkverify"), "--device", f"/dev/{crash.dev}", "--seconds", "100000",
        "--threads", "4", "--max-kb", "64", "--reads", "50", "--discards", "10", "--pause-ms",
        "10", "--seed", str(crash.t.seed), "--data", crash.scheme.data, *options])


def settled(crash):
    """The servers come to hold what the owner records, and nothing in the end."""
    crash.cluster.wait_connected()
    least, most = crash.scheme.held

    def as_protected():
        # an open node that rebooted at another address than its first is another node
        dead = sum(p["slots"] for p in crash.client.ctl("peers") if p["state"] == "dead")
        remote, held = crash.device()["slots_remote"] - dead, crash.cluster.held_pages()
        print(f"{remote} pages at peers, who hold {held}", flush=True)
        return least * remote <= held <= most * remote
    wait_for(as_protected, 60, "the caches hold as many pages as the protection says")
    wait_for(crash.as_recorded, 60, "each server holds what the owner records")
    crash.client.device_del(crash.dev)
    wait_for(lambda: crash.cluster.held_pages() == 0, 20, "no page is held")


def run_rounds(crash):
    """The rounds beside the workload; no read is wrong, and none has failed."""
    work = workload(crash)
    crash.rounds(work)
    work.kill(2)
    done = work.wait(120)
    crash.t.log(f"seed {crash.t.seed}: {json.dumps(crash.done)}; {done.out} {done.err}")
    result = result_of(done)
    equal((result["wrong_pages"], result["failed_slots"]), (0, 0),
          "wrong and failed pages")
    at_least(result["verified"], 1000, "pages compared")
    at_most(result["slowest_ms"], 1000 * (PATIENCE + 10), "ms of the slowest request")
    wait_for(crash.protected, 60, "every page is protected")
    settled(crash)
    if crash.number >= 50 and not SEED:
        crash.check_covered()


def test_home(t):
    """A device that home protects: home has each page that a server holds."""
    with disk(DEVICE_MB) as home:
        run_rounds(start(t, HOME, home))


def test_mirror(t):
    """A mirrored device: the servers hold exactly two copies of each page."""
    run_rounds(start(t, MIRROR))


def test_parity(t):
    """A device that parity protects: groups of four and their check on six servers."""
    run_rounds(start(t, PARITY))


def test_parity_two(t):
    """With two checks, two servers at once, of six."""
    run_rounds(start(t, PARITY_TWO))


class FewRounds(Crash):
    """Its rounds are as those of the others, so a few are enough unless told otherwise."""

    number = ROUNDS if "NSWAP_CRASH_ROUNDS" in os.environ else 12


def test_early(t):
    """Early page-outs of a mirrored device: what has ended is kept until both have it."""
    run_rounds(start(t, EARLY_MIRROR, kind=FewRounds))


def test_early_home(t):
    """Likewise until a peer has it and home."""
    with disk(DEVICE_MB) as home:
        run_rounds(start(t, EARLY_HOME, home, kind=FewRounds))


def test_early_parity(t):
    """Likewise until its group has its check."""
    run_rounds(start(t, EARLY_PARITY, kind=FewRounds))


def test_noticed(t):
    """Two deaths at once are one too many for a mirror, and the harness says so."""
    crash = start(t, MIRROR)
    work = workload(crash)
    crash.random = random.Random(t.seed)
    wait_for(lambda: crash.device()["slots_remote"] > 1000, 30, "pages at the servers")
    crash.all_right(work)
    crash.client.ctl("set", "protect_mib_s", 0)
    crash.strike("kill", crash.servers[:2])

    def noticed():
        try:
            crash.all_right(work)
        except Failure as why:
            t.log(why)
            return True
        return False
    wait_for(noticed, 30, "failed reads are noticed")
    work.kill()
    work.wait(30)
