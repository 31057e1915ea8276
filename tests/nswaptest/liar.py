# SPDX-License-Identifier: GPL-2.0
"""A member that serves by hand, and lies: announces itself to a node, and answers each of
its connections as an attack says.
"""
import contextlib
import os
import select
import socket
import struct
import threading

from .netns import inside
from .rawkeys import BASE, announcement, curve25519, exchanged, welcome_tag
from .rawwire import GREET, HELLO_ACK, HAS_ALL, PORT, Message, announced, take

LEAVING = 2


class Liar:
    """answer(liar, socket) is called for each connection, in a thread of its own; met
    counts those that it has answered. free: pages that it says it has."""

    def __init__(self, node, keys, victim, answer, free=1 << 20):
        self.keys, self.answer, self.met, self.free = keys, answer, 0, free
        self.addr, self.victim, self._stop = node.addr, victim.addr, False
        with inside(node):
            self._listener = socket.create_server((node.addr, PORT), backlog=16)
            self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((node.addr, PORT))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _say(self, flags=0):
        with contextlib.suppress(OSError):
            self._udp.sendto(announcement(self.keys.cluster, announced(
                self.keys.id, 1, self.addr, self.free, self.free), flags),
                (self.victim, PORT))

    def _run(self):
        while not self._stop:
            self._say()
            if select.select([self._listener], [], [], 0.1)[0]:
                sock, _ = self._listener.accept()
                sock.settimeout(2)
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with sock, contextlib.suppress(EOFError, OSError):
            try:
                self.answer(self, sock)
            finally:
                self.met += 1

    def greet(self, sock, who=None, own=None, huge=False):
        """GREET, perhaps under another name, or of 2^32 - 1 bytes; what it says, and its
        half."""
        half = os.urandom(32)
        payload = struct.pack("<QQQ", who or self.keys.id, 1, 1 + self.met) + \
            curve25519(half, BASE) + (own or self.keys.public) + bytes(32)
        packed = bytearray(Message(GREET, payload).packed())
        if huge:
            packed[8:12] = b"\xff" * 4
        sock.sendall(packed)
        return payload, half

    def welcome(self, sock, greet, half, wrong=False, grants=(1 << 32) - 1):
        """HELLO_ACK with all that can be promised; wrong: its tag."""
        said = take(sock)
        once, own = said.payload[48:80], said.payload[80:112]
        products = curve25519(half, once) + curve25519(half, own) + \
            curve25519(self.keys.secret, once)
        bare = said.payload[:112] + bytes(16) + said.payload[128:]
        key = exchanged(self.keys.cluster, products, greet, bare)
        answer = Message(HELLO_ACK, struct.pack("<Q", HAS_ALL) + bytes(96),
                         ident=said.ident, grants=grants, free=(1 << 64) - 1)
        tag = os.urandom(16) if wrong else welcome_tag(key, answer)
        answer.payload = answer.payload[:72] + tag + answer.payload[88:]
        sock.sendall(answer.packed())

    def close(self):
        """It leaves."""
        self._stop = True
        self._thread.join()
        self._say(LEAVING)
        self._listener.close()
        self._udp.close()
