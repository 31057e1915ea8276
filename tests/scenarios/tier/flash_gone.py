# SPDX-License-Identifier: GPL-2.0
"""Flash goes away under a program that swaps: it fails for good, or it is
pulled out.

        node0 ------ node1        node0 swaps to node1, to flash, to its home
        |   |
    flash   home

Pages with another copy are served, those that flash alone had fail, each for
itself, and all goes on without flash.
"""
import contextlib
import pathlib

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.lab import attempt, sh
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eat, eater, result_of, state_of

prefetch = sibling("prefetch")

DESCRIPTION = "flash that goes away costs the pages that it alone had"
SUITES = ("long",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 240

FLASH_MB = 24
HOME_MB = 64
HOME_AT = 512       # MiB, on the scratch disk
CONFIG = pathlib.Path("/sys/kernel/config")
MARK = "the test takes flash away"


class Pulled:
    """A disk in memory that can be pulled out while it is used."""

    def __init__(self, t, mb):
        if not (CONFIG / "nullb").exists():
            attempt("mount", "-t", "configfs", "none", str(CONFIG))
        sh("insmod", str(pathlib.Path(t.settings["kernel"]) /
                         "drivers/block/null_blk/null_blk.ko"), "nr_devices=0")
        self.folder = CONFIG / "nullb" / "pulled"
        self.folder.mkdir()
        for name, value in (("size", mb), ("blocksize", 4096),
                            ("memory_backed", 1), ("power", 1)):
            (self.folder / name).write_text(str(value))
        self.path = f"/dev/{self.folder.name}"

    def go(self):
        """It is pulled out."""
        (self.folder / "power").write_text("0")

    def remove(self):
        """The end of it."""
        self.folder.rmdir()
        sh("rmmod", "null_blk")


@contextlib.contextmanager
def failing(_):
    """Flash that fails for good: it, and what makes it fail."""
    with disk(FLASH_MB, HOME_AT) as flash:
        yield flash, flash.fail


@contextlib.contextmanager
def pulled(t):
    """Flash that is pulled out: it, and what does it."""
    flash = Pulled(t, FLASH_MB)
    try:
        yield flash, flash.go
    finally:
        flash.remove()


def said(node):
    """What the log says since flash was taken away."""
    return node.run("dmesg").out.rpartition(MARK)[2].splitlines()


@contextlib.contextmanager
def device(t, kind, lend):
    """A node with a peer, a home and a prefetcher; flash can be taken away."""
    cluster = t.cluster(2)
    cluster.up(lend=lend)
    node = cluster[0]
    with disk(HOME_MB) as home, kind(t) as (flash, go):
        dev = node.device_add(home=home.path, flash=(flash.path,))
        node.swapon(dev)
        prefetch.setting(node, period_ms=20, count="percent-used", pct=100)
        node.ctl("prefetch", "on")

        def take_away():
            node.write("/dev/kmsg", MARK)
            go()
        yield node, dev, take_away
        node.swapoff(dev)
        with Slots(dev, t.seed) as slots:
            slots.write(1, 64)
            equal(slots.compare(), (64, 0, 0), "right, wrong, unreadable")
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def copies(t, kind):
    """Peers have everything that flash has: nothing is lost."""
    with device(t, kind, "64M") as (node, _, take_away):
        release = node.cluster.scratch / "release"
        state = node.cluster.scratch / "state"
        program = node.popen(eater(node, 40, passes=1, hold=True,
                                   release=release, out=state),
                             memory_max="24M")
        wait_for(lambda: state_of(state).get("state") == "holding", 120,
                 "the program rests")
        wait_for(lambda: prefetch.counters(node)["pages_prefetched"] > 3000,
                 20, "pages are prefetched")
        seen = node.devices()[0]
        t.log(str(seen))
        at_least(seen["flash_used_slots"] - seen["slots_flash"], 2000,
                 "pages that flash and a peer have")
        take_away()
        release.write_text("")
        result = result_of(program.wait(120), codes=(0, 3))
        t.log(str(result))
        equal(result["wrong_pages"], 0, "wrong pages")
        at_most(result["failed_reads"], seen["slots_flash"],
                "unreadable pages, against those that flash alone had")


def running(t, kind):
    """Flash has what the peer has no room for: that is lost, in mid-run."""
    with device(t, kind, "8M") as (node, _, take_away):
        state = node.cluster.scratch / "state"
        program = node.popen(eater(node, 48, seconds=20, order="random",
                                   out=state), memory_max="24M")
        wait_for(lambda: node.stat()["client"]["pages_flash_in"] > 2000, 120,
                 "pages are read from flash")
        at_least(node.devices()[0]["slots_flash"], 500,
                 "pages that flash alone has")
        take_away()
        result = result_of(program.wait(120), codes=(0, 3))
        t.log(str(result))
        equal(result["wrong_pages"], 0, "wrong pages")
        at_least(result["failed_reads"], 1, "unreadable pages")
        failed = [x for x in said(node) if "page-in of" in x]
        at_least(len(failed), 1, "lines in the log about it")
        true(all("(flash) cannot read it" in x for x in failed),
             f"a page-in failed although there was a copy: {failed}")
        result = eat(node, 40, "24M", passes=1)
        equal((result["wrong_pages"], result["failed_reads"]), (0, 0),
              "wrong and unreadable pages of the next program")
        equal(node.stat()["client"]["write_errors"], 0, "failed page-outs")


def test_copies_failing(t):
    """It fails for good; every page has another copy."""
    copies(t, failing)


def test_copies_pulled(t):
    """It is pulled out; every page has another copy."""
    copies(t, pulled)


def test_running_failing(t):
    """It fails for good, and alone has pages of a running program."""
    running(t, failing)


def test_running_pulled(t):
    """It is pulled out, and alone has pages of a running program."""
    running(t, pulled)
