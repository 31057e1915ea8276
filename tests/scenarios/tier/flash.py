# SPDX-License-Identifier: GPL-2.0
"""A device with flash: what no peer has room for goes there before home.

        node0 ------ node1        node0 swaps to node1, to flash, to its home
        |   |
    flash   home: mappings of the scratch disk, whose errors the test decides
"""
import os

from nswaptest.check import (Failure, at_least, at_most, equal, true, wait_for,
                             within)
from nswaptest.disk import disk
from nswaptest.work import Slots, eat

DESCRIPTION = "pages go to flash before home and come back right"
SUITES = ("lab",)
LONG = ("no_peer", "ranked", "full", "burst", "refusals")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 120

MIB = 256
HOME_AT = 512       # MiB, on the scratch disk


def alone(t):
    """A node without peers."""
    cluster = t.cluster(1)
    cluster.up(lend="1M")
    return cluster, cluster[0]


def used(node):
    """Flash slots that are used."""
    return node.devices()[0]["flash_used_slots"]


def test_no_peer(t):
    """No peer lends: a program swaps to two flash devices, every page right;
    freed slots are freed there."""
    cluster, node = alone(t)
    with disk(48) as first, disk(96, 48) as second:
        dev = node.device_add("128M", flash=(first.path, second.path))
        equal(node.devices()[0]["flash_bytes"], 144 << 20, "size of its flash")
        equal([(tier["class"], tier["rank"], tier["size_bytes"])
               for tier in node.devices()[0]["tiers"]],
              [("ram", 0, 0), ("flash", 1, 144 << 20)], "its tiers")
        true(not first.free(), "its flash can be opened by others")
        node.swapon(dev)
        before = node.vmstat("pswpout"), node.vmstat("pswpin")
        equal(eat(node, 96, "40M", passes=1)["wrong_pages"], 0, "wrong pages")
        stat = node.stat()["client"]
        t.log(str(stat))
        at_least(stat["pages_flash_in"], 10000, "pages in from flash")
        equal((stat["pages_out"], stat["pages_in"]), (0, 0),
              "pages out to and in from peers")
        within(stat["pages_flash_out"], node.vmstat("pswpout") - before[0],
               0.01, "pages out to flash, against the kernel's pswpout")
        within(stat["pages_flash_in"], node.vmstat("pswpin") - before[1],
               0.01, "pages in from flash, against the kernel's pswpin")
        wait_for(lambda: used(node) <= node.swap_used_pages(dev) +
                 64 * os.cpu_count(), 10, "flash holds what is in use")
        node.swapoff(dev)
        wait_for(lambda: used(node) <= 64 * os.cpu_count(), 10,
                 "flash is empty after swapoff")
        node.device_del(dev)


def test_ranked(t):
    """Random requests of any size and discards, to a peer that lends little,
    little flash, and home: every slot right."""
    cluster = t.cluster(2)
    cluster.up(lend="8M")
    node = cluster[0]
    with disk(16) as flash, disk(64, HOME_AT) as home:
        dev = node.device_add("48M", home=home.path, flash=(flash.path,))
        node.run([node.prog("blkverify"), "--device", f"/dev/{dev}",
                  "--seconds", "8", "--fresh", "--discards", "5", "--seed",
                  str(t.seed)], timeout=90)
        stat = node.stat()["client"]
        t.log(f"{stat} {node.devices()}")
        for key in ("pages_out", "pages_in", "pages_flash_out",
                    "pages_flash_in", "pages_home_out", "pages_home_in"):
            at_least(stat[key], 1000, key)
        seen = node.devices()[0]
        equal(seen["flash_used_slots"], seen["slots_flash"], "flash in use")
        at_most(seen["flash_used_slots"], 16 * MIB, "flash in use")
        node.discard(dev)
        equal(used(node), 0, "flash in use after a discard of everything")
        node.run(["cmp", "-n", "48M", f"/dev/{dev}", "/dev/zero"])
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_ranks(t):
    """Ranks decide which flash is filled first, whatever the order given."""
    _, node = alone(t)
    with disk(2) as first, disk(2, 2) as second, disk(2, 4) as third:
        dev = node.device_add("16M", flash=(second.path,), tiers=(
            (third.path, 7), (first.path, 0)))
        order = node.devices()[0]["flash"].split(",")
        node.device_del(dev)
        given = [f"dm-{os.minor(os.stat(one.path).st_rdev)}"
                 for one in (second, first, third)]
        equal(order, given, "its flash, by rank")
        for text in ("", "x", f"{first.path}", f"{first.path},rank=",
                     f"{first.path},rank=256", f"{first.path},rank=-1",
                     f"{first.path},size=3", ",rank=1"):
            said = node.refused("device", "add", "--size", "16M", "--tier",
                                text, code=2)
            t.log(f"{text}: {said}")
            true("rank" in said, f"the refusal is: {said}")
        equal(node.devices(), [], "devices after it")


