# SPDX-License-Identifier: GPL-2.0
"""A member that does not keep to the rules, as a client and as a mover.

Who is there, and what is looked at after each attack: tests/nswaptest/victims.py.
"""
import socket
import struct

from nswaptest.check import Failure, equal, true
from nswaptest.rawwire import (ATTACH, ATTACHED, BAD, CLAIM, CLAIM_ACK, CONTROL, DROPPED,
                               DROPPED_ACK, FREE, FREE_ACK, FREE_DEVICE, GRANT, GRANT_ASK,
                               GRANT_RETURN, HAS_ALL, HEADER, HOLD_ASK, HOLD_LIST, LOAD,
                               LOADS, MOVE, MOVED, MOVES, NO_ROOM, NOT_HELD, OK, OLDER, PAGE,
                               PING, PONG, RETURN, STALE, STAT, STORE, STORES, TELLS, Link,
                               Message, hello)
from nswaptest.victims import FIRST, PAGES, Attacks, suffer_all

DESCRIPTION = "a hostile member as a client and a mover, beside a program that pages in"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 600

FORGING, WRONG, FLOODING = Attacks(), Attacks(), Attacks()
MANY = (1 << 32) - 1
LENT = 2048             # pages, by the lender
RUN = 32                # pages of a message
DEVICES = 256           # more than an owner may have
ENDS = "the connection ends"


def closed(link):
    """The other side has ended the connection and said nothing."""
    equal(link.answer_bare(), None, "what comes over the connection")
    link.close()


def names(gen=1, first=FIRST, count=RUN):
    """Names of the owner's pages."""
    return b"".join(struct.pack("<QII", slot, 1, gen) for slot in range(first, first + count))


def results(answer, kind=None):
    """What an answer says of each page."""
    if not answer or kind not in (None, answer.kind):
        raise Failure(f"it was answered with {answer}")
    return set(struct.unpack(f"<{2 * answer.nr}I", answer.payload)[1::2])


def mover(s, to=None, kind=MOVES):
    """A connection of a mover."""
    return s.joined(to, session=0, kind=kind, features=HAS_ALL)


# -- others' pages --------------------------------------------------------------

@FORGING.by("member")
def read_others(s):
    """It lists and reads the pages of another owner, in all generations"""
    link = s.joined()
    listed = link.ask(Message(HOLD_ASK))
    equal((listed.kind, listed.nr), (HOLD_LIST, 0), "what it sees of others")
    loads = s.joined(kind=LOADS, session=1)
    for gen in range(1, 4):
        answer = loads.ask(Message(LOAD, struct.pack("<I", gen) * RUN, RUN, slot=FIRST,
                                   instance=1))
        equal(set(struct.unpack(f"<{RUN}I", answer.payload)), {NOT_HELD}, "pages")
    loads.close()
    link.close()
    return "none is there for it"


@FORGING.by("member")
def free_others(s):
    """It frees them: runs of all slots, 128 in a message, and whole devices"""
    link = s.joined()
    run = struct.pack("<IIQII", 1, 1 << 19, 0, MANY, 0)
    equal(link.ask(Message(FREE, 128 * run, 128)).kind, FREE_ACK, "type of the answer")
    equal(link.ask(Message(FREE_DEVICE, instance=1)).kind, FREE_ACK, "likewise")
    link.close()
    return "none is freed"


@FORGING.by("member")
def claim_others(s):
    """It claims them as moved to it"""
    link = s.joined()
    equal(results(link.ask(Message(CLAIM, names(), RUN)), CLAIM_ACK), {NOT_HELD}, "pages")
    link.close()
    return "none is there for it"


@FORGING.by("member")
def moved_to_me(s):
    """It tells the owner that they have moved, to it and to the lender"""
    link = mover(s, s.owner, TELLS)
    info = s.lender.stat()["node"]
    for where in ((s.member.id, s.epoch), (int(info["id"], 16), int(info["epoch"], 16))):
        said = results(link.ask(Message(MOVED, struct.pack("<QQ", *where) + names(), RUN)))
        true(OK not in said, f"what the owner says of them: {said}")
    link.close()
    return "not believed: it holds none of them"


@FORGING.by("member")
def dropped_others(s):
    """It tells the owner that they were dropped"""
    link = mover(s, s.owner, TELLS)
    owner = struct.pack("<QQ", s.at.id, s.at.epoch)
    answer = link.ask(Message(DROPPED, owner + names(), RUN))
    equal(answer.kind, DROPPED_ACK, "type of the answer")
    link.close()
    return "not believed: it holds none of them"


