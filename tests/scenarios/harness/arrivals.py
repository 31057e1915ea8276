# SPDX-License-Identifier: GPL-2.0
"""What measures load and latency: page-ins that come when they come, their percentiles,
and what they are laid beside."""
import sys

from nswaptest.check import at_least, at_most, equal, true
from nswaptest.modelled import Modelled, loaded
from nswaptest.scenario import ROOT

sys.path[:0] = [str(ROOT / "bench")]

from lib import apps  # noqa: E402 (needs the path above)
from tables import fairness, load, profiles, shared_line  # noqa: E402 (likewise)

DESCRIPTION = "load and latency: the programs that ask for pages, and their arithmetic"
SUITES = ("lab",)
NEEDS = ("model-dev", "benchprogs")
TIMEOUT = 60

SERVICE_NS = 4_000_000


def test_arithmetic(_):
    """Percentiles are values that were there; a queue is what it is by hand."""
    values = list(range(1, 1001))
    equal([load.percentile(values, rank) for rank in (0.5, 0.99, 0.999, 1, 0)],
          [500, 990, 999, 1000, 1], "percentiles of 1 to 1000")
    equal(load.percentile([7], 0.999), 7, "the percentile of one")
    equal(load.in_order([0, 5, 30], 10, 100), [110, 115, 110],
          "two that wait for each other, and one that does not")
    found = load.summary([(0, 9), (10, 2000), (20, 3000), (30, 4000)], 10, 30,
                         [1000, 1500, 2500, 9999])
    equal(found["took"], {"p50": 2.0, "p99": 3.0, "p99.9": 3.0, "max": 3.0},
          "what those due in the window took, in us")
    equal(found["wire"]["p99"], 2.5, "what they would have on the wire")
    equal((found["samples"], found["due_s"], found["answered_s"]), (2, 10 ** 8, 0),
          "how many, due a second, answered a second")
    # 72 + 4096 bytes are three segments: 4366 bytes with their heads
    equal(load.frames_of(load.HEADER + load.PAGE), 4366, "bytes on the line")
    equal(round(load.line_rate(profiles.NOW)), 715_758, "pages a second")


def ran(node, path, *args, code=0):
    """Run it on a device of 1 MiB; its result, and (due, took) of each page."""
    file = node.cluster.scratch / "samples"
    done = node.run([node.prog("arrivals"), "--devices", path, "--mb", 1, "--samples", file,
                     *args], check=False)
    equal(done.code, code, f"exit code of '{done.cmd}': {done.err.strip()}")
    got = apps.result_of(done)
    return got, load.samples_of(file) if got["answered"] else []


def test_load(t):
    """On flash that serves one page after the other none takes less than that, all are
    as they were written, and the more are due the longer it takes."""
    node = t.cluster(1, module=False)[0]
    with loaded(t.settings["modules"]["model-dev"]):
        flash = Modelled("mf0", "flash", mb=1, channels=1, read_ns=SERVICE_NS)
        ran(node, flash.path, "--fill", 1)
        tails = []
        for rate in (25, 225):
            got, samples = ran(node, flash.path, "--rate", rate, "--ms", 1500)
            equal((got["verified"], got["failed"]), (len(samples), 0), "pages, failed")
            at_least(len(samples), rate, "pages")
            at_least(min(took for _, took in samples), SERVICE_NS, "the quickest page-in")
            exact = load.in_order([due for due, _ in samples], SERVICE_NS, 0)
            early = [took - right for (_, took), right in zip(samples, exact)
                     if took < right - 1000]
            equal(early, [], "page-ins that took less than the queue before them")
            tails.append(load.percentile(sorted(took for _, took in samples), 0.99))
        at_least(tails[1], 2 * tails[0], "99th percentile where nine times as many are due")
        flash.remove()


