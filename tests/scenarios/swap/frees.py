# SPDX-License-Identifier: GPL-2.0
"""Freed slots and obsolete copies: peers are told of all of them, soon.

        node0 ------ node1        node0 writes, rewrites and discards
             `------ node2        node2 may be a peer by hand, slow to answer
             `------ node3        in one test, which has peers by hand only
"""
import contextlib
import fcntl
import struct
import threading
import time

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.cluster import PAGE
from nswaptest.rawwire import FREE, HOLD_ASK, Peer
from nswaptest.work import Slots

DESCRIPTION = "frees have no ceiling and do not starve, no comparison is lost"
SUITES = ("lab",)
NEEDS = ("module", "progs", "tc")
TIMEOUT = 180

BLKDISCARD = 0x1277
RUNS = 128          # in one FREE


@contextlib.contextmanager
def by_hand(node, others):
    """A peer by hand, for a while."""
    peer = Peer(node, others)
    try:
        yield peer
    finally:
        peer.close()


def of_device(peer, instance):
    """How many pages of a device a peer by hand holds."""
    return sum(key[0] == instance for key in list(peer.pages))


def held(node):
    """Pages that a node holds, from a file that is quickly read."""
    lines = [line.split() for line in
             node.cluster.outside.read("/proc/nswap/node").splitlines()]
    at, addr = lines[0].index("held"), lines[0].index("addr")
    return next(int(x[at]) for x in lines[1:] if x[addr] == node.addr)


def apart(slots, first, nr):
    """Write every other slot, so that no two of them are one run."""
    for slot in range(first, first + 2 * nr, 2):
        slots.write(slot)


class Trickle:
    """Second copies of a mirrored device become obsolete all the time: with it the
    timer that batches frees is always armed."""

    def __init__(self, slots, nr):
        self._slots, self._nr = slots, nr
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._stop.is_set():
            apart(self._slots, 1, self._nr)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


@contextlib.contextmanager
def far(node):
    """Whatever a node sends takes 5 ms."""
    qdisc = ["dev", node.iface, "root", "netem"]
    node.run(["tc", "qdisc", "add", *qdisc, "limit", "100000", "delay", "5ms"])
    try:
        yield
    finally:
        node.run(["tc", "qdisc", "del", *qdisc])


def freed(client, dev, server, nr):
    """Discard pages that lie apart; seconds until their server has dropped
    them."""
    before = held(server)
    begin = time.monotonic()
    with open(f"/dev/{dev}", "rb+", buffering=0) as disk:
        fcntl.ioctl(disk, BLKDISCARD, struct.pack("QQ", PAGE, 2 * nr * PAGE))
    wait_for(lambda: held(server) <= before - nr + 100, 30,
             "the server has dropped what was freed", every=0.005)
    return time.monotonic() - begin


def test_no_ceiling(t):
    """Copies that become obsolete do not slow down the telling of freed
    slots: it takes about as long with them as without."""
    cluster = t.cluster(3)
    client, server, other = cluster.nodes
    for node in cluster:
        node.up(lend="64M" if node is server else "0")
    cluster.wait_connected()
    nr = 4000
    devs = [client.device_add("32M") for _ in range(2)]
    for dev in devs:
        with Slots(dev, t.seed) as slots:
            apart(slots, 1, nr)
    small = client.device_add("4M")
    other.ctl("lend", "16M")
    client.wait_sessions()
    client.ctl("device", "protect", small, "mirror")
    with Slots(small, t.seed) as slots:
        apart(slots, 1, 63)
        with far(client):
            alone = freed(client, devs[0], server, nr)
            with Trickle(slots, 63):
                before = client.stat()["client"]["free_msgs"]
                wait_for(lambda: client.stat()["client"]["free_msgs"] >
                         before + 4, 20, "copies become obsolete")
                beside = freed(client, devs[1], server, nr)
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages")
    t.log(f"{nr} pages: {alone:.3f} s, {beside:.3f} s beside a trickle")
    at_most(beside, 0.05 + 2 * alone, "seconds beside a trickle")
    for dev in (*devs, small):
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_rewritten(t):
    """A page that is written again stays at its peer, where it is written over: there
    is no copy to be freed, whatever runs it is written in."""
    cluster = t.cluster(5)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else "16M")
    cluster.wait_connected()
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 1025, 8):
            slots.write(first, 8)
        held_at = [held(node) for node in cluster.nodes[1:]]
        for run in (8, 1, 4, 2, 8):
            for first in range(1, 1025, run):
                slots.write(first, run)
        equal([held(node) for node in cluster.nodes[1:]], held_at, "pages at each peer")
        equal(client.stat()["client"]["freed_slots"], 0, "copies that were freed")
        equal(slots.compare(), (1024, 0, 0), "right, wrong, unreadable")
        for slot in range(1025, 1025 + 96):
            slots.write(slot)
            slots.write(1)
        for node, before in zip(cluster.nodes[1:], held_at):
            at_least(held(node) - before, 20,
                     f"new pages at {node}, a page being rewritten between them")
    client.device_del(dev)


