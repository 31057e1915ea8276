# SPDX-License-Identifier: GPL-2.0
"""A user says where pages are to be: at peers, on flash or at home.

        node0 ------ node1      node0 has a device with flash and a home, both
        |   |                   mappings of the scratch disk, whose errors the
    flash   home                test decides; node1 lends
"""
import contextlib
import errno
import fcntl
import itertools
import json
import os
import struct
import threading

from nswaptest.check import Unmet, at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import SCRATCH, disk
from nswaptest.scenario import sibling

between = sibling("between")
prefetch = sibling("prefetch")

DESCRIPTION = "pages are placed on a tier by the user, and none is lost"
SUITES = ("lab",)
CPUS = 2
LONG = ("at_once", "load", "peer_killed", "peer_silent")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 400

PAGES = between.PAGES
SLOTS = between.SIZE_MB << 8
SLOW_MS = 5         # of each read and write of a disk
TURNS = 3           # around all tiers, under load
TIER = {"ram": "ram", "flash": "flash", "home": "disk"}
# every pair, one after the other, from peers back to peers
ROUND = ("flash", "home", "ram", "home", "flash", "ram")
PLACE = 3 << 30 | 64 << 16 | 0xf7 << 8 | 1
FIELDS = "=QQIIQQQQQ"


def command(node, to, *args):
    """The command line that places the pages of the device."""
    return [node.prog("nswapctl"), "--json", "device", "place",
            node.devices()[0]["device"], "--to", to, *args]


def place(node, to, *args):
    """Place pages: how many moved, were there, are elsewhere. The exit code says whether
    some are."""
    done = node.run(command(node, to, *args), timeout=120, check=False)
    true(done.out.strip(), f"'{done.cmd}' ended with {done.code}: {done.err.strip()}")
    said = json.loads(done.out)
    equal(done.code, int(said["pages_left"] > 0), "exit code")
    return said["pages_moved"], said["pages_there"], said["pages_left"]


def all_at(to):
    """What between.at_tiers() says if all pages are there."""
    return {tier: PAGES * (tier == TIER[to]) for tier in between.STATE}


def right(slots, what="right, wrong, unreadable"):
    """All pages are."""
    equal(slots.compare(), (len(slots.count), 0, 0), what)


def slow(one):
    """A disk takes a moment for each request."""
    where = f"{SCRATCH} {one.at}"
    one.become(f"0 {one.sectors} delay {where} {SLOW_MS} {where} {SLOW_MS}")


def test_each_way(t):
    """All pages go from each tier to each other one: they are there and nowhere else, right,
    and counted as placed and not as prefetched; a second time there is nothing to do."""
    with between.tiers(t) as (cluster, node, slots, _):
        for to in ROUND:
            before = prefetch.counters(node)
            equal(place(node, to), (PAGES, 0, 0), f"moved, there, elsewhere, to {to}")
            now = prefetch.counters(node)
            equal(between.at_tiers(node), all_at(to), f"pages by tier, placed on {to}")
            equal({one: now[f"brought_{one}"] - before[f"brought_{one}"] for one in TIER},
                  {one: PAGES * (one == to) for one in TIER}, f"pages counted, to {to}")
            for brought, hits in between.WAYS.values():
                equal((now[brought], now[hits]), (0, 0), f"{brought} and {hits}")
            held = PAGES * (to == "ram")
            wait_for(lambda held=held: cluster.held_pages() == held, 10,
                     f"the peer holds {held} pages, placed on {to}")
            right(slots, f"right, wrong, unreadable, placed on {to}")
            equal(place(node, to), (0, PAGES, 0), f"moved, there, elsewhere, again to {to}")
        equal(prefetch.counters(node)["write_errors"], 0, "failed page-outs")


def test_part(t):
    """Only pages of the part that is named go."""
    with between.tiers(t) as (_, node, slots, _disks):
        equal(place(node, "home", "--offset", "128K", "--length", "256K"), (64, 0, 0),
              "moved, there, elsewhere")
        equal(between.at_tiers(node), {"ram": PAGES - 64, "flash": 0, "disk": 64},
              "pages by tier")
        equal(place(node, "home", "--offset", "124K", "--length", "8K"), (1, 1, 0),
              "moved, there, elsewhere, around the begin of it")
        right(slots)


