# SPDX-License-Identifier: GPL-2.0
"""A peer that does not answer for a moment: its pages are read from the other copy.

        node0 ------ node1        node0's pages are each on two of the others;
        |  `-------- node2        replies of one after the other, or of all, are
        `----------- node3        held back
"""
import random
import threading
import time

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import Slots

mirror = sibling("protect_mirror")

DESCRIPTION = "page-ins of mirrored pages do not wait for a peer that stalls"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 200

SLOTS = 512
STALL_MS = 400
STALLS = 9
WAIT_MS = 200       # a read that takes longer may have waited for a stall to end
SILENT_S = 4        # a peer that is cut off is suspected after this at the earliest
SHARE = 20          # one page-in in so many may be hedged


def hold_back(node, ms):
    """What the node sends from now on takes so much longer."""
    node.run(["tc", "qdisc", "replace", "dev", node.iface, "root", "netem",
              "limit", "100000", "delay", f"{ms}ms"])


class Reader(threading.Thread):
    """Reads slots in random order until told to stop, or so many."""

    def __init__(self, slots, number, most=None):
        super().__init__(daemon=True)
        self.slots, self.most = slots, most
        self.rnd = random.Random(number)
        self.over = threading.Event()
        self.times = []
        self.bad = 0

    def run(self):
        order = sorted(self.slots.count)
        while not self.over.is_set() and len(self.times) != self.most:
            slot = self.rnd.choice(order)
            begin = time.monotonic()
            try:
                page = self.slots.read(slot)
            except OSError:
                page = None
            self.times.append(time.monotonic() - begin)
            self.bad += page != self.slots.page(slot)

    def end(self):
        """Stop it; no page may have been wrong."""
        self.over.set()
        self.join(30)
        true(not self.is_alive(), "a reader still waits at the end")
        equal(self.bad, 0, "wrong or unreadable pages")


def filled(t, servers=3, **options):
    """A client with a protected device that no page was read from."""
    cluster, client, dev = mirror.start(t, servers=servers, dead_after=30, **options)
    slots = Slots(dev, t.seed)
    for first in range(1, SLOTS, 8):
        slots.write(first, 8)
    mirror.protected(client)
    return cluster, client, dev, slots


