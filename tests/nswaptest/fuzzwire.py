# SPDX-License-Identifier: GPL-2.0
"""Messages of the wire protocol as a fuzzer sends them: mostly legal, then changed."""
import select
import struct
import time

from .fuzzing import changed, number
from .rawwire import (ATTACH, CLAIM, CLAIM_ACK, CONTROL, DROPPED, DROPPED_ACK, FREE,
                      FREE_DEVICE, GRANT_ASK, GRANT_RETURN, HAS_ALL, HEADER, HELLO,
                      HOLD_ASK, LOAD, LOAD_REPLY, LOADS, MOVE, MOVE_ACK, MOVED, MOVED_ACK,
                      MOVES, PAGE, PING, RETURN, RETURN_ACK, STAT, STORE, STORE_ACK, STORES,
                      TELLS, Link, Message, carrying, node_id)

SLOTS, INSTANCES, GENERATIONS = 64, 3, 4
# (type, class of its connection, how often)
KINDS = ((STORE, STORES, 6), (LOAD, LOADS, 4), (LOAD, CONTROL, 2), (FREE, CONTROL, 3),
         (FREE_DEVICE, CONTROL, 1), (HOLD_ASK, CONTROL, 2), (GRANT_ASK, CONTROL, 3),
         (GRANT_RETURN, CONTROL, 1), (PING, CONTROL, 1), (ATTACH, CONTROL, 3),
         (CLAIM, CONTROL, 3), (MOVE, MOVES, 3), (RETURN, MOVES, 1), (MOVED, TELLS, 2),
         (DROPPED, TELLS, 1), (STAT, TELLS, 1), (HELLO, CONTROL, 1))
# legal but for one thing
FIELDS = ("kind", "nr", "flags", "ident", "slot", "instance", "grants", "status", "took",
          "free", "version", "auth", "payload")
WIDTHS = {"kind": 8, "nr": 32, "flags": 16, "ident": 64, "slot": 64, "instance": 32,
          "grants": 32, "status": 16, "took": 32, "free": 64, "version": 8}
# payload for each of nr, and beside them
EACH = {STORE: (4100, 0), LOAD: (4, 0), FREE: (24, 0), CLAIM: (16, 0), MOVE: (4112, 16),
        RETURN: (4112, 16), MOVED: (16, 16), DROPPED: (16, 16)}
# what is done with the bytes of a message
SENT, DRIBBLED, CUT, TWICE, THEN_CLOSED, AS_HELLO, FENCED = range(7)
HOW = (SENT,) * 20 + (DRIBBLED, CUT, TWICE, TWICE, THEN_CLOSED, AS_HELLO, FENCED)
FIRST = 1 << 63         # ident of what is asked first on a connection
PATIENCE = 0.003        # s that an answer is waited for while inputs are many
NAMES = dict(enumerate((
    "GREET HELLO HELLO_ACK STORE STORE_ACK LOAD LOAD_REPLY FREE FREE_ACK FREE_DEVICE "
    "HOLD_ASK HOLD_LIST GRANT_ASK GRANT GRANT_RETURN PING PONG MOVE MOVE_ACK MOVED "
    "MOVED_ACK CLAIM CLAIM_ACK RETURN RETURN_ACK ANNOUNCE ATTACH ATTACHED DROPPED "
    "DROPPED_ACK STAT STAT_REPLY").split(), 1))
STATUSES = ("OK", "NO_ROOM", "OLDER", "NOT_HELD", "STALE", "LEAVING", "BAD", "KEEP",
            "SHARE", "NO_HOME")
CLASSES = ("control", "loads", "stores", "moves", "tells")
# answers with a status for each page: bytes of each, where in them it is
RESULTS = {STORE_ACK: (8, 4), LOAD_REPLY: (4, 0), MOVE_ACK: (8, 4), CLAIM_ACK: (8, 4),
           MOVED_ACK: (8, 4), RETURN_ACK: (8, 4), DROPPED_ACK: (8, 4)}
TICKET = bytes([0xff]) * 8      # in a HELLO: that of the connection
# in a message: the ids of the owner and of the stranger, and the epoch of the latter
OWNER, ME, EPOCH = (int.from_bytes(text, "little") for text in (
    b"theowner", b"stranger", b"an-epoch"))
