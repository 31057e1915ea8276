# SPDX-License-Identifier: GPL-2.0
"""Comparison of what a peer holds with what its owner records, where that is much.

        node0 ------ node1        node0 has every second slot of a device there, or, as
                                  node1, played by hand, says, had
"""
import struct
import time

from nswaptest import rawwire
from nswaptest.check import at_least, at_most, equal, hold, wait_for
from nswaptest.work import Slots, result_of

DESCRIPTION = "a comparison that pauses finds what is not recorded, after a new session too"
SUITES = ("long",)
NEEDS = ("module", "inject", "progs")
TIMEOUT = 240

# after 128 lists, of 128 runs each, a comparison pauses: once with as many pages
LISTS = 128
PAGES = 17000


def filled(t, lend, **options):
    """A cluster, its nodes, and the device, every second slot of which is written."""
    cluster = t.cluster(2, inject=True)
    cluster.up(lend=lend, dead_after=60, **options)
    client, server = cluster
    dev = client.device_add("140M")
    with Slots(dev, t.seed) as slots:
        for page in range(1, PAGES + 1):
            slots.write(2 * page)
    return cluster, client, server, dev


def test_paused(t):
    """The FREE of the last slot is lost, and with it the session: the comparison of the
    next one pauses before it comes to that slot, and frees it."""
    cluster, client, server, dev = filled(t, "80M")
    equal(server.stat()["server"]["held_pages"], PAGES, "pages held")
    sessions = client.stat()["client"]["sessions"]
    client.inject(type=rawwire.LOSABLE["FREE"], lose=1)
    client.run(["blkdiscard", "--offset", 2 * PAGES * 4096, "--length", 4096, f"/dev/{dev}"])
    wait_for(lambda: server.stat()["server"]["held_pages"] == PAGES - 1, 40,
             "what is not recorded is dropped")
    at_least(client.stat()["client"]["sessions"] - sessions, 1, "sessions after that")
    equal(server.stat()["server"]["reconcile_dropped"], 1, "pages dropped by comparison")
    client.device_del(dev)
    wait_for(lambda: not cluster.held_pages(), 20, "no page is held")


def test_session_ends(t):
    """The session breaks again and again while its comparison pauses: the last one ends it."""
    cluster, client, server, dev = filled(t, "160M", reconcile=2)
    sessions = client.stat()["client"]["sessions"]
    client.inject(seed=t.seed, cut_ack=20)
    work = client.popen([client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
                         "600", "--threads", "2", "--reads", "25", "--seed", str(t.seed)])
    wait_for(lambda: client.stat()["client"]["sessions"] - sessions >= 10, 120,
             "10 sessions", every=0.2)
    client.inject(cut_ack=0)
    work.kill(15)
    equal(result_of(work.wait(150))["wrong_pages"], 0, "wrong pages")
    done = client.stat()["client"]["reconciles"]
    wait_for(lambda: client.stat()["client"]["reconciles"] > done, 40, "a whole comparison")
    wait_for(lambda: server.stat()["server"]["held_pages"] ==
             next(d["slots_remote"] for d in client.devices() if d["device"] == dev), 40,
             "the server holds what is recorded")
    client.device_del(dev)
    wait_for(lambda: not cluster.held_pages(), 20, "no page is held")


class Holder(rawwire.Peer):
    """It holds every second slot of a device, up to its last list, and each is only to be
    dropped; it notes when it is asked."""

    def __init__(self, node, client, lists):
        self.last, self.asked_at = 2 * LISTS * lists, []
        super().__init__(node, [client])

    def _list(self, q):
        self.asked_at.append(time.monotonic())
        first = q.slot + q.slot % 2 or 2
        slots = range(first, min(first + 2 * LISTS, self.last + 2), 2)
        runs = b"".join(struct.pack("<IIQII", 1, 1, slot, 1, 0) for slot in slots)
        return rawwire.Message(rawwire.HOLD_LIST, runs, len(slots), slot=1 << 40,
                               flags=rawwire.LAST if first + 2 * LISTS > self.last else 0)

    def gaps(self):
        """The longest times between two questions, the longest first."""
        return sorted((b - a for a, b in zip(self.asked_at, self.asked_at[1:])), reverse=True)


def test_at_rest(t):
    """A node that stores nothing and has nothing out goes on after each pause within two of
    the ticks that it has while it compares, a quarter of a second long."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0")
    peer = Holder(cluster[1], client, 4 * LISTS)
    try:
        wait_for(client.peers, 15, "the peer is heard")
        dev = client.device_add("600M")
        wait_for(lambda: client.stat()["client"]["reconciles"], 60, "they have a session")
        # nothing was used for two seconds: it rests
        hold(3)
        peer.asked_at.clear()
        peer.cut()
        wait_for(lambda: len(peer.asked_at) >= 4 * LISTS, 60, "all is compared")
        gaps = peer.gaps()
        t.log(f"pauses {[round(gap, 3) for gap in gaps[:5]]}")
        at_least(gaps[2], 0.15, "seconds of the shortest pause")
        # a node that rests waits for a second in each; this machine may be late in one
        at_most(gaps[1], 0.65, "seconds of the middle pause")
        equal(client.stat()["client"]["write_errors"], 0, "failed page-outs")
        client.device_del(dev)
    finally:
        peer.close()
