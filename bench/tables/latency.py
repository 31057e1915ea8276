# SPDX-License-Identifier: GPL-2.0
"""What a page read or written takes, one at a time: the Anemone slides' early
acknowledgement and latency distributions.

  R-S13                    a write on network RAM, without and with early acknowledgement
  R-S16 R-S17 R-S18 R-S19  reads and writes, in order and at random, on each device

The slides have 100 000 requests to 400 000 blocks of 4 KB and a cache of 16 MB; all three
are a 16th here.  Device and blocks are those of slides.py.

Invariants: every block read is compared, and every block written is read afterwards and
compared.
"""
import contextlib
import functools
import mmap
import os
import random
import time

from nswaptest.check import Failure
from tables import slides, load, others
from tables.rows import Paper
from tables.units import Row, Unit

SCALE = 1 / 16
BLOCKS, REQUESTS, CACHE = 25_000, 6_250, "1M"
MB = -(-BLOCKS * others.PAGE >> 20) + 2
CHUNK = 32                      # blocks of a write that fills
REST_US = 300
DEVICES = ("disk", *slides.DEVICES)
OPS = {"R-S16": ("read", "in order"), "R-S17": ("write", "in order"),
       "R-S18": ("read", "at random"), "R-S19": ("write", "at random")}
RANKS = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}
FIGURES = ("mean", *RANKS, "max")
# R-S13: order of the writes, us of rest after each
WRITES = {"in order": ("in order", 0), "at random": ("at random", 0),
          f"at random, {REST_US} us between them": ("at random", REST_US)}

PAPERS = {
    # "can reduce write latency by up to 200 us per write request"
    "R-S13": Paper("us of a page written, the mean", ("network", "early", "saved"),
                   {name: (None, None, 200) for name in WRITES}),
    **{ident: Paper(f"us of a page's {op}, {order}", FIGURES)
       for ident, (op, order) in OPS.items()},
}


# -- inside the lab's kernel ------------------------------------------------

def content(number, version):
    """What is in a block, no other's, when it was written so many times."""
    return others.block(version * BLOCKS + number)


@contextlib.contextmanager
def opened(path):
    """A block device past the page cache."""
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        yield fd
    finally:
        os.close(fd)


def fill(fd):
    """Write every block once."""
    room = mmap.mmap(-1, CHUNK * others.PAGE)
    for first in range(0, BLOCKS, CHUNK):
        numbers = range(first, min(first + CHUNK, BLOCKS))
        size = len(numbers) * others.PAGE
        room[:size] = b"".join(content(number, 0) for number in numbers)
        os.pwritev(fd, [memoryview(room)[:size]], first * others.PAGE)
    os.fsync(fd)


def asked(fd, op, numbers, rest_us=0):
    """Microseconds of each request, the next one after its answer."""
    room, took = mmap.mmap(-1, others.PAGE), []
    call = os.preadv if op == "read" else os.pwritev
    for number in numbers:
        if op == "write":
            room[:] = content(number, 1)
        begin = time.monotonic_ns()
        call(fd, [room], number * others.PAGE)
        took.append((time.monotonic_ns() - begin) / 1e3)
        if op == "read" and room[:] != content(number, 0):
            raise Failure(f"block {number} is not what was written")
        if rest_us:
            time.sleep(rest_us / 1e6)
    return took


def compare(fd, numbers):
    """Read what was written last."""
    room = mmap.mmap(-1, others.PAGE)
    os.fsync(fd)
    for number in numbers:
        os.preadv(fd, [room], number * others.PAGE)
        if room[:] != content(number, 1):
            raise Failure(f"block {number} is not what was written last")


def requests(run, name, op, order, rest_us=0):
    """Requests to a device that was filled before: what they take."""
    numbers = list(range(REQUESTS)) if order == "in order" else \
        random.Random(1).sample(range(BLOCKS), REQUESTS)
    with slides.device(run, name, MB, CACHE, SCALE) as path, opened(path) as fd:
        fill(fd)
        took = asked(fd, op, numbers, rest_us)
        kept = run.node.devices()[0] if name != "disk" else {}
        if op == "write":
            compare(fd, numbers)
    ordered = sorted(took)
    figures = {"mean": round(sum(took) / len(took), 2),
               **{rank: round(load.percentile(ordered, share), 2)
                  for rank, share in RANKS.items()}, "max": round(ordered[-1], 2)}
    return {"figures": figures, "hits": kept.get("cache_hits", 0),
            "said": f"{figures['mean']:.1f} us, p99 {figures['p99']:.1f}"}


MEASURES = {"latency": requests}


# -- on the host ------------------------------------------------------------

def figures_row(got):
    """A device's figures."""
    (found,) = got.values()
    return {"ours": found["figures"], "hits": found["hits"],
            "requests": REQUESTS, "profile": slides.PROFILE.what}


def saved_row(got):
    """R-S13."""
    mean = {dev: found["figures"]["mean"] for dev, found in got.items()}
    return {"ours": {**mean, "saved": round(mean["network"] - mean["early"], 2)},
            "requests": REQUESTS, "profile": slides.PROFILE.what}


def early_table(_):
    """R-S13."""
    for name, (order, rest_us) in WRITES.items():
        more = (rest_us,) if rest_us else ()
        yield Row("R-S13", name, {dev: Unit("latency", (dev, "write", order, *more))
                                  for dev in ("network", "early")}, saved_row)


def distributions(ident, _):
    """One of R-S16 to R-S19."""
    for dev in DEVICES:
        yield Row(ident, dev, {dev: Unit("latency", (dev, *OPS[ident]))}, figures_row)


TABLES = {"R-S13": early_table,
          **{ident: functools.partial(distributions, ident) for ident in OPS}}
