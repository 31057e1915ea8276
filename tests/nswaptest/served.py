# SPDX-License-Identifier: GPL-2.0
"""What a lender has for owners: what it says of one, and the threads that serve them."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Thread:
    """A thread of a node's server."""
    ticks: int      # of a processor, so far
    nice: int


def threads(node):
    """The threads of a node's server, by pid; in the kernel where this runs."""
    begin = f"nswap/{node.stat()['node']['number']}-s"
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name.startswith(begin):
            fields = fields.split()
            found[stat.parent.name] = Thread(sum(map(int, fields[11:13])), int(fields[16]))
    return found


def owner(lender, node):
    """What a lender says of one owner, None if it is not known there."""
    who = node.stat()["node"]["id"]
    return next((o for o in lender.stat()["owners"] if o["id"] == who), None)
