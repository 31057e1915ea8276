# SPDX-License-Identifier: GPL-2.0
"""Short pages share pages of RAM: how many there are in a MiB, and that they come back.

        node0 ------ node1        node0 is an owner by hand, node1 holds its pages,
             `------ node2        node2 takes them from there
"""
import random
import struct
import zlib
from operator import ne

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.rawwire import (FREE, FREE_ACK, FREE_DEVICE, GRANT_ASK, LOAD, NO_ROOM,
                               NOT_HELD, OK, PAGE, SHORT, STORE, Message, carried, carrying)
from nswaptest.scenario import sibling

DESCRIPTION = "short pages share RAM at their lender, and give all of it back"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

MIB = 256       # pages
UNCLAIMED = 960     # pages: fewer than an owner may leave unclaimed, more are returned to it
WORDS = ("page", "swap", "slot", "peer", "node", "the", "of", "a", "is", "lends", "holds",
         "kernel", "memory", "network", "latency", "when", "and", "owner", "moves", "back")


def shrunk(rng):
    """A page of words, numbers between them, as a compressor leaves it."""
    words = []
    size = 0
    while size < PAGE:
        words.append(rng.choice(WORDS) if rng.random() < 0.7 else
                     f"{rng.randrange(1 << 20):x}")
        size += len(words[-1]) + 1
    return zlib.compress(" ".join(words)[:PAGE].encode(), 1)


TEXTS = [shrunk(random.Random(i)) for i in range(24)]


def text(rng):
    """One of those pages, unlike any other."""
    return (rng.randbytes(8) + rng.choice(TEXTS)[8:]).ljust(PAGE, b"\0")


def noise(rng):
    """A page that does not shrink."""
    return rng.randbytes(PAGE - 1) + b"\1"


def mixed(rng):
    """One as the other, or next to nothing."""
    kind = rng.random()
    return text(rng) if kind < 0.5 else noise(rng) if kind < 0.75 else \
        rng.randbytes(40).ljust(PAGE, b"\0")


