# SPDX-License-Identifier: GPL-2.0
"""Each owner has a share of what a node lends (owner_max_pct).

        node0 ---.
        node1 ------ lender        node0 wants more than its share
                `--- other lender
"""
import contextlib
import time

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.served import owner
from nswaptest.work import Slots

DESCRIPTION = "no owner has more than its share of a lender; the others get theirs"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 180

MIB = 256           # pages
LENT = 16 * MIB
PCT = 30
SHARE = LENT * PCT // 100


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


def test_default(t):
    """Without a limit one owner gets all that is lent."""
    cluster = start(t, ["16M"], pct=100)
    greedy, lender = cluster
    name = greedy.device_add("32M")
    with Slots(name, t.seed) as much:
        at_least(crowd(much, 2 * LENT), LENT - 64, "pages written")
        equal(owner(lender, greedy)["share_pages"], LENT, "its share")
        equal(refused(lender), 0, "times an owner got less because of a share")
        equal(much.compare()[1:], (0, 0), "wrong and unreadable pages")
    greedy.device_del(name)


def test_raise_lower(t):
    """With a higher limit there is room soon; with a lower one nothing is lost, and
    nothing is added."""
    cluster = start(t, ["16M"])
    greedy, lender = cluster
    name = greedy.device_add("32M")
    with Slots(name, t.seed) as much:
        first = crowd(much, 2 * LENT)
        equal(greedy.peers()[lender.addr]["features"].count("shares"), 1, "feature")
        lender.ctl("set", "owner_max_pct", 60)

        def more():
            try:
                much.write(first + 1, 32)
            except OSError:
                for slot in range(first + 1, first + 33):
                    much.count.pop(slot, None)
                return False
            return True

        wait_for(more, 20, "there is room for more")
        fill(much, 512, first + 33)
        held = owner(lender, greedy)["held_pages"]
        at_least(held, first + 512, "pages with the higher limit")
        lender.ctl("set", "owner_max_pct", 10)
        settled(lender, greedy)
        for slot in range(4 * MIB * 4, 4 * MIB * 4 + 64):
            try:
                much.write(slot)
            except OSError:
                much.count.pop(slot, None)
        at_most(owner(lender, greedy)["held_pages"], held, "pages with the lower one")
        equal(much.compare()[1:], (0, 0), "wrong and unreadable pages")
    greedy.device_del(name)


def test_reserve(t):
    """A reserve above the share is refused, with how much there is; a smaller one is
    kept, and counts."""
    cluster = start(t, ["16M"])
    client, lender = cluster
    said = client.refused("device", "add", "--size", "8M", "--reserve", "8M")
    true("can set aside" in said and "of the 8 MiB" in said, f"it says: {said!r}")
    at_least(refused(lender), 1, "counted")
    done = client.ctl("device", "add", "--size", "8M", "--reserve", "3M")
    at_least(owner(lender, client)["reserved_pages"], 3 * MIB, "pages reserved")
    name = client.device_add("32M")
    with Slots(name, t.seed) as much:
        crowd(much, LENT)
        at_most(has(lender, client), SHARE, "pages, with the reserve")
    client.device_del(name)
    client.device_del(done["device"])


def test_promises(t):
    """Owners that write much, and keep little, are promised half of what is free, all of
    them together: one that comes finds room at once."""
    cluster = start(t, ["16M"], clients=4, pct=100)
    *busy, late, lender = cluster
    names = [node.device_add("2M") for node in busy]
    with contextlib.ExitStack() as stack:
        disks = [stack.enter_context(Slots(name, t.seed + i))
                 for i, name in enumerate(names)]
        most = 0
        for _ in range(12):
            for disk in disks:
                fill(disk, 256)
            most = max(most, sum(owner(lender, n)["granted_pages"] for n in busy))
        t.log(f"{most} pages were promised at a time")
        at_most(most, LENT // 2, "pages promised and not used")
        at_least(most, LENT // 4, "likewise: as much as they make use of")
        name = late.device_add("4M")
        with Slots(name, t.seed + 9) as slots:
            begun = time.monotonic()
            fill(slots, 2 * MIB)
            t.log(f"{time.monotonic() - begun:.2f} s for {2 * MIB} pages")
            equal(slots.compare(), (2 * MIB, 0, 0), "right, wrong, unreadable")
        equal(late.stat()["client"]["write_errors"], 0, "page-outs that failed")
        late.device_del(name)
    for node, dev in zip(busy, names):
        node.device_del(dev)


def shrinks(t, kind, pct):
    """A lender shrinks, one peer gives its owner a share, another has room: how many
    pages came to the two."""
    cluster = start(t, ["16M", "16M", "16M"], pct=pct)
    client, narrow, wide, lender = cluster
    wide.ctl("lend", "0")
    narrow.ctl("lend", "0")
    wait_for(lambda: client.peers()[wide.addr]["free_pages"] == 0 ==
             client.peers()[narrow.addr]["free_pages"], 10, "only one lends")
    name = client.ctl("device", "add", "--size", "32M", "--class", kind)["device"]
    with Slots(name, t.seed) as slots:
        fill(slots, 2048)
        at_least(lender.stat()["server"]["held_pages"], 2048, "pages of the lender")
        narrow.ctl("lend", "16M")
        wide.ctl("lend", "8M")
        wait_for(lambda: lender.peers()[narrow.addr]["free_pages"] > 3000 and
                 lender.peers()[wide.addr]["free_pages"] > 1900, 20, "both have room")
        lender.ctl("lend", "0")
        wait_for(lambda: lender.stat()["server"]["held_pages"] == 0, 40,
                 "all pages have moved")
        equal(slots.compare(), (2048, 0, 0), "right, wrong, unreadable")
        counts = has(narrow, client), owner(narrow, client), refused(narrow)
    client.device_del(name)
    return counts


def test_mover(t):
    """A mover finds a peer with the owner at its share, most free though it is: no more
    than the share comes there, the rest goes to the other one, and none is wrong."""
    most, _, often = shrinks(t, "normal", 10)
    at_most(most, LENT * 10 // 100, "pages of the owner at the peer with the share")
    at_least(often, 1, "times it was refused")
    at_most(often, 100, "times it was refused: it is not asked again at once")


def test_critical(t):
    """Critical pages are moved there all the same: the share is for what the owner puts
    there itself."""
    most, there, _ = shrinks(t, "critical", 10)
    at_least(there["held_pages"] if there else 0, LENT * 10 // 100,
             "critical pages at the peer with the share")
    at_least(most, 1, "pages")
