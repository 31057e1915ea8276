# SPDX-License-Identifier: GPL-2.0
"""Early page-outs: they end when their pages are in the device's cache, and are sent later.

        node0 ------ node1 …      node0 writes, node1 counts what it is sent
"""
import contextlib
import mmap
import os
import random
import statistics
import threading
import time

from nswaptest.check import at_least, at_most, equal, wait_for
from nswaptest.cluster import PAGE
from nswaptest.scenario import sibling
from nswaptest.work import Slots

cache = sibling("cache")
cached, state, stored, all_right, CACHE = (cache.cached, cache.state, cache.stored,
                                           cache.all_right, cache.CACHE)

DESCRIPTION = "page-outs that end early are sent later, once or never, and none is lost"
SUITES = ("lab",)
LONG = ("figures", "swapped")
NEEDS = ("module", "progs", "tc")
TIMEOUT = 240

FEW = 32            # slots, fewer than have them sent at once


def early(t, *args, **options):
    """As cached(), with early page-outs."""
    return cached(t, "--early-ack", *args, **options)


def flush(dev):
    """Has all that is dirty sent, and waits for it; the seconds that took, or OSError."""
    fd = os.open(f"/dev/{dev}", os.O_RDWR)
    begin = time.monotonic()
    try:
        os.fdatasync(fd)
    finally:
        os.close(fd)
    return time.monotonic() - begin


