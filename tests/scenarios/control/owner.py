# SPDX-License-Identifier: GPL-2.0
"""The size policy owner, and nswapctl owner that feeds it.

        node0 ------ node1        node0's pages are at node1, until its owner is back
             `------ node2

A pipe stands for the keyboard; tests/scenarios/vm/owner_vm.py has a real one.
"""
import os
import pathlib
import struct
import tempfile
import time

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import Slots

size = sibling("size")

DESCRIPTION = "a node lends while its owner is away, and gives all back with a key"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

KEY = struct.pack("llHHi", 0, 0, 1, 30, 1)
RULES = "input-idle = 2s\nterminal-idle = 0\ncpu-below = 0\n"
PAGES = 2048


class Desk:
    """A node with a keyboard, and what looks at it."""

    def __init__(self, node, folder):
        self.node = node
        folder = pathlib.Path(folder)
        (folder / "rules").write_text(RULES)
        os.mkfifo(folder / "event0")
        self.keyboard = os.open(folder / "event0", os.O_RDWR)
        self.command = [node.prog("nswapctl"), "owner", "--rules", folder / "rules",
                        "--input", folder, "--terminals", folder]
        self.process = node.popen(list(map(str, self.command)))

    def type(self):
        """A key."""
        os.write(self.keyboard, KEY)

    def away(self):
        """Whether the node has been told so."""
        return [k["value"] for k in self.node.ctl("set")
                if k["knob"] == "owner_away_s"] != [0]

    def end(self):
        """The program is told to end; what it said."""
        self.process.kill(15)
        done = self.process.wait(10).check()
        os.close(self.keyboard)
        return done.out


def test_back(t):
    """Nothing is typed: the node lends. A key: within a second it lends nothing, and its pages
    move to another peer while their owner uses them."""
    cluster = t.cluster(3)
    client, node, other = cluster
    client.up(lend="0")
    other.up(lend="0")
    size.adaptive(node, "16M", "owner", grow_pct=50)
    equal(size.size(node)["target_pages"], 0, "pages lent before the owner is said to be away")
    cluster.wait_connected()
    dev = client.device_add("16M")
    with tempfile.TemporaryDirectory() as folder, Slots(dev, t.seed) as slots:
        desk = Desk(node, folder)
        size.wait_target(node, 16 * size.MIB, 15)
        wait_for(lambda: client.peers()[node.addr]["free_pages"] > PAGES, 10,
                 "the client knows of it")
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        at_least(size.size(node)["held_pages"], PAGES, "pages held")
        other.ctl("lend", "32M")
        wait_for(lambda: node.peers()[other.addr]["free_pages"] > PAGES, 10,
                 "it knows where to move them")
        begun = time.monotonic()
        desk.type()
        wait_for(lambda: not size.size(node)["target_pages"], 5, "it lends nothing")
        t.log(f"{time.monotonic() - begun:.2f} s after a key it lent nothing")
        at_most(time.monotonic() - begun, 1, "seconds from a key until it lends nothing")
        wait_for(lambda: desk.type() or not size.size(node)["held_pages"], 30,
                 "its pages have moved")
        t.log(f"{time.monotonic() - begun:.2f} s until {PAGES} pages had moved")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        wait_for(desk.away, 10, "nothing is typed any more")
        said = desk.end()
        true("the owner is away" in said and "a key or the mouse" in said, f"it says {said!r}")
        true(not desk.away(), "when it ends the owner counts as here")
    client.device_del(dev)


def test_killed(t):
    """If what says that the owner is away is killed, that holds for a while only."""
    cluster = t.cluster(1)
    node = cluster[0]
    size.adaptive(node, "16M", "owner", grow_pct=50)
    node.ctl("set", "owner_away_s", 8)
    size.wait_target(node, 16 * size.MIB, 8)
    size.wait_target(node, 0, 15)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(node, folder)
        size.wait_target(node, 16 * size.MIB, 15)
        desk.process.kill(9)
        size.wait_target(node, 0, 40)


def test_other_policy(t):
    """Under another policy it says that nothing comes of it."""
    cluster = t.cluster(1)
    cluster[0].up(lend="4M")
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(cluster[0], folder)
        wait_for(desk.away, 10, "it tells the node all the same")
        desk.process.kill(15)
        done = desk.process.wait(10)
        true("the node's size policy is fixed" in done.err, f"it says {done.err!r}")
        equal(size.size(cluster[0])["target_pages"], 4 * size.MIB, "pages lent")