def test_full(t):
    """Flash fills up without a home: writes fail, nothing is lost, and what
    is freed is used again, everywhere on it."""
    _, node = alone(t)
    with disk(4) as flash:
        dev = node.device_add("16M", flash=(flash.path,))
        with Slots(dev, t.seed) as slots:
            for first in range(1, 4 * MIB + 1, 32):
                slots.write(first, 32)
            equal(used(node), 4 * MIB, "flash in use")
            try:
                slots.write(8 * MIB, 32)
                raise Failure("a write succeeded without room")
            except OSError as error:
                t.log(f"write: {error}")
            for slot in range(8 * MIB, 8 * MIB + 32):
                del slots.count[slot]
            equal(slots.compare(), (4 * MIB, 0, 0), "right, wrong, unreadable")
            for _ in range(3):
                for slot in range(1, 4 * MIB, 64):
                    node.discard(dev, "-o", str(slot << 12), "-l", str(32 << 12))
                for first in range(1, 4 * MIB, 64):
                    slots.write(first, 32)
            equal(slots.compare(), (4 * MIB, 0, 0), "right, wrong, unreadable")
        equal(used(node), 4 * MIB, "flash in use")
        node.device_del(dev)


def test_errors(t):
    """Flash that fails: page-outs go home, page-ins of its pages fail, each
    for its own slot; then all is well again."""
    _, node = alone(t)
    with disk(16) as flash, disk(64, HOME_AT) as home:
        dev = node.device_add(home=home.path, flash=(flash.path,))
        with Slots(dev, t.seed) as slots:
            slots.write(1, 256)
            equal(node.devices()[0]["slots_flash"], 256, "slots on flash")
            flash.fail()
            equal(slots.compare(), (0, 0, 256), "right, wrong, unreadable")
            slots.write(1, 64)
            seen = node.devices()[0]
            equal((seen["slots_flash"], seen["slots_home"]), (192, 64),
                  "slots on flash and at home")
            equal(slots.compare(), (64, 0, 192), "right, wrong, unreadable")
            flash.mend()
            equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable")
            slots.write(1, 64)
            equal(node.devices()[0]["slots_flash"], 256, "slots on flash")
            equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable")
        stat = node.stat()["client"]
        equal(stat["write_errors"], 0, "pages whose page-out failed")
        lines = [x for x in node.run("dmesg").out.splitlines()
                 if "nswap" in x and " sector " in x and "failed" in x]
        at_least(len(lines), 1, "lines in the log about it")
        at_most(len(lines), 20, "lines in the log about it")
        node.device_del(dev)


def test_well_again(t):
    """Flash that failed, with nothing on it whose page-in could show that it
    is well again, is used again once it is."""
    _, node = alone(t)
    with disk(16) as flash, disk(64, HOME_AT) as home:
        dev = node.device_add(home=home.path, flash=(flash.path,))
        with Slots(dev, t.seed) as slots:
            flash.fail()
            slots.write(1, 64)
            equal(node.devices()[0]["slots_home"], 64, "slots at home")
            flash.mend()

            def taken():
                slots.write(1, 32)
                return node.devices()[0]["slots_flash"]
            wait_for(taken, 10, "page-outs go to flash again")
            equal(slots.compare(), (64, 0, 0), "right, wrong, unreadable")
        node.device_del(dev)


def test_burst(t):
    """A burst that the network is slow to take is spread over the peer and
    flash by the policy burst, every page right; other policies leave flash to
    what finds no peer."""
    cluster = t.cluster(2)
    cluster.up(lend="96M")
    node, server = cluster
    server.run(["tc", "qdisc", "replace", "dev", server.iface, "root",
                "netem", "delay", "5ms"]).check()
    with disk(64) as flash:
        dev = node.device_add("64M", flash=(flash.path,))
        share = {}
        for policy in ("most-free", "burst"):
            node.ctl("policy", "place", policy)
            before = node.stat()["client"]
            node.run([node.prog("blkverify"), "--device", f"/dev/{dev}",
                      "--seconds", "4", "--threads", "8", "--max-kb", "128",
                      "--reads", "10", "--seed", str(t.seed)],
                     timeout=90).check()
            after = node.stat()["client"]
            out, flash_out = (after[key] - before[key] for key in
                              ("pages_out", "pages_flash_out"))
            t.log(f"{policy}: {out} pages to the peer, {flash_out} to flash")
            share[policy] = flash_out / (out + flash_out)
            equal(after["read_errors"] + after["write_errors"], 0, "errors")
        at_least(out, 500, "pages that a burst brought to the peer")
        at_least(flash_out, 500, "pages that it brought to flash")
        at_least(share["burst"], share["most-free"],
                 "its share of pages on flash, against the default's")
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_refusals(t):
    """Flash that cannot be: one sentence each, nothing changed or held."""
    _, node = alone(t)
    with disk(16) as flash, disk(64, HOME_AT) as home:
        def refused(*args, says, code=1):
            said = node.refused("device", "add", *args, code=code)
            t.log(f"{' '.join(args)}: {said}")
            true(says in said, f"the refusal is: {said}")
            equal(node.devices(), [], "devices after it")
        refused("--flash", flash.path, says="--size", code=2)
        refused("--size", "8M", "--flash", "", says="--flash", code=2)
        refused("--size", "8M", "--flash", "/dev/nothing", says="no file")
        refused("--size", "8M", "--flash", flash.path, "--flash", flash.path,
                says="in use")
        refused("--home", home.path, "--flash", home.path, says="in use")
        refused("--size", "8M", *["--flash", flash.path] * 5, says="at most 4",
                code=2)
        node.run(["mkswap", flash.path])
        refused("--size", "8M", "--flash", flash.path, says="--force")
        true(flash.free() and home.free(), "a disk is held after refusals")
    with disk(1, 16) as small:
        dev = node.device_add("8M", flash=(small.path,))
        node.device_del(dev)
