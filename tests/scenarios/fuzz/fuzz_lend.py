# SPDX-License-Identifier: GPL-2.0
"""nswap-lend with sanitizers, on this machine: sequences of messages against a model of
what a server holds, and whatever comes to a fuzzer's mind.
"""
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess

from nswaptest import ccache, fuzzing, fuzzwire
from nswaptest.check import Failure, at_most, equal, true, wait_for
from nswaptest.rawwire import (ANNOUNCE, FREE, GRANT_ASK, HAS_ALL, HOLD_ASK, LAST, LOAD,
                               LOADS, NOT_HELD, OK, OLDER, PAGE, PORT, SHORT, STORE, STORES,
                               Link, Message, carried, carrying)
from nswaptest.scenario import ROOT

DESCRIPTION = "fuzzing: nswap-lend with ASan and UBSan, by messages and announcements"
SUITES = ("fuzz",)
NEEDS = ("gcc", "make", "ip")
HERE = True
TIMEOUT = 1200

PROGRAM = ROOT / "build/nswap-lend-sanitized"
LENT = 2048             # pages
INPUTS = 500
STEPS = 1500
CLONE_NEWNET = 0x40000000


class Here:
    """This machine, in a network namespace of the test's own, as a node."""
    addr = "127.0.0.1"
    netns = "/proc/self/ns/net"


