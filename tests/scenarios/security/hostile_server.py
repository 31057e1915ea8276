# SPDX-License-Identifier: GPL-2.0
"""A member that lends by hand, and lies to the owner that connects to it.

Who is there, and what is looked at after each attack: tests/nswaptest/victims.py. What a
lender can do with the pages it holds: seal.py.
"""
import os

from nswaptest.check import wait_for
from nswaptest.liar import Liar
from nswaptest.rawwire import HEADER
from nswaptest.victims import Attacks, suffer_all

DESCRIPTION = "a hostile member as a server, beside a program that pages in"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 600

ATTACKS = Attacks()
COUNTS = ("sessions",)


def lie(s, answer):
    """The owner connects, and is told this; for the rest of the turn it may come again."""
    if not s.kept:
        s.keep(Liar(s.host, s.member, s.owner, answer))
    wait_for(lambda: s.kept[0].met, 10, "the owner has connected", every=0.01)
    return "the owner ends the connection"


@ATTACKS.by("member", but=COUNTS)
def other_name(s):
    """It greets with the lender's id and its own key"""
    info = s.lender.stat()["node"]
    return lie(s, lambda liar, sock: liar.welcome(
        sock, *liar.greet(sock, who=int(info["id"], 16))))


@ATTACKS.by("member", but=COUNTS)
def other_greeting(s):
    """In place of a greeting come random bytes, or one of 2^32 - 1 bytes"""
    def answer(liar, sock):
        if liar.met % 2:
            sock.sendall(os.urandom(4096))
        else:
            liar.greet(sock, huge=True)
        sock.recv(HEADER.size)
    return lie(s, answer)


@ATTACKS.by("member", but=COUNTS)
def wrong_tag(s):
    """HELLO_ACK with a wrong tag, and grants of 2^32 - 1 pages"""
    return lie(s, lambda liar, sock: liar.welcome(sock, *liar.greet(sock), wrong=True))


@ATTACKS.by("member", but=COUNTS)
def all_promised(s):
    """Grants of 2^32 - 1 pages and 2^64 - 1 free ones, rightly signed, then random bytes"""
    def answer(liar, sock):
        liar.welcome(sock, *liar.greet(sock))
        sock.sendall(os.urandom(4096))
    return lie(s, answer)


@ATTACKS.by("member", but=COUNTS)
def says_nothing(s):
    """It accepts connections and says nothing"""
    def answer(liar, sock):
        liar.met += 1
        sock.recv(HEADER.size)
    return lie(s, answer)


def run(t):
    """Each attack, the victim beside it."""
    suffer_all(t, ATTACKS)
