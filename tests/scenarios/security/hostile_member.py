# SPDX-License-Identifier: GPL-2.0
"""A member that does not keep to the rules, as a client and as a mover.

Who is there, and what is looked at after each attack: tests/nswaptest/victims.py.
"""
import struct

from nswaptest.check import equal, true
from nswaptest.rawwire import (BAD, GRANT, GRANT_ASK, LOAD, LOADS, MOVE, MOVED, MOVES, PAGE,
                               PING, RETURN, STORE, STORES, TELLS, Link, Message, hello)
from nswaptest.victims import PAGES, Attacks, suffer_all

DESCRIPTION = "a hostile member as a client and a mover, beside a program that pages in"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

ATTACKS = Attacks()
MANY = (1 << 32) - 1
LENT = 2048             # pages, by the lender


def closed(link):
    """The other side has ended the connection and said nothing."""
    equal(link.answer_bare(), None, "what comes over the connection")
    link.close()


@ATTACKS.by("member")
def hello_twice(s):
    """A second HELLO on a connection that has said it."""
    link = s.joined()
    link.send(hello(link.who, s.epoch, 2, link.ticket))
    closed(link)
    return "the connection ends"


@ATTACKS.by("member")
def wrong_class(s):
    """Each message on connections that are not for it."""
    control = s.joined()              # the session lives as long as this is open
    page = struct.pack("<QQ", 7, 7) + struct.pack("<QII", 1, 1, 1)
    store = Message(STORE, bytes(4 + PAGE), 1)
    move = Message(MOVE, page + bytes(PAGE), 1)
    load, ping = Message(LOAD, bytes(4), 1), Message(PING)
    tried = ((LOADS, (store, ping, Message(GRANT_ASK, nr=9))), (STORES, (load, ping)),
             (MOVES, (ping, load, store, Message(MOVED, page, 1))), (TELLS, (move, load)))
    for kind, messages in tried:
        for message in messages:
            link = s.joined(kind=kind, session=1 if kind < MOVES else 0)
            link.send(message)
            closed(link)
    for message in (store, move, Message(RETURN, page + bytes(PAGE), 1)):
        control = s.joined()
        control.send(message)
        closed(control)
    return "the connection ends"


@ATTACKS.by("member")
def crossed(s):
    """A message that was made for one connection goes over another one."""
    one = s.joined()
    two = s.joined(kind=LOADS, session=1)
    message = Message(LOAD, struct.pack("<I", 1), 1, slot=1, instance=1)
    message.auth = one.out.of(message)
    Link.send(two, message)
    closed(two)
    one.close()
    return "the connection ends"


@ATTACKS.by("member")
def other_ticket(s):
    """HELLO with the ticket of another connection, which is right otherwise."""
    one, two = s.link(), s.link()
    one.ticket = two.ticket
    answer = one.hello(epoch=s.epoch + 1)
    equal(answer.status, BAD, "status of the hello")
    one.close()
    two.close()
    return "refused"


@ATTACKS.by("member")
def all_memory(s):
    """Grants of 2^32 - 1 pages, asked for again and again, and no page."""
    link = s.joined()
    granted = 0
    for _ in range(8):
        answer = link.ask(Message(GRANT_ASK, nr=MANY))
        equal(answer.kind, GRANT, "type of the answer")
        granted += answer.grants
    true(granted <= LENT - PAGES, f"no more than is free is granted: {granted}")
    link.close()
    return "no more than is free, until its session ends"


def run(t):
    """Each attack, the victim beside it."""
    suffer_all(t, ATTACKS)
