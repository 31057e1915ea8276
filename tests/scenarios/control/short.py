# SPDX-License-Identifier: GPL-2.0
"""Pages without the zeros at their ends: stored, read, moved and brought back by hand.

        node0 ------ node1        node0 is an owner by hand, node1 holds its pages,
             `------ node2        node2 takes them from there, by hand or with the module
"""
import contextlib
import random
import struct

from nswaptest.check import Unmet, at_least, equal, wait_for
from nswaptest.rawwire import (CLAIM, CONTROL, GRANT_ASK, HAS_ALL, HAS_SHORT, LOAD, MOVE, MOVED,
                               MOVED_ACK, NO_ROOM, OK, PAGE, PING, RETURN, RETURN_ACK,
                               SHORT, STORE, STORES, Link, Message, Peer, carried, carrying)

DESCRIPTION = "pages are sent without zeros at their ends, and come back with them"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120
MIB = 256       # pages


def cut_to(size, seed):
    """A page of so many bytes, and zeros."""
    rng = random.Random(seed)
    return (rng.randbytes(size - 1) + bytes([rng.randrange(1, 256)])).ljust(PAGE, b"\0")


class Owner(Peer):
    """An owner by hand: its pages may go wherever they are taken, and home."""

    def __init__(self, node, others, features=HAS_ALL):
        super().__init__(node, others, features=features)
        self.home, self.told = {}, []

    def _handle(self, q):
        if q.kind not in (MOVED, RETURN):
            return super()._handle(q)
        pages = carried(q, 16, 16) if q.kind == RETURN else []
        answer = b""
        for i in range(q.nr):
            slot, _, gen = struct.unpack_from("<QII", q.payload, 16 + 16 * i)
            answer += struct.pack("<II", gen, OK)
            if pages:
                self.home[slot] = pages[i]
            else:
                self.told.append(slot)
        return Message(RETURN_ACK if pages else MOVED_ACK, answer, q.nr)


class Session:
    """A session by hand with a server: pages of instance 1, each of generation 1."""

    def __init__(self, node, to, features=HAS_ALL, epoch=1, session=1):
        self.control, self.stores = Link(node, to), Link(node, to)
        self.granted = 0
        for link, kind in ((self.control, CONTROL), (self.stores, STORES)):
            answer = link.hello(epoch, session, kind=kind, features=features)
            equal(answer.status, OK, f"hello of class {kind}")
            self.granted += answer.grants

    def grants(self, wanted):
        """Ask until there are so many."""
        def enough():
            if self.granted < wanted:
                self.granted += self.control.ask(Message(GRANT_ASK, nr=wanted)).grants
            return self.granted >= wanted
        wait_for(enough, 10, f"{wanted} grants")

    def store(self, first, pages, short=True):
        """Store pages from a slot on; their results."""
        gens = struct.pack("<I", 1) * len(pages)
        answer = self.stores.ask(carrying(STORE, gens, pages, short, slot=first, instance=1))
        self.granted += answer.grants - len(pages)
        return [status for _, status in struct.iter_unpack("<II", answer.payload)]

    def load(self, first, count, short=True):
        """LOAD_REPLY to a LOAD."""
        return self.control.ask(Message(LOAD, struct.pack("<I", 1) * count, count,
                                        SHORT if short else 0, slot=first, instance=1))

    def read(self, first, count, short=True):
        """The pages it answers with, b"" for one that it does not hold."""
        return carried(self.load(first, count, short), 0, 4)

    def close(self):
        self.control.close()
        self.stores.close()


@contextlib.contextmanager
def session(*args, **options):
    """A Session, for a while."""
    opened = Session(*args, **options)
    try:
        yield opened
    finally:
        opened.close()


def lender(t, nodes=2, lend="4M"):
    """A cluster whose second node lends; the others are not up."""
    cluster = t.cluster(nodes)
    cluster[1].up(lend=lend)
    return cluster


def held(node):
    """Pages it holds for others."""
    return node.stat()["server"]["held_pages"]


