# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail, wherever the module or what it calls asks for memory.

        node0 ------ node1 … node3     node0 has a device, and what it asks for fails

A command either does its job or is refused with one sentence and has changed nothing,
whichever of its allocations fails: they are failed one after the other, until the
command has no more of them. Of what the module's own threads and the block device ask
for each n-th call fails, while pages are written, compared and moved: none may be wrong,
and once nothing fails any more all is as ever.

NSWAP_FULL=1 leaves out no allocation of a command; else beyond the first DENSE steps
grow by an eighth.
"""
import re

from nswaptest import faults, modmem
from nswaptest.check import Failure, at_least, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.lab import module_loaded
from nswaptest.scenario import sibling
from nswaptest.totals import in_full
from nswaptest.work import Slots, result_of

mirror = sibling("protect_mirror")
chaos = sibling("chaos")

DESCRIPTION = "whatever allocation fails, nothing breaks and no page is wrong"
SUITES = ("faults", "debug")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 240

DENSE = 100000 if in_full() else 24
SERVERS = 3
DEVICE_MB = 8
SECONDS = 4             # of work for each n
ROUNDS = 30             # more of them at most, until enough calls have failed
EVERY = (67, 23, 7)     # each n-th call fails
FEWEST = 20             # calls that are to fail
UNPROTECTED = 8         # the module asks for few pages then
QUIET = 20              # dead_after: a peer that has no memory is not dead


def begin(t, n, lend="32M", **options):
    """A cluster on a kernel that can fail; its first node."""
    if not faults.possible():
        t.skip("this kernel has no fault injection with a stack trace filter")
    t.expect_oom()      # a failed allocation is reported with a stack
    cluster = t.cluster(n)
    faults.prepare()
    if n > 1:
        for node in cluster:
            node.up(lend=lend, dead_after=QUIET, reconcile=2, **options)
        cluster.wait_connected()
    return cluster, cluster[0]


def finish(cluster):
    """The nodes go down, the module unloads, and none of its memory is left."""
    faults.off()
    modmem.unload(cluster)
    cluster.load()


def sentence(done):
    """A refused command says one sentence, and not that the module is at fault."""
    said = done.err.strip()
    if done.code != 1 or not said or "\n" in said:
        raise Failure(f"'{done.cmd}' ended with {done.code} and said {said!r}")
    return said


class Sweep:
    """Commands whose allocations fail, one after the other."""

    def __init__(self, t, node):
        self.t = t
        self.node = node

    def run(self, what, cmd, undo, state):
        """Fail each allocation of a command, to the one that it no longer has: then
        it has done its job. undo() takes back what it did, state() tells what it may
        not have changed where it is refused."""
        before, refused, came, tried = state(), {}, 0, 0
        for n in faults.steps(DENSE):
            done, hit = faults.nth(self.node, n, cmd)
            if not hit:
                break
            came, tried = n, tried + 1
            if done.code == 0:
                undo()
            else:
                said = sentence(done)
                refused[said] = refused.get(said, 0) + 1
            now = state()
            if now != before:
                raise Failure(f"{what}, allocation {n} failed, exit code {done.code}: "
                              f"{now}, expected {before}")
        equal(done.code, 0, f"{what}, with nothing failing: {done.err}")
        self.t.log(f"{what}: {tried} tried of about {came}, refused {refused}")

    def ctl(self, args, undo, state):
        """The same for nswapctl."""
        self.run(args, [self.node.prog("nswapctl"), *args.split()], undo, state)


def nothing():
    """What is not there needs no undoing."""


def test_load(t):
    """insmod."""
    cluster, node = begin(t, 1)
    cluster.unload()
    Sweep(t, node).run("insmod", ["insmod", t.settings["modules"]["module"]],
                       cluster.unload, module_loaded)


def test_node(t):
    """up, lend, and what is asked of a node that is up; down."""
    cluster, node = begin(t, 1)
    sweep = Sweep(t, node)
    sweep.ctl("up --open --lend 8M", node.down, lambda: node.ctl("nodes"))
    for asked in ("stat", "peers", "device list", "policy", "lend 4M",
                  "set dead_after_ms 4000", "policy place round-robin"):
        sweep.ctl(asked, nothing, lambda: len(node.ctl("nodes")))
    sweep.ctl("down", lambda: node.up(lend="8M"), lambda: len(node.ctl("nodes")))
    node.up(lend="8M")
    finish(cluster)


def shown(node):
    """What a device list says that may not change."""
    return [(d["device"], d["protect"]) for d in node.devices()]


def removed(node):
    """Undo an add."""
    def undo():
        for dev in node.devices():
            node.device_del(dev["device"])
    return undo


def test_device(t):
    """Devices come and go: plain, with every kind of protection, with home and flash."""
    cluster, node = begin(t, 1 + SERVERS)
    sweep = Sweep(t, node)
    with disk(16) as home, disk(8, 16) as flash:
        for more in ("", "--protect mirror", "--protect parity:2+1", "--compress lz4",
                     "--compress zstd --seal",
                     f"--home {home.path} --flash {flash.path} --protect home --force"):
            size = "" if "--home" in more else f"--size {DEVICE_MB}M "
            sweep.ctl("device add " + size + more, removed(node), lambda: shown(node))
            (dev,) = node.devices()
            with Slots(dev["device"], t.seed) as slots:
                slots.write(1, 32)
                equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable")
            node.device_del(dev["device"])
    wait_for(lambda: cluster.held_pages() == 0, 30, "no page is held")
    finish(cluster)


def test_protect(t):
    """Protection is turned on, which allocates once in a device's life; then it is
    switched on one in use, from each kind to each other."""
    cluster, node = begin(t, 1 + SERVERS)
    sweep = Sweep(t, node)

    def another():
        removed(node)()
        node.device_add(f"{DEVICE_MB}M")
    for kind in ("mirror", "parity:2+1", "parity:2+2"):
        dev = node.device_add(f"{DEVICE_MB}M")
        sweep.ctl(f"device protect {dev} {kind} --no-wait", another,
                  lambda: shown(node))
        node.device_del(dev)
    dev = node.device_add(f"{DEVICE_MB}M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 256)
        now = "none"
        for then in ("mirror", "parity:2+1", "mirror", "none", "parity:2+1", "none"):
            def back(kind=now):
                node.ctl("device", "protect", dev, kind)
            sweep.ctl(f"device protect {dev} {then} --no-wait", back, lambda: shown(node))
            equal(slots.compare(), (256, 0, 0), f"right, wrong, unreadable with {then}")
            now = then
    sweep.ctl(f"device del {dev}", lambda: node.device_add(f"{DEVICE_MB}M"),
              lambda: len(node.devices()))
    wait_for(lambda: cluster.held_pages() == 0, 30, "no page is held")
    finish(cluster)


def work(t, node, dev, seconds, *options):
    """The random workload."""
    return node.popen([node.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
                       str(seconds), "--threads", "2", "--max-kb", "32", "--discards",
                       "10", "--seed", str(t.seed), "--fresh", *options])


def until_enough(program, least):
    """Let calls fail until as many of each kind have as are to, then end the program: its
    result. A busy machine does less in a round."""
    for _ in range(ROUNDS):
        if min(faults.failed[what] for what in faults.MEMORY) >= least:
            break
        with faults.every(EVERY[-1]):
            hold(SECONDS)
    program.kill(15)
    result = result_of(program.wait(120))
    for what in faults.MEMORY:
        at_least(faults.failed[what], least, f"calls that failed, {what}")
    return result


def afterwards(t, cluster, node, dev, protect):
    """Nothing fails any more: all is as ever, to the last page held."""
    cluster.wait_connected()
    node.wait_sessions(30)
    if protect == "none":
        chaos.settled(cluster, node)
    else:
        mirror.protected(node, 60)
    with Slots(dev, t.seed) as slots:
        slots.write(1, 256)
        equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable afterwards")
    node.device_del(dev)
    wait_for(lambda: not sum(n.stat()["server"]["held_pages"] for n in cluster.nodes
                             if n.alive), 60, "no page is held")
    finish(cluster)


def data(t, protect, compress="off"):
    """Pages are written, compared and moved, and a peer dies, with allocations that
    fail meanwhile."""
    cluster, node = begin(t, 1 + SERVERS)
    dev = node.device_add(f"{DEVICE_MB}M", compress=compress)
    node.ctl("policy", "place", "round-robin")
    if protect != "none":
        node.ctl("device", "protect", dev, protect)
    program = work(t, node, dev, TIMEOUT, "--tolerate-write-errors", "--data",
                   "random" if compress == "off" else "mixed")
    for n, server in zip(EVERY, cluster.nodes[1:]):
        with faults.every(n):
            hold(SECONDS)
        server.ctl("lend", "0")
        with faults.every(n):
            hold(SECONDS)
        server.ctl("lend", "32M")
    result = until_enough(program, UNPROTECTED if protect == "none" else FEWEST)
    t.log(f"{result} {node.stat()['client']} {faults.failed}")
    equal(node.stat()["client"]["read_errors"], 0, "failed reads")
    at_least(node.stat()["client"]["pages_compressed"], FEWEST * (compress != "off"),
             "pages that were made shorter")
    if protect != "none":
        mirror.protected(node, 60)
        with Slots(dev, t.seed) as slots:
            slots.write(1, 512)
            mirror.protected(node, 60)
            cluster.kill(cluster[1])
            with faults.every(EVERY[0]):
                hold(SECONDS)
            equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable")
            cluster.revive(cluster[1])
            with faults.every(EVERY[0]):
                hold(SECONDS)
        cluster[1].up(lend="32M", dead_after=QUIET, reconcile=2)
    afterwards(t, cluster, node, dev, protect)


def test_data_none(t):
    """Without protection."""
    data(t, "none")


def test_data_mirror(t):
    """With a mirror."""
    data(t, "mirror")


def test_data_parity(t):
    """With parity."""
    data(t, "parity:2+1")


def test_data_short(t):
    """With a mirror of a device that compresses by LZ4."""
    data(t, "mirror", "lz4")


def test_data_short_parity(t):
    """With parity, and zstd."""
    data(t, "parity:2+1", "zstd")


def test_requests(t):
    """Each n-th request to flash and to home fails: pages go elsewhere, or their
    reads and writes fail; what is read is right."""
    cluster, node = begin(t, 2, lend="2M")
    with disk(16) as home, disk(4, 16) as flash:
        dev = node.device_add(home=home.path, flash=(flash.path,))
        program = work(t, node, dev, SECONDS * (len(EVERY) + 1),
                       "--tolerate-write-errors", "--tolerate-read-errors")
        for n in EVERY:
            with faults.disk_faults(flash, n), faults.disk_faults(home, n):
                hold(SECONDS)
        result = result_of(program.wait(120))
        t.log(f"{result} {node.stat()['client']} {faults.failed}")
        at_least(faults.failed[faults.REQUESTS], 100, "requests that failed")
        said = node.run("dmesg").out
        true(re.search(r"nswap.*(flash|home)", said), "the log names the disk")
        afterwards(t, cluster, node, dev, "none")
