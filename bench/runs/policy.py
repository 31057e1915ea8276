# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=policy: policies and prefetch settings side by side.

        node0 ------ node1      node0 swaps; each of the others lends enough for
        |     `----- node2      all of it; flash, where a case has it, is modelled
      flash

A case is a cluster and a program on which policies of one kind can differ: one peer
far away for placement that measures, a network slower than the program for placement
that knows flash, flash that is faster and slower than the peers for reading and
prefetching.  All policies that nswapctl lists take turns in it, each with a device of
its own, so that none has what another learned.  The time is that of the whole run.
"""
import contextlib
import dataclasses
import sys

from lib import apps
from runs import swap
from tables import lab
from lib.measure import Progress, median, turns
from nswaptest.check import wait_for
from nswaptest.modelled import loaded

NODES = 3
NAMES = ["nswap"]
LIMIT_MB = 6
# Prefetching leaves an eighth of flash to pages without another place.
DEVICE_MB, FLASH_MB, LEND_MB = 24, 36, 48
PREFETCH = {"period_ms": 20, "when": "swapping", "count": "percent-out", "pct": 50,
            "which": "rr"}
ADAPTIVE = {"when": "adaptive", "count": "adaptive", "which": "adaptive"}
FAST = {"channels": 10, "depth": 32, "read_ns": 50_000, "write_ns": 50_000,
        "bus_read_ns": 5_000, "bus_write_ns": 5_000}
SLOW = {**FAST, "read_ns": 1_000_000}
# What a node gives its packets: netem's words.
FAR, DISTANT, NARROW = ["delay", "1ms"], ["delay", "300us"], ["rate", "100mbit"]


@dataclasses.dataclass(frozen=True)
class Case:
    """A kind of policies, and where they are laid side by side.  links: what each
    node gives its packets; flash: knobs, None for no flash."""
    kind: str
    what: str
    workloads: tuple
    links: dict = dataclasses.field(default_factory=dict)
    flash: dict = None


CASES = (
    Case("place", "two peers alike", ("WL2",)),
    Case("place", "one of two peers 1 ms away", ("WL2",), {2: FAR}),
    Case("place", "100 Mbit/s out, flash", ("WL1",), {0: NARROW}, FAST),
    Case("read", "flash faster than the peers", ("WL2",),
         {1: DISTANT, 2: DISTANT}, FAST),
    Case("read", "flash slower than the peers", ("WL2",), {}, SLOW),
    Case("prefetch", "flash faster than the peers", ("WL2", "hotcold"),
         {1: DISTANT, 2: DISTANT}, FAST),
    Case("prefetch", "flash slower than the peers", ("WL2", "hotcold"), {}, SLOW),
)
# What has been prefetched is of use to a program that comes to its pages again.
FLAGS = {"WL2": ("--iterations", "2"), "hotcold": ("--requests", "8192")}
COUNTED = {"pages_out": "pages_out", "pages_in": "pages_in",
           "flash_out": "pages_flash_out", "flash_in": "pages_flash_in",
           "prefetched": "pages_prefetched", "prefetch_hits": "prefetch_hits"}


def known(node, kind):
    """The policies of a kind, as nswapctl lists them; of prefetching, which pages
    go, after not prefetching at all."""
    if kind == "prefetch":
        return ["none", *node.ctl("prefetch")["known"]["which"]]
    return [p["name"] for p in node.ctl("policy") if p["kind"] == kind]


def choose(node, case, name):
    """Everything as it is by default, and one policy."""
    place, read, how = "most-free", "prefetched-first", dict(PREFETCH)
    if case.kind == "place":
        place = name
    elif case.kind == "read":
        read = name
    elif name == "adaptive":
        how.update(ADAPTIVE)
        read = "fastest"
    elif name != "none":
        how["which"] = name
    node.ctl("policy", "place", place)
    node.ctl("policy", "read", read)
    for key, value in how.items():
        node.ctl("prefetch", "set", key, value)
    node.ctl("prefetch", "off" if case.kind == "place" or name == "none" else "on")


@contextlib.contextmanager
def linked(cluster, links):
    """Nodes that give their packets a delay or a rate."""
    try:
        for index, words in links.items():
            node = cluster[index]
            node.run(["tc", "qdisc", "replace", "dev", node.iface, "root", "netem",
                      "limit", "100000", *words])
        yield
    finally:
        for index in links:
            node = cluster[index]
            node.run(["tc", "qdisc", "del", "dev", node.iface, "root"], check=False)


@contextlib.contextmanager
def device(node, case):
    """A device of its own for one run, with flash if the case has it."""
    with contextlib.ExitStack() as stack:
        flash = [stack.enter_context(lab.flash_of(FLASH_MB, **case.flash)).path] \
            if case.flash else ()
        dev = node.device_add(f"{DEVICE_MB}M", flash=flash)
        try:
            yield f"/dev/{dev}"
        finally:
            node.device_del(dev)


def stored(peers):
    """Pages that each peer has taken in so far."""
    return [peer.stat()["server"]["pages_stored"] for peer in peers]


def one_run(cluster, case, name, app, right, load):
    """Run a program with a policy; what it took, and where its pages were."""
    node, *peers = cluster
    choose(node, case, name)
    with device(node, case) as path, lab.swapped(node, path):
        before, at = node.stat()["client"], stored(peers)
        got, begin, end = swap.execute(node, app, limited=True)
        now, at_end = node.stat()["client"], stored(peers)
    # the next one is to find the peers as this one did
    wait_for(lambda: not cluster.held_pages(peers), 60, "the peers are empty")
    got["wrong"] = apps.wrong(got, right)
    got["total"] = got["fill_seconds"] + got["seconds"] + got["check_seconds"]
    for key, counter in COUNTED.items():
        got[key] = now[counter] - before[counter]
    got["stored"] = [b - a for a, b in zip(at, at_end)]
    mark = load.mark(begin, end)
    got["marks"] = [mark] if mark else []
    return got


def row_of(case, name, app, runs, about):
    """A row of policy.json from the runs of one policy."""
    took = [r["total"] for r in runs]
    row = {"kind": case.kind, "policy": name, "case": case.what,
           "workload": app.name, "mb": app.mb, "limit_mb": app.limit_mb,
           "seconds": round(median(took), 3)}
    for key in COUNTED:
        row[key] = int(median([r[key] for r in runs]))
    row["wrong_pages"] = sum(r["wrong"] for r in runs)
    row["lab"] = about["lab"]
    row["stored"] = [int(median(pages)) for pages in
                     zip(*(r["stored"] for r in runs))]
    row["seconds_min"], row["seconds_max"] = (round(f(took), 3) for f in (min, max))
    row["runs"] = len(runs)
    row["marks"] = sorted({m for r in runs for m in r["marks"]})
    if row["wrong_pages"]:
        row["marks"].insert(0, "wrong pages or results")
    row["kernel"], row["commit"] = about["kernel"], about["commit"]
    return row


def told(name, app, got):
    """A line of progress."""
    return (f"{name:16} {app.name:8} {got['total']:6.2f} s  peers "
            f"{'+'.join(map(str, got['stored'])):>11} out {got['pages_in']:5} in, "
            f"flash {got['flash_out']:5} out {got['flash_in']:5} in, prefetched "
            f"{got['prefetched']:5} read {got['prefetch_hits']:5}  "
            f"{got['wrong']} wrong")


def fitted(name, kind):
    """A program of the size it has here."""
    app = apps.fit(name, LIMIT_MB)
    flags = () if kind == "place" else FLAGS[name]
    return dataclasses.replace(app, args=(*app.args, *flags))


def plan_of(options):
    """What is left to measure: {part: (case, program)}."""
    found = {}
    for case in CASES:
        for name in case.workloads:
            part = f"{case.kind}: {case.what}: {name}"
            if part not in options.parts and \
                    (not options.workloads or name in options.workloads):
                found[part] = (case, fitted(name, case.kind))
    return found


def run(cluster, options, about, load):
    """Measure; the rows."""
    node, *peers = cluster
    for peer in peers:
        peer.up(lend=f"{LEND_MB}M", peers=[node], no_broadcast=True)
    node.up(lend="0", peers=peers, no_broadcast=True)
    wait_for(lambda: all(node.peers().get(peer.addr, {}).get("free_pages", 0) >=
                         LEND_MB << 8 for peer in peers), 30,
             "the peers offer their room")
    plan = plan_of(options)
    names = {kind: known(node, kind) for kind in {c.kind for c, _ in plan.values()}}
    progress = Progress([1] * sum(options.rounds * len(names[case.kind])
                                  for case, _ in plan.values()))
    todo = {app.name: app for _, app in plan.values()}
    right = swap.in_enough_ram(node, todo.values(), load)
    with loaded(options.model):
        for part, (case, app) in plan.items():
            print(f"   {part}", file=sys.stderr, flush=True)
            runs = {}
            with linked(cluster, case.links):
                for _, name in turns(names[case.kind], options.rounds):
                    got = one_run(cluster, case, name, app, right[app.name], load)
                    runs.setdefault(name, []).append(got)
                    progress.step(1, told(name, app, got))
            options.parts.add(part, [row_of(case, name, app, got, about)
                                     for name, got in runs.items()])
    return options.parts.all_rows()