@FORGING.by("member")
def returned_others(s):
    """It returns pages of its own making to the owner"""
    link = mover(s, s.owner)
    owner = struct.pack("<QQ", s.at.id, s.at.epoch)
    said = results(link.ask(Message(RETURN, owner + names() + bytes(RUN * PAGE), RUN)))
    true(OK not in said, f"what the owner says of them: {said}")
    link.close()
    return "not taken: it holds none of them"


@FORGING.by("member")
def moved_over(s):
    """It moves pages of its own making over those that the lender holds, of the same
    generation and an older one, and for another epoch of the owner"""
    link = mover(s)
    for epoch, gen, want in ((s.at.epoch, 1, OK), (s.at.epoch, 0xfffff, OLDER),
                             (s.at.epoch + 1, 2, STALE)):
        owner = struct.pack("<QQ", s.at.id, epoch)
        equal(results(link.ask(Message(MOVE, owner + names(gen) + bytes(RUN * PAGE), RUN))),
              {want}, f"what is said of generation {gen}")
    link.close()
    return "what is held stays"


# -- wrong messages -------------------------------------------------------------

@WRONG.by("member")
def hello_twice(s):
    """A second HELLO on a connection that has said it"""
    link = s.joined()
    link.send(hello(link.who, s.epoch, 2, link.ticket))
    closed(link)
    return ENDS


@WRONG.by("member")
def wrong_class(s):
    """Each message on connections that are not for it"""
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
    return ENDS


@WRONG.by("member")
def crossed(s):
    """A message that was made for one connection goes over another one"""
    one = s.joined()
    two = s.joined(kind=LOADS, session=1)
    message = Message(LOAD, struct.pack("<I", 1), 1, slot=1, instance=1)
    message.auth = one.out.of(message)
    Link.send(two, message)
    closed(two)
    one.close()
    s.refusal()
    return ENDS


@WRONG.by("member")
def repeated(s):
    """A message that was answered comes once more"""
    link = s.joined()
    ping = Message(PING)
    link.send(ping)
    equal(link.answer().kind, PONG, "answer to a ping")
    Link.send(link, ping)
    closed(link)
    s.refusal()
    return ENDS


@WRONG.by("none")
def changed(s):
    """A member's message that was changed on its way, has no tag, or follows one that was
    left out"""
    for change in ("tag", "left out", "type", "slot", "payload", "none"):
        link = s.joined()
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
        s.refusal()
    return ENDS


@WRONG.by("member")
def other_ticket(s):
    """HELLO with the ticket of another connection, which is right otherwise"""
    one, two = s.link(), s.link()
    one.ticket = two.ticket
    answer = one.hello(epoch=s.epoch + 1)
    equal(answer.status, BAD, "status of the hello")
    one.close()
    two.close()
    return "refused"


@WRONG.by("member")
def other_epoch(s):
    """HELLO for the loads of another epoch or session, and for a session of before"""
    control = s.joined()
    for epoch, session, kind in ((s.epoch - 1, 1, LOADS), (s.epoch, 2, STORES),
                                 (s.epoch, 1, CONTROL)):
        link = s.link()
        equal(link.hello(epoch=epoch, session=session, kind=kind).status, STALE,
              "status of the hello")
        link.close()
    equal(control.ask(Message(PING)).kind, PONG, "answer to a ping, meanwhile")
    control.close()
    return "refused"


@WRONG.by("member")
def huge(s):
    """Messages of 2^32 - 1 bytes, or as many pages"""
    for kind, field in ((FREE, 8), (HOLD_ASK, 8), (LOAD, 12), (CLAIM, 12)):
        link = s.joined()
        message = Message(kind, bytes(64), 1)
        packed = bytearray(message.packed())
        packed[field:field + 4] = struct.pack("<I", MANY)
        link.sock.sendall(packed)
        closed(link)
        s.refusal()                     # no tag can be right for it
    return ENDS


