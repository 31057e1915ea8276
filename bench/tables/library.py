# SPDX-License-Identifier: GPL-2.0
"""Dodo's programs on files, with libnswap and without.

  D-lib-F7   dmine and lu: speed-up over the file alone
  D-lib-F8   sequential, hotcold, random: the same
  D-lib-F8-2GB   the same of more data than the peers have room for

What others.py has as programs that swap is here as in that paper: a file on the disk, of
which the kernel keeps in memory what the program's group has room for, or regions of it in
the peer's RAM behind a local cache. The hardware is that paper's. The programs are those of
lib/examples; all find the same in every way, or the run ends.
"""
import contextlib
import functools
import json
import pathlib

from lib import apps
from nswaptest.check import Failure
from nswaptest.lab import sh
from tables import lab, profiles
from tables.others import DODO_DATA_MB, DODO_LENT_MB, DODO_NS, DODO_RAM, DODO_SAYS, \
    LU_IO, PATTERNS, REQUESTS_KB
from tables.rows import Paper
from tables.units import Row, Unit

ACCESS = ("file", "region", "cached")
MB, PASSES = 16, 4
LOCAL_MB = MB * DODO_RAM
# what a program has for itself, what it works in (lu a slab, dmine its counts), and, with the
# library, the directory and the descriptors of up to 2048 regions
BASE_MB, REGIONS_MB = 0.75, 1.5
OWN_MB = {"dmine": 1.5, "lu": 0.75, "scan": 0.25}
LU_MB, LU = 8, ("--n", 1024, "--slab", 64)
TRANSACTIONS = 400_000      # 16 MB of them
DMINE_KB = (8, 32, 128)
FOLDER = pathlib.Path("/run/library")
COLUMNS = ("speed_up", "regions")

PAPERS = {
    # section 5.3, the second run of dmine; over U-Net 1.2 and 3.2
    "D-lib-F7": Paper(
        "speed-up over the file alone, behind the local cache, and with regions only; the "
        "paper: over UDP", COLUMNS,
        {"lu 8 KiB": (1.15,), "lu 32 KiB": (1.15,), "dmine 128 KiB, again": (2.6,)}),
    "D-lib-F8": Paper(
        "speed-up over the file alone, likewise; the paper: \"virtually none\", and 2 to 3",
        COLUMNS, {f"{pattern} {kb} KiB": DODO_SAYS[pattern]
                  for pattern in PATTERNS for kb in REQUESTS_KB}),
    "D-lib-F8-2GB": Paper(
        "speed-up over the file alone, likewise, of twice the data, more than the peers "
        "have room for", COLUMNS, {f"sequential {kb} KiB": (1,) for kb in REQUESTS_KB}),
}


# -- inside the lab's kernel ------------------------------------------------

@contextlib.contextmanager
def place(run, mb, span_mb=None, lend_mb=None):
    """The disk with an empty file system, and the device; the device's path. span_mb: the
    data that the disk is scaled by, lend_mb: what the peer lends, if not enough."""
    profile = profiles.DODO.scaled((span_mb or mb) / DODO_DATA_MB)
    lab.ethernet(run.cluster, (profile.owner_kbit, profile.peer_kbit), profile.delay_us)
    FOLDER.mkdir(exist_ok=True)
    with lab.modelled("disk", 2 * mb, profile.disk) as disk, \
            lab.nswap(run.cluster, 2 * mb, lend_mb=lend_mb) as path:
        sh("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", "-O", "^has_journal", disk)
        sh("mount", "-t", "ext4", disk, str(FOLDER))
        try:
            yield path
        finally:
            sh("umount", str(FOLDER))


def program(run, device, access, name, *flags, regions_mb=REGIONS_MB):
    """Run one of lib/examples with nothing of its file in memory; its result."""
    path = run.node.prog(name)
    sh("sync")
    run.node.write("/proc/sys/vm/drop_caches", "3")
    with open(path, "rb") as file:
        file.read()         # the program itself is no part of what it may keep
    limit = LOCAL_MB + BASE_MB + OWN_MB[name] + regions_mb * (access != "file")
    limit = round(limit * 2 ** 20)
    command = ["env", f"NSWAP_DEVICE={device}", f"NSWAP_CACHE={round(LOCAL_MB * 1024)}K", path,
               "--access", access, *map(str, flags)]
    done = run.node.run(apps.held(command, limit), timeout=360_000, memory_max=4 * limit)
    got = json.loads(done.out.splitlines()[-1])
    if got["lost_regions"] or got.get("wrong_words") or not got.get("right", True):
        raise Failure(f"{done.cmd} lost something: {done.out.strip()[:300]}")
    return got


