# SPDX-License-Identifier: GPL-2.0
"""Classes of devices, and reserves.

        node0 ------ node1     node0 owns the pages, node1 shrinks or is filled,
             `------ node2     node2 has room, or is another owner
"""
import contextlib

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.rawwire import ATTACH, FREE_DEVICE, HAS_CLASSES, Peer
from nswaptest.served import owner
from nswaptest.work import Slots

DESCRIPTION = "lenders drop droppable pages first, move critical ones first, keep reserves"
SUITES = ("lab",)
NEEDS = ("module", "inject", "progs")
TIMEOUT = 180

MIB = 256           # pages
SIZE = "8M"
SLOTS = 1024        # written of each device


def add(node, *args):
    """device add with these options; the device's name."""
    done = node.ctl("device", "add", *args)
    return done["device"]


def server(node):
    """A node's counters of the server role."""
    return node.stat()["server"]


def device(node, name):
    """What device list says of one device."""
    return next(d for d in node.devices() if d["device"] == name)


def fill(slots, count=SLOTS):
    """Write slots 1 … count, 32 at a time."""
    for first in range(1, count, 32):
        slots.write(first, 32)


def takes(slots):
    """Is a page written now taken by a peer?"""
    try:
        slots.write(1)
    except OSError:
        return False
    return True


def crowd_out(slots):
    """Write until no peer takes more; what was not taken does not count."""
    taken = 0
    try:
        for first in range(1, 8 * SLOTS - 32, 32):
            slots.write(first, 32)
            taken += 32
    except OSError:
        for slot in range(taken + 1, taken + 33):
            slots.count.pop(slot, None)


def start(t, lend, clients=1, **options):
    """A cluster, the first nodes of which lend nothing; lend for the others; options are
    the cluster's."""
    cluster = t.cluster(clients + len(lend), **options)
    for node, size in zip(cluster, ["0"] * clients + lend):
        node.up(lend=size)
    cluster.wait_connected()
    return cluster


def test_shrink(t):
    """A lender shrinks: it drops the droppable device's pages, which then fail and are
    never zeros; the pages of the normal and the critical device all come back right."""
    cluster = start(t, ["32M"])
    client, lender = cluster
    names = [add(client, "--size", SIZE, "--class", kind)
             for kind in ("droppable", "normal", "critical")]
    equal([device(client, n)["class"] for n in names],
          ["droppable", "normal", "critical"], "classes")
    with Slots(names[0], t.seed) as cheap, Slots(names[1], t.seed + 1) as plain, \
            Slots(names[2], t.seed + 2) as dear:
        for slots in (cheap, plain, dear):
            fill(slots)
        equal(server(lender)["held_pages"], 3 * SLOTS, "pages held")
        lender.ctl("lend", str(3 * SLOTS * 4096 - 512 * 4096))
        wait_for(lambda: server(lender)["held_pages"] <= 3 * SLOTS - 512, 20,
                 "the lender has shrunk")
        some = server(lender)["pages_dropped"]
        equal(some, 512, "pages dropped, no more than had to be")
        wait_for(lambda: device(client, names[0])["slots_lost"] == some, 10,
                 "the owner was told")
        equal(cheap.compare(), (SLOTS - some, 0, some),
              "droppable: right, wrong, unreadable")
        equal(plain.compare(), (SLOTS, 0, 0), "normal: right, wrong, unreadable")
        equal(dear.compare(), (SLOTS, 0, 0), "critical: right, wrong, unreadable")
        lender.ctl("lend", "0")
        wait_for(lambda: server(lender)["pages_dropped"] == SLOTS, 20,
                 "all droppable pages are dropped")
        equal(cheap.compare(), (0, 0, SLOTS), "droppable: right, wrong, unreadable")
        equal(plain.compare(), (SLOTS, 0, 0), "normal: right, wrong, unreadable")
        equal(dear.compare(), (SLOTS, 0, 0), "critical: right, wrong, unreadable")
        lender.ctl("lend", "32M")
        wait_for(lambda: client.peers()[lender.addr]["free_pages"] > SLOTS and
                 takes(cheap), 20, "it lends again, and the owner has heard of it")
        fill(cheap)
        equal(cheap.compare(), (SLOTS, 0, 0), "written again: right, wrong, unreadable")
    for name in names:
        client.device_del(name)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def test_not_told(t):
    """The owner cannot be reached while its pages are dropped: page-ins find it out."""
    cluster = start(t, ["32M"])
    client, lender = cluster
    name = add(client, "--size", SIZE, "--class", "droppable")
    with Slots(name, t.seed) as slots:
        fill(slots)
        cluster.cut(client, lender)
        lender.ctl("lend", "0")
        wait_for(lambda: server(lender)["pages_dropped"] == SLOTS, 30,
                 "all are dropped")
        equal(device(client, name)["slots_lost"], 0, "lost, as far as is known")
        cluster.heal(client, lender)
        client.wait_sessions()
        equal(slots.compare(), (0, 0, SLOTS), "right, wrong, unreadable")
        equal(device(client, name)["slots_lost"], SLOTS, "lost")
    client.device_del(name)


