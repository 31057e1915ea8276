# SPDX-License-Identifier: GPL-2.0
"""What the programs that outside.py runs have in common: time, latencies, failure,
and the memory group that a program is held in.

Invariant: only the program that is looked at is in its group; what fills it, asks it
and compares its answers is not, unless both are one process, as in SQLite.
"""
import array
import math
import os
import pathlib
import subprocess
import time

# What is said of the requests of a run, and which of them is meant: so many in a
# thousand took no longer.
PERCENTILES = {"p50_us": 500, "p99_us": 990, "p999_us": 999}


class Failed(Exception):
    """The program failed: one sentence and the exit code."""

    def __init__(self, sentence, code=3):
        super().__init__(sentence)
        self.code = code


# What the kernel counts of all programs, and what the result calls it.
COUNTED = {"pswpin": "pswpin", "pswpout": "pswpout", "faults": "pgfault",
           "major": "pgmajfault"}


def counted():
    """Pages swapped in and out by all programs so far, their faults, and those of these
    that read."""
    values = dict(line.split() for line in
                  pathlib.Path("/proc/vmstat").read_text().splitlines())
    return {name: int(values[key]) for name, key in COUNTED.items()}


class Clock:
    """Seconds, and the pages that were swapped and the faults meanwhile."""

    def __init__(self):
        self.begin, self.before = time.monotonic(), counted()

    def end(self, prefix=""):
        """Members for the result."""
        now = counted()
        return {prefix + "seconds": round(time.monotonic() - self.begin, 6),
                **{prefix + name: now[name] - self.before[name] for name in COUNTED}}


class Latencies:
    """How long each request took, from the side that asks."""

    def __init__(self):
        self.taken = array.array("q")

    def timed(self, function, *args):
        """Call a function; what it says."""
        begin = time.perf_counter_ns()
        said = function(*args)
        self.taken.append(time.perf_counter_ns() - begin)
        return said

    def said(self):
        """Members for the result: how many there were, how many a second of the time
        that they took (none took any under virtual time, if none waited), their mean
        and percentiles."""
        count, total = len(self.taken), sum(self.taken)
        return {"ops": count, "mean_us": round(total / count / 1000, 3),
                "ops_per_s": round(count * 1e9 / total, 3) if total else None,
                **percentiles(self.taken)}


def percentiles(taken):
    """By nearest rank, of nanoseconds, in microseconds."""
    ordered = sorted(taken)
    return {name: round(ordered[math.ceil(len(ordered) * share / 1000) - 1] / 1000, 3)
            for name, share in PERCENTILES.items()}


def enter(group):
    """Go into a memory group, if one is given."""
    if group:
        (pathlib.Path(group) / "cgroup.procs").write_text(str(os.getpid()),
                                                          encoding="ascii")


def run(argv, folder, group=None, **environment):
    """Run a program in a folder; what it said, if it did not fail."""
    done = subprocess.run(argv, cwd=folder, env=dict(os.environ, **environment),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          preexec_fn=lambda: enter(group),
                          text=True, errors="replace", check=False)
    if done.returncode:
        raise Failed(f"{argv[0]} ended with {done.returncode}: "
                     f"{done.stdout.strip()[-300:]}")
    return done.stdout
