# SPDX-License-Identifier: GPL-2.0
"""Attacks on nodes with keys, by those who are no members and by what they say over UDP.

Who is there, and what is looked at after each attack: tests/nswaptest/victims.py. What
members do: hostile_member.py; from a container: hostile_container.py.
"""
import contextlib
import os
import socket
import struct
import time

from nswaptest.check import equal, true, wait_for
from nswaptest.netns import inside
from nswaptest.rawkeys import KeyedLink, Keys, announcement
from nswaptest.rawwire import (ANNOUNCE, CONTROL, FREE, HEADER, HELLO, LOAD, LOADS, MOVES, OK,
                               PAGE, PORT, STORE, Link, Message, announced, hello, receive)
from nswaptest.served import threads
from nswaptest.victims import Attacks, suffer_all

DESCRIPTION = "attacks on nodes with keys by strangers, beside a program that pages in"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 600

JOINING, CROWDING, ANNOUNCEMENTS = Attacks(), Attacks(), Attacks()
EACH = 16               # connections of one address that have not said HELLO
MANY = (1 << 32) - 1
CLOSED = "closed without an answer"


def closed(link):
    """The other side has nothing more to say."""
    equal(link.answer_bare() if isinstance(link, KeyedLink) else link.answer(), None,
          "what comes over the connection")
    link.close()


def refused(s, link, message):
    """A HELLO is not answered, and counted."""
    Link.send(link, message)
    closed(link)
    s.refusal()
    return CLOSED


# -- joining ------------------------------------------------------------------

@JOINING.by("none")
def no_keys(s):
    """HELLO without keys"""
    link = s.bare()
    return refused(s, link, hello(link.who, 1, 1, link.ticket))


@JOINING.by("none")
def own_key(s):
    """HELLO with a key of one's own and the cluster's secret, should that be known"""
    link = s.link(keys=Keys(s.member.cluster))
    return refused(s, link, link.hello_with()[0])


@JOINING.by("none")
def other_cluster(s):
    """HELLO of a member's key that is of another cluster"""
    link = s.link(keys=Keys(os.urandom(32), s.member.secret))
    return refused(s, link, link.hello_with()[0])


@JOINING.by("revoked")
def revoked(s):
    """HELLO of a member that was revoked, for a session, its loads and a mover"""
    for kind in (CONTROL, LOADS, MOVES):
        link = s.link(keys=s.revoked)
        refused(s, link, link.hello_with(kind=kind)[0])
    return CLOSED


@JOINING.by("revoked")
def others_key(s):
    """HELLO with the public key of a member, by one who has not the secret one"""
    link = s.link(keys=s.revoked)
    return refused(s, link, link.hello_with(who=s.member.id, own=s.member.public)[0])


@JOINING.by("member")
def others_id(s):
    """HELLO of a member under the owner's id"""
    link = s.link()
    return refused(s, link, link.hello_with(who=s.at.id)[0])


@JOINING.by("none")
def heard_before(s):
    """HELLO of a member that was heard before, over a connection of its own"""
    link = s.link()
    heard = link.hello_with()[0]
    Link.send(link, heard)
    equal(link.answer_bare().status, OK, "status of a member's hello")
    link.close()
    return refused(s, s.bare(), heard)


@JOINING.by("none")
def changed_hello(s):
    """HELLO of a member of which one field was changed on its way"""
    for at in (8, 40, 48, 112, 140):
        link = s.link()
        message = link.hello_with()[0]
        changed = bytearray(message.payload)
        changed[at] ^= 1
        message.payload = bytes(changed)
        refused(s, link, message)
    return CLOSED


# -- what comes before a HELLO, and in its place --------------------------------

def crowd(s, node, address, count):
    """Connections that say nothing, from an address of a node."""
    for _ in range(count):
        with inside(node):
            sock = socket.socket()
        sock.settimeout(5)
        sock.bind((address, 0))
        try:
            sock.connect((s.lender.addr, PORT))
            receive(sock, HEADER.size)
        except (EOFError, ConnectionError):
            sock.close()
            continue
        s.keep(sock)


def still_joins(s):
    """A member is let in, meanwhile."""
    s.joined().close()


