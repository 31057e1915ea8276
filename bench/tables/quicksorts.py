# SPDX-License-Identifier: GPL-2.0
"""The Anemone thesis's quicksorts: one, and so many at once.

  A-T5.2          one: time, page faults and what a fault takes; and what they would be
                  with faults that take longer
  A-F5.3          time by the number of them
  A-F5.4          the same, disk over network
  A-F5.3-faults   page faults by the number
  A-F5.3-pages    pages swapped by the number, and how many go in a request
  A-F5.3-causes   the same times with one thing changed at a time
  A-F5.3-apart    the same times of sorts that do not wait for each other

The hardware is the paper profile. Sizes are a 25th: 400 MB of integers in 100 MB of RAM.
Faults are counted by the kernel, and "ms a fault" is the thesis's: the time less that with
enough RAM, which is what computing takes, over the faults that read. Every array is
checked, or the run ends.
"""
import contextlib
import functools
import pathlib

from tables import lab, profiles
from tables.nswap import PAGE_CLUSTER
from tables.others import program, runs_of, seconds_row, speed_up_row
from tables.rows import Paper
from tables.units import Row, Unit

DEVICES = ("disk", "network")
# A-F5.3, section 5.4: 400 MB of integers and 100 MB of RAM for them. Table 5.2: one
# quicksort of 409 MB takes 6.59 s with enough RAM, which for n log n comparisons of n
# integers is 2.3 ns each, 2 360 for 1024.
SORT_MB, SORT_RAM_MB, SORT_NS = 16, 4, 2360
PROCESSES = (1, 2, 4, 8, 16, 32, 50)
# what a process has beside its array: stacks, page tables
PROCESS_KB = 96
# How many seeds: processes at once go another way with each, for the arrays hold other
# integers; those of one seed are SORTS_APART from those of the next.
SEEDS = 5
SORTS_APART = 100
# Table 5.2 less section 5.2.2: 11.38 ms a fault, of which an access is 0.7.
FAULT_NS = 10_680_000
# An access of the paper profile takes 152.4 us (A-F5.2), one of Anemone's 700.2.
ANEMONE_DELAY_US = round(profiles.DELAY_US + (700.2 - 152.4) / 2)

