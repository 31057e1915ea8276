# SPDX-License-Identifier: GPL-2.0
"""libnswap on a regular file in place of a device: what needs no peers."""
import contextlib
import functools
import os
import pathlib
import random
import subprocess
import tempfile

from nswaptest.check import equal, hold, true
from nswaptest.regions import Program
from nswaptest.scenario import ROOT

DESCRIPTION = "libnswap: regions and their directory, without a device"
SUITES = ("unit",)
NEEDS = ("gcc", "make", "pkg-config")
HERE = True
TIMEOUT = 120

PAGE = 4096
LENGTH = 64 * PAGE
DIRTY, FREE_REGION = 12, 124    # where they are in struct dir_head


class Place:
    """A folder with a device, a directory and a data file."""

    def __init__(self, t, folder):
        self.folder = pathlib.Path(folder)
        self.library = ROOT / "build/lib/libnswap.so.0"
        self.device = self.folder / "device"
        self.directory = self.folder / "regions"
        self.path = str(self.folder / "data")
        with open(self.device, "wb") as file:
            file.truncate(8 << 20)
        self.data = bytearray(random.Random(t.seed).randbytes(LENGTH))
        pathlib.Path(self.path).write_bytes(self.data)

    def program(self, **environment):
        """Another program that uses the device."""
        return Program(self.library, self.device, self.directory, **environment)

    def file(self):
        """What the file has."""
        return pathlib.Path(self.path).read_bytes()


@functools.cache
def build():
    """The library, once a test."""
    subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True)


@contextlib.contextmanager
def place(t):
    """A Place."""
    build()
    with tempfile.TemporaryDirectory() as folder:
        yield Place(t, folder)


def test_random(t):
    """Random reads and writes of two programs and of a child: always the file's data."""
    choose = random.Random(t.seed)
    with place(t) as p, p.program() as first, p.program() as second:
        region = {q: q.mopen(p.path, LENGTH, 0) for q in (first, second)}
        for _ in range(200):
            program = choose.choice((first, second))
            at, size = choose.randrange(LENGTH), choose.randrange(1, 40000)
            if choose.random() < 0.5:
                data = choose.randbytes(size)
                put = program.mwrite(region[program], at, data)
                equal(put, min(size, LENGTH - at), "bytes written")
                p.data[at:at + put] = data[:put]
            else:
                equal(program.mread(region[program], at, size), bytes(p.data[at:at + size]),
                      "bytes read")
        equal(p.file(), bytes(p.data), "the file")
        equal(first.fork(region[first], 0, 1 << 14), bytes(p.data[:1 << 14]), "read by a child")
        equal(first.counts()["lost_regions"], 0, "regions lost")


def test_at_once(t):
    """Two programs of three threads each, at once, at parts of a region that are their own and
    begin within pages of others."""
    with place(t) as p, p.program() as first, p.program() as second:
        region = {q: q.mopen(p.path, LENGTH, 0) for q in (first, second)}
        ends = [round(i * LENGTH / 6) for i in range(7)]
        parts = list(zip(ends, ends[1:]))
        for program, mine in ((first, parts[::2]), (second, parts[1::2])):
            program.start("threads", region[program], mine, t.seed, 60)
        done = {program: program.result() for program in (first, second)}
        equal([wrong for found in done.values() for wrong, _ in found], [0] * 6, "wrong reads")
        whole = b"".join(data for both in zip(done[first], done[second]) for _, data in both)
        equal(p.file() == whole, True, "the file is what they wrote")
        equal(first.mread(region[first], 0, LENGTH) == whole, True, "and so is the region")
        equal(first.counts()["lost_regions"] + second.counts()["lost_regions"], 0,
              "regions lost")


def test_churn(t):
    """Three programs open, read and close regions of a file each at once: the directory is
    whole afterwards, and all of the device is free."""
    with place(t) as p, contextlib.ExitStack() as stack:
        programs = [stack.enter_context(p.program()) for _ in range(3)]
        for i, program in enumerate(programs):
            path = pathlib.Path(f"{p.path}.{i}")
            path.write_bytes(random.Random(i).randbytes(LENGTH))
            program.start("churn", str(path), 0, LENGTH, f"{t.seed}.{i}", 150)
        equal([program.result() for program in programs], [0, 0, 0], "wrong reads")
        equal(programs[0].regions(), [], "regions left")
        pages = p.device.stat().st_size // PAGE - 1
        number = programs[0].mopen(p.path, pages * PAGE, 0)
        equal(programs[0].mread(number, 0, LENGTH), bytes(p.data), "one as large as all of it")



