# SPDX-License-Identifier: GPL-2.0
"""Chaos with flash and a prefetcher.

        node0 ------ node1 … node4     node0 writes, reads and discards
        |   |
    flash   home                       flash is a third of the device

As test_home of chaos.py does, and what prefetches and which copy is read is
switched all the time; flash fills up, and fails now and then. While it fails a
read may fail, but only of a page that flash alone has: the workload stops, and
slots are read one after the other and counted.
"""
import contextlib
import json
import mmap
import os
import pathlib
import signal
import time

from nswaptest.check import at_least, equal, hold, wait_for
from nswaptest.disk import SCRATCH, disk
from nswaptest.scenario import sibling
from nswaptest.work import result_of

slots = sibling("chaos_slots")
prefetch = sibling("prefetch")
chaos = slots.chaos

DESCRIPTION = "chaos with flash that fails and a prefetcher loses no page"
SUITES = ("chaos",)
NEEDS = ("module", "progs", "dmsetup", "blkdiscard")
CPUS = 2
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 240 + 4 * SECONDS

FLASH_MB = chaos.DEVICE_MB // 3
HOME_AT = 512           # MiB, on the scratch disk
PAGE = 4096
FULL = FLASH_MB * prefetch.MIB * 19 // 20      # slots; some are always freed
AT_ONCE = 32            # slots read in one call
RACED_MB = 2
RACE_S = 10
READ_MS = 20
KINDS = ("when", "count", "which", "after")
TIERS = ("ram", "flash", "disk")


def unreadable(dev):
    """Slots of a device that cannot be read just now."""
    file = os.open(f"/dev/{dev}", os.O_RDONLY | os.O_DIRECT)
    failed = 0
    try:
        total = os.lseek(file, 0, os.SEEK_END) // PAGE
        with mmap.mmap(-1, AT_ONCE * PAGE) as buffer:
            def reads(first, count):
                view = memoryview(buffer)[:count * PAGE]
                try:
                    got = os.preadv(file, [view], first * PAGE)
                except OSError:
                    return False
                finally:
                    view.release()
                return got == count * PAGE
            for first in range(0, total, AT_ONCE):
                count = min(AT_ONCE, total - first)
                if not reads(first, count):
                    failed += sum(not reads(slot, 1) for slot in
                                  range(first, first + count))
    finally:
        os.close(file)
    return failed


