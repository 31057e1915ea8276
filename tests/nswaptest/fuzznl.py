# SPDX-License-Identifier: GPL-2.0
"""Netlink requests as a fuzzer makes them: attributes of the right kind and of others,
nested, missing, doubled, with numbers next to limits."""
import socket
import struct

from . import rawnl
from .fuzzing import changed, number
from .rawnl import attr, nest

K = rawnl.constants()
COMMANDS = {name[10:]: value for name, value in K.items()
            if name.startswith("NSWAP_CMD_")}
TOP = {name[8:]: value for name, value in K.items() if name.startswith("NSWAP_A_")}
# what belongs to a command
ASKED = {
    "NODE_UP": ("ADDR", "LEND_PAGES", "CONNS", "NO_BROADCAST", "LISTED", "KNOB",
                "CLUSTER_KEY", "NODE_KEY", "MEMBERS", "OPEN"),
    "NODE_DOWN": ("NOW", "REBOOT"),
    "NODE_SET": ("LEND_PAGES", "PLACE", "KNOB", "SIZE_POLICY", "POLICY", "MEMBERS",
                 "PROFILE_RESET", "WEIGHT"),
    "DEVICE_ADD": ("SIZE", "HOME", "FLASH", "PROTECT", "CLASS", "RESERVE", "SEAL",
                   "COMPRESS"),
    "DEVICE_DEL": ("DEVICE_NAME",),
    "DEVICE_SET": ("DEVICE_NAME", "POLICY", "PROTECT", "PROFILE_RESET"),
    "TRACE_GET": ("TRACE_AFTER",),
}
NOT_DUMPED = ("NODE_UP", "NODE_DOWN", "NODE_SET", "DEVICE_ADD", "DEVICE_DEL", "DEVICE_SET",
              "STAT_GET")
CHANGING = ("NODE_UP", "NODE_SET", "DEVICE_ADD", "DEVICE_DEL", "DEVICE_SET")
NESTS = {"ADDR": "ADDR", "LISTED": "ADDR", "KNOB": "KNOB", "POLICY": "POLICY",
         "WEIGHT": "WEIGHT"}
WIDE = ("SIZE", "LEND_PAGES", "RESERVE", "TRACE_AFTER", "ID")
FLAGS = ("NO_BROADCAST", "NOW", "PROFILE_RESET", "OPEN", "REBOOT")
KEYS = ("CLUSTER_KEY", "NODE_KEY", "MEMBERS")
TEXTS = {
    "PLACE": ("round-robin", "most-free", "latency", "default", "burst"),
    "SIZE_POLICY": ("watermark", "fixed", "pressure", "owner"),
    "DEVICE_NAME": ("nswap0", "nswap0", "nswap1", "nswap0/../nswap1"),
    "HOME": ("/dev/null", "/dev/nowhere", "/", "/dev/nswap0"),
    "FLASH": ("/dev/null", "/dev/nowhere", "/dev/nswap0"),
    "PROTECT": ("none", "home", "mirror", "parity"),
    "COMPRESS": ("lz4", "zstd", "off"),
    "CLASS": ("normal", "critical", "droppable"),
    "KIND": ("place", "size", "read", "prefetch-when", "prefetch-enable"),
    "NAME": ("dead_after_ms", "announce_ms", "lease_s", "round-robin", "fixed", "on",
             "adaptive", "default"),
}
WORDS = sorted({word for words in TEXTS.values() for word in words} |
               {"", "x" * 300, "-1", "\xff"})
SMALL, HUGE = 512, 1 << 40      # pages; between them a request could take all of RAM


