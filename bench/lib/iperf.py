# SPDX-License-Identifier: GPL-2.0
"""iperf3 between two nodes: what their network carries with nothing else to do."""
import json

from nswaptest.check import wait_for

# in /proc/net/tcp: port 5201, and the state of a socket that listens
PORT, LISTENS = "1451", "0A"


def _listens(node):
    rows = (line.split() for line in node.run(
        ["cat", "/proc/net/tcp", "/proc/net/tcp6"]).out.splitlines())
    return any(row[1].endswith(f":{PORT}") and row[3] == LISTENS for row in rows)


def send(source, sink, *options, timeout):
    """Send from one node to another with these options: Mbit/s as the receiver saw
    them."""
    server = sink.popen(["iperf3", "-s", "-1"])
    wait_for(lambda: _listens(sink), 10, "iperf3 listens")
    done = source.run(["iperf3", "-c", sink.addr, "-J", *options], timeout=timeout)
    server.wait(30)
    return json.loads(done.out)["end"]["sum_received"]["bits_per_second"] / 1e6