def test_kept(t):
    """Pages of each length come back as they were, short where that was asked for, else
    whole; so they do to one who does not know short pages."""
    cluster = lender(t)
    sizes = (1, 2, 63, 64, 65, 1000, 2047, 3072, 3073, 4031, 4032, 4033, 4095, 4096)
    pages = [cut_to(size, t.seed + size) for size in sizes]
    with session(cluster[0], cluster[1].addr) as s:
        s.grants(100)
        equal(s.store(1, pages), [OK] * len(pages), "results of a short STORE")
        equal(s.store(100, pages[-4:], short=False), [OK] * 4, "of one of whole pages")
        for short in (True, False):
            answer = s.load(1, len(pages), short)
            equal(answer.flags, SHORT if short else 0, "flags of the answer")
            equal(carried(answer, 0, 4), pages, f"pages, short {short}")
        equal(s.load(1, 1).flags, SHORT, "flags of an answer with a short page")
        equal(s.load(14, 1).flags, 0, "of one with a whole page")
        equal(s.load(12, 3).flags, 0, "of one with none that is worth it")
        equal(s.read(12, 3), pages[11:14], "its pages")
        equal(s.read(100, 4), pages[-4:], "pages that were sent whole")
        equal([len(page) for page in s.read(13, 5)], [PAGE, PAGE, 0, 0, 0], "some not held")
        equal(s.read(1, 32), pages + [b""] * 18, "a long answer with some not held")
    with session(cluster[0], cluster[1].addr, features=0, session=2) as s:
        equal(s.read(1, len(pages), short=False), pages, "to one who does not know")


def test_refused(t):
    """A short STORE without grants is refused as a whole and the next one is understood;
    what is not agreed on, or does not add up, ends the connection."""
    cluster = lender(t)
    page = cut_to(700, t.seed)
    cluster[1].ctl("lend", "0")
    with session(cluster[0], cluster[1].addr, session=2) as s:
        equal(s.store(1, [page] * 5), [NO_ROOM] * 5, "results without a grant")
        equal(s.store(1, [page], short=False), [NO_ROOM], "of whole pages, after it")
        pages = [cut_to(3000 + i, t.seed + i) for i in range(32)]
        gens = struct.pack("<I", 1) * len(pages)
        store = carrying(STORE, gens, pages, True, slot=1, instance=1).packed()
        s.stores.sock.sendall(store * 8)
        for i in range(8):
            answer = s.stores.answer()
            equal(answer and answer.payload, struct.pack("<II", 1, NO_ROOM) * len(pages),
                  f"answer {i} to those that came together")
        equal(s.stores.ask(Message(PING)), None, "of what is not allowed there")
    tried = 2
    for payload in (struct.pack("<IH", 1, 700) + bytes(701),
                    struct.pack("<IH", 1, 701) + bytes(700),
                    struct.pack("<IIHH", 1, 1, 0, 700) + bytes(700),
                    struct.pack("<IIHH", 1, 1, 4097, 1) + bytes(4098)):
        tried += 1
        with session(cluster[0], cluster[1].addr, session=tried) as s:
            equal(s.stores.ask(Message(STORE, payload, 1 + (payload[4] == 1), SHORT, slot=1,
                                       instance=1)), None, "lengths that do not add up")
    with session(cluster[0], cluster[1].addr, session=10, features=HAS_ALL & ~HAS_SHORT) as s:
        equal(s.control.ask(Message(LOAD, bytes(4), 1, SHORT, instance=1)), None,
              "a flag that is not in use")
    with session(cluster[0], cluster[1].addr, session=11, features=0) as s:
        equal(s.stores.ask(carrying(STORE, bytes(4), [page], True, instance=1)), None,
              "likewise")


@contextlib.contextmanager
def owned(cluster, seed, count, **options):
    """An owner by hand with pages at node1, of every length: (owner, session, pages)."""
    owner = Owner(cluster[0], [cluster[1], *cluster.nodes[2:]], **options)
    try:
        wait_for(lambda: owner.addr in cluster[1].peers(), 10, "the owner is heard")
        with session(cluster[0], cluster[1].addr) as s:
            pages = [cut_to(1 + (seed + 997 * i) % PAGE, i) for i in range(count)]
            for i in range(0, count, 32):
                s.grants(32)
                equal(set(s.store(1 + i, pages[i:i + 32])), {OK}, "results")
            yield owner, s, pages
    finally:
        owner.close()


