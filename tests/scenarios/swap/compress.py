# SPDX-License-Identifier: GPL-2.0
"""Compressed devices: fewer bytes leave, and every page comes back as it was.

        node0 ------ node1 …      the last node may be a peer by hand, see
                                  tests/nswaptest/rawwire.py
"""
import contextlib
import os
import threading

from nswaptest import text
from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import PAGE, Peer
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of

seal = sibling("seal")

DESCRIPTION = "pages of compressed devices are shorter, and come back as they were"
SUITES = ("lab",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 240

KINDS = ("lz4", "zstd")
PAGES = 96
SHORT_MOST = 3072       # of a page that is compressed
TURNS, READS = 24, 32   # at least, of a program that writes and one that reads


def add(client, *args):
    """A device; its name."""
    dev = client.ctl("device", "add", *args)["device"]
    client.wait_sessions()
    return dev


def shape(client):
    """What compression has made so far: pages that became shorter, their bytes, others."""
    device = client.devices()[0]
    return (device["compressed_pages"], device["compressed_bytes"],
            device["incompressible_pages"])


def all_right(client, *several):
    """Every slot holds what was written last, and no read has failed."""
    for slots in several:
        equal(slots.compare(), (len(slots.count), 0, 0), "right, wrong, unreadable")
    stat = client.stat()["client"]
    equal((stat["read_errors"], stat["seals_broken"]), (0, 0),
          "read errors, pages that did not open or expand")


@contextlib.contextmanager
def by_hand(t, *args, lenders=1, data="mixed"):
    """A client with a device full of pages, and lenders by hand that have them: (client,
    device, slots, lenders)."""
    cluster = t.cluster(1 + lenders)
    client = cluster[0]
    client.up(lend="0", open=True)
    with contextlib.ExitStack() as stack:
        peers = [Peer(node, [client]) for node in cluster.nodes[1:]]
        for peer in peers:
            stack.callback(peer.close)
        wait_for(lambda: len(client.peers()) == lenders, 10, "the lenders are heard")
        dev = add(client, "--size", "8M", *args)
        client.ctl("policy", "place", "round-robin")
        with Slots(dev, t.seed, data) as slots:
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            yield client, dev, slots, peers
        client.device_del(dev)


def test_option(t):
    """What is no compression is refused in one sentence, and what there is is shown."""
    client = t.cluster(1)[0]
    client.up(lend="0")
    true("lz4 zstd off" in client.refused("device", "add", "--size", "8M",
                                          "--compress", "gzip"), "what there is is named")
    for kind in (*KINDS, "off"):
        dev = client.ctl("device", "add", "--size", "8M", "--compress", kind)
        equal(dev["compress"], kind, "how it says it compresses")
        said = client.run([client.prog("nswapctl"), "device", "list"]).check().out
        equal(kind in said, kind != "off", "the list shows it")
        client.device_del(dev["device"])


def round_trip(t, *args):
    """Pages of all kinds, alone and in runs, three times."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0")
    cluster[1].up(lend="32M")
    cluster.wait_connected()
    for kind in KINDS:
        dev = add(client, "--size", "8M", "--compress", kind, *args)
        before = client.stat()["client"]
        with contextlib.ExitStack() as stack:
            several = [stack.enter_context(Slots(dev, t.seed, data)) for data in text.KINDS]
            for turn in range(3):
                for n, slots in enumerate(several):
                    for at in range(PAGES // 32):
                        slots.write(1 + n + len(several) * 32 * at, 1)
                        slots.write(512 + 128 * n + 32 * at, 32 - turn)
            all_right(client, *several)
            for n, slots in enumerate(several):
                equal(slots.read_run(512 + 128 * n, 30),
                      [slots.page(512 + 128 * n + i) for i in range(30)], "read at once")
            written = sum(sum(slots.count.values()) for slots in several)
        pages, size, whole = shape(client)
        equal(pages + whole, written, "pages that were compressed or not")
        # random pages, and about a quarter of the mixed ones, stay as they are
        at_least(pages, written // 2, "pages that became shorter")
        at_least(whole, written // 5, "pages that stayed")
        at_most(size, pages * 2300, "bytes of the shorter ones")
        now = client.stat()["client"]
        equal((now["pages_compressed"] - before["pages_compressed"],
               now["bytes_compressed"] - before["bytes_compressed"]), (pages, size),
              "the node's counters")
        client.device_del(dev)


def test_round_trip(t):
    """Without a seal."""
    round_trip(t, "--no-seal")


def test_sealed(t):
    """With one."""
    round_trip(t, "--seal")


def lies(t, kind):
    """Without a seal, too, a lender's page that was changed, that of another slot, one of
    before, and one that was cut are never given to a program if they are short ones, and
    what is behind their end does not count."""
    with by_hand(t, "--compress", kind, "--no-seal", data="text") as (client, _, slots,
                                                                      peers):
        pages = peers[0].pages
        old = dict(pages)
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        kept = dict(pages)
        for _, page in kept.values():
            true(not any(page[SHORT_MOST:]), "the end of a short page is zeros")

        def lie(told, unreadable):
            """These are served instead; so many reads fail, and none is wrong."""
            pages.update({key: (kept[key][0], page) for key, page in told.items()})
            equal(slots.compare(), (PAGES - unreadable, 0, unreadable),
                  "right, wrong, unreadable")
            pages.update(kept)

        def at(slot, change):
            return {(1, slot): change(kept[1, slot][1])}

        for byte in (0, 1, 5, 100, 999):
            lie(at(7, lambda page, n=byte: page[:n] + bytes([page[n] ^ 32]) +
                   page[n + 1:]), 1)
        for cut in (1, 64, 700):
            lie(at(8, lambda page, n=cut: page[:n] + bytes(PAGE - n)), 1)
        lie(at(9, lambda page: bytes(PAGE)), 1)
        lie(at(9, lambda page: os.urandom(PAGE)), 1)
        lie(at(9, lambda page: page[:-9] + b"not zeros"), 0)
        lie({(1, 3): kept[1, 4][1], (1, 4): kept[1, 3][1]}, 2)
        lie({key: page for key, (_, page) in old.items() if key[1] <= 32}, 32)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_lies(t):
    """With LZ4."""
    lies(t, "lz4")


def test_lies_zstd(t):
    """With zstd."""
    lies(t, "zstd")


def test_lies_to_mirror(t):
    """With a mirror the other lender has it."""
    with by_hand(t, "--compress", "lz4", "--no-seal", "--protect", "mirror", lenders=2,
                 data="text") as (client, _, slots, peers):
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 20, "no page is exposed")
        for peer in peers:
            kept = dict(peer.pages)
            for key, (gen, page) in kept.items():
                peer.pages[key] = gen, bytes([page[0] ^ 1]) + page[1:]
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            peer.pages.update(kept)
        equal(client.stat()["client"]["read_errors"], 0, "read errors")


def test_sealed_lengths(t):
    """A lender of a sealed device sees how long a page is, and nothing of it."""
    with by_hand(t, "--compress", "zstd", "--seal", data="zeros") as (client, _, slots, peers):
        seen = {page[:64] for _, page in peers[0].pages.values()}
        equal(len(seen), PAGES, "pages that begin in different ways")
        for _, page in peers[0].pages.values():
            true(not any(page[256:]), "the end of a short page is zeros")
            true(any(page[:64]), "its beginning is not")
        kept = dict(peers[0].pages)
        gen, page = kept[1, 5]
        peers[0].pages[1, 5] = gen, page[:20] + bytes([page[20] ^ 1]) + page[21:]
        equal(slots.compare(), (PAGES - 1, 0, 1), "right, wrong, unreadable")
        peers[0].pages.update(kept)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def swaps(t, protect, *args, tiers=True, kind="lz4"):
    """A program swaps to a compressed device, and no page is wrong."""
    with seal.swapped_to(t, "16M", "--compress", kind, "--protect", protect, *args,
                         tiers=tiers) as (client, dev):
        done = client.run(eater(client, 24, passes=1, order="rw", data="mixed"),
                          timeout=100, memory_max="16M", check=False)
        equal(result_of(done)["wrong_pages"], 0, "wrong pages")
        client.swapoff(dev)
        stat = client.stat()["client"]
        equal((stat["read_errors"], stat["seals_broken"]), (0, 0),
              "read errors, pages that did not open or expand")
        pages, size, _ = shape(client)
        at_least(pages, 500, "pages that became shorter")
        at_most(size, pages * 2300, "bytes of these")


def test_tiers(t):
    """Over peers, flash and home."""
    swaps(t, "none", "--no-seal")


def test_home(t):
    """With a copy of each page at home, zstd."""
    swaps(t, "home", "--no-seal", kind="zstd")


def test_parity(t):
    """With groups, sealed."""
    swaps(t, "parity:2+1", "--seal", tiers=False)


def lender_gone(t, protect, *args):
    """A lender dies; what it had is read from the others, and written again."""
    cluster = t.cluster(4)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else "16M")
    cluster.wait_connected()
    dev = add(client, "--size", "8M", "--compress", "lz4", "--protect", protect, *args)
    client.ctl("set", "dead_after_ms", "1000")
    with Slots(dev, t.seed, "mixed") as slots:
        for first in range(1, 513, 32):
            slots.write(first, 32)
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 30, "no page is exposed")
        cluster[2].ctl("down", "--now")
        all_right(client, slots)
        for first in range(1, 513, 64):
            slots.write(first, 32)
        all_right(client, slots)
    client.device_del(dev)


def test_mirror_death(t):
    """With a mirror."""
    lender_gone(t, "mirror", "--no-seal")


def test_parity_death(t):
    """With groups."""
    lender_gone(t, "parity:2+1", "--no-seal")


def test_moves(t):
    """Pages move to another lender, home, and back out, and stay right."""
    cluster = t.cluster(3)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else "16M")
    cluster.wait_connected()
    with disk(16) as home:
        dev = add(client, "--home", home.path, "--compress", "lz4", "--no-seal")
        with Slots(dev, t.seed, "mixed") as slots:
            for first in range(1, 513, 32):
                slots.write(first, 32)
            cluster[1].ctl("drain")
            all_right(client, slots)
            cluster[2].ctl("drain", "--to-home")
            equal(client.devices()[0]["slots_home"], 512, "pages at home")
            all_right(client, slots)
            cluster[1].ctl("lend", "16M")
            client.ctl("prefetch", "on", "--device", dev)
            for _ in range(3):
                all_right(client, slots)
        client.device_del(dev)


def test_rekey(t):
    """A sealed device gets another key, twice, while it is read and written."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0")
    cluster[1].up(lend="32M")
    cluster.wait_connected()
    dev = add(client, "--size", "8M", "--compress", "zstd", "--seal")
    with Slots(dev, t.seed, "mixed") as slots:
        for first in range(1, 1025, 32):
            slots.write(first, 32)
        before = shape(client)
        for _ in range(2):
            equal(client.ctl("device", "rekey", dev, timeout=60)["old_key_pages"], 0,
                  "pages of the old key")
            all_right(client, slots)
        equal(shape(client), before, "what was compressed: pages are short as they were")
    client.device_del(dev)


