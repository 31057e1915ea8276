# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=tiers: what nswap adds to the flash below it.

        node: nswap0 -- all pages on -- mf1      mf0, the same flash, raw
              nswap1 -- all pages on -- mf3      mf2, the same flash, raw

fio with 4 KiB through nswap, of which everything is on modelled flash, against
the same model without nswap, in turns.  At depth 1 flash takes 0, 50 or 200 us
a page; at depth 32 it takes 200 us, or 0, and does two requests at a time, so
that the device itself is the limit.  At 0 us what counts is the processor time of
a page.  A row whose raw run leaves less than 30 % of the processors idle is
marked cpu_bound: there the lab is measured, not nswap.
"""
import os
import pathlib
import time

from runs.device import MB, PAGE, fill, fio
from lib.measure import Progress, median, turns
from nswaptest.check import Failure
from nswaptest.modelled import Modelled, loaded

NODES = 1
NAMES = ["raw", "nswap"]
OPS = ["randread", "randwrite", "read", "write"]
# (flash_us, depth)
CASES = [(0, 1), (50, 1), (200, 1), (0, 32), (200, 32)]
IDLE = 0.30
FLASH_MB = MB + 32
# how many requests the flash of each depth queues and serves at once
QUEUE = {1: 64, 32: 2}


class Side:
    """The raw and the nswap device over flash of one queue length."""

    def __init__(self, node, qd):
        self.flash = {}
        self.path = {}
        for name in NAMES:
            self.flash[name] = Modelled(f"mf{qd}{name}", "flash", mb=FLASH_MB,
                                        depth=QUEUE[qd], channels=QUEUE[qd])
        self.path["raw"] = self.flash["raw"].path
        self.path["nswap"] = "/dev/" + node.device_add(
            f"{MB}M", flash=[self.flash["nswap"].path])
        for path in self.path.values():
            fill(node, path)
        # slot 0, where swap has its header, is kept by the node itself
        on_flash = node.devices()[-1]["slots_flash"]
        if on_flash < (MB << 8) - 1:
            raise Failure(f"{on_flash} slots are on flash, "
                          f"{MB << 8} were written")

    def take(self, microseconds):
        """Both take so long for a page from now on."""
        for flash in self.flash.values():
            flash.set(read_ns=microseconds * 1000,
                      write_ns=microseconds * 1000)


def idle_s():
    """Seconds that this kernel's processors were idle so far.  Where another
    program of the machine had them, they were not."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def switches():
    """Switches of tasks in this kernel so far."""
    lines = pathlib.Path("/proc/stat").read_text().split("\n")
    return next(int(line.split()[1]) for line in lines
                if line.startswith("ctxt"))


def one_run(node, path, op, qd, options, load):
    """One fio run: its rate, and what this kernel cost meanwhile."""
    begin, idle, switched = time.time(), idle_s(), switches()
    got = fio(node, path, (op, "4k", qd, 1), options.seconds)
    end, idle, switched = (time.time(), idle_s() - idle,
                           switches() - switched)
    own = load.own(begin, end)
    mark = load.mark(begin, end)
    pages = got["io_bytes"] // PAGE
    return {"iops": got["iops"], "mean_us": got["lat_ns"]["mean"] / 1e3,
            "idle": idle / (end - begin) / os.cpu_count(),
            "cpu_us": own * (end - begin) * 1e6 / max(1, pages),
            "switches": switched / max(1, pages),
            "marks": [mark] if mark else []}


def row_of(case, runs, about):
    """One row of tiers.json from {"raw": [run, …], "nswap": [run, …]}."""
    flash_us, qd, op = case

    def middle(name, key, digits=1):
        return round(median([r[key] for r in runs[name]]), digits)
    row = {"flash_us": flash_us, "op": op, "qd": qd,
           "raw_iops": middle("raw", "iops"),
           "nswap_iops": middle("nswap", "iops")}
    row["ratio"] = round(row["nswap_iops"] / row["raw_iops"], 3)
    idle = median([r["idle"] for r in runs["raw"]])
    row["cpu_bound"] = idle < IDLE
    row["raw_idle"] = round(idle, 2)
    for name in NAMES:
        row[f"{name}_us"] = middle(name, "mean_us")
        row[f"{name}_cpu_us"] = middle(name, "cpu_us")
        row[f"{name}_switches"] = middle(name, "switches", 2)
    ratios = [n["iops"] / r["iops"]
              for r, n in zip(runs["raw"], runs["nswap"])]
    row["ratio_min"], row["ratio_max"] = (round(f(ratios), 3)
                                          for f in (min, max))
    row["lab"], row["runs"] = about["lab"], len(ratios)
    row["marks"] = sorted({m for name in NAMES for r in runs[name]
                           for m in r["marks"]})
    row["kernel"], row["commit"] = about["kernel"], about["commit"]
    return row


def run(cluster, options, about, load):
    """Measure; the rows."""
    node = cluster[0]
    rows = []
    with loaded(options.model):
        node.up(lend="0", no_broadcast=True)
        sides = {qd: Side(node, qd) for qd in QUEUE}
        progress = Progress([1] * (len(CASES) * len(OPS)))
        for flash_us, qd in CASES:
            sides[qd].take(flash_us)
            for op in OPS:
                runs = {name: [] for name in NAMES}
                for _, name in turns(NAMES, options.rounds):
                    runs[name].append(one_run(node, sides[qd].path[name], op,
                                              qd, options, load))
                row = row_of((flash_us, qd, op), runs, about)
                rows.append(row)
                progress.step(1, f"{flash_us:3} us depth {qd:2} {op:9}  "
                                 f"{row['raw_iops']:8.0f} raw  "
                                 f"{row['nswap_iops']:8.0f} nswap  "
                                 f"{row['ratio']:.3f}"
                                 f"{'  cpu_bound' * row['cpu_bound']}")
        for dev in node.devices():
            node.device_del(dev["device"])
        node.down()
    return rows
