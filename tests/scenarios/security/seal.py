# SPDX-License-Identifier: GPL-2.0
"""Sealed devices: no peer sees a page, and none can change one.

        node0 ------ node1 …      the last node is a peer by hand, see
                                  tests/nswaptest/rawwire.py
"""
import contextlib
import os
import random
import struct
import threading
import time

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import MOVES, OK, PAGE, RETURN, Link, Message, Peer
from nswaptest.work import Slots, eater, result_of

DESCRIPTION = "pages of sealed devices are read by no peer, and changed by none unnoticed"
SUITES = ("lab",)
LONG = ("ten_thousand", "ten_thousand_mirror", "ten_thousand_parity")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 240

KEEP = 7                # status of a page that its server is to keep
PAGES = 256
LIES = 10000


@contextlib.contextmanager
def by_hand(t, nodes=2):
    """A client with a sealed device, and the lender by hand that has all its pages."""
    cluster = t.cluster(nodes)
    client, last = cluster[0], cluster[-1]
    client.up(lend="0")
    peer = Peer(last, [client])
    try:
        wait_for(lambda: last.addr in client.peers(), 10, "the lender is heard")
        dev = client.ctl("device", "add", "--size", "8M", "--seal")["device"]
        client.wait_sessions()
        yield client, peer, dev
        client.device_del(dev)
    finally:
        peer.close()


def broken(client):
    """Pages that did not open."""
    return client.stat()["client"]["seals_broken"]


def test_hidden(t):
    """What a lender has is nothing that a program wrote, and not the same twice."""
    with by_hand(t) as (client, peer, dev):
        true(client.devices()[0]["sealed"], "the device says that it is sealed")
        text = b"not for you, " * 400
        with open(f"/dev/{dev}", "r+b", buffering=0) as file:
            seen = set()
            for _ in range(2):
                os.pwrite(file.fileno(), text[:PAGE], 8 * PAGE)
                os.fsync(file.fileno())
                kept = peer.pages[1, 8][1]
                true(b"not for you" not in kept and kept not in seen, "the page is sealed")
                seen.add(kept)


def test_lies(t):
    """Pages that a lender changed, swapped, or kept from before do not open: the read
    fails, and nothing else does."""
    with by_hand(t) as (client, peer, dev):
        with Slots(dev, t.seed) as slots:
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            old = dict(peer.pages)
            slots.write(1, 32)
            kept = dict(peer.pages)

            def lie(pages, count):
                """These pages are served instead."""
                before = broken(client)
                peer.pages.update(pages)
                equal(slots.compare(), (PAGES - count, 0, count),
                      "right, wrong, unreadable")
                at_least(broken(client) - before, count, "seals that were broken")
                peer.pages.update(kept)

            def at(slot, data):
                return {(1, slot): (kept[1, slot][0], data)}

            page = kept[1, 5][1]
            for byte in (0, 1000, PAGE - 1):
                lie(at(5, page[:byte] + bytes([page[byte] ^ 1]) + page[byte + 1:]), 1)
            lie(at(5, bytes(PAGE)), 1)
            lie({**at(5, kept[1, 6][1]), **at(6, page)}, 2)
            lie({key: (kept[key][0], old[key][1]) for key in kept if key[1] <= 32}, 32)
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


@contextlib.contextmanager
def swapped_to(t, lend, *args, tiers=True):
    """A client with three lenders, and a device with flash and a home, or without, that it
    swaps to: (client, device)."""
    cluster = t.cluster(4)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else lend)
    cluster.wait_connected()
    with disk(64) as home, disk(16, 64) as flash:
        where = ["--home", home.path, "--flash", flash.path] if tiers else \
            ["--size", "64M"]
        dev = client.ctl("device", "add", *where, *args)["device"]
        client.wait_sessions()
        client.swapon(dev)
        yield client, dev
        client.device_del(dev)


def swaps(t, protect, tiers=True):
    """A program swaps to a sealed device, and no page is wrong."""
    with swapped_to(t, "32M", "--seal", "--protect", protect, tiers=tiers) as (client, dev):
        done = client.run(eater(client, 40, passes=2, order="rw"), timeout=100,
                          memory_max="20M", check=False)
        equal(result_of(done)["wrong_pages"], 0, "wrong pages")
        client.swapoff(dev)
        equal(broken(client), 0, "seals that were broken")


