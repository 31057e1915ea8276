# SPDX-License-Identifier: GPL-2.0
"""A server that brings its owner's pages elsewhere, or says so.

        owner ------ server
          `--------- host         a server by hand

Names and order are as they come; pages are what the owner has stored, since without keys
it could not know better. So the host takes no page between reading what it holds and the
answer: a name that it made up would be one that the owner has just stored there, from home
or flash.
"""
import contextlib
import random
import struct

from nswaptest import fuzzing, fuzzwire
from nswaptest.check import Failure, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import (DROPPED, HAS_ALL, MOVE, MOVED, MOVES, PAGE, RETURN, TELLS, Link,
                               Message, Peer)
from nswaptest.work import Slots

DESCRIPTION = "fuzzing: what a server says of an owner's pages, and sends back"
SUITES = ("fuzz",)
NEEDS = ("module", "progs", "dmsetup")
TIMEOUT = 3600

PAGES = 256
EVERY = 50              # inputs of a round
# (type, class of its link, how often)
KINDS = ((MOVED, TELLS, 4), (MOVE, MOVES, 2), (RETURN, MOVES, 3), (DROPPED, TELLS, 1))


def one(rng):
    """An input: a type, and what all else comes from."""
    kinds = [kind for kind, _, often in KINDS for _ in range(often)]
    return struct.pack("<BQ", rng.choice(kinds), rng.getrandbits(64))


class Mover:
    """The host: it serves, and has links of a mover to the owner and to the server."""

    def __init__(self, owner, server, host):
        self.peer = Peer(host, [owner, server], features=HAS_ALL)
        self.nodes = {TELLS: (host, owner), MOVES: (host, owner), MOVE: (host, server)}
        self.owner, self.server = (
            tuple(int(node.stat()["node"][key], 16) for key in ("id", "epoch"))
            for node in (owner, server))
        self.links, self.answers = {}, {}

    def _link(self, on, kind):
        if on not in self.links:
            host, to = self.nodes[on]
            link = Link(host, to.addr)
            answer = link.hello(self.peer.epoch, 0, kind=kind, features=HAS_ALL)
            true(answer and not answer.status, f"no link of class {kind}")
            self.links[on] = link
        return self.links[on]

    @staticmethod
    def _names(rng, held, right):
        """Names of pages, most of them of those that are held."""
        made = []
        for (instance, slot), (gen, _) in rng.sample(held, min(len(held), rng.choice(
                (1, 1, 2, 8, 32)))):
            if not right and rng.random() < 0.2:
                how = rng.randrange(3)
                slot += how == 0 and rng.choice((1, -1, 1 << 20))
                instance = fuzzing.number(rng, 32) if how == 1 else instance
                gen = (gen + (how == 2)) & 0xfffff
            made.append((max(slot, 0), instance, gen))
        return made

    def tell(self, data):
        """One input."""
        with self.peer.still():
            self._tell(data)

    def _tell(self, data):
        kind, seed = struct.unpack("<BQ", data)
        rng, held = random.Random(seed), sorted(self.peer.pages.items())
        names = self._names(rng, held, kind == MOVE)
        if not names:
            return
        who = self.owner
        if kind == MOVED:
            who = rng.choice((self.server,) * 4 + (self.owner, (self.peer.id, 1), (0, 0)))
        elif rng.random() < 0.1:
            who = (who[0], rng.getrandbits(64))
        body = struct.pack("<QQ", *who) + b"".join(struct.pack("<QII", *n) for n in names)
        if kind in (MOVE, RETURN):
            pages = {(*key, gen): page for key, (gen, page) in held}
            body += b"".join(pages.get((instance, slot, gen), bytes(PAGE))
                             for slot, instance, gen in names)
        nr = len(names) if rng.random() < 0.95 else fuzzing.number(rng, 32)
        self._say(kind, Message(kind, body, nr, ident=seed))

    def _say(self, kind, message):
        on = MOVE if kind == MOVE else dict((k, c) for k, c, _ in KINDS)[kind]
        link = self._link(on, MOVES if kind == MOVE else on)
        answer = None
        with contextlib.suppress(OSError):
            answer = link.ask(message)
        if not answer:
            link.close()
            del self.links[on]
            return
        said = fuzzwire.answered(bytearray(answer.packed()), answer.packed()[16:24])
        self.answers[said] = self.answers.get(said, 0) + 1

    def close(self):
        """Fall silent."""
        for link in self.links.values():
            link.close()
        self.peer.close()


def run(t):
    """Moves, returns and drops of pages that an owner uses: all of its pages stay right."""
    cluster = t.cluster(3)
    owner, server, host = cluster
    server.up(lend="8M")
    owner.up(lend="0")
    cluster.wait_connected([owner, server])
    owner.ctl("policy", "place", "round-robin")
    mover = Mover(owner, server, host)
    rng = random.Random(f"{t.seed}.mover slots")
    try:
        wait_for(lambda: host.addr in owner.peers(), 10, "the host is heard")
        with disk(16) as home:
            dev = owner.device_add("4M", home=home.path)
            with Slots(dev, t.seed) as slots:
                for first in range(1, PAGES + 1, 8):
                    slots.write(first, 8)
                tries = fuzzing.Inputs(t, "mover", one)
                for data in tries:
                    mover.tell(data)
                    if tries.number % EVERY == 0:
                        round_ends(tries, slots, rng)
                round_ends(tries, slots, rng)
            t.log(f"answers: {mover.answers}; {owner.stat()['client']}")
            fuzzing.enough(mover.answers.get("RETURN_ACK:OK", 0), 1, "returns accepted")
            fuzzing.enough(mover.answers.get("MOVED_ACK:OK", 0), 1, "moves accepted")
            owner.device_del(dev)
    finally:
        mover.close()


def round_ends(tries, slots, rng):
    """All is right; then some of it is written again, to where peers have room."""
    try:
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages")
        for _ in range(4):
            slots.write(rng.randrange(1, PAGES - 8), 8)
    except Failure as why:
        raise tries.fail(str(why)) from why
