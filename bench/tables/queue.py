# SPDX-License-Identifier: GPL-2.0
"""What the number of requests of a swap device does: profiles.REQUESTS in the other tables.

  requests          seconds of WL1 and WL2 on each device, by how many requests it has
  requests-at-once  on network RAM, how many pages are being read at once

nswap has as many in each of its two queues.  Flash and the disk of the profile take 32 at
once; those that are to have more take as many as they have.
"""
import functools

from tables import lab, nswap, prefetch, profiles
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import workload

NAMES = ("WL1", "WL2")
DEVICES = ("network", "flash", "disk")
REQUESTS = (profiles.REQUESTS, 16, 64, 128)

PAPERS = {
    # N-T3's of the same devices
    "requests": Paper("seconds, by the requests that a swap device has", DEVICES, {
        f"{name}, {number}": nswap.PAPERS["N-T3"].rows[name][1:]
        for name in NAMES for number in REQUESTS}, over="network"),
    # N-T5's without prefetching
    "requests-at-once": Paper("pages being read at once on network RAM, mean of the samples "
                              "with any", ("at once",), {
                                  f"{name}, {number}": prefetch.PAPERS["N-T5"].rows[name][:1]
                                  for name in NAMES for number in REQUESTS}),
}


# -- inside the lab's kernel ------------------------------------------------

def at_once(run, name, path, requests):
    """A workload on a device of nswap, with the pages being read at once."""
    run.node.ctl("set", "profile_ms", "10")
    with lab.swapped(run.node, path, requests):
        run.node.run("echo 1 > /proc/nswap/profile")
        got = nswap.result(workload(run, name))
        return {**got, "at_once": round(prefetch.reads_at_once(run.node), 2)}


def deep(run, dev, requests):
    """Flash or a disk that takes as many as it has."""
    kind = profiles.FLASH if dev == "flash" else profiles.DISK
    depth = max(kind["depth"], requests)
    return lab.flash_of(run.scale.device, depth=depth) if dev == "flash" else \
        lab.disk_of(run.scale.device, f"{lab.FILES}-deep", depth=depth)


def with_requests(run, name, dev, requests):
    """A workload on a device that has so many requests."""
    if dev == "network":
        with lab.nswap(run.cluster, run.scale.device) as path:
            return at_once(run, name, path, requests)
    with deep(run, dev, requests) as made:
        path = made.path if dev == "flash" else made[1]
        with lab.swapped(run.node, path, requests):
            return nswap.result(workload(run, name))


MEASURES = {"with-requests": with_requests}


# -- on the host ------------------------------------------------------------

def at_once_row(got):
    """On network RAM."""
    return {"ours": {"at once": got["network"]["at_once"]}}


def table(names):
    """Both tables."""
    for ident, make in (("requests", functools.partial(nswap.times, "")),
                        ("requests-at-once", at_once_row)):
        for name in (name for name in NAMES if name in names):
            for number in REQUESTS:
                units = {dev: Unit("with-requests", (name, dev, number)) for dev in DEVICES}
                yield Row(ident, f"{name}, {number}", units, make)


TABLES = {"requests": table}
