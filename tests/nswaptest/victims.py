# SPDX-License-Identifier: GPL-2.0
"""Attacks beside a program that pages in: what came of each, and what it cost the program.

        owner ------ lender ------ host ------ stranger

owner has pages at lender, and a Reader reads them one after the other all the time; host
has the key of a member, stranger that of one who was revoked. Neither runs the module:
they are by hand, see rawwire.py and rawkeys.py.

An attack is a function of a Scene, listed by Attacks.by(): what its docstring says is tried
again and again for a while, and what it returns has happened. It runs only when nothing
else does (SCHED_IDLE): in a lab it has the processor of those that it attacks, elsewhere
its own. So that there is time left, the network has a delay.
"""
import hashlib
import mmap
import os
import statistics
import struct
import time

from .check import Failure, equal, true, wait_for
from .cluster import PAGE
from .netns import inside
from .rawkeys import KeyedLink, Keys
from .rawwire import OK, PORT
from .work import Slots

PAGES = 256
FIRST = 1               # slots are written from here on
ESTABLISHED = "01"
DELAY_US = 300          # of what each node sends


class Attacks(list):
    """Attacks in the order in which they are tried."""

    def by(self, key):
        """List a function as an attack by one who has this: "member", "revoked",
        "none", "container"."""
        def add(function):
            function.key = key
            self.append(function)
            return function
        return add


class Reader:
    """A process that reads and compares one slot after the other, each when the one before
    has come."""

    def __init__(self, slots):
        self._counts = mmap.mmap(-1, PAGE)
        self._pid = os.fork()
        if not self._pid:
            try:
                self._read(slots)
            finally:
                os._exit(1)

    def _read(self, slots):
        pages = {slot: hashlib.sha256(slots.page(slot)).digest()
                 for slot in sorted(slots.count)}
        read = wrong = failed = 0
        while True:
            for slot, page in pages.items():
                try:
                    wrong += hashlib.sha256(slots.read(slot)).digest() != page
                except OSError:
                    failed += 1
                read += 1
                struct.pack_into("=QQQ", self._counts, 0, read, wrong, failed)

    def counts(self):
        """Reads so far, and of these wrong and failed ones."""
        return struct.unpack_from("=QQQ", self._counts)

    def rate(self, until):
        """Reads a second from now until that is true."""
        begin, before = time.monotonic(), self.counts()[0]
        while not until():
            pass
        return (self.counts()[0] - before) / (time.monotonic() - begin)

    def close(self):
        """End it."""
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)


def connections(node):
    """Connections to a node's server."""
    with inside(node), open("/proc/thread-self/net/tcp", encoding="ascii") as file:
        fields = [line.split() for line in file][1:]
    return sum(f[3] == ESTABLISHED and int(f[1].rpartition(":")[2], 16) == PORT
               for f in fields)


class Scene:
    """The four, and the reader. seconds, rounds: how long an attack goes on, between two
    as long without, and how often."""

    def __init__(self, t, cluster, seconds=0.5, rounds=1):
        self.cluster, self.seconds, self.rounds = cluster, seconds, rounds
        self.owner, self.lender, self.host, self.stranger = cluster
        self.members = cluster.scratch / "members"
        files = {node: self._key(node) for node in cluster}
        self.revoked = Keys.of(files[self.stranger], self.members)
        self.owner.ctl("key", "revoke", self.members, self.stranger.name)
        self.member = Keys.of(files[self.host], self.members)
        self.owner.up(lend="0", key=files[self.owner], members=self.members)
        self.lender.up(lend="8M", key=files[self.lender], members=self.members)
        cluster.wait_connected([self.owner, self.lender])
        self.dev = self.owner.device_add("4M")
        self.slots = Slots(self.dev, t.seed)
        for first in range(FIRST, FIRST + PAGES, 32):
            self.slots.write(first, 32)
        self.epoch = 0                          # of host, as it says
        wait_for(lambda: self._granted() == 0, 10, "grants are given back")
        self.before = self.state()
        self.reader = Reader(self.slots)

    def _key(self, node):
        path = self.cluster.scratch / f"key-{node.name}"
        public = node.ctl("key", "generate", path)["public"]
        node.ctl("key", "trust", self.members, node.name, public)
        return path

    def _granted(self):
        return self.lender.stat()["server"]["granted_pages"]

    def state(self):
        """What an attack must leave as it was."""
        stat = self.lender.stat()["server"]
        client = self.owner.stat()["client"]
        return {"connections": connections(self.lender),
                "to the owner": connections(self.owner),
                **{key: stat[key] for key in ("owners", "held_pages", "granted_pages",
                                              "set_aside_pages", "pages_freed")},
                "read errors": client["read_errors"], "sessions": client["sessions"],
                "peers": [p["addr"] for p in self.owner.peers().values()
                          if p["state"] in ("new", "up")]}

    def link(self, to=None, keys=None):
        """A connection of a member, or with these keys."""
        return KeyedLink(self.host, (to or self.lender).addr, keys or self.member)

    def joined(self, **options):
        """A connection whose HELLO was accepted, by default the control connection of
        a new epoch."""
        link = self.link()
        if not options:
            self.epoch += 1
        answer = link.hello(epoch=self.epoch, **options)
        if not answer or answer.status != OK:
            raise Failure(f"a member's hello was answered with {answer}")
        return link

    def unharmed(self):
        """All is as before the attack, and nothing was read wrong."""
        try:
            wait_for(lambda: self.state() == self.before, 15, "")
        except Failure:
            equal(self.state(), self.before, "what is left")
        read, wrong, failed = self.reader.counts()
        equal((wrong, failed), (0, 0), f"wrong and failed reads of {read}")

    def _during(self, attack):
        """Attack for a while: what happened, and the rate of the reader meanwhile."""
        end, happened = time.monotonic() + self.seconds, []

        def over():
            happened.append(attack(self))
            return time.monotonic() >= end
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        try:
            rate = self.reader.rate(over)
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        return happened, rate

    def _quiet(self):
        end = time.monotonic() + self.seconds

        def wait_on():
            time.sleep(0.02)
            return time.monotonic() >= end
        return self.reader.rate(wait_on)

    def suffer(self, attack):
        """Try an attack: a row of the table."""
        quiet, under, times = [self._quiet()], [], 0
        for _ in range(self.rounds):
            happened, rate = self._during(attack)
            under.append(rate)
            times += len(happened)
            equal(len(set(happened)), 1, f"different ends of an attack: {set(happened)}")
            self.unharmed()
            quiet.append(self._quiet())
        true(all(under), f"{attack.__name__}: the victim's page-ins go on")
        share = statistics.median(under) / max(1, statistics.median(quiet))
        return {"attack": attack.__doc__.strip().rstrip("."), "name": attack.__name__,
                "key": attack.key, "happened": happened[0],
                "victim_rate_pct": round(100 * share, 1), "times": times,
                "quiet_pages_s": round(statistics.median(quiet)),
                "attacked_pages_s": round(statistics.median(under))}

    def close(self):
        """Clean up."""
        self.reader.close()
        equal(self.slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages")
        self.slots.close()
        self.owner.device_del(self.dev)


def suffer_all(t, attacks, **options):
    """Try all attacks in one scene; a line each in the test's events."""
    scene = Scene(t, t.cluster(4, delay_us=DELAY_US), **options)
    rows = []
    for attack in attacks:
        row = scene.suffer(attack)
        rows.append(row)
        t.log(f"{row['name']}: {row['happened']}; {row['times']} times, "
              f"{row['victim_rate_pct']} % of {row['quiet_pages_s']} pages/s")
    scene.close()
    return rows
