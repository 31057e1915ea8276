# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=idle: what nodes cost that swap nothing.

Four nodes in one kernel, which alone is watched: first with the module loaded
and no node up, then with all of them up, then with a device on each, so that
each has a session with every other one, both ways.

CPU time is the host's, of all processes of the kernel, which knows it to 10 ms:
what the same kernel takes without a node up is subtracted, the rest is shared
among the nodes.  Bytes are those of a node's interface, both directions,
Ethernet headers included, shared among its peers.
"""
import pathlib
import time

from nswaptest.check import hold, wait_for

from lib.measure import Progress, median

NODES = 4
NAMES = ["nswap"]
LEND_MB = 16
STATES = {"down": "module loaded, no node up",
          "up": "up, no device",
          "device": "up, a device on every node"}


def wire_bytes(node):
    """Bytes over a node's interface so far."""
    folder = pathlib.Path(f"/sys/class/net/{node.port}/statistics")
    return sum(int((folder / f"{way}_bytes").read_text())
               for way in ("rx", "tx"))


def bring(cluster, state):
    """Bring the cluster into a state and let it settle."""
    if state == "up":
        cluster.up(lend=f"{LEND_MB}M")
    elif state == "device":
        for node in cluster:
            node.device_add("8M")
        cluster.wait_connected()
        wait_for(lambda: all(p["state"] == "up" for node in cluster
                             for p in node.peers().values()), 20,
                 "every node has a session with every other one")
        # grants that are not used go back
        wait_for(lambda: not any(p["grants"] for node in cluster
                                 for p in node.peers().values()), 20,
                 "no peer has grants left")


def watch(cluster, seconds, load):
    """(CPU seconds, bytes a node and second, begin, end) of doing nothing."""
    before = [wire_bytes(node) for node in cluster]
    begin = time.time()
    hold(seconds)
    end = time.time()
    moved = [wire_bytes(node) - b for node, b in zip(cluster, before)]
    return load.own(begin, end), [m / (end - begin) for m in moved], begin, end


def run(cluster, options, about, load):
    """Measure; the rows."""
    progress = Progress([1] * len(STATES) * options.rounds)
    peers, rows, base = len(cluster) - 1, [], None
    for state, text in STATES.items():
        bring(cluster, state)
        cpu, wire, marks = [], [], set()
        for _ in range(options.rounds):
            share, moved, begin, end = watch(cluster, options.seconds, load)
            cpu.append(100 * share)
            wire += moved
            marks.add(load.mark(begin, end))
            progress.step(1, f"{text:27} {100 * share:6.3f} % of a CPU, "
                          f"{median(moved) / peers:6.0f} B/s a node and peer")
        if base is None:
            base = median(cpu)
        rows.append({
            "state": state, "what": text, "nodes": len(cluster),
            "seconds": options.seconds,
            "cpu_percent_of_a_node":
                round((median(cpu) - base) / len(cluster), 4),
            "bytes_per_s_and_peer": round(median(wire) / peers, 1),
            "lab": about["lab"],
            "cpu_percent_of_all": round(median(cpu), 4),
            "cpu_min": round(min(cpu), 4), "cpu_max": round(max(cpu), 4),
            "bytes_max": round(max(wire) / peers, 1),
            "runs": options.rounds,
            "marks": sorted(m for m in marks if m),
            "kernel": about["kernel"], "commit": about["commit"]})
    return rows
