# SPDX-License-Identifier: GPL-2.0
"""The colours of all figures.

A device has the same one wherever it is drawn.  Policies and protections have those of
PALETTE, in which no device's stands, by their place among their kind; so has all else, in the
order in which it is drawn.
"""
NSWAP, NVME, FLASH, RAM = "#0b5fa5", "#d97a1e", "#b89b2e", "#4b9b5e"
ZRAM, ZSWAP = "#8a5bb0", "#b5179e"
# In the order in which bars stand.  network: nswap on network RAM alone; raw: flash without
# nswap; text: with pages that can be compressed; jumbo: in packets of 9000 bytes.
DEVICES = {"nswap2l": "#5fa8dc", "network": NSWAP, "nswap": NSWAP, "nswap-jumbo": NSWAP,
           "nvme-tcp": NVME, "nvme-tcp-jumbo": NVME, "nbd": "#7a7a7a", "zram": ZRAM,
           "zram-text": ZRAM, "zswap": ZSWAP, "zswap-text": ZSWAP, "brd": "#c0504d",
           "iperf3": "#303030", "tmpfs": RAM, "flash": FLASH, "ssd": FLASH, "raw": FLASH, "disk": "#7a4a2e",
           "ram": RAM}
PALETTE = ("#1b7f79", "#d0578f", "#8fb339", "#5f5aa2", "#e8a0a8", "#66c2cf", "#8c3a5e",
           "#c8b48a", "#2f4858", "#b9d7a0", "#c9a0dc", "#f2d05c", "#94a3b0")
KINDS = (
    ("none", "home", "mirror", "parity:4+1", "parity:4+2", "pair", "pair-home", "keys",
     "sealed", "lz4", "zstd", "cache", "early"),
    ("off",),
    ("none", "rr", "rand", "lrs", "mrs", "adaptive"),
    ("round-robin", "most-free", "least-full", "latency", "quietest", "two-choices", "burst"),
    ("prefetched-first", "fastest", "least-loaded", "soonest"),
)
NAMED = {**DEVICES, **{name: PALETTE[n] for kind in KINDS for n, name in enumerate(kind)}}


def of(names):
    """{name: colour}, those without one of their own by what is left of the palette."""
    names = list(names)
    used = {NAMED[name] for name in names if name in NAMED}
    left = [colour for colour in PALETTE if colour not in used] or list(PALETTE)
    others = [name for name in names if name not in NAMED]
    return {name: NAMED[name] if name in NAMED else left[others.index(name) % len(left)]
            for name in names}


def ordered(names):
    """Names once each: devices in their order, then the rest as they come."""
    names = dict.fromkeys(names)
    return [name for name in NAMED if name in names] + \
        [name for name in names if name not in NAMED]


def device_in(text):
    """The device that a row begins with, as in "network read"; None if with none."""
    first = text.split()[0] if text.split() else ""
    return first if first in DEVICES else None
