# SPDX-License-Identifier: GPL-2.0
"""Allocations and requests that fail, on a kernel with fault injection.

Only what the module asks for: of the functions that led to an allocation one must lie
outside the kernel's own text (the stack trace filter; the module is the only one here).
Three ways to say which ones fail:

    nth(node, n, command)           the n-th of one command, exactly
    with every(n): …                each n-th of all tasks
    with disk_faults(home, n): …    each n-th request to a disk
"""
import collections
import contextlib
import os
import pathlib
import re

from . import check
from .cluster import Done

DEBUGFS = pathlib.Path("/sys/kernel/debug")
MEMORY = ("failslab", "fail_page_alloc")
REQUESTS = "fail_make_request"
DEPTH = 32
ULONG_MAX = (1 << 64) - 1
MANY = 10 ** 9

failed = collections.Counter()      # calls that every() had fail, by what they were


def possible():
    """Whether this kernel can do it."""
    return (DEBUGFS / MEMORY[0] / "require-start").exists()


def _set(what, **values):
    for name, value in values.items():
        (DEBUGFS / what / name.replace("_", "-")).write_text(f"{value}\n")


def kernel_end():
    """Where the kernel's own text ends: modules lie beyond."""
    text = pathlib.Path("/proc/kallsyms").read_text()
    return re.search(r"^([0-9a-f]+) \w _etext$", text, re.M)[1]


def steps(dense, ratio=8):
    """1, 2, 3 … to dense, and then further by one part in so many, without an end."""
    n = 1
    while True:
        yield n
        n += 1 if n < dense else max(1, n // ratio)


def prepare():
    """The filter; nothing fails yet. Whether the kernel would wait for memory does not
    matter, and neither does what it is for."""
    end = kernel_end()
    for what in (*MEMORY, REQUESTS):
        _set(what, probability=0, verbose=1, times=-1, interval=1, space=0,
             stacktrace_depth=DEPTH, require_start=f"0x{end}",
             require_end=hex(ULONG_MAX))
    _set(MEMORY[0], ignore_gfp_wait="N", cache_filter="N")
    _set(MEMORY[1], ignore_gfp_wait="N", ignore_gfp_highmem="N", min_order=0)


def off():
    """Nothing fails any more."""
    for what in (*MEMORY, REQUESTS):
        _set(what, probability=0)


@contextlib.contextmanager
def every(n, which=MEMORY):
    """Each n-th call fails, of whichever task."""
    for what in which:
        _set(what, interval=n, times=MANY, probability=100, verbose=0)
    try:
        yield
    finally:
        for what in which:
            _set(what, probability=0, verbose=1)
            failed[what] += MANY - int((DEBUGFS / what / "times").read_text())
            _set(what, times=-1)


@contextlib.contextmanager
def disk_faults(disk, n):
    """Each n-th request to a disk fails."""
    device = os.stat(disk.path).st_rdev
    knob = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
                        "/make-it-fail")
    knob.write_text("1")
    try:
        with every(n, (REQUESTS,)):
            yield
    finally:
        knob.write_text("0")


def nth(node, n, cmd, timeout=60):
    """Run a command whose n-th allocation within the module fails; (Done, whether it
    came to that)."""
    process = node.popen(["sh", "-c", f'echo {n} > /proc/self/fail-nth && exec "$@"',
                          "sh", *map(str, cmd)])
    pid = process.popen.pid

    def ended():
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    check.wait_for(ended, timeout, f"'{cmd}' with allocation {n} failing ends")
    left = int(pathlib.Path(f"/proc/{pid}/fail-nth").read_text())
    done = process.wait(timeout)
    return Done(" ".join(map(str, cmd)), done.code, done.out, done.err), not left
