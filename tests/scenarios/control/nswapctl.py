# SPDX-License-Identifier: GPL-2.0
"""nswapctl: numbers of nodes, knobs and policies, addresses, doctor.

        node0 ------ node1        outside (the initial namespace) sees both
"""
import errno
import json
import pathlib
import re
import socket

from nswaptest import rawnl
from nswaptest.check import equal, true, wait_for
from nswaptest.rawnl import Raw
from nswaptest.scenario import sibling

table = sibling("procfs").table
K = rawnl.constants()

DESCRIPTION = "what nswapctl prints, refuses and finds"
SUITES = ("lab",)
LONG = ("settings", "addresses", "doctor")
NEEDS = ("module",)
TIMEOUT = 90


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
        up = node.ctl("up", "--open", *args)
        equal((up["addr"], up["port"]), (addr, port), f"up {' '.join(args)}")
        true(f":{port}" in node.run("ss -Hltn").out, "it does not listen")
        node.down()
    for peers, seen in (
            ("10.77.0.9", [("10.77.0.9", 9611)]),
            ("10.77.0.9:1,[fd77::9]:2,fd77::8",
             [("10.77.0.9", 1), ("fd77::8", 9611), ("fd77::9", 2)])):
        node.ctl("up", "--open", "--peers", peers, "--no-broadcast")
        equal(sorted((p["addr"], p["port"]) for p in node.ctl("peers")), seen,
              "listed peers")
        node.down()
    for bad in ("10.77.0.1:0", "10.77.0.1:70000", "[fd77::1", "fd77::1]:1",
                "[fd77::1]9611", "fe80::1%nosuch", "10.77.0.1%eth0", "a.b.c.d",
                "", "1.2.3.4:5:6", "x" * 200):
        node.refused("up", "--addr", bad, code=2)
        node.refused("up", "--open", "--peers", bad, code=2)
    equal(node.ctl("nodes"), [], "nodes")


def test_open(t):
    """A node without keys comes up, and listens, only if it is told to be open; up, doctor
    and the log say that it is."""
    node = t.cluster(1)[0]
    raw = Raw(node)
    up, address = K["NSWAP_CMD_NODE_UP"], K["NSWAP_A_ADDR"]
    ip = rawnl.nest(address, rawnl.u16(K["NSWAP_ADDR_A_FAMILY"], socket.AF_INET),
                    rawnl.attr(K["NSWAP_ADDR_A_IP"],
                               socket.inet_aton(node.addr) + bytes(12)))
    meant = rawnl.attr(K["NSWAP_A_OPEN"])
    secret = rawnl.attr(K["NSWAP_A_CLUSTER_KEY"], bytes(range(32)))
    for payload, want in ((ip, "with keys, or is told to be open"),
                          (ip + meant + secret, "with keys is not open")):
        answer = raw.ask(up, payload)
        equal(answer.errno, errno.EINVAL, "the answer to a request by hand")
        true(want in answer.said, f"it says {answer.said}")
    said = node.refused("up", "--lend", "4M")
    for word in ("--secret FILE", "nswapctl key generate FILE --secret",
                 "--key FILE --members FILE", "--open"):
        true(word in said, f"no {word} in: {said}")
    node.refused("up", "--open", "--secret", node.secret(), code=2)
    equal(node.ctl("nodes"), [], "nodes that were not told to be open")
    equal(node.run("ss -Hltun").out, "", "sockets of such nodes")
    raw.close()
    for args in (("--open",), ("--secret", node.secret())):
        done = node.run([node.prog("nswapctl"), "up", *args])
        true(":9611" in node.run("ss -Hltn").out, "it does not listen")
        logged = node.run("dmesg | grep 'nswap.* up, lends' | tail -1").out
        doctor = node.run([node.prog("nswapctl"), "doctor"], check=False).out
        for text, word in ((done.out, "; it is open: "), (logged, "; open: "),
                           (doctor, "this node is open: ")):
            equal(word in text, "--open" in args, f"up {' '.join(args)}: {text}")
        node.down()


def check_list(node):
    """The list for people: 80 columns, and a second line where there is more to say."""
    devices = node.devices()
    node.ctl("policy", "place", "latency", "--device", devices[1]["device"])
    text = node.run([node.prog("nswapctl"), "device", "list"]).out
    true(max(map(len, text.splitlines())) <= 80, f"it is too wide: {text}")
    equal([line.split() for line in text.splitlines()],
          ["DEVICE SIZE MAP TABLES PEERS FLASH HOME EXPOSED LOST IN-USE PROTECT".split(),
           [devices[0]["device"], *"8M 16K 256 0 0 0 0 0 no none".split()],
           [devices[1]["device"], *"16M 32K 512 0 0 0 0 0 no none".split()],
           ["place=latency"],
           [devices[2]["device"], *"1M 2K 32 0 0 0 0 0 no none".split()],
           ["class", "critical"]], "the list")
    node.ctl("policy", "place", "default", "--device", devices[1]["device"])


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
    a.ctl("device", "add", "--size", "1M", "--class", "critical")
    check_list(a)
    names.append(a.devices()[-1]["device"])
    for one in names:
        a.device_del(one)


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


def test_reserve(t):
    """What doctor wants set aside grows with the peers, by what their connections
    may fill."""
    cluster = t.cluster(5)
    node = cluster[0]
    total = int(node.read("/proc/meminfo").split()[1])
    was = node.read("/proc/sys/vm/min_free_kbytes")
    try:
        node.write("/proc/sys/vm/min_free_kbytes", "1024")
        for nr in (2, 5):
            for other in cluster.nodes[:nr]:
                if nr == 2 or other.index > 1:
                    other.up(lend="4M")
            cluster.wait_connected(cluster.nodes[:nr])
            said = findings(node, 1)["memory reserve"]
            fill = (nr - 1) * 2 * 3 * 1024
            want = max(min(max(total // 64, 4096), 131072),
                       min(fill, total // 8))
            equal(said["fix"], f"sysctl -w vm.min_free_kbytes={want}", "its cure")
            true(f"with {nr - 1} peers may fill {fill} KiB" in said["text"],
                 f"doctor said {said['text']!r}")
    finally:
        node.write("/proc/sys/vm/min_free_kbytes", was)


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
    found = findings(a)
    if "memory reserve" in found:   # more than when alone
        a.run(found["memory reserve"]["fix"])
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
