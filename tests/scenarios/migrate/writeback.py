# SPDX-License-Identifier: GPL-2.0
"""Pages brought back: a server that finds no peer with room for its pages
returns them to their owner, who puts them home.

        node0 ------ node1     node0 owns the pages and has a home,
          |  `------ node2     node1 gives its RAM back
        home
"""
import threading

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import Slots, eater, result_of

DESCRIPTION = "pages that no peer has room for go back to their owner's home"
SUITES = ("lab",)
LONG = ("one_home_hangs", "removed_while_home_hangs", "down_while_home_hangs",
        "while_swapping", "any_request", "cuts", "held_up", "home_errors",
        "drain", "no_home", "mutual", "server_dies", "owner_dies")
NEEDS = ("module", "inject", "progs", "dmsetup")
TIMEOUT = 240

SLOTS = 2048
LENT = 48 << 8          # pages


def start(t, nodes=2, inject=False):
    """An owner without a device, and servers."""
    cluster = t.cluster(nodes, inject=inject)
    for node in cluster:
        node.up(lend="0" if node.index == 0 else "48M", reconcile=2)
    cluster.wait_connected()
    return cluster, cluster[0], cluster[1]


def held(node):
    """Pages a node holds for others."""
    return node.stat()["server"]["held_pages"]


def device(node, name):
    """What is said of one device."""
    return next(d for d in node.devices() if d["device"] == name)


def write_all(slots):
    """Write every slot but the header's, 32 at a time."""
    for first in range(1, SLOTS - 32, 32):
        slots.write(first, 32)


def all_right(slots):
    """Every slot written holds what was written last."""
    equal(slots.compare(), (len(slots.count), 0, 0),
          "right, wrong, unreadable")


def give_back(server, what="its cache is empty"):
    """A server lends nothing any more, until it holds nothing."""
    server.ctl("lend", "0")
    wait_for(lambda: held(server) == 0, 40, what)


def test_all(t):
    """The only server gives everything back: every page is at home, and
    right; then all servers do at once."""
    cluster, client, server = start(t, nodes=4)
    for other in cluster.nodes[2:]:
        other.ctl("lend", "0")
    with disk(64) as home:
        dev = client.device_add("32M", home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            before = held(server)
            equal(before, len(slots.count), "pages on the server")
            give_back(server)
            equal(device(client, dev)["slots_home"], before, "slots at home")
            all_right(slots)
            equal(server.stat()["server"]["pages_returned"], before,
                  "pages the server has given back")
            equal(client.stat()["client"]["pages_returned"], before,
                  "pages the owner has taken home")
            for node in cluster.nodes[1:]:
                node.ctl("lend", "48M")
            wait_for(lambda: write_all(slots) or
                     cluster.held_pages() > 1000, 20,
                     "the servers are used again")
            for node in cluster.nodes[1:]:
                node.ctl("lend", "0")
            wait_for(lambda: cluster.held_pages() == 0, 40,
                     "all caches are empty")
            equal(device(client, dev)["slots_home"], before, "slots at home")
            all_right(slots)
        client.device_del(dev)


def test_while_swapping(t):
    """A program swaps while its pages are brought back under it."""
    cluster, client, server = start(t)
    with disk(128) as home, cluster.swap(client, home=home.path):
        server.ctl("lend", "96M")
        eating = client.popen(eater(client, 40, passes=2, order="random",
                                    seed=t.seed), memory_max="20M")
        for turn in range(4):
            wait_for(lambda: held(server) > 1000 or eating.poll() is not None,
                     60, "the program swaps")
            give_back(server, f"turn {turn}: the cache is empty")
            server.ctl("lend", "96M")
        equal(result_of(eating.wait(200))["wrong_pages"], 0, "wrong pages")
        stat = client.stat()["client"]
        t.log(f"returned {stat['pages_returned']}, met a change "
              f"{stat['moves_met']}")
        at_least(stat["pages_returned"], 2000, "pages brought back")
        equal((stat["read_errors"], stat["returns_failed"]), (0, 0),
              "failed reads, failed returns")
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def toggle(server, work):
    """A server lends and gives back as long as a program runs."""
    turns = 0
    while work.poll() is None:
        server.ctl("lend", "48M")
        wait_for(lambda: held(server) > 300 or work.poll() is not None, 30,
                 "pages come to the server")
        give_back(server)
        turns += 1
    return turns


def verify(client, dev, t, seconds):
    """Start random page-outs, page-ins and discards."""
    return client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
         str(seconds), "--threads", "4", "--max-kb", "64", "--reads", "40",
         "--discards", "15", "--seed", str(t.seed)])


