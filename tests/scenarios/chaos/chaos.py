# SPDX-License-Identifier: GPL-2.0
"""Chaos: random lending, draining and short cuts under a random workload.

        node0 ------ node1 … node4     node0 writes, reads and discards

Seeded: the same seed makes the same decisions. 30 seconds, or as many as
NSWAP_CHAOS_SECONDS says. Two servers at a time lend enough for everything, so
no write may fail; with a home all of them may shrink at once. Cuts are shorter
than dead_after, so no read may fail.
"""
import collections
import json
import os
import random
import time

from nswaptest.check import at_least, equal, hold, slower, wait_for
from nswaptest.disk import disk
from nswaptest.work import result_of

DESCRIPTION = "random shrinking, growing, draining and cuts lose no page"
SUITES = ("chaos",)
NEEDS = ("module", "progs", "dmsetup")
CPUS = 2
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 240 + 2 * SECONDS

SERVERS = 4
LENT_MB = 40
DEVICE_MB = 24
DEAD_AFTER = 20


class Chaos:
    """What goes on beside the workload."""

    def __init__(self, t, cluster, lent_mb=LENT_MB):
        self.t = t
        self.cluster = cluster
        self.lent_mb = lent_mb
        self.random = random.Random(t.seed)
        self.servers = cluster.nodes[1:]
        self.actions = ("lend", "lend", "drain", "cut")
        self.left = []
        self.done = collections.Counter()

    def step(self):
        """One thing happens, and each once before any comes again; at most
        two servers lend less meanwhile."""
        self.left = self.left or list(self.actions)
        what = self.left.pop(self.random.randrange(len(self.left)))
        self.done[what] += 1
        getattr(self, what)()

    def lend(self):
        """A server lends less for a while, perhaps nothing."""
        server = self.random.choice(self.servers)
        server.ctl("lend", f"{self.random.choice((0, 0, 2, 8))}M")
        hold(self.random.uniform(0.2, 1.5))
        server.ctl("lend", f"{self.lent_mb}M")

    def drain(self):
        """A server is drained, and lends again."""
        server = self.random.choice(self.servers)
        server.ctl("lend", "0")
        wait_for(lambda: server.stat()["server"]["held_pages"] == 0, 60,
                 f"{server} is drained")
        server.ctl("lend", f"{self.lent_mb}M")

    def cut(self):
        """Two nodes do not reach each other for less than dead_after."""
        a, b = self.random.sample(self.cluster.nodes, 2)
        self.cluster.cut(a, b)
        hold(self.random.uniform(0.3, 2.5))
        self.cluster.heal(a, b)


class HomeChaos(Chaos):
    """The client has a home: all servers may shrink at once."""

    def __init__(self, t, cluster):
        super().__init__(t, cluster)
        self.done["all"] = 0

    def step(self):
        what = self.random.choice(("lend", "lend", "drain", "cut", "all"))
        self.done[what] += 1
        getattr(self, what)()

    def all(self):
        """No server lends anything: everything goes home."""
        for server in self.servers:
            server.ctl("lend", "0")
        wait_for(lambda: self.cluster.held_pages() == 0, 60,
                 "every server is drained")
        for server in self.servers:
            server.ctl("lend", f"{LENT_MB}M")


def settled(cluster, client):
    """The servers hold exactly what the client records."""
    cluster.wait_connected()

    def equal_now():
        remote = sum(d["slots_remote"] for d in client.devices())
        return cluster.held_pages() == remote
    wait_for(equal_now, 60, "the caches hold exactly what the owner records")


def start(t):
    """A client that takes every server in turn, and the servers."""
    cluster = t.cluster(1 + SERVERS)
    for node in cluster:
        node.up(lend="0" if node is cluster[0] else f"{LENT_MB}M",
                dead_after=slower(DEAD_AFTER), reconcile=2)
    cluster.wait_connected()
    cluster[0].ctl("policy", "place", "round-robin")
    return cluster, cluster[0]


def go_on(t, client, dev, chaos, *options):
    """The workload and what goes on beside it; the client's counters."""
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
         str(int(SECONDS)), "--threads", "4", "--max-kb", "64", "--reads",
         "50", "--discards", "10", "--seed", str(t.seed), *options])
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and work.poll() is None:
        chaos.step()
    done = work.wait(120)
    t.log(f"seed {t.seed}: {json.dumps(chaos.done)}; {done.out} {done.err}")
    result_of(done)
    stat = client.stat()["client"]
    failed = sum(n.stat()["server"]["moves_failed"] for n in chaos.servers)
    t.log(f"attempts that came to nothing {failed}; moves recorded "
          f"{stat['moves_recorded']}, returned "
          f"{stat['pages_returned']}, met a change {stat['moves_met']}, "
          f"called off {stat['moves_refused']}; writes that failed "
          f"{stat['write_errors']}")
    equal(stat["read_errors"], 0, "failed reads")
    return stat


def test_moves(t):
    """A device under a random workload while everything around it moves."""
    cluster, client = start(t)
    dev = client.device_add(f"{DEVICE_MB}M")
    stat = go_on(t, client, dev, Chaos(t, cluster), "--tolerate-write-errors")
    at_least(stat["moves_recorded"], 500, "moves recorded")
    settled(cluster, client)
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def test_home(t):
    """Likewise with a home, where pages go when all servers shrink at once:
    no write fails."""
    cluster, client = start(t)
    with disk(DEVICE_MB) as home:
        dev = client.device_add(home=home.path)
        chaos = HomeChaos(t, cluster)
        stat = go_on(t, client, dev, chaos)
        equal(stat["write_errors"], 0, "failed writes")
        at_least(stat["moves_recorded"] + stat["pages_returned"], 500,
                 "pages that moved")
        at_least(stat["pages_returned"], 100 * chaos.done["all"],
                 "pages brought back")
        settled(cluster, client)
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")
