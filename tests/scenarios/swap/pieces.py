# SPDX-License-Identifier: GPL-2.0
"""Memory in pieces: nothing that is sent or read into as pages came from vmalloc().

        node0 ------ node1 … node4     the test build of the module takes from vmalloc()
                                       what may come from there, and says in the kernel's
                                       log where such an address is used as a page
"""
from nswaptest.check import equal, hold
from nswaptest.disk import disk
from nswaptest.scenario import sibling

slots = sibling("chaos_slots")

DESCRIPTION = "devices of each kind need no more adjacent memory than they ask for"
SUITES = ("lab",)
NEEDS = ("inject", "progs", "dmsetup")
TIMEOUT = 240

DISK_MB = 24
SECONDS = 3
KINDS = {
    "no protection": (),
    "mirror": ("--protect", "mirror"),
    "parity:3+1": ("--protect", "parity:3+1"),
    "parity:2+2": ("--protect", "parity:2+2", "--seal"),
    "home": ("--protect", "home"),
    "early": ("--cache", "1M", "--early-ack"),
    "early, mirror": ("--cache", "1M", "--early-ack", "--protect", "mirror"),
    "lz4, sealed": ("--compress", "lz4", "--seal"),
}


def test_kinds(t):
    """Pages are written, read, freed and moved; the kernel's log is clean afterwards."""
    cluster = t.cluster(5, inject=True)
    cluster.up(lend="32M")
    node = cluster[0]
    with disk(DISK_MB) as home, disk(DISK_MB, DISK_MB) as flash:
        for kind, args in KINDS.items():
            dev = node.ctl("device", "add", "--home", home.path, "--flash", flash.path,
                           "--force", *args)["device"]
            node.wait_sessions()
            work = slots.workload(node, dev, t.seed, threads=2, max_kb=64, reads=50,
                                  discards=10)
            hold(SECONDS / 3)
            for server in cluster.nodes[1:3]:
                server.ctl("lend", "0")
            hold(SECONDS / 3)
            for server in cluster.nodes[1:3]:
                server.ctl("lend", "32M")
            hold(SECONDS / 3)
            result = slots.stop(work)
            equal((result["wrong_pages"], result["failed_slots"]), (0, 0),
                  f"wrong pages and those that cannot be read, {kind}")
            node.device_del(dev)
