# SPDX-License-Identifier: GPL-2.0
"""The Anemone thesis's programs of others.

  A-T5.1   POV-Ray: time, page faults and what a fault takes
  A-T5.3   ns-2, likewise

Programs are those of BENCH=others (bench/lib/outside.py), on the paper profile. What they
have in memory is a 16th of the thesis's 293 and 384 MB, and about 98 MB of it fitted into
RAM there. POV-Ray computes in no time, there that is 15 s of 677 and more; ns-2 sleeps as
long as the thesis's computes. What comes out is the same with enough RAM, or the run ends.
"""
import dataclasses
import functools

from lib import apps
from nswaptest.check import Failure
from tables import quicksorts
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import tended


@dataclasses.dataclass(frozen=True)
class Outside:
    """A program of others: what it and what starts it take before it has anything, in MiB,
    (lib/outside.py), what it has then, how much of that fits into RAM, and what computing
    takes."""
    table: str
    base_mb: int
    mb: int
    ram_mb: float
    compute_ns: int = 0


PROGRAMS = {
    "povray": Outside("A-T5.1", 18, 18, 6),
    # 1316.86 s for 100 simulated ones there
    "ns2": Outside("A-T5.3", 18, 24, 6, round(1316.86e9 / 100_000 / 16)),
}

PAPERS = {
    "A-T5.1": Paper("POV-Ray: seconds, faults that read, other faults, ms of one that reads",
                    quicksorts.COUNTS,
                    {"no swap": (14.93, None, 92185), "disk": (1355, 103661, 564702, 12.9),
                     "network": (677, 102262, 564244, 6.5),
                     "disk over network": (2.00, None, None, 1.98)}),
    "A-T5.3": Paper("ns-2: seconds, faults that read, other faults, ms of one that reads",
                    quicksorts.COUNTS,
                    {"no swap": (1316.86, None, 105773.8),
                     "disk": (7900.33, 401342, 509224, 16.403),
                     "network": (3675.25, 360760, 466785, 6.537),
                     "disk over network": (2.149, None, None, 2.509)}),
}
# Columns of several units have no scale in common.
UNDRAWN = tuple(PAPERS)


# -- inside the lab's kernel ------------------------------------------------

def ran(run, name, mb, limit_mb=None, compute_ns=0):
    """A program that has so much, held at a limit; what it says."""
    argv = [apps.PYTHON, str(apps.HERE / "outside.py"), name, "--mb", str(mb),
            "--compute-ns", str(compute_ns)]
    limit = round(limit_mb * 2 ** 20) if limit_mb else None
    with tended():
        done = run.node.run(apps.held(argv, limit) if limit else argv, timeout=360_000,
                            check=False, memory_max=2 * limit if limit else None)
    got = apps.result_of(done)
    if apps.wrong(got):
        raise Failure(f"{done.cmd} was wrong: {done.err.strip()[:300]}")
    return got


def prepared(run, name):
    """The program's own files are in the page cache."""
    ran(run, name, PROGRAMS[name].base_mb + 1)


def outside(run, name, dev):
    """One of the programs on a device."""
    it = PROGRAMS[name]
    prepared(run, name)
    limit_mb = None if dev == "ram" else it.base_mb + it.ram_mb
    with quicksorts.swap(run, dev, 2 * (it.base_mb + it.mb)):
        got = ran(run, name, it.base_mb + it.mb, limit_mb, it.compute_ns)
    return {"total": round(got["seconds"], 4), "major": got["major"],
            "minor": got["faults"] - got["major"], "pages_in": got["pswpin"],
            "pages_out": got["pswpout"], "checksum": got["checksum"],
            "said": f"{got['seconds']:.3f} s"}


MEASURES = {"outside": outside}


# -- on the host ------------------------------------------------------------

def alike(make, got):
    """A row of those that came to the same."""
    if len({found["checksum"] for found in got.values()}) > 1:
        raise Failure("what came out is not the same")
    return make(got)


def table(name, _):
    """A-T5.1 or A-T5.3."""
    ident = PROGRAMS[name].table
    units = {dev: Unit("outside", (name, dev)) for dev in ("ram", *quicksorts.DEVICES)}
    for row, dev in (("no swap", "ram"), *((dev, dev) for dev in quicksorts.DEVICES)):
        yield Row(ident, row, {"ram": units["ram"], dev: units[dev]},
                  functools.partial(alike, functools.partial(quicksorts.statistics_row, dev)))
    yield Row(ident, "disk over network", units,
              functools.partial(alike, quicksorts.gain_row))


TABLES = {it.table: functools.partial(table, name) for name, it in PROGRAMS.items()}
