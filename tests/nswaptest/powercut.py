# SPDX-License-Identifier: GPL-2.0
"""A machine that loses its power: a user-mode kernel on a disk of its own.

The disk is an image with a Debian root. When the power is cut the kernel is killed, and
what it had written without a flush (tests/lab/volatile_disk.c) is lost, or some of it, by
the seed. The next boot checks the file system as a Debian machine does, then runs its
command as the first process; all that it says is on the console.
"""
import dataclasses
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import time

import lab.boot

from .check import Failure, equal, hold, true
from .dmesg import problems

MEMORY_MB = 400
LIMIT_S = 150           # a boot and its command, on a busy machine
HEAD, PIECE = struct.Struct("QQ"), struct.Struct("QQ4096s")
TOOLS = "/usr/local/lib/power"
# the first process; the console is all that it has of the host but for the folder /mnt
INIT = """#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev
for folder in /run /tmp /dev/shm; do mkdir -p $folder && mount -t tmpfs tmpfs $folder; done
ln -s /proc/self/fd /dev/fd
mount -o remount,rw / && mount -t hostfs -o "$folder_of_host" hostfs /mnt
ip link set lo up
ip link add eth0 type dummy && ip addr add 10.77.0.1/24 broadcast 10.77.0.255 dev eth0 &&
	ip link set eth0 up
sh /mnt/job < /dev/null
here at the end
dmesg > /mnt/dmesg
sync
mount -o remount,ro /
poweroff -ff
"""
# stands before a program; /run/hold says where the machine waits for its power to be cut
STAND_IN = """#!/bin/sh
name=${0##*/}
for real in /usr/sbin/$name /usr/bin/$name /bin/true; do [ -x $real ] && break; done
when=never
[ ! -f /run/hold ] || read -r when flush pattern < /run/hold
wait_here() {
	case "$name $*" in
	$pattern)
		[ $flush = cached ] || sync
		printf "\\n@held $name $*\\n" > /dev/console
		exec tail -f /dev/null
		;;
	esac
}
[ "$when" != before ] || wait_here "$@"
$real "$@"
code=$?
[ "$when" != after ] || wait_here "$@"
exit $code
"""
STAND_INS = ("dkms", "ln", "strip", "depmod", "mkswap", "swapon", "here")


@dataclasses.dataclass
class Cut:
    """When the power is lost: at a share of the writes of a run without a cut, or this long
    after a line of the console, or when a program is held; at the end at the latest."""
    name: str
    share: float = 0
    line: str = ""
    delay: float = 0
    held: str = "before cached here at the end"     # or after; or flushed; then its words
    first: str = ""     # commands before the one in which it is

    def __str__(self):
        return self.name


class Machine:
    """One; its disk is a copy of an image."""

    def __init__(self, folder, image, kernel):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.kernel = kernel
        self.disk = self.folder / "disk"
        self.home = self.folder / "home"
        self.undo = self.folder / "undo"
        self.boots = 0
        subprocess.run(["cp", "--sparse=always", image, self.disk], check=True)
        with open(self.home, "wb") as file:
            file.truncate(64 << 20)

    def _start(self, job, cut_at):
        self.boots += 1
        (self.folder / "job").write_text(job)
        self.console = self.folder / f"console{self.boots}"
        env = dict(os.environ, TMPDIR=lab.boot.memory_folder(self.folder, MEMORY_MB),
                   LD_PRELOAD=str(lab.boot.library("volatile_disk")), LAB_CUT=str(cut_at),
                   LAB_DISK=str(self.disk), LAB_UNDO=str(self.undo))
        argv = [self.kernel / "linux", f"mem={MEMORY_MB}M", "ncpus=1", "seccomp=on",
                f"ubd0t={self.disk}", f"ubd1t={self.home}", "root=/dev/ubda",
                "rootfstype=ext4", "ro", f"uml_dir={self.folder}/", "umid=uml", "con=null",
                "con0=null,fd:1", "panic=-1", "loglevel=2", f"init={TOOLS}/init",
                f"folder_of_host={self.folder}"]
        with open(self.console, "wb") as console:
            return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=console,
                                    stderr=console, start_new_session=True)

    def said(self):
        """The console of this boot so far."""
        return self.console.read_text(errors="replace").replace("\r", "")

    def run(self, command, cut=None, writes=0):
        """Boot, run a command, and power off or lose the power; what was said.  writes: how
        many there are without a cut."""
        hold_at = f"echo '{cut.held}' > /run/hold\n" if cut else ""
        process = self._start(hold_at + command + "\n",
                              1 + int(cut.share * writes) if cut and cut.share else 0)
        until = re.compile(cut and cut.line or r"^@held ", re.M)
        limit = time.monotonic() + LIMIT_S
        while process.poll() is None and not until.search(self.said()):
            if time.monotonic() > limit:
                self._kill(process)
                raise Failure(f"{cut}: the machine hangs, see {self.console}")
            hold(0.002)
        hold(cut.delay if cut else 0)
        lost = process.poll() is None or process.returncode == -signal.SIGKILL
        self._kill(process)
        equal(lost, bool(cut), f"{cut}: whether the power was lost, see {self.console}")
        if not cut:
            complaints = problems((self.folder / "dmesg").read_text(errors="replace"))
            equal(complaints, [], f"what the kernel complains about, see {self.folder}/dmesg")
        return self.said()

    @staticmethod
    def _kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def counted(self):
        """Writes to the disk in the last boot, which has flushed it, too."""
        writes, flushes = HEAD.unpack(self.undo.read_bytes()[:HEAD.size])
        true(flushes > 0, f"{writes} writes to the disk, {flushes} flushes")
        return writes

    def lose(self, seed):
        """What was not flushed is lost: all of it, or by the seed each piece or not."""
        chance = random.Random(seed)
        some = seed is not None and chance.random() < 0.5
        log = self.undo.read_bytes()[HEAD.size:]
        pieces = list(PIECE.iter_unpack(log[:len(log) // PIECE.size * PIECE.size]))
        lost = [p for p in pieces if not some or chance.random() < 0.5]
        with open(self.disk, "r+b") as disk:
            for offset, length, old in reversed(lost):
                disk.seek(offset)
                disk.write(old[:length])
        return len(lost), len(pieces)

    def check(self):
        """The file system is mended as at a boot, without a question, and then right."""
        for options, allowed in (("-p", (0, 1)), ("-fn", (0,))):
            done = subprocess.run(["e2fsck", options, self.disk], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            true(done.returncode in allowed, f"e2fsck {options}: {done.stdout[-600:]}")


def part(said, begin, end):
    """What stands between two marks of the console; once."""
    found = re.findall(rf"^@{begin}\n(.*?)^@{end}", said, re.M | re.S)
    equal(len(found), 1, f"times that @{begin} is said in {said[-1500:]!r}")
    return found[0]
