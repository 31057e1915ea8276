# SPDX-License-Identifier: GPL-2.0
"""Three machines with Debian 12 and systemd: one file each, and they swap when booted."""
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

SERIES = "6.1"
TO_CONSOLE = "[Service]\nStandardError=journal+console\n"
NETWORK = "[Match]\nName=eth0\n[Network]\nAddress=10.77.0.{}/24\nLinkLocalAddressing=no\n"
LENDER = "[node]\nsecret = /etc/nswap/secret\nlend = 96M\n"
CLIENT = "[node]\nsecret = /etc/nswap/secret\n[device swap]\nsize = 128M\npriority = 77\n"


def prepare(t):
    """A root with the packages installed, their unit enabled, as an image."""
    root = DebRoot(t.dir / "root", sibling("packages").build(
        t.dir / "deb", sibling("packages").version()))
    installed.furnish(root, SERIES)
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


def test_swaps(t):
    """Up after the boot; a lender reboots while it holds pages; the other one, whose pages
    have nowhere to go, keeps its package; that of the client is removed under swap."""
    base = prepare(t)
    t.log("the image is made")
    roots = [disk(t, base, i, conf) for i, conf in enumerate((CLIENT, LENDER, LENDER))]
    base.unlink()
    cluster = t.cluster(3, kernel=SERIES, memory_mb=256, roots=roots)
    client, lender = cluster[0], cluster[2]
    for node in cluster:
        booted(node)
    t.log("booted")
    cluster.wait_connected()
    swaps = client.read("/proc/swaps").split("\n")[1].split()
    equal((swaps[0], swaps[4]), ("/dev/nswap0", "77"), "swap of the client, its priority")
    program = eat(client)
    check.at_least(lender.stat()["server"]["pages_stored"], 1000, "pages the lender has taken")
    said = stopped(lender, "systemctl reboot")
    t.log(f"a reboot: {said}")
    true("the node is down" in said, f"at the reboot of {lender}: {said}")
    seconds = int(re.search(r"(\d+) s", said)[1])
    check.at_most(seconds, 90, "seconds until the node was down")
    wait_for(lambda: not lender.machine.alive(), 60, f"{lender} has shut down")
    lender.killed = True
    done = cluster[1].run("dpkg -r nswap-tools", timeout=100, check=False)
    true(done.code and "not removed, the node is in use" in done.err,
         f"the lender that has all pages is removed: {done.err}")
    program.kill(15)
    result = json.loads(program.wait(180).out)
    t.log(f"{result}")
    equal(result["wrong_pages"] + result["failed_reads"], 0,
          "wrong pages, failed reads, after a lender's reboot")
    check.at_least(result["pswpin"], 5000, "pages that came in")
    client.run("dpkg -r nswap-tools", timeout=100)
    equal(len(client.read("/proc/swaps").splitlines()), 1, "lines of /proc/swaps")
    true("nswap " not in client.read("/proc/modules"), "the module is unloaded")
