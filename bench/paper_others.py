# SPDX-License-Identifier: GPL-2.0
"""Tables of the papers beside the Nswap2L paper, and one of 2026's hardware.

  A-F5.1 A-F5.2   Anemone thesis: what a block access takes, step by step
  A-F5.3 A-F5.4   the same: so many quicksorts at once
  M-T1            Markatos and Dramitinos: what a page transfer takes
  D-F7 D-F8       Dodo: speed-up over the disk
  2026            WL1 and WL2 on hardware of that year

Each table has a profile of its paper's hardware (paper_profiles.py), which it names
in its rows.  Those papers' programs ran for minutes on machines of another time:
compare disk with network RAM, not seconds.  Sizes are in MiB; a program has
the share of its memory that it had there, and BASE_MB for itself.

Nobody computes, but where a paper says how long its programs did: quicksort and
what Dodo ran.  There is no processor time in any figure, on either side.
"""
import contextlib
import hashlib
import itertools
import mmap
import os
import random
import time

import apps
import paper_lab as lab
import paper_profiles as profiles
from nswaptest.check import Failure
from nswaptest.modelled import Modelled
from paper_run import workload
from paper_tables import Paper

DEVICES = ("disk", "network")
BASE_MB = 0.75
PAGE = 4096

# A-F5.1, A-F5.2, section 5.2: 25 trials of 100 random blocks out of 400 MB.
TRIALS, BLOCKS, SPACE_MB = 25, 100, 400
# A-F5.3, section 5.4: 400 MB of integers and 100 MB of RAM for them.  Here both are
# a 25th.  Table 5.2: one quicksort of 409 MB takes 6.59 s with enough RAM, which
# for n log n comparisons of n integers is 2.3 ns each, 2 360 for 1024.
SORT_MB, SORT_RAM_MB, SORT_NS = 16, 4, 2360
SORT_PROCESSES = (1, 2, 4, 8, 16)
# and what a process has beside its array: stacks, page tables
PROCESS_KB = 96
# M-T1, all twice their RAM.  NBODY goes all over its tree for each body: only every
# 64th is moved.
MARKATOS = {"MVEC": ("mvec",), "QSORT": ("quicksort",), "FFT": ("fft",),
            "GAUSS": ("gauss",), "NBODY": ("nbody", "--every", 64)}
TRANSFER_MB, TRANSFER_RAM_MB = 8, 4
MARKATOS_MB = 32        # GAUSS there: 2000 x 2000 of 8 bytes
# D-F8, section 5.1: 1 GB of data and 80 MB of it local; 10 ms between requests.
DODO_MB, DODO_RAM, DODO_NS, DODO_DATA_MB = 16, 80 / 1024, 10_000_000, 1024
PATTERNS, REQUESTS_KB = ("sequential", "hotcold", "random"), (8, 32)
# D-F7: lu spends 9 % of its time reading; GAUSS stands for it.
LU_IO, LU_UNIT = 0.09, 1024
NOW_DEVICES, NOW_WORKLOADS = ("network", "flash", "disk"), ("WL1", "WL2")

ACCESS = ("mean", "low", "high")
# What section 5.3 of Dodo says of sequential and of the others: only the lower
# end of "between 2 and 3" (section 1) can be laid beside a figure.
DODO_SAYS = {"sequential": (1,), "hotcold": (2,), "random": (2,)}