OWNERS = ((77, 1), (78, 2), (ME, EPOCH), (0, 0), (OWNER, 1))


def page_of(rng):
    """Where a page is: (slot, instance, generation); mostly one that others name as well."""
    if rng.random() < 0.4:
        return 1, 1, 1 + rng.randrange(2)
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


def greeting(rng, who):
    """A HELLO, mostly of a new session, and mostly with what it has to have."""
    fields = [*who, rng.choice((1, 2, 9, number(rng, 64))), (1 << 64) - 1]
    if rng.random() < 0.2:
        fields[rng.randrange(4)] = number(rng, 64)
    kind = rng.randrange(5) if rng.random() < 0.9 else number(rng, 8)
    body = struct.pack("<QQQQQB7x96x", *fields, number(rng, 6), kind)
    return Message(HELLO, changed(rng, body, 1) if rng.random() < 0.1 else body)


def some_page(rng):
    """A page; what is in it makes no difference to a server."""
    return bytes([rng.randrange(256)]) * PAGE


def paged(rng, kind, plain, nr, **fields):
    """A message with pages, one in three without the zeros at their ends."""
    if rng.random() < 2 / 3:
        return Message(kind, plain + some_page(rng) * nr, nr, **fields)
    pages = [some_page(rng)[:rng.choice((0, 1, 40, 700, 3000, 4090, PAGE))].ljust(PAGE, b"\0")
             for _ in range(nr)]
    return carrying(kind, plain, pages, True, **fields)


def legal(rng, kind, who):
    """A message of a type that a server has to accept; who: an owner's id and epoch."""
    if kind == HELLO:
        return greeting(rng, who)
    slot, instance, gen = page_of(rng)
    nr = rng.choice((1, 1, 2, 8, 32))
    gens = struct.pack("<I", gen) * nr
    owner = struct.pack("<QQ", *who)
    if kind == STORE:
        return paged(rng, kind, gens, nr, slot=slot, instance=instance,
                     flags=rng.choice((0, 0, 0x20, 0x100)))
    if kind == LOAD:
        return Message(kind, gens, nr, slot=slot, instance=instance,
                       flags=rng.choice((0, 0, 0x400)))
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
        return paged(rng, kind, owner + names(rng, nr), nr)
    return Message(kind, instance=instance, slot=slot)


def make():
    """A maker of inputs for fuzzing.Inputs: class of connection, what is done, then the
    message."""
    kinds = [(kind, on) for kind, on, often in KINDS for _ in range(often)]

    def one(rng):
        kind, on = rng.choice(kinds)
        # were the owner away, a HELLO in its name would end what is held for it
        message = legal(rng, kind, rng.choice(
            OWNERS[:4] if kind == HELLO and rng.random() < 0.98 else OWNERS))
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
        return bytes([on, AS_HELLO if kind == HELLO else rng.choice(HOW)]) + data

    return one


def answered(heard, ident):
    """What was said to the question with this ident, as "STORE_ACK:OK", if it is among the
    bytes heard; whole messages leave them."""
    said = None
    while len(heard) >= HEADER.size:
        kind, size, nr, status = heard[5], *struct.unpack_from("<II", heard, 8), \
            struct.unpack_from("<H", heard, 40)[0]
        whole = HEADER.size + size
        if len(heard) < whole:
            break
        if heard[16:24] == ident and said is None:
            found = {status}
            if kind in RESULTS:
                each, at = RESULTS[kind]
                found = {struct.unpack_from("<I", heard, HEADER.size + each * i + at)[0]
                         for i in range(nr)}
            said = NAMES.get(kind, "?") + ":" + "+".join(
                STATUSES[one] if one < len(STATUSES) else "?" for one in sorted(found))
        del heard[:whole]
    return said


def state(data, said):
    """What was said to what, and where: "STORE/stores/STORE_ACK:OK"."""
    where = {AS_HELLO: "greeted", FENCED: CLASSES[data[0] % 8 % 5] + ",fenced"}.get(
        data[1], (CLASSES + ("?",) * 3)[data[0] % 8])
    name = NAMES.get(data[7], "?") if len(data) > 7 else "?"
    return f"{name}/{where}/{said}"


