# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's tables of devices: what each costs.

N-T1 and N-T7 are the calibration; N-T3 runs the workloads on each device, N-F2
shows which slots Radix writes and reads.
"""
import json

import paper_lab as lab
import paper_profile as profile
from paper_run import workload
from paper_tables import Paper

PAGES = 8192
CALIBRATED = ("network", "flash")

PAPERS = {
    "N-T1": Paper("us a page of many in order, straight through the device"),
    "N-T3": Paper("seconds", lab.DEVICES, {
        "WL1": (443.0, 471.8, 574.2, 1547.4),
        "WL2": (591.6, 609.7, 883.1, 17754.8),
        "WL3": (503.3, 526.4, 514.1, 1701.3),
        "WL4": (578.9, 591.7, 978.4, 17881.2),
        "Radix": (110.7, 113.7, 147.4, 255.5),
        "IS": (94.4, 95.1, 107.6, 224.4)}, over="network"),
    "N-T7": Paper("us of a lone page read"),
    # Figure 2 in words: nearly every slot is written once, and read more than once
    "N-F2": Paper("swap slots"),
}


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


def devices_table(run):
    """N-T3: each workload on each device."""
    for name in run.workloads:
        ours, more = {}, {}
        for dev in run.devices:
            with lab.device(run.cluster, dev, run.scale.device,
                            run.disk) as path, lab.swapped(run.node, path):
                got = workload(run, name)
            ours[dev] = round(got["total"], 4)
            more[dev] = {"pages_in": got["pswpin"] + got["fill_pswpin"],
                         "pages_out": got["pswpout"] + got["fill_pswpout"]}
            run.step(f"{name:6} {dev:8} {ours[dev]:10.3f} s")
        run.row("N-T3", name, ours, swapped=more)


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
    "N-T3": (devices_table,
             lambda run: len(run.devices) * len(run.workloads)),
    "N-F2": (slots_figure, lambda run: 1),
}
