# SPDX-License-Identifier: GPL-2.0
"""Bad input: one clear sentence, exit code 1, and nothing changed."""
import re
import socket
import struct

from nswaptest.check import Failure, equal, true, wait_for
from nswaptest.scenario import ROOT

DESCRIPTION = "every refusal is one sentence with exit code 1 and no effect"
SUITES = ("lab",)
LONG = ("refusals", "rights", "malformed")
NEEDS = ("module",)
TIMEOUT = 180


def state(node):
    """Everything that a refused request must leave alone."""
    lent = node.stat()["node"]
    return (node.ctl("nodes"), node.devices(), sorted(node.peers()),
            lent["lent_pages"], node.ctl("policy"), node.ctl("prefetch"),
            node.run("ss -Hltun").out)


def start(t, n=1):
    """A node that is up with one device."""
    cluster = t.cluster(n)
    node = cluster[0]
    node.up(lend="4M")
    dev = node.device_add("8M")
    return cluster, node, dev


def test_refusals(t):
    """Requests to a node that is up."""
    _, node, dev = start(t)
    before = state(node)
    for args in (
            ("up", "--open"),
            ("up", "--open", "--lend", "4M"),
            ("device", "add", "--size", "0"),
            ("device", "add", "--size", "5000"),
            ("device", "add", "--size", "4096000000G"),
            ("device", "del", "nswap77"),
            ("policy", "place", "nonsense"),
            ("policy", "place", "default"),
            ("policy", "place", "nonsense", "--device", dev),
            ("policy", "place", "latency", "--device", "nswap77"),
            ("policy", "size", "fixed", "--device", dev),
            ("policy", "size", "default", "--device", dev),
            ("policy", "--device", "nswap77"),
            ("prefetch", "on", "--device", "nswap77"),
            ("prefetch", "set", "when", "nonsense", "--device", dev),
            ("prefetch", "set", "nonsense", "on", "--device", dev),
            ("prefetch", "set", "to", "ram", "--device", dev),
            ("prefetch", "set", "period_ms", "50", "--device", dev),
            ("profile", "--device", "nswap77"),
            ("profile", "--device", "nswap77", "--reset"),
            ("set", "no_such_knob", "1"),
            ("set", "dead_after_ms", "0"),
            ("lend", "4096000G")):
        said = node.refused(*args)
        t.log(f"{' '.join(args)}: {said}")
        equal(state(node), before, f"the state after '{' '.join(args)}'")
    node.run(f"exec 3<>/dev/{dev}; {node.prog('nswapctl')} device del {dev}"
             " 2>/run/said; test $? = 1")
    true(dev in node.read("/run/said"), "the refusal does not name the device")
    equal(state(node), before, "the state after deleting an open device")


def test_before_up(t):
    """Requests that need a node, where none is up; and bad addresses."""
    cluster = t.cluster(2)
    node = cluster[0]
    for args in (
            ("stat",), ("peers",), ("down",), ("device", "add", "--size", "8M"),
            ("lend", "1M"), ("policy", "place", "round-robin"),
            ("up", "--open", "--addr", "10.99.0.1"),
            ("up", "--open", "--addr", "fd99::1"),
            ("up", "--open", "--lend", "4096000G")):
        said = node.refused(*args)
        t.log(f"{' '.join(args)}: {said}")
        equal(node.ctl("nodes"), [], f"nodes after '{' '.join(args)}'")
        equal(node.run("ss -Hltun").out, "", "sockets after it")


def test_usage(t):
    """What cannot be understood at all is exit code 2."""
    node = t.cluster(1)[0]
    for args in (("fly",), ("up", "--lend"), ("up", "--lend", "much"),
                 ("up", "--no-such-option"), ("up", "--addr", "300.1.2.3"),
                 ("up", "--port", "99999"), ("device", "add"),
                 ("policy", "place", "latency", "--device"),
                 ("policy", "place", "latency", "--device", ""),
                 ("profile", "--device", "nswap0", "--device", "nswap1"),
                 ("device", "add", "--size", "-1"), ("device",), ()):
        said = node.refused(*args, code=2)
        t.log(f"{' '.join(args)}: {said.splitlines()[0]}")
    equal(node.ctl("nodes"), [], "nodes")
    node.run([node.prog("nswapctl"), "--help"])
    node.run([node.prog("nswapctl"), "up", "--help"])


