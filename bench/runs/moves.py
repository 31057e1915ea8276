# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=moves: giving RAM back to another peer.

        node0 ------ node1     node0 owns the pages; node1 gives its RAM back,
             `------ node2     node2 has room, and the other way round

1 GiB of pages moves from one server to the other: from when it lends nothing
until it holds nothing.  iperf3 sends as many bytes the same way, over one
connection, in the same round.  The link is shaped to 1 Gbit/s at the sender,
and not at all; and shaped while a program of the sender's runs, which has its
memory and wants the processor: how much longer each of its accesses takes than
just before, alone.  All three nodes and the program share one processor.  Every
other transfer goes back.  At the end the owner reads all its pages and compares
them.
"""
import contextlib
import pathlib
import time

from nswaptest.check import Failure, hold, wait_for

from nswaptest.work import eater, result_of

from lib import iperf
from lib.measure import Progress, median, rounded

NODES = 3
NAMES = ["iperf3", "nswap"]
BESIDE = "1 Gbit/s, a program beside it"
LINKS = {"1 Gbit/s": 1000, "unshaped": 0, BESIDE: 1000}
MB = 1024
PROGRAM_MB = 16
MEMORY_MB = 3400          # for all pages, room for them at either end, and the lab
ALONE_S = 5
SPARE_MB = 32
PAGE = 4096
BYTES = MB << 20
CHUNK = "128k"
# Longer than any round takes; a move that stands still is an error.
LIMIT_S = 120
POLL_S = 0.01
SIZE = pathlib.Path("/proc/nswap/size")


def size(node):
    """A node's line of /proc/nswap/size, by column, without starting a
    program: the initial namespace sees every node, by number, in the order
    they came up."""
    head, *lines = SIZE.read_text().splitlines()
    for line in lines:
        row = dict(zip(head.split(), line.split()))
        if int(row["node"]) == node.index + 1:
            return row
    raise Failure(f"{node} is not in {SIZE}")


def held(node):
    """Pages a node holds."""
    return int(size(node)["held"])


@contextlib.contextmanager
def shaped(node, mbit):
    """The node sends no faster than this; 0: as fast as it can."""
    if mbit:
        node.run(["tc", "qdisc", "add", "dev", node.iface, "root", "tbf",
                  "rate", f"{mbit}mbit", "burst", "512kb", "latency", "50ms"])
    try:
        yield
    finally:
        if mbit:
            node.run(["tc", "qdisc", "del", "dev", node.iface, "root"])


class Program:
    """Of the sender's owner: it compares and rewrites its pages, as fast as it can."""

    def __init__(self, node):
        self.node, self.process, self.us = node, None, None

    def __enter__(self):
        self.process = self.node.popen(
            eater(self.node, PROGRAM_MB, seconds=9999, order="rw"))
        return self

    def __exit__(self, failed, *_):
        self.process.kill(15)
        done = self.process.wait(30)
        if not failed:
            self.us = result_of(done)["us_per_access"]

    @classmethod
    def alone(cls, node):
        """An access of it in us, while nothing is sent."""
        with cls(node) as program:
            hold(ALONE_S)
        return program.us


def iperf3(source, sink, beside):
    """Send BYTES over one connection; Mbit/s as the receiver saw them."""
    with beside:
        return iperf.send(source, sink, "-n", str(BYTES), timeout=LIMIT_S)


def emptied(source):
    """Have a server lend nothing: the pages that left then, and in how many seconds."""
    command = source.popen([source.prog("nswapctl"), "lend", "0"])
    # the program's own start is not measured, as iperf3's is not
    wait_for(lambda: size(source)["lent"] == "0", 30, "it lends nothing",
             every=POLL_S)
    # what has gone before this looks is not counted either
    left, begin = held(source), time.monotonic()
    wait_for(lambda: not held(source), LIMIT_S, f"{source} is empty",
             every=POLL_S)
    seconds = time.monotonic() - begin
    command.wait(30).check()
    return left, seconds


def move(source, sink, beside):
    """Bring everything from one server to the other; Mbit/s of pages."""
    sink.ctl("lend", f"{MB + SPARE_MB}M")
    wait_for(lambda: sink.stat()["server"]["set_aside_pages"] >= BYTES // PAGE,
             60, f"{sink} has set its pages aside")
    wait_for(lambda: source.peers()[sink.addr]["free_pages"] >= BYTES // PAGE,
             60, f"{source} has heard of that")
    pages = held(source)
    with beside:
        left, seconds = emptied(source)
    if held(sink) != pages:
        raise Failure(f"{held(sink)} of {pages} pages arrived")
    return left * PAGE * 8 / seconds / 1e6


def fio(node, path, *options):
    """fio over the whole device, which knows what it wrote."""
    return node.run(["fio", "--name=fill", f"--filename={path}",
                     f"--bs={CHUNK}", "--iodepth=8", "--ioengine=libaio",
                     "--direct=1", f"--offset={CHUNK}", f"--size={MB}M",
                     "--verify=crc32c", "--thread", *options],
                    timeout=600, check=False)


def fill(owner, first, second):
    """An owner with all its pages on the first server; its device."""
    owner.up(lend="0")
    first.up(lend=f"{MB + SPARE_MB}M")
    second.up(lend="0")
    wait_for(lambda: owner.peers().get(first.addr, {}).get("free_pages", 0)
             >= BYTES // PAGE, 60, "the first server offers its room")
    dev = owner.device_add(f"{MB + 1}M")
    fio(owner, f"/dev/{dev}", "--rw=write", "--do_verify=0").check()
    return dev


def sent(link, name, source, sink):
    """A transfer: Mbit/s, and by how many per cent longer an access of the program beside
    it took than alone, or None."""
    run = iperf3 if name == "iperf3" else move
    with shaped(source, LINKS[link]):
        if link != BESIDE:
            return run(source, sink, contextlib.nullcontext()), None
        alone, program = Program.alone(source), Program(source)
        speed = run(source, sink, program)
    return speed, 100 * (program.us / alone - 1)


def spread(longer):
    """How far those of the rounds lie apart, nothing without a program."""
    return {} if None in longer else {"program_longer_min": round(min(longer), 1),
                                      "program_longer_max": round(max(longer), 1)}


def rows_of(results, wrong, about):
    """The rows of moves.json from {(link, name): [(Mbit/s, longer, mark), …]}."""
    rows = []
    for (link, name), runs in results.items():
        speeds = [speed for speed, _, _ in runs]
        row = {"what": name, "link": link, "mb": MB,
               "mbit_s": round(median(speeds), 1),
               "share_of_iperf3": None, "wrong_pages": wrong,
               "program_longer_pct": rounded(median([one[1] for one in runs]), 1),
               "lab": about["lab"],
               **spread([one[1] for one in runs]),
               "mbit_s_min": round(min(speeds), 1),
               "mbit_s_max": round(max(speeds), 1), "runs": len(runs)}
        other = results.get((link, "iperf3"))
        if name == "nswap" and other:
            # of the same round each: what disturbs one disturbs the other
            row["share_of_iperf3"] = round(median(
                [a[0] / b[0] for a, b in zip(runs, other)]), 3)
        row["marks"] = sorted({mark for *_, mark in runs if mark})
        if wrong:
            row["marks"].insert(0, "wrong pages")
        row["kernel"], row["commit"] = about["kernel"], about["commit"]
        rows.append(row)
    return rows


def run(cluster, options, about, load):
    """Measure; the rows."""
    owner, first, second = cluster.nodes
    names = [n for n in NAMES if n in options.devices]
    plan = [(r, link, name) for r in range(options.rounds) for link in LINKS
            for name in names]
    progress = Progress([1] * len(plan))
    dev = fill(owner, first, second) if "nswap" in names else None
    results, at, to = {}, first, second
    for _, link, name in plan:
        begin = time.time()
        speed, longer = sent(link, name, at, to)
        mark = load.mark(begin, time.time())
        results.setdefault((link, name), []).append((speed, longer, mark))
        progress.step(1, f"{link:29} {name:7} {speed:8.0f} Mbit/s"
                      + (f", the program's accesses {longer:+.1f} %"
                         if longer is not None else ""))
        if name == "nswap":
            at, to = to, at
    wrong = 0
    if dev:
        done = fio(owner, f"/dev/{dev}", "--rw=read", "--verify_only")
        wrong = int(done.code != 0)
        owner.device_del(dev)
    return rows_of(results, wrong, about)
