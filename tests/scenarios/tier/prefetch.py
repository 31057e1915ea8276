# SPDX-License-Identifier: GPL-2.0
"""The prefetcher brings pages that peers hold to flash, and page-ins choose
between the two copies; or it brings pages at home to peers.

        node0 ------ node1        node0 swaps to node1; flash, home: a mapping of
        |                         the scratch disk, whose errors the test decides
    flash, or home
"""
import contextlib
import itertools
import json
import signal

from nswaptest.check import at_least, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import Slots, eat

DESCRIPTION = "prefetching to flash and from disk, and reading policies"
SUITES = ("lab",)
LONG = ("from_disk_policies", "from_disk", "evicts_when_off",
        "switching", "policies", "evicts", "flash_fails", "peer_dies")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 600

MIB = 256
WAKE_UPS = 0.1      # seconds, five of them
ENOUGH = 512        # pages for a device that is looked at slot by slot


def setting(node, **keys):
    """nswapctl prefetch set, for each."""
    for key, value in keys.items():
        node.ctl("prefetch", "set", key, value)


FOLDER = "/proc/nswap/prefetch"


def choose(node, **names):
    """The same through /proc, all in one command."""
    node.run("".join(f"echo {name} > {FOLDER}/{key} && "
                     for key, name in names.items()) + "true")


def whens(known):
    """All but the one that waits until there is little room, see between.spared."""
    equal("full" in known["when"], True, "whether there is one")
    return [name for name in known["when"] if name != "full"]


def counters(node):
    """Counters of the first node of the cluster, by name: the scenario sees
    all nodes, and lines of later ones are left out."""
    found = {}
    for line in node.read("/proc/nswap/stats").splitlines()[1:]:
        _, name, value = line.split()
        found.setdefault(name, int(value))
    return found


def risen(node, before, *names):
    """Whether all of these counters have risen since."""
    now = counters(node)
    return all(now[name] > before[name] for name in names)


@contextlib.contextmanager
def device(t, flash_mb=64, size="64M", lend="64M", **options):
    """A node with a peer and a device with flash; what the prefetcher does is
    said, it is off."""
    cluster = t.cluster(2)
    cluster.up(lend=lend, **options)
    node = cluster[0]
    with disk(flash_mb) as flash:
        dev = node.device_add(size, flash=(flash.path,))
        setting(node, period_ms=20)
        yield cluster, node, dev, flash
        node.device_del(dev)


@contextlib.contextmanager
def written(dev, t, slots=ENOUGH):
    """Slots of a device, all at the peer."""
    with Slots(dev, t.seed) as made:
        for first in range(1, slots + 1, 32):
            made.write(first, 32)
        yield made


def wait_prefetched(node, pages, what=""):
    """Wait until so many pages of the one device have a copy on flash."""
    wait_for(lambda: min(on_flash(node)) >= pages, 20, f"{pages} pages are on flash {what}")


def on_flash(node):
    """Slots of flash that are used, and copies that were made: at first they are on the way."""
    return node.devices()[0]["flash_used_slots"], counters(node)["pages_prefetched"]


def prefetch_all(node, pages):
    """Bring every page to flash, then stop."""
    setting(node, when="always", count="percent-used", pct=100, which="rr")
    node.ctl("prefetch", "on")
    wait_prefetched(node, pages)
    node.ctl("prefetch", "off")


def test_swap(t):
    """A program swaps with the prefetcher on: pages are prefetched and read
    from flash, every page right."""
    with device(t) as (_, node, dev, _):
        setting(node, pct=50)
        node.ctl("prefetch", "on")
        node.swapon(dev)
        equal(eat(node, 32, "20M", passes=1, order="random", seed=t.seed)
              ["wrong_pages"], 0, "wrong pages")
        node.swapoff(dev)
        stat = counters(node)
        t.log(str(stat))
        at_least(stat["pages_prefetched"], 500, "pages prefetched")
        at_least(stat["prefetch_hits"], 200, "of them read from flash")
        at_least(stat["pages_flash_in"], stat["prefetch_hits"],
                 "pages read from flash")
        equal(stat["read_errors"], 0, "pages whose page-in failed")


