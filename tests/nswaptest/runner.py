# SPDX-License-Identifier: GPL-2.0
"""tests/run: choose tests, build what they need, run them, say what came.

One line a test, and at the end "N passed, N failed, N skipped".  Each test
has a folder build/test/<suite>/<test>/ with its events, output, kernel log
and console.  Lab suites share a few kernels that run side by side; a test
that leaves its kernel unfit, or kills it, costs the others only a new boot.
They have one processor each, for a wake-up of another one costs milliseconds
in user mode; a scenario that wants several says CPUS = 2.

A test that missed a moment or a quantity (check.Unmet) is run once more when
all others are done, alone, and the second verdict counts; a busy machine does
that. One that found something wrong (a page, an answer, a complaint of the
kernel) never is.
"""
import argparse
import collections
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from . import check, dmesg, scenario
from .scenario import ROOT, Result

# lab is what each commit waits for, long the rest of its tests
SUITES = ("unit", "model", "lab", "long", "chaos", "vm", "pressure", "kernels",
          "debug")
# what "make test" runs; debug takes a kernel of its own and an hour
DEFAULT = ("unit", "model", "lab", "long", "chaos", "vm", "kernels", "pressure")
LAB = ("unit", "lab", "long", "chaos", "debug")
# suites that need no kernel at all
HOST = ("model",)
SCALE = {"plain": 1, "debug": 15}
HUNG_TASK = {"plain": 20, "debug": 120}
# what debug runs unless told otherwise: at least one of everything that has
# threads, locks and pages on their way, and no test that takes a quarter of an
# hour there
IN_DEBUG = ("kunit", "lifecycle.refused_in_use", "lifecycle.netns_del",
            "discovery.strangers", "cuts.lost_acks", "failures.short_cut",
            "failures.rebooted_peer", "migration.drains",
            "migration.while_swapping", "home.no_peer",
            "home.errors_while_swapping", "size.pressure", "size.shrinker")
GRACE = 30
BUILDS = ("module", "inject", "kunit", "model-dev", "progs", "benchprogs")
OUT = ROOT / "build/test"


class Totals:
    """Counts and prints the results."""

    def __init__(self):
        self.count = collections.Counter()
        self.last_chance = False

    def tell(self, suite, result):
        """One line for one result.  Returns whether the test is to be run
        once more."""
        if result.verdict == "unmet" and self.last_chance:
            result.verdict = "fail"
        self.count[result.verdict] += 1
        word = {"pass": "pass", "fail": "FAIL", "skip": "skip",
                "unmet": "----"}[result.verdict]
        line = f"{word}  {suite}/{result.name}"
        line = f"{line:<58} {result.seconds:7.1f} s"
        if result.reason:
            line += f"  {result.reason}"
        print(line, flush=True)
        return result.verdict == "unmet"

    def close(self):
        """The closing line; returns the exit code."""
        count = self.count
        if count["unmet"]:
            say(f"{count['unmet']} missed a moment or a quantity and ran twice")
        print(f"{count['pass']} passed, {count['fail']} failed, "
              f"{count['skip']} skipped", flush=True)
        return 1 if count["fail"] or not count["pass"] else 0


def in_full():
    """Whether what takes very long is asked for."""
    return bool(os.environ.get("NSWAP_FULL"))


def say(text):
    """What is going on, for whoever waits."""
    print(f"   {text}", file=sys.stderr, flush=True)