def found(got):
    """What tables take of a program's result."""
    return {**{key: got[key] for key in ("seconds", "checksum", "requests", "remote_pages",
                                         "file_bytes", "local_hits")},
            "said": f"{got['seconds']:.3f} s"}


def scan(run, pattern, kb, access, size=""):
    """D-lib-F8; of 2 GB the peer has room for 1 200 MB."""
    mb = 2 * MB if size else MB
    file = ("--file", FOLDER / "file", "--mb", mb)
    with place(run, mb, MB, MB * DODO_LENT_MB / DODO_DATA_MB if size else None) as device:
        run.node.run([run.node.prog("scan"), "--make", "1", *map(str, file)])
        return found(program(run, device, access, "scan", *file, "--pattern", pattern,
                             "--request-kb", kb, "--policy", "lru", "--iterations", PASSES,
                             "--compute-ns", DODO_NS, regions_mb=REGIONS_MB * mb / MB))


def dmine(run, kb, access):
    """D-lib-F7: the first run, and the second, which finds what the first has left."""
    file = ("--file", FOLDER / "retail")
    with place(run, MB) as device:
        run.node.run([run.node.prog("dmine"), "--make", "1", "--transactions",
                      str(TRANSACTIONS), *map(str, file)])
        got = [found(program(run, device, access, "dmine", *file, "--request-kb", kb))
               for _ in range(2)]
    return {"first": got[0], "again": got[1], "said": f"{got[0]['said']}, {got[1]['said']}"}


def lu(run, kb, access):
    """D-lib-F7: a program that computes for all but 9 % of its time on the file."""
    flags = ("--dir", FOLDER, *LU, "--request-kb", kb)
    with place(run, LU_MB) as device:
        lone = program(run, device, "file", "lu", *flags)
        compute = lone["seconds"] * (1 / LU_IO - 1) / lone["requests"]
        return found(program(run, device, access, "lu", *flags, "--compute-ns",
                             round(compute * 1e9)))


MEASURES = {"library_scan": scan, "library_dmine": dmine, "library_lu": lu}


# -- on the host ------------------------------------------------------------

def on_each(what, *args, more=()):
    """The units of a program in each way."""
    return {access: Unit(what, (*args, access, *more)) for access in ACCESS}


def speed_ups(got, which=None):
    """The file's time over that behind the local cache, and over that of regions."""
    each = {access: one[which] if which else one for access, one in got.items()}
    if len({one["checksum"] for one in each.values()}) > 1:
        raise Failure("the results are not the same in all ways")
    base = each["file"]["seconds"]
    return {"ours": {"speed_up": round(base / each["cached"]["seconds"], 3),
                     "regions": round(base / each["region"]["seconds"], 3)},
            "runs": {access: {k: v for k, v in one.items() if k != "said"}
                     for access, one in each.items()},
            "profile": profiles.DODO.what}


def programs_table(_):
    """D-lib-F7."""
    for kb in REQUESTS_KB:
        yield Row("D-lib-F7", f"lu {kb} KiB", on_each("library_lu", kb), speed_ups)
    for kb in DMINE_KB:
        for which in ("first", "again"):
            yield Row("D-lib-F7", f"dmine {kb} KiB, {which}", on_each("library_dmine", kb),
                      functools.partial(speed_ups, which=which))


def scans_table(_):
    """D-lib-F8."""
    for pattern in PATTERNS:
        for kb in REQUESTS_KB:
            yield Row("D-lib-F8", f"{pattern} {kb} KiB", on_each("library_scan", pattern, kb),
                      speed_ups)


def large_table(_):
    """D-lib-F8-2GB."""
    for pattern in PATTERNS:
        for kb in REQUESTS_KB:
            yield Row("D-lib-F8-2GB", f"{pattern} {kb} KiB",
                      on_each("library_scan", pattern, kb, more=("2 GB",)), speed_ups)


TABLES = {"D-lib-F7": programs_table, "D-lib-F8": scans_table,
          "D-lib-F8-2GB": large_table}
