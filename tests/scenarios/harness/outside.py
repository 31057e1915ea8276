# SPDX-License-Identifier: GPL-2.0
"""Programs of others as bench/lib/outside.py runs them, without the module."""
import sys

from nswaptest.check import at_least, equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from lib import apps  # noqa: E402 (needs the path above)
from runs import apps as today  # noqa: E402

DESCRIPTION = "programs of others run, and notice what they must"
SUITES = ("lab",)
LONG = ("hpl_ranks", "povray", "ns2", "compiler", "swapping", "all_swapping")
ONLY_FULL = {"all_swapping": "each of today's programs in half of its memory"}
NEEDS = ("module", "benchprogs", "hpcc", "povray", "ns", "redis-check-rdb", "memcached", "gcc")
TIMEOUT = 400
# Of one run: mpirun starts five processes, each with some fifty libraries.
RUN_S = 180


def ran(node, name, mb, *args, code=0):
    """Run one of them; its result."""
    done = node.run([*apps.of_size(name, mb).command(node), *map(str, args)],
                    check=False, timeout=RUN_S)
    equal(done.code, code, f"exit code of '{done.cmd}': {done.err.strip()}")
    return apps.result_of(done)


def hpl(t, ranks):
    """HPL by so many ranks: right, unless a product was spoilt; each sleeps for its
    operations."""
    node = t.cluster(1, module=False)[0]
    alike = ("--ranks", ranks, "--compute-ns", 1000)
    got = ran(node, "HPL", 22, *alike)
    equal((got["wrong_results"], got["verified"]), (0, got["n"]),
          "wrong results, unknowns verified")
    # the one that slept longest; but for the last operations, less than a step of 1 ms
    at_least(got["slept_seconds"], got["flops"] / 1e9 / ranks * 0.99 - 0.001,
             "seconds slept")
    ran(node, "HPL", 22, *alike, "--damage", 2, code=1)


def test_hpl(t):
    """HPL's residual passes, unless a product was spoilt; it sleeps for its operations."""
    hpl(t, 1)


def test_hpl_ranks(t):
    """The same of four ranks, which mpirun starts, and which find each other over TCP."""
    hpl(t, 4)


def test_povray(t):
    """The same picture twice, another one if the scene is another."""
    node = t.cluster(1, module=False)[0]
    got = [ran(node, "POV-Ray", 19), ran(node, "POV-Ray", 19),
           ran(node, "POV-Ray", 19, "--damage", 1)]
    equal(apps.wrong(got[1], got[0]), 0, "wrong pictures")
    equal(apps.wrong(got[2], got[0]), 1, "wrong pictures of another scene")


def test_ns2(t):
    """The same trace twice, another one if nodes are elsewhere; it sleeps while it
    computes."""
    node = t.cluster(1, module=False)[0]
    got = [ran(node, "ns-2", 19), ran(node, "ns-2", 19, "--compute-ns", 20_000),
           ran(node, "ns-2", 19, "--damage", 1)]
    at_least(got[0]["verified"], 1000, "packets that arrived")
    equal(apps.wrong(got[1], got[0]), 0, "wrong traces")
    at_least(got[1]["seconds"], 2, "seconds, of which it sleeps 2")
    equal(apps.wrong(got[2], got[0]), 1, "wrong traces of another scene")


def test_redis(t):
    """All values come back, unless some were spoilt."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "redis", 2)
    equal((got["wrong_results"], got["verified"]), (0, got["keys"]),
          "wrong values, right ones")
    at_least(ran(node, "redis", 2, "--damage", 3, code=1)["wrong_results"], 3,
             "wrong values")


def test_memcached(t):
    """Each value is the last one that was put there, unless some were spoilt; each
    request was timed."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "memcached", 2)
    equal((got["wrong_results"], got["verified"], got["ops"]),
          (0, got["keys"], got["keys"]), "wrong values, right ones, requests")
    true(0 < got["p50_us"] <= got["p99_us"] <= got["p999_us"],
         f"percentiles are in no order: {got}")
    equal(apps.wrong(ran(node, "memcached", 2), got), 0, "wrong values")
    spoilt = ran(node, "memcached", 2, "--damage", 3, code=1)
    equal(spoilt["verified"], got["keys"] - 3, "right values of spoilt ones")


