# SPDX-License-Identifier: GPL-2.0
"""Programs of the Anemone slides on network RAM with a client cache.

  R-S20          one quicksort that grows: the disk's time over that of each device
  R-S20-povray   the same of POV-Ray
  R-S21          quicksorts at once, of the smallest size each
  R-S20-longer   some of R-S20 and R-S21 once more, with faults that take longer
  R-S22          how many of the pages read are in the cache, by its size, and what a hit
                 saves
  R-S28 R-S29    which swap slots a quicksort and POV-Ray write and read

POV-Ray is that of outside.py.  Sizes are a 25th of the slides', as in A-F5.3 of the thesis,
whose client they have: its 256 MB left 100 to 110 for programs.  "cache" is a device added
with --cache, "early" one with --early-ack, too.
"""
import contextlib
import dataclasses
import functools

from tables import lab, nswap, others, outside, profiles
from tables.quicksorts import FAULT_NS, PROCESS_KB, SORT_NS, SORT_RAM_MB
from tables.rows import Paper
from tables.units import Row, Unit

PROFILE = profiles.NSWAP2L
SCALE = 1 / 25
RAM_MB = SORT_RAM_MB
CACHE = "656K"                  # 16 MB there
# S20: 100 MB more each time; S21: one of 100 MB more.  The slides name 1200 MB as a size.
SIZES = (4, 8, 16, 32, 48)
PICTURES = SIZES[1:]
PROCESSES = (1, 2, 4, 8, 12)
ONE_MB = SIZES[0]
# How many of how many MiB each have longer faults: the slides' "1200 MB", and R-S21's most.
LONGER = ((1, SIZES[-1]), (PROCESSES[-2], ONE_MB))
HITS_MB = 16
CACHES_MB = (0.25, 0.5, 1, 2, 4, 8)
DEVICES = ("network", "cache", "early")
MOST = "the most"
PICTURE_MB = 40                 # swap that a picture's program may use beside its spheres

PAPERS = {
    # "298 % performance increase over disk" and "710 %", of the best size and number
    "R-S20": Paper("the disk's time over this one, by the MiB of one quicksort", DEVICES,
                   {MOST: (None, None, 3.98)}),
    # "370 %"
    "R-S20-povray": Paper("the disk's time over this one, by the MiB of POV-Ray's spheres",
                          DEVICES, {MOST: (None, None, 4.7)}),
    "R-S21": Paper(f"the disk's time over this one, by the number of quicksorts of {ONE_MB} MiB",
                   DEVICES, {MOST: (None, None, 8.1)}),
    "R-S20-longer": Paper("the disk's time over this one, by the number and the MiB of "
                          "quicksorts whose faults that read take 10.7 ms longer", DEVICES),
    "R-S22": Paper("% of the pages read that are in the cache, by its MiB",
                   ("with readahead", "without")),
    "R-S28": Paper("swap slots"),
    "R-S29": Paper("swap slots"),
    # "hits save ~500 us"
    "R-S22-saves": Paper("us that a hit saves, by the MiB of the cache",
                         ("with readahead", "without"),
                         {str(mb): (500,) for mb in CACHES_MB}),
}
# Figures of their own, and two rows that are no curve.
UNDRAWN = ("R-S28", "R-S29", "R-S20-longer")


# -- inside the lab's kernel ------------------------------------------------

@contextlib.contextmanager
def device(run, name, mb, cache, share=SCALE):
    """One of the devices: its path.  Of the disk so much less (share) is used, with seeks
    as long."""
    if name == "disk":
        with lab.modelled("disk", mb, PROFILE.scaled(share).disk) as path:
            yield path
        return
    lab.ethernet(run.cluster, (PROFILE.owner_kbit, PROFILE.peer_kbit), PROFILE.delay_us)
    args = () if name == "network" else ("--cache", cache)
    if name == "early":
        args += ("--early-ack",)
    with lab.nswap(run.cluster, mb, *args) as path:
        yield path


def quicksorts(run, mb, processes, fault_ns=0):
    """Some that have so much memory together, and whose faults take longer."""
    return others.program(run, "quicksort", "--mb", mb, "--processes", processes,
                          "--compute-ns", SORT_NS, "--fault-ns", fault_ns,
                          ram_mb=RAM_MB + processes * PROCESS_KB / 1024)


def sorted_on(run, mb, processes, name, cache=CACHE, page_cluster=3, fault_ns=0):
    """Quicksorts on a device; what the cache was good for."""
    with nswap.changed(run, page_cluster=page_cluster), \
            device(run, name, 2 * mb + 16, cache) as path, lab.swapped(run.node, path):
        got = quicksorts(run, mb, processes, fault_ns)
        kept = run.node.devices()[0] if name != "disk" else {}
    found = others.of_program(got)
    return {**found, "whole": round(got["total"] + got["check_seconds"], 4),
            "hits": kept.get("cache_hits", 0), "misses": kept.get("cache_misses", 0)}


def slots(run, mb):
    """The trace of one."""
    with device(run, "network", 2 * mb + 16, CACHE) as path, \
            nswap.traced_on(run, path) as trace:
        got = quicksorts(run, mb, 1)
    return {**others.of_program(got), "trace": trace}


