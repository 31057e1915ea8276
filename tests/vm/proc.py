# SPDX-License-Identifier: GPL-2.0
"""What a guest says of nswap in /proc: quicker than a program, and to be had
on a machine that has no memory left to start one."""


def table(node, name):
    """A file of /proc/nswap as a list of dicts."""
    head, *lines = node.read(f"/proc/nswap/{name}").splitlines()
    return [dict(zip(head.split(), line.split())) for line in lines]


def stats(node):
    """A node's counters by name."""
    return {s["counter"]: int(s["value"]) for s in table(node, "stats")}


def size(node):
    """How much a node lends: pages by column of /proc/nswap/size."""
    return {key: int(value) if value.isdigit() else value
            for key, value in table(node, "size")[0].items()}
