# SPDX-License-Identifier: GPL-2.0
"""Messages of the wire protocol as a fuzzer sends them: mostly legal, then changed."""
import os
import select
import struct

from .fuzzing import changed, number
from .rawwire import (ATTACH, CLAIM, CONTROL, DROPPED, FREE, FREE_DEVICE, GRANT_ASK,
                      GRANT_RETURN, HAS_CLASSES, HAS_STAT, HAS_TIMED, HEADER, HOLD_ASK,
                      LOAD, LOADS, MOVE, MOVED, MOVES, PAGE, PING, RETURN, STAT, STORE,
                      STORES, TELLS, Link, Message)

SLOTS, INSTANCES, GENERATIONS = 64, 3, 4
# (type, class of its connection, how often)
KINDS = ((STORE, STORES, 6), (LOAD, LOADS, 4), (LOAD, CONTROL, 2), (FREE, CONTROL, 3),
         (FREE_DEVICE, CONTROL, 1), (HOLD_ASK, CONTROL, 2), (GRANT_ASK, CONTROL, 3),
         (GRANT_RETURN, CONTROL, 1), (PING, CONTROL, 1), (ATTACH, CONTROL, 3),
         (CLAIM, CONTROL, 3), (MOVE, MOVES, 3), (RETURN, MOVES, 1), (MOVED, TELLS, 2),
         (DROPPED, TELLS, 1), (STAT, TELLS, 1))
# legal but for one thing
FIELDS = ("kind", "nr", "flags", "ident", "slot", "instance", "grants", "status", "took",
          "free", "version", "auth", "payload")
WIDTHS = {"kind": 8, "nr": 32, "flags": 16, "ident": 64, "slot": 64, "instance": 32,
          "grants": 32, "status": 16, "took": 32, "free": 64, "version": 8}
# payload for each of nr, and beside them
EACH = {STORE: (4100, 0), LOAD: (4, 0), FREE: (24, 0), CLAIM: (16, 0), MOVE: (4112, 16),
        RETURN: (4112, 16), MOVED: (16, 16), DROPPED: (16, 16)}
# what is done with the bytes of a message
SENT, DRIBBLED, CUT, TWICE, THEN_CLOSED, AS_HELLO = range(6)
HOW = (SENT,) * 20 + (DRIBBLED, CUT, TWICE, TWICE, THEN_CLOSED, AS_HELLO)


def page_of(rng):
    """Where a page is: (slot, instance, generation)."""
    return (rng.randrange(SLOTS), 1 + rng.randrange(INSTANCES),
            1 + rng.randrange(GENERATIONS))


def names(rng, nr):
    """Names of pages."""
    return b"".join(struct.pack("<QII", *page_of(rng)) for _ in range(nr))


def runs(rng, nr):
    """Runs of slots."""
    made = b""
    for _ in range(nr):
        slot, instance, gen = page_of(rng)
        count = number(rng, 32) if rng.random() < 0.1 else rng.randint(1, SLOTS)
        made += struct.pack("<IIQII", instance, gen, slot, count, 0)
    return made


def legal(rng, kind, who):
    """A message of a type that a server has to accept; who: an owner's id and epoch."""
    slot, instance, gen = page_of(rng)
    nr = rng.choice((1, 1, 2, 8, 32))
    gens = struct.pack("<I", gen) * nr
    owner = struct.pack("<QQ", *who)
    if kind == STORE:
        return Message(kind, gens + os.urandom(PAGE) * nr, nr, slot=slot,
                       instance=instance, flags=rng.choice((0, 0, 0x20, 0x100)))
    if kind == LOAD:
        return Message(kind, gens, nr, slot=slot, instance=instance)
    if kind == FREE:
        return Message(kind, runs(rng, nr), nr, flags=rng.choice((0, 0, 8)),
                       slot=number(rng, 64))
    if kind in (GRANT_ASK, GRANT_RETURN, ATTACH):
        return Message(kind, nr=max(1, number(rng, rng.choice((8, 8, 32)))),
                       instance=instance, flags=rng.choice((0, 0x40, 0x80))
                       if kind == ATTACH else 0)
    if kind == CLAIM:
        return Message(kind, names(rng, nr), nr)
    if kind in (MOVED, DROPPED):
        return Message(kind, owner + names(rng, nr), nr)
    if kind in (MOVE, RETURN):
        return Message(kind, owner + names(rng, nr) + os.urandom(PAGE) * nr, nr)
    return Message(kind, instance=instance, slot=slot)


