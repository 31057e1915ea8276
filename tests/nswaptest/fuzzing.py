# SPDX-License-Identifier: GPL-2.0
"""What the harnesses of the suite fuzz share: how many inputs each tries, where an input
that found a fault is kept, and how bytes are changed.

NSWAP_FUZZ_INPUTS is the number over all harnesses; NSWAP_FUZZ_REPLAY names a file with
inputs as those of the corpus (fuzzcorpus.py), which the harnesses of the lab try instead.
"""
import itertools
import os
import pathlib
import random

from . import fuzzcorpus
from .check import Failure, at_least, equal
from .totals import OUT
from .work import Slots

DEFAULT = 100_000
# per mille of all inputs of each harness, announce twice; units: all of tests/fuzz
SHARES = {"units": 736, "announce": 55, "netlink": 100, "server": 36, "client": 1,
          "proc": 10, "keys": 5, "mover": 2}
# the debug kernel takes that much longer
SLOWER = {"plain": 1, "debug": 20, "kcsan": 20, "faults": 2, "cover": 1}

FOUND = OUT / "found"    # a test's own folder is emptied when it runs again
MOST = 6                # inputs of a line of the corpus
AHEAD = 64              # inputs that are written down at once

ODD = (0, 1, 2, 7, 8, 31, 32, 33, 127, 128, 129, 255, 256, 1023, 1024, 4095, 4096, 4097,
       65535, 65536, 0xfffff, 0x100000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32,
       (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def use_device(t, node, pages):
    """A device of the node is written, read and deleted, as ever."""
    dev = node.device_add("4M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, pages + 1, 32):
            slots.write(first, 32)
        equal(slots.compare(), (pages, 0, 0), "right, wrong, unreadable")
    node.device_del(dev)


def inputs(name, flavour="plain"):
    """How many inputs a harness tries."""
    total = int(os.environ.get("NSWAP_FUZZ_INPUTS", DEFAULT))
    return max(20, total * SHARES[name] // 1000 // SLOWER[flavour])


class Inputs:
    """The inputs of one harness, from the seed: for bytes in Inputs(t, "name", make).

    make(rng) makes one, and what it returns is the input: its bytes() are what is kept. The last few are in FOUND, since what a node does with one may show late.
    """

    def __init__(self, t, name, make, decode=fuzzcorpus.parsed):
        self.t, self.name, self.make, self.decode = t, name, make, decode
        self.count = inputs(name, t.flavour)
        self.rng = random.Random(f"{t.seed}.{name}")
        self.number = 0
        FOUND.mkdir(exist_ok=True)
        self.last = []
        replay = os.environ.get("NSWAP_FUZZ_REPLAY")
        self.replay = pathlib.Path(replay).read_text().split() if replay else None

    def __iter__(self):
        if self.replay is not None:
            made = iter(map(self.decode, self.replay))
        else:
            made = (self.make(self.rng) for _ in range(self.count))
        while batch := list(itertools.islice(made, AHEAD)):
            self._write_ahead(batch)
            for this in batch:
                self.number += 1
                self.last = self.last[-31:] + [this]
                yield this
        self.t.log(f"{self.name}: seed {self.t.seed}, {self.number} inputs")

    def _write_ahead(self, batch):
        """Those that come next, on the host's disk: one may end this kernel."""
        with open(FOUND / f"{self.t.name}-{self.t.seed}-now", "w", encoding="ascii") as file:
            file.writelines(fuzzcorpus.written(bytes(this)) + "\n" for this in batch)
            file.flush()
            os.fsync(file.fileno())

    def fresh(self, rng, pool):
        """Some inputs for a node in its first state: new ones, or those of a pool with a
        change."""
        some = pool.some(rng) if rng.random() < 0.6 else []
        at, how = rng.randrange(len(some) or 1), rng.randrange(4)
        if some and how == 0:
            some[at] = some[at][:2] + changed(rng, some[at][2:], 1)
        elif some and how == 1:
            del some[at]
        else:
            some[at:at + how - 2] = [self.make(rng)]
        self.number += 1
        self.last = (some or [self.make(rng)])[-MOST:]
        return self.last

    def fail(self, why):
        """A Failure that names the input; it and those before it are kept."""
        path = FOUND / f"{self.t.name}-{self.t.seed}-{self.number}"
        path.write_text("".join(fuzzcorpus.written(bytes(i)) + "\n" for i in self.last))
        return Failure(f"{why}; seed {self.t.seed}, input {self.number}; again: "
                       f"NSWAP_FUZZ_REPLAY={path}")


def enough(got, limit, what):
    """At least so many, but when a few inputs are tried again."""
    if "NSWAP_FUZZ_REPLAY" not in os.environ:
        at_least(got, limit, what)


def number(rng, bits):
    """A number of so many bits, often one next to a limit."""
    value = rng.choice(ODD) if rng.random() < 0.5 else \
        rng.getrandbits(rng.randint(1, bits))
    return value & ((1 << bits) - 1)


def changed(rng, data, most=3):
    """The bytes with up to so many changes: bits, numbers, parts cut out or doubled."""
    data = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(6)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            size = rng.choice((1, 2, 4, 8))
            data[at:at + size] = number(rng, 8 * size).to_bytes(size, "little")
        elif how == 2:
            del data[at:at + rng.randint(1, 16)]
        elif how == 3:
            data[at:at] = data[at:at + rng.randint(1, 32)]
        elif how == 4:
            del data[at:]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 16))
    return bytes(data)
