# SPDX-License-Identifier: GPL-2.0
"""A lender without the module: nswap-lend, and nodes that know no difference.

        node0 ------ node1        node0 swaps, node1 runs nswap-lend;
             `------ node2        node2 lends with the module where there is one
"""
import contextlib
import re

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.lender import Lender, lending
from nswaptest.rawwire import Link
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, held_back, result_of

DESCRIPTION = "nodes swap to nswap-lend, which keeps to the rules of the module's server"
SUITES = ("lab",)
NEEDS = ("module", "progs", "lend", "setpriv")
TIMEOUT = 240
# it needs no rights
PLAIN_USER = 'set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
ONLY_FULL = {
    "swap": "lend.sealed swaps, and a program with more pages takes half a minute",
    "comparison": "a session that breaks and comes back takes ten seconds",
    "verified": "blkverify for ten seconds shows what lend.restart does, with more pages",
    "ipv6": "addresses are read and compared by the module's code",
    "home": "lend.drain shows a drain, and homes are the module's",
    "members": "lend.sealed has keys, and the list is the module's code",
    **{name: "limits, attacks and protocol show the same code in the module" for name in
       ("slow_hello", "half_move", "movers", "joining", "messages", "features")},
}

PAGES = 256


def start(t, lend="16M", nodes=2, module=(), **options):
    """A client, a lender at node1, and nodes with the module: (cluster, client, lender)."""
    cluster = t.cluster(nodes)
    keys = {k: v(cluster) if callable(v) else v for k, v in options.items()}
    for node in (0, *module):
        cluster[node].up(lend="16M" if node else "0", dead_after=2, **keys)
    lender = Lender(cluster[1], lend, **keys)
    client = cluster[0]
    wait_for(lambda: cluster[1].addr in client.peers(), 10, "the lender is heard")
    return cluster, client, lender


@contextlib.contextmanager
def filled(t, client, pages=PAGES, **device):
    """A device with known content."""
    args = ["--size", "16M"]
    for key, value in device.items():
        args += [f"--{key}"] if value is True else [f"--{key}", value]
    dev = client.ctl("device", "add", *args)["device"]
    client.wait_sessions()
    with Slots(dev, t.seed) as slots:
        for first in range(1, pages + 1, 32):
            slots.write(first, 32)
        yield dev, slots


def all_right(slots):
    """Every slot holds what was written last."""
    equal(slots.compare(), (len(slots.count), 0, 0), "right, wrong, unreadable slots")


def swaps(t, client, lender, lent_mb, mb, *device):
    """A program three times its memory group swaps to the lender; no page is wrong."""
    dev = client.ctl("device", "add", "--size", "64M", *device)["device"]
    client.wait_sessions()
    client.swapon(dev)
    program = client.popen(
        held_back(f"{mb // 3}M", eater(client, mb, passes=1, order="random", seed=t.seed)),
        memory_max=f"{2 * mb}M")
    result = result_of(program.wait(120))
    equal(result["wrong_pages"], 0, "wrong pages")
    at_least(lender.count("pages_loaded"), 100 * mb, "pages loaded from the lender")
    equal(client.stat()["client"]["read_errors"], 0, "read errors")
    at_most(lender.memory_kb(), (lent_mb + 8) * 1024, "KiB that the lender takes")
    t.log(f"{result}, {lender.memory_kb()} KiB, {lender.cpu_ticks()} ticks")
    client.swapoff(dev)
    client.device_del(dev)
    wait_for(lambda: lender.held() == 0, 10, "all is freed")
    equal(lender.end().code, 0, "exit code of the lender")


def test_swap(t):
    """The only peer, open: what is lent bounds its memory."""
    _, client, lender = start(t, "48M", open=True)
    swaps(t, client, lender, 48, 36)


def test_sealed(t):
    """With keys, and a sealed device; a stranger is refused."""
    cluster, client, lender = start(t, "24M", nodes=3,
                                    secret=sibling("keys").secret)
    link = Link(cluster[2], cluster[1].addr)
    equal(link.hello(), None, "answer to a stranger's hello")
    link.close()
    wait_for(lambda: lender.count("keys_refused") == 1, 5, "it is counted")
    true("refused a connection from 10.77.0.3:" in lender.said(),
         f"the log says {lender.said()!r}")
    swaps(t, client, lender, 24, 12, "--seal")


