# SPDX-License-Identifier: GPL-2.0
"""What a page costs, in instructions, against the committed figures.

A change that makes a page dearer commits the new figure and says why; nothing here
depends on how busy the machine is, so there is no second try.
"""
import collections
import json
import pathlib

from nswaptest.check import Failure, at_least, equal, within
from nswaptest.scenario import ROOT
from vm import cluster, counting, lines, profiling, sites

DESCRIPTION = "no page has become dearer, in instructions on a stock kernel"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64", "ip")
TIMEOUT = 400

KERNEL, DEVICE = "6.1", "nswap"
WORKS = ["read-4k-d1", "write-4k-d1", "read-4k-d32", "write-128k-d8"]
SHARE = 0.03
# words of a page that all tasks with the device write: docs/cost.md says which
WORDS = {"read-4k-d1": {}, "write-4k-d1": {}, "write-4k-d32": {"device": 2}}
RARE = 0.05
# Cache lines that go to and fro more often are those of a peer, connection, owner, request or
# page, or written by one of these: pages on their way out are limited for the device, and
# once a jiffy a node notes that its peers are used.
MOVES = 1
WRITERS = {"two-read": set(),
           "two-write": {"nswap/client/pageout_limit.c", "nswap/core/client_state.c"}}


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


def of_shared(listed, kind):
    """Of a work's sites, the shared ones of a kind that not only a message in a hundred
    needs: {whose: times a page}."""
    found = collections.Counter()
    for site in listed:
        if site.kind == kind and site.whose in sites.SHARED and site.times >= RARE:
            found[site.whose] += site.times
    return {whose: round(times) for whose, times in found.items()}


def test_profile(t):
    """The profile of a work has all instructions that were counted, by function, and what
    it says of locks: no page takes one that is not its connection's or its owner's, alone or
    with others under way."""
    if profiling.unfit():
        t.skip(profiling.unfit())
    folder = pathlib.Path(t.dir) / "guest"
    profiles = profiling.profile(KERNEL, DEVICE, list(WORDS), folder)
    found = profiles[WORKS[1]]
    rows = [json.loads(line) for line in (folder / "rows").read_text().splitlines()
            if line.startswith("{")]
    row = next(row for row in reversed(rows) if row["work"] == WORKS[1])
    counted = row["ns"] / row["pages"]
    t.log(f"{found.total:.1f} instructions a page, {counted:.1f} counted")
    within(found.total, counted, 0.01, "instructions of all functions")
    within(profiles[WORKS[0]].calls["nswap_held_find [nswap]"], 1, 0.01,
           "a page's searches")
    for work, one in profiles.items():
        listed = sites.sites(cluster.built_module(KERNEL), one)
        for site in listed:
            t.log(f"{work} {site.kind} {site.times:.3f} {site.whose} {site.where} {site.text}")
        at_least(sum(site.kind == "lock" for site in listed), 4, "lines that take a lock")
        equal((of_shared(listed, "lock"), of_shared(listed, "atomic")),
              ({}, WORDS[work]), f"shared locks and words of a page, {work}")


def test_lines(t):
    """Two tasks that page on two processors, with the same two peers, use no common cache line
    of the device, the node or the lender that either writes, but for two of page-outs. On
    6.12: before 6.5 the block layer's worker sends what pwrite() writes."""
    if profiling.unfit():
        t.skip(profiling.unfit())
    found = lines.shared(cluster.built_module("6.12"), "6.12", pathlib.Path(t.dir) / "guest")
    equal(list(found), counting.TWO_WORKS, "works that were looked at")
    for work, listed in found.items():
        for one in listed:
            t.log(f"{work} {one.times:.3f} {one.lines} {one.whose} {one.where} {one.text}")
        at_least(sum(one.times for one in listed if one.whose == "peer"), 2,
                 f"times a page that a peer's lines go to and fro, {work}")
        writers = {one.where.partition(":")[0] for one in listed
                   if one.whose in sites.SHARED and one.times >= MOVES}
        equal(writers - WRITERS[work], set(), f"other writers of shared lines, {work}")


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