def value(rng, name):
    """The payload of an attribute, mostly of its own kind."""
    how = rng.random()
    if how < 0.06:
        return rng.randbytes(rng.choice((0, 1, 2, 3, 4, 8, 16, 32, 100)))
    if how < 0.1:
        return rng.choice(WORDS).encode() + b"\0" * rng.choice((0, 1, 2))
    if name in TEXTS:
        return rng.choice(TEXTS[name]).encode() + b"\0"
    if name in FLAGS:
        return b""
    if name in KEYS:
        return bytes([rng.randrange(3)]) * (32 * rng.choice((1, 1, 1, 0, 2, 3)))
    fixed = {"IP": socket.inet_aton("10.77.0.1") + bytes(12), "FAMILY": b"\2\0",
             "PORT": b"\x8b\x25"}
    if name in fixed and rng.random() < 0.9:
        return fixed[name]
    made = number(rng, 64)
    if name in WIDE and rng.random() < 0.8:
        made = rng.choice((0, 1, 4096, 65536, 1 << 20, 4 << 20)) >> 12 * (name != "SIZE")
    elif rng.random() < 0.5:
        made = rng.randrange(6000)
    width = 8 if name in WIDE else 1 if name == "SEAL" else 4
    return (made & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def attribute(rng, name):
    """One attribute of the top level."""
    if rng.random() < 0.01:
        deep = b""
        for _ in range(rng.randint(1, 40)):
            deep = nest(TOP[name], deep)
        return deep
    if name not in NESTS or rng.random() < 0.03:
        return attr(TOP[name], value(rng, name))
    prefix = f"NSWAP_{NESTS[name]}_A_"
    inner = [(full.removeprefix(prefix), kind) for full, kind in K.items()
             if full.startswith(prefix) and not full.endswith("SCOPE")]
    # what users set comes first; the rest is for answers
    inner = inner[:{"KNOB": 2, "POLICY": 2}.get(NESTS[name], 4)] if rng.random() < 0.95 \
        else inner
    return nest(TOP[name], *(attr(kind, value(rng, what)) for what, kind in inner
                             if rng.random() < 0.95))


def request(rng):
    """A request: command, version and flags in four bytes, then attributes."""
    name = rng.choice(CHANGING if rng.random() < 0.7 else sorted(COMMANDS))
    known = ASKED.get(name, ("DEVICE_NAME", "NODE"))
    most = 1 if name == "NODE_SET" else len(known)
    names = rng.sample(known, rng.randint(min(1, most), most))
    if name == "DEVICE_ADD" and rng.random() < 0.8:
        names = ["SIZE"] + [n for n in names if n not in ("SIZE", "HOME")]
    if name == "NODE_UP" and rng.random() < 0.9:
        names = ["ADDR"] + [n for n in names if n not in ("ADDR", "OPEN")]
        names += [] if set(names) & set(KEYS) else ["OPEN"]
    if name == "DEVICE_SET":
        names.append("DEVICE_NAME")
    if rng.random() < 0.1:
        names.append(rng.choice(sorted(TOP)))
    payload = b"".join(attribute(rng, one) for one in names)
    if rng.random() < 0.15:
        payload = changed(rng, payload)
    command = COMMANDS[name] if rng.random() < 0.97 else rng.randrange(256)
    dumps = name not in NOT_DUMPED
    flags = rawnl.DUMP | rawnl.ACK if dumps != (rng.random() < 0.05) else rawnl.ACK
    return struct.pack("=BBH", command, rng.choice((1,) * 9 + (0, 255)), flags) + payload


def tame(payload):
    """Whether the request asks for no more RAM than a lab has, and has no interface stop
    answering for long."""
    at = 0
    while at + 4 <= len(payload):
        size, kind = struct.unpack_from("=HH", payload, at)
        asked = int.from_bytes(payload[at + 4:at + min(size, 12)], "little")
        kind &= 0x3fff
        if kind == TOP["LEND_PAGES"] and SMALL < asked < HUGE:
            return False
        if kind in (TOP["SIZE"], TOP["RESERVE"]) and SMALL << 16 < asked < HUGE << 12:
            return False
        if size < 4:
            return True
        at += (size + 3) & ~3
    return True