def test_tiers(t):
    """Over peers, flash and home."""
    swaps(t, "none")


def test_home(t):
    """With a copy of each page at home."""
    swaps(t, "home")


def test_mirror(t):
    """With two copies."""
    swaps(t, "mirror")


def test_parity(t):
    """With groups over sealed pages."""
    swaps(t, "parity:2+1", tiers=False)


@contextlib.contextmanager
def liar(t, lenders, *where, protect="none"):
    """A client with a sealed device full of pages, and lenders by hand: (client, device,
    slots, lenders, a function that has one of them lie about all it has)."""
    cluster = t.cluster(1 + lenders)
    client = cluster[0]
    client.up(lend="0")
    with contextlib.ExitStack() as stack:
        peers = [Peer(node, [client]) for node in cluster.nodes[1:]]
        for peer in peers:
            stack.callback(peer.close)
        wait_for(lambda: len(client.peers()) == lenders, 10, "the lenders are heard")
        dev = client.ctl("device", "add", *(where or ("--size", "8M")), "--seal",
                         "--protect", protect)["device"]
        client.wait_sessions()
        client.ctl("policy", "place", "round-robin")
        client.ctl("set", "hedge_pct", 0)
        with Slots(dev, t.seed) as slots:
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            wait_for(lambda: protect == "none" or
                     not client.devices()[0]["exposed_pages"], 20, "no page is exposed")

            def lie(peer=peers[0]):
                """It changes every page; what it had."""
                true_ones = dict(peer.pages)
                at_least(len(true_ones), 32, "pages at the one that lies")
                for key, (gen, page) in true_ones.items():
                    peer.pages[key] = gen, bytes([page[0] ^ 1]) + page[1:]
                return true_ones
            yield client, dev, slots, peers, lie
        client.device_del(dev)


def restore(peer, kept):
    """A lender has what it had, but for what was written since."""
    peer.pages.update({key: page for key, page in kept.items()
                       if peer.pages.get(key, (None,))[0] == page[0]})


def believed(t, lenders, *where, protect):
    """One of the lenders after the other lies about every page it has; every read is
    right all the same, from another copy or the rest of the group."""
    with liar(t, lenders, *where, protect=protect) as (client, _, slots, peers, lie):
        for peer in peers:
            kept = lie(peer)
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            equal(slots.compare_runs(32), (PAGES, 0), "read 32 at once, and wrong")
            restore(peer, kept)
        at_least(broken(client), PAGES, "seals that were broken")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")


def test_other_copy(t):
    """With a mirror."""
    believed(t, 2, protect="mirror")


def test_rebuilt(t):
    """With groups."""
    believed(t, 3, protect="parity:2+1")


def test_at_home(t):
    """With copies at home."""
    with disk(16) as home:
        believed(t, 2, "--home", home.path, protect="home")


def test_two_checks(t):
    """With groups that have two checks, one lender dead and another one lying."""
    with liar(t, 4, protect="parity:2+2") as (client, _, slots, peers, lie):
        peers[0].close()
        for peer in peers[1:]:
            kept = lie(peer)
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            restore(peer, kept)
        at_least(broken(client), 32, "seals that were broken")


