# SPDX-License-Identifier: GPL-2.0
"""The prefetcher brings pages from each tier to each other one: peers' RAM, flash and
home, which is a disk.

        node0 ------ node1      node0 has a device with flash and a home, both
        |   |                   mappings of the scratch disk, whose errors the
    flash   home                test decides; node1 lends
"""
import contextlib
import itertools
import struct
import threading

from nswaptest.check import Unmet, at_least, equal, hold, true, wait_for
from nswaptest.disk import SCRATCH, disk
from nswaptest.rawwire import (HAS_ALL, HOLD_ASK, MOVED, MOVES, OK, RETURN, TELLS, Link, Message,
                               Peer)
from nswaptest.scenario import sibling
from nswaptest.work import Slots

prefetch = sibling("prefetch")

DESCRIPTION = "prefetching between any two tiers"
SUITES = ("lab",)
CPUS = 2
LONG = ("load", "peer_dies_coming_from_flash", "fails")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 400

PAGES = 512
SIZE_MB = 16
HOME_AT = 64        # MiB, on the scratch disk
LOAD_S = 1          # of each way
SLOW_MS = 5         # of each read and write of the disks meanwhile
# (from, to): the counter of pages brought, and of reads of them there
WAYS = {
    ("ram", "disk"): ("prefetched_ram_disk", "prefetch_disk_hits"),
    ("disk", "flash"): ("prefetched_disk_flash", "prefetch_hits"),
    ("flash", "ram"): ("prefetched_flash_ram", "prefetch_ram_hits"),
    ("ram", "flash"): ("pages_prefetched", "prefetch_hits"),
    ("flash", "disk"): ("prefetched_flash_disk", "prefetch_disk_hits"),
    ("disk", "ram"): ("pages_prefetched_ram", "prefetch_ram_hits"),
}
KEEP = 7            # status of a page that its server is to keep
STATE = {"ram": "slots_remote", "flash": "slots_flash", "disk": "slots_home"}


@contextlib.contextmanager
def tiers(t, size_mb=SIZE_MB, pages=PAGES, **options):
    """A node with a peer and a device with flash and a home; its slots, so many written
    and at the peer; the prefetcher is off, and moves what there is at each wake-up."""
    cluster = t.cluster(2)
    cluster.up(lend="64M", **options)
    node = cluster[0]
    with disk(size_mb) as home, disk(SIZE_MB, HOME_AT) as flash:
        dev = node.device_add(home=home.path, flash=(flash.path,))
        node.ctl("set", "home_out_mib_s", "0")
        prefetch.setting(node, period_ms=20, when="always", count="percent-used",
                         pct=100, which="rr", after="move")
        with Slots(dev, t.seed) as slots:
            for first in range(1, pages + 1, 32):
                slots.write(first, 32)
            yield cluster, node, slots, {"disk": home, "flash": flash}
        node.device_del(dev)


def at_tiers(node):
    """Pages by tier."""
    seen = node.devices()[0]
    return {tier: seen[state] for tier, state in STATE.items()}


def bring(node, way):
    """Turn the prefetcher on, on one way."""
    prefetch.choose(node, **{"from": way[0], "to": way[1], "enable": "on"})


def bring_all(node, way, pages=PAGES):
    """Bring all pages there are on one way, then stop."""
    bring(node, way)
    wait_for(lambda: at_tiers(node)[way[1]] >= pages, 30,
             f"{pages} pages went from {way[0]} to {way[1]}")
    prefetch.choose(node, enable="off")


def test_each_way(t):
    """All pages take each way, one after the other: each is counted once, for that
    way alone, and right where it came to, and read there."""
    with tiers(t) as (cluster, node, slots, _):
        for way, (brought, hits) in WAYS.items():
            before = prefetch.counters(node)
            bring_all(node, way)
            equal(at_tiers(node), {tier: PAGES * (tier == way[1])
                                   for tier in STATE}, f"pages by tier after {way}")
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            now = prefetch.counters(node)
            equal({name: now[name] - before[name] for name, _ in WAYS.values()},
                  {name: PAGES * (name == brought) for name, _ in WAYS.values()},
                  f"pages brought by way, {way}")
            equal(now[hits] - before[hits], PAGES, f"reads counted by {hits}, {way}")
            held = PAGES if way[1] == "ram" else 0
            wait_for(lambda held=held: cluster.held_pages() == held, 10,
                     f"the peer holds {held} pages after {way}")
            slots.write(1, 32)
            slots.write(PAGES - 31, 32)
            bring_back(node, way)
        equal(prefetch.counters(node)["write_errors"], 0, "failed page-outs")


def bring_back(node, way):
    """What was written again is at the peer: bring it to where the others are."""
    if way[1] != "ram":
        bring_all(node, ("ram", way[1]))


