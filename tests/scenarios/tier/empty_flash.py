# SPDX-License-Identifier: GPL-2.0
"""A flash device is taken away from a device that is in use.

        node0 ------ node1        node0 swaps to node1, to flash, to its home
        |   |
    flash   home: mappings of the scratch disk, whose errors the test decides
"""
import contextlib
import signal

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling
from nswaptest.work import Slots, eater, result_of

writeback = sibling("writeback")
prefetch = sibling("prefetch")

DESCRIPTION = "removing flash moves off what is only there"
SUITES = ("lab",)
LONG = ("to_flash_and_home", "nowhere", "copies", "silent_peer",
        "peer_starts_anew", "errors", "any_request", "swap")
NEEDS = ("module", "inject", "progs", "dmsetup")
TIMEOUT = 200

MIB = 256           # slots
HOME_AT = 512       # MiB, on the scratch disk


def lend(client, server, mb):
    """The server lends so much, and the client knows."""
    server.ctl("lend", f"{mb}M")
    wait_for(lambda: client.peers()[server.addr]["free_pages"] >=
             mb * MIB // 2 if mb else
             not client.peers()[server.addr]["free_pages"], 20,
             "the client knows what is lent")


@contextlib.contextmanager
def device(t, *flash_mb, home=0, size="32M"):
    """A device with flash and a server that lends nothing yet."""
    cluster, client, server = writeback.start(t)
    lend(client, server, 0)
    with contextlib.ExitStack() as stack:
        flash, at = [], 0
        for mb in flash_mb:
            flash.append(stack.enter_context(disk(mb, at)))
            at += mb
        backing = {"flash": [one.path for one in flash]}
        if home:
            backing["home"] = stack.enter_context(disk(home, HOME_AT)).path
        dev = client.device_add(size, **backing)
        yield cluster, client, server, dev, flash
        writeback.settled(cluster, client)
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")


def places(client, dev):
    """Slots at peers, on flash and at home."""
    seen = writeback.device(client, dev)
    return seen["slots_remote"], seen["slots_flash"], seen["slots_home"]


def remove(client, dev, flash):
    """Remove it; what was said about progress."""
    done = client.run([client.prog("nswapctl"), "device", "del", dev,
                       "--flash", flash.path], timeout=100).check()
    true(flash.free(), "it is still held")
    return done.err


def kept(client, dev, flash):
    """Try to remove it; the sentence with which that is refused."""
    done = client.run([client.prog("nswapctl"), "device", "del", dev,
                       "--flash", flash.path], timeout=100, check=False)
    equal(done.code, 1, "exit code of device del --flash")
    true(not flash.free(), "it is not held any more")
    return done.err.strip().splitlines()[-1]


