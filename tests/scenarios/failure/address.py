# SPDX-License-Identifier: GPL-2.0
"""Nodes whose address changes while they hold pages or have pages elsewhere.

        node0 ------ node1        node0 keeps its pages on node1; an address that
             `------ node2        is left is taken over by others
"""
from nswaptest.check import at_least, at_most, equal, hold, true, \
    wait_for
from nswaptest.rawwire import Peer
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, held_back, result_of, state_of

DESCRIPTION = "a node that changes its address keeps its pages"
SUITES = ("lab",)
LONG = ("ten_times",)
NEEDS = ("module", "progs")
TIMEOUT = 240
DEAD_AFTER = 20


def readdress(node, host):
    """Give a node another address in the subnet."""
    node.cluster.readdress(node, host)


def filled(client, seed, count=512):
    """A device with pages in its first slots; its name and content."""
    dev = client.device_add("16M")
    slots = Slots(dev, seed)
    for first in range(1, count + 1, 32):
        slots.write(first, 32)
    return dev, slots


def is_up(client, peer):
    """Wait until a peer has a session at its present address."""
    wait_for(lambda: client.peers().get(peer.addr, {}).get("state") == "up", 15,
             f"a session with {peer} at {peer.addr}")


def test_lender(t):
    """The lender of all pages gets another address: page-ins wait for it and go
    on, it is the same peer, and nothing is stored again."""
    cluster = t.cluster(2)
    cluster.up(lend="32M", dead_after=DEAD_AFTER)
    client, lender = cluster
    dev, slots = filled(client, t.seed)
    with slots:
        before = client.peers()[lender.addr]
        stored = lender.stat()["server"]["pages_stored"]
        for host in (101, 102):
            readdress(lender, host)
            equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
            t.log(f"slowest read {slots.slowest:.2f} s")
            at_most(slots.slowest, DEAD_AFTER - 5, "seconds that a read took")
            is_up(client, lender)
        after = client.peers()[lender.addr]
        for key in ("index", "id", "epoch", "slots"):
            equal(after[key], before[key], f"{key} of the peer")
        equal(lender.stat()["server"]["pages_stored"], stored, "pages stored")
        equal(len(client.peers()), 1, "peers of the client")
    client.device_del(dev)


def test_owner(t):
    """The owner gets another address: the lender keeps its pages and knows it
    again, and a mover finds it there."""
    cluster = t.cluster(3)
    client, lender, other = cluster
    client.up(lend="0", dead_after=DEAD_AFTER)
    lender.up(lend="32M", dead_after=DEAD_AFTER)
    cluster.wait_connected([client, lender])
    dev, slots = filled(client, t.seed)
    with slots:
        readdress(client, 101)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        stat = lender.stat()["server"]
        equal((stat["held_pages"], stat["owners_rebooted"]), (512, 0),
              "pages held, owners that rebooted")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        other.up(lend="32M", dead_after=DEAD_AFTER)
        cluster.wait_connected()
        is_up(client, other)
        lender.ctl("lend", "0")
        wait_for(lambda: other.stat()["server"]["held_pages"] == 512, 30,
                 "all pages are moved")
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
    client.device_del(dev)


def test_listed(t):
    """Without broadcasts, listed on one side only: the one that does not list the
    other tells it of its new address."""
    cluster = t.cluster(2)
    client, lender = cluster
    lender.up(lend="32M", dead_after=DEAD_AFTER, no_broadcast=True)
    client.up(lend="0", dead_after=DEAD_AFTER, no_broadcast=True, peers=[lender])
    cluster.wait_connected()
    dev, slots = filled(client, t.seed)
    with slots:
        readdress(lender, 101)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        is_up(client, lender)
        readdress(client, 102)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
    client.device_del(dev)


def threads(node, index):
    """The threads of a session, by their numbers."""
    name = f"nswap/{node.stat()['node']['number']}-{index}"
    found = node.run("grep -H . /proc/[0-9]*/comm", check=False).out.splitlines()
    return sorted(path for path, _, comm in (line.partition(":") for line in found)
                  if comm.partition(".")[0] == name)


def test_listed_found(t):
    """The lender, known by broadcast, gets an address that the client lists: it is the
    listed one from then on, and nothing else is at that address."""
    cluster = t.cluster(2)
    client, lender = cluster
    lender.up(lend="32M", dead_after=DEAD_AFTER)
    client.up(lend="0", dead_after=DEAD_AFTER, peers=["10.77.0.101"])
    cluster.wait_connected()
    dev, slots = filled(client, t.seed)
    with slots:
        index = client.peers()[lender.addr]["index"]
        equal(len(client.ctl("peers")), 2, "peers, one of them an address")
        readdress(lender, 101)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        is_up(client, lender)
        wait_for(lambda: [(p["index"], p["listed"]) for p in client.ctl("peers")] ==
                 [(index, True)], 20, "the lender is the listed peer")
        is_up(client, lender)
    client.device_del(dev)


