# SPDX-License-Identifier: GPL-2.0
"""The wire protocol by hand, for what the module would never send.

A Peer serves and announces in a node's network namespace, where no nswap is up;
a Link is one connection to a server.  Both live in threads of the scenario.
See docs/protocol.md for the layout; it is written down here a second time.
"""
import contextlib
import dataclasses
import select
import socket
import struct
import threading

from .check import Failure
from .netns import inside

PORT = 9611
PAGE = 4096
HEADER = struct.Struct("<IBBHIIQQIIHHIQ16s")
MAGIC = 0x5057534e

(GREET, HELLO, HELLO_ACK, STORE, STORE_ACK, LOAD, LOAD_REPLY, FREE, FREE_ACK,
 FREE_DEVICE, HOLD_ASK, HOLD_LIST, GRANT_ASK, GRANT, GRANT_RETURN, PING, PONG,
 MOVE, MOVE_ACK, MOVED, MOVED_ACK, CLAIM, CLAIM_ACK, RETURN, RETURN_ACK,
 ANNOUNCE, ATTACH, ATTACHED, DROPPED, DROPPED_ACK, STAT, STAT_REPLY) = range(1, 33)
# each of these may be lost, with the connection that it travels on
LOSABLE = {name: globals()[name] for name in (
    "STORE", "STORE_ACK", "LOAD", "LOAD_REPLY", "FREE", "FREE_ACK", "HOLD_ASK",
    "HOLD_LIST", "GRANT_ASK", "GRANT", "PING", "PONG", "MOVE", "MOVE_ACK", "MOVED",
    "MOVED_ACK", "CLAIM", "CLAIM_ACK")}
LAST, TIMED, SHORT = 0x01, 0x20, 0x400
OK, NO_ROOM, OLDER, NOT_HELD, STALE, LEAVING, BAD = range(7)
CONTROL, LOADS, STORES, MOVES, TELLS = range(5)
HAS_TIMED, HAS_CLASSES, HAS_SHARES, HAS_STAT, HAS_SHORT = 1, 2, 4, 8, 16
# what the module has
HAS_ALL = HAS_TIMED | HAS_CLASSES | HAS_SHARES | HAS_STAT | HAS_SHORT


