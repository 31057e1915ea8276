# SPDX-License-Identifier: GPL-2.0
"""The doctor's --fix, and what it finds on the ways to peers.

node0 eth0 ── v0 ┐
node1 eth0 ── v1 ┤ bridge, 1500 bytes, whatever the nodes believe
node2 eth0 ── v2 ┘
"""
import json

from nswaptest.check import equal, true

DESCRIPTION = "doctor mends what it finds, if told to; it sees the ways to peers"
SUITES = ("lab",)
LONG = ("ways",)
NEEDS = ("module",)
TIMEOUT = 60

CLUSTER = "/proc/sys/vm/page-cluster"
RESERVE = "/proc/sys/vm/min_free_kbytes"


def told(node, *args):
    """What it finds, by check."""
    done = node.run([node.prog("nswapctl"), "doctor", "--json", *args], check=False)
    return {f["check"]: f for f in json.loads(done.out)}


def answered(node, answers):
    """doctor --fix at a terminal where these lines are typed."""
    return node.run(f"unshare -m sh -c \"mkdir -p /dev/pts && mount -t devpts devpts /dev/pts && "
                    f"printf '{answers}' | script -qec '{node.prog('nswapctl')} doctor --fix' "
                    "/dev/null\"", check=False).out


def test_fix(t):
    """It asks, does what it is told to, and looks again; untold it changes nothing."""
    cluster = t.cluster(2)
    node = cluster[0]
    was = {path: node.read(path).strip() for path in (CLUSTER, RESERVE)}
    for one in cluster:         # a peer that is there is waited for no longer
        one.up()
    try:
        told(node, "--fix", "--yes")
        reserve = node.read(RESERVE)
        node.write(CLUSTER, "5")
        true("no terminal" in node.run(f"{node.prog('nswapctl')} doctor --fix < /dev/null",
                                       check=False).err, "it does not ask for a terminal")
        equal(node.read(CLUSTER), "5\n", "the knob when it was not asked")
        said = answered(node, "n\\n")
        true("Do it? [y/n]" in said and "Looking again" not in said, f"it said {said!r}")
        equal(node.read(CLUSTER), "5\n", "the knob after n")
        said = answered(node, "y\\n")
        true("did: sysctl -w vm.page-cluster=3" in said, f"it said {said!r}")
        true("ok      page cluster" in said.split("Looking again", 1)[1], f"it said {said!r}")
        equal(node.read(CLUSTER), "3\n", "the knob after y")
        node.write(CLUSTER, "5")
        node.write(RESERVE, "1024")
        equal(told(node)["page cluster"]["level"], "advice", "level")
        left = told(node, "--fix", "--yes")
        true("page cluster" not in left and "memory reserve" not in left, f"left: {left}")
        equal((node.read(CLUSTER), node.read(RESERVE)), ("3\n", reserve), "the knobs")
    finally:
        for path, value in was.items():
            node.write(path, value)


def test_ways(t):
    """Packets that vanish on the way, and one interface to all copies."""
    cluster = t.cluster(3)
    a = cluster[0]
    for node in cluster:
        node.up(lend="16M")
    dev = a.device_add("4M")
    said = told(a)
    true("way mtu" not in said and "one way" not in said, f"it said {said}")
    equal((said["single copy"]["level"], said["single copy"]["fix"], said["privacy"]["level"]),
          ("note", f"nswapctl device protect {dev} mirror", "note"), "one copy, open")
    a.run(said["single copy"]["fix"].replace("nswapctl", a.prog("nswapctl"))).check()
    said = told(a)
    true("single copy" not in said, f"it said {said}")
    true(f"{dev} are reached through eth0" in said["one way"]["text"], "no word on one way")
    true(all(f["fix"] for f in said.values()), f"a finding without a command: {said}")
    for node in cluster:
        node.run(["ip", "link", "set", "eth0", "mtu", "9000"]).check()
    said = told(a)["way mtu"]
    equal((said["level"], said["fix"]), ("problem", "ip link set dev eth0 mtu 1500"), "the way")
    a.run(said["fix"]).check()
    true("way mtu" not in told(a), "its own command does not help")
    for _ in range(8):          # peers answer six in a row, then one a second
        true("way mtu" not in told(a), "a way is blamed for answers that peers save")
    a.device_del(dev)
