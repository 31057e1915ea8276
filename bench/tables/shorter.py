# SPDX-License-Identifier: GPL-2.0
"""Compressed and cached devices: how long WL1 and WL2 take.

  compressed  by data and network: without compression, with LZ4, with zstd
  cached      by network: without a write cache, with one, with early acknowledgement

A processor takes no time here, so this is what the network gains, and not what
compressing costs: BENCH=cost has that, in instructions.

Invariant: every page that the workload read was compared.
"""
import functools

from tables import lab, load, profiles
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import counters, workload

NETWORKS = {"1 Gb": profiles.NSWAP2L, "25 Gb": profiles.NOW}
NAMES = ("WL1", "WL2")
DATA = ("random", "text", "mixed")
KINDS = ("off", "lz4", "zstd")
CACHE_MB = 4
CACHES = {"none": (), "cache": ("--cache", f"{CACHE_MB}M"),
          "early": ("--cache", f"{CACHE_MB}M", "--early-ack")}
COUNTED = ("pages_out", "pages_in", "pages_compressed", "bytes_compressed")

PAPERS = {"compressed": Paper("seconds"), "cached": Paper("seconds")}


# -- inside the lab's kernel ------------------------------------------------

def measured(run, name, network, data, *args):
    """A workload on a device of its own, made with these arguments."""
    to = NETWORKS[network]
    lab.ethernet(run.cluster, (to.owner_kbit, to.peer_kbit), to.delay_us)
    owner = run.node
    with lab.nswap(run.cluster, run.scale.device, *args) as path, \
            lab.swapped(owner, path):
        before = [load.counters(node)["sent_bytes"] for node in run.cluster]
        got = workload(run, name, flags=("--data", data))
        sent = [load.counters(node)["sent_bytes"] - was
                for node, was in zip(run.cluster, before)]
        counted = counters(owner)
    return {"total": got["total"], "verified": got["verified"],
            **{key: counted[key] for key in COUNTED},
            "owner_sent": sent[0], "peer_sent": sent[1],
            "said": f"{got['total']:.3f} s, {sum(sent) >> 20} MiB on the wire"}


MEASURES = {"shorter": measured}


# -- on the host ------------------------------------------------------------

def row(network, got):
    """Seconds of each."""
    return {"ours": {kind: found["total"] for kind, found in got.items()},
            "runs": {kind: {k: v for k, v in found.items() if k != "said"}
                     for kind, found in got.items()},
            "profile": NETWORKS[network].what}


def compressed(names):
    """By data and network."""
    for name in (name for name in names if name in NAMES):
        for network in NETWORKS:
            for data in DATA:
                yield Row("compressed", f"{name}, {data}, {network}",
                          {kind: Unit("shorter", (name, network, data, "--compress", kind))
                           for kind in KINDS}, functools.partial(row, network))


def cached(names):
    """By network."""
    for name in (name for name in names if name in NAMES):
        for network in NETWORKS:
            yield Row("cached", f"{name}, {network}",
                      {kind: Unit("shorter", (name, network, "random", *args))
                       for kind, args in CACHES.items()}, functools.partial(row, network))


TABLES = {"compressed": compressed, "cached": cached}
