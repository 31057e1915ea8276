# SPDX-License-Identifier: GPL-2.0
"""Nodes that leave while the others have room for what they hold.

        node0 swaps ------ node1 … node5 lend; one of them goes down, moves what
                           it holds to the other four, and comes up again
"""
import struct
import time

from nswaptest.check import at_most, equal, hold, wait_for
from nswaptest.cluster import PAGE
from nswaptest.rawwire import MOVE, MOVE_ACK, MOVES, OK, Link, Message, node_id
from nswaptest.work import Slots, eater, result_of

DESCRIPTION = "a node leaves whenever the others have room for what it holds"
SUITES = ("lab",)
ONLY_FULL = {"hundred": "100 leaves take two minutes"}
NEEDS = ("module", "progs")
TIMEOUT = 400

LENDERS = 5
LENT = "16M"
SOON = 6            # seconds: less than what used to keep a leave waiting


def leave(node):
    """The node goes down, whatever it holds; seconds it took."""
    begin = time.monotonic()
    node.ctl("down", timeout=120)
    return time.monotonic() - begin


def leaves(t, turns, seconds):
    """Lenders leave one after the other under a program that swaps, and come
    back; no leave is refused, no page wrong."""
    cluster = t.cluster(1 + LENDERS)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else LENT)
    cluster.wait_connected()
    took = []
    with cluster.swap(client, "48M"):
        program = client.popen(
            eater(client, 30, passes=1, seconds=seconds, order="random",
                  seed=t.seed), memory_max="16M")
        wait_for(lambda: cluster.held_pages() > 3000, 60, "the program swaps")
        for turn in range(turns):
            node = cluster[1 + turn % LENDERS]
            took.append(leave(node))
            node.up(lend=LENT)
        result = result_of(program.wait(300))
    t.log(f"slowest leave {max(took):.1f} s of {len(took)}, {result}")
    equal(result["wrong_pages"], 0, "wrong pages")
    equal(client.stat()["client"]["read_errors"], 0, "failed reads")
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def test_one_after_the_other(t):
    """Eight leaves under a program that swaps."""
    leaves(t, 8, 8)


def test_hundred(t):
    """A hundred of them."""
    leaves(t, 100, 110)


def test_reboot(t):
    """One that goes down for a reboot is shown so, with and without a session, until it is
    back; one that just goes down is not."""
    cluster = t.cluster(3)
    cluster.up(lend="16M", dead_after=2)
    client, other, node = cluster.nodes
    dev = client.device_add("8M")

    def seen(by):
        return by.peers()[node.addr]["state"]
    node.ctl("down", "--reboot")
    for by in (client, other):
        wait_for(lambda: seen(by) == "rebooting", 10, f"{by} awaits it")
    hold(3)
    equal([seen(client), seen(other)], ["rebooting"] * 2, "how it is shown after dead_after")
    node.up(lend="16M")
    wait_for(lambda: (seen(client), seen(other)) == ("up", "new"), 15, "it is back")
    node.ctl("down")
    wait_for(lambda: (seen(client), seen(other)) == ("dead", "leaving"), 15, "it is gone")
    client.device_del(dev)


def test_unclaimed(t):
    """Pages that came in a move and that their owner never claims, since it
    has rewritten or freed them meanwhile, do not keep a node from leaving."""
    cluster = t.cluster(4)
    owner, first, second, mover = cluster.nodes
    for node in (owner, first, second):
        node.up(lend="0" if node is owner else "16M")
    cluster.wait_connected([owner, first, second])
    dev = owner.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for at in range(1, 257, 32):
            slots.write(at, 32)
        held = first.stat()["server"]["held_pages"]
        epoch = int(owner.stat()["node"]["epoch"], 16)
        link = Link(mover, first.addr)
        equal(link.hello(session=0, kind=MOVES).status, OK, "a mover's hello")
        names = b"".join(struct.pack("<QII", 1024 + i, 1, 1) for i in range(32))
        answer = link.ask(Message(
            MOVE, struct.pack("<QQ", node_id(owner.addr), epoch) + names +
            bytes(32 * PAGE), 32))
        equal(answer.kind, MOVE_ACK, "the answer to a move")
        equal(first.stat()["server"]["held_pages"], held + 32,
              "pages held, those that came in the move included")
        at_most(leave(first), SOON, "seconds that leaving took")
        link.close()
        equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable")
    owner.device_del(dev)
