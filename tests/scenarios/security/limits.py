# SPDX-License-Identifier: GPL-2.0
"""What a host that does not keep to the rules can hold, and for how long.

        node0 ------ node1        node1 is a peer by hand, see tests/nswaptest/rawwire.py

It dribbles, stops in the middle of messages, reboots in an odd order; programs without
the right set no RAM aside, and those with it pay for what they ask for.
"""
import contextlib
import socket
import struct
import time

from nswaptest.check import at_least, at_most, equal, hold, true, wait_for
from nswaptest.disk import disk
from nswaptest.rawwire import (CONTROL, LOAD, LOADS, MOVE, MOVES, NO_ROOM, OK, PAGE, PING,
                               PONG, RETURN, TELLS, Link, Message, hello)
from nswaptest.work import Slots

DESCRIPTION = "silent, slow and odd hosts hold nothing for long; control needs the right"
SUITES = ("lab",)
NEEDS = ("module", "inject", "progs", "setpriv")
TIMEOUT = 120

HELLO_S = 5             # for each part of a HELLO
MESSAGE_S = 4           # for each part of a message of a move
PAGES = 32              # of one message
MOVER_CONNS = 32        # of one node
SLACK = 3


def dribble(link, data, seconds):
    """Send a byte every 0.2 s; after how long the other side closed, None if it did
    not within so many seconds."""
    begin = time.monotonic()
    link.sock.settimeout(0.2)
    for at in range(len(data)):
        with contextlib.suppress(TimeoutError):
            try:
                link.sock.sendall(data[at:at + 1])
                if not link.sock.recv(1):
                    return time.monotonic() - begin
            except (BrokenPipeError, ConnectionResetError):
                return time.monotonic() - begin
        if time.monotonic() > begin + seconds:
            return None
    return None


def test_slow_hello(t):
    """A HELLO that dribbles ends like one that does not come."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="1M")
    link = Link(last, node.addr)
    took = dribble(link, hello(link.who, 1, 1, link.ticket).packed(), 4 * HELLO_S)
    at_most(took or 4 * HELLO_S, 2 * HELLO_S + SLACK, "seconds until the connection is closed")
    link.close()


def test_urgent(t):
    """A byte sent as urgent is one of the message, like any other: what counts as come can be
    received, so no stranger holds a thread with a header that looks complete."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="1M")
    for at in (16, 64, len(hello(1, 1, 1, 1).packed())):
        link = Link(last, node.addr, timeout=2)
        said = hello(link.who, 1, at, link.ticket).packed()
        link.sock.sendall(said[:at - 1])
        link.sock.send(said[at - 1:at], socket.MSG_OOB)
        link.sock.sendall(said[at:])
        equal(link.answer().status, OK, f"status of a hello whose byte {at} was urgent")
        link.close()


def mover(last, node):
    """A link of a mover."""
    link = Link(last, node.addr)
    equal(link.hello(session=0, kind=MOVES).status, OK, "status of a mover's hello")
    return link


def names(first, nr, instance=1, gen=1):
    """Names of pages, as in messages of a move."""
    return b"".join(struct.pack("<QII", first + i, instance, gen) for i in range(nr))


def test_slow_return(t):
    """A RETURN that dribbles holds the device's buffers no longer than a message takes:
    the device can be deleted meanwhile."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="0")
    with disk(8) as home:
        dev = node.ctl("device", "add", "--home", home.path)["device"]
        info = node.stat()["node"]
        owner = struct.pack("<QQ", int(info["id"], 16), int(info["epoch"], 16))
        link = mover(last, node)
        message = Message(RETURN, owner + names(8, PAGES) + bytes(PAGES * PAGE), PAGES)
        data = message.packed()
        begun = len(data) - PAGES * PAGE
        link.sock.sendall(data[:begun])
        took = dribble(link, data[begun:], 4 * MESSAGE_S)
        at_most(took or 4 * MESSAGE_S, MESSAGE_S + SLACK,
                "seconds until the connection is closed")
        link.close()
        link = mover(last, node)
        link.sock.sendall(data[:begun + 1])
        begin = time.monotonic()
        node.device_del(dev)
        at_most(time.monotonic() - begin, MESSAGE_S + SLACK,
                "seconds until the device is deleted")
        link.close()


def test_many_movers(t):
    """One node takes a few connections of a mover, not those of all other nodes."""
    cluster = t.cluster(3)
    node, client, last = cluster
    node.up(lend="4M")
    client.up(lend="0")
    told = []
    for i in range(MOVER_CONNS + 8):
        link = Link(last, node.addr)
        told.append((link.hello(session=0, kind=(MOVES, TELLS)[i % 2]).status, link))
    equal([status for status, _ in told], [OK] * MOVER_CONNS + [NO_ROOM] * 8,
          "what the node's hellos are answered")
    cluster.wait_connected([node, client])
    dev = client.device_add("1M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 32)
        equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable pages of another owner")
    client.device_del(dev)
    for _, link in told:
        link.close()

    def again():
        link = Link(last, node.addr)
        status = link.hello(session=0, kind=MOVES).status
        link.close()
        return status == OK
    wait_for(again, 10, "a mover may connect again")


def test_half_move(t):
    """A mover that stops in the middle of a MOVE holds its pages for no longer than a
    message takes."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend=f"{PAGES * PAGE >> 10}K")
    wait_for(lambda: node.stat()["server"]["set_aside_pages"] == PAGES, 10,
             "pages are set aside")
    link = mover(last, node)
    data = Message(MOVE, struct.pack("<QQ", 77, 1) + names(1, PAGES) +
                   bytes(PAGES * PAGE), PAGES).packed()
    link.sock.sendall(data[:-PAGE])
    wait_for(lambda: node.stat()["server"]["set_aside_pages"] < PAGES, 2,
             "they are taken")
    begin = time.monotonic()
    wait_for(lambda: node.stat()["server"]["set_aside_pages"] == PAGES,
             4 * MESSAGE_S, "they are given back")
    at_most(time.monotonic() - begin, MESSAGE_S + SLACK, "seconds that they were held")
    link.close()


