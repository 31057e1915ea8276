# SPDX-License-Identifier: GPL-2.0
"""Hundreds of members at one lender: what they hold there, and whom they keep waiting.

        node0, the lender ---- node1: a member with a device
                          '--- node2: 200 owners by hand, see tests/nswaptest/rawwire.py

and, with NSWAP_FULL=1, 200 nodes.
"""
import pathlib
import re
import time

from nswaptest.check import at_least, at_most, equal, hold, wait_for
from nswaptest.lab import Node
from nswaptest.rawwire import (CONTROL, LOAD, LOADS, OK, PAGE, PING, PONG, PORT, STORE, STORES,
                               Link, Message)
from nswaptest.served import threads
from nswaptest.work import Slots

DESCRIPTION = "200 owners at rest take no thread each, and none holds up another"
SUITES = ("lab",)
ONLY_FULL = {"nodes": "200 nodes take minutes"}
NEEDS = ("module", "progs")
TIMEOUT = 600

OWNERS = 200
FEW = 16            # threads that are kept without any owner
ACTIVE = 16         # that may be at work just now, or were a moment ago
REST_S = 10
PAGES = 512
# nswap/pure/buffers.c: of all connections of a kernel with 2 GiB or less, and the least of one
BUFFERS, BUFFER_LEAST = 64 << 20, 64 << 10


def memory():
    """Bytes of this kernel in use, of these in slabs and in stacks."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    now = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
    return {"used": now["MemTotal"] - now["MemFree"] - now["Cached"] - now["Buffers"],
            "slab": now["Slab"], "stacks": now["KernelStack"]}


def buffers(node):
    """What the buffers of a node's connections may hold together, in bytes, and how many
    connections there are."""
    said = node.run(["ss", "-tnmH", "state", "established", "sport", "=", f":{PORT}"]).out
    each = re.findall(r"rb(\d+),t\d+,tb(\d+)", said)
    return sum(int(size) for pair in each for size in pair), len(each)


def owner(node, lender, number):
    """The three connections of an owner by hand."""
    links = []
    for kind in (CONTROL, LOADS, STORES):
        link = Link(node, lender.addr)
        link.who = 1000 + number
        equal(link.hello(kind=kind).status, OK, f"hello of owner {number}")
        links.append(link)
    return links


def halves():
    """What begins on each kind of connection and does not go on."""
    return (Message(PING).packed()[:40], Message(LOAD, bytes(128), 32).packed()[:100],
            Message(STORE, bytes(8 * (4 + PAGE)), 8).packed()[:72 + 32 + PAGE])


def works(node, t):
    """A node's pages are written and read as ever."""
    dev = node.device_add("4M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES, 32):
            slots.write(first, 32)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages")
    node.device_del(dev)


def test_owners(t):
    """200 owners of three connections each rest without a thread, and are served when
    they speak; when some have sent half a message on each connection, another owner's
    pages are written and read as before, and the threads of those end again."""
    cluster = t.cluster(3)
    lender, member, last = cluster
    lender.up(lend="128M")
    member.up(lend="0")
    cluster.wait_connected([lender, member])
    then = memory()
    owners = [owner(last, lender, number) for number in range(OWNERS)]
    at_most(len(threads(lender)), FEW + ACTIVE, "threads with 200 owners")
    taken, links = buffers(lender)
    t.log(f"{links} connections have buffers of {taken >> 10} KiB together")
    at_least(links, OWNERS, "connections")
    at_most(taken, BUFFERS + links * 2 * BUFFER_LEAST, "bytes of all buffers together")
    now = memory()
    t.log(f"{len(threads(lender))} threads; an owner's three connections: " + ", ".join(
        f"{(now[key] - then[key]) / OWNERS / 1024:.0f} KiB {key}" for key in now))
    for control, *_ in owners[::10]:
        equal(control.ask(Message(PING)).kind, PONG, "answer to an owner's ping")
    works(member, t)
    for links in owners[:20]:
        for link, half in zip(links, halves()):
            link.sock.sendall(half)
    wait_for(lambda: len(threads(lender)) >= FEW + 8, 10, "those within pages take threads")
    works(member, t)
    for links in owners:
        for link in links:
            link.close()
    wait_for(lambda: lender.stat()["server"]["owners"] <= 1, 20, "the owners are gone")
    wait_for(lambda: len(threads(lender)) <= FEW + 2, 40, "so are their threads")
    works(member, t)


def at_rest(t, lender, members, before, most=FEW + ACTIVE):
    """What 200 members at rest cost."""
    ticks, then = threads(lender), time.monotonic()
    hold(REST_S)
    now = threads(lender)
    spent = sum(thread.ticks - (ticks[task].ticks if task in ticks else 0)
                for task, thread in now.items()) / 100
    after = memory()
    t.log(f"{len(now)} threads of the lender, {spent / (time.monotonic() - then):.2%} of a "
          "processor, " + ", ".join(
              f"{(after[key] - before[key]) / members / 1024:.0f} KiB {key} a member, "
              "both ends" for key in after))
    at_most(len(now), most, "threads of the lender")
    at_most(spent, 0.5 * REST_S, "seconds of processor time")


def test_nodes(t):
    """200 nodes with a device and a few pages each."""
    cluster = t.cluster(2)
    for index in range(2, OWNERS + 1):
        node = Node(cluster, index)
        node.create()
        cluster.nodes.append(node)
    lender, others = cluster[0], cluster.nodes[1:]
    lender.up(lend="64M", no_broadcast=True, peers=others)
    wait_for(lambda: lender.stat()["server"]["set_aside_pages"] >= 64 << 8, 60,
             "the lender has set its pages aside")
    before = memory()
    for node in others:
        node.up(lend="0", no_broadcast=True, peers=[lender])
    at_rest(t, lender, OWNERS, before)
    for node in others:
        dev = node.device_add("1M")
        with Slots(dev, t.seed) as slots:
            slots.write(1, 16)
            equal(slots.compare(), (16, 0, 0), "right, wrong, unreadable pages")
    # those with devices are asked now and then whether they are there
    at_rest(t, lender, OWNERS, before, OWNERS // 2)
    at_least(lender.stat()["server"]["owners"], OWNERS, "owners")
    at_most((memory()["used"] - before["used"]) / OWNERS / 1024, 8192,
            "KiB a member, both ends")
