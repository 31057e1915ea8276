# SPDX-License-Identifier: GPL-2.0
"""Generic netlink by hand, for what nswapctl would never send.

Messages are bytes until they are sent; names and numbers come from the
interface's header.  A socket belongs to the network namespace it was opened
in, and keeps it.
"""
import contextlib
import re
import socket
import struct

from .check import Failure
from .netns import inside
from .scenario import ROOT

REQUEST, ACK, DUMP = 0x01, 0x04, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
ACK_TLVS, CAPPED = 0x200, 0x100
NESTED = 0x8000
SOL_NETLINK, EXT_ACK, CAP_ACK = 270, 11, 10
CTRL, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2


def constants():
    """Every name of include/uapi/linux/nswap.h and its number."""
    text = (ROOT / "include/uapi/linux/nswap.h").read_text()
    found = {}
    for block in re.findall(r"enum \w* ?\{(.*?)\}", text, re.S):
        value = -1
        for name, start in re.findall(r"(NSWAP_\w+)(?: = (\d+))?,", block):
            value = int(start) if start else value + 1
            found[name] = value
    return found


def attr(kind, payload=b""):
    """One attribute."""
    return (struct.pack("=HH", len(payload) + 4, kind) + payload +
            b"\0" * (-len(payload) % 4))


def nest(kind, *inner):
    """An attribute of attributes."""
    return attr(kind | NESTED, b"".join(inner))


def u16(kind, value):
    return attr(kind, struct.pack("=H", value))


def u32(kind, value):
    return attr(kind, struct.pack("=I", value))


def u64(kind, value):
    return attr(kind, struct.pack("=Q", value))


def text(kind, value):
    return attr(kind, value.encode() + b"\0")


def attributes(data):
    """(kind, payload) of every attribute in data."""
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            raise Failure("an attribute in a reply has a bad size")
        yield kind & 0x3fff, data[4:size]
        data = data[(size + 3) & ~3:]


class Answer:
    """What came back: errno (0 is success), the sentence of the extended
    acknowledgement or None, the payloads of the replies, and in how many
    reads they came."""

    def __init__(self):
        self.errno, self.said, self.replies, self.reads = None, None, [], 0

    def take(self, data):
        """Take in one read."""
        self.reads += 1
        while len(data) >= 16:
            size, kind, flags = struct.unpack_from("=IHH", data)
            body, data = data[16:size], data[(size + 3) & ~3:]
            if kind not in (NLMSG_ERROR, NLMSG_DONE):
                self.replies.append(body[4:])
                continue
            self.errno = -struct.unpack_from("=i", body)[0]
            if kind == NLMSG_ERROR:
                asked = struct.unpack_from("=I", body, 4)[0]
                tail = body[20 if flags & CAPPED else 4 + (asked + 3) & ~3:]
            else:
                tail = body[4:]
            if flags & ACK_TLVS:
                for what, payload in attributes(tail):
                    if what == 1:
                        self.said = payload.rstrip(b"\0").decode()


class Raw:
    """A generic netlink socket in a node's namespace (default: ours)."""

    def __init__(self, node=None):
        with inside(node) if node else contextlib.nullcontext():
            self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(10)
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        answer = self.ask(GETFAMILY, text(FAMILY_NAME, "nswap"), family=CTRL)
        if answer.errno or not answer.replies:
            raise Failure("the control family does not know nswap")
        self.family = struct.unpack(
            "=H", dict(attributes(answer.replies[0]))[FAMILY_ID])[0]

    def send(self, command, payload=b"", flags=ACK, family=None, version=1):
        """Send one message."""
        body = struct.pack("=BBH", command, version, 0) + payload
        self.sock.send(struct.pack("=IHHII", 16 + len(body),
                                   family or self.family, REQUEST | flags,
                                   1, 0) + body)

    def receive(self, answer, size=65536):
        """One read; True once the answer is complete."""
        answer.take(self.sock.recv(size))
        return answer.errno is not None

    def ask(self, command, payload=b"", flags=ACK, family=None, version=1):
        """Send one message and wait for all of its answer."""
        self.send(command, payload, flags, family, version)
        answer = Answer()
        while not self.receive(answer):
            pass
        return answer

    def close(self):
        self.sock.close()
