# SPDX-License-Identifier: GPL-2.0
"""What one greedy client takes from seven others at the same lender, on hardware of 2026.

    node1 … node7   a page at a time ----.
    node8           32 runs of 128 KiB --+-- switch ---- node0, the lender

The eight share the lender's line and nothing else: under virtual time no processor is
ever busy, so what the seven wait for is what lies in front of their packets there, in one
of two kinds of queue:

  one queue   packets leave in the order they came: a plain adapter, and any switch
  fq_codel    flows take turns: what a machine with systemd has on its own adapters

Answers to loads queue at the lender, pages to be stored at the switch, which is never
told to be fair.  Each of the seven rests for an exponential time before each page, so
that they do not march in step.  Beside each figure stands the line by arithmetic, if it
served flows in turn (tables/shared_line.py).

Invariant: every page read was compared, and so was every page written, in the end.
"""
import contextlib
import json

from tables import lab, load, shared_line
from nswaptest import served
from nswaptest.check import Failure, wait_for
from nswaptest.lab import sh
from nswaptest.modelled import free_clock
from tables.rows import Paper
from tables.units import Row, Unit

PROFILE = load.PROFILE
QUIET = 7
NODES = QUIET + 2
MB = 8                          # of each of the seven
# What the lender lends, the greedy one's device, what that may hold, and floods with.
LEND_MB, GREEDY_MB, SHARE_MB, GREEDY_USED_MB = 200, 32, 16, 12
REST_NS = 20_000
RUN_PAGES, DEPTH = 32, 32       # of the greedy one
BEFORE_MS, MS = 10, 40          # until it is measured, and while it is
SEEDS = 3
IDEAL_SAMPLES = 10_000
# (what the seven do, what the greedy one does)
JOBS = {"loads": ("read", "read"), "stores": ("write", "write"),
        "loads beside stores": ("read", "write")}
# and where: only the lender's own queue may be one or the other
QUEUES = {"one queue": tuple(JOBS), "fq_codel": ("loads",)}
PAPERS = {"fairness": Paper(
    "us of a page of one of seven clients, beside a greedy one and without it (x: so many "
    "times; fair: the line by arithmetic); pages a second of the greedy one; MiB that it "
    f"holds, of {SHARE_MB} that it may")}


# -- inside the lab's kernel ------------------------------------------------

def ethernet(cluster, queue):
    """The profile's: a rate in both directions of each node's cable, and the delay; this
    kind of queue where the lender sends."""
    rate, delay = f"{PROFILE.peer_kbit}kbit", f"{PROFILE.delay_us}us"
    lab.ethernet(cluster, [PROFILE.owner_kbit] * len(cluster), PROFILE.delay_us)
    lender = cluster[0]
    port = ["tc", "qdisc", "replace", "dev", lender.port, "root", "netem", "limit", "100000"]
    if queue == "one queue":
        sh(*port, "rate", rate)
        return
    lab.in_turn(lender, rate, 100000)
    sh(*port, "rate", rate)
    for node in list(cluster)[1:]:
        sh("tc", "qdisc", "replace", "dev", node.port, "root", "netem", "limit", "100000",
           "delay", delay)


def depth(node, paths, *flags):
    """Start bench/programs/depth."""
    return node.popen([node.prog("depth"), "--devices", ",".join(paths), *map(str, flags)])


def ended(process):
    """The result of one, which must be right."""
    done = process.wait(36000)
    if done.code:
        raise Failure(f"{done.cmd} ended with {done.code}: {done.err.strip()[:300]}")
    return json.loads(done.out.splitlines()[-1])