def missing_program(case):
    """The first program of NEEDS that is not installed, or None."""
    for need in case.needs:
        if need not in BUILDS and not shutil.which(
                need, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return need
    return None


# -- the lab's suites --------------------------------------------------------

class Builds:
    """What is built for one lab kernel, each part at most once."""

    def __init__(self, boot, flavour):
        self.kernel = boot.kernel_folder(flavour)
        self.release = boot.release(self.kernel)
        self.failed = {}
        self.log = OUT / f"build-{flavour}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")

    def _make(self, what, *args):
        with open(self.log, "a", encoding="utf-8") as log:
            done = subprocess.run(["make", f"-j{os.cpu_count()}", *args],
                                  cwd=ROOT, stdout=log, stderr=log,
                                  check=False)
        if done.returncode:
            self.failed[what] = f"make {' '.join(args)} failed, see {self.log}"

    def build(self, needs):
        """Build what a set of NEEDS asks for; failures are kept."""
        kdir = f"KDIR={self.kernel}"
        if needs & {"module", "inject"}:
            self._make("module", "nswapctl")
        if "module" in needs and "module" not in self.failed:
            self._make("module", kdir, "module")
        if "inject" in needs:
            self._make("inject", kdir, "INJECT=1", "module")
        if "kunit" in needs:
            self._make("kunit", kdir, "kunit")
        if "model-dev" in needs:
            self._make("model-dev", kdir, "model-dev")
        if "progs" in needs:
            self._make("progs", "progs")
        if "benchprogs" in needs:
            self._make("benchprogs", "bench-programs")

    def settings(self, flavour, seed, folder, needs):
        """What a test is told about them.  They are copied, so that a build
        meanwhile does not take them away from under a test."""
        build = ROOT / "build"
        plain, inject = build / self.release, build / f"{self.release}-inject"
        model = build / f"{self.release}-model/tests/model_dev/model_dev.ko"
        programs = [build / "nswapctl"]
        programs += [build / "progs" / source.stem
                     for source in (ROOT / "tests/progs").glob("*.c")]
        if "benchprogs" in needs and "benchprogs" not in self.failed:
            programs += [p for p in (build / "bench-programs").iterdir()
                         if p.suffix in ("", ".so")]
        modules = {"module": plain / "nswap.ko", "inject": inject / "nswap.ko",
                   "kunit": plain / "nswap_kunit.ko", "model-dev": model}
        return {"flavour": flavour, "seed": seed, "kernel": str(self.kernel),
                "programs": {p.name: copied(p, folder / p.name)
                             for p in programs},
                "modules": {name: copied(p, folder / name / p.name)
                            for name, p in modules.items()}}


def copied(path, to):
    """Copy a built file, if there is one; where the copy is."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy2(path, to)
    return str(to)


def drop_old_boots(folder):
    """Remove the boots of runs that are over, but the last few."""
    old = [f for f in folder.glob("*-*")
           if not os.path.exists(f"/proc/{f.name.rpartition('-')[2]}")]
    for run in sorted(old, key=lambda f: f.stat().st_mtime)[:-4]:
        shutil.rmtree(run, ignore_errors=True)


def fresh_folder(folder, keep):
    """An empty folder for a test; the first try's is kept beside it if the
    test is run once more."""
    first = folder.with_name(folder.name + ".first")
    shutil.rmtree(first, ignore_errors=True)
    if keep:
        folder.rename(first)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


class LabTest:
    """One test on its way through the lab."""

    def __init__(self, suite, source_suite, case):
        self.suite, self.source, self.case = suite, source_suite, case
        self.key = f"{source_suite}-{case.name}"
        self.folder = OUT / suite / case.name
        self.told = False

    def job(self):
        """How it stands in a boot's job.json."""
        return {"name": self.case.name, "suite": self.source, "key": self.key,
                "folder": str(self.folder)}