class Stranger:
    """A client by hand that sends whatever it is told over links of each class; they are
    opened again when the server has closed them."""

    def __init__(self, node, server, owner):
        self.node, self.server, self.owner, self.me = node, server, owner, node_id(node.addr)
        self.links, self.epoch, self.session = {}, 1, 0
        self.opened = self.closed = 0

    def send(self, data, patience=PATIENCE):
        """One input of make(). What came: see answered(); "closed"; None if nothing did."""
        on, how, data = data[0] % 8, data[1], self._named(data[2:])
        link = self._stranger() if how == AS_HELLO else self._link(on)
        if not link:
            return "no link"
        if how == FENCED and not self._fence():
            return "no link"
        if how == AS_HELLO and data[5:6] == bytes([HELLO]) and data[96:104] == TICKET:
            data = data[:96] + struct.pack("<Q", link.ticket) + data[104:]
        try:
            for part in self._parts(how, self._dressed(link, data)):
                link.sock.sendall(part)
        except OSError:
            self._drop(on, link)
            return "closed"
        said = None
        if how not in (CUT, THEN_CLOSED):
            said = self._hear(on, link, data[16:24], patience)
        if how in (CUT, THEN_CLOSED, AS_HELLO):
            self._drop(on, link)
        elif how == FENCED:
            self.close()
        return said

    def _named(self, data):
        """A message with the names that its maker did not know."""
        for name, real in ((OWNER, self.owner), (ME, self.me), (EPOCH, self.epoch)):
            data = data.replace(struct.pack("<Q", name), struct.pack("<Q", real))
        return data

    @staticmethod
    def _parts(how, data):
        if how == TWICE:
            return [data, data]
        if how == DRIBBLED:
            at = 72 + len(data) // 2
            return [data[:7], data[7:72], data[72:at], data[at:]]
        return [data[:len(data) * 2 // 3]] if how == CUT else [data]

    def _connect(self):
        return Link(self.node, self.server.addr)

    def _dressed(self, _, data):
        """What goes over the link for a message."""
        return data

    def _stranger(self):
        link = self._connect()
        link.sock.settimeout(2)
        link.heard = bytearray()
        return link

    def _hello(self, on):
        """A link of a class, None if the server does not want it."""
        link = self._stranger()
        if on == CONTROL:
            self.session += 1
        session = 0 if on in (MOVES, TELLS) else self.session
        self.opened += 1
        try:
            # in every other session with less than there is
            answer = link.hello(self.epoch, session, kind=on,
                                features=HAS_ALL >> (session % 3 if session % 2 else 0))
        except OSError:
            answer = None
        if answer and not answer.status:
            return link
        link.close()
        if on == CONTROL:
            # its number may be beyond all others
            self.epoch, self.session = self.epoch + 1, 0
        return None

    def _link(self, on):
        if on in self.links:
            return self.links[on]
        if on not in (CONTROL, MOVES, TELLS) and not self._link(CONTROL):
            return None
        link = self._hello(on)
        if link and on == CONTROL:
            try:
                link.send(Message(GRANT_ASK, nr=512, ident=FIRST))
            except OSError:
                link.close()
                return None
        if link:
            self.links[on] = link
        return link

    def _fence(self):
        """A newer session begins beside the links there are."""
        link = self._hello(CONTROL)
        if link:
            link.close()
        return link

    def _hear(self, on, link, ident, patience):
        """Take in what comes, so that the server is not held up; what was said to ident."""
        said, until = None, time.monotonic() + patience
        while select.select([link.sock], [], [], PATIENCE if said else max(
                PATIENCE, until - time.monotonic()))[0]:
            try:
                heard = link.sock.recv(1 << 18)
            except OSError:
                heard = b""
            if not heard:
                self._drop(on, link)
                return said or "closed"
            link.heard += heard
            said = answered(link.heard, ident) or said
        return said

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
        try:
            answer = link.ask(Message(PING)) if link else None
        except OSError:
            answer = None
        self.close()
        return answer is not None
