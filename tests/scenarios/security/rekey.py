# SPDX-License-Identifier: GPL-2.0
"""Change of the key of a sealed device that is in use.

        node0 ------ node1 …      node0's pages get another key
"""
import contextlib
import threading

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of

seal = sibling("seal")
PAGES, PAGE, liar, restore = seal.PAGES, seal.PAGE, seal.liar, seal.restore

DESCRIPTION = "every page of a device in use gets another key, and none is lost"
SUITES = ("lab",)
NEEDS = ("module", "inject", "progs", "dmsetup")
TIMEOUT = 240

SLOTS = 2048


def state(client):
    """The client's device."""
    return client.devices()[0]


def ended(client, seconds=60):
    """Wait until the change is over."""
    wait_for(lambda: not state(client)["rekeying"], seconds, "the old key is wiped")
    equal(state(client)["old_key_pages"], 0, "pages of the old key")


def all_right(client, slots):
    """Every slot holds what was written last, and no read has failed."""
    equal(slots.compare(), (len(slots.count), 0, 0), "right, wrong, unreadable")
    stat = client.stat()["client"]
    equal((stat["read_errors"], stat["seals_broken"]), (0, 0), "read errors, broken seals")
    equal(state(client)["slots_lost"], 0, "lost pages")


@contextlib.contextmanager
def full(t, *where, servers=3, protect="none", lend="64M", inject=False):
    """A client with a device all of whose slots were written: (client, device, slots)."""
    cluster = t.cluster(1 + servers, inject=inject)
    cluster.up(lend=lend)
    cluster.wait_connected()
    client = cluster[0]
    dev = client.ctl("device", "add", *(where or ("--size", "8M")), "--seal",
                     "--protect", protect)["device"]
    client.wait_sessions()
    with Slots(dev, t.seed) as slots:
        for first in range(1, SLOTS - 32, 32):
            slots.write(first, 32)
        wait_for(lambda: protect == "none" or not state(client)["exposed_pages"], 30,
                 "no page is exposed")
        yield client, dev, slots
    client.device_del(dev)


def busy(slots, stop):
    """Rewrites and reads every slot until told to stop; how many reads were wrong."""
    wrong = [0]

    def work():
        while not stop.is_set():
            for first in range(1, SLOTS - 32, 96):
                slots.write(first, 8)
                wrong[0] += sum(not slots.right(slot)
                                for slot in range(first + 4, first + 12))
    thread = threading.Thread(target=work)
    thread.start()
    return thread, wrong


def changes(t, *where, **options):
    """Two changes in a row of a device that is read and written meanwhile."""
    with full(t, *where, **options) as (client, dev, slots):
        for _ in range(2):
            stop = threading.Event()
            thread, wrong = busy(slots, stop)
            try:
                left = client.ctl("device", "rekey", dev, timeout=90)
            finally:
                stop.set()
                thread.join()
            equal((left["rekeying"], left["old_key_pages"]), (False, 0),
                  "what is left of the old key")
            equal(wrong, [0], "wrong pages meanwhile")
            ended(client)
            all_right(client, slots)


def test_alone(t):
    """With a page at one peer."""
    changes(t)


def test_one_peer(t):
    """With one peer, which gets each page in the place of the old one."""
    changes(t, servers=1)


def test_mirror(t):
    """With two copies."""
    changes(t, protect="mirror")


def test_parity(t):
    """With groups."""
    changes(t, servers=3, protect="parity:2+1")


def test_two_checks(t):
    """With groups that have two checks."""
    changes(t, servers=4, protect="parity:2+2")


def test_home(t):
    """With copies at home."""
    with disk(16) as home:
        changes(t, "--home", home.path, protect="home")


def test_tiers(t):
    """With pages at peers, on flash and at home."""
    with disk(16) as home, disk(4, 64) as flash:
        changes(t, "--home", home.path, "--flash", flash.path, servers=1, lend="2M")


