# SPDX-License-Identifier: GPL-2.0
"""How much a node lends: the size policies, shrinking, and who hears of it.

Nodes of the lab share one kernel, so their memory is fed to them by knobs
(fed_*), all but in size.shrinker, where a program really eats it.
"""
import re
import signal
import time

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.work import Slots, eater, result_of

DESCRIPTION = "lending comes and goes with memory; clients follow"
SUITES = ("lab",)
LONG = ("watermark", "pressure", "lend_below_held", "choosing", "lends_again",
        "refusal", "clock")
NEEDS = ("module", "inject", "progs")
TIMEOUT = 120

MIB = 256


def turn(node, **knobs):
    """Set knobs of a node."""
    for name, value in knobs.items():
        node.ctl("set", name, value)


def size(node):
    """What a node says of itself."""
    return node.stat()["node"]


def wait_target(node, pages, deadline=10):
    """Wait until a node lends exactly that many pages."""
    wait_for(lambda: size(node)["target_pages"] == pages, deadline,
             f"{node} lends {pages} pages")


def adaptive(node, lend, policy="watermark", **knobs):
    """Bring up a node of 1000 MiB, 900 of them available, that grows by 1 %
    a second."""
    node.up(size_policy=policy)
    turn(node, **{"grow_pct": 1, "size_period_ms": 100, "hold_off_ms": 0,
                  "fed_available_mib": 900, "fed_total_mib": 1000, **knobs})
    node.ctl("lend", lend)


def grows_slowly(node, seconds):
    """Follow a node until it lends all it may: never down, and no faster
    than 10 MiB a second.  Returns how long it took."""
    was, start = size(node)["target_pages"], time.monotonic()
    first, begin = was, start
    while was < size(node)["lent_pages"]:
        now = size(node)["target_pages"]
        passed = time.monotonic() - begin
        at_least(now, was, "pages lent while there is room")
        true(now - first <= 10 * MIB * (passed + 1),
             f"grew by {now - first} pages in {passed:.1f} s")
        true(time.monotonic() - start < seconds,
             f"still at {now} pages after {seconds} s")
        was = now
    return time.monotonic() - start


def test_watermark(t):
    """Grows slowly, keeps a small pool, and shrinks at once."""
    cluster = t.cluster(1)
    node = cluster[0]
    adaptive(node, "48M")
    true(size(node)["target_pages"] < 40 * MIB, "it lent a lot at once")
    passed = grows_slowly(node, 30)
    t.log(f"grew in {passed:.1f} s")
    wait_for(lambda: size(node)["set_aside_pages"] == 16 * MIB, 5,
             "the pool is full")
    equal(size(node)["lent_pages"], 48 * MIB, "what may be lent at most")
    turn(node, fed_available_mib=160)
    wait_target(node, 26 * MIB, 3)
    turn(node, fed_available_mib=10)
    wait_target(node, 0, 3)
    wait_for(lambda: size(node)["set_aside_pages"] == 0, 3, "nothing is taken")
    stat = node.stat()["server"]
    at_least(stat["shrunk"], 48 * MIB, "pages by which it shrank")
    turn(node, lend_min_mib=4)
    wait_target(node, 4 * MIB)
    turn(node, fed_available_mib=900)
    node.ctl("policy", "size", "fixed")
    wait_for(lambda: size(node)["set_aside_pages"] == 48 * MIB, 10,
             "everything is set aside under fixed")
    line = node.run("tail -n 1 /proc/nswap/size").out.split()
    equal(line[1:4], ["fixed", str(48 * MIB), str(48 * MIB)],
          "/proc/nswap/size")


