# SPDX-License-Identifier: GPL-2.0
"""Chaos notices what it is there for.

Each of three rules that the protocol stands on is taken away in turn, in the
code that runs (inject_NAME) and not only in the model (MUT_NAME): the same
rounds that find nothing with all rules in place have to end with a wrong page,
a failed read, or servers that do not hold what the owner records.

First much happens at once to few pages.  Then come rounds over a slow link: it
is written and discarded, something happens, every page is read and compared.
They are short, for what is lost must not be written again before it is looked
for.
"""
import json
import os
import re
import time

from nswaptest.check import Failure, Unmet, equal, hold, true, wait_for
from nswaptest.scenario import ROOT, sibling

chaos = sibling("chaos")

DESCRIPTION = "chaos fails as soon as a rule of the protocol is taken away"
SUITES = ("chaos",)
NEEDS = ("inject", "progs", "blkdiscard")
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 300 + 2 * SECONDS

SERVERS = 3
LENT_MB = 12
LARGE_MB = 48           # what the first one lends: pages are moved there
DEVICE_MB = 8
DELAY_US = 500          # so that there is a moment to be met in,
RATE_MBIT = 2           # and a cut meets a store half way
CROWD_S = 4
CROWDS = 3              # more of them, at most, to notice
FLOWING = 40            # STORE messages that show that page-outs go on
SESSION_ENDS = 5        # seconds without a word, and one to be sure
ROUNDS = 8              # at most, to notice
RIGHT, WRONG, FAILED = 0, 1, 3  # what blkverify ends with


class Restless(chaos.Chaos):
    """Things that end in the middle of a store and of a move."""

    def __init__(self, t, cluster):
        super().__init__(t, cluster, LENT_MB)
        self.actions = ("silence", "half_told")

    def silence(self):
        """The owner hears only one of its servers, until its sessions with the
        others have ended."""
        silent = self.random.sample(self.servers, SERVERS - 1)
        for server in silent:
            self.cluster.cut(self.cluster[0], server)
        hold(SESSION_ENDS)
        for server in silent:
            self.cluster.heal(self.cluster[0], server)

    def half_told(self):
        """A server drains to a peer that the owner cannot reach: it cannot
        claim its pages there."""
        less = self.random.choice(self.servers[1:])
        self.cluster.cut(self.cluster[0], self.servers[0])
        less.ctl("lend", "0")
        hold(SESSION_ENDS)
        self.cluster.heal(self.cluster[0], self.servers[0])
        less.ctl("lend", f"{LENT_MB}M")


def workload(client, dev, seed, **options):
    """blkverify on a device that is emptied first: what is left of before
    would be moved first, and is not judged."""
    client.discard(dev)
    argv = [client.prog("blkverify"), "--device", f"/dev/{dev}", "--seed",
            str(seed), "--tolerate-write-errors", "--discards", "10"]
    for name, value in options.items():
        argv += ["--" + name.replace("_", "-"), str(value)]
    return client.popen(argv)


def judge(t, work):
    """What the verifier finds wrong, or ""."""
    done = work.wait(120)
    t.log(f"seed {t.seed}: {done.out}")
    if done.code in (WRONG, FAILED):
        result = json.loads(done.out.splitlines()[-1])
        return (f"{result['wrong_pages']} wrong pages, "
                f"{result['failed_slots']} that could not be read")
    equal(done.code, RIGHT, f"exit code of the verifier: {done.err}")
    return ""


def crowd(t, client, dev):
    """Much at once, and nothing else happens."""
    return judge(t, workload(client, dev, t.seed, seconds=CROWD_S, threads=4,
                             max_kb=64, reads=50))


def one_round(t, client, dev, beside, number):
    """Write, let something happen, compare."""
    def sent():
        return client.stat()["client"]["store_msgs"]
    work = workload(client, dev, 100 * t.seed + number, threads=8, max_kb=32,
                    reads=0, seconds=int(TIMEOUT))
    before = sent()
    wait_for(lambda: sent() > before + FLOWING or work.poll() is not None, 60,
             "page-outs go on")
    beside.step()
    work.kill(15)
    return judge(t, work)


def rounds(t, cluster, dev, mutation):
    """Round after round until something is wrong; what, or ""."""
    client, beside = cluster[0], Restless(t, cluster)
    found = crowd(t, client, dev)
    for _ in range(CROWDS if mutation else 0):
        found = found or crowd(t, client, dev)
    for node in cluster:
        node.run(["tc", "qdisc", "change", "dev", node.iface, "root", "netem",
                  "delay", f"{DELAY_US}us", "rate", f"{RATE_MBIT}mbit"])
    until = time.monotonic() + SECONDS
    for number in range(ROUNDS):
        if found or (not mutation and time.monotonic() > until):
            break
        found = one_round(t, client, dev, beside, number)
    if found:
        return found
    try:
        chaos.settled(cluster, client)
    except Failure as why:
        return str(why)
    return ""


def chaos_with(t, mutation):
    """Run chaos with a rule taken away, None for none; what it found."""
    cluster = t.cluster(1 + SERVERS, inject=True, delay_us=DELAY_US)
    client = cluster[0]
    lent = {0: 0, 1: LARGE_MB}
    for node in cluster:
        # a message arrives packet by packet and not as a whole
        node.run(["ip", "link", "set", node.iface, "gso_max_segs", "1"])
        node.up(lend=f"{lent.get(node.index, LENT_MB)}M",
                dead_after=chaos.DEAD_AFTER, reconcile=2)
    cluster.wait_connected()
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add(f"{DEVICE_MB}M")
    if mutation:
        client.inject(**{mutation: 1})
    found = rounds(t, cluster, dev, mutation)
    t.log(f"found: {found or 'nothing'}")
    if mutation:
        client.inject(**{mutation: 0})
    client.device_del(dev)
    return found


def noticed(t, mutation):
    """A run without a rule has to fail."""
    found = chaos_with(t, mutation)
    print(f"seed {t.seed}: {mutation}: {found}")
    if not found:
        raise Unmet(f"chaos finds nothing wrong with {mutation}")


def test_control(t):
    """With all rules in place nothing is found."""
    equal(chaos_with(t, None), "", "what chaos found")


def test_no_gen_check(t):
    """Servers ignore generations."""
    noticed(t, "no_gen_check")


def test_early_free(t):
    """A mover drops its pages before the owner has recorded the new place."""
    noticed(t, "early_free")


def test_ack_before_store(t):
    """A store is acknowledged before its pages are here."""
    noticed(t, "ack_before_store")


def test_named_alike(t):
    """Every mutation of the code is one of the model, by the same name."""
    source = (ROOT / "nswap/core/inject.h").read_text()
    code = set(re.findall(r"X\(WHILE, (\w+),[ \t\\\n]*\"mutation:", source))
    model = (ROOT / "tests/model/move.pml").read_text()
    equal(code, {"no_gen_check", "early_free", "ack_before_store"},
          "the mutations of the code")
    for name in sorted(code):
        true(f"MUT_{name.upper()}" in model, f"the model lacks {name}")
