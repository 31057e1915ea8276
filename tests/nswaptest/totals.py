# SPDX-License-Identifier: GPL-2.0
"""Results as they come, and what is said at the end of a run."""
import collections
import json
import os
import shutil
import sys

from .scenario import ROOT

OUT = ROOT / "build/test"
SLOWEST = 10


def in_full():
    """Whether what takes very long is asked for."""
    return bool(os.environ.get("NSWAP_FULL"))


def say(text):
    """What is going on, for people."""
    print(f"   {text}", file=sys.stderr, flush=True)


def fresh_folder(folder, keep):
    """An empty folder for a test; the first try's is kept beside it if the
    test is run once more."""
    first = folder.with_name(folder.name + ".first")
    shutil.rmtree(first, ignore_errors=True)
    if keep:
        folder.rename(first)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


class Totals:
    """Counts and prints the results."""

    def __init__(self):
        self.count = collections.Counter()
        self.last_chance = False
        self.seconds = collections.Counter()
        self.cpu = collections.Counter()

    def tell(self, suite, result):
        """One line for one result.  Returns whether the test is to be run
        once more."""
        if result.verdict == "unmet" and self.last_chance:
            result.verdict = "fail"
        self.count[result.verdict] += 1
        name = f"{suite}/{result.name}"
        self._count_time(name, result)
        word = {"pass": "pass", "fail": "FAIL", "skip": "skip",
                "unmet": "----"}[result.verdict]
        line = f"{word}  {name}"
        line = f"{line:<58} {result.seconds:7.1f} s"
        if result.reason:
            line += f"  {result.reason}"
        print(line, flush=True)
        return result.verdict == "unmet"

    def _count_time(self, name, result):
        """Parts that a test reports share its time: file.function.part."""
        test = ".".join(name.split(".")[:2])
        self.seconds[test] += result.seconds
        self.cpu[test] += result.cpu

    def slowest(self):
        """Say which tests took longest, and keep what all of them took."""
        times = sorted(self.seconds.items(), key=lambda item: -item[1])
        if len(times) > 1:
            print("   the slowest:")
            for name, seconds in times[:SLOWEST]:
                print(f"{seconds:12.1f} s  {name}", flush=True)
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "times.json").write_text("[\n" + ",\n".join(
            json.dumps({"test": name, "seconds": round(seconds, 1),
                        "cpu": round(self.cpu[name], 1)})
            for name, seconds in times) + "\n]\n")

    def close(self):
        """The closing line; returns the exit code."""
        count = self.count
        if count["unmet"]:
            say(f"{count['unmet']} missed a moment or a quantity and ran twice")
        print(f"{count['pass']} passed, {count['fail']} failed, "
              f"{count['skip']} skipped", flush=True)
        return 1 if count["fail"] or not count["pass"] else 0
