#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot one of the lab's kernels on this machine's own root, read only.

    boot.py [--debug | --vtime | --faults | --kcsan] [COMMAND…]
                                                run one command there (default: a shell)

The kernel is an ordinary process, in user mode or QEMU (machine.py); several may
run at once: each has its own folder for its memory file, console and scratch disk,
and none opens a port. Its console goes to a file and is only a log.
"""
import argparse
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from lab import machine     # noqa: E402

TMPFS_INSIDE = ("/tmp", "/run", "/var", "/mnt", "/dev", "/proc", "/sys")
SCRATCH_BYTES = 2 << 30
PLACES = pathlib.Path("/tmp/nswap-vtime")
# Each ready-made disk costs the debug kernel half a second of its boot.
# Under virtual time the processor is infinitely fast: time passes only where
# a task waits for a timer, and a program that spins waits forever.  It begins at
# the same second, with the same random numbers (seeded.c), every time.  There is no
# scratch disk: the machine reads it, in real time, and while the kernel waits for
# that its own time flies, by minutes now and then.
ARGS = {"plain": [], "faults": [], "cover": [], "debug": ["brd.rd_nr=1", "loop.max_loop=1",
                               "nbd.nbds_max=1"],
        "vtime": ["time-travel=inf-cpu",
                  f"time-travel-start={1_700_000_000 * 10 ** 9}"],
        # each of them costs a machine that is emulated half a second as well
        "kcsan": ["brd.rd_nr=1", "loop.max_loop=1", "nbd.nbds_max=1"]}
# The C library takes its functions by the processor's model, and what it saves of it when it
# first binds a symbol goes by the size of its registers: of a program with a few MiB, other
# pages are used then.  Under virtual time all machines are the oldest.
OLDEST = ("export LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.cpu.hwcaps=" + ",".join(
    f"-{name}" for name in (
        "AVX512F", "AVX512VL", "AVX512BW", "AVX2", "AVX", "FMA", "FMA4", "BMI1", "BMI2", "LZCNT",
        "MOVBE", "POPCNT", "RTM", "SSE4_2", "SSE4_1", "SSSE3", "ERMS", "FSRM", "XSAVEC",
        "AVX_Fast_Unaligned_Load", "Fast_Unaligned_Load", "Fast_Unaligned_Copy",
        "Fast_Rep_String", "Fast_Copy_Backward", "Slow_BSF")) + "\n")
# Both want a stack trace for all that is allocated: half of what it does.
NO_TRACES = ["kmemleak=off", "no_debug_objects"]
MEMORY_MB = {"plain": 1800, "debug": 3000, "vtime": 1800, "kcsan": 1800,
             "faults": 1800, "cover": 1800}


def kernel_of(flavour):
    """Which kernel a flavour runs on: cover has a module of its own on the plain one."""
    return "plain" if flavour == "cover" else flavour


def kernel_folder(flavour):
    """The cached build folder of a lab kernel; built if it is not there."""
    done = subprocess.run([str(HERE / "build_kernel.sh"), flavour],
                          stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(done.stdout.strip())


def release(folder):
    """The release name of a kernel build folder."""
    return (folder / "include/config/kernel.release").read_text().strip()


def library(name):
    """A library to put under a kernel (seeded, volatile_disk); built if it is not."""
    source, made = HERE / f"{name}.c", ROOT / f"build/lab/{name}.so"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        made.parent.mkdir(parents=True, exist_ok=True)
        new = made.with_suffix(f".{os.getpid()}")
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC",
                        "-o", str(new), str(source)], check=True)
        new.rename(made)
    return made


def memory_folder(folder, megabytes):
    """Where the kernel's memory file goes: shared memory if it is large
    enough, else the boot's own folder."""
    room = shutil.disk_usage("/dev/shm").free if os.path.isdir("/dev/shm") else 0
    return "/dev/shm" if room > (megabytes << 20) * 5 // 4 else str(folder)


def hidden(path):
    """Whether a path of the host disappears under a tmpfs inside."""
    return any(str(path).startswith(t + "/") for t in TMPFS_INSIDE)