def test_listed_kept(t):
    """The client lists the lender, an address that the lender gets and one that it gets
    itself: both stay listed, and keep their threads."""
    cluster = t.cluster(2)
    client, lender = cluster
    lender.up(lend="32M", dead_after=DEAD_AFTER)
    client.up(lend="0", dead_after=DEAD_AFTER,
              peers=["10.77.0.101", "10.77.0.102", lender])
    cluster.wait_connected()
    dev, slots = filled(client, t.seed)
    with slots:
        peers = client.peers()
        alone = [peers[f"10.77.0.{host}"]["index"] for host in (101, 102)]
        readdress(lender, 101)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        is_up(client, lender)
        readdress(client, 102)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        before = [threads(client, index) for index in alone]
        true(all(before), "both addresses have threads")
        hold(13)        # what has no use is swept every 5 s
        equal([threads(client, index) for index in alone], before, "threads")
        equal([p["listed"] for p in client.ctl("peers") if p["index"] in alone],
              [True, True], "both addresses are listed")
    client.device_del(dev)


def test_address_taken(t):
    """Another node comes up at the address that the lender has left: it is another
    peer, the lender's pages are there, and both are used."""
    cluster = t.cluster(3)
    client, lender, taker = cluster
    for node in (client, lender):
        node.up(lend="32M", dead_after=DEAD_AFTER)
    cluster.wait_connected([client, lender])
    dev, slots = filled(client, t.seed)
    with slots:
        left = int(lender.addr.rpartition(".")[2])
        readdress(lender, 101)
        readdress(taker, left)
        taker.up(lend="32M", dead_after=DEAD_AFTER)
        equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable slots")
        is_up(client, lender)
        is_up(client, taker)
        peers = client.peers()
        true(peers[lender.addr]["id"] != peers[taker.addr]["id"],
             "two nodes have one id")
        equal(client.devices()[0]["slots_lost"], 0, "slots lost")
    client.device_del(dev)


def test_id_taken(t):
    """A node with the lender's id and another epoch, where the lender was: while
    the lender is heard elsewhere it has not rebooted, and its pages are there."""
    cluster = t.cluster(3)
    client, lender, taker = cluster
    for node in (client, lender):
        node.up(lend="32M", dead_after=DEAD_AFTER)
    cluster.wait_connected([client, lender])
    dev, slots = filled(client, t.seed)
    with slots:
        index = client.peers()[lender.addr]["index"]
        ident = int(client.peers()[lender.addr]["id"], 16)
        left = int(lender.addr.rpartition(".")[2])
        # heard there, but not to be connected to yet: so the twin greets
        client.run(["nft", """
            table inet wall {
                chain out { type filter hook output priority 0;
                            ip daddr 10.77.0.101 tcp dport 9611 drop; }
            }"""])
        readdress(lender, 101)
        wait_for(lambda: lender.stat()["node"]["addr"] == lender.addr, 15,
                 "the lender has seen its address")
        hold(0.5)       # it announces itself there at once
        readdress(taker, left)
        twin = Peer(taker, [client, lender], epoch=77, ident=ident)
        try:
            reading = sibling("suspicion").Reading(slots)
            wait_for(lambda: any(
                p["index"] == index and "another node" in p["reason"]
                for p in client.ctl("peers")), 15, "the twin is met")
            equal(reading.found, None, "what was read meanwhile")
            client.run(["nft", "delete", "table", "inet", "wall"])
            equal(reading.result(20), (512, 0, 0),
                  "right, wrong, unreadable slots")
            is_up(client, lender)
        finally:
            twin.close()
        equal(client.devices()[0]["slots_lost"], 0, "slots lost")
        equal(twin.pages, {}, "pages on the twin")
    client.device_del(dev)


def test_ten_times(t):
    """The address of a lender changes ten times under a swapping program, and its
    owner's in between: no read fails, no page is wrong."""
    cluster = t.cluster(3)
    cluster.up(lend="64M", dead_after=DEAD_AFTER)
    client, lender = cluster.nodes[:2]
    client.ctl("policy", "place", "round-robin")
    state = cluster.scratch / "eater.json"
    with cluster.swap(client, "128M"):
        program = client.popen(held_back(
            "16M", eater(client, 32, seconds=70, order="random", out=state)),
            memory_max="40M")
        wait_for(lambda: lender.stat()["server"]["pages_loaded"] > 100, 30,
                 "the program reads from the peer")
        for turn in range(10):
            mover = client if turn == 4 else lender
            readdress(mover, 101 + turn)
            is_up(client, lender)
            seen = state_of(state).get("accesses", 0)
            wait_for(lambda seen=seen: state_of(state).get("accesses", 0) >
                     seen, 20, "the program goes on")
        result = result_of(program.wait(150))
        equal((result["wrong_pages"], result.get("failed_reads", 0)), (0, 0),
              "wrong pages, failed reads")
        stat = client.stat()["client"]
        equal((stat["read_errors"], stat["write_errors"]), (0, 0),
              "read and write errors")
        at_least(result["accesses"], 1000, "accesses")
