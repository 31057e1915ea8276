# SPDX-License-Identifier: GPL-2.0
"""Sockets that an administrator closes under the module, as "ss -K" does: those of sessions,
which may use memory reserves, at either end, and the one that listens.

        node0 ------ node1        node0's program has its pages on node1
"""
from nswaptest.check import at_least, equal, wait_for
from nswaptest.scenario import sibling

failures = sibling("vm_failures")

DESCRIPTION = "ss -K on the module's sockets, of sessions and of the server, under swap"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64", "ss")
TIMEOUT = 120
CPUS = 2        # of the host
ONLY_FULL = {"sessions_6_1": "it takes up to a minute of emulation, and cuts and crashes of "
                             "the lab show how sessions end and come back"}

# the lab kernel has no inet_diag that closes sockets (CONFIG_INET_DIAG_DESTROY)
DIAG = ("inet_diag", "tcp_diag")
PORT = 9611


def test_sessions_6_1(t):
    """While a program swaps, all connections are closed at the client, at the server, and the
    server's own socket: each time the session is back, the program goes on, and no page is
    wrong."""
    cluster = t.cluster(2, kernel="6.1", memory_mb=256, tools=("ss",), modules=DIAG)
    client, server = cluster
    cluster.up(lend="64M", dead_after=30)
    with cluster.swap(client, "64M"):
        program = failures.Program(client, "random", 32, "24M", t.seed, "--seconds", "900")
        program.wait_running()
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
            state = program.goes_on()
            t.log(f"{state}")
            equal((state["wrong_pages"], state["failed_reads"]), (0, 0),
                  "wrong pages, failed reads")
        program.process.kill()
