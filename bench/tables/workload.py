# SPDX-License-Identifier: GPL-2.0
"""How make paper's programs are run, inside the lab's kernel: one Run for each boot.

Invariant: a workload's result is right, or the run ends.
"""
import contextlib
import json
import os
import pathlib
import sys
import threading

from lib import apps
from tables import profiles
from nswaptest.check import Failure

BENCH = pathlib.Path(__file__).resolve().parents[1]
WORKLOADS = ("WL1", "WL2", "WL3", "WL4", "Radix", "IS", "HPL")
# How many seeds a workload is measured with: those of several processes go another
# way with each.
SEEDS = {**dict.fromkeys(WORKLOADS, 1), **dict.fromkeys(("Radix", "IS", "HPL"), 5)}
# What the kernel counts of memory groups.
STATISTICS = "/sys/fs/cgroup/memory.stat"


class Scale:
    """Sizes in MiB, of the device and of what runs on it."""

    def __init__(self, mb):
        self.mb, self.limit = mb, mb // 2
        self.device = mb + mb // 2 + 16


class Run:
    """What the measurement of a boot works with."""

    def __init__(self, cluster, mb, folder, seed):
        self.cluster, self.node = cluster, cluster[0]
        self.scale, self.seed = Scale(mb), seed
        self.folder = folder
        self.warmed = set()
        self.disk_model = self.disk = self.files = self.clock = None


def wl(run, name):
    """WL1 to WL4."""
    argv = [run.node.prog("wl"), "--workload", name, "--mb", run.scale.mb,
            "--iterations", profiles.ITERATIONS]
    if name in ("WL3", "WL4"):
        argv += ["--file", f"{run.files}/file", "--file-mb", run.scale.mb // 2]
    return argv


def radix(run, _):
    """4 processes write to 64 places each, a small part of what they may keep."""
    return [run.node.prog("radix"), "--mb", run.scale.mb, "--radix-bits", 6,
            "--compute-step-us", profiles.STEP_US]


def integer_sort(run, _):
    """The largest class that fits; buckets as long as larger classes have."""
    name, buckets = ("A", 8) if run.scale.mb >= 66 else ("W", 5)
    return [run.node.prog("is"), "--class", name, "--buckets-log2", buckets,
            "--compute-step-us", profiles.STEP_US]


def hpl(run, name):
    """HPL of Debian's hpcc over a BLAS that sleeps, one process or four."""
    return [sys.executable, BENCH / "lib/outside.py", "hpl", "--mb",
            profiles.HPL_MB, "--library", run.node.prog("libhplsleep.so"),
            "--ranks", 4 if name == "HPL4" else 1]


# Memory is freed for these before they are at their limit, as a machine does for all
# its programs.  A group's own limit does not: who meets it has to free some at once,
# and where everything was used just now it is killed, for under virtual time no time
# passes between the tries.
TENDED = ("Radix", "IS", "HPL", "HPL4")
COMMANDS = {"Radix": radix, "IS": integer_sort, "HPL": hpl, "HPL4": hpl}


def limit_mb(run, name):
    """What a workload may keep of its memory, in MiB."""
    if name == "IS":
        return 33 if run.scale.mb >= 66 else 5
    return profiles.HPL_LIMITS_MB.get(name, run.scale.limit)


def warm(run, name):
    """Read a program's files into the page cache outside its cgroup: else the first
    of several runs is charged for them and has less room for its data."""
    if name not in run.warmed:
        small = {"Radix": ("--mb", 1), "IS": ("--class", "S"),
                 **dict.fromkeys(("HPL", "HPL4"), ("--mb", 1, "--compute-ns", 1000))}.get(
                     name, ("--mb", 1, "--iterations", 1))
        run.node.run([*COMMANDS.get(name, wl)(run, name), *small], timeout=3600)
        run.warmed.add(name)


@contextlib.contextmanager
def every(seconds, work):
    """Do some work again and again."""
    over = threading.Event()

    def go_on():
        while not over.wait(seconds):
            work()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def tended(process=None, limit=0, name=""):
    """Have the kernel sum up what it counts of memory groups, which a reader makes it
    do.  Its choice of pages to reclaim goes by these figures, and it sums them up
    every two seconds by itself: soon enough for gigabytes, but a group of 8 MiB has
    other pages twenty times by then.  With figures that old it keeps what it should
    let go, pages come in again and again, and times scatter.

    And have it free memory for a process that may keep limit MiB, a workload of this name."""
    low, high = profiles.LOW_HIGH_OF.get(name, profiles.LOW_HIGH)

    def look():
        os.pread(file, 1 << 16, 0)
        left = limit - process.memory_mb() if process else high
        if left < low:
            process.reclaim(f"{round((high - left) * 1024)}K")

    file = os.open(STATISTICS, os.O_RDONLY)
    try:
        with every(profiles.FRESH_S, look):
            yield
    finally:
        os.close(file)


def workload(run, name, swaps=True, flags=(), held=False):
    """Run one; its result, which must be right.  Without swaps it may keep all
    its memory; flags are more of its own.  held: slowed down at its limit, not
    stopped there."""
    warm(run, name)
    argv = [*COMMANDS.get(name, wl)(run, name),
            "--compute-ns", profiles.COMPUTE_NS[name], *flags]
    limit = limit_mb(run, name)
    if swaps and held:
        argv, limit = apps.held(argv, f"{limit}M"), 2 * limit
    process = run.node.popen(argv, f"{limit}M" if swaps else None)
    with tended(process if swaps and name in TENDED else None, limit, name):
        done = process.wait(36000)
    if done.code:
        raise Failure(f"{done.cmd} ended with {done.code}: "
                      f"{done.err.strip()[:300]}")
    got = json.loads(done.out.splitlines()[-1])
    # HPL's own time, without what MPI takes to begin and to end
    got["total"] = got["seconds"] if "run_seconds" in got else \
        got["fill_seconds"] + got["seconds"] + got["check_seconds"]
    return got


def counters(node):
    """The owner's counters, by name."""
    return node.stat()["client"]
