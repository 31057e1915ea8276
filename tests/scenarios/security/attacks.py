# SPDX-License-Identifier: GPL-2.0
"""Attacks on nodes with keys, by a program that speaks the protocol.

        owner ------ lender ------ hostile     the last is no node of the module

The owner swaps to the lender all the time; whatever the program tries, with a member's
key or without, nothing of the owner's is read, replaced, dropped or moved.
"""
import os
import socket
import struct

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.rawkeys import KeyedLink, Keys, derive
from nswaptest.netns import inside
from nswaptest.rawwire import (ANNOUNCE, CONTROL, FREE, HOLD_ASK, HOLD_LIST, LOAD, LOADS,
                               MOVED, NOT_HELD, OK, PING, PONG, PORT, TELLS, Link,
                               Message, hello)
from nswaptest.scenario import sibling
from nswaptest.work import Slots

keys = sibling("keys")

DESCRIPTION = "attacks on nodes with keys, by strangers and by members"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

PAGES = 256
NODES = 1100            # more than the 1023 of a table


class Victims:
    """An owner that has pages at a lender, and a hostile host that has the key of a
    member; so many others that are members and not up."""

    def __init__(self, t, others=0):
        self.cluster = t.cluster(3 + others)
        self.owner, self.lender, self.host = self.cluster.nodes[:3]
        self.members = self.cluster.scratch / "members"
        self.files = files = {}
        for node in self.cluster:
            files[node], public = keys.key(node, self.cluster)
            self.owner.ctl("key", "trust", self.members, node.name, public)
        self.owner.up(lend="0", key=files[self.owner], members=self.members)
        self.lender.up(lend="8M", key=files[self.lender], members=self.members)
        self.cluster.wait_connected([self.owner, self.lender])
        self.dev = self.owner.device_add("4M")
        self.slots = Slots(self.dev, t.seed)
        self.slots.__enter__()
        for first in range(1, PAGES + 1, 32):
            self.slots.write(first, 32)
        self.member = Keys.of(files[self.host], self.members)
        info = self.owner.stat()["node"]
        self.id, self.epoch = int(info["id"], 16), int(info["epoch"], 16)
        self.sessions = self.owner.stat()["client"]["sessions"]

    def refused(self):
        """Connections that the lender refused."""
        return self.lender.stat()["server"]["keys_refused"]

    def link(self, who=None):
        """A connection to the lender with these keys."""
        return KeyedLink(self.host, self.lender.addr, who or self.member)

    def unharmed(self, refusals):
        """Nothing has happened, but that so many connections were refused."""
        wait_for(lambda: self.refused() >= refusals, 5, f"{refusals} refusals")
        equal(self.refused(), refusals, "connections refused")
        equal(self.slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        equal(self.lender.stat()["server"]["held_pages"], PAGES, "pages held")
        equal(self.owner.stat()["client"]["sessions"], self.sessions, "sessions")

    def end(self):
        """Clean up."""
        self.slots.__exit__(None, None, None)
        self.owner.device_del(self.dev)


def closed(link):
    """The other side has nothing more to say."""
    equal(link.answer_bare(), None, "what comes over the connection")
    link.close()


def test_joining(t):
    """Those that may not join: without keys, with the cluster's or a member's alone,
    under another's name, with a HELLO that was heard before or was changed."""
    v = Victims(t)
    cluster, stranger = v.member.cluster, os.urandom(32)
    n = 0

    def refused(link, message):
        nonlocal n
        Link.send(link, message)
        closed(link)
        n += 1

    link = Link(v.host, v.lender.addr)
    equal(link.hello(), None, "answer to a hello without keys")
    n += 1
    link = v.link(Keys(cluster))
    refused(link, link.hello_with()[0])                     # a stranger's own key
    link = v.link(Keys(stranger, v.member.secret))
    refused(link, link.hello_with()[0])                     # not of this cluster
    link = v.link()
    refused(link, link.hello_with(who=v.id)[0])             # under the owner's id
    owners = v.link().greet.payload[56:88]                  # the lender's, as it happens
    link = v.link()
    refused(link, link.hello_with(own=owners)[0])           # a key it has not
    link = v.link()
    heard = link.hello_with()[0]
    Link.send(link, heard)
    equal(link.answer_bare().status, OK, "status of a member's hello")
    link.close()
    link = v.link()
    refused(link, heard)                                    # heard before
    for at in (8, 16, 32, 40, 48, 112, 140):                # changed on its way
        link = v.link()
        message = link.hello_with()[0]
        changed = bytearray(message.payload)
        changed[at] ^= 1
        message.payload = bytes(changed)
        refused(link, message)
    link = v.link()
    message = link.hello_with()[0]
    refused(link, hello(link.who, 1, 1, link.ticket, keys=bytes(96)))
    v.unharmed(n)
    v.end()


def test_messages(t):
    """Messages of a member that are forged, repeated, left out or changed end the
    connection before anything is done."""
    v = Victims(t)
    n = 0

    def joined(kind=CONTROL, epoch=iter(range(1, 1000))):
        link = v.link()
        at = next(epoch)
        if kind == CONTROL:
            equal(link.hello(epoch=at).status, OK, "status of a hello")
        return link

    link = joined()
    equal(link.ask(Message(PING)).kind, PONG, "answer to a ping")
    ping = Message(PING)
    link.send(ping)
    equal(link.answer().kind, PONG, "answer to another")
    Link.send(link, ping)                                   # the same once more
    closed(link)
    n += 1
    for change in ("tag", "left out", "type", "slot", "payload", "none"):
        link = joined()
        message = Message(FREE, struct.pack("<IIQII", 1, 1, 1, 8, 0), 1)
        if change == "left out":
            link.out.of(Message(PING))
        if change != "none":
            message.auth = link.out.of(message)
        if change == "tag":
            message.auth = bytes([message.auth[0] ^ 1]) + message.auth[1:]
        elif change == "type":
            message.kind = HOLD_LIST
        elif change == "slot":
            message.slot = 1
        elif change == "payload":
            message.payload = struct.pack("<IIQII", 1, 1, 1, 9, 0)
        Link.send(link, message)
        closed(link)
        n += 1
    v.unharmed(n)
    v.end()


def test_member(t):
    """A member sees and frees nothing of another one, and nothing that it says of the
    owner's pages is believed."""
    v = Victims(t)
    link = v.link()
    equal(link.hello().status, OK, "status of a hello")
    listed = link.ask(Message(HOLD_ASK))
    equal((listed.kind, listed.nr), (HOLD_LIST, 0), "what it sees of others")
    loads = v.link()
    equal(loads.hello(kind=LOADS).status, OK, "status of a hello for loads")
    for gen in range(1, 4):
        answer = loads.ask(Message(LOAD, struct.pack("<I", gen), 1, slot=1, instance=1))
        equal(struct.unpack("<I", answer.payload)[0], NOT_HELD, "a page of the owner")
    link.ask(Message(FREE, struct.pack("<IIQII", 1, 1 << 19, 1, PAGES, 0), 1))
    for other in (link, loads):
        other.close()
    # to the owner: its pages are said to have moved to the host
    tell = KeyedLink(v.host, v.owner.addr, v.member)
    equal(tell.hello(session=0, kind=TELLS).status, OK, "status of a mover's hello")
    where = struct.pack("<QQ", v.member.id, 1)
    pages = b"".join(struct.pack("<QII", slot, 1, 1) for slot in range(1, 33))
    answer = tell.ask(Message(MOVED, where + pages, 32))
    true(answer and OK not in struct.unpack("<64I", answer.payload)[1::2],
         "what the owner says of them")
    tell.close()
    v.unharmed(0)
    v.end()


def test_crowd(t):
    """A member announces more nodes than the table of nodes has room for, none of which is a
    member, with its cluster's tag and without. The table has its members only, and one that
    comes later is found, and holds pages."""
    v = Victims(t, others=1)
    late = v.cluster[3]
    with inside(v.host):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((v.host.addr, PORT))
    ip = socket.inet_aton(v.host.addr) + bytes(12)
    group = derive(v.member.cluster, "nswap announce")
    forged = v.owner.stat()["announce"]["forged"]
    sent = 0
    for ident in range(1, NODES + 1):
        body = struct.pack("<QQHHI16sQQQ", ident, 1, socket.AF_INET, PORT, 0, ip, 1 << 20,
                           1 << 20, 0)
        message = Message(ANNOUNCE, body, ident=ident)
        for tag in (bytes(16), derive(group, "nswap datagram", message.packed())[:16]):
            message.auth = tag
            udp.sendto(message.packed(), (v.owner.addr, PORT))
            sent += 1
        if ident % 32 == 0 or ident == NODES:
            wait_for(lambda: v.owner.stat()["announce"]["forged"] >= forged + sent, 5,
                     f"{sent} were heard and refused")
    udp.close()
    equal(list(v.owner.peers()), [v.lender.addr], "peers")
    late.up(lend="8M", key=v.files[late], members=v.members)
    v.cluster.wait_connected([v.owner, v.lender, late])
    v.sessions += 1
    v.unharmed(0)
    v.lender.ctl("drain")
    equal((v.lender.stat()["server"]["held_pages"], late.stat()["server"]["held_pages"]),
          (0, PAGES), "pages at the lender, at the one that came later")
    equal(v.slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
    v.end()


def test_announcements(t):
    """Announcements that no member sent, or that were heard before, change nothing."""
    v = Victims(t)
    ip = socket.inet_aton(v.lender.addr) + bytes(12)
    info = v.lender.stat()["node"]
    body = struct.pack("<QQHHI16sQQQ", int(info["id"], 16), int(info["epoch"], 16),
                       socket.AF_INET, PORT, 0, ip, 1 << 40, 1 << 40, 0)
    with inside(v.host):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((v.host.addr, PORT))
    forged = v.owner.stat()["announce"]["forged"]
    sent = 0
    for auth in (bytes(16), os.urandom(16)):
        for flags in (0, 2):                                # leaving
            udp.sendto(Message(ANNOUNCE, body, flags=flags, ident=1 << 60,
                               auth=auth).packed(), (v.owner.addr, PORT))
            sent += 1
    udp.sendto(os.urandom(40), (v.owner.addr, PORT))
    wait_for(lambda: v.owner.stat()["announce"]["forged"] >= forged + sent + 1, 5,
             "they are counted")
    equal(v.owner.peers()[v.lender.addr]["lent_pages"], 2048, "pages the lender lends")
    # a member says that it is here, once, and an outsider repeats it when it has left
    body = struct.pack("<QQHHI16sQQQ", v.member.id, 5, socket.AF_INET, PORT, 0,
                       socket.inet_aton(v.host.addr) + bytes(12), 64, 64, 0)
    said = {}
    for number, flags in ((7, 0), (8, 2)):
        message = Message(ANNOUNCE, body, flags=flags, ident=number)
        message.auth = derive(derive(v.member.cluster, "nswap announce"),
                              "nswap datagram", message.packed())[:16]
        said[flags] = message.packed()
    udp.sendto(said[0], (v.owner.addr, PORT))
    wait_for(lambda: v.host.addr in v.owner.peers(), 5, "a member's is heard")
    udp.sendto(said[2], (v.owner.addr, PORT))
    left = ("leaving", "dead")
    wait_for(lambda: v.owner.peers()[v.host.addr]["state"] in left, 5, "it has left")
    heard = v.owner.stat()["announce"]["heard"]
    udp.sendto(said[0], (v.owner.addr, PORT))
    wait_for(lambda: v.owner.stat()["announce"]["heard"] > heard, 5, "others are heard")
    true(v.owner.peers()[v.host.addr]["state"] in left, "it has left for good")
    udp.close()
    v.unharmed(0)
    at_least(v.sessions, 1, "sessions")
    v.end()
