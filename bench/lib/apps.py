# SPDX-License-Identifier: GPL-2.0
"""The programs that benchmarks run, and their arguments for so much RAM.

    app = apps.fit("Radix", 96)     as large as 96 MiB of RAM are meant for
    app.mb, app.limit_mb            what it takes, and the RAM that goes with it
    app.command(node)               its command line there

Sizes of some programs go in steps; the RAM follows the size then, so that the
share that does not fit is the same in every run of a program.
"""
import dataclasses
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
# Debian's, which has Debian's libraries, whichever one runs this.
PYTHON = "/usr/bin/python3"


def any_size(mb):
    """Programs that take what they are told."""
    return max(1, int(mb)), ["--mb", str(max(1, int(mb)))]


def power_of_two(mb):
    """The largest power of two that is not above."""
    size = 1 << max(0, int(mb).bit_length() - 1)
    return size, ["--mb", str(size)]


# IS: log2 of the number of keys, of the classes whose ranks are known
IS_CLASSES = {16: "S", 20: "W", 23: "A", 25: "B"}


def keys_of_is(mb):
    """The largest power of two of keys; 8 bytes each and a 16th of 4."""
    log2 = 16
    while log2 < 28 and 8.25 * 2 ** (log2 + 1 - 20) <= mb:
        log2 += 1
    size = ["--class", IS_CLASSES[log2]] if log2 in IS_CLASSES else \
        ["--keys-log2", str(log2)]
    return max(1, round(8.25 * 2 ** (log2 - 20))), size


@dataclasses.dataclass(frozen=True)
class Kind:
    """A program without its size: how it is called, and the ratio of its memory to
    the RAM it gets (only a little above 1 for a program that passes over all of
    its memory repeatedly)."""
    program: str
    args: tuple = ()
    over: float = 2.0
    size: object = any_size
    file: bool = False      # wants a file on a disk
    processes: bool = False
    outside: bool = False   # not one of ours
    needs: str = ""         # its Debian package


KINDS = {
    "WL1": Kind("wl", ("--workload", "WL1")),
    "WL2": Kind("wl", ("--workload", "WL2")),
    "WL3": Kind("wl", ("--workload", "WL3"), file=True),
    "WL4": Kind("wl", ("--workload", "WL4"), file=True),
    "Radix": Kind("radix", ("--radix-bits", "8"), processes=True),
    "IS": Kind("is", over=1.2, size=keys_of_is, processes=True),
    "HPL": Kind("hpl", over=2.0, outside=True, needs="hpcc"),
    "quicksort": Kind("quicksort", processes=True),
    "POV-Ray": Kind("povray", over=1.5, outside=True, needs="povray"),
    "ns-2": Kind("ns2", over=1.5, outside=True, needs="ns2"),
    "GAUSS": Kind("gauss"),
    "FFT": Kind("fft", size=power_of_two),
    "MVEC": Kind("mvec"),
    "NBODY": Kind("nbody", over=1.15),
    "sequential": Kind("dodo", ("--pattern", "sequential")),
    "hotcold": Kind("dodo", ("--pattern", "hotcold")),
    "random": Kind("dodo", ("--pattern", "random")),
    "redis": Kind("redis", outside=True, needs="redis-tools"),
    "memcached": Kind("memcached", outside=True, needs="memcached"),
    "SQLite": Kind("sqlite", outside=True),
    "graph": Kind("graph", outside=True, needs="python3-igraph"),
    "compiler": Kind("compiler", outside=True, needs="gcc"),
    "numpy": Kind("numpy", outside=True, needs="python3-numpy"),
}


@dataclasses.dataclass(frozen=True)
class App:
    """A program with its size."""
    name: str
    kind: Kind
    mb: int
    limit_mb: int
    args: tuple

    def command(self, node, file=None, processes=None, **flags):
        """The command line on a node. file: where WL3 and WL4 put theirs;
        flags: others of the program, compute_ns=100."""
        kind = self.kind
        if kind.outside:
            argv = [PYTHON, str(HERE / "outside.py"), kind.program]
            if kind.program == "hpl":
                argv += ["--library", node.prog("libhplsleep.so")]
        else:
            argv = [node.prog(kind.program)]
        argv += [*kind.args, *self.args]
        if kind.file:
            argv += ["--file", str(file)]
        if kind.processes and processes:
            argv += ["--processes", str(processes)]
        for name, value in flags.items():
            argv += ["--" + name.replace("_", "-"), str(value)]
        return argv


def fit(name, limit_mb):
    """The program as large as it is meant to be with so much RAM."""
    kind = KINDS[name]
    mb, args = kind.size(limit_mb * kind.over)
    return App(name, kind, mb, max(1, round(mb / kind.over)), tuple(args))


def of_size(name, mb):
    """The program with that much memory, or the next size below."""
    kind = KINDS[name]
    return fit(name, mb / kind.over)


# Held at its limit by being slowed down instead of killed: at a hard limit a
# group of several processes is now and then, all its pages clean and in the
# swap cache, but all of them referenced.
HOLD = ("echo {limit} > /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/memory.high"
        ' && exec "$@"')


def held(argv, limit):
    """The command line that runs another in its group held at a limit; the
    group's hard one must be far above."""
    return ["/bin/sh", "-c", HOLD.format(limit=limit), "sh", *map(str, argv)]


def result_of(done):
    """What a program printed; done.check() if it did not do its work."""
    if done.code not in (0, 1):
        done.check()
    return json.loads(done.out.splitlines()[-1])


def wrong(result, right=None):
    """How much was wrong: pages, results, and a checksum that is not that
    of a run with enough RAM."""
    other = bool(right and right.get("checksum") != result.get("checksum"))
    return result["wrong_pages"] + result["wrong_results"] + other
