# SPDX-License-Identifier: GPL-2.0
"""The cluster of the paper profile, set up under virtual time.

        node0 ---- 1 Gb Ethernet by netem ---- node1
        |  |                                   lends RAM
     flash disk: modelled, raw or below nswap

Swap devices of one size: "network" is nswap with everything at node1, "nswap2l"
the same with flash beside it, "flash" and "disk" are the modelled devices alone.
Of the disk one half is swapped to, and the other half holds the file that WL3 and
WL4 use, with all devices.
"""
import contextlib
import itertools
import os
import pathlib

from tables import profiles
from nswaptest.check import wait_for
from nswaptest.lab import sh
from nswaptest.modelled import Modelled

DEVICES = ("nswap2l", "network", "flash", "disk")
FILES = "/run/paper-files"
SECTORS, PAGE_SECTORS = 2048, 8
_number = itertools.count()


def ethernet(cluster, kbits=(profiles.OWNER_KBIT, profiles.PEER_KBIT),
             delay_us=profiles.DELAY_US, loss=0):
    """Give every node its rate and the delay, and have so many percent of what it sends
    be lost; a packet is what goes over a wire, not 64 KiB."""
    for node, kbit in zip(cluster, kbits):
        node.run(["ip", "link", "set", "dev", node.iface, "gso_max_segs", "1"])
        node.run(["tc", "qdisc", "replace", "dev", node.iface, "root", "netem",
                  "limit", "100000", "delay", f"{delay_us}us",
                  "rate", f"{kbit}kbit", *(("loss", f"{loss}%") if loss else ())])


def in_turn(node, rate, packets):
    """Instead of what ethernet() gave it: flows take turns where a node sends, at this rate,
    in a queue of so many packets."""
    node.run(["tc", "qdisc", "del", "dev", node.iface, "root"])
    node.run(["tc", "qdisc", "add", "dev", node.iface, "root", "handle", "1:", "tbf",
              "rate", rate, "burst", "1600", "limit", "100000000"])
    node.run(["tc", "qdisc", "add", "dev", node.iface, "parent", "1:1", "fq_codel",
              "limit", str(packets)])


@contextlib.contextmanager
def modelled(kind, mb, knobs):
    """One modelled flash or disk, all of it swapped to: its path."""
    made = Modelled(f"mo{next(_number)}", kind, mb=mb, **knobs)
    try:
        yield made.path
    finally:
        made.remove()


@contextlib.contextmanager
def flash_of(mb, **knobs):
    """One modelled flash."""
    made = Modelled(f"mf{next(_number)}", "flash", mb=mb,
                    **{**profiles.FLASH, **knobs})
    try:
        yield made
    finally:
        made.remove()


@contextlib.contextmanager
def disk_of(mb, files=FILES, scheduler=None, depth=profiles.DISK["depth"]):
    """One modelled disk in two halves: (it, path to swap to, folder for files).
    scheduler: sorts what waits for the disk, which is then handed one request at a
    time; without one it takes them as they come, so many (depth) at once."""
    knobs = {**profiles.DISK, "depth": 1 if scheduler else depth}
    made = Modelled(f"md{next(_number)}", "disk", mb=2 * mb, **knobs)
    if scheduler:
        pathlib.Path(f"/sys/block/{made.name}/queue/scheduler").write_text(scheduler)
    half = mb * SECTORS
    names = [f"{made.name}swap", f"{made.name}files"]
    for at, name in zip((0, half), names):
        sh("env", "DM_DISABLE_UDEV=1", "dmsetup", "create", name, "--table",
           f"0 {half} linear {made.path} {at}")
    paths = [f"/dev/mapper/{name}" for name in names]
    pathlib.Path(files).mkdir(exist_ok=True)
    sh("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", "-O",
       "^has_journal", paths[1])
    sh("mount", "-t", "ext4", paths[1], files)
    try:
        yield made, paths[0], files
    finally:
        sh("umount", files)
        for name in names:
            sh("env", "DM_DISABLE_UDEV=1", "dmsetup", "remove", name)
        made.remove()


@contextlib.contextmanager
def nswap(cluster, mb, *args, lend_mb=None):
    """nswap with a peer that lends so much, by default enough for all of it; its path.
    args: more of device add; the size is that of a home, if it has one."""
    owner, peer = cluster
    lent = mb + 16 if lend_mb is None else lend_mb
    peer.up(lend=f"{round(lent * 1024)}K", peers=[owner], no_broadcast=True)
    owner.up(lend="0", peers=[peer], no_broadcast=True)
    wait_for(lambda: owner.peers().get(peer.addr, {}).get(
        "free_pages", 0) >= int(min(lent, mb) * 256), 30, "the peer offers its room")
    size = () if "--home" in args else ("--size", f"{mb}M")
    dev = owner.ctl("device", "add", *size, *args)["device"]
    owner.wait_sessions()
    try:
        yield f"/dev/{dev}"
    finally:
        owner.device_del(dev)
        owner.down()
        peer.down()


@contextlib.contextmanager
def device(cluster, name, mb, disk):
    """One of the devices by name: its path."""
    with contextlib.ExitStack() as stack:
        if name == "disk":
            yield disk
        elif name == "flash":
            yield stack.enter_context(flash_of(mb)).path
        elif name == "network":
            yield stack.enter_context(nswap(cluster, mb))
        else:
            flash = stack.enter_context(flash_of(mb))
            yield stack.enter_context(nswap(cluster, mb, "--flash", flash.path))


def folder_of(path):
    """Where the kernel says what it knows of a block device."""
    number = os.stat(path).st_rdev
    return pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")


def queues_of(path):
    """Where the kernel keeps the requests of a block device."""
    folder = folder_of(path)
    below = list(folder.glob("slaves/*"))
    return [where / "queue/nr_requests" for where in below or [folder]]


def requests_of(path):
    """What a block device was asked for until now: requests, and their pages; nothing
    without a device."""
    if not path:
        return {}
    reads, _, read, _, writes, _, written = \
        map(int, (folder_of(path) / "stat").read_text().split()[:7])
    return {"reads": reads, "read_pages": read // PAGE_SECTORS, "writes": writes,
            "written_pages": written // PAGE_SECTORS}


@contextlib.contextmanager
def swapped(node, path, requests=profiles.REQUESTS):
    """A device is swapped to, so many requests at a time."""
    for queue in queues_of(path):
        queue.write_text(str(requests))
    node.run(["mkswap", path])
    node.run(["swapon", "-p", "100", path])
    try:
        yield
    finally:
        node.run(["swapoff", path], timeout=600)
