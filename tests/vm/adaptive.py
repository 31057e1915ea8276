# SPDX-License-Identifier: GPL-2.0
"""Lent RAM that is wanted back, with separate kernels.

        node0 ------ node1        each with a disk, its nswap device's home

Two small guests, out of phase: each lends what is idle under an adaptive size
policy, and eats while the other one's program rests.

    turn of a guest:  it eats, and gives back every page it holds of the other
                      the other's program ends: it lends again
                      it goes on eating until enough of its pages are there
                      its program rests; the other's turn

Invariants: there is no third peer, so a page that is given back goes to its
owner's home; hung tasks panic the guest, so a hang ends the run as a lost
guest; a page is counted as moved off by the guest that held it.
"""
import json
import time

from nswaptest import check
from nswaptest.check import Failure, Unmet, wait_for

from . import pressure, proc

SMALL_MB = 128
HOME_MB = 256
LENT = "64M"
IDLE = 2000         # pages an idle guest lends before the other goes on
EACH_WAY = 2000     # pages stored on the peer and moved off, in all turns
TURNS = 3           # of each guest
EACH_TURN = 4 * EACH_WAY // (3 * TURNS)     # pages, a third more than needed
PHASE = 60          # seconds (times the back end's scale) for a part of a turn
# A guest that reclaims all the time has up to 18 % of its RAM free or, by the kernel's
# own reckoning, in slabs easily reclaimed; with less headroom than that the policy may
# leave some pages lent for good.
KNOBS = {"grow_pct": 10, "hold_off_ms": 2000, "size_period_ms": 500, "headroom_pct": 25}


class Program:
    """A program bigger than its machine: it eats until it is told to rest,
    and rests until it is told to end."""

    def __init__(self, node, mb, seed):
        self.node, self.file = node, f"/eater-{seed}.json"
        node.write(self.file, json.dumps({"state": "starting"}))
        self.process = node.popen(
            [node.prog("eater"), "--mb", str(mb), "--passes", "0",
             "--seconds", "1000000", "--hold", "--seed", str(seed),
             "--out", self.file])

    def state(self):
        """What it does now; Failure if it has ended."""
        if self.process.poll() is not None:
            done = self.process.wait(1)
            raise Failure(f"{self.node}: the program ended with {done.code} "
                          f"too early: {(done.err or done.out).strip()}")
        return pressure.read_json(self.node, self.file)["state"]

    def wait_state(self, state):
        """Wait until it does that."""
        wait_for(lambda: self.state() == state, PHASE,
                 f"{self.node}: the program is {state}", every=0.3)

    def rest(self):
        """It touches nothing any more and keeps its memory."""
        self.wait_state("running")
        self.process.kill(15)
        self.wait_state("holding")

    def end(self, t):
        """It compares every page and ends; none is wrong."""
        begun = time.monotonic()
        self.process.kill(15)
        done = self.process.wait(2 * PHASE)
        t.log(f"{self.node}: ended with {done.code} after "
              f"{time.monotonic() - begun:.1f} s: {done.out.strip()}")
        if done.code:
            raise Failure(f"{self.node}: the program ended with {done.code}: "
                          f"{(done.err or done.out).strip()}")
        check.equal(json.loads(done.out)["wrong_pages"], 0,
                    f"{self.node}: wrong pages")


class Fall:
    """What a node holds, from when a program of its own wants the memory."""

    def __init__(self, node):
        self.node = node
        self.seen = []

    def look(self):
        """Note what it holds, and how much of that is too much."""
        now = proc.size(self.node)
        self.seen.append((time.monotonic(), now["held"], now["surplus"]))
        return now

    def measure(self, t):
        """From the first surplus to the last: pages given back, seconds, and
        the longest time in which none was though there was a surplus."""
        over = [i for i, (_, _, surplus) in enumerate(self.seen)
                if surplus] or range(len(self.seen))
        part = self.seen[max(over[0] - 1, 0):over[-1] + 2]
        still, at, least = 0.0, part[0][0], part[0][1]
        for now, held, surplus in part:
            still = max(still, now - at)
            if held < least or not surplus:
                at, least = now, min(held, least)
        gone, took = part[0][1] - part[-1][1], part[-1][0] - part[0][0]
        t.log(f"{self.node}: gave {gone} of {part[0][1]} pages back in "
              f"{took:.1f} s, {gone / took:.0f} a second, never still for "
              f"more than {still:.1f} s")
        return gone, took, still


