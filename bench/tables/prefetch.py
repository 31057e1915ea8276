# SPDX-License-Identifier: GPL-2.0
"""The Nswap2L paper's tables of prefetching from network RAM to flash, and what it
wished for: policies that adapt.

N-T4 counts what prefetching by each policy is worth, N-T5 how many pages are read
at once with and without it, N-T6 what the programs take; one run makes the three.
N-T4-rounds shows what that count owes to memory being written and read again.
N-T8 has flash that is 10 % and 20 % faster than the network, of which the paper
only computed the run times.  "adaptive" lays the adaptive policies beside the fixed
ones, on flash that is faster, slower, and slow from some moment on.

A speed is told by the calibrated network: on flash of 0.9 a page alone and a page of
many are read in 0.9 of the time that the network takes; writes stay as they are.
"""
import collections
import contextlib
import dataclasses
import functools
import threading
import time

from tables import lab, profiles
from tables.workload import SEEDS, counters, workload
from tables.rows import Paper
from tables.units import Row, Unit

WORKLOADS = ("WL1", "WL2", "WL3", "WL4", "IS", "Radix", "HPL")
PARALLEL = ("IS", "Radix", "HPL")
POLICIES = ("rr", "rand", "lrs", "mrs")
READS = ("prefetched-first", "fastest", "least-loaded")
PERIOD_MS = 20
# Flash whose reads take so much of the network's.
FASTER = {"10 % faster": 0.9, "20 % faster": 0.8}
SLOWER = {"50 % slower": 1.5}
# Flash that becomes slow: reads of so much of the network's from then on.
BROKEN = 10
# No page was prefetched at so many wake-ups: it has turned itself off.
OFF_WAKEUPS = 8
MAY_LOSE = 0.02
# Medians no further apart are as good as each other: seeds differ by more.
EQUAL = 0.005

T6 = ("none", *POLICIES)
ROUNDS = ("1", "2", "4", "8")
ROUNDED = ("WL1", "WL2", "IS")
T8 = {"WL1": "rand", "HPL": "lrs"}

PAPERS = {
    "N-T4": Paper("flash reads per prefetched page", POLICIES, {
        "WL1": (1.1, 1.2, 1.1, 1.2), "WL2": (3.0, 3.2, 2.7, 3.0),
        "IS": (1.7, 1.4, 1.9, 1.6), "Radix": (0.5, 0.5, 0.2, 0.4),
        "HPL": (0.9, 0.8, 0.8, 0.8)}),
    "N-T5": Paper("pages being read at once, mean of the samples with any",
                  ("without", "with"), {
                      "WL1": (5.5, 3.8), "WL2": (5.7, 5.3), "IS": (5.6, 6.1),
                      "Radix": (5.4, 13.7), "HPL": (5.2, 13.1)}),
    # the paper's columns of IS and Radix are exchanged, see its Table III
    "N-T6": Paper("seconds by prefetching policy", T6, {
        "WL1": (443.0, 905.7, 650.3, 924.1, 884.5),
        "WL2": (591.6, 832.3, 819.2, 815.2, 829.9),
        "WL3": (503.6, 694.7, 621.9, 678.7, 685.0),
        "WL4": (578.9, 835.5, 818.0, 802.0, 815.6),
        "IS": (97.2, 114.9, 108.2, 105.6, 114.0),
        "Radix": (113.2, 179.5, 146.2, 172.1, 180.8),
        "HPL": (550.2, 619.1, 607.3, 580.5, 622.6)}, over="none"),
    "N-T8": Paper("seconds, on flash of the paper's speed and on faster flash",
                  ("none", "the paper's", *FASTER), {
                      "WL1": (455.8, 461.8, 450.1, 445.3),
                      "HPL": (628.4, 600.3, 597.0, 595.9)}, over="none"),
    "N-T4-rounds": Paper("flash reads per prefetched page, by how often memory is "
                         "written and read, or keys are ranked (IS)"),
    "adaptive": Paper("seconds by prefetching policy, and of adaptive ones",
                      over="none"),
}


@dataclasses.dataclass(frozen=True)
class Way:
    """How to prefetch, in nswapctl's words; which is None for not at all."""
    which: str = None
    when: str = "swapping"
    count: str = "percent-out"
    pct: int = 10
    read: str = "prefetched-first"


NONE = "none"
ADAPTIVE = "adaptive"


def way_of(which, read=""):
    """By one word: a fixed policy, as the paper had it, or what adapts."""
    if which == ADAPTIVE:
        return Way(which, "adaptive", "adaptive", read="soonest")
    return Way(None if which == NONE else which, read=read or Way.read)


# -- inside the lab's kernel ------------------------------------------------


def flash_at(share):
    """Knobs of flash whose reads take so much of the network's time."""
    alone = share * profiles.WANTED["N-T7", "network single read"] * 1000
    many = share * profiles.WANTED["N-T1", "network read"] * 1000
    return {"bus_read_ns": round(many), "read_ns": round(alone - many)}