def test_spoiled(t):
    """Zeros, old data, other data and a page in another's place are errors."""
    def zeros(old, now):
        return bytes(len(now))

    def stale(old, now):
        return old

    def altered(old, now):
        return now[:5000] + bytes([now[5000] ^ 1]) + now[5001:]

    def moved(old, now):
        return now[:PAGE] + now[2 * PAGE:3 * PAGE] + now[PAGE:2 * PAGE] + now[3 * PAGE:]
    for spoil in (zeros, stale, altered, moved):
        with place(t) as p, p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            program.mread(region, 0, LENGTH)
            old = p.device.read_bytes()
            program.mwrite(region, 0, bytes(reversed(p.data)))
            now = p.device.read_bytes()
            with open(p.device, "rb+") as file:
                file.seek(PAGE)
                file.write(spoil(old[PAGE:], now[PAGE:]))
            equal(program.mread(region, 0, LENGTH), "ENOMEM", f"reading after {spoil.__name__}")
            equal(program.mread(region, 40 * PAGE, PAGE), "ENOMEM", "reading once more")
            equal(program.mclose(region), "EINVAL", "closing it")
            equal(program.counts()["lost_regions"], 1, "regions lost")
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.mread(region, 0, LENGTH), bytes(reversed(p.data)), "opened again")


def test_killed(t):
    """A program is killed at any moment: the next one finds the file's data, or nothing."""
    choose = random.Random(t.seed)
    with place(t) as p:
        found = 0
        for turn in range(6):
            program = p.program()
            region = program.mopen(p.path, LENGTH, 0)
            program.mread(region, 0, LENGTH)
            program.start("hammer", region, f"{t.seed}.{turn}", LENGTH)
            hold(choose.uniform(0, 0.05))
            program.kill()
            with p.program() as other:
                region = other.mopen(p.path, LENGTH, 0)
                equal(other.mread(region, 0, LENGTH), p.file(), "read after that")
                listed = other.regions()
                equal(len(listed), 1, "regions in the directory")
                counts = other.counts()
                equal(counts["lost_regions"], 0, "regions lost")
                found += counts["found_regions"]
                other.mread(region, 0, LENGTH)
        t.log(f"found again {found} of 6")


def test_changed(t):
    """A file that others change, in any way, has no regions any more; one whose name is used
    by another file has none either."""
    def overwrite(path):
        with open(path, "rb+") as file:
            file.write(b"changed")

    def restore_times(path):
        times = os.stat(path)
        overwrite(path)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def grow(path):
        with open(path, "ab") as file:
            file.write(b"more")

    def replace(path):
        with open(path + ".new", "wb") as file:
            file.write(bytes(LENGTH))
        os.rename(path + ".new", path)
    for change in (overwrite, restore_times, grow, replace):
        with place(t) as p:
            with p.program() as program:
                region = program.mopen(p.path, LENGTH, 0)
                program.mwrite(region, 100, b"own writes are no changes")
                program.mread(region, 0, LENGTH)
                equal(program.counts()["changed_files"], 0, "changes of others so far")
            with p.program() as program:
                region = program.mopen(p.path, LENGTH, 0)
                equal(program.counts()["found_regions"], 1, "found again")
                change(p.path)
                if change is not replace:
                    equal(program.mread(region, 0, PAGE), "ENOMEM", "reading it then")
            with p.program() as program:
                region = program.mopen(p.path, LENGTH, 0)
                equal(program.counts()["found_regions"], 0, f"found after {change.__name__}")
                equal(program.mread(region, 0, LENGTH), p.file()[:LENGTH], "opened again")


