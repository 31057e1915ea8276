# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=device: fio over each device, in one boot, in turns.

Every device is filled with incompressible data first.  fio stays on one CPU,
for all devices alike: wandering between two costs a wake-up each time.  A row is the median of
its runs; iops_min and iops_max are the spread.  Runs in which the peer's own
counter disagrees with fio, or other programs disturbed the machine, put their
marks on the row.
"""
import json
import time

from lib import devices
from lib.measure import Progress, median, served_mark, turns

NODES = 2
NAMES = ["nswap", "nvme-tcp", "nbd", "brd"]
# (op, block size, depth)
JOBS = [("randread", "4k", 1), ("randwrite", "4k", 1),
        ("randread", "4k", 32), ("randwrite", "4k", 32),
        ("read", "128k", 8), ("write", "128k", 8)]
MB = 128
PAGE = 4096


def fio(node, path, op, bs, qd, seconds):
    """One fio run; its own JSON for the direction that ran."""
    done = node.run(
        ["fio", "--name=bench", f"--filename={path}", f"--rw={op}",
         f"--bs={bs}", f"--iodepth={qd}", "--ioengine=libaio", "--direct=1",
         f"--size={MB}M", "--time_based", f"--runtime={seconds}",
         "--norandommap", "--randrepeat=0", "--lat_percentiles=1",
         "--clat_percentiles=0", "--percentile_list=50:99",
         "--cpus_allowed=0", "--thread", "--output-format=json"],
        timeout=seconds + 120)
    job = json.loads(done.out[done.out.index("{"):])["jobs"][0]
    return job["read" if "read" in op else "write"]


def fill(node, path):
    """Every page written once with random data."""
    node.run(["fio", "--name=fill", f"--filename={path}", "--rw=write",
              "--bs=128k", "--iodepth=8", "--ioengine=libaio", "--direct=1",
              f"--size={MB}M", "--refill_buffers", "--thread"], timeout=300)


def one_run(device, job, seconds, load):
    """Measure one job on one device."""
    op = job[0]
    before = device.served()
    begin = time.time()
    got = fio(device.client, device.path, *job, seconds)
    mark = load.mark(begin, time.time())
    after = device.served()
    served = None
    if before:
        side = 0 if "read" in op else 1
        served = after[side] - before[side]
    pages = got["io_bytes"] // PAGE
    lat = got["lat_ns"]
    return {
        "iops": got["iops"],
        "mean_us": lat["mean"] / 1e3,
        "p50_us": lat["percentile"]["50.000000"] / 1e3,
        "p99_us": lat["percentile"]["99.000000"] / 1e3,
        "pages": pages,
        "peer_pages": served,
        "marks": [m for m in (mark, served_mark(served, pages)) if m],
    }


def rows_of(results, about):
    """The rows of device.json from {(device, job): [run, …]}."""
    rows = []
    for (name, (op, bs, qd)), runs in results.items():
        row = {"device": name, "op": op, "bs": bs, "qd": qd}
        for key in ("iops", "mean_us", "p50_us", "p99_us"):
            row[key] = round(median([r[key] for r in runs]), 1)
        served = [r["peer_pages"] for r in runs if r["peer_pages"] is not None]
        row["peer_pages"] = sum(served) if served else None
        row["lab"] = about["lab"]
        row["pages"] = sum(r["pages"] for r in runs)
        row["runs"] = len(runs)
        row["iops_min"] = round(min(r["iops"] for r in runs), 1)
        row["iops_max"] = round(max(r["iops"] for r in runs), 1)
        row["marks"] = sorted({m for r in runs for m in r["marks"]})
        row["kernel"], row["commit"] = about["kernel"], about["commit"]
        rows.append(row)
    return rows


def run(cluster, options, about, load):
    """Measure; the rows."""
    client, server = cluster.nodes
    names = [n for n in NAMES if n in options.devices]
    parts = options.parts
    todo = {f"{op} {bs} depth {qd}": (op, bs, qd) for op, bs, qd in JOBS}
    todo = {part: job for part, job in todo.items() if part not in parts}
    with devices.opened(names, client, server, MB,
                        options.kernel) as ready:
        for device in ready.values():
            fill(client, device.path)
        progress = Progress([1] * (len(todo) * len(names) * options.rounds))
        for part, job in todo.items():
            results = {}
            for _, name in turns(names, options.rounds):
                got = one_run(ready[name], job, options.seconds, load)
                results.setdefault((name, job), []).append(got)
                progress.step(1, f"{name:9} {job[0]:9} {job[1]:>4} depth "
                                 f"{job[2]:2}  {got['iops']:9.0f} IOPS"
                                 f"  {got['mean_us']:8.1f} us")
            parts.add(part, rows_of(results, about))
    return parts.all_rows()
