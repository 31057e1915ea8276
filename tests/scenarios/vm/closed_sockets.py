# SPDX-License-Identifier: GPL-2.0
"""Sockets that an administrator closes under the module, as "ss -K" does: those of sessions,
which may use memory reserves, at either end, and the one that listens.

        node0 ------ node1        node0's program has its pages on node1
"""
import json

from nswaptest.check import at_least, equal, wait_for

DESCRIPTION = "ss -K on the module's sockets, of sessions and of the server, under swap"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64", "ss")
TIMEOUT = 120
CPUS = 2        # of the host

# the lab kernel has no inet_diag that closes sockets (CONFIG_INET_DIAG_DESTROY)
DIAG = ("inet_diag", "tcp_diag")
PORT = 9611


def test_sessions_6_1(t):
    """While a program swaps, all connections are closed at the client, at the server, and the
    server's own socket: each time the session is back and no page is wrong."""
    cluster = t.cluster(2, kernel="6.1", memory_mb=256, tools=("ss",), modules=DIAG)
    client, server = cluster
    cluster.up(lend="64M", dead_after=30)
    with cluster.swap(client, "64M"):
        program = client.popen([client.prog("eater"), "--mb", "32", "--seconds", "15",
                                "--order", "random"], memory_max="24M")
        wait_for(lambda: client.stat()["client"]["pages_in"] > 200, 60, "it swaps")
        for node, which in ((client, f"dport = :{PORT}"), (server, f"sport = :{PORT}"),
                            (server, f"state listening sport = :{PORT}"),
                            (client, f"dport = :{PORT}")):
            sessions = client.stat()["client"]["sessions"]
            closed = node.run(f"ss -K -t -n -H {which}").out.splitlines()
            t.log(f"{node}: {which}: {len(closed)} closed")
            at_least(len(closed), 1, f"sockets closed at {node}: {which}")
            if "listening" in which:
                continue            # the next one shows that it listens again
            wait_for(lambda n=sessions: client.stat()["client"]["sessions"] > n, 20,
                     f"there is a session again after {which} at {node}")
        done = program.wait(100)
    equal((done.code, json.loads(done.out)["wrong_pages"]), (0, 0), "its end, wrong pages")
