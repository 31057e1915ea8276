# SPDX-License-Identifier: GPL-2.0
"""Workloads of scenarios: the eater, and single slots of a device."""
import contextlib
import hashlib
import json
import mmap
import os
import time

from . import check, text
from .cluster import PAGE, shown


def eater(node, mb, **options):
    """The command line of an eater: eater(node, 64, passes=1, hold=True)."""
    argv = [node.prog("eater"), "--mb", str(mb)]
    for key, value in options.items():
        argv.append("--" + key.replace("_", "-"))
        if value is not True:
            argv.append(str(value))
    return argv


def held_back(limit, command):
    """A command line that keeps its group at a limit without killing.

    At memory.max the group's OOM killer fires now and then, with every page
    clean in the swap cache, none under writeback and no write error: reclaim
    finds them all referenced. memory.high makes the program wait instead.
    """
    return ("g=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup); "
            f"echo {limit} > $g/memory.high || exit 9; exec {shown(command)}")


def result_of(done, codes=(0,)):
    """The result of an eater that ended with one of codes."""
    if done.code not in codes:
        raise check.Failure(f"the program ended with {done.code}: "
                            f"{(done.err or done.out).strip()}")
    return json.loads(done.out.splitlines()[-1])


def eat(node, mb, limit, timeout=250, codes=(0,), **options):
    """Run an eater of mb megabytes in a memory group held back at limit, "24M"; its result.
    No page may be wrong unless exit code 1 is among codes. It is killed all the same if
    more than half of what it has to swap does not get out."""
    mib = int(limit.removesuffix("M"))
    done = node.run(held_back(limit, eater(node, mb, **options)), timeout=timeout,
                    memory_max=f"{max(mib, (mib + mb) // 2)}M", check=False)
    return result_of(done, codes)


def state_of(path):
    """What a running eater says of itself in its --out file, {} if it says
    nothing whole just now."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.read())
    except (OSError, ValueError):
        return {}


class Slots:
    """Single slots of a device, written and compared by the scenario itself
    (lab only).  A slot's content is f(seed, slot, write count): random, or what
    text.page() makes of that."""
    made = []

    def __init__(self, dev, seed=1, data="random"):
        self.seed = seed
        self.data = data
        self.count = {}
        self.slowest = 0.0
        self._calls = []    # an entry for each read or write that has not ended
        self._file = os.open(f"/dev/{dev}", os.O_RDWR | os.O_DIRECT)
        self.made.append(self)

    def close(self):
        """Close the device; other threads read and write nothing from then on."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    @classmethod
    def close_all(cls, seconds=30):
        """Close those that a test has left open, as one does that missed a moment, and wait
        for what its threads read and write: a device that is in use is not deleted."""
        for slots in cls.made:
            slots.close()
        with contextlib.suppress(check.Unmet):
            check.wait_for(lambda: not any(slots._calls for slots in cls.made), seconds, "")
        cls.made.clear()

    def _call(self, call, buffers, slot):
        """One read or write; bytes."""
        self._calls.append(slot)
        try:
            return call(self._file, buffers, slot * PAGE)
        finally:
            self._calls.pop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def page(self, slot):
        """What was written last."""
        key = f"{self.seed} {slot} {self.count[slot]}".encode()
        if self.data == "random":
            return hashlib.shake_128(key).digest(PAGE)
        return text.page(self.data, key)

    def write(self, first, slots=1):
        """Write adjacent slots, each with its next content, in one call."""
        for slot in range(first, first + slots):
            self.count[slot] = self.count.get(slot, 0) + 1
        with mmap.mmap(-1, slots * PAGE) as buffer:
            for i in range(slots):
                buffer[i * PAGE:(i + 1) * PAGE] = self.page(first + i)
            put = self._call(os.pwrite, buffer, first)
        check.equal(put, slots * PAGE, f"bytes written at slot {first}")

    def read(self, slot):
        """A slot's content as the device gives it; OSError if it fails."""
        with mmap.mmap(-1, PAGE) as buffer:
            got = self._call(os.preadv, [buffer], slot)
            check.equal(got, PAGE, f"bytes read at slot {slot}")
            return bytes(buffer)

    def read_run(self, first, count):
        """Adjacent slots in one call: the contents, or OSError."""
        with mmap.mmap(-1, count * PAGE) as buffer:
            got = self._call(os.preadv, [buffer], first)
            check.equal(got, count * PAGE, f"bytes read from slot {first} on")
            return [buffer[i * PAGE:(i + 1) * PAGE] for i in range(count)]

    def compare_runs(self, count):
        """Read all slots, adjacent ones together: slots in calls that succeeded, and
        those of them that are not right."""
        read = wrong = 0
        for first in range(min(self.count), max(self.count) + 1, count):
            try:
                pages = self.read_run(first, count)
            except OSError:
                continue
            read += count
            wrong += sum(page != self.page(first + i) for i, page in enumerate(pages))
        return read, wrong

    def right(self, slot):
        """Whether a slot holds what was written last."""
        return self.read(slot) == self.page(slot)

    def compare(self):
        """Read every slot written; (right, wrong, unreadable) counts.
        slowest is then the longest that one read took, in seconds."""
        self.slowest = 0.0
        right = wrong = unreadable = 0
        for slot in sorted(self.count):
            begin = time.monotonic()
            try:
                good = self.right(slot)
            except OSError:
                unreadable += 1
                continue
            finally:
                self.slowest = max(self.slowest, time.monotonic() - begin)
            right += good
            wrong += not good
        return right, wrong, unreadable
