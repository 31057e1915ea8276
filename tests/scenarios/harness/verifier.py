# SPDX-License-Identifier: GPL-2.0
"""The verifiers shown failing: a test that cannot fail shows nothing."""
import json

from nswaptest.check import at_least, equal, true
from nswaptest.work import Slots, eater

DESCRIPTION = "a corrupted page and a page one generation old are found"
SUITES = ("lab",)
NEEDS = ("inject", "progs", "fio")
TIMEOUT = 300


def start(t, lend="64M"):
    """Two nodes of the fault-injection build."""
    cluster = t.cluster(2, inject=True)
    cluster.up(lend=lend)
    cluster[0].inject(keep=1)
    return cluster, cluster[0]


def eaten(t, **knobs):
    """An eater's result with faults injected while it runs."""
    cluster, client = start(t)
    with cluster.swap(client, "96M"):
        client.inject(**knobs)
        done = client.run(eater(client, 48, passes=1), memory_max="24M",
                          check=False)
        client.inject(**dict.fromkeys(knobs, 0))
    result = json.loads(done.out.splitlines()[-1])
    t.log(json.dumps(result))
    equal(done.code, 1, "the eater's exit code")
    at_least(result["wrong_pages"], 1, "wrong pages found")
    return result


def test_eater_corrupt(t):
    """The eater finds pages in which the server flipped something."""
    eaten(t, corrupt=20)


def test_eater_stale(t):
    """The eater finds whole pages that are one write old."""
    eaten(t, stale=20)


def test_slots(t):
    """The scenario's own slots find both, exactly as many as injected."""
    cluster, client = start(t)
    dev = client.device_add("16M")
    with Slots(dev, t.seed) as slots:
        slots.write(1, 64)
        client.inject(corrupt=3)
        equal(slots.compare(), (61, 3, 0), "right, wrong, unreadable slots")
        slots.write(1, 64)
        client.inject(stale=5)
        equal(slots.compare(), (59, 5, 0), "right, wrong, unreadable slots")
        equal(slots.compare(), (64, 0, 0), "right, wrong, unreadable slots")
    client.device_del(dev)
    equal(cluster.nodes[1].stat()["node"]["lent_pages"], 16384, "lent pages")


def test_fio(t):
    """fio's checksum finds a corrupted page."""
    _, client = start(t)
    dev = client.device_add("16M")
    job = ["fio", "--name=v", f"--filename=/dev/{dev}", "--direct=1",
           "--bs=64k", "--size=15m", "--offset=1m", "--rw=write",
           "--verify=crc32c", "--verify_fatal=1"]
    client.run([*job, "--do_verify=0"])
    client.run([*job, "--verify_only"])
    client.inject(corrupt=1)
    done = client.run([*job, "--verify_only"], check=False)
    true(done.code != 0 and "verify" in done.err + done.out,
         "fio did not notice a corrupted page")
    client.device_del(dev)


def test_blkverify(t):
    """blkverify finds corrupted and stale pages."""
    _, client = start(t)
    dev = client.device_add("16M")
    argv = [client.prog("blkverify"), "--device", f"/dev/{dev}",
            "--ops", "3000", "--max-kb", "64", "--reads", "50"]
    client.run(argv)
    for knobs in ({"corrupt": 9000}, {"stale": 9000}):
        client.inject(**knobs)
        done = client.run(argv, check=False)
        t.log(done.out.strip())
        client.inject(**dict.fromkeys(knobs, 0))
        equal(done.code, 1, f"blkverify's exit code with {knobs}")
    client.device_del(dev)
