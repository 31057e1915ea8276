# SPDX-License-Identifier: GPL-2.0
"""make uninstall, below a folder, with a file in place of a built module."""
import subprocess

from nswaptest.check import at_least, equal
from nswaptest.scenario import ROOT

DESCRIPTION = "make uninstall deletes all that make install installed, and nothing else"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

RELEASE = "6.1.0-1-amd64"
CONF = "etc/nswap/nswap.conf"
# of others: DKMS, the administrator, another program
OTHERS = (f"lib/modules/{RELEASE}/updates/dkms/nswap.ko", "etc/nswap/secret",
          "usr/share/man/man8/other.8")
OPTIONS = ((), ("PREFIX=/opt/n", "LIBDIR=/opt/n/lib64", "UNITS=/etc/systemd/system"))


def make(t, verb, *options):
    """A verb of the Makefile, with a kernel that has nothing but a name."""
    subprocess.run(["make", "-s", "-C", ROOT, "-o", "all", verb, f"KDIR={t.dir}/kernel",
                    f"OUT={t.dir}/built", f"DESTDIR={t.dir}/root", *options], check=True,
                   stdout=subprocess.DEVNULL)


def put(path, text="others\n"):
    """A file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(t):
    """Once with the folders of distributions, once with others; and again, with nothing there."""
    root = t.dir / "root"
    put(t.dir / "kernel/include/generated/utsrelease.h", f'#define UTS_RELEASE "{RELEASE}"\n')
    put(t.dir / "built/nswap.ko", "module\n")

    def files():
        return {str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir()}

    for options in OPTIONS:
        make(t, "install", *options)
        at_least(len(files()), 20, "files that were installed")
        put(root / "lib/modules/6.0.0/updates/nswap.ko")       # of a kernel before
        make(t, "uninstall", *options)
        equal(files(), set(), f"what is left with {options}")
        equal([p for p in root.rglob("nswap")], [], "folders of its own")
        make(t, "install", *options)
        for name in OTHERS:
            put(root / name)
        (root / CONF).write_text("[node]\nopen = yes\n")
        for _ in range(2):
            make(t, "uninstall", *options)
            equal(files(), {*OTHERS, CONF}, f"what is left beside others with {options}")
        for name in files():
            (root / name).unlink()