def start(t, series, policy, feed):
    """Two nodes that lend what is idle, swap on, hearts beating."""
    t.expect_starved()
    cluster = t.cluster(2, kernel=series, memory_mb=SMALL_MB, disk_mb=HOME_MB)
    for node in cluster:
        pressure.watch_for_hangs(node)
        node.up(lend=LENT, size_policy=policy)
        for name, value in KNOBS.items():
            node.ctl("set", name, value)
        if feed:
            node.popen([node.prog("nswapctl"), "psi", "--every", "1"])
    cluster.wait_connected()
    for node in cluster:
        node.swapon(node.device_add(home="/dev/vda"))
        wait_idle(node)
    return cluster


def wait_idle(node):
    """Until a node lends some of its RAM."""
    wait_for(lambda: proc.size(node)["target"] >= IDLE, PHASE,
             f"{node} lends {IDLE} pages", every=0.3)


def drained(t, node, program):
    """Until a node has given back every page it held, while its program
    eats; logs how that went."""
    fall = Fall(node)
    fall.look()

    def empty():
        program.state()
        return not fall.look()["held"]
    try:
        wait_for(empty, PHASE, f"{node} gives back all the pages it holds",
                 every=0.2)
    except Unmet as e:
        raise Unmet(f"{e}: {json.dumps(proc.size(node))}") from e
    finally:
        fall.measure(t)


def eat(t, turn, me, other, resting):
    """A turn of one guest; returns its program, which rests then."""
    program = Program(me, me.meminfo_kb("MemTotal") // 1024, turn)
    if resting:
        drained(t, me, program)
        resting.end(t)
    wait_idle(other)
    program.wait_state("running")

    def enough():
        program.state()
        return proc.size(other)["held"] >= EACH_TURN
    begun = time.monotonic()
    wait_for(enough, PHASE, f"{EACH_TURN} pages of {me} are on {other}",
             every=0.3)
    t.log(f"{me}: {EACH_TURN} pages are on {other} after another "
          f"{time.monotonic() - begun:.1f} s")
    program.rest()
    return program


def moved_off(t, node):
    """What a node took in for the other one and got rid of again."""
    now = proc.stats(node)
    t.log(f"{node}: {json.dumps(now)}")
    check.at_least(now["pages_stored"], EACH_WAY,
                   f"{node}: pages stored for the other one")
    check.at_least(now["pages_sent_home"], EACH_WAY,
                   f"{node}: pages given back to the other one")
    check.equal((now["read_errors"], now["write_errors"]), (0, 0),
                f"{node}: pages that could not be read or written")


def out_of_phase(t, series, policy="watermark", feed=False):
    """Some turns each, and one more of the first guest, which gives back
    what it took in last."""
    cluster = start(t, series, policy, feed)
    beats = [pressure.Beats(node) for node in cluster]
    resting = None
    for turn in range(2 * TURNS + 1):
        me, other = cluster[turn % 2], cluster[1 - turn % 2]
        resting = eat(t, turn + 1, me, other, resting)
    resting.end(t)
    for node in cluster:
        moved_off(t, node)
    for beat in beats:
        beat.check(t)
    for node in cluster:
        node.swapoff("nswap0")
        node.device_del("nswap0")
    wait_for(lambda: cluster.held_pages() == 0, 20,
             "no node holds a page for another one")