def reads_at_once(node):
    """The mean of the profile's samples that had a page being read."""
    lines = [line.split() for line in
             node.read("/proc/nswap/profile").splitlines()]
    found = collections.Counter()
    for fields in lines[1:]:
        row = dict(zip(lines[0], fields))
        if row["op"] == "page-in":
            found["sum"] += int(row["sum"])
            found["busy"] = max(found["busy"], int(row["busy"]))
    return found["sum"] / found["busy"] if found["busy"] else 0.0


@contextlib.contextmanager
def prefetching(run, way, speed):
    """nswap with flash of a speed, swapped to, that prefetches in a way; the
    modelled flash."""
    node = run.node
    with lab.flash_of(run.scale.device, **speed) as flash, \
            lab.nswap(run.cluster, run.scale.device, "--flash", flash.path) as path:
        node.ctl("policy", "read", way.read)
        node.ctl("set", "profile_ms", "10")
        # a run is short at this scale, so is the time between wake-ups
        for key, value in (("period_ms", PERIOD_MS), ("when", way.when),
                           ("count", way.count), ("pct", way.pct),
                           ("which", way.which or "rr")):
            node.ctl("prefetch", "set", key, value)
        node.ctl("prefetch", "on" if way.which else "off")
        with lab.swapped(node, path):
            yield flash


def watched(run, name, way, speed=None, watch=None, flags=()):
    """Run a workload; what it took and what became of prefetching."""
    node = run.node
    with prefetching(run, way, speed or {}) as flash:
        before = counters(node)
        node.run("echo 1 > /proc/nswap/profile")
        with watch(flash) if watch else contextlib.nullcontext():
            got = workload(run, name, flags=flags)
        at_once = reads_at_once(node)
        now = counters(node)
    change = {key: now[key] - before[key] for key in before}
    found = {"seconds": round(got["total"], 4),
             "prefetched": change["pages_prefetched"],
             "read": change["prefetch_hits"],
             "flash_in": change["pages_flash_in"],
             "pages_in": change["pages_in"] + change["pages_flash_in"],
             "pages_out": change["pages_out"],
             "reads_at_once": round(at_once, 2)}
    found["said"] = (f"{found['seconds']:.3f} s, {found['prefetched']} prefetched, "
                     f"read {found['read']} times")
    return found


def prefetched(run, name, which, share=0, read="", rounds=0):
    """A workload with one policy, on flash whose reads take so much of the
    network's time (0: the paper's flash)."""
    return watched(run, name, way_of(which, read), flash_at(share) if share else {},
                   flags=["--iterations", rounds] if rounds else ())


class Watch:
    """Flash becomes slow in mid-run: pages brought there, wake-up by wake-up."""

    def __init__(self, node, after):
        self.node, self.after = node, after
        self.seen = []
        self.broken = None
        self._over = threading.Event()

    @contextlib.contextmanager
    def __call__(self, flash):
        thread = threading.Thread(target=self._look, args=(flash,))
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _look(self, flash):
        began = time.monotonic()
        while not self._over.wait(PERIOD_MS / 1000):
            now = time.monotonic()
            self.seen.append((now, counters(self.node)["pages_prefetched"]))
            if not self.broken and now - began >= self.after:
                flash.set(**flash_at(BROKEN))
                self.broken = now

    def off_after(self):
        """Milliseconds from when flash was slow until the last page was brought
        there before a pause; None if there was none."""
        last = self.broken
        for (_, before), (now, brought) in zip(self.seen, self.seen[1:]):
            if not last or now <= self.broken:
                continue
            if now - last > OFF_WAKEUPS * PERIOD_MS / 1000:
                return round((last - self.broken) * 1000, 1)
            if brought > before:
                last = now
        return None


def broken(run, name, share):
    """Adaptive policies on flash that becomes slow when half of the time is over
    that the program takes without prefetching."""
    none = watched(run, name, way_of(NONE))
    watch = Watch(run.node, none["seconds"] / 2)
    got = watched(run, name, way_of(ADAPTIVE), flash_at(share), watch)
    off = watch.off_after()
    return {**got, "off_after_ms": off,
            "said": f"{got['said']}; nothing after {off} ms"}


MEASURES = {"prefetch": prefetched, "broken": broken}


# -- on the host ------------------------------------------------------------

def policies(name):
    """The units of a workload with each policy, and without."""
    return {which: Unit("prefetch", (name, which)) for which in T6}


def reads_each(got):
    """Reads from flash of each page that was brought there."""
    return round(got["read"] / got["prefetched"], 3) if got["prefetched"] else 0.0


def runs_of(got):
    """The runs that a row is made of, to be looked at."""
    return {key: {k: v for k, v in found.items() if k != "said"}
            for key, found in got.items()}


def reads_row(got):
    """N-T4."""
    return {"ours": {which: reads_each(got[which]) for which in POLICIES},
            "runs": runs_of(got)}