def may_prefetch(when, count):
    """Whether something is prefetched by these, if a program that runs all
    the time rests for a moment: the other counts go by what goes out."""
    return when != "idle" or count == "percent-used"


def one_combination(node, work, when, count, which):
    """Switch to it and wait until it has done something, if it may: (pages
    prefetched, pages read from flash)."""
    before = counters(node)
    choose(node, when=when, count=count, which=which)

    def both():
        if when == "idle":
            work.kill(signal.SIGSTOP)
            hold(WAKE_UPS)
            work.kill(signal.SIGCONT)
        return risen(node, before, "pages_prefetched", "prefetch_hits")
    if may_prefetch(when, count):
        wait_for(both, 20, f"{when} {count} {which} prefetches and is of use")
    else:
        hold(WAKE_UPS)
    after = counters(node)
    return [after[name] - before[name]
            for name in ("pages_prefetched", "prefetch_hits")]


def test_switching(t):
    """Every when, count, which and read, switched on the fly under load: no
    wrong page, and each does something where its when allows."""
    with device(t, flash_mb=32, size="32M") as (_, node, dev, _):
        known = node.ctl("prefetch")["known"]
        reads = [p["name"] for p in node.ctl("policy") if p["kind"] == "read"]
        node.ctl("prefetch", "on")
        work = node.popen([node.prog("blkverify"), "--device", f"/dev/{dev}",
                           "--seconds", "600", "--fresh", "--max-kb", "64",
                           "--threads", "2", "--discards", "3", "--seed", str(t.seed)])
        told = []
        for read in reads:
            node.ctl("policy", "read", read)
            for names in itertools.product(whens(known), known["count"], known["which"]):
                done = one_combination(node, work, *names)
                equal(work.poll(), None, "the program runs")
                told.append([*names, read, *done])
                t.log(f"{' '.join(names)} {read}: prefetched {done[0]}, "
                      f"of such pages read from flash {done[1]}")
        (t.dir / "combinations.json").write_text(json.dumps(told))
        work.kill(15)
        done = work.wait(60)
        t.log(f"{done.out} {done.err} {counters(node)}")
        equal(done.code, 0, "exit code of blkverify")


def test_policies(t):
    """What each "which" takes, and what each reading policy reads."""
    with device(t) as (_, node, dev, _), written(dev, t) as slots:
        setting(node, when="idle", count="percent-used", pct=1, which="lrs")
        node.ctl("prefetch", "on")
        wait_prefetched(node, 1, "the hand has passed all that were written")
        node.ctl("prefetch", "off")
        wait_for(lambda: len(set(on_flash(node))) == 1, 10, "no copy is on its way")
        passed = counters(node)["pages_prefetched"]
        equal({slots.right(slot) for slot in range(301, 401)}, {True}, "pages are right")
        slots.write(401, 32)
        setting(node, pct=100, which="mrs")
        node.ctl("prefetch", "on")
        wait_prefetched(node, passed + 132, "as mrs says")
        hold(WAKE_UPS)
        equal(counters(node)["pages_prefetched"], passed + 132,
              "pages by lrs, and those read or written since, by mrs")
        setting(node, which="lrs")
        wait_prefetched(node, ENOUGH, "as lrs says")
        node.ctl("prefetch", "off")
        equal(counters(node)["pages_in"], 100, "pages in by page-ins alone")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        equal(counters(node)["prefetch_hits"], ENOUGH, "read from flash")
        seen = node.devices()[0]
        equal((seen["slots_remote"], seen["slots_flash"]), (ENOUGH, 0),
              "slots at the peer and on flash alone")
        for read in ("fastest", "least-loaded"):
            node.ctl("policy", "read", read)
            equal(slots.compare(), (ENOUGH, 0, 0), f"slots by {read}")
        slots.write(1, 32)
        equal(node.devices()[0]["flash_used_slots"], ENOUGH - 32,
              "flash slots after a rewrite")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")


def test_move(t):
    """after=move: flash has the only copy, the peer is told to drop its own."""
    with device(t) as (cluster, node, dev, _), written(dev, t) as slots:
        setting(node, after="move")
        prefetch_all(node, ENOUGH)
        seen = node.devices()[0]
        equal((seen["slots_remote"], seen["slots_flash"]), (0, ENOUGH),
              "slots at the peer and on flash alone")
        wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")