class LabRun:
    """Runs the tests of lab suites on one kernel flavour with so many
    processors."""

    def __init__(self, tests, flavour, cpus, options, totals):
        import lab.boot
        self.boot_module = lab.boot
        self.tests = {t.key: t for t in tests}
        self.flavour = flavour
        self.cpus = cpus
        self.options = options
        self.jobs = max(1, options.jobs // cpus)
        self.totals = totals
        self.again = []
        what = f"{tests[0].case.name}-again" if totals.last_chance else "boot"
        self.folder = OUT / "boots" / f"{flavour}{cpus}-{what}-{os.getpid()}"
        self.claims = self.folder / "claims"
        self.number = 0

    def run(self):
        """Build, boot, follow the verdicts."""
        builds = Builds(self.boot_module, self.flavour)
        needs = {n for t in self.tests.values() for n in t.case.needs}
        if not self.options.no_build:
            builds.build(needs)
        drop_old_boots(self.folder.parent)
        self.claims.mkdir(parents=True)
        self.settings = builds.settings(
            self.flavour, self.options.seed, self.folder / "built", needs)
        self.kernel = builds.kernel
        for test in self.tests.values():
            self._prepare(test, builds)
        boots = [self._boot() for _ in range(min(self.jobs,
                                                 len(self._open())))]
        try:
            while boots:
                self._follow_all(boots)
                check.hold(0.05)
        finally:
            for boot in boots:
                boot.kill()

    def _follow_all(self, boots):
        for boot in list(boots):
            self._follow(boot)
            if boot.over:
                boots.remove(boot)
                if self._open() and len(boots) < self.jobs:
                    boots.append(self._boot())

    def _prepare(self, test, builds):
        fresh_folder(test.folder, self.totals.last_chance)
        case = test.case
        broken = [builds.failed[n] for n in case.needs if n in builds.failed]
        missing = missing_program(case)
        if self.flavour == "debug" and case.not_in_debug:
            self._tell(test, Result(case.name, "skip", case.not_in_debug))
        elif broken:
            self._tell(test, Result(case.name, "fail", broken[0]))
        elif missing:
            self._tell(test, Result(case.name, "skip",
                                    f"{missing} is not installed"))

    def _open(self):
        return [t for t in self.tests.values() if not t.told and
                not (self.claims / t.key).exists()]

    def _tell(self, test, result):
        test.told = True
        if self.totals.tell(test.suite, result):
            self.again.append(test)

    def _boot(self):
        self.number += 1
        folder = self.folder / str(self.number)
        todo = sorted((t for t in self._open()),
                      key=lambda t: -t.case.timeout)
        job = {"tests": [t.job() for t in todo], "claims": str(self.claims),
               "suites": sorted({t.source for t in todo}),
               "settings": self.settings, "scale": SCALE[self.flavour],
               "hung_task": HUNG_TASK[self.flavour],
               # what scenarios ask for, NSWAP_CHAOS_SECONDS
               "environment": {k: v for k, v in os.environ.items()
                               if k.startswith("NSWAP_")},
               "writable": [str(OUT)]}
        extra = [] if self.flavour == "plain" or in_full() else \
            self.boot_module.NO_TRACES
        boot = self.boot_module.Boot(self.kernel, folder, job, self.flavour,
                                     self.cpus, extra=extra)
        boot.offset, boot.current, boot.over = 0, None, False
        boot.finished = False
        boot.deadline = time.monotonic() + GRACE * SCALE[self.flavour]
        return boot

    def _follow(self, boot):
        ended = not boot.running()
        for line in self._news(boot):
            self._event(boot, json.loads(line))
        if ended:
            boot.close()
            self._ended(boot, "the kernel died")
        elif time.monotonic() > boot.deadline:
            boot.kill()
            self._ended(boot, "the kernel did not answer any more")

    def _news(self, boot):
        path = boot.folder / "verdicts"
        if not path.exists():
            return []
        with open(path, encoding="utf-8") as file:
            file.seek(boot.offset)
            text = file.read()
        whole = text[:text.rfind("\n") + 1]
        boot.offset += len(whole.encode())
        return whole.splitlines()

    def _event(self, boot, event):
        kind = event.pop("event")
        grace = GRACE * SCALE[self.flavour]
        boot.deadline = time.monotonic() + grace
        if kind == "booted" and event["problems"]:
            self.totals.tell("boot", Result(f"boot-{boot.folder.name}", "fail",
                                            event["problems"][0]))
        elif kind == "start":
            boot.current = self.tests[event["key"]]
            boot.deadline += event["limit"]
            link = boot.current.folder / "console"
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(boot.folder / "console",
                                            link.parent))
        elif kind == "verdict":
            test = self.tests[event.pop("key")]
            self._tell(test, Result(**event))
        elif kind == "end":
            boot.current = None
        elif kind == "leaks":
            found = event["problems"]
            self.totals.tell("debug", Result(
                f"leaks-{boot.folder.name}", "fail" if found else "pass",
                found[0] if found else ""))
        elif kind in ("done", "unfit"):
            boot.finished = True

    def _ended(self, boot, why):
        boot.over = True
        test = boot.current
        if boot.finished:
            return
        bad = dmesg.problems(boot.console())
        why += f" ({bad[0]})" if bad else ""
        if test:
            self._tell(test, Result(test.case.name, "fail", why))
            boot.current = None
        elif boot.offset == 0:
            for lost in self._open():
                self._tell(lost, Result(lost.case.name, "fail",
                           f"no lab kernel: {why}, see {boot.folder}/console"))
        else:
            self.totals.tell("boot", Result(f"boot-{boot.folder.name}",
                                            "fail", why))


