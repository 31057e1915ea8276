# SPDX-License-Identifier: GPL-2.0
"""Protection by mirror: two peers hold each page, and any one may go.

        node0 ------ node1        node0's pages are each on two of the others
          |  `------ node2
          `--------- node3 ...
"""
import random
import threading
import time

from nswaptest.check import Unmet, at_least, at_most, equal, hold, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of, state_of

fill = sibling("failures").fill

DESCRIPTION = "pages of a mirrored device outlive one peer after the other"
SUITES = ("lab",)
LONG = ("killed_while_swapping", "first_dies_before_second", "first_dies_late",
        "first_lives")
NEEDS = ("module", "inject", "progs")
TIMEOUT = 300

SLOTS = 2048        # written in most tests


def start(t, servers=3, size="32M", protect="mirror", lend="64M", **options):
    """A client with a mirrored device, and its servers."""
    cluster = t.cluster(1 + servers)
    cluster.up(lend=lend, **{"dead_after": 2, **options})
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add(size)
    if protect:
        client.ctl("device", "protect", dev, protect)
    return cluster, client, dev


def exposed(client):
    """Exposed pages of the client's device."""
    return client.devices()[0]["exposed_pages"]


def protected(client, seconds=30):
    """Wait until no page is exposed."""
    wait_for(lambda: exposed(client) == 0, seconds, "no page is exposed")


def all_right(client, slots):
    """Every slot holds what was written last; no read has failed."""
    equal(slots.compare(), (len(slots.count), 0, 0),
          "right, wrong, unreadable slots")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")


def held(cluster, pages, seconds=30):
    """Servers come to hold this many pages: what the owner records."""
    wait_for(lambda: cluster.held_pages() == pages, seconds,
             f"{pages} pages are held")


