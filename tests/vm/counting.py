# SPDX-License-Identifier: GPL-2.0
"""A guest that counts instructions: what a page costs on stock kernels.

    rows = measure("6.1", "nswap", ["read-4k-d1"], folder)      of cost.json

Both nodes are network namespaces of one guest with one processor, and a nanosecond
of that guest is an executed instruction. What it does depends on nothing outside of
it: no frame, random number or time of day comes from the host, and its processor is
a model that QEMU makes without this machine's. cost.sh is its process 1.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from nswaptest import dmesg
from nswaptest.check import Failure, Unmet

from . import cluster, image

WORKS = [f"{op}-{size}-{depth}" for size, depth in
         (("4k", "d1"), ("4k", "d32"), ("32k", "d1"), ("128k", "d8"))
         for op in ("read", "write")] + ["write-4k-aio", "swap-seq", "swap-random"]
TCP = "tcp-72-4168"
# from one of two lenders to the other, all that it holds
MOVE, LENDERS = "move", "lenders"
# Seven quiet members and one that floods their lender, another one, or none: nanoseconds
# that a quiet one's page takes, see tests/progs/turns.c.
MEMBERS = "members"
# Two tasks, on a processor each, page at a device with two peers: which memory both use (lines.py).
# Not among DEVICES and OTHERS, for with two processors no instructions are counted.
TWO = "two"
TWO_WORKS = ["two-read", "two-write"]
# What can only be swapped to. A page that shrinks stays on the node, any other one goes to nswap.
ZSWAP = ["zswap", "zswap-text"]
# Those whose network has packets of 9000 bytes: a page is one.
JUMBO = ["nswap-jumbo", "nvme-tcp-jumbo", "tcp-jumbo"]
# keys is nswap between nodes with keys, sealed the same with a sealed device. lz4 and zstd
# compress, and have pages of words, as those have that are called text: zram's and zswap's, which
# compress by LZ4. cache has a write cache, early one with early acknowledgement, and what is
# written is flushed in the same repetition.
DEVICES = ["brd", "nswap", "keys", "sealed", "lz4", "zstd", "cache", "early", "nvme-tcp",
           "zram", "zram-text", *ZSWAP, "tcp", *JUMBO, LENDERS, MEMBERS]
# Measured when asked for. Connecting nbd takes as long as many works, and what it does
# at depth scatters. disk is a SCSI disk in memory; home and flash are nswap devices
# without peers on such disks. Those of SEVERAL have two peers, and home too, and are protected as
# they are called, or as many as a group has.
SEVERAL = ["pair", "pair-home", "mirror", "parity:4+1", "parity:4+2"]
OTHERS = ["nbd", "disk", "home", "flash", *SEVERAL]
TURNS = [f"{job}-{flood}" for job in ("reads", "stores", "reads-beside-stores")
         for flood in ("none", "elsewhere", "same", "same-8")]
KERNELS = ["6.1", "6.12"]
DEVICE_MB = 48
MEMORY_MB = 512
# A guest says nothing for so much of a processor only if it hangs, and for as long if it waits
# for nothing; a busy machine may leave it little.
SILENCE_CPU_S, SILENCE_S = 180, 3600
# One that needs nothing QEMU 7.2 cannot emulate, so that a later QEMU, which can do
# more, makes the same one.
CPU = ("Skylake-Client-v3,-rdrand,-rdseed,-pcid,-x2apic,-tsc-deadline,-invpcid,"
       "-spec-ctrl,-3dnowprefetch,-xsavec")
MACHINE = "pc-q35-7.2,usb=off,vmport=off"

SAID = ("rows", "console.log")

# Carried if they are installed: only one device needs them.
PROGRAMS = ("nbd-server", "nbd-client")
LOADED = ("veth", "brd", "nvmet-tcp", "nvme-tcp", "nbd", "sd_mod", "scsi_debug",
          "raid6_pq", "curve25519-x86_64", "aesni-intel", "lz4", "zsmalloc", "zram", "nswap")

CMDLINE = ("console=ttyS0 loglevel=5 panic=-1 rootfstype=ramfs rdinit=/cost.sh "
           "clocksource=tsc tsc=reliable mitigations=off nokaslr norandmaps "
           "random.trust_cpu=off random.trust_bootloader=on no_timer_check "
           "pci=lastbus=0 rcupdate.rcu_expedited=1 nowatchdog cryptomgr.notests=1")

_running = set()


def works_of(device, works=None):
    """The works that are measured on a device, of those asked for."""
    mine = {"tcp": [TCP], "tcp-jumbo": [TCP], MEMBERS: TURNS, LENDERS: [MOVE],
            TWO: TWO_WORKS,
            **dict.fromkeys(ZSWAP, WORKS[-2:])}.get(device, WORKS)
    return [work for work in mine if not works or work in works]


def _needed(series, name, nswap):
    """Module files that loading one takes, in order."""
    if name == "nswap":
        done = subprocess.run(["/sbin/modinfo", "-F", "depends", nswap],
                              stdout=subprocess.PIPE, text=True, check=True)
        found = []
        for other in done.stdout.strip().split(","):
            found += [p for p in image.module_files(series, [other])
                      if p not in found]
        return found + [nswap]
    return image.module_files(series, [name])


def archive(series, out):
    """The guest's initramfs, written to out: the vm lab's and what is measured."""
    cpio, work = image.Archive(), out.parent / f"{out.name}.parts"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    module = cluster.built_module(series)
    programs = {f"bin/{p.name}": p for p in cluster.built_programs(("cost", "turns"))}
    programs["iproute2/ip"] = image.installed("ip")
    for name in PROGRAMS:
        if shutil.which(name, path=image.PATH):
            programs[f"bin/{name}"] = image.installed(name)
    libs = {}
    for target, source in programs.items():
        cpio.file(target, image.stripped(source, work))
        libs.update(image.libraries(source))
    for target, source in libs.items():
        cpio.file(target.lstrip("/"), source)
    for name in ("cost.sh", "cost_nodes.sh"):
        cpio.file(name, image.HERE / name)
    seen = set()
    for name in LOADED:
        paths = _needed(series, name, module)
        cpio.data(f"modules-{name}", "".join(
            f"{p.name.removesuffix('.xz')}\n" for p in paths).encode(), 0o644)
        for path in set(paths) - seen:
            plain = work / path.name.removesuffix(".xz")
            plain.write_bytes(image.module_bytes(path))
            cpio.file(f"cost/{plain.name}", image.stripped(plain, work), 0o644)
        seen |= set(paths)
    shutil.rmtree(work)
    out.write_bytes(image.base(series).read_bytes() + cpio.bytes())
    return out


def command(series, device, works, folder, initrd, profiler=()):
    """QEMU's command line."""
    # instructions are counted on one alone
    processors = ["-smp", "2"] if device == TWO else [
        "-smp", "1", "-icount", "shift=0,sleep=off,align=off"]
    more = " COST_PROFILE=1" * bool(profiler) + " cgroup.memory=nokmem" * (device in ZSWAP)
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-name", "cost",
            "-machine", MACHINE,
            "-accel", "tcg,thread=single", *processors,
            "-cpu", CPU, "-m", str(MEMORY_MB),
            "-rtc", "base=2020-01-01,clock=vm", "-seed", "1",
            "-kernel", str(image.vmlinux(series)), "-initrd", str(initrd),
            "-append", f"{CMDLINE} COST_DEVICE={device} COST_MB={DEVICE_MB} "
            f"COST_WORKS={','.join(works)}{more}",
            "-serial", f"file:{folder}/console.log",
            "-serial", f"file:{folder}/rows", *profiler]


