# SPDX-License-Identifier: GPL-2.0
"""Three machines with Debian and systemd: one file each, and they swap when booted."""
import json
import re
import subprocess

from nswaptest import check
from nswaptest.check import equal, true, wait_for
from nswaptest.debroot import DebRoot
from nswaptest.scenario import ROOT, sibling
from vm import installed

DESCRIPTION = "booted by systemd: the cluster is up, swaps, and members reboot and leave"
SUITES = ("install",)
NEEDS = ("dpkg-buildpackage", "dh_dkms", "debootstrap", "unshare", "mke2fs", "debugfs",
         "qemu-system-x86_64")
TIMEOUT = 900
BUSY = 2
ONLY_FULL = {"rolling": "three machines that boot four times take seven minutes of emulation"}

KERNELS = {"bookworm": "6.1", "trixie": "trixie-6.12"}
MEMORY_MB = 256
TO_CONSOLE = "[Service]\nStandardError=journal+console\n"
NETWORK = "[Match]\nName=eth0\n[Network]\nAddress=10.77.0.{}/24\nLinkLocalAddressing=no\n"
LENDER = "[node]\nsecret = /etc/nswap/secret\nlend = 96M\n"
CLIENT = "[node]\nsecret = /etc/nswap/secret\n[device swap]\nsize = 128M\npriority = 77\n"
BOTH = LENDER + "[device swap]\nsize = 48M\nprotect = mirror\npriority = 77\n"
SHUTDOWN_S = 90


def prepare(t, suite):
    """A root with the packages installed, their unit enabled, as an image."""
    root = DebRoot(t.dir / "root", sibling("packages").build(
        t.dir / "deb", sibling("packages").version()), suite)
    installed.furnish(root, KERNELS[suite])
    root.write("/etc/systemd/system/nswap.service.d/console.conf", TO_CONSOLE)
    subprocess.run([ROOT / "build/nswapctl", "key", "generate", "--secret",
                    root.folder / "upper/secret"], check=True, stdout=subprocess.DEVNULL)
    root.run("dpkg -i /deb/nswap-tools_*.deb && mv /secret /etc/nswap/ && "
             "systemctl --root=/ enable nswap")
    root.image(t.dir / "base.disk", 600, installed.WITHOUT)
    root.close()
    return t.dir / "base.disk"


