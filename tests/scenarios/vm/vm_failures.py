# SPDX-License-Identifier: GPL-2.0
"""Real crashes and cuts between separate kernels.

        node0 ------ node1        node0's programs have their pages on node1,
          |                       which dies or is cut off, and on node2
        node2                     node2's program has its pages on node0

Times are measured and compared as they are: the deadlines of the waits are
longer under emulation, the bounds of the checks are not.
"""
import json
import time

from nswaptest import check
from nswaptest.check import wait_for
from vm.proc import stats, table

DESCRIPTION = "a machine that holds pages dies, or is cut off, mid-run"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 200
CPUS = 2        # of the host: it has two guests or three
ONLY_FULL = {"short_cut": "it takes minutes of emulation; long_cut begins as it does, and "
                          "the lab's failures.short_cut ends as it does"}

DEAD_AFTER = 5
RESOLVED = 2        # a read is over by dead_after and this
LENT = "96M"


class Program:
    """An eater, bigger than its memory group."""

    def __init__(self, node, name, mb, limit, seed, *args):
        self.node, self.name = node, f"{node}'s {name} program"
        self.out = f"/{name}.json"
        self.process = node.popen(
            [node.prog("eater"), "--mb", str(mb), "--seed", str(seed),
             "--order", "random", "--timed", "--out", self.out, *args],
            memory_max=limit)

    def state(self):
        """What it says of itself, once a second."""
        try:
            return json.loads(self.node.read(self.out))
        except (check.Failure, ValueError):
            return {"state": "filling", "accesses": 0, "failed_reads": 0}

    def wait_running(self):
        """Until it has filled its memory and reads it back."""
        wait_for(lambda: self.state()["accesses"] > 1000, 60,
                 f"{self.name} swaps", every=0.2)

    def goes_on(self):
        """Until it has made accesses that it had not when this was called;
        returns its state then."""
        before = self.state()["accesses"]

        def further():
            now = self.state()
            return now if now["accesses"] > before else None
        return wait_for(further, 5, f"{self.name} goes on")

    def end(self, t, allowed):
        """It ends by itself, without a wrong page; its result."""
        done = self.process.wait(150)
        t.log(f"{self.name} ended with {done.code}: {done.out}{done.err}")
        if done.code not in allowed:
            raise check.Failure(f"{self.name} ended with {done.code}: "
                                f"{(done.err or done.out).strip()}")
        result = json.loads(done.out)
        check.equal(result["wrong_pages"], 0, f"{self.name}: wrong pages")
        return result


def peer(client, node):
    """The line of a client's table about a node, now."""
    return next(p for p in table(client, "peers") if p["addr"] == node.addr)


def stored(client):
    """Pages that peers acknowledged so far."""
    return stats(client)["pages_out"]


def gone_after(t, client, node, act):
    """Do what takes a node from a client. Returns when that began and how
    many pages the client's record had there, at most: those recorded just
    before, and every page acknowledged, by whomever, until just after."""
    before = stored(client)
    slots = int(peer(client, node)["slots"])
    begun = time.monotonic()
    act()
    pages = slots + stored(client) - before
    t.log(f"{client}'s record: {slots} pages on {node}, at most {pages} when "
          "it went")
    check.at_least(slots, 1000, f"pages recorded on {node}")
    return begun, pages


def wait_dead(t, client, node, begun):
    """Until the client calls a node dead, in time."""
    wait_for(lambda: peer(client, node)["state"] in ("dead", "lost"),
             DEAD_AFTER + RESOLVED, f"{node} is called dead", every=0.1)
    took = time.monotonic() - begun
    t.log(f"{node} was called dead after {took:.2f} s")
    check.at_most(took, DEAD_AFTER + RESOLVED,
                  f"seconds until {node} is called dead")


def check_reads(t, client, node, results, pages):
    """No read took longer than it may, and none but of the node's pages has
    failed."""
    slowest = max(r["slowest_ms"] for r in results) / 1000
    failed = sum(r["failed_reads"] for r in results)
    t.log(f"slowest access {slowest:.2f} s, {failed} reads failed of "
          f"{pages} pages")
    check.at_most(slowest, DEAD_AFTER + RESOLVED, "seconds for one access")
    check.at_least(failed, 1, "reads that failed")
    check.at_most(failed, pages, f"reads that failed, of pages on {node}")
    for line in client.run(["dmesg"]).out.splitlines():
        if "page-in of" in line:
            check.true(node.addr in line, f"a page-in failed that has nothing "
                                          f"to do with {node}: {line}")


def start(t, dead_after=DEAD_AFTER):
    """Three stock nodes, pages of the first placed in turn."""
    cluster = t.cluster(3, kernel="6.1", memory_mb=256)
    cluster.cut(1, 2)
    for node in cluster:
        node.up(lend=LENT, dead_after=dead_after)
    cluster.wait_connected(cluster.nodes[:2])
    cluster.wait_connected([cluster[0], cluster[2]])
    cluster[0].ctl("policy", "place", "round-robin")
    cluster[0].swapon(cluster[0].device_add("160M"))
    return cluster


def end_swap(cluster, *nodes):
    """Swap off, devices removed, modules unloaded; no page is left."""
    for node in nodes:
        node.swapoff("nswap0")
        node.device_del("nswap0")
    alive = [node for node in cluster if not node.killed]
    wait_for(lambda: cluster.held_pages(alive) == 0, 20, "no page is held")
    for node in nodes:
        node.down()
        node.run(["rmmod", "nswap"])


