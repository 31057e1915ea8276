# SPDX-License-Identifier: GPL-2.0
"""Programs of today on hardware of 2026: how long a request waits, with a part of
the memory of the program that is asked.

  apps-mean  the mean      apps-p50, apps-p99, apps-p99.9  percentiles

Requests and programs are those of BENCH=apps (bench/lib/outside.py) that are asked
something.  What takes time is the network and the flash, so zram, which is all
processor, has no column here, and neither has a program with all of its memory.
NVMe/TCP and nswap have the same network; the peer has its pages in memory.
"""
import contextlib
import functools

from lib import apps, devices
from runs import apps as measured
from tables import lab, profiles
from nswaptest.check import Failure
from nswaptest.modelled import Modelled
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import tended

DEVICES = ("nswap", "nvme-tcp", "ssd")
MB = {"redis": 12, "memcached": 12, "SQLite": 36}
SHARES = (75, 50, 25)
DEVICE_MB = 96
# The program goes before the kernel's own threads.  nvme_tcp's worker turns while a task that
# is sending has its mutex, for a millisecond at most, and asks whether to reschedule; where no
# time passes it is never told to, and the task, which could run, does not.
FIRST = ("chrt", "-f", "1")
FIGURES = {"apps-mean": ("mean_us", "the mean"), "apps-p50": ("p50_us", "p50"),
           "apps-p99": ("p99_us", "p99"), "apps-p99.9": ("p999_us", "p99.9")}

PAPERS = {ident: Paper(f"us of a request: {what}", DEVICES)
          for ident, (_, what) in FIGURES.items()}


# -- inside the lab's kernel ------------------------------------------------

class NvmeTcp(devices.NvmeTcp):
    """NVMe/TCP whose target's pages take no time: a modelled flash without any."""

    made = None

    def disk(self):
        self.made = Modelled("target", "flash", mb=self.mb)
        return self.made.path

    def empty(self):
        self.made.remove()


OF = {"nswap": devices.Nswap, "nvme-tcp": NvmeTcp, "ssd": devices.Ssd}


@contextlib.contextmanager
def swapped(run, name):
    """A device of 2026 is swapped to."""
    now = profiles.NOW
    lab.ethernet(run.cluster, (now.owner_kbit, now.peer_kbit), now.delay_us)
    owner, peer = run.cluster
    device = OF[name](owner, peer, DEVICE_MB, None)
    path = device.open()
    owner.run(["mkswap", path])
    owner.run(["swapon", "-p", "100", path])
    try:
        yield
    finally:
        owner.run(["swapoff", path], timeout=600)
        device.close()


def asked(run, name, dev):
    """Requests to a program with each share of its memory, on a new device each."""
    app, node = apps.of_size(name, MB[name]), run.node
    execute = functools.partial(measured.execute, node, under=FIRST)
    execute(apps.of_size(name, measured.WARM_MB))
    right, _, _ = execute(app)
    found = {"peak": right["peak"], "ops": right["ops"]}
    for share in SHARES:
        with swapped(run, dev), tended():
            got, _, _ = execute(app, measured.limit_of(right, share))
        if apps.wrong(got, right):
            raise Failure(f"{name} was wrong on {dev}")
        found[str(share)] = {key: got[key] for key in (
            *(key for key, _ in FIGURES.values()), "verified", "pswpin", "pswpout")}
    least = found[str(SHARES[-1])]
    return {**found, "said": f"{least['mean_us']:.1f} us, p99 {least['p99_us']:.1f}, "
                             f"p99.9 {least['p999_us']:.1f}"}


MEASURES = {"asked": asked}


# -- on the host ------------------------------------------------------------

def row(share, key, got):
    """A figure of each device."""
    return {"ours": {dev: found[share][key] for dev, found in got.items()},
            "runs": {dev: dict(found[share], ops=found["ops"], peak=found["peak"])
                     for dev, found in got.items()}, "profile": profiles.NOW.what}


def table(_):
    """All four."""
    for ident, (key, _) in FIGURES.items():
        for name in MB:
            units = {dev: Unit("asked", (name, dev)) for dev in DEVICES}
            for share in SHARES:
                yield Row(ident, f"{name}, {share} %", units,
                          functools.partial(row, str(share), key))


TABLES = {"apps": table}
