# SPDX-License-Identifier: GPL-2.0
"""The control plane: rights, numbers, long dumps, /proc, doctor, bad input.

        node0 ------ node1        outside (the initial namespace) sees both
"""
import errno
import json
import pathlib
import random
import re
import socket
import struct
import time

from nswaptest import rawnl
from nswaptest.check import Failure, at_least, equal, true, wait_for
from nswaptest.lab import module_loaded
from nswaptest.rawnl import Raw, attr, nest, text, u16, u32, u64
from nswaptest.scenario import ROOT

DESCRIPTION = "netlink, /proc/nswap and nswapctl from every side"
SUITES = ("lab",)
LONG = ("settings", "addresses", "proc", "readers", "sentences", "doctor")
NEEDS = ("module",)
TIMEOUT = 90

K = rawnl.constants()
FILES = ("node", "devices", "peers", "size", "cache", "stats")


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


def table(node, name):
    """A file of /proc/nswap as its namespace sees it: list of dicts."""
    lines = node.run(["cat", f"/proc/nswap/{name}"]).out.splitlines()
    head = lines[0].split()
    rows = [dict(zip(head, line.split())) for line in lines[1:]]
    for row in rows:
        equal(len(row), len(head), f"columns of a line in {name}")
    return rows


def config(node):
    """What a refused request must leave alone."""
    return (node.ctl("nodes"), node.devices(), node.ctl("set"),
            node.ctl("policy"))


def test_numbers(t):
    """The initial namespace sees and stops every node; others only theirs."""
    cluster = t.cluster(2)
    a, b = cluster
    outside = cluster.outside
    first, second = a.up(lend="4M"), b.up(lend="8M")
    equal(len(outside.ctl("nodes")), 2, "nodes seen from outside")
    equal([n["number"] for n in a.ctl("nodes")], [first["number"]],
          "nodes seen from node0")
    true(first["netns"] != second["netns"], "both have one namespace")
    for command in (("stat",), ("down",), ("lend", "1M"),
                    ("device", "add", "--size", "1M")):
        a.refused("--node", second["number"], *command)
    equal(b.stat()["node"]["lent_pages"], 2048, "what node1 lends")
    equal(outside.ctl("--node", second["number"], "stat")["node"]["addr"],
          b.addr, "address of the node that was named")
    outside.ctl("--node", second["number"], "lend", "12M")
    equal(b.stat()["node"]["lent_pages"], 3072, "what node1 lends")
    dev = outside.ctl("device", "add", "--size", "4M",
                      "--node", second["number"])["device"]
    equal([d["device"] for d in b.devices()], [dev], "devices of node1")
    equal(a.devices(), [], "devices of node0")
    outside.refused("--node", second["number"], "down")
    a.refused("device", "del", dev)
    outside.ctl("device", "del", f"/dev/{dev}", "--node", second["number"])
    outside.ctl("down", "--netns-id", second["netns"])
    outside.refused("down", "--netns-id", second["netns"])
    outside.refused("--node", second["number"], "stat")
    outside.ctl("--node", first["number"], "down")
    equal(outside.ctl("nodes"), [], "nodes at the end")


