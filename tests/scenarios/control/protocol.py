# SPDX-License-Identifier: GPL-2.0
"""The wire protocol against peers that are not this module: other versions are
refused and shown, other features are no hindrance.

        node0 ------ node1        the last node is a peer by hand, see
             `------ node2        tests/nswaptest/rawwire.py
"""
import contextlib
import struct

from nswaptest import rawwire
from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.rawwire import (BAD, HAS_ALL, HAS_TIMED, HELLO_ACK, LOAD, MOVE,
                               MOVES, OK, PING, PONG, STORE, STORES, TIMED, Link,
                               Message, Peer)
from nswaptest.work import Slots

DESCRIPTION = "other versions of the protocol are refused, features are optional"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

MARK = "nswaptest: protocol begins"
UNKNOWN = 0xfeedfacecafebebe & ~HAS_ALL
WHY = "speaks version 1, this node version 2"


def start(t, nodes=3, lend="8M", **options):
    """A cluster whose last node is not up."""
    cluster = t.cluster(nodes)
    cluster[0].write("/dev/kmsg", MARK)
    for node in cluster.nodes[:-1]:
        node.up(lend=lend, **options)
    cluster.wait_connected(cluster.nodes[:-1])
    return cluster


@contextlib.contextmanager
def by_hand(node, others, **options):
    """A peer by hand, for a while."""
    peer = Peer(node, others, **options)
    try:
        yield peer
    finally:
        peer.close()


def sentences(node):
    """What the log says since the test began about versions."""
    lines = node.run("dmesg").out.rpartition(MARK)[2].splitlines()
    return [x for x in lines if "is refused: it speaks version" in x]


def shown(node, peer):
    """How nswapctl peers shows a peer: state, version, reason; None if it is
    not there."""
    p = node.peers().get(peer.addr)
    return p and (p["state"], p["version"], p["refused"])


def use(t, node, count=256, slots_from=1):
    """Write to a device, read it back, and delete it."""
    dev = node.device_add("8M", wait=False)
    node.wait_sessions()
    with Slots(dev, t.seed) as slots:
        for first in range(slots_from, slots_from + count, 32):
            slots.write(first, 32)
        equal(slots.compare(), (count, 0, 0), "right, wrong, unreadable slots")
    node.device_del(dev)


def test_ids(t):
    """The peer by hand knows how the module makes an id."""
    cluster = t.cluster(1)
    cluster.up(lend="1M")
    equal(int(cluster[0].stat()["node"]["id"], 16),
          rawwire.node_id(cluster[0].addr, hardware=int(
              cluster[0].mac.replace(":", ""), 16)), "id of the node")


def test_other_version(t):
    """A node of version 1 is heard: it is shown as refused, with the reason,
    and said once in the log; upgraded it is a peer; no peer takes it for a stranger."""
    cluster = start(t)
    node, real, last = cluster
    with by_hand(last, [node, real], version=1) as old:
        wait_for(lambda: shown(node, last), 10, "the announcement is heard")
        equal(shown(node, last), ("refused", 1, WHY), "the peer")
        text = node.run([node.prog("nswapctl"), "peers"]).out
        line = next(x for x in text.splitlines() if last.addr in x)
        true(" refused " in line and WHY in line, f"peers prints {line!r}")
        equal(node.peers()[last.addr]["lent_pages"], 0, "pages it lends")
        equal(shown(node, real), ("new", 2, ""), "the other peer")
        use(t, node)
        equal((old.refused, old.hellos), (0, []), "connections to it")
        told = node.run([node.prog("nswapctl"), "doctor"], check=False).out
        true(f"{last.addr}:9611 is refused: it {WHY}" in told,
             f"the doctor said {told!r}")
        hold(1)
        equal(len([x for x in sentences(node) if last.addr in x]), 2,
              "sentences of two nodes in one log")
        old.restart(version=2)
        wait_for(lambda: shown(node, last) == ("up", 2, ""), 10,
                 "the upgraded peer is one")
        use(t, node)
        at_least(len(old.hellos), 2, "connections to it")


def test_listed_server(t):
    """A listed peer that does not announce itself is found out by connecting;
    the session with others stands; it is tried again until it is upgraded."""
    cluster = t.cluster(3)
    node, real, last = cluster
    node.write("/dev/kmsg", MARK)
    real.up(lend="8M")
    node.up(lend="8M", peers=[last])
    cluster.wait_connected([node, real])
    with by_hand(last, [node], version=1, announces=False) as old:
        dev = node.device_add("8M", wait=False)
        wait_for(lambda: shown(node, last) == ("refused", 1, WHY), 10,
                 "the greeting is heard")
        with Slots(dev, t.seed) as slots:
            slots.write(1, 32)
            wait_for(lambda: old.refused >= 3, 15, "it is tried again")
            equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable")
            equal(old.hellos, [], "what it was told")
            equal(len(sentences(node)), 1, "sentences in the log")
            equal(shown(node, real)[0], "up", "the other peer")
            old.restart(version=2)
            wait_for(lambda: shown(node, last) == ("up", 2, ""), 15,
                     "the session with the upgraded peer")
            node.ctl("policy", "place", "round-robin")
            for first in range(64, 256, 32):
                slots.write(first, 32)
            at_least(len(old.pages), 32, "pages on it")
            equal(slots.compare()[1:], (0, 0), "wrong, unreadable slots")
            # and back: its pages are gone, reading them fails at once
            gone = len(old.pages)
            old.restart(version=1)
            wait_for(lambda: shown(node, last) == ("refused", 1, WHY), 15,
                     "the downgraded peer is refused")
            _, wrong, unreadable = slots.compare()
            equal((wrong, unreadable), (0, gone), "wrong, unreadable slots")
            at_most(slots.slowest, 3, "seconds that a read took")
        node.device_del(dev)


