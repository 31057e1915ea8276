# SPDX-License-Identifier: GPL-2.0
"""Pages of compressed devices on the wire: fewer bytes, whatever a peer knows or says.

        node0 ------ node1 …      the last node may be a peer by hand, see
                                  tests/nswaptest/rawwire.py
"""
import contextlib
import json
import struct
import threading

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import (HAS_ALL, HAS_SHORT, LOAD, LOAD_REPLY, OK, PAGE, SHORT, STORE,
                               Message, Peer, shortened)
from nswaptest.scenario import sibling
from nswaptest.work import Slots

compress = sibling("compress")
add, all_right = compress.add, compress.all_right

DESCRIPTION = "pages of compressed devices travel short, and no length is believed"
SUITES = ("lab",)
NEEDS = ("module", "dmsetup")
TIMEOUT = 240

MANY = 192
# of the bytes of the pages, at most so many travel each way, in percent
MOST = {"random": 103, "text": 72, "mixed": 75}


def traffic(node):
    """Bytes that a node has sent and received."""
    link = json.loads(node.run(["ip", "-s", "-j", "link", "show", node.iface]).check().out)
    stats = link[0]["stats64"]
    return stats["tx"]["bytes"], stats["rx"]["bytes"]


def measured(client, dev, seed, data):
    """Shares of the bytes of pages, in percent, that travel when they are written, and
    when they are read."""
    with Slots(dev, seed, data) as slots:
        before = traffic(client)
        for first in range(1, MANY, 32):
            slots.write(first, 32)
        between = traffic(client)
        equal(slots.compare_runs(32), (len(slots.count), 0), "read, and wrong")
        after = traffic(client)
    return ((between[0] - before[0]) * 100 // (MANY * PAGE),
            (after[1] - between[1]) * 100 // (MANY * PAGE))


def test_bytes(t):
    """What can be compressed takes fewer bytes, out and in, and what cannot no more than
    without."""
    cluster = t.cluster(2)
    client = cluster[0]
    client.up(lend="0")
    cluster[1].up(lend="32M")
    cluster.wait_connected()
    for args in (("--compress", "off", "--no-seal"), ("--compress", "lz4", "--no-seal"),
                 ("--compress", "zstd", "--seal")):
        dev = add(client, "--size", "8M", *args)
        for data, most in MOST.items():
            said = measured(client, dev, t.seed, data)
            t.log(f"{args[1]}, {args[2]}, {data}: {said[0]} % out, {said[1]} % in")
            if args[1] == "off":
                most = 103
                at_least(min(said), 100, "percent without compression")
            at_most(max(said), most, f"percent of {data} pages")
        client.device_del(dev)


class Whose(Peer):
    """A lender by hand that counts what comes short, and may lie about what it sends."""

    def __init__(self, node, others, features=HAS_ALL):
        super().__init__(node, others, features=features)
        self.lie, self.lies = None, 0

    def short(self, kind):
        """Messages of a kind with the flag, and without it."""
        return [sum(n for (of, flags), n in self.asked.items()
                    if of == kind and bool(flags & SHORT) == flag) for flag in (True, False)]

    def _load(self, q):
        if not self.lie:
            return super()._load(q)
        self.lies += 1
        gens = struct.unpack_from(f"<{q.nr}I", q.payload)
        pages = [self.pages[q.instance, q.slot + i][1] for i, _ in enumerate(gens)]
        return self.lie(q, [shortened(page) for page in pages])


@contextlib.contextmanager
def by_hand(t, *args, lenders=1, features=HAS_ALL, data="text", size=("--size", "8M")):
    """As in compress.py: (client, device, slots, lenders)."""
    cluster = t.cluster(1 + lenders)
    client = cluster[0]
    client.up(lend="0", open=True)
    with contextlib.ExitStack() as stack:
        peers = [Whose(node, [client], features) for node in cluster.nodes[1:]]
        for peer in peers:
            stack.callback(peer.close)
        wait_for(lambda: len(client.peers()) == lenders, 10, "the lenders are heard")
        dev = add(client, *size, "--compress", "lz4", *args)
        client.ctl("policy", "place", "round-robin")
        with Slots(dev, t.seed, data) as slots:
            for first in range(1, 193, 32):
                slots.write(first, 32)
            yield client, dev, slots, peers
        client.device_del(dev)


def test_not_known(t):
    """A peer that does not know short pages gets whole ones, and is not asked for others."""
    with by_hand(t, "--no-seal", features=HAS_ALL & ~HAS_SHORT) as (client, _, slots, peers):
        all_right(client, slots)
        for kind in (STORE, LOAD):
            short, whole = peers[0].short(kind)
            equal(short, 0, "messages with the flag")
            at_least(whole, 6, "without it")


def test_known(t):
    """One that does gets short ones, but for those that are no shorter."""
    with by_hand(t, "--seal", lenders=2, size=("--size", "8M", "--protect", "mirror")) as \
            (client, _, slots, peers):
        all_right(client, slots)
        for peer in peers:
            equal(peer.short(STORE)[1], 0, "STOREs with whole pages")
            at_least(peer.short(STORE)[0], 6, "with short ones")
            at_most(max(len(shortened(page)) for _, page in peer.pages.values()), 3072,
                    "bytes of a page")
        slots.data = "random"
        was = [peer.short(STORE)[0] for peer in peers]
        for first in range(1, 193, 32):
            slots.write(first, 32)
        equal([peer.short(STORE)[0] for peer in peers], was, "STOREs with short pages")
        all_right(client, slots)


def test_checks(t):
    """Checks of groups are as long as the longest of their pages."""
    with by_hand(t, "--no-seal", "--protect", "parity:2+1", lenders=3) as (client, _, slots,
                                                                           peers):
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 30, "no page is exposed")
        all_right(client, slots)
        kept = [page for peer in peers for _, page in peer.pages.values()]
        at_least(len(kept), 192 * 3 // 2, "pages and checks")
        at_most(max(len(shortened(page)) for page in kept), 3072, "bytes of one")
        equal(sum(peer.short(STORE)[1] for peer in peers), 0, "STOREs with whole pages")
        peers[1].close()
        equal(slots.compare(), (192, 0, 0), "right, wrong, unreadable")


def answer(q, lens, pages):
    """A short LOAD_REPLY that says that all pages are here."""
    return Message(LOAD_REPLY, struct.pack("<I", OK) * q.nr +
                   struct.pack(f"<{len(lens)}H", *lens) + b"".join(pages), q.nr, SHORT)


def whole(q, pages):
    """A reply in whole pages to who asked for short ones: that is right."""
    return Message(LOAD_REPLY, struct.pack("<I", OK) * q.nr +
                   b"".join(page.ljust(PAGE, b"\0") for page in pages), q.nr)


def lengths(q, pages, change):
    """The lengths of the pages, but the last one changed."""
    lens = [len(page) for page in pages]
    return answer(q, lens[:-1] + [change(lens[-1])], pages)


# each ends the connection
REFUSED = {
    "longer than it is": lambda q, p: lengths(q, p, lambda n: n + 1),
    "shorter than it is": lambda q, p: lengths(q, p, lambda n: n - 1),
    "none, for a page that is sent": lambda q, p: lengths(q, p, lambda n: 0),
    "longer than a page": lambda q, p: answer(q, [len(x) for x in p[:-1]] + [PAGE + 1],
                                              p[:-1] + [bytes(PAGE + 1)]),
    "as long as can be said": lambda q, p: lengths(q, p, lambda n: 65535),
    "of a page that is not held": lambda q, p: Message(
        LOAD_REPLY, struct.pack("<I", 3) * q.nr + struct.pack("<H", 8) * q.nr + bytes(8 * q.nr),
        q.nr, SHORT),
    "no lengths": lambda q, p: Message(LOAD_REPLY, struct.pack("<I", OK) * q.nr + b"".join(p),
                                       q.nr, SHORT),
}
# and these are read, but what comes is not what was written
WRONG = {
    "cut": lambda q, p: answer(q, [max(len(x) - 9, 1) for x in p],
                               [x[:max(len(x) - 9, 1)] for x in p]),
    "one byte of each": lambda q, p: answer(q, [1] * q.nr, [x[:1] for x in p]),
    "turned round": lambda q, p: answer(q, [len(x) for x in p], [x[::-1] for x in p]),
}


def lies(t, seal):
    """A lender lies about lengths in every way."""
    with by_hand(t, seal) as (client, _, slots, (peer,)):
        client.ctl("set", "dead_after_ms", "1500")
        for name, lie in REFUSED.items():
            before = client.stat()["client"]["sessions"]
            peer.lies, peer.lie = 0, lie

            def told(peer=peer, before=before):
                if peer.lies > 1:
                    peer.lie = None
                return client.stat()["client"]["sessions"] > before

            true(read_while(slots, told) in
                 ([], [slots.page(slot) for slot in range(1, 9)]),
                 f"{name}: nothing wrong is read")
            peer.lie = None
            client.wait_sessions()
            equal(slots.compare(), (192, 0, 0), f"{name}: right, wrong, unreadable")
        for name, lie in WRONG.items():
            peer.lie = lie
            _, wrong, _ = slots.compare()
            equal(wrong, 0, f"{name}: wrong ones")
            peer.lie = None
            equal(slots.compare(), (192, 0, 0), f"{name}: right, wrong, unreadable")
        peer.lie = whole
        equal(slots.compare(), (192, 0, 0), "whole pages: right, wrong, unreadable")


def test_lies(t):
    """Lengths that do not add up end the session, pages of another length do not open or
    expand; what is read is right or an error, and all is right when the lies end."""
    lies(t, "--no-seal")


def test_lies_sealed(t):
    """Likewise, sealed."""
    lies(t, "--seal")


def read_while(slots, told):
    """Read some slots, which may take until the lies end; [] if that fails."""
    got = []

    def read():
        with contextlib.suppress(OSError):
            got.extend(slots.read_run(1, 8))
    thread = threading.Thread(target=read)
    thread.start()
    wait_for(told, 20, "the session breaks")
    thread.join()
    return got


def test_from_home(t):
    """Pages that are moved out from home travel short."""
    with disk(16) as home:
        with by_hand(t, "--no-seal", size=("--home", home.path)) as (client, dev, slots,
                                                                    (peer,)):
            peer.full = True
            for first in range(1, 193, 32):
                slots.write(first, 32)
            equal(client.devices()[0]["slots_home"], 192, "pages at home")
            before = peer.short(STORE)
            peer.full = False
            wait_for(lambda: slots.compare() and
                     client.stat()["client"]["pages_home_to_remote"] >= 32, 60,
                     "pages of a device in use are moved out")
            equal(peer.short(STORE)[1], before[1], "STOREs with whole pages")
            at_least(peer.short(STORE)[0] - before[0], 1, "with short ones")
            all_right(client, slots)
