# SPDX-License-Identifier: GPL-2.0
"""The compiler's cache, if ccache is installed.

The builds of one run (plain, with fault injection, with KUnit, without what a
kernel may lack) have most of their objects in common, and so have two runs of
a tree that changed a little: those are compiled once.  Builds by hand are left
alone.
"""
import os
import shutil
import subprocess

from .scenario import CACHE, ROOT

# where Debian has gcc as a link to ccache
LINKS = "/usr/lib/ccache"
# The kernel's build compiles in a folder of its own before 6.13, so objects are known by
# the path of the tree. Every clone is mounted here then, for the build alone.
TREE = CACHE / "tree"
MOUNTED = 'mkdir -p "$1" && mount --bind "$0" "$1" && t=$1 && shift && exec make -C "$t" "$@"'


def environment():
    """The environment of a build: this one, with the cache in it."""
    env = dict(os.environ)
    if not shutil.which("ccache"):
        return env
    env["PATH"] = f"{LINKS}:{env['PATH']}"
    env.setdefault("CCACHE_DIR", str(CACHE / "ccache"))
    env.setdefault("CCACHE_MAXSIZE", "2G")
    # two clones, and two builds of one, differ in the names of their folders alone
    env["CCACHE_BASEDIR"] = str(ROOT)
    env["CCACHE_NOHASHDIR"] = "1"
    return env


def make():
    """The command that makes something of this tree at the same path for all clones."""
    private = ["unshare", "--mount", "--propagation", "private"]
    if not shutil.which("ccache") or \
            subprocess.run([*private, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        return ["make", "-C", str(ROOT)]
    return [*private, "sh", "-c", MOUNTED, str(ROOT), str(TREE)]
