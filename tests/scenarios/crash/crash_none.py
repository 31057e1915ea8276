# SPDX-License-Identifier: GPL-2.0
"""Crash without protection: exactly the pages of the peer that dies fail.

        node0 ------ node1 … node4     node0 writes and compares two devices

NSWAP_CRASH_ROUNDS rounds, or 25. In each one a server dies, or is silent until it is
taken for dead. The slot trace of a whole reading before says which peer each page is
read from. A second device has a random workload all the time. Seeds: crash.py.
"""
import collections
import os
import random
import time

from nswaptest.check import Failure, at_least, at_most, equal, hold, true, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import Slots, result_of

crash = sibling("crash")

DESCRIPTION = "a death without protection costs exactly the pages of that peer"
SUITES = ("crash",)
NEEDS = ("module", "progs", "blkdiscard")
CPUS = 2
BUSY = crash.BUSY
ROUNDS = int(os.environ.get("NSWAP_CRASH_ROUNDS", "25"))
TIMEOUT = crash.TIMEOUT

SERVERS = 4
SLOTS = 256
WAIT_S = 15         # more than a read may take: dead_after, and then some


class Deaths(crash.Faults):
    """A client with two devices that nothing protects."""

    def __init__(self, t):
        cluster = t.cluster(1 + SERVERS)
        super().__init__(cluster)
        self.servers = cluster.nodes[1:]
        for node in cluster:
            self.up(node)
        cluster.wait_connected()
        self.client.ctl("policy", "place", "round-robin")
        self.dev = self.client.device_add("4M")
        self.busy = self.client.device_add("8M")
        self.slots = Slots(self.dev, t.seed)
        self.done = collections.Counter()

    def write(self):
        """All slots, in runs of all sizes, placed as if for the first time."""
        self.client.discard(self.dev)
        first = 1
        while first <= SLOTS:
            count = min(self.random.choice((1, 2, 8, 32)), SLOTS + 1 - first)
            self.slots.write(first, count)
            first += count

    def compare(self):
        """Read every slot; those wrong, and those that failed."""
        wrong, failed, slowest = set(), set(), 0
        for slot in sorted(self.slots.count):
            begin = time.monotonic()
            try:
                if not self.slots.right(slot):
                    wrong.add(slot)
            except OSError:
                failed.add(slot)
            slowest = max(slowest, time.monotonic() - begin)
        at_most(slowest, WAIT_S, "seconds of the slowest read")
        return wrong, failed

    def places(self):
        """The index of the peer that each slot is read from, once all are right."""
        begin = time.monotonic_ns()
        self.client.ctl("set", "trace", 1)
        equal(self.compare(), (set(), set()), "wrong and failed slots before")
        self.client.ctl("set", "trace", 0)
        where = {}
        for entry in self.client.ctl("trace"):
            if entry["time_ns"] > begin and entry["device"] == self.dev and \
                    entry["op"] == "page-in":
                for slot in range(entry["slot"], entry["slot"] + entry["slots"]):
                    where[slot] = entry["peer"]
        equal(sorted(where), sorted(self.slots.count), "slots in the trace")
        return where

    def round(self):
        """A server dies; its pages fail, and no others; it is back."""
        self.cluster.wait_connected()
        self.client.wait_sessions()
        self.write()
        where = self.places()
        victim = self.random.choice(self.servers)
        what = self.random.choice(("kill", "cut"))
        self.done[what] += 1
        print(f"{what}: {victim}")
        index = self.client.peers()[victim.addr]["index"]
        there = {slot for slot, peer in where.items() if peer == index}
        at_least(len(there), 1, f"pages at {victim}")
        hold(self.random.uniform(0, 0.3))
        if what == "kill":
            self.cluster.kill(victim)
        else:
            self.isolate(victim)
        wrong, failed = self.compare()
        equal(sorted(wrong), [], "wrong slots")
        equal(sorted(failed), sorted(there), f"slots that failed, and those of {victim}")
        if what == "kill":
            self.cluster.revive(victim)
            self.up(victim)
        else:
            self.heal(victim)
            wait_for(lambda: self.client.peers()[victim.addr]["state"] == "up", 20,
                     f"a session with {victim}")
            equal(self.compare(), (set(), set()), "wrong and failed slots after the cut")


def test_exactly(t):
    """The pages that fail are those of the dead peer, in every round; nothing hangs."""
    deaths = Deaths(t)
    client = deaths.client
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{deaths.busy}", "--seconds",
         "100000", "--threads", "1", "--max-kb", "64", "--discards", "10",
         "--tolerate-read-errors", "--tolerate-write-errors", "--seed", str(t.seed)])
    with deaths.slots:
        for number in range(ROUNDS):
            seed = crash.SEED or f"{t.seed}.{number}"
            deaths.random = random.Random(seed)
            print(f"round {number}, NSWAP_CRASH_SEED={seed}: ", end="")
            try:
                deaths.round()
            except Failure as why:
                raise type(why)(f"NSWAP_CRASH_SEED={seed}: {why}") from why
            true(work.poll() is None, "the workload ended")
    work.kill(2)
    done = work.wait(60)
    t.log(f"{deaths.done}; {done.out} {done.err}")
    result = result_of(done)
    equal(result["wrong_pages"], 0, "wrong pages of the workload")
    at_most(result["slowest_ms"], 1000 * WAIT_S, "ms of its slowest request")
    for dev in (deaths.dev, deaths.busy):
        client.device_del(dev)
    wait_for(lambda: deaths.cluster.held_pages() == 0, 30, "no page is held")