def test_copy(t):
    """From flash to peers with after=copy: both have the page, so reads go to
    either, and the peer's death or flash's costs none."""
    with tiers(t, dead_after=2) as (cluster, node, slots, disks):
        bring_all(node, ("ram", "flash"))
        prefetch.setting(node, after="copy")
        bring_all(node, ("flash", "ram"))
        seen = node.devices()[0]
        equal((seen["slots_remote"], seen["slots_flash"], seen["flash_used_slots"]),
              (PAGES, 0, PAGES), "pages at the peer, on flash alone, used flash slots")
        for read, counter in (("prefetched-first", "pages_flash_in"),
                              ("fastest", None)):
            node.ctl("policy", "read", read)
            before = prefetch.counters(node)
            equal(slots.compare(), (PAGES, 0, 0), f"right, wrong, unreadable, {read}")
            if counter:
                equal(prefetch.counters(node)[counter] - before[counter], PAGES,
                      f"{counter} by {read}")
        disks["flash"].fail()
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable without flash")
        disks["flash"].mend()
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] in
                 ("suspected", "dead"), 15, "the peer is missed")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable without peer")


def told_of(node, peer, last):
    """A mover tells of all pages that this peer has, as moved to it and as returned; what
    the owner answers of each."""
    said, info = [], node.stat()["node"]
    owner = struct.pack("<QQ", int(info["id"], 16), int(info["epoch"], 16))
    held = sorted((slot, instance, gen) for (instance, slot), (gen, _) in peer.pages.items())
    names = b"".join(struct.pack("<QII", *page) for page in held[:32])
    pages = b"".join(peer.pages[instance, slot][1] for slot, instance, _ in held[:32])
    for kind, way, body in ((MOVED, TELLS, struct.pack("<QQ", peer.id, 1) + names),
                            (RETURN, MOVES, owner + names + pages)):
        link = Link(last, node.addr)
        equal(link.hello(session=0, kind=way, features=HAS_ALL).status, OK, "status")
        answer = link.ask(Message(kind, body, len(held[:32])))
        said += struct.unpack(f"<{2 * answer.nr}I", answer.payload)[1::2]
        link.close()
    return said


def test_listed(t):
    """A peer, by hand, lists pages that came from flash before its answer to their STORE is
    here, and tells that it moves and returns them: it is not told to drop them."""
    cluster = t.cluster(2)
    node, pages = cluster[0], 64
    node.up(lend="0")
    peer = Peer(cluster[1], [node])
    try:
        wait_for(lambda: peer.addr in node.peers(), 10, "the peer is heard")
        node.ctl("set", "reconcile_s", "1")
        with disk(SIZE_MB) as flash:
            dev = node.device_add("16M", flash=(flash.path,))
            prefetch.setting(node, period_ms=20, when="always", count="percent-used",
                             pct=100, which="rr", after="move")
            with Slots(dev, t.seed) as slots:
                for first in range(1, pages, 32):
                    slots.write(first, 32)
                bring_all(node, ("ram", "flash"), pages)
                node.ctl("set", "store_timeout_ms", "9000")
                peer.store_ack = 4
                before = peer.asked.get((HOLD_ASK, 0), 0)
                peer.pages.clear()
                bring(node, ("flash", "ram"))
                wait_for(lambda: len(peer.pages) >= 32, 20, "the peer has some")
                said = told_of(node, peer, cluster[1])
                equal((len(said) >= 64, set(said)), (True, {KEEP}), "what it is told of them")
                bring_all(node, ("flash", "ram"), pages)
                at_least(peer.asked[HOLD_ASK, 0], before + 2, "lists meanwhile")
                peer.store_ack = 0
                equal(slots.compare(), (pages, 0, 0), "right, wrong, unreadable")
            node.device_del(dev)
    finally:
        peer.close()


def test_spared(t):
    """What makes room takes pages that are not read: lrs leaves those that were, and
    full does nothing while peers have room."""
    with tiers(t) as (cluster, node, slots, _):
        prefetch.setting(node, when="full", which="lrs", **{"from": "ram", "to": "disk"})
        node.ctl("prefetch", "on")
        hold(0.3)
        equal(at_tiers(node)["disk"], 0, "pages brought home while the peer has room")
        prefetch.setting(node, pct=1, when="always")
        wait_for(lambda: at_tiers(node)["disk"], 20, "the hand has passed all pages")
        prefetch.setting(node, when="full", pct=100)
        passed = at_tiers(node)["disk"]
        read = range(301, 365)
        for slot in read:
            true(slots.right(slot), f"slot {slot} is right")
        # at the second wake-up they would no longer be as if just read
        prefetch.setting(node, period_ms=3000)
        cluster[1].ctl("lend", f"{(PAGES + 32) * 4}K")
        wait_for(lambda: at_tiers(node)["disk"] >= passed + PAGES // 32, 20,
                 "pages are brought home when the peer is nearly full")
        wait_for(lambda: not short(node), 20, "the peer has room again")
        node.ctl("prefetch", "off")
        before = prefetch.counters(node)
        for slot in read:
            true(slots.right(slot), f"slot {slot} is right")
        equal(prefetch.counters(node)["pages_home_in"], before["pages_home_in"],
              "pages that were read before and are now at home")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def short(node):
    """Whether less than an eighth of what peers lend is free."""
    peers = node.peers().values()
    return sum(p["free_pages"] for p in peers) * 8 < sum(p["lent_pages"] for p in peers)


