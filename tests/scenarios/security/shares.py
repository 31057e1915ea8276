# SPDX-License-Identifier: GPL-2.0
"""Each owner has a share of what a node lends (owner_max_pct).

        node0 ---.
        node1 ------ lender        node0 wants more than its share
                `--- other lender
"""
from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.work import Slots

DESCRIPTION = "no owner has more than its share of a lender; the others get theirs"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 180

MIB = 256           # pages
LENT = 16 * MIB
PCT = 30
SHARE = LENT * PCT // 100


def owner(lender, node):
    """What a lender says of one owner."""
    who = node.stat()["node"]["id"]
    return next((o for o in lender.stat()["owners"] if o["id"] == who), None)


def has(lender, node):
    """Pages that an owner has of a lender: held, promised and reserved."""
    o = owner(lender, node)
    return o["held_pages"] + o["granted_pages"] + o["reserved_pages"] if o else 0


def refused(lender):
    """How often a lender gave an owner less because of its share."""
    return lender.stat()["server"]["shares_refused"]


def fill(slots, count, first=1):
    """Write slots from first on, 32 at a time."""
    for at in range(first, first + count, 32):
        slots.write(at, 32)


def crowd(slots, most, look=lambda: None):
    """Write until no peer takes more; how many slots were written. What was not taken
    does not count."""
    for first in range(1, most - 32, 32):
        try:
            slots.write(first, 32)
        except OSError:
            for slot in range(first, first + 32):
                slots.count.pop(slot, None)
            return first - 1
        look()
    return most


def start(t, lend, clients=1, pct=PCT):
    """A cluster, the first nodes of which lend nothing; lend for the others, of which the
    first gives each owner this share."""
    cluster = t.cluster(clients + len(lend))
    for node, size in zip(cluster, ["0"] * clients + lend):
        node.up(lend=size)
    cluster[clients].ctl("set", "owner_max_pct", pct)
    cluster.wait_connected()
    return cluster


def settled(lender, node):
    """The owner has returned what it was granted and did not use."""
    wait_for(lambda: owner(lender, node)["granted_pages"] == 0, 15,
             "no grant of it is left")


def test_greedy(t):
    """An owner that writes without end never has more than its share, and reaches it; the
    other one gets its pages, at once and all of them."""
    cluster = start(t, ["16M"], clients=2)
    greedy, modest, lender = cluster
    name, small = greedy.device_add("32M"), modest.device_add("4M")
    most = []
    with Slots(name, t.seed) as much, Slots(small, t.seed + 1) as little:
        written = crowd(much, 2 * LENT, lambda: most.append(has(lender, greedy)))
        at_most(max(most), SHARE, "pages of the greedy owner at any time")
        at_least(written, SHARE - 64, "pages it has written")
        equal(owner(lender, greedy)["share_pages"], SHARE, "its share, as it is shown")
        fill(little, 4 * MIB - 32)
        equal(owner(lender, modest)["held_pages"], 4 * MIB - 32, "pages of the other one")
        crowd(much, 2 * LENT)
        at_most(has(lender, greedy), SHARE, "pages of the greedy owner in the end")
        equal(little.compare(), (4 * MIB - 32, 0, 0), "right, wrong, unreadable")
        equal(much.compare()[1], 0, "wrong pages of the greedy owner")
    for node, dev in ((greedy, name), (modest, small)):
        node.device_del(dev)