def joined(last, node, epoch, kind=CONTROL):
    """A link of the first session of an epoch."""
    link = Link(last, node.addr)
    equal(link.hello(epoch=epoch, session=1, kind=kind).status, OK,
          f"status of a hello in epoch {epoch}")
    return link


def test_same_session(t):
    """An owner that has rebooted is in its first session again; the end of the old
    first session is not that of the new one."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="1M")
    old = joined(last, node, 1)
    new = joined(last, node, 2)
    loads = joined(last, node, 2, LOADS)
    equal(old.answer(), None, "what comes over the old control connection")
    hold(0.5)
    for link in (new, loads):
        link.sock.settimeout(5)
    equal(new.ask(Message(PING)).kind, PONG, "answer to a ping of the new epoch")
    load = Message(LOAD, struct.pack("<I", 1), 1, slot=5, instance=1)
    true(loads.ask(load), "a load of the new epoch is answered")
    for link in (old, new, loads):
        link.close()


def test_reaped_early(t):
    """A connection is swept only once it has ended, however slowly it is handed to its
    thread: no other connection gets its thread meanwhile."""
    cluster = t.cluster(2, inject=True)
    node, last = cluster
    node.up(lend="1M")
    node.inject(slow_link=1)
    first = joined(last, node, 1)
    second = mover(last, node)
    for link in (first, second):
        link.sock.settimeout(5)
    equal(first.ask(Message(PING)).kind, PONG, "answer to a ping on the first")
    second.send(Message(MOVE, struct.pack("<QQ", 77, 1) + names(1, 1) + bytes(PAGE), 1))
    true(second.answer(), "a move on the second is answered")
    for link in (first, second):
        link.close()


def test_cleared(t):
    """What owners had in lent pages is gone when these go back to the system, unless
    clear_freed is off."""
    cluster = t.cluster(2, inject=True)
    node, owner = cluster
    owner.up(lend="0")
    for clear in (0, 1):
        node.up(lend="1M")
        node.ctl("set", "clear_freed", clear)
        cluster.wait_connected()
        node.inject(uncleared=0)
        dev = owner.device_add("2M")
        with Slots(dev, t.seed) as slots:
            for first in range(1, 257, 32):
                slots.write(first, 32)
        equal(node.stat()["server"]["held_pages"], 256, "pages held, all it lends")
        owner.device_del(dev)
        node.run([node.prog("nswapctl"), "down"])
        found = int(node.read("/sys/module/nswap/parameters/inject_uncleared"))
        if clear:
            equal(found, 0, "pages that went back as they were")
        else:
            at_least(found, 256, "pages that went back as they were")


def test_rights(t):
    """Setting RAM aside needs CAP_SYS_ADMIN, and so does a down that drains the node;
    CAP_NET_ADMIN, which a container may have for its interfaces, is not enough. Looking needs
    nothing."""
    cluster = t.cluster(2)
    node, owner = cluster
    node.up(lend="1M")
    owner.up(lend="0")
    cluster.wait_connected()
    ctl, drop = node.prog("nswapctl"), ["setpriv", "--bounding-set", "-sys_admin"]
    for args in (["lend", "2M"], ["device", "add", "--size", "4M"],
                 ["set", "headroom_pct", "20"]):
        done = node.run([*drop, ctl, *args], check=False)
        equal((done.code, "CAP_SYS_ADMIN" in done.err), (1, True),
              f"{' '.join(args)} without it: {done.err}")
    for path, text in (("policies", "- size watermark"), ("prefetch/enable", "on")):
        done = node.run([*drop, "sh", "-c", f"echo {text} | tee /proc/nswap/{path}"], check=False)
        true(done.code and "not permitted" in done.err, f"{path} without it: {done.err}")
    equal(node.run([*drop, ctl, "peers"], check=False).code, 0, "looking")
    dev = owner.device_add("1M")
    owner.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=64k", "count=8", "oflag=direct"])
    held = node.stat()["server"]["held_pages"]
    done = node.run([*drop, ctl, "down"], check=False)
    equal((done.code, "CAP_SYS_ADMIN" in done.err, node.stat()["server"]["held_pages"]),
          (1, True, held), f"down of a node that holds {held} pages without it: {done.err}")
    owner.run([*drop, ctl, "device", "del", dev])
    wait_for(lambda: not node.stat()["server"]["held_pages"], 10, "nothing is held")
    node.run([*drop, ctl, "down"])
    done = node.run([*drop, ctl, "up", "--open", "--lend", "1M"], check=False)
    equal((done.code, "CAP_SYS_ADMIN" in done.err), (1, True),
          f"up without it: {done.err}")


def test_charged(t):
    """The memory that describes a large device is that of the program that asks for it:
    a memory cgroup that has not so much refuses it, and nothing is killed."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.up(lend="0")
    ctl = node.prog("nswapctl")
    done = node.run([ctl, "device", "add", "--size", "16G"], check=False,
                    memory_max="16M")
    equal((done.code, node.devices()), (1, []), f"a device of 16 GiB: {done.err}")
    true("memory" in done.err, f"it says why: {done.err}")
    node.run([ctl, "device", "add", "--size", "1G"], memory_max="16M")
    node.device_del(node.devices()[0]["device"])