def test_evicts(t):
    """Flash is full of copies: they are evicted for those of other pages, and for
    pages that no peer has room for; every page is right all the time."""
    with device(t, flash_mb=1) as (cluster, node, dev, _), \
            written(dev, t) as slots:
        limit = MIB - MIB // 8
        prefetch_all(node, limit)
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        node.ctl("prefetch", "on")
        before = counters(node)["pages_prefetched"]

        def replaced():
            slots.write(1, 32)
            slots.write(ENOUGH - 31, 32)
            return counters(node)["pages_prefetched"] > before + limit
        wait_for(replaced, 20, "copies are evicted for others")

        def room():
            return node.devices()[0]["flash_used_slots"] <= limit
        wait_for(room, 10, "an eighth of flash is not used")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        # no more than it holds: it takes nothing, and brings nothing back
        cluster[1].ctl("lend", f"{ENOUGH * 4}K")
        wait_for(lambda: not node.peers()[cluster[1].addr]["free_pages"], 10,
                 "the peer has no room")
        for first in range(ENOUGH + 1, ENOUGH + 161, 16):
            slots.write(first, 16)
            wait_for(room, 10, "copies are evicted for pages without another place")
        equal(node.devices()[0]["slots_flash"], 160, "slots on flash alone")
        equal(slots.compare(), (ENOUGH + 160, 0, 0),
              "right, wrong, unreadable")
        stat = counters(node)
        equal((stat["write_errors"], stat["read_errors"]), (0, 0),
              "failed page-outs and page-ins")


def test_evicts_when_off(t):
    """The prefetcher is off and flash nearly full of copies: they are evicted for
    pages that no peer has room for, but only while a peer has those pages;
    each is counted once, and a device without copies loses nothing."""
    with device(t, flash_mb=1) as (cluster, node, dev, _), \
            written(dev, t) as slots:
        limit = MIB - MIB // 8
        prefetch_all(node, limit)
        equal(counters(node)["copies_evicted"], 0, "copies taken off flash")
        cluster[1].ctl("lend", f"{ENOUGH * 4}K")
        wait_for(lambda: not node.peers()[cluster[1].addr]["free_pages"], 10,
                 "the peer has no room")
        for first in range(ENOUGH + 1, ENOUGH + 161, 16):
            slots.write(first, 16)
            wait_for(lambda: node.devices()[0]["flash_used_slots"] <= limit,
                     10, "copies are evicted")
        equal(node.devices()[0]["slots_flash"], 160, "slots on flash alone")
        equal(counters(node)["copies_evicted"], 160, "copies taken off flash")
        equal(slots.compare(), (ENOUGH + 160, 0, 0),
              "right, wrong, unreadable")
        stat = counters(node)
        equal((stat["write_errors"], stat["read_errors"]), (0, 0),
              "failed page-outs and page-ins")


def test_flash_fails(t):
    """Flash fails under load: the peer serves what it has, the prefetcher
    gives up and goes on when flash is well again."""
    with device(t) as (_, node, dev, flash), written(dev, t) as slots:
        prefetch_all(node, ENOUGH)
        flash.fail()
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        for first in range(1, ENOUGH + 1, 32):
            slots.write(first, 32)
        node.ctl("prefetch", "on")
        wait_for(lambda: counters(node)["prefetch_called_off"] > 16, 10,
                 "prefetching is called off")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        node.ctl("prefetch", "off")
        flash.mend()
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        equal(counters(node)["read_errors"], 0, "pages whose page-in failed")


def test_peer_dies(t):
    """The peer dies: what flash has is served at once, whatever the reading
    policy; the rest fails."""
    with device(t, dead_after=2) as (cluster, node, dev, _), \
            written(dev, t) as slots:
        prefetch_all(node, ENOUGH)
        node.ctl("policy", "read", "least-loaded")
        slots.write(ENOUGH + 1, 32)
        cluster.kill(cluster[1])
        wait_for(lambda: node.peers()[cluster[1].addr]["state"] in
                 ("suspected", "dead"), 15, "the peer is missed")
        for slot in range(1, ENOUGH + 1, 7):
            true(slots.right(slot), "a page on flash is right")
        true(slots.slowest < 2, "a page on flash is had at once")
        equal(slots.compare(), (ENOUGH, 0, 32), "right, wrong, unreadable")