PAPERS = {
    # section 5.2.1; disk: 4 to 11 ms (section 1.1)
    "A-F5.1": Paper("us of a random block access (last: their ratio); "
                    "theirs in user space", ACCESS,
                    {"disk": (6500, 4000, 11000), "network": (2000,),
                     "disk over network": (3.25,)}),
    # section 5.2.2
    "A-F5.2": Paper("us of a random block access (last: their ratio); "
                    "theirs in the kernel", ACCESS,
                    {"disk": (6500, 4000, 11000), "network": (700.2, 599, 980),
                     "disk over network": (9.2,)}),
    # both ways of both legs together (section 5.2.2), the server's own time (6.2.2)
    "A-F5.2-steps": Paper("us of each step of a page-in, means",
                          ("network", "peer", "total"),
                          {"page-in": (343.24 + 341.8, 0.94, 700.2)}),
    # one: Table 5.2; the others are only drawn there
    "A-F5.3": Paper("seconds until the last of N quicksorts is done", DEVICES,
                    {"1": (143.28, 96.08)}, over="network"),
    # one: Table 5.2; section 5.4.3: "a factor 10 around run 8"
    "A-F5.4": Paper("disk over network, by the number of quicksorts", ("speed_up",),
                    {"1": (1.49,), "8": (10,)}),
    "M-T1": Paper("ms a page transfer (theirs of 8 KiB)", DEVICES,
                  {"MVEC": (11.36, 7.02), "QSORT": (17.89, 9.63),
                   "FFT": (18.77, 8.7), "GAUSS": (18.74, 8.42),
                   "NBODY": (22.14, 8.21)}, over="network"),
    # section 5.3; over U-Net 1.2 and 3.2
    "D-F7": Paper("speed-up over disk; the paper: over UDP", ("speed_up",),
                  {"lu": (1.15,), "dmine": (2.6,)}),
    "D-F8": Paper("speed-up over disk; the paper: \"virtually none\", and 2 to 3",
                  ("speed_up",), {f"{pattern} {kb} KiB": DODO_SAYS[pattern]
                                  for pattern in PATTERNS for kb in REQUESTS_KB}),
    "2026": Paper("seconds", NOW_DEVICES, {}, over="network"),
}

_number = itertools.count()


@contextlib.contextmanager
def wired(run, profile):
    """The profile's network, and after it the paper profile's again."""
    lab.ethernet(run.cluster, (profile.owner_kbit, profile.peer_kbit),
                 profile.delay_us)
    try:
        yield
    finally:
        lab.ethernet(run.cluster)


@contextlib.contextmanager
def device(run, profile, name, mb):
    """One of a profile's devices: its path."""
    if name == "network":
        with lab.nswap(run.cluster, mb) as path:
            yield path
        return
    made = Modelled(f"mo{next(_number)}", name, mb=mb, **getattr(profile, name))
    try:
        yield made.path
    finally:
        made.remove()


def program(run, name, *flags, ram_mb):
    """Run one of ours held at so much RAM; its result, which must be right.  "total"
    are the seconds before it checks it, "moved" the pages swapped until then."""
    path = run.node.prog(name)
    limit = round((ram_mb + BASE_MB) * 2 ** 20)
    with open(path, "rb") as file:
        # read before, and held: the program itself is no part of what it may keep
        file.read()
        done = run.node.run(apps.held([path, *flags], limit), timeout=360_000,
                            check=False, memory_max=2 * limit)
    got = apps.result_of(done)
    if apps.wrong(got):
        raise Failure(f"{done.cmd} was wrong: {done.err.strip()[:300]}")
    got["total"] = got["fill_seconds"] + got["seconds"]
    got["moved"] = sum(got[k] for k in ("fill_pswpin", "fill_pswpout", "pswpin",
                                        "pswpout"))
    return got


def on_device(run, profile, name, mb, *flags, ram_mb):
    """A program that swaps to a device of mb, as program()."""
    with device(run, profile, name, mb) as path, lab.swapped(run.node, path):
        return program(run, *flags, ram_mb=ram_mb)


# -- Anemone: what an access takes ------------------------------------------

def block(number):
    """What is in a block: no other block's."""
    return hashlib.shake_128(b"%d" % number).digest(PAGE)


