# SPDX-License-Identifier: GPL-2.0
"""The Anemone thesis's ray tracer.

  A-T5.1   POV-Ray: time, page faults and what a fault takes

The program is that of BENCH=others (bench/lib/outside.py), on the paper profile. It
computes in no time: there that is 15 s of 677 and more. Of its spheres a third fits into
RAM, as of the thesis's 293 MB. The picture is the same with enough RAM, or the run ends.
"""
import functools

from lib import apps
from nswaptest.check import Failure
from tables import quicksorts
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import tended

# What POV-Ray and what starts it take before there is a sphere (lib/outside.py), and the
# spheres.
BASE_MB, SPHERES_MB, SHARE = 18, 18, 1 / 3
SMALL_MB = BASE_MB + 1

PAPERS = {
    # its 293 MB are 16 times our spheres
    "A-T5.1": Paper("POV-Ray: seconds, faults that read, other faults, ms of one that reads",
                    quicksorts.COUNTS,
                    {"no swap": (14.93, None, 92185), "disk": (1355, 103661, 564702, 12.9),
                     "network": (677, 102262, 564244, 6.5),
                     "disk over network": (2.00, None, None, 1.98)}),
}
# Columns of several units have no scale in common.
UNDRAWN = ("A-T5.1",)


# -- inside the lab's kernel ------------------------------------------------

def traced(run, mb, limit_mb=None):
    """A picture of spheres of so much, held at a limit; what the program says."""
    argv = [apps.PYTHON, str(apps.HERE / "outside.py"), "povray", "--mb", str(mb)]
    limit = round(limit_mb * 2 ** 20) if limit_mb else None
    with tended():
        done = run.node.run(apps.held(argv, limit) if limit else argv, timeout=360_000,
                            check=False, memory_max=2 * limit if limit else None)
    got = apps.result_of(done)
    if apps.wrong(got):
        raise Failure(f"{done.cmd} was wrong: {done.err.strip()[:300]}")
    return got


def povray(run, dev):
    """A-T5.1: the program's own files are read before."""
    traced(run, SMALL_MB)
    limit_mb = None if dev == "ram" else BASE_MB + SPHERES_MB * SHARE
    with quicksorts.swap(run, dev, 2 * (BASE_MB + SPHERES_MB)):
        got = traced(run, BASE_MB + SPHERES_MB, limit_mb)
    return {"total": round(got["seconds"], 4), "major": got["major"],
            "minor": got["faults"] - got["major"], "pages_in": got["pswpin"],
            "pages_out": got["pswpout"], "checksum": got["checksum"],
            "said": f"{got['seconds']:.3f} s"}


MEASURES = {"povray": povray}


# -- on the host ------------------------------------------------------------

def same_picture(make, got):
    """A row of those that have drawn the same."""
    if len({found["checksum"] for found in got.values()}) > 1:
        raise Failure("the pictures are not the same")
    return make(got)


def table(_):
    """A-T5.1."""
    units = {dev: Unit("povray", (dev,)) for dev in ("ram", *quicksorts.DEVICES)}
    for name, dev in (("no swap", "ram"), *((dev, dev) for dev in quicksorts.DEVICES)):
        yield Row("A-T5.1", name, {"ram": units["ram"], dev: units[dev]},
                  functools.partial(same_picture, functools.partial(
                      quicksorts.statistics_row, dev)))
    yield Row("A-T5.1", "disk over network", units,
              functools.partial(same_picture, quicksorts.gain_row))


TABLES = {"A-T5.1": table}
