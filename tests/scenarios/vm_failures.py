# SPDX-License-Identifier: GPL-2.0
"""Real crashes and cuts between separate kernels."""
import json
import os

from nswaptest import check
from nswaptest.check import wait_for

DESCRIPTION = "a machine that holds pages dies, or is cut off, mid-run"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 120

DEAD_AFTER = 5
EAT_MB = 96
LIMIT = "40M"


def start(t):
    """Three stock nodes; the first swaps to the two others and eats."""
    if not os.environ.get("NSWAP_FULL"):
        t.skip("only with NSWAP_FULL=1: minutes of emulation each; the lab "
               "has the same scenarios")
    cluster = t.cluster(3, kernel="6.1", memory_mb=256)
    client = cluster[0]
    cluster.up(lend="96M", dead_after=DEAD_AFTER)
    client.ctl("policy", "place", "round-robin")
    client.swapon(client.device_add("160M"))
    eater = client.popen(
        [client.prog("eater"), "--mb", str(EAT_MB), "--passes", "2",
         "--order", "random", "--out", "/eater.json"], memory_max=LIMIT)
    wait_for(lambda: state(client)["passes"] + state(client)["accesses"] >
             2000, 120, "the program swaps", every=0.2)
    return cluster, client, eater


def state(node):
    """What the eater says of itself now."""
    try:
        return json.loads(node.read("/eater.json"))
    except (check.Failure, ValueError):
        return {"passes": 0, "accesses": 0}


def finish(t, client, eater, allowed):
    """The eater ends by itself with right pages; its result."""
    done = eater.wait(200)
    t.log(f"the program ended with {done.code}: {done.out}{done.err}")
    if done.code not in allowed:
        raise check.Failure(f"the program ended with {done.code}: "
                            f"{(done.err or done.out).strip()}")
    result = json.loads(done.out)
    check.equal(result["wrong_pages"], 0, "wrong pages")
    client.swapoff("nswap0")
    client.device_del("nswap0")
    return result


def test_kill(t):
    """One of two servers loses its power: only its pages fail."""
    cluster, client, eater = start(t)
    victim, other = cluster[1], cluster[2]
    held = victim.stat()["server"]["held_pages"]
    check.at_least(held, 1000, "pages on the machine that dies")
    cluster.kill(victim)
    wait_for(lambda: client.peers()[victim.addr]["state"] in ("dead", "lost"),
             DEAD_AFTER + 2, "the dead machine is known to be dead")
    stuck = state(client)["accesses"]
    wait_for(lambda: state(client)["accesses"] > stuck, 4,
             "the program goes on once the dead machine is known")
    result = finish(t, client, eater, (3,))
    check.at_least(result["failed_reads"], 1, "reads that failed")
    check.at_most(result["failed_reads"], held + 2000, "reads that failed")
    check.equal(other.stat()["server"]["held_pages"], 0,
                "pages on the machine that lived, after swapoff")
    cluster.revive(victim)
    victim.up(lend="96M", dead_after=DEAD_AFTER)
    cluster.wait_connected()


def test_short_cut(t):
    """A link cut for less than dead_after costs time, no page."""
    cluster, client, eater = start(t)
    cluster.cut(client, cluster[1])
    wait_for(lambda: client.peers()[cluster[1].addr]["state"] != "up", 10,
             "the cut is noticed")
    cluster.heal(client, cluster[1])
    result = finish(t, client, eater, (0,))
    check.equal(result["failed_reads"], 0, "reads that failed")


def test_long_cut(t):
    """A machine declared dead that returns with the same epoch is believed
    again."""
    cluster, client, eater = start(t)
    silent = cluster[1]
    cluster.cut(client, silent)
    wait_for(lambda: client.peers()[silent.addr]["state"] in ("dead", "lost"),
             DEAD_AFTER + 10, "the silent machine is declared dead")
    cluster.heal(client, silent)
    wait_for(lambda: client.peers()[silent.addr]["state"] == "up", 30,
             "the machine is back")
    finish(t, client, eater, (0, 3))
    wait_for(lambda: cluster.held_pages() == 0, 30, "no page is held")
