# SPDX-License-Identifier: GPL-2.0
"""Tables of the papers beside the Nswap2L paper, and one of 2026's hardware.

  A-F5.1 A-F5.2   Anemone thesis: what a block access takes, step by step
  D-F7 D-F8       Dodo: speed-up over the disk
  D-F8-2GB        the same of more data than the peers have room for
  2026            WL1 and WL2 on hardware of that year

Each table has a profile of its paper's hardware (profiles.py), which it names
in its rows.  Those papers' programs ran for minutes on machines of another time:
compare disk with network RAM, not seconds.  Sizes are in MiB; a program has
the share of its memory that it had there, and BASE_MB for itself.

Programs compute in no time, except where a paper says how long they took: what Dodo
ran.  There is no processor time in any figure, on either side.
"""
import contextlib
import functools
import hashlib
import mmap
import os
import random
import time

from lib import apps
from tables import lab, profiles
from nswaptest.check import Failure
from tables.workload import counters, tended, workload
from tables.rows import Paper
from tables.units import Row, Unit

DEVICES = ("disk", "network")
BASE_MB = 0.75
PAGE = 4096

# A-F5.1, A-F5.2, section 5.2: 25 trials of 100 random blocks out of 400 MB.
TRIALS, BLOCKS, SPACE_MB = 25, 100, 400
# D-F8, section 5.1: 1 GB of data and 80 MB of it local; 10 ms between requests.
DODO_MB, DODO_RAM, DODO_NS, DODO_DATA_MB = 16, 80 / 1024, 10_000_000, 1024
PATTERNS, REQUESTS_KB = ("sequential", "hotcold", "random"), (8, 32)
# D-F8-2GB, panels C and D: 2 GB, of which the peers have room for 1 200 MB.
DODO_LENT_MB = 1200
# D-F7: lu spends 9 % of its time reading; GAUSS stands for it.
LU_IO, LU_UNIT, LU_MB, LU_RAM_MB = 0.09, 1024, 8, 4
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
    # section 5.3; over U-Net 1.2 and 3.2
    "D-F7": Paper("speed-up over disk; the paper: over UDP", ("speed_up",),
                  {"lu": (1.15,), "dmine": (2.6,)}),
    "D-F8": Paper("speed-up over disk; the paper: \"virtually none\", and 2 to 3",
                  ("speed_up",), {f"{pattern} {kb} KiB": DODO_SAYS[pattern]
                                  for pattern in PATTERNS for kb in REQUESTS_KB}),
    # no figures there but "virtually none"; section 5.3.2 says that random falls
    "D-F8-2GB": Paper("speed-up over disk of twice the data, more than the peers have room "
                      "for", ("speed_up",), {f"sequential {kb} KiB": (1,)
                                             for kb in REQUESTS_KB}),
    "2026": Paper("seconds", NOW_DEVICES, {}, over="network"),
}


# -- inside the lab's kernel ------------------------------------------------

@contextlib.contextmanager
def device(run, profile, name, mb):
    """One of a profile's devices: its path."""
    lab.ethernet(run.cluster, (profile.owner_kbit, profile.peer_kbit),
                 profile.delay_us)
    made = lab.nswap(run.cluster, mb) if name == "network" else \
        lab.modelled(name, mb, getattr(profile, name))
    with made as path:
        yield path


def held(run, path, flags, limit):
    """A program that is slowed down at its limit, in bytes; what came of it."""
    with tended():
        return run.node.run(apps.held([path, *flags], limit), timeout=360_000,
                            check=False, memory_max=2 * limit)


def freed_early(run, path, flags, limit):
    """The same with memory freed for it each millisecond before it is there."""
    process = run.node.popen([path, *map(str, flags)], 2 * limit)
    with tended(process, limit / 2 ** 20):
        return process.wait(360_000)


def program(run, name, *flags, ram_mb, early=False):
    """Run one of ours held at so much RAM, or with memory freed early; its result, which
    must be right.  "total" are the seconds before it checks it, "moved" the pages swapped
    until then."""
    path = run.node.prog(name)
    limit = round((ram_mb + BASE_MB) * 2 ** 20)
    with open(path, "rb") as file:
        # read before, and held: the program itself is no part of what it may keep
        file.read()
        done = (freed_early if early else held)(run, path, flags, limit)
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


def block_accesses(run, name):
    """A-F5.1 and A-F5.2: what an access to a device takes."""
    steps = {}
    with device(run, profiles.NSWAP2L, name, SPACE_MB) as path:
        if name == "network":
            run.node.ctl("set", "latency", "1")
        took = trials_on(path)
        if name == "network":
            run.node.ctl("set", "latency", "0")
            steps = steps_of(run.node)
    each = [round(sum(took[i:i + BLOCKS]) / BLOCKS, 2)
            for i in range(0, len(took), BLOCKS)]
    found = summary(took)
    return {"access": found, "trials": each, "steps": steps,
            "said": f"{found['mean']:.1f} us an access"}


def of_program(got):
    """What tables take of a program's result."""
    return {"total": round(got["total"], 4), "seconds": round(got["seconds"], 4),
            "pages": got["moved"], "said": f"{got['total']:.3f} s"}


def dodo_profile(mb):
    """Dodo's hardware with a disk as much smaller as the data is."""
    return profiles.DODO.scaled(mb / DODO_DATA_MB)


def requests(run, pattern, kb, dev, compute_ns=DODO_NS):
    """D-F8, and dmine of D-F7: requests out of a data set."""
    return of_program(on_device(
        run, dodo_profile(DODO_MB), dev, 2 * DODO_MB, "dodo", "--pattern", pattern,
        "--mb", DODO_MB, "--request-kb", kb, "--compute-ns", compute_ns,
        ram_mb=DODO_MB * DODO_RAM))


