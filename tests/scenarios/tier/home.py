# SPDX-License-Identifier: GPL-2.0
"""A device with a home: a disk that takes the pages no peer has room for.

        node0 ------ node1        node0 swaps to its home, and to node1
          |
        home: a mapping of the scratch disk, whose errors the test decides
"""
import os
import pathlib
import threading

from nswaptest.check import (Failure, at_least, at_most, equal, true, wait_for,
                             within)
from nswaptest.disk import disk
from nswaptest.lab import attempt, sh
from nswaptest.work import Slots, eat, eater, result_of, state_of

DESCRIPTION = "pages that no peer has room for go home and come back right"
SUITES = ("lab",)
LONG = ("little_peer", "any_request", "errors_while_swapping", "hard_interrupt")
NEEDS = ("module", "progs", "dmsetup", "mkfs.ext4")
TIMEOUT = 240


def alone(t):
    """A node without peers."""
    cluster = t.cluster(1)
    cluster.up(lend="1M")
    return cluster, cluster[0]


def moved_by(node, work):
    """What the counters of a node and its kernel rose by during work()."""
    def now():
        client = node.stat()["client"]
        return {k: client[k] for k in
                ("pages_out", "pages_in", "pages_home_out", "pages_home_in",
                 "write_errors", "read_errors")} | {
                    k: node.vmstat(k) for k in ("pswpin", "pswpout")}
    before = now()
    result = work()
    after = now()
    return result, {k: after[k] - before[k] for k in after}


def holder(node, limit, mb, release):
    """A program that has filled its memory and keeps it until the file
    release is there; then it compares every page."""
    state = node.cluster.scratch / "holder.json"
    program = node.popen(eater(node, mb, passes=0, hold=True, release=release,
                               out=state), memory_max=limit)
    wait_for(lambda: state_of(state).get("state") == "holding", 60,
             "the program has filled its memory")
    return program


def test_no_peer(t):
    """No peer lends: a program swaps to home alone, every page right; what is
    in use is held, and given back with the device."""
    cluster, node = alone(t)
    with disk(192) as home:
        dev = node.device_add(home=home.path)
        equal(node.devices()[0]["size_bytes"], 192 << 20, "size of the device")
        equal({s["name"]: s["bytes"] for s in
               node.devices()[0]["side_tables"]},
              {"freed": 6144, "returning": 6144, "prefetched": 49152,
               "copied": 6144, "copying": 6144},
              "side tables")
        node.swapon(dev)
        true(not home.free(), "the home of a device can be opened by others")
        result, moved = moved_by(
            node, lambda: eat(node, 96, "48M", passes=1))
        t.log(str(moved))
        equal(result["wrong_pages"], 0, "wrong pages")
        at_least(moved["pages_home_in"], 10000, "pages in from home")
        equal((moved["pages_out"], moved["pages_in"]), (0, 0),
              "pages out to and in from peers")
        within(moved["pages_home_out"], moved["pswpout"], 0.01,
               "pages out to home, against the kernel's pswpout")
        within(moved["pages_home_in"], moved["pswpin"], 0.01,
               "pages in from home, against the kernel's pswpin")
        wait_for(lambda: node.devices()[0]["slots_home"] <=
                 node.swap_used_pages(dev) + 64 * os.cpu_count(), 10,
                 "the program's slots are freed")
        true("in use" in node.run(["rmmod", "nswap"], check=False).err,
             "rmmod was not refused")
        node.refused("device", "del", dev)
        node.swapoff(dev)
        node.device_del(dev)


