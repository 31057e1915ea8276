# SPDX-License-Identifier: GPL-2.0
"""The write cache of a device: what was written last is read without the network.

        node0 ------ node1 …      node0 writes, reads, frees
"""
import contextlib
import random
import threading

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import Peer
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eat

all_right = sibling("compress").all_right

DESCRIPTION = "pages written last are read from the cache, and never an older one"
SUITES = ("lab",)
LONG = ("figures", "swapped", "first_tier")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 240

CACHE = 256         # slots, of 1 MiB


def started(t, servers=1, lend="64M", **options):
    """A cluster that is up."""
    cluster = t.cluster(1 + servers)
    cluster.up(lend=lend, **options)
    return cluster


@contextlib.contextmanager
def cached(t, *args, cluster=None, size="8M", cache="1M", delay=60000, emptied=True,
           **options):
    """A client with a device that has a cache, and lenders: (cluster, client, device, slots).
    Pages stay in it for delay ms, if it has early page-outs and room. Afterwards the
    lenders hold nothing, if they are to be emptied."""
    cluster = cluster or started(t, **options)
    client = cluster[0]
    client.ctl("set", "cache_delay_ms", delay)
    dev = client.ctl("device", "add", *(("--size", size) if size else ()),
                     *(("--cache", cache) if cache else ()), *args)["device"]
    client.wait_sessions()
    with Slots(dev, t.seed) as slots:
        yield cluster, client, dev, slots
    client.device_del(dev)
    if emptied:
        wait_for(lambda: cluster.held_pages() == 0, 20,
                 "nothing is held for a device that is gone")


def state(client):
    """What the list says of the cache of the client's first device."""
    device = client.devices()[0]
    return {key.removeprefix("cache_"): value for key, value in device.items()
            if key.startswith("cache_")}


def loaded(cluster):
    """Pages read from lenders so far."""
    return sum(node.stat()["server"]["pages_loaded"] for node in cluster.nodes[1:])


def stored(cluster):
    """Pages written to lenders so far."""
    return sum(node.stat()["server"]["pages_stored"] for node in cluster.nodes[1:])


def swaps(client, size, *args):
    """A program bigger than its memory group, every page verified; what the cache did."""
    dev = client.ctl("device", "add", "--size", "192M", "--cache", size, *args)["device"]
    client.wait_sessions()
    client.swapon(dev)
    try:
        result = eat(client, 96, "48M", order="random", passes=2)
        equal(result["wrong_pages"], 0, "wrong pages")
        now = state(client)
    finally:
        client.swapoff(dev)
    client.device_del(dev)
    return now


def test_option(t):
    """What cannot be is refused in one sentence; what there is is shown."""
    client = t.cluster(1)[0]
    client.up(lend="0")
    for args, why in ((("--cache", "100"), "128 KiB"), (("--cache", "64K"), "128 KiB"),
                      (("--cache", "16M"), "larger than its device"),
                      (("--cache", "0"), "128 KiB")):
        said = client.refused("device", "add", "--size", "8M", *args)
        true(why in said, f"{args} is refused with: {said}")
    said = client.refused("device", "add", "--size", "64G", "--cache", "32G")
    true("half of this machine" in said, said)
    said = client.refused("device", "add", "--size", "8M", "--early-ack", code=2)
    true("--cache" in said, said)
    equal(client.devices(), [], "devices after that")
    for args in ((), ("--early-ack",)):
        dev = client.ctl("device", "add", "--size", "8M", "--cache", "1M", *args)
        equal((dev["cache_bytes"], dev["early_ack"]), (1 << 20, bool(args)), "its cache")
        said = client.run([client.prog("nswapctl"), "device", "list"]).check().out
        true("cache 1M" in said and ("early cache" in said) == bool(args), said)
        with open(f"/sys/block/{dev['device']}/queue/write_cache", encoding="ascii") as file:
            equal(file.read().strip(), "write back" if args else "write through",
                  "what the block layer says")
        client.device_del(dev["device"])


def test_hits(t):
    """Pages written last are read without the network, the others with it; what is used
    longest ago goes first."""
    with cached(t) as (cluster, client, _, slots):
        for first in range(1, 2 * CACHE, 16):
            slots.write(first, 16)
        equal(state(client)["used_pages"], CACHE, "pages in the cache")
        before = loaded(cluster)
        for slot in range(2 * CACHE - 15, CACHE, -1):
            true(slots.right(slot), f"slot {slot}")
        at_most(loaded(cluster) - before, 16, "pages read from the lender")
        hits = state(client)["hits"]
        at_least(hits, CACHE - 16, "hits")
        equal([slots.right(slot) for slot in (1, 2, 3)], [True] * 3, "older pages")
        at_least(loaded(cluster) - before, 3, "pages read from the lender then")
        equal(state(client)["hits"], hits, "hits then")
        equal(state(client)["dirty_pages"], 0, "dirty pages: page-outs end as without")
        # a request of which some pages are here
        equal(slots.read_run(CACHE - 16, 32),
              [slots.page(CACHE - 16 + i) for i in range(32)], "read at once")
        all_right(client, slots)


def test_rewritten(t):
    """What is rewritten is what is read; what was freed reads as zeros."""
    with cached(t) as (_, client, dev, slots):
        for turn in range(3):
            for first in range(1, CACHE, 16):
                slots.write(first + turn, 16 - turn)
            all_right(client, slots)
        client.discard(dev, "--offset", str(64 * 4096), "--length", str(64 * 4096))
        equal(set(map(any, slots.read_run(64, 32))), {False}, "freed pages that are not zeros")
        for slot in range(64, 128):
            slots.count.pop(slot, None)
        all_right(client, slots)
        slots.write(70, 8)
        all_right(client, slots)