def test_settings(t):
    """A knob and a policy are one variable each, seen through two doors."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.up(dead_after=5, announce_ms=250, reconcile=7)
    values = {s["knob"]: s["value"] for s in node.ctl("set")}
    equal((values["dead_after_ms"], values["announce_ms"],
           values["reconcile_s"]), (5000, 250, 7), "knobs given to up")
    for one in node.ctl("set"):
        name = one["knob"]
        for value in (one["lowest"], one["highest"], one["default"]):
            node.ctl("set", name, value)
            equal(table(node, "node")[0][name], str(value),
                  f"{name} in /proc/nswap/node")
        for value in (one["lowest"] - 1, one["highest"] + 1):
            if 0 <= value < 2 ** 32:
                true(name in node.refused("set", name, value),
                     f"the refusal does not name {name}")
        equal(table(node, "node")[0][name], str(one["default"]),
              f"{name} after refusals")
    for policy in node.ctl("policy"):
        kind, name = policy["kind"], policy["name"]
        node.ctl("policy", kind, name)
        current = [p["name"] for p in node.ctl("policy")
                   if p["current"] and p["kind"] == kind]
        equal(current, [name], f"the current policy for {kind}")
        if kind == "read":
            continue        # not shown there
        file, column = {"place": ("node", "place"),
                        "size": ("size", "policy")}[kind]
        equal(table(node, file)[0][column], name,
              f"the policy in /proc/nswap/{file}")


def test_addresses(t):
    """IPv4, IPv6, link-local, with and without ports."""
    cluster = t.cluster(1)
    node = cluster[0]
    local = re.search(r"inet6 (fe80\S+)/", wait_for(
        lambda: (lambda out: out if "tentative" not in out and "fe80" in out
                 else None)(node.run("ip -6 addr show dev eth0").out),
        10, "a link-local address")).group(1)
    for args, addr, port in (
            ((), node.addr, 9611),
            (("--addr", f"{node.addr}:7001"), node.addr, 7001),
            (("--addr", node.addr6, "--port", "7002"), node.addr6, 7002),
            (("--addr", f"[{node.addr6}]:7003"), node.addr6, 7003),
            (("--addr", f"{local}%eth0"), f"{local}%eth0", 9611),
            (("--addr", f"[{local}%eth0]:7004"), f"{local}%eth0", 7004)):
        up = node.ctl("up", *args)
        equal((up["addr"], up["port"]), (addr, port), f"up {' '.join(args)}")
        true(f":{port}" in node.run("ss -Hltn").out, "it does not listen")
        node.down()
    for peers, seen in (
            ("10.77.0.9", [("10.77.0.9", 9611)]),
            ("10.77.0.9:1,[fd77::9]:2,fd77::8",
             [("10.77.0.9", 1), ("fd77::8", 9611), ("fd77::9", 2)])):
        node.ctl("up", "--peers", peers, "--no-broadcast")
        equal(sorted((p["addr"], p["port"]) for p in node.ctl("peers")), seen,
              "listed peers")
        node.down()
    for bad in ("10.77.0.1:0", "10.77.0.1:70000", "[fd77::1", "fd77::1]:1",
                "[fd77::1]9611", "fe80::1%nosuch", "10.77.0.1%eth0", "a.b.c.d",
                "", "1.2.3.4:5:6", "x" * 200):
        node.refused("up", "--addr", bad, code=2)
        node.refused("up", "--peers", bad, code=2)
    equal(node.ctl("nodes"), [], "nodes")


def test_long_dump(t):
    """A dump of a thousand peers comes in many parts and misses nobody; one
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
    true("1023" in node.refused("up", "--peers", many),
         "too many peers are not refused by number")
    equal(node.ctl("nodes"), [], "nodes after it")


def documented_columns():
    """The columns of every file, from docs/abi/proc-nswap."""
    doc = (ROOT / "docs/abi/proc-nswap").read_text()
    found = {}
    for part in doc.split("What:\t\t/proc/nswap/")[1:]:
        name = part.split()[0]
        body = part.split("=\n", 1)[-1].split("\t\t====", 1)[0]
        found[name] = re.findall(r"^\t\t(\w+) {2,}\S", body, re.M)
    return found


def test_proc(t):
    """/proc/nswap: a namespace's own state, what docs/abi says."""
    cluster = t.cluster(2)
    a, b = cluster
    outside = cluster.outside
    for name in FILES:
        for node in (a, outside):
            equal(table(node, name), [], f"{name} without a node")
    cluster.up(lend="32M")
    dev = a.device_add("16M")
    cluster.wait_connected()
    a.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=1M", "count=4",
           "oflag=direct", "seek=1"])
    doc = documented_columns()
    for name in ("node", "devices", "peers", "size", "cache"):
        head = a.run(["head", "-1", f"/proc/nswap/{name}"]).out.split()
        equal(head[:len(doc[name])], doc[name], f"columns of {name}")
    knobs = [s["knob"] for s in a.ctl("set")]
    head = a.run(["head", "-1", "/proc/nswap/node"]).out.split()
    equal(head[len(doc["node"]):], knobs, "knobs in node")
    equal([row["counter"] for row in table(a, "stats")], doc["stats"],
          "counters in stats")

    equal(table(a, "node")[0]["addr"], a.addr, "address")
    equal([row["addr"] for row in table(a, "peers")], [b.addr], "peers")
    equal(int(table(a, "devices")[0]["remote"]), 1024, "pages on the peer")
    equal(a.devices()[0]["slots_remote"], 1024, "the same by netlink")
    held = table(b, "cache")
    equal([(row["owner"], int(row["held"])) for row in held],
          [(a.stat()["node"]["id"], 1024)], "what node1 holds")
    stats = {r["counter"]: int(r["value"]) for r in table(a, "stats")}
    equal(stats["pages_out"], a.stat()["client"]["pages_out"], "pages out")
    numbers = sorted(row["node"] for row in table(outside, "node"))
    equal(numbers, sorted(str(n["number"]) for n in outside.ctl("nodes")),
          "nodes in the initial namespace")
    equal(len(table(a, "node")), 1, "nodes in one of their own")
    done = a.run("echo 1 > /proc/nswap/node", check=False)
    true(done.code != 0, "writing into /proc/nswap/node worked")
    stat = a.stat()
    equal(stat["swap"]["backed_pages"], 1024, "backed pages in stat")
    owners = b.stat()["owners"]
    equal([(o["id"], o["held_pages"], o["connected"]) for o in owners],
          [(stat["node"]["id"], 1024, True)], "owners in stat")
    true(f"{a.addr}:9611" in b.run([b.prog("nswapctl"), "stat"]).out,
         "stat does not name the owner")
    true("on peers" in a.run([a.prog("nswapctl"), "stat"]).out,
         "stat does not say where the pages are")


