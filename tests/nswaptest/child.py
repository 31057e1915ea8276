# SPDX-License-Identifier: GPL-2.0
"""One test in a child process, of a session of its own.

Its output goes to <folder>/output; when it is stuck, where it stood is written
there too.
"""
import dataclasses
import faulthandler
import json
import os
import pathlib
import select
import signal
import sys
import time
import traceback

from . import check
from .scenario import Result, Test


@dataclasses.dataclass
class Outcome:
    """What came of it.  stuck: it hit its limit and was killed."""
    results: list
    allow_oom: bool = False
    stuck: bool = False


class Child:
    """A test that runs; poll() until it hands over an Outcome."""

    def __init__(self, case, folder, backend, settings):
        self.case = case
        self.start = time.monotonic()
        self.limit = case.timeout * check.scale
        self._said = b""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._pipe, here = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self._pipe)
                _child(case, folder, backend, settings, here)
                code = 0
            finally:
                os._exit(code)
        os.close(here)

    def poll(self, patience=0):
        """Its Outcome, or None if it still runs after that many seconds."""
        left = self.start + self.limit - time.monotonic()
        if left <= 0:
            return self._stuck()
        if not select.select([self._pipe], [], [], min(left, patience))[0]:
            return None
        part = os.read(self._pipe, 65536)
        if part:
            self._said += part
            return None
        return self._ended()

    def kill(self):
        """End it and what it started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _stuck(self):
        os.kill(self.pid, signal.SIGUSR1)
        check.hold(0.2)
        self.kill()
        os.close(self._pipe)
        return Outcome([Result(self.case.name, "unmet",
                               f"ran into its limit of {self.limit:g} s",
                               time.monotonic() - self.start)], stuck=True)

    def _ended(self):
        os.close(self._pipe)
        self.kill()
        _, _, used = os.wait4(self.pid, 0)
        seconds = time.monotonic() - self.start
        if not self._said:
            return Outcome([Result(self.case.name, "fail",
                                   "ended without a verdict", seconds)])
        told = json.loads(self._said)
        share = len(told["results"])
        return Outcome([Result(*r, seconds / share,
                               (used.ru_utime + used.ru_stime) / share)
                        for r in told["results"]], told["allow_oom"])


def execute(case, folder, backend, settings):
    """Run a test to its end."""
    child = Child(case, folder, backend, settings)
    while True:
        outcome = child.poll(60)
        if outcome:
            return outcome


def _child(case, folder, backend, settings, pipe):
    os.setsid()
    out = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout = os.fdopen(1, "w", buffering=1)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    try:
        test = Test(case.name, folder, backend, settings)
        told = test.verdicts(case.load())
    except BaseException as why:
        traceback.print_exc()
        told = {"allow_oom": False, "results": [
            (case.name, "fail", f"{type(why).__name__}: {why}")]}
    os.write(pipe, json.dumps(told).encode())
