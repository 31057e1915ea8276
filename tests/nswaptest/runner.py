# SPDX-License-Identifier: GPL-2.0
"""tests/run: choose tests, run them side by side, say what came.

One line a test, then the slowest and what was left out, and at the end
"N passed, N failed, N skipped".  Each test has a folder
build/test/<suite>/<test>/ with its events, output, kernel log and console.

Tests run side by side, as many as fit into -j.  Each counts for one, but a lab
kernel with one processor for WAITING, since its tests wait for much of their time.
It has one because a wake-up of another one costs milliseconds in user mode; a
scenario that wants several says CPUS = 2. On the vm lab's kernels a
scenario whose guests are all busy says as many: what they are starved of is to
be memory, not the processors of the host.

A test that missed a moment or a quantity (check.Unmet) is run once more when
all others are done, alone, and the second verdict counts; a busy machine does
that. One that found something wrong (a page, an answer, a complaint of the
kernel) never is.
"""
import argparse
import collections
import os
import signal
import subprocess
import sys
import time

from . import check, covered, scenario
from .hostrun import HostRun
from .labrun import LabRun, LabTest
from .scenario import Result
from .totals import OUT, Totals, in_full, say

# lab is what each commit waits for, long the rest of its tests
SUITES = ("unit", "model", "fuzz", "lab", "long", "chaos", "crash", "vm", "pressure",
          "kernels", "install", "debug", "kcsan", "faults", "cover")
# what "make test" runs; the others take a kernel of their own, two of them an hour
DEFAULT = ("unit", "model", "fuzz", "lab", "long", "chaos", "crash", "vm", "kernels",
           "install", "pressure")
LAB = ("unit", "fuzz", "lab", "long", "chaos", "crash", "debug", "kcsan", "faults",
       "cover")
# what debug runs unless told otherwise: at least one of everything that has
# threads, locks and pages on their way, and no test that takes a quarter of an
# hour there
IN_DEBUG = ("kunit", "lifecycle.refused_in_use", "lifecycle.netns_del",
            "discovery.strangers", "cuts.lost_acks", "failures.short_cut",
            "failures.rebooted_peer", "migration.drains",
            "migration.while_swapping", "home.no_peer",
            "home.errors_while_swapping", "size.pressure", "size.shrinker",
            "protect_mirror.one_after_the_other", "protect_parity.two_at_once",
            "hedge.frozen", "classes.shrink", "keys.members", "seal.lies",
            "rekey.parity", "hostile_member.wrong",
            "fuzz_peer.*", "fuzz_mover", "fuzz_control.*")
IN_DEBUG += ("limits.reaped_early", "limits.same_session")
# and kcsan: everything that has threads, all at once
IN_KCSAN = ("lifecycle.refused_in_use", "cuts.lost_acks", "chaos.moves", "chaos.home",
            "chaos_slots.*", "chaos_flash.*", "crash.mirror", "crash.parity",
            "migration.while_swapping", "protect_parity.killed_while_swapping")
IN_KCSAN += ("limits.reaped_early", "hundreds.owners")
# the kernel of each of them, what it runs unless told otherwise, and of which suites
SPECIAL = {"debug": (IN_DEBUG, ("unit", "fuzz", "lab", "long")),
           "kcsan": (IN_KCSAN, ("lab", "long", "chaos", "crash")),
           "faults": (("alloc_faults.*",), ()),
           "cover": (("fuzz_peer.*", "fuzz_mover", "fuzz_control.*"),
                     ("fuzz", "unit", "lab", "long", "chaos", "crash"))}