class FlashChaos(chaos.HomeChaos):
    """Chaos, with a prefetcher whose mind changes and flash that fails."""

    step = chaos.Chaos.step

    def __init__(self, t, cluster, flash):
        super().__init__(t, cluster)
        self.actions = ("lend", "lend", "drain", "cut", "all", "choose",
                        "fail")
        self.client = cluster[0]
        self.flash = flash
        self.forgiven = 0       # failed reads while flash failed
        self.work = self.dev = None
        known = self.client.ctl("prefetch")["known"]
        self.known = {kind: known[kind] for kind in KINDS}
        self.reads = [p["name"] for p in self.client.ctl("policy")
                      if p["kind"] == "read"]

    def choose(self):
        """The prefetcher goes by something else, page-ins too."""
        for _ in range(4):
            way = self.random.sample(TIERS, 2)
            prefetch.choose(self.client, **{kind: self.random.choice(names)
                                            for kind, names in
                                            self.known.items()},
                            **{"from": way[0], "to": way[1]})
            self.client.ctl("policy", "read", self.random.choice(self.reads))
            hold(self.random.uniform(0.1, 0.4))

    def all(self):
        """No peer lends anything: flash fills up, the rest goes home."""
        for server in self.servers:
            server.ctl("lend", "0")
        wait_for(lambda: self.cluster.held_pages() == 0, 60,
                 "every server is drained")
        wait_for(lambda: self.client.devices()[0]["flash_used_slots"] >= FULL,
                 60, "flash is full")
        for server in self.servers:
            server.ctl("lend", f"{self.lent_mb}M")

    def read_errors(self):
        """Pages whose page-in has failed so far."""
        return self.client.stat()["client"]["read_errors"]

    @contextlib.contextmanager
    def at_rest(self):
        """with self.at_rest(): the workload stands still."""
        self.work.kill(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{self.work.popen.pid}/task")
        wait_for(lambda: all(stat.read_text().rpartition(")")[2].split()[0] ==
                             "T" for stat in tasks.glob("*/stat")), 30,
                 "the workload rests")
        try:
            yield
        finally:
            self.work.kill(signal.SIGCONT)

    def fail(self):
        """Flash fails for a while, first under load, then at rest."""
        equal(self.read_errors(), self.forgiven,
              "failed reads before flash fails")
        self.flash.fail()
        hold(self.random.uniform(0.2, 1.0))
        with self.at_rest():
            self.count_unreadable()
        hold(self.random.uniform(0.1, 0.5))
        self.flash.mend()
        with self.at_rest():
            equal(unreadable(self.dev), 0,
                  "unreadable slots with flash mended")
            self.forgiven = self.read_errors()

    def count_unreadable(self):
        """No more slots than those that flash alone has."""
        alone = self.client.devices()[0]["slots_flash"]
        equal(unreadable(self.dev), alone,
              "unreadable slots, against those that flash alone has")


def drive(t, client, dev, beside):
    """The workload and what goes on beside it; the client's counters."""
    beside.dev = dev
    beside.work = slots.workload(client, dev, t.seed, threads=4, max_kb=64,
                                 reads=50, discards=10,
                                 tolerate_read_errors=True)
    until = time.monotonic() + SECONDS
    # each thing happens at least once, however slow the machine is
    while (time.monotonic() < until or
           len(beside.done) < len(set(beside.actions))) and \
            beside.work.poll() is None:
        beside.step()
    result = slots.stop(beside.work)
    t.log(f"seed {t.seed}: {json.dumps(beside.done)}; {result}")
    stat = client.stat()["client"]
    t.log(str(stat))
    equal(stat["write_errors"], 0, "failed writes")
    equal(stat["read_errors"], beside.forgiven,
          "failed reads, but for those while flash failed")
    return stat


def test_flash(t):
    """A device with flash and a home under a random workload while everything
    around it moves: no write fails, no page is wrong."""
    cluster, client = chaos.start(t)
    with disk(chaos.DEVICE_MB) as home, disk(FLASH_MB, HOME_AT) as flash:
        dev = client.device_add(home=home.path, flash=(flash.path,))
        prefetch.setting(client, period_ms=20, pct=50)
        client.ctl("prefetch", "on")
        beside = FlashChaos(t, cluster, flash)
        stat = drive(t, client, dev, beside)
        at_least(stat["pages_prefetched"], 200, "pages prefetched")
        at_least(stat["prefetch_hits"], 50, "of them read from flash")
        at_least(stat["pages_flash_out"], 500, "pages out to flash")
        at_least(stat["moves_recorded"] + stat["pages_returned"], 500,
                 "pages that moved")
        client.ctl("prefetch", "off")
        chaos.settled(cluster, client)
        equal(unreadable(dev), 0, "unreadable slots at the end")
        client.discard(dev)
        seen = client.devices()[0]
        equal((seen["flash_used_slots"], seen["slots_home"]), (0, 0),
              "flash slots and slots at home after a discard of everything")
        client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")


def test_races(t):
    """Two programs write and read the same few slots. Flash is full, so that
    what is freed there is taken again at once, and slow to read: what is read
    of a slot was written to that slot, whole."""
    cluster = t.cluster(2)
    cluster.up(lend="1M")
    client = cluster[0]
    with disk(RACED_MB) as home, disk(1, HOME_AT) as flash:
        dev = client.device_add(home=home.path, flash=(flash.path,))
        where = f"{SCRATCH} {flash.at}"
        flash.become(f"0 {flash.sectors} delay {where} {READ_MS} {where} 0")
        prefetch.setting(client, period_ms=20, pct=50)
        client.ctl("prefetch", "on")
        racers = [slots.workload(client, dev, t.seed, threads=8, max_kb=16,
                                 reads=60, no_sweep=True) for _ in range(2)]
        hold(RACE_S)
        for racer in racers:
            racer.kill(signal.SIGTERM)
        # each sees older and newer pages of the other: those are right here
        for racer in racers:
            seen = result_of(racer.wait(60), codes=(0, 1))
            t.log(str(seen))
            equal([seen[f"{kind}_pages"] for kind in
                   ("other", "foreign", "zero", "torn")], [0] * 4,
                  "pages of another slot, unknown, of zeros, of two writes")
        at_least(client.stat()["client"]["pages_flash_in"], 1000,
                 "pages read from flash")
        client.device_del(dev)