def test_peers_gone(t):
    """What was placed at home is readable when all peers are dead."""
    with between.tiers(t, dead_after=2) as (cluster, node, slots, _):
        equal(place(node, "home"), (PAGES, 0, 0), "moved, there, elsewhere")
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] == "dead", 20,
                 "the peer is dead")
        right(slots)


def test_stays(t):
    """What was placed at home stays there while other pages move out, until it is written
    again."""
    with between.tiers(t) as (_, node, slots, _disks):
        between.bring_all(node, ("ram", "disk"))
        half = PAGES // 2
        # from slot 0 on, which is the header
        equal(place(node, "home", "--length", f"{(half + 1) * 4}K"), (0, half, 0),
              "moved, there, elsewhere")
        node.ctl("set", "home_out_mib_s", "64")

        def moved_out():
            for slot in range(half + 1, half + 33):
                true(slots.right(slot), f"slot {slot} is right")
            return between.at_tiers(node)["ram"] >= half
        wait_for(moved_out, 30, "pages that were not placed move out")
        for _ in range(5):
            right(slots)
            hold(0.2)
        equal(between.at_tiers(node)["disk"], half, "pages that stay where they were placed")
        slots.write(1, 32)
        equal(between.at_tiers(node)["disk"], half - 32, "those that were not written since")
        equal(place(node, "ram"), (half - 32, half + 32, 0), "moved, there, elsewhere")
        right(slots)


@contextlib.contextmanager
def load(t):
    """A program writes, reads and frees slots of a device with slow disks, and finds every
    page right; its node, the program, and the counters of the node in the end."""
    with between.tiers(t, size_mb=4, pages=0) as (_, node, _slots, disks):
        dev, now = node.devices()[0]["device"], {}
        for one in disks.values():
            slow(one)
        work = node.popen([node.prog("blkverify"), "--device", f"/dev/{dev}",
                           "--seconds", "600", "--fresh", "--max-kb", "16",
                           "--threads", "4", "--discards", "3", "--seed", str(t.seed)])
        wait_for(lambda: between.at_tiers(node)["ram"] >= 64, 20, "pages are at the peer")
        yield node, work, now
        work.kill(15)
        done = work.wait(60)
        now.update(prefetch.counters(node))
        t.log(f"{done.out} {done.err} {now}")
        equal(done.code, 0, "exit code of blkverify")
        equal((now["write_errors"], now["read_errors"]), (0, 0),
              "failed page-outs and page-ins")


def test_load(t):
    """Pages are placed on each tier while a program uses them."""
    with load(t) as (node, work, now):
        left = 0
        for to in ROUND * TURNS:
            left += place(node, to)[2]
            equal(work.poll(), None, "the program runs")
    t.log(f"{left} pages did not go")
    for to in TIER:
        at_least(now[f"brought_{to}"], 1, f"pages placed on {to}")


def test_at_once(t):
    """Two place the same pages on two tiers at once, while the prefetcher brings them to
    one, protection by home comes and goes, and a program uses them."""
    with load(t) as (node, work, now):
        dev = node.devices()[0]["device"]
        ways = itertools.cycle(between.WAYS)
        for turn in range(TURNS):
            for pair in itertools.permutations(TIER, 2):
                between.bring(node, next(ways))
                placing = [node.popen(command(node, to)) for to in pair]
                node.ctl("device", "protect", dev, "none" if turn % 2 else "home",
                         "--no-wait")
                for one in placing:
                    done = one.wait(120)
                    true(done.code in (0, 1) and done.out.strip(), f"it ends: {done.err}")
                equal(work.poll(), None, "the program runs")
        prefetch.choose(node, enable="off")
        node.ctl("device", "protect", dev, "none")
    for to in TIER:
        at_least(now[f"brought_{to}"], 1, f"pages placed on {to}")


