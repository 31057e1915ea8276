# SPDX-License-Identifier: GPL-2.0
"""Silent peers must not take what page-ins and page-outs elsewhere need.

        node0 ------ node1        node0 keeps groups of slots on node1, node2,
        |   | `----- node2        node3, its flash and its home; node1, or node1
    flash   home `-- node3        and node2, fall silent under 200 readers
"""
import contextlib
import pathlib
import random
import threading
import time

from nswaptest.check import at_least, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.work import Slots, result_of

DESCRIPTION = "silent peers do not hold up what is elsewhere"
SUITES = ("lab",)
LONG = ("two_silent", "session_broken")
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 200

GROUP = 64          # slots
READERS = 200
SHARE = 0.8         # of the rate before


class Reader(threading.Thread):
    """Reads random slots of a group and compares them: once, or until told
    to stop."""

    def __init__(self, slots, group, number, once):
        super().__init__(daemon=True)
        self.slots, self.group, self.once = slots, group, once
        self.rnd = random.Random(number)
        self.over = threading.Event()
        self.right = self.wrong = self.failed = 0

    def run(self):
        while True:
            try:
                good = self.slots.right(self.rnd.choice(self.group))
                self.right += good
                self.wrong += not good
            except OSError:
                self.failed += 1
            if self.once or self.over.is_set():
                return


@contextlib.contextmanager
def reading(slots, group, readers, once=False):
    """Readers run inside; none reads a wrong page, or none at all."""
    threading.stack_size(256 << 10)
    threads = [Reader(slots, group, i, once) for i in range(readers)]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.over.set()
    for thread in threads:
        thread.join(30)
        true(not thread.is_alive(), "a reader still waits at the end")
        equal((thread.wrong, thread.failed), (0, 0), "wrong and failed reads")


class Groups:
    """A device with a group of slots in each place."""

    def __init__(self, t, node, flash, home):
        self.node = node
        self.dev = node.device_add(home=home.path, flash=(flash.path,))
        self.slots = Slots(self.dev, t.seed)
        self.next = 1
        self.of = {}
        self.fill("flash", "slots_flash")
        self._write(512)
        self.fill("home", "slots_home")

    def _write(self, slots):
        group = range(self.next, self.next + slots)
        for first in group[::32]:
            self.slots.write(first, 32)
        self.next += slots
        return list(group)

    def again(self, place):
        """A group is written once more."""
        for first in self.of[place][::32]:
            self.slots.write(first, 32)

    def _count(self, counter):
        return next(d[counter] for d in self.node.devices()
                    if d["device"] == self.dev)

    def fill(self, place, counter=None):
        """The next group goes to this place: at once, if a counter says so."""
        before = counter and self._count(counter)
        self.of[place] = self._write(GROUP)
        if counter:
            equal(self._count(counter) - before, GROUP, f"pages more in {counter}")


class Pair:
    """Two devices with the same groups, but for those of silent peers, which
    the first one alone has.  What else the machine does slows down both."""

    def __init__(self, t, cluster, disks, silent):
        self.t, self.cluster, self.client = t, cluster, cluster[0]
        self.client.up(lend="1M", dead_after=60)
        self.client.ctl("set", "home_out_mib_s", "0")
        self.both = [Groups(t, self.client, *disks[i:i + 2]) for i in (0, 2)]
        self.first = self.both[0]
        for number, node in enumerate(cluster.nodes[1:], 1):
            node.up(lend=f"{16 << number}M", dead_after=60)
            cluster.wait_connected([self.client, node])
            self.client.wait_sessions()
            for groups in self.both[:1] if number <= silent else self.both:
                self.fill(groups, node)

    def fill(self, groups, node):
        """The next group of a device goes to this node, all of it: while it has
        not granted enough another one gets a part, and is written again."""
        def there():
            return self.client.peers()[node.addr]["slots"] - before == GROUP
        before = self.client.peers()[node.addr]["slots"]
        groups.fill(node.name)
        wait_for(lambda: there() or groups.again(node.name) or there(), 20,
                 f"the group is at {node}", every=0.3)

    def ratio(self, place, enough):
        """What as many readers of this place get of the first device for each
        page of the second, at the same time; once it is enough it ends."""
        got, begin = [0, 0], time.monotonic()
        for _ in range(8):
            with (reading(self.first.slots, self.first.of[place], 3) as one,
                  reading(self.both[1].slots, self.both[1].of[place], 3) as two):
                hold(0.3)
            got[0] += sum(thread.right for thread in one)
            got[1] += sum(thread.right for thread in two)
            if got[1] > 60 and got[0] >= enough * got[1]:
                break
        took = time.monotonic() - begin
        self.t.log(f"    {place}: {got[0] / took:.0f} pages/s of the first, "
                   f"{got[1] / took:.0f} of the second device")
        return got[0] / got[1]

    def read(self, what, share=SHARE):
        """No place may have lost more than its share."""
        self.t.log(what)
        for place in self.both[1].of:
            at_least(self.ratio(place, share), share,
                     f"{what}, share of the rate of {place}")

    def close(self):
        """Remove the devices."""
        for groups in self.both:
            groups.slots.close()
            self.client.device_del(groups.dev)