RACES = ("debug", "kcsan")      # they look for races: on two processors, both busy
# half as many again as there are processors: tests wait a third of their time
JOBS = max(2, min((os.cpu_count() or 1) * 3 // 2, 8))
# what a lab kernel with one processor counts for, if its scenario says nothing
WAITING = 0.75


def special_cases(suite, options):
    """The tests of a suite of SPECIAL, with the suites they come from."""
    usual, sources = SPECIAL[suite]
    only = options.only or ([] if in_full() else usual)
    return [(s, c) for s in (*sources, suite) for c in scenario.discover(s, only)
            if not c.here]


def select(suite, options):
    """The tests of a suite that were asked for; a suite without any is an
    error, never a pass."""
    cases = scenario.discover(suite, options.only)
    if not cases and not options.only:
        raise SystemExit(f"error: suite {suite}: nothing here yet")
    return cases


def chosen(options, totals):
    """[(suite, the suite it comes from, case)] to be run, the longest of a
    kind first; what needs NSWAP_FULL is told as skipped."""
    tests = [(s, s, c) for s in options.suite if s not in SPECIAL
             for c in select(s, options)]
    tests += [(suite, s, c) for suite in options.suite if suite in SPECIAL
              for s, c in special_cases(suite, options)]
    if in_full():
        return tests
    for suite, _, case in tests:
        if case.full:
            totals.tell(suite, Result(
                case.name, "skip", f"only with NSWAP_FULL=1: {case.full}"))
    return [test for test in tests if not test[2].full]


def lab_runs(tests, options, totals):
    """The runs of tests of LAB: unit, lab, long and chaos on the plain kernel,
    those of SPECIAL on their own; kernels with several processors first, since later
    there is hardly ever room for them."""
    groups = collections.defaultdict(list)
    for suite, source, case in tests:
        flavour = suite if suite in SPECIAL else "plain"
        cpus, busy = (2, 2) if flavour in RACES else (case.cpus, case.busy)
        if (cpus, busy) == (1, 1):
            busy = WAITING
        if options.cpus:
            cpus = busy = options.cpus
        groups[flavour != "plain", -cpus, -busy, flavour].append(
            LabTest(suite, source, case))
    return [LabRun(group, flavour, -cpus, -busy, options, totals)
            for (_, cpus, busy, flavour), group in sorted(groups.items())]


def share(runs, processors):
    """Run them side by side as far as processors go; what comes first in the
    list is served first."""
    try:
        for run in runs:
            run.begin()
        while not all(run.over() for run in runs):
            for run in runs:
                busy = sum(r.busy() for r in runs)
                run.step(processors - busy)
            check.hold(0.05)
    finally:
        for run in runs:
            run.kill()


def run_all(tests, options, totals):
    """All tests, and those that are to run once more."""
    of_lab = [test for test in tests if test[0] in LAB and not test[2].here]
    here = [(suite, case) for suite, _, case in tests
            if suite not in LAB or case.here]
    here.sort(key=lambda test: -test[1].timeout)
    labs = lab_runs(of_lab, options, totals) if of_lab else []
    host = HostRun(here, options, totals)
    widest = max([run.each_busy for run in labs] + [case.busy for _, case in here], default=0)
    share([*labs, host], max(options.jobs, widest))
    totals.last_chance = True
    for run in labs:
        for test in run.again:
            share([LabRun([LabTest(test.suite, test.source, test.case)],
                          run.flavour, run.cpus, run.each_busy, options, totals)],
                  run.each_busy)
    for test in host.again:
        share([HostRun([test], options, totals)], test[1].busy)
    totals.last_chance = False


def tell_covered(tests, options, totals):
    """The lines that the tests of the suite cover have run."""
    folders = [OUT / suite / case.name for suite, _, case in tests if suite == "cover"]
    if folders:
        covered.report(folders, totals, whole=not options.only)


def left_out(options):
    """Say what this run did not look at, and how to run it."""
    if options.only:
        return
    suites = " ".join(s for s in SUITES if s not in options.suite)
    if suites:
        print(f"   left out: make test SUITE='{suites}'")
    if in_full():
        return
    names = [f"{suite}/{case.name}" for suite in options.suite
             if suite not in SPECIAL for case in scenario.discover(suite)
             if case.full]
    if names:
        print(f"   left out: NSWAP_FULL=1 make test for {', '.join(names)}")
    for suite in set(options.suite).intersection(SPECIAL):
        if SPECIAL[suite][1]:
            print(f"   left out: NSWAP_FULL=1 make test SUITE={suite} for all of "
                  f"{', '.join(SPECIAL[suite][1])} on that kernel")


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tests/run", description="Run test suites.",
        epilog="Suites: " + ", ".join(SUITES) +
        ". Without any: " + ", ".join(DEFAULT) + ".")
    parser.add_argument("suite", nargs="*")
    parser.add_argument("-k", dest="only", action="append", default=[],
                        metavar="PATTERN",
                        help="only these tests (swap, 'cuts.*'); may be given "
                             "several times")
    parser.add_argument("-j", dest="jobs", type=int, default=JOBS,
                        metavar="N", help=f"tests side by side ({JOBS}); one that "
                                          "says CPUS = 2 counts for two")
    parser.add_argument("--cpus", type=int, metavar="N",
                        help="processors of each lab kernel (what each test "
                             "says, else 1)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of everything random (1)")
    parser.add_argument("--no-build", action="store_true",
                        help="take what is built already")
    parser.add_argument("--list", action="store_true",
                        help="list the tests and what each is")
    options = parser.parse_args(argv)
    for suite in options.suite:
        if suite not in SUITES:
            parser.error(f"no suite '{suite}': there are {', '.join(SUITES)}")
    options.suite = options.suite or list(DEFAULT)
    return options


def check_patterns(options):
    """Patterns that choose nothing are an error that says where they would."""
    if not options.only or set(options.suite).intersection(SPECIAL) or \
            any(scenario.discover(s, options.only) for s in options.suite):
        return
    where = [s for s in DEFAULT if scenario.discover(s, options.only)]
    raise SystemExit(f"error: {' '.join(options.suite)}: no test like "
                     f"{' or '.join(options.only)}" +
                     f", but in {' and '.join(where)}" * bool(where))


def main(argv):
    """The runner; returns the exit code."""
    options = parse(argv)
    check_patterns(options)
    # let the kernels end with the runner
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if options.list:
        for suite in options.suite:
            cases = [c for _, c in special_cases(suite, options)] \
                if suite in SPECIAL else scenario.discover(suite, options.only)
            for case in cases:
                print(f"{suite + '/' + case.name:<40} {case.description}")
        return 0
    totals = Totals()
    start = time.monotonic()
    tests = chosen(options, totals)
    try:
        run_all(tests, options, totals)
        tell_covered(tests, options, totals)
    except subprocess.CalledProcessError as why:
        say(f"error: {why}")
        totals.count["fail"] += 1
    totals.slowest()
    left_out(options)
    say(f"{time.monotonic() - start:.0f} s")
    return totals.close()
