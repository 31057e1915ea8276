# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's HPL as several processes, which the paper's is.

  N-T3-ranks  HPL of four ranks on each device of N-T3, and with enough RAM

N-T3 has HPL as one process.  The matrix is the same here, and an operation takes a rank
four times as long, so that computing takes what it takes there.  A rank that waits
sleeps (bench/programs/hplsleep.c).

Invariant: HPL's residual passed in every run.
"""
import functools

from tables import lab, nswap, profiles
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import SEEDS, workload

NAME = "HPL, four ranks"
WORK = "HPL4"
ENOUGH = "enough RAM"

PAPERS = {"N-T3-ranks": Paper("seconds", (*lab.DEVICES, ENOUGH), {
    NAME: nswap.PAPERS["N-T3"].rows["HPL"]}, over="network")}
UNDRAWN = tuple(PAPERS)


# -- inside the lab's kernel ------------------------------------------------

def ranked(run, dev):
    """Four ranks that swap to a device, or have enough RAM."""
    if dev == ENOUGH:
        return nswap.result(workload(run, WORK, swaps=False))
    mb = run.scale.device + profiles.RANKS_MORE_MB
    with lab.disk_of(mb, f"{lab.FILES}-ranks") as (_, disk, _), \
            lab.device(run.cluster, dev, mb, disk) as path, lab.swapped(run.node, path):
        return nswap.result(workload(run, WORK))


MEASURES = {"ranks": ranked}


# -- on the host ------------------------------------------------------------

def ranks_table(names):
    """N-T3-ranks."""
    if "HPL" in names:
        yield Row("N-T3-ranks", NAME, {
            dev: Unit("ranks", (dev,)) for dev in (*lab.DEVICES, ENOUGH)},
            functools.partial(nswap.times, NAME), SEEDS["HPL"])


TABLES = {"N-T3-ranks": ranks_table}
