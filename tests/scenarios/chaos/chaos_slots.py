# SPDX-License-Identifier: GPL-2.0
"""Chaos that takes every transition of the slot state table.

        node0 ------ node1 … node3     node0 has two devices with a home each,
                                       the second one two of flash as well

One device is verified, page by page, and may not lose a write or a read.  On
the other one two programs write and discard the same few slots at once, so
that pages are freed and rewritten at every moment of a page-out, a free and a
move; nothing there is judged but that it comes to rest.  Its home fails now
and then, and a prefetcher moves pages from peers to its flash, which is small,
so that most are elsewhere.  When the first device has been verified and
deleted, only such pages are moved, and a server restarts.  At last one flash
device is taken away while peers have room, and another while none has; then home
protects the other device, and a server restarts again.

Which transitions there are and how often each was taken is read from the
module (inject_transitions).  A legal one that was never taken fails the test.
"""
import contextlib
import json
import os
import pathlib
import signal
import time

from nswaptest.check import Unmet, at_least, equal, hold, slower, wait_for
from nswaptest.scenario import sibling
from nswaptest.work import result_of

chaos = sibling("chaos")
home = sibling("home")
prefetch = sibling("prefetch")

DESCRIPTION = "every legal transition of a slot is taken, and no page is lost"
SUITES = ("chaos",)
NEEDS = ("inject", "progs", "dmsetup")
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 240 + 6 * SECONDS

SERVERS = 3
LENT_MB = 16
JUDGED_MB = 24
RACED_MB = 4
FLASH_MB = 1
SESSION_ENDS = 5        # seconds without a word, and one to be sure
DELAY_US = 2000         # a move takes some of these: time to be met by others
COUNTERS = pathlib.Path("/sys/module/nswap/parameters")


def transitions():
    """{(from, to): how often} of every legal transition."""
    lines = (COUNTERS / "inject_transitions").read_text().splitlines()
    return {tuple(line.split()[:2]): int(line.split()[2]) for line in lines}


def moves_met():
    """{what: how often} it happened to a slot on the move."""
    lines = (COUNTERS / "inject_moves_met").read_text().splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines}


# what only taking flash away does, and a server that restarts while home has copies
LATER = (("FLASH", "REMOTE"), ("FLASH", "HOME"), ("REMOTE", "HOME"))


def missing(but=()):
    """What was never taken, but for these."""
    return sorted(f"{a} to {b}" for (a, b), n in transitions().items()
                  if not n and (a, b) not in but)


class Everything(chaos.Chaos):
    """Chaos, with homes that fill up and fail."""

    def __init__(self, t, cluster, raced_home):
        super().__init__(t, cluster, LENT_MB)
        self.raced_home = raced_home
        self.actions = ("lend", "drain", "cut", "squeeze", "fail", "lose")

    def lend_all(self, mb):
        """Every server lends so much."""
        for server in self.servers:
            server.ctl("lend", f"{mb}M")

    def squeeze(self):
        """All servers lend little: what is paged out goes home."""
        self.lend_all(1)
        hold(self.random.uniform(0.8, 1.6))
        self.lend_all(LENT_MB)

    def fail(self):
        """The same while the raced device's home fails: its page-outs do."""
        self.raced_home.fail()
        self.squeeze()
        self.raced_home.mend()

    def lose(self):
        """A server drains to peers that the owner cannot reach: it claims its
        pages there until the sessions end."""
        less, *others = self.random.sample(self.servers, SERVERS)
        for other in others:
            self.cluster.cut(self.cluster[0], other)
        less.ctl("lend", "0")
        hold(SESSION_ENDS)
        for other in others:
            self.cluster.heal(self.cluster[0], other)
        less.ctl("lend", f"{LENT_MB}M")


def workload(client, dev, seed, **options):
    """Requests all over a device, until they are told to stop."""
    argv = [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seed",
            str(seed), "--seconds", str(int(TIMEOUT))]
    for name, value in options.items():
        argv.append("--" + name.replace("_", "-"))
        if value is not True:
            argv.append(str(value))
    return client.popen(argv)


def stop(process):
    """Tell a workload to stop; its result."""
    process.kill(15)
    return result_of(process.wait(120))