def test_damage(t):
    """Spoiled pages are found, and what is refused is said."""
    node = t.cluster(1, module=False)[0]
    ran(node, "/dev/ram0", "--fill", 1, "--damage", 20)
    got, samples = ran(node, "/dev/ram0", "--rate", 4000, "--ms", 300, code=1)
    equal(got["verified"] + got["wrong_pages"], len(samples), "pages compared")
    at_least(got["wrong_pages"], 20, "wrong pages")
    at_most(got["wrong_pages"], len(samples) // 5, "wrong pages")
    for argv in (["--devices", "/dev/nothing"], ["--devices", ""], ["--rate", "0"],
                 ["--devices", "/dev/ram0", "--mb", "100000"]):
        done = node.run([node.prog("arrivals"), *argv], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        true(done.err.startswith("error: "), f"'{done.cmd}' must say why: {done.err!r}")


def test_shared_line(_):
    """A line that serves flows in turn: by hand for few, and no greedy flow takes more than
    a packet for each of another's."""
    equal(shared_line.fair(1, [10, 10, 5], 0, 100, 0, 3), [125] * 3, "one client alone")
    equal(shared_line.fair(1, [10, 10, 5], 10, 100, 0, 1), [155],
          "one client, and a packet of the greedy one before each of its own")
    equal(sorted(shared_line.fair(2, [10, 10], 0, 100, 0, 2)), [130, 140],
          "two that begin at once")
    alone, beside = fairness.ideal(False), fairness.ideal(True)
    packet = load.line_ns(load.MTU - load.IP_TCP, profiles.NOW.peer_kbit) / 1e3
    at_least(beside["p50"], alone["p50"] + packet, "us of the median beside a greedy one")
    at_most(beside["p50"], alone["p50"] + 5 * packet, "us of the median beside a greedy one")


def asked(node, path, *args, code=0):
    """Run depth on a device of 1 MiB; its result and (asked, took) of each run of pages."""
    file = node.cluster.scratch / "samples"
    done = node.run([node.prog("depth"), "--devices", path, "--mb", 1, "--samples", file,
                     *args], check=False)
    equal(done.code, code, f"exit code of '{done.cmd}': {done.err.strip()}")
    return apps.result_of(done), load.samples_of(file) if "--fill" not in args else []


def test_depth(t):
    """At each device as many are under way as were asked for, no more; what was read is
    compared, and what was written is there."""
    node = t.cluster(1, module=False)[0]
    with loaded(t.settings["modules"]["model-dev"]):
        flash = Modelled("mf0", "flash", mb=1, channels=1, read_ns=SERVICE_NS)
        asked(node, flash.path, "--fill", 1)
        for depth in (1, 4):
            got, samples = asked(node, flash.path, "--depth", depth, "--ms", 800)
            equal((got["verified"], got["failed"]), (len(samples), 0), "pages, failed")
            middle = load.percentile(sorted(took for _, took in samples), 0.5)
            # it asks a moment after the device has gone on with the next one
            at_least(middle, (depth - 0.5) * SERVICE_NS, f"median ns with {depth} under way")
        _, samples = asked(node, flash.path, "--rest-ns", 10 * SERVICE_NS, "--ms", 800)
        at_most(len(samples), 60, "reads with rests")
        got, samples = asked(node, flash.path, "--op", "write", "--pages", 8, "--ms", 200)
        at_least(len(samples), 1, "runs of pages written")
        equal((got["verified"], got["failed"]), (255, 0), "pages read back, failed")
        flash.remove()


def test_depth_damage(t):
    """Spoiled pages are found, and what is refused is said."""
    node = t.cluster(1, module=False)[0]
    asked(node, "/dev/ram0", "--fill", 1, "--damage", 20)
    got, samples = asked(node, "/dev/ram0", "--ms", 500, code=1)
    equal(got["verified"] + got["wrong_pages"], len(samples), "pages compared")
    at_least(got["wrong_pages"], 1, "wrong pages")
    for argv in (["--devices", "/dev/nothing"], ["--devices", ""], ["--depth", "65"],
                 ["--devices", "/dev/ram0", "--mb", "1", "--depth", "64", "--pages", "8"]):
        done = node.run([node.prog("depth"), *argv], check=False)
        equal(done.code, 2, f"exit code of '{done.cmd}'")
        true(done.err.startswith("error: "), f"'{done.cmd}' must say why: {done.err!r}")
