# SPDX-License-Identifier: GPL-2.0
"""The harness itself: namespaces, cuts, cgroups and the kernel-log gate."""
import os
import pathlib

from nswaptest import dmesg, runner, scenario
from nswaptest.check import Failure, Unmet, at_least, at_most, equal, true, wait_for

DESCRIPTION = "the lab's links, cuts, memory groups and kernel-log gate work"
SUITES = ("lab",)
NEEDS = ("ping", "nft", "tc")
TIMEOUT = 30


def pings(a, b, addr="addr"):
    """Whether one packet gets from a to b and back."""
    done = a.run(["ping", "-c1", "-W0.3", getattr(b, addr)], check=False)
    return done.code == 0


def test_reach(t):
    """Every node reaches every other one, by both families."""
    cluster = t.cluster(3, module=False)
    for a in cluster:
        for b in cluster:
            if a is not b:
                true(pings(a, b), f"{a} does not reach {b}")
                true(pings(a, b, "addr6"), f"{a} does not reach {b} by IPv6")


def test_cut(t):
    """A cut pair, a node cut from all, and healing both."""
    cluster = t.cluster(3, module=False)
    a, b, c = cluster
    cluster.cut(a, b)
    true(not pings(a, b), "the cut pair still talks")
    true(not pings(b, a, "addr6"), "the cut pair still talks by IPv6")
    true(pings(a, c) and pings(b, c), "a cut took more than its pair")
    cluster.heal(a, b)
    true(pings(a, b), "healed, but the pair does not talk")
    cluster.isolate(c)
    true(not pings(a, c) and not pings(c, b), "an isolated node still talks")
    true(pings(a, b), "isolating one node took another one")
    cluster.heal()
    true(pings(a, c) and pings(c, b), "healed, but the node is still alone")


def test_kill(t):
    """A killed node is silent; revived, it is back at its address."""
    cluster = t.cluster(2, module=False)
    a, b = cluster
    true(pings(a, b), "no link to begin with")
    cluster.kill(b)
    true(not pings(a, b), "a killed node answers")
    cluster.revive(b)
    wait_for(lambda: pings(a, b), 5, "the revived node answers")


def test_netem(t):
    """Delay on the link is there, both ways."""
    cluster = t.cluster(2, module=False, delay_us=50000)
    cluster[0].run(["ping", "-c1", "-W2", cluster[1].addr])
    done = cluster[0].run(["ping", "-c1", "-W2", cluster[1].addr])
    rtt = float(done.out.split("time=")[1].split()[0])
    at_least(rtt, 95, "round trip in ms, where 100 were set")
    at_most(rtt, 200, "round trip in ms, where 100 were set")


def test_memory_max(t):
    """A memory group limits what runs in it, and only that."""
    t.expect_oom()
    cluster = t.cluster(1, module=False)
    hungry = "python3 -c 'b = b\"x\" * (64 << 20)'"
    done = cluster[0].run(hungry, memory_max="32M", check=False)
    true(done.code != 0, "64 MB fitted into a group of 32 MB")
    cluster[0].run(hungry, memory_max="96M")


def test_deadline(t):
    """A command that does not end is ended, and said so."""
    cluster = t.cluster(1, module=False)
    process = cluster[0].popen(["sleep", "1000"])
    try:
        process.wait(0.2)
    except Failure as why:
        true("did not end" in str(why), f"said: {why}")
    else:
        raise Failure("nothing was said about a command that hangs")
    wait_for(lambda: process.poll() is not None, 5, "it is killed")


def test_once_more(t):
    """A missed quantity has a second try; what is wrong has none, and a
    second miss is a failure."""
    class Broken:
        """A lab that breaks."""
        def close(self):
            """It says so when it ends."""
            raise Unmet("a network card stopped")

    def verdict(function, labs=()):
        one = scenario.Test("one", t.dir, None, {})
        one._clusters += labs
        return one.run(lambda _: function())[0]
    equal(verdict(lambda: at_least(1, 2, "things")), "unmet", "too few")
    equal(verdict(lambda: wait_for(lambda: False, 0, "it")), "unmet", "late")
    equal(verdict(lambda: equal(1, 2, "wrong pages")), "fail", "wrong")
    equal(verdict(lambda: None), "pass", "right")
    equal(verdict(lambda: None, [Broken()]), "unmet", "a lab that broke")
    equal(verdict(lambda: at_least(1, 2, "things"), [Broken()]), "unmet", "too few there")
    equal(verdict(lambda: equal(1, 2, "wrong pages"), [Broken()]), "fail", "wrong there")
    totals = runner.Totals()
    missed = scenario.Result("one", "unmet")
    true(totals.tell("lab", missed), "no second try")
    totals.last_chance = True
    true(not totals.tell("lab", missed), "a third try")
    equal(missed.verdict, "fail", "the second miss")
    equal(totals.close(), 1, "exit code")


