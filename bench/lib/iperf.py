# SPDX-License-Identifier: GPL-2.0
"""iperf3 between two nodes: what their network carries with nothing else to do."""
import json

from nswaptest.check import wait_for

# port 5201, and its state, 0A for listening, as /proc/net/tcp has them
LISTENS = ":1451 00000000"


def send(source, sink, *options, timeout):
    """Send from one node to another with these options: Mbit/s as the receiver saw
    them."""
    server = sink.popen(["iperf3", "-s", "-1"])
    wait_for(lambda: LISTENS in sink.run(
        ["cat", "/proc/net/tcp", "/proc/net/tcp6"]).out.replace(
            "00000000:0000", "00000000"), 10, "iperf3 listens")
    done = source.run(["iperf3", "-c", sink.addr, "-J", *options], timeout=timeout)
    server.wait(30)
    return json.loads(done.out)["end"]["sum_received"]["bits_per_second"] / 1e6