def test_readers(t):
    """Readers of everything while nodes come and go and the module is
    unloaded under them."""
    cluster = t.cluster(2)
    a, b = cluster
    ctl = a.prog("nswapctl")
    readers = [node.popen(
        f"while :; do cat /proc/nswap/* /proc/net/nswap/*; {ctl} {what}; done"
        " >/dev/null 2>&1")
        for node, what in ((a, "peers"), (a, "stat"), (b, "nodes"),
                           (cluster.outside, "nodes"),
                           (cluster.outside, "--node 1 peers"))]
    for turn in range(8):
        a.up(lend="2M")
        b.up(lend="2M")
        dev = a.device_add("4M")
        a.device_del(dev)
        a.down()
        b.run([ctl, "down", "--now"])
        if turn % 4 == 3:
            wait_for(lambda: cluster.outside.run(
                ["rmmod", "nswap"], check=False).code == 0, 10,
                "the module can be unloaded between two requests")
            true(not pathlib.Path("/proc/nswap").exists(),
                 "/proc/nswap is left behind")
            cluster.load()
    for reader in readers:
        true(reader.poll() is None, "a reader died")
        reader.kill()


def mutating(device):
    """Valid requests that change something."""
    return (
        (k("CMD_NODE_UP"), address(k("A_ADDR"), "10.77.0.1")),
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
    """Root of a user namespace, and nobody at all: may look, not touch."""
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
                    "--addr 10.1.1.1'",
                    check=False)
    equal(done.code, 1, "up in a namespace of a user's own")
    true("CAP_NET_ADMIN" in done.err, f"it was refused with: {done.err}")


def test_sentences(t):
    """Whatever the handlers refuse is refused with a sentence."""
    cluster = t.cluster(1)
    node = cluster[0]
    raw = Raw(node)
    up, size = k("CMD_NODE_UP"), k("A_SIZE")
    addr, listed = k("A_ADDR"), k("A_LISTED")
    good = address(addr, node.addr)
    without = [(up, b""), (up, nest(addr)),
               (up, nest(addr, u16(k("ADDR_A_FAMILY"), 2))),
               (up, address(addr, "10.77.0.77")),
               (up, address(addr, "fd99::1")),
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

    def refused(requests, state):
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
    refused(without, lambda: node.ctl("nodes"))
    for dump in ("DEVICE_GET", "PEER_GET", "OWNER_GET", "POLICY_GET",
                 "KNOB_GET"):
        answer = raw.ask(k("CMD_" + dump), flags=rawnl.DUMP)
        equal(answer.errno, errno.ENODEV, f"{dump} without a node")
        true(answer.said, f"{dump} without a node says nothing")
    node.up(lend="4M")
    refused(with_one, lambda: config(node))


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
              attr(k("A_NO_BROADCAST")))]
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


def findings(node, code=None):
    """doctor's findings by check; notes left out."""
    done = node.run([node.prog("nswapctl"), "doctor", "--json"], check=False)
    found = json.loads(done.out)
    bad = {f["check"]: f for f in found if f["severity"] == "problem"}
    equal(done.code, 1 if bad else 0, "doctor's exit code")
    if code is not None:
        equal(done.code, code, f"doctor's exit code, it found {list(bad)}")
    for finding in bad.values():
        true(finding["text"] and finding["fix"], "a finding without a fix")
    return bad


