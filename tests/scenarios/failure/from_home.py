# SPDX-License-Identifier: GPL-2.0
"""Pages of a protected device move out from home to peers, and one of them dies.

        node0 ------ node1 … node4     they begin to lend when all pages are at home
          |
        home

Until such a page has its second place or its cell, home has it too.
"""
from nswaptest.check import equal, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

start = sibling("protect_switch").start

DESCRIPTION = "a page that comes from home outlives its peer before it is repaired"
SUITES = ("lab",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 120

SLOTS = 1024


def all_moved(client, slots):
    """Read pages until all have moved out: the device is in use."""
    def moved():
        slots.right(1)
        return client.devices()[0]["slots_remote"] == len(slots.count)
    wait_for(moved, 40, "all pages moved out")


def moved_and_lost(t, protect):
    """The peer that has most of them dies when all have moved out to one place each; then they are
    repaired."""
    with disk(64) as home:
        cluster, client, dev = start(t, home, protect, lend="0")
        client.ctl("set", "protect_mib_s", 0)
        with Slots(dev, t.seed) as slots:
            for slot in range(1, SLOTS):
                slots.write(slot)
            right = (len(slots.count), 0, 0)
            equal(client.devices()[0]["slots_home"], right[0], "slots at home")
            for server in cluster.nodes[1:]:
                server.ctl("lend", "32M")
            client.wait_sessions()
            all_moved(client, slots)
            cluster.kill(max(cluster.nodes[1:], key=lambda n: cluster.held_pages([n])))
            equal(slots.compare(), right, "right, wrong, unreadable pages")
            client.ctl("set", "protect_mib_s", 64)
            wait_for(lambda: client.devices()[0]["exposed_pages"] == 0, 40, "all are repaired")
            equal(slots.compare(), right, "right, wrong, unreadable pages after repair")
        client.device_del(dev)


def test_mirror(t):
    """The device has a mirror."""
    moved_and_lost(t, "mirror")


def test_parity(t):
    """The device has parity."""
    moved_and_lost(t, "parity:2+1")
