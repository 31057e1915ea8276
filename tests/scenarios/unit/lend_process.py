# SPDX-License-Identifier: GPL-2.0
"""nswap-lend as a process of this machine: when the reader of its log has gone, when it is
out of files, when a peer dribbles, when a list of members makes no sense."""
import base64
import contextlib
import ctypes
import json
import os
import signal
import struct
import subprocess
import time

from nswaptest.check import Failure, at_least, at_most, equal, hold, true, wait_for
from nswaptest.rawkeys import BASE, curve25519
from nswaptest.rawwire import (GRANT_ASK, HAS_ALL, MOVE, MOVES, OK, PAGE, STORE, STORES,
                               Link, Message)
from nswaptest.scenario import ROOT, sibling

DESCRIPTION = "nswap-lend outlives its log's reader, and bounds what others can take of it"
SUITES = ("unit",)
NEEDS = ("gcc", "make", "ip", "prlimit")
HERE = True
TIMEOUT = 120
BUSY = 0.5      # it waits

PROGRAM = ROOT / "build/nswap-lend"
FILES = 40              # less than one host may have connections, and a few
MESSAGE_S = 4           # for each part of a message of a move
SLACK = 3
LEASE_S, SWEEP_S = 5, 5
MEMBERS = 1000


class Lender:
    """One that runs in a network namespace of the test's own, open unless it has keys."""

    def __init__(self, t, *options, before=(), log=None):
        subprocess.run(["flock", f"{PROGRAM}.lock", "make", "-s", "-C", ROOT, "nswap-lend"],
                       check=True)
        self.here = sibling("fuzz_lend").Here
        if ctypes.CDLL(None).unshare(sibling("fuzz_lend").CLONE_NEWNET):
            raise Failure("this takes root: no network namespace can be made")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.log = t.dir / "said"
        with open(self.log, "wb") as said:
            self.process = subprocess.Popen(
                [*before, PROGRAM, "--lend", "4M", "--addr", self.here.addr, *options],
                stderr=log or said, stdin=subprocess.DEVNULL)
        wait_for(lambda: self.ask().wait() == 0, 15, "the lender is up")

    @staticmethod
    def ask():
        """A process that asks it for its status."""
        return subprocess.Popen([PROGRAM, "--status"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def link(self, timeout=10):
        """A connection to it, greeted."""
        return Link(self.here, self.here.addr, timeout)

    def said(self):
        """Its log."""
        return self.log.read_text(errors="replace")

    def ticks(self):
        """Processor time so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

    def memory_kb(self):
        """What it takes of this machine's memory."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(file.read().partition("VmRSS:")[2].split()[0])

    def end(self):
        """SIGTERM: its exit code."""
        self.process.send_signal(signal.SIGTERM)
        wait_for(lambda: self.process.poll() is not None, 30, "it has ended")
        return self.process.returncode


def status():
    """What it tells of itself."""
    return json.loads(subprocess.run([PROGRAM, "--status", "--json"], check=True,
                                     capture_output=True).stdout)


def test_log(t):
    """SIGTERM when the reader of its log has gone: it drains all the same, and ends with the
    exit code for pages that are left."""
    reads, writes = os.pipe()
    lender = Lender(t, "--open", "--drain-timeout", "1", log=writes)
    os.close(writes)
    control, stores = lender.link(), lender.link()
    equal(control.hello(features=HAS_ALL).status, OK, "hello")
    equal(stores.hello(kind=STORES, features=HAS_ALL).status, OK, "hello of stores")
    control.ask(Message(GRANT_ASK, nr=1))
    answer = stores.ask(Message(STORE, struct.pack("<I", 1) + b"1" * PAGE, 1, slot=1,
                                instance=1))
    equal(struct.unpack_from("<II", answer.payload), (1, OK), "result of the store")
    os.close(reads)
    equal(lender.end(), 1, "exit code with a page left")


def test_files(t):
    """As many connections as it may have files: all that were taken stay, it says once why
    no more are, and who asks for its status waits without costing anything."""
    lender = Lender(t, "--open", before=("prlimit", f"--nofile={FILES}"))
    links, full = [], False
    while not full and len(links) < FILES:
        try:
            links.append(lender.link(timeout=1))
            equal(links[-1].hello(session=0, kind=MOVES).status, OK, "status of a hello")
        except TimeoutError:
            full = True
        if len(links) == FILES // 2:
            hold(1.2)       # what it knows of its subnets is older than it looks at again
    true(full, f"it has {len(links)} connections and may have {FILES} files")
    wait_for(lambda: f"may have {FILES} files" in lender.said(), 5, "it says why")
    asks, before = lender.ask(), lender.ticks()
    hold(1)
    at_most(lender.ticks() - before, 15, "ticks of a second in which it can do nothing")
    for link in links:
        link.close()
    equal(asks.wait(20), 0, "exit code of who asked meanwhile")
    equal(lender.said().count(f"may have {FILES} files"), 1, "how often it was said")
    equal(lender.end(), 0, "exit code")


def test_dribble(t):
    """A page of a MOVE that comes a byte every 5 ms holds a hand for no longer than one
    that does not come."""
    lender = Lender(t, "--open")
    link = lender.link()
    equal(link.hello(session=0, kind=MOVES).status, OK, "status of a mover's hello")
    data = Message(MOVE, struct.pack("<QQQII", 77, 1, 1, 1, 1) + bytes(PAGE), 1).packed()
    link.sock.sendall(data[:-PAGE])
    # else a busy machine makes pauses, in which any deadline is looked at
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    begin = time.monotonic()
    with contextlib.suppress(ConnectionError):
        for at in range(PAGE - 1):
            link.sock.sendall(data[at:at + 1])
            hold(0.005)
            if time.monotonic() - begin > 3 * MESSAGE_S:
                break
    at_most(time.monotonic() - begin, MESSAGE_S + SLACK, "seconds until it is closed")
    link.close()
    equal(lender.end(), 0, "exit code")


def test_metrics(t):
    """They have what the status as JSON has; once it has ended, that it is not up."""
    lender = Lender(t, "--open", "--now")
    control, stores = lender.link(), lender.link()
    control.hello(features=HAS_ALL)
    stores.hello(kind=STORES, features=HAS_ALL)
    control.ask(Message(GRANT_ASK, nr=2))
    for slot in (1, 2):
        stores.ask(Message(STORE, struct.pack("<I", 1) + b"1" * PAGE, 1, slot=slot, instance=1))

    def metrics():
        said = subprocess.run([PROGRAM, "--metrics"], check=True, capture_output=True, text=True)
        return dict(line.rsplit(" ", 1) for line in said.stdout.splitlines() if line[0] != "#")

    told, got = status(), metrics()
    owner = told["owners"][0]
    labels = f'{{owner="{owner["id"]}",epoch="{owner["epoch"]}"}}'
    want = {"nswap_up": 1, "nswap_node_lent_bytes": 4 << 20, "nswap_node_held_pages": 2,
            "nswap_node_held_bytes": PAGE * told["ram_pages"], "nswap_node_owners": 1,
            "nswap_server_pages_stored_total": 2, "nswap_server_refused_total": 0,
            "nswap_client_pages_out_total": 0, f"nswap_owner_held_pages{labels}": 2}
    equal({name: int(got.get(name, -1)) for name in want}, want, "metrics")
    equal(told["counters"]["pages_stored"], 2, "the status's count")
    true(int(got["nswap_announce_sent_total"]) >= told["counters"]["announced"],
         "announcements")
    equal(lender.end(), 1, "exit code with pages left")
    equal([x for x in metrics() if "info" not in x], ["nswap_up"], "what is told without it")
    equal(metrics()["nswap_up"], "0", "nswap_up without it")


def test_grants(t):
    """What was granted to an owner goes back when its connections are closed, and when it says
    nothing for the lease, which is shorter here than the minute that a connection may rest."""
    lender = Lender(t, "--open", "--now", "--lease", str(LEASE_S))

    def granted():
        return status()["granted_pages"]

    for epoch, silent in ((1, False), (2, True)):
        control, stores = lender.link(), lender.link()
        control.hello(epoch=epoch, features=HAS_ALL)
        stores.hello(epoch=epoch, kind=STORES, features=HAS_ALL)
        control.ask(Message(GRANT_ASK, nr=64))
        at_least(granted(), 64, "pages granted")
        if not silent:
            control.close()
            stores.close()
        wait_for(lambda: granted() == 0, LEASE_S + SWEEP_S + SLACK if silent else SLACK,
                 f"grants of epoch {epoch} are given back")
    equal(lender.end(), 0, "exit code")


def text(key):
    """A key as in a file."""
    return base64.b64encode(key).decode()


def test_hangup(t):
    """SIGHUP with a list of members that makes no sense takes no memory, however often; one
    that does is taken then."""
    own, listed = t.dir / "own", t.dir / "listed"
    secret = bytes(range(1, 33))
    good = f"cluster {text(bytes(range(2, 34)))}\nmember own " \
           f"{text(curve25519(secret, BASE))}\n"
    for path, lines in ((own, f"key {text(secret)}\n"), (listed, good)):
        path.write_text(lines)
        path.chmod(0o600)
    lender = Lender(t, "--key", own, "--members", listed)
    others = "".join(f"member node{i} {text(struct.pack('>32I', *[i + 1] * 32)[:32])}\n"
                     for i in range(MEMBERS))

    def hangup(what):
        count = lender.said().count(what)
        lender.process.send_signal(signal.SIGHUP)
        wait_for(lambda: lender.said().count(what) > count, 10, f"it says {what!r}")

    listed.write_text(good + others + "nonsense\n")
    for _ in range(3):
        hangup("is expected")
    before = lender.memory_kb()
    for _ in range(20):
        hangup("is expected")
    at_most(lender.memory_kb() - before, 500, "KiB more")
    listed.write_text(good + others)
    hangup("has read the list")
    equal(lender.end(), 0, "exit code")