@contextlib.contextmanager
def eight(cluster, greedy):
    """All are up: paths of the devices of the seven, and of the greedy one, or None."""
    lender, clients = cluster[0], list(cluster)[1:]
    lender.up(lend=f"{LEND_MB}M", peers=clients, no_broadcast=True)
    lender.ctl("set", "owner_max_pct", 100 * SHARE_MB // LEND_MB)
    if not greedy:
        clients = clients[:QUIET]
    paths = []
    for index, node in enumerate(clients):
        mb = MB if index < QUIET else GREEDY_MB
        node.up(lend="0", peers=[lender], no_broadcast=True)
        wait_for(lambda node=node, mb=mb: node.peers().get(lender.addr, {}).get(
            "free_pages", 0) >= min(mb, SHARE_MB - 1) << 8, 30, "the lender offers its room")
        paths.append("/dev/" + node.device_add(f"{mb}M"))
    try:
        yield paths[:QUIET], paths[QUIET:]
    finally:
        for node, path in zip(clients, paths):
            node.device_del(path.removeprefix("/dev/"))
            node.down()
        lender.down()


def grabbed(cluster, path):
    """The greedy one writes all of its device: pages that it has of the lender then, and
    none of the seven any less."""
    lender, quiet, greedy = cluster[0], list(cluster)[1:QUIET + 1], cluster[QUIET + 1]
    before = [served.owner(lender, node)["held_pages"] for node in quiet]
    greedy.run(["dd", "if=/dev/zero", f"of={path}", "bs=64k", "oflag=direct",
                "conv=notrunc,noerror"], timeout=3600, check=False)
    has = served.owner(lender, greedy)
    now = [served.owner(lender, node)["held_pages"] for node in quiet]
    if now != before or min(now) < (MB << 8) - 1:
        raise Failure(f"the seven held {before} pages and now {now}")
    return has["held_pages"] + has["granted_pages"] + has["reserved_pages"]


def flood(run, paths, op):
    """Start the greedy one's."""
    return depth(run.cluster[QUIET + 1], paths, "--mb", GREEDY_USED_MB, "--seed", run.random,
                 "--op", op, "--pages", RUN_PAGES, "--depth", DEPTH,
                 "--ms", 2 * BEFORE_MS + MS)


def seven(run, paths, op):
    """What the seven take: (asked, took) of each page, and how many were compared."""
    file = run.cluster.scratch / "samples"
    got = ended(depth(run.cluster.outside, paths, "--mb", MB, "--seed", run.random + 1,
                      "--op", op, "--rest-ns", REST_NS, "--ms", BEFORE_MS + MS,
                      "--samples", file))
    samples = load.samples_of(file)
    file.unlink()
    if got["verified"] < len(samples):
        raise Failure(f"{got['verified']} of {len(samples)} pages were compared")
    return samples


@load.seeded
def beside(run, queue, mine, others=None):
    """The seven, beside the greedy one if that does something."""
    cluster = run.cluster
    with eight(cluster, others) as (quiet, loud):
        ended(depth(cluster.outside, quiet, "--mb", MB, "--seed", run.random + 1, "--fill", 1))
        if loud:
            ended(depth(cluster[QUIET + 1], loud, "--mb", GREEDY_USED_MB,
                        "--seed", run.random, "--fill", 1))
        ethernet(cluster, queue)
        with free_clock(run.clock):
            other = flood(run, loud, others) if loud else None
            samples = seven(run, quiet, mine)
            got = ended(other) if other else None
        lab.ethernet(cluster, [PROFILE.owner_kbit] * len(cluster), PROFILE.delay_us)
        held = grabbed(cluster, loud[0]) if loud else 0
    begin, end = BEFORE_MS * load.MS, (BEFORE_MS + MS) * load.MS
    took = [took for asked, took in samples if begin <= asked < end]
    found = {"took": load.microseconds(took), "samples": len(took), "held": held}
    if got:
        found["greedy_s"] = round(got["answered"] * RUN_PAGES * 1000 / (2 * BEFORE_MS + MS))
    if held > SHARE_MB << 8:
        raise Failure(f"the greedy one has {held} pages, more than its share")
    return {**found, "said": f"{found['took']}, greedy {found.get('greedy_s', 0)} pages/s"}


MEASURES = {"fairness": beside}
NODES_OF = {"fairness": lambda *_: NODES}


# -- on the host ------------------------------------------------------------

def ideal(greedy):
    """Percentiles of the same page on a line that serves flows in turn."""
    kbit = PROFILE.peer_kbit
    payload, packets = load.HEADER + load.PAGE, []
    while payload > 0:
        packets.append(load.line_ns(min(payload, load.MTU - load.IP_TCP), kbit))
        payload -= load.MTU - load.IP_TCP
    full = load.line_ns(load.MTU - load.IP_TCP, kbit)
    return load.microseconds(shared_line.fair(
        QUIET, packets, full if greedy else 0,
        2000 * PROFILE.delay_us + load.line_ns(load.HEADER, kbit), REST_NS, IDEAL_SAMPLES))


def fairness_row(got):
    """One row: beside the greedy one, and how much longer than without it."""
    alone, other = got["alone"]["took"], got["beside"]["took"]
    fair, fair_alone = ideal(True), ideal(False)
    return {"ours": {**{f"alone {name}": alone[name] for name in load.RANKS},
                     **{name: other[name] for name in load.RANKS},
                     **{f"{name} x": round(other[name] / alone[name], 2)
                        for name in load.RANKS},
                     "fair p99 x": round(fair["p99"] / fair_alone["p99"], 2),
                     "greedy": got["beside"]["greedy_s"],
                     "holds": round(got["beside"]["held"] / 256, 2)},
            "marks": [], "fair": fair, "fair alone": fair_alone,
            "samples": got["beside"]["samples"], "profile": PROFILE.what}


def fairness_table(_):
    """fairness."""
    for queue, jobs in QUEUES.items():
        for job in jobs:
            mine, others = JOBS[job]
            yield Row("fairness", f"{job}, {queue}",
                      {"alone": Unit("fairness", (queue, mine)),
                       "beside": Unit("fairness", (queue, mine, others))}, fairness_row, SEEDS)


TABLES = {"fairness": fairness_table}
