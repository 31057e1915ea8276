# SPDX-License-Identifier: GPL-2.0
"""Dirty pages of a device's cache while peers die, fall silent or have no room, and while the
device's protection or key is changed.

        node0 ------ node1 …      node0's page-outs end early
"""
import errno
import time

from nswaptest.check import Failure, at_least, at_most, equal, true, wait_for
from nswaptest.cluster import PAGE
from nswaptest.disk import disk
from nswaptest.scenario import sibling

early_of = sibling("cache_early")
early, flush, working = early_of.early, early_of.flush, early_of.working
state, stored, all_right, CACHE = (early_of.state, early_of.stored, early_of.all_right,
                                   early_of.CACHE)

DESCRIPTION = "a page that nothing takes stays in the cache, and is sent again"
SUITES = ("lab",)
NEEDS = ("module", "progs", "tc", "dmsetup")
TIMEOUT = 240

FEW = 32


def clean(client, seconds=30):
    """Wait until nothing is dirty."""
    wait_for(lambda: not state(client)["dirty_pages"], seconds, "nothing is dirty")


def test_no_room(t):
    """No peer takes anything: page-outs that fit the cache end well, a flush fails after a
    while, and when there is room all is sent."""
    with early(t, lend="0", delay=100) as (cluster, client, dev, slots):
        client.ctl("set", "store_timeout_ms", 500)
        slots.write(1, FEW)
        wait_for(lambda: state(client)["failed"] >= FEW + 3, 30, "sending fails again and again")
        begin = time.monotonic()
        try:
            flush(dev)
            raise Failure("a flush of pages that nothing takes ended well")
        except OSError as error:
            equal(error.errno, errno.EIO, "what a flush says")
        at_most(time.monotonic() - begin, 30, "seconds that the flush took")
        equal(state(client)["dirty_pages"], FEW, "dirty pages")
        all_right(client, slots)
        cluster[1].ctl("lend", "32M")
        clean(client)
        flush(dev)
        equal(stored(cluster), FEW, "pages sent")
        all_right(client, slots)


def test_mirror(t):
    """A lender of a mirrored device dies while pages are dirty: each is on two others when
    the flush ends."""
    with early(t, "--protect", "mirror", servers=3, dead_after=2,
               emptied=False) as (cluster, client, dev, slots):
        for first in range(1, 400, 16):
            slots.write(first, 16)
        slots.write(1, FEW)
        cluster.kill(cluster[1])
        slots.write(5, FEW)
        flush(dev)
        wait_for(lambda: client.peers()[cluster[1].addr]["state"] == "dead" or
                 not client.peers()[cluster[1].addr]["slots"], 20, "it is taken for dead")
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 30, "no page is exposed")
        cluster.kill(cluster[2])
        all_right(client, slots)


def kept(client):
    """Pages that are kept in the cache, since they have too few copies."""
    return state(client)["kept_pages"]


def test_kept(t):
    """Early page-outs of a mirror that found one lender stay in the cache, whatever is written
    behind them; they are sent again when it dies, and once both have them they may go."""
    few = range(1, FEW + 1)
    with early(t, "--protect", "mirror", servers=2, dead_after=2, delay=100,
               emptied=False) as (cluster, client, dev, slots):
        cluster.kill(cluster[2])
        wait_for(lambda: client.peers()[cluster[2].addr]["state"] == "dead", 20, "it is dead")
        slots.write(1, FEW)
        clean(client)
        equal((client.devices()[0]["exposed_pages"], kept(client)), (FEW, FEW),
              "exposed pages, and pages kept")
        for first in range(100, 1000, 20):
            slots.write(first, 20)
        clean(client)
        equal(kept(client), CACHE, "pages kept, all of the cache")
        cluster.kill(cluster[1])
        for server in cluster.nodes[1:]:
            cluster.revive(server)
            server.up(lend="32M", dead_after=2)
        equal([slots.right(slot) for slot in few], [True] * FEW, "pages that were early")
        wait_for(lambda: client.peers()[cluster[1].addr]["state"] == "up", 20, "it is back")
        slots.write(100, 900)
        flush(dev)
        wait_for(lambda: not kept(client), 30, "all is sent again, with both copies")
        equal(client.stat()["swap"]["lost_pages"], 0, "lost pages")
        slots.write(1200, 2 * CACHE)
        flush(dev)
        misses = state(client)["misses"]
        equal([slots.right(slot) for slot in few], [True] * FEW, "pages read from lenders")
        at_least(state(client)["misses"], misses + FEW, "pages that were not in the cache")
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 30, "no page is exposed")
        cluster.kill(cluster[2])
        all_right(client, slots)


