# SPDX-License-Identifier: GPL-2.0
"""libnswap where programs die, work at once, or use what is another's: on a regular file in
place of a device."""
import contextlib
import fcntl
import os
import resource
import struct
import subprocess

from nswaptest.check import equal
from nswaptest.scenario import sibling

DESCRIPTION = "libnswap: programs that die, that work at once, and what is not theirs"
SUITES = ("unit",)
NEEDS = ("gcc", "make", "pkg-config")
HERE = True
TIMEOUT = 120

here = sibling("regions_here")
PAGE, LENGTH, place = here.PAGE, here.LENGTH, here.place
OFD_SETLK, BLOCKS = 37, 256     # where the locks of regions without a file begin


@contextlib.contextmanager
def locked(directory, region):
    """Hold the lock of blocks without a file, as one does that is just writing them."""
    with open(directory, "rb+") as file:
        fcntl.fcntl(file, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0,
                                                 1 + BLOCKS + region, 1, 0))
        yield


def test_blocks_busy(t):
    """Blocks are not freed while they are written, by a child of their process or by another
    of its threads: not at the end of the process, nor where another finds no room."""
    with place(t) as p, p.program() as other:
        equal(other.regions(), [], "regions at first")
        for end in ("close", "kill"):
            program = p.program()
            program.alloc(7 << 20)
            with locked(p.directory, 1):
                getattr(program, end)()
                equal([r["len"] for r in other.regions()], [7 << 20], f"regions after {end}")
                equal(other.alloc(7 << 20), "ENOMEM", "what does not fit then")
            equal(other.free(other.alloc(7 << 20)), None, "it fits when they are at rest")


def test_no_descriptors(t):
    """A program that can open no file does not take others for dead."""
    with place(t) as p, p.program() as program, p.program() as other:
        number = program.alloc(7 << 20)
        program.mwrite(number, 0, b"mine")
        equal(len(other.regions()), 1, "regions")
        resource.prlimit(other.process.pid, resource.RLIMIT_NOFILE, (3, 3))
        equal(other.alloc(7 << 20), "ENOMEM", "what does not fit")
        equal(program.mread(number, 0, 4), b"mine", "read then")


def stamp_again(p):
    """Have the directory take what the data file has now for what the library left, as if it
    was changed in the very tick of the kernel's clock in which the library wrote it."""
    now = os.stat(p.path)
    whole = p.directory.read_bytes()
    at = whole.index(struct.pack("QQ", now.st_dev, now.st_ino)) + 16
    with open(p.directory, "rb+") as file:
        file.seek(at)
        file.write(struct.pack("qqq", now.st_mtime_ns, now.st_ctime_ns, now.st_size))


def test_same_tick(t):
    """A program is killed just after it wrote, and its file changed in the same tick: the region
    is not believed."""
    with place(t) as p:
        program = p.program()
        program.mwrite(program.mopen(p.path, LENGTH, 0), 0, bytes(p.data))
        program.kill()
        with open(p.path, "rb+") as file:
            file.write(b"changed")
        stamp_again(p)
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.mread(region, 0, 7), b"changed", "read then")
            equal(program.counts()["found_regions"], 0, "regions found")


