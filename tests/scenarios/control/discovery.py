# SPDX-License-Identifier: GPL-2.0
"""Discovery, the IPTable and placement with 12 nodes, the paper's cluster.

        node0 … node11 on one link; none is told of another one
"""
import sys
import time

from nswaptest.check import (at_least, at_most, equal, hold, true, wait_for)
from nswaptest.work import Slots, eat

# makes 150 connections, says on how many it was greeted, and keeps those
CROWD = """
import socket, sys, time

crowd = [socket.socket() for _ in range(150)]
for s in crowd:
    s.setblocking(False)
    s.connect_ex((sys.argv[1], 9611))
greeted = []
for s in crowd:
    s.settimeout(30)
    try:
        if s.recv(1):
            greeted.append(s)
    except ConnectionError:
        pass
left = 0
for s in greeted:
    s.setblocking(False)
    try:
        while s.recv(4096):
            pass
    except BlockingIOError:
        left += 1
    except ConnectionError:
        pass
print(left, flush=True)
time.sleep(60)
"""

DESCRIPTION = "12 nodes find each other, age each other, and share pages out"
SUITES = ("lab",)
LONG = ("twelve", "round_robin", "most_free", "switch", "ageing", "room_again",
        "listed_only", "ipv6", "no_threads", "short_of_memory")
NEEDS = ("module", "inject", "progs")
TIMEOUT = 300

NODES = 12


def held(cluster):
    """Pages each node but the first holds."""
    return [n.stat()["server"]["held_pages"] for n in cluster.nodes[1:]]


def write(client, dev, mb):
    """Write the first mb megabytes of a device with noise."""
    client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=128k",
                f"count={mb * 8}", "oflag=direct"])


def test_twelve(t):
    """Everybody finds everybody and knows what they lend; what is written
    is shared out in turn or by free RAM, and a program swaps over all."""
    cluster = t.cluster(NODES)
    cluster.up(lend="16M")
    for node in cluster:
        peers = node.peers()
        equal(len(peers), NODES - 1, f"peers of {node}")
        wait_for(lambda node=node: all(p["lent_pages"] == 4096
                                       for p in node.peers().values()),
                 5, "what peers lend is known")
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    with cluster.swap(client, "128M"):
        equal(eat(client, 64, "24M", passes=1)["wrong_pages"], 0,
              "wrong pages")
        for node in cluster.nodes[1:]:
            at_least(node.stat()["server"]["pages_stored"], 500,
                     f"pages {node} took in")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_round_robin(t):
    """Round-robin: every peer gets its share, give or take a tenth."""
    cluster = t.cluster(NODES)
    cluster.up(lend="16M")
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("48M")
    write(client, dev, 44)
    shares = held(cluster)
    t.log(f"shares {shares}")
    equal(sum(shares), 44 * 256 - 1, "pages held")
    share = 44 * 256 / (NODES - 1)
    at_least(min(shares), share * 0.9, "smallest share")
    at_most(max(shares), share * 1.1, "largest share")
    client.device_del(dev)


def test_most_free(t):
    """Most-free: peers that lend more are filled first, down to the level of
    the others."""
    cluster = t.cluster(NODES)
    for node in cluster:
        node.up(lend="24M" if node.index > NODES - 4 else "8M")
    cluster.wait_connected()
    client = cluster[0]
    client.ctl("policy", "place", "most-free")
    wait_for(lambda: sum(p["free_pages"] for p in client.peers().values()) >=
             (3 * 24 + 8 * 8) * 250, 5, "what peers lend is known")
    dev = client.device_add("64M")
    write(client, dev, 36)
    shares = held(cluster)
    t.log(f"shares {shares}")
    small, large = sum(shares[:8]), sum(shares[8:])
    at_least(large / 3, 4 * small / 8, "pages on one that lends much, and "
             "four times those on one that lends little")
    write(client, dev, 60)
    free = [n.stat()["node"]["lent_pages"] - s
            for n, s in zip(cluster.nodes[1:], held(cluster))]
    t.log(f"free {free}")
    at_most(max(free) - min(free), 8192, "spread of free pages at the end")
    client.device_del(dev)


