# SPDX-License-Identifier: GPL-2.0
"""The compiler's cache, if ccache is installed.

The builds of one run (plain, with fault injection, with KUnit, without what a
kernel may lack) have most of their objects in common, and so have two runs of
a tree that changed a little: those are compiled once.  Builds by hand are left
alone.
"""
import os
import shutil

from .scenario import CACHE, ROOT

# where Debian has gcc as a link to ccache
LINKS = "/usr/lib/ccache"


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