def make(owners):
    """A maker of inputs for fuzzing.Inputs: class of connection, what is done, then the
    message; owners: ids and epochs that a mover may name."""
    kinds = [(kind, on) for kind, on, often in KINDS for _ in range(often)]

    def one(rng):
        kind, on = rng.choice(kinds)
        message = legal(rng, kind, rng.choice(owners))
        message.ident = rng.getrandbits(64)
        if rng.random() < 0.1:
            on = rng.randrange(8)
        field = rng.choice(FIELDS) if rng.random() < 0.35 else None
        if field in WIDTHS:
            setattr(message, field, number(rng, WIDTHS[field]))
        data = message.packed()
        if field == "nr" and message.kind in EACH and rng.random() < 0.5:
            # as many bytes as that number would take
            each, fixed = EACH[message.kind]
            data = data[:8] + struct.pack("<I", (each * message.nr + fixed) & 0xffffffff) \
                + data[12:]
        if field == "auth":
            data = data[:56] + rng.randbytes(16) + data[72:]
        elif field == "payload":
            data = data[:HEADER.size] + changed(rng, data[HEADER.size:])
        elif rng.random() < 0.05:
            data = changed(rng, data)
        return bytes([on, rng.choice(HOW)]) + data

    return one


class Stranger:
    """A client by hand that sends whatever it is told over links of each class; they are
    opened again when the server has closed them."""

    def __init__(self, node, server):
        self.node, self.server = node, server
        self.links, self.epoch, self.session = {}, 1, 0
        self.opened = self.closed = 0

    def send(self, data):
        """One input of make()."""
        on, how, data = data[0] % 8, data[1], data[2:]
        link = self._greeted(None) if how == AS_HELLO else self._link(on)
        if not link:
            return
        parts = [data, data] if how == TWICE else [data]
        if how == DRIBBLED:
            at = len(data) // 2
            parts = [data[:7], data[7:72], data[72:72 + at], data[72 + at:]]
        elif how == CUT:
            parts = [data[:len(data) * 2 // 3]]
        try:
            for part in parts:
                link.sock.sendall(part)
        except OSError:
            self._drop(on, link)
            return
        if how in (CUT, THEN_CLOSED, AS_HELLO):
            self._drop(on, link)
        else:
            self._hear(on, link)

    def _greeted(self, _):
        link = Link(self.node, self.server.addr)
        link.sock.settimeout(2)
        return link

    def _link(self, on):
        if on in self.links:
            return self.links[on]
        if on not in (CONTROL, MOVES, TELLS) and not self._link(CONTROL):
            return None
        link = self._greeted(on)
        if on == CONTROL:
            self.session += 1
        session = 0 if on in (MOVES, TELLS) else self.session
        self.opened += 1
        try:
            answer = link.hello(self.epoch, session, kind=on,
                                features=HAS_TIMED | HAS_CLASSES | HAS_STAT)
        except OSError:
            answer = None
        if not answer or answer.status:
            link.close()
            return None
        self.links[on] = link
        if on == CONTROL:
            link.send(Message(GRANT_ASK, nr=512))
        return link

    def _hear(self, on, link):
        """Take in what comes, so that the server is not held up."""
        while select.select([link.sock], [], [], 0.003)[0]:
            try:
                heard = link.sock.recv(1 << 18)
            except OSError:
                heard = b""
            if not heard:
                self._drop(on, link)
                return

    def _drop(self, on, link):
        self.closed += 1
        if self.links.get(on) is link:
            del self.links[on]
            if on == CONTROL:
                self.close()
        link.close()

    def close(self):
        """End all links."""
        for link in self.links.values():
            link.close()
        self.links = {}

    def forget(self):
        """Another epoch begins, so the server drops all that it holds for this one."""
        self.close()
        self.epoch += 1
        self.session = 0
        link = self._link(CONTROL)
        answer = link.ask(Message(PING)) if link else None
        self.close()
        return answer is not None
