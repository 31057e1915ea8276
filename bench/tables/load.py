# SPDX-License-Identifier: GPL-2.0
"""Load and latency on hardware of 2026: what a page-in takes while so many are due.

    node1 … nodeN ---- switch ---- node0, the lender      25 Gb Ethernet each

  load-0 load-0.01 load-1   by loss of packets in percent: clients, share of the line rate
  load-causes               some of those points with one thing changed at a time
  load-check                the program that measures, on a device whose times are known

Every client has a device whose pages are all at one lender.  Pages are due at instants of
a Poisson process, all clients together at a share of what the lender's line can carry
(bench/programs/arrivals.c); what a page-in takes counts from its instant.  Beside each
figure stands that of the wire alone: the same instants, answered in order, each answer
for as long as it takes on the line, the way there and back added.

Invariant: every page read was compared, and came from the lender.
"""
import array
import contextlib
import functools
import json
import math
import random

from tables import lab, profiles
from nswaptest.check import Failure, wait_for
from nswaptest.modelled import free_clock
from tables.rows import Paper
from tables.units import Row, Unit

PROFILE = profiles.NOW
CLIENTS, LOSSES, SHARES = (1, 4, 11), (0, 0.01, 1), (10, 30, 50, 70, 90, 100)
MB = 8                          # of each client
# By loss: how many page-ins are measured at least, and how long; a fifth as many come
# before.  Where packets are lost a connection may stand still for 200 ms.
LEAST = {0: (30_000, 0), 0.01: (50_000, 0), 1: (30_000, 300)}
RANKS = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
NS, MS = 1e9, 10 ** 6           # in nanoseconds

# An answer: its header and a page, in TCP segments with time stamps.  A question is a
# header.  What Ethernet has beside its frames, netem does not count.
HEADER, PAGE, MTU, ETHERNET, IP_TCP = 72, 4096, 1500, 14, 52

# load-check: flash that reads one page at a time
CHECK_NS, CHECK_SHARES, CHECK_MS = 100_000, (50, 90), 4_000

# load-causes: a point, and what is changed: another loss, so many times the delay, the
# least time (us) after which TCP sends again what nothing was heard of, or a clock whose
# readings take 256 ns.
CAUSES = {
    (1, 0, 100): {"readings of the clock take 256 ns": {"priced": True}},
    (1, 1, 100): {"a quarter of the loss": {"loss": 0.25},
                  "twice the delay": {"delays": 2}},
    (11, 1, 50): {"TCP waits for 20 ms at least": {"rto_min_us": 20_000}},
}

# Below this share of what is due, what is answered is less.
KEEPS_UP = 0.98


# -- arithmetic -------------------------------------------------------------

