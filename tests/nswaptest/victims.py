# SPDX-License-Identifier: GPL-2.0
"""Attacks beside a program that pages in: what came of each, and what it cost the program.

        owner ------ lender ------ host ------ stranger
        other owner ------ other lender

owner has pages at lender, and a Reader reads them one after the other all the time; host
has the key of a member, stranger that of one who was revoked. Neither runs the module:
they are by hand, see rawwire.py and rawkeys.py. A program in a container on the lender:
inmate.py. The other two are members as well, and are cut off from the first two.

An attack is a function of a Scene, listed by Attacks.by(): what its docstring says is tried
again and again for a turn, and what it returns has happened. It runs only when nothing
else does (SCHED_IDLE): in a lab it has the processor of those that it attacks, elsewhere
its own. So that there is time left, the network has a delay. What it makes others do takes
the victim's processor time all the same, and so does its own half of the network. To tell
that from what it does to the victim, turns go round: beside a program that only computes
instead, with the attack against the other two, with it against the victim's own.
"""
import contextlib
import hashlib
import json
import mmap
import os
import statistics
import struct
import time

from .check import Failure, Unmet, at_least, equal, true, wait_for
from .cluster import PAGE
from .inmate import Inmate
from .netns import inside
from .rawkeys import KeyedLink, Keys
from .rawwire import CONTROL, OK, PORT, Link
from .scenario import files, load
from .totals import in_full
from .work import Slots

PAGES = 256
FIRST = 1               # slots are written from here on
ESTABLISHED = "01"
DELAY_US = 300          # of what each node sends
# a turn in seconds, and how often they go round: at least, at most
TURN_S, ROUNDS = (0.5, (7, 21)) if in_full() else (0.12, (2, 10))
# what the victim keeps of its rate, in percent, beside that with the same attack elsewhere
KEEPS_PCT = 80 if in_full() else 50
COUNTED = ("owners", "held_pages", "granted_pages", "set_aside_pages", "pages_freed")


class Attacks(list):
    """Attacks in the order in which they are tried."""

    def by(self, key, but=()):
        """List a function as an attack by one who has this: "member", "revoked",
        "none", "container". but: what it may change, of Side.state()."""
        def add(function):
            function.key, function.but = key, but
            self.append(function)
            return function
        return add


def listed():
    """What all scenarios of security/ list: test and name of each, and what it is."""
    found = {}
    for file, path in files().items():
        if path.parent.name != "security":
            continue
        for name, attacks in vars(load(path)).items():
            test = file if name == "ATTACKS" else f"{file}.{name.lower()}"
            if isinstance(attacks, Attacks):
                found |= {(test, attack.__name__): " ".join(attack.__doc__.split())
                          for attack in attacks}
    return found


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


class Side:
    """An owner that has pages at a lender, and a program in a container there."""

    def __init__(self, scene, owner, lender, attacks):
        self.owner, self.lender = owner, lender
        owner.up(lend="0", key=scene.files[owner], members=scene.members)
        lender.up(lend="8M", key=scene.files[lender], members=scene.members)
        scene.cluster.wait_connected([owner, lender])
        self.dev = owner.device_add("4M")
        self.slots = Slots(self.dev, scene.seed)
        for first in range(FIRST, FIRST + PAGES, 32):
            self.slots.write(first, 32)
        info = owner.stat()["node"]
        self.id, self.epoch = int(info["id"], 16), int(info["epoch"], 16)
        wait_for(lambda: self.state()["granted_pages"] == 0, 10, "grants are given back")
        self.before, self.refusals = self.state(), self.refused()
        self.inmate = None
        if any(attack.key == "container" for attack in attacks):
            self.inmate = Inmate(self, [scene.members, scene.files[lender]], attacks)

    def state(self):
        """What an attack must leave as it was."""
        stat = self.lender.stat()["server"]
        client = self.owner.stat()["client"]
        return {"connections": connections(self.lender),
                "to the owner": connections(self.owner),
                **{key: stat[key] for key in COUNTED},
                "read errors": client["read_errors"], "sessions": client["sessions"],
                "peers": [p["addr"] for p in self.owner.peers().values()
                          if p["state"] in ("new", "up")]}

    def refused(self):
        """Connections that the lender refused for their keys."""
        return self.lender.stat()["server"]["keys_refused"]

    def unharmed(self, but=()):
        """All is as before the attack, and as many connections were refused as it says. A
        session can also end since no node had the processor: so it is Unmet, and tried again."""
        def left():
            state = self.state()
            return {key: state[key] for key in state if key not in but}
        before = {key: self.before[key] for key in self.before if key not in but}
        try:
            wait_for(lambda: left() == before, 15, "")
        except Unmet:
            now = left()
            raise Unmet("what is left: " + ", ".join(
                f"{key} {now[key]}, was {before[key]}" for key in now
                if now[key] != before[key])) from None
        with contextlib.suppress(Unmet):
            wait_for(lambda: self.refused() >= self.refusals, 5, "")
        equal(self.refused(), self.refusals, "connections refused for their keys")
        self.before = self.state()


