# SPDX-License-Identifier: GPL-2.0
"""Shared by the benchmarks: order of runs, medians, marks and progress."""
import statistics
import sys
import time

# A run during which other programs had more than this share of the
# machine's processors is marked.
OTHER_LOAD = 0.10
SERVED_OFF = 0.01


def median(values):
    """The median, or None if nothing was measured."""
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def rounded(value, digits):
    """A figure, or None if there is none."""
    return value if value is None else round(value, digits)


def turns(names, rounds):
    """Rounds over names, every other one backwards, so that a slow drift of
    the machine affects all equally: [(round, name), …]."""
    return [(r, name) for r in range(rounds)
            for name in (names if r % 2 == 0 else list(reversed(names)))]


def served_mark(served, pages):
    """A mark if the peer's counter and the pages moved differ, else None."""
    if served is None or abs(served - pages) <= max(SERVED_OFF * pages, 1):
        return None
    return f"peer served {served} pages of {pages}"


class Progress:
    """One line a step with the time left, from the time the steps took."""

    def __init__(self, weights):
        self.left = sum(weights)
        self.done = 0.0
        self.start = time.monotonic()

    def step(self, weight, text):
        """Say that a step of this weight is over."""
        self.done += weight
        self.left -= weight
        spent = time.monotonic() - self.start
        left = spent / self.done * self.left if self.done else 0
        print(f"   {text}   ({left / 60:.0f} min {left % 60:02.0f} s left)",
              file=sys.stderr, flush=True)


class Load:
    """How busy this kernel and other programs kept the host's processors, read
    from the file that the host side writes: lines "<time> <share of other
    programs> <seconds this kernel has had so far>"."""

    def __init__(self, path):
        self.path = path

    def _lines(self, begin, end):
        try:
            with open(self.path, encoding="ascii") as lines:
                fields = [line.split() for line in lines]
        except OSError:
            return []
        return [tuple(map(float, f)) for f in fields
                if len(f) == 3 and begin <= float(f[0]) <= end]

    def share(self, begin, end):
        """The mean share of others between two times (time.time()), None if
        unknown."""
        shares = [share for _, share, _ in self._lines(begin, end + 1)]
        return statistics.mean(shares) if shares else None

    def own(self, begin, end):
        """The share of one processor that this kernel had."""
        lines = self._lines(begin, end)
        if len(lines) < 2:
            raise ValueError("there is no record of how busy this kernel was")
        return (lines[-1][2] - lines[0][2]) / (lines[-1][0] - lines[0][0])

    def seconds(self, begin, end):
        """Processor seconds that this kernel had between two times, None if they are
        too near to each other."""
        try:
            return self.own(begin, end) * (end - begin)
        except ValueError:
            return None

    def mark(self, begin, end):
        """A mark if the run was disturbed, else None."""
        share = self.share(begin, end)
        if share is None or share <= OTHER_LOAD:
            return None
        return f"other programs used {share:.0%} of the processors"
