# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=protect: what protection costs, and what it is good for.

        node0 ------ node1 … node6     node0's pages, as many lenders as a scheme has

A scheme and round: the lenders come up, and 64 MiB for each lender's share are put on a
device that stays as it is (ballast). One lender dies: from when it is taken for dead
until no page is exposed is the recovery. Four readers go on all the time; the longest
time without any answered read is the gap; where a page has another copy or a group, the
same once more without hedging. WL2 runs on a swap device before that, first
undisturbed, then with another lender dying beside it, whose ballast has to be recovered
while it runs. In the end all of the ballast is compared.

Instructions a page come from a guest that counts them (runs/protect_cost.py).
"""
import contextlib
import dataclasses
import json
import random
import sys
import threading
import time

from lib import apps
from lib.measure import Progress, median
from nswaptest.check import Failure, wait_for
from nswaptest.cluster import PAGE
from nswaptest.disk import disk
from nswaptest.work import Slots

NODES = 7


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A protection: how many lenders it is measured with, the share of the pages
    that one of them has, and its device in a guest that counts."""
    lenders: int
    copies: float
    counted: str
    home: bool = False


SCHEMES = {
    "none": Scheme(4, 1, "pair"),
    "home": Scheme(4, 1, "pair-home", home=True),
    "mirror": Scheme(4, 2, "mirror"),
    "parity:4+1": Scheme(5, 1.25, "parity:4+1"),
    "parity:4+2": Scheme(6, 1.5, "parity:4+2"),
}
WORKS = ["read-4k-d1", "write-4k-d1", "read-4k-d32", "write-4k-d32", "write-128k-d8",
         "swap-random"]
DEAD_MIB = 64           # to be recovered
DEAD_AFTER = 1
READERS = 4
GAP_S = 5               # after a death
LIMIT_S = 120
APP = apps.of_size("WL2", 32)
ITERATIONS = 10
LEND = "128M"
HOME_MB = 320


class Refused(Exception):
    """The device does not take this protection; the text says why."""


class Setting:
    """A client, the lenders of a scheme, and the ballast."""

    def __init__(self, cluster, name, seed):
        self.scheme, self.name = SCHEMES[name], name
        self.client = cluster[0]
        self.cluster = cluster
        self.lenders = cluster.nodes[1:1 + self.scheme.lenders]
        self.mb = int(DEAD_MIB * self.scheme.lenders / self.scheme.copies)
        self.seed = seed

    def lend(self, node):
        """A node comes up and lends."""
        node.up(lend=LEND, dead_after=DEAD_AFTER, reconcile=5)

    def device(self, mb, home):
        """A device with the protection, or Refused."""
        where = ["--home", home.path] if self.scheme.home else ["--size", f"{mb}M"]
        done = self.client.run([self.client.prog("nswapctl"), "device", "add", *where,
                                "--protect", self.name], check=False)
        if done.code:
            raise Refused((done.err or done.out).strip())
        self.client.wait_sessions()
        return next(d for d in done.out.replace(",", " ").split()
                    if d.startswith("/dev/nswap")).removeprefix("/dev/")

    def exposed(self):
        """Pages of all devices that are not protected as promised."""
        return sum(d["exposed_pages"] + d["lag_pages"] for d in self.client.devices())

    def protected(self):
        """Wait until there are none."""
        if self.name != "none":
            wait_for(lambda: not self.exposed(), LIMIT_S, "no page is exposed")

    def ratio(self):
        """Pages that the lenders hold over pages that are at them."""
        held = self.cluster.held_pages(n for n in self.lenders if n.alive)
        live = sum(d["slots_remote"] for d in self.client.devices())
        return held / live if live else None

    def state(self, node):
        """What the client says of a lender."""
        return self.client.peers().get(node.addr, {}).get("state")

    def back(self, node):
        """A dead lender is back, empty."""
        self.cluster.revive(node)
        self.lend(node)
        self.cluster.wait_connected([self.client, node])
        self.protected()


