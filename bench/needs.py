# SPDX-License-Identifier: GPL-2.0
"""Programs that a benchmark runs and does not build, and their packages.

    missing = needs.missing(("fio", "ip"))      Debian packages, sorted
    needs.sentence(missing)                     what to say of them

Looked for where the lab's kernel looks, not where the caller's shell does.
"""
import importlib.util
import shutil

PACKAGES = {"fio": "fio", "nbd-server": "nbd-server", "nbd-client": "nbd-client",
            "blkdiscard": "util-linux", "mkswap": "util-linux", "ip": "iproute2",
            "tc": "iproute2", "dmsetup": "dmsetup", "iperf3": "iperf3", "g++": "g++",
            "mkfs.ext4": "e2fsprogs", "hpcc": "hpcc", "povray": "povray",
            "redis-check-rdb": "redis-tools",
            "qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing(tools):
    """The packages of those that are not installed, and the figures' one."""
    packages = {PACKAGES[tool] for tool in tools
                if not shutil.which(tool, path=PATH)}
    if not importlib.util.find_spec("matplotlib"):
        packages.add("python3-matplotlib")
    return sorted(packages)


def sentence(packages):
    """What is missing, with the command that helps."""
    return ("not installed: " + ", ".join(packages) +
            " (apt-get install " + " ".join(packages) + ")")