def test_least_full(t):
    """Least-full: peers that lend unlike amounts have the same share of it used."""
    cluster = t.cluster(4)
    lend = (0, 8, 16, 40)
    for node, mb in zip(cluster, lend):
        node.up(lend=f"{mb}M")
    cluster.wait_connected()
    client = cluster[0]
    client.ctl("policy", "place", "least-full")
    wait_for(lambda: sum(p["free_pages"] for p in client.peers().values()) >=
             sum(lend) * 250, 5, "what peers lend is known")
    dev = client.device_add("48M")
    write(client, dev, 32)
    used = [pages / (mb * 256) for pages, mb in zip(held(cluster), lend[1:])]
    t.log(f"shares of what is lent {used}")
    at_most(max(used) - min(used), 0.3, "the least and the most used share")
    client.device_del(dev)


def test_switch(t):
    """The policy is switched while a program swaps; an unknown one is
    refused and the old one stays."""
    cluster = t.cluster(4)
    cluster.up(lend="32M")
    client = cluster[0]
    with cluster.swap(client, "96M"):
        for policy in ("round-robin", "most-free", "least-full"):
            client.ctl("policy", "place", policy)
            client.refused("policy", "place", "nonsense")
            equal(eat(client, 32, "16M", passes=1)["wrong_pages"], 0,
                  "wrong pages")


def test_ageing(t):
    """A peer that is not heard any more is not chosen; heard again, it
    is."""
    cluster = t.cluster(4)
    cluster.up(lend="32M", dead_after=30)
    client, silent = cluster[0], cluster[3]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("32M")
    cluster.isolate(silent)
    wait_for(lambda: client.peers()[silent.addr]["state"] == "suspected", 15,
             "the peer is suspected")
    before = silent.stat()["server"]["pages_stored"]
    write(client, dev, 8)
    equal(silent.stat()["server"]["pages_stored"], before,
          "pages sent to a silent peer")
    cluster.heal()
    cluster.wait_connected()
    write(client, dev, 16)
    at_least(silent.stat()["server"]["pages_stored"], before + 500,
             "pages sent to the peer that is back")
    client.device_del(dev)


def test_room_again(t):
    """A lender that was full is used again once it has room, though another
    one has had room all the time."""
    cluster = t.cluster(3)
    client, small, big = cluster
    client.up(lend="4M")
    small.up(lend="4M")
    big.up(lend="64M")
    cluster.wait_connected()
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("48M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 4096, 32):
            slots.write(first, 32)
        at_least(small.stat()["server"]["held_pages"], 900,
                 "pages on the small lender")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            slots.write(8193, 32)
        before = small.stat()["server"]["pages_stored"]
        client.discard(dev, "-o", "4096", "-l", "16M")

        fresh = iter(range(8225, 12256, 32))

        def again():
            slots.write(next(fresh), 32)
            return small.stat()["server"]["pages_stored"] >= before + 200
        wait_for(again, 10, "the small lender gets pages again")
        true(all(slots.right(s) for s in slots.count if s >= 8193),
             "a page that was written since is wrong")
    client.device_del(dev)


def test_listed_only(t):
    """Without broadcast only listed peers are known."""
    cluster = t.cluster(4)
    a, b = cluster.nodes[:2]
    for node in cluster.nodes[2:]:
        node.up(lend="8M", no_broadcast=True, peers=[cluster[3]]
                if node.index == 2 else [cluster[2]])
    b.up(lend="8M", no_broadcast=True, peers=[a])
    a.up(lend="8M", no_broadcast=True, peers=[b])
    cluster.wait_connected([a, b])
    cluster.wait_connected(cluster.nodes[2:])
    hold(2)
    equal(sorted(a.peers()), [b.addr], "peers of the first node")


def test_ipv6(t):
    """The same by IPv6: listed peers, a program swaps over them."""
    cluster = t.cluster(3)
    for node in cluster:
        node.up(addr=node.addr6, lend="32M",
                peers=[n.addr6 for n in cluster if n is not node])
    cluster.wait_connected()
    client = cluster[0]
    true(all(":" in a for a in client.peers()), "a peer without IPv6")
    with cluster.swap(client, "96M"):
        equal(eat(client, 40, "24M", passes=1)["wrong_pages"], 0,
              "wrong pages")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_late_joiner(t):
    """A node that comes up later is found and used, one that lends more is
    believed."""
    cluster = t.cluster(3)
    a, b, c = cluster
    a.up(lend="4M")
    b.up(lend="4M")
    cluster.wait_connected([a, b])
    c.up(lend="8M")
    cluster.wait_connected()
    c.ctl("lend", "16M")
    wait_for(lambda: a.peers()[c.addr]["lent_pages"] == 4096, 5,
             "the new amount is known")


def test_gone_before(t):
    """A node that was heard of and is gone when the first device is added: that waits for the
    session with the other one, and not for one that will not come."""
    cluster = t.cluster(3)
    client, lender, gone = cluster
    cluster.up(lend="16M")
    cluster.kill(gone)
    wait_for(lambda: not client.peers()[gone.addr]["fresh"], 20, "it was not heard lately")
    for _ in range(2):
        began = time.monotonic()
        dev = client.device_add("8M", wait=False)
        at_most(time.monotonic() - began, 1.7, "seconds to add a device")
        equal(client.peers()[lender.addr]["state"], "up", "session with the other one")
        client.device_del(dev)


def test_forgotten(t):
    """Nodes that are gone for good are forgotten, by one with a device and by one that only
    lends; those are not that are listed, have pages, or have some here. What comes back is
    found again."""
    cluster = t.cluster(4)
    client, lender, gone, listed = cluster
    lender.up(lend="16M")
    for node in gone, listed:
        node.up(lend="0")
    client.up(lend="0", peers=[listed], dead_after=2)
    cluster.wait_connected()
    dev = client.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 512, 32):
            slots.write(first, 32)
        for node in client, lender:
            node.ctl("set", "forget_s", "10")
        cluster.cut(client, lender)
        for node in gone, listed:
            cluster.kill(node)
        for node, left in (client, [lender.addr, listed.addr]), (lender, [client.addr]):
            wait_for(lambda node=node, left=left: sorted(node.peers()) == sorted(left), 60,
                     f"{node} has forgotten those that are gone")
        hold(6)         # until the others were judged, too
        equal(sorted(client.peers()), sorted([lender.addr, listed.addr]), "peers of the owner")
        equal(list(lender.peers()), [client.addr], "peers of the lender")
        cluster.heal(client, lender)
        wait_for(lambda: client.peers()[lender.addr]["state"] == "up", 20, "it is back")
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
    cluster.revive(gone)
    gone.up(lend="0")
    wait_for(lambda: client.peers().get(gone.addr, {}).get("state") == "up", 20,
             "it is a peer again")
    client.device_del(dev)