class Scene:
    """All of them, and the reader. at: the Side that is attacked just now."""

    def __init__(self, t, attacks):
        cluster = t.cluster(6, delay_us=DELAY_US)
        self.cluster, self.seed = cluster, t.seed
        *four, self.host, self.stranger = cluster
        for one in four[:2]:
            for other in four[2:]:
                cluster.cut(one, other)
        self.members = cluster.scratch / "members"
        self.files = {node: self._key(node) for node in cluster}
        self.revoked = Keys.of(self.files[self.stranger], self.members)
        four[0].ctl("key", "revoke", self.members, self.stranger.name)
        self.member = Keys.of(self.files[self.host], self.members)
        self.epoch = 1                          # of host, as it says
        self.victims = Side(self, *four[:2], attacks)
        self.others = Side(self, *four[2:], attacks)
        self.at = self.victims
        self.kept = []
        self.reader = Reader(self.victims.slots)

    owner = property(lambda self: self.at.owner)
    lender = property(lambda self: self.at.lender)

    def _key(self, node):
        path = self.cluster.scratch / f"key-{node.name}"
        public = node.ctl("key", "generate", path)["public"]
        node.ctl("key", "trust", self.members, node.name, public)
        return path

    def link(self, to=None, keys=None):
        """A connection of a member, or with these keys."""
        node = self.stranger if keys else self.host
        return KeyedLink(node, (to or self.lender).addr, keys or self.member)

    def bare(self, to=None):
        """A connection of one who has nothing."""
        return Link(self.stranger, (to or self.lender).addr)

    def joined(self, to=None, **options):
        """A connection whose HELLO was accepted, by default the control connection of
        a new epoch."""
        link = self.link(to)
        if options.get("kind", CONTROL) == CONTROL:
            self.epoch += 1
        answer = link.hello(epoch=self.epoch, **options)
        if not answer or answer.status != OK:
            raise Failure(f"a member's hello was answered with {answer}")
        return link

    def refusal(self, count=1):
        """The lender refuses so many connections for their keys."""
        self.at.refusals += count

    def keep(self, link):
        """Leave something open until the turn is over; it."""
        self.kept.append(link)
        return link

    def _turn(self, trial):
        """A turn in which this is tried again and again: what happened, and the rate of
        the reader meanwhile."""
        end, happened = time.monotonic() + TURN_S, []

        def over():
            happened.append(trial())
            return time.monotonic() >= end
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        try:
            rate = self.reader.rate(over)
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            while self.kept:
                self.kept.pop().close()
        return happened, rate

    def _attack(self, attack, side):
        """A turn with an attack."""
        self.at = side
        return self._turn(lambda: side.inmate.run(attack) if attack.key == "container"
                          else attack(self))

    def _quiet(self):
        """A turn without one, the processor as busy: the rate."""
        return self._turn(lambda: hashlib.sha256(bytes(PAGE)).digest())[1]

    def suffer(self, attack):
        """Try an attack until it can be judged, once more often than is enough if need be:
        a row of the table."""
        quiet, elsewhere, under, happened = [], [], [], []
        least, most = ROUNDS
        while len(under) < least or (len(under) < most and
                                     _percent(under, elsewhere) < KEEPS_PCT):
            quiet.append(self._quiet())
            done, rate = self._attack(attack, self.others)
            elsewhere.append(rate)
            happened += done
            done, rate = self._attack(attack, self.victims)
            under.append(rate)
            happened += done
        equal(len(set(happened)), 1, f"different ends of an attack: {set(happened)}")
        for side in (self.others, self.victims):
            side.unharmed(attack.but)
        read, wrong, failed = self.reader.counts()
        equal((wrong, failed), (0, 0), f"wrong and failed reads of {read}")
        true(all(under), f"{attack.__name__}: the victim's page-ins go on")
        return {"name": attack.__name__, "attack": " ".join(attack.__doc__.split()),
                "key": attack.key, "happened": happened[0],
                "times": len(happened), "rounds": len(under),
                "computing_pages_s": round(statistics.median(quiet)),
                "elsewhere_pages_s": round(statistics.median(elsewhere)),
                "attacked_pages_s": round(statistics.median(under)),
                "of_elsewhere_pct": _percent(under, elsewhere),
                "of_computing_pct": _percent(under, quiet)}

    def close(self):
        """Look at all pages."""
        for side in (self.victims, self.others):
            equal(side.slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages")

    def end(self):
        """Clean up, whatever has happened."""
        self.reader.close()
        for side in (self.victims, self.others):
            if side.inmate:
                side.inmate.close()
            side.slots.close()


def _percent(rates, beside):
    """What a median is of another one."""
    return round(100 * statistics.median(rates) / max(1, statistics.median(beside)), 1)


def suffer_all(t, attacks, prepare=lambda scene: None):
    """Try all attacks in one scene; a line each in the test's events, a row in its
    attacks.json. The victim keeps its rate, see KEEPS_PCT."""
    scene = Scene(t, attacks)
    try:
        prepare(scene)
        rows = []
        for attack in attacks:
            rows.append(scene.suffer(attack))
            (t.dir / "attacks.json").write_text(json.dumps(rows, indent=1) + "\n")
            tell(t, rows[-1])
        scene.close()
    finally:
        scene.end()


def tell(t, row):
    """A row in the test's events, and whether the victim keeps its rate."""
    t.log(f"{row['name']}: {row['happened']}; {row['times']} times, "
          f"{row['attacked_pages_s']} pages/s, {row['of_elsewhere_pct']} % of "
          f"{row['elsewhere_pages_s']} with it elsewhere, {row['of_computing_pct']} % of "
          f"{row['computing_pages_s']} beside a program that computes")
    at_least(row["of_elsewhere_pct"], KEEPS_PCT,
             f"{row['name']}: percent of its rate that the victim keeps")