@contextlib.contextmanager
def pair(t, silent):
    """A cluster of one client, its silent peers, and one more, see Pair."""
    with (disk(2) as flash, disk(32, 32) as home, disk(2, 64) as flash2,
          disk(32, 96) as home2):
        made = Pair(t, t.cluster(2 + silent), (flash, home, flash2, home2),
                    silent)
        try:
            yield made
        finally:
            made.cluster.heal()
        made.close()


def go_on(p, silent, after_break=False):
    """Readers of all silent peers wait, while what is elsewhere is read."""
    p.read("before")
    group = sum((p.first.of[node.name] for node in silent), [])
    for node in silent:
        p.cluster.cut(p.client, node)
    with reading(p.first.slots, group, READERS, once=True) as threads:
        p.read("at once")
        if after_break:
            wait_for(lambda: all(p.client.peers()[n.addr]["state"] == "suspected"
                                 for n in silent), 20, "the sessions break")
            p.read("with no session")
        equal(sum(thread.right for thread in threads), 0, "pages it has sent")
        p.cluster.heal()
        wait_for(lambda: all(thread.right for thread in threads), 30,
                 "each reader gets its page")
    equal(p.client.stat()["client"]["read_errors"], 0, "read errors")


def test_one_silent(t):
    """200 readers wait for a silent peer: a healthy peer's slots, flash's and
    home's are read as before, from the first second on; back, it is read."""
    with pair(t, 1) as p:
        go_on(p, p.cluster.nodes[1:2])


def test_two_silent(t):
    """The same with two silent peers."""
    with pair(t, 2) as p:
        go_on(p, p.cluster.nodes[1:3])


def test_session_broken(t):
    """The same until the session is broken and after that."""
    with pair(t, 1) as p:
        go_on(p, p.cluster.nodes[1:2], after_break=True)


def written(client, seconds):
    """Pages that were acknowledged in this time, for each second."""
    before, begin = client.stat()["client"]["pages_out"], time.monotonic()
    hold(seconds)
    after = client.stat()["client"]["pages_out"]
    return (after - before) / (time.monotonic() - begin)


def test_page_outs(t):
    """Of two peers the one that the policy prefers falls silent under 200
    writers: page-outs go on to the other one, and do not come back to it
    every few seconds.  The link is slow, so that tags bound the rate."""
    cluster = t.cluster(3, delay_us=50000)
    client, silent, other = cluster
    client.up(lend="1M", dead_after=60)
    silent.up(lend="512M", dead_after=60)
    other.up(lend="96M", dead_after=60)
    cluster.wait_connected()
    dev = client.device_add("64M")
    out = cluster.scratch / "blkverify.json"
    work = client.popen(
        [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seconds",
         "60", "--threads", str(READERS), "--max-kb", "4", "--reads", "0",
         "--no-sweep", "--out", out])
    wait_for(lambda: client.stat()["client"]["pages_out"] > 2000, 20,
             "pages are written")
    usual = written(client, 1.5)
    cluster.cut(client, silent)
    after = [written(client, 1) for _ in range(4)]
    t.log(f"{usual:.0f} pages/s before, then " +
          ", ".join(f"{pages:.0f}" for pages in after))
    at_least(min(after) / usual, 0.15, "worst second after the cut, share")
    at_least(sum(after) / 4 / usual, 0.4, "share of the rate of 4 s")
    stat = client.stat()["client"]
    t.log(f"{stat['timeouts']} unanswered")
    cluster.heal()
    work.kill(15)
    equal(result_of(work.wait(60))["wrong_pages"], 0, "wrong pages")
    equal(stat["write_errors"], 0, "write errors")
    client.device_del(dev)


def throttled(dev):
    """The target of write-back throttling in us, 0 if it is off."""
    try:
        path = f"/sys/block/{dev}/queue/wbt_lat_usec"
        return int(pathlib.Path(path).read_text())
    except OSError:
        return 0


def test_throttling(t):
    """Slow page-ins do not throttle page-outs: write-back throttling is off on
    kernels where a driver can say so."""
    cluster = t.cluster(2)
    cluster.up(lend="8M")
    client = cluster[0]
    dev = client.device_add("8M")
    equal(throttled(dev), 0, "target of write-back throttling")
    path = pathlib.Path(f"/sys/block/{dev}/queue/wbt_lat_usec")
    true(path.exists(), "this kernel has no write-back throttling to test")
    client.device_del(dev)
