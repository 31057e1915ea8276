# SPDX-License-Identifier: GPL-2.0
"""A workstation that lends while its owner is away, with a keyboard that is QEMU's.

        client ------ desk        the client's pages are at the desk, until a key is
              `------ other       pressed there
"""
import json
import time

from nswaptest import check
from nswaptest.check import wait_for
from vm.proc import size

DESCRIPTION = "a key gives a workstation's lent RAM back within a second"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 200
CPUS = 2        # of the host: two of its three guests are busy

IDLE_S = 15     # longer than the owner's program takes
LENT = "64M"
HELD = 4000         # pages
TOUCH_MB = 140      # of 256: more than is free while the pages are there
RULES = f"input-idle = {IDLE_S}s\nterminal-idle = 0\ncpu-below = 0\n"


def touch(t, node, when):
    """A program of the owner's touches memory: seconds it takes."""
    begun = time.monotonic()
    node.run([node.prog("eater"), "--mb", str(TOUCH_MB), "--passes", "1"])
    took = time.monotonic() - begun
    t.log(f"{when}: a program of {TOUCH_MB} MB took {took:.2f} s")
    return took


def test_key(t):
    """Stock 6.1: no key for some seconds, and it lends; one key, and within a second it
    lends nothing. Its pages move on, none is wrong, and a program that its owner starts at
    once has the memory."""
    cluster = t.cluster(3, kernel="6.1", memory_mb=256)
    client, desk, other = cluster
    client.up(lend="0")
    other.up(lend="0")
    desk.up(lend=LENT, size_policy="owner")
    for knob, value in (("grow_pct", 50), ("hold_off_ms", 500)):
        desk.ctl("set", knob, value)
    cluster.wait_connected()
    alone = [touch(t, desk, "nothing lent") for _ in range(3)]
    desk.write("/rules", RULES)
    owner = desk.popen([desk.prog("nswapctl"), "owner", "--rules", "/rules"])
    wait_for(lambda: size(desk)["target"] > 2 * HELD, 30, "it lends, for nothing is typed")
    wait_for(lambda: client.peers()[desk.addr]["free_pages"] > HELD, 20,
             "the client knows of it")
    client.swapon(client.device_add("64M"))
    eater = client.popen([client.prog("eater"), "--mb", "56", "--passes", "0",
                          "--seconds", "100000", "--order", "random", "--out", "/eater.json"],
                         memory_max="24M")
    wait_for(lambda: size(desk)["held"] > HELD, 60, "it holds pages")
    other.ctl("lend", "96M")
    wait_for(lambda: desk.peers()[other.addr]["free_pages"] > HELD, 20,
             "it knows where to move them")
    held, begun = size(desk)["held"], time.monotonic()
    desk.machine.press("a")
    wait_for(lambda: not size(desk)["target"], 10, "it lends nothing", every=0.02)
    took = time.monotonic() - begun
    beside = touch(t, desk, f"{held} pages to be moved away")
    wait_for(lambda: desk.machine.press("a") or not size(desk)["held"], 60,
             "its pages have moved", every=0.5)
    t.log(f"{took:.2f} s from the key until nothing was lent, {time.monotonic() - begun:.1f} s "
          f"until {held} pages had moved; the owner's program took {beside:.2f} s, "
          f"{sorted(alone)[1]:.2f} without")
    check.at_most(took, 1, "seconds from the key until it lends nothing")
    eater.kill(15)
    check.equal(json.loads(eater.wait(60).check().out)["wrong_pages"], 0, "wrong pages")
    owner.kill(15)
    said = owner.wait(10).check().out
    check.true("a key or the mouse" in said, f"it says {said!r}")
