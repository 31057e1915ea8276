# SPDX-License-Identifier: GPL-2.0
"""Announcements, netlink and /proc: datagrams, requests and texts made at random.

        node ------ server ------ host        the last is no node of the module

Afterwards the nodes come up again and work as ever.
"""
import contextlib
import errno
import itertools
import os
import pathlib
import socket
import struct

from nswaptest import fuzzing, fuzznl, rawkeys
from nswaptest.check import Failure, at_most, equal, hold, true, wait_for
from nswaptest.netns import inside
from nswaptest.rawnl import Raw
from nswaptest.rawwire import ANNOUNCE, PORT, Message
from nswaptest.scenario import sibling
from nswaptest.work import Slots

keys = sibling("keys")

DESCRIPTION = "fuzzing: announcements, netlink requests, writes to /proc"
SUITES = ("fuzz",)
NEEDS = ("module", "progs")
TIMEOUT = 7200

PAGES = 64
EVERY = 500
PATIENCE = 600          # dead_after: on a debug kernel an answer may take long


def works(t, node, server):
    """A device on the server, written and read; deleted afterwards."""
    wait_for(lambda: node.peers().get(server.addr, {}).get("state") in ("new", "up"), 15,
             "the server is heard")
    fuzzing.use_device(t, node, PAGES)


# -- announcements ------------------------------------------------------------------

def announcement(host, ids):
    """A maker of datagrams from a host; ids: what they call themselves, mostly."""
    ip = socket.inet_aton(host.addr) + bytes(12)

    def one(rng):
        who = rng.choice(ids) if rng.random() < 0.98 else rng.getrandbits(64)
        body = struct.pack("<QQHHI16sQQQ", who, rng.choice((1, 2, 3)),
                           rng.choice((2,) * 9 + (10,)), PORT, 0, ip,
                           *(fuzzing.number(rng, 64) for _ in range(3)))
        message = Message(ANNOUNCE, body, flags=rng.choice((0, 0, 2, 4, 0x10)),
                          ident=fuzzing.number(rng, 64),
                          version=2 if rng.random() < 0.9 else rng.randrange(4))
        data = message.packed()
        return fuzzing.changed(rng, data) if rng.random() < 0.3 else data

    return one


def signed(cluster, data, number):
    """A datagram with the tag that a member gives it, and a number."""
    bare = data[:16] + struct.pack("<Q", number) + data[24:56] + bytes(16) + data[72:]
    tag = rawkeys.derive(rawkeys.derive(cluster, "nswap announce"), "nswap datagram", bare)
    return bare[:56] + tag[:16] + bare[72:]


def hear(t, node, server, host, make, wrap=lambda data: data):
    """Announce whatever comes up, while a device of the node is in use."""
    dev = node.device_add("4M")
    with inside(host):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((host.addr, PORT))
    tries = fuzzing.Inputs(t, "announce", make)
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)

        def round_ends():
            try:
                equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
                equal(node.peers()[server.addr]["state"], "up", "the session")
                at_most(len(node.ctl("peers")), 1023, "peers")
            except (Failure, KeyError) as why:
                raise tries.fail(f"{why}") from why

        for data in tries:
            with contextlib.suppress(OSError):
                udp.sendto(wrap(data), (node.addr, PORT))
            if tries.number % 16 == 0:
                hold(0.003)     # the node's turn
            if tries.number % EVERY == 0:
                round_ends()
        round_ends()
    udp.close()
    heard = node.stat()["announce"]
    t.log(f"announcements: {heard}, {len(node.ctl('peers'))} peers")
    node.device_del(dev)
    return heard


def test_announce(t):
    """Announcements to a node without keys, changed and not."""
    cluster = t.cluster(3)
    node, server, host = cluster
    node.up(lend="0", dead_after=PATIENCE)
    server.up(lend="8M")
    cluster.wait_connected([node, server])
    info = server.stat()["node"]
    ids = [7, 8, 9, int(info["id"], 16), int(node.stat()["node"]["id"], 16)]
    heard = hear(t, node, server, host, announcement(host, ids))
    fuzzing.enough(heard["heard"], 20, "announcements accepted")
    fuzzing.enough(heard["rejected"], 20, "announcements rejected")
    node.down()
    node.up(lend="0")
    works(t, node, server)


