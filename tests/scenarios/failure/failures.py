# SPDX-License-Identifier: GPL-2.0
"""Peers that fall silent, die, come back, or answer too late.

        node0 ------ node1        node0 keeps its pages on node1 and node2
             `------ node2        (node3: another client, on node2 only)
"""
import threading
import time

from nswaptest.check import (at_least, at_most, equal, hold, true, wait_for)
from nswaptest.work import Slots, eater, result_of, state_of

DESCRIPTION = "silence, death, return and late answers of a peer"
SUITES = ("lab",)
LONG = ("killed_mid_run", "declared_dead_and_back", "store_timeout",
        "other_node_untouched", "lease")
NEEDS = ("module", "progs")
TIMEOUT = 300


def start(t, dead_after, servers=2, lend="64M", **options):
    """A client and its servers, pages placed in turn."""
    cluster = t.cluster(1 + servers)
    cluster.up(lend=lend, dead_after=dead_after, **options)
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    return cluster, client


class Gaps:
    """Longest time in which an eater's count of accesses stood still, by its
    --out file."""

    def __init__(self, path):
        self.path = path
        self.longest = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        seen, since = None, time.monotonic()
        while not self._over.wait(0.05):
            now = state_of(self.path).get("accesses")
            if now != seen and now is not None:
                seen, since = now, time.monotonic()
            self.longest = max(self.longest, time.monotonic() - since)

    def close(self):
        """Stop; the longest gap in seconds."""
        self._over.set()
        self._thread.join()
        return self.longest


def test_killed_mid_run(t):
    """A peer dies for good while a program swaps to it: every outstanding
    read is over by dead_after + 2 s, only its pages are lost, another client
    goes on untouched, everything can be removed."""
    dead_after = 4
    cluster = t.cluster(4)
    client, victim, other, neighbour = cluster
    cluster.cut(neighbour, victim)
    for node in cluster:
        node.up(lend="64M", dead_after=dead_after)
    cluster.wait_connected([client, victim, other])
    cluster.wait_connected([client, other, neighbour])
    client.ctl("policy", "place", "round-robin")
    near = neighbour.device_add("24M")
    load = neighbour.popen(
        [neighbour.prog("blkverify"), "--device", f"/dev/{near}", "--seconds",
         str(dead_after + 12), "--threads", "2", "--max-kb", "64"])
    dev = client.device_add("128M")
    client.swapon(dev)
    state = cluster.scratch / "eater.json"
    program = client.popen(
        eater(client, 24, seconds=dead_after + 8, order="random", out=state),
        memory_max="12M")
    wait_for(lambda: state_of(state).get("accesses", 0) > 0 and
             victim.stat()["server"]["pages_loaded"] > 200, 30,
             "the program reads from the peer")
    gaps = Gaps(state)
    cluster.kill(victim)
    result = result_of(program.wait(150), codes=(0, 3))
    longest = gaps.close()
    t.log(f"longest gap {longest:.2f} s, {result}")
    equal(result["wrong_pages"], 0, "wrong pages")
    at_least(result["failed_reads"], 1, "reads that failed")
    at_most(longest, dead_after + 2, "seconds without an access")
    equal(load.wait(150).check().code, 0, "the neighbour's exit code")
    state = client.peers()[victim.addr]["state"]
    true(state in ("dead", "lost"), f"the victim is called {state}")
    client.swapoff(dev)
    client.device_del(dev)
    neighbour.device_del(near)
    wait_for(lambda: cluster.held_pages([client, other, neighbour]) == 0, 10,
             "no page is held")


def fill(client, dev, seed, slots=512):
    """A device with known content in its first slots, run by run."""
    content = Slots(dev, seed)
    for first in range(1, slots, 32):
        content.write(first, 32)
    return content


def test_short_cut(t):
    """A cut shorter than dead_after: no read fails, none is wrong."""
    cluster, client = start(t, dead_after=10)
    dev = client.device_add("96M")
    client.swapon(dev)
    program = client.popen(
        eater(client, 24, order="rw", seconds=8), memory_max="12M")
    wait_for(lambda: client.stat()["client"]["pages_in"] > 500, 20,
             "the program swaps")
    for server in cluster.nodes[1:]:
        cluster.cut(client, server)
        hold(2)
        cluster.heal(client, server)
        cluster.wait_connected([client, server])
    result = result_of(program.wait(150))
    equal(result["wrong_pages"], 0, "wrong pages")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")
    client.swapoff(dev)
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def test_declared_dead_and_back(t):
    """A peer silent for longer than dead_after: reads of exactly its pages
    fail, in time; back with the same epoch it is believed again for what was
    not rewritten since."""
    cluster, client = start(t, dead_after=2)
    silent = cluster[1]
    dev = client.device_add("16M")
    with fill(client, dev, t.seed) as slots:
        there = silent.stat()["server"]["held_pages"]
        at_least(there, 100, "pages on the peer")
        cluster.cut(client, silent)
        right, wrong, unreadable = slots.compare()
        t.log(f"{right} right, {wrong} wrong, {unreadable} not readable, "
              f"slowest {slots.slowest:.2f} s")
        equal((wrong, unreadable), (0, there), "wrong and unreadable slots")
        at_most(slots.slowest, 2 + 2, "seconds for one read")
        slots.write(1, 64)
        cluster.heal(client, silent)
        wait_for(lambda: client.peers()[silent.addr]["state"] == "up", 15,
                 "the peer is back")
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        remote = client.devices()[0]["slots_remote"]
        equal(remote, 512, "slots recorded")
        wait_for(lambda: cluster.held_pages() == remote, 15,
                 "the old copies are dropped")
    client.device_del(dev)


