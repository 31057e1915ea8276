# SPDX-License-Identifier: GPL-2.0
"""The test programs themselves, without the module: what they must notice
they notice, and what they call it is what it is."""
import json
import signal

from nswaptest.check import at_least, at_most, equal, hold, wait_for

DESCRIPTION = "patterns, eater, blkverify and heartbeat notice what they must"
SUITES = ("lab",)
NEEDS = ("progs",)
TIMEOUT = 300


def ran(node, name, *args, code=0):
    """Run a test program; its result."""
    done = node.run([node.prog(name), *map(str, args)], check=False)
    equal(done.code, code, f"exit code of '{done.cmd}'")
    return json.loads(done.out.splitlines()[-1])


def test_patterns(t):
    """Every kind of bad page is called by its name."""
    node = t.cluster(1, module=False)[0]
    equal(ran(node, "patterncheck")["surprises"], 0, "surprises")


def test_eater(t):
    """Spoiled pages are found, all of them, in every order."""
    node = t.cluster(1, module=False)[0]
    for order in ("seq", "random", "rw"):
        args = ("--mb", 4, "--order", order)
        got = ran(node, "eater", *args)
        equal((got["pages"], got["wrong_pages"]), (1024, 0), "pages, wrong")
        got = ran(node, "eater", *args, "--corrupt-self", 3, code=1)
        equal((got["wrong_pages"], got["torn_pages"]), (3, 3), "wrong, torn")
        got = ran(node, "eater", *args, "--stale-self", 5, code=1)
        equal((got["wrong_pages"], got["stale_pages"]), (5, 5), "wrong, stale")


def test_blkverify(t):
    """The same on a block device, and what is refused is said."""
    node = t.cluster(1, module=False)[0]
    args = ("--device", "/dev/ram0", "--mb", 4, "--ops", 300)
    got = ran(node, "blkverify", *args)
    at_least(got["verified"], 1, "slots compared")
    got = ran(node, "blkverify", *args, "--corrupt-self", 4, code=1)
    equal((got["wrong_pages"], got["torn_pages"]), (4, 4), "wrong, torn")
    got = ran(node, "blkverify", *args, "--stale-self", 2, code=1)
    equal((got["wrong_pages"], got["stale_pages"]), (2, 2), "wrong, stale")
    done = node.run([node.prog("blkverify"), "--device", "/dev/ram0",
                     "--mb", "100000"], check=False)
    equal(done.code, 2, "exit code for more than the device has")


def test_heartbeat(t):
    """A heartbeat that is stopped for a while says so, and only then."""
    cluster = t.cluster(1, module=False)
    node = cluster[0]
    for how in ([], ["--mlock"]):
        out = cluster.scratch / ("beat" + "".join(how))

        def beat():
            return json.loads(out.read_text())

        process = node.popen([node.prog("heartbeat"), "--out", str(out),
                              "--period", "20", *how])
        wait_for(lambda: out.exists() and beat().get("beats", 0) > 5, 10,
                 "the heart beats")
        process.kill(signal.SIGSTOP)
        stopped = beat()["beats"]
        hold(1)
        at_most(beat()["beats"], stopped + 1, "beats while it is stopped")
        process.kill(signal.SIGCONT)
        wait_for(lambda: beat()["beats"] > stopped + 2, 10, "it beats again")
        at_least(beat()["max_gap_ms"], 900, "longest gap in ms")
        process.kill(signal.SIGTERM)
        equal(process.wait(10).code, 0, "the heartbeat's exit code")
