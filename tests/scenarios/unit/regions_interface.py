# SPDX-License-Identifier: GPL-2.0
"""libnswap as programs in C and Python see it, on a regular file in place of a device."""
import json
import os
import re
import subprocess

from nswaptest.check import equal
from nswaptest.scenario import ROOT, sibling

DESCRIPTION = "libnswap: names, the binding of Python, its command, and the paper's header"
SUITES = ("unit",)
NEEDS = ("gcc", "make", "nm", "pkg-config")
HERE = True
TIMEOUT = 120

here = sibling("regions_here")
PAGE, LENGTH, place = here.PAGE, here.LENGTH, here.place


def test_interface(t):
    """What the library exports is what the header declares, and has a manual page."""
    with place(t) as p:
        exported, static = (
            {line.split()[2] for line in subprocess.run(
                ["nm", "--defined-only", *args], check=True, capture_output=True,
                text=True).stdout.splitlines() if len(line.split()) == 3}
            for args in (("-D", p.library), ("-g", p.library.parent / "libnswap.a")))
    header = (ROOT / "lib/include/nswap/nswap.h").read_text()
    declared = set(re.findall(r"^[a-z].*?\b(nswap_\w+)\(", header, re.M))
    equal(exported, declared, "exported, declared")
    equal(static, declared, "global in the static library, declared")
    words = set(re.findall(r"[a-z]+", re.sub(r"/\*.*?\*/", "", header, flags=re.S)))
    equal(words & {"class", "delete", "new", "operator", "private", "template", "this"}, set(),
          "words of C++")
    pages = {path.stem for path in (ROOT / "lib/man").glob("*.3")}
    equal(pages, declared, "manual pages")
    text = "".join(path.read_text() for path in (ROOT / "lib/man").glob("*.3"))
    equal([name for name in declared if f"{name}(" not in text], [], "not in a synopsis")


def test_python(t):
    """The binding raises OSError with the errno, Lost where a region is gone."""
    with place(t) as p:
        script = f"""
import errno, nswap
nswap.attach({str(p.device)!r}, {str(p.directory)!r})
with open({p.path!r}, "rb+") as file:
    region = nswap.Region(file, 0, {LENGTH})
    assert region.write(10, b"python") == 6 and region.read(10, 6) == b"python"
    assert region.read({LENGTH - 3}, 10) == region.read({LENGTH - 3}, 3)
    region.sync()
    other = nswap.Region(file, {PAGE * 100}, {PAGE})
    region.close()
    with nswap.Region(file, {PAGE * 200}, {PAGE}) as next:
        assert next.read(0, 1) == bytes(1)
        try:
            region.close()      # its number is that of the next one
        except OSError:
            pass
        assert next.read(0, 1) == bytes(1)
    with nswap.Blocks({PAGE}) as blocks:
        assert blocks.write(0, b"block") == 5
    assert next.number == blocks.number == -1
    for call, wanted, number in ((lambda: region.read(0, 1), nswap.Lost, errno.ENOMEM),
                                 (region.close, OSError, errno.EINVAL),
                                 (lambda: nswap.Region(file, -1, 1), OSError, errno.EINVAL)):
        try:
            call()
        except wanted as why:
            assert why.errno == number, why
        else:
            raise AssertionError(call)
"""
        names = {"NSWAP_LIBRARY": str(p.library), "PYTHONPATH": str(ROOT / "lib/python"),
                 "NSWAP_DIRECTORY": str(p.directory)}

        def python(*args):
            return subprocess.run(["python3", *args], capture_output=True, text=True,
                                  env={**os.environ, **names}, check=False)
        done = python("-c", script)
        equal((done.returncode, done.stderr), (0, ""), "a program in Python")
        command = ("-m", "nswap", "--json", "--device", str(p.device))
        found = sorted(json.loads(python(*command, "list").stdout), key=lambda r: r["offset"])
        equal([(r["path"], r["offset"], r["len"]) for r in found],
              [(p.path, PAGE * i, PAGE) for i in (100, 200)], "listed")
        os.rename(p.path, p.path + ".new")
        equal(len(json.loads(python(*command, "free", p.path + ".new").stdout)), 2, "freed")
        equal(json.loads(python(*command, "list").stdout), [], "listed then")
        done = python("-m", "nswap", "list")
        equal((done.returncode, done.stderr.count("\n")), (1, 1), "without a device")


