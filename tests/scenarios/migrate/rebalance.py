# SPDX-License-Identifier: GPL-2.0
"""Rebalancing: a server much fuller than another one hands pages on.

        node0 ------ node1     node0 owns the pages and lends nothing,
             `------ node2     node1 is full, node2 begins to lend
"""
from nswaptest.check import at_least, at_most, equal, wait_for
from nswaptest.work import Slots, eater, result_of, state_of

DESCRIPTION = "full servers hand pages on to empty ones, and then keep still"
SUITES = ("long",)
NEEDS = ("module", "progs")
TIMEOUT = 240

SLOTS = 3000
LENT_MB = 16
PERCENT = 20


def start(t, full, empty, lent=LENT_MB):
    """An owner whose pages are all on the servers full, as long as the
    servers empty lend nothing."""
    cluster = t.cluster(1 + len(full) + len(empty))
    for node in cluster:
        node.up(lend=f"{lent}M" if node.index in full else "0")
    cluster.wait_connected()
    return cluster, cluster[0]


def write_all(slots):
    """Write every slot but the header's."""
    for first in range(1, SLOTS - 32, 32):
        slots.write(first, 32)


def handed_on(cluster):
    """Pages handed on by each node."""
    return [n.stat()["server"]["pages_rebalanced"] for n in cluster]


def fullness(node, lent=LENT_MB):
    """Percent of what a node lends that is used."""
    held = node.stat()["server"]["held_pages"]
    return held * 100 / (lent * 256)


def decisions(node, rounds):
    """Wait until a node must have decided so many times: a decision comes
    every two rounds of announcements."""
    sent = node.stat()["announce"]["sent"]
    wait_for(lambda: node.stat()["announce"]["sent"] >= sent + 2 * rounds, 60,
             f"{rounds} decisions")


def come_to_rest(cluster, empty):
    """Wait until nothing has been handed on for several decisions; what
    each node has handed on."""
    was = []

    def still():
        nonlocal was
        before, was = was, handed_on(cluster)
        if before != was:
            decisions(empty, 2)
        return before == was
    wait_for(still, 90, "pages are handed on until it is balanced")
    decisions(empty, 4)
    equal(handed_on(cluster), was, "pages handed on later")
    return was


def test_two_servers(t):
    """Nothing happens unless the knob is set; then half of what is too much
    is handed on, and nothing after that."""
    cluster, client = start(t, full=(1,), empty=(2,))
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        total = len(slots.count)
        cluster[2].ctl("lend", f"{LENT_MB}M")
        decisions(cluster[1], 2)
        equal(handed_on(cluster), [0, 0, 0], "pages handed on by default")
        for node in cluster:
            node.ctl("set", "rebalance_pct", PERCENT)
        wait_for(lambda: sum(handed_on(cluster)), 15, "pages are handed on")
        out = come_to_rest(cluster, cluster[2])
        one, other = (fullness(n) for n in cluster.nodes[1:])
        t.log(f"handed on {out}; full by {one:.1f} and {other:.1f} percent")
        at_least(one - other, PERCENT / 2 - 3, "percent points of difference")
        at_most(one - other, PERCENT / 2 + 1, "percent points of difference")
        equal((out[0], out[2]), (0, 0), "pages handed back")
        equal(cluster.held_pages(), total, "pages held")
        equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
        equal(client.stat()["client"]["moves_recorded"], out[1],
              "moves recorded")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_two_full_one_empty(t):
    """Two full servers hand pages on to the same empty one."""
    cluster, client = start(t, full=(1, 2), empty=(3,), lent=LENT_MB // 2)
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        total = len(slots.count)
        for node in cluster:
            node.ctl("set", "rebalance_pct", PERCENT)
        cluster[3].ctl("lend", f"{LENT_MB // 2}M")
        wait_for(lambda: sum(handed_on(cluster)), 15, "pages are handed on")
        out = come_to_rest(cluster, cluster[3])
        shares = [fullness(n, LENT_MB // 2) for n in cluster.nodes[1:]]
        t.log(f"handed on {out}; full by {shares} percent")
        equal(out[3], 0, "pages handed back by the empty one")
        at_most(max(shares) - sum(shares) / 3, PERCENT, "percent points of "
                "the fullest above all of them")
        equal(slots.compare(), (total, 0, 0), "right, wrong, unreadable")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_nobody_takes(t):
    """The only empty server is the owner itself: the pages stay, quietly."""
    cluster, client = start(t, full=(1,), empty=())
    client.ctl("lend", f"{LENT_MB}M")
    dev = client.device_add("32M")
    with Slots(dev, t.seed) as slots:
        write_all(slots)
        cluster[1].ctl("set", "rebalance_pct", 1)
        decisions(cluster[1], 3)
        stat = cluster[1].stat()["server"]
        equal((stat["pages_rebalanced"], stat["moves_failed"]), (0, 0),
              "pages handed on, attempts that failed")
        equal(slots.compare()[1:], (0, 0), "wrong, unreadable")
    client.device_del(dev)


def test_while_swapping(t):
    """A program pages in and out what is being handed on.  It rests until
    that has begun: on a fast machine its own page-outs are the quicker
    balance."""
    cluster, client = start(t, full=(1,), empty=(2,))
    state, release = cluster.scratch / "eater", cluster.scratch / "release"
    with cluster.swap(client, "64M"):
        program = client.popen(
            eater(client, 24, passes=1, order="random", seed=t.seed,
                  hold=True, release=release, out=state), memory_max="12M")
        wait_for(lambda: state_of(state).get("state") == "holding", 120,
                 "the program has swapped")
        at_least(fullness(cluster[1]), 20, "percent of node1 in use")
        for node in cluster:
            node.ctl("set", "rebalance_pct", 10)
        cluster[2].ctl("lend", f"{LENT_MB}M")
        wait_for(lambda: sum(handed_on(cluster)), 30, "pages are handed on")
        release.write_text("")
        equal(result_of(program.wait(200))["wrong_pages"], 0, "wrong pages")
        equal(client.stat()["client"]["read_errors"], 0, "failed reads")
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")