def test_kill(t):
    """One of two servers loses its power: reads of its pages fail, in time;
    the other programs and the other nodes go on."""
    cluster = start(t)
    client, victim, other = cluster
    other.swapon(other.device_add("64M"))
    programs = [Program(client, name, 32, "12M", seed, "--passes", "1")
                for name, seed in (("first", 1), ("second", 2))]
    neighbour = Program(other, "third", 32, "16M", 3, "--passes", "0",
                        "--seconds", "100000", "--rate", "300")
    for program in [*programs, neighbour]:
        program.wait_running()
    begun, pages = gone_after(t, client, victim,
                              lambda: cluster.kill(victim))
    wait_dead(t, client, victim, begun)
    for program in [*programs, neighbour]:
        program.goes_on()
    t.log(f"every program went on by {time.monotonic() - begun:.2f} s")
    results = [p.end(t, (0, 3)) for p in programs]
    check_reads(t, client, victim, results, pages)
    neighbour.goes_on()
    neighbour.process.kill(15)
    result = neighbour.end(t, (0,))
    t.log(f"slowest access of the neighbour {result['slowest_ms']} ms")
    check.at_most(result["slowest_ms"], DEAD_AFTER * 1000,
                  "ms of the neighbour's slowest access")
    end_swap(cluster, client, other)


def test_short_cut(t):
    """A link cut for less than dead_after costs time, no page."""
    dead_after = 20
    cluster = start(t, dead_after)
    client, silent, _ = cluster
    program = Program(client, "only", 48, "20M", 1, "--passes", "1")
    program.wait_running()
    begun, _ = gone_after(t, client, silent,
                          lambda: cluster.cut(client, silent))
    wait_for(lambda: peer(client, silent)["state"] != "up", dead_after,
             "the cut is noticed", every=0.1)
    cluster.heal(client, silent)
    took = time.monotonic() - begun
    t.log(f"healed after {took:.2f} s")
    check.at_most(took, dead_after - 2, "seconds of a short cut")
    wait_for(lambda: peer(client, silent)["state"] == "up", 20,
             "the session is back", every=0.1)
    result = program.end(t, (0,))
    t.log(f"slowest access {result['slowest_ms']} ms")
    check.equal(result["failed_reads"], 0, "reads that failed")
    end_swap(cluster, client)


def test_long_cut(t):
    """A machine declared dead that returns with the same epoch is believed
    again."""
    cluster = start(t)
    client, silent, _ = cluster
    program = Program(client, "only", 48, "20M", 1, "--passes", "1")
    program.wait_running()
    begun, pages = gone_after(t, client, silent,
                              lambda: cluster.cut(client, silent))
    wait_dead(t, client, silent, begun)
    program.goes_on()
    cluster.heal(client, silent)
    wait_for(lambda: peer(client, silent)["state"] == "up", 30,
             "the machine is back", every=0.1)
    back = peer(client, silent)
    t.log(f"back after {time.monotonic() - begun:.2f} s with {back['slots']} "
          "pages on record")
    program.goes_on()
    failed = program.goes_on()["failed_reads"]
    loaded = silent.stat()["server"]["pages_loaded"]
    result = program.end(t, (3,))
    check_reads(t, client, silent, [result], pages)
    check.equal(result["failed_reads"], failed,
                "reads that failed, with those since it is back")
    check.at_least(silent.stat()["server"]["pages_loaded"], loaded + 1000,
                   "pages it served, with those since it is back")
    check.equal(peer(client, silent)["epoch"], back["epoch"], "its epoch")
    end_swap(cluster, client)


def test_paused(t):
    """A client's host stops it for longer than what waits may wait, and the lender's host that
    one, too: neither page-ins nor page-outs that wait are given up when the client goes on
    first."""
    cluster = t.cluster(2, kernel="6.1", memory_mb=256)
    client, lender = cluster.nodes
    for node in cluster:
        node.up(lend=LENT, dead_after=DEAD_AFTER)
    cluster.wait_connected()
    # A page-out waits for four times as long. Not more than 20 s, or than the client stands still
    # then: its clock would go on as if it had not.
    client.ctl("set", "store_timeout_ms", 3000)
    client.swapon(client.device_add("160M"))
    program = Program(client, "only", 48, "20M", 1, "--passes", "0", "--seconds", "100000")
    program.wait_running()
    writes = client.popen([client.prog("blkverify"), "--device", "/dev/" + client.device_add("8M"),
                           "--threads", "16", "--reads", "0", "--seconds", "100000"])
    check.hold(1)
    failed = stats(client)["write_errors"]
    lender.machine.pause()
    check.hold(0.5)
    client.machine.pause()
    check.hold(3 * DEAD_AFTER)
    client.machine.go_on()
    check.hold(DEAD_AFTER / 2)
    lender.machine.go_on()
    program.goes_on()
    check.equal(stats(client)["read_errors"], 0, "page-ins that failed")
    check.equal(stats(client)["write_errors"], failed, "page-outs that failed, with those before")
    writes.kill(15)
    check.equal(writes.wait(60).code, 0, "what the writing program ends with")
    client.device_del("nswap1")
    program.process.kill(15)
    check.equal(program.end(t, (0,))["failed_reads"], 0, "reads that failed")
    end_swap(cluster, client)