def test_port_taken(t):
    """Another program sits on the port."""
    node = t.cluster(1)[0]
    for kind in ("SOCK_STREAM", "SOCK_DGRAM"):
        holder = node.popen(["python3", "-c", f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.{kind})
s.bind(("{node.addr}", 9611))
if s.type == socket.SOCK_STREAM:
    s.listen()
time.sleep(1000)"""])
        wait_for(lambda: "9611" in node.run("ss -Hltun").out, 10,
                 "the port is taken")
        t.log(node.refused("up", "--open"))
        equal(node.ctl("nodes"), [], "nodes")
        holder.kill()
        wait_for(lambda: "9611" not in node.run("ss -Hltun").out, 10,
                 "the port is free")
    node.up()
    node.down()


def test_rights(t):
    """Root of another user namespace may look but not touch."""
    _, node, dev = start(t)
    before = state(node)
    ctl = node.prog("nswapctl")
    for args in ("down", f"device del {dev}", "device add --size 4M",
                 "lend 8M", "policy place round-robin"):
        done = node.run(f"unshare -Ur {ctl} {args}", check=False)
        equal(done.code, 1, f"exit code of '{args}' without rights")
        equal(len(done.err.strip().splitlines()), 1, "lines said")
        equal(state(node), before, f"the state after '{args}'")
    done = node.run(f"unshare -Urn {ctl} up --open", check=False)
    equal(done.code, 1, "exit code of up in a namespace of its own")


# -- malformed netlink ------------------------------------------------------

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME = 16, 3, 2


def attribute(kind, payload):
    """One netlink attribute."""
    pad = b"\0" * (-len(payload) % 4)
    return struct.pack("=HH", len(payload) + 4, kind) + payload + pad


class Raw:
    """A generic netlink socket that sends what it is told."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(5)
        self.sock.bind((0, 0))
        answer = self.ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                          attribute(CTRL_ATTR_FAMILY_NAME, b"nswap\0"), 1)[1]
        self.family = self._attribute(answer[20:], 1)

    @staticmethod
    def _attribute(data, wanted):
        while len(data) >= 4:
            size, kind = struct.unpack_from("=HH", data)
            if kind == wanted:
                return struct.unpack_from("=H", data, 4)[0]
            data = data[(size + 3) & ~3:]
        raise Failure("the control family names no id for nswap")

    def ask(self, family, command, payload, version=1, flags=NLM_F_ACK):
        """Send one message; (errno, first answer)."""
        body = struct.pack("=BBH", command, version, 0) + payload
        self.sock.send(struct.pack("=IHHII", 16 + len(body), family,
                                   NLM_F_REQUEST | flags, 1, 0) + body)
        first = self.sock.recv(65536)
        kind = struct.unpack_from("=H", first, 4)[0]
        if kind == 2:
            return -struct.unpack_from("=i", first, 16)[0], first
        if flags == NLM_F_ACK:
            self.sock.recv(65536)
        return 0, first


def constants():
    """The names and numbers of the interface's header."""
    text = (ROOT / "include/uapi/linux/nswap.h").read_text()
    found = {}
    for block in re.findall(r"enum \w* ?\{(.*?)\}", text, re.S):
        value = -1
        for name, start in re.findall(r"(NSWAP_\w+)(?: = (\d+))?,?", block):
            value = int(start) if start else value + 1
            found[name] = value
    return found


def test_malformed(t):
    """Malformed netlink messages: an error, no change, no kernel warning."""
    _, node, _ = start(t)
    before = state(node)
    k = constants()
    raw = Raw()
    number, addr = k["NSWAP_A_NODE"], k["NSWAP_A_ADDR"]
    lend, size = k["NSWAP_A_LEND_PAGES"], k["NSWAP_A_SIZE"]
    name, place = k["NSWAP_A_DEVICE_NAME"], k["NSWAP_A_PLACE"]
    knob, listed = k["NSWAP_A_KNOB"], k["NSWAP_A_LISTED"]
    up, set_node = k["NSWAP_CMD_NODE_UP"], k["NSWAP_CMD_NODE_SET"]
    add, delete = k["NSWAP_CMD_DEVICE_ADD"], k["NSWAP_CMD_DEVICE_DEL"]
    down = k["NSWAP_CMD_NODE_DOWN"]
    family = struct.pack("=H", 77)
    bad = [
        (200, b""), (0, b""),
        (down, attribute(number, b"\1")),
        (down, attribute(number, struct.pack("=I", 999))),
        (up, attribute(addr, b"\1\2\3")),
        (up, attribute(addr, attribute(1, family))),
        (up, attribute(listed, attribute(2, b"short"))),
        (add, b""), (add, attribute(size, b"\0\0\0")),
        (add, attribute(size, struct.pack("=Q", 1 << 63))),
        (delete, b""), (delete, attribute(name, b"")),
        (delete, attribute(name, b"x" * 4000)),
        (delete, attribute(name, b"nswap0/../nswap0\0")),
        (set_node, b""), (set_node, attribute(lend, b"\1\2")),
        (set_node, attribute(place, b"\xff" * 300)),
        (set_node, attribute(knob, b"")),
        (set_node, attribute(knob, attribute(1, b"dead_after_ms\0"))),
        (set_node, struct.pack("=HH", 2, place)),
        (set_node, struct.pack("=HH", 60000, place) + b"abcd"),
    ]
    for command, payload in bad:
        error, _ = raw.ask(raw.family, command, payload)
        true(error, f"command {command} with {payload[:24]!r} was accepted")
        equal(state(node), before, f"the state after command {command}")
