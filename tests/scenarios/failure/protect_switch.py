# SPDX-License-Identifier: GPL-2.0
"""One protection instead of another: a page has the old one until it has the new one.

        node0 ------ node1 … node4     any one of these may die at any moment
          |
        home
"""
import time

from nswaptest.check import at_most, equal, hold, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

mirror = sibling("protect_mirror")
fill = sibling("failures").fill

DESCRIPTION = "pages of a device whose protection is changed outlive a peer"
SUITES = ("lab",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 200

SLOTS = 2048
ESTIMATE = 16   # pages by which the number of exposed ones may be off
STRIPPED = 2    # seconds in which second copies of so many pages go, if nothing keeps them


def start(t, home, protect, **options):
    """A client with a protected device that has a home, and four servers."""
    cluster = t.cluster(5)
    cluster.up(**{"lend": "64M", "dead_after": 2, **options})
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("32M", home=home.path)
    client.ctl("device", "protect", dev, protect)
    return cluster, client, dev


def change(client, dev, protect, mib_s):
    """The device's protection is another; pages are brought under it at this rate."""
    client.ctl("set", "protect_mib_s", mib_s)
    client.ctl("device", "protect", dev, protect, "--no-wait")


def ends(cluster, client, dev):
    """All is protected, and freed with the device."""
    client.ctl("set", "protect_mib_s", 64)
    mirror.protected(client, 60)
    client.device_del(dev)
    wait_for(lambda: not cluster.held_pages([n for n in cluster if n.alive]), 30,
             "no page is held")


def from_mirror(t, protect):
    """A peer dies before any page has the new protection: no page is lost."""
    with disk(32) as home:
        cluster, client, dev = start(t, home, "mirror")
        with fill(client, dev, t.seed, SLOTS) as slots:
            mirror.held(cluster, 2 * SLOTS)
            change(client, dev, protect, 0)
            hold(STRIPPED)
            equal(cluster.held_pages(), 2 * SLOTS, "pages held: both copies of each")
            cluster.kill(cluster[1])
            mirror.all_right(client, slots)
            client.ctl("set", "protect_mib_s", 64)
            mirror.protected(client, 60)
            cluster.kill(cluster[2])
            mirror.all_right(client, slots)
        ends(cluster, client, dev)


def test_mirror_to_home(t):
    """Second copies stay until home has the pages."""
    from_mirror(t, "home")


def test_mirror_to_parity(t):
    """Second copies stay until the pages are in groups."""
    from_mirror(t, "parity:2+1")


def test_too_few(t):
    """One of two peers falls silent before pages are in groups, and is dead later: a silent peer
    is not one without room, so second copies stay."""
    cluster, client, dev = mirror.start(t, servers=2, dead_after=4)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.held(cluster, 2 * SLOTS)
        change(client, dev, "parity:2+1", 0)
        cluster.isolate(cluster[1])
        wait_for(lambda: client.peers()[cluster[1].addr]["state"] == "dead", 30,
                 "the peer is taken for dead")
        mirror.all_right(client, slots)
        cluster.heal(cluster[1])
        cluster.wait_connected([client, cluster[1]])
    ends(cluster, client, dev)


def test_crowded(t):
    """Peers are full of both copies: second ones make room for groups."""
    cluster, client, dev = mirror.start(t, servers=4)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.held(cluster, 2 * SLOTS)
        for server in cluster.nodes[1:]:
            server.ctl("lend", f"{server.stat()['server']['held_pages'] * 4}K")
        change(client, dev, "parity:2+1", 64)
        # the last ones may be where all room is by then, and have no second peer
        wait_for(lambda: mirror.exposed(client) < SLOTS // 2, 60, "most pages are in groups")
        for server in cluster.nodes[1:]:
            server.ctl("lend", "64M")
        mirror.protected(client, 60)
        mirror.all_right(client, slots)
    ends(cluster, client, dev)


def from_parity(t, protect):
    """Pages leave their groups for another protection slowly: none is exposed meanwhile, and
    when a peer dies in the middle none is lost."""
    with disk(32) as home:
        cluster, client, dev = start(t, home, "parity:2+1")
        with fill(client, dev, t.seed, SLOTS) as slots:
            mirror.protected(client)
            change(client, dev, protect, 2)
            seen, until = [], time.monotonic() + 2
            while time.monotonic() < until or len(seen) < 8:
                seen.append(mirror.exposed(client))
            # an estimate; hundreds if pages are brought unprotected
            at_most(max(seen), ESTIMATE, "the most exposed pages")
            cluster.kill(cluster[1])
            mirror.all_right(client, slots)
            client.ctl("set", "protect_mib_s", 64)
            mirror.protected(client, 60)
            mirror.all_right(client, slots)
        ends(cluster, client, dev)


def test_parity_to_mirror(t):
    """They get both copies as they leave."""
    from_parity(t, "mirror")


def test_parity_to_home(t):
    """They are in RAM here until they are at home."""
    from_parity(t, "home")


def test_first_silent(t):
    """A page's first peer is dead, and not back, when home is to protect a mirrored device:
    home gets it from the second one."""
    with disk(32) as home:
        cluster, client, dev = start(t, home, "mirror")
        with Slots(dev, t.seed) as slots:
            for first in range(1, SLOTS, 32):
                slots.write(first, 32)
            mirror.held(cluster, 2 * SLOTS)
            client.ctl("set", "protect_mib_s", 0)
            cluster.isolate(cluster[1])
            wait_for(lambda: client.peers()[cluster[1].addr]["state"] == "dead", 20,
                     "the peer is taken for dead")
            change(client, dev, "home", 64)
            mirror.protected(client, 30)
            cluster.kill(cluster[2])
            mirror.all_right(client, slots)
            cluster.heal(cluster[1])
            cluster.wait_connected([client, cluster[1]])
        ends(cluster, client, dev)