@CROWDING.by("none")
def many_silent(s):
    """Forty connections that say nothing, from a member's address"""
    if not s.kept:
        crowd(s, s.host, s.host.addr, 40)
        still_joins(s)
    return "the oldest end; that member joins meanwhile"


@CROWDING.by("none")
def many_addresses(s):
    """Connections that say nothing, from twelve addresses of one host"""
    if not s.kept:
        for i in range(12):
            crowd(s, s.stranger, f"10.77.0.{200 + i}", EACH)
        still_joins(s)
    return "the oldest end; a member joins meanwhile"


@CROWDING.by("none")
def other_first(s):
    """STORE, LOAD, FREE or an announcement in place of HELLO"""
    run = struct.pack("<IIQII", 1, MANY >> 12, 1, 256, 0)
    for message in (Message(STORE, bytes(4 + PAGE), 1), Message(LOAD, bytes(4), 1),
                    Message(FREE, run, 1), Message(ANNOUNCE, bytes(64))):
        link = s.bare()
        link.send(message)
        closed(link)
    return CLOSED


@CROWDING.by("none")
def other_bytes(s):
    """Random bytes, a request of the web, another version, lengths of 2^32 - 1"""
    link = s.bare()
    right = hello(link.who, 1, 1, link.ticket)
    link.close()
    huge = bytearray(right.packed())
    huge[8:16] = struct.pack("<II", MANY, MANY)
    for said in (os.urandom(HEADER.size), b"GET / HTTP/1.1\r\n".ljust(HEADER.size),
                 Message(HELLO, right.payload, version=3).packed(), bytes(huge)):
        link = s.bare()
        link.sock.sendall(said)
        closed(link)
    return CLOSED


@CROWDING.by("none")
def urgent_byte(s):
    """A byte of HELLO that is urgent, so that all of it seems to have come"""
    link = s.bare()
    said = hello(link.who, 1, 1, link.ticket).packed()
    link.sock.sendall(said[:HEADER.size - 1])
    link.sock.send(said[HEADER.size - 1:HEADER.size], socket.MSG_OOB)
    link.sock.sendall(said[HEADER.size:])
    closed(link)
    s.refusal()
    return CLOSED