def test_little_peer(t):
    """A peer lends little: the rest goes home, the counters add up."""
    cluster = t.cluster(2)
    cluster.up(lend="24M")
    node = cluster[0]
    with disk(192) as home, cluster.swap(node, home=home.path) as dev:
        release = cluster.scratch / "release"
        program = holder(node, "40M", 80, release)
        seen = node.devices()[0]
        at_least(seen["slots_remote"], 4000, "slots at the peer")
        at_least(seen["slots_home"], 2000, "slots at home")
        at_most(seen["slots_home"] + seen["slots_remote"],
                node.swap_used_pages(dev) + 64 * os.cpu_count(),
                "slots recorded")
        release.write_text("")
        equal(result_of(program.wait(120))["wrong_pages"], 0, "wrong pages")
        result, moved = moved_by(
            node, lambda: eat(node, 80, "40M", passes=1, order="random"))
        t.log(str(moved))
        equal(result["wrong_pages"], 0, "wrong pages")
        for key in ("pages_out", "pages_in", "pages_home_out",
                    "pages_home_in"):
            at_least(moved[key], 1000, key)
        within(moved["pages_out"] + moved["pages_home_out"], moved["pswpout"],
               0.01, "pages out in all, against the kernel's pswpout")
        within(moved["pages_in"] + moved["pages_home_in"], moved["pswpin"],
               0.01, "pages in in all, against the kernel's pswpin")
        equal(moved["write_errors"], 0, "write errors")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_any_request(t):
    """Random requests of any size and discards, to a peer that lends little
    and home: every slot right."""
    cluster = t.cluster(2)
    cluster.up(lend="8M")
    node = cluster[0]
    with disk(64) as home:
        dev = node.device_add("48M", home=home.path)
        node.run([node.prog("blkverify"), "--device", f"/dev/{dev}",
                  "--seconds", "8", "--fresh", "--discards", "5", "--seed",
                  str(t.seed)], timeout=90)
        stat = node.stat()["client"]
        t.log(str(stat))
        for key in ("pages_out", "pages_in", "pages_home_out",
                    "pages_home_in"):
            at_least(stat[key], 1000, key)
        node.discard(dev)
        equal(node.devices()[0]["slots_home"], 0, "slots at home")
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_signature(t):
    """What is on the home is found and named; --force overrides."""
    _, node = alone(t)
    with disk(64) as home:
        for name, make in (("ext4", ["mkfs.ext4", "-q", "-F"]),
                           ("swap", ["mkswap"])):
            sh(*make, home.path)
            said = node.refused("device", "add", "--home", home.path)
            t.log(said)
            true(name in said and home.path in said and "--force" in said,
                 f"the refusal says too little: {said}")
            equal(node.devices(), [], "devices after it")
            sh("dd", "if=/dev/zero", f"of={home.path}", "bs=1M", "count=1",
               "conv=fsync,notrunc")
        sh("mkfs.ext4", "-q", "-F", home.path)
        dev = node.device_add(home=home.path, force=True)
        with Slots(dev, t.seed) as slots:
            slots.write(1, 256)
            equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable")
        node.device_del(dev)


def test_refusals(t):
    """Homes that cannot be: one sentence each, nothing changed or held."""
    _, node = alone(t)
    with disk(64) as home:
        folder = pathlib.Path("/run/mounted")
        folder.mkdir(exist_ok=True)

        def refused(*args, says, code=1):
            said = node.refused("device", "add", *args, code=code)
            t.log(f"{' '.join(args)}: {said}")
            true(says in said, f"the refusal is: {said}")
            equal(node.devices(), [], "devices after it")
        refused("--home", home.path, "--size", "65M", says="larger")
        refused("--home", home.path, "--size", "4097", says="multiple")
        refused("--home", home.path, "--size", "0", says="size 0")
        refused("--home", "/dev/nothing", says="no file")
        refused("--home", "/dev/null", says="not a block device")
        refused("--home", "/run", says="not a block device")
        refused("--home", "", says="--home", code=2)
        refused("--size", "8M", "--force", says="--home", code=2)
        refused("--force", says="--home", code=2)
        true(home.free(), "the home is held after refusals")
        sh("mkfs.ext4", "-q", "-F", home.path)
        sh("mount", home.path, str(folder))
        refused("--home", home.path, "--force", says="in use")
        sh("umount", str(folder))
        sh("mkswap", home.path)
        sh("swapon", home.path)
        refused("--home", home.path, "--force", says="in use")
        sh("swapoff", home.path)
        sh("blockdev", "--setro", home.path)
        refused("--home", home.path, "--force", says="read-only")
        sh("blockdev", "--setrw", home.path)
        dev = node.device_add("8M", home=home.path, force=True)
        true("in use" in node.refused("device", "add", "--home", home.path,
                                      "--force"), "a home taken twice")
        true("nswap" in node.refused("device", "add", "--home",
                                     f"/dev/{dev}"), "nswap on nswap")
        node.device_del(dev)