def test_comparison(t):
    """What the lender was not told of, the comparison finds."""
    cluster, client, lender = start(t)
    with filled(t, client) as (dev, _):
        cluster.cut(client, cluster[1])
        client.discard(dev, "--offset", str(4096 * 129), "--length", str(4096 * 128))
        cluster.heal()
        wait_for(lambda: lender.held() == PAGES // 2, 30, "the comparison frees the rest")
    client.device_del(dev)
    wait_for(lambda: lender.held() == 0, 10, "no page is held")


def test_restart(t):
    """Pages are rewritten. Killed and started again the lender has another epoch: its pages
    are lost, all of them and by name, and nothing wrong is read; freed, none is held."""
    cluster, client, lender = start(t)
    with filled(t, client) as (dev, slots):
        for first in range(1, PAGES, 64):
            slots.write(first, 16)
        all_right(slots)
        equal(lender.held(), PAGES, "pages held, each once")
        told = {r["addr"]: r for r in client.ctl("stat", "--cluster")}[cluster[1].addr]
        equal((told["held_pages"], told["lent_pages"]), (PAGES, 4096),
              "pages held and lent, as stat --cluster has them")
        before = lender.status()
        lender.kill()
        lender = Lender(cluster[1], "16M", before=PLAIN_USER)
        after = lender.status()
        equal(after["id"], before["id"], "id of the node")
        true(after["epoch"] != before["epoch"], "it has another epoch")
        wait_for(lambda: client.devices()[0]["slots_lost"] == PAGES, 20,
                 "the owner knows what is lost")
        equal(slots.compare(), (0, 0, PAGES), "right, wrong, unreadable slots")
        client.wait_sessions()
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        all_right(slots)
        client.discard(dev)
        wait_for(lambda: lender.held() == 0, 10, "all is freed")
    client.device_del(dev)


def test_mirror(t):
    """A mirrored device over a module's server and a lender, which is killed: no read
    fails."""
    cluster, client, lender = start(t, nodes=3, module=(2,))
    with filled(t, client, protect="mirror") as (dev, slots):
        equal(client.devices()[0]["exposed_pages"], 0, "exposed pages")
        equal(lender.held(), PAGES, "pages held by the lender")
        lender.kill()
        all_right(slots)
        equal(client.stat()["client"]["read_errors"], 0, "read errors")
        lender = Lender(cluster[1], "16M")
        wait_for(lambda: client.devices()[0]["exposed_pages"] == 0, 30,
                 "the lender has copies again")
        all_right(slots)
    client.device_del(dev)


def test_drain(t):
    """SIGTERM: pages move to a server of the module while they are read; with no other
    place left, it says what is lost."""
    cluster, client, lender = start(t, nodes=3)
    with filled(t, client) as (dev, slots):
        equal(lender.held(), PAGES, "pages held by the lender")
        cluster[2].up(lend="16M")
        cluster.wait_connected([client, cluster[2]])
        done = lender.end()
        equal(done.code, 0, "exit code")
        true("ends, nothing is left" in done.err, f"it said {done.err!r}")
        equal(cluster[2].stat()["server"]["held_pages"], PAGES, "pages moved")
        all_right(slots)
        lender = Lender(cluster[1], "16M", drain_timeout=1)
        client.wait_sessions()
        cluster[2].ctl("drain")
        wait_for(lambda: lender.held() == PAGES, 20, "they have moved to the lender")
        all_right(slots)
        cluster[2].down()
        done = lender.end()
        equal(done.code, 1, "exit code with pages left")
        true(f"and {PAGES} pages with it" in done.err, f"it said {done.err!r}")
    client.device_del(dev)


def test_drain_elsewhere(t):
    """The owner gets another address, and then the lender ends: it finds the owner."""
    cluster, client, lender = start(t, nodes=3)
    with filled(t, client) as (dev, slots):
        cluster.readdress(client, 101)
        all_right(slots)
        cluster[2].up(lend="16M")
        cluster.wait_connected([client, cluster[2]])
        done = lender.end()
        equal(done.code, 0, f"exit code: {done.err!r}")
        equal(cluster[2].stat()["server"]["held_pages"], PAGES, "pages moved")
        all_right(slots)
    client.device_del(dev)


def test_start(t):
    """What it refuses to start with, in a sentence; with --lock its memory is locked."""
    cluster = t.cluster(2)
    node = cluster[1]
    prog = node.prog("nswap-lend")

    def refused(before, *args, code=1):
        done = node.run(["/bin/sh", "-c", f'{before} exec "$@"', "sh", prog, *args],
                        check=False)
        equal(done.code, code, f"exit code of {args}")
        return done.err

    said = refused("", "--lend", "8M")
    true("say --open" in said, f"without keys: {said!r}")
    said = refused("", "--open", code=2)
    true("--lend SIZE" in said, f"without a size: {said!r}")
    said = refused("", "--lend", "8M", "--open", "--addr", "10.77.0.9")
    true("not one of this network namespace" in said, f"another's address: {said!r}")
    said = refused(f"ulimit -l 1024; {PLAIN_USER};", "--lend", "8M", "--open", "--lock")
    true("RLIMIT_MEMLOCK" in said and "LimitMEMLOCK=" in said, f"locking: {said!r}")
    enough = re.search(r"ulimit -l (\d+)", said)[1]
    said = refused("", "--lend", "900G", "--open")
    true("has less" in said, f"too much: {said!r}")
    lender = Lender(node, "8M", lock=True, before=f"ulimit -l {enough}; {PLAIN_USER}")
    at_least(lender.memory_kb("VmLck"), 10 * 1024, "KiB that are locked, its code too")
    at_most(lender.memory_kb(), 20 * 1024, "KiB that it takes")
    said = refused("", "--lend", "1M", "--open")
    true("port is taken" in said, f"twice: {said!r}")
    lender.process.kill(10)
    wait_for(lambda: "lends 8 MiB, holds 0 B" in lender.said(), 5, "SIGUSR1 is answered")
    equal(lender.end().code, 0, "exit code")


def test_members(t):
    """SIGHUP: the list of members is read again, who is new is let in, and pages
    stay; a list without the lender changes nothing."""
    keys = sibling("keys")
    cluster = t.cluster(2)
    client, node = cluster
    both, own = cluster.scratch / "both", cluster.scratch / "own"
    (path, public), (mine, lends) = keys.key(client, cluster), keys.key(node, cluster)
    for members in (both, own):
        client.ctl("key", "trust", members, "lender", lends)
    client.write(own, client.read(both))
    client.ctl("key", "trust", both, "client", public)
    client.up(lend="0", key=path, members=both)
    lender = Lender(node, "16M", key=mine, members=own)
    wait_for(lambda: node.addr in client.peers(), 10, "the lender is heard")
    dev = client.device_add("4M", wait=False)
    wait_for(lambda: lender.count("keys_refused") > 0, 10, "the client is refused")
    client.ctl("key", "trust", own, "client", public)
    lender.process.kill(1)
    client.wait_sessions()
    with Slots(dev, t.seed) as slots:
        slots.write(1, 32)
        client.ctl("key", "revoke", own, "lender")
        lender.process.kill(1)
        wait_for(lambda: "they stay as they were" in lender.said(), 5, "it is refused")
        client.ctl("key", "trust", own, "lender", lends)
        lender.process.kill(1)
        wait_for(lambda: lender.said().count("has read the list") == 2, 5, "it is read")
        all_right(slots)
    client.device_del(dev)
    equal(lender.end().code, 0, "exit code")


def test_address(t):
    """The lender gets another address, as by DHCP: it is the same peer, and pages stay.
    While it has none it says so, once."""
    cluster = t.cluster(2)
    client, node = cluster
    client.up(lend="0", dead_after=20)
    lender = Lender(node, "16M")
    wait_for(lambda: node.addr in client.peers(), 10, "the lender is heard")
    with filled(t, client) as (dev, slots):
        before = client.peers()[node.addr]
        cluster.readdress(node, 101)
        all_right(slots)
        wait_for(lambda: client.peers().get(node.addr, {}).get("state") == "up", 15,
                 "a session at the new address")
        equal(client.peers()[node.addr]["index"], before["index"], "index of the peer")
        true(f"has another address: {node.addr}:9611" in lender.said(),
             f"it said {lender.said()!r}")
        node.run(["ip", "address", "del", f"{node.addr}/24", "dev", node.iface])
        wait_for(lambda: "is gone from" in lender.said(), 5, "it says that it has none")
        hold(1.5)
        node.run(["ip", "address", "add", f"{node.addr}/24", "broadcast", "+", "dev",
                  node.iface])
        wait_for(lambda: f"{node.addr}:9611 is back" in lender.said(), 5,
                 "it says that it is back")
        equal(lender.said().count("is gone from"), 1, "how often it was said")
        all_right(slots)
    client.device_del(dev)
    equal(lender.end().code, 0, "exit code")


def test_verified(t):
    """Writes, reads and discards of any size at random, every page compared."""
    _, client, lender = start(t, "32M")
    dev = client.ctl("device", "add", "--size", "24M")["device"]
    client.wait_sessions()
    done = client.run([client.prog("blkverify"), "--device", f"/dev/{dev}", "--seed",
                       str(t.seed), "--seconds", "10", "--fresh", "--discards", "10"],
                      timeout=60)
    told = result_of(done)
    t.log(f"{told}, {lender.status()['counters']}")
    equal(told["wrong_pages"], 0, "wrong pages")
    at_least(lender.count("pages_loaded"), 1000, "pages loaded")
    client.device_del(dev)
    wait_for(lambda: lender.held() == 0, 10, "no page is held")


def test_ipv6(t):
    """Over IPv6, found by multicast."""
    cluster = t.cluster(2)
    client, node = cluster
    client.up(lend="0", addr=client.addr6)
    lender = Lender(node, "16M", addr=node.addr6)
    wait_for(lambda: node.addr6 in client.peers(), 10, "the lender is heard")
    with filled(t, client) as (dev, slots):
        equal(lender.held(), PAGES, "pages held")
        all_right(slots)
    client.device_del(dev)


def test_home(t):
    """SIGTERM with no peer that has room: pages go back to their owner's home."""
    _, client, lender = start(t)
    with disk(32) as home:
        dev = client.ctl("device", "add", "--home", home.path)["device"]
        client.wait_sessions()
        with Slots(dev, t.seed) as slots:
            for first in range(1, PAGES + 1, 32):
                slots.write(first, 32)
            equal(lender.held(), PAGES, "pages held by the lender")
            equal(lender.end().code, 0, "exit code")
            all_right(slots)
        client.device_del(dev)


def test_session(t):
    """A test of the module's server, against the lender: sessions of two epochs."""
    sibling("limits").test_same_session(lending(t, 0))


def test_packed(t):
    """Likewise: short pages that are rewritten and freed."""
    sibling("packed").test_rewritten(lending(t, 1))


def test_slow_hello(t):
    """Likewise: a HELLO that dribbles."""
    sibling("limits").test_slow_hello(lending(t, 0))


def test_half_move(t):
    """Likewise: a MOVE that stops in the middle."""
    sibling("limits").test_half_move(lending(t, 0))


def test_movers(t):
    """Likewise: one host with many links of movers."""
    sibling("limits").test_many_movers(lending(t, 0))


def test_joining(t):
    """Likewise: those that may not join."""
    sibling("attacks").test_joining(lending(t, 1))


def test_messages(t):
    """Likewise: forged messages of a member."""
    sibling("hostile_member").test_forging(lending(t, 1))


def test_features(t):
    """Likewise: clients with fewer and with unknown features."""
    sibling("protocol").test_client_features(lending(t, 0))