@contextlib.contextmanager
def with_home(run, mb):
    """nswap whose peer has no room for all of it, the rest on Dodo's disk; its path."""
    profile = dodo_profile(DODO_MB)
    lab.ethernet(run.cluster, (profile.owner_kbit, profile.peer_kbit), profile.delay_us)
    with lab.modelled("disk", mb, profile.disk) as home, \
            lab.nswap(run.cluster, mb, "--home", home,
                      lend_mb=DODO_MB * DODO_LENT_MB / DODO_DATA_MB) as path:
        yield path


def large_requests(run, pattern, kb, dev):
    """D-F8-2GB: twice the data, in as much RAM here and at the peers."""
    mb = 2 * DODO_MB
    made = with_home(run, 2 * mb) if dev == "network" else \
        device(run, dodo_profile(DODO_MB), dev, 2 * mb)
    with made as path, lab.swapped(run.node, path):
        got = program(run, "dodo", "--pattern", pattern, "--mb", mb, "--request-kb", kb,
                      "--compute-ns", DODO_NS, ram_mb=DODO_MB * DODO_RAM)
        tiers = {key: n for key, n in counters(run.node).items()
                 if key.startswith(("pages_", "home_"))} if dev == "network" else {}
    return {**of_program(got), "counters": tiers}


def lu(run, dev):
    """D-F7: a program that computes for all but 9 % of its time on the disk."""
    profile, mb = dodo_profile(LU_MB), LU_MB

    def gauss(dev, *flags):
        return on_device(run, profile, dev, 2 * mb, "gauss", "--mb", mb, *flags,
                         ram_mb=LU_RAM_MB)
    lone = gauss("disk")
    units = lone["n"] ** 3 / 3 / LU_UNIT
    compute = lone["seconds"] * (1 / LU_IO - 1) / units
    return of_program(gauss(dev, "--compute-ns", round(compute * 1e9)))


def of_now(run, name, dev):
    """2026: a workload of N-T3 on hardware of that year."""
    with device(run, profiles.NOW, dev, run.scale.device) as path, \
            lab.swapped(run.node, path):
        total = workload(run, name)["total"]
    return {"total": total, "said": f"{total:.4f} s"}


MEASURES = {"access": block_accesses, "requests": requests,
            "large_requests": large_requests, "lu": lu, "now": of_now}


# -- on the host ------------------------------------------------------------

def on_each(what, *args, devices=DEVICES, more=()):
    """The units of a measurement on each device."""
    return {dev: Unit(what, (*args, dev, *more)) for dev in devices}


def runs_of(got):
    """What a row is made of, to be looked at."""
    return {dev: {k: v for k, v in found.items() if k != "said"}
            for dev, found in got.items()}


def access_row(name, got):
    """A device's accesses."""
    return {"ours": got[name]["access"], "trials": got[name]["trials"],
            "profile": profiles.NSWAP2L.what}


def over_row(got):
    """One device's over the other's."""
    mean = {dev: found["access"]["mean"] for dev, found in got.items()}
    return {"ours": {"mean": round(mean["disk"] / mean["network"], 3)},
            "profile": profiles.NSWAP2L.what}


def steps_row(got):
    """A-F5.2-steps."""
    return {"ours": got["network"]["steps"], "profile": profiles.NSWAP2L.what}


def accesses_table(_):
    """A-F5.1 and A-F5.2."""
    units = on_each("access")
    for ident in ("A-F5.1", "A-F5.2"):
        for dev in DEVICES:
            yield Row(ident, dev, {dev: units[dev]},
                      functools.partial(access_row, dev))
        yield Row(ident, "disk over network", units, over_row)
    yield Row("A-F5.2-steps", "page-in", {"network": units["network"]}, steps_row)


def seconds_row(profile, got):
    """Seconds by device."""
    return {"ours": {dev: round(found["total"], 6) for dev, found in got.items()},
            "runs": runs_of(got), "profile": profile.what}


def speed_up_row(profile, key, got):
    """The disk's time over that of network RAM."""
    return {"ours": {"speed_up": round(got["disk"][key] / got["network"][key], 3)},
            "runs": runs_of(got), "profile": profile.what}


def dodo_table(_):
    """D-F7 and D-F8: the measured part's time."""
    make = functools.partial(speed_up_row, profiles.DODO, "seconds")
    yield Row("D-F7", "lu", on_each("lu"), make)
    yield Row("D-F7", "dmine", on_each("requests", "sequential", 128, more=(0,)), make)
    for pattern in PATTERNS:
        for kb in REQUESTS_KB:
            yield Row("D-F8", f"{pattern} {kb} KiB", on_each("requests", pattern, kb),
                      make)


def large_dodo_table(_):
    """D-F8-2GB."""
    for pattern in PATTERNS:
        for kb in REQUESTS_KB:
            yield Row("D-F8-2GB", f"{pattern} {kb} KiB", on_each("large_requests", pattern, kb),
                      functools.partial(speed_up_row, profiles.DODO, "seconds"))


def now_table(_):
    """2026."""
    for name in NOW_WORKLOADS:
        yield Row("2026", name, on_each("now", name, devices=NOW_DEVICES),
                  functools.partial(seconds_row, profiles.NOW))


TABLES = {"A-F5.1": accesses_table, "D-F7": dodo_table, "D-F8-2GB": large_dodo_table,
          "2026": now_table}
