# SPDX-License-Identifier: GPL-2.0
"""Two devices of one node, each with policies of its own.

        node0 ------ node1, lends little      node0 swaps over two devices, each
         |  |  `---- node2, lends much        with flash; which peer got a page
     flash  flash                             is in the slot trace
"""
import collections
import contextlib
import re

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import eater, result_of

DESCRIPTION = "placement, reading, prefetching and profile for each device"
SUITES = ("lab",)
LONG = ("doors",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 300

PAGES = 6000        # page-outs that are looked at after each switch, at a time
WINDOWS = 5
POLICIES = "/proc/nswap/policies"


@contextlib.contextmanager
def two_devices(t):
    """node0, its peers, and two devices with flash; nothing is prefetched."""
    cluster = t.cluster(3)
    node, little, much = cluster
    node.up()
    little.up(lend="48M")
    much.up(lend="192M")
    cluster.wait_connected()
    with disk(48) as one, disk(48, at=48) as two:
        devs = [node.device_add("64M", flash=(d.path,)) for d in (one, two)]
        yield cluster, devs
        for dev in devs:
            node.device_del(dev)


def shares(node, little, after):
    """By device, pages that went to peers after entry `after` of the slot
    trace, and which share of them little got."""
    index = node.peers()[little.addr]["index"]
    pages = collections.Counter()
    for e in node.ctl("trace"):
        if e["number"] > after and (e["op"], e["tier"]) == ("page-out",
                                                            "remote"):
            pages[e["device"], e["peer"] == index] += e["slots"]
    return {dev: (pages[dev, True] + pages[dev, False],
                  pages[dev, True] /
                  max(pages[dev, True] + pages[dev, False], 1))
            for dev in {dev for dev, _ in pages}}


def trace_end(node):
    """Number of the last entry of the slot trace, 0 without any."""
    return max((e["number"] for e in node.ctl("trace")), default=0)


def copies(node):
    """Slots of flash that are used, by device."""
    return {d["device"]: d["flash_used_slots"] for d in node.devices()}


def window(t, node, little):
    """shares() of the next PAGES that go out."""
    begin, before = trace_end(node), node.stat()["client"]["pages_out"]
    wait_for(lambda: node.stat()["client"]["pages_out"] > before + PAGES, 60,
             "pages go out")
    seen = shares(node, little, begin)
    for dev, (total, share) in seen.items():
        t.log(f"{dev}: {total} pages out, {share:.2f} of them to {little}")
        at_least(total, PAGES / 10, f"pages that went out from {dev}")
    return seen


def spread(t, node, little, turns, concentrated):
    """From now on the pages of `turns` go to both peers, and those of
    `concentrated` where most is free."""
    # what is written again stays where it is: after a while without turns this begins small
    for _ in range(WINDOWS):
        seen = window(t, node, little)
        if seen[turns][1] >= 0.2:
            break
    at_least(seen[turns][1], 0.2,
             "the lesser peer's share of pages placed in turn")
    # some go there too, while the other one has as many under way as it may
    at_most(seen[concentrated][1], 0.4,
            "the lesser peer's share of pages placed where most is free")


def sums(node, *args):
    """Pages under way in all samples, by (op, tier)."""
    return {(d["op"], d["tier"]): round(d["mean"] * d["samples"])
            for d in node.ctl("profile", *args)}


def test_swap(t):
    """One program swaps over both while their policies change places: each
    device is placed and prefetched by its own, every page is right."""
    with two_devices(t) as (cluster, (one, two)):
        node, little, _ = cluster
        for args in (("set", "trace", 1), ("set", "profile_ms", 10),
                     ("prefetch", "set", "period_ms", 20),
                     ("prefetch", "set", "pct", 50),
                     ("policy", "place", "round-robin", "--device", one),
                     ("prefetch", "on", "--device", f"/dev/{one}")):
            node.ctl(*args)
        node.ctl("profile", "--reset")
        for dev in (one, two):
            node.swapon(dev)
        work = node.popen(eater(node, 40, passes=1000, order="random",
                                seed=t.seed), memory_max="20M")
        spread(t, node, little, one, two)
        wait_for(lambda: copies(node)[one] > 200, 20, f"{one} prefetches")
        equal(copies(node)[two], 0, f"copies on the flash of {two}")

        for args in (("policy", "place", "default", "--device", one),
                     ("prefetch", "set", "enable", "default", "--device", one),
                     ("policy", "place", "round-robin", "--device", two),
                     ("prefetch", "on", "--device", two)):
            node.ctl(*args)
        spread(t, node, little, two, one)
        wait_for(lambda: copies(node)[two] > 200, 20, f"{two} prefetches")
        true(copies(node)[one] < copies(node)[two],
             f"{one}, which prefetches no more, has more copies than {two}")

        # the node's choice counts for those without one
        node.ctl("policy", "place", "round-robin")
        node.ctl("policy", "place", "most-free", "--device", two)
        spread(t, node, little, one, two)

        node.ctl("set", "profile_ms", 0)
        parts = [sums(node, "--device", dev) for dev in (one, two)]
        for where, pages in sums(node).items():
            # each a mean times a number: two digits behind the point
            at_most(abs(sum(p[where] for p in parts) - pages), pages / 50 + 20,
                    f"{where}: between both devices' samples and the node's")
        for dev, part in zip((one, two), parts):
            at_least(part["page-out", "remote"], 1, f"pages under way of {dev}")
        work.kill(15)
        equal(result_of(work.wait(120))["wrong_pages"], 0, "wrong pages")
        for dev in (one, two):
            node.swapoff(dev)


def rows(node):
    """/proc/nswap/policies of the first node: {(device, kind): (policy,
    own)}."""
    lines = [line.split() for line in node.read(POLICIES).splitlines()]
    equal(lines[0], ["node", "device", "kind", "policy", "own"], "its header")
    number = str(node.stat()["node"]["number"])
    return {(d, k): (name, own) for n, d, k, name, own in lines[1:]
            if n == number}


def shown_as_text(node, dev):
    """Lists for people say what a device has chosen and what it follows."""
    ctl = node.prog("nswapctl")
    node.ctl("policy", "place", "latency", "--device", dev)
    for args, wanted in ((("policy",), f"{dev} has its own: place=latency"),
                         (("device", "list"), r" place=latency\n"),
                         (("policy", "--device", dev), r"place +latency +\* "),
                         (("policy", "--device", dev),
                          r"read +prefetched-first +\+ "),
                         (("prefetch", "--device", dev), r"when +always +\+ ")):
        said = node.run([ctl, *args]).out
        true(re.search(wanted, said), f"'{' '.join(args)}' lacks {wanted}:"
             f" {said}")
    node.ctl("policy", "place", "default", "--device", dev)


def test_doors(t):
    """A device's policy is one word, set and seen through nswapctl and /proc;
    what it has not chosen follows the node."""
    with two_devices(t) as (cluster, (one, two)):
        node = cluster[0]
        known = {("policy", p["kind"], p["kind"]): [] for p in node.ctl("policy")
                 if p["kind"] != "size"}
        for p in node.ctl("policy"):
            if p["kind"] != "size":
                known["policy", p["kind"], p["kind"]].append(p["name"])
        for key, names in node.ctl("prefetch")["known"].items():
            known["prefetch", key, f"prefetch-{key}"] = names
        before = rows(node)
        equal({own for (d, _), (_, own) in before.items() if d != "-"}, {"0"},
              "own policies of new devices")
        for (command, key, kind), names in known.items():
            if key == "to":
                continue
            words = ("prefetch", "set") if command == "prefetch" else (command,)
            for name in names:
                node.ctl(*words, key, name, "--device", one)
                equal(rows(node)[one, kind], (name, "1"), f"{kind} in /proc")
                node.run(f"echo {two} {kind} {name} > {POLICIES}")
                equal([d["policies"][kind] for d in node.devices()],
                      [name, name], f"{kind} in device list")
            equal(rows(node)["-", kind], before["-", kind], f"the node's {kind}")
            if key == "from":
                equal(rows(node)[one, "prefetch-to"], ("ram", "1"), "to")
            node.ctl(*words, key, "default", "--device", one)
            node.run(f"echo {two} {kind} default > {POLICIES}")
            equal(rows(node), before, f"policies after {kind} default")
            node.run(f"echo - {kind} {names[-1]} > {POLICIES}")
            equal(rows(node)[two, kind], (names[-1], "0"), f"{kind} that follows")
            node.run(f"echo - {kind} {names[0]} > {POLICIES}")
        equal([d["policies"] for d in node.devices()], [{}, {}], "own policies")
        shown_as_text(node, one)
        for line in ("", "nswap77 place latency", f"{one} place",
                     f"{one} size fixed", f"{one} place nonsense",
                     f"{one} prefetch-to ram", "- place default",
                     f"{one}  place latency", f"{one} nonsense latency"):
            done = node.run(f"echo {line!r} > {POLICIES}", check=False)
            true(done.code, f"'{line}' was taken")
            equal(rows(node), before, f"policies after '{line}'")