def _last_word(folder):
    """The guest's last line: "done", or what went wrong."""
    lines = (folder / "rows").read_text(errors="replace").splitlines()
    return next((line for line in lines if not line.startswith("{")), None)


def _spent(qemu):
    """Seconds of a processor that a guest has had, and seconds of any clock."""
    fields = pathlib.Path(f"/proc/{qemu.pid}/stat").read_text().rpartition(")")[2].split()
    return (sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), time.monotonic())


def _wait(qemu, folder, name):
    """Wait for the guest's end; it must not fall silent."""
    size, heard = -1, None
    while qemu.poll() is None:
        now = sum((folder / file).stat().st_size for file in SAID
                  if (folder / file).exists())
        spent = _spent(qemu)
        if now != size:
            size, heard = now, spent
        if spent[0] - heard[0] > SILENCE_CPU_S or spent[1] - heard[1] > SILENCE_S:
            raise Unmet(f"{name}: the guest said nothing for {spent[0] - heard[0]:.0f} s of a "
                        f"processor, see {folder}/console.log")
        time.sleep(0.1)


def repetitions(series, device, works, folder, initrd, profiler=()):
    """Boot a guest that measures works on a device: what it said of each
    repetition. profiler is more of QEMU's arguments: a third serial port, for the
    guest's symbols, and a plugin (profiling.py)."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{device} on {series}"
    for old in SAID:
        (folder / old).unlink(missing_ok=True)
    with open(folder / "qemu.log", "wb") as log, subprocess.Popen(
            command(series, device, works, folder, initrd, profiler),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True) as qemu:
        _running.add(qemu)
        try:
            _wait(qemu, folder, name)
        finally:
            qemu.kill()
            _running.discard(qemu)
    console = (folder / "console.log").read_text(errors="replace")
    said = _last_word(folder)
    if said != "done":
        errors = re.findall(r"^error: (.*?)\r?$", console, re.M)
        raise Failure(f"{name}: {'; '.join([said or 'the guest ended', *errors])}, "
                      f"see {folder}/console.log")
    wrong = dmesg.problems(console, False, False)
    if wrong:
        raise Failure(f"{name}: {wrong[0]}, see {folder}/console.log")
    return [json.loads(line) for line in
            (folder / "rows").read_text().splitlines() if line[0] == "{"]


def stop():
    """End every guest that still runs."""
    for qemu in list(_running):
        qemu.kill()


def rows_of(series, device, said):
    """Rows of cost.json: the mean of a work's repetitions, and how far they lie
    apart."""
    rows = []
    for work in dict.fromkeys(one["work"] for one in said):
        costs = [one["ns"] / one["pages"] for one in said if one["work"] == work]
        mean = sum(costs) / len(costs)
        rows.append({"kernel": series, "device": device, "work": work,
                     "instr_per_page": round(mean, 1),
                     "spread": round((max(costs) - min(costs)) / mean, 5)})
    return rows


def measure(series, device, works, folder, initrd=None):
    """Rows of a device on a stock kernel."""
    folder.mkdir(parents=True, exist_ok=True)
    own = None if initrd else archive(series, folder / "initramfs")
    try:
        return rows_of(series, device, repetitions(
            series, device, works, folder, initrd or own))
    finally:
        if own:
            own.unlink()


def emulator():
    """The version of QEMU."""
    done = subprocess.run(["qemu-system-x86_64", "--version"], text=True,
                          stdout=subprocess.PIPE, check=True)
    return re.search(r"version (\S+)", done.stdout).group(1)


def lab():
    """The machine that counts, in a few words."""
    return f"QEMU {emulator()} icount, {CPU.split(',')[0]}, 1 CPU, both nodes"


def dearer(rows, committed, share):
    """Those of the rows that cost more than the committed ones by more than a
    share, each as a sentence."""
    found = []
    for row in rows:
        key = ("kernel", "device", "work")
        was = next((old for old in committed
                    if all(old[k] == row[k] for k in key)), None)
        if was is None:
            found.append(f"bench/results/cost.json has no {row['work']} of "
                         f"{row['device']} on {row['kernel']}")
        elif row["instr_per_page"] > was["instr_per_page"] * (1 + share):
            more = row["instr_per_page"] / was["instr_per_page"] - 1
            found.append(f"{row['work']} of {row['device']} on {row['kernel']} takes "
                         f"{row['instr_per_page']:,.0f} instructions a page, "
                         f"{more:.1%} more than the {was['instr_per_page']:,.0f} in "
                         "bench/results/cost.json")
    return found
