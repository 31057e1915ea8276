# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=swap: a program bigger than its cgroup, on each device.

WL1 writes all its pages in order and then reads them in order, WL2 does both
in random orders; the program is tests/progs/eater, every page is compared.
The program stays on one CPU, for all devices alike.  Devices take turns in one
boot; a row is the median of its runs.
"""
import json
import time

import devices
from measure import Progress, median, served_mark, turns

NODES = 2
NAMES = ["nswap", "nvme-tcp", "nbd", "zram", "brd"]
WORKLOADS = {"WL1": "seq", "WL2": "random"}
MB, LIMIT_MB, DEVICE_MB = 192, 96, 224
# nbd takes about ten times as long as the others: fewer runs of it.
WEIGHT = {"nbd": 8}


def one_run(device, order, load):
    """Swap on, run the eater in its cgroup, swap off."""
    node, path = device.client, device.path
    node.run(["mkswap", path])
    node.run(["swapon", "-p", "100", path])
    try:
        served, sent = device.served(), device.messages()
        begin = time.time()
        done = node.run(["taskset", "-c", "0", node.prog("eater"), "--mb", MB, "--passes", 1,
                         "--order", order],
                        timeout=900, memory_max=f"{LIMIT_MB}M", check=False)
        mark = load.mark(begin, time.time())
        served_now, sent_now = device.served(), device.messages()
    finally:
        node.run(["swapoff", path], timeout=300)
    if done.code not in (0, 1):
        done.check()
    got = json.loads(done.out)
    got["marks"] = [mark] if mark else []
    if served:
        got["peer_loaded"] = served_now[0] - served[0]
        moved = [(got["peer_loaded"], got["pswpin"]),
                 (served_now[1] - served[1], got["pswpout"])]
        got["marks"] += [m for m in (served_mark(*pair) for pair in moved) if m]
    if sent:
        for what in ("load", "store"):
            pages = {"load": "pages_in", "store": "pages_out"}[what]
            moved = sent_now[pages] - sent[pages]
            msgs = sent_now[what + "_msgs"] - sent[what + "_msgs"]
            got[what + "_per_1000"] = 1000 * msgs / moved if moved else None
    return got


def rows_of(results, about):
    """The rows of swap.json from {(device, workload): [run, …]}."""
    rows = []
    for (name, workload), runs in results.items():
        row = {"device": name, "workload": workload, "mb": MB,
               "limit_mb": LIMIT_MB,
               "seconds": round(median([r["seconds"] for r in runs]), 3),
               "pages_in": int(median([r["pswpin"] for r in runs])),
               "pages_out": int(median([r["pswpout"] for r in runs])),
               "us_per_access":
                   round(median([r["us_per_access"] for r in runs]), 1),
               "wrong_pages": sum(r["wrong_pages"] for r in runs),
               "lab": about["lab"],
               "failed_reads": sum(r["failed_reads"] for r in runs),
               "peer_pages": int(median([r["peer_loaded"] for r in runs]))
               if "peer_loaded" in runs[0] else None,
               "us_min": min(r["us_per_access"] for r in runs),
               "us_max": max(r["us_per_access"] for r in runs),
               "runs": len(runs)}
        for key in ("load_per_1000", "store_per_1000"):
            value = median([r.get(key) for r in runs])
            row[key] = value if value is None else round(value, 1)
        row["marks"] = sorted({m for r in runs for m in r["marks"]})
        if row["wrong_pages"]:
            row["marks"].insert(0, "wrong pages")
        row["kernel"], row["commit"] = about["kernel"], about["commit"]
        rows.append(row)
    return rows


def run(cluster, options, about, load):
    """Measure; the rows."""
    client, server = cluster.nodes
    names = [n for n in NAMES if n in options.devices]
    few = max(1, options.rounds // 3)
    plan = [(workload, name) for workload in WORKLOADS
            for r, name in turns(names, options.rounds)
            if name not in WEIGHT or r < few]
    progress = Progress([WEIGHT.get(name, 1) for _, name in plan])
    results = {}
    with devices.opened(names, client, server, DEVICE_MB,
                        options.kernel) as ready:
        for workload, name in plan:
            got = one_run(ready[name], WORKLOADS[workload], load)
            results.setdefault((name, workload), []).append(got)
            progress.step(WEIGHT.get(name, 1),
                          f"{name:9} {workload}  {got['us_per_access']:8.1f} us "
                          f"an access  {got['wrong_pages']} wrong pages")
    return rows_of(results, about)
