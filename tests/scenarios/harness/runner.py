# SPDX-License-Identifier: GPL-2.0
"""The runner: who gets which processor, which tests there are."""
from nswaptest.check import equal, true
from nswaptest.scenario import files

DESCRIPTION = "tests share processors"
SUITES = ("lab",)
TIMEOUT = 30


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


def test_names(_):
    """A name leads to one file, whichever folder it is in."""
    found = files()
    true({"swap", "cuts", "runner"} <= set(found), f"there are {list(found)}")
    true(found["cuts"].parent.name == "failure", "where cuts is")
