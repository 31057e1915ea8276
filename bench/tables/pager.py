# SPDX-License-Identifier: GPL-2.0
"""A program that pages out and in on a device itself, a request at a time.

Invariant: every page read is compared whole.
"""
import time

from nswaptest.check import Failure


def mean(taken):
    """Of some times."""
    taken = list(taken)
    return round(sum(taken) / len(taken), 1)


class Pager:
    """Pages out and in, each request after the one before.  slots: of nswaptest.work."""

    def __init__(self, slots, most, run):
        self.slots, self.most, self.run, self.at = slots, most, run, 0

    def out(self):
        """Write the next run of so many slots; its microseconds a page."""
        begin = time.monotonic_ns()
        self.slots.write(1 + self.at, self.run)
        took = time.monotonic_ns() - begin
        self.at = (self.at + self.run) % self.most
        return took / 1e3 / self.run

    def back(self, slot):
        """Read one page and compare it; its microseconds."""
        begin = time.monotonic_ns()
        page = self.slots.read(slot)
        took = time.monotonic_ns() - begin
        if page != self.slots.page(slot):
            raise Failure(f"slot {slot} is not what was written last")
        return took / 1e3

    def check(self):
        """Every page is what was written last."""
        if self.slots.compare() != (len(self.slots.count), 0, 0):
            raise Failure("pages are not what was written last")
