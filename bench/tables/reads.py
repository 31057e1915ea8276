# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's Table VII: what the page reads of a run take, from network RAM and
from flash, without prefetching and with it.

N-T7-runs has the paper's columns, and the share of flash in all reads and in their time;
N-T7-reads has one read of each, which does not depend on how large a run is, and
N-T7-causes the same where every page is read by itself.  The runs are those of N-T6 with
nswap's own time stamps switched on, each of which is a reading of the clock.

A read is timed from the block layer's request to its end, and each page of a message of
several counts with the time of the whole.  What the prefetcher reads over the network is
among the reads from there.
"""
import functools

from tables import prefetch
from tables.nswap import changed
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import SEEDS, counters, workload

# The kernel's default.
READAHEAD = 3
TIERS = {"network": "remote", "flash": "flash"}
COUNTED = ("pages_in", "pages_flash_in", "pages_prefetched")
RUNS = (("WL1", prefetch.NONE), ("WL1", prefetch.T8["WL1"]),
        ("HPL", prefetch.NONE), ("HPL", prefetch.T8["HPL"]))

PAPERS = {
    "N-T7-runs": Paper(
        "TT: seconds of a run; NWRsp: us of a page read from network RAM; FRCtm, NWRCtm: "
        "seconds of all page reads from flash, from network RAM; NFreads: page reads from "
        "flash; of reads, of time: the share of flash in all reads and in what they took",
        ("TT", "NWRsp", "FRCtm", "NWRCtm", "NFreads"), {
            "WL1, none": (455.8, 177.5, None, 840.5, None),
            "WL1, rand": (616.8, 141.5, 349.0, 655.3, 413_713),
            "HPL, none": (628.4, 153.1, None, 96.1, None),
            "HPL, lrs": (708.5, 152.7, 68.9, 93.0, 24_186)}),
    "N-T7-reads": Paper("us of a page read in a run"),
    "N-T7-causes": Paper("us of a page read in a run, without readahead"),
}


# -- inside the lab's kernel ------------------------------------------------

def page_ins(steps, tier):
    """Page reads from a tier: how many, seconds of all, microseconds of one and of its
    steps."""
    took = {s["step"]: s["mean_ns"] / 1e3 for s in steps
            if (s["op"], s["tier"]) == ("page-in", tier)}
    pages = next(s["pages"] for s in steps
                 if (s["op"], s["tier"], s["step"]) == ("page-in", tier, "total"))
    us = took.pop("total")
    return {"pages": pages, "seconds": round(pages * us / 1e6, 4), "us": round(us, 2),
            "steps_us": {step: round(mean, 2) for step, mean in took.items()}}


def timed(run, name, which, readahead=READAHEAD):
    """A run with one policy, or without prefetching: what its reads took.  2 to the power
    of readahead pages are read at a time."""
    node = run.node
    with changed(run, page_cluster=readahead), \
            prefetch.prefetching(run, prefetch.way_of(which), {}):
        before = counters(node)
        node.ctl("set", "latency", "1")
        got = workload(run, name)
        node.ctl("set", "latency", "0")
        now = counters(node)
        steps = node.ctl("stat", "--latency")
    found = {device: page_ins(steps, tier) for device, tier in TIERS.items()}
    return {"seconds": round(got["total"], 4), **found,
            **{key: now[key] - before[key] for key in COUNTED},
            "said": f"{got['total']:.3f} s, " + ", ".join(
                f"{one['pages']} pages of {one['us']:.1f} us from {device}"
                for device, one in found.items())}


MEASURES = {"timed": timed}


# -- on the host ------------------------------------------------------------

def with_shares(row, network_reads):
    """A run by the paper's columns, and the shares of flash where any is said."""
    if row.get("FRCtm") is None:
        return row
    return {**row, "of reads": round(row["NFreads"] / (row["NFreads"] + network_reads), 4),
            "of time": round(row["FRCtm"] / (row["FRCtm"] + row["NWRCtm"]), 4)}


def papers_run(name):
    """A row of the paper's table, without what it has not."""
    row = {column: value for column, value in PAPERS["N-T7-runs"].row(name).items()
           if value is not None}
    return with_shares(row, row["NWRCtm"] / row["NWRsp"] * 1e6)


def papers_reads(name):
    """What one read takes by the paper's table."""
    row = papers_run(name)
    flash = {"flash": round(row["FRCtm"] / row["NFreads"] * 1e6, 1)} if "FRCtm" in row else {}
    return {"network": row["NWRsp"], **flash}


def run_row(name, got):
    """N-T7-runs."""
    found = got["run"]
    network, flash = found["network"], found["flash"]
    row = {"TT": found["seconds"], "NWRsp": network["us"], "FRCtm": flash["seconds"],
           "NWRCtm": network["seconds"], "NFreads": flash["pages"]}
    return {"ours": with_shares(row, network["pages"]), "paper": papers_run(name),
            "runs": prefetch.runs_of(got)}


def reads_row(name, got):
    """N-T7-reads and N-T7-causes."""
    found = got["run"]
    return {"ours": {device: found[device]["us"] for device in TIERS
                     if found[device]["pages"]},
            "paper": papers_reads(name), "runs": prefetch.runs_of(got)}


def tables(names):
    """N-T7-runs and N-T7-reads of the same runs, N-T7-causes of others."""
    for ident, make, how in (("N-T7-runs", run_row, ()), ("N-T7-reads", reads_row, ()),
                             ("N-T7-causes", reads_row, (0,))):
        for workload_name, which in RUNS:
            if workload_name in names:
                name = f"{workload_name}, {which}"
                yield Row(ident, name, {"run": Unit("timed", (workload_name, which, *how))},
                          functools.partial(make, name), SEEDS[workload_name])


TABLES = {"N-T7-runs": tables}
