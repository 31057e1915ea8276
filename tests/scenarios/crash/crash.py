# SPDX-License-Identifier: GPL-2.0
"""Crash: one node after the other dies or falls silent under a random workload.

        node0 ------ node1 … node4     node0 writes, reads and discards

Seeded: the same seed makes the same decisions. 50 rounds, or as many as
NSWAP_CRASH_ROUNDS says. In each one server is killed, or cut off for a moment or
until it is taken for dead, while another one lends less and pages move. The next
round begins when every page is protected again: so no read and no write may fail,
and no page may be wrong.
"""
import collections
import json
import os
import random

from nswaptest.check import at_least, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import result_of

DESCRIPTION = "one death after the other loses no page of a protected device"
SUITES = ("crash",)
NEEDS = ("module", "progs", "dmsetup")
CPUS = 2
ROUNDS = int(os.environ.get("NSWAP_CRASH_ROUNDS", "50"))
TIMEOUT = 240 + 20 * ROUNDS

SERVERS = 4
LENT_MB = 64
DEVICE_MB = 24
DEAD_AFTER = 1
ACTIONS = ("kill", "kill", "freeze", "cut", "cut_from_owner")


class Crash:
    """What happens to the servers of one client, round by round."""

    def __init__(self, t, cluster, dev):
        self.t, self.cluster, self.client, self.dev = t, cluster, cluster[0], dev
        self.random = random.Random(t.seed)
        self.servers = cluster.nodes[1:]
        self.done = collections.Counter()

    def device(self):
        """The client's device as it is listed."""
        return next(d for d in self.client.devices() if d["device"] == self.dev)

    def protected(self):
        """No page is exposed, none is owed to home."""
        device = self.device()
        return not device["exposed_pages"] and not device["lag_pages"]

    def round(self):
        """One server is gone for a while, and another one may lend less."""
        wait_for(self.protected, 60, "every page is protected")
        victim, other = self.random.sample(self.servers, 2)
        what = self.random.choice(ACTIONS)
        self.done[what] += 1
        less = self.random.choice((0, 2, LENT_MB, LENT_MB))
        other.ctl("lend", f"{less}M")
        hold(self.random.uniform(0, 0.3))
        getattr(self, what)(victim)
        other.ctl("lend", f"{LENT_MB}M")
        self.cluster.wait_connected()

    def kill(self, victim):
        """Dead at once, and back empty."""
        self.cluster.kill(victim)
        hold(self.random.uniform(0.1, 2.5))
        self.cluster.revive(victim)
        self.up(victim)

    def up(self, victim):
        """It lends as before."""
        victim.up(lend=f"{LENT_MB}M", dead_after=DEAD_AFTER, reconcile=2)

    def freeze(self, victim):
        """Silent towards everybody, but not for as long as a dead one."""
        self.cluster.isolate(victim)
        hold(self.random.uniform(0.1, 0.9 * DEAD_AFTER))
        self.cluster.heal(victim)

    def cut(self, victim):
        """Silent until it is taken for dead, then back with what it holds."""
        self.cluster.isolate(victim)
        hold(self.random.uniform(3, 7))
        self.cluster.heal(victim)

    def cut_from_owner(self, victim):
        """Only the owner does not reach it."""
        self.cluster.cut(self.client, victim)
        hold(self.random.uniform(0.5, 7))
        self.cluster.heal(self.client, victim)


def start(t, home=None, protect="mirror"):
    """A client with a protected device, and its servers."""
    cluster = t.cluster(1 + SERVERS)
    for node in cluster:
        node.up(lend="0" if node is cluster[0] else f"{LENT_MB}M",
                dead_after=DEAD_AFTER, reconcile=2)
    cluster.wait_connected()
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add(f"{DEVICE_MB}M", home=home.path if home else None)
    client.ctl("device", "protect", dev, protect)
    return Crash(t, cluster, dev)


def go_on(t, crash, *options):
    """The rounds beside the workload; no read is wrong, and none has failed."""
    client = crash.client
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{crash.dev}", "--seconds",
         "100000", "--threads", "4", "--max-kb", "64", "--reads", "50",
         "--discards", "10", "--seed", str(t.seed), *options])
    for number in range(ROUNDS):
        crash.round()
        true(work.poll() is None, f"the workload ended in round {number}")
    work.kill(2)
    done = work.wait(120)
    t.log(f"seed {t.seed}: {json.dumps(crash.done)}; {done.out} {done.err}")
    result_of(done)
    stat = client.stat()["client"]
    equal((stat["read_errors"], stat["write_errors"]), (0, 0),
          "failed reads and writes")
    wait_for(crash.protected, 60, "every page is protected")
    return stat


def test_mirror(t):
    """A mirrored device: the servers hold exactly two copies of each page."""
    crash = start(t)
    stat = go_on(t, crash)
    at_least(stat["pages_mirrored"], 100 * ROUNDS, "second copies")
    crash.cluster.wait_connected()
    wait_for(lambda: crash.cluster.held_pages() ==
             2 * crash.device()["slots_remote"], 60,
             "the caches hold exactly what the owner records")
    crash.client.device_del(crash.dev)
    wait_for(lambda: crash.cluster.held_pages() == 0, 20, "no page is held")


def test_home(t):
    """A device that home protects: home has each page that a server holds."""
    with disk(DEVICE_MB) as home:
        crash = start(t, home, "home")
        go_on(t, crash)
        crash.cluster.wait_connected()
        wait_for(lambda: crash.cluster.held_pages() ==
                 crash.device()["slots_remote"], 60,
                 "the caches hold exactly what the owner records")
        crash.client.device_del(crash.dev)
    wait_for(lambda: crash.cluster.held_pages() == 0, 20, "no page is held")
