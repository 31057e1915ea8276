# SPDX-License-Identifier: GPL-2.0
"""Counting pages that came in over the network in four independent ways.

 1. nswap on the client: pages its peers' replies brought.
 2. the client's kernel: pswpin, pages its swap code read.
 3. nswap on the servers: pages they sent in answer to loads.
 4. the client's network card: bytes received. From them are taken, in this
    order: the headers of each frame (Ethernet 14, IPv4 20, TCP with time
    stamps 32); nswap's own messages that are not page content, by the
    client's counters of messages; what is left, divided by 4096, is pages.
    Connection set-up, announcements, pings and grants are not in it: they
    are some 100 bytes a second and stay far below 1 %.

Invariant: nothing here is derived from the figure it is compared with,
except the count of message headers in the fourth way (under 4 % of it).
"""
import dataclasses

PAGE = 4096
FRAME_HEADERS = 14 + 20 + 32
MESSAGE_HEADER = 72     # struct nswap_wire_hdr
SLOT_RESULT = 8         # struct nswap_wire_result, one a slot in an answer

WIRE_NOTE = (f"each frame less {FRAME_HEADERS} bytes of headers, less "
             f"{MESSAGE_HEADER} bytes a message and {SLOT_RESULT} a slot "
             "answered, in pages of 4096")


@dataclasses.dataclass
class Snapshot:
    """Counters of one node at one moment."""
    node: dict
    client: dict
    server: dict
    pswpin: int
    pswpout: int
    rx_bytes: int
    rx_packets: int


def snapshot(node):
    """Read every counter of a node."""
    stat = node.stat()
    net = f"/sys/class/net/{node.iface}/statistics"
    return Snapshot(stat["node"], stat["client"], stat["server"],
                    node.vmstat("pswpin"), node.vmstat("pswpout"),
                    int(node.read(f"{net}/rx_bytes")),
                    int(node.read(f"{net}/rx_packets")))


def difference(before, after):
    """Counter by counter, for two dicts of counters."""
    return {key: after[key] - before[key] for key in after
            if isinstance(after[key], int)}


def pages_by_wire(before, after):
    """Pages among the bytes a client received."""
    client = difference(before.client, after.client)
    messages = client["load_msgs"] + client["store_msgs"] + \
        client["free_msgs"]
    payload = after.rx_bytes - before.rx_bytes - \
        FRAME_HEADERS * (after.rx_packets - before.rx_packets)
    payload -= MESSAGE_HEADER * messages
    payload -= SLOT_RESULT * (client["pages_in"] + client["pages_out"])
    return payload / PAGE


def pages_in_four_ways(before, after):
    """{who counted: pages} for a client (the first) and its servers."""
    served = sum(b.server["pages_loaded"] - a.server["pages_loaded"]
                 for a, b in zip(before[1:], after[1:]))
    return {
        "nswap, on the small machine":
            after[0].client["pages_in"] - before[0].client["pages_in"],
        "its kernel's swap code (pswpin)":
            after[0].pswpin - before[0].pswpin,
        "nswap, on the two lenders": served,
        "its network card (bytes)": pages_by_wire(before[0], after[0]),
    }
