# SPDX-License-Identifier: GPL-2.0
"""A kernel that does not tell of freed swap slots, as a later one may be: the module is
built as if swap_slot_free_notify() were gone.

        node0 ------ node1        node0 swaps, node1 holds its pages
"""
from nswaptest.check import at_least, equal, wait_for
from nswaptest.work import eater, result_of

DESCRIPTION = "freed slots known by discards alone"
SUITES = ("long",)
NEEDS = ("discards", "progs")
TIMEOUT = 120

CLUSTER = 256       # slots that are discarded together


def test_alone(t):
    """Programs swap, no page is wrong, and once they have ended their pages are freed at
    the peer, but for clusters that still have a used slot."""
    cluster = t.cluster(2, module=False)
    cluster.load("discards")
    cluster.up(lend="64M")
    client, server = cluster
    dev = client.device_add("64M")
    client.swapon(dev, "--discard=pages")
    for _ in range(2):
        result = result_of(client.run(eater(client, 32, passes=1), memory_max="16M",
                                      timeout=60))
        equal(result["wrong_pages"], 0, "wrong pages")
        at_least(result["pswpout"], 4096, "pages swapped out")
        wait_for(lambda: server.stat()["server"]["held_pages"] <= 2 * CLUSTER, 20,
                 "the program's pages are freed")
    client.swapoff(dev)
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")