def test_critical_first(t):
    """Critical pages move before normal ones, and a peer that is full of another
    owner's droppable pages drops these for them."""
    cluster = start(t, ["32M", "8M"], clients=2)
    client, other, lender, full = cluster
    crowd = add(other, "--size", "16M", "--class", "droppable")
    full.ctl("lend", "0")
    wait_for(lambda: other.peers()[full.addr]["free_pages"] == 0, 10, "it lends nothing")
    full.ctl("lend", "8M")
    lender.ctl("lend", "0")
    wait_for(lambda: other.peers()[full.addr]["free_pages"] > 1024 and
             other.peers()[lender.addr]["free_pages"] == 0, 20, "only one has room")
    with Slots(crowd, t.seed) as crowded:
        fill(crowded, 1792)
        at_least(server(full)["held_pages"], 1700, "pages of the other owner")
        lender.ctl("lend", "32M")
        full.ctl("lend", str(server(full)["held_pages"] * 4096))
        wait_for(lambda: client.peers()[full.addr]["free_pages"] == 0 and
                 client.peers()[lender.addr]["free_pages"] > 4096, 20,
                 "one is full, the other has room")
        dear = add(client, "--size", SIZE, "--class", "critical")
        with Slots(dear, t.seed + 1) as slots:
            fill(slots, 512)
            equal(server(lender)["held_pages"], 512, "critical pages at the lender")
            lender.ctl("lend", "0")
            wait_for(lambda: server(lender)["held_pages"] == 0, 30,
                     "all critical pages have moved")
            at_least(server(full)["pages_dropped"], 512, "dropped for them")
            equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable")
        right, wrong, unreadable = crowded.compare()
        equal(wrong, 0, "wrong droppable pages")
        equal(unreadable, server(full)["pages_dropped"], "unreadable droppable pages")
        equal(right + unreadable, 1792, "droppable pages")
        client.device_del(dear)
    other.device_del(crowd)


def test_critical_cells(t):
    """Lenders know the cells of a critical device with parity for critical: one that
    is full of droppable pages drops some for those that move there."""
    cluster = start(t, ["32M", "32M", "32M", "8M"], clients=2)
    client, other, full = cluster[0], cluster[1], cluster[5]
    lenders = cluster.nodes[2:5]
    for lender in lenders:
        lender.ctl("lend", "0")
    crowd = add(other, "--size", "16M", "--class", "droppable")
    wait_for(lambda: not any(other.peers()[node.addr]["free_pages"] for node in lenders),
             20, "only one has room")
    with Slots(crowd, t.seed) as crowded:
        fill(crowded, 1792)
        for lender in lenders:
            lender.ctl("lend", "32M")
        full.ctl("lend", str(server(full)["held_pages"] * 4096))
        wait_for(lambda: client.peers()[full.addr]["free_pages"] == 0 and
                 all(client.peers()[node.addr]["free_pages"] > 4096 for node in lenders),
                 20, "one is full, the others have room")
        dear = add(client, "--size", SIZE, "--class", "critical", "--protect",
                   "parity:2+1")
        with Slots(dear, t.seed + 1) as slots:
            fill(slots, 512)
            equal(server(full)["pages_dropped"], 0, "dropped before")
            # a row may be written again at the others before its cells move
            for lender in 2 * lenders:
                lender.ctl("lend", "0")
                wait_for(lambda node=lender: server(node)["held_pages"] == 0, 30,
                         "all cells have left")
                lender.ctl("lend", "32M")
                wait_for(lambda node=lender: client.peers()[node.addr]["free_pages"] >
                         4096, 10, "it lends again")
                if server(full)["pages_dropped"]:
                    break
            at_least(server(full)["pages_dropped"], 1, "dropped for them")
            equal(slots.compare(), (512, 0, 0), "right, wrong, unreadable")
        client.device_del(dear)
    other.device_del(crowd)


