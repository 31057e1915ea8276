# SPDX-License-Identifier: GPL-2.0
"""A program bigger than its memory group, its pages on two servers.

        node0 ------ node1        node0 swaps, the others lend
             `------ node2
"""
import json
import os

from nswaptest.check import at_least, at_most, equal, true, wait_for, within
from nswaptest.work import Slots, eat, eater, result_of

DESCRIPTION = "swap over two servers: right pages, freed slots, true counters"
SUITES = ("lab",)
LONG = ("random", "freed_slots", "full")
NEEDS = ("module", "progs")
TIMEOUT = 300

MB, LIMIT, LEND, DEVICE = 192, "96M", "144M", "256M"


def counters(cluster):
    """Sums over the servers and the client's own, in pages."""
    client = cluster[0].stat()["client"]
    servers = [n.stat()["server"] for n in cluster.nodes[1:]]
    return {"out": client["pages_out"], "in": client["pages_in"],
            "stored": sum(s["pages_stored"] for s in servers),
            "loaded": sum(s["pages_loaded"] for s in servers),
            "pswpin": cluster[0].vmstat("pswpin"),
            "pswpout": cluster[0].vmstat("pswpout")}


def limit_of_late_frees(client, dev):
    """Pages that peers may hold after a program's exit."""
    return client.swap_used_pages(dev) + 64 * os.cpu_count()


def verified(t, order, policy, mb=MB, limit=LIMIT):
    """mb in limit; nothing wrong, all freed, all counters agree."""
    cluster = t.cluster(3)
    cluster.up(lend=LEND)
    client = cluster[0]
    client.ctl("policy", "place", policy)
    with cluster.swap(client, DEVICE) as dev:
        start = counters(cluster)
        result = eat(client, mb, limit, order=order, passes=1)
        equal(result["wrong_pages"], 0, "wrong pages")
        wait_for(lambda: cluster.held_pages() <=
                 limit_of_late_frees(client, dev), 10,
                 "the peers drop the program's pages")
        end = counters(cluster)
        moved = {k: end[k] - start[k] for k in end}
        t.log(json.dumps(moved))
        at_least(moved["in"], 10000, "pages in")
        within(moved["loaded"], moved["in"], 0.01, "pages the peers served")
        within(moved["pswpin"], moved["in"], 0.01, "the kernel's pswpin")
        within(moved["stored"], moved["out"], 0.01, "pages the peers took in")
        within(moved["pswpout"], moved["out"], 0.01, "the kernel's pswpout")
        for node in cluster.nodes[1:]:
            at_least(node.stat()["server"]["pages_loaded"], 1000,
                     f"pages {node} served")
    wait_for(lambda: cluster.held_pages() == 0, 10,
             "no page is held after device del")
    for node in cluster:
        server = node.stat()["server"]
        equal(server["held_pages"], 0, f"pages held by {node}")


def test_sequential(t):
    """Written and compared in order, most-free placement."""
    verified(t, "seq", "most-free")


def test_random(t):
    """In random order, round-robin placement."""
    verified(t, "random", "round-robin", mb=96, limit="48M")


def test_freed_slots(t):
    """While a program holds its memory the peers hold its pages; 10 s after
    its exit they hold no more than what is still in use."""
    cluster = t.cluster(3)
    cluster.up(lend=LEND)
    client = cluster[0]
    with cluster.swap(client, DEVICE) as dev:
        release = cluster.scratch / "release"
        process = client.popen(
            eater(client, 96, passes=0, hold=True, release=release),
            memory_max="32M")
        wait_for(lambda: cluster.held_pages() > 14000, 60,
                 "the peers hold the program's pages")
        held = cluster.held_pages()
        used = client.swap_used_pages(dev)
        t.log(f"{used} pages used, {held} held")
        at_most(held, used + 64 * os.cpu_count(), "pages held")
        release.write_text("")
        result_of(process.wait(150))
        wait_for(lambda: cluster.held_pages() <=
                 limit_of_late_frees(client, dev), 10,
                 "the peers drop the program's pages")
        remote = sum(d["slots_remote"] for d in client.devices())
        wait_for(lambda: cluster.held_pages() == remote, 10,
                 "caches hold what the map records")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_slots(t):
    """Slots one by one and in runs: unwritten ones read as zeros without the
    network, rewritten ones as rewritten, discarded ones as zeros or old."""
    cluster = t.cluster(2)
    cluster.up(lend="32M")
    client = cluster[0]
    dev = client.device_add("16M")
    with Slots(dev, t.seed) as slots:
        equal(slots.read(5), bytes(4096), "a slot never written")
        equal(client.stat()["client"]["load_msgs"], 0, "messages for it")
        for first, number in ((1, 1), (2, 31), (33, 32), (65, 64), (200, 256),
                              (150, 100), (1, 600)):
            slots.write(first, number)
            equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
        at_least(client.stat()["client"]["zero_reads"], 1, "zero reads")
    client.discard(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10,
             "no page is held after a discard")
    client.device_del(dev)