class Sanitized:
    """A lender that runs, with a fault of memory as its end."""

    def __init__(self, t):
        # the tests of this file run side by side
        subprocess.run(["flock", f"{PROGRAM}.lock", "make", "-s", f"-j{os.cpu_count()}",
                        "-C", ROOT / "tools/nswap-lend", f"OUT={ROOT / 'build'}",
                        "SANITIZE=address,undefined", "CFLAGS=-O1 -g"], check=True,
                       env=ccache.environment())
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET):
            raise Failure("this takes root: no network namespace can be made")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.log = t.dir / "said"
        with open(self.log, "wb") as said:
            self.process = subprocess.Popen(
                [PROGRAM, "--lend", f"{LENT * PAGE >> 10}K", "--addr", Here.addr, "--open",
                 "--lease", "5", "--now"], stderr=said, stdin=subprocess.DEVNULL)
        wait_for(self.status, 15, "the lender is up")

    def status(self):
        """What it tells of itself; Failure if it has ended."""
        if self.process.poll() is not None:
            raise Failure(f"it has ended, see {self.log}: "
                          f"{self.log.read_text(errors='replace')[:600]}")
        done = subprocess.run([PROGRAM, "--status", "--json"], capture_output=True,
                              text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def held(self):
        """Pages."""
        return self.status()["held_pages"]

    def end(self):
        """Nothing is wrong at the end either, as memory that was left."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        text = self.log.read_text(errors="replace")
        true(code in (0, 1) and "Sanitizer" not in text and "runtime error" not in text,
             f"it ended with {code}: {text[-600:]}")


def newer(one, two):
    """Generations are compared as serial numbers of 20 bits."""
    return 0 < (one - two) % (1 << 20) < 1 << 19


class Model:
    """An owner, and what the lender has to hold for it: {(instance, slot): (gen, page)}."""

    def __init__(self, rng):
        self.rng, self.held = rng, {}
        self.control = self._link(0)
        self.loads, self.stores = self._link(LOADS), self._link(STORES)

    @staticmethod
    def _link(kind):
        link = Link(Here, Here.addr)
        equal(link.hello(session=1, kind=kind, features=HAS_ALL).status, OK, "hello")
        return link

    def _where(self, nr=1):
        return self.rng.randint(1, 2), self.rng.randrange(900 - nr)

    def _page(self, short):
        size = self.rng.choice((1, 24, 500, 1700, 3072, 3500, PAGE)) if short else PAGE
        return (self.rng.randbytes(16) * (PAGE // 16))[:size].ljust(PAGE, b"\0")

    def store(self):
        """Adjacent pages, now and then older ones."""
        nr = self.rng.choice((1, 1, 3, 32))
        instance, first = self._where(nr)
        gens = [self.rng.randrange(1, 6) for _ in range(nr)]
        short = self.rng.random() < 0.6
        pages = [self._page(short) for _ in range(nr)]
        self.control.ask(Message(GRANT_ASK, nr=64))
        answer = self.stores.ask(carrying(STORE, struct.pack(f"<{nr}I", *gens), pages, short,
                                          slot=first, instance=instance))
        for i, (gen, page) in enumerate(zip(gens, pages)):
            key = (instance, first + i)
            old = self.held.get(key)
            status = OLDER if old and newer(old[0], gen) else OK
            equal(struct.unpack_from("<II", answer.payload, 8 * i), (gen, status),
                  f"result of page {key}")
            if status == OK:
                self.held[key] = (gen, page)

    def load(self):
        """Exactly the generation asked for, or not held."""
        nr = self.rng.choice((1, 1, 32))
        instance, first = self._where(nr)
        gens, pages = [], []
        expected = []
        for i in range(nr):
            gen, page = self.held.get((instance, first + i), (1, None))
            if self.rng.random() < 0.1:
                gen, page = gen + 1, None
            gens.append(gen)
            expected.append(OK if page else NOT_HELD)
            pages.append(page or b"")
        answer = self.loads.ask(Message(LOAD, struct.pack(f"<{nr}I", *gens), nr,
                                        self.rng.choice((0, SHORT)), slot=first,
                                        instance=instance))
        equal(struct.unpack_from(f"<{nr}I", answer.payload), tuple(expected), "statuses")
        true(carried(answer, 0, 4) == pages, f"pages from {instance}, {first}")

    def free(self):
        """A run, of a generation and those before it."""
        count = self.rng.choice((1, 5, 100))
        instance, first = self._where(count)
        gen = self.rng.randrange(1, 6)
        self.control.ask(Message(
            FREE, struct.pack("<IIQII", instance, gen, first, count, 0), 1))
        for slot in range(first, first + count):
            old = self.held.get((instance, slot))
            if old and not newer(old[0], gen):
                del self.held[instance, slot]

    def compare(self):
        """All that is listed is all that is held."""
        listed, at = {}, (0, 0)
        while True:
            answer = self.control.ask(Message(HOLD_ASK, instance=at[0], slot=at[1]))
            for i in range(answer.nr):
                instance, gen, slot, count, _ = struct.unpack_from("<IIQII", answer.payload,
                                                                   24 * i)
                listed.update({(instance, slot + k): gen for k in range(count)})
                at = (instance, slot + count)
            if answer.flags & LAST:
                break
        equal(listed, {key: gen for key, (gen, _) in self.held.items()}, "pages listed")


def test_model(t):
    """Random stores, loads and frees: each answer, and what is held after them."""
    lender = Sanitized(t)
    rng = fuzzing.random.Random(f"{t.seed}.lend")
    model = Model(rng)
    for step in range(STEPS):
        rng.choices((model.store, model.load, model.free), (5, 4, 1))[0]()
        if step % 250 == 249:
            model.compare()
            told = lender.status()
            equal(told["held_pages"], len(model.held), "pages held")
            at_most(told["ram_pages"], len(model.held), "pages of RAM")
            at_most(told["ram_pages"] + told["set_aside_pages"], LENT, "pages of RAM lent")
    t.log(f"{len(model.held)} pages, {lender.status()['counters']}")
    lender.end()


def announcement(rng):
    """One of a node on this machine, mostly changed."""
    ip = socket.inet_aton(Here.addr) + bytes(12)
    data = Message(ANNOUNCE, struct.pack(
        "<QQHHI16sQQQ", rng.randrange(1, 50), rng.randrange(1, 4), socket.AF_INET, PORT, 0,
        ip, 100, 50, 50), flags=rng.choice((0, 2, 4, 0x10))).packed()
    return data if rng.random() < 0.3 else fuzzing.changed(rng, data)


def test_messages(t):
    """Messages of all types, legal, changed, cut off, repeated, and announcements; what
    is held and set aside never exceeds what is lent."""
    lender = Sanitized(t)
    stranger = fuzzwire.Stranger(Here, Here, 79)
    tries = fuzzing.Inputs(t, "server", fuzzwire.make())
    if "NSWAP_FULL" not in os.environ:
        tries.count = min(tries.count, INPUTS)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for data in tries:
        stranger.send(data)
        udp.sendto(announcement(tries.rng), (Here.addr, PORT))
        if tries.number % 100 == 0:
            try:
                told = lender.status()
                at_most(told["ram_pages"] + told["set_aside_pages"], LENT, "pages of RAM")
                at_most(told["granted_pages"], told["set_aside_pages"], "pages granted")
            except Failure as why:
                raise tries.fail(str(why)) from why
    true(stranger.forget(), "a new client is answered")
    wait_for(lambda: lender.held() == 0, 30, "what movers left goes with its lease")
    t.log(f"{stranger.opened} links, {stranger.closed} closed; "
          f"{lender.status()['counters']}")
    fuzzing.enough(stranger.closed, 1, "links that the lender closed")
    stranger.close()
    lender.end()
