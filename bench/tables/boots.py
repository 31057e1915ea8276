# SPDX-License-Identifier: GPL-2.0
"""Measure units, each in a boot of its own, several boots at once.

What was found is kept in a folder for each unit, so that a run that was interrupted
goes on where it stopped.

Invariant: what is taken over from an earlier run was found by the same commit, of a
tree that did not differ from it, at the same scale.
"""
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import zlib

import boot
from tables import units

BENCH = pathlib.Path(__file__).resolve().parents[1]
# Real time after which a unit's kernel has failed, and between two looks at it; and what one has
# left to end in which a process was killed.
LIMIT_S, LOOK_S, KILLED_S = 2400, 2, 120
# The longest ones first, so that none is left over at the end: on which devices.
SLOW = ("disk", "flash")
SHORT = 20


class Interrupted(Exception):
    """One sentence that says why it did not end."""


def folder_of(base, unit, seed):
    """Where a unit's files are: short, since a kernel's socket is there as well."""
    text = f"{unit.label()} {seed}"
    name = "".join(c if c.isalnum() else "-" for c in text[:SHORT])
    return base / f"{name}-{zlib.crc32(text.encode()):08x}"


def slow_first(wanted):
    """The order to measure in."""
    def rank(at):
        unit = wanted[at][0]
        return ("WL4" not in unit.args or "disk" not in unit.args,
                *(dev not in unit.args for dev in SLOW), at)
    return [wanted[at] for at in sorted(range(len(wanted)), key=rank)]


def ended(booted, folder, limit_s=LIMIT_S, killed_s=KILLED_S):
    """Wait for the end of a boot; False: it did not come, and it is ended. One in which a
    process was killed may turn without end under virtual time, where none passes while a
    task looks again and again whether another one is gone: that is found like a kill."""
    begin, killed = time.monotonic(), None
    while True:
        try:
            booted.process.wait(LOOK_S)
            return True
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if killed is None and units.OOM in (folder / "console").read_text(errors="replace"):
            killed = now
        if killed is not None and now - killed > killed_s:
            booted.kill()
            (folder / "result.json").write_text(json.dumps(
                {"error": "the kernel went on without end", "warnings": [], "killed": True}))
            return True
        if now - begin > limit_s:
            booted.kill()
            return False


class Boots:
    """Boots of one run.  setup: what every one of them is told; about: what must be
    the same for a result of an earlier run to count."""

    def __init__(self, base, kernel, setup, about, jobs):
        self.base, self.kernel, self.setup, self.jobs = base, kernel, setup, jobs
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = False
        self.warnings = []
        self._begin(about)

    def _begin(self, about):
        state = self.base / "run.json"
        text = json.dumps(about, sort_keys=True)
        same = state.exists() and state.read_text() == text
        if not same or about["commit"].endswith("+"):
            shutil.rmtree(self.base, ignore_errors=True)
            self.base.mkdir(parents=True)
            state.write_text(text)

    def end(self):
        """The run is over: the next one measures everything again."""
        (self.base / "run.json").unlink()

    def _found(self, unit, seed):
        """What an earlier run found, None if nothing."""
        path = folder_of(self.base, unit, seed) / "result.json"
        if not path.exists():
            return None
        found = json.loads(path.read_text())
        return None if "error" in found and not found["killed"] else found

    def _boot(self, unit, seed):
        folder = folder_of(self.base, unit, seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        job = {"command": [sys.executable,
                           str(BENCH / "lib/lab_side.py"),
                           str(folder)],
               "hung_task": 0, "bench": "paper", **self.setup}
        job["options"] = dict(self.setup["options"], what=unit.what, args=unit.args,
                              seed=seed)
        with self.lock:
            if self.stopped:
                raise Interrupted("interrupted")
            booted = boot.Boot(self.kernel, folder, job, "vtime", cpus=1, seed=seed)
            self.running.add(booted)
        try:
            if not ended(booted, folder):
                raise Interrupted(f"{unit.label()} did not end in {LIMIT_S} s, see "
                                  f"{folder}/console")
        finally:
            booted.close()
            with self.lock:
                self.running.discard(booted)

    def _measure(self, unit, seed):
        """What a unit finds: (it, real seconds it took; 0 if it was there)."""
        begin = time.monotonic()
        result = self._found(unit, seed)
        if result is None:
            self._boot(unit, seed)
            result = self._found(unit, seed)
            took = time.monotonic() - begin
        else:
            took = 0
        if result is None:
            raise Interrupted(f"{unit.label()}, seed {seed}: " + self._why(unit, seed))
        if result["killed"]:
            return units.KILLED, took
        self.warnings += [f"{unit.label()}: {w}" for w in result["warnings"]]
        return result["rows"][0], took

    def _why(self, unit, seed):
        folder = folder_of(self.base, unit, seed)
        try:
            return json.loads((folder / "result.json").read_text())["error"]
        except (FileNotFoundError, KeyError):
            return ("interrupted" if self.stopped else
                    f"the lab's kernel ended without a result, see {folder}/console")

    def stop(self):
        """End every boot."""
        with self.lock:
            self.stopped = True
            for booted in self.running:
                booted.kill()

    def measure(self, wanted):
        """{(unit, seed): what it found} of some."""
        progress = Progress(len(wanted), self.jobs)
        found = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            made = {pool.submit(self._measure, *one): one
                    for one in slow_first(wanted)}
            try:
                for future in concurrent.futures.as_completed(made):
                    unit, seed = made[future]
                    found[unit, seed], took = future.result()
                    progress.step(unit, seed, found[unit, seed], took)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise
        return found


class Progress:
    """A line for each unit, with the time that is left."""

    def __init__(self, steps, jobs):
        self.steps, self.jobs = steps, jobs
        self.begin = time.monotonic()
        self.done = self.taken_over = 0

    def step(self, unit, seed, found, took):
        """One more is over."""
        self.done += 1
        self.taken_over += not took
        label = unit.label() + (f" seed {seed}" if seed > 1 else "")
        print(f"  {self.done:3} of {self.steps}  {label:34} {found.get('said', '')}"
              f"{self._left()}", file=sys.stderr, flush=True)

    def _left(self):
        made = self.done - self.taken_over
        if not made or self.done == self.steps:
            return ""
        left = (time.monotonic() - self.begin) / made * (self.steps - self.done)
        return f"   ({left // 60:.0f} min {left % 60:02.0f} s left)"
