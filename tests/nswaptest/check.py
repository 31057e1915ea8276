# SPDX-License-Identifier: GPL-2.0
"""Verdicts and waits: what a test says, and how it waits for something."""
import time

# What a slow kernel (debug build, software emulation) multiplies every
# deadline with; a back end sets it before the first test.
scale = 1
POLL_S, POLL_MOST_S = 0.05, 0.25


RACES = 15      # the scale of kernels that look for races


def slower(seconds):
    """So many seconds of dead_after, where a healthy peer must not be taken for dead: on a
    kernel that looks for races it may be silent for twenty times as long."""
    return seconds * (20 if scale >= RACES else 1)


class Failure(Exception):
    """The test failed; the text is the reason, in one sentence."""


class Unmet(Failure):
    """A moment was missed or a quantity is out of its bounds.  A machine that
    is busy with something else can do that too, so the runner runs such a
    test once more, alone, and says so; the second verdict counts."""


class Skip(Exception):
    """The test cannot run here; the text says why."""


def wait_for(predicate, deadline, what, every=None):
    """Call predicate until it returns something true, and return that.

    After deadline seconds (times `scale`): Unmet "<what>: not within N s".
    Scenarios wait for events through it and never sleep themselves. Without `every`
    the time between two calls grows from POLL_S to POLL_MOST_S: most of them start a
    program, and what waits long shall not keep a processor busy.
    """
    limit = deadline * scale
    end = time.monotonic() + limit
    nap = every or POLL_S
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            raise Unmet(f"{what}: not within {limit:g} s")
        time.sleep(nap)
        if every is None:
            nap = min(1.3 * nap, POLL_MOST_S)


def hold(seconds):
    """Let time pass.  Only where time itself is under test: a cut that must
    last shorter or longer than a knob."""
    time.sleep(seconds)


def equal(got, want, what):
    """Fail unless got == want."""
    if got != want:
        raise Failure(f"{what}: {got!r}, expected {want!r}")


def true(value, what):
    """Fail unless value is true."""
    if not value:
        raise Failure(what)


def within(got, want, share, what):
    """Fail unless got is want give or take a share (0.01 is 1 %)."""
    if abs(got - want) > share * max(abs(want), 1):
        raise Unmet(f"{what}: {got}, expected {want} within {share:.1%}")


def at_most(got, limit, what):
    """Fail unless got <= limit."""
    if got > limit:
        raise Unmet(f"{what}: {got}, at most {limit} was expected")


def at_least(got, limit, what):
    """Fail unless got >= limit."""
    if got < limit:
        raise Unmet(f"{what}: {got}, at least {limit} was expected")
