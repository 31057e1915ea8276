# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=device: fio over each device, in one boot, in turns.

Every device is filled with incompressible data first.  fio stays on one CPU,
for all devices alike: wandering between two costs a wake-up each time.  A row is the median of
its runs; iops_min and iops_max are the spread.  Runs in which the peer's own
counter disagrees with fio, or other programs disturbed the machine, put their
marks on the row.

At 128 KiB and 32 under way, as one stream and as four with 32 each, iperf3 takes
its turn among the devices, over as many connections and the way that the data go;
share_of_iperf3 is the median of the rounds' own shares.  Four streams are not kept
on one CPU.  cpu_us_a_page is processor time of the whole kernel, which has both
ends, the network, and fio from its start to its end.
"""
import json
import time

from lib import devices, iperf
from lib.measure import Progress, median, rounded, served_mark, turns

NODES = 2
NAMES = ["nswap", "nvme-tcp", "nbd", "brd", "iperf3"]
# (op, block size, depth, streams)
JOBS = [("randread", "4k", 1, 1), ("randwrite", "4k", 1, 1),
        ("randread", "4k", 32, 1), ("randwrite", "4k", 32, 1),
        ("read", "128k", 8, 1), ("write", "128k", 8, 1),
        ("read", "128k", 32, 1), ("write", "128k", 32, 1),
        ("read", "128k", 32, 4), ("write", "128k", 32, 4)]
MB = 128
PAGE = 4096
RUN = 128 << 10
LATENCIES = {"p50_us": "50.000000", "p99_us": "99.000000", "p999_us": "99.900000"}


def named(job):
    """A job in words."""
    op, bs, qd, streams = job
    return f"{op} {bs} depth {qd}" + (f" x {streams}" if streams > 1 else "")


def takers(names, job):
    """Who takes a turn at a job."""
    return [name for name in names if name != "iperf3" or job[1:3] == ("128k", 32)]


def fio(node, path, job, seconds):
    """One fio run; its own JSON for the direction that ran."""
    op, bs, qd, streams = job
    pinned = ["--cpus_allowed=0"] if streams == 1 else []
    done = node.run(
        ["fio", "--name=bench", f"--filename={path}", f"--rw={op}",
         f"--bs={bs}", f"--iodepth={qd}", "--ioengine=libaio", "--direct=1",
         f"--size={MB // streams}M", f"--offset_increment={MB // streams}M",
         f"--numjobs={streams}", "--group_reporting",
         "--time_based", f"--runtime={seconds}",
         "--norandommap", "--randrepeat=0", "--lat_percentiles=1",
         "--clat_percentiles=0", "--percentile_list=50:99:99.9",
         "--thread", "--output-format=json", *pinned],
        timeout=seconds + 120)
    said = json.loads(done.out[done.out.index("{"):])["jobs"][0]
    return said["read" if "read" in op else "write"]


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
    got = fio(device.client, device.path, job, seconds)
    end = time.time()
    mark, cpu_s = load.mark(begin, end), load.seconds(begin, end)
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
        **{key: lat["percentile"][at] / 1e3 for key, at in LATENCIES.items()},
        "cpu_us": cpu_s and 1e6 * cpu_s / pages,
        "pages": pages,
        "peer_pages": served,
        "marks": [m for m in (mark, served_mark(served, pages)) if m],
    }


def network_run(client, server, job, seconds, load):
    """iperf3, in runs of as many bytes as the devices' requests."""
    op, _, _, streams = job
    ends = (server, client) if op == "read" else (client, server)
    begin = time.time()
    mbit_s = iperf.send(*ends, "-t", str(seconds), "-P", str(streams),
                        timeout=seconds + 60)
    mark = load.mark(begin, time.time())
    iops = mbit_s * 1e6 / 8 / RUN
    return {"iops": iops, "mean_us": None, **dict.fromkeys(LATENCIES), "cpu_us": None,
            "pages": int(iops * seconds * RUN / PAGE), "peer_pages": None,
            "marks": [mark] if mark else []}


def rows_of(results, about):
    """The rows of device.json from {(device, job): [run, …]}."""
    rows = []
    for (name, job), runs in results.items():
        row = dict(zip(("device", "op", "bs", "qd", "streams"), (name, *job)))
        for key in ("iops", "mean_us", *LATENCIES):
            row[key] = rounded(median([r[key] for r in runs]), 1)
        row["cpu_us_a_page"] = rounded(median([r["cpu_us"] for r in runs]), 2)
        network = results.get(("iperf3", job))
        row["share_of_iperf3"] = network and name != "iperf3" and round(median(
            [a["iops"] / b["iops"] for a, b in zip(runs, network)]), 3) or None
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
    todo = {named(job): job for job in JOBS if named(job) not in parts}
    with devices.opened([n for n in names if n != "iperf3"], client, server, MB,
                        options.kernel) as ready:
        for device in ready.values():
            fill(client, device.path)
        progress = Progress([1] * options.rounds * sum(
            len(takers(names, job)) for job in todo.values()))
        for part, job in todo.items():
            results = {}
            for _, name in turns(takers(names, job), options.rounds):
                got = one_run(ready[name], job, options.seconds, load) \
                    if name in ready else \
                    network_run(client, server, job, options.seconds, load)
                results.setdefault((name, job), []).append(got)
                progress.step(1, f"{name:9} {part:26} {got['iops']:9.0f} IOPS"
                                 f"  {got['mean_us'] or 0:8.1f} us")
            parts.add(part, rows_of(results, about))
    return parts.all_rows()
