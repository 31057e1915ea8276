# SPDX-License-Identifier: GPL-2.0
"""Protection by parity: the pages of a group are at different peers, and any
one of them may go.

        node0 ------ node1        node0's pages are in groups of four and a
          |  `------ node2        check, on five of the others
          `--------- node3 ...
"""
import contextlib
import random
import threading
import time

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots

chaos_slots = sibling("chaos_slots")
mirror = sibling("protect_mirror")
fill = sibling("failures").fill
readable = sibling("hedge").readable

DESCRIPTION = "pages of a device with parity outlive one peer after the other"
SUITES = ("lab",)
LONG = ("killed_while_swapping",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 300

PORT = 9611
SLOTS = 2048        # written in most tests
TIMEOUT_S = 3       # of stores, where that is set


def die(cluster, victims):
    """Peers die at once; their owner learns it later."""
    for victim in victims:
        cluster.kill(victim)


def gone(client, victims):
    """It has: they are dead, or have nothing of its pages any more."""
    for victim in victims:
        wait_for(lambda: client.peers()[victim.addr]["state"] == "dead" or
                 not client.peers()[victim.addr]["slots"], 20,
                 "the peer is taken for dead")


def start(t, servers=6, protect="parity:4+1", **options):
    """A client with a device that parity protects, and its servers."""
    return mirror.start(t, servers=servers, protect=protect, **options)


def held(cluster):
    """Pages that servers hold which live."""
    return sum(node.stat()["server"]["held_pages"] for node in cluster.nodes
               if node.alive)


def ratio(cluster, live, most, seconds=40):
    """Servers come to hold no more than this many pages for a live one."""
    wait_for(lambda: held(cluster) <= most * live, seconds,
             f"at most {most} pages are held for each of {live}")


def overwrite(slots, rnd, rounds):
    """Pages are written again, here and there."""
    for _ in range(rounds):
        slots.write(1 + 8 * rnd.randrange((SLOTS - 9) // 8), 8)


def test_groups(t):
    """A quarter more RAM than pages, at rest and after rewriting; each peer
    has its share; all is freed in the end."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        ratio(cluster, SLOTS, 1.30)
        mirror.protected(client)
        equal(client.devices()[0]["protect"], "parity:4+1", "protection")
        mirror.all_right(client, slots)
        overwrite(slots, random.Random(t.seed), 400)
        # 2.5 without cleaning, which may fall back: writers do not wait for it
        at_most(held(cluster), int(2.2 * SLOTS), "pages held just after rewriting")
        ratio(cluster, SLOTS, 1.30)
        mirror.all_right(client, slots)
        mirror.protected(client)
    client.device_del(dev)
    mirror.held(cluster, 0)


def test_one_after_the_other(t):
    """A peer dies and no read fails; its pages are brought to groups of the
    peers that are left, so that the next one may die as well."""
    cluster, client, dev = start(t, servers=7)
    rnd = random.Random(t.seed)
    with fill(client, dev, t.seed, SLOTS) as slots:
        overwrite(slots, rnd, 20)
        for victim in (cluster[1], cluster[2]):
            cluster.kill(victim)
            mirror.all_right(client, slots)
            gone(client, [victim])
            mirror.protected(client, 60)
            overwrite(slots, rnd, 20)
            mirror.all_right(client, slots)
        at_least(client.stat()["client"]["pages_rebuilt"], 1,
                 "pages that were rebuilt")
    client.device_del(dev)


def test_two_silent(t):
    """Two of eight peers are silent, four apart. Page-ins of groups that have both wait; those of
    all others are rebuilt meanwhile."""
    cluster, client, dev = start(t, servers=8, dead_after=60)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        for victim in (cluster[1], cluster[5]):
            cluster.isolate(victim)
        readers = [threading.Thread(target=slots.read, args=(slot,), daemon=True)
                   for slot in random.Random(t.seed).sample(range(1, SLOTS), 400)]
        for reader in readers:
            reader.start()
        # groups are at five peers in a row: three of five that have one have not both
        wait_for(lambda: client.stat()["client"]["pages_rebuilt"] >= 40, 20,
                 "what can be rebuilt is rebuilt")
        at_least(sum(reader.is_alive() for reader in readers), 10, "readers that wait")
        for victim in (cluster[1], cluster[5]):
            cluster.heal(victim)
        for reader in readers:
            reader.join(60)
        equal(sum(reader.is_alive() for reader in readers), 0, "readers at the end")
        mirror.all_right(client, slots)
    client.device_del(dev)


@contextlib.contextmanager
def pages_lost(node, peers):
    """The network loses what these peers send to a node in large packets: pages."""
    node.run(["nft", f"""
        table inet lost {{
            chain in {{ type filter hook input priority 0;
                       ip saddr {{ {", ".join(peer.addr for peer in peers)} }} tcp sport {PORT}
                           meta length > 1000 drop; }}
        }}"""])
    try:
        yield
    finally:
        node.run(["nft", "delete", "table", "inet", "lost"])


def test_not_dead(t):
    """Page-ins of three peers are not answered for longer than it takes to declare a peer
    dead, one peer more than there are checks, but all else is: none is dead, and no
    page-in fails."""
    cluster, client, dev = start(t, protect="parity:4+2", dead_after=1)
    victims = cluster.nodes[1:4]
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        readers = [threading.Thread(target=slots.read, args=(slot,), daemon=True)
                   for slot in random.Random(t.seed).sample(range(1, SLOTS), 50)]
        with pages_lost(client, victims):
            for reader in readers:
                reader.start()
            hold(5)
            states = {client.peers()[victim.addr]["state"] for victim in victims}
            true("dead" not in states, f"states of the peers: {states}")
        for reader in readers:
            reader.join(60)
        equal(sum(reader.is_alive() for reader in readers), 0, "readers at the end")
        mirror.all_right(client, slots)
    client.device_del(dev)


def test_one_page_lost(t):
    """Two peers die, and one lost page is not written again for long: its row does not
    keep others from being cleaned."""
    cluster, client, dev = start(t, servers=6)
    rnd = random.Random(t.seed)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        client.ctl("set", "protect_mib_s", "0")
        die(cluster, cluster.nodes[1:3])
        gone(client, cluster.nodes[1:3])
        client.ctl("set", "protect_mib_s", "64")
        _, wrong, unreadable = slots.compare()
        equal(wrong, 0, "wrong pages")
        at_least(unreadable, 1, "pages lost with two of six peers")
        lost = next(slot for slot in sorted(slots.count) if not readable(slots, slot))
        for slot in list(slots.count):
            if slot != lost:
                slots.write(slot)
        for _ in range(20):
            for _ in range(50):
                first = 1 + 8 * rnd.randrange((SLOTS - 9) // 8)
                if not first <= lost < first + 8:
                    slots.write(first, 8)
            at_most(held(cluster), 2.2 * SLOTS, "pages held")
        ratio(cluster, SLOTS, 1.45)
        slots.count.pop(lost)
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable pages but that one")
    client.device_del(dev)


def test_turned_on(t):
    """Protection is turned on while a device is in use, off, which gives the
    RAM back, and on again."""
    cluster, client, dev = start(t, protect=None)
    with fill(client, dev, t.seed, SLOTS) as slots:
        equal(mirror.exposed(client), SLOTS, "exposed pages")
        equal(client.stat()["swap"]["exposed_pages"], SLOTS, "exposed pages by stat")
        client.ctl("device", "protect", dev, "parity:4+1")
        equal(mirror.exposed(client), 0, "exposed pages")
        ratio(cluster, SLOTS, 1.30)
        overwrite(slots, random.Random(t.seed), 20)
        client.ctl("device", "protect", dev, "none")
        overwrite(slots, random.Random(t.seed + 1), 20)
        mirror.all_right(client, slots)
        mirror.held(cluster, SLOTS, 60)
        client.ctl("device", "protect", dev, "parity:2+1")
        cluster.kill(cluster[3])
        mirror.all_right(client, slots)
    client.device_del(dev)


def test_given_back(t):
    """Lenders take their RAM back: pages move to peers outside of their groups,
    or their rows are written again elsewhere; no two of a group meet."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        for node in (cluster[1], cluster[2]):
            node.ctl("lend", "0")
            wait_for(lambda: node.stat()["server"]["held_pages"] == 0, 60,
                     "the lender holds nothing any more")
            mirror.protected(client, 60)
            mirror.all_right(client, slots)
        cluster.kill(cluster[3])
        mirror.all_right(client, slots)
        mirror.protected(client, 60)
        mirror.all_right(client, slots)
    client.device_del(dev)


def test_given_up_for_home(t):
    """Parity is turned off while no peer has room: pages of a group, which are not next to
    each other, go home, each to its place."""
    with disk(16) as home:
        cluster = t.cluster(5)
        cluster.up(lend="4M", dead_after=2)
        client = cluster[0]
        dev = client.device_add(home=home.path)
        client.ctl("device", "protect", dev, "parity:3+1")
        rnd = random.Random(t.seed)
        with Slots(dev, t.seed) as slots:
            for slot in rnd.sample(range(1, SLOTS), SLOTS // 2):
                slots.write(slot, 1)
            for node in cluster.nodes[1:]:
                node.ctl("lend", "0")
            client.ctl("device", "protect", dev, "none", timeout=100)
            equal(slots.compare(), (SLOTS // 2, 0, 0), "right, wrong, unreadable slots")
            at_least(client.stat()["client"]["pages_home_out"], 1, "pages written home")
        client.device_del(dev)


def test_too_few(t):
    """With one peer all pages are exposed, and page-outs go on; with the second
    one rows are of one page and its check, which is a mirror."""
    cluster = t.cluster(4)
    client = cluster[0]
    for node in cluster.nodes[:2]:
        node.up(lend="64M", dead_after=2)
    cluster.wait_connected(cluster.nodes[:2])
    dev = client.device_add("32M")
    client.ctl("device", "protect", dev, "parity:4+1", "--no-wait")
    with fill(client, dev, t.seed, SLOTS) as slots:
        equal(mirror.exposed(client), SLOTS, "exposed pages")
        for node in cluster.nodes[2:]:
            node.up(lend="64M", dead_after=2)
        mirror.protected(client, 60)
        cluster.kill(cluster[1])
        mirror.all_right(client, slots)
    client.device_del(dev)


def silent(cluster, client, peer):
    """A peer is cut off until page-outs to it have timed out, and comes back: pages that timed
    out, and the most that were exposed before any can have waited for two time-outs."""
    timeouts, exposed = client.stat()["client"]["timeouts"], 0
    begin = time.monotonic()        # a packet is lost after this
    cluster.isolate(peer)
    cut = time.monotonic()
    while time.monotonic() < begin + 1.5 * TIMEOUT_S:
        seen = mirror.exposed(client)
        # what is heard later than that may have waited for two time-outs
        if time.monotonic() < begin + 1.5 * TIMEOUT_S:
            exposed = max(exposed, seen)
        hold(0.1)
    hold(max(0, cut + TIMEOUT_S + 0.5 - time.monotonic()))
    timed_out = client.stat()["client"]["timeouts"] - timeouts
    cluster.heal()
    wait_for(lambda: client.peers()[peer.addr]["state"] == "up", 20, "it is back")
    return timed_out, exposed


def test_silent_while_writing(t):
    """A peer falls silent while tasks write more than there are buffers for rows: what waits
    for one is not written without a group before the rows have given the peer up."""
    cluster, client, dev = start(t, dead_after=30)
    client.ctl("set", "store_timeout_ms", 1000 * TIMEOUT_S)
    writers = chaos_slots.workload(client, dev, t.seed, threads=8, max_kb=64, reads=20)
    wait_for(lambda: client.devices()[0]["slots_remote"] > SLOTS, 60, "pages at the peers")
    wait_for(lambda: client.stat()["client"]["pages_relogged"], 60, "groups are written again")
    for _ in range(5):
        mirror.protected(client)
        timed_out, exposed = silent(cluster, client, cluster[1])
        equal(exposed, 0, "pages exposed meanwhile")
        # page-outs may all have been to the other five just then
        if timed_out:
            break
    chaos_slots.stop(writers)
    at_least(timed_out, 1, "pages that timed out")
    client.device_del(dev)


def some_lost(t, client, slots):
    """Some pages are lost with too many of their group, and all others are right."""
    right, wrong, unreadable = slots.compare()
    t.log(f"{right} right, {unreadable} lost")
    equal(wrong, 0, "wrong pages")
    equal(right + unreadable, SLOTS, "pages")
    at_least(unreadable, 1, "pages lost with too many of their group")
    equal(client.devices()[0]["slots_lost"], unreadable, "lost pages")


def test_beyond(t):
    """Two peers die at once: pages of groups that lost two are lost, all others
    are right; and what was lost can be written again."""
    cluster, client, dev = start(t)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        client.ctl("set", "protect_mib_s", "0")
        cluster.kill(cluster[1])
        cluster.kill(cluster[2])
        wait_for(lambda: sum(p["state"] == "dead"
                             for p in client.peers().values()) == 2, 30,
                 "two peers are dead")
        some_lost(t, client, slots)
        client.ctl("set", "protect_mib_s", "64")
        for first in range(1, SLOTS, 32):
            slots.write(first, 32)
        right, wrong, unreadable = slots.compare()
        equal((wrong, unreadable), (0, 0), "wrong, unreadable")
        mirror.protected(client, 60)
    client.device_del(dev)


def test_two_at_once(t):
    """With two checks two peers die at once and no read fails; on the peers that are
    left all is protected again, so that the next two may die as well."""
    cluster, client, dev = start(t, servers=7, protect="parity:4+2")
    rnd = random.Random(t.seed)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        ratio(cluster, SLOTS, 1.56)
        equal(client.devices()[0]["protect"], "parity:4+2", "protection")
        for victims in (cluster.nodes[1:3], cluster.nodes[3:5]):
            overwrite(slots, rnd, 20)
            mirror.protected(client, 60)
            die(cluster, victims)
            mirror.all_right(client, slots)
            gone(client, victims)
            mirror.protected(client, 60)
            mirror.all_right(client, slots)
        at_least(client.stat()["client"]["pages_rebuilt"], 1,
                 "pages that were rebuilt")
    client.device_del(dev)
    wait_for(lambda: not held(cluster), 20, "all is freed")


def test_second_check(t):
    """A second check is asked for while a device is in use: until all groups have it
    their pages are exposed; given up again, its RAM comes back."""
    cluster, client, dev = start(t, servers=7)
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        client.ctl("set", "protect_mib_s", "0")
        client.ctl("device", "protect", dev, "parity:4+2", "--no-wait")
        at_least(mirror.exposed(client), SLOTS, "exposed pages")
        client.ctl("set", "protect_mib_s", "64")
        mirror.protected(client, 60)
        die(cluster, cluster.nodes[1:3])
        mirror.all_right(client, slots)
        gone(client, cluster.nodes[1:3])
        mirror.protected(client, 60)
        client.ctl("device", "protect", dev, "parity:3+1")
        ratio(cluster, SLOTS, 1.40)
        mirror.all_right(client, slots)
        cluster.kill(cluster[3])
        mirror.all_right(client, slots)
    client.device_del(dev)


def test_cramped(t):
    """A device is full and has cells for one check; two are asked for, with peers for
    groups of one page alone: writing goes on, and any one peer may still die."""
    cluster, client, dev = start(t, servers=3, size="8M")
    with fill(client, dev, t.seed, SLOTS - 32) as slots:
        mirror.protected(client)
        client.ctl("device", "protect", dev, "parity:4+2", "--no-wait")
        rnd = random.Random(t.seed)
        begin = time.monotonic()
        overwrite(slots, rnd, 400)
        t.log(f"400 writes of 8 pages took {time.monotonic() - begin:.1f} s")
        hold(2)
        overwrite(slots, rnd, 100)
        at_most(time.monotonic() - begin, 30, "seconds of rewriting")
        at_least(mirror.exposed(client), 1, "pages without a second check")
        mirror.all_right(client, slots)
        cluster.kill(cluster[1])
        mirror.all_right(client, slots)
    client.device_del(dev)


def test_beyond_two(t):
    """Three peers die at once, one more than there are checks: exactly pages of groups
    that lost three are lost."""
    cluster, client, dev = start(t, protect="parity:4+2")
    with fill(client, dev, t.seed, SLOTS) as slots:
        mirror.protected(client)
        client.ctl("set", "protect_mib_s", "0")
        die(cluster, cluster.nodes[1:4])
        gone(client, cluster.nodes[1:4])
        some_lost(t, client, slots)
    client.device_del(dev)


def test_killed_while_swapping(t):
    """One peer after the other dies, is cut off, or gives its RAM back while a
    program swaps: it ends without a wrong page or a failed read."""
    cluster, client, dev = start(t, servers=6, size="96M")
    mirror.outlive(cluster, client, dev, t.seed, t.log)
