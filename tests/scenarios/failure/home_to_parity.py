# SPDX-License-Identifier: GPL-2.0
"""A device that home protects gets parity while a peer is silent.

        node0 ------ node1        node1 falls silent, so what it holds is read from home
             `------ node2, node3, node4

Pages that are read together need not be of adjacent slots then.
"""
from nswaptest.check import equal, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

start = sibling("protect_switch").start

DESCRIPTION = "pages that home reads for groups are those of their slots"
SUITES = ("lab",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 120

SLOTS = 2000


def parity_of_home(t, step):
    """Groups of each step-th slot, a quarter of which is read from home: all are right."""
    with disk(64) as home:
        cluster, client, dev = start(t, home, "home", dead_after=60)
        with Slots(dev, t.seed) as slots:
            for slot in range(1, SLOTS, step):
                slots.write(slot)
            right = (len(slots.count), 0, 0)
            wait_for(lambda: client.devices()[0]["lag_pages"] == 0, 30, "home has all")
            cluster.isolate(cluster[1])
            wait_for(lambda: client.peers()[cluster[1].addr]["state"] != "up", 20,
                     "it is suspected")
            client.ctl("device", "protect", dev, "parity:2+1", "--no-wait")
            wait_for(lambda: client.devices()[0]["exposed_pages"] == 0, 60, "all are in groups")
            equal(slots.compare(), right, "right, wrong, unreadable pages")
            cluster.heal(cluster[1])
        client.device_del(dev)


def test_every_second(t):
    """Every second slot is in use."""
    parity_of_home(t, 2)


def test_all(t):
    """Every slot is."""
    parity_of_home(t, 1)
