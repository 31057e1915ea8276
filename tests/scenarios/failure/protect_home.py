# SPDX-License-Identifier: GPL-2.0
"""Protection by home: a peer dies and no page is lost.

        node0 ------ node1        node0 keeps its pages on node1 and node2,
          |  `------ node2        and all of them at home as well
        home: a scratch disk, whose errors and delays the test decides
"""
import random
import threading

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of, state_of

fill = sibling("failures").fill

DESCRIPTION = "pages of a protected device outlive the peers that hold them"
SUITES = ("lab",)
LONG = ("killed_while_swapping", "hangs")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 300

LAG = 1024
SLOTS = 2048        # written in most tests


def start(t, home, size="32M", protect="home", **options):
    """A client with a protected device, and its servers."""
    cluster = t.cluster(3)
    cluster.up(lend="64M", **{"dead_after": 3, **options})
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add(size, home=home.path)
    if protect:
        client.ctl("device", "protect", dev, protect)
    return cluster, client, dev


def state(client):
    """Protection, exposed pages and lag of the client's device."""
    device = client.devices()[0]
    return device["protect"], device["exposed_pages"], device["lag_pages"]


def protected(client, seconds=30):
    """Wait until no page is exposed and home has them all."""
    wait_for(lambda: state(client)[1:] == (0, 0), seconds,
             "all pages are at home as well")


def all_right(client, slots):
    """Every slot holds what was written last; no read has failed."""
    equal(slots.compare(), (len(slots.count), 0, 0),
          "right, wrong, unreadable slots")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")


def test_peer_dies(t):
    """A peer is killed: its pages are read from home, none is wrong, none
    fails; rewritten ones are the new ones."""
    with disk(64) as home:
        cluster, client, dev = start(t, home)
        with fill(client, dev, t.seed, SLOTS) as slots:
            for first in range(1, 1024, 64):
                slots.write(first, 8)
            protected(client)
            equal(state(client)[0], "home", "protection")
            victim = cluster[1]
            there = victim.stat()["server"]["held_pages"]
            at_least(there, 500, "pages on the peer")
            cluster.kill(victim)
            all_right(client, slots)
            at_least(client.stat()["client"]["pages_home_in"], there - 64,
                     "pages read from home")
            cluster.revive(victim)
            victim.up(lend="64M")
            epoch = victim.stat()["node"]["epoch"]
            wait_for(lambda: client.peers()[victim.addr]["epoch"] == epoch and
                     client.peers()[victim.addr]["state"] == "up", 20,
                     "a session with the new epoch")
            equal(client.devices()[0]["slots_lost"], 0, "lost pages")
            all_right(client, slots)
        client.device_del(dev)


def test_dies_behind(t):
    """A peer dies while home lags behind: what is not home yet is in RAM, and
    read once home answers."""
    with disk(64) as home:
        cluster, client, dev = start(t, home)
        with fill(client, dev, t.seed, SLOTS) as slots:
            protected(client)
            with home.held_up():
                for first in range(1, 512, 32):
                    slots.write(first, 32)
                lag = state(client)[2]
                t.log(f"home lags behind by {lag} pages")
                at_least(lag, 256, "pages that home lags behind")
                cluster.kill(cluster[1])
                hold(0.5)
            all_right(client, slots)
        client.device_del(dev)


def test_bounded(t):
    """Home does not answer: page-outs wait for it, the lag is bounded, and none
    is exposed."""
    with disk(64) as home:
        _, client, dev = start(t, home)
        with Slots(dev, t.seed) as slots:
            def write():
                for first in range(1, 3000, 32):
                    slots.write(first, 32)
            writer = threading.Thread(target=write)
            with home.held_up():
                writer.start()
                wait_for(lambda: state(client)[2] >= LAG - 64, 20,
                         "home lags behind as far as it may")
                hold(1)
                mode, exposed, lag = state(client)
                equal((mode, exposed), ("home", 0), "exposed pages")
                at_most(lag, LAG, "pages that home lags behind")
                true(writer.is_alive(), "page-outs do not wait for home")
            writer.join(60)
            protected(client)
            all_right(client, slots)
        client.device_del(dev)


