# SPDX-License-Identifier: GPL-2.0
"""A machine that lends wants its RAM back for a program of its own.

        node0 ------ node1     node0 swaps to both, and has a home;
          |  `------ node2     node1 (a small home) gives its RAM back to its
        home                   program; its pages go to node2 and to node0's home
"""
import json
import time

from nswaptest import check
from nswaptest.check import Failure, wait_for
from nswaptest.cluster import PAGE
from nswaptest.work import result_of
from vm import adaptive, pressure, proc

DESCRIPTION = "a program wants the RAM its machine has lent"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 300
CPUS = 2        # of the host: it has two guests or three
ONLY_FULL = {"6_12": "it takes minutes of emulation, and giveback_vm.6_1 "
                     "shows the same"}

# The kernel itself needs more of so small a machine than the default of 15.
HEADROOM_PCT = 20
STILL = 5                   # seconds without a page given back
LENDER_HOME_MB = 64
LENT = "160M"               # at most, by the lender
MIB = (1 << 20) // PAGE


def eater_of(node, name, mb, *args):
    """Start a program of mb megabytes that rests at the end."""
    node.write(f"/{name}.json", json.dumps({"state": "starting"}))
    return node.popen([node.prog("eater"), "--mb", str(mb), "--hold",
                       "--timed", "--out", f"/{name}.json", *args])


def wait_holding(node, name, process, watch):
    """Until a program rests, and what it says then; watch is called
    meanwhile, again and again."""
    def resting():
        watch()
        if process.poll() is not None:
            done = process.wait(1)
            raise Failure(f"{node}: program {name} ended with {done.code} "
                          f"too early: {(done.err or done.out).strip()}")
        said = pressure.read_json(node, f"/{name}.json")
        return said if said["state"] == "holding" else None
    return wait_for(resting, 120, f"{node}: program {name} has its memory",
                    every=0.2)


def end(t, node, process):
    """Let a program compare all it has and end."""
    process.kill(15)
    result = result_of(process.wait(150))
    t.log(f"{node}: {json.dumps(result)}")
    check.equal(result["wrong_pages"], 0, f"{node}: wrong pages")


def seconds(said):
    """How long a program took until it rested."""
    return said["fill_seconds"] + said["seconds"]


def swap_out(t, client, mb):
    """The client fills its memory, and with it the servers' with mb
    megabytes; (its program, pages out a second meanwhile)."""
    program = eater_of(client, "big", client.meminfo_kb("MemTotal") // 1024 +
                       mb, "--passes", "0")
    out = []

    def watch():
        out.append((time.monotonic(), proc.stats(client)["pages_out"]))
    wait_holding(client, "big", program, watch)
    moving = [o for o in out if o[1] and o[1] < out[-1][1]]
    pages = out[-1][1] - moving[0][1]
    took = moving[-1][0] - moving[0][0]
    t.log(f"{client}: {out[-1][1]} pages out, {pages / took:.0f} a second")
    check.at_least(out[-1][1], mb * MIB, f"{client}: pages on the servers")
    return program, pages / took


def alone(t, node, mb):
    """The program on a machine that lends nothing; how long it took."""
    program = eater_of(node, "alone", mb, "--passes", "1")
    took = seconds(wait_holding(node, "alone", program, lambda: None))
    end(t, node, program)
    return took


def start(t, series, memory_mb, swapped_mb, lent_mb):
    """Three guests; the last one lends, the lender nothing yet."""
    t.expect_starved()
    cluster = t.cluster(3, kernel=series, memory_mb=memory_mb,
                        disk_mb=[memory_mb[0] + swapped_mb, LENDER_HOME_MB, 0])
    for node, lend in zip(cluster, ("0", "0", lent_mb)):
        pressure.watch_for_hangs(node)
        node.up(lend=lend)
    cluster.wait_connected()
    for node in cluster.nodes[:2]:
        node.swapon(node.device_add(home="/dev/vda"))
    return cluster


def lend(lender, mb):
    """From now on the lender lends what is idle; until that is enough."""
    lender.ctl("policy", "size", "watermark")
    for name, value in (("grow_pct", 20), ("headroom_pct", HEADROOM_PCT)):
        lender.ctl("set", name, value)
    lender.ctl("lend", LENT)
    wait_for(lambda: proc.size(lender)["target"] >= mb * MIB, 60,
             f"{lender} lends {mb} MB", every=0.2)


def take_back(t, lender, mb, rate):
    """A program wants the lender's memory; how long it took."""
    fall = adaptive.Fall(lender)
    fall.look()
    program = eater_of(lender, "owner", mb, "--passes", "1")
    took = seconds(wait_holding(lender, "owner", program, fall.look))
    wait_for(lambda: not fall.look()["surplus"], 60,
             f"{lender} holds no more than it lends", every=0.2)
    gone, falling, still = fall.measure(t)
    check.at_least(gone, 1000, f"{lender}: pages given back")
    check.at_most(still, STILL, f"{lender}: seconds without a page given back")
    t.log(f"{lender}: gave {gone / falling:.0f} pages back a second, "
          f"{gone / falling / rate:.2f} of the client's page-outs")
    end(t, lender, program)
    return took


def where(t, client, lender):
    """Where the client's pages are: not on the lender, but for what it still
    lends."""
    now = proc.size(lender)
    device = client.devices()[0]
    t.log(f"{lender} holds {now['held']} pages and lends {now['target']}; of "
          f"{client}'s {device['slots_remote']} are on peers, "
          f"{device['slots_home']} at home")
    check.at_most(now["held"], now["target"], f"{lender}: pages held")
    check.at_least(device["slots_remote"] + device["slots_home"], 1000,
                   f"{client}: pages on peers and at home")


def give_back(t, series, memory_mb, swapped_mb, lent_mb):
    """The whole run."""
    cluster = start(t, series, memory_mb, swapped_mb, lent_mb)
    client, lender, _ = cluster
    wanted = lender.meminfo_kb("MemTotal") * (100 - HEADROOM_PCT) // 102400
    before = alone(t, lender, wanted)
    lend(lender, swapped_mb // 2)
    client.ctl("policy", "place", "round-robin")
    program, rate = swap_out(t, client, swapped_mb)
    after = take_back(t, lender, wanted, rate)
    t.log(f"the program of {wanted} MB took {before:.1f} s with nothing lent, "
          f"{after:.1f} s with RAM to be given back: "
          f"{after / before:.2f} times as long")
    where(t, client, lender)
    end(t, client, program)
    stat = proc.stats(client)
    t.log(f"{client}: {json.dumps(stat)}")
    t.log(f"{lender}: {json.dumps(proc.stats(lender))}")
    check.equal((stat["read_errors"], stat["write_errors"]), (0, 0),
                "pages that could not be read or written")
    for node in cluster.nodes[:2]:
        node.swapoff("nswap0")
        node.device_del("nswap0")
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def test_6_1(t):
    """Stock 6.1."""
    give_back(t, "6.1", [128, 384, 256], 200, "160M")


def test_6_12(t):
    """Stock 6.12."""
    give_back(t, "6.12", [128, 384, 256], 200, "160M")