def test_directory(t):
    """Another device, or a device that has other data or belongs to another directory."""
    with place(t) as p:
        with p.program() as program:
            program.mread(program.mopen(p.path, LENGTH, 0), 0, LENGTH)
        os.unlink(p.device)
        with open(p.device, "wb") as file:
            file.truncate(8 << 20)
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.counts()["found_regions"], 0, "found on another device")
            equal(program.mread(region, 0, LENGTH), bytes(p.data), "opened again")
            with Program(p.library, p.device, p.folder / "other") as other:
                equal(other.raw("attach", None, None), "EBUSY", "with one in use")
                equal(program.mread(region, 0, LENGTH), bytes(p.data), "its regions")
        with Program(p.library, p.device, p.folder / "other") as other:
            equal(other.raw("attach", None, None), 0, "a new directory takes it over")
        with p.program() as program:
            equal(program.raw("attach", None, None), "EEXIST", "the old one after that")
            equal(program.mopen(p.path, LENGTH, 0), "ENOMEM", "a region then")
            region = program.copen(p.path, LENGTH, 0)
            equal(program.cread(region, 0, LENGTH), bytes(p.data), "the file behind the cache")
        p.device.write_bytes(b"another's" + bytes(8 << 20))
        with Program(p.library, p.device, p.folder / "third") as program:
            equal(program.raw("attach", None, None), "EEXIST", "a device with other data")
        true(p.device.read_bytes().startswith(b"another's"), "it is as it was")
        with Program(p.library, None) as program:
            equal(program.raw("attach", None, None), "ENODEV", "no device named")


def test_half_changed(t):
    """A program died with the directory's lock, its lists half changed: they are made again."""
    with place(t) as p:
        with p.program() as program:
            program.mread(program.mopen(p.path, LENGTH, 0), 0, LENGTH)
        with open(p.directory, "rb+") as file:
            for at in (DIRTY, FREE_REGION):
                file.seek(at)
                file.write((1 if at == DIRTY else 0).to_bytes(4, "little"))
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.counts()["found_regions"], 1, "found again")
            equal(program.mread(region, 0, LENGTH), bytes(p.data), "read then")
            others = [program.mopen(p.path, PAGE, LENGTH + i * PAGE) for i in range(1024)]
            equal(len(set(others) - {"ENOMEM"}), 1024, "more regions")
            equal(len(program.regions()), 1025, "regions in the directory")
            equal(program.mread(region, 0, LENGTH), bytes(p.data), "read beside these")


def test_sharing(t):
    """The same region is shared, one that overlaps takes the place of the old one, and mclose
    frees it for all."""
    with place(t) as p, p.program() as first, p.program() as second:
        a, b = first.mopen(p.path, LENGTH, 0), second.mopen(p.path, LENGTH, 0)
        first.mwrite(a, 5, b"shared")
        equal(second.mread(b, 5, 6), b"shared", "read by the other")
        equal(second.counts()["found_regions"], 1, "found by the other")
        c = second.mopen(p.path, LENGTH // 2, PAGE)
        equal(first.mread(a, 0, 10), "ENOMEM", "reading the one that was there before")
        equal(second.mread(c, 0, 10), bytes(p.data[PAGE:PAGE + 10]), "reading the new one")
        d = first.mopen(p.path, LENGTH // 2, PAGE)
        equal(second.mclose(c), None, "closing it")
        equal(first.mread(d, 0, 10), "ENOMEM", "reading after another's close")
        equal(first.mclose(d), "EINVAL", "closing it twice")
        equal(first.regions(), [], "regions in the directory")


def test_blocks(t):
    """Blocks without a file: zeros first, then what was written; freed with their process."""
    with place(t) as p, p.program() as other:
        equal(other.regions(), [], "regions at first")
        program = p.program()
        number = program.alloc(LENGTH)
        equal(program.mread(number, 0, LENGTH), bytes(LENGTH), "read before it was written")
        program.mwrite(number, 5000, b"some")
        equal(program.mread(number, 4990, 20), bytes(10) + b"some" + bytes(6), "read then")
        equal([r["len"] for r in other.regions()], [LENGTH], "regions in the directory")
        equal(program.msync(number), "EINVAL", "there is no disk")
        program.close()
        equal(other.regions(), [], "after its end")
        program = p.program()
        numbers = [program.alloc(1 << 20) for _ in range(8)]
        equal(numbers[-1], "ENOMEM", "what does not fit")
        equal(program.free(numbers[0]), None, "freeing")
        equal(program.alloc(1 << 20), numbers[0], "fits then")
        program.kill()
        equal(other.alloc(7 << 20) == "ENOMEM", False, "a killed program's are freed")



def test_access(t):
    """The directory has the device's group and rights, and those of no others."""
    with place(t) as p:
        for mode, want in ((0o666, 0o660), (0o640, 0o640), (0o600, 0o600)):
            p.directory.unlink(missing_ok=True)
            p.device.chmod(mode)
            with p.program() as program:
                program.raw("attach", None, None)
            equal(p.directory.stat().st_mode & 0o777, want, f"of a device with {mode:o}")
