# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=swap, BENCH=others: programs bigger than their RAM, on each
device.

swap: WL1 to WL4, Radix, IS and HPL as in the Nswap2L paper; others: those of the
other papers.  Each runs in a memory cgroup, on one
CPU, for all devices alike, those of several processes held by memory.high and
the others by memory.max; WL3's and WL4's file is on a RAM disk.  Devices take
turns in one boot; a row is the median of its runs.  Each program runs first
with enough RAM, which is what its checksum is compared with, and the device
called "ram" in the results.

At a hard limit the kernel kills a program now and then although its pages could go out, most
on a device that is slow to take them: all that it has is under way then.  Such a run is no
figure: it is done again, and the row says how many there were.
"""
import pathlib
import time

from lib import apps, devices
from lib.measure import Progress, median, rounded, served_mark, turns
from nswaptest.check import Failure

NODES = 2
NAMES = ["nswap", "nvme-tcp", "nbd", "zram", "brd", "flash", "disk"]
WORKLOADS = {"swap": ["WL1", "WL2", "WL3", "WL4", "Radix", "IS", "HPL"],
             "others": ["quicksort", "POV-Ray", "GAUSS", "FFT", "MVEC", "NBODY",
                        "sequential", "hotcold", "random"]}
# The RAM each program is to have; those that go over all their memory again
# and again get less to go over.  A disk takes milliseconds for each page at random,
# so what is swapped to one is small.
LIMIT_MB, DEVICE_MB = {"swap": 12, "others": 96}, 224
SMALL = {"Radix": 8, "IS": 7, "HPL": 18, "quicksort": 48, "POV-Ray": 48,
         "GAUSS": 8, "FFT": 8, "NBODY": 8}
# How many times as long as with the others a run takes, about; the slowest are
# run fewer times.
WEIGHT = {"nvme-tcp": 6, "nbd": 5, "disk": 20}
FEW = ("nbd", "disk")
TIMEOUT_S = 1800
KILLS_MOST = 3      # of one run
# For the files of WL3 and WL4: a disk of its own, and its mount point.
FILE_DISK, FILE_FOLDER = "/dev/ram3", "/run/bench-files"


class Killed(Failure):
    """The kernel killed a program: its memory group had nothing that it could free."""


def execute(node, app, limited=False):
    """Run a program; its result, and when it began and ended.  Killed, at its limit."""
    command = ["taskset", "-c", "0",
               *app.command(node, file=f"{FILE_FOLDER}/file")]
    limit_mb = app.limit_mb if limited else None
    if limited and app.kind.processes:
        command = apps.held(command, f"{limit_mb}M")
        limit_mb *= 2
    begin = time.time()
    kills = node.vmstat("oom_kill")
    done = node.run(command, timeout=TIMEOUT_S, check=False,
                    memory_max=f"{limit_mb}M" if limited else None)
    if limited and node.vmstat("oom_kill") != kills:
        raise Killed(f"the kernel killed {app.name}, held at {limit_mb} MiB")
    return apps.result_of(done), begin, time.time()


def one_run(device, program, right, load, fits=False):
    """Swap on, run a program in its cgroup, swap off; program(node): its result, and
    when it began and ended; fits: it may well not swap."""
    node, path = device.client, device.path
    node.run(["mkswap", path])
    node.run(["swapon", "-p", "100", path])
    try:
        before = node_swapped(node)
        served, sent = device.served(), device.messages()
        got, begin, end = program(node)
        mark = load.mark(begin, end)
        served_now, sent_now = device.served(), device.messages()
        after = node_swapped(node)
    finally:
        node.run(["swapoff", path], timeout=300)
    got["marks"] = [mark] if mark else []
    if after == before and not fits:
        got["marks"].append("nothing was swapped")
    got["wrong"] = apps.wrong(got, right)
    if served:
        moved = [(served_now[k] - served[k], after[k] - before[k])
                 for k in (0, 1)]
        got["peer_loaded"] = moved[0][0]
        got["marks"] += [m for m in (served_mark(*pair) for pair in moved) if m]
    if sent:
        for what in ("load", "store"):
            pages = {"load": "pages_in", "store": "pages_out"}[what]
            moved = sent_now[pages] - sent[pages]
            msgs = sent_now[what + "_msgs"] - sent[what + "_msgs"]
            got[what + "_per_1000"] = 1000 * msgs / moved if moved else None
    return got


def ended(once):
    """A run that the kernel did not end: what once() says, and how often it was killed."""
    kills = 0
    while True:
        try:
            return dict(once(), kills=kills)
        except Killed:
            kills += 1
            if kills == KILLS_MOST:
                raise


def node_swapped(node):
    """Pages swapped in and out so far."""
    return node.vmstat("pswpin"), node.vmstat("pswpout")


def checked(runs, right):
    """What shows that the results of a row are right: how much each run verified,
    and that it came to what a run with enough RAM comes to (None if a program
    only compares pages, as it goes)."""
    found = {"verified": min(r["verified"] for r in runs)}
    if "residual" in right:
        found["residual"] = max(r["residual"] for r in runs)
    sums = {r.get("checksum") for r in runs}
    found["checksum"] = ", ".join(sorted(s for s in sums if s)) or None
    found["as_in_ram"] = sums == {right["checksum"]} if "checksum" in right \
        else None
    return found


def row_of(name, app, runs, right, about):
    """A row of swap.json from the runs of one program on one device."""
    us = [r["us_per_access"] for r in runs if r.get("us_per_access")]
    seconds = [r["seconds"] for r in runs]
    row = {"device": name, "workload": app.name, "mb": app.mb,
           "limit_mb": app.limit_mb,
           "seconds": round(median(seconds), 3),
           "pages_in": int(median([r["pswpin"] for r in runs])),
           "pages_out": int(median([r["pswpout"] for r in runs])),
           "us_per_access": rounded(median(us), 1),
           "wrong_pages": sum(r["wrong"] for r in runs),
           "lab": about["lab"],
           "peer_pages": int(median([r["peer_loaded"] for r in runs]))
           if "peer_loaded" in runs[0] else None,
           "seconds_min": min(seconds), "seconds_max": max(seconds),
           "us_min": min(us, default=None), "us_max": max(us, default=None),
           "runs": len(runs), "killed": sum(r.get("kills", 0) for r in runs)}
    for key in ("load_per_1000", "store_per_1000"):
        row[key] = rounded(median([r.get(key) for r in runs]), 1)
    row.update(checked(runs, right))
    row["marks"] = sorted({m for r in runs for m in r["marks"]})
    if row["killed"]:
        row["marks"].append(f"killed {row['killed']} times besides")
    if row["wrong_pages"]:
        row["marks"].insert(0, "wrong pages or results")
    row["kernel"], row["commit"] = about["kernel"], about["commit"]
    return row


def file_disk(node):
    """A file system for the files of WL3 and WL4."""
    pathlib.Path(FILE_FOLDER).mkdir(exist_ok=True)
    node.run(["mkfs.ext4", "-q", "-F", FILE_DISK])
    node.run(["mount", FILE_DISK, FILE_FOLDER])


def chosen(bench, wanted):
    """The programs to run, each as large as its RAM asks for."""
    return [apps.fit(name, SMALL.get(name, LIMIT_MB[bench]))
            for name in WORKLOADS[bench] if not wanted or name in wanted]


def in_enough_ram(client, todo, load):
    """The result of each program when it need not swap: {name: result}."""
    right = {}
    for app in todo:
        got, begin, end = execute(client, app)
        if apps.wrong(got):
            raise Failure(f"{app.name} is wrong with enough RAM")
        mark = load.mark(begin, end)
        right[app.name] = dict(got, wrong=0, marks=[mark] if mark else [])
    return right


def run(cluster, options, about, load):
    """Measure; the rows."""
    client, server = cluster.nodes
    names = [n for n in NAMES if n in options.devices]
    few = max(1, options.rounds // 3)
    todo = [app for app in chosen(options.bench, options.workloads)
            if app.name not in options.parts]
    plan = [name for r, name in turns(names, options.rounds)
            if name not in FEW or r < few]
    progress = Progress([WEIGHT.get(name, 1) for name in plan] * len(todo))
    if any(app.kind.file for app in todo):
        file_disk(client)
    right = in_enough_ram(client, todo, load)
    with devices.opened(names, client, server, DEVICE_MB, options.kernel,
                        options.model) as ready:
        for app in todo:
            runs = {"ram": [right[app.name]]}
            for name in plan:
                got = ended(lambda name=name, app=app: one_run(
                    ready[name], lambda node: execute(node, app, True),
                    right[app.name], load))
                runs.setdefault(name, []).append(got)
                progress.step(WEIGHT.get(name, 1),
                              f"{name:9} {app.name:10} {got['seconds']:8.2f} s  "
                              f"{got['pswpin']:7} in {got['pswpout']:7} out  "
                              f"{got['wrong']} wrong, {got['kills']} killed")
            options.parts.add(app.name, [
                row_of(name, app, got, right[app.name], about)
                for name, got in runs.items()])
    if any(app.kind.file for app in todo):
        client.run(["umount", FILE_FOLDER])
    return options.parts.all_rows()