def test_home(t):
    """With flash and a home, pages that no peer has room for."""
    with disk(8) as home, disk(4, at=8) as flash, \
            cached(t, "--home", home.path, "--flash", flash.path, "--force", size=None,
                   lend="1M") as (_, client, _, slots):
        for first in range(1, 1500, 32):
            slots.write(first, 32)
        for first in range(5, 1500, 64):
            slots.write(first, 3)
        all_right(client, slots)


def test_wrapped(t):
    """Sealed and compressed."""
    with cached(t, "--seal", "--compress", "lz4") as (_, client, _, slots):
        for turn in range(2):
            for first in range(1, 2 * CACHE, 24):
                slots.write(first, 24 - turn)
        all_right(client, slots)


def test_failed(t):
    """A page-out that fails leaves nothing in the cache; what is there is still read."""
    with cached(t, lend="2M") as (cluster, client, _, slots):
        for first in range(1, 129, 16):
            slots.write(first, 16)
        cluster.nodes[1].ctl("lend", "0")
        failed = 0
        for first in range(2048 - 512, 2048 - 32, 32):
            try:
                slots.write(first, 32)
            except OSError:
                failed += 1
                for slot in range(first, first + 32):
                    slots.count.pop(slot)
        t.log(f"{failed} writes of 32 pages failed")
        right, wrong, _ = slots.compare()
        equal(wrong, 0, "wrong pages")
        at_least(right, 128, "pages that are right")
        cluster.nodes[1].ctl("lend", "64M")


def test_overlapping(t):
    """A page is written again while a page-out of it and of another page, which waits, has
    not ended: from the end of the newer one on that is read, not the older page."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0", dead_after=60)
    peer = Peer(cluster[1], [client])
    try:
        client.ctl("set", "store_timeout_ms", "30000")
        dev = client.ctl("device", "add", "--size", "8M", "--cache", "1M")["device"]
        client.wait_sessions()
        with Slots(dev, t.seed) as slots:
            peer.store_ack = 4
            threads = [threading.Thread(target=slots.write, args=(8,))]
            threads[0].start()
            wait_for(lambda: len(peer.pages) == 1, 10, "a page whose answer is late", every=0.005)
            peer.store_ack = 0
            # slot 8 is being written: the other half waits
            threads.append(threading.Thread(target=slots.write, args=(7, 2)))
            threads[1].start()
            wait_for(lambda: len(peer.pages) == 2, 10, "the first half is there", every=0.005)
            slots.write(7)
            right = slots.right(7)
            waits = sum(thread.is_alive() for thread in threads)
            for thread in threads:
                thread.join()
            all_right(client, slots)
        client.device_del(dev)
        at_least(waits, 2, "page-outs that had not ended")
        true(right, "what was written last is read")
    finally:
        peer.close()


def pattern(kind, seed, n):
    """n slots of 1024: one after the other, at random, or at random with a few often."""
    rnd = random.Random(seed)
    if kind == "sequential":
        return [1 + i % 1024 for i in range(n)]
    if kind == "random":
        return [1 + rnd.randrange(1024) for _ in range(n)]
    return [1 + min(int(rnd.expovariate(1 / 128)), 1023) for _ in range(n)]


def test_figures(t):
    """Hit rate by size and order, of writes and reads of the same slots."""
    cluster = started(t)
    rate = {}
    for share, size in ((8, "512K"), (4, "1M"), (2, "2M"), (1, "4100K")):
        for kind in ("sequential", "random", "skewed"):
            with cached(t, cluster=cluster, cache=size) as (_, client, _, slots):
                for slot in pattern(kind, t.seed, 1024):
                    slots.write(slot)
                before = state(client)
                for slot in pattern(kind, t.seed + 1, 1024):
                    if slot in slots.count:
                        true(slots.right(slot), f"slot {slot}")
                now = state(client)
            hits = now["hits"] - before["hits"]
            reads = hits + now["misses"] - before["misses"]
            rate[kind, share] = hits / reads
            t.log(f"cache of 1/{share} of 4 MiB, {kind}: {hits} of {reads} pages read")
    for kind in ("sequential", "random", "skewed"):
        at_least(rate[kind, 1], 0.99, f"{kind}: hit rate of a cache that has all")
        at_least(rate[kind, 2], rate[kind, 8], f"{kind}: a larger cache is no worse")
    at_least(rate["skewed", 4], rate["random", 4], "hit rate where few are used often")


def test_first_tier(t):
    """Local RAM before peers, for a program that its memory group limits and the machine does
    not: its group is not charged, and fewer of its page-ins take the network."""
    cluster = started(t)
    client = cluster[0]
    took = {}
    for size in (None, "8M"):
        dev = client.ctl("device", "add", "--size", "48M",
                         *(("--cache", size) if size else ()))["device"]
        client.wait_sessions()
        before = loaded(cluster)
        client.swapon(dev)
        try:
            # in so much memory, of which none can be the cache's
            result = eat(client, 24, "12M", order="random", passes=3)
        finally:
            client.swapoff(dev)
        equal(result["wrong_pages"], 0, "wrong pages")
        took[size] = loaded(cluster) - before
        client.device_del(dev)
    t.log(f"page-ins from the lender: {took[None]} without, {took['8M']} with 8 MiB")
    # what is paged out again unchanged is not written, and not in the cache
    at_most(took["8M"], 0.9 * took[None], "page-ins from the lender, of those without")


def test_swapped(t):
    """A program bigger than its memory group, every page verified."""
    cluster = t.cluster(2)
    cluster.up(lend="160M")
    at_least(swaps(cluster[0], "16M")["hits"], 100, "pages read from the cache")