def test_other_pages(t):
    """What a lender has is another page for each slot afterwards, and those it had before
    do not open."""
    with liar(t, 1) as (client, dev, slots, peers, _):
        old = dict(peers[0].pages)
        client.ctl("device", "rekey", dev, timeout=60)
        new = dict(peers[0].pages)
        equal([key for key in old if new[key][1] == old[key][1]], [],
              "pages that are as they were")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        peers[0].pages.update({key: (new[key][0], old[key][1]) for key in old})
        equal(slots.compare(), (0, 0, PAGES), "right, wrong, unreadable")
        peers[0].pages.update(new)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_altered(t):
    """Pages that a lender changed are left, counted and shown; the change ends when they
    are as they were."""
    with liar(t, 1) as (client, dev, slots, peers, _):
        kept = dict(peers[0].pages)
        for slot in range(1, 9):
            gen, page = kept[1, slot]
            peers[0].pages[1, slot] = gen, bytes([page[0] ^ 1]) + page[1:]
        client.ctl("device", "rekey", dev, "--no-wait")
        wait_for(lambda: state(client)["old_key_altered"] == 8 and
                 state(client)["old_key_pages"] == 8, 30, "8 pages are left")
        true(state(client)["rekeying"], "the old key is kept")
        slots.write(1, 4)
        restore(peers[0], kept)
        ended(client)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def believed(t, lenders, *where, protect):
    """One of the lenders lies about every page: the change ends all the same, and what the
    liar had before it, where it is asked, is not what is read."""
    with liar(t, lenders, *where, protect=protect) as (client, dev, slots, peers, lie):
        old = lie()
        client.ctl("device", "rekey", dev, timeout=90)
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        new = dict(peers[0].pages)
        peers[0].pages.update({key: (new[key][0], old[key][1]) for key in new
                               if key in old})
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")


def test_other_copy(t):
    """A lender of a mirrored device lies."""
    believed(t, 2, protect="mirror")


def test_rebuilt(t):
    """A lender of a device with groups lies."""
    believed(t, 3, protect="parity:2+1")


def test_copy_at_home(t):
    """A lender of a device with copies at home lies."""
    with disk(16) as home:
        believed(t, 2, "--home", home.path, protect="home")


def test_silent(t):
    """A peer is cut off in the middle: its pages wait for it, and are shown."""
    with full(t, servers=2) as (client, dev, slots):
        client.ctl("set", "dead_after_ms", 120000)
        cluster = client.cluster
        cluster.cut(client, cluster[1])
        client.ctl("device", "rekey", dev, "--no-wait")
        wait_for(lambda: state(client)["old_key_unread"] and
                 state(client)["old_key_pages"] == state(client)["old_key_unread"], 60,
                 "the pages of the silent peer are left")
        true(state(client)["rekeying"], "the old key is kept")
        cluster.heal()
        ended(client, 90)
        all_right(client, slots)


def test_no_room(t):
    """The only lender takes nothing: what is to be written again is in this node's RAM, is
    read from there meanwhile, can be written over and freed, and goes on later."""
    with liar(t, 1) as (client, dev, slots, peers, _):
        client.ctl("set", "store_timeout_ms", 500)
        peers[0].full = True
        client.ctl("device", "rekey", dev, "--no-wait")
        # once nothing takes it in time, it has no place
        wait_for(lambda: state(client)["slots_lost"], 30, "pages that are here alone")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
        client.discard(dev, "-o", str(PAGE), "-l", str(4 * PAGE))
        for slot in range(1, 5):
            del slots.count[slot]
        equal(slots.compare(), (PAGES - 4, 0, 0), "right, wrong, unreadable")
        equal([slot for slot in range(1, 5) if any(slots.read(slot))], [],
              "freed and not zeros")
        true(state(client)["rekeying"], "the old key is kept")
        peers[0].full = False
        # before it is heard that there is room, a page-out that waits for nothing fails
        wait_for(lambda: client.peers()[peers[0].addr]["free_pages"], 10, "room is announced")
        slots.write(5, 4)
        ended(client)
        equal(slots.compare(), (PAGES - 4, 0, 0), "right, wrong, unreadable")
        equal(state(client)["slots_lost"], 0, "lost pages")


