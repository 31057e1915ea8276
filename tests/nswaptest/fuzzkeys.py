# SPDX-License-Identifier: GPL-2.0
"""A member of the cluster that sends whatever comes to its mind: what fuzzwire makes, with
its key and the tags that a server asks for, mostly."""
import struct

from .fuzzwire import Stranger
from .rawkeys import KeyedLink
from .rawwire import HEADER, HELLO, Message


def unpacked(data):
    """The message that these bytes are, None if they are none."""
    if len(data) < HEADER.size:
        return None
    (_, version, kind, flags, size, nr, ident, slot, instance, grants, status, _, took, free,
     auth) = HEADER.unpack_from(data)
    made = Message(kind, data[HEADER.size:], nr, flags, ident, slot, instance, grants, status,
                   took, free, version, auth)
    return made if size == len(made.payload) and made.packed() == data else None


class Member(Stranger):
    """The same with keys. What is no message, or has a tag already, goes as it is."""

    def __init__(self, node, server, owner, keys):
        super().__init__(node, server, owner)
        self.keys, self.me = keys, keys.id

    def _connect(self):
        return KeyedLink(self.node, self.server.addr, self.keys)

    def _dressed(self, link, data):
        message = unpacked(data)
        if not message or any(message.auth):
            return data
        if link.out:
            message.auth = link.out.of(message)
        elif message.kind == HELLO and len(message.payload) == 144 and \
                not any(message.payload[48:]):
            who, epoch, session, _, features, kind = struct.unpack_from(
                "<QQQQQB", message.payload)
            named, _ = link.hello_with(epoch, session, kind, who, features=features)
            message.payload = named.payload
        return message.packed()
