# SPDX-License-Identifier: GPL-2.0
"""Disks of a test in the lab: mappings of the scratch disk, whose errors the
test decides."""
import contextlib
import itertools
import os

from .check import true
from .lab import attempt, sh

SCRATCH = "/dev/ubda"
SECTORS = 2048          # in one MiB
PER_SLOT = 8

_number = itertools.count()


class Disk:
    """A disk of mb megabytes, at so many megabytes on the scratch disk."""

    def __init__(self, mb, at=0):
        self.sectors = mb * SECTORS
        self.at = at * SECTORS
        self.name = f"home{os.getpid()}.{next(_number)}"
        self.path = f"/dev/mapper/{self.name}"
        self.dmsetup("create", self.name, "--table", self.table())
        with open(self.path, "rb+", buffering=0) as disk:
            disk.write(bytes(1 << 20))      # nothing known is on it

    @staticmethod
    def dmsetup(*args):
        """Run dmsetup, where no udev helps it."""
        sh("env", "DM_DISABLE_UDEV=1", "dmsetup", *map(str, args))

    def table(self, bad=(), first=0):
        """What dmsetup gets: the slots in bad fail from slot first on."""
        lines, at = [], 0
        for slot in bad:
            start = (first + slot) * PER_SLOT
            if start > at:
                lines.append(f"{at} {start - at} linear {SCRATCH} "
                             f"{self.at + at}")
            lines.append(f"{start} {PER_SLOT} error")
            at = start + PER_SLOT
        lines.append(f"{at} {self.sectors - at} linear {SCRATCH} "
                     f"{self.at + at}")
        return "\n".join(lines)

    def become(self, table):
        """Change what is behind the disk."""
        self.dmsetup("suspend", "--noflush", "--nolockfs", self.name)
        self.dmsetup("load", self.name, "--table", table)
        self.dmsetup("resume", self.name)

    @contextlib.contextmanager
    def held_up(self):
        """with home.held_up(): what is asked of it waits until the end."""
        self.dmsetup("suspend", "--noflush", "--nolockfs", self.name)
        try:
            yield
        finally:
            self.dmsetup("resume", self.name)

    def fail(self, slots=None):
        """From now on everything fails, or these slots."""
        self.become(f"0 {self.sectors} error" if slots is None else
                    self.table(bad=sorted(slots)))

    def mend(self):
        """Nothing fails any more."""
        self.become(self.table())

    def free(self):
        """Whether it is not in use."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_EXCL))
        except OSError:
            return False
        return True


@contextlib.contextmanager
def disk(mb, at=0):
    """with disk(64) as home: it is removed at the end, which fails while
    it is in use."""
    made = Disk(mb, at)
    try:
        yield made
    except BaseException:
        attempt("dmsetup", "remove", "--force", made.name)
        raise
    true(made.free(), "the home is in use at the end")
    made.dmsetup("remove", made.name)