def returned(t, features):
    """A server gives its RAM back, and there is no other peer: pages are brought to their
    owner, short ones only if it knows such."""
    cluster = lender(t)
    with owned(cluster, t.seed, 200, features=features) as (owner, _, pages):
        cluster[1].ctl("lend", "0")
        wait_for(lambda: held(cluster[1]) == 0, 20, "all pages are brought back")
        equal([owner.home[1 + i] for i in range(200)], pages, "pages")
        short = sum(n for (kind, flags), n in owner.asked.items()
                    if kind == RETURN and flags & SHORT)
        equal(bool(short), bool(features & HAS_SHORT), f"{short} short RETURNs")


def moved(t, features):
    """Likewise, with another peer, by hand."""
    cluster = lender(t, 3)
    with owned(cluster, t.seed, 200) as (owner, _, pages):
        peer = Peer(cluster[2], [cluster[0], cluster[1]], features=features)
        try:
            wait_for(lambda: peer.addr in cluster[1].peers(), 10, "the peer is heard")
            cluster[1].ctl("lend", "0")
            wait_for(lambda: held(cluster[1]) == 0, 20, "all pages are moved")
            there = {slot: page for (_, slot), (_, page) in peer.pending.items()}
            equal([there.get(1 + i) for i in range(200)], pages, "pages")
            equal(sorted(set(owner.told)), list(range(1, 201)), "the owner was told of")
            short = sum(n for (kind, flags), n in peer.asked.items()
                        if kind == MOVE and flags & SHORT)
            equal(bool(short), bool(features & HAS_SHORT), f"{short} short MOVEs")
        finally:
            peer.close()


def test_returned(t):
    """Pages are brought back to an owner that knows short ones."""
    returned(t, HAS_ALL)


def test_returned_whole(t):
    """Likewise, to one that does not."""
    returned(t, HAS_ALL & ~HAS_SHORT)


def test_moved(t):
    """Pages are moved to a peer that knows short ones."""
    moved(t, HAS_ALL)


def test_moved_whole(t):
    """Likewise, to one that does not."""
    moved(t, HAS_ALL & ~HAS_SHORT)


def has_room(mover, other, pages):
    """Wait until a mover knows that another node has room for so many pages: it brings back
    what it knows no room for."""
    wait_for(lambda: mover.peers().get(other.addr, {}).get("free_pages", 0) >= pages, 10,
             f"{mover} knows of room at {other}")


def claim(owner, there, claimed, generation=lambda slot: 1):
    """Claim the pages that the owner was told of since; were there any?"""
    if owner.home:
        raise Unmet("pages were brought back: the other node had no room to give just then")
    new = [slot for slot in list(owner.told) if slot not in claimed][:32]
    if new:
        names = b"".join(struct.pack("<QII", slot, 1, generation(slot)) for slot in new)
        answer = there.control.ask(Message(CLAIM, names, len(new)))
        equal({status for _, status in struct.iter_unpack("<II", answer.payload)}, {OK},
              "claims")
        claimed.update(new)
    return bool(new)


def test_handed_on(t):
    """Likewise, to one that has the module: they are read there."""
    cluster = lender(t, 3, lend="8M")
    with owned(cluster, t.seed, 300) as (owner, _, pages):
        cluster[2].up(lend="8M")
        wait_for(lambda: owner.addr in cluster[2].peers() and
                 cluster[2].addr in cluster[1].peers(), 10, "all are heard")
        with session(cluster[0], cluster[2].addr) as there:
            has_room(cluster[1], cluster[2], 300)
            cluster[1].ctl("lend", "0")
            claimed = set()
            wait_for(lambda: not claim(owner, there, claimed) and len(claimed) == 300, 30,
                     "all pages are claimed", every=0.002)
            for i in range(0, 288, 32):
                equal(there.read(1 + i, 32), pages[i:i + 32], "pages")
            at_least(held(cluster[2]), 300, "pages held there")
