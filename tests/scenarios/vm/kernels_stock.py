# SPDX-License-Identifier: GPL-2.0
"""The same source on each stock kernel: load, swap, verify, unload. What docs/testing.md
says of each kernel is in the test's events; seconds of builds are those of make all-kernels."""
import json
import re

from nswaptest import check
from nswaptest.check import wait_for
from nswaptest.scenario import ROOT

DESCRIPTION = "the module boots, swaps, verifies and unloads on stock kernels"
SUITES = ("kernels",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 120
CPUS = 2        # of the host: it has two guests or three


def compiler(release):
    """What built the module for a kernel, as the compiler left it there."""
    module = (ROOT / "build" / release / "nswap.ko").read_bytes()
    return re.search(rb"GCC: \(.*?\) ([\d.]+)", module)[1].decode()


def swap_once(t, series):
    """A program over its limit on one node, its pages on the other."""
    cluster = t.cluster(2, kernel=series, memory_mb=256)
    client, server = cluster
    release = client.machine.release
    t.log(f"{release}: module by gcc {compiler(release)}, booted in "
          f"{client.machine.booted:.1f} s")
    cluster.up(lend="96M")
    with cluster.swap(client, "128M"):
        before = client.vmstat("pswpin")
        done = client.run([client.prog("eater"), "--mb", "48",
                           "--passes", "1"], timeout=180, memory_max="24M")
        result = json.loads(done.out)
        read = client.vmstat("pswpin") - before
        pages_in = client.stat()["client"]["pages_in"]
        served = server.stat()["server"]["pages_loaded"]
        t.log(f"{result} pswpin {read} pages_in {pages_in} served {served}")
        check.equal(result["wrong_pages"], 0, "wrong pages")
        check.at_least(pages_in, 5000, "pages that came in")
        check.within(read, pages_in, 0.01, "the kernel's pswpin")
        check.within(served, pages_in, 0.01, "pages the server sent")
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")
    unload_and_reload(client)


def unload_and_reload(node):
    """The module leaves nothing behind and can come back."""
    node.down()
    node.run(["rmmod", "nswap"])
    left = [line.split()[0] for line in
            node.read("/proc/slabinfo").splitlines()
            if line.startswith("nswap")]
    check.equal(left, [], "slab caches left after unload")
    node.run(["insmod", "/nswap.ko"])


def test_6_1(t):
    """Debian 12's own kernel."""
    swap_once(t, "6.1")


def test_6_12(t):
    """Debian 13's kernel, as Debian 12 ships it."""
    swap_once(t, "6.12")


def test_trixie_6_12(t):
    """Debian 13's own kernel, the module built with its compiler."""
    swap_once(t, "trixie-6.12")


def test_7_2(t):
    """Debian 13's kernel from backports, likewise."""
    swap_once(t, "7.2")


def test_mixed(t):
    """A 6.1 and a 7.2 node swap to each other."""
    cluster = t.cluster(2, kernel=["6.1", "7.2"], memory_mb=256)
    cluster.up(lend="64M")
    for client in cluster:
        with cluster.swap(client, "64M"):
            done = client.run([client.prog("eater"), "--mb", "48",
                               "--passes", "1"], timeout=120,
                              memory_max="24M")
            check.equal(json.loads(done.out)["wrong_pages"], 0, "wrong pages")
