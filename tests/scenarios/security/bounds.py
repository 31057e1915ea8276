# SPDX-License-Identifier: GPL-2.0
"""What comes in without end, from where it cannot come, or before it is known whose it is.

        node0 ------ node1        node1 is a host that speaks the protocol by hand
"""
import re
import socket
import struct
import time

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.lab import sh
from nswaptest.netns import inside
from nswaptest.rawwire import (ANNOUNCE, FREE, FREE_ACK, HOLD_LIST, LOAD, LOAD_REPLY, PAGE, PING,
                               PONG, PORT, STORE, STORE_ACK, Link, Message, Peer)
from nswaptest.scenario import sibling
from nswaptest.served import threads

limits, hundreds = sibling("limits"), sibling("hundreds")

DESCRIPTION = "lists without end, forged sources, halves of messages, what strangers make a node keep"
SUITES = ("lab",)
NEEDS = ("module", "ss")
TIMEOUT = 120

STRANGER = 16 << 10     # bytes for a HELLO
PACKET = 8 << 10        # one is taken in while there is any room
HALVES = 40             # owners that send half a message
MESSAGE_S = 30          # for the rest of one
SWEEP_S = 5


class Endless(Peer):
    """Says of one page more each time that it holds it, and never that it was the last."""

    def __init__(self, *args, **options):
        self.listed = []            # lists of each comparison
        super().__init__(*args, **options)

    def _list(self, q):
        if not q.instance:
            self.listed.append(0)
        self.listed[-1] += 1
        return Message(HOLD_LIST, struct.pack("<IIQII", q.instance + 1, 1, 1, 1, 0), 1,
                       slot=1 << 40)


def test_endless_list(t):
    """A lender cannot list pages without end: with the first beyond what there are slots its
    session ends, and with it the comparison."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="0")
    node.ctl("set", "reconcile_s", 3600)
    peer = Endless(last, [node])
    dev = node.device_add("1M")
    wait_for(lambda: len(peer.listed) >= 3, 40, "it is compared with again and again")
    equal(set(peer.listed[:2]), {(1 << 20) // PAGE + 1}, "lists each time, of a page each")
    peer.close()
    node.device_del(dev)


def forged(source, to, ident):
    """An IPv4 packet with an announcement that says it is from there."""
    ip = socket.inet_aton(source)
    body = Message(ANNOUNCE, struct.pack(
        "<QQHHI16sQQQ", ident, 1, socket.AF_INET, PORT, 0, ip + bytes(12), 64, 64, 0)).packed()
    return (struct.pack("!BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0,
                        ip, socket.inet_aton(to)) +
            struct.pack("!HHHH", PORT, PORT, 8 + len(body), 0) + body)


def test_other_interface(t):
    """An announcement that says it is a neighbour's, and comes in where no neighbours are,
    is not believed; the same on the right interface is."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="1M")
    sh("ip", "link", "add", "aside", "netns", node.name, "type", "veth",
       "peer", "name", "aside", "netns", last.name)
    for one, addr in ((node, "10.78.0.1"), (last, "10.78.0.2")):
        sh("ip", "-n", one.name, "addr", "add", f"{addr}/24", "dev", "aside")
        sh("ip", "-n", one.name, "link", "set", "aside", "up")
        for name in ("all", "aside"):
            one.run(f"echo 0 > /proc/sys/net/ipv4/conf/{name}/rp_filter")
    sh("ip", "-n", last.name, "route", "add", f"{node.addr}/32", "via", "10.78.0.1",
       "dev", "aside")
    with inside(last):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    source = "10.77.0.200"
    before = node.stat()["announce"]["rejected"]
    raw.sendto(forged(source, node.addr, 7), (node.addr, 0))
    wait_for(lambda: node.stat()["announce"]["rejected"] > before, 5, "it came, and was refused")
    equal(node.peers(), {}, "peers")
    sh("ip", "-n", last.name, "route", "del", f"{node.addr}/32")
    raw.sendto(forged(source, node.addr, 7), (node.addr, 0))
    wait_for(lambda: source in node.peers(), 5, "the same is heard of a neighbour")
    raw.close()


