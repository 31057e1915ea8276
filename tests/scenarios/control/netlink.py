# SPDX-License-Identifier: GPL-2.0
"""Generic netlink: rights, long dumps, what is refused, bytes that mean nothing.

        node0 ------ node1        outside (the initial namespace) sees both
"""
import errno
import random
import socket
import struct
import time

from nswaptest import rawnl
from nswaptest.check import Failure, at_least, equal, true, wait_for
from nswaptest.lab import module_loaded
from nswaptest.rawnl import Raw, attr, nest, text, u16, u32, u64
from nswaptest.scenario import ROOT, sibling

table = sibling("procfs").table

DESCRIPTION = "netlink from every side, well-formed and not"
SUITES = ("lab",)
LONG = ("sentences",)
NEEDS = ("module",)
TIMEOUT = 90

K = rawnl.constants()


def k(name):
    """The number of a name, NSWAP_ left out."""
    return K["NSWAP_" + name]


def address(kind, ip, port=9611, scope=0):
    """An address as an attribute."""
    six = ":" in ip
    family = socket.AF_INET6 if six else socket.AF_INET
    raw = socket.inet_pton(family, ip).ljust(16, b"\0")
    return nest(kind, u16(k("ADDR_A_FAMILY"), family),
                attr(k("ADDR_A_IP"), raw), u16(k("ADDR_A_PORT"), port),
                u32(k("ADDR_A_SCOPE"), scope))


def knob(name, value):
    """A knob as an attribute."""
    return nest(k("A_KNOB"), text(k("KNOB_A_NAME"), name),
                u32(k("KNOB_A_VALUE"), value))


def config(node):
    """What a refused request must leave alone."""
    return (node.ctl("nodes"), node.devices(), node.ctl("set"),
            node.ctl("policy"))


def test_long_dump(t):
    """A dump of a thousand peers comes in many parts and misses none; one
    whose node goes away half-way ends."""
    cluster = t.cluster(1)
    node = cluster[0]
    listed = [f"10.77.{n // 250 + 1}.{n % 250 + 1}" for n in range(1000)]
    node.up(peers=listed, no_broadcast=True)
    peers = node.ctl("peers")
    equal(sorted(p["addr"] for p in peers), sorted(listed), "listed peers")
    equal(len({p["index"] for p in peers}), 1000, "different indexes")
    equal(len(table(node, "peers")), 1000, "lines in /proc/nswap/peers")
    raw = Raw(node)
    answer = raw.ask(k("CMD_PEER_GET"), flags=rawnl.DUMP)
    equal((answer.errno, len(answer.replies)), (0, 1000), "the dump")
    at_least(answer.reads, 3, "parts of the dump")

    raw.send(k("CMD_PEER_GET"), flags=rawnl.DUMP)
    answer = rawnl.Answer()
    true(not raw.receive(answer), "the dump came in one part")
    node.down()
    wait_for(lambda: raw.receive(answer), 10, "the dump ends")
    equal(answer.errno, errno.ENODEV, "how it ends")
    true(len(answer.replies) < 1000, "it went on after the node was gone")
    many = ",".join(f"10.78.{n // 250}.{n % 250 + 1}" for n in range(1024))
    true("1023" in node.refused("up", "--open", "--peers", many),
         "too many peers are not refused by number")
    equal(node.ctl("nodes"), [], "nodes after it")


def mutating(device):
    """Valid requests that change something."""
    return (
        (k("CMD_NODE_UP"), address(k("A_ADDR"), "10.77.0.1") + attr(k("A_OPEN"))),
        (k("CMD_NODE_DOWN"), b""),
        (k("CMD_NODE_SET"), u64(k("A_LEND_PAGES"), 100)),
        (k("CMD_NODE_SET"), knob("dead_after_ms", 4000)),
        (k("CMD_DEVICE_ADD"), u64(k("A_SIZE"), 1 << 20)),
        (k("CMD_DEVICE_DEL"), text(k("A_DEVICE_NAME"), device)))


UNPRIVILEGED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from nswaptest.rawnl import Raw
if sys.argv[2:]:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
raw = Raw()
for line in sys.stdin:
    command, flags, payload = line.split()
    payload = bytes.fromhex(payload[1:])
    print(raw.ask(int(command), payload, flags=int(flags)).errno, flush=True)
