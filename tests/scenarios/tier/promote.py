# SPDX-License-Identifier: GPL-2.0
"""Moves out: pages at home go to peers that have RAM to spare.

        node0 ------ node1     node0 has a home and swaps,
          |  `------ node2     node1 and node2 begin to lend
        home
"""
import json

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import Slots, eater, result_of, state_of

DESCRIPTION = "pages move out from home to idle RAM, and none is lost"
SUITES = ("lab",)
LONG = ("room_appears", "keeps_room", "under_load", "meets", "cut",
        "answers_lost", "peer_killed", "swapping")
NEEDS = ("module", "inject", "progs", "dmsetup")
TIMEOUT = 240

SLOTS = 2048
REQUEST = 32


def start(t, nodes=2, link=None, **options):
    """Nodes that lend nothing yet; the first is the client."""
    cluster = t.cluster(nodes, **link or {})
    cluster.up(lend="0", **options)
    return cluster, cluster[0]


def counted(client, *names):
    """Client counters of a node."""
    stat = client.stat()["client"]
    return [stat[name] for name in names]


def moved(client):
    """Pages moved out so far."""
    return counted(client, "pages_home_to_remote")[0]


def write_all(slots):
    """Write every slot but the header's."""
    for first in range(1, SLOTS - REQUEST, REQUEST):
        slots.write(first, REQUEST)


def read_some(slots, first, many=64):
    """Read some slots and compare them: the device is in use."""
    for slot in range(first, first + many):
        true(slots.right(slot), f"slot {slot} is wrong")


def settled(cluster, client):
    """The peers hold exactly what the client records."""
    def equal_now():
        remote = sum(d["slots_remote"] for d in client.devices())
        return cluster.held_pages() == remote
    wait_for(equal_now, 30, "the peers hold exactly what the owner records")