def test_dead_and_lying(t):
    """Likewise, two lenders dead and a third one lying: what cannot be had fails as soon as
    that is known, and nothing wrong is read."""
    with liar(t, 4, protect="parity:2+2") as (client, _, slots, peers, lie):
        client.ctl("set", "dead_after_ms", "1000")
        client.ctl("set", "protect_mib_s", "0")         # nothing is made again elsewhere
        for peer in peers[:2]:
            peer.close()
        wait_for(lambda: sum(peer["state"] == "dead" for peer in client.peers().values()) == 2,
                 30, "two lenders are dead")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        kept = lie(peers[2])
        began = time.monotonic()
        right, wrong, unreadable = slots.compare()
        equal((right + unreadable, wrong), (PAGES, 0), "right or unreadable, wrong")
        at_least(unreadable, 32, "unreadable pages")
        at_most(time.monotonic() - began, 25, "seconds until all was read or had failed")
        restore(peers[2], kept)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_bad_home(t):
    """What home has is changed: it does not open, and the lender's copy is waited for."""
    with disk(16) as home:
        with liar(t, 1, "--home", home.path, protect="home") as (client, _, slots, peers,
                                                                lie):
            kept = lie()
            with open(home.path, "r+b", buffering=0) as file:
                for slot in range(1, PAGES + 1):
                    os.pwrite(file.fileno(), os.urandom(64), slot * PAGE)
                os.fsync(file.fileno())
            # neither has it now; later the lender has, but home is asked first
            right, wrong, _ = slots.compare()
            equal((right, wrong), (0, 0), "right and wrong ones")
            peers[0].pages.update(kept)
            peers[0].load_reply = 3
            before = broken(client)
            equal(slots.read_run(1, 32), [slots.page(slot) for slot in range(1, 33)],
                  "what the lender had")
            equal(broken(client) - before, 32, "pages of home that did not open")
            equal(client.stat()["client"]["read_errors"], PAGES, "read errors")


