# SPDX-License-Identifier: GPL-2.0
"""The vm lab itself, without nswap: what the other scenarios rely on."""
from nswaptest import check, dmesg
from nswaptest.check import Failure, wait_for

DESCRIPTION = "guests, their agent and the link between them do what is asked"
SUITES = ("vm",)
NEEDS = ("progs", "qemu-system-x86_64")
TIMEOUT = 120


def hears(node, other):
    """Whether a ping is answered within a second."""
    return node.run(["ping", "-c", "1", "-W", "1", other.addr],
                    check=False).code == 0


def test_link(t):
    """Cut, isolate, heal and delay."""
    cluster = t.cluster(3, bare=True)
    a, b, c = cluster
    wait_for(lambda: hears(a, b) and hears(a, c), 20, "everybody hears a")
    cluster.cut(a, b)
    check.true(not hears(a, b) and not hears(b, a), "the cut pair is cut")
    wait_for(lambda: hears(a, c) and hears(b, c), 10, "the others hear c")
    cluster.heal(a, b)
    wait_for(lambda: hears(a, b), 10, "the healed pair is whole")
    cluster.isolate(c)
    check.true(not hears(a, c) and not hears(c, b), "c is isolated")
    cluster.heal(c)
    wait_for(lambda: hears(b, c), 10, "c is back")
    cluster.delay(a, b, 100000)
    done = a.run(["ping", "-c", "1", b.addr])
    took = float(done.out.split("time=")[1].split()[0])
    check.at_least(took, 200, "ping in ms over a link with 100 ms each way")


def test_agent(t):
    """Exit codes, output, signals, files, limits and crashes."""
    cluster = t.cluster(2, bare=True)
    node = cluster[0]
    done = node.run("echo out; echo err >&2; exit 7", check=False)
    check.equal((done.code, done.out, done.err), (7, "out\n", "err\n"),
                "a command's end")
    done = node.run("dd if=/dev/zero bs=1k count=3000 2>/dev/null | tr '\\0' x")
    check.equal(len(done.out), 3000 << 10, "bytes of a long output")
    process = node.popen("echo started; sleep 100")
    wait_for(lambda: process.output() == "started\n", 10, "its first line")
    check.equal(process.poll(), None, "a running command's exit code")
    process.kill(15)
    check.equal(process.wait(10).code, -15, "a terminated command's code")
    node.write("/tmp/x", "some text")
    check.equal(node.read("/tmp/x"), "some text", "a file's text")
    try:
        node.read("/nowhere")
        raise AssertionError("a file that is not there was read")
    except Failure as why:
        check.true("No such file" in str(why), f"the reason in '{why}'")
    cluster.kill(1)
    check.true(not hears(node, cluster[1]), "a killed node is silent")
    cluster.revive(1)
    wait_for(lambda: hears(node, cluster[1]), 20, "the revived node answers")


def test_disk(t):
    """A disk of its own, of the size asked for, that outlives a crash; and
    none for the guest that shall have none."""
    cluster = t.cluster(2, bare=True, disk_mb=[48, 0])
    node = cluster[0]
    check.equal(int(node.read("/sys/block/vda/size")), 48 << 11, "sectors")
    node.run("echo this stays | dd of=/dev/vda bs=512 seek=2048 conv=sync "
             "oflag=direct 2>/dev/null")
    check.true(cluster[1].run("test -e /dev/vda", check=False).code,
               "a disk that was not asked for")
    cluster.kill(0)
    cluster.revive(0)
    done = node.run("dd if=/dev/vda bs=512 skip=2048 count=1 2>/dev/null")
    check.equal(done.out.strip("\0"), "this stays\n", "what it holds then")


def test_log_gate(t):
    """An OOM kill in a guest is seen in its log, and fails a test that does
    not expect it."""
    t.expect_oom()
    cluster = t.cluster(1, bare=True)
    node = cluster[0]
    done = node.run("tail /dev/zero", check=False, memory_max="16M")
    check.equal(done.code, -9, "the end of a program without a limit to it")
    log = node.run(["dmesg"]).out
    check.true(dmesg.problems(log), "the gate sees the OOM kill")
    check.true(not dmesg.problems(log, allow_oom=True),
               "the gate lets an expected one pass")
