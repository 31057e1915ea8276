# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's tables of devices: what each costs.

N-T1 and N-T7 are the calibration of the devices, N-share that of the compute model;
N-T2 and N-T3 run the workloads on each device, N-T3-causes looks for what makes a
ratio differ from the paper's, N-F2 shows which slots Radix writes and reads.
"""
import contextlib
import functools
import json
import pathlib

from plot import slots as trace_of_slots
from tables import lab, profiles
from tables.workload import SEEDS, WORKLOADS, workload
from tables.rows import Paper
from tables.units import Row, Unit

PAGES = 8192
CALIBRATED = ("network", "flash")

PAPERS = {
    "N-T1": Paper("us a page of many in order, straight through the device"),
    "N-T2": Paper("seconds", ("flash", "network"), {
        "WL1": (253.34, 232.50), "WL2": (181.60, 119.49),
        "WL3": (208.63, 147.31), "WL4": (259.24, 120.06)}, over="network"),
    "N-T3": Paper("seconds", lab.DEVICES, {
        "WL1": (443.0, 471.8, 574.2, 1547.4),
        "WL2": (591.6, 609.7, 883.1, 17754.8),
        "WL3": (503.3, 526.4, 514.1, 1701.3),
        "WL4": (578.9, 591.7, 978.4, 17881.2),
        "Radix": (110.7, 113.7, 147.4, 255.5),
        "IS": (94.4, 95.1, 107.6, 224.4),
        "HPL": (536.1, 529.7, 598.7, 815.3)}, over="network"),
    "N-T3-causes": Paper("seconds", ("network", "disk"), over="network"),
    "N-T7": Paper("us of a lone page read"),
    "N-share": Paper("share of the run time on network RAM that is due to swapping",
                     ("share",), {name: (share,) for name, share in
                                  profiles.SHARES.items()}),
    # Figure 2 in words: nearly every slot is written once, and read more than once
    "N-F2": Paper("pages out and in, slots written, and reads of a slot that is read"),
}


# What may make a ratio of N-T3 another than the paper's, tried one at a time:
# the workload, what is changed, and what is set while it runs.
SORTED = ("a disk scheduler", {"scheduler": "mq-deadline"})
WIDER = ("readahead of up to 64 pages", {"page_cluster": 6})
CAUSES = {
    ("WL1", "no readahead"): {"page_cluster": 0},
    ("WL1", "slowed at its limit"): {"held": True},
    ("WL1", "swap in no order"): {"flags": ("--mixed", 1)},
    ("WL1", "seeks over all of the disk"): {"span": True},
    ("WL3", "a file on a disk of its own"): {"apart": True},
    ("WL3", "a file used a tenth as often"): {"flags": ("--file-rest-us", 100_000)},
    ("WL4", "a file on a disk of its own"): {"apart": True},
    ("WL4", "a file used a tenth as often"): {"flags": ("--file-rest-us", 100_000)},
    **{("WL2", what): how for what, how in (SORTED,)},
    **{(name, what): how for name in ("Radix", "IS") for what, how in (
        ("one process", {"flags": ("--processes", 1)}), SORTED, WIDER)},
    **{("HPL", what): how for what, how in (
        ("no readahead", {"page_cluster": 0}), WIDER, SORTED)},
}
CAUSE_DEVICES = ("network", "disk")
PAGE_CLUSTER = pathlib.Path("/proc/sys/vm/page-cluster")


# -- inside the lab's kernel ------------------------------------------------

def fio(node, path, op, depth, pages):
    """Microseconds a page, and of one request, by fio's own clock."""
    done = node.run(
        ["fio", "--name=paper", f"--filename={path}", f"--rw={op}", "--bs=4k",
         f"--iodepth={depth}", "--ioengine=libaio", "--direct=1",
         f"--size={pages << 12}", "--clocksource=clock_gettime", "--thread",
         "--randrepeat=1", "--output-format=json"], timeout=3600)
    job = json.loads(done.out[done.out.index("{"):])["jobs"][0]
    got = job["read" if "read" in op else "write"]
    return got["runtime"] * 1e3 / got["total_ios"], got["lat_ns"]["mean"] / 1e3