def test_python_odd(t):
    """A number that no call takes is EINVAL, not another number; a name that is no text is
    listed as it is."""
    with place(t) as p:
        odd = os.fsencode(p.folder) + b"/\xff"
        os.rename(p.path, odd)
        script = f"""
import errno, nswap
nswap.attach({str(p.device)!r}, {str(p.directory)!r})
with open({odd!r}, "rb+") as file:
    region, cached = nswap.Region(file, 0, {PAGE}), nswap.Cached(file, {PAGE}, {PAGE})
    for call in (lambda: nswap.Region(file, 1 << 64, {PAGE}),
                 lambda: nswap.Region(file, 0, (1 << 64) + {PAGE}),
                 lambda: region.read(1 << 64, 1), lambda: cached.read(1 << 64, 1),
                 lambda: region.write(-(1 << 64), b"x"), lambda: nswap.set_size(-1)):
        try:
            call()
        except OSError as why:
            assert why.errno == errno.EINVAL, why
        else:
            raise AssertionError("it was done")
    cached.close()
    region.leave()
"""
        names = {"NSWAP_LIBRARY": str(p.library), "PYTHONPATH": str(ROOT / "lib/python"),
                 "NSWAP_DIRECTORY": str(p.directory), "NSWAP_DEVICE": str(p.device),
                 "PYTHONIOENCODING": "utf-8"}
        for args, said in ((("-c", script), b""),
                           (("-m", "nswap", "list"), b"  " + odd + b"\n1 regions\n"),
                           (("-m", "nswap", "free", odd), b"  " + odd + b"\n1 regions freed\n")):
            done = subprocess.run(["python3", *args], capture_output=True, check=False,
                                  env={**os.environ, **names})
            equal((done.returncode, done.stderr, done.stdout.endswith(said)), (0, b"", True),
                  f"{args} said {done.stdout}")


def compiled(p, text):
    """Run a program in C over libnswap, with the file as its argument; its exit code."""
    source, program = p.folder / "program.c", p.folder / "program"
    source.write_text(text, encoding="ascii")
    subprocess.run(["gcc", "-Wall", "-Werror", "-I", ROOT / "lib/include", "-o", program,
                    source, p.library], check=True)
    return subprocess.run([program, p.path], check=False,
                          env={"LD_LIBRARY_PATH": str(p.library.parent),
                               "NSWAP_DEVICE": str(p.device),
                               "NSWAP_DIRECTORY": str(p.directory)}).returncode


def test_buffers(t):
    """A buffer that cannot be used is EINVAL: with a page that is not there, or of which one
    may not be written, or not be read."""
    with place(t) as p:
        equal(compiled(p, r'''
#include <errno.h>
#include <fcntl.h>
#include <nswap/nswap.h>
#include <string.h>
#include <sys/mman.h>

static char fixed[4096] = "old";

int main(int argc, char **argv)
{
	int region = nswap_mopen(65536, open(argv[argc - 1], O_RDWR), 0);
	int cached = nswap_copen(65536, open(argv[argc - 1], O_RDWR), 65536);
	int blocks = nswap_alloc(65536);
	char *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (region < 0 || cached < 0 || blocks < 0 || map == MAP_FAILED)
		return 1;
	/* a page that may not be read between two that may */
	mprotect(map + 4096, 4096, PROT_NONE);
	if (nswap_mwrite(blocks, 0, map + 100, 9000) != -1 || errno != EINVAL)
		return 10;
	if (nswap_cwrite(cached, 0, map + 8191, 1) != -1 || errno != EINVAL)
		return 11;
	if (nswap_mwrite(region, 0, map + 100, 9000) != -1 || errno != EINVAL)
		return 9;
	if (nswap_cwrite(cached, 0, map + 8192, 4096) != 4096)
		return 12;
	/* a page that may not be written between two that may, and then no page at all */
	mprotect(map + 4096, 4096, PROT_READ);
	if (nswap_mread(region, 0, map + 100, 9000) != -1 || errno != EINVAL)
		return 2;
	if (nswap_mread(region, 0, (char *)"literal", 7) != -1 || errno != EINVAL)
		return 3;
	if (nswap_cread(cached, 0, map + 4096, 1) != -1 || errno != EINVAL)
		return 4;
	munmap(map + 8192, 4096);
	if (nswap_mread(region, 0, map + 4096, 4097) != -1 || errno != EINVAL)
		return 5;
	/* what is written to the region is only read */
	if (nswap_mwrite(region, 0, map + 4096, 4096) != 4096)
		return 6;
	if (nswap_mread(region, 0, map, 4096) != 4096 || memcmp(map, map + 4096, 4096))
		return 7;
	return nswap_mread(region, 4096, fixed, 4096) == 4096 ? 0 : 8;
}
'''), 0, "what the program found")