def locked(path):
    """The file of this path, locked; OSError if another process has it."""
    file = open(path, "w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # who had it may have removed what was locked here just now
        if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            raise FileNotFoundError(path)
    except OSError:
        file.close()
        raise
    return file


class Place:
    """A name for a boot's folder that is the same wherever the tree is. The kernel's command
    line has it, and the kernel takes that into its random numbers. A boot has its
    name alone, and its lock as long: another one meanwhile, or of another user, has its
    folder's own."""

    def __init__(self, folder):
        self.path, self._lock = folder, None
        self._link = PLACES / folder.name
        try:
            PLACES.mkdir(mode=0o700, exist_ok=True)
            if PLACES.lstat().st_uid != os.getuid():
                return
            self._lock = locked(f"{self._link}.lock")
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(folder.resolve())
        except OSError:
            self.close()
            return
        self.path = self._link

    def close(self):
        """The boot is over: the name that it had goes, then the lock."""
        if self._lock:
            self._link.unlink(missing_ok=True)
            pathlib.Path(self._lock.name).unlink(missing_ok=True)
            self._lock.close()
            self._lock = None


class Boot:
    """One running kernel; job is what nswaptest.guest finds in job.json and
    extra goes to the end of the kernel's command line; seed: of the random
    numbers under virtual time; memory: MiB, if not as the flavour has."""

    def __init__(self, kernel, folder, job, flavour="plain", cpus=2,
                 terminal=False, extra=(), seed=1, memory=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        memory = memory or MEMORY_MB[flavour]
        python = pathlib.Path(sys.executable).resolve()
        needed = [ROOT, pathlib.Path(sys.prefix).resolve(), kernel]
        job = dict(job)
        job["readable"] = [str(p) for p in needed if hidden(p)]
        job["writable"] = [str(self.folder), *job.get("writable", [])]
        if flavour in machine.FLAVOURS:
            job["shares"] = machine.shares(job)
        (self.folder / "job.json").write_text(json.dumps(job, indent=1))
        init = self.folder / "init"
        init.write_text("#!/bin/sh\n"
                        "export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8\n"
                        f"export PYTHONPATH='{HERE.parent}'\n"
                        f"{OLDEST if flavour == 'vtime' else ''}"
                        f"exec '{python}' -m nswaptest.guest '{self.folder}'\n")
        init.chmod(0o755)
        self.place = Place(self.folder) if flavour == "vtime" else None
        self.scratch = self.folder / "scratch.img"
        if flavour != "vtime":
            with open(self.scratch, "wb") as file:
                file.truncate(SCRATCH_BYTES)
        self._console = None if terminal else open(self.folder / "console", "wb")
        extra = [f"init={self._at() / 'init'}", "log_buf_len=4M", "panic=-1", *ARGS[flavour],
                 *extra, *["quiet"] * terminal]
        env = dict(os.environ, TMPDIR=memory_folder(self.folder, memory))
        if flavour in machine.FLAVOURS:
            argv = machine.argv(kernel, memory, cpus, self.scratch, job["shares"],
                                extra)
        else:
            argv = self._user_mode(kernel, memory, cpus, terminal, extra)
        if flavour == "vtime":
            env.update(LD_PRELOAD=str(library("seeded")), LAB_SEED=str(seed))
        self.process = subprocess.Popen(
            argv, env=env, stdin=None if terminal else subprocess.DEVNULL,
            stdout=self._console, stderr=self._console,
            start_new_session=not terminal)

    def _at(self):
        """Where the kernel finds its folder."""
        return self.place.path if self.place else self.folder

    def _user_mode(self, kernel, memory, cpus, terminal, extra):
        """The command line of a user-mode kernel."""
        disk = [f"ubd0d={self.scratch}"] if self.scratch.exists() else []
        return [str(kernel / "linux"), f"mem={memory}M", f"ncpus={cpus}",
                "seccomp=on", "root=/dev/root", "rootfstype=hostfs",
                "rootflags=/", "ro", *disk,
                f"uml_dir={self._at()}/", "umid=uml", "con=null",
                "con0=fd:0,fd:1" if terminal else "con0=null,fd:1", *extra]

    def running(self):
        """Whether the kernel still runs."""
        return self.process.poll() is None

    def kill(self):
        """End it, whatever it does."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.close()

    def close(self):
        """Wait for its end and drop what is not worth keeping."""
        self.process.wait()
        self.scratch.unlink(missing_ok=True)
        if self._console:
            self._console.close()
        if self.place:
            self.place.close()

    def console(self):
        """The console's text so far."""
        return (self.folder / "console").read_text(errors="replace")


def main():
    parser = argparse.ArgumentParser(
        description="Run one command in one of the lab's kernels.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--debug", dest="flavour", action="store_const",
                       const="debug", default="plain", help="the debug kernel")
    which.add_argument("--vtime", dest="flavour", action="store_const",
                       const="vtime", help="the kernel with virtual time, where "
                                           "only waiting takes time")
    which.add_argument("--faults", dest="flavour", action="store_const",
                       const="faults", help="the kernel on which allocations fail")
    which.add_argument("--kcsan", dest="flavour", action="store_const",
                       const="kcsan", help="the kernel that looks for data races")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    kernel = kernel_folder(args.flavour)
    folder = ROOT / "build/test/shell" / str(os.getpid())
    job = {"command": args.command or ["/bin/bash", "--norc"],
           "hung_task": 60}
    boot = Boot(kernel, folder, job, args.flavour, terminal=True)
    boot.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