def raw(run, name):
    """A device by itself: a page of many in order, and a lone page read."""
    with lab.device(run.cluster, name, 2 * PAGES >> 8, None) as path:
        many = {op: fio(run.node, path, op, 32, PAGES)[0]
                for op in ("write", "read")}
        alone = fio(run.node, path, "randread", 1, PAGES // 8)[1]
    return {**many, "single read": alone,
            "said": f"a page of many is written in {many['write']:.2f} us and read "
                    f"in {many['read']:.2f}, a lone one read in {alone:.2f}"}


@contextlib.contextmanager
def changed(run, page_cluster=3, span=False, apart=False, scheduler=None):
    """The readahead of swap is 2 to the power of page_cluster; the disk's seeks are
    those over all of it even in the small part that is used; WL3's and WL4's file
    has a disk of its own; requests to the disk are sorted."""
    with contextlib.ExitStack() as stack:
        PAGE_CLUSTER.write_text(str(page_cluster))
        if span:
            run.disk_model.set(span_mb=run.scale.device)
        if apart:
            run.files = stack.enter_context(
                lab.disk_of(run.scale.device, f"{lab.FILES}-apart"))[2]
        if scheduler:
            run.disk_model, run.disk, run.files = stack.enter_context(
                lab.disk_of(run.scale.device, f"{lab.FILES}-sorted", scheduler))
        yield


def result(got):
    """What tables take of a workload's result."""
    kept = {key: got[key] for key in ("verified", "residual", "file_pages",
                                      "slept_seconds") if key in got}
    return {"total": got["total"], "seconds": got["seconds"],
            "pages_in": got["pswpin"] + got.get("fill_pswpin", 0),
            "pages_out": got["pswpout"] + got.get("fill_pswpout", 0),
            **kept, "said": f"{got['total']:.3f} s"}


def on_device(run, name, dev, cause=""):
    """A workload that swaps to a device, as it is or with something changed."""
    how = dict(CAUSES[name, cause]) if cause else {}
    work = {k: how.pop(k) for k in ("flags", "held") if k in how}
    with changed(run, **how), \
            lab.device(run.cluster, dev, run.scale.device, run.disk) as path, \
            lab.swapped(run.node, path):
        return result(workload(run, name, **work))


def alone(run, name):
    """A workload with enough RAM."""
    return result(workload(run, name, swaps=False))


@contextlib.contextmanager
def traced_on(run, path):
    """A device is swapped to, and its slots traced: the file for bench/plot/slots.py."""
    node, trace = run.node, run.folder / "slots.json"
    node.run([node.prog("nswapctl"), "set", "trace", "1"])
    with lab.swapped(node, path):
        follow = node.popen(f"{node.prog('nswapctl')} --json trace --follow > {trace}")
        yield str(trace)
        follow.kill(2)
        follow.wait(60)


def slots(run, name):
    """The trace of a workload on the network."""
    with lab.nswap(run.cluster, run.scale.device) as path, traced_on(run, path) as trace:
        got = workload(run, name)
    return {**result(got), "trace": trace}


MEASURES = {"raw": raw, "workload": on_device, "alone": alone, "slots": slots}


# -- on the host ------------------------------------------------------------

def judged(ident, name, key, got):
    """A figure of the calibration."""
    ours, want = got["raw"][key], profiles.WANTED[ident, name]
    off = abs(ours / want - 1)
    marks = [f"off by {off:.1%}, {profiles.WITHIN:.0%} are allowed"] \
        if off > profiles.WITHIN else []
    return {"ours": {"us": round(ours, 2)}, "marks": marks,
            "paper": {"us": round(want, 2)}}


def calibration(_):
    """N-T1 and N-T7, each within 5 % of the paper's."""
    for ident, keys in (("N-T1", ("write", "read")), ("N-T7", ("single read",))):
        for device in CALIBRATED:
            for key in keys:
                name = f"{device} {key}"
                yield Row(ident, name, {"raw": Unit("raw", (device,))},
                          functools.partial(judged, ident, name, key))


def share(name, got):
    """What is left of the time with enough RAM is not swapping."""
    ours = 1 - got["alone"]["total"] / got["network"]["total"]
    off = abs(ours - profiles.SHARES[name])
    marks = [f"off by {off:.3f}, {profiles.SHARE_WITHIN} is allowed"] \
        if off > profiles.SHARE_WITHIN else []
    return {"ours": {"share": round(ours, 4)}, "marks": marks,
            "swapping_seconds": round(got["network"]["total"], 4),
            "enough_ram_seconds": round(got["alone"]["total"], 4),
            "compute_ns": profiles.COMPUTE_NS[name]}


def shares(names):
    """N-share."""
    for name in names:
        if name in profiles.SHARES:
            yield Row("N-share", name, {
                "network": Unit("workload", (name, "network")),
                "alone": Unit("alone", (name,))}, functools.partial(share, name),
                SEEDS[name])


def times(name, got):
    """A workload's time on each device."""
    more = {dev: {k: v for k, v in found.items()
                  if k not in ("total", "seconds", "said")}
            for dev, found in got.items()}
    return {"ours": {dev: round(found["total"], 4) for dev, found in got.items()},
            "swapped": more}


def devices_of(ident, names):
    """Rows of a table of workloads by device."""
    for name in names:
        yield Row(ident, name, {dev: Unit("workload", (name, dev))
                                for dev in PAPERS[ident].columns},
                  functools.partial(times, name), SEEDS[name])


def flash_table(names):
    """N-T2: flash and Nswap."""
    return devices_of("N-T2", [n for n in names if n in profiles.ALONE])


def devices_table(names):
    """N-T3: each workload on each device."""
    return devices_of("N-T3", names)


def measured_part(got):
    """The time that is measured, without the filling before it."""
    return {"ours": {dev: round(found["seconds"], 4) for dev, found in got.items()},
            "swapped": {dev: {k: found[k] for k in ("pages_in", "pages_out")}
                        for dev, found in got.items()}}


def causes_table(names):
    """N-T3-causes."""
    for name in WORKLOADS:
        causes = [what for who, what in CAUSES if who == name and who in names]
        for what in ["", *causes] if causes else []:
            more = (what,) if what else ()
            yield Row("N-T3-causes", f"{name}, {what or 'as in N-T3'}", {
                dev: Unit("workload", (name, dev, *more)) for dev in CAUSE_DEVICES},
                measured_part)


def traced(got):
    """N-F2's row: what the trace comes to, and where it is."""
    trace = got["slots"]["trace"]
    entries = trace_of_slots.entries_of(pathlib.Path(trace).read_text(encoding="utf-8"))
    found = trace_of_slots.summary_of(entries, trace_of_slots.points_of(entries))
    missed = found.pop("entries_missed")
    return {"ours": found, "trace": trace,
            "marks": [f"the trace misses {missed} entries"] if missed else []}


def slots_figure(names):
    """N-F2."""
    if "Radix" in names:
        yield Row("N-F2", "Radix", {"slots": Unit("slots", ("Radix",))}, traced)


TABLES = {"calibration": calibration, "N-share": shares, "N-T2": flash_table,
          "N-T3": devices_table, "N-T3-causes": causes_table, "N-F2": slots_figure}
