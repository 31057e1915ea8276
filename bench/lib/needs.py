# SPDX-License-Identifier: GPL-2.0
"""Programs that a benchmark runs and does not build, and their packages.

    missing = needs.missing(("fio", "ip"))      Debian packages, sorted
    needs.sentence(missing)                     what to say of them

Programs are searched in the PATH of the lab's kernel, not in that of the caller's shell.
"""
import importlib.util
import shutil

PACKAGES = {"fio": "fio", "nbd-server": "nbd-server", "nbd-client": "nbd-client",
            "blkdiscard": "util-linux", "mkswap": "util-linux", "ip": "iproute2",
            "tc": "iproute2", "dmsetup": "dmsetup", "iperf3": "iperf3", "g++": "g++",
            "mkfs.ext4": "e2fsprogs", "hpcc": "hpcc", "povray": "povray", "ns": "ns2",
            "redis-check-rdb": "redis-tools", "memcached": "memcached",
            "sqlite3": "sqlite3", "gcc": "gcc",
            "qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
# and libraries for Debian's Python.
MODULES = {"matplotlib": "python3-matplotlib", "numpy": "python3-numpy",
           "igraph": "python3-igraph"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing(tools):
    """The packages of those that are not installed, and of modules that are not."""
    packages = {PACKAGES[tool] for tool in tools
                if not shutil.which(tool, path=PATH)}
    packages |= {package for module, package in MODULES.items()
                 if not importlib.util.find_spec(module)}
    return sorted(packages)


def sentence(packages):
    """What is missing, with the command that helps."""
    return ("not installed: " + ", ".join(packages) +
            " (apt-get install " + " ".join(packages) + ")")