def at_once_row(got):
    """N-T5."""
    return {"ours": {key: got[which]["reads_at_once"]
                     for key, which in (("without", "none"), ("with", "rr"))}}


def took(got):
    """Seconds of each run."""
    return {key: found["seconds"] for key, found in got.items()}


def policy_tables(names):
    """N-T4, N-T5 and N-T6: each workload with each policy, and without."""
    for ident, make in (("N-T4", reads_row), ("N-T5", at_once_row),
                        ("N-T6", lambda got: {"ours": took(got)})):
        for name in WORKLOADS:
            if name in names:
                yield Row(ident, name, policies(name), make, SEEDS[name])


def rounds_row(got):
    """N-T4-rounds."""
    return {"ours": {name: reads_each(found) for name, found in got.items()},
            "runs": runs_of(got)}


def rounds_table(names):
    """N-T4-rounds: with a policy that does not mind the order."""
    for rounds in ROUNDS:
        units = {name: Unit("prefetch", (name, "rand", 0, "", int(rounds)))
                 for name in ROUNDED if name in names}
        if units:
            yield Row("N-T4-rounds", rounds, units, rounds_row)


def gain(seconds, base):
    """By what part of base less."""
    return 1 - seconds / base


def below(ours, paper):
    """Marks where less was gained than the paper computed."""
    marks = []
    for speed in paper:
        got, needed = (gain(row[speed], row["none"]) for row in (ours, paper))
        if got < needed:
            marks.append(f"{speed}: a gain of {got:.1%}, the paper computed "
                         f"{needed:.1%}")
    return marks


def faster_row(paper, got):
    """A row of N-T8."""
    ours = {speed: got[speed]["seconds"] for speed in ("none", "the paper's", *FASTER)}
    return {"ours": ours, "marks": below(ours, paper), "paper": paper,
            "runs": runs_of(got)}


def faster_table(names):
    """N-T8: the paper's policy and those that adapt on flash of the paper's speed
    and on faster flash, and what other ways of reading make of the former."""
    for name, fixed in T8.items():
        for which in (fixed, ADAPTIVE) if name in names else ():
            units = {"none": Unit("prefetch", (name, NONE)),
                     "the paper's": Unit("prefetch", (name, which)),
                     **{speed: Unit("prefetch", (name, which, share))
                        for speed, share in FASTER.items()}}
            if which == fixed:
                units |= {f"{speed}, {read}": Unit("prefetch",
                                                   (name, which, share, read))
                          for speed, share in FASTER.items() for read in READS[1:]}
            yield Row("N-T8", f"{name}, {which}", units, functools.partial(
                faster_row, PAPERS["N-T8"].row(name)), SEEDS[name])


def best_row(got):
    """On flash that is faster: each fixed policy, and those that adapt."""
    ours = took(got)
    best = min(POLICIES, key=ours.get)
    marks = []
    if ours[ADAPTIVE] > min(ours[best], ours[NONE]) * (1 + EQUAL):
        marks.append(f"{best} gains {gain(ours[best], ours[NONE]):.1%}, adaptive "
                     f"{gain(ours[ADAPTIVE], ours[NONE]):.1%}")
    return {"ours": ours, "marks": marks, "runs": runs_of(got)}


def slower_row(got):
    """On flash that is slower: it costs next to nothing."""
    ours = took(got)
    loss = -gain(ours[ADAPTIVE], ours[NONE])
    marks = [f"takes {loss:.1%} longer, {MAY_LOSE:.0%} are allowed"] \
        if loss > MAY_LOSE else []
    return {"ours": ours, "marks": marks, "runs": runs_of(got)}


def broken_row(got):
    """On flash that becomes slow: it turns itself off."""
    off = got[ADAPTIVE]["off_after_ms"]
    return {"ours": took(got), "off_after_ms": off, "runs": runs_of(got),
            "marks": [] if off is not None else ["it did not turn itself off"]}


def adaptive_table(names):
    """The adaptive policies on the parallel programs."""
    for name in [n for n in PARALLEL if n in names]:
        none = {NONE: Unit("prefetch", (name, NONE))}
        for speed, share in FASTER.items():
            yield Row("adaptive", f"{name}, {speed}", {
                **none, **{which: Unit("prefetch", (name, which, share))
                           for which in (*POLICIES, ADAPTIVE)}}, best_row,
                SEEDS[name])
        for speed, share in SLOWER.items():
            yield Row("adaptive", f"{name}, {speed}", {
                **none, ADAPTIVE: Unit("prefetch", (name, ADAPTIVE, share))},
                slower_row, SEEDS[name])
        speed, share = list(FASTER.items())[-1]
        yield Row("adaptive", f"{name}, {speed}, then {BROKEN} times slower", {
            **none, ADAPTIVE: Unit("broken", (name, share))}, broken_row,
            SEEDS[name])


TABLES = {"N-T4": policy_tables, "N-T4-rounds": rounds_table, "N-T8": faster_table,
          "adaptive": adaptive_table}