"""


def test_rights(t):
    """Root of a user namespace, and a user without rights: they may look, not
    touch."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.up(lend="4M")
    device = node.device_add("4M")
    before = config(node)
    looks = [(k("CMD_NODE_GET"), rawnl.DUMP), (k("CMD_NODE_GET"), rawnl.ACK),
             (k("CMD_DEVICE_GET"), rawnl.DUMP), (k("CMD_PEER_GET"), rawnl.DUMP),
             (k("CMD_OWNER_GET"), rawnl.DUMP), (k("CMD_STAT_GET"), rawnl.ACK),
             (k("CMD_POLICY_GET"), rawnl.DUMP), (k("CMD_KNOB_GET"), rawnl.DUMP)]
    asked = "".join(f"{command} {rawnl.ACK} x{payload.hex()}\n"
                    for command, payload in mutating(device))
    asked += "".join(f"{command} {flags} x\n" for command, flags in looks)
    want = [errno.EPERM] * len(mutating(device)) + [0] * len(looks)
    script = cluster.scratch / "ask.py"
    script.write_text(UNPRIVILEGED)
    (cluster.scratch / "asked").write_text(asked)
    for become, who in (("unshare -Ur", ""), ("", "nobody")):
        done = node.run(f"{become} python3 {script} {ROOT}/tests {who}"
                        f" < {cluster.scratch}/asked", check=False)
        equal([int(word) for word in done.out.split()], want,
              f"answers to '{become or who}' ({done.err.strip()[-200:]})")
        equal(config(node), before, "the node afterwards")
    done = node.run(f"unshare -Urn sh -c 'ip link set lo up; ip addr add "
                    f"10.1.1.1/32 dev lo; {node.prog('nswapctl')} up "
                    "--open --addr 10.1.1.1'",
                    check=False)
    equal(done.code, 1, "up in a namespace of a user's own")
    true("CAP_NET_ADMIN" in done.err, f"it was refused with: {done.err}")


def refused_each(t, raw, requests, state):
    """Each is refused with a sentence, and changes nothing."""
    before = state()
    for command, payload in requests:
        answer = raw.ask(command, payload)
        what = f"command {command} with {payload.hex()}"
        true(answer.errno, f"{what} was accepted")
        true(answer.said, f"{what}: errno {answer.errno}, no sentence")
        true("\n" not in answer.said and len(answer.said) < 200,
             f"{what}: no sentence: {answer.said!r}")
        t.log(f"{command}: {answer.errno} {answer.said}")
        equal(state(), before, f"the state after {what}")


def test_zero(t):
    """A knob that is asked to be 0 as a node goes up is 0; the others have their defaults."""
    node = t.cluster(1)[0]
    node.up(lend="0")
    before = {one["knob"]: one["value"] for one in node.ctl("set")}
    node.down()
    asked = {"clear_freed": 0, "hedge_pct": 0, "announce_ms": 900}
    answer = Raw(node).ask(
        k("CMD_NODE_UP"), address(k("A_ADDR"), node.addr) + attr(k("A_NO_BROADCAST")) +
        attr(k("A_OPEN")) + b"".join(knob(*one) for one in asked.items()))
    equal(answer.errno, 0, "it is up")
    equal({one["knob"]: one["value"] for one in node.ctl("set")}, {**before, **asked},
          "its knobs")


def test_sentences(t):
    """Whatever the handlers refuse is refused with a sentence."""
    cluster = t.cluster(1)
    node = cluster[0]
    raw = Raw(node)
    up, size = k("CMD_NODE_UP"), k("A_SIZE")
    addr, listed = k("A_ADDR"), k("A_LISTED")
    meant = attr(k("A_OPEN"))
    closed, good = address(addr, node.addr), address(addr, node.addr) + meant
    secret = attr(k("A_CLUSTER_KEY"), b"\1" * 32)
    without = [(up, closed), (up, good + secret), (up, meant), (up, nest(addr)),
               (up, nest(addr, u16(k("ADDR_A_FAMILY"), 2))),
               (up, address(addr, "10.77.0.77") + meant),
               (up, address(addr, "fd99::1") + meant),
               (up, nest(addr, u16(k("ADDR_A_FAMILY"), 77),
                         attr(k("ADDR_A_IP"), b"\1" * 16))),
               (up, nest(addr, u16(k("ADDR_A_FAMILY"), 2),
                         attr(k("ADDR_A_IP"), b"\1" * 16))),
               (up, good + nest(listed)),
               (up, good + u32(k("A_CONNS"), 1)),
               (up, good + u32(k("A_CONNS"), 1 << 31)),
               (up, good + u64(k("A_LEND_PAGES"), 1 << 60)),
               (up, good + knob("nonsense", 1)),
               (up, good + knob("dead_after_ms", 0xffffffff)),
               (up, good + nest(k("A_KNOB"))),
               (k("CMD_NODE_DOWN"), b""),
               (k("CMD_NODE_DOWN"), u32(k("A_NODE"), 99)),
               (k("CMD_NODE_GET"), b""), (k("CMD_STAT_GET"), b""),
               (k("CMD_DEVICE_ADD"), u64(size, 1 << 20)),
               (k("CMD_NODE_SET"), u64(k("A_LEND_PAGES"), 1))]
    with_one = [(up, good),
                (k("CMD_NODE_SET"), b""),
                (k("CMD_NODE_SET"), u64(k("A_LEND_PAGES"), 1) +
                 text(k("A_PLACE"), "most-free")),
                (k("CMD_NODE_SET"), knob("announce_ms", 500) +
                 knob("announce_ms", 600)),
                (k("CMD_NODE_SET"), text(k("A_PLACE"), "")),
                (k("CMD_NODE_SET"), text(k("A_SIZE_POLICY"), "")),
                (k("CMD_NODE_SET"), knob("", 1)),
                (k("CMD_NODE_SET"), u64(k("A_LEND_PAGES"), 1 << 63)),
                (k("CMD_DEVICE_ADD"), b""),
                *((k("CMD_DEVICE_ADD"), u64(size, n)) for n in
                  (0, 1, 4095, 4096, 4097, 1 << 50, (1 << 64) - 4096,
                   (1 << 64) - 1)),
                (k("CMD_DEVICE_DEL"), b""),
                (k("CMD_DEVICE_DEL"), text(k("A_DEVICE_NAME"), "")),
                (k("CMD_DEVICE_DEL"), text(k("A_DEVICE_NAME"), "lo"))]
    refused_each(t, raw, without, lambda: node.ctl("nodes"))
    for dump in ("DEVICE_GET", "PEER_GET", "OWNER_GET", "POLICY_GET",
                 "KNOB_GET"):
        answer = raw.ask(k("CMD_" + dump), flags=rawnl.DUMP)
        equal(answer.errno, errno.ENODEV, f"{dump} without a node")
        true(answer.said, f"{dump} without a node says nothing")
    node.up(lend="4M")
    refused_each(t, raw, with_one, lambda: config(node))


