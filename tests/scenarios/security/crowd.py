# SPDX-License-Identifier: GPL-2.0
"""A member makes up more nodes than tables have room for: it announces them, or moves their
pages.

        owner ------ lender ------ host ------ late

The host has the key of a member and runs no module; late is a member that comes up after it.
"""
import socket
import struct

from nswaptest.check import equal, wait_for
from nswaptest.netns import inside
from nswaptest.rawkeys import KeyedLink, Keys, derive
from nswaptest.rawwire import (ANNOUNCE, HAS_ALL, MOVE, MOVES, OK, PAGE, PORT, STALE,
                               Message)
from nswaptest.scenario import sibling
from nswaptest.work import Slots

keys = sibling("keys")

DESCRIPTION = "a member that makes up nodes which are none fills no table"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

PAGES = 256
NODES = 1100            # more than the 1023 of a table


def announce_all(owner, host, member):
    """Announce as many ids that are no members, with the cluster's tag and without."""
    with inside(host):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((host.addr, PORT))
    ip = socket.inet_aton(host.addr) + bytes(12)
    group = derive(member.cluster, "nswap announce")
    forged = owner.stat()["announce"]["forged"]
    sent = 0
    for ident in range(1, NODES + 1):
        body = struct.pack("<QQHHI16sQQQ", ident, 1, socket.AF_INET, PORT, 0, ip, 1 << 20,
                           1 << 20, 0)
        message = Message(ANNOUNCE, body, ident=ident)
        for tag in (bytes(16), derive(group, "nswap datagram", message.packed())[:16]):
            message.auth = tag
            udp.sendto(message.packed(), (owner.addr, PORT))
            sent += 1
        if ident % 32 == 0 or ident == NODES:
            wait_for(lambda: owner.stat()["announce"]["forged"] >= forged + sent, 5,
                     f"{sent} were heard and refused")
    udp.close()


def move_all(lender, host, member):
    """Move a page of as many owners that are no members to the lender, which takes none."""
    link = KeyedLink(host, lender.addr, member)
    equal(link.hello(session=0, kind=MOVES, features=HAS_ALL).status, OK, "its hello")
    for ident in range(1, NODES + 1):
        page = struct.pack("<QQQII", ident, 1, 1, 1, 1) + bytes(PAGE)
        answer = link.ask(Message(MOVE, page, 1))
        equal(struct.unpack("<II", answer.payload), (1, STALE), f"result for owner {ident}")
    link.close()


def members_of(cluster):
    """All are members; the first two are up: the list, and the file of each."""
    owner, lender = cluster[:2]
    members, files = cluster.scratch / "members", {}
    for node in cluster:
        files[node], public = keys.key(node, cluster)
        owner.ctl("key", "trust", members, node.name, public)
    for node, lends in ((owner, "0"), (lender, "8M")):
        node.up(lend=lends, key=files[node], members=members)
    cluster.wait_connected([owner, lender])
    return members, files


def test_refused(t):
    """The table has its members only, and one that comes later is found, and holds pages."""
    cluster = t.cluster(4)
    owner, lender, host, late = cluster
    members, files = members_of(cluster)
    dev = owner.device_add("4M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        announce_all(owner, host, Keys.of(files[host], members))
        equal(list(owner.peers()), [lender.addr], "peers")
        late.up(lend="8M", key=files[late], members=members)
        cluster.wait_connected([owner, lender, late])
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        lender.ctl("drain")
        equal((lender.stat()["server"]["held_pages"], late.stat()["server"]["held_pages"]),
              (0, PAGES), "pages at the lender, at the one that came later")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
    owner.device_del(dev)


def test_owners(t):
    """The lender's owners are members only, and one that comes later stores there."""
    cluster = t.cluster(4)
    owner, lender, host, late = cluster
    members, files = members_of(cluster)
    dev = owner.device_add("4M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 32)
        move_all(lender, host, Keys.of(files[host], members))
        equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable")
    equal(lender.stat()["server"]["owners"], 1, "owners at the lender")
    late.up(lend="0", key=files[late], members=members)
    cluster.wait_connected([lender, late])
    late_dev = late.device_add("4M")
    with Slots(late_dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
    equal(lender.stat()["server"]["owners"], 2, "owners at the lender")
    late.device_del(late_dev)
    owner.device_del(dev)