def test_kept_for_home(t):
    """Home refuses writes: early page-outs are kept until it has them, and are sent again, to
    the other lender, when theirs dies."""
    with disk(64) as home, \
         early(t, "--home", home.path, "--protect", "home", servers=2, dead_after=2, delay=100,
               emptied=False) as (cluster, client, dev, slots):
        home.fail()
        slots.write(1, FEW)
        clean(client)
        equal(kept(client), FEW, "pages kept")
        first, other = sorted(cluster.nodes[1:], key=lambda server: -client.peers()
                              [server.addr]["slots"])
        cluster.kill(first)
        wait_for(lambda: client.peers()[other.addr]["slots"] == FEW, 30,
                 "the other lender has them all")
        wait_for(lambda: kept(client) == FEW, 10, "they are kept again")
        home.mend()
        wait_for(lambda: not kept(client), 30, "home has them")
        cluster.kill(other)
        flush(dev)
        all_right(client, slots)


def test_kept_changes(t):
    """Pages that are kept are rewritten, freed, written through, and are kept no longer when
    the device promises no more than they have."""
    with early(t, "--protect", "parity:2+1", servers=1, delay=100) as (_, client, dev, slots):
        slots.write(1, 4 * FEW)
        clean(client)
        equal(kept(client), 4 * FEW, "pages kept with one lender")
        slots.write(1, FEW)
        early_of.write_through(dev, slots, FEW + 1)
        client.discard(dev, "-o", str((2 * FEW + 1) * PAGE), "-l", str(FEW * PAGE))
        for slot in range(2 * FEW + 1, 3 * FEW + 1):
            del slots.count[slot]
        flush(dev)
        clean(client)
        all_right(client, slots)
        equal(kept(client), 3 * FEW - 1, "pages kept when some were freed, one written through")
        client.ctl("device", "protect", dev, "none")
        wait_for(lambda: not kept(client), 10, "none is kept without protection")
        all_right(client, slots)


def test_silent(t):
    """The only lender is cut off: pages are taken in and read meanwhile, and all of them are
    at the lender when it is back."""
    with early(t, delay=100) as (cluster, client, dev, slots):
        slots.write(500, 8)
        flush(dev)
        cluster.isolate(cluster[1])
        begin = time.monotonic()
        slots.write(1, FEW)
        slots.write(500, 4)
        all_read = [slots.right(slot) for slot in (1, FEW, 500, 503)]
        at_most(time.monotonic() - begin, 1.5, "seconds without an answer of the lender")
        equal(all_read, [True] * 4, "pages read meanwhile")
        true(state(client)["dirty_pages"], "dirty pages")
        cluster.heal()
        clean(client)
        flush(dev)
        all_right(client, slots)


def test_changed(t):
    """Protection is switched on and off, and the key changed, while tasks write and verify."""
    with early(t, "--seal", servers=5, delay=200, size="16M", lend="64M") as (_, client, dev,
                                                                              slots):
        slots.write(1, 100)
        with working(t, client, dev):
            for kind in ("mirror", "none", "parity:2+1", "none"):
                client.ctl("device", "protect", dev, kind, timeout=90)
                slots.write(1, 100)
                wait_for(lambda: client.run([client.prog("nswapctl"), "device", "rekey", dev],
                                            timeout=90, check=False).code == 0, 60,
                         "the key can be changed")
        all_right(client, slots)
        flush(dev)
        equal(state(client)["dirty_pages"], 0, "dirty pages")
        all_right(client, slots)


def test_moved(t):
    """Pages move between lenders while newer ones of the same slots are dirty."""
    with early(t, servers=3) as (cluster, client, dev, slots):
        for first in range(1, 1000, 32):
            slots.write(first, 32)
        flush(dev)
        for first in range(1, 1000, 100):
            slots.write(first, 4)
        dirty = state(client)["dirty_pages"]
        at_least(dirty, FEW, "dirty pages")
        for node in cluster.nodes[1:3]:
            node.ctl("drain", timeout=90)
        all_right(client, slots)
        flush(dev)
        all_right(client, slots)


def test_rebuilt(t):
    """One request has dirty pages and pages whose peer falls silent and which are rebuilt: none
    is older than what was written last."""
    with early(t, "--protect", "parity:2+1", servers=4,
               dead_after=3) as (cluster, client, dev, slots):
        slots.write(1, 32)
        for first in range(300, 300 + CACHE, 32):
            slots.write(first, 32)
        flush(dev)
        for slot in range(1, 33, 2):
            slots.write(slot)
        for node in cluster.nodes[1:]:
            cluster.isolate(node)
            before = client.stat()["client"]["pages_rebuilt"]
            pages = slots.read_run(1, 32)
            rebuilt = client.stat()["client"]["pages_rebuilt"] - before
            wrong = [i + 1 for i, page in enumerate(pages) if page != slots.page(i + 1)]
            cluster.heal()
            client.wait_sessions()
            t.log(f"{rebuilt} pages rebuilt")
            equal(wrong, [], "slots whose page is older")
            if rebuilt:
                break
        at_least(rebuilt, 1, "pages rebuilt")
        equal(state(client)["dirty_pages"], 16, "dirty pages")
        all_right(client, slots)