def test_policy(t):
    """A program's own policy is asked which region leaves, is told of reads and of what has
    left, and a wrong one is refused: first in, first out, of which the library has none."""
    with place(t) as p:
        equal(compiled(p, r'''
#include <errno.h>
#include <fcntl.h>
#include <nswap/nswap.h>

static int seen, left[8], nr_left;

static void on_read(struct nswap_cache_dir *dir, struct nswap_cached *region)
{
	(void)dir;
	seen += region->reads > 0;
}

static struct nswap_cached *reclaim(struct nswap_cache_dir *dir)
{
	return dir->first;
}

static void gone(struct nswap_cached *region)
{
	left[nr_left++] = region->region;
}

int main(int argc, char **argv)
{
	static const struct nswap_policy fifo = {
		.name = "fifo", .on_read = on_read, .reclaim = reclaim, .gone = gone,
	}, wrong = { .name = "wrong" };
	static const int order[] = { 0, 1, 2, 3, 0, 4, 0 };
	int fd = open(argv[argc - 1], O_RDWR), region[5], number, i;
	struct nswap_counts counts;
	char byte;

	if (nswap_policy_add(&wrong) != -1 || errno != EINVAL)
		return 1;
	number = nswap_policy_add(&fifo);
	if (number <= NSWAP_FIRST_IN || nswap_policy_add(&fifo) != number ||
	    nswap_cset_policy(number) || nswap_cset_size(4 * 4096))
		return 2;
	for (i = 0; i < 5; i++) {
		region[i] = nswap_copen(4096, fd, 4096 * i);
		if (region[i] < 0)
			return 3;
	}
	for (i = 0; i < 7; i++)
		if (nswap_cread(region[order[i]], 0, &byte, 1) != 1)
			return 4;
	nswap_counts(&counts);
	/* 4 put 0 out, though it had been read just before, and 0 then put 1 out */
	if (nr_left != 2 || left[0] != region[0] || left[1] != region[1])
		return 5;
	return counts.local_hits == 1 && seen ? 0 : 6;
}
'''), 0, "the program's exit code")


def test_dodo(t):
    """A program with the paper's names compiles, and its msync() is not the C library's."""
    with place(t) as p:
        equal(compiled(p, r'''
#include <errno.h>
#include <fcntl.h>
#include <nswap/dodo.h>
#include <string.h>

int main(int argc, char **argv)
{
	char buf[6];
	int fd = open(argv[argc - 1], O_RDWR), region = mopen(8192, fd, 4096), cached;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (region < 0 || mwrite(region, 1, "hello", 5) != 5 || mread(region, 1, buf, 5) != 5)
		return 1;
	if (memcmp(buf, "hello", 5) || msync(region) || msync(page, 4096, MS_SYNC))
		return 2;
	if (mclose(region) || !mclose(region) || errno != EINVAL)
		return 3;
	cached = copen(8192, fd, 4096);
	if (csetPolicy(NSWAP_MRU) || cwrite(cached, 0, "h", 1) != 1 || csync(cached) ||
	    cread(cached, 0, buf, 6) != 6 || memcmp(buf, "hhello", 6) || cclose(cached))
		return 4;
	return 0;
}
'''), 0, "the program's exit code")
