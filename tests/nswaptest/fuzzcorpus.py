# SPDX-License-Identifier: GPL-2.0
"""A corpus of the lab's harnesses: the smallest inputs that reached what a node can be
brought to by them.

A line is what was reached, as "FREE/control/FREE_ACK:OK", and the inputs that reach it one
after the other from a fresh start; "-" for lines of the module that nothing smaller ran. A
byte that is repeated is written once, "41*4096", and pieces are joined by dots.

NSWAP_FUZZ_CORPUS=1 tests/run cover makes a new one, with a module that counts lines: a Pool
has the smallest inputs for each counter that they moved, and further ones are made of them.
"""
import array
import os
import re
import tempfile

from . import covered
from .scenario import ROOT

FOLDER = ROOT / "tests/fuzz/corpus"
REPEATED = re.compile(rb"(.)\1{15,}", re.S)


def written(data):
    """An input as text."""
    parts, at = [], 0
    for run in REPEATED.finditer(data):
        parts += [data[at:run.start()].hex(), f"{run[1].hex()}*{len(run[0])}"]
        at = run.end()
    return ".".join(part for part in (*parts, data[at:].hex()) if part)


def parsed(text):
    """An input from its text."""
    data = b""
    for part in text.split("."):
        byte, _, count = part.partition("*")
        data += bytes.fromhex(byte) * int(count or 1)
    return data


def read(name):
    """[(what it reaches, its inputs)] of a harness."""
    lines = (FOLDER / name).read_text(encoding="ascii").splitlines()
    return [(what, [parsed(text) for text in rest])
            for what, *rest in map(str.split, lines)]


def write(path, lines):
    """Write [(what it reaches, its inputs)], the smallest first."""
    with open(path, "w", encoding="ascii") as file:
        for what, inputs in sorted(lines, key=lambda line: (size(line[1]), line[0])):
            file.write(" ".join((what, *map(written, inputs))) + "\n")


def size(inputs):
    """How much is to be said to write them down."""
    return sum(len(written(data)) + 1 for data in inputs)


def wanted():
    """Whether a new corpus is asked for, and the module counts."""
    return covered.counting() and "NSWAP_FUZZ_CORPUS" in os.environ


class Counters:
    """The counters of some folders of a module that counts."""

    def __init__(self, folders):
        self.folders, self.last = folders, {}
        self.path = tempfile.mkdtemp() + "/counters"
        self.moved()

    def moved(self):
        """Which of them have changed since they were last asked: {(object, place)}."""
        found = set()
        for name, data in covered.counters(self.path).items():
            old = self.last.get(name)
            if data == old or not any(folder in name for folder in self.folders):
                continue
            self.last[name] = data
            if old:
                found.update((name, place) for place, (new, before) in enumerate(
                    zip(array.array("I", data), array.array("I", old))) if new != before)
        return found


class Pool:
    """The smallest inputs for each point; a point is a counter, or what was answered."""

    def __init__(self):
        self.best = {}

    def offer(self, inputs, points):
        """These inputs have reached these points."""
        cost = size(inputs)
        for point in points:
            known = self.best.get(point)
            if known is None or cost < known[0]:
                self.best[point] = cost, tuple(inputs)

    def some(self, rng):
        """Inputs of it, any."""
        return list(rng.choice(sorted(set(self.best.values())))[1]) if self.best else []

    def lines(self, again):
        """A corpus, from the smallest: the inputs that reach what none before them does.
        again(inputs) sends them afresh: the name of what they reach, and the points, which
        are counters and that name. What comes by chance is left out."""
        reached, made = {}, []
        for point, (cost, inputs) in self.best.items():
            reached.setdefault((cost, inputs), set()).add(point)
        for (_, inputs), points in sorted(reached.items(), key=lambda item: item[0]):
            for _ in range(2):
                name, found = again(list(inputs))
                points &= found
            if points:
                made.append((name if name in points else "-", list(inputs)))
        return made
