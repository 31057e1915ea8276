# SPDX-License-Identifier: GPL-2.0
"""What the module has of the kernel's memory, by who asked for it.

Areas of vmalloc() on any kernel; objects of slabs only on those whose slabs record who
asked for each (faults, debug). Single pages have no owner that could be asked for.
"""
import pathlib
import re

from .check import Unmet, equal, wait_for

SLABS = pathlib.Path("/sys/kernel/debug/slab")
VMALLOC = pathlib.Path("/proc/vmallocinfo")
ENTRIES = "nswap_entry"     # one a lent page: as many as the nodes say

# a place in a module that is gone has no name
PLACE = r"(0x[0-9a-f]+|\S+ \[nswap\])"
OBJECTS = re.compile(rf"^ *(\d+) {PLACE}", re.M)
AREAS = re.compile(rf"^\S+ +(\d+) {PLACE}", re.M)


def recorded():
    """Whether the kernel's slabs record who asked for each object."""
    return any(SLABS.glob("*/alloc_traces"))


def left():
    """All of it: [(objects or bytes, place)]; the module may be gone."""
    found = []
    for path in SLABS.glob("*/alloc_traces"):
        found += OBJECTS.findall(path.read_text())
    return found + AREAS.findall(VMALLOC.read_text())


def has():
    """Of a module that is there, {place: objects or bytes}, lent pages left out."""
    found = {}
    for path in SLABS.glob("*/alloc_traces"):
        if path.parent.name != ENTRIES:
            for number, place in OBJECTS.findall(path.read_text()):
                found[f"objects of {place}"] = found.get(f"objects of {place}", 0) + int(number)
    for number, place in AREAS.findall(VMALLOC.read_text()):
        found[f"bytes of {place}"] = found.get(f"bytes of {place}", 0) + int(number)
    return found


def unload(cluster):
    """The nodes go down, the module unloads, and none of its memory is left."""
    for node in cluster:
        if node.alive:
            node.ctl("down", "--now")
    cluster.unload()
    # some is freed a grace period later
    try:
        wait_for(lambda: not left(), 10, "")
    except Unmet:
        equal(left(), [], "memory of the module that was not freed")