def test_hangs(t):
    """Home hangs: page-outs go on after a while, exposed; it answers again: all
    are protected."""
    with disk(64) as home:
        _, client, dev = start(t, home)
        client.ctl("set", "store_timeout_ms", "250")
        with Slots(dev, t.seed) as slots:
            with home.held_up():
                for first in range(1, 1500, 32):
                    slots.write(first, 32)
                at_least(state(client)[1], 300, "exposed pages")
            protected(client)
            all_right(client, slots)
        client.device_del(dev)


def test_turned_on(t):
    """Protection is turned on while a device is in use, with progress, off
    and on again; bad input is refused and changes nothing."""
    with disk(64) as home:
        cluster, client, dev = start(t, home, protect=None)
        with fill(client, dev, t.seed, SLOTS) as slots:
            mode, exposed, _ = state(client)
            equal((mode, exposed), ("none", SLOTS), "protection and exposed pages")
            client.refused("device", "protect", dev, "raid")
            client.refused("device", "protect", "nswap99", "home")
            client.refused("device", "protect", dev, code=2)
            bare = client.device_add("16M")
            client.refused("device", "protect", bare, "home")
            client.device_del(bare)
            equal(state(client)[0], "none", "protection")

            client.ctl("set", "protect_mib_s", "0")
            client.ctl("device", "protect", dev, "home", "--no-wait")
            hold(1)
            equal(state(client)[:2], ("home", SLOTS), "with a rate of 0")
            client.ctl("set", "protect_mib_s", "64")
            client.ctl("device", "protect", dev, "home")
            protected(client)
            client.ctl("device", "protect", dev, "none")
            slots.write(1, 32)
            equal(state(client)[:2], ("none", SLOTS), "after it is turned off")
            client.ctl("device", "protect", dev, "home")
            cluster.kill(cluster[2])
            all_right(client, slots)
        client.device_del(dev)


def test_home_fails(t):
    """Home refuses writes: page-outs go on, exposed; it works again: they are
    protected."""
    with disk(64) as home:
        cluster, client, dev = start(t, home)
        home.fail()
        with fill(client, dev, t.seed, SLOTS) as slots:
            wait_for(lambda: state(client)[1] >= 2000, 20,
                     "pages are exposed")
            all_right(client, slots)
            home.mend()
            protected(client)
            cluster.kill(cluster[1])
            all_right(client, slots)
        client.device_del(dev)


def test_killed_while_swapping(t):
    """One peer after the other dies and comes back while a program swaps: it
    ends without a wrong page or a failed read."""
    with disk(128) as home:
        cluster, client, dev = start(t, home, size="96M")
        client.swapon(dev)
        out = cluster.scratch / "eater.json"
        program = client.popen(eater(client, 40, seconds=25, order="random",
                                     out=out), memory_max="20M")
        rnd = random.Random(t.seed)
        for _ in range(4):
            wait_for(lambda: client.stat()["client"]["pages_in"] > 500 and
                     state_of(out).get("accesses", 0) > 0, 30,
                     "the program swaps")
            victim = cluster[rnd.randrange(1, 3)]
            cluster.kill(victim)
            hold(1 + rnd.random())
            cluster.revive(victim)
            victim.up(lend="64M")
            cluster.wait_connected([client, victim])
        result = result_of(program.wait(150))
        equal(result["wrong_pages"], 0, "wrong pages")
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        client.swapoff(dev)
        client.device_del(dev)
        wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def test_given_back(t):
    """A protected device's lender takes its RAM back, and pages move: home's
    copies stay good for them."""
    with disk(64) as home:
        cluster, client, dev = start(t, home)
        with fill(client, dev, t.seed, SLOTS) as slots:
            protected(client)
            cluster[1].ctl("lend", "0")
            wait_for(lambda: cluster[1].stat()["server"]["held_pages"] == 0, 30,
                     "all pages have moved")
            equal(state(client)[1], 0, "exposed pages")
            cluster.kill(cluster[2])
            all_right(client, slots)
        client.device_del(dev)
        true(not client.devices(), "the device is gone")
