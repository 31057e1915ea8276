# SPDX-License-Identifier: GPL-2.0
"""The policies of devices, and what it takes to list them.

        node0        two devices, each with policies of its own
"""
import time

from nswaptest import rawnl
from nswaptest.check import at_least, at_most, equal, wait_for
from nswaptest.rawnl import Raw, text

DESCRIPTION = "devices and their policies are listed, and no other task waits for that"
SUITES = ("lab",)
NEEDS = ("inject",)
TIMEOUT = 60

K = rawnl.constants()
OWN = {"place": "latency", "read": "fastest"}


def own(node, dev):
    """What nswapctl says is set on a device itself: {kind: name}."""
    return {one["kind"]: one["name"] for one in node.ctl("policy", "--device", dev)
            if one["own"]}


def used(listed):
    """What a list says is used: {kind: name}."""
    return {one["kind"]: one["name"] for one in listed if one["current"]}


def looks(node):
    """How often the exposed pages of a device were counted."""
    return int(node.read("/sys/module/nswap/parameters/inject_looks"))


def test_of_devices(t):
    """Each of two devices has its own, and follows its node in the rest; a list of them
    counts no exposed pages, those of the device before included."""
    cluster = t.cluster(1, inject=True)
    node = cluster[0]
    node.up()
    first, second = [node.device_add("8M", wait=False) for _ in range(2)]
    node.ctl("policy", "place", "round-robin")
    for kind, name in OWN.items():
        node.ctl("policy", kind, name, "--device", second)
    ours = used(node.ctl("policy"))
    equal(ours["place"], "round-robin", "the node's own")
    equal(own(node, first), {}, "set on the first device")
    equal(used(node.ctl("policy", "--device", first)), ours, "what the first device uses")
    equal(own(node, second), OWN, "set on the second device")
    equal(used(node.ctl("policy", "--device", second)), ours | OWN, "what that one uses")
    before, raw = looks(node), Raw(node)
    for dev in (first, second):
        answer = raw.ask(K["NSWAP_CMD_POLICY_GET"], text(K["NSWAP_A_DEVICE_NAME"], dev),
                         flags=rawnl.DUMP)
        equal(answer.errno, 0, "errno of the list")
        at_least(len(answer.replies), len(ours), "policies of all kinds")
    equal(looks(node), before, "times that exposed pages were counted")
    node.devices()
    equal(looks(node), before + 2, "times after a list of the devices")
    raw.close()
    node.refused("policy", "--device", "nswap77")
    for dev in (first, second):
        node.device_del(dev)


def test_listed_slowly(t):
    """Any user may list devices: no other task waits while the exposed pages of a large one
    are counted, and what shows none counts none."""
    cluster = t.cluster(1, inject=True)
    node = cluster[0]
    node.up()
    dev = node.device_add("8M", wait=False)
    before = looks(node)
    node.read("/proc/nswap/policies")
    equal(looks(node), before, "times that exposed pages were counted")
    node.inject(slow_look=1)
    listing = node.popen([node.prog("nswapctl"), "device", "list"])
    wait_for(lambda: looks(node) > before, 10, "they are counted")
    began = time.monotonic()
    node.ctl("set", "move_mib_s", "1")
    at_most(time.monotonic() - began, 1.5, "seconds to set a knob")
    equal(listing.wait(20).code, 0, "exit code of the list")
    node.device_del(dev)
