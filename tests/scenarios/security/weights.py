# SPDX-License-Identifier: GPL-2.0
"""Owners have weights: what each gets of a lender beside the others.

        node0 ---.
        node1 ------ lender        node1 has a weight
"""
import contextlib

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.served import owner, threads
from nswaptest.work import Slots

DESCRIPTION = "an owner with more weight is promised more, and less nice threads serve it"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 180

MIB = 256           # pages
NICE = -3           # of a thread that serves an owner of which none was said


def start(t, *lend):
    """Two clients that lend nothing, and lenders."""
    cluster = t.cluster(2 + len(lend))
    for node, size in zip(cluster, ("0", "0", *lend)):
        node.up(lend=size)
    cluster.wait_connected()
    return cluster


def fill(slots, count):
    """Write slots from 1 on, 32 at a time."""
    for first in range(1, count + 1, 32):
        slots.write(first, 32)


@contextlib.contextmanager
def written(t, nodes, size):
    """A device of each node; what is written there."""
    names = [node.device_add(size) for node in nodes]
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Slots(name, t.seed + i)) for i, name in enumerate(names)]
    for node, name in zip(nodes, names):
        node.device_del(name)


def node_id(node):
    return node.stat()["node"]["id"]


def test_commands(t):
    """A weight is set by address and by id, is shown, is kept for a node that is not
    there, and ends with 100; nonsense changes nothing."""
    cluster = start(t, "16M")
    light, heavy, lender = cluster
    equal(lender.ctl("weight"), [], "weights at first")
    names = [node.device_add("4M") for node in (light, heavy)]
    wait_for(lambda: owner(lender, heavy) and owner(lender, light), 15, "the lender knows them")
    equal(owner(lender, heavy)["weight"], 100, "weight of one of which none was set")
    lender.ctl("weight", heavy.addr, 400)
    equal([(w["id"], w["weight"]) for w in lender.ctl("weight")],
          [(node_id(heavy), 400)], "id and weight")
    equal(owner(lender, heavy)["weight"], 400, "weight of the owner")
    equal(owner(lender, light)["weight"], 100, "weight of the other one")
    lender.ctl("weight", "00000000000000aa", 50)
    equal(len(lender.ctl("weight")), 2, "weights, one of a node that is not there")
    before = lender.ctl("weight")
    lender.ctl("weight", node_id(lender), 50)   # its own, from a file that nodes share
    for args, why in (((heavy.addr, 9), "between 10 and 1000"),
                      ((heavy.addr, 1001), "between 10 and 1000"),
                      (("0000000000000000", 50), "no node has the id 0"),
                      (("10.99.99.99", 50), "no peer has the address")):
        said = lender.refused("weight", *args)
        true(why in said, f"it says: {said!r}")
    equal(lender.ctl("weight"), before, "weights after what was refused")
    heavy.device_del(names[1])
    heavy.down()
    heavy.up(lend="0")
    cluster.wait_connected()
    names[1] = heavy.device_add("4M")
    wait_for(lambda: (owner(lender, heavy) or {}).get("weight") == 400, 15,
             "one that comes back has its weight")
    lender.ctl("weight", "00000000000000aa", 100)
    lender.ctl("weight", heavy.addr, 100)
    equal(lender.ctl("weight"), [], "weights in the end")
    equal(owner(lender, heavy)["weight"], 100, "weight of the owner in the end")
    for node, name in zip((light, heavy), names):
        node.device_del(name)


def test_promised(t):
    """Of what is free more is promised to the one with more weight."""
    cluster = start(t, "16M")
    light, heavy, lender = cluster
    lender.ctl("weight", heavy.addr, 300)
    most = [0, 0]
    with written(t, (light, heavy), "2M") as disks:
        for _ in range(12):
            for disk in disks:
                fill(disk, MIB)
            for i, node in enumerate((light, heavy)):
                most[i] = max(most[i], owner(lender, node)["granted_pages"])
        t.log(f"{most} pages were promised at a time, to less and to more weight")
        # half of 4096 less what is held: an eighth of all, and three
        at_most(most[0], 16 * MIB // 8, "pages promised to the one with less")
        at_least(most[1], most[0] + 128, "pages promised to the one with more")
        for disk in disks:
            equal(disk.compare(), (MIB, 0, 0), "right, wrong, unreadable")


def test_served(t):
    """A thread that serves an owner with more weight is less nice, one with less nicer."""
    cluster = start(t, "16M")
    light, heavy, lender = cluster
    lender.ctl("weight", light.addr, 10)
    lender.ctl("weight", heavy.addr, 1000)
    with written(t, (light, heavy), "4M") as disks:

        def seen():
            for disk in disks:
                fill(disk, 128)
            served = {thread.nice - NICE for thread in threads(lender).values()}
            return {-10, 10} <= served

        wait_for(seen, 20, "threads are as nice as their owners' weights say")
        for disk in disks:
            equal(disk.compare(), (128, 0, 0), "right, wrong, unreadable")
