# SPDX-License-Identifier: GPL-2.0
"""The modelled flash and disk take the time they are told to, and no less.

Times are tens of milliseconds, so that what a busy machine adds is a small part.
"""
import concurrent.futures
import hashlib
import mmap
import os
import random
import statistics
import time

from nswaptest.check import at_least, at_most, equal, true
from nswaptest.modelled import Modelled, loaded

DESCRIPTION = "modelled flash and disks take their time and keep their content"
SUITES = ("lab",)
LONG = ("flash", "disk")
NEEDS = ("model-dev",)
TIMEOUT = 120

PAGE = 4096
MS = 1_000_000
MORE = 1.35         # a busy machine
TRIES = 5


class Disk:
    """Pages of one modelled device, read and written past the page cache."""

    def __init__(self, path, seed):
        self.file = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.seed = seed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)

    def content(self, page):
        """What a page must hold."""
        return hashlib.shake_128(f"{self.seed} {page}".encode()).digest(PAGE)

    def read(self, page):
        """Milliseconds of one read; the page is compared."""
        with mmap.mmap(-1, PAGE) as buffer:
            begin = time.monotonic()
            os.preadv(self.file, [buffer], page * PAGE)
            took = time.monotonic() - begin
            true(bytes(buffer) == self.content(page), f"page {page} is wrong")
        return took * 1e3

    def write(self, page):
        """Milliseconds of one write."""
        with mmap.mmap(-1, PAGE) as buffer:
            buffer[:] = self.content(page)
            begin = time.monotonic()
            os.pwritev(self.file, [buffer], page * PAGE)
            return (time.monotonic() - begin) * 1e3

    def median(self, what, pages):
        """The median of one after the other."""
        return statistics.median(what(page) for page in pages)

    def together(self, what, pages, threads):
        """Milliseconds a page with so many under way."""
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            begin = time.monotonic()
            list(pool.map(what, pages))
            return (time.monotonic() - begin) * 1e3 / len(pages)


def takes(t, what, measure, want):
    """Never less than the model says, and once not much more: other programs
    of the machine only add time."""
    for _ in range(TRIES):
        got = measure()
        t.log(f"{what}: {got:.3f} ms, the model says {want}")
        at_least(got, want * 0.999, what)
        if got <= want * MORE:
            return
    at_most(got, want * MORE, what)


def test_flash(t):
    """One read, one write, many at once, a shared bus, and other times given
    while it is used."""
    pages = range(16)
    with loaded(t.settings["modules"]["model-dev"]):
        flash = Modelled("mf0", "flash", mb=8, read_ns=32 * MS,
                         write_ns=64 * MS, channels=4, depth=16)
        with Disk(flash.path, t.seed) as disk:
            takes(t, "a write", lambda: disk.median(disk.write, pages), 64)
            takes(t, "a read", lambda: disk.median(disk.read, pages), 32)
            for threads, want in ((2, 16), (4, 8), (8, 8)):
                takes(t, f"a page of {threads} reads at once",
                      lambda n=threads: disk.together(disk.read, list(pages) * 4, n), want)
            flash.set(read_ns=48 * MS)
            takes(t, "a read after a change",
                  lambda: disk.median(disk.read, pages), 48)
            flash.set(read_ns=32 * MS, bus_read_ns=32 * MS)
            takes(t, "a read with a bus",
                  lambda: disk.median(disk.read, pages), 64)
            takes(t, "a page of 8 reads at once with a bus",
                  lambda: disk.together(disk.read, list(pages) * 4, 8), 32)


def test_disk(t):
    """Going on is quick, going elsewhere costs a seek and on average half a
    rotation."""
    pages = random.Random(t.seed).sample(range(1, 8 << 8), 64)
    with loaded(t.settings["modules"]["model-dev"]):
        model = Modelled("md0", "disk", mb=8, rotation_ns=40 * MS,
                         track_sectors=80, seek_min_ns=2 * MS,
                         seek_max_ns=10 * MS)
        with Disk(model.path, t.seed) as disk:
            for page in [*sorted(pages), *range(128)]:
                disk.write(page)
            disk.read(0)
            takes(t, "going on",
                  lambda: disk.median(disk.read, range(1, 128)), 4)
            took = [disk.read(page) for page in pages]
        mean = statistics.mean(took)
        t.log(f"random: {mean:.1f} ms, from {min(took):.1f} to {max(took):.1f}")
        at_least(min(took), 4 + 2 - 0.01, "the quickest read elsewhere, in ms")
        at_most(mean, (4 + 10 + 20) * MORE, "the mean of random reads, in ms")
        at_least(mean, 4 + 2 + 10, "the mean of random reads, in ms")


def test_refusals(t):
    """What cannot be is refused and changes nothing; an open device stays."""
    module = t.settings["modules"]["model-dev"]
    with loaded(module):
        def refused(*args, **numbers):
            try:
                Modelled(*args, **numbers)
            except OSError as error:
                t.log(f"{args} {numbers}: {error}")
                return
            true(False, f"{args} {numbers} was accepted")
        refused("mf0", "tape")
        refused("mf0", "flash", channels=0)
        refused("mf0", "flash", speed=1)
        refused("x" * 40, "flash")
        true(not os.path.exists("/dev/mf0"), "a refused device is there")
        flash = Modelled("mf0", "flash", mb=1)
        refused("mf0", "flash")
        with open(flash.path, "rb"):
            try:
                flash.remove()
                true(False, "an open device was removed")
            except OSError as error:
                equal(error.errno, 16, "errno")
        flash.remove()
        true(not os.path.exists(flash.path), "a removed device is there")
        Modelled("mf1", "flash", mb=1)