def write_through(dev, slots, slot):
    """Write one slot so that it is not early (FUA)."""
    slots.count[slot] = slots.count.get(slot, 0) + 1
    fd = os.open(f"/dev/{dev}", os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
    try:
        with mmap.mmap(-1, PAGE) as buffer:
            buffer[:] = slots.page(slot)
            equal(os.pwrite(fd, buffer, slot * PAGE), PAGE, "bytes written")
    finally:
        os.close(fd)


def test_rewritten(t):
    """Pages that are rewritten before they are sent are sent once."""
    with early(t) as (cluster, client, dev, slots):
        for _ in range(10):
            slots.write(1, FEW)
        all_right(client, slots)
        now = state(client)
        equal((now["dirty_pages"], now["rewrites"], now["failed"]), (FEW, 9 * FEW, 0),
              "dirty pages, rewrites, failures")
        equal(stored(cluster), 0, "pages sent before the flush")
        flush(dev)
        equal(stored(cluster), FEW, "pages sent")
        equal(state(client)["dirty_pages"], 0, "dirty pages after a flush")
        all_right(client, slots)


def test_freed(t):
    """Pages that are freed before they are sent are not sent, and read as zeros."""
    with early(t) as (cluster, client, dev, slots):
        slots.write(1, FEW)
        client.discard(dev, "--offset", str(PAGE), "--length", str(FEW * PAGE))
        equal(set(map(any, slots.read_run(1, FEW))), {False}, "freed pages that are not zeros")
        flush(dev)
        now = state(client)
        equal((now["dirty_pages"], now["frees"]), (0, FEW), "dirty pages, frees")
        equal(stored(cluster), 0, "pages sent")
        slots.write(1, FEW)
        flush(dev)
        slots.write(1, FEW)
        client.discard(dev)
        flush(dev)
        equal(stored(cluster), FEW, "pages sent, of those that were flushed")
        wait_for(lambda: cluster.held_pages() == 0, 10, "the lender drops what was freed")


def test_delay(t):
    """Pages are sent when they have been there for a while, without a flush."""
    with early(t, delay=500) as (cluster, client, _, slots):
        slots.write(1, FEW)
        wait_for(lambda: not state(client)["dirty_pages"], 10, "nothing is dirty")
        equal(stored(cluster), FEW, "pages sent")
        all_right(client, slots)


def test_flush(t):
    """A flush ends when what was dirty has been taken; pages dirty since then do not hold
    it up. A page written with FUA is at the lender when it ends."""
    with early(t) as (cluster, client, dev, slots):
        for turn in range(4):
            slots.write(1, 16)
            slots.write(100 + 20 * turn, 8)
            flush(dev)
            equal(state(client)["dirty_pages"], 0, "dirty pages after a flush")
        slots.write(300, 8)
        before = stored(cluster)
        # a flush comes behind each
        write_through(dev, slots, 304)
        equal(stored(cluster) - before, 8, "pages sent by a write with FUA, and a flush")
        write_through(dev, slots, 600)
        equal(stored(cluster) - before, 9, "pages sent by two of them")
        equal(state(client)["dirty_pages"], 0, "dirty pages")
        all_right(client, slots)
        stop = threading.Event()

        def write():
            while not stop.is_set():
                slots.write(700, 8)
        thread = threading.Thread(target=write)
        thread.start()
        try:
            slowest = max(flush(dev) for _ in range(20))
        finally:
            stop.set()
            thread.join()
        t.log(f"the slowest of 20 flushes took {slowest:.3f} s")
        all_right(client, slots)


def test_full(t):
    """More than the cache has room for, to a lender that is far away: what finds no room
    goes as without a cache."""
    with early(t, cache="128K") as (cluster, client, dev, slots):
        client.run(["tc", "qdisc", "add", "dev", client.iface, "root", "netem",
                    "delay", "5ms"]).check()
        for turn in range(2):
            for first in range(1, 1500, 32):
                slots.write(first + turn, 32 - turn)
        at_least(state(client)["full"], 100, "pages that found no room")
        client.run(["tc", "qdisc", "del", "dev", client.iface, "root"]).check()
        flush(dev)
        all_right(client, slots)
        at_least(stored(cluster), 1500, "pages sent")


def busy(slots, first, last, stop, seed):
    """Writes, rewrites and reads slots at random until told to stop; wrong pages."""
    rnd = random.Random(seed)
    wrong = [0]

    def work():
        while not stop.is_set():
            nr = rnd.choice((1, 1, 4, 16))
            at = rnd.randrange(first, last - nr)
            slots.write(at, nr)
            known = [slot for slot in range(first, last) if slot in slots.count]
            wrong[0] += sum(not slots.right(rnd.choice(known)) for _ in range(4))
    thread = threading.Thread(target=work)
    thread.start()
    return thread, wrong


@contextlib.contextmanager
def working(t, client, dev, tasks=4):
    """Tasks that write and verify slots of their own, meanwhile; no page is wrong."""
    stop = threading.Event()
    with contextlib.ExitStack() as stack:
        several = [stack.enter_context(Slots(dev, t.seed + i)) for i in range(tasks)]
        began = [busy(slots, 256 * (i + 1), 256 * (i + 2), stop, t.seed + i)
                 for i, slots in enumerate(several)]
        try:
            yield
        finally:
            stop.set()
            for thread, _ in began:
                thread.join()
        equal([wrong[0] for _, wrong in began], [0] * tasks, "wrong pages of each task")
        all_right(client, *several)
        flush(dev)
        all_right(client, *several)


def test_busy(t):
    """Tasks that write, rewrite and verify, with a cache that is far too small, one that is
    large enough, and with flushes and frees all the time."""
    cluster = cache.started(t)
    for size, delay in (("128K", 0), ("1M", 0), ("8M", 50)):
        with early(t, "--seal", cluster=cluster, cache=size,
                   delay=delay) as (_, client, dev, slots):
            with working(t, client, dev):
                for _ in range(30):
                    slots.write(1, 100)
                    flush(dev)
                    client.discard(dev, "--offset", str(40 * PAGE), "--length", str(9 * PAGE))
                    for slot in range(40, 49):
                        slots.count.pop(slot, None)
            all_right(client, slots)
            t.log(f"cache of {size}: {state(client)}")


def test_deleted(t):
    """A device with dirty pages that no peer takes is deleted all the same."""
    with early(t, lend="0") as (_, client, _, slots):
        slots.write(1, FEW)
        equal(state(client)["dirty_pages"], FEW, "dirty pages")


def test_swapped(t):
    """A program bigger than its memory group, every page verified; swapoff leaves nothing."""
    cluster = t.cluster(2)
    cluster.up(lend="160M")
    client = cluster[0]
    for size in ("1M", "32M"):
        t.log(f"cache of {size}: {cache.swaps(client, size, '--early-ack')}")


def test_figures(t):
    """A page-out of one page takes less than half of the time to a lender 1 ms away."""
    cluster = cache.started(t)
    took = {}
    for args in ((), ("--early-ack",)):
        with cached(t, *args, cluster=cluster, cache="2M") as (_, client, _, slots):
            client.run(["tc", "qdisc", "add", "dev", client.iface, "root", "netem",
                        "delay", "1ms"]).check()
            each = []
            for slot in range(1, 101):
                begin = time.perf_counter()
                slots.write(slot)
                each.append(1e6 * (time.perf_counter() - begin))
            took[args] = statistics.median(each)
            client.run(["tc", "qdisc", "del", "dev", client.iface, "root"]).check()
            all_right(client, slots)
    t.log(f"median of a page-out: {took[()]:.0f} us, early {took[('--early-ack',)]:.0f} us")
    at_most(took[("--early-ack",)], took[()] / 2, "us of an early page-out")
