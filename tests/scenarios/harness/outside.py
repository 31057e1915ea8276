# SPDX-License-Identifier: GPL-2.0
"""Programs of others as bench/lib/outside.py runs them, without the module."""
import sys

from nswaptest.check import at_least, equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from lib import apps  # noqa: E402 (needs the path above)

DESCRIPTION = "HPL, POV-Ray, redis and SQLite run, and notice what they must"
SUITES = ("lab",)
LONG = ("povray",)
NEEDS = ("benchprogs", "hpcc", "povray", "redis-check-rdb")
TIMEOUT = 120


def ran(node, name, mb, *args, code=0):
    """Run one of them; its result."""
    done = node.run([*apps.of_size(name, mb).command(node), *map(str, args)],
                    check=False)
    equal(done.code, code, f"exit code of '{done.cmd}': {done.err.strip()}")
    return apps.result_of(done)


def test_hpl(t):
    """HPL's residual passes, unless a product was spoilt; it sleeps for its
    operations."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "HPL", 22, "--compute-ns", 1000)
    equal((got["wrong_results"], got["verified"]), (0, got["n"]),
          "wrong results, unknowns verified")
    # but for the last of them, less than a step of 1 ms
    at_least(got["slept_seconds"], got["flops"] / 1e9 * 0.99 - 0.001, "seconds slept")
    ran(node, "HPL", 22, "--damage", 2, code=1)


def test_povray(t):
    """The same picture twice, another one if the scene is another."""
    node = t.cluster(1, module=False)[0]
    got = [ran(node, "POV-Ray", 19), ran(node, "POV-Ray", 19),
           ran(node, "POV-Ray", 19, "--damage", 1)]
    equal(apps.wrong(got[1], got[0]), 0, "wrong pictures")
    equal(apps.wrong(got[2], got[0]), 1, "wrong pictures of another scene")


def test_redis(t):
    """All values come back, unless some were spoilt."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "redis", 2)
    equal((got["wrong_results"], got["verified"]), (0, got["keys"]),
          "wrong values, right ones")
    at_least(ran(node, "redis", 2, "--damage", 3, code=1)["wrong_results"], 3,
             "wrong values")


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


def test_refused(t):
    """Bad input is one sentence, and exit code 2."""
    node = t.cluster(1, module=False)[0]
    command = apps.of_size("redis", 2).command(node)[:2]
    for args in (["nothing"], ["redis", "--mb", "0"], ["hpl"], []):
        done = node.run([*command, *args], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        said = done.err.strip()
        true(said.startswith("error: ") and "\n" not in said,
             f"'{done.cmd}' must say one sentence, said: {said!r}")
