# SPDX-License-Identifier: GPL-2.0
"""Page-outs leave a network that another program loads for home, and come back.

        node0 ====== node1      a link of RATE_MBIT; node0 has a device with a
        |    100 Mb/s           home, a mapping of the scratch disk, and sends
       home                     something else to node1 now and then

What that gains is table quietest of bench/paper: a real clock says little of it where
the machine has other things to do.
"""
import contextlib
import time

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import SCRATCH, disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

prefetch = sibling("prefetch")

DESCRIPTION = "placement leaves a busy network for a quiet disk, and comes back"
SUITES = ("lab",)
LONG = ("worse",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 400

RATE_MBIT = 100
HOME_MB = 16
SLOTS = 2048
RUN = 32
SLOW_MS = 400
# another program: 64 KiB every 4 ms, 1.3 times what the link carries
SENDER = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    try:
        s.sendto(bytes(65000), (sys.argv[1], 9))
    except OSError:
        pass
    time.sleep(0.004)
"""


@contextlib.contextmanager
def leaning(t):
    """A node with a device and home that places by quietest; its slots are none."""
    cluster = t.cluster(2, rate_mbit=RATE_MBIT)
    cluster.up(lend="32M")
    node = cluster[0]
    with disk(HOME_MB) as home:
        dev = node.device_add(home=home.path)
        node.ctl("policy", "place", "quietest")
        with Slots(dev, t.seed) as slots:
            yield cluster, node, slots, home
        node.device_del(dev)


@contextlib.contextmanager
def busy_network(cluster):
    """with busy_network(cluster): another program of node0 sends to node1."""
    sender = cluster[0].popen(["python3", "-c", SENDER, cluster[1].addr])
    try:
        yield
    finally:
        sender.kill(9)
        sender.wait(10)


class Writer:
    """Writes slots again and again, in order."""

    def __init__(self, slots):
        self.slots = slots
        self.at = 0

    def write(self):
        """The next slots; true, to be used in conditions."""
        self.slots.write(1 + self.at, RUN)
        self.at = (self.at + RUN) % SLOTS
        return True


def leans(node):
    """How often page-outs have left peers for another tier, or come back."""
    return prefetch.counters(node)["leans"]


def quiet_for(writer, seconds):
    """Write for a while, so that it is known what that takes."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        writer.write()
        hold(0.01)


def leave(node, writer):
    """Write until page-outs have left the network."""
    before = leans(node)
    wait_for(lambda: writer.write() and leans(node) > before, 40,
             "page-outs leave the network")


def test_leaves_and_returns(t):
    """While another program fills the link page-outs go home; when it has ended they go
    to peers again, and nothing that is at home comes out meanwhile."""
    with leaning(t) as (cluster, node, slots, _):
        writer = Writer(slots)
        quiet_for(writer, 4)
        seen = prefetch.counters(node)
        at_most(seen["leans"], 0, "changes on a quiet network")
        at_most(seen["pages_home_out"], 0, "pages out to home on a quiet network")
        with busy_network(cluster):
            leave(node, writer)
            before = prefetch.counters(node)
            quiet_for(writer, 1)
            now = prefetch.counters(node)
            # a disk that is slow just then sends page-outs back to peers, and rightly so
            at_most(now["leans"], 1, "changes while the link is full")
            equal(now["pages_out"] - before["pages_out"], 0,
                  "pages out to peers after that")
            at_least(now["pages_leaned"] - before["pages_leaned"], RUN,
                     "pages out to home after that")
            equal(now["pages_home_to_remote"], 0, "pages that moved out from home")
        before = prefetch.counters(node)
        # with pauses: while page-outs take half as long there, they may stay at home
        wait_for(lambda: writer.write() and leans(node) > before["leans"], 60,
                 "page-outs come back", every=0.7)
        before = prefetch.counters(node)["pages_out"]
        quiet_for(writer, 1)
        at_least(prefetch.counters(node)["pages_out"] - before, RUN,
                 "pages out to peers again")
        right, wrong, unreadable = slots.compare()
        equal((right, wrong, unreadable), (len(slots.count), 0, 0),
              "right, wrong, unreadable")
        true("page-outs go to home" in node.run("dmesg").out, "the log says so")
        at_most(leans(node), 4, "changes in all")


def test_worse(t):
    """The disk turns out to be slower than the busy network: page-outs go back."""
    with leaning(t) as (cluster, node, slots, home):
        writer = Writer(slots)
        quiet_for(writer, 4)
        with busy_network(cluster):
            leave(node, writer)
            before = leans(node)
            where = f"{SCRATCH} {home.at}"
            home.become(f"0 {home.sectors} delay {where} {SLOW_MS} {where} {SLOW_MS * 4}")
            wait_for(lambda: writer.write() and leans(node) > before, 60,
                     "page-outs go back to the network")
        equal(slots.compare(), (len(slots.count), 0, 0), "right, wrong, unreadable")