def test_version_1_client(t):
    """A client of version 1 is greeted in version 2, gets no answer to its
    HELLO, and is shown; many of them keep no peer out."""
    cluster = start(t)
    node, real, last = cluster
    for turn in range(40):
        link = Link(last, node.addr)
        equal(link.version, 2, "version of the greeting")
        equal(link.hello(version=1), None, f"answer to hello {turn}")
        link.close()
    equal(shown(node, last), ("refused", 1, WHY), "the client")
    equal(len(sentences(node)), 1, "sentences in the log")
    # as a real one does: it closes at the greeting
    for _ in range(40):
        Link(last, node.addr).close()
    use(t, real)
    link = Link(last, node.addr)
    equal(link.hello().status, OK, "status of a hello in version 2")
    link.close()


def test_versions_of_the_future(t):
    """Version 3 is refused like version 1, whatever it has in store."""
    cluster = start(t, 2)
    node, last = cluster
    with by_hand(last, [node], version=3):
        wait_for(lambda: shown(node, last), 10, "the announcement is heard")
        equal(shown(node, last),
              ("refused", 3, "speaks version 3, this node version 2"),
              "the peer")


def test_server_features(t):
    """Peers without features, with all, and with unknown ones take pages; only
    what both have is in use."""
    cluster = start(t, 2)
    node, last = cluster
    node.ctl("set", "latency", 1)
    with by_hand(last, [node]) as peer:
        for features, used in ((HAS_TIMED, ["timed"]), (0, []), (UNKNOWN, []),
                               ((1 << 64) - 1, ["timed", "classes", "shares", "stat", "short"])):
            peer.restart(features=features)
            peer.asked.clear()
            dev = node.device_add("8M", wait=False)
            wait_for(lambda: shown(node, last) == ("up", 2, "") and
                     len(peer.hellos) >= 2, 15, f"a session, {features:x}")
            equal(node.peers()[last.addr]["features"], used,
                  f"features in use with a peer that has {features:x}")
            equal({f for _, f in peer.hellos}, {HAS_ALL},
                  "features the node says it has")
            with Slots(dev, t.seed) as slots:
                slots.write(1, 32)
                equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable")
            flag = TIMED if used else 0
            at_least(peer.asked.get((STORE, flag), 0), 1, "stores")
            at_least(peer.asked.get((LOAD, flag), 0), 1, "loads")
            equal(peer.asked.get((STORE, flag ^ TIMED), 0), 0,
                  "stores of the other kind")
            node.device_del(dev)
    node.ctl("set", "latency", 0)


def test_client_features(t):
    """Clients without features and with unknown ones are served; what is not
    in use ends the connection; reserved bytes are checked."""
    cluster = start(t, 2)
    node, last = cluster
    load = Message(LOAD, struct.pack("<I", 1), 1, slot=5, instance=1)
    session = 0
    for features in (0, UNKNOWN, HAS_TIMED, (1 << 64) - 1):
        session += 1
        link = Link(last, node.addr)
        equal(link.hello(session=session, features=features).status, OK,
              f"status of a hello with {features:x}")
        equal(link.features, HAS_ALL, "features of the node")
        equal(link.ask(Message(PING)).kind, PONG, "answer to a ping")
        equal(link.ask(load).took, 0, "time of a load that did not ask")
        load.flags = TIMED
        answer = link.ask(load)
        load.flags = 0
        if features & HAS_TIMED:
            at_least(answer.took, 1, "ns that a load took")
        else:
            equal(answer, None, "answer to what is not in use")
        link.close()
    for wrong in ({"reserved": b"\0\0\0\0\0\0\1"},
                  {"keys": bytes(95) + b"\1"}):
        link = Link(last, node.addr)
        answer = link.hello(session=session + 1, **wrong)
        equal((answer.kind, answer.status), (HELLO_ACK, BAD),
              f"answer to a hello with {wrong}")
        equal(link.answer(), None, "what follows")
        link.close()


def test_movers(t):
    """Links of movers: one with unknown features is served, and pages move to
    a peer that has none, whose owner reads them there."""
    cluster = start(t, 3, lend="0")
    owner, server, last = cluster
    server.ctl("lend", "8M")
    link = Link(last, server.addr)
    equal(link.hello(session=0, kind=MOVES, features=UNKNOWN).status, OK,
          "status of a mover's hello")
    equal(link.ask(Message(LOAD, bytes(4), 1)), None, "answer to a load")
    link.close()
    link = Link(last, server.addr)
    equal(link.hello(session=0, kind=STORES).status, BAD,
          "status of a hello for stores without a session")
    link.close()
    dev = owner.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 257, 32):
            slots.write(first, 32)
        equal(server.stat()["server"]["held_pages"], 256, "pages to be moved")
        with by_hand(last, [owner, server], features=0) as peer:
            wait_for(lambda: shown(owner, last) == ("up", 2, ""), 15,
                     "the owner's session with it")
            server.ctl("lend", "0")
            wait_for(lambda: server.stat()["server"]["held_pages"] == 0, 30,
                     "all pages are moved")
            equal(len(peer.pages), 256, "pages on it")
            true((MOVES, HAS_ALL) in peer.hellos, "a mover's hello")
            at_least(peer.asked.get((MOVE, 0), 0), 8, "moves")
            equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable")
            owner.discard(dev)
            wait_for(lambda: not peer.pages, 10, "its pages are freed")
    owner.device_del(dev)
