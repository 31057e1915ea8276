# SPDX-License-Identifier: GPL-2.0
"""nswapctl owner: its rules, and what it sees, with folders in place of /dev."""
import json
import os
import pathlib
import queue
import struct
import subprocess
import tempfile
import threading
import time

from nswaptest.check import Unmet, at_most, equal, hold, true
from nswaptest.scenario import ROOT

DESCRIPTION = "nswapctl owner knows when the owner of a machine is away, by rules"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120
BUSY = 0.5      # it waits

EVENT = struct.Struct("llHHi")      # struct input_event
EV_SYN, EV_KEY, EV_REL = 0, 1, 2
NONE = "input-idle = 0\nterminal-idle = 0\ncpu-below = 0\n"
WRONG = (
    ("input-idle\n", 1, "no RULE = VALUE in 'input-idle'", "input-idle, terminal-idle"),
    ("# well\n\nkey-idle = 5m\n", 3, "no rule 'key-idle'", "cpu-below, present"),
    ("input-idle = 15\n", 1, "no duration '15'", "90s, 15m or 2h"),
    ("input-idle = 15w\n", 1, "no duration '15w'", "0, or 1s to 7d"),
    ("input-idle = 15mm\n", 1, "no duration '15mm'", "0, or 1s to 7d"),
    ("input-idle = -1m\n", 1, "no duration '-1m'", "0, or 1s to 7d"),
    ("input-idle = " + "0" * 600 + "1x\n", 1, "no duration '000", "0, or 1s to 7d"),
    ("# " + "x" * 510 + "\npresent = +9:+5-10:00\n", 2, "no hours '+9:+5-10:00'",
     "09:00-12:30"),
    ("input-idle =\n", 1, "no duration ''", "0, or 1s to 7d"),
    ("terminal-idle = 8d\n", 1, "no duration '8d'", "0, or 1s to 7d"),
    ("cpu-below = 30%\n", 1, "no percentage '30%'", "0 to 100000"),
    ("cpu-below = 100001\n", 1, "no percentage '100001'", "0 to 100000"),
    ("present = 9-12\n", 1, "no hours '9-12'", "09:00-12:30"),
    ("present = 09:00\n", 1, "no hours '09:00'", "up to 8 spans"),
    ("present = 09:00-09:00\n", 1, "no hours '09:00-09:00'", "up to 8 spans"),
    ("present = 09:00-24:01\n", 1, "no hours '09:00-24:01'", "up to 8 spans"),
    ("present = " + "1:00-2:00 " * 9 + "\n", 1, "no hours '1:00-2:00'", "up to 8 spans"),
)


class Owner:
    """A run of it, with rules, and folders for what it looks at."""

    def __init__(self, folder, rules, *options):
        self.folder = pathlib.Path(folder)
        (self.folder / "rules").write_text(rules)
        (self.folder / "dev/pts").mkdir(parents=True, exist_ok=True)
        (self.folder / "input").mkdir(exist_ok=True)
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            [ROOT / "build/nswapctl", "--json", "owner", "--dry-run", "--rules",
             self.folder / "rules", "--input", self.folder / "input",
             "--terminals", self.folder / "dev", *options], text=True, stdout=subprocess.PIPE)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def says(self, away, words, within=6):
        """The next change is this one; seconds until then."""
        begun = time.monotonic()
        try:
            said = self.lines.get(timeout=within)
        except queue.Empty:
            raise Unmet(f"no change within {within} s, {words!r} was expected") from None
        equal(said["away"], away, f"away, for {said['why']!r}")
        true(words in said["why"], f"it says why: {said['why']!r}")
        return time.monotonic() - begun

    def silent(self, seconds):
        """No change for so long."""
        hold(seconds)
        true(self.lines.empty(), "a change without a cause")

    def end(self):
        """It ends when it is told to."""
        self.process.terminate()
        equal(self.process.wait(5), 0, "exit code")


def refusals(folder):
    """Wrong files: the line, the cause, and what is allowed."""
    for text, line, what, allowed in WRONG:
        path = pathlib.Path(folder) / "wrong"
        path.write_text(text)
        done = subprocess.run([ROOT / "build/nswapctl", "owner", "--dry-run", "--rules", path],
                              text=True, capture_output=True, check=False)
        equal((done.returncode, done.stdout), (1, ""), f"what {text!r} led to")
        true(f"{path}:{line}: {what}" in done.stderr and allowed in done.stderr,
             f"{text!r}: {done.stderr!r}")


