# SPDX-License-Identifier: GPL-2.0
"""What the placement policy quietest gains beside programs that load the network.

    node0 ==== 1 Gb Ethernet ==== node1      node0 pages out to node1, and in again, and
      |                                      sends it STREAMS of data all the time
    flash, home                              beside that

Pages out are runs of RUN, one after the other, in the order of their slots; pages in are
single ones at random, of those that were written meanwhile: where the policy has put them.
For page-outs quietest has flash or home to go to, for which the device has the paper
profile's flash or disk.  Another program reads the disk, or none does.

The owner's queue is one of two kinds, as in tables/fairness.py, with as many packets as
Linux gives an interface.

Invariant: every page read is compared, and all are in the end.
"""
import contextlib
import random
import socket
import threading
import time

from nswaptest.lab import sh
from nswaptest.netns import inside
from nswaptest.work import Slots
from tables import lab, profiles
from tables.pager import Pager, mean
from tables.rows import Paper
from tables.units import Row, Unit
from tables.workload import counters

PROFILE = profiles.NSWAP2L
STREAMS, PORT, SENT = 4, 5999, 1 << 16
PACKETS = 1000                  # of a queue
SLOTS, RUN, READS = 2048, 32, 256
MB = 16
# What the policy sees before there is a stream, and from then until it is measured.
BEFORE_S, BESIDE_S, REST_S = 4, 4, 0.02
# (the tier that may be leant to, does another program read the disk, the owner's queue)
ROWS = {"home on a disk, one queue": ("home", False, "one queue"),
        "home on a disk, fq_codel": ("home", False, "fq_codel"),
        "home on a disk that is read, one queue": ("home", True, "one queue"),
        "flash, one queue": ("flash", False, "one queue"),
        "flash, fq_codel": ("flash", False, "fq_codel")}
POLICIES = ("most-free", "quietest")
WAYS = {"out": f"a page of {RUN} paged out", "in": "a page paged in alone"}

PAPERS = {"quietest": Paper(
    "us of " + ", and of ".join(WAYS.values()) + ", with nothing else under way, and beside "
    f"{STREAMS} streams, by policy; pages of which that policy put elsewhere, percent")}
# Columns have no unit in common.
UNDRAWN = tuple(PAPERS)


# -- inside the lab's kernel ------------------------------------------------

def ethernet(run, queue):
    """The profile's rates and delay, and this kind of queue where the owner sends."""
    owner, peer = run.cluster
    rate = f"{PROFILE.owner_kbit}kbit"
    delay = ("delay", f"{PROFILE.delay_us}us")
    lab.ethernet(run.cluster, (PROFILE.owner_kbit, PROFILE.peer_kbit), PROFILE.delay_us)
    sh("tc", "qdisc", "replace", "dev", peer.port, "root", "netem", "limit", "100000", *delay)
    if queue == "fq_codel":
        lab.in_turn(owner, rate, PACKETS)
        return
    owner.run(["tc", "qdisc", "del", "dev", owner.iface, "root"])
    owner.run(["tc", "qdisc", "add", "dev", owner.iface, "root", "netem", "limit",
               str(PACKETS), "rate", rate])


def looped(work):
    """A thread that works until what it works with is closed."""
    def go_on():
        with contextlib.suppress(OSError):
            while work():
                pass
    thread = threading.Thread(target=go_on)
    thread.start()
    return thread


@contextlib.contextmanager
def streams(run):
    """with streams(run): the owner sends so much to the peer as it can."""
    owner, peer = run.cluster
    data, ends, threads = bytes(SENT), [], []
    with inside(peer):
        listening = socket.create_server((peer.addr, PORT))
    for _ in range(STREAMS):
        with inside(owner):
            sender = socket.create_connection((peer.addr, PORT))
        receiver = listening.accept()[0]
        ends += [sender, receiver]
        threads += [looped(lambda end=receiver: end.recv(SENT)),
                    looped(lambda end=sender: not end.sendall(data))]
    try:
        yield
    finally:
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for end in (*ends, listening):
            end.close()


@contextlib.contextmanager
def read_by_others(run, path, reads):
    """with read_by_others(…): another program reads all of the disk, if it does."""
    reader = run.node.popen(["sh", "-c", f"while dd if={path} of=/dev/null bs=64k "
                             "iflag=direct; do :; done"]) if reads else None
    try:
        yield
    finally:
        if reader:
            reader.kill(9)
            reader.wait(60)


@contextlib.contextmanager
def device(run, tier):
    """A device with home, or flash: (its name, path of that)."""
    knobs = PROFILE.disk if tier == "home" else PROFILE.flash
    with lab.modelled("disk" if tier == "home" else "flash", MB, knobs) as path, \
            lab.nswap(run.cluster, MB, f"--{tier}", path) as made:
        yield made.removeprefix("/dev/"), path


def go_on(pager, seconds):
    """Write now and then for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pager.out()
        time.sleep(REST_S)


def measured(run, pager):
    """What a page takes, both ways, and how many went elsewhere."""
    before = counters(run.node)["pages_leaned"]
    out = mean(pager.out() for _ in range(SLOTS // RUN))
    leaned = counters(run.node)["pages_leaned"] - before
    slots = random.Random(1).sample(range(1, SLOTS + 1), READS)
    return {"out": out, "in": mean(map(pager.back, slots)),
            "leaned": round(100 * leaned / SLOTS, 1)}


def paged(run, policy, tier, reads, queue, beside=True):
    """Pages of a device by a policy, beside the streams or not."""
    with device(run, tier) as (dev, path):
        ethernet(run, queue)
        run.node.ctl("policy", "place", policy)
        with Slots(dev, 1) as slots, read_by_others(run, path, reads):
            pager = Pager(slots, SLOTS, RUN)
            go_on(pager, BEFORE_S)
            with streams(run) if beside else contextlib.nullcontext():
                go_on(pager, BESIDE_S)
                found = measured(run, pager)
            pager.check()
        found["leans"] = counters(run.node)["leans"]
    return {**found, "said": f"out {found['out']} us, in {found['in']}, leant "
                             f"{found['leans']} times"}


MEASURES = {"quietest": paged}


# -- on the host ------------------------------------------------------------

def row(got):
    """Each way, alone and by each policy."""
    return {"ours": {**{f"{way} {name}": found[way] for way in WAYS
                        for name, found in got.items()},
                     "elsewhere": got["quietest"]["leaned"]},
            "runs": {name: {key: found[key] for key in ("leaned", "leans")}
                     for name, found in got.items()}, "profile": PROFILE.what}


def table(_):
    """quietest."""
    for name, how in ROWS.items():
        tier, reads, queue = how
        alone = Unit("quietest", (POLICIES[1], tier, False, queue, False))
        yield Row("quietest", name, {"alone": alone, **{
            policy: Unit("quietest", (policy, tier, reads, queue)) for policy in POLICIES}},
            row)


TABLES = {"quietest": table}
