# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's tables of devices: what each costs.

N-T1 and N-T7 are the calibration of the devices, N-share that of the compute model;
N-T2 and N-T3 run the workloads on each device, N-T3-causes looks for what makes a
ratio differ from the paper's, N-F2 shows which slots Radix writes and reads.
"""
import contextlib
import json
import pathlib

import paper_lab as lab
import paper_profile as profile
from paper_run import limit_mb, workload
from paper_tables import Paper

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
                                  profile.SHARES.items()}),
    # Figure 2 in words: nearly every slot is written once, and read more than once
    "N-F2": Paper("swap slots"),
}


# What may make a ratio of N-T3 another than the paper's, tried one at a time:
# the workload, what is changed, and what is set while it runs.
CAUSES = (
    ("WL1", "as in N-T3", {}),
    ("WL1", "no readahead", {"page_cluster": 0}),
    ("WL1", "slowed at its limit", {"held": True}),
    ("WL1", "swap in no order", {"flags": ("--mixed", 1)}),
    ("WL1", "seeks over all of the disk", {"span": True}),
    ("Radix", "as in N-T3", {}),
    ("Radix", "one process", {"flags": ("--processes", 1)}),
    ("IS", "as in N-T3", {}),
    ("IS", "one process", {"flags": ("--processes", 1)}),
)
PAGE_CLUSTER = pathlib.Path("/proc/sys/vm/page-cluster")


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


def judge(run, ident, name, got):
    """A figure of the calibration."""
    want = profile.WANTED[ident, name]
    off = abs(got / want - 1)
    marks = [f"off by {off:.1%}, {profile.WITHIN:.0%} are allowed"] \
        if off > profile.WITHIN else []
    run.row(ident, name, {"us": round(got, 2)}, marks,
            paper={"us": round(want, 2)})
    run.step(f"{ident} {name:20} {got:8.2f} us, the paper {want:8.2f}")


def calibration(run):
    """N-T1 and N-T7, each within 5 % of the paper's."""
    for name in CALIBRATED:
        with lab.device(run.cluster, name, 2 * PAGES >> 8, None) as path:
            for op in ("write", "read"):
                page, _ = fio(run.node, path, op, 32, PAGES)
                judge(run, "N-T1", f"{name} {op}", page)
            _, alone = fio(run.node, path, "randread", 1, PAGES // 8)
            judge(run, "N-T7", f"{name} single read", alone)


def on_device(run, name, dev):
    """A workload on a device; asked again, what came out the first time."""
    if (name, dev) not in run.memory:
        with lab.device(run.cluster, dev, run.scale.device, run.disk) as path, \
                lab.swapped(run.node, path):
            run.memory[name, dev] = workload(run, name)
    got = run.memory[name, dev]
    run.step(f"{name:6} {dev:8} {got['total']:10.3f} s")
    return got


def shares(run):
    """N-share: what is left of the time with enough RAM is not swapping."""
    for name in run.chosen(profile.SHARES):
        swapping = on_device(run, name, "network")["total"]
        alone = workload(run, name, swaps=False)["total"]
        share = 1 - alone / swapping
        off = abs(share - profile.SHARES[name])
        marks = [f"off by {off:.3f}, {profile.SHARE_WITHIN} is allowed"] \
            if off > profile.SHARE_WITHIN else []
        run.row("N-share", name, {"share": round(share, 4)}, marks,
                swapping_seconds=round(swapping, 4),
                enough_ram_seconds=round(alone, 4),
                compute_ns=profile.COMPUTE_NS[name])
        run.step(f"{name:6} enough RAM {alone:8.3f} s, share {share:.3f}")


def devices_of(run, ident, names, devices):
    """Rows of a table of workloads by device."""
    for name in run.chosen(names):
        ours, more = {}, {}
        for dev in devices:
            got = on_device(run, name, dev)
            ours[dev] = round(got["total"], 4)
            more[dev] = {"pages_in": got["pswpin"] + got.get("fill_pswpin", 0),
                         "pages_out": got["pswpout"] + got.get("fill_pswpout", 0)}
            for key in ("verified", "residual", "file_pages", "slept_seconds"):
                if key in got:
                    more[dev][key] = got[key]
        run.row(ident, name, ours, swapped=more, limit_mb=limit_mb(run, name))


def flash_table(run):
    """N-T2: flash and Nswap."""
    devices_of(run, "N-T2", profile.ALONE, PAPERS["N-T2"].columns)


def devices_table(run):
    """N-T3: each workload on each device."""
    devices_of(run, "N-T3", run.workloads, run.devices)


@contextlib.contextmanager
def changed(run, page_cluster=3, span=False):
    """The readahead of swap is 2 to the power of page_cluster, and the disk's
    seeks are those over all of it even in the small part that is used."""
    PAGE_CLUSTER.write_text(str(page_cluster))
    if span:
        run.disk_model.set(span_mb=run.scale.device)
    try:
        yield
    finally:
        PAGE_CLUSTER.write_text("3")
        run.disk_model.set(span_mb=profile.DISK["span_mb"])


def causes_table(run):
    """N-T3-causes: the time that is measured, without the filling before it."""
    for name, what, how in CAUSES:
        if name not in run.workloads:
            continue
        ours, more = {}, {}
        how = dict(how)
        work = {k: how.pop(k) for k in ("flags", "held") if k in how}
        for dev in ("network", "disk"):
            with lab.device(run.cluster, dev, run.scale.device,
                            run.disk) as path, \
                    lab.swapped(run.node, path), changed(run, **how):
                got = workload(run, name, **work)
            ours[dev] = round(got["seconds"], 4)
            more[dev] = {"pages_in": got["pswpin"], "pages_out": got["pswpout"]}
            run.step(f"{name:6} {what:28} {dev:8} {ours[dev]:10.3f} s")
        run.row("N-T3-causes", f"{name}, {what}", ours, swapped=more)


def slots_figure(run):
    """N-F2: the trace of Radix on the network, left for bench/slots.py."""
    node = run.node
    trace = run.folder / "slots.json"
    with lab.nswap(run.cluster, run.scale.device) as path:
        node.run([node.prog("nswapctl"), "set", "trace", "1"])
        with lab.swapped(node, path):
            follow = node.popen(f"{node.prog('nswapctl')} --json trace --follow"
                                f" > {trace}")
            workload(run, "Radix")
            follow.kill(2)
            follow.wait(60)
    run.row("N-F2", "Radix", {}, trace=str(trace))
    run.step("Radix's slots traced")


TABLES = {
    "calibration": (calibration, lambda run: 3 * len(CALIBRATED)),
    "N-share": (shares, lambda run: 2 * len(run.chosen(profile.SHARES))),
    "N-T2": (flash_table, lambda run: 2 * len(run.chosen(profile.ALONE))),
    "N-T3": (devices_table, lambda run: len(run.devices) * len(run.workloads)),
    "N-T3-causes": (causes_table, lambda run: 2 * len(
        [1 for name, _, _ in CAUSES if name in run.workloads])),
    "N-F2": (slots_figure, lambda run: 1),
}
