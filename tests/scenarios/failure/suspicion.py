# SPDX-License-Identifier: GPL-2.0
"""Suspicion before death: what a peer is suspected of, and what that costs.

        node0 ------ node1        node0 keeps its pages on node1 and node2
             `------ node2
"""
import contextlib
import os
import threading
import time

from nswaptest.check import at_least, at_most, equal, hold, slower, true, wait_for
from nswaptest.work import Slots

DESCRIPTION = "peers that are suspected, with the reason, and come back"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 240
LONG = ("unreachable", "each_flow")
CPUS = 2        # page-ins use another connection on each processor

PORT = 9611
MARK = "nswaptest: suspicion begins"


def start(t, nodes=2, dead_after=20, count=256, spare=0):
    """A cluster, spare hosts in it, a device of node0 with pages at the others, its
    content."""
    cluster = t.cluster(nodes + spare)
    cluster[0].write("/dev/kmsg", MARK)
    for node in cluster.nodes[:nodes]:
        node.up(lend="32M", dead_after=dead_after)
    cluster.wait_connected(cluster.nodes[:nodes])
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("16M")
    slots = Slots(dev, t.seed)
    for first in range(1, count + 1, 32):
        slots.write(first, 32)
    return cluster, dev, slots


def shown(client, peer):
    """State of a peer and why."""
    p = client.peers()[peer.addr]
    return p["state"], p["reason"]


def log_lines(node, words):
    """Lines of the log since the test began that have these words."""
    lines = node.run("dmesg").out.rpartition(MARK)[2].splitlines()
    return [x for x in lines if words in x]


class Reading:
    """Compares all slots in a thread of its own."""

    def __init__(self, slots):
        self.found = None
        self._slots = slots
        self._thread = threading.Thread(target=self._compare, daemon=True)
        self._thread.start()

    def _compare(self):
        self.found = self._slots.compare()

    def result(self, deadline):
        """Wait for the end; (right, wrong, unreadable)."""
        wait_for(lambda: self.found, deadline, "every slot has been read")
        self._thread.join()
        return self.found


def suspected(t, lay, lift, words):
    """Lay a cut and lift it: the peer is suspected with a reason that has these
    words, no read fails, the session comes back, and nothing is stored again."""
    cluster, dev, slots = start(t, spare=1)
    client, peer = cluster.nodes[:2]
    with slots:
        before = peer.stat()["server"]["pages_stored"]
        epoch = client.peers()[peer.addr]["epoch"]
        lay(cluster)
        reading = Reading(slots)
        wait_for(lambda: shown(client, peer)[0] == "suspected" and
                 words in shown(client, peer)[1], 15, f"the reason '{words}'")
        t.log(shown(client, peer))
        text = client.run([client.prog("nswapctl"), "peers"]).out
        true(words in text and "suspected" in text, f"peers prints {text!r}")
        # longer than a refused connection used to be waited for
        end = time.monotonic() + 2
        while time.monotonic() < end:
            equal(shown(client, peer)[0], "suspected", "state of the peer")
        equal(reading.found, None, "what was read meanwhile")
        lift(cluster)
        equal(reading.result(20), (256, 0, 0), "right, wrong, unreadable slots")
        wait_for(lambda: shown(client, peer) == ("up", ""), 10, "the peer is well")
        equal(client.peers()[peer.addr]["epoch"], epoch, "its epoch")
        equal(peer.stat()["server"]["pages_stored"], before, "pages stored")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        for words in ("is suspected: ", "is back in the same epoch: 256 pages"):
            equal(len(log_lines(client, words)), 1, f"log lines with '{words}'")
    client.device_del(dev)


def test_cut(t):
    """A cut: no answer."""
    suspected(t, lambda c: c.cut(c[0], c[1]), lambda c: c.heal(), "no answer for")