def shown(times):
    """Median, one in a hundred and longest, as text."""
    times = sorted(times)
    at = [times[len(times) // 2], times[len(times) * 99 // 100], times[-1]]
    return ", ".join(f"{1000 * s:.1f}" for s in at) + " ms"


def within_budget(client):
    """No more than the share of page-ins were hedged; how many were."""
    stat = client.stat()["client"]
    at_most(stat["pages_hedged"] * SHARE, stat["pages_in"],
            "page-ins hedged, of those allowed")
    return stat["pages_hedged"]


def hedged_beside_stall(client, slots, node, hedge_pct):
    """How many pages were hedged while a peer stalled once."""
    client.ctl("set", "hedge_pct", hedge_pct)
    before = client.stat()["client"]["pages_hedged"]
    reader = Reader(slots, 3)
    reader.start()
    hold_back(node, STALL_MS)
    hold(STALL_MS / 1000)
    hold_back(node, 0)
    reader.end()
    return client.stat()["client"]["pages_hedged"] - before


def stalls(t, **options):
    """One peer after the other holds its replies back for a while: a reader of all
    pages goes on without it. How long reads took is in the output; on a busy machine
    that says more of the machine."""
    cluster, client, dev, slots = filled(t, **options)
    for node in cluster.nodes[1:]:
        hold_back(node, 0)
    calm = Reader(slots, 1, 1000)
    calm.start()
    calm.join(60)
    reader = Reader(slots, 2)
    reader.start()
    for i in range(STALLS):
        node = cluster.nodes[1:][i % (len(cluster) - 1)]
        hold_back(node, STALL_MS)
        hold(STALL_MS / 1000)
        hold_back(node, 0)
        hold(STALL_MS / 1000)
    reader.end()
    t.log(f"median, p99, longest of {len(calm.times)} calm reads: "
          f"{shown(calm.times)}")
    t.log(f"of {len(reader.times)} with stalls: {shown(reader.times)}")
    waited = sum(s > WAIT_MS / 1000 for s in reader.times)
    hedged = within_budget(client)
    t.log(f"{hedged} pages hedged, {waited} reads waited")
    equal(hedged_beside_stall(client, slots, cluster[1], hedge_pct=0), 0,
          "pages hedged though none may be")
    slots.close()
    client.device_del(dev)
    at_least(hedged, STALLS, "pages hedged, one in each stall at least")
    at_most(waited, len(reader.times) // 20, "reads that waited for a stall to end")


def test_stalls(t):
    """With the other copies."""
    stalls(t)


def test_parity_stalls(t):
    """With the others of their groups."""
    stalls(t, servers=5, protect="parity:4+1")


def readable(slots, slot):
    """Whether a slot's page can be read; what it is the reader compares."""
    try:
        slots.read(slot)
    except OSError:
        return False
    return True


def test_parity_beyond(t):
    """Two peers of five are dead, one more than groups have checks: their pages are
    lost, and those of the others are waited for when these stall."""
    cluster, client, dev, slots = filled(t, servers=5, protect="parity:4+1")
    client.ctl("set", "protect_mib_s", 0)
    client.ctl("set", "dead_after_ms", 1000)
    for victim in cluster.nodes[1:3]:
        cluster.kill(victim)
    wait_for(lambda: sum(peer["state"] == "dead"
                         for peer in client.peers().values()) == 2, 30,
             "two peers are dead")
    client.ctl("set", "dead_after_ms", 30000)
    lost = [slot for slot in slots.count if not readable(slots, slot)]
    for slot in lost:
        slots.count.pop(slot)
    at_most(len(lost), SLOTS // 2, "pages lost with two of five peers")
    errors = client.stat()["client"]["read_errors"]
    reader = Reader(slots, 1)
    reader.start()
    for i in range(12):
        node = cluster.nodes[3:][i % 3]
        hold_back(node, 50)
        hold(0.1)
        hold_back(node, 0)
        hold(0.1)
    reader.end()
    t.log(f"{len(reader.times)} reads: {shown(reader.times)}; {len(lost)} pages lost")
    equal(client.stat()["client"]["read_errors"], errors, "read errors")
    slots.close()
    client.device_del(dev)


def test_frozen(t):
    """A peer is cut off under readers: none waits for as long as it takes to suspect
    it."""
    cluster, client, dev, slots = filled(t)
    before = Reader(slots, 1, 1500)
    before.start()
    before.join(60)
    cluster.cut(client, cluster[1])
    readers = [Reader(slots, i, 300) for i in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)
        reader.end()
    times = sum((reader.times for reader in readers), [])
    t.log(f"median, p99, longest: {shown(times)}; "
          f"{within_budget(client)} pages hedged")
    at_least(within_budget(client), 1, "pages hedged")
    cluster.heal()
    slots.close()
    client.device_del(dev)
    at_most(max(times), SILENT_S, "longest read, in s")


def test_budget(t):
    """Replies of all peers are held back now and then, now of some, now of all:
    never were more than 5 % of page-ins hedged, and no read fails."""
    cluster, client, dev, slots = filled(t)
    rnd = random.Random(t.seed)
    readers = [Reader(slots, i) for i in range(8)]
    for reader in readers:
        reader.start()
    for i in range(30):
        for node in cluster.nodes[1:]:
            if rnd.random() < 0.7 or i % 5 == 4:
                hold_back(node, rnd.choice((0, 10, 30)))
        within_budget(client)
    for reader in readers:
        reader.end()
    t.log(f"{within_budget(client)} pages hedged of "
          f"{client.stat()['client']['pages_in']}")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")
    slots.close()
    client.device_del(dev)
