# SPDX-License-Identifier: GPL-2.0
"""What is measured of page-outs and page-ins: the latency of each step, how
many are under way, the slot trace; and placement by what was measured."""
import itertools
import json
import time

from nswaptest.check import (at_least, at_most, equal, true, wait_for, within)
from nswaptest.disk import disk
from nswaptest.work import Slots, eat, eater, result_of

DESCRIPTION = "latency of steps, profiler, slot trace, policies that measure"
SUITES = ("lab",)
LONG = ("latency", "profile", "nearer")
NEEDS = ("module", "progs", "dmsetup", "tc")
TIMEOUT = 120

STEPS = {"remote": {"queue", "policy", "send", "network", "peer", "receive",
                    "complete", "total"},
         "flash": {"queue", "policy", "send", "disk", "complete", "total"},
         "home": {"queue", "policy", "send", "disk", "complete", "total"}}
MOVED = {("page-out", "remote"): "pages_out",
         ("page-in", "remote"): "pages_in",
         ("page-out", "flash"): "pages_flash_out",
         ("page-in", "flash"): "pages_flash_in",
         ("page-out", "home"): "pages_home_out",
         ("page-in", "home"): "pages_home_in"}


def latency(node):
    """stat --latency, by (op, tier) and step."""
    found = {}
    for row in node.ctl("stat", "--latency"):
        found.setdefault((row["op"], row["tier"]), {})[row["step"]] = row
    return found


def counters(node):
    """The counters that the pages of each op and tier add up to."""
    client = node.stat()["client"]
    return {where: client[name] for where, name in MOVED.items()}


def check_steps(t, steps, pages):
    """Every step of an op saw every page, and they add up to the whole."""
    for step, row in steps.items():
        t.log(f"{step:9} {row['pages']:7} {row['mean_ns'] / 1000:9.1f} "
              f"{row['median_ns'] / 1000:9.1f} {row['p99_ns'] / 1000:9.1f} us")
        equal(row["pages"], pages, f"pages in step {step}")
        equal(sum(row["buckets"]), pages, f"pages in the buckets of {step}")
        at_most(row["median_ns"], row["p99_ns"], f"median of {step}")
    total = steps["total"]
    true(total["median_ns"] > 0, "the median of the whole is 0")
    within(sum(row["mean_ns"] for step, row in steps.items()
               if step != "total"), total["mean_ns"], 0.001,
           "the steps together, against the whole")


def test_latency(t):
    """Pages at a peer, on flash and at home: every page counts once in each
    step of its tier, the steps add up; off, nothing is counted."""
    cluster = t.cluster(2)
    cluster.up(lend="1M")
    node = cluster[0]
    said = node.refused("stat", "--latency")
    true("set latency 1" in said, f"said: {said}")
    with disk(64) as home, disk(1, 64) as flash:
        dev = node.device_add(home=home.path, flash=(flash.path,))
        with Slots(dev) as slots:
            slots.write(1, 16)
            node.ctl("set", "latency", 1)
            before = counters(node)
            for first in range(100, 900, 8):
                slots.write(first, 8)
            for first in range(100, 130):
                slots.write(first)
            equal(slots.compare()[1:], (0, 0), "pages wrong and unreadable")
            after = counters(node)
            node.ctl("set", "latency", 0)
            slots.write(2000, 32)
            seen = latency(node)
            for where, steps in seen.items():
                pages = after[where] - before[where]
                t.log(f"{where}: {pages} pages")
                equal(set(steps), STEPS[where[1]], f"steps of {where}")
                at_least(pages, 100, f"pages of {where}")
                check_steps(t, steps, pages)
            equal(set(seen), set(MOVED), "what was measured")
            for tier, step in (("remote", "peer"), ("flash", "disk"),
                               ("home", "disk")):
                for op in ("page-in", "page-out"):
                    true(seen[op, tier][step]["median_ns"] > 0,
                         f"median of {step}, {op}, is 0")
            node.ctl("set", "latency", 1)
            equal(sum(row["pages"] for steps in latency(node).values()
                      for row in steps.values()), 0,
                  "pages measured after starting over")
        node.device_del(dev)