def test_bad_flash(t):
    """Likewise, pages that are on flash alone: their reads fail, no other one does."""
    with disk(8, 64) as flash:
        with liar(t, 1, "--size", "8M", "--flash", flash.path) as (client, _, slots, peers,
                                                                  _lie):
            peers[0].full = True
            for slot in range(1, 65, 32):
                slots.write(slot, 32)
            at_least(client.stat()["client"]["pages_flash_out"], 64, "pages on flash")
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            with open(flash.path, "r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                for at in range(0, size, PAGE):
                    os.pwrite(file.fileno(), os.urandom(64), at)
                os.fsync(file.fileno())
            equal(slots.compare(), (PAGES - 64, 0, 64), "right, wrong, unreadable")
            equal(slots.compare_runs(32), (PAGES - 64, 0), "read 32 at once, and wrong")
            at_least(broken(client), 64, "seals that were broken")


def test_rewritten(t):
    """Two programs write the same slots of a device with groups at the same time, past
    the page cache: one or the other is read, never an error."""
    with liar(t, 3, protect="parity:2+1") as (client, dev, slots, _, _lie):
        others = Slots(dev, t.seed + 1)

        def write(which):
            for _ in range(40):
                for first in range(1, 65, 32):
                    which.write(first, 32)

        with others:
            threads = [threading.Thread(target=write, args=(which,))
                       for which in (slots, others)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for slot in range(1, 65):
                true(slots.read(slot) in (slots.page(slot), others.page(slot)),
                     f"slot {slot} has what one of them wrote last")
        equal(broken(client), 0, "seals that were broken")


def test_meanwhile(t):
    """A lender changes pages while they are rewritten: what is read is what was written
    last, or an error, and of those that it left alone each is right."""
    with liar(t, 1) as (client, _, slots, peers, _lie):
        rng, stop = random.Random(t.seed), threading.Event()

        def change():
            """Pages of the upper half, one after the other."""
            while not stop.wait(0.001):
                key = 1, rng.randrange(PAGES // 2 + 1, PAGES + 1)
                gen, page = peers[0].pages[key]
                peers[0].pages[key] = gen, page[:99] + bytes([page[99] ^ 1]) + page[100:]

        thread = threading.Thread(target=change)
        thread.start()
        for _ in range(20):
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            _, wrong, unreadable = slots.compare()
            equal(wrong, 0, "wrong pages")
            true(unreadable <= PAGES // 2, "the others are read")
        stop.set()
        thread.join()
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        at_least(broken(client), 20, "seals that were broken")


def test_returned(t):
    """A lender sends back pages that it made up, to a device whose home has them too:
    they are not taken, and home keeps what it has."""
    with disk(16) as home, \
            liar(t, 1, "--home", home.path, protect="home") as (client, _, slots, peers,
                                                                lie):
        kept = lie()
        info = client.stat()["node"]
        owner = struct.pack("<QQ", int(info["id"], 16), int(info["epoch"], 16))
        link = Link(client.cluster.nodes[1], client.addr)
        equal(link.hello(session=0, kind=MOVES).status, OK, "status of a mover's hello")
        for first in range(1, PAGES + 1, 32):
            mine = [(slot, peers[0].pages[1, slot]) for slot in range(first, first + 32)]
            said = link.ask(Message(
                RETURN, owner + b"".join(struct.pack("<QII", slot, 1, gen)
                                         for slot, (gen, _) in mine) +
                b"".join(page for _, (_, page) in mine), 32))
            results = [struct.unpack_from("<II", said.payload, 8 * i)[1] for i in range(32)]
            equal(results, [KEEP] * 32, "what became of the pages")
        link.close()
        at_least(broken(client), PAGES, "seals that were broken")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        peers[0].pages.update(kept)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_given_back(t):
    """Groups are given up while a lender lies: what it says is written nowhere else."""
    with liar(t, 3, protect="parity:2+1") as (client, dev, slots, _, lie):
        lie()
        client.ctl("device", "protect", dev, "none")
        wait_for(lambda: broken(client) >= 8, 20, "seals were broken")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_repair(t):
    """Second copies are made while a lender lies: none of what it says."""
    with liar(t, 2) as (client, dev, slots, peers, lie):
        kept = lie()
        client.ctl("device", "protect", dev, "mirror", "--no-wait")
        wait_for(lambda: broken(client) >= len(kept), 20, "every lie is seen")
        equal([key for key in kept if key in peers[1].pages], [], "lies at the other one")
        peers[0].pages.update(kept)
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 60,
                 "no page is exposed")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def lied(kept, old, rng):
    """For some pages of a lender what it serves instead: one with a bit turned, the page
    of another slot, or the one that was written before."""
    def other(key, page):
        kind = rng.randrange(3)
        if kind == 0:
            at = rng.randrange(PAGE)
            return page[:at] + bytes([page[at] ^ 1 << rng.randrange(8)]) + page[at + 1:]
        return old[key][1] if kind == 1 and key in old else \
            next(p for k, (_, p) in kept.items() if k != key)
    keys = rng.sample(sorted(kept), len(kept) // 2)
    told = {key: (kept[key][0], other(key, kept[key][1])) for key in keys}
    return {key: page for key, page in told.items() if page != kept[key]}


def many_lies(t, lenders, protect):
    """The lenders lie in turn, 10 000 times together; the counts of lies, and of right,
    wrong and unreadable slots of all comparisons meanwhile."""
    rng = random.Random(t.seed)
    lies, counts, turn = 0, [0, 0, 0], 0
    with liar(t, lenders, protect=protect) as (client, _, slots, peers, _):
        while lies < LIES:
            peer = peers[turn % lenders]
            turn += 1
            old = dict(peer.pages)
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            wait_for(lambda: protect == "none" or
                     not client.devices()[0]["exposed_pages"], 20, "no page is exposed")
            kept = dict(peer.pages)
            told = lied(kept, old, rng)
            lies += len(told)
            peer.pages.update(told)
            counts = [a + b for a, b in zip(counts, slots.compare())]
            peer.pages.update({key: kept[key] for key in told})
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        t.log(f"{lies} lies, {broken(client)} seals broken, {counts}")
        at_least(broken(client), lies // 8, "lies that were met")
    return lies, counts


def test_ten_thousand(t):
    """Altered, swapped and older pages at random, 10 000 of them: each is noticed, no
    other read fails."""
    lies, (_, wrong, unreadable) = many_lies(t, 1, "none")
    equal((wrong, unreadable), (0, lies), "wrong, unreadable")


def test_ten_thousand_mirror(t):
    """Likewise with a mirror: every read is right."""
    _, (_, wrong, unreadable) = many_lies(t, 2, "mirror")
    equal((wrong, unreadable), (0, 0), "wrong, unreadable")


def test_ten_thousand_parity(t):
    """Likewise with groups."""
    _, (_, wrong, unreadable) = many_lies(t, 3, "parity:2+1")
    equal((wrong, unreadable), (0, 0), "wrong, unreadable")
