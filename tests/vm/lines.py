# SPDX-License-Identifier: GPL-2.0
"""Which cache lines two tasks on two processors both use, by the line of the module that
writes them most.

    for one in shared(module, "6.12", folder)["two-read"]: one.times, one.whose, one.where

Of each line of 64 bytes that the module's instructions use (lines.c) on both processors,
and that is written: times is what it can go to and fro at most, a page, twice the least of
what either processor uses it and of what it is written. What the kernel's own functions
use is not seen, so of locks only what lies beside them; sites.py has locks. Threads' stacks
are left out: a thread that has been moved takes its own along.
"""
import collections
import dataclasses
import re

from . import counting, profiling, sites

# what the words of a file belong to, beside those of sites.WHOSE, or those of a line with this
WHOSE = {
    "peer->heard": "peer",
    "hand->": "connection",
    "client->used": "node",
    "nswap/client/pageout.c": "request",
    "nswap/client/pageout_claim.c": "request",
    "nswap/client/short.c": "request",
    "nswap/core/client_state.c": "node",
    "nswap/device/disk.c": "request",
    "nswap/keys/tags.h": "connection",
    "nswap/observe/meter.c": "request",
    "nswap/observe/meter.h": "request",
    "nswap/observe/profile.c": "node",
    "nswap/peers/place_cand.c": "peer",
    "nswap/pure/ip_counter.c": "node",
    "nswap/pure/ip_table.c": "node",
    "nswap/pure/ip_table.h": "node",
    "nswap/pure/slot_map.h": "request",
    "nswap/pure/wire.c": "connection",
    "nswap/server/cache.h": "page",
    "nswap/server/conn_queue.c": "lender",
    "nswap/server/serve_pages.c": "connection",
    "nswap/transport/rx_affinity.c": "connection",
    "nswap/transport/tcp.c": "connection",
}
# instructions that use the stack, whatever else they use
STACK = re.compile(r"call|push|pop|ret|.*\(%rsp")


@dataclasses.dataclass(frozen=True)
class Shared:
    """Lines that one line of the module writes most: how many, and of that line what
    it says and belongs to, or "unknown"."""
    times: float
    lines: int
    whose: str
    where: str
    text: str


class _Line:
    """Of one cache line: uses by each processor, what writes it, and whether it is stack."""

    def __init__(self):
        self.uses, self.writers, self.stack = [0, 0], collections.Counter(), False

    def add(self, at, counts, stack):
        """An instruction that uses it: reads and writes of either processor."""
        self.uses[0] += counts[0] + counts[1]
        self.uses[1] += counts[2] + counts[3]
        if counts[1] + counts[3]:
            self.writers[at] += counts[1] + counts[3]
        self.stack |= stack

    @property
    def most(self):
        """How often it can have gone to and fro."""
        return 0 if self.stack else 2 * min(*self.uses, sum(self.writers.values()))


def _read(path, code, base):
    """A window's file: {cache line: _Line}, of the module's instructions."""
    found = collections.defaultdict(_Line)
    for text in path.read_text().splitlines():
        line, at, *counts = text.split()
        at = int(at, 16) - base
        if 0 <= at <= code.at[-1]:
            found[line].add(at, [int(n) for n in counts], at in code.stack)
    return found


def _whose(where, text):
    """What a line of the module writes belongs to."""
    known = sites.Site("line", 0, where, text).whose
    if known != "unknown":
        return known
    named = [of for part, of in WHOSE.items() if part in text]
    return named[0] if named else WHOSE.get(where.partition(":")[0], known)


def _work(path, pages, code, base):
    """The lines of one work, those that can move most often first."""
    found = [line for line in _read(path, code, base).values() if line.most]
    writer = [line.writers.most_common(1)[0][0] for line in found]
    where = code.lines(sorted(set(writer)))
    times, number = collections.Counter(), collections.Counter()
    for line, at in zip(found, writer):
        times[where.get(at, "?")] += line.most / pages
        number[where.get(at, "?")] += 1
    text = {at: sites.source(at) if at != "?" else "" for at in times}
    return [Shared(n, number[at], _whose(at, text[at]), at, text[at])
            for at, n in times.most_common()]


def shared(module, series, folder):
    """Boot a guest with two processors on which two tasks page: {work: [Shared]}. module is
    the file that the guest has loaded, not stripped."""
    found, symbols = profiling.watched(series, counting.TWO, counting.TWO_WORKS, folder, "lines")
    code = sites.Code(module, STACK)
    base = code.base(symbols)
    return {work: _work(path, pages, code, base) for work, (path, pages) in found.items()}