def debug_cases(options):
    """The tests of the debug suite, with the suites they come from."""
    only = options.only or ([] if in_full() else IN_DEBUG)
    return [(s, c) for s in ("unit", "lab", "long")
            for c in scenario.discover(s, only)]


def run_lab(suites, options, totals):
    """unit, lab, long and chaos on the plain kernel, debug on the other; first
    what does with one processor, side by side, then what wants more."""
    tests = [("plain", LabTest(s, s, c)) for s in suites if s != "debug"
             for c in select(s, options)]
    if "debug" in suites:
        tests += [("debug", LabTest("debug", s, c))
                  for s, c in debug_cases(options)]
    groups = collections.defaultdict(list)
    for flavour, test in tests:
        # the debug kernel looks for races and has two
        cpus = options.cpus or \
            (test.case.cpus if flavour == "plain" else 2)
        groups[flavour == "debug", cpus, flavour].append(test)
    again = []
    for (_, cpus, flavour), group in sorted(groups.items()):
        run = LabRun(group, flavour, cpus, options, totals)
        run.run()
        again += [(flavour, cpus, test) for test in run.again]
    totals.last_chance = True
    for flavour, cpus, test in again:
        LabRun([LabTest(test.suite, test.source, test.case)], flavour, cpus,
               options, totals).run()
    totals.last_chance = False


# -- the suites on separate kernels, and those without any --------------------

def run_here(suite, options, totals):
    """Each test in a child here; the back end builds what it needs."""
    cases = select(suite, options)
    if not cases:
        return
    backend = None
    if suite not in HOST:
        backend = importlib.import_module("vm.cluster")
    if hasattr(backend, "prepare"):
        backend.prepare(cases)
    settings = {"flavour": "plain", "seed": options.seed, "suite": suite}

    def execute(case):
        fresh_folder(OUT / suite / case.name, totals.last_chance)
        return scenario.execute(case, OUT / suite / case.name,
                                backend and backend.Cluster, settings)[0]

    for case in cases:
        missing = missing_program(case)
        if missing:
            totals.tell(suite, Result(case.name, "skip",
                                      f"{missing} is not installed"))
            continue
        again = [totals.tell(suite, result) for result in execute(case)]
        if any(again):
            totals.last_chance = True
            for result in execute(case):
                totals.tell(suite, result)
            totals.last_chance = False


# -- the command -----------------------------------------------------------------

def select(suite, options):
    """The tests of a suite that were asked for; a suite without any is an
    error, never a pass."""
    cases = scenario.discover(suite, options.only)
    if not cases and not options.only:
        raise SystemExit(f"error: suite {suite}: nothing here yet")
    return cases


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
    parser.add_argument("-j", dest="jobs", type=int, default=2,
                        metavar="N", help="lab kernels side by side (2), fewer if they "
                             "have several processors")
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
    if not options.only or "debug" in options.suite or \
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
            cases = [c for _, c in debug_cases(options)] \
                if suite == "debug" else scenario.discover(suite, options.only)
            for case in cases:
                print(f"{suite + '/' + case.name:<40} {case.description}")
        return 0
    totals = Totals()
    start = time.monotonic()
    try:
        lab = [s for s in options.suite if s in LAB]
        if lab:
            run_lab(lab, options, totals)
        for suite in options.suite:
            if suite not in LAB:
                run_here(suite, options, totals)
    except subprocess.CalledProcessError as why:
        say(f"error: {why}")
        totals.count["fail"] += 1
    say(f"{time.monotonic() - start:.0f} s")
    return totals.close()