def test_trace(t):
    """The ring has every page with its slot, op and tier; it overwrites the
    oldest, and says how many a reader missed."""
    cluster = t.cluster(2)
    cluster.up(lend="8M")
    node = cluster[0]
    said = node.refused("trace")
    true("set trace 1" in said, f"said: {said}")
    dev = node.device_add("64M")
    node.ctl("set", "trace", 1)
    begin = time.monotonic_ns()
    with Slots(dev) as slots:
        for first in (7, 300, 40):
            slots.write(first, 5)
        slots.write(301)
        equal(slots.compare(), (15, 0, 0), "pages right, wrong, unreadable")
    seen = node.ctl("trace")
    pages = {"page-out": [], "page-in": []}
    for entry in seen:
        pages[entry["op"]] += range(entry["slot"],
                                    entry["slot"] + entry["slots"])
        equal((entry["device"], entry["tier"]), (dev, "remote"),
              "device and tier")
        at_least(entry["peer"], 1, "index of the peer")
        true(begin < entry["time_ns"] - entry["latency_ns"] and
             entry["time_ns"] < time.monotonic_ns() and
             entry["latency_ns"] > 0, f"times of {entry}")
    wrote = [*range(7, 12), *range(300, 305), *range(40, 45), 301]
    equal(pages["page-out"], wrote, "slots paged out")
    equal(pages["page-in"], sorted(set(wrote)), "slots paged in")
    equal([e["number"] for e in seen], list(range(1, len(seen) + 1)),
          "numbers of the entries")

    follower = node.popen([node.prog("nswapctl"), "--json", "trace",
                           "--follow"])
    with Slots(dev, seed=2) as slots:
        slots.write(500, 3)

        def followed():
            lines = [json.loads(line) for line in
                     follower.output().splitlines() if line.endswith("}")]
            return [e for e in lines if e["slot"] == 500]
        equal(wait_for(followed, 5, "trace --follow shows it")[0]["slots"], 3,
              "slots of the entry followed")
        follower.kill(2)
        follower.wait(5)
        node.ctl("set", "trace", 0)
        slots.write(600, 3)
    equal(len(node.ctl("trace")), len(seen) + 1, "entries once it was off")
    node.device_del(dev)


def profile(node):
    """nswapctl profile, by (op, tier)."""
    return {(d["op"], d["tier"]): d for d in node.ctl("profile")}


def proc_samples(node):
    """Samples of each line of /proc/nswap/profile, of this node."""
    number = str(node.stat()["node"]["number"])
    lines = [line.split() for line in
             node.read("/proc/nswap/profile").splitlines()]
    at = lines[0].index("samples")
    return [int(line[at]) for line in lines[1:] if line[0] == number]


def test_profile(t):
    """Samples are taken while there is a device, busy ones while pages are
    under way; a reset and a period of 0."""
    cluster = t.cluster(2, delay_us=2000)
    cluster.up(lend="64M")
    node = cluster[0]
    node.ctl("set", "profile_ms", 10)
    equal(sum(d["samples"] for d in profile(node).values()), 0,
          "samples without a device")
    with cluster.swap(node, "64M"):
        equal(eat(node, 16, "12M", passes=1)["wrong_pages"], 0, "wrong pages")
        seen = profile(node)
        for where, d in seen.items():
            t.log(f"{where}: {d['samples']} samples, {d['busy']} busy, "
                  f"mean {d['mean']}, of busy {d['mean_busy']}")
            equal(sum(d["buckets"]), d["samples"], f"buckets of {where}")
            at_least(d["samples"], 10, f"samples of {where}")
            if where[1] != "remote":
                equal(d["busy"], 0, f"busy samples of {where}")
                continue
            at_least(d["busy"], 5, f"busy samples of {where}")
            at_least(d["mean_busy"], 1, f"mean of busy samples of {where}")
            at_least(d["most"], d["mean_busy"], f"largest of {where}")
            within(d["mean"] * d["samples"], d["mean_busy"] * d["busy"], 0.01,
                   f"sum of {where}, both ways")
        node.ctl("set", "profile_ms", 60000)
        node.ctl("profile", "--reset")
        equal(proc_samples(node), [0] * 6, "samples after a reset")
        node.ctl("set", "profile_ms", 10)
        wait_for(lambda: min(proc_samples(node)) > 2, 5, "samples are taken")
        node.ctl("set", "profile_ms", 0)
        node.write("/proc/nswap/profile", "0\n")
        at_most(max(proc_samples(node)), 1, "samples once it is off")


def test_nearer(t):
    """One of two peers is 10 ms away: latency fills the near one. Policies and
    measuring are switched under load, and every page stays right."""
    cluster = t.cluster(3)
    cluster.up(lend="96M")
    node, near, far = cluster
    far.run(["tc", "qdisc", "replace", "dev", far.iface, "root", "netem",
             "delay", "10ms"])
    node.ctl("policy", "place", "latency")
    with cluster.swap(node, "128M"):
        equal(eat(node, 20, "14M", passes=1)["wrong_pages"], 0, "wrong pages")
        stored = {n: n.stat()["server"]["pages_stored"] for n in (near, far)}
        t.log(f"latency: near {stored[near]}, far {stored[far]}")
        at_least(stored[near], 1000, "pages stored at the near peer")
        at_most(stored[far], stored[near] // 3, "pages stored at the far peer")
        far.run(["tc", "qdisc", "replace", "dev", far.iface, "root", "netem",
                 "delay", "1ms"])
        program = node.popen(eater(node, 20, passes=1), memory_max="14M")
        names = itertools.cycle(("two-choices", "latency", "most-free",
                                 "round-robin"))
        switched = 0
        while program.poll() is None:
            node.ctl("policy", "place", next(names))
            for knob in ("latency", "trace"):
                node.ctl("set", knob, switched // 3 % 2)
            switched += 1
        equal(result_of(program.wait(60))["wrong_pages"], 0,
              "wrong pages while policies were switched")
        t.log(f"switched {switched} times")
