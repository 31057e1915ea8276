# SPDX-License-Identifier: GPL-2.0
"""What prefetching from one tier to another gains a program, against not having it.

    node0 ==== Ethernet ==== node1      node0 has a device with flash and a home on a
      |                                 disk; node1 lends
    flash, home

"Nearer": HOT pages are at the slower tier, and a program reads them one by one at random.
The prefetcher begins when the program does, so what moving costs it counts.

"Room": cold pages fill what is fast, and a program writes its hot pages and reads them at
random, again and again.  The prefetcher takes pages that are not used to the disk.

Tiers are of the paper profile, or of 2026.

Invariant: every page read is compared, and all are in the end.
"""
import contextlib
import random

from nswaptest.check import wait_for
from nswaptest.work import Slots
from tables import lab, profiles
from tables.pager import Pager, mean
from tables.rows import Paper
from tables.units import Row, Unit

NETWORKS = {"1 Gb": profiles.NSWAP2L, "25 Gb": profiles.NOW}
MB, FLASH_MB = 16, 4            # of the home, and of what cold pages fill
HOT, RUN, READS, ROUNDS = 256, 32, 2048, 8
COLD = 832
PERIOD_MS = 20
STATE = {"peers": "slots_remote", "flash": "slots_flash", "disk": "slots_home"}
NAME = {"peers": "ram", "flash": "flash", "disk": "disk"}       # nswapctl's
NEARER = (("disk", "flash"), ("disk", "peers"), ("flash", "peers"))
ROOM = (("peers", "disk"), ("flash", "disk"))

PAPERS = {"between": Paper("us that a hot page takes, mean")}
UNDRAWN = tuple(PAPERS)


# -- inside the lab's kernel ------------------------------------------------

@contextlib.contextmanager
def device(run, network, flash_mb, lend_mb):
    """A device with home, flash if it has a size, and so much at its peer: its name."""
    to = NETWORKS[network]
    lab.ethernet(run.cluster, (to.owner_kbit, to.peer_kbit), to.delay_us)
    with contextlib.ExitStack() as stack:
        args = ["--home", stack.enter_context(lab.modelled("disk", MB, to.disk))]
        if flash_mb:
            args += ["--flash", stack.enter_context(
                lab.modelled("flash", flash_mb, to.flash))]
        made = stack.enter_context(lab.nswap(run.cluster, MB, *args, lend_mb=lend_mb))
        run.node.ctl("set", "home_out_mib_s", "0")
        yield made.removeprefix("/dev/")


def prefetched(node, way, **how):
    """The prefetcher brings pages on a way; not at all without one."""
    node.ctl("prefetch", "off")
    if way:
        for key, value in ({"from": NAME[way[0]], "to": NAME[way[1]],
                            "period_ms": PERIOD_MS} | how).items():
            node.ctl("prefetch", "set", key, value)
        node.ctl("prefetch", "on")


def at_tiers(node):
    """Pages by tier."""
    seen = node.devices()[0]
    return {tier: seen[state] for tier, state in STATE.items()}


def gather(node, tier):
    """All pages are brought from peers, where they are, to a tier."""
    pages = at_tiers(node)["peers"]
    if tier != "peers":
        prefetched(node, ("peers", tier), when="always", count="percent-used", pct=100,
                   which="rr", after="move")
        wait_for(lambda: at_tiers(node)[tier] >= pages, 60, f"all pages are at {tier}")
    prefetched(node, None)


def ended(node, pager, taken):
    """What hot pages took, and where they all are then; each is what was written last."""
    took = mean(taken)
    prefetched(node, None)
    there = at_tiers(node)
    pager.check()
    return {"us": took, "there": there, "said": f"{took} us, then {there}"}


def nearer(run, network, way, brings):
    """Hot pages read, of which some are brought nearer meanwhile, or none."""
    with device(run, network, MB, MB + 16) as dev, Slots(dev, 1) as slots:
        pager = Pager(slots, HOT, RUN)
        for _ in range(HOT // RUN):
            pager.out()
        gather(run.node, way[0])
        if brings:
            prefetched(run.node, way, when="always", count="percent-used", pct=25,
                       which="mrs", after="move")
        order = random.Random(1).choices(range(1, HOT + 1), k=READS)
        return ended(run.node, pager, map(pager.back, order))


def room(run, network, way, brings):
    """Hot pages written and read beside cold ones that fill what is fast."""
    flash = way[0] == "flash"
    with device(run, network, FLASH_MB if flash else 0, 0 if flash else FLASH_MB) as dev, \
            Slots(dev, 1) as slots:
        for first in range(HOT + 1, HOT + 1 + COLD, RUN):
            slots.write(first, RUN)
        if brings:
            prefetched(run.node, way, when="full", count="percent-used", pct=25,
                       which="lrs", after="move")
        pager, chance, taken = Pager(slots, HOT, RUN), random.Random(1), []
        for _ in range(ROUNDS):
            for _ in range(HOT // RUN):
                taken += RUN * [pager.out()]
            taken += map(pager.back, chance.choices(range(1, HOT + 1), k=READS // ROUNDS))
        return ended(run.node, pager, taken)


MEASURES = {"nearer": nearer, "room": room}


# -- on the host ------------------------------------------------------------

def row(got):
    """Without and with, and how many times as fast that is."""
    us = {how: found["us"] for how, found in got.items()}
    return {"ours": {**us, "gain": round(us["without"] / us["with"], 2)},
            "then": {how: found["there"] for how, found in got.items()}}


def table(_):
    """between."""
    for network in NETWORKS:
        for what, ways in (("nearer", NEARER), ("room", ROOM)):
            for way in ways:
                yield Row("between", f"{' to '.join(way)}, {what}, {network}", {
                    how: Unit(what, (network, way, how == "with"))
                    for how in ("without", "with")}, row)


TABLES = {"between": table}