def test_announce_keys(t):
    """Announcements of a member that has gone mad, and of a stranger."""
    cluster = t.cluster(3)
    node, server, host = cluster
    members = cluster.scratch / "members"
    files = {}
    for one in cluster:
        files[one], public = keys.key(one, cluster)
        node.ctl("key", "trust", members, one.name, public)
    for one in (node, server):
        one.up(lend="8M", key=files[one], members=members, dead_after=PATIENCE)
    cluster.wait_connected([node, server])
    member = rawkeys.Keys.of(files[host], members)
    info = server.stat()["node"]
    make = announcement(host, [member.id, member.id, 7, int(info["id"], 16)])
    count = itertools.count(1)

    def wrap(data):
        """Mostly signed, mostly with a number that rises."""
        if len(data) < 72 or data[-1] % 4 == 1:
            return data
        return signed(member.cluster, data, 1 if data[-1] % 4 == 2 else next(count))

    heard = hear(t, node, server, host, make, wrap)
    fuzzing.enough(heard["heard"], 20, "announcements believed")
    fuzzing.enough(heard["forged"], 20, "announcements not believed")
    node.down()
    node.up(lend="8M", key=files[node], members=members)
    works(t, node, server)


# -- netlink ------------------------------------------------------------------------

def put_away(cluster):
    """No device, no node."""
    ctl = cluster.outside
    for one in ctl.ctl("nodes"):
        for dev in ctl.ctl("--node", one["number"], "device", "list"):
            ctl.ctl("--node", one["number"], "device", "del", dev["device"])
        ctl.ctl("--node", one["number"], "down")


def test_netlink(t):
    """Requests made of any attributes: each is answered, and the node works afterwards."""
    cluster = t.cluster(2)
    node, server = cluster
    node.up(lend="2M")
    raw, answers, without = Raw(node), {}, 0
    tries = fuzzing.Inputs(t, "netlink", fuzznl.request)
    for data in tries:
        command, version, flags = struct.unpack_from("=BBH", data)
        if not fuzznl.tame(data[4:]):
            continue
        try:
            answer = raw.ask(command, data[4:], flags=flags, version=version)
        except OSError as why:
            raise tries.fail(f"no answer: {why}") from why
        answers[answer.errno] = answers.get(answer.errno, 0) + 1
        without = without + 1 if answer.errno == errno.ENODEV else 0
        if tries.number % EVERY == 0 or without == 8:
            put_away(cluster)
            node.up(lend="2M")
            node.device_add("1M", wait=False)
            without = 0
    t.log(f"answers by errno: { {errno.errorcode.get(e, e): n for e, n in answers.items()} }")
    fuzzing.enough(answers.get(0, 0), tries.count // 100, "requests done")
    fuzzing.enough(answers.get(errno.EINVAL, 0), 20, "requests refused")
    raw.close()
    put_away(cluster)
    server.up(lend="8M")
    node.up(lend="2M")
    works(t, node, server)


# -- /proc --------------------------------------------------------------------------

def knobs(node):
    """The files of /proc/nswap that may be written."""
    found = node.run("cd /proc/net/nswap && find . -type f -perm -u+w").out.split()
    return sorted(name.removeprefix("./") for name in found)


def test_proc(t):
    """Writes of any text to /proc/nswap; reads of all of it meanwhile."""
    cluster = t.cluster(2)
    node, server = cluster
    server.up(lend="8M")
    node.up(lend="2M")
    files = knobs(node)
    true(files, "nothing in /proc/nswap can be written")
    words = [w.encode() for w in (*fuzznl.WORDS, "place", "size", "read", "always", "adaptive")]
    done = {}

    def text(rng):
        made = b" ".join(rng.choice(words) for _ in range(rng.randint(0, 4)))
        made += b"\n" * rng.randrange(2)
        if rng.random() < 0.3:
            made = str(fuzzing.number(rng, 64)).encode()
        if rng.random() < 0.3:
            made = fuzzing.changed(rng, made)
        return bytes([rng.randrange(len(files))]) + made * rng.choice((1, 1, 1, 40))

    tries = fuzzing.Inputs(t, "proc", text)
    with inside(node):
        folder = pathlib.Path("/proc/thread-self/net/nswap")
        for data in tries:
            file = os.open(folder / files[data[0] % len(files)], os.O_RDWR)
            try:
                os.write(file, data[1:])
                code = 0
            except OSError as why:
                code = why.errno
            finally:
                os.close(file)
            done[code] = done.get(code, 0) + 1
            if tries.number % 50 == 0:
                for path in folder.rglob("*"):
                    if path.is_file():
                        path.read_bytes()
    t.log(f"writes by errno: { {errno.errorcode.get(e, e): n for e, n in done.items()} }")
    fuzzing.enough(done.get(0, 0), 1, "writes that were accepted")
    fuzzing.enough(done.get(errno.EINVAL, 0), 1, "writes that were refused")
    put_away(cluster)
    server.up(lend="8M")
    node.up(lend="2M")
    works(t, node, server)
