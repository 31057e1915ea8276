# SPDX-License-Identifier: GPL-2.0
"""What a lender takes long after its page-out was given up, and what an owner takes of an
answer long after it was sent.

        node0 ------ node1        lenders by hand, see tests/nswaptest/rawwire.py; node2
            `------- node2        takes nothing for a while
"""
import mmap
import os
import struct
import threading

from nswaptest.check import Failure, Unmet, at_least, equal, true, wait_for
from nswaptest.rawwire import (FREE, FREE_ACK, GRANT_ASK, LOAD, LOADS, OK, PAGE, STORE,
                               STORE_ACK, STORES, Link, Message, Peer)

DESCRIPTION = "what comes late of a page-out or of an answer is still the page"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 120

RUN = 32                # slots in one page-out
RUNS = 6


def write(dev, run, turn, failed):
    """One page-out, from memory that has something else at once afterwards; if it fails, the
    list of those that did has why."""
    file = os.open(f"/dev/{dev}", os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, RUN * PAGE) as buffer:
            for i in range(RUN):
                buffer[i * PAGE:(i + 1) * PAGE] = bytes([run + 1, i, turn, 1]) * (PAGE // 4)
            equal(os.pwrite(file, buffer, (1 + run * RUN) * PAGE), RUN * PAGE, "bytes written")
            buffer[:] = b"\xee" * (RUN * PAGE)
    except (OSError, Failure) as why:
        failed.append(why)
    finally:
        os.close(file)


def write_all(dev, turn):
    """All page-outs at once. The one lender that answers is a program: on a busy machine it
    may be too late for one, time after time."""
    failed = []
    threads = [threading.Thread(target=write, args=(dev, run, turn, failed))
               for run in range(RUNS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise Unmet(f"no lender answered in time: {failed[0]}")


class Lender(Peer):
    """It remembers each page that it was sent: (slot, generation, content)."""

    def __init__(self, *args):
        self.sent = []
        super().__init__(*args)

    def _store(self, q):
        answer = super()._store(q)
        for slot in range(q.slot, q.slot + q.nr):
            self.sent.append((slot, *self.pages[q.instance, slot]))
        return answer


def sent(t, *options):
    """All that both lenders were sent of a device with these options, node2 after it was
    given up."""
    cluster = t.cluster(3)
    client = cluster[0]
    client.up(lend="0")
    good, slow = (Lender(node, [client]) for node in cluster.nodes[1:])
    try:
        wait_for(lambda: len(client.peers()) == 2, 10, "the lenders are heard")
        dev = client.ctl("device", "add", "--size", "8M", *options)["device"]
        client.wait_sessions()
        client.ctl("policy", "place", "round-robin")
        client.ctl("set", "store_timeout_ms", "300")
        slow.slow = threading.Event()
        for turn in range(3):
            write_all(dev, turn)
        at_least(client.stat()["client"]["timeouts"], RUN, "pages given up")
        before = len(slow.sent)
        slow.slow.set()
        wait_for(lambda: len(slow.sent) >= before + RUN, 10, "pages that come late")
        client.device_del(dev)
        return good.sent + slow.sent
    finally:
        good.close()
        slow.close()


class Stray(Peer):
    """While it strays, what it answers to page-outs is an answer to no message, of slots that
    no device has."""
    strays = False

    def _answer(self, sock, answer):
        if self.strays and answer.kind == STORE_ACK:
            answer.ident, answer.slot = 1 << 40, self.strays
        super()._answer(sock, answer)


def test_no_slot(t):
    """A late answer to a page-out that names slots which the device does not have ends the
    connection, and nothing else: those past its last slot, and those far beyond."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0")
    peer = Stray(cluster[1], [client])
    try:
        wait_for(client.peers, 10, "the lender is heard")
        dev = client.ctl("device", "add", "--size", "8M")["device"]
        client.wait_sessions()
        for turn, slot in enumerate((8 << 8, 1 << 50, (1 << 64) - 1)):
            before, peer.strays, failed = len(peer.hellos), slot, []
            thread = threading.Thread(target=write, args=(dev, turn, turn, failed))
            thread.start()
            try:
                wait_for(lambda before=before: len(peer.hellos) > before, 20,
                         "the connection is made again")
            finally:
                peer.strays = False
                thread.join()
            equal(failed, [], "page-outs that failed")
        client.device_del(dev)
    finally:
        peer.close()


def contents(pages):
    """Of each name, how many contents were sent under it."""
    seen = {}
    for name, content in pages:
        seen.setdefault(name, set()).add(content)
    return max(map(len, seen.values()))


def test_one_name(t):
    """With a mirror the slot may keep the generation, and have it recorded at that lender
    later: nothing else is ever sent under that name."""
    equal(contents(((slot, gen), page) for slot, gen, page in
                   sent(t, "--protect", "mirror")), 1, "contents under one name")


def test_sealed(t):
    """Of a sealed device nothing is sent but what a slot was sealed to: no page of the
    pool that another page-out uses by then."""
    true(contents((slot, page) for slot, _, page in sent(t, "--seal")) <= 3,
         "a slot that was written three times has no fourth content")


class Owner:
    """An owner by hand: its three connections to a lender."""

    def __init__(self, node, lender):
        self.control, self.loads, self.stores = (Link(node, lender.addr) for _ in range(3))
        equal(self.control.hello().status, OK, "status of a hello")
        for link, kind in ((self.loads, LOADS), (self.stores, STORES)):
            equal(link.hello(kind=kind).status, OK, "status of a hello")

    def store(self, first, gen, content):
        """Store RUN pages; how many were taken."""
        self.control.ask(Message(GRANT_ASK, nr=RUN))
        pages = b"".join(content(slot) * (PAGE // 4) for slot in range(first, first + RUN))
        answer = self.stores.ask(Message(
            STORE, struct.pack(f"<{RUN}I", *[gen] * RUN) + pages, RUN, slot=first, instance=1))
        return struct.unpack(f"<{2 * RUN}I", answer.payload)[1::2].count(OK)

    def ask(self, first, gen):
        """Ask for RUN pages, and do not take the answer."""
        self.loads.send(Message(LOAD, struct.pack(f"<{RUN}I", *[gen] * RUN), RUN, slot=first,
                                instance=1))

    def free(self, first, count, gen):
        """Free slots."""
        run = struct.pack("<IIQII", 1, gen, first, count, 0)
        equal(self.control.ask(Message(FREE, run, 1)).kind, FREE_ACK, "answer to a free")

    def close(self):
        """Close all of them."""
        for link in (self.control, self.loads, self.stores):
            link.close()


def old(slot):
    """What a slot has that is asked for."""
    return bytes([1, slot & 0xff, slot >> 8, 1])


def new(slot):
    """What comes in the place of what was freed."""
    return bytes([2, slot & 0xff, slot >> 8, 2])


def test_answer(t):
    """Pages that an owner has freed while they were on their way to it come as they were
    when it asked, though the lender's memory is filled with others meanwhile."""
    cluster = t.cluster(2)
    lender = cluster[1]
    lender.up(lend="2M")
    owner = Owner(cluster[0], lender)
    runs, compared = 12, 0
    equal([owner.store(1 + run * RUN, 1, old) for run in range(runs)], [RUN] * runs,
          "pages that were taken")
    for run in range(runs):
        owner.ask(1 + run * RUN, 1)
    wait_for(lambda: lender.stat()["server"]["pages_loaded"] >= 2 * RUN, 10, "answers leave")
    owner.free(1, runs * RUN, 1)
    # as many as it lends: none but those on their way is left as it was
    at_least(sum(owner.store(1 + run * RUN, 2, new) for run in range(runs, runs + 16)),
             10 * RUN, "pages that were stored then")
    for run in range(runs):
        answer = owner.loads.answer()
        status = struct.unpack_from(f"<{RUN}I", answer.payload)
        pages = answer.payload[4 * RUN:]
        for slot in range(1 + run * RUN, 1 + (run + 1) * RUN):
            if status[slot - 1 - run * RUN] == OK:
                true(pages[:PAGE] == old(slot) * (PAGE // 4), f"slot {slot} as it was")
                pages = pages[PAGE:]
                compared += 1
    at_least(compared, 2 * RUN, "pages that came")
    owner.close()