def test_pressure(t):
    """Each sign costs a quarter, PSI by way of nswapctl; then it grows."""
    cluster = t.cluster(1)
    node = cluster[0]
    adaptive(node, "48M", "pressure", grow_pct=50)
    wait_target(node, 48 * MIB)
    turn(node, size_period_ms=60000)
    lent = 48 * MIB
    for number in (100, 200):
        for knob in ("fed_swap_outs", "fed_refaults"):
            turn(node, **{knob: number * 1000})
            lent -= lent // 4
            wait_target(node, lent, 3)
            turn(node, hold_off_ms=0)
            node.ctl("policy", "size", "pressure")
            grown = size(node)["target_pages"]
            at_least(grown, lent, "pages lent without a new sign")
            lent = grown
    turn(node, psi=900, size_period_ms=100)
    wait_for(lambda: size(node)["target_pages"] < MIB, 20,
             "programs that wait take everything back")
    node.run([node.prog("nswapctl"), "psi"])
    true(psi(node) < 900, f"nswapctl psi fed in {psi(node)}")
    turn(node, psi=0)
    wait_target(node, 48 * MIB, 20)


def psi(node):
    """What is fed in as memory pressure."""
    return [k["value"] for k in node.ctl("set") if k["knob"] == "psi"][0]


def test_feeder(t):
    """Told to end in whatever way, the feeder takes its value back; a hangup does not tell it
    under nohup."""
    node = t.cluster(1)[0]
    node.up(lend="4M")
    most = 10000    # no pressure that there may be
    feed = f"exec {node.prog('nswapctl')} psi --every"
    for sig in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        turn(node, psi=most)
        process = node.popen(f"{feed} 3600")
        wait_for(lambda: psi(node) < most, 20, "a value was fed in")
        turn(node, psi=most)
        process.kill(sig)
        equal((process.wait(20).code, psi(node)), (0, 0), f"exit code, value after {sig!r}")
    process = node.popen(f"trap '' HUP; {feed} 1")
    turn(node, psi=most)
    wait_for(lambda: psi(node) < most, 20, "a value was fed in")
    process.kill(signal.SIGHUP)
    turn(node, psi=most)
    wait_for(lambda: psi(node) < most, 20, "a value was fed in after SIGHUP")
    process.kill(signal.SIGTERM)
    equal(process.wait(20).code, 0, "exit code")


def test_bad_input(t):
    """Refused with one sentence each, and nothing changes."""
    cluster = t.cluster(1)
    node = cluster[0]
    known = "fixed watermark pressure owner"
    said = node.refused("up", "--open", "--lend", "4M", "--size-policy", "nonsense")
    true(known in said, f"it said: {said}")
    node.up(lend="4M")
    true("between 0 and 100" in node.refused("set", "headroom_pct", 101),
         "headroom over 100")
    node.ctl("set", "headroom_pct", 100)
    said = node.refused("policy", "size", "nonsense")
    true("[fixed] watermark pressure owner" in said, f"it said: {said}")
    said = node.refused("policy", "place", "nonsense")
    true("[most-free] round-robin" in said, f"it said: {said}")
    node.refused("policy", "size", code=2)
    node.refused("policy", "prefetch", "x", code=2)
    node.refused("psi", "--every", "x", code=2)
    equal(size(node)["size"], "fixed", "the policy")