def rewrite(slots):
    """Some pages once more, others freed of their old copies by that."""
    for first in range(1, SLOTS // 2, 64):
        slots.write(first, 8)


def test_two_places(t):
    """Each page is on two peers when its page-out ends, also when it is
    rewritten; all is freed in the end."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        equal(exposed(client), 0, "exposed pages")
        rewrite(slots)
        equal(exposed(client), 0, "exposed pages after a rewrite")
        held(cluster, 2 * SLOTS)
        for node in cluster.nodes[1:]:
            at_most(node.stat()["server"]["held_pages"], SLOTS,
                    "pages on one peer: never both copies")
        at_least(client.stat()["client"]["pages_mirrored"], SLOTS,
                 "second copies")
        all_right(client, slots)
    client.device_del(dev)
    held(cluster, 0)


def test_one_after_the_other(t):
    """A peer dies and no read fails; its pages get new copies on the others,
    so that the next one may die as well."""
    cluster, client, dev = start(t, servers=4)
    with fill(client, dev, t.seed, SLOTS) as slots:
        rewrite(slots)
        for victim in (cluster[1], cluster[2]):
            cluster.kill(victim)
            all_right(client, slots)
            wait_for(lambda: client.peers()[victim.addr]["state"] == "dead" or
                     not client.peers()[victim.addr]["slots"], 20,
                     "the peer is taken for dead")
            protected(client)
            rewrite(slots)
            all_right(client, slots)
        # what was rewritten is freed a little later
        wait_for(lambda: cluster.held_pages(cluster.nodes[3:]) == 2 * SLOTS, 30,
                 "each page is on the two that are left, and none twice")
    client.device_del(dev)


def test_back_again(t):
    """A peer that was killed comes back empty, one that was cut off comes back
    with its pages: both are used again, and hold what is recorded."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        cluster.kill(cluster[1])
        rewrite(slots)
        cluster.revive(cluster[1])
        cluster[1].up(lend="64M", dead_after=2)
        cluster.wait_connected([client, cluster[1]])
        protected(client)
        all_right(client, slots)
        held(cluster, 2 * SLOTS)
        cluster.cut(client, cluster[2])
        protected(client)
        all_right(client, slots)
        cluster.heal(client, cluster[2])
        cluster.wait_connected([client, cluster[2]])
        rewrite(slots)
        protected(client)
        held(cluster, 2 * SLOTS)
        cluster.kill(cluster[3])
        all_right(client, slots)
    client.device_del(dev)


def test_beyond(t):
    """Both peers of some pages die at once: exactly these pages are lost."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        client.ctl("set", "protect_mib_s", "0")
        here = cluster[3].stat()["server"]["held_pages"]
        cluster.kill(cluster[1])
        cluster.kill(cluster[2])
        wait_for(lambda: sum(p["state"] == "dead"
                             for p in client.peers().values()) == 2, 30,
                 "two peers are dead")
        right, wrong, unreadable = slots.compare()
        t.log(f"{here} pages had a copy on the third peer")
        equal((right, wrong, unreadable), (here, 0, SLOTS - here),
              "right, wrong, unreadable slots")
    client.device_del(dev)


def test_given_back(t):
    """Lenders take their RAM back: copies move, and never to where the other
    is; with no other place left, one copy is given up."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        cluster[1].ctl("lend", "0")
        wait_for(lambda: cluster[1].stat()["server"]["held_pages"] == 0, 30,
                 "all pages have moved")
        protected(client)
        held(cluster, 2 * SLOTS)
        all_right(client, slots)
        cluster[2].ctl("lend", "0")
        wait_for(lambda: cluster[2].stat()["server"]["held_pages"] == 0, 30,
                 "all pages have moved again")
        equal(exposed(client), SLOTS, "exposed pages on the one that is left")
        all_right(client, slots)
        cluster[1].ctl("lend", "64M")
        protected(client)
        cluster.kill(cluster[3])
        all_right(client, slots)
    client.device_del(dev)


def test_turned_on(t):
    """Protection is turned on while a device is in use, with progress, off,
    which gives the RAM back, and on again."""
    cluster, client, dev = start(t, protect=None)
    with fill(client, dev, t.seed, SLOTS) as slots:
        equal(exposed(client), SLOTS, "exposed pages")
        held(cluster, SLOTS)
        client.ctl("device", "protect", dev, "mirror")
        equal(exposed(client), 0, "exposed pages")
        held(cluster, 2 * SLOTS)
        rewrite(slots)
        client.ctl("device", "protect", dev, "none")
        held(cluster, SLOTS)
        rewrite(slots)
        all_right(client, slots)
        client.ctl("device", "protect", dev, "mirror")
        cluster.kill(cluster[3])
        all_right(client, slots)
    client.device_del(dev)


def test_too_few(t):
    """With one peer all pages are exposed, and page-outs do not wait; a second
    one comes and they are protected."""
    cluster = t.cluster(3)
    client = cluster[0]
    for node in cluster.nodes[:2]:
        node.up(lend="64M", dead_after=2)
    cluster.wait_connected(cluster.nodes[:2])
    dev = client.device_add("32M")
    client.ctl("device", "protect", dev, "mirror", "--no-wait")
    with fill(client, dev, t.seed, SLOTS) as slots:
        equal(exposed(client), SLOTS, "exposed pages")
        cluster[2].up(lend="64M", dead_after=2)
        protected(client)
        cluster.kill(cluster[1])
        all_right(client, slots)
    client.device_del(dev)


def first_dies(t, timeout_ms, places):
    """Page-outs of these slots have one copy and wait for another peer, which is silent; the
    peer of that copy dies, and the other one is back."""
    cluster, client, dev = start(t, servers=2, size="8M", dead_after=30)
    client.ctl("set", "store_timeout_ms", timeout_ms)
    client.ctl("set", "silent_ms", 60000)
    # the first copy goes to the other one
    client.ctl("policy", "place", "most-free")
    cluster[1].ctl("lend", "16M")
    wait_for(lambda: client.peers()[cluster[1].addr]["lent_pages"] == 4096, 10,
             "the owner knows that one lends less")
    with Slots(dev, t.seed) as slots:
        cluster.isolate(cluster[1])
        writers = [threading.Thread(target=slots.write, args=(slot, 1)) for slot in places]
        for writer in writers:
            writer.start()
        wait_for(lambda: cluster[2].stat()["server"]["held_pages"] == len(places), 10,
                 "the first copies are there")
        began = time.monotonic()
        cluster.isolate(cluster[2])
        wait_for(lambda: client.peers()[cluster[2].addr]["state"] != "up", 20,
                 "their peer is not up any more")
        if not all(writer.is_alive() for writer in writers):
            raise Unmet("page-outs ended with one copy, before its peer was cut off or later")
        cluster.heal(cluster[1])
        wait_for(lambda: client.peers()[cluster[1].addr]["state"] == "up", 20,
                 "the other one is back")
        # it is not up after 4 s at the least, and then they have as much time as at first
        if time.monotonic() - began > 3.5 + 4 * timeout_ms / 1000:
            raise Unmet("the other one was not back in time")
        cluster.kill(cluster[2])
        for writer in writers:
            writer.join(30)
        equal([writer.is_alive() for writer in writers], [False] * len(places),
              "do the page-outs go on")
        all_right(client, slots)
    client.device_del(dev)


def test_first_dies_before_second(t):
    """A page-out's only copy is at a peer that dies: it was not heard meanwhile, so the page is
    not recorded there alone, but brought to the other one, which is back."""
    # A second copy is waited for for so long; a peer that is silent for 4 s gets a new session.
    first_dies(t, 3000, (1,))


def test_first_dies_late(t):
    """Several page-outs at once, which have already waited for longer than a page-out may: they
    are brought to the other one all the same."""
    first_dies(t, 1000, range(1, 64, 8))


def test_first_lives(t):
    """A page-out has one copy, and another peer is silent: the peer of that copy answers
    when it is asked, so it is kept and the page exposed."""
    cluster, client, dev = start(t, servers=2, size="8M")
    client.ctl("set", "store_timeout_ms", 1000)
    client.ctl("set", "silent_ms", 60000)
    with Slots(dev, t.seed) as slots:
        cluster.isolate(cluster[1])
        before = client.stat()["client"]["moved"]
        slots.write(1, 1)
        equal(exposed(client), 1, "exposed pages")
        # it may have gone to the silent one first, which was given up
        at_most(client.stat()["client"]["moved"] - before, 1, "copies given up")
        equal(cluster[2].stat()["server"]["held_pages"], 1, "pages where it was kept")
        equal(slots.right(1), True, "the page is read")
    cluster.heal()
    client.device_del(dev)


def test_one_full(t):
    """A peer dies, and one of the two that are left is full: what that one has gets copies at
    the other one at once, though what the other one has must stay exposed."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        held(cluster, 2 * SLOTS)
        client.ctl("set", "protect_mib_s", "0")
        roomy, full, dying = cluster.nodes[1:]
        has = {node: node.stat()["server"]["held_pages"] for node in cluster.nodes[1:]}
        full.ctl("lend", f"{has[full] * 4}K")
        wait_for(lambda: client.peers()[full.addr]["lent_pages"] == has[full], 10,
                 "the owner knows that it is full")
        cluster.kill(dying)
        wait_for(lambda: exposed(client) == has[dying], 20, "the peer is taken for dead")
        stay = (has[roomy] + has[dying] - has[full]) // 2
        at_least(stay, SLOTS // 8, "pages that are at the one with room alone")
        at_least(has[dying] - stay, SLOTS // 8, "pages that are at the full one alone")
        client.ctl("set", "protect_mib_s", "64")
        wait_for(lambda: exposed(client) <= stay, 15, "what has room is protected")
        full.ctl("lend", "64M")
        protected(client)
        all_right(client, slots)
    client.device_del(dev)


def test_both_silent(t):
    """Both peers fall silent, and one of them is heard again only after dead_after: it has
    been waited for as long as the first one, and no read fails."""
    cluster, client, dev = start(t, servers=2)
    # TCP tries again some 1.7 s and 3.4 to 5 s after it was cut off; silent for 4 s, it gets a
    # new session. It is healed between, and either comes before twice this is over
    client.ctl("set", "dead_after_ms", 2600)
    with fill(client, dev, t.seed, 64) as slots:
        cluster.isolate(cluster[1])
        began, right = time.monotonic(), []
        cluster.isolate(cluster[2])
        reader = threading.Thread(target=lambda: right.append(slots.right(1)))
        reader.start()
        hold(2.8)
        cluster.heal(cluster[2])
        took = time.monotonic() - began
        reader.join(30)
        if not right and took > 3.8:
            raise Unmet(f"the other one was healed after {took:.1f} s, and may have been dead")
        equal(right, [True], "pages that were right")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        cluster.heal()
        cluster.wait_connected([client, cluster[1]])
        all_right(client, slots)
    client.device_del(dev)


def test_misses(t):
    """One place does not have its copy, and is asked twice; the other, which says
    so once, is asked again as well and the page is read."""
    cluster = t.cluster(4, inject=True)
    cluster.up(lend="64M", dead_after=2)
    client = cluster[0]
    dev = client.device_add("32M")
    client.ctl("device", "protect", dev, "mirror")
    with fill(client, dev, t.seed, 64) as slots:
        client.ctl("set", "protect_mib_s", "0")
        for slot in range(1, 9):
            client.inject(miss=3)
            equal(slots.right(slot), True, f"slot {slot} is read")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        client.ctl("set", "protect_mib_s", "64")
        protected(client)
        all_right(client, slots)
    client.device_del(dev)


def outlive(cluster, client, dev, seed, log):
    """A program swaps while one server after the other dies, is cut off, or gives its
    RAM back: it ends without a wrong page or a failed read, and all is freed."""
    client.swapon(dev)
    out = cluster.scratch / "eater.json"
    program = client.popen(eater(client, 40, seconds=30, order="random",
                                 out=out), memory_max="20M")
    rnd = random.Random(seed)
    for what in ("kill", "cut", "lend", "kill", "cut"):
        wait_for(lambda: client.stat()["client"]["pages_in"] > 500 and
                 state_of(out).get("accesses", 0) > 0, 30,
                 "the program swaps")
        protected(client)
        victim = cluster[rnd.randrange(1, len(cluster.nodes))]
        log(f"{what} {victim}")
        if what == "kill":
            cluster.kill(victim)
            hold(1 + 3 * rnd.random())
            cluster.revive(victim)
            victim.up(lend="64M", dead_after=2)
        elif what == "cut":
            cluster.isolate(victim)
            hold(1 + 3 * rnd.random())
            cluster.heal(victim)
        else:
            victim.ctl("lend", "0")
            hold(1 + rnd.random())
            victim.ctl("lend", "64M")
        cluster.wait_connected([client, victim])
    result = result_of(program.wait(150))
    equal(result["wrong_pages"], 0, "wrong pages")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")
    client.swapoff(dev)
    client.device_del(dev)
    held(cluster, 0)


def test_killed_while_swapping(t):
    """One peer after the other dies, is cut off, or gives its RAM back while a
    program swaps: it ends without a wrong page or a failed read."""
    cluster, client, dev = start(t, servers=4, size="96M")
    outlive(cluster, client, dev, t.seed, t.log)
