# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=size: what a large device costs of which little is used.

        node0 ------ node1 … node3     node0 has the device; the others lend

The same for each size: it is added, discarded as a whole, made swap and swapped on; a
program has 64 MiB of its memory swapped out there; the device is listed, its lender is
cut off and its copies compared when it is back, and one lender of a mirrored device
dies, until no page is exposed; swapoff reads all of it back, and the device is
deleted.  Only the ratios between sizes mean anything.
"""
import time

from nswaptest.check import equal, hold, wait_for

from lib.measure import Progress, median

NODES = 4
NAMES = ["nswap"]
MEMORY_MB = 7168        # of the lab's kernel: 1 TiB mirrored takes 4 GiB
USED_MB = 64
KEPT_MB = 16
LEND_MB = 160
SIZES = {"1 GiB": 1, "64 GiB": 64, "1 TiB": 1024}
PROTECT = ("none", "mirror")
LISTED = 5
WATCHED_S = 5
DEAD_AFTER = 3
LIMIT_S = 300


def timed(what):
    """Seconds that a call takes."""
    begin = time.monotonic()
    what()
    return time.monotonic() - begin


def device(node):
    """The one device as it is listed."""
    one, = node.devices()
    return one


def compared(cluster):
    """Seconds from when a lender is there again until its list has been compared."""
    owner, lender = cluster[0], cluster[1]

    def done():
        return owner.stat()["client"]["reconciles"]

    def up():
        return owner.peers()[lender.addr]["state"] == "up"
    owner.ctl("set", "dead_after_ms", 1000 * LIMIT_S)
    cluster.isolate(lender)
    wait_for(lambda: not up(), LIMIT_S, "the peer is suspected")
    before = done()
    cluster.heal(lender)
    wait_for(up, LIMIT_S, "the peer is up again", every=0.02)
    begin = time.monotonic()
    wait_for(lambda: done() > before, LIMIT_S, "a comparison", every=0.02)
    owner.ctl("set", "dead_after_ms", 1000 * DEAD_AFTER)
    return time.monotonic() - begin


def died(cluster):
    """Seconds from a lender's death until each page has two copies again."""
    owner, lender = cluster[0], cluster[1]
    cluster.kill(lender)
    begin = time.monotonic()
    wait_for(lambda: owner.peers()[lender.addr]["state"] == "dead", LIMIT_S,
             "the peer is dead", every=0.05)
    declared = time.monotonic() - begin
    wait_for(lambda: not device(owner)["exposed_pages"], LIMIT_S, "no page is exposed",
             every=0.05)
    cluster.revive(lender)
    lender.up(lend=f"{LEND_MB}M")
    return time.monotonic() - begin - declared


def program(node):
    """It has USED_MB swapped out, and keeps them."""
    eater = node.popen([node.prog("eater"), "--mb", str(USED_MB + KEPT_MB), "--passes", "0",
                        "--hold", "--out", "/run/eater"], memory_max=f"{KEPT_MB}M")
    least = (USED_MB - KEPT_MB) << 8
    wait_for(lambda: device(node)["slots_remote"] > least, LIMIT_S, "pages at the peers")
    return eater


def one(cluster, gib, protect, load):
    """A device of a size; {step: seconds}, MiB of memory, share of a processor at rest."""
    owner, took = cluster[0], {}
    before = owner.meminfo_kb("MemFree")
    took["add"] = timed(lambda: owner.run([owner.prog("nswapctl"), "device", "add", "--size",
                                           f"{gib}G", "--protect", protect],
                                          timeout=LIMIT_S))
    dev = "/dev/" + device(owner)["device"]
    memory = (before - owner.meminfo_kb("MemFree")) / 1024
    for step, command in (("discard", f"blkdiscard {dev}"), ("mkswap", f"mkswap {dev}"),
                          ("swapon", f"swapon --discard {dev}")):
        took[step] = timed(lambda: owner.run(command, timeout=LIMIT_S))
    eater = program(owner)
    took["list"] = median([timed(owner.devices) for _ in range(LISTED)])
    begin = time.time()
    hold(WATCHED_S)
    rest = load.own(begin, time.time())
    took["compare"] = compared(cluster)
    if protect == "mirror":
        took["death"] = died(cluster)
    eater.unlimited()
    took["swapoff"] = timed(lambda: owner.run(f"swapoff {dev}", timeout=LIMIT_S))
    eater.kill(15)
    equal(eater.wait(60).check().code, 0, "exit code of the program")
    took["del"] = timed(lambda: owner.device_del(device(owner)["device"]))
    cluster.wait_connected()
    return took, memory, rest


def run(cluster, options, about, load):
    """Measure; the rows."""
    jobs = [(size, protect) for size in SIZES for protect in PROTECT]
    progress = Progress([1] * len(jobs) * options.rounds)
    rows = []
    for node in cluster:
        node.up(lend="0" if node is cluster[0] else f"{LEND_MB}M", dead_after=DEAD_AFTER)
    cluster.wait_connected()
    for size, protect in jobs:
        runs, marks = [], set()
        for _ in range(options.rounds):
            begin = time.time()
            runs.append(one(cluster, SIZES[size], protect, load))
            marks.add(load.mark(begin, time.time()))
            took, memory, rest = runs[-1]
            progress.step(1, f"{size:7} {protect:7} {memory:6.0f} MiB, {rest:.1%} at rest, " +
                          ", ".join(f"{step} {s:.2f}" for step, s in took.items()))
        rows.append({
            "size": size, "protect": protect, "used_mb": USED_MB,
            "seconds": {step: round(median([took[step] for took, _, _ in runs]), 3)
                        for step in runs[0][0]},
            "memory_mb": round(median([memory for _, memory, _ in runs])),
            "cpu_percent_at_rest": round(100 * median([rest for _, _, rest in runs]), 2),
            "lab": about["lab"], "runs": options.rounds,
            "marks": sorted(m for m in marks if m),
            "kernel": about["kernel"], "commit": about["commit"]})
    return rows
