# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=trace: which swap slots programs write and read.

Radix, as in Figure 2 of the Nswap2L paper, and WL1 swap with the slot trace on, to a
peer that has room for a part of their pages and to modelled flash for the rest.  Kept
is how often slots were written and read at either tier; the traces themselves are left
in the folder for slots.py, which draws the figure.  What the trace has must be what
nswap's own counters have, and what it missed is said.
"""
import collections
import json
import statistics

from lib import apps
from runs import swap
from tables import lab
from plot import slots
from lib.measure import Progress
from nswaptest.check import wait_for
from nswaptest.modelled import loaded

NODES = 2
NAMES = ["nswap"]
WORKLOADS = ("Radix", "WL1")
LIMIT_MB = 8
DEVICE_MB, FLASH_MB, LEND_MB = 32, 48, 6
# Flash of some years ago.
FLASH = {"channels": 10, "depth": 32, "read_ns": 50_000, "write_ns": 50_000,
         "bus_read_ns": 5_000, "bus_write_ns": 5_000}
COUNTERS = {("page-out", "remote"): "pages_out", ("page-in", "remote"): "pages_in",
            ("page-out", "flash"): "pages_flash_out",
            ("page-in", "flash"): "pages_flash_in"}


def traced(node, app, folder, load):
    """Run a program with the trace on: (its result, entries, what the counters of
    each op and tier rose by, a mark or None)."""
    node.ctl("set", "trace", 1)
    # what the ring has from the program before is not this one's
    old = max((entry["number"] for entry in node.ctl("trace")), default=0)
    follow = node.popen([node.prog("nswapctl"), "--json", "trace", "--follow"])
    before = node.stat()["client"]
    got, begin, end = swap.execute(node, app, limited=True)
    now = node.stat()["client"]
    newest = max(entry["number"] for entry in node.ctl("trace"))
    entries = []

    def followed():
        entries[:] = slots.entries_of(follow.output())
        return entries and entries[-1]["number"] >= newest
    wait_for(followed, 60, "the trace has been read")
    entries = [entry for entry in entries if entry["number"] > old]
    follow.kill(2)
    follow.wait(30)
    node.ctl("set", "trace", 0)
    (folder / f"slots-{app.name}.json").write_text(json.dumps(entries))
    counted = {where: now[name] - before[name] for where, name in COUNTERS.items()}
    return got, entries, counted, load.mark(begin, end)


def rows_of(app, got, entries, counted, about):
    """Rows of trace.json, one for each op and tier, from a program's trace."""
    missed = slots.missed(entries)
    rows = []
    for (op, tier), pages in counted.items():
        mine = [e for e in entries if (e["op"], e["tier"]) == (op, tier)]
        times = collections.Counter(
            slot for e in mine for slot in range(e["slot"], e["slot"] + e["slots"]))
        seen = sum(times.values())
        row = {"workload": app.name, "op": op, "tier": tier, "mb": app.mb,
               "limit_mb": app.limit_mb, "seconds": round(got["seconds"], 3),
               "entries": len(mine), "pages": seen, "slots": len(times),
               "slots_once": sum(n == 1 for n in times.values()),
               "times_a_slot": round(seen / len(times), 2) if times else None,
               "times_most": max(times.values(), default=0),
               "pages_an_entry": round(seen / len(mine), 2) if mine else None,
               "median_us": round(statistics.median(
                   e["latency_ns"] for e in mine) / 1e3, 1) if mine else None,
               "counted_pages": pages, "entries_missed": missed,
               "wrong_pages": got["wrong"], "lab": about["lab"], "runs": 1,
               "marks": []}
        if got["wrong"]:
            row["marks"].append("wrong pages or results")
        if not missed and seen != pages:
            row["marks"].append(f"the trace has {seen} pages of {pages}")
        if missed:
            row["marks"].append(f"the trace missed {missed} entries")
        row["marks"] += [got["mark"]] if got["mark"] else []
        row["kernel"], row["commit"] = about["kernel"], about["commit"]
        rows.append(row)
    return rows


def run(cluster, options, about, load):
    """Measure; the rows."""
    node, peer = cluster
    peer.up(lend=f"{LEND_MB}M", peers=[node], no_broadcast=True)
    node.up(lend="0", peers=[peer], no_broadcast=True)
    wait_for(lambda: node.peers().get(peer.addr, {}).get("free_pages", 0) >=
             LEND_MB << 8, 30, "the peer offers its room")
    todo = [apps.fit(name, LIMIT_MB) for name in WORKLOADS
            if not options.workloads or name in options.workloads]
    right = swap.in_enough_ram(node, todo, load)
    progress, rows = Progress([1] * len(todo)), []
    for app in todo:
        with loaded(options.model), lab.flash_of(FLASH_MB, **FLASH) as flash:
            dev = node.device_add(f"{DEVICE_MB}M", flash=[flash.path])
            with lab.swapped(node, f"/dev/{dev}"):
                got, entries, counted, mark = traced(node, app, options.folder, load)
            node.device_del(dev)
        got["mark"], got["wrong"] = mark, apps.wrong(got, right[app.name])
        rows += rows_of(app, got, entries, counted, about)
        progress.step(1, f"{app.name:8} {got['seconds']:6.2f} s, {len(entries)} "
                         f"entries, {got['wrong']} wrong")
    return rows