def test_to_peer(t):
    """The only flash goes: everything there moves to a peer."""
    with device(t, 16) as (_, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            equal(places(client, dev), (0, pages, 0), "before it")
            lend(client, server, 48)
            t.log(remove(client, dev, flash))
            equal(places(client, dev), (pages, 0, 0), "after it")
            seen = writeback.device(client, dev)
            equal((seen["flash"], seen["flash_used_slots"],
                   seen["flash_bytes"]), ("", 0, 0), "its flash after it")
            writeback.all_right(slots)
            writeback.write_all(slots)
            writeback.all_right(slots)


def test_hung(t):
    """Flash that does not answer is being removed: all else goes on, removing it
    says so and can be interrupted, and succeeds when flash answers again."""
    with device(t, 16) as (_, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            lend(client, server, 48)
            with flash.held_up():
                removing = client.popen(
                    f"exec {client.prog('nswapctl')} device del {dev} "
                    f"--flash {flash.path} 2>&1")
                wait_for(lambda: "does not answer" in removing.output(), 20,
                         "that flash does not answer is said")
                equal(removing.poll(), None, "exit code of the removal")
                equal(client.ctl("device", "list", timeout=10)[0]["device"],
                      dev, "the device in the list")
                client.ctl("set", "refraction_ms", "900", timeout=10)
                other = client.device_add("4M", wait=False)
                client.ctl("device", "del", other, timeout=10)
                removing.kill(signal.SIGINT)
                equal(removing.wait(10).code, -signal.SIGINT,
                      "how the removal ended")
            t.log(remove(client, dev, flash))
            equal(places(client, dev), (pages, 0, 0), "after it")
            writeback.all_right(slots)


def test_to_flash_and_home(t):
    """Without a peer its pages go to other flash, and home when that is
    full; then the other one goes too."""
    with device(t, 16, 2, home=64) as (_, client, server, dev, (one, two)):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            remove(client, dev, one)
            equal(places(client, dev), (0, 2 * MIB, pages - 2 * MIB),
                  "after the first")
            writeback.all_right(slots)
            client.ctl("set", "home_out_mib_s", "0")
            remove(client, dev, two)
            equal(places(client, dev), (0, 0, pages), "after the second")
            writeback.all_right(slots)
            writeback.write_all(slots)
            writeback.all_right(slots)


def test_nowhere(t):
    """Nowhere to go: refused with the count, nothing is lost and the flash
    stays in use; with room for some the others are counted."""
    with device(t, 16, 2) as (_, client, server, dev, (one, two)):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            said = kept(client, dev, one)
            t.log(said)
            true(f" {pages - 2 * MIB} pages are only there" in said,
                 f"the refusal is: {said}")
            equal(places(client, dev), (0, pages, 0), "after it")
            writeback.all_right(slots)
            writeback.write_all(slots)
            equal(places(client, dev), (0, pages, 0), "written again")
            writeback.all_right(slots)
            remove(client, dev, two)
            writeback.all_right(slots)


def test_copies(t):
    """Pages that a peer has as well only lose their copy."""
    with device(t, 16) as (_, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            copied(client, server, dev, slots)
            out = client.stat()["client"]["store_msgs"]
            remove(client, dev, flash)
            equal(client.stat()["client"]["store_msgs"], out, "messages sent")
            equal(places(client, dev), (512, 0, 0), "after it")
            writeback.all_right(slots)


def copied(client, server, dev, slots):
    """512 pages at the server, with a copy of each on flash."""
    lend(client, server, 48)
    for first in range(1, 513, 32):
        slots.write(first, 32)
    prefetch.setting(client, period_ms=20)
    prefetch.prefetch_all(client, 512)


def test_silent_peer(t):
    """The peer that has the other copies does not answer: they are moved as
    if they were the only ones."""
    with device(t, 16, home=64) as (cluster, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            copied(client, server, dev, slots)
            cluster.cut(client, server)
            wait_for(lambda: client.peers()[server.addr]["state"] != "up", 20,
                     "the session ends")
            remove(client, dev, flash)
            equal(places(client, dev), (0, 0, 512), "after it")
            writeback.all_right(slots)
            cluster.heal(client, server)
            client.wait_sessions(30)


def test_peer_starts_anew(t):
    """The peer that had the other copies has forgotten them."""
    with device(t, 16, home=64) as (_, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            copied(client, server, dev, slots)
            server.ctl("down", "--now")
            server.up(lend="0")
            remove(client, dev, flash)
            equal(places(client, dev), (0, 0, 512), "after it")
            writeback.all_right(slots)


def test_errors(t):
    """Flash that cannot be read: refused with the count, and the flash stays;
    a bad sector keeps one page there, not its neighbours."""
    with device(t, 16, home=64) as (_, client, server, dev, (flash,)):
        with Slots(dev, t.seed) as slots:
            writeback.write_all(slots)
            pages = len(slots.count)
            flash.fail(slots=(7, 70, 701))
            said = kept(client, dev, flash)
            t.log(said)
            true(" 3 pages are only there and cannot be read" in said,
                 f"the refusal is: {said}")
            equal(places(client, dev), (0, 3, pages - 3), "after it")
            flash.mend()
            remove(client, dev, flash)
            equal(places(client, dev), (0, 0, pages), "mended")
            writeback.all_right(slots)


def test_refusals(t):
    """What cannot be meant: one sentence each, nothing changed."""
    with device(t, 4) as (_, client, server, dev, (flash,)):
        def refused(*args, says, code=1):
            said = client.refused("device", "del", *args, code=code)
            t.log(f"{' '.join(args)}: {said}")
            true(says in said, f"the refusal is: {said}")
            equal(writeback.device(client, dev)["flash_bytes"], 4 << 20,
                  "its flash after it")
        refused("--flash", flash.path, says="name the device", code=2)
        refused(dev, "--flash", "", says="--flash", code=2)
        refused(dev, "--flash", "a", "--flash", "b", says="one flash", code=2)
        refused(dev, "--flash", "sdz9", says="no such flash")
        refused(dev, "--flash", "/dev/nothing", says="no such flash")
        refused(dev, "--flash", "/dev/zero", says="no such flash")
        refused("nswap77", "--flash", flash.path, says="no such device")
        listed = writeback.device(client, dev)["flash"]
        client.ctl("device", "del", dev, "--flash", listed)
        refused_again = client.refused("device", "del", dev, "--flash", listed)
        true("no such flash" in refused_again, refused_again)


def test_any_request(t):
    """Random page-outs, page-ins and discards while one flash device after
    the other goes."""
    with device(t, 8, 8, home=64, size="24M") as (_, client, server, dev,
                                                  flash):
        lend(client, server, 8)
        work = writeback.verify(client, dev, t, 12)
        for one in flash:
            wait_for(lambda: places(client, dev)[1] > MIB, 30,
                     "flash is used")
            t.log(f"{places(client, dev)}: {remove(client, dev, one)}")
        result_of(work.wait(60))
        stat = client.stat()["client"]
        equal((stat["read_errors"], stat["write_errors"]), (0, 0), "errors")
        equal(places(client, dev)[1], 0, "slots on flash")


def test_swap(t):
    """A program swaps while its flash goes, half of it to the peer."""
    with device(t, 64, home=128, size="96M") as (_, client, server, dev,
                                                 (flash,)):
        client.swapon(dev)
        eating = client.popen(eater(client, 48, passes=2, order="random",
                                    seed=t.seed), memory_max="20M")
        wait_for(lambda: places(client, dev)[1] > 20 * MIB, 60,
                 "the program swaps")
        server.ctl("lend", "16M")
        t.log(remove(client, dev, flash))
        t.log(f"{places(client, dev)}")
        equal(places(client, dev)[1], 0, "slots on flash")
        equal(result_of(eating.wait(200))["wrong_pages"], 0, "wrong pages")
        client.swapoff(dev)
        stat = client.stat()["client"]
        at_least(stat["pages_flash_out"], 5000, "pages paged out to flash")
        equal(stat["read_errors"], 0, "failed reads")