def picture(run, mb):
    """POV-Ray draws spheres of so much in the RAM that a quicksort has."""
    base_mb = outside.PROGRAMS["povray"].base_mb
    got = outside.ran(run, "povray", base_mb + mb, base_mb + RAM_MB)
    return {"total": round(got["seconds"], 4), "pages": got["pswpin"] + got["pswpout"],
            "checksum": got["checksum"], "said": f"{got['seconds']:.3f} s"}


def drawn_on(run, mb, name):
    """A picture on a device."""
    outside.prepared(run, "povray")
    with device(run, name, 2 * mb + PICTURE_MB, CACHE) as path, lab.swapped(run.node, path):
        return picture(run, mb)


def picture_slots(run, mb):
    """The trace of one."""
    outside.prepared(run, "povray")
    with device(run, "network", 2 * mb + PICTURE_MB, CACHE) as path, \
            nswap.traced_on(run, path) as trace:
        got = picture(run, mb)
    return {**got, "trace": trace}


MEASURES = {"client-cache": sorted_on, "sort-slots": slots, "picture-cache": drawn_on,
            "picture-slots": picture_slots}


# -- on the host ------------------------------------------------------------

def factors(got):
    """The disk's time over that of each."""
    return {"ours": {dev: round(got["disk"]["total"] / got[dev]["total"], 3)
                     for dev in DEVICES},
            "runs": others.runs_of(got), "profile": PROFILE.what}


def units_of(mb, processes, *more):
    """On each device."""
    return {dev: Unit("client-cache", (mb, processes, dev, *more)) for dev in ("disk", *DEVICES)}


def most(got):
    """The largest factor of all."""
    each = {}
    for (number, dev), found in got.items():
        each.setdefault(number, {})[dev] = found
    rows = [factors(found)["ours"] for found in each.values()]
    return {"ours": {dev: max(row[dev] for row in rows) for dev in DEVICES}}


def factor_table(ident, each):
    """R-S20 or R-S21: each has the units by size or number."""
    for number, units in each.items():
        yield Row(ident, str(number), units, factors)
    yield Row(ident, MOST, {(number, dev): unit for number, units in each.items()
                            for dev, unit in units.items()}, most)


def growing(_):
    """R-S20."""
    return factor_table("R-S20", {mb: units_of(mb, 1) for mb in SIZES})


def pictures(_):
    """R-S20-povray."""
    each = {mb: {dev: Unit("picture-cache", (mb, dev)) for dev in ("disk", *DEVICES)}
            for mb in PICTURES}
    for row in factor_table("R-S20-povray", each):
        # the most is of pictures of each size
        yield row if row.name == MOST else \
            dataclasses.replace(row, make=functools.partial(outside.alike, row.make))


def several(_):
    """R-S21."""
    return factor_table("R-S21", {n: units_of(n * ONE_MB, n) for n in PROCESSES})


def longer(_):
    """R-S20-longer."""
    for processes, mb in LONGER:
        yield Row("R-S20-longer", f"{processes}, {mb} MiB",
                  units_of(processes * mb, processes, CACHE, 3, FAULT_NS), factors)


def rate(found):
    """Per cent of the pages read."""
    return round(100 * found["hits"] / (found["hits"] + found["misses"]), 2)


def hits_row(got):
    """R-S22."""
    return {"ours": {"with readahead": rate(got["cache"]), "without": rate(got["alone"])},
            "runs": others.runs_of(got), "profile": PROFILE.what}


def saved(without, with_it):
    """What the run takes less than without a cache, by hit."""
    return round((without["whole"] - with_it["whole"]) * 1e6 / with_it["hits"], 1)


def saves_row(got):
    """R-S22-saves."""
    return {"ours": {"with readahead": saved(got["network"], got["cache"]),
                     "without": saved(got["network alone"], got["alone"])},
            "runs": others.runs_of(got), "profile": PROFILE.what}


def hits_table(_):
    """Both tables of the cache's hits: page_cluster is 3, or 0 for no readahead."""
    def unit(*args):
        return Unit("client-cache", (HITS_MB, 1, *args))

    none = {"network": unit("network"), "network alone": unit("network", CACHE, 0)}
    for mb in CACHES_MB:
        size = f"{round(mb * 1024)}K"
        units = {"cache": unit("cache", size), "alone": unit("cache", size, 0)}
        yield Row("R-S22", str(mb), units, hits_row)
        yield Row("R-S22-saves", str(mb), {**none, **units}, saves_row)


def slots_figure(ident, name, what, _):
    """R-S28 or R-S29."""
    yield Row(ident, name, {"slots": Unit(what, (HITS_MB,))}, nswap.traced)


TABLES = {"R-S20": growing, "R-S20-povray": pictures, "R-S21": several, "R-S20-longer": longer,
          "R-S22": hits_table,
          "R-S28": functools.partial(slots_figure, "R-S28", "quicksort", "sort-slots"),
          "R-S29": functools.partial(slots_figure, "R-S29", "POV-Ray", "picture-slots")}
