# SPDX-License-Identifier: GPL-2.0
"""N-T6-causes: whether slow reads of flash make prefetching as slow as in N-T6 of the
Nswap2L paper, which puts that down to dm-io.

What dm-io costs a read is in the paper's N-T7: the time of all flash reads by how many
there were.  Flash takes so much longer here, all else is as in our N-T6:

  reads           each of them, as many side by side as on the paper's flash
  reads, in turn  each of them, one at a time
  all, in turn    likewise, and each write by the 700 % that the paper names as most

The paper has the figure of WL1 and HPL.  WL2 to WL4 are one process like WL1, Radix and
IS several like HPL, and have theirs.  One seed each: N-T6 has how far seeds lie apart.
"""
import functools

from tables import prefetch, profiles
from tables.rows import Paper
from tables.units import Row, Unit

IDENT = "N-T6-causes"

# N-T7: seconds of all flash reads, and how many: 843.6 us each of WL1 (with RAND), 2 848.8
# of HPL (with LRS).  What is more than flash's lone read of 164 us is dm-io's: 679.6 and
# 2 684.8 us.
FLASH_READS = {"WL1": (349.0, 413_713), "HPL": (68.9, 24_186)}
LIKE = {**dict.fromkeys(profiles.ALONE, "WL1"), **dict.fromkeys(prefetch.PARALLEL, "HPL")}
# Section VI: "up to 700 % overhead on reads and writes to flash"
WRITES = 7

READS, ALL = "reads", "all, in turn"
SLOWER = (READS, "reads, in turn", ALL)

PAPERS = {IDENT: Paper("seconds by prefetching policy, on flash that is slower",
                       prefetch.T6, {f"{name}, {how}": prefetch.PAPERS["N-T6"].rows[name]
                                     for name in prefetch.WORKLOADS for how in SLOWER},
                       over="none")}


def overhead_ns(name):
    """What dm-io costs a workload's read of flash."""
    seconds, reads = FLASH_READS[LIKE[name]]
    alone = profiles.WANTED["N-T7", "flash single read"] * 1000
    return round(seconds * 1e9 / reads - alone)


def knobs(name, how):
    """Flash that is slower."""
    more = overhead_ns(name)
    if how == READS:
        return {"read_ns": profiles.FLASH["read_ns"] + more}
    bus = {"bus_read_ns": profiles.FLASH["bus_read_ns"] + more}
    if how == ALL:
        bus["bus_write_ns"] = round(profiles.FLASH["bus_write_ns"] * (1 + WRITES))
    return bus


def slowed(run, name, which, how):
    """A workload with a policy, on flash that is slower."""
    return prefetch.watched(run, name, prefetch.way_of(which), knobs(name, how))


MEASURES = {"slowed": slowed}


# -- on the host ------------------------------------------------------------

def row(name, got):
    """Seconds of each, and what became of the prefetched pages."""
    return {"ours": prefetch.took(got), "runs": prefetch.runs_of(got),
            "overhead_us": overhead_ns(name) / 1000}


def table(names):
    """Each workload with each policy, in each way slower."""
    for name in prefetch.WORKLOADS:
        for how in SLOWER if name in names else ():
            units = {which: Unit("slowed", (name, which, how))
                     for which in prefetch.POLICIES}
            yield Row(IDENT, f"{name}, {how}",
                      {prefetch.NONE: Unit("prefetch", (name, prefetch.NONE)), **units},
                      functools.partial(row, name))


TABLES = {IDENT: table}