class Readers:
    """Tasks that read the ballast at random, and when each read was answered."""

    def __init__(self, slots, last, seed):
        self.answered, self._stop = [], False
        self._slots, self._last = slots, last
        self._tasks = [threading.Thread(target=self._read, args=(seed + i,), daemon=True)
                       for i in range(READERS)]
        for task in self._tasks:
            task.start()

    def _read(self, seed):
        rnd = random.Random(seed)
        while not self._stop:
            with contextlib.suppress(OSError):
                self._slots.read(rnd.randrange(1, self._last))
                self.answered.append(time.monotonic())

    def end(self):
        """Stop them."""
        self._stop = True
        for task in self._tasks:
            task.join(LIMIT_S)

    def gap(self, begin):
        """The longest time without an answer from begin on, in seconds."""
        times = [begin, *sorted(t for t in self.answered if t >= begin)]
        if len(times) < 2:
            raise Failure("no read was answered any more")
        return max(b - a for a, b in zip(times, times[1:]))


def recovery(setting, victim):
    """It dies; MiB, and the seconds from when it is taken for dead until all is
    protected again. No scheme without peers' copies has anything to recover."""
    setting.cluster.kill(victim)
    wait_for(lambda: setting.state(victim) in ("dead", "lost", None), LIMIT_S,
             f"{victim} is taken for dead", every=0.01)
    begin, exposed = time.monotonic(), setting.exposed()
    if setting.name in ("none", "home"):
        return None
    wait_for(lambda: not setting.exposed(), LIMIT_S, "recovery", every=0.02)
    return exposed * PAGE / 2 ** 20, time.monotonic() - begin


def death(setting, slots, victim, seed):
    """What one death does to readers, and the recovery."""
    readers = Readers(slots, setting.mb * 256 - 1, seed)
    try:
        time_before = time.monotonic()
        wait_for(lambda: len(readers.answered) > 200, LIMIT_S, "the readers read")
        usual = (time.monotonic() - time_before) / len(readers.answered)
        begin = time.monotonic()
        found = recovery(setting, victim)
        wait_for(lambda: time.monotonic() > begin + GAP_S, 2 * GAP_S, "a while")
    finally:
        readers.end()
    return {"gap_s": readers.gap(begin), "usual_s": usual,
            "recovered_mib": found and found[0], "recovery_s": found and found[1]}


