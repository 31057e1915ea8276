# SPDX-License-Identifier: GPL-2.0
"""Programs with temporary files as bench/lib/temporary.py runs them, on a disk."""
import contextlib
import json
import pathlib
import sys

from nswaptest.check import at_least, equal, true
from nswaptest.lab import attempt, make_group, remove_group, sh
from nswaptest.scenario import ROOT

DESCRIPTION = "sort, SQLite and a compiler notice when their temporary files are spoilt"
SUITES = ("lab",)
ONLY_FULL = {name: "temporary.sqlite shows that what is spoilt is noticed"
             for name in ("sort", "compile")}
NEEDS = ("sort", "sqlite3", "gcc", "mkfs.ext4")
TIMEOUT = 120

DIR = pathlib.Path("/mnt/temporary")
COMMAND = (sys.executable, ROOT / "bench/lib/temporary.py")


@contextlib.contextmanager
def start(t):
    """A node, an empty file system on its disk, and a memory group."""
    node = t.cluster(1, module=False)[0]
    DIR.mkdir(exist_ok=True)
    sh("mkfs.ext4", "-q", "-F", "/dev/ubda")
    sh("mount", "/dev/ubda", str(DIR))
    sh("rmdir", str(DIR / "lost+found"))
    group = make_group("64M")
    try:
        yield node, ("--dir", DIR, "--group", group)
        remove_group(group)
        equal(list(DIR.iterdir()), [], "files that are left")
    finally:
        attempt("umount", str(DIR))


def ran(node, *args, codes=(0,)):
    """Run one of them; its result, None if it failed."""
    done = node.run([*COMMAND, *args], timeout=100, check=False)
    true(done.code in codes, f"'{done.cmd}' ended with {done.code}: {done.err.strip()}")
    return json.loads(done.out) if done.code < 2 else None


def judged(t, name, mb, spoilt, codes=(1,)):
    """The same result twice; spoilt files give another one, which is noticed."""
    with start(t) as (node, where):
        got = [ran(node, name, *where, "--mb", mb) for _ in range(2)]
        equal(got[0]["wrong_results"], 0, "wrong results")
        equal(got[1]["checksum"], got[0]["checksum"], "checksum of the same once more")
        bad = ran(node, name, *where, "--mb", mb, "--damage", spoilt, codes=codes)
        true(not bad or bad["checksum"] != got[0]["checksum"], "checksum of a spoilt result")
        return got[0], bad


def test_sort(t):
    """A byte of a run that lies on the disk."""
    got, bad = judged(t, "sort", 3, 1)
    equal(got["verified"], (3 << 20) // 101, "lines in order")
    at_least(bad["wrong_results"], 1, "wrong results")


def test_sqlite(t):
    """Bytes of a temporary table: other rows, or pages that SQLite itself refuses."""
    got, bad = judged(t, "sqlite", 3, 3, codes=(1, 3))
    true(not bad or bad["verified"] < got["verified"], "fewer rows are right")


def test_compile(t):
    """What the compiler has written and the assembler reads: one source's program is wrong."""
    got, bad = judged(t, "compile", 2, 1)
    equal((got["verified"], bad["verified"]), (2, 1), "sources whose program is right")


def test_refused(t):
    """Bad input is one sentence, and exit code 2."""
    node = t.cluster(1, module=False)[0]
    for args in (["sort"], ["nothing", "--dir", "/tmp"], ["sort", "--dir", "/none"],
                 ["sort", "--dir", "/tmp", "--mb", "0"]):
        done = node.run([*COMMAND, *args], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        said = done.err.strip()
        true(said.startswith("error: ") and "\n" not in said,
             f"'{done.cmd}' must say one sentence, said: {said!r}")
