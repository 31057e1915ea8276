# SPDX-License-Identifier: GPL-2.0
"""Compressed devices at lenders that pack: pages of a lent MiB, and RAM given back.

        node0 ------ node1        node0 swaps, node1 lends,
             `------ node2        and so does node2
"""
from nswaptest.check import at_least, at_most, equal, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import Slots

add = sibling("compress").add

DESCRIPTION = "pages of compressed devices take less of what is lent"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 180

MIB = 256       # pages


def server(node):
    """Its counters as a server."""
    return node.stat()["server"]


def taken(slots):
    """Whether the first pages of a device are."""
    try:
        slots.write(1, 8)
    except OSError:
        return False
    return True


def test_figures(t):
    """Pages of each kind are written until no more are taken: how many a lent MiB has."""
    cluster = t.cluster(2)
    client, lender = cluster
    client.up(lend="0")
    lender.up(lend="1M")
    cluster.wait_connected()
    found = {}
    for args, data in (((), "text"), (("--compress", "lz4"), "random"),
                       (("--compress", "lz4"), "text"), (("--compress", "zstd"), "text"),
                       (("--compress", "lz4"), "mixed"), (("--compress", "zstd"), "mixed")):
        dev = add(client, "--size", "16M", *args)
        with Slots(dev, t.seed, data) as slots:
            # the client may have heard of no room yet
            wait_for(lambda: taken(slots), 10, "pages are taken")
            try:
                for slot in range(9, 16 * MIB - 8, 8):
                    slots.write(slot, 8)
            except OSError:
                for slot in range(slot, slot + 8):
                    slots.count.pop(slot, None)
            now = server(lender)
            found[args[-1:], data] = now["held_pages"]
            at_most(now["ram_pages"], MIB, "pages of RAM")
            at_least(now["held_pages"], len(slots.count), "pages held")
            equal(slots.compare(), (len(slots.count), 0, 0), "right, wrong, unreadable")
            t.log(f"{' '.join(args) or 'not compressed'}, {data}: {now['held_pages']} pages in "
                  f"{now['ram_pages']} of RAM")
        client.device_del(dev)
        wait_for(lambda: server(lender)["ram_pages"] == 0, 10, "all RAM is free again")
    at_most(found[(), "text"], MIB, "pages of text that are not compressed")
    # with LZ4 they are longer than half a page, so no two have room in one
    at_least(found[("zstd",), "text"], MIB * 5 // 4, "pages of text")
    at_least(found[("lz4",), "mixed"], MIB * 5 // 4, "mixed pages")


def test_moves(t):
    """A lender of packed pages shrinks, is drained and leaves: none is wrong, and what moves
    takes no more RAM where it comes."""
    cluster = t.cluster(3)
    client, lender, other = cluster
    client.up(lend="0")
    lender.up(lend="8M")
    cluster.wait_connected(cluster.nodes[:2])
    dev = add(client, "--size", "16M", "--compress", "lz4")
    with Slots(dev, t.seed, "mixed") as slots:
        for slot in range(1, 1025, 32):
            slots.write(slot, 32)
        before = server(lender)
        at_most(before["ram_pages"], 900, "pages of RAM for 1024 pages")
        other.up(lend="8M")
        cluster.wait_connected()
        client.wait_sessions()
        half = before["ram_pages"] // 2
        lender.ctl("lend", f"{half * 4}K")
        wait_for(lambda: server(lender)["ram_pages"] <= half, 30, "half of the RAM is back")
        now, there = server(lender), server(other)
        t.log(f"{before['held_pages']} pages in {before['ram_pages']} of RAM; then "
              f"{now['held_pages']} in {now['ram_pages']}, and {there['held_pages']} in "
              f"{there['ram_pages']} at the other node")
        equal(slots.compare(), (1024, 0, 0), "right, wrong, unreadable")
        lender.ctl("drain")
        equal(server(lender)["ram_pages"], 0, "RAM after the drain")
        lender.down()
        there = server(other)
        at_most(there["ram_pages"], before["ram_pages"] * 9 // 8, "pages of RAM there")
        for slot in range(1, 1025, 64):
            slots.write(slot, 32)
        equal(slots.compare(), (1024, 0, 0), "right, wrong, unreadable")
    client.device_del(dev)
    wait_for(lambda: server(other)["ram_pages"] == 0, 10, "all RAM is free again")