def test_doctor(t):
    """doctor finds each thing that is wrong, its commands mend it."""
    cluster = t.cluster(2)
    a, b = cluster
    found = findings(a)
    true("node" in found, "no node is up and doctor does not mind")
    if "memory reserve" in found:
        a.run(found["memory reserve"]["fix"])
    true("memory reserve" not in findings(a), "its own command does not help")
    a.up()
    equal(list(findings(a)), ["peers"], "findings when alone")
    b.up(lend="64M")
    dev = a.device_add("32M")
    cluster.wait_connected()
    equal(findings(a, 0), {}, "findings when all is well")

    a.run(["mkswap", f"/dev/{dev}"])
    a.run(["swapon", f"/dev/{dev}"])
    a.run(["mkswap", "/dev/ram0"])
    a.run(["swapon", "-p", "5", "/dev/ram0"])
    found = findings(a)
    equal(list(found), ["swap priority"], "findings with a lower priority")
    a.run(found["swap priority"]["fix"])
    equal(findings(a, 0), {}, "findings with the priority it asked for")
    a.run(["swapoff", "/dev/ram0"])
    a.run(["swapoff", f"/dev/{dev}"])

    b.ctl("lend", "8M")
    wait_for(lambda: list(a.ctl("peers"))[0]["lent_pages"] == 2048, 10,
             "the peer's announcement")
    equal(list(findings(a)), ["room"], "findings with a device too large")
    b.ctl("lend", "64M")
    wait_for(lambda: list(a.ctl("peers"))[0]["lent_pages"] == 16384, 10,
             "the peer's announcement")

    a.run("nft add table inet fw && nft add chain inet fw in "
          "'{ type filter hook input priority 0; }' && "
          "nft add rule inet fw in udp dport 9611 drop")
    wait_for(lambda: not list(a.ctl("peers"))[0]["fresh"], 30,
             "the peer is not fresh any more")
    true("udp port" in findings(a), "doctor does not see that UDP is blocked")
    a.run("nft delete table inet fw")
    wait_for(lambda: list(a.ctl("peers"))[0]["fresh"], 30,
             "the peer is fresh again")
    a.device_del(dev)
    a.down()
    b.run("nft add table inet fw && nft add chain inet fw in "
          "'{ type filter hook input priority 0; }' && "
          "nft add rule inet fw in tcp dport 9611 drop")
    a.up()
    dev = a.device_add("8M", wait=False)
    true("tcp port" in findings(a), "doctor does not see that TCP is blocked")
    b.run("nft delete table inet fw")
    a.device_del(dev)


def test_device_add(t):
    """It prints the name and the map's memory, warns when the peers lend too
    little, and the name is there when it returns."""
    cluster = t.cluster(2)
    a, b = cluster
    ctl = a.prog("nswapctl")
    a.up()
    done = a.run([ctl, "device", "add", "--size", "8M"])
    name = re.match(r"(/dev/nswap\d+), 8 MiB, slot map 16 KiB of RAM, "
                    r"side tables 256 B \(freed 256 B\)\n", done.out)
    true(name, f"device add printed {done.out!r}")
    true(pathlib.Path(name.group(1)).is_block_device(), "there is no device")
    true("warning" in done.err and "lend 0 B" in done.err and
         "8 MiB" in done.err, f"it warned: {done.err!r}")
    b.up(lend="16M")
    wait_for(lambda: any(p["fresh"] and p["lent_pages"] == 4096
                         for p in a.ctl("peers")), 15, "the peer is heard")
    done = a.run([ctl, "--json", "device", "add", "--size", "16384K"])
    equal(done.err, "", "warnings when the peers lend enough")
    made = json.loads(done.out)
    equal((made["size_bytes"], made["in_use"]), (16 << 20, False), "the device")
    # 8 bytes a slot, and a bit for what has to be freed
    equal(made["map_bytes"], 4096 * 8, "memory of the slot map")
    equal((made["side_bytes"], made["side_tables"]),
          (512, [{"name": "freed", "bits_per_slot": 1, "bytes": 512}]),
          "side tables")
    names = [d["device"] for d in a.devices()]
    equal(len(set(names)), 2, "names of two devices")
    for one in names:
        a.device_del(one)


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
