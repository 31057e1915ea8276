# SPDX-License-Identifier: GPL-2.0
"""A Debian root to install packages in, and to throw away.

An overlay over the root in the cache (tests/setup/debian_root.sh). Each command has
mount and process namespaces of its own: nothing of it is left when it ends, and this
machine's mounts never change.
"""
import os
import pathlib
import shutil
import subprocess

from .check import Failure, Skip
from .scenario import ROOT

SETUP = ROOT / "tests/setup"
ENTER = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
[ -z "$4" ] || mount --bind "$4" "$2/root/proc/swaps"
mkdir -p "$2/root/deb"
mount --bind "$3" "$2/root/deb"
shift 4
exec chroot "$OVER/root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
	LC_ALL=C DEBIAN_FRONTEND=noninteractive sh -c "$1"
"""


def base(suite):
    """The folder of a release's root in the cache, made if need be."""
    if os.geteuid():
        raise Skip("only root can make and enter a Debian root")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        raise Skip("this machine does not give root mounts of its own")
    done = subprocess.run([SETUP / "debian_root.sh", suite], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise Failure("the Debian root could not be made")
    return pathlib.Path(done.stdout.strip())


class DebRoot:
    """One; what was written to it is in folder/upper."""

    def __init__(self, folder, packages, suite="bookworm"):
        self.base = base(suite)
        self.lower = str(self.base)     # what is below what is written, uppermost first
        self.folder = pathlib.Path(folder)
        self.packages = packages        # the folder that is /deb inside
        self.swaps = ""                 # a file to be seen as /proc/swaps
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir(parents=True)

    def run(self, command, check=True):
        """Run a shell command inside; it comes back finished, output and errors one."""
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", ENTER, "sh", self.lower,
             self.folder, self.packages, self.swaps, command],
            env={**os.environ, "OVER": str(self.folder)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        print(f"$ {command}\n{done.stdout}[{done.returncode}]", flush=True)
        if check and done.returncode:
            raise Failure(f"'{command}' ended with {done.returncode}: "
                          f"{done.stdout.strip()[-400:]}")
        return done

    def write(self, path, text, mode=0o644):
        """A file inside."""
        place = self.folder / "upper" / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)   # what was deleted inside is a device here
        place.write_text(text, encoding="utf-8")
        place.chmod(mode)

    def releases(self):
        """The kernels whose headers are there, the oldest first."""
        return sorted((p.name.removeprefix("linux-headers-")
                       for p in self.base.glob("usr/src/linux-headers-*-amd64")),
                      key=lambda r: [int(n) for n in r.split("-")[0].split("+")[0].split(".")])

    def add_kernel(self, release, build=""):
        """What the packages of a kernel and its headers leave in /lib/modules; build: the
        folder of headers, if it is not that of Debian's."""
        build = build or f"/usr/src/linux-headers-{release}"
        self.run(f"mkdir -p /lib/modules/{release} && cd /lib/modules/{release} && "
                 f"ln -s {build} build && "
                 f"touch modules.order modules.builtin && depmod {release}")

    def lay_over(self, layer):
        """Have what is in a folder lie over the root, below what is written."""
        self.lower = f"{layer}:{self.lower}"

    def files(self):
        """Every path, but for what is of the system's own and always changes."""
        return set(self.run(
            "find / -xdev \\( -path /proc -o -path /dev -o -path /deb -o -path /tmp "
            "-o -path '/var/*/apt' \\) -prune -o -print").stdout.splitlines())

    def image(self, path, megabytes, without):
        """A file system of it for a guest, but for some folders."""
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        leave = " ".join(f"--exclude=./{name}" for name in without)
        subprocess.run(
            ["unshare", "--mount", "sh", "-ec",
             'mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" '
             f'"$2/root"; tar -C "$2/root" {leave} -c . | tar -x -C "$2/tree"; '
             'mke2fs -q -t ext4 -d "$2/tree" "$3" "$4M"',
             "sh", self.lower, self.folder, path, str(megabytes)], check=True)
        shutil.rmtree(tree)

    def close(self):
        """Throw it away."""
        shutil.rmtree(self.folder, ignore_errors=True)
