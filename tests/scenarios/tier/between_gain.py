# SPDX-License-Identifier: GPL-2.0
"""What prefetching between two tiers gains against not having it, in one run each.

        node0 ------ node1      flash answers after FLASH_MS, the home after
        |   |                   DISK_MS, node1 at once
    flash   home

A program reads hot pages one after the other, by chance, and writes them now and
then; the prefetcher begins when it does, so what moving costs counts too.
"""
import contextlib
import random
import time

from nswaptest.check import at_least, equal, wait_for
from nswaptest.disk import SCRATCH, disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

between = sibling("between")
prefetch = between.prefetch

DESCRIPTION = "what prefetching between two tiers gains"
SUITES = ("lab",)
LONG = ("towards", "room_at_peers", "room_on_flash")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 500

HOME_MB, HOME_AT = 16, 64
FLASH_MS, DISK_MS = 10, 40      # a jiffy of the lab's kernel is 10 ms
HOT = 64                        # pages
READS = 1024            # in all, where room is made
NEARER = 384            # where hot pages are brought nearer
COLD = 992                      # pages, of the 1024 that the tier they fill takes
PEER_PAGES = 1024


def slow(one, ms):
    """Make a disk answer after so long."""
    where = f"{SCRATCH} {one.at}"
    one.become(f"0 {one.sectors} delay {where} {ms} {where} {ms}")


@contextlib.contextmanager
def device(t, flash_mb=None, lend="64M"):
    """A node with a peer and a device; its slots."""
    cluster = t.cluster(2)
    cluster.up(lend=lend)
    node = cluster[0]
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(disk(HOME_MB))
        flash = stack.enter_context(disk(flash_mb, HOME_AT)) if flash_mb else None
        dev = node.device_add(home=home.path, flash=(flash.path,) if flash else ())
        node.ctl("set", "home_out_mib_s", "0")
        with Slots(dev, t.seed) as slots:
            yield cluster, node, slots, home, flash
        node.device_del(dev)


def read_hot(slots, hot, seed, count):
    """Seconds of so many reads, by chance."""
    order = random.Random(seed)
    began = time.monotonic()
    for _ in range(count):
        equal(slots.right(order.choice(hot)), True, "a page is right")
    return time.monotonic() - began


def on_way(node, way, **how):
    """The prefetcher begins on a way."""
    prefetch.setting(node, period_ms=50, **how)
    between.bring(node, way)


def told(t, way, took, reads):
    """Write down what a way gained."""
    gain = took["without"] / took["with"]
    t.log(f"{' to '.join(way)}: {reads} reads take {took['without']:.2f} s without, "
          f"{took['with']:.2f} s with it: {gain:.2f}")
    return gain


def gather(node, tier, pages):
    """All pages are brought to a tier."""
    prefetch.setting(node, when="always", count="percent-used", pct=100, which="rr",
                     after="move", period_ms=20)
    for source in between.STATE:
        there = between.at_tiers(node)
        if source != tier and there[source]:
            between.bring_all(node, (source, tier), there[source] + there[tier])
    equal(between.at_tiers(node)[tier], pages, f"pages at {tier}")


def test_towards(t):
    """Pages that are read again and again are brought nearer: from disk to flash and to
    peers, from flash to peers, by a move or a copy."""
    with device(t, flash_mb=HOME_MB) as (_, node, slots, home, flash):
        slots.write(1, HOT // 2)
        slots.write(1 + HOT // 2, HOT // 2)
        node.ctl("policy", "read", "fastest")
        for way, after in ((("disk", "flash"), "move"), (("disk", "ram"), "move"),
                           (("flash", "ram"), "move"), (("flash", "ram"), "copy")):
            took = {}
            for how in ("without", "with"):
                flash.mend()
                home.mend()
                gather(node, way[0], HOT)
                slow(flash, FLASH_MS)
                slow(home, DISK_MS)
                if how == "with":
                    on_way(node, way, pct=25, which="mrs", after=after)
                took[how] = read_hot(slots, range(1, HOT + 1), t.seed, NEARER)
                node.ctl("prefetch", "off")
            at_least(told(t, (*way, after), took, NEARER), 1.5, f"gain of {way}, {after}")
        equal(slots.compare(), (HOT, 0, 0), "right, wrong, unreadable")


def use_hot(node, slots, seed, bring):
    """Seconds of a program's hot pages after the cold ones have filled what is fast."""
    for first in range(HOT + 1, HOT + 1 + COLD, 32):
        slots.write(first, 32)
    if bring:
        on_way(node, bring, when="full", count="percent-used", pct=25, which="lrs")
    began = time.monotonic()
    for _ in range(8):
        slots.write(1, HOT // 2)
        slots.write(1 + HOT // 2, HOT // 2)
        read_hot(slots, range(1, HOT + 1), seed, READS // 8)
    seconds = time.monotonic() - began
    node.ctl("prefetch", "off")
    equal(slots.compare(), (HOT + COLD, 0, 0), "right, wrong, unreadable")
    return seconds


def make_room(t, way, **how):
    """Pages that are not read leave one tier for disk, so that hot ones find room."""
    took = {}
    with device(t, **how) as (_, node, slots, home, flash):
        if flash:
            slow(flash, FLASH_MS)
        slow(home, DISK_MS)
        for name, bring in (("without", None), ("with", way)):
            took[name] = use_hot(node, slots, t.seed, bring)
            node.discard(node.devices()[0]["device"])
            wait_for(lambda: not sum(between.at_tiers(node).values()), 20,
                     "nothing is out")
            slots.count.clear()
    at_least(told(t, way, took, READS), 1.2, f"gain of {way}")


def test_room_at_peers(t):
    """From peers to disk."""
    make_room(t, ("ram", "disk"), lend=f"{PEER_PAGES * 4}K")


def test_room_on_flash(t):
    """From flash to disk."""
    make_room(t, ("flash", "disk"), flash_mb=4, lend="0")
