# SPDX-License-Identifier: GPL-2.0
"""libnswap's local cache, on a regular file in place of a device."""
import random

from nswaptest.check import at_least, equal
from nswaptest.regions import Program
from nswaptest.scenario import sibling

DESCRIPTION = "libnswap: the local cache, its policies, written through and back"
SUITES = ("unit",)
NEEDS = ("gcc", "make", "pkg-config")
HERE = True
TIMEOUT = 120

LRU, MRU, FIRST_IN = range(3)
BACK, THROUGH = range(2)
here = sibling("regions_here")
PAGE, LENGTH, place = here.PAGE, here.LENGTH, here.place


def reads(program, path, order, size=PAGE):
    """Open 8 regions behind a cache of 4, read them in order; hits of the last round."""
    program.size(4 * size)
    region = [program.copen(path, size, i * size) for i in range(8)]
    for i in order:
        program.cread(region[i], 0, size)
    before = program.counts()["local_hits"]
    for i in order:
        program.cread(region[i], 0, size)
    return program.counts()["local_hits"] - before


def test_policies(t):
    """What stays in the local cache: a scan defeats LRU and not the others."""
    for policy, scan, turns in ((LRU, 0, 5), (MRU, 4, 4), (FIRST_IN, 4, 6)):
        with place(t) as p, p.program() as program:
            program.policy(policy)
            equal(reads(program, p.path, range(8)), scan, f"hits of a scan, policy {policy}")
        with place(t) as p, p.program() as program:
            program.policy(policy)
            at_least(reads(program, p.path, (0, 1, 0, 2, 0, 1, 0, 3)), turns,
                     f"hits of turns, policy {policy}")
    with place(t) as p, p.program() as program:
        equal(program.policy(9), "EINVAL", "no such policy")


def test_cached(t):
    """Random reads and writes behind the local cache, through and back, with each policy."""
    for policy in (LRU, MRU, FIRST_IN):
        for mode in (BACK, THROUGH):
            choose = random.Random(f"{t.seed}.{policy}")
            with place(t) as p:
                with p.program() as program:
                    program.size(3 * 8 * PAGE)
                    program.policy(policy)
                    program.write_mode(mode)
                    region = [program.copen(p.path, 8 * PAGE, i * 8 * PAGE) for i in range(8)]
                    for _ in range(100):
                        i, at = choose.randrange(8), choose.randrange(8 * PAGE)
                        data = choose.randbytes(choose.randrange(1, 9000))
                        whole = i * 8 * PAGE + at
                        if choose.random() < 0.5:
                            put = program.cwrite(region[i], at, data)
                            p.data[whole:whole + put] = data[:put]
                            if mode == THROUGH:
                                equal(p.file(), bytes(p.data), "the file, written through")
                        else:
                            equal(program.cread(region[i], at, 9000),
                                  bytes(p.data[whole:min(whole + 9000, (i + 1) * 8 * PAGE)]),
                                  "bytes read")
                    program.csync(region[0])
                    equal(p.file()[:8 * PAGE], bytes(p.data[:8 * PAGE]), "what was synced")
                equal(p.file(), bytes(p.data), "the file at the end")
                with p.program() as program:
                    region = program.mopen(p.path, 8 * PAGE, 0)
                    equal(program.mread(region, 0, 8 * PAGE), bytes(p.data[:8 * PAGE]),
                          "found again")
                    equal(program.counts()["file_bytes"], 0, "bytes read from the file then")


def test_back(t):
    """Written back: the file has it after csync, cclose or the end, and not before."""
    with place(t) as p, p.program() as program:
        region = program.copen(p.path, LENGTH, 0)
        program.cwrite(region, 0, b"written back")
        equal(p.file(), bytes(p.data), "the file at first")
        program.csync(region)
        p.data[:12] = b"written back"
        equal(p.file(), bytes(p.data), "the file after csync")
        program.cwrite(region, LENGTH - 4, b"last")
        program.cclose(region)
        equal(p.file()[-4:], b"last", "the file after cclose")
        equal(program.regions(), [], "regions left")
    with place(t) as p:
        with Program(p.library, None) as program:
            region = program.copen(p.path, LENGTH, 0)
            program.cwrite(region, 0, b"without a device")
        equal(p.file()[:16], b"without a device", "the file after the end, without a device")


def test_gap(t):
    """What is written back is just what was written: others' bytes between stay, and a buffer
    without a region is read again when others changed the file."""
    for device in (True, False):
        with place(t) as p:
            with (p.program() if device else Program(p.library, None)) as program:
                region = program.copen(p.path, LENGTH, 0)
                equal(program.cread(region, 0, LENGTH), bytes(p.data), "read")
                program.cwrite(region, 10, b"first")
                program.cwrite(region, 15, b"touches it")
                with open(p.path, "rb+") as file:
                    file.seek(PAGE)
                    file.write(b"another's")
                program.cwrite(region, 2 * PAGE, b"second")
                program.csync(region)
                for at, data in ((10, b"firsttouches it"), (PAGE, b"another's"),
                                 (2 * PAGE, b"second")):
                    p.data[at:at + len(data)] = data
                equal(p.file(), bytes(p.data), "the file")
                equal(program.cread(region, 0, LENGTH), bytes(p.data), "read then")
                with open(p.path, "ab") as file:
                    file.truncate(PAGE)
                equal(program.cread(region, PAGE, LENGTH), bytes(LENGTH - PAGE), "cut off")