def checksum(data):
    """The Internet's."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def behind_a_gap(link, size, count):
    """Segments that a connection's other side cannot give to its program, since those before
    them do not come."""
    sock, repair, queue, number = link.sock, 19, 20, 21     # TCP_REPAIR and its options
    said = []
    sock.setsockopt(socket.IPPROTO_TCP, repair, 1)
    for which in (2, 1):            # what is sent, what was received
        sock.setsockopt(socket.IPPROTO_TCP, queue, which)
        said.append(sock.getsockopt(socket.IPPROTO_TCP, number) & 0xffffffff)
    sock.setsockopt(socket.IPPROTO_TCP, repair, -1)
    (here, port), (there, to) = sock.getsockname(), sock.getpeername()
    for i in range(count):
        head = struct.pack("!HHIIBBHHH", port, to, (said[0] + 64 + i * size) & 0xffffffff,
                           said[1], 5 << 4, 0x18, 0xffff, 0, 0)
        data = head + bytes(size)
        pseudo = struct.pack("!4s4sBBH", socket.inet_aton(here), socket.inet_aton(there), 0,
                             socket.IPPROTO_TCP, len(data))
        yield data[:16] + struct.pack("!H", checksum(pseudo + data)) + data[18:]


def memory(node, last):
    """Of each connection of a node that began at another one: bytes of packets, its limit."""
    said = node.run(["ss", "-tmnH", "dst", last.addr]).out
    return [(int(has), int(most)) for has, most in re.findall(r"skmem:\(r(\d+),rb(\d+)", said)]


def test_gap(t):
    """What a stranger sends behind a gap waits in the node's memory, reserves included, if
    need be. It has room for a HELLO, for as long as one may take; a peer has more."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="1M")
    link = Link(last, node.addr)
    with inside(last):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.bind((last.addr, 0))
    begin = time.monotonic()
    for packet in behind_a_gap(link, 1400, 300):
        raw.sendto(packet, (node.addr, 0))
    [(has, most)] = memory(node, last)
    t.log(f"a stranger's packets take {has} bytes, with a limit of {most}")
    at_least(has, 1400, "bytes of a stranger's packets")
    at_most(has, STRANGER + PACKET, "bytes of a stranger's packets")
    wait_for(lambda: not memory(node, last), 2 * limits.HELLO_S + limits.SLACK, "they are dropped")
    t.log(f"for {time.monotonic() - begin:.1f} s")
    known = limits.joined(last, node, 1)
    [(_, most)] = memory(node, last)
    at_least(most, 64 << 10, "the limit of a peer's")
    for one in (link, known):
        one.close()
    raw.close()


def test_in_pieces(t):
    """Stores wait while as many threads as may serve them are taken and RAM is in pieces: for
    the block that one more thread takes the kernel might kill a program. They are served
    once there are blocks again."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="8M")
    for knob, value in (("available_mib", 900), ("total_mib", 1000), ("largest", 1)):
        node.ctl("set", f"fed_{knob}", value)
    owners = [hundreds.owner(last, node, number) for number in range(hundreds.FEW + 8)]
    for *_, stores in owners:
        stores.sock.sendall(hundreds.halves()[-1])
    hold(1)
    *_, stores = whole = hundreds.owner(last, node, len(owners))
    owners.append(whole)
    stores.send(Message(STORE, struct.pack("<I", 1) + bytes([1]) * PAGE, 1, slot=1, instance=1))
    stores.sock.settimeout(3)
    try:
        true(False, f"no answer, but {stores.answer()}")
    except TimeoutError:
        pass
    at_most(len(threads(node)), hundreds.FEW, "threads of the node")
    node.ctl("set", "fed_largest", 4)
    stores.sock.settimeout(10)
    equal(stores.answer().kind, STORE_ACK, "answer to a STORE")
    at_least(len(threads(node)), hundreds.FEW + 1, "threads of the node")
    for links in owners:
        for link in links:
            link.close()


def test_half_messages(t):
    """A message of which half has come takes no thread, so that owners that stop in the
    middle hold up no other, however short memory is: none is made for them. Its rest may
    come later, and is waited for so long."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="4M")
    free = Message(FREE, struct.pack("<IIQII", 1, 1, 1, 1, 0) * 100, 100)
    load = Message(LOAD, struct.pack("<I", 1) * 32, 32, slot=1, instance=1)
    owners = [hundreds.owner(last, node, number) for number in range(HALVES)]
    begin = time.monotonic()
    for control, loads, _ in owners:
        control.sock.sendall(free.packed()[:-8])
        loads.sock.sendall(load.packed()[:-1])
    other, *rest = hundreds.owner(last, node, HALVES)
    equal(other.ask(Message(PING)).kind, PONG, "answer to another owner's ping")
    # those made while the owners came end when they have been idle for 10 s, some 10 s later
    wait_for(lambda: len(threads(node)) <= hundreds.FEW, MESSAGE_S - SWEEP_S,
             "no more threads than there always are")
    control, loads, _ = owners.pop()
    control.sock.sendall(free.packed()[-8:])
    equal(control.answer().kind, FREE_ACK, "answer when the rest has come")
    loads.sock.sendall(load.packed()[-1:])
    equal(loads.answer().kind, LOAD_REPLY, "answer to a LOAD, likewise")
    for link in (control, *owners[0]):
        link.sock.settimeout(MESSAGE_S + 2 * SWEEP_S)
    equal([owners[0][0].answer(), owners[0][1].answer()], [None, None],
          "what comes where the rest does not")
    took = time.monotonic() - begin
    at_least(took, MESSAGE_S - 1, "seconds until these are closed")
    at_most(took, MESSAGE_S + 2 * SWEEP_S, "seconds until these are closed")
    equal(control.ask(Message(PING)).kind, PONG, "answer to a ping of the one that went on")
    for links in (*owners, (control, loads, other, *rest)):
        for link in links:
            link.close()
