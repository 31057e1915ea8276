# SPDX-License-Identifier: GPL-2.0
"""Keys of the wire protocol by hand: exchange, tags, announcements, for what the module
would never send. docs/protocol.md has the layout; it is written down here a second time.
"""
import base64
import hashlib
import os
import struct
import time

from .rawwire import (ANNOUNCE, CONTROL, HEADER, HELLO_ACK, LOAD_REPLY, PAGE, Link, Message,
                      hello, siphash)

PRIME = (1 << 255) - 19
BASE = (9).to_bytes(32, "little")


def curve25519(secret, point):
    """RFC 7748."""
    scalar = bytearray(secret)
    scalar[0] &= 248
    scalar[31] = scalar[31] & 127 | 64
    k = int.from_bytes(scalar, "little")
    u = int.from_bytes(point, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for at in range(254, -1, -1):
        bit = k >> at & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b = (x2 + z2) % PRIME, (x2 - z2) % PRIME
        aa, bb = a * a % PRIME, b * b % PRIME
        e = (aa - bb) % PRIME
        da, cb = (x3 - z3) * a % PRIME, (x3 + z3) * b % PRIME
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


def derive(key, label, *parts):
    """A key, or a tag, for one purpose."""
    state = hashlib.blake2s(key=key)
    for part in (label.encode(), *parts):
        state.update(struct.pack("<Q", len(part)) + part)
    return state.digest()


def read(path, what):
    """The secrets of a kind in a file of keys."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return [base64.b64decode(line[1]) for line in lines if line and line[0] == what]


class Keys:
    """A node's own key, and what it knows of its cluster."""

    def __init__(self, cluster, secret=None):
        self.cluster, self.secret = cluster, secret or os.urandom(32)
        self.public = curve25519(self.secret, BASE)
        self.id = name(self.public)

    @classmethod
    def of(cls, key, members):
        """From files."""
        return cls(read(members, "cluster")[0], read(key, "key")[0])


def name(public):
    """The id of the node that has this key."""
    return struct.unpack_from("<Q", derive(public, "nswap id"))[0]


def announcement(cluster, body, flags=0, number=None):
    """A datagram that a member has signed; by default newer than those before."""
    message = Message(ANNOUNCE, body, flags=flags, ident=number or time.time_ns())
    message.auth = derive(derive(cluster, "nswap announce"), "nswap datagram",
                          message.packed())[:16]
    return message.packed()


def welcome_tag(key, message):
    """The tag of a HELLO_ACK, which has none yet."""
    packed = message.packed()
    return derive(key, "nswap welcome", packed[:HEADER.size], packed[HEADER.size:])[:16]


def exchanged(cluster, products, greet, said):
    """The key of an exchange; said: HELLO without its tag."""
    return derive(cluster, "nswap exchange", products,
                  derive(bytes(32), "nswap greet", greet), said)


def plain_bytes(message):
    """How much of a payload is not pages."""
    if message.kind == LOAD_REPLY:
        return 4 * message.nr
    size = len(message.payload)
    return size - PAGE * message.nr if message.nr and size > PAGE * message.nr else size


class Tags:
    """Tags of one direction."""

    def __init__(self, keys):
        self.head, self.plain, self.number = keys[:16], keys[16:], 0

    def of(self, message):
        """What belongs into a message's header as the next one."""
        plain = message.payload[:plain_bytes(message)]
        digest = siphash(self.plain, plain) if plain else 0
        if plain:
            digest = siphash(self.plain, struct.pack("<QQ", digest, self.number))
        digest = struct.pack("<Q", digest)
        message.auth = struct.pack("<Q", self.number) + digest
        tag = siphash(self.head, message.packed()[:HEADER.size])
        self.number += 1
        return struct.pack("<Q", tag) + digest


class KeyedLink(Link):
    """A connection to a server, with keys: hello() exchanges them, ask() tags."""

    def __init__(self, node, to, keys, **options):
        super().__init__(node, to, **options)
        self.keys, self.who = keys, keys.id
        self.out = self.back = None

    def exchange(self, said, once):
        """The tag of a HELLO, and the keys for what follows."""
        mine, theirs, whose = self.keys, self.greet.payload[24:56], \
            self.greet.payload[56:88]
        products = (curve25519(once, theirs) + curve25519(mine.secret, theirs) +
                    curve25519(once, whose))
        key = exchanged(mine.cluster, products, self.greet.payload, said)
        self.out = Tags(derive(key, "nswap to server"))
        self.back = Tags(derive(key, "nswap to client"))
        return key, derive(key, "nswap hello")[:16]

    def hello_with(self, epoch=1, session=1, kind=CONTROL, who=None, own=None, **options):
        """A HELLO with keys, and the key of its exchange; who, own: other names."""
        once = os.urandom(32)
        keys = curve25519(once, BASE) + (own or self.keys.public)
        message = hello(who or self.who, epoch, session, self.ticket, kind,
                        keys=keys + bytes(32), **options)
        mac = derive(self.keys.cluster, "nswap mac",
                     derive(bytes(32), "nswap greet", self.greet.payload),
                     message.payload)[:16]
        message.payload = message.payload[:128] + mac
        key, tag = self.exchange(message.payload, once)
        message.payload = message.payload[:112] + tag + mac
        return message, key

    def hello(self, epoch=1, session=1, **options):
        message, key = self.hello_with(epoch, session, **options)
        Link.send(self, message)
        answer = self.answer_bare()
        if answer and answer.kind == HELLO_ACK:
            bare = Message(**{**vars(answer), "payload": answer.payload[:72] +
                              bytes(16) + answer.payload[88:]})
            if welcome_tag(key, bare) != answer.payload[72:88]:
                raise AssertionError("the server's tag is wrong")
        return answer

    def answer_bare(self):
        """The next message, its tag not looked at."""
        return Link.answer(self)

    def send(self, message):
        if self.out:
            message.auth = self.out.of(message)
        Link.send(self, message)

    def answer(self):
        answer = Link.answer(self)
        if answer and self.back:
            said, answer.auth = answer.auth, bytes(16)
            if self.back.of(answer) != said:
                raise AssertionError("the tag of an answer is wrong")
        return answer