def test_batches(t):
    """Adjacent slots travel in one message: far fewer messages than pages."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    dev = client.device_add("48M")
    client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=128k",
                "count=320", "oflag=direct"])
    client.run(["dd", f"if=/dev/{dev}", "of=/dev/null", "bs=128k",
                "count=320", "iflag=direct"])
    stat = client.stat()["client"]
    equal(stat["pages_out"], 10240 - 1, "pages out (all but the header slot)")
    at_most(stat["store_msgs"], 10240 // 8, "STORE messages for 10240 pages")
    at_most(stat["load_msgs"], 10240 // 8, "LOAD messages for 10240 pages")
    client.device_del(dev)


def lost_pages(node):
    """What doctor finds about lost pages."""
    told = json.loads(node.run([node.prog("nswapctl"), "doctor", "--json"], check=False).out)
    return [f["text"] for f in told if f["check"] == "lost pages"]


def test_no_room(t):
    """No peer lends: writes fail at once and without traffic, the data stays
    in RAM, as doctor says, and room found later is used."""
    cluster = t.cluster(2)
    cluster.up(lend=0)
    client, server = cluster
    dev = client.device_add("64M")
    done = client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=4k",
                       "seek=1", "count=16", "oflag=direct"], check=False)
    true(done.code != 0, "a write with no room anywhere did not fail")
    stat = client.stat()["client"]
    equal(stat["store_msgs"], 0, "STORE messages")
    at_least(stat["write_errors"], 1, "write errors")
    said = lost_pages(client)
    true(len(said) == 1 and f"{stat['write_errors']} page-outs failed" in said[0], f"doctor: {said}")
    server.ctl("lend", "32M")

    def written():
        return client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=4k",
                           "seek=1", "count=16", "oflag=direct"],
                          check=False).code == 0
    wait_for(written, 10, "lent RAM is used", every=0.2)
    equal(lost_pages(client), [], "what doctor says of lost pages then")
    client.device_del(dev)


def test_unbacked(t):
    """Pages that are swapped out and at no peer, here zeros: those of a device that is not
    swap make them no fewer."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    with cluster.swap(client, "64M") as dev:
        process = client.popen("python3 -c 'import signal; b = bytes(1) * (48 << 20); "
                               "print(1, flush=True); signal.pause()'", memory_max="24M")
        wait_for(process.output, 60, "the program has its memory")
        other = client.device_add("16M")
        client.run(["dd", "if=/dev/urandom", f"of=/dev/{other}", "bs=1M", "count=8",
                    "oflag=direct", "seek=1"])
        swap, mine = client.stat()["swap"], client.devices()
        process.kill()
        process.wait(10)
        client.device_del(other)
    remote = {d["device"]: d["slots_remote"] for d in mine}
    t.log(f"{swap}, {remote}")
    at_least(swap["used_pages"] - remote[dev], 4096, "unbacked pages")
    equal(swap["unbacked_pages"], swap["used_pages"] - remote[dev], "unbacked pages by stat")
    equal((remote[other], swap["backed_pages"]), (2048, 2048 + remote[dev]),
          "pages of the other device, and of both, at peers")


def test_full(t):
    """More is written than peers lend: the eater goes on in RAM and no page
    is wrong."""
    cluster = t.cluster(2)
    cluster.up(lend="24M")
    client, server = cluster
    with cluster.swap(client, "128M") as dev:
        process = client.popen(eater(client, 64, passes=2), memory_max="48M")
        equal(result_of(process.wait(150))["wrong_pages"], 0, "wrong pages")
        at_most(server.stat()["server"]["held_pages"], 24 * 256,
                "pages held, 24 MiB lent")
        del dev
