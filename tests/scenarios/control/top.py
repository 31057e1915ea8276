# SPDX-License-Identifier: GPL-2.0
"""nswapctl top on a terminal: a pseudo terminal, whose other side is a screen that
knows what top writes and fails on anything beside it."""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from nswaptest.check import Failure, equal, true, wait_for
from nswaptest.work import Slots

DESCRIPTION = "nswapctl top: pictures, keys, sizes, signals, the terminal afterwards"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 90

CONTROL = re.compile(r"\033\[(\??)(\d*)(?:;(\d+))?([A-Za-z])")
RAW = termios.ICANON | termios.ECHO
KEYS = "q quit"
# columns that only peers have, and only devices
PEERS, DEVICES = "INFLIGHT", "PROTECT"


class Screen:
    """nswapctl top on a node, and what its terminal shows."""

    def __init__(self, node, *args, rows=24, cols=80):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.left, self.text = "", ""
        self.shown = False
        self.resize(rows, cols)
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", node.name, node.prog("nswapctl"), "top", *args],
            stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(
                0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, cols):
        """Another size; the kernel tells the program."""
        self.rows, self.cols = rows, cols
        self.cells = [[" "] * cols for _ in range(rows)]
        self.at = [0, 0]
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def press(self, keys):
        """Type."""
        os.write(self.master, keys.encode())

    def _obey(self, private, number, column, what):
        row, col = self.at
        if number == "1049":
            self.shown = what == "h"
        elif what == "H":
            self.at = [int(number) - 1, int(column) - 1]
        elif what == "K":
            self.cells[row][col:] = [" "] * (self.cols - col)
        elif what == "J":
            for line in self.cells[0 if number == "2" else row:]:
                line[:] = [" "] * self.cols
        elif not (what == "m" or private and what in "hl"):
            raise Failure(f"a terminal need not know ESC [ {number} {what}")

    def read(self):
        """Take in what was written; returns the lines shown."""
        while select.select([self.master], [], [], 0)[0]:
            new = os.read(self.master, 65536).decode()
            self.text += new
            self.left += new
        while self.left:
            control = CONTROL.match(self.left)
            if control:
                self._obey(*control.groups())
                self.left = self.left[control.end():]
                continue
            if self.left[0] == "\033" and len(self.left) < 12:
                break
            self._put(self.left[0])
            self.left = self.left[1:]
        return ["".join(line).rstrip() for line in self.cells]

    def _put(self, char):
        if not self.shown:
            return      # what is said once the screen is left
        row, col = self.at
        if row >= self.rows or col >= self.cols:
            raise Failure(f"'{char}' was written at {row + 1}, {col + 1} of a screen "
                          f"of {self.rows} by {self.cols}")
        self.cells[row][col] = char
        self.at[1] += 1

    def see(self, *words, without=()):
        """Wait until it shows all these words, and not those; returns the lines."""
        def shown():
            lines = self.read()
            text = "\n".join(lines)
            return all(re.search(w, text) for w in words) and \
                not any(w in text for w in without) and lines
        return wait_for(shown, 10, f"{words} on the screen, without {without}")

    def stopped(self):
        """Has it been stopped?"""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"

    def mode(self):
        """The terminal's flags on lines and echo."""
        return termios.tcgetattr(self.slave)[3] & RAW

    def end(self, code):
        """Wait until it ends, and leaves the terminal as it was."""
        wait_for(lambda: self.read() and self.process.poll() is not None, 10,
                 "top ends")
        equal(self.process.returncode, code, "exit code of top")
        self.read()
        equal(termios.tcgetattr(self.slave), self.before, "the terminal's mode")
        true(self.text.count("\033[?1049h") == self.text.count("\033[?1049l") and
             self.text.rindex("\033[?25h") > self.text.rindex("\033[?25l"),
             "it did not leave its screen")


@contextlib.contextmanager
def terminals(node):
    """A place for pseudo terminals, which the lab has not of itself."""
    node.run("mkdir -p /dev/pts && mount -t devpts -o ptmxmode=666 devpts /dev/pts")
    try:
        yield
    finally:
        node.run("umount /dev/pts")


