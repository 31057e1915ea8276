# SPDX-License-Identifier: GPL-2.0
"""nswapctl stat --cluster: every node of the cluster in one table.

        node0 ------ node1        node0 swaps, the others lend
             `------ node2        the last one may be a peer by hand
"""
import dataclasses
import json
import re
import struct
import time

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.rawwire import (CONTROL, HAS_STAT, HAS_TIMED, PING, PONG, STAT, STAT_REPLY,
                               TELLS, Link, Message)
from nswaptest.scenario import sibling
from nswaptest.work import Slots

protocol = sibling("protocol")

DESCRIPTION = "the totals of all nodes, asked of them"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120
ONLY_FULL = {"many": "a node each for thirty peers takes half a minute, and survey.silent has five"}

SOFTWARE = struct.pack("16s", b"9.8.7")
OLDER = "an older version, which tells nothing of itself"
NONSENSE = "what it answers makes no sense"
SILENT = "has not answered within 2 s"


def survey(node):
    """What the table says: {address: row}; it takes no more than a few seconds."""
    began = time.monotonic()
    rows = node.ctl("stat", "--cluster")
    at_most(time.monotonic() - began, 5, "seconds that the survey took")
    equal([r["addr"] for r in rows if r["self"]], [node.addr], "the node itself")
    return {r["addr"]: r for r in rows}


@dataclasses.dataclass
class Row:
    """A line of the table; figures by the titles of their columns, or why there are none."""
    name: str
    state: str
    figures: dict
    why: str


def rows_of(text):
    """The rows of one table, none of them wider than a terminal."""
    lines = [line for line in text.splitlines() if line]
    at_most(max(map(len, lines)), 80, f"columns of {text}")
    while not lines[0].startswith("NODE "):
        lines.pop(0)
    titles, rows, name = lines[0].split()[2:], [], ""
    for line in lines[1:]:
        if " " not in line:
            name = line     # one that is too long for its column
            continue
        name, state, rest = name or line[:15].strip(), line[16:26].strip(), line[26:]
        figures = rest.split()
        told = not rest.startswith("  ") or all(re.match(r"[\d-]", f) for f in figures)
        rows.append(Row(name, state, dict(zip(titles, figures)) if told else {},
                        "" if told else rest.strip()))
        name = ""
    return rows


def table(t, node, *args):
    """The table as people see it."""
    text = node.run([node.prog("nswapctl"), "stat", "--cluster", *args]).check().out
    t.log(text)
    return rows_of(text)


def own(node):
    """What a node's own stat and device list say, by the keys of the survey."""
    stat, devices = node.stat(), node.devices()
    client = stat["client"]
    return {
        "lent_pages": stat["node"]["target_pages"],
        "held_pages": stat["node"]["held_pages"],
        "owners": stat["node"]["owners"],
        "devices": len(devices),
        "device_pages": sum(d["size_bytes"] for d in devices) // 4096,
        "remote_pages": sum(d["slots_remote"] for d in devices),
        "exposed_pages": sum(d["exposed_pages"] for d in devices),
        "lost_pages": sum(d["slots_lost"] for d in devices),
        "flash_pages": sum(d["slots_flash"] for d in devices),
        "home_pages": sum(d["slots_home"] for d in devices),
        "pages_out": sum(client[k] for k in
                         ("pages_out", "pages_flash_out", "pages_home_out")),
        "pages_in": sum(client[k] for k in
                        ("pages_in", "pages_flash_in", "pages_home_in")),
    }


def agree(t, keys):
    """Each of three nodes shows of each what that one shows of itself."""
    cluster = t.cluster(3)
    for node in cluster:
        node.up(lend="8M", secret=node.secret() if keys else None, open=not keys)
    cluster.wait_connected()
    dev = cluster[0].device_add("8M")
    second = cluster[0].device_add("4M")
    cluster[0].ctl("device", "protect", second, "mirror")
    with Slots(dev, t.seed) as slots, Slots(second, t.seed) as copies:
        for first in range(1, 257, 32):
            slots.write(first, 32)
        copies.write(1, 32)
        equal(slots.compare(), (256, 0, 0), "right, wrong, unreadable slots")
        for asker in cluster:
            rows = survey(asker)
            equal(set(rows), {n.addr for n in cluster}, "nodes in the table")
            for node in cluster:
                row, has = rows[node.addr], own(node)
                equal({k: row.get(k) for k in has}, has, f"{asker} of {node}")
                equal((row["told"], row["why"]), (True, ""), f"{asker} of {node}")
        equal(rows[cluster[0].addr]["remote_pages"], 288, "pages of node0 at peers")
        # a page of the mirrored device is at two
        equal(sum(r["held_pages"] for r in rows.values()), 320, "pages that are held")
        rows = table(t, cluster[1])
        equal([r.name for r in rows], [cluster[n].addr for n in (1, 0, 2)] + ["together"],
              "rows, the node itself first")
        equal((rows[-1].state, rows[-1].figures["PEERS"], rows[-1].figures["HOLDS"]),
              ("3 of 3", "1.1M", "1.2M"), f"sums of {rows}")
    cluster[0].device_del(second)
    cluster[0].device_del(dev)