def check_order(t, slowly=None):
    """With room for some pages only at another peer, those of the critical device are
    there when the lender dies, though they were used last. slowly: what happens with the
    first batch at the peer, called with the client and the peer; None: nothing."""
    cluster = start(t, ["32M", "4M"], inject=bool(slowly))
    client, lender, second = cluster
    second.ctl("lend", "0")
    wait_for(lambda: client.peers()[second.addr]["free_pages"] == 0, 10,
             "one lends nothing")
    plain = add(client, "--size", SIZE)
    dear = add(client, "--size", SIZE, "--class", "critical")
    with Slots(plain, t.seed) as first, Slots(dear, t.seed + 1) as slots:
        fill(first)
        fill(slots, 512)
        equal(server(lender)["held_pages"], SLOTS + 512, "pages at the lender")
        second.ctl("lend", "4M")
        wait_for(lambda: lender.peers()[second.addr]["free_pages"] > 600, 20,
                 "the other one has room")
        if slowly:
            # room is taken back from grants for critical pages
            wait_for(lambda: server(second)["granted_pages"] == 0, 20, "no grant is left")
            client.inject(point=f"moving {second.stat()['node']['id']}")
        lender.ctl("lend", "0")
        if slowly:
            slowly(client, second)
        # until there is no room for another batch: movers work side by side
        wait_for(lambda: 4 * MIB - 32 < server(second)["held_pages"] ==
                 client.stat()["client"]["moves_recorded"], 30, "pages have moved")
        cluster.kill(lender)
        equal(slots.compare(), (512, 0, 0), "critical: right, wrong, unreadable")
    client.device_del(plain)
    client.device_del(dear)


def test_order(t):
    """Critical pages first."""
    check_order(t)


def test_order_delayed(t):
    """Critical pages whose move takes long find their room still there."""
    def slowly(client, second):
        wait_for(lambda: server(second)["held_pages"] >= 480, 10, "the other batches moved")
        # no longer than the mover waits for an answer
        hold(1)
        client.inject(point="none")
    check_order(t, slowly)


def test_reserve_refused(t):
    """A reserve that the peers cannot keep is refused, with who lends how much, and
    nothing is changed; a smaller one is kept, by both."""
    cluster = start(t, ["8M", "16M"])
    client = cluster[0]
    said = client.refused("device", "add", "--size", "64M", "--reserve", "40M")
    for text in ("can set aside", "of the 40 MiB", f"{cluster[1].addr} lends 8",
                 f"{cluster[2].addr} lends 16"):
        true(text in said, f"{text!r} is in {said!r}")
    equal(client.devices(), [], "devices")
    name = add(client, "--size", "64M", "--reserve", "12M")
    d = device(client, name)
    equal((d["reserve_bytes"], d["reserved_bytes"]), (12 << 20, 12 << 20), "reserve")
    said = client.refused("device", "add", "--size", "64M", "--reserve", "20M")
    true("can set aside" in said, f"a second one: {said!r}")
    client.device_del(name)
    name = add(client, "--size", "64M", "--reserve", "20M")
    equal(device(client, name)["reserved_bytes"], 20 << 20, "kept, once the first is gone")
    client.device_del(name)


def test_reserve_kept(t):
    """Another owner fills the lender: the reserve is still there, can be filled and
    rewritten; the other owner's pages are right too."""
    cluster = start(t, ["16M"], clients=2)
    client, other, lender = cluster
    name = add(client, "--size", "4M", "--reserve", "4M")
    crowd = add(other, "--size", "32M")
    with Slots(crowd, t.seed) as crowded, Slots(name, t.seed + 1) as slots:
        crowd_out(crowded)
        at_most(server(lender)["held_pages"], 12 * MIB, "pages of the other owner")
        at_least(server(lender)["held_pages"], 10 * MIB, "pages of the other owner")
        for _ in range(3):
            fill(slots, 960)
        equal(slots.compare(), (960, 0, 0), "right, wrong, unreadable")
        equal(client.stat()["client"]["write_errors"], 0, "failed page-outs")
        equal(crowded.compare()[1:], (0, 0), "the other owner: wrong, unreadable")
    client.device_del(name)
    other.device_del(crowd)