def test_copies(t):
    """Flash has copies of pages that the peer holds too, and fails: pages placed elsewhere
    are read from the peer, and none is placed on flash."""
    with between.tiers(t) as (cluster, node, slots, disks):
        between.bring_all(node, ("ram", "flash"))
        prefetch.setting(node, after="copy")
        between.bring_all(node, ("flash", "ram"))
        equal(node.devices()[0]["flash_used_slots"], PAGES, "copies on flash")
        disks["flash"].fail()
        equal(place(node, "flash"), (0, 0, PAGES), "moved, there, elsewhere, to flash")
        equal(between.at_tiers(node), all_at("ram"), "pages by tier")
        right(slots, "right, wrong, unreadable, not placed on flash")
        equal(place(node, "home"), (PAGES, 0, 0), "moved, there, elsewhere, to home")
        right(slots, "right, wrong, unreadable, placed at home")
        disks["flash"].mend()
        equal(node.devices()[0]["flash_used_slots"], 0, "copies left on flash")
        wait_for(lambda: cluster.held_pages() == 0, 10, "the peer holds nothing")


def test_full_of_copies(t):
    """Copies on flash of pages that the peer holds too make room for those that a user
    wants there."""
    pages = SLOTS - 32
    with between.tiers(t, pages=pages) as (_, node, slots, _disks):
        prefetch.setting(node, after="copy")
        between.bring(node, ("ram", "flash"))
        # an eighth is left to page-outs
        full = SLOTS // 8 * 7 - 64
        wait_for(lambda: node.devices()[0]["flash_used_slots"] >= full, 30,
                 "flash is full of copies")
        prefetch.choose(node, enable="off")
        before = prefetch.counters(node)["copies_evicted"]
        first = pages - PAGES
        equal(place(node, "flash", "--offset", f"{first * 4}K", "--length", "2M"),
              (PAGES, 0, 0), "moved, there, elsewhere")
        at_least(prefetch.counters(node)["copies_evicted"], before + 1, "copies evicted")
        right(slots)


def test_rewritten(t):
    """A slot is written again while its page is on its way home: the page-out waits for
    that, and home never has the older page."""
    with between.tiers(t) as (_, node, slots, disks):
        with disks["disk"].held_up():
            placing = node.popen(command(node, "home"))
            wait_for(lambda: between.at_tiers(node)["ram"] < PAGES, 20,
                     "pages are on their way")
            writers = [threading.Thread(target=slots.write, args=(first, 32))
                       for first in range(1, 97, 32)]
            for writer in writers:
                writer.start()
            hold(0.3)
        for writer in writers:
            writer.join(30)
            true(not writer.is_alive(), "a page-out ends when home has written")
        done = placing.wait(60)
        true(done.code in (0, 1) and done.out.strip(), f"it ends: {done.err}")
        right(slots)
        equal(place(node, "home")[2], 0, "pages elsewhere, when asked again")
        equal(place(node, "home"), (0, PAGES, 0), "moved, there, elsewhere, in the end")
        right(slots)


def test_peer_silent(t):
    """A silent peer holds pages up, and costs none."""
    with between.tiers(t, dead_after=60) as (cluster, node, slots, _):
        cluster.cut(node, cluster[1])
        placing = node.popen(command(node, "home"))
        hold(2)
        equal(placing.poll(), None, "it waits for the peer")
        equal(between.at_tiers(node)["disk"], 0, "pages at home")
        cluster.heal(node, cluster[1])
        done = placing.wait(120)
        true(done.code in (0, 1), f"it ends: {done.err}")
        place(node, "home")
        equal(between.at_tiers(node), all_at("home"), "pages by tier")
        right(slots)


def test_peer_killed(t):
    """The peer dies while pages go from it home: those recorded there are right, the rest
    fail, none is wrong."""
    with between.tiers(t, dead_after=2) as (cluster, node, slots, disks):
        slow(disks["disk"])
        placing = node.popen(command(node, "home"))
        wait_for(lambda: between.at_tiers(node)["disk"] >= 64, 20, "some pages are at home")
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] == "dead", 20,
                 "the peer is dead")
        said = json.loads(placing.wait(120).out)
        there = between.at_tiers(node)["disk"]
        t.log(f"{there} pages are at home: {said}")
        equal((said["pages_moved"], said["pages_left"]), (there, PAGES - there),
              "moved, elsewhere")
        equal(slots.compare(), (there, 0, PAGES - there), "right, wrong, unreadable")


