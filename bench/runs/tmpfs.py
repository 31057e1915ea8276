# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=tmpfs: temporary files in peers' RAM, against other places.

        node0 ------ node1      node0's programs; node1 lends

The programs of lib/temporary.py with their temporary files in a file system that
`nswapctl tmpfs create` makes, on the kernel's tmpfs with an nswap device to swap to, and in
the same file system as the first on modelled flash and on a modelled disk; in a memory
group of the same size, in turns.  Under virtual time: what is compared is waiting for these
places, and the program computes in no time, wherever its files are.

Invariant: each run has a file system of its own, which is empty.
"""
import contextlib
import dataclasses
import pathlib
import types

from lib import temporary
from lib.measure import Progress, median, turns
from nswaptest import lab as back_end
from nswaptest.check import Failure, wait_for
from nswaptest.modelled import loaded
from tables import lab, profiles

NODES = 2
NAMES = ["nswap", "tmpfs", "flash", "disk"]
# One thing changed at a time, if asked for: what nswap's file system has and flash's has not,
# and nswap's without a limit to what may be dirty.
CAUSES = ["flash-discard", "flash-stable", "nswap-unlimited"]
HARDWARE = {"paper profile": profiles.NSWAP2L, "2026": profiles.NOW}
DIR = pathlib.Path("/run/temporary")
DEVICE_MB = 64
# As nswapctl makes and mounts its own.
MKFS = ("mkfs.ext4", "-q", "-b", "4096", "-m", "0", "-O", "^has_journal",
        "-E", "nodiscard,lazy_itable_init=1")
MOUNT = ("mount", "-t", "ext4", "-o", "noatime,nosuid,nodev,noinit_itable")
# How much a group may have dirty before its writers wait, and before it is written, in
# parts of its memory: the kernel's own default, which it applies to each group where it
# has CONFIG_CGROUP_WRITEBACK.  The kernel with virtual time has not, and goes by these.
DIRTY, BACKGROUND = 0.20, 0.10
VM = pathlib.Path("/proc/sys/vm")


@dataclasses.dataclass(frozen=True)
class Program:
    """One of lib/temporary.py: how much it does, and what it may keep in memory."""
    mb: int
    limit_mb: int


PROGRAMS = {"sort": Program(12, 6), "sqlite": Program(6, 5), "compile": Program(4, 17)}


# -- the places -------------------------------------------------------------

@contextlib.contextmanager
def mounted(command, where=DIR):
    """A file system is mounted."""
    back_end.sh(*command, str(where))
    try:
        yield
    finally:
        back_end.sh("umount", str(where))


@contextlib.contextmanager
def at_peers(cluster, _):
    """nswapctl's own: its block device."""
    owner = cluster[0]
    made = owner.ctl("tmpfs", "create", f"{DEVICE_MB}M", DIR)
    owner.wait_sessions()
    try:
        yield made["device"]
    finally:
        owner.ctl("tmpfs", "remove", DIR)


@contextlib.contextmanager
def swapped(cluster, _):
    """The kernel's, and a device to swap to."""
    owner = cluster[0]
    device = owner.device_add(f"{DEVICE_MB}M")
    owner.swapon(device)
    with mounted(("mount", "-t", "tmpfs", "-o", f"size={DEVICE_MB}M", "none")):
        yield device
    owner.swapoff(device)
    owner.device_del(device)


@contextlib.contextmanager
def on_model(kind, _, profile, *options, stable=0):
    """A file system on modelled flash or a modelled disk; stable: pages do not change
    while they are written."""
    with lab.modelled(kind, DEVICE_MB, getattr(profile, kind)) as path:
        name = path.removeprefix("/dev/")
        pathlib.Path(f"/sys/block/{name}/queue/stable_writes").write_text(str(stable))
        back_end.sh(*MKFS, path)
        with mounted((*MOUNT, *options, path)):
            yield name


PLACES = {"nswap": at_peers, "tmpfs": swapped,
          "flash": lambda *args: on_model("flash", *args),
          "disk": lambda *args: on_model("disk", *args),
          "nswap-unlimited": at_peers,
          "flash-discard": lambda *args: on_model("flash", *args, "-o", "discard"),
          "flash-stable": lambda *args: on_model("flash", *args, stable=1)}


# -- one run ----------------------------------------------------------------

@contextlib.contextmanager
def dirty_limits(limit_mb):
    """What a group of that size may have dirty."""
    knobs = {"dirty_bytes": DIRTY, "dirty_background_bytes": BACKGROUND}
    ratios = {name: (VM / name).read_text()
              for name in ("dirty_ratio", "dirty_background_ratio")}
    for name, part in knobs.items():
        (VM / name).write_text(str(int(part * (limit_mb << 20))))
    try:
        yield
    finally:
        for name, value in ratios.items():
            (VM / name).write_text(value)


def execute(name, program, group=None):
    """Run a program with its files in DIR; its result."""
    args = types.SimpleNamespace(dir=DIR, mb=program.mb, group=group, seed=1, damage=0)
    try:
        return temporary.PROGRAMS[name](args)
    except temporary.Failed as why:
        raise Failure(f"{name}: {why}") from None