def test_freed(t):
    """Slots that are rewritten or freed meanwhile are as their program has left them."""
    with full(t) as (client, dev, slots):
        client.ctl("set", "protect_mib_s", 1)
        client.ctl("device", "rekey", dev, "--no-wait")
        freed = []
        for first in range(SLOTS - 128, 1, -128):
            slots.write(first, 16)
            client.discard(dev, "-o", str((first + 16) * PAGE), "-l", str(16 * PAGE))
            freed += range(first + 16, first + 32)
            slots.write(first + 32, 4)
        for slot in freed:
            slots.count.pop(slot, None)
        at_least(state(client)["old_key_pages"], 1, "pages left when all was freed")
        client.ctl("set", "protect_mib_s", 64)
        ended(client)
        all_right(client, slots)
        equal([slot for slot in freed if any(slots.read(slot))], [], "freed and not zeros")


def test_too_late(t):
    """Pages are rewritten and freed when they have been read and sealed, and are about to be
    written again: what their program did last counts."""
    with full(t, inject=True) as (client, dev, slots):
        point = "/sys/module/nswap/parameters/inject_point"
        client.inject(point=f"repairing {client.stat()['node']['id']}")
        client.ctl("device", "rekey", dev, "--no-wait")
        wait_for(lambda: "held" in client.read(point), 20, "a batch is about to be written")
        slots.write(1, 8)
        client.discard(dev, "-o", str(9 * PAGE), "-l", str(8 * PAGE))
        client.inject(point="none")
        for slot in range(9, 17):
            del slots.count[slot]
        ended(client)
        all_right(client, slots)
        equal([slot for slot in range(9, 17) if any(slots.read(slot))], [],
              "freed and not zeros")


def test_deleted(t):
    """The device is deleted in the middle."""
    with full(t) as (client, dev, slots):
        client.ctl("set", "protect_mib_s", 1)
        client.ctl("device", "rekey", dev, "--no-wait")
        wait_for(lambda: 0 < state(client)["old_key_pages"] < SLOTS - 128, 30,
                 "some pages have the new key")
        true(state(client)["rekeying"], "the change goes on")


def test_refused(t):
    """Without seals, and while the key is being changed: one sentence, nothing changes."""
    with full(t) as (client, dev, slots):
        plain = client.ctl("device", "add", "--size", "1M", "--no-seal")["device"]
        said = client.refused("device", "rekey", plain)
        true("not sealed" in said, said)
        client.device_del(plain)
        said = client.refused("device", "rekey", plain)
        true("no such device" in said, said)
        client.ctl("set", "protect_mib_s", 0)
        client.ctl("device", "rekey", dev, "--no-wait")
        said = client.refused("device", "rekey", dev)
        true("already" in said, said)
        said = client.refused("device", "protect", dev, "mirror")
        true("its key is being changed" in said, said)
        client.ctl("set", "protect_mib_s", 64)
        ended(client)
        client.ctl("set", "protect_mib_s", 1)
        client.ctl("device", "protect", dev, "mirror", "--no-wait")
        said = client.refused("device", "rekey", dev)
        true("protection" in said, said)
        true(not state(client)["rekeying"], "the key is not being changed")
        client.ctl("set", "protect_mib_s", 64)
        wait_for(lambda: not state(client)["exposed_pages"], 60, "no page is exposed")
        client.ctl("device", "rekey", dev, timeout=90)
        all_right(client, slots)


def test_swap(t):
    """Of a device that a program swaps to."""
    cluster = t.cluster(3)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else "64M")
    cluster.wait_connected()
    dev = client.ctl("device", "add", "--size", "64M", "--seal")["device"]
    client.wait_sessions()
    client.swapon(dev)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            client.ctl("device", "rekey", dev, timeout=90)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        done = client.run(eater(client, 40, passes=2, order="rw"), timeout=150,
                          memory_max="20M", check=False)
    finally:
        stop.set()
        thread.join()
    equal(result_of(done)["wrong_pages"], 0, "wrong pages")
    client.swapoff(dev)
    at_least(client.stat()["client"]["pages_out"], 1000, "pages that went out")
    equal(client.stat()["client"]["seals_broken"], 0, "seals that were broken")
    client.device_del(dev)
