# SPDX-License-Identifier: GPL-2.0
"""What a page costs, in instructions, against the committed figures.

A change that makes a page dearer commits the new figure and says why; nothing here
depends on how busy the machine is, so there is no second try.
"""
import json
import pathlib

from nswaptest.check import Failure, equal, within
from nswaptest.scenario import ROOT
from vm import counting, profiling

DESCRIPTION = "no page has become dearer, in instructions on a stock kernel"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64", "ip")
TIMEOUT = 400

KERNEL, DEVICE = "6.1", "nswap"
WORKS = ["read-4k-d1", "write-4k-d1", "read-4k-d32", "write-128k-d8"]
SHARE = 0.03


def test_page(t):
    """A few works of nswap on 6.1."""
    committed = json.loads((ROOT / "bench/results/cost.json").read_text())
    rows = counting.measure(KERNEL, DEVICE, WORKS, pathlib.Path(t.dir) / "guest")
    for row in rows:
        t.log(json.dumps(row))
    equal([row["work"] for row in rows], WORKS, "works that were measured")
    found = counting.dearer(rows, committed, SHARE)
    if found:
        raise Failure("; ".join(found) + ": a change that makes a page dearer commits "
                      "the new figures (make bench BENCH=cost) and says why")


def test_profile(t):
    """The profile of a work has all instructions that were counted, by function."""
    if profiling.unfit():
        t.skip(profiling.unfit())
    folder = pathlib.Path(t.dir) / "guest"
    found = profiling.profile(KERNEL, DEVICE, WORKS[:1], folder)[WORKS[0]]
    rows = [json.loads(line) for line in (folder / "rows").read_text().splitlines()
            if line.startswith("{")]
    counted = rows[-1]["ns"] / rows[-1]["pages"]
    t.log(f"{found.total:.1f} instructions a page, {counted:.1f} counted")
    within(found.total, counted, 0.01, "instructions of all functions")
    within(found.calls["nswap_held_find [nswap]"], 1, 0.01, "a page's searches")


def test_compare(_):
    """What counts as dearer: more than the share, or not known."""
    def row(work, cost):
        return {"kernel": KERNEL, "device": DEVICE, "work": work,
                "instr_per_page": cost, "spread": 0}
    was = [row("a", 1000), row("b", 1000), {**row("c", 1), "device": "brd"}]
    equal(counting.dearer([row("a", 1030), row("b", 10)], was, SHARE), [], "not dearer")
    equal(counting.dearer([row("a", 1031), row("b", 1000)], was, SHARE),
          ["a of nswap on 6.1 takes 1,031 instructions a page, 3.1% more than the "
           "1,000 in bench/results/cost.json"], "dearer")
    equal(counting.dearer([row("c", 1)], was, SHARE),
          ["bench/results/cost.json has no c of nswap on 6.1"], "not known")