def frames_of(payload):
    """Bytes on the line of so many bytes of TCP's payload."""
    segments = -(-payload // (MTU - IP_TCP))
    return payload + segments * (IP_TCP + ETHERNET)


def line_ns(payload, kbit):
    """Nanoseconds of the line that they take."""
    return frames_of(payload) * 8 * 1e6 / kbit


def line_rate(profile):
    """Pages a second that the lender's line can carry."""
    return NS / line_ns(HEADER + PAGE, profile.peer_kbit)


def window_ms(loss, share):
    """Milliseconds before a point is measured, and while it is."""
    pages, ms = LEAST[loss]
    ms = math.ceil(max(ms, pages * 1000 / (line_rate(PROFILE) * share / 100)))
    return math.ceil(ms / 5), ms


UNIT = (f"us of a page-in from the instant it was due (wire: of the line alone); pages "
        f"answered a second, of which the line carries {line_rate(PROFILE):.0f}")
PAPERS = {**{f"load-{loss}": Paper(f"{UNIT}; {loss} % of packets lost") for loss in LOSSES},
          "load-causes": Paper(UNIT),
          "load-check": Paper("us of a read of flash that reads one page at a time (exact: "
                              "of the same instants by arithmetic)")}


def percentile(ordered, rank):
    """The smallest value that so large a share of them does not exceed."""
    return ordered[max(0, math.ceil(rank * len(ordered)) - 1)]


def in_order(due, service_ns, way_ns):
    """What each takes if they are served one after the other, as they are due."""
    free, took = 0, []
    for at in due:
        free = max(free, at) + service_ns
        took.append(free - at + way_ns)
    return took


def microseconds(took):
    """Percentiles and the largest, of nanoseconds."""
    ordered = sorted(took)
    return {**{name: round(percentile(ordered, rank) / 1e3, 2)
               for name, rank in RANKS.items()}, "max": round(ordered[-1] / 1e3, 2)}


def summary(samples, begin, end, wire):
    """Of (due, took) in order: what those due from begin to end took, what the wire's way
    to serve all of them would have made of those, and how many answers came meanwhile."""
    mine = [took for due, took in samples if begin <= due < end]
    ideal = [took for (due, _), took in zip(samples, wire) if begin <= due < end]
    half = [took for due, took in samples if (begin + end) / 2 <= due < end]
    came = sum(begin <= due + took < end for due, took in samples)
    return {"took": microseconds(mine), "wire": microseconds(ideal),
            "later": microseconds(half), "samples": len(mine),
            "due_s": round(len(mine) * NS / (end - begin)),
            "answered_s": round(came * NS / (end - begin))}


# -- inside the lab's kernel ------------------------------------------------

def seeded(measure):
    """Random instants and places by the lab kernel's seed, others in each boot."""
    @functools.wraps(measure)
    def seeding(run, *args):
        run.random = random.SystemRandom().randrange(1 << 32)
        return measure(run, *args)
    return seeding


def samples_of(path):
    """What bench/programs/arrivals wrote, in the order it was due."""
    numbers = array.array("Q")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    return sorted(zip(numbers[::2], numbers[1::2]))


def arrivals(run, paths, *flags):
    """Run it; its result, which must be right."""
    node = run.cluster.outside
    done = node.run([node.prog("arrivals"), "--devices", ",".join(paths), "--mb", MB,
                     "--seed", run.random, *flags], timeout=36000, check=False)
    if done.code:
        raise Failure(f"{done.cmd} ended with {done.code}: {done.err.strip()[:300]}")
    return json.loads(done.out.splitlines()[-1])


def read_at(run, paths, rate, ms, priced=False):
    """Page-ins at so many a second: (due, took) of each in order.  priced: readings of the
    clock take what they do in this kernel."""
    file = run.cluster.scratch / "samples"
    with contextlib.nullcontext() if priced else free_clock(run.clock):
        got = arrivals(run, paths, "--rate", round(rate), "--ms", ms, "--samples", file)
    samples = samples_of(file)
    file.unlink()
    if not samples or got["verified"] != len(samples):
        raise Failure(f"{got['verified']} of {len(samples)} pages were compared")
    return samples


def counters(node):
    """What TCP and the interface of a node have counted."""
    out = node.run(["cat", "/proc/net/snmp", "/proc/net/netstat", "/proc/net/dev"]).out
    found, lines = {}, out.splitlines()
    for names, values in zip(lines, lines[1:]):
        head = names.split(":")[0]
        if head in ("Tcp", "TcpExt") and values.startswith(head + ":"):
            found.update(zip(names.split()[1:], values.split()[1:]))
    sent = next(line for line in lines if line.strip().startswith(node.iface + ":"))
    return {"sent_bytes": int(sent.split(":")[1].split()[8]),
            **{name: int(found[key]) for name, key in (
                ("retransmitted", "RetransSegs"), ("timeouts", "TCPTimeouts"),
                ("probes", "TCPLossProbes"))}}


def all_counters(cluster):
    """Of the lender, with the pages it has served, and of all clients together."""
    lender, *clients = [counters(node) for node in cluster]
    return {"by_lender": {**lender, "served": cluster[0].stat()["server"]["pages_loaded"]},
            "by_clients": {key: sum(each[key] for each in clients) for key in lender}}


def since(before, now):
    """What was counted meanwhile."""
    return {who: {k: now[who][k] - before[who][k] for k in now[who]} for who in now}


@contextlib.contextmanager
def one_lender(cluster):
    """All but the first node have a device, whose pages are to be at that: the paths."""
    lender, clients = cluster[0], list(cluster)[1:]
    lender.up(lend=f"{len(clients) * (MB + 8) + 32}M", peers=clients, no_broadcast=True)
    devs = []
    for node in clients:
        node.up(lend="0", peers=[lender], no_broadcast=True)
        wait_for(lambda node=node: node.peers().get(lender.addr, {}).get(
            "free_pages", 0) >= MB << 8, 30, "the lender offers its room")
        devs.append(node.device_add(f"{MB}M"))
    try:
        yield [f"/dev/{dev}" for dev in devs]
    finally:
        for node, dev in zip(clients, devs):
            node.device_del(dev)
            node.down()
        lender.down()


def ethernet(cluster, loss=0, delays=1):
    """The profile's, with packets lost; so many times its delay."""
    lab.ethernet(cluster, [PROFILE.owner_kbit] * len(cluster), PROFILE.delay_us * delays,
                 loss)


def measured(run, rate, ms, loss, delays=1, priced=False):
    """So many page-ins a second, to clients that are there: (due, took) of each, and what
    was counted meanwhile."""
    cluster = run.cluster
    with one_lender(cluster) as paths:
        arrivals(run, paths, "--fill", 1)
        ethernet(cluster, loss, delays)
        before = all_counters(cluster)
        samples = read_at(run, paths, rate, ms, priced)
        counted = since(before, all_counters(cluster))
        ethernet(cluster)
    if counted["by_lender"]["served"] < len(samples):
        raise Failure(f"the lender served {counted['by_lender']['served']} of "
                      f"{len(samples)} pages")
    return samples, counted


@seeded
def loaded(run, clients, loss, share, cause=""):
    """One point: so many clients, so much loss, such a share of the line rate."""
    how = {"loss": loss, **(CAUSES[clients, loss, share][cause] if cause else {})}
    rto_min_us = how.pop("rto_min_us", None)
    for node in run.cluster if rto_min_us else ():
        node.run(f"echo {rto_min_us} > /proc/sys/net/ipv4/tcp_rto_min_us")
    ethernet(run.cluster)
    begin, length = window_ms(loss, share)
    samples, counted = measured(run, line_rate(PROFILE) * share / 100, begin + length, **how)
    kbit = PROFILE.peer_kbit
    wire = in_order([due for due, _ in samples], line_ns(HEADER + PAGE, kbit),
                    2000 * PROFILE.delay_us * how.get("delays", 1) + line_ns(HEADER, kbit))
    found = summary(samples, begin * MS, (begin + length) * MS, wire)
    said = " ".join(f"{found['took'][name]:.0f}" for name in RANKS)
    return {**found, **counted, "pages": len(samples),
            "bytes_a_page": round(counted["by_lender"]["sent_bytes"] / len(samples), 1),
            "said": f"{found['answered_s']} pages/s, {said} us"}


@seeded
def check(run, share):
    """The program that measures, on flash that reads one page at a time."""
    with lab.modelled("flash", MB, {"channels": 1, "depth": 1023, "read_ns": CHECK_NS,
                                    "bus_read_ns": 0, "write_ns": 1000,
                                    "bus_write_ns": 0}) as path:
        arrivals(run, [path], "--fill", 1)
        samples = read_at(run, [path], NS / CHECK_NS * share / 100, CHECK_MS)
    exact = in_order([due for due, _ in samples], CHECK_NS, 0)
    found = summary(samples, 0, CHECK_MS * MS, exact)
    off = max(abs(took - right) for (_, took), right in zip(samples, exact))
    mean = sum(took for _, took in samples) / len(samples) / 1e3
    busy = share / 100
    return {**found, "mean": round(mean, 2), "off_us": round(off / 1e3, 3),
            "theory": round(CHECK_NS / 1e3 * (1 + busy / 2 / (1 - busy)), 2),
            "said": f"{found['took']}, by arithmetic {found['wire']}"}


MEASURES = {"load": loaded, "load-check": check}
NODES_OF = {"load": lambda clients, *_: clients + 1}


# -- on the host ------------------------------------------------------------

def point_row(clients, share, got):
    """One point."""
    found = got["load"]
    behind = found["answered_s"] < KEEPS_UP * found["due_s"]
    marks = [f"{found['due_s']} a second are due and {found['answered_s']} answered: what "
             "a page-in takes grows as long as this goes on"] if behind else []
    return {"ours": {**{name: found["took"][name] for name in RANKS},
                     **{f"wire {name}": found["wire"][name] for name in RANKS},
                     "pages_s": found["answered_s"], "samples": found["samples"]},
            "marks": marks,
            **{k: v for k, v in found.items() if k not in ("said", "took", "wire")},
            "clients": clients, "share": share, "max": found["took"]["max"],
            "profile": PROFILE.what}


def check_row(got):
    """load-check: each of its reads is to take what arithmetic says."""
    found = got["check"]
    return {"ours": {**{name: found["took"][name] for name in RANKS}, "mean": found["mean"],
                     **{f"exact {name}": found["wire"][name] for name in RANKS},
                     "most off": found["off_us"], "theory's mean": found["theory"]},
            "samples": found["samples"]}


def name_of(clients, share):
    """A row's name."""
    return f"{clients} client{'s' * (clients > 1)}, {share} %"


def load_table(_):
    """load-0, load-0.01, load-1, load-causes, load-check."""
    for loss in LOSSES:
        for clients in CLIENTS:
            for share in SHARES:
                yield Row(f"load-{loss}", name_of(clients, share),
                          {"load": Unit("load", (clients, loss, share))},
                          functools.partial(point_row, clients, share))
    for (clients, loss, share), causes in CAUSES.items():
        for cause in ("", *causes):
            more = (cause,) if cause else ()
            yield Row("load-causes", f"{name_of(clients, share)}, {loss} % lost"
                      f"{', ' * bool(cause)}{cause}",
                      {"load": Unit("load", (clients, loss, share, *more))},
                      functools.partial(point_row, clients, share))
    for share in CHECK_SHARES:
        yield Row("load-check", f"{share} %", {"check": Unit("load-check", (share,))},
                  check_row)


TABLES = {"load": load_table}