def test_no_starvation(t):
    """A peer that answers a FREE after a second has many obsolete copies: it
    is told of freed slots all the same before it is told of all of those."""
    cluster = t.cluster(3)
    client, server, last = cluster.nodes
    for node in (client, server):
        node.up(lend="0", dead_after=60)
    cluster.wait_connected([client, server])
    with by_hand(last, [client, server]) as peer:
        dev, small = client.device_add("16M"), client.device_add("4M")
        nr = 10 * RUNS
        with Slots(dev, t.seed) as slots, Slots(small, t.seed) as others:
            apart(slots, 1, nr)
            apart(others, 1, 32)
            equal(len(peer.pages), nr + 32, "pages on the peer")
            peer.full, peer.free_ack = True, 1
            server.ctl("lend", "32M")
            wait_for(lambda: server.stat()["server"]["set_aside_pages"] > 2000,
                     20, "the server has room")
            apart(slots, 1, nr)
            client.discard(small, "-o", "4096")
            wait_for(lambda: not of_device(peer, 2), 8,
                     "the peer is told of the freed slots")
            left = of_device(peer, 1)
            t.log(f"{left} obsolete copies left then, "
                  f"{peer.asked.get((FREE, 0), 0)} messages")
            true(left > RUNS, "there were obsolete copies to be told of")
            peer.free_ack = 0
            wait_for(lambda: not peer.pages, 30, "all is freed")
            equal(slots.compare(), (nr, 0, 0), "right, wrong, unreadable")
        client.device_del(dev)
        client.device_del(small)


def test_asked_meanwhile(t):
    """A comparison that is asked for while one runs is made after it."""
    cluster = t.cluster(2)
    client, last = cluster.nodes
    client.up(lend="0", dead_after=60)
    with by_hand(last, [client]) as peer:
        devs = [client.device_add("4M") for _ in range(3)]
        for dev, nr in zip(devs, (16, 16, 2 * RUNS)):
            with Slots(dev, t.seed) as slots:
                apart(slots, 1, nr)
        peer.held_up = threading.Event()
        asks = peer.asked.get((HOLD_ASK, 0), 0)
        peer.cut()
        wait_for(lambda: peer.asked.get((HOLD_ASK, 0), 0) > asks, 10,
                 "a comparison has begun")
        dels = [client.popen([client.prog("nswapctl"), "device", "del", dev])
                for dev in devs[:2]]
        for done in dels:
            equal(done.wait(20).code, 0, "exit code of device del")
        peer.held_up.set()
        wait_for(lambda: not of_device(peer, 1) and not of_device(peer, 2), 20,
                 "the pages of both devices are dropped")
        equal(of_device(peer, 3), 2 * RUNS, "pages of the third")
        client.device_del(devs[2])


def test_listed_moving(t):
    """Pages are being copied to a second peer while a third one lists them, by hand each: they
    are left to it, and it is told to drop them soon after, not with the next comparison."""
    cluster, nr = t.cluster(4), 32
    client, *others = cluster.nodes
    client.up(lend="0", dead_after=60)
    with by_hand(others[0], [client]) as first, by_hand(others[1], []) as second, \
            by_hand(others[2], []) as third:
        client.ctl("set", "store_timeout_ms", "30000")
        dev = client.device_add("4M")
        second.slow, third.full = threading.Event(), True
        with Slots(dev, t.seed) as slots:
            slots.write(1, nr)
            third.pages = dict(first.pages)
            second.others = [client.addr]
            wait_for(lambda: client.peers().get(second.addr, {}).get("state") == "up", 20,
                     "the second peer is up")
            client.ctl("device", "protect", dev, "mirror", "--no-wait")
            wait_for(lambda: client.peers()[second.addr]["inflight"], 20,
                     "copies are under way")
            third.others = [client.addr]
            wait_for(lambda: third.asked.get((HOLD_ASK, 0), 0) > 1, 20, "it lists them twice")
            # the repair may have begun with the second page
            at_least(len(third.pages), nr - 1, "pages that are left there")
            second.slow.set()
            wait_for(lambda: not third.pages, 20, "they are dropped")
            wait_for(lambda: len(second.pages) == nr, 20, "the copies have arrived")
            equal(slots.compare(), (nr, 0, 0), "right, wrong, unreadable")
        client.device_del(dev)
