# SPDX-License-Identifier: GPL-2.0
"""Pages brought back to an owner with flash: they go there before home.

        node0 ------ node1     node0 owns the pages and has flash, some tests
        |   |                  a home as well; node1 gives its RAM back
    flash   home
"""
import contextlib

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of

writeback = sibling("writeback")
prefetch = sibling("prefetch")

DESCRIPTION = "pages that no peer has room for go back to flash before home"
SUITES = ("lab",)
LONG = ("no_home", "copy", "errors", "held_up", "any_request", "cuts", "swap")
NEEDS = ("module", "inject", "progs", "dmsetup")
TIMEOUT = 200

MIB = 256           # slots
HOME_AT = 512       # MiB, on the scratch disk


@contextlib.contextmanager
def device(t, flash_mb, home=64, size="32M", inject=False):
    """An owner's device with flash, and a server."""
    cluster, client, server = writeback.start(t, inject=inject)
    with contextlib.ExitStack() as stack:
        flash = stack.enter_context(disk(flash_mb))
        backing = {"flash": (flash.path,)}
        if home:
            backing["home"] = stack.enter_context(disk(home, HOME_AT)).path
        dev = client.device_add(size, **backing)
        yield cluster, client, server, dev, flash
        writeback.settled(cluster, client)
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def places(client, dev):
    """Slots at peers, on flash and at home."""
    seen = writeback.device(client, dev)
    return seen["slots_remote"], seen["slots_flash"], seen["slots_home"]


def tight(client, dev, pages):
    """Flash has these pages and no other."""
    seen = writeback.device(client, dev)
    equal((seen["slots_flash"], seen["flash_used_slots"]), (pages, pages),
          "slots on flash and flash slots that are used")


def test_ranked(t):
    """Flash is filled first, what is over goes home; then all is freed."""
    with device(t, 4) as (_, client, server, dev, _):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            writeback.give_back(server)
            equal(places(client, dev), (0, 4 * MIB, pages - 4 * MIB),
                  "slots at peers, on flash and at home")
            tight(client, dev, 4 * MIB)
            equal(client.stat()["client"]["pages_returned"], pages,
                  "pages the owner has taken")
            writeback.all_right(slots)
        client.discard(dev)
        tight(client, dev, 0)


def test_no_home(t):
    """Flash alone: what it has room for goes there, the rest is refused and
    stays at the server until there is room again."""
    with device(t, 4, home=0) as (_, client, server, dev, _):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            server.ctl("lend", "0")
            wait_for(lambda: writeback.held(server) == pages - 4 * MIB, 40,
                     "flash is full, the others stay")
            tight(client, dev, 4 * MIB)
            writeback.all_right(slots)
            on_flash = 3 * MIB
            client.discard(dev, "-l", str(on_flash << 12))
            for slot in range(1, on_flash):
                slots.count.pop(slot, None)
            writeback.all_right(slots)
            wait_for(lambda: writeback.held(server) < pages - 4 * MIB, 40,
                     "more pages have come")
            writeback.all_right(slots)


def test_copy(t):
    """Pages that flash has already are dropped by the server and not written
    again."""
    with device(t, 16, home=0) as (_, client, server, dev, _):
        with Slots(dev, t.seed) as slots:
            for first in range(1, 513, 32):
                slots.write(first, 32)
            prefetch.setting(client, period_ms=20)
            prefetch.prefetch_all(client, 512)
            written = client.stat()["client"]["pages_prefetched"]
            writeback.give_back(server)
            equal(places(client, dev), (0, 512, 0),
                  "slots at peers, on flash and at home")
            tight(client, dev, 512)
            equal(client.stat()["client"]["pages_prefetched"], written,
                  "pages brought to flash by the prefetcher")
            writeback.all_right(slots)