def test_fails(t):
    """Home or flash fails: pages stay where they were, and go once it is well again."""
    with between.tiers(t) as (_, node, slots, disks):
        for to, bad in (("home", "disk"), ("flash", "flash"), ("ram", "flash")):
            there = between.at_tiers(node)
            disks[bad].fail()
            equal(place(node, to), (0, 0, PAGES), f"moved, there, elsewhere, to {to}")
            disks[bad].mend()
            equal(between.at_tiers(node), there, f"pages by tier, not placed on {to}")
            right(slots)
            # flash that failed is not used for a second
            wait_for(lambda to=to: not place(node, to)[2], 20, f"pages go to {to}")
            equal(between.at_tiers(node), all_at(to), f"pages by tier, placed on {to}")
            right(slots)


def test_no_room(t):
    """Peers get no more pages than they have room for; the rest stays at home."""
    pages = SLOTS - 32
    with between.tiers(t, pages=pages) as (cluster, node, slots, _):
        equal(place(node, "home"), (pages, 0, 0), "moved, there, elsewhere")
        wait_for(lambda: cluster.held_pages() == 0, 10, "the peer holds nothing")
        cluster[1].ctl("lend", f"{SLOTS // 2 * 4}K")
        moved, there, left = place(node, "ram")
        equal((there, moved + left), (0, pages), "there, of all")
        true(0 < moved <= SLOTS // 2, f"{moved} went where {SLOTS // 2} have room")
        equal(between.at_tiers(node), {"ram": moved, "flash": 0, "disk": left},
              "pages by tier")
        right(slots)


def test_interrupted(t):
    """A signal ends it; what has moved is there, the rest where it was."""
    with between.tiers(t) as (_, node, slots, disks):
        slow(disks["disk"])
        placing = node.popen(command(node, "home"))
        wait_for(lambda: between.at_tiers(node)["disk"] >= 32, 20, "some pages are at home")
        placing.kill(2)
        code = placing.wait(10).code
        if code == 0:
            raise Unmet("all had moved before the signal")
        equal(code, -2, "how it ended")
        at = between.at_tiers(node)
        equal((at["ram"] + at["disk"], at["flash"]), (PAGES, 0), "at two tiers, on flash")
        at_most(at["disk"], PAGES - 1, "pages that have moved")
        right(slots)


def asked(dev, fields, mode=os.O_RDWR, user=None):
    """The errno of one request, 0 if it succeeds, in a process of its own as that user."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 255
    with contextlib.suppress(BaseException):
        file = os.open(f"/dev/{dev}", mode)
        if user:
            os.setuid(user)
        try:
            fcntl.ioctl(file, PLACE, bytearray(struct.pack(FIELDS, *fields)))
            code = 0
        except OSError as why:
            code = why.errno
    os._exit(code)


def test_refused(t):
    """What makes no sense is refused, and nothing has moved."""
    with between.tiers(t) as (_, node, slots, _disks):
        dev = node.devices()[0]["device"]
        size, out = SLOTS * 4096, (0, 0, 0, 0, 0)
        for what in ((1, 4096, 2, 0, *out), (0, 4097, 2, 0, *out), (0, 0, 2, 0, *out),
                     (size, 4096, 2, 0, *out), (4096, size, 2, 0, *out),
                     (4096, 2**64 - 4096, 2, 0, *out), (0, size, 3, 0, *out),
                     (0, size, 2**32 - 1, 0, *out), (0, size, 2, 1, *out),
                     (0, size, 2, 0, 1, 0, 0, 0, 0), (0, size, 2, 0, 0, 0, 0, 0, 1)):
            equal(asked(dev, what), errno.EINVAL, f"errno of {what}")
        equal(asked(dev, (0, size, 2, 0, *out), os.O_RDONLY, 65534), errno.EPERM,
              "errno without the right")
        for args, code in ((("--to", "tape"), 2), ((), 2), (("--to", "home", "--length", "0"), 2),
                           (("--to", "home", "--offset", "1K"), 2),
                           (("--to", "home", "--offset", "16M"), 1),
                           (("--to", "home", "--length", "17M"), 1)):
            node.refused("device", "place", dev, *args, code=code)
        node.refused("device", "place", "nswap77", "--to", "home")
        equal(between.at_tiers(node), all_at("ram"), "pages by tier")
        equal(asked(dev, (0, size, 2, 0, *out), os.O_RDWR, 65534), 0,
              "errno of who has it open for writing")
        equal(between.at_tiers(node), all_at("home"), "pages by tier, in the end")
        right(slots)


def test_no_tier(t):
    """A device without flash or home says so, and one that parity protects."""
    cluster = t.cluster(4)
    cluster.up(lend="64M")
    node = cluster[0]
    dev = node.device_add("16M")
    for tier in ("flash", "home"):
        true(f"has no {tier}" in node.refused("device", "place", dev, "--to", tier),
             f"what it lacks is named: {tier}")
    for tier in (1, 2):
        equal(asked(dev, (0, 4096, tier, 0, 0, 0, 0, 0, 0)), errno.ENODEV,
              f"errno for tier {tier}")
    node.ctl("device", "protect", dev, "parity:2+1")
    true("parity" in node.refused("device", "place", dev, "--to", "ram"),
         "parity is named")
    equal(asked(dev, (0, 4096, 0, 0, 0, 0, 0, 0, 0)), errno.EOPNOTSUPP, "errno with parity")
    node.device_del(dev)


def test_protected(t):
    """With a mirror, and with home's copies, no page is lost when a peer dies afterwards."""
    cluster = t.cluster(3)
    cluster.up(lend="64M", dead_after=2)
    node = cluster[0]
    with disk(between.SIZE_MB) as home:
        dev = node.device_add(home=home.path)
        with between.Slots(dev, t.seed) as slots:
            for kind in ("mirror", "home"):
                node.ctl("device", "protect", dev, kind)
                for first in range(1, PAGES, 32):
                    slots.write(first, 32)
                for to in ("home", "ram"):
                    equal(place(node, to), (PAGES, 0, 0), f"moved, there, elsewhere, {kind}")
                    # while a second copy is made, a page is at no tier
                    wait_for(lambda: between.at_tiers(node) == all_at(to), 10,
                             f"pages by tier, {kind}, are {all_at(to)}")
                    right(slots, f"right, wrong, unreadable, {kind}, to {to}")
                    if to == "home":
                        wait_for(lambda: cluster.held_pages() == 0, 10,
                                 "no peer holds a page, nor a copy")
            wait_for(lambda: not node.devices()[0]["exposed_pages"], 30,
                     "no page is exposed")
            cluster.kill(cluster[1])
            wait_for(lambda: node.peers()[cluster[1].addr]["state"] == "dead", 20,
                     "the peer is dead")
            right(slots, "right, wrong, unreadable without the peer")
        node.device_del(dev)


KINDS = {
    "sealed": ("--seal",),
    "lz4": ("--compress", "lz4"),
    "zstd, sealed": ("--compress", "zstd", "--seal"),
    "cache": ("--cache", "1M"),
    "early": ("--cache", "1M", "--early-ack"),
}


def test_kinds(t):
    """Sealed, compressed and cached pages are placed as others are, and those that are in
    the write cache only are sent first."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    node = cluster[0]
    with disk(between.SIZE_MB) as home, disk(between.SIZE_MB, between.HOME_AT) as flash:
        for kind, args in KINDS.items():
            dev = node.ctl("device", "add", "--home", home.path, "--flash", flash.path,
                           "--force", *args)["device"]
            node.wait_sessions()
            with between.Slots(dev, t.seed, "mixed") as slots:
                for to in ROUND:
                    for first in range(1, PAGES, 32):
                        slots.write(first, 32)
                    moved, there, left = place(node, to)
                    equal((moved + there, left), (PAGES, 0),
                          f"there, elsewhere, {kind}, to {to}")
                    equal(between.at_tiers(node), all_at(to),
                          f"pages by tier, {kind}, placed on {to}")
                    right(slots, f"right, wrong, unreadable, {kind}, to {to}")
            node.device_del(dev)
