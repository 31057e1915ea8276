# SPDX-License-Identifier: GPL-2.0
"""Results as they come, and what is said at the end of a run."""
import collections
import os
import shutil
import sys

from .scenario import ROOT

OUT = ROOT / "build/test"


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

    def tell(self, suite, result):
        """One line for one result.  Returns whether the test is to be run
        once more."""
        if result.verdict == "unmet" and self.last_chance:
            result.verdict = "fail"
        self.count[result.verdict] += 1
        word = {"pass": "pass", "fail": "FAIL", "skip": "skip",
                "unmet": "----"}[result.verdict]
        line = f"{word}  {suite}/{result.name}"
        line = f"{line:<58} {result.seconds:7.1f} s"
        if result.reason:
            line += f"  {result.reason}"
        print(line, flush=True)
        return result.verdict == "unmet"

    def close(self):
        """The closing line; returns the exit code."""
        count = self.count
        if count["unmet"]:
            say(f"{count['unmet']} missed a moment or a quantity and ran twice")
        print(f"{count['pass']} passed, {count['fail']} failed, "
              f"{count['skip']} skipped", flush=True)
        return 1 if count["fail"] or not count["pass"] else 0