def emptied(cluster):
    """With the device everything goes."""
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def test_room_appears(t):
    """A peer begins to lend: what is at home moves out while the device is
    in use, what was read goes first, and nothing moves while it is idle."""
    cluster, client = start(t)
    with disk(16) as home:
        dev = client.device_add(home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            total = len(slots.count)
            equal(client.devices()[0]["slots_home"], total, "slots at home")
            hold(2.5)                           # from now on it is idle
            cluster[1].ctl("lend", "32M")
            client.wait_sessions()
            hold(2)
            equal(moved(client), 0, "pages moved out of an idle device")
            read_some(slots, 1000)
            wait_for(lambda: moved(client) >= 64, 10, "pages move out")
            wait_for(lambda: read_some(slots, 1) or moved(client) == total,
                     30, "all pages moved out")
            seen = client.devices()[0]
            equal((seen["slots_home"], seen["slots_remote"]), (0, total),
                  "slots at home and at the peer")
            equal(cluster.held_pages(), total, "pages at the peer")
            equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
            write_all(slots)
            equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
        client.device_del(dev)
    emptied(cluster)


def test_read_ones_first(t):
    """Pages that were paged in from home move out before the others."""
    cluster, client = start(t)
    with disk(16) as home:
        dev = client.device_add(home=home.path)
        client.ctl("set", "home_out_mib_s", "1")
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            read_some(slots, 1500, 200)
            cluster[1].ctl("lend", "32M")
            before = counted(client, "pages_in", "pages_home_in")
            wait_for(lambda: read_some(slots, 1500, 200) or
                     moved(client) >= 200, 15, "as many as were read move")
            client.ctl("set", "home_out_mib_s", "0")
            now = counted(client, "pages_in", "pages_home_in")
            t.log(f"pages in from peers, from home: {before}, {now}")
            read_some(slots, 1500, 200)
            equal(counted(client, "pages_home_in")[0], now[1],
                  "pages read from home once those that were read have moved")
            stopped = moved(client)
            read_some(slots, 1, 600)
            hold(1)
            read_some(slots, 1, 600)
            equal(moved(client), stopped, "pages moved with the knob at 0")
        client.device_del(dev)
    emptied(cluster)


def test_keeps_room(t):
    """An eighth of what a peer lends is left to page-outs."""
    cluster, client = start(t)
    with disk(16) as home:
        dev = client.device_add(home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            cluster[1].ctl("lend", "4M")
            until = 1024 * 7 // 8
            wait_for(lambda: read_some(slots, 1, 200) or
                     moved(client) >= until // 2, 20, "pages move out")
            for _ in range(8):
                hold(0.25)
                read_some(slots, 1, 200)
            t.log(f"{moved(client)} pages moved to a peer that lends 1024")
            at_most(moved(client), until, "pages moved out")
            equal(counted(client, "refused")[0], 0, "pages refused")
            equal(slots.compare()[1:], (0, 0), "wrong, unreadable")
        client.device_del(dev)
    emptied(cluster)


def moving_out(client, dev, servers, seed, seconds):
    """A random workload whose pages go home; generator: each time, the
    servers lend, pages move out, and afterwards go home again."""
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
         str(seconds), "--max-kb", "256", "--reads", "85", "--discards", "3",
         "--fresh", "--seed", str(seed)])
    while work.poll() is None:
        for server in servers:
            server.ctl("lend", "0")
        wait_for(lambda: work.poll() is not None or
                 client.devices()[0]["slots_home"] > 1500, 30,
                 "pages are at home")
        was = moved(client)
        for server in servers:
            server.ctl("lend", "96M")
        wait_for(lambda was=was: work.poll() is not None or
                 moved(client) >= was + 100, 15, "pages move out")
        yield work
    yield work


def verified(t, cluster, client, work):
    """The workload has ended, nothing was wrong, nothing is left over."""
    t.log(json.dumps(result_of(work.wait(60))))
    stat = client.stat()["client"]
    t.log(f"moved {stat['pages_home_to_remote']}, met a change "
          f"{stat['moves_met']}, called off {stat['moves_refused']}, "
          f"timeouts {stat['timeouts']}, refused {stat['refused']}")
    at_least(stat["pages_home_to_remote"], 300, "pages moved out")
    equal((stat["read_errors"], stat["write_errors"]), (0, 0),
          "failed reads and writes")
    for server in cluster.nodes[1:]:
        server.ctl("lend", "96M")
    settled(cluster, client)


def test_under_load(t):
    """Pages move out while the device is written, read and discarded."""
    cluster, client = start(t)
    with disk(64) as home:
        dev = client.device_add(home=home.path)
        for work in moving_out(client, dev, cluster.nodes[1:], t.seed, 12):
            pass
        verified(t, cluster, client, work)
        client.device_del(dev)
    emptied(cluster)


def test_meets(t):
    """Slots are written while their pages are on their way: what was written
    last counts, and the copies that come too late are freed."""
    cluster, client = start(t, link={"delay_us": 50000})
    many = 4 * REQUEST
    with disk(16) as home:
        dev = client.device_add(home=home.path)
        with Slots(dev, t.seed) as slots:
            for _ in range(10):
                slots.write(1, many)
                was = moved(client)
                cluster[1].ctl("lend", "16M")
                wait_for(lambda was=was: read_some(slots, 1, 1) or
                         moved(client) > was, 20, "pages move out")
                slots.write(1, many)
                cluster[1].ctl("lend", "0")
                if counted(client, "moves_met")[0]:
                    break
            t.log(f"{counted(client, 'moves_met')[0]} moves met a change")
            at_least(counted(client, "moves_met")[0], 1, "moves met a change")
            equal(slots.compare(), (many, 0, 0), "right, wrong, unreadable")
            settled(cluster, client)
        client.device_del(dev)
    emptied(cluster)


def test_cut(t):
    """A peer is cut off for a moment, again and again, while pages move
    there: no read fails, no page is wrong."""
    cluster, client = start(t, nodes=3, dead_after=30)
    with disk(64) as home:
        dev = client.device_add(home=home.path)
        servers = cluster.nodes[1:]
        for turn, work in enumerate(moving_out(client, dev, servers, t.seed,
                                               20)):
            cluster.cut(client, servers[turn % 2])
            hold(3)                             # page-outs give up after 2 s
            cluster.heal(client, servers[turn % 2])
            cluster.wait_connected([client])
        verified(t, cluster, client, work)
        client.device_del(dev)
    emptied(cluster)


def test_answers_lost(t):
    """A peer takes pages and does not say so: they stay at home, the copies
    are freed, and later they move after all."""
    cluster, client = start(t, link={"inject": True})
    with disk(16) as home:
        dev = client.device_add(home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            total = len(slots.count)
            client.inject(drop_ack=3)
            cluster[1].ctl("lend", "32M")
            wait_for(lambda: read_some(slots, 1, 8) or
                     counted(client, "timeouts")[0] >= 24, 30,
                     "answers are missed")
            wait_for(lambda: read_some(slots, 1, 8) or
                     client.devices()[0]["slots_remote"] == total, 30,
                     "all pages moved out")
            equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
            settled(cluster, client)
        client.device_del(dev)
    emptied(cluster)


def test_peer_killed(t):
    """The peer dies while pages move there: what it had is lost, what was
    on its way is at home, and nothing is wrong."""
    cluster, client = start(t, dead_after=2)
    with disk(64) as home:
        dev = client.device_add(home=home.path)
        client.ctl("set", "home_out_mib_s", "4")
        with Slots(dev, t.seed) as slots:
            for _ in range(2):
                write_all(slots)
            total = len(slots.count)
            cluster[1].ctl("lend", "64M")
            wait_for(lambda: read_some(slots, 1, 32) or moved(client) >= 200,
                     15, "pages move out")
            cluster.kill(cluster[1])
            gone = wait_for(lambda: client.devices()[0]["slots_remote"], 5,
                            "pages are at the peer")
            wait_for(lambda: [p for p in client.peers().values()
                              if p["state"] == "dead"], 20, "it is dead")
            right, wrong, unreadable = slots.compare()
            t.log(f"{right} right, {wrong} wrong, {unreadable} unreadable")
            equal(wrong, 0, "wrong pages")
            at_most(unreadable, gone, "unreadable pages")
            at_least(unreadable, 1, "unreadable pages")
            equal(right, total - unreadable, "right pages")
            write_all(slots)
            equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
        client.device_del(dev)


def test_swapping(t):
    """A program swaps to home, then a peer has room: its pages go there and
    come back right."""
    cluster, client = start(t)
    with disk(192) as home, cluster.swap(client, home=home.path) as dev:
        state = cluster.scratch / "eater.json"
        program = client.popen(
            eater(client, 40, passes=2, order="random", seed=t.seed,
                  out=state), memory_max="20M")
        wait_for(lambda: client.devices()[0]["slots_home"] > 3000, 60,
                 "the program swaps")
        cluster[1].ctl("lend", "128M")
        wait_for(lambda: moved(client) >= 1000 or
                 state_of(state).get("state") == "done", 60, "pages move out")
        equal(result_of(program.wait(200))["wrong_pages"], 0, "wrong pages")
        stat = client.stat()["client"]
        t.log(f"{dev}: moved {stat['pages_home_to_remote']}, from peers "
              f"{stat['pages_in']}, from home {stat['pages_home_in']}")
        at_least(stat["pages_home_to_remote"], 1000, "pages moved out")
        at_least(stat["pages_in"], 1000, "pages in from the peer")
        equal(stat["read_errors"], 0, "failed reads")
    emptied(cluster)