def disk(t, base, index, conf):
    """A guest's disk: the image with its address and its one file."""
    path = t.dir / f"node{index}.disk"
    subprocess.run(["cp", "--sparse=always", base, path], check=True)
    files = {"/etc/systemd/network/eth0.network": NETWORK.format(index + 1),
             "/etc/hostname": f"node{index}\n", "/etc/nswap/nswap.conf": conf}
    commands = ""
    for name, text in files.items():
        source = t.dir / f"node{index}-{name.rsplit('/', 1)[1]}"
        source.write_text(text)
        commands += f"rm {name}\nwrite {source} {name}\n"
    subprocess.run(["debugfs", "-w", "-f", "-", path], input=commands, text=True, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def booted(node):
    """nswap.service has done its work."""
    wait_for(lambda: node.run("systemctl is-active nswap", check=False).out.strip() == "active",
             60, f"{node}: nswap.service is active", every=0.5)


def boot(t, suite, *confs):
    """Machines with these files, whose nodes are up and have heard of each other."""
    base = prepare(t, suite)
    t.log("the image is made")
    roots = [disk(t, base, i, conf) for i, conf in enumerate(confs)]
    base.unlink()
    cluster = t.cluster(len(confs), kernel=KERNELS[suite], memory_mb=MEMORY_MB, roots=roots)
    for node in cluster:
        booted(node)
    t.log("booted")
    cluster.wait_connected()
    return cluster


def swaps(node):
    """What the machine swaps to: [(device, priority)]."""
    lines = node.read("/proc/swaps").splitlines()[1:]
    return [(line.split()[0], line.split()[4]) for line in lines]


def eat(node):
    """A program over its limit that has rewritten and read all its pages, and keeps them
    until it is told to compare them again."""
    program = node.popen([node.prog("eater"), "--mb", "48", "--passes", "1", "--hold", "--out",
                          "/run/eater"], memory_max="24M")
    wait_for(lambda: node.run("cat /run/eater", check=False).out.count("holding"), 180,
             f"{node}: the program has gone over its pages", every=0.5)
    return program


def stopped(node, command):
    """What the console says of the stop that a command brings about."""
    node.popen(command)
    said = wait_for(lambda: re.search(
        r"nswap: the node (is down|stays up).*", node.machine.console.read_text(
            errors="replace")), 100, f"{node}: nswap.service has stopped", every=0.5)
    return said[0]


def shut_down(t, node):
    """It is told to reboot, stops its node in time, and is down."""
    said = stopped(node, "systemctl reboot")
    t.log(f"{node}, a reboot: {said}")
    true("the node is down" in said, f"at the reboot of {node}: {said}")
    check.at_most(int(re.search(r"(\d+) s", said)[1]), SHUTDOWN_S,
                  "seconds until the node was down")
    wait_for(lambda: not node.machine.alive(), 60, f"{node} has shut down")
    node.killed = True


def nothing_lost(t, node, program, least):
    """A program that was told to end found all its pages right, many of which came back."""
    result = json.loads(program.wait(180).out)
    t.log(f"{node}: {result}")
    equal(result["wrong_pages"] + result["failed_reads"], 0,
          f"{node}: wrong pages, failed reads")
    check.at_least(result["pswpin"], least, f"{node}: pages that came in")


def removed(node):
    """The package is purged while the machine swaps to nswap."""
    node.run("dpkg --purge nswap-tools", timeout=100)
    equal(swaps(node), [], f"{node}: what it swaps to without nswap")
    true("nswap " not in node.read("/proc/modules"), f"{node}: the module is unloaded")
    equal(node.run("ls -d /etc/nswap /usr/sbin/nswapctl /usr/lib/nswap 2> /dev/null",
                   check=False).out, "", f"{node}: what the purge has left")


def test_swaps(t):
    """Debian 12: a lender reboots while it holds pages; the other one, whose pages have
    nowhere to go, keeps its package; that of the client is purged under swap."""
    cluster = boot(t, "bookworm", CLIENT, LENDER, LENDER)
    client, other, lender = cluster
    equal(swaps(client), [("/dev/nswap0", "77")], "swap of the client, its priority")
    program = eat(client)
    check.at_least(lender.stat()["server"]["pages_stored"], 1000, "pages the lender has taken")
    shut_down(t, lender)
    done = other.run("dpkg -r nswap-tools", timeout=100, check=False)
    true(done.code and "not removed, the node is in use" in done.err,
         f"the lender that has all pages is removed: {done.err}")
    program.kill(15)
    nothing_lost(t, client, program, 5000)
    removed(client)


def churn(node):
    """A program over its limit that rewrites and compares its pages until it is told to end,
    not as fast as it can: another machine is to boot beside."""
    return node.popen([node.prog("eater"), "--mb", "36", "--seconds", "100000", "--rate", "2000",
                       "--out", "/run/eater"], memory_max="20M")


def protected(node):
    """Each page of the machine's device has all its copies."""
    device, = node.devices()
    return device["slots_remote"] > 500 and not device["exposed_pages"]


def test_rolling(t):
    """Debian 13: all three lend and swap to each other, mirrored; each reboots in turn while
    programs run on the two others, and no page is lost."""
    # a program at its group's limit, whose machine goes down, has its swap taken away: it is
    # no service, which would have been ended first. What becomes of the others is looked at
    t.expect_oom()
    cluster = boot(t, "trixie", BOTH, BOTH, BOTH)
    programs = {node: churn(node) for node in cluster}
    for node in cluster:
        equal(swaps(node), [("/dev/nswap0", "77")], f"{node}: swap, its priority")
        wait_for(lambda: protected(node), 120, f"{node}: its pages have two copies", every=1)
    for node in cluster:
        programs.pop(node)
        shut_down(t, node)
        cluster.revive(node)
        booted(node)
        t.log(f"{node} is back after {node.machine.booted:.0f} s")
        programs[node] = churn(node)
        for each in cluster:
            wait_for(lambda: protected(each), 120, f"{each}: its pages have two copies",
                     every=1)
    for node in cluster:
        wait_for(lambda: node.vmstat("pswpin") > 1000, 120, f"{node}: pages came in", every=1)
    for node, program in programs.items():
        program.kill(15)
        nothing_lost(t, node, program, 500)
        equal(node.stat()["client"]["read_errors"], 0, f"{node}: failed reads")
    for node in cluster[0], cluster[1]:
        node.run("swapoff /dev/nswap0 && nswapctl device del nswap0", timeout=100)
    # the last one still swaps to the two others
    for node in reversed(cluster.nodes):
        removed(node)