@contextlib.contextmanager
def at_home(t, slots=ENOUGH, **options):
    """A node whose device has a home, where all its pages are; a peer that
    begins to lend, so that nothing but the prefetcher moves them there."""
    cluster = t.cluster(2)
    cluster.up(lend="0", **options)
    node = cluster[0]
    with disk(16) as home:
        dev = node.device_add(home=home.path)
        node.ctl("set", "home_out_mib_s", "0")
        with written(dev, t, slots) as made:
            wait_for(lambda: node.devices()[0]["slots_home"] == slots, 20,
                     "all pages are at home")
            cluster[1].ctl("lend", "32M")
            node.wait_sessions()
            setting(node, period_ms=20, when="always", count="percent-used",
                    pct=100, **{"from": "disk"})
            yield cluster, node, made, home
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def wait_at_peers(node, pages, what=""):
    """Wait until so many pages of the one device are at peers."""
    wait_for(lambda: node.devices()[0]["slots_remote"] >= pages, 30,
             f"{pages} pages are at peers {what}")


def test_from_disk(t):
    """Pages at home are brought to peers: those that "which" says, each counted
    once, and every page right before, after and when it is read there."""
    with at_home(t) as (cluster, node, slots, _):
        for slot in range(1, 101):
            true(slots.right(slot), "a page at home is right")
        setting(node, when="idle", which="mrs")
        node.ctl("prefetch", "on")
        wait_at_peers(node, 100, "as mrs says")
        hold(WAKE_UPS)
        stat = counters(node)
        equal((stat["pages_prefetched_ram"], stat["pages_home_to_remote"],
               stat["pages_in"], stat["prefetch_ram_hits"]), (100, 100, 0, 0),
              "pages prefetched by mrs, moved, read, and of those prefetched")
        setting(node, which="rr", when="always")
        wait_at_peers(node, ENOUGH, "as rr says")
        node.ctl("prefetch", "off")
        seen = node.devices()[0]
        equal((seen["slots_home"], seen["slots_remote"]), (0, ENOUGH),
              "slots at home and at the peer")
        equal(cluster.held_pages(), ENOUGH, "pages at the peer")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        equal([counters(node)[name] for name in
               ("pages_prefetched_ram", "prefetch_ram_hits", "pages_in")],
              [ENOUGH] * 3, "pages prefetched, of them read, read from peers")
        slots.write(1, 32)
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        equal(counters(node)["prefetch_ram_hits"], 2 * ENOUGH - 32,
              "reads of prefetched pages, none of those written again")


def test_from_disk_policies(t):
    """Every when, every count and every which brings pages out; then home
    fails in the middle, and nothing is lost."""
    with at_home(t) as (cluster, node, slots, home):
        known = node.ctl("prefetch")["known"]

        def all_home():
            choose(node, enable="off")
            cluster[1].ctl("lend", "0")
            wait_for(lambda: node.devices()[0]["slots_home"] == ENOUGH, 30,
                     "all pages are at home")
            true(slots.right(ENOUGH), "a page is right")

        first = {"when": "always", "count": "percent-used", "which": "rr"}
        known["when"] = whens(known)
        for key, name in ((k, n) for k in first for n in known[k]):
            all_home()
            before = counters(node)
            choose(node, **{**first, key: name, "enable": "on"})
            cluster[1].ctl("lend", "32M")

            def brought(before=before, idle=name == "idle"):
                if not idle:
                    slots.write(1, 64)
                    true(slots.right(ENOUGH), "a page is right")
                return risen(node, before, "pages_prefetched_ram")
            wait_for(brought, 20, f"{key} {name} brings pages out")
            t.log(f"{key} {name}: {counters(node)}")
        all_home()
        home.fail()
        choose(node, **first, enable="on")
        before = counters(node)["prefetch_called_off"]
        cluster[1].ctl("lend", "32M")
        wait_for(lambda: counters(node)["prefetch_called_off"] > before, 10,
                 "prefetching is called off")
        home.mend()
        wait_at_peers(node, ENOUGH, "once home is well again")
        equal(slots.compare(), (ENOUGH, 0, 0), "right, wrong, unreadable")
        equal(counters(node)["read_errors"], 0, "pages whose page-in failed")


