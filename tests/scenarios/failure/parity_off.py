# SPDX-License-Identifier: GPL-2.0
"""Rows that are open, all of whose pages were freed, when parity is turned off.

        node0 ------ node1, node2, node3, node4
"""
from nswaptest.check import at_least, wait_for
from nswaptest.work import Slots

DESCRIPTION = "peers get their RAM back after parity was turned off"
SUITES = ("lab",)
NEEDS = ("module", "progs", "blkdiscard")
TIMEOUT = 120


def test_open_rows(t):
    """They are given up: three peers of four can be drained."""
    cluster = t.cluster(5)
    cluster.up(lend="64M", dead_after=30)
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("32M")
    client.ctl("device", "protect", dev, "parity:2+1")
    with Slots(dev, t.seed) as slots:
        for slot in range(1, 20):
            slots.write(slot)
        client.discard(dev)
        at_least(cluster.held_pages(), 1, "pages of open rows")
        client.ctl("device", "protect", dev, "none")
        for server in cluster.nodes[1:4]:
            server.ctl("lend", "0")
        for server in cluster.nodes[1:4]:
            wait_for(lambda server=server: not server.stat()["server"]["held_pages"], 30,
                     f"{server} is drained")
    client.device_del(dev)