def keys(folder):
    """A key is seen at once, and what no person did is not; a device may come and go."""
    device = pathlib.Path(folder) / "input/event0"
    device.parent.mkdir()
    os.mkfifo(device)
    there = os.open(device, os.O_RDWR)      # a device that is there
    owner = Owner(folder, NONE + "input-idle = 2s\n")
    owner.says(False, "a key or the mouse")
    owner.says(True, "no rule")
    os.write(there, EVENT.pack(0, 0, EV_SYN, 0, 0))
    owner.silent(1.5)
    for kind in (EV_KEY, EV_REL):
        os.write(there, EVENT.pack(0, 0, kind, 30, 1) + EVENT.pack(0, 0, EV_SYN, 0, 0))
        at_most(owner.says(False, "a key or the mouse"), 1, "seconds until a key is seen")
        owner.says(True, "no rule")
    device.unlink()
    os.close(there)
    os.mkfifo(device)
    again = os.open(device, os.O_RDWR)      # plugging it in is as good as a key
    owner.says(False, "a key or the mouse")
    owner.says(True, "no rule")
    os.write(again, EVENT.pack(0, 0, EV_KEY, 30, 1))
    owner.says(False, "a key or the mouse")
    os.close(again)
    owner.end()


def terminals(folder):
    """What is typed in a terminal, of this machine or remote."""
    owner = Owner(folder, NONE + "terminal-idle = 5s\n")
    owner.says(True, "no rule")
    for name in ("tty1", "pts/3"):
        path = pathlib.Path(folder) / "dev" / name
        new = pathlib.Path(folder) / "new"
        new.write_text("")
        os.utime(new, (time.time() - 3600, time.time()))
        new.rename(path)
        owner.silent(1.5)
        os.utime(path)
        owner.says(False, "typed in a terminal")
        owner.says(True, "no rule", within=10)
    for name in ("ptmx", "ttyS0", "null", "pts/ptmx"):
        (pathlib.Path(folder) / "dev" / name).write_text("")
    owner.silent(1.5)
    typed = time.monotonic()
    os.utime(path)
    owner.says(False, "typed in a terminal")
    path.unlink()                           # a session that ends
    owner.says(True, "no rule", within=10)
    passed = time.monotonic() - typed
    true(passed > 4, f"away {passed:.1f} s after the last word in a session that ended")
    owner.end()


class Cpu:
    """A file as /proc/stat, of programs that use so many percent of a processor."""

    def __init__(self, path):
        self.path, self.pct, self.ticks = path, 0, 0
        self._write()
        threading.Thread(target=self._go, daemon=True).start()

    def _write(self):
        new = self.path.with_suffix(".new")
        new.write_text(f"cpu {self.ticks:.0f} 999 5 5\n")
        new.rename(self.path)

    def _go(self):
        begun = time.monotonic()
        while self.path.parent.exists():
            hold(0.1)
            now = time.monotonic()
            self.ticks += self.pct / 100 * os.sysconf("SC_CLK_TCK") * (now - begun)
            begun = now
            try:
                self._write()
            except FileNotFoundError:
                return


def programs(folder):
    """Programs that use a processor, and hours."""
    cpu = Cpu(pathlib.Path(folder) / "stat")
    owner = Owner(folder, NONE + "cpu-below = 30\n", "--cpu", cpu.path)
    owner.says(False, "not known yet")
    owner.says(True, "no rule")
    cpu.pct = 50            # more than begins it, less than ends it
    owner.silent(8)
    cpu.pct = 200
    owner.says(False, "programs use", within=10)
    owner.silent(3)
    owner.end()
    cpu.pct = 100           # a pause of this program is not taken for their end
    owner = Owner(folder, NONE + "cpu-below = 10\n", "--cpu", cpu.path)
    owner.says(False, "not known yet")
    owner.silent(3)
    owner.end()


def headless(folder):
    """A machine without keyboard, mouse and terminal, by the rules that packages install:
    away once its programs are known to use little."""
    cpu = Cpu(pathlib.Path(folder) / "stat")
    owner = Owner(folder, (ROOT / "dist/owner/owner.conf").read_text(), "--cpu", cpu.path)
    owner.says(False, "not known yet")
    owner.says(True, "no rule")
    owner.silent(2)
    path = pathlib.Path(folder) / "dev/pts/0"       # an ssh session
    path.write_text("")
    owner.says(False, "typed in a terminal", within=10)
    owner.end()


def hours(folder):
    """Hours in which the owner is here, and others."""
    hour = time.localtime().tm_hour
    here = Owner(folder, NONE + f"present = {hour}:00-{(hour + 2) % 24}:00\n")
    here.says(False, "hours of the rule present")
    here.end()
    away = Owner(folder, NONE + f"present = {(hour + 2) % 24}:00-{(hour + 3) % 24}:00\n")
    away.says(True, "no rule")
    away.end()


def run(_):
    """Each of them in a folder of its own."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    for part in (refusals, keys, terminals, programs, headless, hours):
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
