# SPDX-License-Identifier: GPL-2.0
"""The suites whose tests run here: on separate kernels under QEMU, or on none."""
import importlib

from .builds import missing_program
from .child import Child
from .scenario import Result
from .totals import OUT, fresh_folder


class HostRun:
    """Runs tests, several at once if processors are free."""

    def __init__(self, tests, options, totals):
        self.tests = list(tests)        # (suite, case), the next one first
        self.options = options
        self.totals = totals
        self.running = {}               # Child: (suite, case)
        self.again = []
        self.backend = None

    def begin(self):
        """Build and fetch what the tests need."""
        cases = [case for _, case in self.tests if not case.here]
        if cases:
            self.backend = importlib.import_module("vm.cluster")
            self.backend.prepare(cases)
        for test in list(self.tests):
            suite, case = test
            fresh_folder(OUT / suite / case.name, self.totals.last_chance)
            missing = missing_program(case)
            if missing:
                self.tests.remove(test)
                self.totals.tell(suite, Result(case.name, "skip",
                                               f"{missing} is not installed"))

    def step(self, free):
        """Hear what is over; start tests that that many processors are
        enough for."""
        for child, test in list(self.running.items()):
            outcome = child.poll()
            if not outcome:
                continue
            del self.running[child]
            free += test[1].busy
            if any([self.totals.tell(test[0], r) for r in outcome.results]):
                self.again.append(test)
        for test in list(self.tests):
            if test[1].busy <= free:
                self.tests.remove(test)
                self.running[self._start(*test)] = test
                free -= test[1].busy

    def _start(self, suite, case):
        settings = {"flavour": "plain", "seed": self.options.seed,
                    "suite": suite}
        backend = None if case.here else self.backend.Cluster
        return Child(case, OUT / suite / case.name, backend, settings)

    def busy(self):
        """Processors that are in use."""
        return sum(case.busy for _, case in self.running.values())

    def over(self):
        """Whether all tests are."""
        return not self.running and not self.tests

    def kill(self):
        """End every test."""
        for child in self.running:
            child.kill()