def check_keys(screen):
    """Each key does what the last line says, at any size."""
    screen.see(KEYS, "sort: name", "every 1 s", PEERS, DEVICES)
    screen.press("s")
    screen.see("sort: used")
    screen.press("p")
    screen.see(PEERS, without=[DEVICES])
    screen.press("d")
    screen.see(DEVICES, without=[PEERS])
    screen.press("\033[C")
    screen.see(DEVICES, PEERS)
    screen.press("+")
    screen.see("every 2 s")
    screen.press("--")
    screen.see("every 0.5 s")
    for rows, cols in ((10, 60), (5, 30), (1, 10), (50, 200), (24, 80)):
        screen.resize(rows, cols)
        lines = screen.see(KEYS)
        true(KEYS in lines[-1], "the keys are not in the last line")
    screen.see(PEERS, DEVICES)


def check_stop(screen):
    """Stopped by its key the terminal is the shell's again; and then back."""
    screen.press("\x1a")
    wait_for(lambda: screen.read() and screen.stopped(), 10, "it is stopped")
    equal(screen.mode(), RAW, "the terminal's mode while it is stopped")
    screen.read()
    true(screen.text.endswith("\033[?1049l"), "it did not leave its screen")
    screen.process.send_signal(signal.SIGCONT)
    wait_for(lambda: screen.mode() == 0, 10, "it has its terminal again")
    screen.see(KEYS)


def test_top(t):
    """Two peers and a device: what it shows, keys, sizes, stops and ends."""
    cluster = t.cluster(3)
    node = cluster[0]
    cluster.up(lend="8M")
    dev = node.device_add("8M")
    node.ctl("set", "latency", 1)
    with terminals(cluster.outside), Slots(dev) as slots:
        with Screen(node, "--interval", "1") as screen:
            lines = screen.see(rf"{cluster[1].addr}:9611 +up", KEYS,
                               rf"{cluster[2].addr}:9611 +up",
                               rf"{dev} +8 MiB", "8 MiB of 8 MiB, 0 B used")
            t.log("\n".join(lines))
            check_keys(screen)

            def paging():
                slots.write(0, 64)
                slots.compare()
                text = "\n".join(screen.read())
                return re.search(r"out +[1-9]\d* pages/s.*in +[1-9]\d* pages/s", text) \
                    and re.search(r"out p50 +\d+ [um]s.*in p50 +\d+ [um]s", text)
            wait_for(paging, 10, "it shows pages that go and come, and what they took")
            check_stop(screen)
            screen.press("q")
            screen.end(0)
        for end in (lambda s: s.press("\x03"),
                    lambda s: s.process.send_signal(signal.SIGTERM)):
            with Screen(node) as screen:
                screen.see(KEYS)
                end(screen)
                screen.end(0)
    node.device_del(dev)


def test_top_refusals(t):
    """Without a terminal, without a node, and one that goes down meanwhile."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.refused("top", "--once")
    node.up(lend="8M")
    true("terminal" in node.refused("top"), "no word on a terminal")
    true("--once" in node.refused("--json", "top"), "no word on --once")
    for wrong in ("0", "x", "", "-1", "nan", "1s", "3601"):
        node.refused("top", "--once", "--interval", wrong, code=2)
    picture = node.run([node.prog("nswapctl"), "top", "--once", "--interval", "0.1"]).out
    true("no peer is known" in picture and "\033" not in picture, picture)
    shown = node.ctl("top", "--once", "--interval", "0.1")
    equal(shown["node"]["lent_pages"], 2048, "what is lent")
    with terminals(cluster.outside), Screen(node, "--interval", "0.1") as screen:
        screen.see(KEYS)
        node.down()
        screen.end(1)
        true(re.search(r"\033\[\?1049l.*nswapctl: ", screen.text, re.S),
             "nothing is said once the screen is left")
