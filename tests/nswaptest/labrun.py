# SPDX-License-Identifier: GPL-2.0
"""The lab's suites: a few user-mode kernels that share a list of tests.

A test that leaves its kernel unfit, or kills it, costs the others only a new
boot.
"""
import json
import os
import shutil
import time

import lab.boot

from . import dmesg
from .builds import built_for, missing_program
from .scenario import Result
from .totals import OUT, fresh_folder, in_full

SCALE = {"plain": 1, "debug": 15, "kcsan": 15, "faults": 3, "cover": 5}
HUNG_TASK = {"plain": 20, "debug": 120, "kcsan": 120, "faults": 60, "cover": 40}
GRACE = 30


def drop_old_boots(folder):
    """Remove the boots of runs that are over, but the last few."""
    old = [f for f in folder.glob("*-*")
           if not os.path.exists(f"/proc/{f.name.rpartition('-')[2]}")]
    for run in sorted(old, key=lambda f: f.stat().st_mtime)[:-4]:
        shutil.rmtree(run, ignore_errors=True)


class LabTest:
    """One test on its way through the lab."""

    def __init__(self, suite, source_suite, case):
        self.suite, self.source, self.case = suite, source_suite, case
        self.key = f"{source_suite}-{case.name}"
        self.folder = OUT / suite / case.name
        self.told = False

    def job(self):
        """How it stands in a boot's job.json."""
        return {"name": self.case.name, "suite": self.source, "key": self.key,
                "folder": str(self.folder)}


class LabRun:
    """Runs the tests of lab suites on one kernel flavour with so many
    processors, a kernel keeping so many of this machine's busy."""

    def __init__(self, tests, flavour, cpus, busy, options, totals):
        self.tests = {t.key: t for t in tests}
        self.flavour = flavour
        self.cpus = cpus
        self.each_busy = busy
        self.options = options
        self.totals = totals
        self.again = []
        self.boots = []
        what = f"{tests[0].case.name}-again" if totals.last_chance else "boot"
        self.folder = OUT / "boots" / f"{flavour}{cpus}-{busy:g}-{what}-{os.getpid()}"
        self.claims = self.folder / "claims"
        self.number = 0

    def begin(self):
        """Build what the tests need."""
        builds = built_for(self.flavour)
        needs = {n for t in self.tests.values() for n in t.case.needs}
        if not self.options.no_build:
            builds.build(needs)
        drop_old_boots(self.folder.parent)
        self.claims.mkdir(parents=True)
        self.settings = builds.settings(
            self.flavour, self.options.seed, self.folder / "built", needs)
        self.kernel = builds.kernel
        for test in self.tests.values():
            self._prepare(test, builds)

    def step(self, free):
        """Follow the verdicts; boot further kernels if there are tests for
        them and that many processors are free."""
        for boot in list(self.boots):
            self._follow(boot)
            if boot.over:
                self.boots.remove(boot)
                free += self.each_busy
        while free >= self.each_busy and len(self._open()) > self._idle():
            self.boots.append(self._boot())
            free -= self.each_busy

    def _idle(self):
        """Kernels that have not claimed a test yet."""
        return sum(1 for boot in self.boots if not boot.begun)

    def busy(self):
        """Processors that are in use."""
        return len(self.boots) * self.each_busy

    def over(self):
        """Whether all tests are."""
        return not self.boots and not self._open()

    def kill(self):
        """End every kernel."""
        for boot in self.boots:
            boot.kill()

    def _prepare(self, test, builds):
        fresh_folder(test.folder, self.totals.last_chance)
        case = test.case
        broken = [builds.failed[n] for n in case.needs if n in builds.failed]
        missing = missing_program(case)
        if self.flavour != "plain" and case.not_in_debug:
            self._tell(test, Result(case.name, "skip", case.not_in_debug))
        elif broken:
            self._tell(test, Result(case.name, "fail", broken[0]))
        elif missing:
            self._tell(test, Result(case.name, "skip",
                                    f"{missing} is not installed"))

    def _open(self):
        return [t for t in self.tests.values() if not t.told and
                not (self.claims / t.key).exists()]

    def _tell(self, test, result):
        test.told = True
        if self.totals.tell(test.suite, result):
            self.again.append(test)

    def _boot(self):
        self.number += 1
        folder = self.folder / str(self.number)
        todo = sorted((t for t in self._open()),
                      key=lambda t: -t.case.timeout)
        job = {"tests": [t.job() for t in todo], "claims": str(self.claims),
               "suites": sorted({t.source for t in todo}),
               "settings": self.settings, "scale": SCALE[self.flavour],
               "hung_task": HUNG_TASK[self.flavour],
               # what scenarios ask for, NSWAP_CHAOS_SECONDS
               "environment": {k: v for k, v in os.environ.items()
                               if k.startswith("NSWAP_")},
               "writable": [str(OUT)]}
        extra = lab.boot.NO_TRACES if self.flavour == "debug" and not in_full() else []
        boot = lab.boot.Boot(self.kernel, folder, job, self.flavour,
                                     self.cpus, extra=extra)
        boot.offset, boot.current, boot.over = 0, None, False
        boot.finished = boot.begun = False
        boot.deadline = time.monotonic() + GRACE * SCALE[self.flavour]
        return boot

    def _follow(self, boot):
        ended = not boot.running()
        for line in self._news(boot):
            self._event(boot, json.loads(line))
        if ended:
            boot.close()
            self._ended(boot, "the kernel died")
        elif time.monotonic() > boot.deadline:
            boot.kill()
            self._ended(boot, "the kernel did not answer any more")

    def _news(self, boot):
        path = boot.folder / "verdicts"
        if not path.exists():
            return []
        with open(path, encoding="utf-8") as file:
            file.seek(boot.offset)
            text = file.read()
        whole = text[:text.rfind("\n") + 1]
        boot.offset += len(whole.encode())
        return whole.splitlines()

    def _event(self, boot, event):
        kind = event.pop("event")
        grace = GRACE * SCALE[self.flavour]
        boot.deadline = time.monotonic() + grace
        if kind == "booted" and event["problems"]:
            self.totals.tell("boot", Result(f"boot-{boot.folder.name}", "fail",
                                            event["problems"][0]))
        elif kind == "start":
            boot.current, boot.begun = self.tests[event["key"]], True
            boot.deadline += event["limit"]
            link = boot.current.folder / "console"
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(boot.folder / "console",
                                            link.parent))
        elif kind == "verdict":
            test = self.tests[event.pop("key")]
            self._tell(test, Result(**event))
        elif kind == "end":
            boot.current = None
        elif kind == "leaks":
            found = event["problems"]
            self.totals.tell("debug", Result(
                f"leaks-{boot.folder.name}", "fail" if found else "pass",
                found[0] if found else ""))
        elif kind in ("done", "unfit"):
            boot.finished = True

    def _ended(self, boot, why):
        boot.over = True
        test = boot.current
        if boot.finished:
            return
        bad = dmesg.problems(boot.console())
        why += f" ({bad[0]})" if bad else ""
        if test:
            self._tell(test, Result(test.case.name, "fail", why))
            boot.current = None
        elif boot.offset == 0:
            for lost in self._open():
                self._tell(lost, Result(lost.case.name, "fail",
                           f"no lab kernel: {why}, see {boot.folder}/console"))
        else:
            self.totals.tell("boot", Result(f"boot-{boot.folder.name}",
                                            "fail", why))