def test_own_devices(t):
    """Another device of the same node does not get the reserve either."""
    cluster = start(t, ["16M"])
    client, lender = cluster
    name = add(client, "--size", "4M", "--reserve", "4M", "--class", "critical")
    crowd = add(client, "--size", "32M")
    with Slots(crowd, t.seed) as crowded, Slots(name, t.seed + 1) as slots:
        crowd_out(crowded)
        at_most(server(lender)["held_pages"], 12 * MIB, "pages of the other device")
        fill(slots, 960)
        equal(slots.compare(), (960, 0, 0), "right, wrong, unreadable")
        equal(crowded.compare()[1:], (0, 0), "the other device: wrong, unreadable")
    client.device_del(name)
    client.device_del(crowd)


def test_reserve_after_cut(t):
    """A reserve outlives a cut, and follows to another peer when its own dies."""
    cluster = start(t, ["16M", "16M"])
    client, first, second = cluster
    name = add(client, "--size", SIZE, "--reserve", "8M")
    cluster.cut(client, first)
    wait_for(lambda: client.peers()[first.addr]["state"] != "up", 20, "it is suspected")
    cluster.heal(client, first)
    wait_for(lambda: device(client, name)["reserved_bytes"] == 8 << 20, 20, "whole again")
    cluster.kill(first)
    wait_for(lambda: client.peers()[first.addr]["state"] in ("dead", "lost"), 60,
             "it is dead")
    wait_for(lambda: device(client, name)["reserved_bytes"] == 8 << 20, 20,
             "the other one keeps all of it")
    at_least(server(second)["set_aside_pages"], 8 * MIB, "pages set aside there")
    client.device_del(name)


def test_deleted_in_cut(t):
    """A device is deleted while its lender cannot be reached: that gives its pages and its
    reserve back once it can, and nothing of the devices that are still there."""
    cluster = start(t, ["32M"])
    client, lender = cluster
    kept = add(client, "--size", SIZE, "--reserve", "4M")
    cheap = add(client, "--size", SIZE, "--class", "droppable")
    gone = add(client, "--size", SIZE, "--reserve", "8M")
    with Slots(gone, t.seed) as slots:
        fill(slots, 128)
    equal(owner(lender, client)["reserved_pages"], 12 * MIB - 128, "pages reserved")
    cluster.cut(client, lender)
    wait_for(lambda: client.peers()[lender.addr]["state"] != "up", 20, "it is suspected")
    client.device_del(gone)
    cluster.heal(client, lender)
    client.wait_sessions()
    lender.ctl("set", "lease_s", "5")
    wait_for(lambda: owner(lender, client)["reserved_pages"] == 4 * MIB and
             server(lender)["held_pages"] == 0, 40, "no page of it is kept")
    equal(device(client, kept)["reserved_bytes"], 4 << 20, "reserve of another device")
    with Slots(cheap, t.seed) as slots:
        fill(slots, 512)
        lender.ctl("lend", "0")
        wait_for(lambda: server(lender)["pages_dropped"] == 512, 20,
                 "the droppable device is one still")
    client.device_del(kept)
    client.device_del(cheap)


def test_bad_input(t):
    """One sentence each, and nothing is changed."""
    cluster = start(t, ["16M"])
    client = cluster[0]
    for args, text in (
            (("--class", "precious"), "no such class"),
            (("--class", "droppable", "--protect", "mirror"), "droppable"),
            (("--reserve", "0"), "reserve"),
            (("--reserve", "1K"), "reserve"),
            (("--reserve", "16M"), "larger than the device")):
        said = client.refused("device", "add", "--size", SIZE, *args)
        true(text in said, f"{args}: {said!r}")
    client.refused("device", "add", "--size", SIZE, "--reserve", "much", code=2)
    equal(client.devices(), [], "devices")
    name = add(client, "--size", SIZE, "--class", "droppable")
    said = client.refused("device", "protect", name, "mirror")
    true("droppable" in said, f"protecting it: {said!r}")
    equal(device(client, name)["protect"], "none", "protection")
    client.device_del(name)


