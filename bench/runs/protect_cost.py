# SPDX-License-Identifier: GPL-2.0
"""BENCH=protect, the instructions: what a page costs under each protection.

Each protection has a device of the guest that counts (tests/vm/counting.py), with as
many lenders as it needs; the figure is the sum of all nodes. One kernel, as the
protections are compared with each other.
"""
from runs.protect import SCHEMES, WORKS
from vm import counting

KERNEL = "6.1"


def asked(args, names):
    """What is to be measured of these protections."""
    return {"kernels": args.kernels[:1] if args.kernels else [KERNEL],
            "devices": [SCHEMES[name].counted for name in names],
            "works": [work for work in WORKS if not args.works or work in args.works]}


def merged(rows, counted):
    """Rows of protect.json: each work of each protection, with what the lab has
    found out of that protection."""
    named = {SCHEMES[row["protect"]].counted: row for row in rows}
    return [{**named[one["device"]], "work": one["work"],
             "instr_per_page": one["instr_per_page"], "spread": one["spread"],
             "counted_on": one["kernel"], "counted_in": counting.lab()}
            for one in counted]