@WRONG.by("member")
def torn(s):
    """Half a STORE, MOVE and FREE, then a reset"""
    link = s.joined()
    stores, moves = s.joined(kind=STORES, session=1), mover(s)
    owner = struct.pack("<QQ", s.member.id, s.epoch)
    for at, message in ((stores, Message(STORE, bytes(RUN * (4 + PAGE)), RUN, instance=1)),
                        (moves, Message(MOVE, owner + names() + bytes(RUN * PAGE), RUN)),
                        (link, Message(FREE, bytes(24 * 128), 128))):
        message.auth = at.out.of(message)
        packed = message.packed()
        at.sock.sendall(packed[:HEADER.size + (len(packed) - HEADER.size) // 2])
        at.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        at.close()
    return "nothing is left of them"


# -- as much as it can get ------------------------------------------------------

@FLOODING.by("member")
def all_memory(s):
    """Grants of 2^32 - 1 pages, asked for again and again, and no page"""
    link = s.joined()
    granted = 0
    for _ in range(8):
        answer = link.ask(Message(GRANT_ASK, nr=MANY))
        equal(answer.kind, GRANT, "type of the answer")
        granted += answer.grants
    true(granted <= LENT - PAGES, f"no more than is free is granted: {granted}")
    link.close()
    return "no more than is free, until its session ends"


@FLOODING.by("member")
def all_reserved(s):
    """Devices of 2^32 - 1 pages each to be reserved, and more devices than there may be"""
    link = s.joined(features=HAS_ALL)
    kept, status = 0, set()
    for instance in range(1, DEVICES, 8):
        answer = link.ask(Message(ATTACH, nr=MANY, instance=instance, flags=0x40))
        equal(answer.kind, ATTACHED, "type of the answer")
        kept += answer.nr
        status.add(answer.status)
    true(kept <= LENT - PAGES, f"no more than is free is kept: {kept}")
    true(status <= {OK, NO_ROOM}, f"states of the answers: {status}")
    for instance in range(1, DEVICES, 8):
        link.ask(Message(FREE_DEVICE, instance=instance))
    link.close()
    return "no more than is free, and few devices"


@FLOODING.by("member")
def ungranted(s):
    """Stores of 32 pages that it has no grant for, one after the other"""
    link = s.joined()
    stores = s.joined(kind=STORES, session=1)
    store = Message(STORE, bytes(RUN * (4 + PAGE)), RUN, slot=1, instance=1)
    for _ in range(4):
        link.ask(Message(GRANT_RETURN, nr=LENT))        # it gets some with each answer
        equal(results(stores.ask(store)), {NO_ROOM}, "what is said of them")
    stores.close()
    link.close()
    return "refused, and not kept"


@FLOODING.by("member")
def pings(s):
    """Two hundred pings at a time"""
    if not s.kept:
        s.keep(s.joined())
    link = s.kept[0]
    packed = b""
    for _ in range(200):
        ping = Message(PING)
        ping.auth = link.out.of(ping)
        packed += ping.packed()
    link.sock.sendall(packed)
    for _ in range(200):
        equal(Link.answer(link).kind, PONG, "type of the answer")
    return "answered in its turn"


@FLOODING.by("member")
def not_receiving(s):
    """Questions on a session's connections whose answers it does not receive"""
    if not s.kept:
        s.keep(s.joined())
        for _ in range(6):
            s.keep(s.joined(kind=LOADS, session=1))
        for link in s.kept:
            link.sock.setblocking(False)
            link.unsaid = b""
    load = Message(LOAD, struct.pack("<I", 1) * RUN, RUN, slot=1, instance=1)
    for link in s.kept:
        try:
            for _ in range(32):
                if not link.unsaid:
                    load.auth = link.out.of(load)
                    link.unsaid = load.packed()
                link.unsaid = link.unsaid[link.sock.send(link.unsaid):]
        except BlockingIOError:
            pass
    return "its own connections wait"


@FLOODING.by("member")
def movers(s):
    """As many connections of a mover as it gets, each with a question"""
    if not s.kept:
        told = []
        for i in range(34):
            link = s.keep(s.link())
            told.append(link.hello(session=0, kind=TELLS, features=HAS_ALL).status)
        equal(told, [OK] * 32 + [NO_ROOM] * 2, "what its hellos are answered")
    for link in s.kept[:32]:
        link.send(Message(STAT))
    for link in s.kept[:32]:
        true(link.answer(), "an answer")
    return "it has 32 of them; each is answered"


@FLOODING.by("member")
def sessions(s):
    """New sessions and new epochs, one after the other"""
    s.joined().close()
    link = s.link()
    equal(link.hello(epoch=s.epoch, session=2).status, OK, "status of the hello")
    link.close()
    return "each ends the one before"


def test_forging(t):
    """Other owners' pages."""
    suffer_all(t, FORGING)


def test_wrong(t):
    """Messages that are not right."""
    suffer_all(t, WRONG)


def test_flooding(t):
    """More than its share."""
    suffer_all(t, FLOODING)
