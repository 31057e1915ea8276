# SPDX-License-Identifier: GPL-2.0
"""make paper: tables of the Nswap2L paper under virtual time.

N-T1 and N-T7 are the calibration; N-T3 runs the workloads on each device, N-T4
counts what prefetching by each policy is worth, N-T5 how many pages are read at
once with and without it, N-F2 which slots Radix writes and reads.

Under virtual time the processor is infinitely fast: all that takes time is
the network, flash and disk, and what the programs sleep for their computing.
"""
import collections
import contextlib
import json
import sys

import paper_lab as lab
import paper_profile as profile
import paper_tables as tables
from nswaptest.check import Failure
from nswaptest.modelled import loaded

NODES = 2
PAGES = 8192
WORKLOADS = ("WL1", "WL2", "Radix", "IS", "WL3", "WL4")
PREFETCHED = ("WL1", "WL2", "IS", "Radix")
PAGE_READS = ("page-in",)


class Scale:
    """Sizes in MiB, of the device and of what runs on it."""

    def __init__(self, mb):
        self.mb, self.limit = mb, mb // 2
        self.device = mb + mb // 2 + 16


def command(node, name, scale, files):
    """How a workload is run; IS takes the keys that fit into its size."""
    if name.startswith("WL"):
        argv = [node.prog("wl"), "--workload", name, "--mb", scale.mb,
                "--iterations", 1]
        if name in ("WL3", "WL4"):
            argv += ["--file", f"{files}/file", "--file-mb", scale.mb // 2]
        return argv
    if name == "Radix":
        # 4 processes x 64 places to write to, a small part of what it may keep
        return [node.prog("radix"), "--mb", scale.mb, "--radix-bits", 6]
    # two arrays of 4 bytes a key
    return [node.prog("is"), "--keys-log2", (scale.mb << 17).bit_length() - 1]


def workload(node, name, scale, files):
    """Run one; its result, which must be right."""
    done = node.run(command(node, name, scale, files), timeout=36000,
                    memory_max=f"{scale.limit}M", check=False)
    if done.code:
        raise Failure(f"{done.cmd} ended with {done.code}: "
                      f"{done.err.strip()[:300]}")
    got = json.loads(done.out.splitlines()[-1])
    got["total"] = got["fill_seconds"] + got["seconds"] + got["check_seconds"]
    return got


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


def calibration(run):
    """N-T1 and N-T7, each within 5 % of the paper's."""
    names = {"network": "network", "flash": "flash"}
    for name in names:
        with lab.device(run.cluster, name, 2 * PAGES >> 8, None) as path:
            for op in ("write", "read"):
                page, _ = fio(run.node, path, op, 32, PAGES)
                run.judge("N-T1", f"{name} {op}", page)
            _, alone = fio(run.node, path, "randread", 1, PAGES // 8)
            run.judge("N-T7", f"{name} single read", alone)


def devices_table(run):
    """N-T3: each workload on each device."""
    for name in run.workloads:
        ours, more = {}, {}
        for dev in run.devices:
            with lab.device(run.cluster, dev, run.scale.device,
                            run.disk) as path, lab.swapped(run.node, path):
                got = workload(run.node, name, run.scale, run.files)
            ours[dev] = round(got["total"], 4)
            more[dev] = {"pages_in": got["pswpin"] + got["fill_pswpin"],
                         "pages_out": got["pswpout"] + got["fill_pswpout"]}
            run.step(f"{name:6} {dev:8} {ours[dev]:10.3f} s")
        run.row("N-T3", name, ours, swapped=more)


def counters(node):
    """The owner's counters, by name."""
    return node.stat()["client"]


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
        for key, value in (("period_ms", "20"), ("when", "swapping"), ("count", "percent-out"),
                           ("pct", "10"), ("which", which or "rr")):
            node.ctl("prefetch", "set", key, value)
        node.ctl("prefetch", "on" if which else "off")
        with lab.swapped(node, path):
            yield


def prefetch_tables(run):
    """N-T4 and N-T5: each workload with each policy, and without."""
    for name in run.prefetched:
        ratio, at_once, more = {}, {}, {}
        for which in (None, *tables.POLICIES):
            with prefetching(run, which):
                before = counters(run.node)
                run.node.run("echo 1 > /proc/nswap/profile")
                got = workload(run.node, name, run.scale, run.files)
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


def slots_figure(run):
    """N-F2: the trace of Radix on the network, left for bench/slots.py."""
    node = run.node
    trace = run.folder / "slots.json"
    with lab.nswap(run.cluster, run.scale.device) as path:
        node.run([node.prog("nswapctl"), "set", "trace", "1"])
        with lab.swapped(node, path):
            follow = node.popen(f"{node.prog('nswapctl')} --json trace --follow"
                                f" > {trace}")
            workload(node, "Radix", run.scale, run.files)
            follow.kill(2)
            follow.wait(60)
    run.row("N-F2", "Radix", {}, trace=str(trace))
    run.step("Radix's slots traced")


TABLES = {"calibration": calibration, "N-T3": devices_table,
          "N-T4": prefetch_tables, "N-F2": slots_figure}


class Run:
    """What the tables share, and where their rows go."""

    def __init__(self, cluster, options, about, folder):
        self.cluster, self.node = cluster, cluster[0]
        self.scale = Scale(options.mb)
        self.folder = folder
        self.devices = tables.DEVICES
        self.workloads = options.workloads or WORKLOADS
        self.prefetched = [w for w in PREFETCHED if w in self.workloads]
        self.about = dict(about, mb=self.scale.mb, limit_mb=self.scale.limit)
        self.rows = []
        self.disk = self.files = None
        steps = {"calibration": 6, "N-F2": 1,
                 "N-T3": len(self.devices) * len(self.workloads),
                 "N-T4": 5 * len(self.prefetched)}
        self.steps = sum(steps[t] for t in options.tables)
        self.done = 0

    def step(self, text):
        """One measurement is over.  How long it took is not known in here."""
        self.done += 1
        print(f"   {self.done:2} of {self.steps}  {text}", file=sys.stderr,
              flush=True)

    def row(self, ident, name, ours, marks=(), **more):
        """Keep a row of a table; paper= only where it is no table's."""
        paper = {"paper": more.pop("paper")} if "paper" in more else {}
        self.rows.append({"id": ident, "name": name, "ours": ours, **paper,
                          "marks": list(marks), "about": self.about,
                          "more": more})
        (self.folder / "rows.json").write_text(json.dumps(self.rows))

    def judge(self, ident, name, got):
        """A figure of the calibration."""
        want = profile.WANTED[ident, name]
        off = abs(got / want - 1)
        marks = [f"off by {off:.1%}, {profile.WITHIN:.0%} are allowed"] \
            if off > profile.WITHIN else []
        self.row(ident, name, {"us": round(got, 2)}, marks,
                 paper={"us": round(want, 2)})
        self.step(f"{ident} {name:20} {got:8.2f} us, the paper {want:8.2f}")


def run(cluster, options, about, folder):
    """Measure; the rows."""
    this = Run(cluster, options, about, folder)
    lab.ethernet(cluster)
    with loaded(options.model), \
            lab.disk_of(this.scale.device) as (this.disk, this.files):
        for name in options.tables:
            TABLES[name](this)
    return this.rows
