# SPDX-License-Identifier: GPL-2.0
"""A program in a container on a lender's own machine, with its network and without rights.

What it has: tests/nswaptest/inmate.py; what is looked at afterwards: victims.py.
"""
import os
import socket

from nswaptest.check import equal, true
from nswaptest.rawwire import (ANNOUNCE, HEADER, PORT, Link, Message, announced, hello,
                               node_id, receive)
from nswaptest.victims import Attacks, suffer_all

DESCRIPTION = "a hostile program in a container on a lender, beside a program that pages in"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 600

ATTACKS = Attacks()
LEAVING_FLAG = 2


def connect(to, source):
    """A connection from one of the machine's addresses, greeted or closed at once."""
    sock = socket.socket()
    sock.settimeout(5)
    sock.bind((source, 0))
    try:
        sock.connect((to, PORT))
        return sock, receive(sock, HEADER.size + 120)
    except (EOFError, ConnectionError):
        sock.close()
        return None, b""


@ATTACKS.by("container")
def joins(s):
    """HELLO without keys from the lender's own address, to it and to the owner"""
    for to in (s.addr, s.owner):
        link = Link(s, to)
        link.send(hello(node_id(s.addr), 1, 1, link.ticket))
        equal(link.answer(), None, "what comes over the connection")
        link.close()
    s.refusals += 1
    return "closed without an answer"


@ATTACKS.by("container")
def loopback(s):
    """Connections from the machine's loopback addresses"""
    for last in range(1, 9):
        sock, said = connect(s.addr, f"127.0.0.{last}")
        equal((sock, said), (None, b""), "what is said to it")
    return "closed: no address of the subnet"


@ATTACKS.by("container")
def silent(s):
    """Forty connections to the owner that say nothing, from the lender's address"""
    kept = [connect(s.owner, s.addr)[0] for _ in range(40)]
    true(sum(sock is not None for sock in kept) >= 16, "some are let in")
    for sock in kept:
        if sock:
            sock.close()
    return "the oldest end"


@ATTACKS.by("container")
def port(s):
    """It takes the lender's port, TCP and UDP, at its address and at any"""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for addr in (s.addr, "0.0.0.0"):
            for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
                with socket.socket(socket.AF_INET, kind) as sock:
                    sock.setsockopt(socket.SOL_SOCKET, option, 1)
                    try:
                        sock.bind((addr, PORT))
                        if kind == socket.SOCK_STREAM:
                            sock.listen()
                    except OSError:
                        continue
                    raise AssertionError(f"it has the port at {addr}")
    return "the address is in use"


@ATTACKS.by("container")
def announces(s):
    """LEAVING in the lender's name, from its own address, and other datagrams"""
    said = announced(node_id(s.addr), 1, s.addr, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((s.addr, 0))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        for to in (s.owner, "10.77.0.255", s.addr):
            for flags in (0, LEAVING_FLAG):
                sock.sendto(Message(ANNOUNCE, said, flags=flags, ident=1 << 62,
                                    auth=os.urandom(16)).packed(), (to, PORT))
    return "dropped and counted"


@ATTACKS.by("container")
def spoofs(s):
    """Raw sockets, to send in others' names"""
    for kind in (socket.IPPROTO_RAW, socket.IPPROTO_TCP):
        try:
            socket.socket(socket.AF_INET, socket.SOCK_RAW, kind)
        except PermissionError:
            continue
        raise AssertionError("it has a raw socket")
    return "not permitted"


@ATTACKS.by("container")
def control(s):
    """The node's control: down, drain, lend, set, revoke, device add and del"""
    for args in (("down", "--now"), ("lend", "0"), ("set", "lease_s", "5"), ("drain",),
                 ("device", "add", "--size", "4M"),
                 ("device", "del", os.path.basename(s.device))):
        code, said = s.nswapctl(*args)
        equal(code, 1, f"{' '.join(args)}: {said}")
    return "refused: it has not the right"


def knobs():
    """Files through which the module is set."""
    return [os.path.join(folder, name)
            for top in ("/proc/nswap", "/sys/module/nswap/parameters")
            for folder, _, names in os.walk(top) for name in names]


@ATTACKS.by("container")
def files(s):
    """Keys, the device, the machine's memory, and all that sets the module"""
    true(knobs(), "there are files in /proc/nswap")
    for path, mode in ((s.secrets[0], os.O_RDONLY), (s.secrets[1], os.O_RDONLY),
                       (s.device, os.O_RDONLY), ("/dev/mem", os.O_RDONLY),
                       ("/proc/kcore", os.O_RDONLY), (s.device, os.O_WRONLY),
                       *((path, os.O_WRONLY) for path in knobs())):
        try:
            os.close(os.open(path, mode))
        except OSError:
            continue
        raise AssertionError(f"it opened {path}")
    return "not permitted"


def run(t):
    """Each attack, the victim beside it."""
    suffer_all(t, ATTACKS)
