# SPDX-License-Identifier: GPL-2.0
"""Crash with a compressed device: peers have short pages and whole ones.

        node0 ------ node1 … node6     node0 writes, reads and discards

Rounds as in crash.py, as few as those of early page-outs; every other page or so that the
workload writes can be compressed.
"""
import dataclasses

from nswaptest.check import at_least, equal
from nswaptest.scenario import sibling

crash = sibling("crash")

DESCRIPTION = "one death after the other loses no page of a compressed device"
SUITES = ("crash",)
NEEDS = ("inject", "progs")
CPUS = 2
BUSY = 1
TIMEOUT = crash.TIMEOUT

FEWEST = 1000           # pages of each kind


def rounds(t, scheme, kind):
    """Rounds with a device that compresses like that."""
    scheme = dataclasses.replace(scheme, options=("--compress", kind), data="mixed")
    crashes = crash.start(t, scheme, kind=crash.FewRounds)
    crash.run_rounds(crashes)
    stat = crashes.client.stat()["client"]
    t.log(f"{stat['pages_compressed']} of {stat['pages_out']} pages out were compressed")
    at_least(stat["pages_compressed"], FEWEST, "pages that came short")
    at_least(stat["pages_out"] - stat["pages_compressed"], FEWEST, "pages that did not")
    equal(stat["seals_broken"], 0, "pages that did not open or expand")


def test_mirror(t):
    """A mirror, pages compressed by LZ4: both copies are as short, or neither."""
    rounds(t, crash.MIRROR, "lz4")


def test_parity(t):
    """Parity, pages compressed by zstd: a check is as long as the longest of its group."""
    rounds(t, crash.PARITY, "zstd")
