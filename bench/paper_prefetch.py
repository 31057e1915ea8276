# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's tables of prefetching from flash.

N-T4 counts what prefetching by each policy is worth, N-T5 how many pages are read
at once with and without it; one run makes both.
"""
import collections
import contextlib

import paper_lab as lab
from paper_run import counters, workload
from paper_tables import Paper

WORKLOADS = ("WL1", "WL2", "IS", "Radix")
POLICIES = ("rr", "rand", "lrs", "mrs")
PAGE_READS = ("page-in",)

PAPERS = {
    "N-T4": Paper("flash reads per prefetched page", POLICIES, {
        "WL1": (1.1, 1.2, 1.1, 1.2), "WL2": (3.0, 3.2, 2.7, 3.0),
        "IS": (1.7, 1.4, 1.9, 1.6), "Radix": (0.5, 0.5, 0.2, 0.4)}),
    "N-T5": Paper("pages being read at once, mean of the samples with any",
                  ("without", "with"), {
                      "WL1": (5.5, 3.8), "WL2": (5.7, 5.3), "IS": (5.6, 6.1),
                      "Radix": (5.4, 13.7)}),
}


def reads_at_once(node):
    """The mean of the profile's samples that had a page being read."""
    lines = [line.split() for line in
             node.read("/proc/nswap/profile").splitlines()]
    found = collections.Counter()
    for fields in lines[1:]:
        row = dict(zip(lines[0], fields))
        if row["op"] in PAGE_READS:
            found["sum"] += int(row["sum"])
            found["busy"] = max(found["busy"], int(row["busy"]))
    return found["sum"] / found["busy"] if found["busy"] else 0.0


@contextlib.contextmanager
def prefetching(run, which):
    """nswap with flash, read as the paper's; which is None for no prefetch."""
    node = run.node
    with lab.flash_of(run.scale.device) as flash, \
            lab.nswap(run.cluster, run.scale.device, [flash.path]) as path:
        node.ctl("policy", "read", "prefetched-first")
        node.ctl("set", "profile_ms", "10")
        # a run is short at this scale, so is the time between wake-ups
        for key, value in (("period_ms", "20"), ("when", "swapping"),
                           ("count", "percent-out"), ("pct", "10"),
                           ("which", which or "rr")):
            node.ctl("prefetch", "set", key, value)
        node.ctl("prefetch", "on" if which else "off")
        with lab.swapped(node, path):
            yield


def prefetch_tables(run):
    """N-T4 and N-T5: each workload with each policy, and without."""
    for name in run.chosen(WORKLOADS):
        ratio, at_once, more = {}, {}, {}
        for which in (None, *POLICIES):
            with prefetching(run, which):
                before = counters(run.node)
                run.node.run("echo 1 > /proc/nswap/profile")
                got = workload(run, name)
                mean = reads_at_once(run.node)
                now = counters(run.node)
            brought = now["pages_prefetched"] - before["pages_prefetched"]
            read = now["prefetch_hits"] - before["prefetch_hits"]
            if which:
                ratio[which] = round(read / brought, 3) if brought else 0.0
            if which in (None, "rr"):
                at_once["with" if which else "without"] = round(mean, 2)
            more[which or "none"] = {"seconds": round(got["total"], 4),
                                     "prefetched": brought, "read": read,
                                     "reads_at_once": round(mean, 2)}
            run.step(f"{name:6} prefetch {which or 'off':5} "
                     f"{got['total']:9.3f} s, {brought} prefetched, "
                     f"{read} of them read, {mean:.1f} at once")
        run.row("N-T4", name, ratio, runs=more)
        run.row("N-T5", name, at_once)


TABLES = {
    "N-T4": (prefetch_tables,
             lambda run: (1 + len(POLICIES)) * len(run.chosen(WORKLOADS))),
}
