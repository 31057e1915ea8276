# SPDX-License-Identifier: GPL-2.0
"""Migration: a server that lends less brings pages to another peer.

        node0 ------ node1     node0 owns the pages,
             `------ node2     node1 gives its RAM back, node2 has room
"""
from nswaptest.check import at_least, equal, wait_for
from nswaptest.work import Slots, eat

DESCRIPTION = "pages move on to another peer, and none is lost on the way"
SUITES = ("lab",)
LONG = ("back_and_forth", "while_swapping", "owner_restarts", "owner_restarts_beside")
NEEDS = ("module", "progs")
TIMEOUT = 240

SLOTS = 2048


def start(t, lend="48M", nodes=3):
    """An owner with a device and servers."""
    cluster = t.cluster(nodes)
    for node in cluster:
        node.up(lend="0" if node.index == 0 else lend)
    cluster.wait_connected()
    return cluster, cluster[0]


def held(node):
    """Pages a node holds for others."""
    return node.stat()["server"]["held_pages"]


def write_all(slots, rewrite=False):
    """Write every slot but the header's, 32 at a time."""
    for first in range(1, SLOTS - 32, 32):
        slots.write(first, 32)
    if rewrite:
        for first in range(1, SLOTS - 32, 96):
            slots.write(first, 16)


def test_drains(t):
    """A server that lends nothing any more ends with nothing held; every
    page is right, at its new place."""
    cluster, client = start(t)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        before = [held(n) for n in cluster.nodes]
        at_least(before[1], 400, "pages on the server that will shrink")
        cluster[1].ctl("lend", "0")
        wait_for(lambda: held(cluster[1]) == 0, 30, "its cache is empty")
        equal(held(cluster[2]), sum(before), "pages on the other server")
        right, wrong, unreadable = slots.compare()
        equal((wrong, unreadable), (0, 0), "wrong and unreadable pages")
        equal(right, len(slots.count), "right pages")
    stat = cluster[1].stat()["server"]
    equal(stat["pages_moved_out"], before[1], "pages moved out")
    equal(client.stat()["client"]["moves_recorded"], before[1],
          "moves recorded")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_back_and_forth(t):
    """Both servers shrink in turn: pages go back and forth and stay right."""
    cluster, client = start(t)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        total = cluster.held_pages()
        for turn in range(4):
            less, more = cluster[1 + turn % 2], cluster[2 - turn % 2]
            more.ctl("lend", "48M")
            wait_for(lambda more=more: more.stat()["server"]
                     ["set_aside_pages"] > total, 20, "there is room")
            less.ctl("lend", "0")
            wait_for(lambda less=less: held(less) == 0, 30,
                     f"turn {turn}: {less} is empty")
            equal(held(more), total, f"turn {turn}: pages on {more}")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_while_swapping(t):
    """A program swaps while its pages move under it."""
    cluster, client = start(t, lend="96M")
    with cluster.swap(client, "96M"):
        eater = client.popen(
            [client.prog("eater"), "--mb", "64", "--passes", "3", "--order",
             "random", "--seed", str(t.seed)], memory_max="32M")
        wait_for(lambda: held(cluster[1]) > 1500, 60, "the program swaps")
        for turn in range(4):
            less, more = cluster[1 + turn % 2], cluster[2 - turn % 2]
            more.ctl("lend", "96M")
            wait_for(lambda more=more: more.stat()["server"]
                     ["set_aside_pages"] > 12000, 20, "there is room")
            less.ctl("lend", "0")
            wait_for(lambda less=less: held(less) == 0, 40,
                     f"turn {turn}: {less} is empty")
        done = eater.wait(200)
        t.log(f"the program: {done.out} {done.err}")
        equal(done.code, 0, "exit code of the program")
    stat = client.stat()["client"]
    t.log(f"moves recorded {stat['moves_recorded']}, refused "
          f"{stat['moves_refused']}, met a change {stat['moves_met']}")
    at_least(stat["moves_recorded"], 3000, "moves recorded")
    equal(stat["read_errors"], 0, "failed reads")
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def test_nowhere_to_go(t):
    """Without a peer that has room the pages stay, and stay right."""
    cluster, client = start(t, nodes=2)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        before = held(cluster[1])
        cluster[1].ctl("lend", "0")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages")
        equal(held(cluster[1]), before, "pages held")
        eat_less(t, client)
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def owner_restarts(t, nodes):
    """A lender, of as many nodes, whose owner is up again and has no device, lends nothing any
    more: what it holds of that owner is of no use, and goes."""
    cluster, client = start(t, nodes=nodes)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
    at_least(held(cluster[1]), 400, "pages at the lender")
    cluster.cut(client, cluster[1])
    client.device_del(dev)
    client.down()
    client.up(lend="0")
    cluster.heal(client, cluster[1])
    cluster[1].ctl("lend", "0")
    wait_for(lambda: held(cluster[1]) == 0, 120, "it holds nothing")
    equal(cluster[1].stat()["server"]["owners_rebooted"], 1, "owners that have restarted")


def test_owner_restarts(t):
    """Without another peer, which pages could move to."""
    owner_restarts(t, 2)


def test_owner_restarts_beside(t):
    """With one."""
    owner_restarts(t, 3)


def test_drain_command(t):
    """nswapctl drain empties a node, shows it, and down needs no --now."""
    cluster, client = start(t)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots, rewrite=True)
        at_least(held(cluster[1]), 500, "pages on the server that drains")
        done = cluster[1].ctl("drain")
        equal(done["left_pages"], 0, "pages left")
        equal(held(cluster[1]), 0, "pages held after draining")
        cluster[1].down()
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages")
        cluster[2].refused("drain")
    client.device_del(dev)
    wait_for(lambda: cluster[2].stat()["server"]["held_pages"] == 0, 10,
             "no page is held")


def eat_less(t, client):
    """A node whose pages cannot move goes on working."""
    result = eat(client, 8, "64M", passes=1)
    t.log(f"{result}")
    equal(result["wrong_pages"], 0, "wrong pages")