def in_group(name, program, limited=True):
    """Run a program that may keep so much; its result."""
    group = back_end.make_group(f"{program.limit_mb}M")
    try:
        with dirty_limits(program.limit_mb) if limited else contextlib.nullcontext():
            return execute(name, program, group)
    finally:
        back_end.remove_group(group)


def moved(device):
    """MiB read from and written to a block device so far."""
    fields = pathlib.Path(f"/sys/block/{device}/stat").read_text().split()
    return int(fields[2]) / 2048, int(fields[6]) / 2048


def pages_of(peer):
    """Pages that a peer has loaded and stored so far, by its own counters."""
    server = peer.stat()["server"]
    return server["pages_loaded"] + server["pages_stored"]


def one_run(cluster, place, profile, name, program, right):
    """A run at a place; its result, which is compared with that in enough RAM."""
    owner, peer = cluster
    with PLACES[place](cluster, profile) as device:
        pages, before = pages_of(peer), moved(device)
        got = in_group(name, program, place != "nswap-unlimited")
        got["in"], got["out"] = (b - a for a, b in zip(before, moved(device)))
        got["peer_pages"] = pages_of(peer) - pages
    got["wrong"] = got["wrong_results"] + (got["checksum"] != right["checksum"])
    return got


def in_enough_ram(name, program):
    """The result of a program that has it."""
    with mounted(("mount", "-t", "tmpfs", "none")):
        got = execute(name, program)
    got.update(wrong=got["wrong_results"], peer_pages=0, **{"in": 0, "out": 0})
    return got


# -- the rows ---------------------------------------------------------------

def row_of(place, hardware, name, runs, base, about):
    """A row of tmpfs.json; base: the runs on nswap, round by round."""
    program = PROGRAMS[name]
    seconds = [run["seconds"] for run in runs]
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(runs, base) if b["seconds"]]
    marks = ["wrong results"] * any(run["wrong"] for run in runs)
    return {"device": place, "workload": name, "hardware": hardware, "mb": program.mb,
            "limit_mb": None if place == "ram" else program.limit_mb,
            "seconds": round(median(seconds), 4),
            "of_nswap": round(median(ratios), 3) if ratios and place != "ram" else None,
            "mib_in": round(median([run["in"] for run in runs]), 1),
            "mib_out": round(median([run["out"] for run in runs]), 1),
            "peer_pages": int(median([run["peer_pages"] for run in runs])),
            "verified": min(run["verified"] for run in runs),
            "checksum": ", ".join(sorted({run["checksum"] for run in runs})),
            "wrong_pages": sum(run["wrong"] for run in runs),
            "seconds_min": round(min(seconds), 4), "seconds_max": round(max(seconds), 4),
            "runs": len(runs), "lab": about["lab"] + ", virtual time", "marks": marks,
            "kernel": about["kernel"], "commit": about["commit"]}


def up(cluster, profile):
    """The nodes, behind the profile's network."""
    owner, peer = cluster
    lab.ethernet(cluster, (profile.owner_kbit, profile.peer_kbit), profile.delay_us)
    peer.up(lend=f"{DEVICE_MB + 16}M", peers=[owner], no_broadcast=True)
    owner.up(lend="0", peers=[peer], no_broadcast=True)
    wait_for(lambda: owner.peers().get(peer.addr, {}).get("free_pages", 0) >=
             DEVICE_MB << 8, 30, "the peer offers its room")


def part(cluster, hardware, name, plan, progress, about):
    """The rows of a program on some hardware."""
    program, profile = PROGRAMS[name], HARDWARE[hardware]
    right = in_enough_ram(name, program)
    runs = {"ram": [right]}
    for _, place in plan:
        got = one_run(cluster, place, profile, name, program, right)
        runs.setdefault(place, []).append(got)
        progress.step(1, f"{hardware:13} {name:8} {place:6} {got['seconds']:9.3f} s  "
                         f"{got['in']:6.1f} MiB in {got['out']:6.1f} out  "
                         f"{got['wrong']} wrong")
    return [row_of(place, hardware, name, got, runs.get("nswap", []), about)
            for place, got in runs.items()]


def run(cluster, options, about, _load):
    """Measure; the rows."""
    plan = turns([n for n in NAMES + CAUSES if n in options.devices], options.rounds)
    jobs = [(hardware, name) for hardware in HARDWARE for name in PROGRAMS
            if (not options.workloads or name in options.workloads) and
            f"{hardware}, {name}" not in options.parts]
    progress = Progress([1] * len(jobs) * len(plan))
    DIR.mkdir(exist_ok=True)
    with loaded(options.model):
        for hardware in dict.fromkeys(hardware for hardware, _ in jobs):
            up(cluster, HARDWARE[hardware])
            for name in (name for which, name in jobs if which == hardware):
                options.parts.add(f"{hardware}, {name}", part(
                    cluster, hardware, name, plan, progress, about))
            for node in cluster:
                node.down()
    return options.parts.all_rows()
