# SPDX-License-Identifier: GPL-2.0
"""A machine is to sleep while pages are out, or held, and when none are.

        owner ------ lender     the owner's pages are at the lender, and move to
            `------- other      the other one

What is written to /sys/power/state is the kernel's own; of a sleep that is allowed
what comes before its devices are told is done: all programs are frozen for some seconds
(pm_test). The module's own threads go on then, so the others hear what it says of itself.
"""
import json
import re

from nswaptest import check
from nswaptest.check import wait_for
from vm.proc import size, table

DESCRIPTION = "a machine that has pages out, or holds some, is not suspended"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 200
CPUS = 2        # of the host: one of its guests is busy
ONLY_FULL = {"6_12": "it takes most of a minute of emulation; asleep.6_1 shows the same"}

LENT = "64M"
LENT_PAGES = 64 * 256
PROGRAM_MB, LIMIT = 20, "12M"
AT_LEAST = 1000         # pages at the lender before anything is tried
SLEEP_S = 3             # how long the tasks of a machine are frozen
WORDS = {"freeze": "suspend", "disk": "hibernation"}


def said(node, what, why):
    """How many pages the log speaks of in the last refusal of that kind, or 0."""
    found = re.findall(rf"{what} refused: (\d+) pages .*{why}", node.run("dmesg").out)
    return int(found[-1]) if found else 0


def ask(node, state):
    """Have the machine sleep; the exit code of that."""
    return node.run(f"echo {state} > /sys/power/state", check=False)


def refused(node, why, pages):
    """Neither kind of sleep is begun, with one reason; what it lends is as before."""
    before = size(node)["target"]
    for state, what in WORDS.items():
        done = ask(node, state)
        check.true(done.code != 0, f"{node}: {what} was allowed")
        check.true("not permitted" in done.err, f"{node}: {what}: {done.err!r}")
        check.at_least(said(node, what, why), pages, f"pages in the reason of {node}")
    check.equal(size(node)["target"], before, f"pages that {node} lends")


def sleeps(node, meanwhile=None):
    """The machine is allowed to suspend, and is back."""
    process = node.popen("echo freeze > /sys/power/state")
    if meanwhile:
        meanwhile()
    done = process.wait(30)
    check.equal((done.code, done.err), (0, ""), f"{node}: suspend")


def peer(node, other):
    """A node's line about another one."""
    return next(p for p in table(node, "peers") if p["addr"] == other.addr)


def start(t, kernel):
    """The three, with pages at the lender: (cluster, the owner's program)."""
    cluster = t.cluster(3, kernel=kernel, memory_mb=256)
    owner, lender, other = cluster
    for node in cluster:
        node.up(lend=LENT if node is lender else "0")
        node.write("/sys/power/pm_test", "freezer")
        node.write("/sys/module/suspend/parameters/pm_test_delay", str(SLEEP_S))
        # the kernel waits busily, and a busy host makes that ten times as long
        node.write("/proc/sys/kernel/watchdog_thresh", "60")
    cluster.wait_connected()
    owner.swapon(owner.device_add("48M"))
    program = owner.popen([owner.prog("eater"), "--mb", str(PROGRAM_MB), "--passes", "0",
                           "--seconds", "100000", "--order", "random", "--rate", "300"],
                          memory_max=LIMIT)
    wait_for(lambda: size(lender)["held"] > AT_LEAST, 30, "the lender holds pages")
    return cluster, program


def whole(t, kernel):
    """One kernel."""
    (owner, lender, other), program = start(t, kernel)
    refused(lender, "nswapctl drain first", AT_LEAST)
    refused(owner, "swapoff first", AT_LEAST)
    check.equal(peer(owner, lender)["state"], "up", "what the lender is to the owner")

    # drained, it may sleep, though the program goes on
    other.ctl("lend", LENT)
    wait_for(lambda: int(peer(lender, other)["free"]) > AT_LEAST, 20, "the lender knows of room")
    lender.ctl("drain")
    check.equal(size(lender)["held"], 0, "pages at the lender after drain")
    sleeps(lender)
    refused(owner, "swapoff first", AT_LEAST)
    program.kill(15)
    result = json.loads(program.wait(60).check().out)
    t.log(json.dumps(result))
    check.equal((result["wrong_pages"], result["failed_reads"]), (0, 0), "wrong and failed reads")

    owner.swapoff("nswap0")
    wait_for(lambda: not size(other)["held"], 20, "no page is held")
    sleeps(owner)
    # what it lends it does not lend while it sleeps, and does again when it is awake
    wait_for(lambda: int(peer(owner, other)["free"]) > AT_LEAST, 20, "the owner knows of room")

    def nothing():
        wait_for(lambda: int(peer(owner, other)["free"]) == 0, 2, "the sleeper lends nothing",
                 every=0.1)
    sleeps(other, nothing)
    check.equal(size(other)["target"], LENT_PAGES, "pages that it lends when it is awake")
    wait_for(lambda: int(peer(owner, other)["free"]) > AT_LEAST, 20, "the owner knows of it")
    owner.device_del("nswap0")


def test_6_1(t):
    """Stock 6.1."""
    whole(t, "6.1")


def test_6_12(t):
    """Stock 6.12."""
    whole(t, "6.12")