def test_fuzz(t):
    """Three thousand messages with bytes changed, cut off or doubled: every
    one is answered, nothing breaks, the node works afterwards."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.up(lend="2M")
    rng = random.Random(t.seed)
    raw = Raw(node)
    seeds = [*mutating("nswap0"),
             (k("CMD_NODE_SET"), text(k("A_PLACE"), "round-robin")),
             (k("CMD_PEER_GET"), u32(k("A_NODE"), 1)),
             (k("CMD_NODE_SET"), text(k("A_SIZE_POLICY"), "watermark")),
             (k("CMD_NODE_UP"), address(k("A_ADDR"), "10.77.0.1") +
              address(k("A_LISTED"), "fd77::9") + knob("announce_ms", 900) +
              attr(k("A_NO_BROADCAST")) + attr(k("A_OPEN")))]
    answers = {}
    for _ in range(3000):
        command, payload = rng.choice(seeds)
        data = bytearray(payload)
        for _ in range(rng.randint(1, 4)):
            if not data:
                break
            place = rng.randrange(len(data))
            how = rng.randrange(4)
            if how == 0:
                data[place] = rng.randrange(256)
            elif how == 1:
                data[place] ^= 1 << rng.randrange(8)
            elif how == 2:
                del data[place:]
            else:
                data += data[place:place + rng.randint(1, 64)]
        if rng.randrange(20) == 0:
            command = rng.randrange(256)
        flags = rng.choice((rawnl.ACK, rawnl.ACK, rawnl.ACK,
                            rawnl.DUMP | rawnl.ACK))
        answer = raw.ask(command, bytes(data), flags=flags,
                         version=rng.choice((1, 1, 1, 0, 255)))
        answers[answer.errno] = answers.get(answer.errno, 0) + 1
        if command == k("CMD_DEVICE_ADD") and not answer.errno:
            for dev in node.devices():
                node.device_del(dev["device"])
    t.log(f"answers by errno: {answers}")
    true(answers.get(errno.EINVAL, 0) > 100, "hardly anything was malformed")
    for raw_message in (b"\0" * 15, b"\xff" * 16,
                        struct.pack("=IHHII", 17, raw.family, 5, 1, 0) + b"x",
                        struct.pack("=IHHII", 4096, raw.family, 5, 1, 0)):
        raw.sock.send(raw_message)
    for one in cluster.outside.ctl("nodes"):
        number = one["number"]
        for dev in cluster.outside.ctl("--node", number, "device", "list"):
            cluster.outside.ctl("--node", number, "device", "del",
                                dev["device"])
        cluster.outside.ctl("--node", number, "down")
    node.up(lend="2M")
    equal(node.stat()["node"]["lent_pages"], 512, "what it lends then")


def test_unload_idle(t):
    """Sockets that are open keep nothing: the module goes, they get errors."""
    cluster = t.cluster(1)
    raw = Raw()
    cluster.unload()
    true(not module_loaded(), "the module is still there")
    answer = raw.ask(k("CMD_NODE_GET"), flags=rawnl.DUMP)
    true(answer.errno, "a request to a family that is gone worked")
    said = cluster[0].refused("stat")
    true("not loaded" in said, f"nswapctl said: {said}")
    cluster.load()
    start = time.monotonic()
    if Raw().ask(k("CMD_NODE_GET"), flags=rawnl.DUMP).errno:
        raise Failure("the family does not come back")
    t.log(f"family back after {time.monotonic() - start:.3f} s")