def siphash(key, data):
    """SipHash-2-4 of bytes, the key as 16 bytes."""
    mask = (1 << 64) - 1
    low, high = struct.unpack("<QQ", key)
    v = [0x736f6d6570736575 ^ low, 0x646f72616e646f6d ^ high,
         0x6c7967656e657261 ^ low, 0x7465646279746573 ^ high]

    def rotated(value, by):
        return (value << by | value >> (64 - by)) & mask

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotated(v[1], 13) ^ v[0]
            v[0] = rotated(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotated(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotated(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotated(v[1], 17) ^ v[2]
            v[2] = rotated(v[2], 32)
    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 0xff])
    for word in struct.unpack(f"<{len(padded) // 8}Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def node_id(ip, port=PORT, hardware=0):
    """The id of a node at an IPv4 address, on an interface with this hardware
    address."""
    address = int.from_bytes(socket.inet_aton(ip) + bytes(4), "big")
    key = struct.pack("<QQ", 0x6e73776170206964, 0x7632303236313131)
    return siphash(key, struct.pack("<QQQQ", address, 0, socket.AF_INET << 16 | port,
                                    hardware))


@dataclasses.dataclass
class Message:
    """One message; the fields of its header by name."""
    kind: int
    payload: bytes = b""
    nr: int = 0
    flags: int = 0
    ident: int = 0
    slot: int = 0
    instance: int = 0
    grants: int = 0
    status: int = 0
    took: int = 0
    free: int = 0
    version: int = 2
    auth: bytes = bytes(16)

    def packed(self):
        """As it goes over the wire."""
        return HEADER.pack(
            MAGIC, self.version, self.kind, self.flags, len(self.payload),
            self.nr, self.ident, self.slot, self.instance, self.grants,
            self.status, PAGE, self.took, self.free, self.auth) + self.payload


def receive(sock, size):
    """Exactly so many bytes; EOFError at the end."""
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def take(sock):
    """One message from a connection; EOFError at its end."""
    (magic, version, kind, flags, size, nr, ident, slot, instance, grants,
     status, _, took, free, auth) = HEADER.unpack(receive(sock, HEADER.size))
    if magic != MAGIC:
        raise Failure(f"a message begins with {magic:x}")
    return Message(kind, receive(sock, size), nr, flags, ident, slot,
                   instance, grants, status, took, free, version, auth)


def shortened(page):
    """A page without the zeros at its end; a byte of it is left at least."""
    return page.rstrip(b"\0") or b"\0"


def carrying(kind, plain, pages, short=False, **fields):
    """A message with pages behind its generations, statuses or names; short: without the
    zeros at their ends. None among pages is one that is not sent."""
    parts = [b"" if page is None else shortened(page) if short else page for page in pages]
    if short:
        plain += struct.pack(f"<{len(parts)}H", *map(len, parts))
        fields["flags"] = fields.get("flags", 0) | SHORT
    return Message(kind, plain + b"".join(parts), len(parts), **fields)


def carried(message, first, each):
    """The pages of a message that has so many bytes, and so many for each page, in front of
    them; b"" for one that is not sent."""
    at = first + each * message.nr
    lens = [PAGE] * message.nr
    if message.flags & SHORT:
        lens = struct.unpack_from(f"<{message.nr}H", message.payload, at)
        at += 2 * message.nr
    elif message.kind == LOAD_REPLY:
        lens = [0 if state else PAGE
                for state in struct.unpack_from(f"<{message.nr}I", message.payload)]
    pages = []
    for size in lens:
        pages.append(message.payload[at:at + size].ljust(PAGE if size else 0, b"\0"))
        at += size
    if at != len(message.payload):
        raise Failure(f"a message of type {message.kind} ends at {len(message.payload)}, "
                      f"its pages at {at}")
    return pages


def hello(who, epoch, session, ticket, kind=CONTROL, features=HAS_TIMED,
          version=2, reserved=bytes(7), keys=bytes(96)):
    """A HELLO in version 1 or 2."""
    body = struct.pack("<QQQQ", who, epoch, session, ticket)
    tail = struct.pack("B", kind) + reserved
    if version == 2:
        body += struct.pack("<Q", features) + tail + keys
    else:
        body += tail
    return Message(HELLO, body, version=version)


def announced(who, epoch, addr, lent=64, free=64, used=0, port=PORT):
    """What an announcement says."""
    return struct.pack("<QQHHI16sQQQ", who, epoch, socket.AF_INET, port, 0,
                       socket.inet_aton(addr) + bytes(12), lent, free, used)


class Link:
    """A connection from a node's namespace to a server, greeted."""

    def __init__(self, node, to, timeout=10):
        with inside(node):
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        self.sock.connect((to, PORT))
        self.who = node_id(node.addr)
        self.greet = greet = take(self.sock)
        if greet.kind != GREET or len(greet.payload) != 120:
            raise Failure(f"a server begins with type {greet.kind} and "
                          f"{len(greet.payload)} bytes")
        self.version = greet.version
        self.id, self.epoch, self.ticket = struct.unpack_from(
            "<QQQ", greet.payload)
        self.features = None

    def hello(self, epoch=1, session=1, **options):
        """Say hello; the answer, None if the connection is closed."""
        self.send(hello(self.who, epoch, session, self.ticket, **options))
        answer = self.answer()
        if answer and answer.kind == HELLO_ACK:
            self.features = struct.unpack_from("<Q", answer.payload)[0]
        return answer

    def send(self, message):
        """Send a message."""
        self.sock.sendall(message.packed())

    def answer(self):
        """The next message, None if the connection is closed."""
        try:
            return take(self.sock)
        except (EOFError, ConnectionError):
            return None

    def ask(self, message):
        """Send a message, return its answer."""
        self.send(message)
        return self.answer()

    def close(self):
        self.sock.close()


class Peer:
    """A node by hand: announces itself to others every 0.2 s and serves.

    version, features and greets (version of the GREET, if another) may be
    changed at any time; hellos are those heard, asked counts (type, flags).
    full: it takes no page; free_ack, load_reply, store_ack: seconds until a FREE, a LOAD
    or a STORE, whose pages it has then, is answered; attached, forgets: likewise an ATTACH
    or a FREE_DEVICE, by device instance; refuses: instances that it has no memory to attach; told: (type, instance) of
    each ATTACH and FREE_DEVICE; held_up, if it is an event: a
    HOLD_ASK that goes on with an earlier one waits for it; slow, if it is an event: no
    page is taken before it; tells: what it
    answers to a STAT, a Message, None for nothing at all; movers: ids of those that CLAIMs
    named.
    """

    def __init__(self, node, others, version=2, features=HAS_TIMED, epoch=1,
                 announces=True, ident=None):
        self.addr, self.id = node.addr, ident or node_id(node.addr)
        self.others = [o.addr for o in others]
        self.version, self.features, self.epoch = version, features, epoch
        self.announces = announces
        self.hellos, self.asked, self.pages, self.pending = [], {}, {}, {}
        self.refused, self.movers = 0, set()
        self.full, self.free_ack, self.held_up = False, 0, None
        self.load_reply, self.store_ack, self.slow, self.tells = 0, 0, None, None
        self.attached, self.forgets, self.refuses, self.told = {}, {}, set(), []
        self._lock, self._out = threading.Lock(), threading.Lock()
        self._stop, self._ticket, self._socks = False, 0, []
        with inside(node):
            self._listener = socket.create_server((node.addr, PORT), backlog=64)
            self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((node.addr, PORT))
        self._threads = [threading.Thread(target=f, daemon=True)
                         for f in (self._announce, self._accept)]
        for thread in self._threads:
            thread.start()

    def restart(self, **changes):
        """It is another module now: connections and pages are gone."""
        with self._lock:
            self.epoch += 1
            for key, value in changes.items():
                setattr(self, key, value)
            self.pages, self.pending, self.hellos = {}, {}, []
            self._cut_all()

    def cut(self):
        """Its connections break; it keeps its pages."""
        with self._lock:
            self._cut_all()

    def still(self):
        """While this is entered it handles no message: pages do not change."""
        return self._lock

    def close(self):
        """Fall silent."""
        self._stop = True
        with self._lock:
            self._cut_all()
        for thread in self._threads:
            thread.join()
        self._listener.close()
        self._udp.close()

    def _cut_all(self):
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._socks = []

    def _announcement(self):
        return Message(ANNOUNCE, announced(
            self.id, self.epoch, self.addr, 4096, 0 if self.full else 4096 - len(self.pages),
            len(self.pages)), version=self.version).packed()

    def _announce(self):
        while not self._stop:
            for other in self.others if self.announces else ():
                with contextlib.suppress(OSError):
                    self._udp.sendto(self._announcement(), (other, PORT))
            select.select([], [], [], 0.2)

    def _accept(self):
        while not self._stop:
            if not select.select([self._listener], [], [], 0.1)[0]:
                continue
            sock, _ = self._listener.accept()
            with self._lock:
                self._socks.append(sock)
                self._ticket += 1
                ticket = self._ticket
            threading.Thread(target=self._serve, args=(sock, ticket),
                             daemon=True).start()

    def _greet(self, ticket):
        keys = bytes(96) if self.version == 2 else b""
        return Message(GREET, struct.pack("<QQQ", self.id, self.epoch,
                                          ticket) + keys,
                       version=self.version)

    def _serve(self, sock, ticket):
        with sock, contextlib.suppress(EOFError, OSError):
            sock.sendall(self._greet(ticket).packed())
            try:
                said = take(sock)
            except (EOFError, OSError):
                self.refused += 1
                return
            if said.kind != HELLO or len(said.payload) != 144:
                raise Failure(f"hello is type {said.kind}")
            kind = said.payload[40]
            features = struct.unpack_from("<Q", said.payload, 32)[0]
            with self._lock:
                self.hellos.append((kind, features))
            sock.sendall(Message(
                HELLO_ACK, struct.pack("<Q", self.features) + bytes(96),
                ident=said.ident, grants=0 if kind else 512,
                slot=len(self.pages), free=2048).packed())
            while True:
                if kind == STORES and self.slow:
                    self.slow.wait(60)
                question = take(sock)
                if question.kind == HOLD_ASK and question.slot and self.held_up:
                    self.held_up.wait(60)
                with self._lock:
                    key = (question.kind, question.flags)
                    self.asked[key] = self.asked.get(key, 0) + 1
                    answer = self._handle(question)
                    if question.kind in (ATTACH, FREE_DEVICE):
                        self.told.append((question.kind, question.instance))
                if not answer:
                    continue
                answer.ident = question.ident
                answer.slot = answer.slot or question.slot
                answer.instance = question.instance
                answer.free = 0 if self.full else 2048
                later = {FREE: self.free_ack, LOAD: self.load_reply,
                         STORE: self.store_ack,
                         ATTACH: self.attached.get(question.instance),
                         FREE_DEVICE: self.forgets.get(question.instance),
                         }.get(question.kind)
                if later:
                    threading.Timer(later, self._answer, (sock, answer)).start()
                else:
                    self._answer(sock, answer)

    def _answer(self, sock, answer):
        with self._out, contextlib.suppress(OSError):
            sock.sendall(answer.packed())

    def _handle(self, q):
        if q.kind == STORE:
            return self._store(q)
        if q.kind == LOAD:
            return self._load(q)
        if q.kind == FREE:
            for i in range(q.nr):
                run = struct.unpack_from("<IIQII", q.payload, 24 * i)
                for slot in range(run[2], run[2] + run[3]):
                    if self.pages.get((run[0], slot), (1 << 20,))[0] <= run[1]:
                        del self.pages[run[0], slot]
            return Message(FREE_ACK)
        if q.kind == FREE_DEVICE:
            self.pages = {k: v for k, v in self.pages.items()
                          if k[0] != q.instance}
            return Message(FREE_ACK)
        if q.kind == ATTACH:
            return Message(ATTACHED, status=NO_ROOM if q.instance in self.refuses else OK)
        if q.kind == HOLD_ASK:
            return self._list(q)
        if q.kind == GRANT_ASK:
            return Message(GRANT, grants=0 if self.full else min(q.nr, 512))
        if q.kind == GRANT_RETURN:
            return Message(GRANT)
        if q.kind == PING:
            return Message(PONG)
        if q.kind == STAT:
            return self.tells
        if q.kind in (MOVE, CLAIM):
            return self._moved(q)
        raise EOFError

    def _store(self, q):
        gens = struct.unpack_from(f"<{q.nr}I", q.payload)
        answer = b""
        pages = carried(q, 0, 4)
        for i, gen in enumerate(gens):
            if not self.full:
                self.pages[(q.instance, q.slot + i)] = gen, pages[i]
            answer += struct.pack("<II", gen, NO_ROOM if self.full else OK)
        return Message(STORE_ACK, answer, q.nr, grants=0 if self.full else q.nr,
                       took=1000 if q.flags & TIMED else 0)

    def _load(self, q):
        states, pages = b"", []
        for i, gen in enumerate(struct.unpack_from(f"<{q.nr}I", q.payload)):
            held = self.pages.get((q.instance, q.slot + i), (None, b""))
            states += struct.pack("<I", OK if held[0] == gen else NOT_HELD)
            pages.append(held[1] if held[0] == gen else None)
        short = q.flags & SHORT and any(page and len(shortened(page)) <= PAGE - 64
                                        for page in pages)
        return carrying(LOAD_REPLY, states, pages, short,
                        took=1000 if q.flags & TIMED else 0)

    def _list(self, q):
        held = sorted((instance, slot, gen) for (instance, slot), (gen, _)
                      in self.pages.items() if (instance, slot) >=
                      (q.instance, q.slot))
        runs = b"".join(struct.pack("<IIQII", instance, gen, slot, 1, 0)
                        for instance, slot, gen in held[:128])
        return Message(HOLD_LIST, runs, min(len(held), 128), slot=1 << 40,
                       flags=0 if len(held) > 128 else LAST)

    def _moved(self, q):
        answer = b""
        if q.kind == CLAIM:
            self.movers.add(q.slot)
        first = 16 if q.kind == MOVE else 0
        pages = carried(q, first, 16) if q.kind == MOVE else []
        for i in range(q.nr):
            slot, instance, gen = struct.unpack_from("<QII", q.payload,
                                                     first + 16 * i)
            key = (instance, slot)
            status = OK
            if q.kind == MOVE:
                self.pending[key] = gen, pages[i]
            elif self.pending.get(key, (None,))[0] == gen:
                self.pages[key] = self.pending.pop(key)
            else:
                status = NOT_HELD
            answer += struct.pack("<II", gen, status)
        return Message(MOVE_ACK if q.kind == MOVE else CLAIM_ACK, answer, q.nr)