def test_gate(t):
    """The kernel-log gate sees a warning, and nothing in a clean log."""
    with open("/dev/kmsg", "w", encoding="ascii") as log:
        log.write("<6>nswaptest: a harmless line")
    clean = "[    1.0] nswap: node up\n[    2.0] nswap: peer 3 is silent\n"
    equal(dmesg.problems(clean), [], "a clean log")
    for line in ("[ 1.0] WARNING: CPU: 0 PID: 1 at mm/slab.c:1",
                 "[ 1.0] BUG: KASAN: use-after-free in nswap_x",
                 "[ 1.0] INFO: task eater:12 blocked for more than 20 seconds.",
                 "[ 1.0] WARNING: possible circular locking dependency",
                 "[ 1.0] rcu: INFO: rcu_sched self-detected stall on CPU"):
        equal(len(dmesg.problems(line)), 1, f"the gate on '{line}'")
    report = ("[ 1.0] eater: page allocation failure: order:0, "
              "mode:0x820(GFP_ATOMIC), nodemask=(null)\n[ 1.0] Call Trace:\n"
              "[ 1.0]  <IRQ>\n[ 1.0]  try_fill_recv+0x30e/0xab0 [virtio_net]\n"
              "[ 1.0]  </IRQ>\n[ 1.0]  nswap_serve+0x892/0xac0 [nswap]\n"
              "[ 1.0] Mem-Info:\n")
    told = dmesg.problems(report)
    equal(len(told), 1, "a driver's failed allocation")
    true("order:0" in told[0] and "try_fill_recv < nswap_serve" in told[0],
         f"a report and who asked are told: {told[0]}")
    equal(dmesg.problems(report, allow_starved=True), [],
          "one that the test expects")
    ours = report.replace("[virtio_net]", "[nswap]")
    equal(len(dmesg.problems(ours, allow_starved=True)), 1,
          "one of the module's")
    killed = (clean + "[ 3.0] eater invoked oom-killer: order=0\n"
              "[ 3.0] memory: usage 16384kB, limit 16384kB, failcnt 9\n"
              "[ 3.0] anon 16400000\n[ 3.0] file_writeback 4096\n[ 3.0] pgfault 7\n")
    told = dmesg.problems(killed)[0]
    true(told.endswith("(usage 16384kB, limit 16384kB; anon 16400000; "
                       "file_writeback 4096; node up; peer 3 is silent)"),
         f"whose memory was short, and what the module said: {told}")


def race(first, second):
    """A race detector's report; each argument is a stack, innermost first."""
    lines = [f"BUG: KCSAN: data-race in {first[0]} / {second[0]}"]
    for what, stack in (("write", first), ("read", second)):
        lines += ["", f"{what} to 0xffff8880 of 8 bytes by task 7 on cpu 1:"]
        lines += [" " + "+0x10/0x40 ".join(f.partition(" ")[::2]) for f in stack]
    lines += ["", "Reported by Kernel Concurrency Sanitizer on:"]
    return "".join(f"[ 1.0] {line}\n" for line in lines)


def test_races(t):
    """Of races those count that are the module's, not the kernel's own."""
    ours, kernel = "nswap_x [nswap]", "tcp_ack"
    equal(dmesg.problems(race([kernel], [kernel, "tcp_rcv", "tcp_recv", ours])), [],
          "a race within TCP")
    for one, other in (([ours], [kernel]), ([kernel], [ours]),
                       (["_find_next_bit", ours], ["_find_next_bit", ours])):
        equal(len(dmesg.problems("[ 1.0] clean\n" + race(one, other))), 1,
              f"races of {one[-1]} and {other[-1]}")


def test_scratch(t):
    """The scratch disk is there and is a disk, not memory."""
    path = pathlib.Path("/dev/ubda")
    true(path.is_block_device(), "no scratch disk /dev/ubda")
    with open(path, "rb+", buffering=0) as disk:
        true(os.lseek(disk.fileno(), 0, os.SEEK_END) >= 1 << 30,
             "the scratch disk is below 1 GiB")