def rewritten(t, *args, lenders=1, sealed=False):
    """A program writes slots again and again, now short pages, now long ones, while another
    one reads them: each read gives what was there when it began, or what was written since,
    never what is older, never an error."""
    with by_hand(t, "--compress", "lz4", "--seal" if sealed else "--no-seal", *args,
                 lenders=lenders, data="text") as (client, dev, slots, _):
        stop, done, reads = threading.Event(), [0], []
        history = {0: [slots.page(slot) for slot in range(1, 33)]}

        def read():
            with Slots(dev) as reader:
                while not stop.is_set():
                    for slot in range(1, 33):
                        before = done[0]
                        got = reader.read(slot)
                        reads.append((slot, before, done[0] + 1, got))

        thread = threading.Thread(target=read)
        thread.start()
        # a quick machine writes all of these turns while few are read
        while len(history) <= TURNS or (len(reads) < READS and len(history) < 10 * TURNS):
            turn = len(history)
            slots.data = ("text", "random", "zeros", "table")[turn % 4]
            slots.write(1, 32)
            history[turn] = [slots.page(slot) for slot in range(1, 33)]
            done[0] = turn
        stop.set()
        thread.join()
        at_least(len(reads), READS, "reads meanwhile")
        for slot, before, after, got in reads:
            true(got in [history[turn][slot - 1] for turn in range(before, after + 1)
                         if turn in history],
                 f"slot {slot} has what was written in turns {before} to {after}")
        equal([slots.right(slot) for slot in range(1, 33)], [True] * 32, "right ones")
        stat = client.stat()["client"]
        equal((stat["read_errors"], stat["seals_broken"]), (0, 0),
              "read errors, pages that did not open or expand")


def test_rewritten(t):
    """At one lender."""
    rewritten(t)


def test_rewritten_sealed(t):
    """Sealed, with two copies."""
    rewritten(t, "--protect", "mirror", lenders=2, sealed=True)


def test_rewritten_groups(t):
    """In groups."""
    rewritten(t, "--protect", "parity:2+1", lenders=3)