def program(setting, dev, victim=None, after=0):
    """Run WL2 on a swap device, with a lender that dies after so many seconds; its
    result, with the pages held over those live meanwhile."""
    client, ratios = setting.client, []
    client.swapon(dev)
    try:
        command = [*APP.command(client), "--iterations", str(ITERATIONS)]
        begin = time.monotonic()
        running = client.popen(command, memory_max=f"{APP.limit_mb}M")
        while running.poll() is None:
            ratios.append(setting.ratio())
            if victim and victim.alive and time.monotonic() > begin + after:
                setting.cluster.kill(victim)
            with contextlib.suppress(Failure):
                wait_for(lambda: running.poll() is not None, 0.5, "")
        got = apps.result_of(running.wait(LIMIT_S))
    finally:
        client.swapoff(dev, timeout=LIMIT_S)
    got["ratio"] = median(ratios[len(ratios) // 4:])
    got["wrong"] = apps.wrong(got)
    return got


def fill(slots, mb):
    """Put the ballast there."""
    for first in range(1, mb * 256 - 32, 32):
        slots.write(first, 32)


def come_up(setting):
    """All nodes, the client without lending."""
    for node in setting.lenders:
        setting.lend(node)
    setting.client.up(lend="0", dead_after=DEAD_AFTER, reconcile=5)
    setting.cluster.wait_connected([setting.client, *setting.lenders])
    setting.client.ctl("policy", "place", "round-robin")


def go_down(setting):
    """All nodes, and those that are dead are as before."""
    for node in (setting.client, *setting.lenders):
        if node.alive:
            node.run([node.prog("nswapctl"), "down", "--now"])
        else:
            setting.cluster.revive(node)


def one_round(setting, number, told):
    """All that is measured once of a scheme; told() takes progress."""
    come_up(setting)
    try:
        with disk(HOME_MB) as one, disk(HOME_MB, HOME_MB) as two:
            try:
                return measured(setting, setting.device(setting.mb, one),
                                setting.device(2 * APP.mb, two), number, told)
            finally:
                for dev in setting.client.devices():
                    setting.client.device_del(dev["device"])
    finally:
        go_down(setting)


def measured(setting, ballast, swap, number, told):
    """One round, once there are two devices."""
    first, second = random.Random(number).sample(setting.lenders, 2)
    with Slots(ballast, setting.seed) as slots:
        fill(slots, setting.mb)
        setting.protected()
        got = {"ratio": setting.ratio()}
        told("at rest")
        calm = program(setting, swap)
        got.update(ratio_rewriting=calm["ratio"], seconds=calm["seconds"],
                   seconds_beside=None, wrong=calm["wrong"])
        told("rewriting")
        if setting.name != "none":
            beside = program(setting, swap, first, calm["seconds"] / 4)
            got["seconds_beside"] = beside["seconds"]
            got["wrong"] += beside["wrong"]
            told("a death beside the program")
            setting.protected()
            if not first.alive:
                setting.back(first)
        got.update(death(setting, slots, second, number), gap_unhedged_s=None)
        told("a death")
        if setting.name not in ("none", "home"):
            setting.back(second)
            setting.client.ctl("set", "hedge_pct", 0)
            got["gap_unhedged_s"] = death(setting, slots, second, number)["gap_s"]
            told("a death without hedging")
        _, wrong, unreadable = slots.compare()
        got["wrong"] += wrong
        if unreadable and setting.name != "none":
            raise Failure(f"{setting.name}: {unreadable} pages are lost")
    return got


def slowdown(runs):
    """How much longer the program took beside a death, in per cent, or None."""
    longer = [100 * (r["seconds_beside"] / r["seconds"] - 1) for r in runs
              if r["seconds_beside"]]
    return round(median(longer), 1) if longer else None


def spread(values, digits=3):
    """Median, least and most of figures, None for each if there are none."""
    values = [v for v in values if v is not None]
    return [round(f(values), digits) if values else None for f in (median, min, max)]


def row_of(name, runs, about):
    """What the lab has found out of a scheme."""
    speeds = [r["recovered_mib"] / r["recovery_s"] for r in runs
              if r["recovery_s"] and r["recovered_mib"]]
    gap = spread([1000 * r["gap_s"] for r in runs], 1)
    bare = spread([r["gap_unhedged_s"] and 1000 * r["gap_unhedged_s"] for r in runs], 1)
    return {"protect": name, "work": None, "instr_per_page": None,
            "ram_ratio": spread([r["ratio"] for r in runs])[0],
            "ram_ratio_rewriting": spread([r["ratio_rewriting"] for r in runs])[0],
            "recovery_mib_s": spread(speeds, 1)[0], "slowdown_pct": slowdown(runs),
            "wrong_pages": sum(r["wrong"] for r in runs),
            "recovered_mib": spread([r["recovered_mib"] for r in runs], 1)[0],
            "recovery_s": spread([r["recovery_s"] for r in runs])[0],
            "gap_ms": gap[0], "gap_ms_max": gap[2],
            "gap_unhedged_ms": bare[0], "gap_unhedged_ms_max": bare[2],
            "seconds": spread([r["seconds"] for r in runs])[0],
            "seconds_beside": spread([r["seconds_beside"] for r in runs])[0],
            "lenders": SCHEMES[name].lenders, "runs": len(runs),
            "marks": sorted({r["mark"] for r in runs if r["mark"]}),
            "lab": about["lab"], "kernel": about["kernel"], "commit": about["commit"]}


def timed(cluster, name, number, load):
    """One round of a scheme, marked if it was disturbed."""
    begin = time.time()
    got = one_round(Setting(cluster, name, number + 1), number,
                    lambda what: print(f"   {name}, round {number + 1}: {what}",
                                       file=sys.stderr, flush=True))
    got["mark"] = load.mark(begin, time.time())
    return got


def run(cluster, options, about, load):
    """Measure; the rows."""
    names = [n for n in options.devices if n not in options.parts]
    progress = Progress([1] * len(names) * options.rounds)
    for name in names:
        runs = []
        try:
            for number in range(options.rounds):
                runs.append(timed(cluster, name, number, load))
                progress.step(1, f"{name}: {json.dumps(runs[-1])}")
        except Refused as why:
            progress.step(options.rounds, f"{name} is skipped: {why}")
            continue
        options.parts.add(name, [row_of(name, runs, about)])
    return options.parts.all_rows()