def settled(cluster, client):
    """The servers hold exactly what the client records."""
    def equal_now():
        remote = sum(d["slots_remote"] for d in client.devices())
        return cluster.held_pages() == remote
    wait_for(equal_now, 20, "the caches hold exactly what the owner records")


def test_any_request(t):
    """Random page-outs, page-ins and discards meet the pages on their way
    home."""
    cluster, client, server = start(t)
    with disk(64) as home:
        dev = client.device_add("16M", home=home.path)
        work = verify(client, dev, t, 12)
        turns = toggle(server, work)
        result_of(work.wait(60))
        stat = client.stat()["client"]
        t.log(f"{turns} turns, returned {stat['pages_returned']}, met a "
              f"change {stat['moves_met']}")
        at_least(stat["pages_returned"], 1000, "pages brought back")
        equal((stat["read_errors"], stat["write_errors"]), (0, 0), "errors")
        settled(cluster, client)
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_cuts(t):
    """Connections cut before the owner's answer: pages brought back twice do
    no harm, and nothing is left behind."""
    cluster, client, server = start(t, inject=True)
    with disk(64) as home:
        dev = client.device_add("32M", home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            client.inject(seed=t.seed, cut_ack=4)
            give_back(server)
            client.inject(cut_ack=0)
            stat = client.stat()["client"]
            failed = server.stat()["server"]["moves_failed"]
            t.log(f"returned {stat['pages_returned']}, not answered {failed}")
            at_least(failed, 100, "attempts that were not answered")
            equal(stat["pages_returned"], len(slots.count),
                  "pages taken home, each once")
            all_right(slots)
        settled(cluster, client)
        client.device_del(dev)


def test_held_up(t):
    """While pages are on their way home page-ins get them from the server,
    frees are not held up, and page-outs of these slots wait: the place at
    home is written by one at a time."""
    _, client, server = start(t)
    with disk(64) as home:
        dev = client.device_add("32M", home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            before = held(server)
            with home.held_up():
                server.ctl("lend", "0")
                wait_for(lambda: device(client, dev)["slots_remote"] ==
                         before - 128, 20, "four batches are on their way")
                true(all(slots.right(n) for n in range(1, 129)),
                     "pages read meanwhile")
                client.discard(dev, "-o", str(4 << 12), "-l", str(4 << 12))
                rewrite = threading.Thread(target=slots.write, args=(1, 32))
                rewrite.start()
                true(all(slots.right(n) for n in range(64, 129)),
                     "pages read meanwhile")
                true(rewrite.is_alive(), "a page-out did not wait for home")
            rewrite.join()
            wait_for(lambda: held(server) == 0, 40, "its cache is empty")
            equal(client.stat()["client"]["moves_met"], 4,
                  "pages freed on their way; none was rewritten")
            all_right(slots)
        client.device_del(dev)


def test_one_home_hangs(t):
    """The home of one device does not answer: pages of the other go to theirs
    all the same, and those of the first when its home is well again."""
    _, client, server = start(t)
    with disk(64) as bad, disk(64, at=64) as good:
        first = client.device_add("16M", home=bad.path)
        second = client.device_add("16M", home=good.path)
        with Slots(first, t.seed) as one, Slots(second, t.seed + 1) as two:
            for at in range(1, 1024, 32):
                one.write(at, 32)
                two.write(at, 32)
            with bad.held_up():
                server.ctl("lend", "0")
                wait_for(lambda: device(client, second)["slots_home"] ==
                         len(two.count), 60, "all pages of the other are home")
                equal(device(client, first)["slots_home"], 0,
                      "slots at the home that does not answer")
                true(all(one.right(n) for n in range(1, 1024, 31)),
                     "pages of the first are read from the server")
                all_right(two)
            wait_for(lambda: held(server) == 0, 60, "its cache is empty")
            all_right(one)
            all_right(two)
        client.device_del(first)
        client.device_del(second)


def test_removed_while_home_hangs(t):
    """device del waits for a home that does not answer, and everybody else goes
    on meanwhile; the node cannot go down before it has ended."""
    cluster, client, server = start(t)
    with disk(64) as home:
        dev = client.device_add("16M", home=home.path)
        with Slots(dev, t.seed) as slots:
            for at in range(1, 1024, 32):
                slots.write(at, 32)
        total = len(slots.count)
        with home.held_up():
            server.ctl("lend", "0")
            wait_for(lambda: device(client, dev)["slots_remote"] < total, 20,
                     "pages are on their way")
            removing = client.popen([client.prog("nswapctl"), "device", "del",
                                     dev])
            wait_for(lambda: not client.devices(), 10, "it is not listed")
            client.ctl("lend", "1M")
            client.device_del(client.device_add("16M"))
            said = client.refused("down")
            true("is being removed" in said, f"the refusal is: {said}")
            equal(removing.poll(), None, "device del waits for its home")
        removing.wait(30).check()
    wait_for(lambda: cluster.held_pages() == 0, 15, "no page is held")


def test_down_while_home_hangs(t):
    """A node that cannot go down, but was drained for it, says that it lends nothing, and how
    much it lent."""
    cluster, other, node = start(t, nodes=3)
    third = cluster[2]
    node.ctl("lend", "0")
    with disk(64) as home:
        dev = node.device_add("16M", home=home.path)
        with Slots(dev, t.seed) as slots:
            for at in range(1, 1024, 32):
                slots.write(at, 32)
        with home.held_up():
            third.ctl("lend", "0")
            wait_for(lambda: device(node, dev)["slots_remote"] < 1024, 20,
                     "pages are on their way home")
            removing = node.popen([node.prog("nswapctl"), "device", "del", dev])
            wait_for(lambda: not node.devices(), 10, "it is not listed")
            node.ctl("lend", "32M")
            theirs = other.device_add("4M")
            with Slots(theirs, t.seed) as slots:
                wait_for(lambda: other.peers()[node.addr]["free_pages"] >= 1024, 10,
                         "the node has room")
                slots.write(1, 32)
                equal(held(node), 32, "pages held for the other one")
                third.ctl("lend", "48M")
                wait_for(lambda: node.peers()[third.addr]["free_pages"] >= 1024, 10,
                         "the third one has room")
                said = node.run([node.prog("nswapctl"), "down"], check=False).err
                true("is being removed" in said and
                     said.endswith("the node lends nothing until: nswapctl lend 32M\n"), said)
                equal((node.stat()["node"]["lent_pages"], held(node)), (0, 0),
                      "pages lent, and held, after it")
                all_right(slots)
            other.device_del(theirs)
        removing.wait(30).check()
    node.down()


def test_home_errors(t):
    """A home that fails: what it does not take stays at the server and is
    right there; a bad sector keeps one page back, not its neighbours."""
    _, client, server = start(t)
    with disk(64) as home:
        dev = client.device_add("32M", home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            before = held(server)
            home.fail()
            server.ctl("lend", "0")
            wait_for(lambda: client.stat()["client"]["returns_failed"] > 100,
                     20, "home fails pages that are brought back")
            equal(held(server), before, "pages held")
            all_right(slots)
            home.fail(slots=(5, 20, 500))
            wait_for(lambda: held(server) == 3, 40, "three are left")
            all_right(slots)
            home.mend()
            wait_for(lambda: held(server) == 0, 20, "none is left")
            equal(device(client, dev)["slots_home"], before, "slots at home")
            all_right(slots)
        client.device_del(dev)


def test_drain(t):
    """drain with nowhere to go says so and names --to-home, which does it;
    down brings pages back without being asked to."""
    _, client, server = start(t)
    with disk(64) as home:
        dev = client.device_add("32M", home=home.path)
        with Slots(dev, t.seed) as slots:
            write_all(slots)
            before = held(server)
            said = server.refused("drain")
            t.log(said)
            true(str(before) in said and "--to-home" in said,
                 f"the refusal says too little: {said}")
            stat = server.stat()
            equal((stat["node"]["lent_pages"], held(server)),
                  (LENT, before), "pages lent and pages held after it")
            done = server.ctl("drain", "--to-home")
            equal((done["left_pages"], done["home_pages"]), (0, before),
                  "pages left, pages that went home")
            all_right(slots)
            server.ctl("lend", "48M")
            wait_for(lambda: slots.write(1, 64) or held(server), 20,
                     "the server is used again")
            server.down()
            equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages")
        client.device_del(dev)


def test_no_home(t):
    """Neither a peer nor a home: refused with the count, nothing changed;
    pages of another device, that has one, go all the same."""
    _, client, server = start(t)
    bare = client.device_add("16M")
    with Slots(bare, t.seed) as slots:
        slots.write(1, 32)
        for command in (("drain",), ("drain", "--to-home"), ("down",)):
            said = server.refused(*command)
            t.log(f"{' '.join(command)}: {said}")
            true("32 pages" in said, f"the refusal says too little: {said}")
            equal((server.stat()["node"]["lent_pages"], held(server)),
                  (LENT, 32), f"pages lent and pages held after {command}")
        # what it lends again has to be set aside first, and is announced once a second
        wait_for(lambda: client.peers()[server.addr]["free_pages"] >= 4096, 10,
                 "the client has heard of room")
        with disk(64) as home:
            dev = client.device_add("32M", home=home.path)
            with Slots(dev, t.seed) as more:
                write_all(more)
                for first in range(33, 1024, 32):
                    slots.write(first, 32)
                done = server.run([server.prog("nswapctl"), "drain",
                                   "--to-home"], check=False)
                equal(done.code, 1, "exit code of drain")
                true(f"{len(slots.count)} pages could not" in done.err,
                     f"drain says: {done.err}")
                equal(held(server), len(slots.count), "pages that stay")
                equal(device(client, dev)["slots_home"], len(more.count),
                      "slots at home")
                all_right(more)
            client.device_del(dev)
        all_right(slots)
    client.device_del(bare)
    wait_for(lambda: held(server) == 0, 10, "no page is held")


def test_mutual(t):
    """Two nodes drain at each other: it ends, with all pages at home; without
    a home with a refusal on both sides."""
    cluster = t.cluster(2)
    cluster.up(lend="48M")
    with disk(64) as one, disk(64, at=64) as two:
        devs = [n.device_add("32M", home=h.path)
                for n, h in zip(cluster, (one, two))]
        with Slots(devs[0], t.seed) as a, Slots(devs[1], t.seed + 1) as b:
            write_all(a)
            write_all(b)
            at_least(min(held(n) for n in cluster), 1500, "pages on each")
            drains = [n.popen([n.prog("nswapctl"), "drain", "--to-home"])
                      for n in cluster]
            for drain in drains:
                done = drain.wait(60).check()
                t.log(done.err.strip().splitlines()[-1])
            equal([held(n) for n in cluster], [0, 0], "pages held")
            all_right(a)
            all_right(b)
        for node, dev in zip(cluster, devs):
            node.device_del(dev)
    for node in cluster:
        node.ctl("lend", "48M")
    wait_for(lambda: all(p["free_pages"] > 1000 for n in cluster
                         for p in n.peers().values()), 20, "there is room")
    devs = [n.device_add("16M") for n in cluster]
    with Slots(devs[0], t.seed) as a, Slots(devs[1], t.seed + 1) as b:
        a.write(1, 32)
        b.write(1, 32)
        drains = [n.popen([n.prog("nswapctl"), "drain", "--to-home"])
                  for n in cluster]
        for drain in drains:
            done = drain.wait(60)
            equal(done.code, 1, "exit code of a drain with nowhere to go")
            true("32 pages" in done.err, f"it says: {done.err}")
        equal([held(n) for n in cluster], [32, 32], "pages held")
        all_right(a)
        all_right(b)
    for node, dev in zip(cluster, devs):
        node.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def begin_slowly(t, home, dev_mb="32M"):
    """A server that is in the middle of giving its pages back."""
    cluster, client, server = start(t)
    dev = client.device_add(dev_mb, home=home.path)
    slots = Slots(dev, t.seed)
    write_all(slots)
    server.ctl("set", "move_mib_s", "1")
    server.ctl("lend", "0")
    wait_for(lambda: client.stat()["client"]["pages_returned"] > 200, 20,
             "pages are brought back")
    return cluster, client, server, slots, dev


def test_server_dies(t):
    """The server dies half way: what is home is right, the rest is lost,
    nothing is wrong."""
    with disk(64) as home:
        cluster, client, server, slots, dev = begin_slowly(t, home)
        with slots:
            cluster.kill(server)
            client.ctl("set", "dead_after_ms", "1000")
            wait_for(lambda: client.peers()[server.addr]["state"] == "dead",
                     20, "the server counts as dead")
            at_home = device(client, dev)["slots_home"]
            right, wrong, unreadable = slots.compare()
            t.log(f"{right} right, {unreadable} lost")
            equal((right, wrong), (at_home, 0), "right and wrong pages")
            at_least(unreadable, 500, "pages that went with the server")
        client.device_del(dev)


def test_owner_dies(t):
    """The owner dies half way: what has not been brought back stays at the
    server until the owner has restarted."""
    with disk(64) as home:
        cluster, client, server, slots, dev = begin_slowly(t, home)
        slots.close()
        cluster.isolate(client)
        client.device_del(dev)
        left = held(server)
        at_least(left, 500, "pages the server still holds")
        cluster.kill(client)
        cluster.revive(client)
        client.up(lend="0")
        cluster.wait_connected()
        dev = client.device_add("32M", home=home.path)
        wait_for(lambda: held(server) == 0, 20,
                 "the pages of the owner's old epoch are dropped")
        client.device_del(dev)