def test_errors(t):
    """A home that fails: writes fail, reads fail, each for its own slot and
    no longer than the home does; then all is well again."""
    _, node = alone(t)
    with disk(64) as home:
        dev = node.device_add(home=home.path)
        with Slots(dev, t.seed) as slots:
            slots.write(1, 64)
            home.fail()
            equal(slots.compare(), (0, 0, 64), "right, wrong, unreadable")
            try:
                slots.write(33, 8)
                raise Failure("a write succeeded on a home that fails")
            except OSError as error:
                t.log(f"write: {error}")
            home.mend()
            equal(slots.compare(), (56, 0, 8), "right, wrong, unreadable")
            equal(node.devices()[0]["slots_lost"], 8, "slots lost")
            slots.write(1, 64)
            equal(slots.compare(), (64, 0, 0), "right, wrong, unreadable")
            home.fail(slots=(5, 20))
            try:
                slots.write(1, 32)
                raise Failure("a write succeeded on a bad sector")
            except OSError as error:
                t.log(f"write: {error}")
            equal(slots.compare(), (62, 0, 2), "right, wrong, unreadable")
            home.fail(slots=(40,))
            with open(f"/dev/{dev}", "rb") as file:
                file.seek(33 << 12)
                true(file.read(4096) == slots.read(33), "a read ahead of it")
            equal(slots.compare(), (61, 0, 3), "right, wrong, unreadable")
            home.mend()
            equal(slots.compare(), (62, 0, 2), "right, wrong, unreadable")
        stat = node.stat()["client"]
        equal(stat["write_errors"], 10, "pages whose page-out failed")
        lines = [x for x in node.run("dmesg").out.splitlines()
                 if "nswap" in x and " sector " in x and "failed" in x]
        at_least(len(lines), 1, "lines in the log about it")
        at_most(len(lines), 20, "lines in the log about it")
        node.device_del(dev)


def test_errors_while_swapping(t):
    """The home fails under a program: its pages stay in RAM, none is wrong,
    and it goes on once the home is mended."""
    cluster, node = alone(t)
    with disk(192) as home, cluster.swap(node, home=home.path) as dev:
        release = cluster.scratch / "release"
        program = holder(node, "200M", 64, release)
        home.fail()
        reclaim = threading.Thread(target=program.reclaim, args=("32M",))
        reclaim.start()
        wait_for(lambda: node.stat()["client"]["write_errors"] > 1000, 20,
                 "page-outs fail")
        equal(node.devices()[0]["slots_home"], 0, "slots at home")
        home.mend()
        reclaim.join()
        at_least(node.swap_used_pages(dev), 1000, "pages swapped out")
        at_least(node.devices()[0]["slots_home"], 1000, "slots at home")
        release.write_text("")
        equal(result_of(program.wait(120))["wrong_pages"], 0, "wrong pages")
        equal(node.stat()["client"]["read_errors"], 0, "read errors")


def test_hard_interrupt(t):
    """A home whose completions come in hard interrupts."""
    cluster, node = alone(t)
    module = pathlib.Path(t.settings["kernel"]) / \
        "drivers/block/null_blk/null_blk.ko"
    sh("insmod", str(module), "nr_devices=1", "gb=1", "bs=4096",
       "memory_backed=1", "irqmode=2", "completion_nsec=20000")
    try:
        with cluster.swap(node, "128M", home="/dev/nullb0"):
            result = eat(node, 64, "32M", passes=1)
            equal(result["wrong_pages"], 0, "wrong pages")
            at_least(node.stat()["client"]["pages_home_in"], 5000,
                     "pages in from home")
    finally:
        attempt("rmmod", "null_blk")


def test_loop(t):
    """A loop device is taken, with a warning."""
    _, node = alone(t)
    image = pathlib.Path("/run/home.img")
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    loop = sh("losetup", "--find", "--show", str(image)).strip()
    try:
        done = node.run([node.prog("nswapctl"), "device", "add", "--home",
                         loop])
        true("loop" in done.err and "tests" in done.err,
             f"no warning, but: {done.err}")
        dev = node.devices()[0]
        equal(dev["home"], loop.removeprefix("/dev/"), "the home's name")
        true(f" {dev['home']}" in node.read("/proc/nswap/devices"),
             "/proc does not name the home")
        with Slots(dev["device"], t.seed) as slots:
            slots.write(1, 64)
            equal(slots.compare(), (64, 0, 0), "right, wrong, unreadable")
        equal(node.devices()[0]["slots_home"], 64, "slots at home")
        node.device_del(dev["device"])
    finally:
        sh("losetup", "--detach", loop)
        image.unlink()
