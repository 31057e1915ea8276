# SPDX-License-Identifier: GPL-2.0
"""Connections cut between a store or a free and its ack, and lost acks.

        node0 ------ node1        node0 writes, discards and compares
             `------ node2
"""
import json

from nswaptest.check import at_least, at_most, equal, hold, wait_for
from nswaptest.work import Slots, eater, result_of

DESCRIPTION = "after seeded cuts and lost acks the caches hold what is recorded"
SUITES = ("long",)
NEEDS = ("module", "inject", "progs")
TIMEOUT = 400


def settled(cluster, client):
    """The peers hold exactly what the client records."""
    cluster.wait_connected()

    def equal_now():
        remote = sum(d["slots_remote"] for d in client.devices())
        return cluster.held_pages() == remote
    wait_for(equal_now, 20, "the caches hold exactly what the owner records")


def test_thousand(t):
    """1 000 cuts between a store or free and its ack; then every slot is
    right and the caches hold exactly what the owner records."""
    cluster = t.cluster(3, inject=True)
    cluster.up(lend="48M", dead_after=60, reconcile=1)
    client = cluster[0]
    dev = client.device_add("32M")
    out = cluster.scratch / "blkverify.json"
    client.inject(seed=t.seed, cut_ack=4)
    sessions = client.stat()["client"]["sessions"]
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
         "600", "--threads", "4", "--max-kb", "64", "--reads", "25",
         "--discards", "15", "--tolerate-write-errors", "--seed",
         str(t.seed), "--out", out])
    wait_for(lambda: client.stat()["client"]["sessions"] - sessions >= 1000,
             240, "1000 cuts", every=0.2)
    client.inject(cut_ack=0)
    work.kill(15)
    done = work.wait(150)
    t.log(done.out.strip())
    equal(result_of(done)["wrong_pages"], 0, "wrong pages")
    settled(cluster, client)
    t.log(json.dumps(client.stat()["client"]))
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def written_to(t, client, dev):
    """A workload that goes on until unharmed() ends it."""
    return client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds", "600",
         "--threads", "4", "--max-kb", "64", "--reads", "25", "--seed", str(t.seed)])


def unharmed(t, work):
    """End it: no page is wrong, no write or read has failed."""
    work.kill(15)
    result = result_of(work.wait(150))
    t.log(json.dumps(result))
    equal((result["wrong_pages"], result["failed_writes"], result["failed_slots"]),
          (0, 0, 0), "wrong pages, failed writes and reads")


def test_alone(t):
    """Each session with the only peer breaks: page-outs wait for the next one, and
    none fails."""
    cluster = t.cluster(2, inject=True)
    cluster.up(lend="48M", dead_after=60, reconcile=1)
    client = cluster[0]
    dev = client.device_add("32M")
    client.inject(seed=t.seed, cut_ack=30)
    sessions = client.stat()["client"]["sessions"]
    work = written_to(t, client, dev)
    wait_for(lambda: client.stat()["client"]["sessions"] - sessions >= 30, 120,
             "30 cuts", every=0.2)
    client.inject(cut_ack=0)
    unharmed(t, work)
    client.device_del(dev)


def test_alone_silent(t):
    """The only peer falls silent for longer than one is chosen that is not heard of:
    page-outs wait until it is back, and none fails."""
    cluster = t.cluster(2)
    cluster.up(lend="48M", dead_after=60)
    client, server = cluster
    client.ctl("set", "silent_ms", 500)
    client.ctl("set", "store_timeout_ms", 4000)
    dev = client.device_add("32M")
    work = written_to(t, client, dev)
    for _ in range(5):
        hold(2)
        cluster.isolate(server)
        hold(1)
        cluster.heal(server)
        cluster.wait_connected()
    hold(2)
    unharmed(t, work)
    client.device_del(dev)


def starve(t, turns, seconds, most):
    """Programs fill memory that is larger than their limit, less than a device can have
    on its way out, and all peers fall silent: none is killed, no page is wrong."""
    cluster = t.cluster(3)
    cluster.up(lend="64M", dead_after=60)
    client = cluster[0]
    client.ctl("policy", "place", "round-robin")
    with cluster.swap(client, "128M"):
        for turn in turns:
            programs = [client.popen(eater(client, 20, passes=1), memory_max="8M")
                        for _ in range(2)]
            hold(0.08 * turn)
            for peer in cluster.nodes[1:]:
                cluster.isolate(peer)
            hold(seconds)
            for peer in cluster.nodes[1:]:
                cluster.heal(peer)
            cluster.wait_connected()
            for program in programs:
                result = result_of(program.wait(150))
                t.log(json.dumps(result))
                equal((result["wrong_pages"], result.get("failed_reads", 0)), (0, 0),
                      "wrong pages, failed reads")
        at_most(client.stat()["client"]["write_errors"], most, "write errors")


def test_starved(t):
    """Peers are silent for 2 s: page-outs wait, and none fails."""
    # after that TCP tries again 3 s after it was cut off, before a new session is made
    starve(t, range(4), 2, 0)


def test_starved_suspected(t):
    """Peers are silent until no session is left, and not dead: what has waited for long
    fails, but the pages are not at once paged out and failed again."""
    starve(t, range(3), 10, 3 * 4096)


def test_swap(t):
    """A program swaps through cuts, and not one page is wrong."""
    cluster = t.cluster(3, inject=True)
    cluster.up(lend="64M", dead_after=60)
    client = cluster[0]
    with cluster.swap(client, "96M"):
        client.inject(seed=t.seed, cut_ack=50)
        done = client.run(eater(client, 48, passes=2, order="rw"),
                          timeout=200, memory_max="24M", check=False)
        client.inject(cut_ack=0)
        equal(result_of(done)["wrong_pages"], 0, "wrong pages")
        settled(cluster, client)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_lost_acks(t):
    """Store acks that never come: placed elsewhere under a new generation;
    the copies whose acks were lost are freed."""
    cluster = t.cluster(3, inject=True)
    cluster.up(lend="48M", dead_after=60, reconcile=1)
    client = cluster[0]
    dev = client.device_add("16M")
    with Slots(dev, t.seed) as slots:
        for turn in range(1, 5):
            client.inject(drop_ack=1)
            for first in range(1, 257, 32):
                slots.write(first, 32)
            equal(client.stat()["client"]["timeouts"] >= turn, True,
                  f"page-outs unanswered in turn {turn}")
            cluster.wait_connected()
            client.wait_sessions()
        equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable slots")
    equal(client.stat()["client"]["write_errors"], 0, "write errors")
    settled(cluster, client)
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_refused_stores(t):
    """A store refused by a peer that had granted it goes elsewhere; with
    everybody refusing writes fail, and later ones succeed again."""
    cluster = t.cluster(3, inject=True)
    cluster.up(lend="48M")
    client = cluster[0]
    dev = client.device_add("16M")
    with Slots(dev, t.seed) as slots:
        client.inject(refuse=1)
        for first in range(1, 257, 32):
            slots.write(first, 32)
        stat = client.stat()["client"]
        at_least(stat["refused"], 1, "pages refused")
        equal(stat["write_errors"], 0, "write errors")
        equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable slots")
    client.inject(refuse=20)
    out = cluster.scratch / "blkverify.json"
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds", "8",
         "--max-kb", "32", "--tolerate-write-errors", "--tolerate-read-errors",
         "--out", out])
    result = result_of(work.wait(60))
    t.log(json.dumps(result))
    equal(result["wrong_pages"], 0, "wrong pages")
    at_least(result["verified"], 1000, "pages compared")
    settled(cluster, client)
    client.device_del(dev)