class ReadingOn:
    """Compares all slots again and again, in several threads."""

    def __init__(self, slots, threads=4):
        self.found, self._slots, self._over = set(), slots, threading.Event()
        self._threads = [threading.Thread(target=self._go_on, daemon=True)
                         for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _go_on(self):
        while not self._over.is_set():
            self.found.add(self._slots.compare())

    def end(self):
        """What was found each time: a set of (right, wrong, unreadable)."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        return self.found


def test_over(t):
    """A cut is over: no connection waits until TCP tries again, which after 3.4 s may be as
    long once more."""
    cluster, dev, slots = start(t, dead_after=60)
    client, peer = cluster
    with slots:
        reading = ReadingOn(slots)
        for _ in range(5):
            hold(1.5)
            cluster.isolate(peer)
            hold(3.4)
            cluster.heal(peer)
            begin = time.monotonic()
            wait_for(lambda: shown(client, peer) == ("up", ""), slower(2.5),
                     "each of them answers")
            t.log(f"after {time.monotonic() - begin:.2f} s")
        equal(reading.end(), {(256, 0, 0)}, "right, wrong, unreadable slots")
    client.device_del(dev)


def test_refused(t):
    """Connections are refused and reset while the peer is well, as by a firewall
    (another host gets its packets): nothing is lost by that."""
    def lay(cluster):
        client, peer, host = cluster
        host.run("echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore")
        host.run(["ip", "addr", "add", f"{peer.addr}/32", "dev", "lo"])
        client.run(["ip", "neigh", "replace", peer.addr, "lladdr", host.mac,
                    "dev", client.iface, "nud", "permanent"])

    def lift(cluster):
        client, peer, _ = cluster
        client.run(["ip", "neigh", "del", peer.addr, "dev", client.iface])
    suspected(t, lay, lift, "connection refused")


def test_unreachable(t):
    """No way leads to the peer."""
    suspected(t, lambda c: c[0].run(["ip", "route", "add", "unreachable",
                                     f"{c[1].addr}/32"]),
              lambda c: c[0].run(["ip", "route", "del", "unreachable",
                                  f"{c[1].addr}/32"]), "unreachable")


@contextlib.contextmanager
def flow_lost(node, port):
    """The network loses one flow of a node, by its port there."""
    node.run(["nft", f"""
        table inet lost {{
            chain in {{ type filter hook input priority 0;
                       tcp dport {port} drop; }}
            chain out {{ type filter hook output priority 0;
                        tcp sport {port} drop; }}
        }}"""])
    try:
        yield
    finally:
        node.run(["nft", "delete", "table", "inet", "lost"])


def flows(client, peer):
    """The ports of a client's connections to a peer."""
    lines = client.run(["ss", "-tnH", "dst", f"{peer.addr}:{PORT}"]).out
    return {int(line.split()[3].rpartition(":")[2])
            for line in lines.splitlines() if line.startswith("ESTAB")}


def whole(client, peer):
    """The ports of all three connections, in order, of a session that stands."""
    ports = shown(client, peer)[0] == "up" and sorted(flows(client, peer))
    return ports if ports and len(ports) == 3 else None


def rewriting(slots, first, stop):
    """Rewrite slots again and again, so that something is always heard."""
    while not stop.wait(0.02):
        with contextlib.suppress(OSError):
            slots.write(first, 8)


def lose_flows(t, each):
    """The network loses one connection of a session and carries the others, one
    after the other, each of them or until one was met that carries loads."""
    dead_after = 15
    cluster, dev, slots = start(t, 3, dead_after)
    client, peer = cluster.nodes[:2]
    stop = threading.Event()
    slowest = []
    with slots, Slots(dev, t.seed + 1) as others:
        writer = threading.Thread(target=rewriting, args=(others, 1024, stop),
                                  daemon=True)
        writer.start()
        try:
            for turn in range(3):
                if not each and max(slowest, default=0) >= 1:
                    break
                port = wait_for(lambda: whole(client, peer), 20, "a whole session")[turn]
                with flow_lost(client, port):
                    for cpu in range(os.cpu_count()):
                        os.sched_setaffinity(0, {cpu})
                        equal(slots.compare(), (256, 0, 0),
                              "right, wrong, unreadable slots")
                        slowest.append(slots.slowest)
                    os.sched_setaffinity(0, range(os.cpu_count()))
        finally:
            stop.set()
            writer.join()
    t.log(f"slowest reads {slowest}")
    at_least(max(slowest), 1, "seconds that the slowest read took: one flow "
             "carries loads")
    at_most(max(slowest), dead_after - 3, "seconds that the slowest read took")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")
    client.device_del(dev)


def test_one_flow(t):
    """The network loses a connection that carries loads: no page-in fails."""
    lose_flows(t, False)


def test_each_flow(t):
    """It loses each connection in turn: no page-in fails on either processor."""
    lose_flows(t, True)