def refused_at_command(node):
    """What nswapctl refuses, and who may not write at all."""
    said = node.refused("prefetch", "set", "which", "best")
    true("rr rand lrs [mrs] adaptive" in said, f"the refusal is: {said}")
    node.refused("prefetch", "set", "period_ms", "0")
    said = node.refused("prefetch", "set", "whom", "x")
    true("period_ms" in said, f"the refusal is: {said}")
    said = node.refused("policy", "read", "slowest")
    true("[prefetched-first] fastest least-loaded soonest" in said, f"the refusal is: {said}")
    node.refused("prefetch", "fly", code=2)
    node.refused("prefetch", "set", "when", code=2)
    done = node.run(f"unshare -Ur sh -c 'echo on > {FOLDER}/enable'", check=False)
    true(done.code, "root of another user namespace may not write")


def test_knobs(t):
    """One variable with two doors; bad input changes nothing."""
    cluster = t.cluster(1)
    node = cluster[0]
    names = ("enable", "period_ms", "when", "count", "which", "from", "to", "after")
    done = node.run(["cat", f"{FOLDER}/when"], check=False)
    true("No such device" in done.err, "without a node there is nothing")
    node.up()

    def shown():
        lines = node.run(["cat", *(f"{FOLDER}/{n}" for n in names)]).out
        return dict(zip(names, lines.splitlines()))

    def refused(name, text):
        before = shown()
        done = node.run(f"echo {text} | tee {FOLDER}/{name}", check=False)
        true(done.code and "Invalid argument" in done.err,
             f"writing {text} to {name} says: {done.err}")
        equal(shown(), before, "the knobs after it")

    equal(shown(), {"enable": "[off] on", "period_ms": "1000",
                    "when": "[always] swapping idle adaptive full",
                    "count": "[percent-out] percent-used adaptive",
                    "which": "[rr] rand lrs mrs adaptive",
                    "from": "[ram] disk flash", "to": "[flash] ram disk",
                    "after": "[copy] move"}, "the knobs")
    choose(node, when="idle")
    equal(node.ctl("prefetch")["when"], "idle", "when, by netlink")
    setting(node, which="mrs", period_ms=50)
    equal(shown()["which"], "rr rand lrs [mrs] adaptive", "which, in /proc")
    equal(shown()["period_ms"], "50", "period_ms, in /proc")
    node.ctl("prefetch", "on")
    equal(shown()["enable"], "off [on]", "enable, in /proc")
    for name, text in (("when", "never"), ("period_ms", "0"), ("to", "ram"),
                       ("period_ms", "often"), ("enable", "1"),
                       ("to", "tape"), ("from", "tape")):
        refused(name, text)
    pairs_of_tiers(node, lambda: (shown()["from"], shown()["to"]))
    true("always swapping [idle] adaptive full" in node.run("dmesg").out,
         "the log lists the known names")
    refused_at_command(node)


def pairs_of_tiers(node, shown):
    """from brings its first to; any other tier may follow, the same may not."""
    lists = {"from": ("ram", "disk", "flash"), "to": ("flash", "ram", "disk")}

    def chosen(way):
        return tuple(" ".join(f"[{name}]" if name == word else name
                              for name in lists[key])
                     for key, word in zip(("from", "to"), way))
    for source, first, other in (("disk", "ram", "flash"), ("flash", "ram", "disk"),
                                 ("ram", "flash", "disk")):
        setting(node, **{"from": source})
        equal(shown(), chosen((source, first)), f"from and to, from {source}")
        setting(node, to=other)
        equal(shown(), chosen((source, other)), f"from {source} to {other}")
        said = node.refused("prefetch", "set", "to", source)
        true(f"from {source} pages can go to {first} or {other}" in said,
             f"the refusal is: {said}")
        equal(shown(), chosen((source, other)), "from and to after the refusal")
    setting(node, **{"from": "ram"})
