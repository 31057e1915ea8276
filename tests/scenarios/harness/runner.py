# SPDX-License-Identifier: GPL-2.0
"""The runner: who gets which processor, which tests there are, what is said at
the end."""
import collections
import contextlib
import io
import os
import re

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT, Result, files

DESCRIPTION = "tests share processors, and the runner says what it left out"
SUITES = ("lab",)
TIMEOUT = 60


class Width:
    """A run of tests that are so wide and so many steps long."""

    def __init__(self, log, name, *widths, steps=3):
        self.log, self.name, self.steps = log, name, steps
        self.waiting = list(widths)
        self.running = []           # [width, steps left]

    def begin(self):
        """Nothing to build."""

    def step(self, free):
        """One step of what runs; then what fits."""
        for one in list(self.running):
            one[1] -= 1
            if not one[1]:
                self.running.remove(one)
                free += one[0]
        while self.waiting and self.waiting[0] <= free:
            free -= self.waiting[0]
            self.running.append([self.waiting.pop(0), self.steps])
        self.log.append((self.name, self.busy()))

    def busy(self):
        """Processors in use."""
        return sum(width for width, _ in self.running)

    def over(self):
        """Whether all is done."""
        return not self.waiting and not self.running

    def kill(self):
        """The end."""
        self.log.append((self.name, "killed"))


def test_share(_):
    """Never more processors than there are; what is first goes first; all ends."""
    from nswaptest import runner
    log = []
    first = Width(log, "first", 1, 1, 1)
    wide = Width(log, "wide", 2, 2)
    last = Width(log, "last", 1, 1)
    runner.share([first, wide, last], 2)
    busy = {"first": 0, "wide": 0, "last": 0}
    for name, now in log:
        if now == "killed":
            continue
        busy[name] = now
        true(sum(busy.values()) <= 2, f"in use: {busy}")
    equal(log[0], ("first", 2), "what begins")
    equal(sum(1 for entry in log if entry[1] == "killed"), 3, "runs ended")


def said(function, *args):
    """What a function prints, on either stream."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        function(*args)
    return text.getvalue()


def test_end(t):
    """The ten slowest, what was left out, and the closing line as the last."""
    from nswaptest import runner, totals
    totals.OUT = t.dir
    total = totals.Totals()
    for number in range(12):
        said(total.tell, "lab", Result(f"x.{number}", "pass", "", number))
    said(total.tell, "vm", Result("y", "skip", "why"))
    for part in ("a", "b"):
        said(total.tell, "model", Result(f"z.z.{part}", "pass", "", 10))
    text = said(total.slowest)
    equal(re.findall(r"s  \w+/(\S+)", text),
          ["z.z", *(f"x.{n}" for n in range(11, 2, -1))], "the slowest")
    equal(len((t.dir / "times.json").read_text().splitlines()), 16,
          "lines of times.json")
    equal(said(total.close), "14 passed, 0 failed, 1 skipped\n", "closing line")
    os.environ.pop("NSWAP_FULL", None)
    text = said(runner.left_out, runner.parse([]))
    true("make test SUITE='debug kcsan faults cover'" in text,
         f"debug and its like are not said to be left out: {text}")
    true("NSWAP_FULL=1" in text, f"nothing is said of NSWAP_FULL: {text}")
    equal(said(runner.left_out, runner.parse(["-k", "swap"])), "",
          "what is said to be left out of a choice")


def test_full(_):
    """What needs NSWAP_FULL is skipped without it, with its reason."""
    from nswaptest import runner, totals
    os.environ.pop("NSWAP_FULL", None)
    total = totals.Totals()
    options = runner.parse(["pressure"])
    tests = []
    text = said(lambda: tests.extend(runner.chosen(options, total)))
    true(all(not case.full for _, _, case in tests), "one of them is run")
    skipped = text.count("skip  pressure/")
    true(skipped and skipped == text.count("only with NSWAP_FULL=1: "),
         f"skips without a reason: {text}")
    os.environ["NSWAP_FULL"] = "1"
    equal(len(runner.chosen(options, total)), len(tests) + skipped,
          "tests with NSWAP_FULL")


def test_names(_):
    """A name leads to one file, whichever folder it is in."""
    found = files()
    true({"swap", "cuts", "runner"} <= set(found), f"there are {list(found)}")
    true(found["cuts"].parent.name == "failure", "where cuts is")


def test_covered(t):
    """Lines that were run are added up over tests, and a file below its floor fails."""
    from nswaptest import covered, totals
    path = ROOT / "nswap/server/serve.c"
    count = len(path.read_text().splitlines())
    run = {"a": range(1, count // 2), "b": range(count // 4, 3 * count // 4)}
    covered.lines = lambda folder: {"nswap/server/serve.c": collections.Counter(
        {line: int(line in run[folder.name]) for line in range(1, count + 1)})}
    covered.OUT = t.dir
    (t.dir / "cover").mkdir()
    for floor, failed in ((60, 0), (90, 1)):
        covered.FLOORS = {"nswap/server/serve.c": floor}
        total = totals.Totals()
        text = said(covered.report, [t.dir / name for name in run], total, True)
        true(re.search(rf"serve\.c +{count} +{3 * count // 4 - 1} +7\d", text), text)
        equal(total.count["fail"], failed, f"verdicts with a floor of {floor} %")
    equal(len((t.dir / "cover/missing").read_text().splitlines()),
          count - 3 * count // 4 + 1, "lines that were not run")