def test_no_threads(t):
    """A peer for whose session there was no memory gets one later, also if
    it is not heard of again."""
    cluster = t.cluster(2, inject=True)
    for node in cluster:
        node.up(lend="8M", announce_ms=60000)
    cluster.wait_connected()
    client, peer = cluster
    client.inject(no_threads=1)
    dev = client.device_add("8M", wait=False)
    wait_for(lambda: client.peers()[peer.addr]["state"] == "up", 20, "a session with the peer")
    client.device_del(dev)


def test_strangers(t):
    """A stranger that opens connection after connection and says nothing does
    not keep others out."""
    cluster = t.cluster(3)
    server, noisy, client = cluster
    for node in (server, client):
        node.up(lend="8M")
    cluster.wait_connected([server, client])
    crowd = noisy.popen([sys.executable, "-c", CROWD, server.addr])
    wait_for(lambda: crowd.output().strip(), 30, "the strangers' answers")
    left = int(crowd.output())
    at_least(left, 1, "strangers that are still there")
    at_most(left, 32, "strangers that are still there")
    dev = client.device_add("8M")
    equal(crowd.poll(), None, "exit code of the crowd")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 32)
        equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable slots")
    client.device_del(dev)


def test_short_of_memory(t):
    """A node short of memory takes the connections it has made beforehand
    and no more; when memory is back, those sent away come again."""
    cluster = t.cluster(3)
    server, noisy, client = cluster
    for node in (server, client):
        node.up(lend="8M")
    cluster.wait_connected([server, client])
    server.ctl("set", "fed_available_mib", 1)
    server.ctl("set", "fed_total_mib", 1000)
    crowd = noisy.popen([sys.executable, "-c", CROWD, server.addr])
    wait_for(lambda: crowd.output().strip(), 30, "the strangers' answers")
    at_most(int(crowd.output()), 12, "strangers there without memory")
    dev = client.device_add("8M", wait=False)
    server.ctl("set", "fed_available_mib", 900)
    client.wait_sessions(30)
    client.device_del(dev)