@contextlib.contextmanager
def paused(racers):
    """with paused(racers): they neither write nor discard."""
    for process in racers:
        process.kill(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in racers:
            process.kill(signal.SIGCONT)


def start_anew(cluster, client, racers, left):
    """A server that has pages of the racers forgets them; their owner finds
    out, and they are lost or, if their device is protected, at home.  What a
    server holds says little: much of it may be obsolete.  The racers pause, else
    they have rewritten or freed all of them before."""
    def holder():
        peers = client.peers()
        return next((node for node in cluster if node is not client and
                     peers[node.addr]["slots"] > 64), None)
    client.wait_sessions()
    server = wait_for(holder, 30, "the owner has pages on a server")
    with paused(racers):
        if left == "HOME":
            wait_for(lambda: client.devices()[0]["exposed_pages"] == 0, 30,
                     "all pages are at home as well")
        before = transitions()["REMOTE", left]
        server.ctl("down", "--now")
        server.up(lend=f"{LENT_MB}M", reconcile=2)
        wait_for(lambda: transitions()["REMOTE", left] > before, 30,
                 "the owner has noticed that its pages are gone")
    cluster.wait_connected()
    client.wait_sessions()


def test_transitions(t):
    """Two devices, everything happens, everything is taken."""
    cluster = t.cluster(1 + SERVERS, inject=True, delay_us=DELAY_US)
    client = cluster[0]
    for node in cluster:
        node.up(lend="0" if node is client else f"{LENT_MB}M",
                dead_after=slower(chaos.DEAD_AFTER), reconcile=2)
    cluster.wait_connected()
    client.ctl("policy", "place", "round-robin")
    with contextlib.ExitStack() as stack:
        judged_home = stack.enter_context(home.disk(JUDGED_MB))
        raced_home = stack.enter_context(home.disk(RACED_MB, JUDGED_MB))
        flash = [stack.enter_context(home.disk(FLASH_MB, at)) for at in
                 (JUDGED_MB + RACED_MB, JUDGED_MB + RACED_MB + FLASH_MB)]
        judged = client.device_add(home=judged_home.path)
        raced = client.device_add(home=raced_home.path,
                                  flash=[one.path for one in flash])
        prefetch.setting(client, period_ms=50, after="move")
        client.ctl("prefetch", "on")
        drive(t, cluster, judged, raced, raced_home, flash)
        client.device_del(raced)
        wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def give_back(beside, client):
    """Servers bring pages back while flash has room for some."""
    client.ctl("prefetch", "off")
    beside.lend_all(0)
    hold(1)
    beside.lend_all(LENT_MB)
    client.ctl("prefetch", "on")


def move_out(beside, client):
    """Pages at home move out to servers that lend again, and are freed meanwhile: one in
    some hundreds."""
    client.ctl("prefetch", "off")
    for _ in range(3):
        beside.lend_all(0)
        hold(0.5)
        beside.lend_all(LENT_MB)
        hold(1)
    client.ctl("prefetch", "on")


def bring_to_flash(beside, client):
    """Pages at home are prefetched to flash, which has room for them again once pages are
    written to servers."""
    beside.lend_all(0)
    hold(1)
    prefetch.choose(client, **{"from": "disk", "to": "flash", "when": "always"})
    beside.lend_all(LENT_MB)
    hold(1)
    prefetch.choose(client, **{"from": "ram", "to": "flash"})


def take_away(beside, client, raced, flash, lent, racers):
    """Flash goes while the servers lend so much.  The racers pause, else they
    have rewritten or freed most pages there before."""
    beside.lend_all(lent)
    wait_for(lambda: client.devices()[0]["slots_flash"] > 8, 60,
             "flash has pages")
    with paused(racers):
        client.ctl("device", "del", raced, "--flash", flash.path)
    beside.lend_all(LENT_MB)


def drive(t, cluster, judged, raced, raced_home, flash):
    """The workloads and what goes on beside them."""
    client = cluster[0]
    work = workload(client, judged, t.seed, threads=4, max_kb=64, reads=50,
                    discards=10)
    racers = [workload(client, raced, t.seed + n, threads=3, max_kb=128,
                       reads=0, discards=40, no_sweep=True,
                       tolerate_write_errors=True) for n in (1, 2)]
    beside = Everything(t, cluster, raced_home)
    until = time.monotonic() + SECONDS
    # each thing happens at least once, however slow the machine is
    while (time.monotonic() < until or
           len(beside.done) < len(beside.actions)) and work.poll() is None:
        beside.step()
    t.log(f"seed {t.seed}: {json.dumps(beside.done)}; {stop(work)}")
    equal(client.stat()["client"]["read_errors"], 0, "failed reads")
    client.device_del(judged)
    # now what is moved is what the racers rewrite and discard
    beside.lose()
    # flash would keep a part of them from the servers
    client.ctl("prefetch", "off")
    start_anew(cluster, client, racers, "LOST")
    client.ctl("prefetch", "on")
    until = time.monotonic() + 4 * SECONDS
    while ((missing(LATER) or not all(moves_met().values())) and
           time.monotonic() < until):
        beside.lose()
        give_back(beside, client)
        move_out(beside, client)
        bring_to_flash(beside, client)
    for one, lent in zip(flash, (LENT_MB, 0)):
        take_away(beside, client, raced, one, lent, racers)
    client.ctl("device", "protect", raced, "home", "--no-wait")
    start_anew(cluster, client, racers, "HOME")
    for process in racers:
        t.log(f"racer: {json.dumps(stop(process))}")
    told(t)
    if missing():
        raise Unmet(f"legal transitions never taken: {missing()}")
    chaos.settled(cluster, client)


def told(t):
    """Log what was counted, and how often a move was met."""
    for (a, b), n in transitions().items():
        t.log(f"{a} -> {b}: {n}")
    met = moves_met()
    text = ", ".join(f"{what} {n}" for what, n in met.items())
    t.log(f"moves met: {text}")
    print(f"seed {t.seed}: moves met: {text}")
    for what, n in met.items():
        at_least(n, 1, f"moves that met a {what}")