def test_errors(t):
    """Flash that fails, all of it or in the middle: its pages go home in the
    same breath, and every page is right."""
    with device(t, 16) as (_, client, server, dev, flash):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            flash.fail(slots=range(100, 16 * MIB, 300))
            server.ctl("lend", "0")
            wait_for(lambda: places(client, dev)[1] > 300, 20,
                     "some pages are on flash")
            flash.fail()
            wait_for(lambda: writeback.held(server) == 0, 40,
                     "its cache is empty")
            remote, on_flash, at_home = places(client, dev)
            t.log(f"{on_flash} on flash, {at_home} at home")
            equal((remote, on_flash + at_home), (0, pages),
                  "slots at peers, slots on flash or at home")
            at_least(at_home, 32, "slots at home")
            flash.mend()
            writeback.all_right(slots)
            tight(client, dev, on_flash)
        equal(client.stat()["client"]["returns_failed"], 0, "failed returns")


def test_held_up(t):
    """While pages are on their way to flash, page-ins get them from the
    server and frees are not held up; what was freed is not on flash."""
    with device(t, 16, home=0) as (_, client, server, dev, flash):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            with flash.held_up():
                server.ctl("lend", "0")
                wait_for(lambda: places(client, dev)[0] == pages - 128, 20,
                         "four batches are on their way")
                true(all(slots.right(n) for n in range(1, 129)),
                     "pages read meanwhile")
                client.discard(dev, "-o", str(4 << 12), "-l", str(4 << 12))
                for slot in range(4, 8):
                    del slots.count[slot]
            wait_for(lambda: writeback.held(server) == 0, 40,
                     "its cache is empty")
            equal(client.stat()["client"]["moves_met"], 4,
                  "pages freed on their way")
            tight(client, dev, pages - 4)
            writeback.all_right(slots)


def test_any_request(t):
    """Random page-outs, page-ins and discards meet the pages on their way to
    little flash and home."""
    with device(t, 4, size="16M") as (_, client, server, dev, _):
        work = writeback.verify(client, dev, t, 12)
        turns = writeback.toggle(server, work)
        result_of(work.wait(60))
        stat = client.stat()["client"]
        t.log(f"{turns} turns, returned {stat['pages_returned']}, met a "
              f"change {stat['moves_met']}, {places(client, dev)}")
        at_least(stat["pages_returned"], 1000, "pages brought back")
        equal((stat["read_errors"], stat["write_errors"]), (0, 0), "errors")
        tight(client, dev, places(client, dev)[1])


def test_cuts(t):
    """Connections cut before the owner's answer: pages brought back twice do
    no harm, and no flash slot is left behind."""
    with device(t, 16, home=0, inject=True) as (_, client, server, dev, _):
        with Slots(dev, t.seed) as slots:
            for first in range(1, 1025, 32):
                slots.write(first, 32)
            client.inject(seed=t.seed, cut_ack=4)
            server.ctl("lend", "0")
            for left in range(992, -1, -32):
                wait_for(lambda n=left: writeback.held(server) <= n, 20,
                         f"no more than {left} pages are left")
            client.inject(cut_ack=0)
            equal(client.stat()["client"]["pages_returned"], len(slots.count),
                  "pages taken, each once")
            tight(client, dev, len(slots.count))
            writeback.all_right(slots)


def test_swap(t):
    """A program swaps while its pages are brought back under it."""
    with device(t, 16, home=128, size="96M") as (_, client, server, dev, _):
        client.swapon(dev)
        server.ctl("lend", "96M")
        eating = client.popen(eater(client, 40, passes=2, order="random",
                                    seed=t.seed), memory_max="20M")
        for turn in range(3):
            wait_for(lambda: writeback.held(server) > 1000 or
                     eating.poll() is not None, 60, "the program swaps")
            writeback.give_back(server, f"turn {turn}: the cache is empty")
            server.ctl("lend", "96M")
        equal(result_of(eating.wait(200))["wrong_pages"], 0, "wrong pages")
        client.swapoff(dev)
        stat = client.stat()["client"]
        t.log(f"returned {stat['pages_returned']}")
        at_least(stat["pages_returned"], 1000, "pages brought back")
        equal((stat["read_errors"], stat["returns_failed"]), (0, 0),
              "failed reads, failed returns")