def test_rebooted_peer(t):
    """A peer that comes back with a new epoch: its pages are lost at once,
    the others are not, and it takes new ones."""
    cluster, client = start(t, dead_after=30)
    victim = cluster[1]
    dev = client.device_add("16M")
    with fill(client, dev, t.seed) as slots:
        there = victim.stat()["server"]["held_pages"]
        cluster.kill(victim)
        cluster.revive(victim)
        victim.up(lend="64M", dead_after=30)
        epoch = victim.stat()["node"]["epoch"]
        wait_for(lambda: client.peers()[victim.addr]["epoch"] == epoch, 15,
                 "the new epoch is known")
        equal(slots.compare()[1:], (0, there), "wrong and unreadable slots")
        at_most(slots.slowest, 2, "seconds for one read")
        equal(client.devices()[0]["slots_lost"], there, "slots lost")
        wait_for(lambda: client.peers()[victim.addr]["state"] == "up", 15,
                 "a session with the new epoch")
        client.wait_sessions()
        for first in range(1, 512, 32):
            slots.write(first, 32)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        at_least(victim.stat()["server"]["held_pages"], 100, "pages on it")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_leaving_peer(t):
    """down --now on a peer with pages: lost at once, said by the peer."""
    cluster, client = start(t, dead_after=30)
    dev = client.device_add("16M")
    with fill(client, dev, t.seed) as slots:
        there = cluster[1].stat()["server"]["held_pages"]
        cluster[1].ctl("down", "--now")
        equal(slots.compare()[1:], (0, there), "wrong and unreadable slots")
        at_most(slots.slowest, 2, "seconds for one read")
    client.device_del(dev)


def test_store_timeout(t):
    """Page-outs to a peer that does not answer for 2 s are placed elsewhere;
    none fails, and the old copies are freed once it is heard again."""
    cluster, client = start(t, dead_after=20)
    silent = cluster[1]
    dev = client.device_add("16M")
    with fill(client, dev, t.seed) as slots:
        cluster.cut(client, silent)
        begin = time.monotonic()
        for first in range(1, 512, 32):
            slots.write(first, 32)
        t.log(f"512 pages rewritten in {time.monotonic() - begin:.2f} s")
        stat = client.stat()["client"]
        at_least(stat["timeouts"], 1, "page-outs unanswered")
        at_least(stat["moved"], 1, "pages placed a second time")
        equal(stat["write_errors"], 0, "write errors")
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        cluster.heal()
        wait_for(lambda: client.peers()[silent.addr]["state"] == "up", 15,
                 "the peer is back")
        wait_for(lambda: cluster.held_pages() ==
                 client.devices()[0]["slots_remote"], 15,
                 "the old copies are dropped")
    client.device_del(dev)


def test_other_node_untouched(t):
    """While one peer is silent, reads and writes that need only the other
    one are not held up."""
    cluster, client = start(t, dead_after=15)
    silent, other = cluster.nodes[1:]
    dev = client.device_add("16M")
    with Slots(dev, t.seed) as slots:
        cluster.cut(client, silent)
        wait_for(lambda: client.peers()[silent.addr]["state"] != "up", 15,
                 "the silence is noticed")
        begin = time.monotonic()
        for first in range(1, 1024, 32):
            slots.write(first, 32)
        equal(slots.compare(), (1024, 0, 0), "right, wrong, unreadable slots")
        at_most(time.monotonic() - begin, 5, "seconds for 1024 pages")
    equal(other.stat()["server"]["held_pages"], 1024, "pages on the other")
    client.device_del(dev)


def test_lease(t):
    """Pages of an owner that stays away are dropped when its lease is over;
    when it is back it knows that they are lost, and never reads zeros."""
    cluster, client = start(t, dead_after=3, servers=1)
    cluster[1].ctl("set", "lease_s", "5")
    dev = client.device_add("8M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 64)
        cluster.cut(client, cluster[1])
        wait_for(lambda: cluster[1].stat()["server"]["held_pages"] == 0, 30,
                 "the lease is over")
        equal(cluster[1].stat()["server"]["leases_ended"], 1, "leases ended")
        cluster.heal(client, cluster[1])
        wait_for(lambda: client.devices()[0]["slots_lost"] == 64, 15,
                 "the owner knows what is lost")
        equal(slots.compare(), (0, 0, 64), "right, wrong, unreadable")
        slots.write(1, 32)
        right, wrong, unreadable = slots.compare()
        equal((right, wrong, unreadable), (32, 0, 32), "after a rewrite")
    client.device_del(dev)