def test_old_peer(t):
    """A peer without the feature is told nothing of classes, and serves as ever; it
    keeps no reserve."""
    cluster = t.cluster(2)
    client, last = cluster
    client.up(lend="0")
    peer = Peer(last, [client])
    try:
        wait_for(lambda: last.addr in client.peers(), 10, "it is heard of")
        said = client.refused("device", "add", "--size", SIZE, "--reserve", "1M")
        true("can set aside 0 of" in said, f"a reserve there: {said!r}")
        name = add(client, "--size", SIZE, "--class", "droppable")
        wait_for(lambda: client.peers()[last.addr]["state"] == "up", 10, "a session")
        with Slots(name, t.seed) as slots:
            fill(slots, 128)
            equal(slots.compare(), (128, 0, 0), "right, wrong, unreadable")
        client.device_del(name)
    finally:
        peer.close()


@contextlib.contextmanager
def told_by_hand(t, peers=1):
    """A client, and peers by hand that know classes, with sessions between them."""
    client, *others = t.cluster(1 + peers)
    client.up(lend="0")
    by_hand = [Peer(node, [client], features=HAS_CLASSES) for node in others]
    try:
        plain = add(client, "--size", SIZE)
        wait_for(lambda: all(client.peers().get(node.addr, {}).get("state") == "up"
                             for node in others), 10, "sessions")
        client.device_del(plain)
        yield client, *by_hand
    finally:
        for peer in by_hand:
            peer.close()


def test_refused(t):
    """A peer had no memory to attach a device: it is told of it again."""
    with told_by_hand(t) as (client, peer):
        peer.refuses = {2}
        name = add(client, "--size", SIZE, "--class", "critical")
        wait_for(lambda: peer.told.count((ATTACH, 2)) > 1, 15, "it is told again")
        peer.refuses = set()
        client.device_del(name)


def test_refused_slowly(t):
    """The same while it attaches another device, for longer than it takes until it would
    be told again."""
    with told_by_hand(t) as (client, peer):
        peer.refuses, peer.attached = {2}, {3: 3.5}
        names = [add(client, "--size", SIZE, "--class", "critical") for _ in range(2)]
        peer.refuses, peer.attached = set(), {}
        then = peer.told.index((ATTACH, 3))
        wait_for(lambda: (ATTACH, 2) in peer.told[then:], 15, "it is told of the first again")
        for name in names:
            client.device_del(name)


def test_deleted_together(t):
    """A peer that has not answered for one deleted device yet is told of the other."""
    with told_by_hand(t) as (client, peer):
        peer.forgets = {2: 1.5}
        first, second = [add(client, "--size", SIZE) for _ in range(2)]
        deleting = client.popen([client.prog("nswapctl"), "device", "del", first])
        wait_for(lambda: (FREE_DEVICE, 2) in peer.told, 10, "the first is deleted there")
        client.device_del(second)
        wait_for(lambda: (FREE_DEVICE, 3) in peer.told, 10, "the second as well")
        equal(deleting.wait(20).code, 0, "exit code of the first deletion")


def test_deleted_beside_slow(t):
    """While one peer has not answered for a deleted device, the other one is told of the next
    at once, whichever of them is asked first."""
    with told_by_hand(t, 2) as (client, *peers):
        for slow, quick, first in (*peers, 2), (*reversed(peers), 4):
            slow.forgets = {first: 4}
            names = [add(client, "--size", SIZE) for _ in range(2)]
            deleting = []
            for peer, instance, name in (slow, first, names[0]), (quick, first + 1, names[1]):
                deleting.append(client.popen(
                    [client.prog("nswapctl"), "device", "del", name]))
                wait_for(lambda to=peer, of=instance: (FREE_DEVICE, of) in to.told, 3,
                         "it is told")
            wait_for(lambda to=slow, of=first + 1: (FREE_DEVICE, of) in to.told, 10,
                     "the slow one, in its turn")
            equal([one.wait(20).code for one in deleting], [0, 0], "exit codes")


def test_refused_for_good(t):
    """A device whose reserve is refused is not asked for again once its peers were told
    that it is gone, though they take their time."""
    with told_by_hand(t) as (client, peer):
        for instance in range(2, 6):
            peer.forgets = {instance: 2.5}
            client.refused("device", "add", "--size", SIZE, "--reserve", "1M")
            wait_for(lambda of=instance: (FREE_DEVICE, of) in peer.told, 10, "it was told")
            equal([kind for kind, of in peer.told if of == instance],
                  [ATTACH, ATTACH, FREE_DEVICE], "what the peer was told")
