# SPDX-License-Identifier: GPL-2.0
"""Lone pages go to flash, and come back, without a work: the task that submits them
starts them, if flash takes them at once.

        node0 -- everything -- mf0, modelled flash with a queue of 2
"""
import contextlib
import signal

from nswaptest.check import at_least, equal, wait_for
from nswaptest.modelled import Modelled, loaded

DESCRIPTION = "lone pages are right when flash refuses, splits and freezes"
SUITES = ("lab",)
LONG = ("frozen",)
NEEDS = ("module", "model-dev", "progs")
TIMEOUT = 120

MB = 16
US = 1_000
# Each write is a freeze; with 4 KiB no run of pages fits into a request.
FREEZE = ("while :; do for kb in 4 16 128; do"
          " echo $kb > /sys/block/mf0/queue/max_sectors_kb &&"
          " echo $kb > /sys/block/{dev}/queue/max_sectors_kb || exit 1;"
          " done; echo again; done")


@contextlib.contextmanager
def everything_on_flash(t):
    """A node whose device has flash and no peer that lends; both."""
    cluster = t.cluster(1)
    cluster.up(lend="0")
    node = cluster[0]
    with loaded(t.settings["modules"]["model-dev"]):
        flash = Modelled("mf0", "flash", mb=2 * MB, read_ns=50 * US,
                         write_ns=100 * US, depth=2, channels=2)
        dev = node.device_add(f"{MB}M", flash=(flash.path,))
        yield node, dev
        node.device_del(dev)


def verify(t, node, dev, threads, max_kb):
    """Random requests; every slot is compared."""
    node.run([node.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
              "3", "--max-kb", str(max_kb), "--threads", str(threads),
              "--discards", "3", "--seed", str(t.seed)], timeout=60)


def test_crowded(t):
    """More at once than flash has requests, lone pages and requests that are
    split: every page right."""
    with everything_on_flash(t) as (node, dev):
        for threads, max_kb in ((1, 4), (4, 4), (8, 1024)):
            verify(t, node, dev, threads, max_kb)
        stat = node.stat()["client"]
        t.log(str(stat))
        for key in ("pages_flash_out", "pages_flash_in"):
            at_least(stat[key], 1000, key)
        equal(stat["write_errors"], 0, "write errors")


def test_frozen(t):
    """The same while both queues freeze and thaw all the time."""
    with everything_on_flash(t) as (node, dev):
        work = node.popen(FREEZE.format(dev=dev))
        try:
            wait_for(work.output, 20, "both queues have been frozen")
            for threads, max_kb in ((1, 4), (4, 4), (8, 1024)):
                verify(t, node, dev, threads, max_kb)
            equal(work.poll(), None, "the queues are still being frozen")
        finally:
            work.kill(signal.SIGKILL)
        times = 3 * work.wait(20).out.count("again")
        t.log(f"each was frozen {times} times")
        at_least(times, 30, "freezes of each queue")
        equal(node.stat()["client"]["write_errors"], 0, "write errors")