def trials_on(path):
    """Microseconds of each access, trial by trial; the blocks are the same on every
    device, and each is what was written."""
    numbers = random.Random(1).sample(range(SPACE_MB << 8), TRIALS * BLOCKS)
    took = []
    room = mmap.mmap(-1, PAGE)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        for number in sorted(numbers):
            room[:] = block(number)
            os.pwritev(fd, [room], number * PAGE)
        for number in numbers:
            begin = time.monotonic_ns()
            os.preadv(fd, [room], number * PAGE)
            took.append((time.monotonic_ns() - begin) / 1e3)
            if room[:] != block(number):
                raise Failure(f"block {number} of {path} is not what was written")
    finally:
        os.close(fd)
    return took


def summary(took):
    """Mean, and the lowest and highest access."""
    return {"mean": round(sum(took) / len(took), 2), "low": round(min(took), 2),
            "high": round(max(took), 2)}


def steps_of(node):
    """Mean microseconds of each step of a page-in, by nswap's own stamps."""
    steps = node.ctl("stat", "--latency")
    return {s["step"]: round(s["mean_ns"] / 1e3, 2) for s in steps
            if (s["op"], s["tier"]) == ("page-in", "remote") and s["pages"]}


def block_accesses(run):
    """A-F5.1 and A-F5.2."""
    profile, ours, trials = profiles.NSWAP2L, {}, {}
    for name in DEVICES:
        with device(run, profile, name, SPACE_MB) as path:
            if name == "network":
                run.node.ctl("set", "latency", "1")
            took = trials_on(path)
            if name == "network":
                run.node.ctl("set", "latency", "0")
                steps = steps_of(run.node)
        ours[name] = summary(took)
        trials[name] = [round(sum(took[i:i + BLOCKS]) / BLOCKS, 2)
                        for i in range(0, len(took), BLOCKS)]
        run.step(f"block access {name:8} {ours[name]['mean']:9.1f} us")
    ratio = round(ours["disk"]["mean"] / ours["network"]["mean"], 3)
    for ident in ("A-F5.1", "A-F5.2"):
        for name in DEVICES:
            run.row(ident, name, ours[name], trials=trials[name],
                    profile=profile.what)
        run.row(ident, "disk over network", {"mean": ratio}, profile=profile.what)
    run.row("A-F5.2-steps", "page-in", steps, profile=profile.what)


# -- Anemone: quicksorts at once --------------------------------------------

def quicksorts(run):
    """A-F5.3 and A-F5.4."""
    profile = profiles.NSWAP2L
    for processes in SORT_PROCESSES:
        ours, more = {}, {}
        for name in DEVICES:
            got = on_device(run, profile, name, 2 * SORT_MB, "quicksort", "--mb",
                            SORT_MB, "--processes", processes, "--compute-ns", SORT_NS,
                            ram_mb=SORT_RAM_MB + processes * PROCESS_KB / 1024)
            ours[name], more[name] = round(got["total"], 4), got["moved"]
            run.step(f"{processes:2} quicksorts {name:8} {ours[name]:9.3f} s")
        run.row("A-F5.3", str(processes), ours, swapped=more, profile=profile.what)
        run.row("A-F5.4", str(processes),
                {"speed_up": round(ours["disk"] / ours["network"], 3)},
                profile=profile.what)


# -- Markatos and Dramitinos ------------------------------------------------

def page_transfers(run):
    """M-T1: time over pages in and out."""
    profile = profiles.MARKATOS.scaled(TRANSFER_MB / MARKATOS_MB)
    with wired(run, profile):
        for row, command in MARKATOS.items():
            ours, more = {}, {}
            for dev in DEVICES:
                got = on_device(run, profile, dev, 2 * TRANSFER_MB, *command, "--mb",
                                TRANSFER_MB, ram_mb=TRANSFER_RAM_MB)
                ours[dev] = round(got["total"] * 1e3 / got["moved"], 4)
                more[dev] = {"seconds": round(got["total"], 4), "pages": got["moved"]}
                run.step(f"{row:6} {dev:8} {ours[dev]:8.2f} ms a transfer, "
                         f"{got['moved']} of them")
            run.row("M-T1", row, ours, runs=more, profile=profile.what)


