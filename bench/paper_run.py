# SPDX-License-Identifier: GPL-2.0
"""What every family of make paper's tables works with: one Run.

A family is a module with

    TABLES = {id: (function, steps function)}    both take the Run
    PAPERS = {id: paper_tables.Paper(…)}         what the paper says there

and a line in bench_paper.FAMILIES.  The function measures and calls run.row() for
each row and run.step() after each measurement; the steps function says how many
steps that makes.  A function may make rows of several tables, then TABLES names one
of them and PAPERS all.

Invariant: a workload's result is right, or the run ends.
"""
import json
import sys

import paper_lab as lab
from nswaptest.check import Failure

WORKLOADS = ("WL1", "WL2", "Radix", "IS", "WL3", "WL4")


class Scale:
    """Sizes in MiB, of the device and of what runs on it."""

    def __init__(self, mb):
        self.mb, self.limit = mb, mb // 2
        self.device = mb + mb // 2 + 16


class Run:
    """What the tables share, and where their rows go."""

    def __init__(self, cluster, options, about, folder):
        self.cluster, self.node = cluster, cluster[0]
        self.scale = Scale(options.mb)
        self.folder = folder
        self.devices = lab.DEVICES
        self.workloads = options.workloads or WORKLOADS
        self.about = dict(about, mb=self.scale.mb, limit_mb=self.scale.limit)
        self.rows = []
        self.disk = self.files = None
        self.done = self.steps = 0

    def chosen(self, names):
        """Those of some workloads that were asked for."""
        return [name for name in names if name in self.workloads]

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


def command(run, name):
    """How a workload is run; IS takes the keys that fit into its size."""
    node, mb = run.node, run.scale.mb
    if name.startswith("WL"):
        argv = [node.prog("wl"), "--workload", name, "--mb", mb,
                "--iterations", 1]
        if name in ("WL3", "WL4"):
            argv += ["--file", f"{run.files}/file", "--file-mb", mb // 2]
        return argv
    if name == "Radix":
        # 4 processes x 64 places to write to, a small part of what it may keep
        return [node.prog("radix"), "--mb", mb, "--radix-bits", 6]
    # two arrays of 4 bytes a key
    return [node.prog("is"), "--keys-log2", (mb << 17).bit_length() - 1]


def workload(run, name):
    """Run one; its result, which must be right."""
    done = run.node.run(command(run, name), timeout=36000,
                        memory_max=f"{run.scale.limit}M", check=False)
    if done.code:
        raise Failure(f"{done.cmd} ended with {done.code}: "
                      f"{done.err.strip()[:300]}")
    got = json.loads(done.out.splitlines()[-1])
    got["total"] = got["fill_seconds"] + got["seconds"] + got["check_seconds"]
    return got


def counters(node):
    """The owner's counters, by name."""
    return node.stat()["client"]