@CROWDING.by("none")
def reset(s):
    """Half a HELLO, then a reset; connections that end before a word is said"""
    link = s.bare()
    said = hello(link.who, 1, 1, link.ticket).packed()
    link.sock.sendall(said[:len(said) // 2])
    link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()
    for _ in range(8):
        with inside(s.stranger):
            sock = socket.socket()
        sock.connect((s.lender.addr, PORT))
        sock.close()
    return "nothing is left of them"


@CROWDING.by("none")
def dribbled(s):
    """Sixteen HELLOs that come byte by byte"""
    if not s.kept:
        before = set(threads(s.lender))
        for _ in range(EACH):
            s.keep(s.bare()).said = 0
        for link in s.kept:
            dribble(link)
        equal(set(threads(s.lender)) - before, set(), "threads that are made for them")
    for link in s.kept:
        dribble(link)
    return "they have no thread meanwhile"


def dribble(link):
    """One more byte of a HELLO's header, but for the last; the lender may end it."""
    said = hello(link.who, 1, 1, link.ticket).packed()
    if link.said < HEADER.size - 1:
        with contextlib.suppress(ConnectionError):
            link.sock.sendall(said[link.said:link.said + 1])
        link.said += 1


# -- announcements --------------------------------------------------------------

def udp(s, node=None):
    """A socket for announcements, at the node's own address and port."""
    with inside(node or s.stranger):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(((node or s.stranger).addr, PORT))
    return s.keep(sock)


def signed(s, body, flags=0, **options):
    """A datagram that a member has signed."""
    return announcement(s.member.cluster, body, flags, **options)


def forged(s):
    """Announcements that the owner did not believe."""
    stat = s.owner.stat()["announce"]
    return stat["forged"] + stat["rejected"]


def of_lender(s):
    """What the lender would say."""
    info = s.lender.stat()["node"]
    return int(info["id"], 16), int(info["epoch"], 16)


def disbelieved(s, sock, datagrams):
    """None of them is believed, and the owner knows the lender as before."""
    before = forged(s)
    for datagram in datagrams:
        sock.sendto(datagram, (s.owner.addr, PORT))
    wait_for(lambda: forged(s) >= before + len(datagrams), 5, "they are counted")
    peer = s.owner.peers()[s.lender.addr]
    equal((peer["lent_pages"], peer["state"]), (2048, "up"), "what the owner knows")
    sock.close()
    s.kept.remove(sock)
    return "dropped and counted"


@ANNOUNCEMENTS.by("none")
def untagged(s):
    """LEAVING, and 2^40 free pages, in the lender's name: no tag, or a wrong one"""
    who = of_lender(s)
    said = [Message(ANNOUNCE, announced(*who, s.lender.addr, 1 << 40, 1 << 40), flags=flags,
                    ident=1 << 60, auth=auth).packed()
            for auth in (bytes(16), os.urandom(16)) for flags in (0, 2)]
    return disbelieved(s, udp(s), said + [os.urandom(40)])


@ANNOUNCEMENTS.by("none")
def repeated(s):
    """What a member announced, once more when it has left"""
    sock = udp(s, s.host)

    def left():
        state = s.owner.peers().get(s.host.addr, {}).get("state")
        return state in ("leaving", "dead") if state else None
    said = [signed(s, announced(s.member.id, 5, s.host.addr), flags) for flags in (0, 2)]
    sock.sendto(said[0], (s.owner.addr, PORT))
    wait_for(lambda: left() is False, 5, "a member's is heard")
    sock.sendto(said[1], (s.owner.addr, PORT))
    wait_for(left, 5, "it has left")
    done = disbelieved(s, sock, [said[0]] * 3)
    true(left(), "it has left for good")
    return done


@ANNOUNCEMENTS.by("revoked")
def many_ids(s):
    """A hundred nodes that are no members, signed with the secret of the cluster"""
    sock = udp(s)
    said = [signed(s, announced(1 + int.from_bytes(os.urandom(7), "little"), 1,
                           s.stranger.addr, port=20000 + i)) for i in range(100)]
    return disbelieved(s, sock, said)


@ANNOUNCEMENTS.by("revoked")
def revoked_announces(s):
    """A member that was revoked announces itself"""
    return disbelieved(s, udp(s), [signed(s, announced(s.revoked.id, 1, s.stranger.addr))])


@ANNOUNCEMENTS.by("member")
def other_address(s):
    """A member announces itself at the owner's and the lender's addresses"""
    return disbelieved(s, udp(s, s.host), [
        signed(s, announced(s.member.id, 5, addr)) for addr in (s.owner.addr, s.lender.addr)])


def spoofed(s, datagram):
    """Send it as if it came from the lender."""
    with inside(s.host):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(datagram), 0, 0, 64, 17, 0,
                       socket.inet_aton(s.lender.addr), socket.inet_aton(s.owner.addr))
    raw.sendto(head + struct.pack("!HHHH", PORT, PORT, 8 + len(datagram), 0) + datagram,
               (s.owner.addr, 0))
    raw.close()


@ANNOUNCEMENTS.by("member", but=("peers",))
def leaving_signed(s):
    """LEAVING in the lender's name, signed by a member, from the lender's address"""
    heard = s.owner.stat()["announce"]["heard"]
    spoofed(s, signed(s, announced(*of_lender(s), s.lender.addr), 2,
                      number=(1 << 62) + time.monotonic_ns()))
    wait_for(lambda: s.owner.stat()["announce"]["heard"] > heard, 5, "it is heard")
    return "believed: no page goes there for now; those that are there are read"


def test_joining(t):
    """HELLOs of those that may not join."""
    suffer_all(t, JOINING)


def test_crowding(t):
    """What comes before a HELLO, or in its place."""
    def addresses(scene):
        for i in range(12):
            done = scene.stranger.run(["ip", "addr", "add", f"10.77.0.{200 + i}/24", "dev",
                                       scene.stranger.iface])
            true(not done.code, "an address is added")
    suffer_all(t, CROWDING, addresses)


def test_announcements(t):
    """Announcements that are not believed, or do no harm."""
    suffer_all(t, ANNOUNCEMENTS)