def went(node, way):
    """Turn the prefetcher on, on one way; whether it has brought a page within two seconds."""
    before = prefetch.counters(node)
    bring(node, way)
    try:
        wait_for(lambda: prefetch.risen(node, before, WAYS[way][0]), 2, "a page is brought")
    except Unmet:
        return False
    return True


def bring_some(node, way, which):
    """Bring a page on one way. What the program rewrites on the way's first tier leaves
    that, so pages are brought there as often as it takes."""
    def tried():
        if way[0] != "ram":
            prefetch.choose(node, which="rr", after="move")
            went(node, ("ram", way[0]))
        prefetch.choose(node, which=which, after="copy" if which == "rand" else "move")
        return went(node, way)
    wait_for(tried, 60, f"a page went from {way[0]} to {way[1]}")


def test_load(t):
    """A program writes, reads and frees slots while pages go around on all ways, by way
    of slow disks: many change on their way, and every page is right."""
    with tiers(t, size_mb=4, pages=0) as (_, node, _slots, disks):
        dev = node.devices()[0]["device"]
        for one in disks.values():
            where = f"{SCRATCH} {one.at}"
            one.become(f"0 {one.sectors} delay {where} {SLOW_MS} {where} {SLOW_MS}")
        work = node.popen([node.prog("blkverify"), "--device", f"/dev/{dev}",
                           "--seconds", "600", "--fresh", "--max-kb", "16",
                           "--threads", "4", "--discards", "3", "--seed", str(t.seed)])
        for way, which in itertools.product(WAYS, ("rr", "rand")):
            bring_some(node, way, which)
            hold(LOAD_S)
            equal(work.poll(), None, "the program runs")
        work.kill(15)
        done = work.wait(60)
        now = prefetch.counters(node)
        t.log(f"{done.out} {done.err} {now}")
        equal(done.code, 0, "exit code of blkverify")
        for brought, _ in WAYS.values():
            at_least(now[brought], 1, brought)
        at_least(now["prefetch_called_off"], 1, "pages that changed on their way")
        equal((now["write_errors"], now["read_errors"]), (0, 0),
              "failed page-outs and page-ins")


def test_peer_dies_going_home(t):
    """The peer dies while pages go from it home: those recorded there are right, the
    rest fail, none is wrong."""
    with tiers(t, dead_after=2) as (cluster, node, slots, _):
        bring(node, ("ram", "disk"))
        wait_for(lambda: at_tiers(node)["disk"] >= 64, 20, "some pages are at home")
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] == "dead", 20,
                 "the peer is dead")
        prefetch.choose(node, enable="off")
        there = at_tiers(node)
        t.log(f"when the peer had died: {there}")
        equal(slots.compare(), (there["disk"], 0, PAGES - there["disk"]),
              "right, wrong, unreadable")


def test_peer_dies_coming_from_flash(t):
    """The peer dies while copies come to it from flash: no page is lost."""
    with tiers(t, dead_after=2) as (cluster, node, slots, _):
        bring_all(node, ("ram", "flash"))
        prefetch.setting(node, after="copy")
        bring(node, ("flash", "ram"))
        wait_for(lambda: at_tiers(node)["ram"] >= 32, 20, "some pages are at the peer")
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] == "dead", 20,
                 "the peer is dead")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_fails(t):
    """Home or flash fails when pages come to it or leave it: they stay where they
    were, and go once it is well again."""
    with tiers(t) as (_, node, slots, disks):
        for way in (("ram", "disk"), ("disk", "flash"), ("flash", "disk")):
            for bad in {way[0], way[1]} & set(disks):
                disks[bad].fail()
                before = prefetch.counters(node)["prefetch_called_off"]
                there = at_tiers(node)
                bring(node, way)
                wait_for(lambda before=before:
                         prefetch.counters(node)["prefetch_called_off"] > before, 20,
                         f"{way} is called off without {bad}")
                prefetch.choose(node, enable="off")
                equal(at_tiers(node), there, f"pages by tier without {bad}")
                disks[bad].mend()
                equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
            bring_all(node, way)
            equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_rewritten(t):
    """A slot is written again while its page is on its way home: the page-out waits for
    that, and home never has the older page."""
    with tiers(t) as (_, node, slots, disks):
        with disks["disk"].held_up():
            bring(node, ("ram", "disk"))
            wait_for(lambda: at_tiers(node)["ram"] < PAGES, 20, "pages are on their way")
            writers = [threading.Thread(target=slots.write, args=(first, 32))
                       for first in range(1, 97, 32)]
            for writer in writers:
                writer.start()
            hold(0.3)
            prefetch.choose(node, enable="off")
        for writer in writers:
            writer.join(30)
            true(not writer.is_alive(), "a page-out ends when home has written")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        bring_all(node, ("ram", "disk"))
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