def test_agree(t):
    """Open nodes; two of them only lend, and have no session."""
    agree(t, False)


def test_members(t):
    """Members only, by keys."""
    agree(t, True)


def test_cut(t):
    """One node is cut off: its row says so, the others' are there; the one that is cut
    off shows itself alone."""
    cluster = t.cluster(3)
    cluster.up(lend="8M")
    cluster.wait_connected()
    node, other, away = cluster
    dev = node.device_add("8M")
    cluster.isolate(away)
    for asker, third in ((node, other), (other, node)):
        rows = survey(asker)
        equal((rows[away.addr]["told"], rows[third.addr]["told"]), (False, True),
              "told by the one that is cut off, by the other")
        true(rows[away.addr]["why"], f"{rows[away.addr]} does not say why")
    wait_for(lambda: survey(node)[away.addr]["state"] in ("suspected", "dead"), 20,
             "the state of the one that is cut off")
    true(survey(node)[away.addr]["why"], "a suspected peer's row does not say why")
    rows = survey(away)
    equal([r["told"] for a, r in sorted(rows.items())], [False, False, True],
          "what the one that is cut off was told")
    cluster.heal(away)
    wait_for(lambda: survey(node)[away.addr]["told"], 20, "it is back")
    node.device_del(dev)


def fall_silent(t, peers, nr_silent):
    """Of so many peers some fall silent at once: no line is wider than a terminal, the
    answer is there in time, and each silent one has a line that says why. Rates are those of
    the pages that went and came in between."""
    cluster = t.cluster(peers + 1)
    node, silent = cluster[0], cluster.nodes[-nr_silent:]
    told = peers + 1 - nr_silent
    for each in cluster:
        each.up(lend="1M")
    wait_for(lambda: len([p for p in node.peers().values() if p["fresh"]]) == peers, 30,
             f"{peers} peers are heard of")
    dev = node.device_add("8M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 256)
        for each in silent:
            each.run(["ip", "link", "set", each.iface, "down"])
        rows = survey(node)
        equal({a for a, r in rows.items() if not r["told"]}, {n.addr for n in silent},
              "those that told nothing")
        rows = table(t, node)
        equal(len(rows), peers + 2, f"rows of {rows}")
        equal((rows[0].name, rows[0].state, rows[-1].state),
              (node.addr, "here", f"{told} of {peers + 1}"),
              "the first row, and how many told")
        equal(sorted(r.name for r in rows if r.why), sorted(n.addr for n in silent),
              "rows without figures")
        true(all(re.match("(has not answered within|no answer for|unreachable)", r.why)
                 for r in rows if r.why), f"reasons: {[r.why for r in rows if r.why]}")
        equal(rows[0].figures["PEERS"], "1M", "pages at peers")
        looking = node.popen([node.prog("nswapctl"), "--json", "stat", "--cluster",
                              "--interval", "1", "--times", "3"])
        while looking.poll() is None:
            slots.write(1, 64)
        looks = [json.loads(line) for line in looking.wait(20).check().out.splitlines()]
        equal(len(looks), 3, "looks")
        fastest = max(look[0]["pages_out_s"] for look in looks)
        at_least(fastest, 1, "pages a second that went out, of the node that swaps")
        equal([r["pages_out_s"] for r in looks[0][1:] if r["told"]], [0] * (told - 1),
              "of the others")
        rows = table(t, node, "--interval", "1", "--times", "1")
        true("OUT/s" in rows[0].figures, f"titles of {rows[0]}")
    for each in silent:
        each.run(["ip", "link", "set", each.iface, "up"])
    node.device_del(dev)


def test_silent(t):
    """A few peers."""
    fall_silent(t, 5, 2)


def test_many(t):
    """As many as a rack has."""
    fall_silent(t, 30, 5)


def test_addresses(t):
    """A port is shown if it is another one; a long address has a line of its own."""
    node = t.cluster(1)[0]
    longest = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff"
    node.up(peers=f"10.77.0.9:1,10.77.0.10,{longest}")
    rows = table(t, node)
    equal([(r.name, r.state, r.why) for r in rows[1:-1]],
          [("10.77.0.9:1", "new", "not heard of yet"), ("10.77.0.10", "new", "not heard of yet"),
           (longest, "new", "not heard of yet")], "peers, by address")
    equal((rows[0].name, rows[-1].state), (node.addr, "1 of 4"), "the node, how many told")


def answers():
    """What a peer by hand may answer, and what is to be shown: why, and some totals."""
    most = (1 << 50) - 1
    return (
        (Message(STAT_REPLY, SOFTWARE + struct.pack("<Q", 7), 1), "", {"lent_pages": 7}),
        (Message(STAT_REPLY, SOFTWARE + struct.pack("<32Q", *range(13), *[2 ** 64 - 1] * 19),
                 32), "", {"held_pages": 1, "pages_in": 12}),
        (Message(STAT_REPLY, SOFTWARE + struct.pack("<Q", most), 1), "",
         {"lent_pages": most}),
        (Message(STAT_REPLY, SOFTWARE + struct.pack("<Q", most + 1), 1), NONSENSE, {}),
        (Message(STAT_REPLY, SOFTWARE, 0), NONSENSE, {}),
        (Message(STAT_REPLY, SOFTWARE + bytes(8), 2), NONSENSE, {}),
        (Message(STAT_REPLY, SOFTWARE + bytes(8 * 33), 33), NONSENSE, {}),
        (Message(STAT_REPLY, b"\33[2Jhello\0\0\0\0\0\0\0" + bytes(8), 1), NONSENSE, {}),
        (Message(PONG), NONSENSE, {}),
        (Message(STAT_REPLY, SOFTWARE + struct.pack("<Q", 7), 1, version=9), None, {}),
        (None, SILENT, {}),
    )


def test_by_hand(t):
    """An older peer is shown as one. Short, long, huge and other answers, and none, are
    one row that says so; the session with that peer stands."""
    cluster = protocol.start(t)
    node, real, last = cluster
    with protocol.by_hand(last, [node, real]) as peer:
        dev = node.device_add("8M", wait=False)
        wait_for(lambda: protocol.shown(node, last) == ("up", 2, ""), 15, "a session")
        row = survey(node)[last.addr]
        equal((row["told"], row["why"]), (False, OLDER), "an older peer")
        equal(peer.asked.get((STAT, 0), 0), 0, "questions it does not know")
        peer.restart(features=HAS_TIMED | HAS_STAT)
        wait_for(lambda: protocol.shown(node, last) == ("up", 2, "") and
                 len(peer.hellos) >= 2, 15, "another session")
        sessions = node.stat()["client"]["sessions"]
        with Slots(dev, t.seed) as slots:
            slots.write(1, 32)
            for peer.tells, why, totals in answers():
                rows = survey(node)
                row = rows[last.addr]
                equal(row["told"], why == "", f"told by {peer.tells}")
                equal(row["why"] if why is not None else bool(row["why"]),
                      why if why is not None else True, f"why, after {peer.tells}")
                equal({k: row.get(k) for k in totals}, totals, f"totals of {peer.tells}")
                true(rows[real.addr]["told"], "the other peer has told nothing")
            equal(slots.compare(), (32, 0, 0), "right, wrong, unreadable slots")
        equal((node.stat()["client"]["sessions"], protocol.shown(node, last)[0]),
              (sessions, "up"), "sessions so far, and the one with it")
        node.device_del(dev)


def test_server(t):
    """A node answers a STAT on a link of class TELL where the feature is in use, and
    closes any other that brings one."""
    cluster = t.cluster(2)
    node, last = cluster
    node.up(lend="8M")
    for kind, features, right in ((TELLS, HAS_STAT, True), (TELLS, HAS_TIMED, False),
                                  (CONTROL, HAS_STAT, False)):
        link = Link(last, node.addr)
        equal(link.hello(session=0 if kind == TELLS else 1, kind=kind,
                         features=features).status, 0, "status of a hello")
        answer = link.ask(Message(STAT, ident=5))
        equal(answer is not None, right, f"answered, class {kind}, features {features}")
        if answer:
            equal((answer.kind, answer.ident, answer.nr, len(answer.payload)),
                  (STAT_REPLY, 5, 13, 16 + 13 * 8), "the answer")
            equal(struct.unpack_from("<QQQ", answer.payload, 16), (2048, 0, 2048),
                  "lent, held, free")
        link.close()
    link = Link(last, node.addr)
    link.hello(session=2)
    equal(link.ask(Message(PING)).kind, PONG, "answer to a ping afterwards")
    link.close()


def test_refused(t):
    """Who may not control the node asks nothing of its peers."""
    node = t.cluster(1)[0]
    node.up(lend="1M")
    done = node.run(f"setpriv --bounding-set -all --inh-caps -all --reuid 65534 --clear-groups "
                    f"{node.prog('nswapctl')} stat --cluster", check=False)
    equal(done.code, 1, "exit code")
    true("CAP_NET_ADMIN" in done.err, done.err)
    for wrong in (("--latency",), ("--interval", "0.9"), ("--interval", "x"), ("--times", "2"),
                  ("--interval", "1", "--times", "-1")):
        node.refused("stat", "--cluster", *wrong, code=2)
    node.refused("stat", "--interval", "1", code=2)
