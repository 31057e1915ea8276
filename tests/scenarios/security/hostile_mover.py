# SPDX-License-Identifier: GPL-2.0
"""A member that moves another owner's pages first, of its own making.

        owner ------ lender       the lender has the owner's pages, and is to move them
             `------ target       to the target, where the other has been before it
              other ---'
"""
import contextlib
import struct

from nswaptest.check import equal, wait_for
from nswaptest.rawwire import HAS_ALL, MOVE, MOVES, OK, PAGE, Link, Message, Peer
from nswaptest.work import Slots

DESCRIPTION = "no page that one member brings is taken for what another one holds"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 60

PAGES = 256
RUN = 32                # pages of a message
SQUATTED = range(1, 65)                 # slots, those that are to move first


def held(node):
    """Pages that it holds for others."""
    return node.stat()["server"]["held_pages"]


def forged(link, owner):
    """Pages of its own making under the names of the owner's; what is said of each."""
    said = set()
    whose = struct.pack("<QQ", int(owner["id"], 16), int(owner["epoch"], 16))
    for i in range(0, len(SQUATTED), RUN):
        names = b"".join(struct.pack("<QII", slot, 1, 1) for slot in SQUATTED[i:i + RUN])
        answer = link.ask(Message(MOVE, whose + names + b"\xee" * RUN * PAGE, RUN))
        said |= set(struct.unpack(f"<{2 * RUN}I", answer.payload)[1::2])
    return said


def test_first(t):
    """Those that it has squatted stay where they are, the rest moves; none is wrong."""
    cluster = t.cluster(4)
    owner, lender, target, other = cluster
    owner.up(lend="0")
    lender.up(lend="4M")
    cluster.wait_connected([owner, lender])
    dev = owner.device_add("4M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 1 + PAGES, RUN):
            slots.write(first, RUN)
        target.up(lend="4M")
        cluster.wait_connected([owner, lender, target])
        wait_for(lambda: lender.peers()[target.addr]["free_pages"] >= PAGES, 10,
                 "the lender knows of room")
        with contextlib.closing(Link(other, target.addr)) as link:
            equal(link.hello(kind=MOVES, features=HAS_ALL).status, OK, "hello")
            equal(forged(link, owner.stat()["node"]), {OK}, "what is said of forged pages")
            lender.ctl("lend", "0")
            wait_for(lambda: held(lender) <= len(SQUATTED), 5, "the others have moved")
            wait_for(lambda: lender.stat()["server"]["moves_failed"] >= len(SQUATTED), 10,
                     "the rest was tried")
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages")
            equal(held(lender), len(SQUATTED), "pages that stay")
            lender.ctl("lend", "4M")
    owner.device_del(dev)


def test_named(t):
    """A claim names the mover that has told the owner."""
    cluster = t.cluster(3)
    owner, lender, target = cluster
    owner.up(lend="0")
    lender.up(lend="4M")
    cluster.wait_connected([owner, lender])
    dev = owner.device_add("4M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, RUN)
        peer = Peer(target, cluster.nodes[:2], features=HAS_ALL)
        try:
            wait_for(lambda: owner.peers().get(peer.addr, {}).get("state") == "up" and
                     peer.addr in lender.peers(), 10, "all are heard")
            lender.ctl("lend", "0")
            wait_for(lambda: held(lender) == 0, 20, "all have moved")
            equal(len(peer.pages), RUN, "pages at the target")
            equal(peer.movers, {int(lender.stat()["node"]["id"], 16)}, "movers that claims name")
            equal(slots.compare(), (RUN, 0, 0), "right, wrong, unreadable pages")
        finally:
            peer.close()
