# SPDX-License-Identifier: GPL-2.0
"""Reserves of devices whose lenders come and go.

        node0 ------ node1     node0 has a device, node1 and node2 keep its reserve
             `------ node2
             `------ node3     keeps none
"""
from nswaptest.check import equal, wait_for
from nswaptest.rawwire import Peer
from nswaptest.served import owner

DESCRIPTION = "what a lender that is gone was to keep is asked of the others"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 120

MIB = 256           # pages


def test_index_again(t):
    """A lender restarts, and a node that keeps no reserve gets its index: what the lender
    was to keep is asked of the other one, in each session."""
    cluster = t.cluster(4)
    client, first, second, last = cluster
    for node, size in (client, "0"), (first, "16M"), (second, "16M"):
        node.up(lend=size)
    cluster.wait_connected(cluster.nodes[:3])
    client.device_del(client.device_add("8M"))      # both have sessions, so each keeps a half
    name = client.ctl("device", "add", "--size", "8M", "--reserve", "8M")["device"]
    equal(owner(first, client)["reserved_pages"], 4 * MIB, "pages that the first keeps")
    index = client.peers()[first.addr]["index"]
    cluster.kill(first)
    cluster.revive(first)
    first.up(lend="0")
    wait_for(lambda: client.peers().get(first.addr, {}).get("state") == "up" and
             all(p["index"] != index for p in client.ctl("peers")), 30, "its index is free")
    older = Peer(last, [client])
    try:
        wait_for(lambda: client.peers().get(last.addr, {}).get("state") == "up", 20,
                 "a session with a node that knows no reserves")
        equal(client.peers()[last.addr]["index"], index, "its index")
        cluster.cut(client, second)
        wait_for(lambda: client.peers()[second.addr]["state"] != "up", 20, "it is suspected")
        cluster.heal(client, second)
        wait_for(lambda: client.devices()[0]["reserved_bytes"] == 8 << 20, 20,
                 "the second keeps all of it")
        client.device_del(name)
    finally:
        older.close()