class Pages:
    """What is stored at a lender under instance 1, by slot; each with its generation."""

    def __init__(self, session):
        self.session, self.held = session, {}

    def put(self, slot, pages):
        """Store adjacent pages, as many as one message takes; how many were taken."""
        s = self.session
        if s.granted < len(pages):
            s.grants(len(pages))
        gens = [self.held.get(slot + i, (0,))[0] + 1 for i in range(len(pages))]
        answer = s.stores.ask(carrying(STORE, struct.pack(f"<{len(gens)}I", *gens), pages,
                                       True, slot=slot, instance=1))
        s.granted += answer.grants - len(pages)
        taken = 0
        for i, (gen, status) in enumerate(struct.iter_unpack("<II", answer.payload)):
            true(status in (OK, NO_ROOM), f"status {status}")
            if status == OK:
                self.held[slot + i] = gen, pages[i]
                taken += 1
        return taken

    def free(self, slots):
        """Free these slots."""
        slots = list(slots)
        for i in range(0, len(slots), 128):
            runs = b"".join(struct.pack("<IIQII", 1, self.held.pop(slot)[0], slot, 1, 0)
                            for slot in slots[i:i + 128])
            answer = self.session.control.ask(Message(FREE, runs, len(runs) // 24))
            equal(answer.kind, FREE_ACK, "answer to a FREE")

    def wrong(self, at=None):
        """How many of them are not what was stored."""
        control, wrong, slots = (at or self.session).control, 0, sorted(self.held)
        while slots:
            run = [slot for i, slot in enumerate(slots[:32]) if slot == slots[0] + i]
            del slots[:len(run)]
            gens, pages = zip(*(self.held[slot] for slot in run))
            answer = control.ask(Message(LOAD, struct.pack(f"<{len(run)}I", *gens), len(run),
                                         SHORT, slot=run[0], instance=1))
            wrong += sum(map(ne, carried(answer, 0, 4), pages))
        return wrong


def server(node):
    """Its counters as a server."""
    return node.stat()["server"]


def granted(session):
    """May another page be stored? All that is lent is set aside by now."""
    for _ in range(5):
        if session.granted:
            break
        session.granted += session.control.ask(Message(GRANT_ASK, nr=16)).grants
        hold(0.02)
    return session.granted


def in_a_mib(t, cluster, kind):
    """Pages of one kind that fit into a lent MiB."""
    lender = cluster[1]
    rng = random.Random(t.seed)
    with sibling("short").session(cluster[0], lender.addr) as s:
        pages, slot = Pages(s), 1
        wait_for(lambda: server(lender)["set_aside_pages"] +
                 server(lender)["ram_pages"] == MIB, 10, "a MiB is set aside")
        while granted(s):
            pages.put(slot, [kind(rng) for _ in range(min(s.granted, 16))])
            slot += 16
        now = server(lender)
        equal(now["held_pages"], len(pages.held), "pages held")
        at_most(now["ram_pages"], MIB, "pages of RAM that they take")
        equal(pages.wrong(), 0, "wrong pages")
        return len(pages.held), now


def test_figures(t):
    """A lent MiB of pages that do not shrink, of text, and of both: the figures."""
    found = {}
    for kind in (noise, text, mixed):
        cluster = t.cluster(2)
        cluster[1].up(lend="1M")
        count, now = in_a_mib(t, cluster, kind)
        found[kind.__name__] = count
        t.log(f"{kind.__name__}: {count} pages in a lent MiB, RAM {now['ram_pages']} pages, "
              f"packed {now['pages_packed']}")
        cluster.close()
    equal(found["noise"], MIB, "pages that do not shrink")
    at_least(found["text"], MIB * 3 // 2, "pages of text")
    at_least(found["mixed"], MIB * 3 // 2, "mixed ones")


def test_rewritten(t):
    """Pages become longer and shorter, are freed and come back, at random: none is wrong, what
    they take is never more than they are, and all of it is given back at the end."""
    cluster = t.cluster(2)
    cluster[1].up(lend="4M")
    rng = random.Random(t.seed)
    with sibling("short").session(cluster[0], cluster[1].addr) as s:
        pages = Pages(s)
        for _ in range(250):
            first = rng.randrange(1, 600)
            pages.put(first, [rng.choice((text, noise, mixed))(rng)
                              for _ in range(rng.randrange(1, 8))])
            if rng.random() < 0.3:
                pages.free(rng.sample(sorted(pages.held), len(pages.held) // 5))
        now = server(cluster[1])
        equal(now["held_pages"], len(pages.held), "pages held")
        at_most(now["ram_pages"], now["held_pages"], "pages of RAM")
        equal(pages.wrong(), 0, "wrong pages")
        whole = sum(len(page.rstrip(b"\0")) > 3072 for _, page in pages.held.values())
        at_least(now["ram_pages"], whole, "pages of RAM")
        t.log(f"{now['held_pages']} pages, {whole} of them long, in {now['ram_pages']} of RAM")
        pages.free(list(pages.held)[::2])
        equal(pages.wrong(), 0, "wrong pages")
        equal(s.control.ask(Message(FREE_DEVICE, instance=1)).kind, FREE_ACK, "answer")
        now = server(cluster[1])
        equal((now["held_pages"], now["ram_pages"]), (0, 0), "held, and RAM")
        wait_for(lambda: server(cluster[1])["set_aside_pages"] == 4 * MIB, 10,
                 "all of it is set aside again")
        equal(carried(s.control.ask(Message(LOAD, bytes(4), 1, slot=1, instance=1)), 0, 4),
              [b""], "a page after that")


def test_shrink(t):
    """A lender takes half of its RAM back, then all: it moves as many pages as that takes,
    those that share RAM together; none is wrong, wherever it is."""
    cluster = t.cluster(3)
    for node in cluster.nodes[1:]:
        node.up(lend="8M")
    short = sibling("short")
    rng = random.Random(t.seed)
    owner = short.Owner(cluster[0], cluster.nodes[1:])
    try:
        wait_for(lambda: all(owner.addr in n.peers() for n in cluster.nodes[1:]), 10,
                 "the owner is heard")
        with short.session(cluster[0], cluster[1].addr) as s, \
                short.session(cluster[0], cluster[2].addr) as there:
            pages = Pages(s)
            for slot in range(1, UNCLAIMED, 16):
                pages.put(slot, [text(rng) for _ in range(16)])
            before = server(cluster[1])
            at_most(before["ram_pages"], UNCLAIMED * 2 // 3, f"pages of RAM for {UNCLAIMED}")
            claimed = set()

            def follow(done):
                """Claim what is moved, until done."""
                wait_for(lambda: not short.claim(owner, there, claimed,
                                                 lambda slot: pages.held[slot][0]) and done(),
                         30, "the pages are moved", every=0.002)

            short.has_room(cluster[1], cluster[2], UNCLAIMED)
            least = before["ram_pages"] // 2
            cluster[1].ctl("lend", f"{least * 4}K")
            follow(lambda: server(cluster[1])["ram_pages"] <= least)
            now = server(cluster[1])
            at_least(now["ram_pages"], least - 64, "pages of RAM left")
            t.log(f"{before['held_pages']} pages in {before['ram_pages']} of RAM, after the "
                  f"shrink {now['held_pages']} in {now['ram_pages']}")
            cluster[1].ctl("lend", "0")
            follow(lambda: server(cluster[1])["held_pages"] == 0)
            equal(server(cluster[1])["ram_pages"], 0, "RAM that is left")
            follow(lambda: len(claimed) == UNCLAIMED)
            equal(pages.wrong(there), 0, "wrong pages")
            after = server(cluster[2])
            t.log(f"at the other node {after['held_pages']} pages in {after['ram_pages']}")
            at_most(after["ram_pages"], UNCLAIMED * 2 // 3, "pages of RAM there")
            state = there.control.ask(Message(LOAD, bytes(4), 1, slot=5000, instance=1))
            equal(struct.unpack_from("<I", state.payload)[0], NOT_HELD, "another slot")
    finally:
        owner.close()


def test_tidy(t):
    """Most pages are freed, and half of the RAM they shared is to be given back: what is left
    comes closer together, and none has to leave."""
    cluster = t.cluster(2)
    cluster[1].up(lend="4M")
    short = sibling("short")
    rng = random.Random(t.seed)
    owner = short.Owner(cluster[0], [cluster[1]])
    try:
        wait_for(lambda: owner.addr in cluster[1].peers(), 10, "the owner is heard")
        with short.session(cluster[0], cluster[1].addr) as s:
            pages = Pages(s)
            for slot in range(1, 1601, 16):
                pages.put(slot, [rng.randbytes(rng.randrange(100, 1000)).ljust(PAGE, b"\0")
                                 for _ in range(16)])
            before = server(cluster[1])
            pages.free(rng.sample(sorted(pages.held), 1200))
            freed = server(cluster[1])
            target = before["ram_pages"] * 2 // 5
            at_least(freed["ram_pages"], target + 32, "pages of RAM before")
            cluster[1].ctl("lend", f"{target * 4}K")
            wait_for(lambda: server(cluster[1])["ram_pages"] <= target, 10, "RAM is back")
            after = server(cluster[1])
            t.log(f"{before['held_pages']} pages in {before['ram_pages']} of RAM, then "
                  f"{freed['held_pages']} in {freed['ram_pages']}, then "
                  f"{after['held_pages']} in {after['ram_pages']}")
            equal((after["held_pages"], owner.home, owner.told), (400, {}, []),
                  "pages held, brought back, moved")
            equal(pages.wrong(), 0, "wrong pages")
    finally:
        owner.close()
