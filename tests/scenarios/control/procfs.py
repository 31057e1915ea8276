# SPDX-License-Identifier: GPL-2.0
"""/proc/nswap: its columns, and readers while nodes come and go.

        node0 ------ node1        outside (the initial namespace) sees both
"""
import pathlib
import re

from nswaptest.check import equal, true, wait_for
from nswaptest.scenario import ROOT

DESCRIPTION = "/proc/nswap shows what is documented"
SUITES = ("lab",)
LONG = ("files", "readers")
NEEDS = ("module",)
TIMEOUT = 90

FILES = ("node", "devices", "peers", "size", "cache", "stats", "profile",
         "device_profile", "policies")


def table(node, name):
    """A file of /proc/nswap as its namespace sees it: list of dicts."""
    lines = node.run(["cat", f"/proc/nswap/{name}"]).out.splitlines()
    head = lines[0].split()
    rows = [dict(zip(head, line.split())) for line in lines[1:]]
    for row in rows:
        equal(len(row), len(head), f"columns of a line in {name}")
    return rows


def documented_columns():
    """The columns of every file, from docs/abi/proc-nswap."""
    doc = (ROOT / "docs/abi/proc-nswap").read_text()
    found = {}
    for part in doc.split("What:\t\t/proc/nswap/")[1:]:
        name = part.split()[0]
        body = part.split("=\n", 1)[-1].split("\t\t====", 1)[0]
        found[name] = re.findall(r"^\t\t(\w+) {2,}\S", body, re.M)
    return found


def test_files(t):
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
    for name in ("node", "devices", "peers", "size", "cache", "policies"):
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