# -- Dodo -------------------------------------------------------------------

def speed_up(run, ident, row, profile, mb, *flags, ram_mb):
    """One row: the measured part's time on the disk over that on network RAM."""
    more = {}
    for name in DEVICES:
        got = on_device(run, profile, name, 2 * mb, *flags, ram_mb=ram_mb)
        more[name] = {"seconds": round(got["seconds"], 4), "pages": got["moved"]}
        run.step(f"{row:17} {name:8} {got['seconds']:10.3f} s")
    ratio = more["disk"]["seconds"] / more["network"]["seconds"]
    run.row(ident, row, {"speed_up": round(ratio, 3)}, runs=more,
            profile=profile.what)


def dodo_profile(mb):
    """Dodo's hardware with a disk as much smaller as the data is."""
    return profiles.DODO.scaled(mb / DODO_DATA_MB)


def dodo_requests(run):
    """D-F8: programs that read requests out of a data set."""
    profile = dodo_profile(DODO_MB)
    with wired(run, profile):
        for pattern in PATTERNS:
            for kb in REQUESTS_KB:
                speed_up(run, "D-F8", f"{pattern} {kb} KiB", profile, DODO_MB,
                         "dodo", "--pattern", pattern, "--mb", DODO_MB,
                         "--request-kb", kb, "--compute-ns", DODO_NS,
                         ram_mb=DODO_MB * DODO_RAM)


def dodo_programs(run):
    """D-F7: lu, which computes for all but 9 % of its time on the disk, and dmine,
    which scans its data in requests of 128 KiB."""
    mb, ram_mb = TRANSFER_MB, TRANSFER_RAM_MB
    profile = dodo_profile(mb)
    with wired(run, profile):
        lone = on_device(run, profile, "disk", 2 * mb, "gauss", "--mb", mb,
                         ram_mb=ram_mb)
        run.step(f"lu without computing, disk {lone['seconds']:10.3f} s")
        units = lone["n"] ** 3 / 3 / LU_UNIT
        compute = lone["seconds"] * (1 / LU_IO - 1) / units
        speed_up(run, "D-F7", "lu", profile, mb, "gauss", "--mb", mb,
                 "--compute-ns", round(compute * 1e9), ram_mb=ram_mb)
    profile = dodo_profile(DODO_MB)
    with wired(run, profile):
        speed_up(run, "D-F7", "dmine", profile, DODO_MB, "dodo", "--pattern",
                 "sequential", "--mb", DODO_MB, "--request-kb", 128,
                 ram_mb=DODO_MB * DODO_RAM)


# -- 2026 -------------------------------------------------------------------

def of_now(run):
    """Two workloads of N-T3 on hardware of 2026."""
    profile = profiles.NOW
    with wired(run, profile):
        for name in NOW_WORKLOADS:
            ours = {}
            for dev in NOW_DEVICES:
                with device(run, profile, dev, run.scale.device) as path, \
                        lab.swapped(run.node, path):
                    ours[dev] = round(workload(run, name)["total"], 6)
                run.step(f"2026 {name} {dev:8} {ours[dev]:9.4f} s")
            run.row("2026", name, ours, profile=profile.what)


TABLES = {
    "A-F5.1": (block_accesses, lambda run: len(DEVICES)),
    "A-F5.3": (quicksorts, lambda run: len(DEVICES) * len(SORT_PROCESSES)),
    "M-T1": (page_transfers, lambda run: len(DEVICES) * len(MARKATOS)),
    "D-F7": (dodo_programs, lambda run: 1 + 2 * len(DEVICES)),
    "D-F8": (dodo_requests,
             lambda run: len(DEVICES) * len(PATTERNS) * len(REQUESTS_KB)),
    "2026": (of_now, lambda run: len(NOW_DEVICES) * len(NOW_WORKLOADS)),
}