# What may make the times what they are, tried one at a time on the devices that it
# changes, at these numbers of processes.
BOTH, DISK = ("disk", "network"), ("disk",)
CAUSES = {
    "as in A-F5.3": (BOTH, {}),
    "no readahead": (BOTH, {"page_cluster": 0}),
    "readahead as of flash": (DISK, {"rotational": 0}),
    "a disk scheduler": (DISK, {"scheduler": "mq-deadline"}),
    "no seeks": (DISK, {"disk": {"seek_min_ns": 0, "seek_max_ns": 0}}),
    "no seeks, no turning": (DISK, {"disk": {
        "seek_min_ns": 0, "seek_max_ns": 0,
        "rotation_ns": profiles.DISK["rotation_ns"] // 100,
        "track_sectors": profiles.DISK["track_sectors"] // 100}}),
    "filled one by one": (BOTH, {"flags": ("--way", "filled")}),
    "each for itself": (BOTH, {"flags": ("--way", "apart")}),
    "one after the other": (BOTH, {"flags": ("--way", "turns")}),
}
CAUSES_AT = (1, 16)
# what one process does anyhow
APART = "each for itself"
OF_SEVERAL = ("filled one by one", APART, "one after the other")
# Of so many sorts with as many seeds as A-F5.3 has, for seeds differ most on the network there.
SEEDED_AT = 8
EARLY, LATE, FAR = ("memory freed before the limit", "10.7 ms more a fault",
                    "0.7 ms an access")
# Of one sort, on table A-T5.2.
SLOWER = (("disk", LATE), ("network", LATE), ("network", FAR))
HOW = {EARLY: {"early": True}, LATE: {"flags": ("--fault-ns", FAULT_NS)},
       FAR: {"delay_us": ANEMONE_DELAY_US},
       **{name: how for name, (_, how) in CAUSES.items()}}

COUNTS = ("seconds", "major", "minor", "ms a fault")
PAPERS = {
    # its 409 MB are 26 times ours; user and system time are the processor's
    "A-T5.2": Paper("one quicksort: seconds, faults that read, other faults, ms of one "
                    "that reads", COUNTS,
                    {"no swap": (6.59,), "disk": (143.28, 7363, 108945, 18.56),
                     "network": (96.08, 7857, 115351, 11.38),
                     "disk over network": (1.49, None, None, 1.63)}),
    # one: Table 5.2; the others are only drawn there
    "A-F5.3": Paper("seconds until the last of N quicksorts is done", DEVICES,
                    {"1": (143.28, 96.08)}, over="network"),
    # one: Table 5.2; section 5.4.3: "a factor 10 around run 8"
    "A-F5.4": Paper("disk over network, by the number of quicksorts", ("speed_up",),
                    {"1": (1.49,), "8": (10,)}),
    "A-F5.3-faults": Paper("page faults by the number of quicksorts"),
    "A-F5.3-pages": Paper("pages swapped by the number of quicksorts, and pages in a "
                          "request"),
    "A-F5.3-apart": Paper("seconds until the last of N quicksorts is done and checked, "
                          "each of which fills, sorts and ends for itself", DEVICES,
                          {"1": (143.28, 96.08)}, over="network"),
    "A-F5.3-causes": Paper("seconds of the whole run, with the check of the arrays",
                           DEVICES),
}


# -- inside the lab's kernel ------------------------------------------------

@contextlib.contextmanager
def disk_of(mb, rotational=1, scheduler=None, disk=()):
    """A disk of the paper profile with something changed; its path."""
    knobs = {**profiles.DISK, **dict(disk), **({"depth": 1} if scheduler else {})}
    with lab.modelled("disk", mb, knobs) as path:
        queue = pathlib.Path("/sys/block", pathlib.Path(path).name, "queue")
        (queue / "rotational").write_text(str(rotational))
        if scheduler:
            (queue / "scheduler").write_text(scheduler)
        yield path


@contextlib.contextmanager
def swap(run, dev, mb=2 * SORT_MB, page_cluster=3, delay_us=profiles.DELAY_US, **how):
    """Swap on a device, or none of it with enough RAM; the device's path."""
    if dev == "ram":
        yield None
        return
    lab.ethernet(run.cluster, delay_us=delay_us)
    made = lab.nswap(run.cluster, mb) if dev == "network" else disk_of(mb, **how)
    PAGE_CLUSTER.write_text(str(page_cluster))
    with made as path, lab.swapped(run.node, path):
        yield path


def quicksorts(run, processes, dev, cause=""):
    """So many at once, as they are or with something changed."""
    how = dict(HOW[cause]) if cause else {}
    flags, early = how.pop("flags", ()), how.pop("early", False)
    ram_mb = SORT_RAM_MB if dev != "ram" else 2 * SORT_MB
    with swap(run, dev, **how) as path:
        before = lab.requests_of(path)
        got = program(run, "quicksort", "--mb", SORT_MB, "--processes", processes,
                      "--compute-ns", SORT_NS, *flags,
                      "--seed", 1 + SORTS_APART * (run.seed - 1),
                      ram_mb=ram_mb + processes * PROCESS_KB / 1024, early=early)
        after = lab.requests_of(path)
    faults = got["fill_faults"] + got["faults"]
    major = got["fill_major"] + got["major"]
    return {"total": round(got["total"], 4), "seconds": round(got["seconds"], 4),
            "whole": round(got["total"] + got["check_seconds"], 4),
            "computes": round(got["slept_seconds"] / processes, 4),
            "pages": got["moved"], "major": major, "minor": faults - major,
            "pages_in": got["fill_pswpin"] + got["pswpin"],
            "pages_out": got["fill_pswpout"] + got["pswpout"],
            "requests": {key: after[key] - before[key] for key in after},
            "said": f"{got['total']:.3f} s"}


MEASURES = {"quicksorts": quicksorts}
# Columns of several units have no scale in common, and so many names no room.
UNDRAWN = ("A-T5.2", "A-F5.3-faults", "A-F5.3-pages", "A-F5.3-causes")


# -- on the host ------------------------------------------------------------

def on_each(processes, *cause, devices=DEVICES):
    """The units of so many on each device."""
    return {dev: Unit("quicksorts", (processes, dev, *cause)) for dev in devices}


def seeds_of(processes):
    """One always goes the same way."""
    return SEEDS if processes > 1 else 1


def ms_a_fault(found, enough):
    """By the thesis's formula; enough: seconds with enough RAM."""
    return round((found["total"] - enough) * 1e3 / found["major"], 3)


def statistics_row(dev, got):
    """A-T5.2: what one quicksort takes."""
    found = got[dev]
    ours = {"seconds": found["total"], "major": found["major"], "minor": found["minor"]}
    if dev != "ram":
        ours["ms a fault"] = ms_a_fault(found, got["ram"]["total"])
    return {"ours": ours, "runs": runs_of(got), "profile": profiles.NSWAP2L.what}


def gain_row(got):
    """A-T5.2: how many times less network takes."""
    disk, network = (ms_a_fault(got[dev], got["ram"]["total"]) for dev in DEVICES)
    return {"ours": {"seconds": round(got["disk"]["total"] / got["network"]["total"], 3),
                     "ms a fault": round(disk / network, 3)},
            "profile": profiles.NSWAP2L.what}


def one_table():
    """A-T5.2."""
    enough = Unit("quicksorts", (1, "ram"))
    as_it_is = on_each(1)
    slower = {f"{dev}, {cause}": Unit("quicksorts", (1, dev, cause)) for dev, cause in SLOWER}
    pairs = {"": as_it_is, f", {LATE}": on_each(1, LATE)}
    yield Row("A-T5.2", "no swap", {"ram": enough}, functools.partial(statistics_row, "ram"))
    for name, unit in {**as_it_is, **slower}.items():
        yield Row("A-T5.2", name, {"ram": enough, name: unit},
                  functools.partial(statistics_row, name))
    for what, units in pairs.items():
        yield Row("A-T5.2", f"disk over network{what}", {"ram": enough, **units}, gain_row)


def faults_row(got):
    """A-F5.3-faults."""
    counts = {f"{dev} {kind}": got[dev][kind] for kind in ("major", "minor")
              for dev in DEVICES}
    each = {f"{dev} ms a fault": ms_a_fault(got[dev], got[dev]["computes"])
            for dev in DEVICES}
    return {"ours": {**counts, **each}, "profile": profiles.NSWAP2L.what}


def pages_row(got):
    """A-F5.3-pages: requests are of the whole run, with the check of the arrays."""
    ours = {}
    for dev in DEVICES:
        found = got[dev]
        asked = found["requests"]
        ours |= {f"{dev} in": found["pages_in"], f"{dev} out": found["pages_out"],
                 f"{dev} a read": round(asked["read_pages"] / asked["reads"], 2),
                 f"{dev} a write": round(asked["written_pages"] / asked["writes"], 2)}
    return {"ours": ours, "profile": profiles.NSWAP2L.what}


def several_table(_):
    """A-T5.2, A-F5.3 and what belongs to it, A-F5.4."""
    yield from one_table()
    timed = functools.partial(seconds_row, profiles.NSWAP2L)
    gained = functools.partial(speed_up_row, profiles.NSWAP2L, "total")
    for ident, make in (("A-F5.3", timed), ("A-F5.4", gained),
                        ("A-F5.3-faults", faults_row), ("A-F5.3-pages", pages_row)):
        for processes in PROCESSES:
            yield Row(ident, str(processes), on_each(processes), make, seeds_of(processes))


def apart_table(_):
    """A-F5.3-apart."""
    for processes in PROCESSES:
        yield Row("A-F5.3-apart", str(processes), on_each(processes, APART),
                  functools.partial(seconds_row, profiles.NSWAP2L), seeds_of(processes))


def whole_row(got):
    """A-F5.3-causes: the check is part of it, as the arrays of some are checked on
    their way."""
    return {"ours": {dev: found["whole"] for dev, found in got.items()},
            "runs": runs_of(got), "profile": profiles.NSWAP2L.what}


def causes_table(_):
    """A-F5.3-causes."""
    for processes in CAUSES_AT:
        for cause, (devices, how) in CAUSES.items():
            if processes == 1 and cause in OF_SEVERAL:
                continue
            more = (cause,) if how else ()
            yield Row("A-F5.3-causes", f"{processes}, {cause}",
                      on_each(processes, *more, devices=devices), whole_row)
    for cause, devices in (("", BOTH), (EARLY, ("network",)), (LATE, BOTH)):
        more = (cause,) if cause else ()
        yield Row("A-F5.3-causes", f"{SEEDED_AT}, {cause or 'as in A-F5.3'}",
                  on_each(SEEDED_AT, *more, devices=devices), whole_row, SEEDS)


TABLES = {"A-F5.3": several_table, "A-F5.3-causes": causes_table,
          "A-F5.3-apart": apart_table}
