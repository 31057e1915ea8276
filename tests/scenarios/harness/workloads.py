# SPDX-License-Identifier: GPL-2.0
"""The programs of bench/programs: right when nothing is wrong, not when
something is, and the same when they swap to another node."""
import sys

from nswaptest.check import at_least, equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from lib import apps  # noqa: E402 (needs the path above)

DESCRIPTION = "the workloads notice what they must, and swap without harm"
SUITES = ("lab",)
LONG = ("swapping", "faults")
NEEDS = ("module", "benchprogs")
TIMEOUT = 120

OURS = [name for name, kind in apps.KINDS.items() if not kind.outside]
# Sizes of whole runs are too large here.
SMALL = {"WL3": ["--file-mb", "2"], "WL4": ["--file-mb", "2"]}


def ran(node, name, mb, *args, limit=None, code=0):
    """Run one of them; its result."""
    app = apps.of_size(name, mb)
    argv = app.command(node, file=node.cluster.scratch / "file", processes=2)
    argv += [*SMALL.get(name, ()), *map(str, args)]
    done = node.run(apps.held(argv, limit) if limit else argv, check=False,
                    memory_max="64M" if limit else None)
    equal(done.code, code, f"exit code of '{done.cmd}': {done.err.strip()}")
    return apps.result_of(done)


def test_right(t):
    """Nothing is wrong, and something was looked at."""
    node = t.cluster(1, module=False)[0]
    for name in OURS:
        got = ran(node, name, 1)
        equal((got["wrong_pages"], got["wrong_results"]), (0, 0),
              f"{name}: what is wrong")
        at_least(got["verified"], 256, f"{name}: what was verified")
        at_least(got["seconds"], 1e-6, f"{name}: seconds")


def test_damage(t):
    """What was spoilt is found."""
    node = t.cluster(1, module=False)[0]
    for name in OURS:
        got = ran(node, name, 1, "--damage", 3, code=1)
        at_least(got["wrong_pages"] + got["wrong_results"], 1,
                 f"{name}: what is wrong")
        if got["wrong_pages"]:
            equal(got["wrong_pages"], 3, f"{name}: wrong pages")


def test_ways(t):
    """Sorts look at every number, and find what was spoilt, whichever way they begin."""
    node = t.cluster(1, module=False)[0]
    for way in ("together", "filled", "apart", "turns"):
        got = ran(node, "quicksort", 1, "--way", way)
        equal((got["verified"], got["wrong_results"]), (1 << 18, 0),
              f"{way}: verified, and wrong")
        got = ran(node, "quicksort", 1, "--way", way, "--damage", 3, code=1)
        equal(got["wrong_results"], 2, f"{way}: wrong arrays of two")


def test_known_ranks(t):
    """IS comes to the ranks of the NAS report, with any number of processes."""
    node = t.cluster(1, module=False)[0]
    sums = set()
    for processes in (1, 2, 3, 4, 7):
        done = node.run([node.prog("is"), "--class", "S", "--processes",
                         processes])
        got = apps.result_of(done)
        equal(got["verified"], (1 << 16) + 50, "keys and ranks verified")
        sums.add(got["checksum"])
    equal(len(sums), 1, "checksums of the same keys")


def test_iterations(t):
    """IS ranks its keys as often as it is told, and comes to the report's ranks each time."""
    node = t.cluster(1, module=False)[0]
    sums = set()
    for iterations in (1, 2, 9, 10):
        done = node.run([node.prog("is"), "--class", "S", "--iterations", iterations])
        got = apps.result_of(done)
        equal(got["verified"], (1 << 16) + 5 * iterations, "keys and ranks verified")
        equal((got["wrong_results"], got["wrong_pages"]), (0, 0), "what is wrong")
        sums.add(got["checksum"])
    equal(len(sums), 4, "checksums of keys of which other ones were changed")


def test_swapping(t):
    """A program larger than its group comes to what it comes to without."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    with cluster.swap(client, "64M"):
        for name, mb in (("WL2", 11), ("Radix", 9), ("IS", 9),
                         ("quicksort", 9), ("hotcold", 11)):
            right = ran(client, name, mb)
            got = ran(client, name, mb, limit="8500K")
            equal(apps.wrong(got, right), 0, f"{name}: what is wrong")
            at_least(got["pswpout"] + got["fill_pswpout"], 100,
                     f"{name}: pages out")


def test_compute(t):
    """A unit of work takes what --compute-ns says."""
    node = t.cluster(1, module=False)[0]
    got = ran(node, "WL1", 1, "--compute-ns", 200000)
    equal(got["accesses"], 512, "pages accessed")
    at_least(got["slept_seconds"], 0.1, "seconds slept")
    at_least(got["seconds"], got["slept_seconds"], "seconds")


def test_faults(t):
    """Faults that read are counted by phase, and take what --fault-ns says."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    with cluster.swap(client, "64M"):
        got = ran(client, "quicksort", 12, "--fault-ns", 100000, limit="8M")
    at_least(got["major"], 100, "faults that read")
    at_least(got["fill_faults"], 12 << 8, "faults of the first use of each page")
    at_least(got["slept_seconds"], 0.00005 * got["major"], "seconds slept")


def test_refused(t):
    """Bad input is one sentence, and exit code 2."""
    node = t.cluster(1, module=False)[0]
    for argv in (["wl", "--mb", "0"], ["wl", "--workload", "WL5"],
                 ["wl", "--workload", "WL3"], ["wl", "--mb"], ["wl", "more"],
                 ["is", "--class", "Z"], ["fft", "--mb", "3"],
                 ["radix", "--processes", "65"], ["dodo", "--request-kb", "6"],
                 ["quicksort", "--nothing"], ["quicksort", "--way", "none"]):
        done = node.run([node.prog(argv[0]), *argv[1:]], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        said = done.err.strip()
        true(said.startswith("error: ") and "\n" not in said,
             f"'{done.cmd}' must say one sentence, said: {said!r}")
    for program in sorted({k.program for k in apps.KINDS.values()
                           if not k.outside}):
        said = node.run([node.prog(program), "--help"]).out
        true("--compute-ns" in said and "--mb" in said or program == "is",
             f"{program} --help does not say what there is: {said!r}")
