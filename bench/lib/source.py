# SPDX-License-Identifier: GPL-2.0
"""Which source a result was measured of: the commit, and the module in it.

    source.commit(paths)     the commit, "+" if these paths differ from it
    source.module()          the last commit that changed the module, likewise
    source.module_of(name)   that of a commit, None if it is not known here

Two results are of one module if they say the same, whatever else changed between their
commits: documents, tests, the benchmarks themselves.
"""
import functools
import hashlib
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the module is built from.
MODULE = ("Kbuild", "nswap", "policy", "prefetch", "proc", "compat", "include")
# And what measures it; not what comes of that.
BENCH = ("bench", ":!bench/results", ":!bench/figures", ":!bench/README.md")


def git(*args, paths=()):
    """What git says of these paths, of all without any."""
    return subprocess.run(["git", "-C", str(ROOT), *args, "--", *paths], text=True,
                          capture_output=True, check=False).stdout.strip()


def _changed(paths):
    return "+" if git("status", "--porcelain", paths=paths) else ""


def commit(paths):
    """The commit that is measured, "+" if these paths differ from it."""
    return git("log", "-1", "--format=%h", "--abbrev=12") + _changed(paths)


def module():
    """The last commit that changed the module, "+" if it differs from that."""
    return git("log", "-1", "--format=%h", "--abbrev=12", paths=MODULE) + _changed(MODULE)


@functools.cache
def module_of(name):
    """The module of a commit, None if git has no such commit. What differed from the
    commit may have been the module."""
    more = "+" * name.endswith("+")
    found = git("log", "-1", "--format=%h", "--abbrev=12", name.rstrip("+"), paths=MODULE)
    return found + more if found else None


def changes(paths):
    """A checksum of what differs from the commit, empty if nothing does."""
    text = git("diff", "HEAD", paths=paths)
    for name in git("ls-files", "--others", "--exclude-standard", paths=paths).splitlines():
        text += name + (ROOT / name).read_text(errors="replace")
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