def with_library(t, module):
    """A node, if Debian's Python has a library."""
    node = t.cluster(1, module=False)[0]
    if node.run([apps.PYTHON, "-c", f"import {module}"], check=False).code:
        t.skip(f"python3-{module} is not installed")
    return node


def unlike(node, name, mb, least):
    """A program comes to the same twice, and to something else if three things are
    spoilt, of which at least so many answers are wrong."""
    got = ran(node, name, mb)
    equal(got["wrong_results"], 0, "wrong answers")
    at_least(got["verified"], got["ops"] // 16, "right answers")
    equal(apps.wrong(ran(node, name, mb), got), 0, "wrong answers the second time")
    spoilt = ran(node, name, mb, "--damage", 3, code=1)
    at_least(spoilt["wrong_results"], least, "wrong answers of what was spoilt")
    equal(spoilt["verified"] + spoilt["wrong_results"], got["verified"], "answers")
    true(spoilt["checksum"] != got["checksum"], "checksum of what was spoilt")


def test_graph(t):
    """Ranks and searches pass, unless there are edges that should not be."""
    unlike(with_library(t, "igraph"), "graph", 2, 3)


def test_numpy(t):
    """Every number is right, unless some keys were spoilt."""
    unlike(with_library(t, "numpy"), "numpy", 2, 3)


def test_compiler(t):
    """Each function comes to what it must, unless some have other constants."""
    node = t.cluster(1, module=False)[0]
    unlike(node, "compiler", 10, 3)


def test_sqlite(t):
    """Every answer and every row is right, unless some were spoilt; the same
    answers twice, others from another table."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "SQLite", 22)
    equal((got["wrong_results"], got["verified"]), (0, got["rows"]),
          "wrong answers, right rows")
    equal(apps.wrong(ran(node, "SQLite", 22), got), 0, "wrong answers")
    spoilt = ran(node, "SQLite", 22, "--damage", 3, code=1)
    at_least(spoilt["wrong_results"], 3, "wrong answers of a spoilt table")
    equal(spoilt["verified"], got["rows"] - 3, "right rows of a spoilt table")
    true(spoilt["checksum"] != got["checksum"], "checksum of a spoilt table")


def swapping(t, names):
    """Programs held at half of their memory come to what they come to with all of it;
    what is not held, the clients and what compares, is not in their group."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    with cluster.swap(client, "64M"):
        for name, mb in names:
            app = apps.of_size(name, mb)
            right, _, _ = today.execute(client, app)
            got, _, _ = today.execute(client, app, right["peak"] // 2)
            equal(apps.wrong(got, right), 0, f"{name}: what is wrong")
            at_least(right["peak"] // 2, got["peak"] * 0.9, f"{name}: its limit")
            at_least(sum(got[key] for key in got if key.endswith("pswpout")), 100,
                     f"{name}: pages out")


def test_swapping(t):
    """A server in half of its memory."""
    swapping(t, [("memcached", 8)])


def test_all_swapping(t):
    """All of them."""
    swapping(t, [("redis", 8), ("memcached", 8), ("SQLite", 28), ("graph", 8),
                 ("compiler", 12), ("numpy", 8)])


def test_refused(t):
    """Bad input is one sentence, and exit code 2."""
    node = t.cluster(1, module=False)[0]
    command = apps.of_size("redis", 2).command(node)[:2]
    for args in (["nothing"], ["redis", "--mb", "0"], ["hpl"], [],
                 ["numpy", "--damage", "-1"]):
        done = node.run([*command, *args], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        said = done.err.strip()
        true(said.startswith("error: ") and "\n" not in said,
             f"'{done.cmd}' must say one sentence, said: {said!r}")