def test_left_at_once(t):
    """Regions that are left, or beside one that is closed, just after they were written are
    found by the next program."""
    for kind, half in (("m", "leave"), ("c", "leave"), ("m", "close")):
        with place(t) as p:
            with p.program() as program:
                region = [program.call(kind + "open", p.path, LENGTH // 2, i * LENGTH // 2)
                          for i in range(2)]
                for number in region:
                    program.call(kind + "write", number, 0, b"written")
                program.call(kind + "leave", region[0])
                program.call(kind + half, region[1])
            with p.program() as program:
                region = program.mopen(p.path, LENGTH // 2, 0)
                equal(program.counts()["found_regions"], 1, f"found after {kind}{half}")
                equal(program.mread(region, 0, 7), b"written", "read then")


def test_not_ours(t):
    """A device whose first page is empty and others not, and a file of others' where the
    directory should be, are refused and left as they are."""
    with place(t) as p:
        with open(p.device, "rb+") as file:
            file.seek(1 << 16)
            file.write(b"another's")
        was = p.device.read_bytes()
        with p.program() as program:
            equal(program.raw("attach", None, None), "EEXIST", "a device with data further on")
        equal(p.device.read_bytes() == was, True, "it is as it was")
    with place(t) as p:
        p.directory.write_bytes(b"another's" * 100)
        with p.program() as program:
            equal(program.raw("attach", None, None), "EEXIST", "another's file")
        equal(p.directory.read_bytes(), b"another's" * 100, "it then")
    with place(t) as p:
        with p.program() as program:
            equal(program.raw("attach", None, None), 0, "a new one")
        with open(p.directory, "rb+") as file:
            file.write(b"\0")   # a program died before it was made
        with p.program() as program:
            equal(program.raw("attach", None, None), 0, "one half made")


def test_blocks_refused(t):
    """A write of blocks that the device does not take whole leaves the others as they were."""
    with place(t) as p, p.program(NSWAP_REFRACTION_MS="0") as program:
        number = program.alloc(4 << 20)
        program.mwrite(number, 0, bytes(p.data))
        program.mwrite(number, 3 << 20, bytes(p.data))
        at, new = (2 << 20) - LENGTH // 2, bytes(reversed(p.data))
        program.mwrite(number, at, bytes(p.data))
        program.limit((2 << 20) - 4 * PAGE)     # in the middle of a request
        equal(program.mwrite(number, at, new), "ENOMEM", "a write beyond what the device takes")
        equal(program.mwrite(number, 3 << 20, b"no"), "ENOMEM", "another one")
        program.limit(-1)
        equal(program.mread(number, at, LENGTH),
              new[:LENGTH // 2 - 5 * PAGE] + bytes(p.data)[LENGTH // 2 - 5 * PAGE:],
              "what was taken, and what was not")
        for at in (0, 3 << 20):
            equal(program.mread(number, at, LENGTH), bytes(p.data), f"read at {at}")
        equal(program.mread(number, 5 << 19, LENGTH), bytes(LENGTH), "what was not written")
        equal(program.counts()["lost_regions"], 0, "regions lost")


def test_refused(t):
    """What cannot be opened changes nothing: too large, past the page cache."""
    with place(t) as p, p.program() as program:
        region = program.mopen(p.path, LENGTH, 0)
        equal(program.mopen(p.path, 64 << 20, 0), "ENOMEM", "larger than the device")
        equal(program.mopen(p.path, LENGTH, 0, os.O_RDWR | os.O_DIRECT), "EINVAL", "O_DIRECT")
        equal(program.mread(region, 0, LENGTH), bytes(p.data), "the region that was there")


SHIM = r'''
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int fdatasync(int fd)
{
	static int failed;

	errno = EIO;
	return failed++ ? 0 : -1;
}

int fstatfs(int fd, struct statfs *fs)
{
	int (*real)(int, struct statfs *) = dlsym(RTLD_NEXT, "fstatfs");
	int done = real(fd, fs);

	if (getenv("SHIM_NFS"))
		fs->f_type = 0x6969;
	return done;
}

int fstat(int fd, struct stat *st)
{
	int (*real)(int, struct stat *) = dlsym(RTLD_NEXT, "fstat");
	int done = real(fd, st);

	if (getenv("SHIM_SECONDS"))
		st->st_ctim.tv_nsec = st->st_mtim.tv_nsec = 0;
	return done;
}
'''


def shim(p):
    """What the library calls, with other answers: what to preload."""
    source, preload = p.folder / "shim.c", p.folder / "shim.so"
    source.write_text(SHIM, encoding="ascii")
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", preload, source], check=True)
    return str(preload)


def test_sync_failed(t):
    """That a file could not be written back is told to each of its regions, once."""
    with place(t) as p, p.program(LD_PRELOAD=shim(p)) as program:
        region = [program.mopen(p.path, PAGE, i * PAGE) for i in range(2)]
        cached = program.copen(p.path, PAGE, 2 * PAGE)
        for want in ("EIO", None):
            equal([program.msync(number) for number in region] + [program.csync(cached)],
                  [want] * 3, "syncing each")
        equal(program.msync(program.mopen(p.path, PAGE, 3 * PAGE)), None, "one opened since")


def test_times(t):
    """Regions of files whose times are another clock's are shared, and not found again once the
    program that wrote them has ended."""
    for kind, found in ((None, 1), ("SHIM_NFS", 0)):
        with place(t) as p:
            environment = {kind: "1", "LD_PRELOAD": shim(p)} if kind else {}
            with p.program(**environment) as program, p.program(**environment) as other:
                program.mwrite(program.mopen(p.path, LENGTH, 0), 0, b"written")
                other.mopen(p.path, LENGTH, 0)
                equal(other.counts()["found_regions"], 1, f"found at once, {kind}")
            with p.program(**environment) as program:
                program.mopen(p.path, LENGTH, 0)
                equal(program.counts()["found_regions"], found, f"found then, {kind}")


def test_coarse_times(t):
    """Where files have times of whole seconds, one that was written in the second in which its
    program was killed has no regions."""
    with place(t) as p:
        environment = {"SHIM_SECONDS": "1", "LD_PRELOAD": shim(p)}
        program = p.program(**environment)
        program.mwrite(program.mopen(p.path, LENGTH, 0), 0, b"written")
        program.kill()
        with p.program(**environment) as program:
            program.mopen(p.path, LENGTH, 0)
            equal(program.counts()["found_regions"], 0, "found then")