def test_lend_below_held(t):
    """Lending less than is held starts a shrink: promises are taken back,
    the rest is a surplus, nothing is lost."""
    cluster = t.cluster(2)
    a, b = cluster
    cluster.up(lend="32M")
    dev = a.device_add("24M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, 8 * MIB, 32):
            slots.write(first, 32)
        held = size(b)["held_pages"]
        at_least(held, 8 * MIB - 32, "pages held")
        b.ctl("lend", "4M")
        now = size(b)
        equal((now["target_pages"], now["granted_pages"], now["trend"]),
              (4 * MIB, 0, "shrinking"), "the node then")
        equal(now["surplus_pages"], now["held_pages"] - 4 * MIB, "surplus")
        equal(now["held_pages"], held, "pages held, with nowhere to go")
        at_least(b.stat()["server"]["grants_revoked"], 1, "promises revoked")
        said = b.run([b.prog("nswapctl"), "stat"]).out
        true(re.search(r"surplus +\S+ \S+ +[1-9]", said), "stat says nothing")
        wait_for(lambda: a.peers()[b.addr]["shrinking"], 5,
                 "the owner hears of it")
        equal(a.peers()[b.addr]["free_pages"], 0, "free pages announced")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
        b.ctl("lend", "32M")
        equal(size(b)["surplus_pages"], 0, "surplus with enough lent")
        wait_for(lambda: not a.peers()[b.addr]["shrinking"] and
                 a.peers()[b.addr]["free_pages"] > 0, 10,
                 "the owner hears that there is room again")
        slots.write(16 * MIB, 32)
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
    a.device_del(dev)


def test_choosing(t):
    """Clients leave a shrinking peer alone at once, and come back."""
    cluster = t.cluster(3)
    a, b, c = cluster
    a.up()
    c.up(lend="48M")
    adaptive(b, "48M", grow_pct=100)
    wait_target(b, 48 * MIB)
    cluster.wait_connected()
    a.ctl("policy", "place", "round-robin")
    dev = a.device_add("40M")
    with Slots(dev, t.seed) as slots:
        def write(first, nr):
            for slot in range(first, first + nr, 8):
                slots.write(slot, 8)

        write(1, 512)
        for peer in (b, c):
            at_least(size(peer)["held_pages"], 64, f"pages on {peer}")
        turn(b, hold_off_ms=600000, fed_available_mib=164)
        wait_for(lambda: a.peers()[b.addr]["shrinking"], 10,
                 "the client hears that the peer shrinks")
        equal(size(b)["surplus_pages"], 0, "surplus")
        held, refused = size(b)["held_pages"], a.stat()["client"]["refused"]
        write(1024, 512)
        equal(size(b)["held_pages"], held, "pages on the shrinking peer")
        equal(a.stat()["client"]["refused"], refused, "pages refused")
        b.ctl("policy", "size", "fixed")
        wait_for(lambda: not a.peers()[b.addr]["shrinking"], 10,
                 "the client hears that it is over")
        wait_for(lambda: write(2048, 8) or size(b)["held_pages"] > held, 15,
                 "the peer is chosen again")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
    a.device_del(dev)


def test_lends_again(t):
    """A peer that lent nothing for a moment is chosen again, even by a client
    that never pauses and has another peer to go to."""
    cluster = t.cluster(3)
    a, b, c = cluster
    a.up()
    for peer in (b, c):
        peer.up(lend="32M")
    cluster.wait_connected()
    a.ctl("policy", "place", "round-robin")
    dev = a.device_add("16M")
    with Slots(dev, t.seed) as slots:
        def write():
            # what was there already would be written over where it is
            a.discard(dev, "-o", "4096", "-l", "1M")
            for slot in range(1, 257, 8):
                slots.write(slot, 8)

        write()
        at_least(a.peers()[b.addr]["grants"], 1, "grants left")
        b.ctl("lend", "0")
        at_least(b.stat()["server"]["grants_revoked"], 1, "promises revoked")
        wait_for(lambda: write() or a.peers()[b.addr]["shrinking"], 10,
                 "the client hears that the peer shrinks")
        b.ctl("lend", "32M")
        wait_for(lambda: write() or not a.peers()[b.addr]["shrinking"], 10,
                 "the client hears that it is over")
        stored = b.stat()["server"]["pages_stored"]
        wait_for(lambda: write() or
                 b.stat()["server"]["pages_stored"] > stored, 10,
                 "the peer is chosen again")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
    a.device_del(dev)


def test_refusal(t):
    """A refusal corrects the IPTable before the next announcement does."""
    cluster = t.cluster(2, inject=True)
    a, b = cluster
    a.up()
    b.up(lend="16M")
    cluster.wait_connected()
    dev = a.device_add("8M")
    turn(b, announce_ms=60000)
    with Slots(dev, t.seed) as slots:
        slots.write(1, 8)
        at_least(a.peers()[b.addr]["free_pages"], 1, "free pages in the table")

        def corrected():
            b.inject(refuse=1)
            slots.write(9, 8)
            return a.peers()[b.addr]["free_pages"] == 0
        wait_for(corrected, 15, "the refusal counts, announcements being over")
        at_least(a.stat()["client"]["refused"], 8, "pages refused")
        equal(slots.compare()[1:], (0, 0), "wrong and unreadable slots")
    a.device_del(dev)


def test_clock(t):
    """The wall clock jumps a day ahead and back: growth goes on as slowly,
    and nothing shrinks."""
    cluster = t.cluster(1)
    node = cluster[0]
    adaptive(node, "64M", size_period_ms=1000)
    shrunk = node.stat()["server"]["shrunk"]
    day = 24 * 3600
    try:
        time.clock_settime(time.CLOCK_REALTIME, time.time() + day)
        wait_for(lambda: size(node)["target_pages"] > 8 * MIB, 20, "it grows")
    finally:
        time.clock_settime(time.CLOCK_REALTIME, time.time() - day)
    grows_slowly(node, 40)
    equal(node.stat()["server"]["shrunk"], shrunk, "pages by which it shrank")


def test_shrinker(t):
    """Reclaim takes unfilled pages back from a node while a program eats
    more than there is; no program is killed."""
    cluster = t.cluster(1)
    node = cluster[0]
    node.run(["mkswap", "/dev/ubda"])
    node.run(["swapon", "/dev/ubda"])
    adaptive(node, "64M", fed_available_mib=1000, grow_pct=100,
             hold_off_ms=600000)
    wait_for(lambda: size(node)["set_aside_pages"] == 16 * MIB, 10,
             "the pool is full")
    free = int(re.search(r"MemAvailable: +(\d+)",
                         node.read("/proc/meminfo")).group(1)) // 1024
    node.run("mkdir -p /run/ballast && mount -t tmpfs -o size=100% none "
             f"/run/ballast && fallocate -l {free - 64}M /run/ballast/file")
    try:
        program = node.popen(eater(node, 96, passes=1))
        wait_for(lambda: node.stat()["server"]["shrinker_calls"], 60,
                 "reclaim asks the node")
        wait_for(lambda: size(node)["set_aside_pages"] < 16 * MIB, 10,
                 "unfilled pages are given back")
        equal(size(node)["trend"], "shrinking", "the trend")
        true(size(node)["target_pages"] < 64 * MIB,
             "it lends as much as before")
        equal(result_of(program.wait(60))["wrong_pages"], 0, "wrong pages")
        t.log(f"afterwards: {size(node)}")
    finally:
        node.run(["umount", "/run/ballast"])
    node.run(["swapoff", "/dev/ubda"])


def test_ready(t):
    """Reclaim takes back all but what is held: what was ready for the owner's next stores is
    given back, and no page that may stay is dropped for it."""
    cluster = t.cluster(2)
    a, b = cluster
    a.up(lend="0")
    adaptive(b, "16M", grow_pct=100, hold_off_ms=600000, lend_min_mib=4)
    wait_target(b, 16 * MIB)
    cluster.wait_connected()
    dev = a.ctl("device", "add", "--size", "8M", "--class", "droppable")["device"]
    with Slots(dev, t.seed) as slots:
        for first in range(1, 4 * MIB - 64, 32):
            slots.write(first, 32)
        for slot in range(4 * MIB - 63, 4 * MIB + 1):
            slots.write(slot)
        # before its owner returns what it is promised
        b.write("/proc/sys/vm/drop_caches", "2")
        wait_target(b, 4 * MIB, 2)
        wait_for(lambda: size(b)["set_aside_pages"] == 0 or
                 b.stat()["server"]["pages_dropped"], 5, "nothing is set aside")
        equal(b.stat()["server"]["pages_dropped"], 0, "pages dropped")
        equal(size(b)["held_pages"], 4 * MIB, "pages held")
        equal(slots.compare(), (4 * MIB, 0, 0), "right, wrong, unreadable slots")
    a.device_del(dev)
