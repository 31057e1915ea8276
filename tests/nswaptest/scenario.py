# SPDX-License-Identifier: GPL-2.0
"""Scenarios: finding them, and what one of their tests is handed.

A scenario is one file in a folder of tests/scenarios/, named by what it tests;
names of tests have no folder in them, so no two files share a name:

    DESCRIPTION = "one line"
    SUITES = ("lab",)            where it runs: unit, lab, vm, pressure, …
    LONG = ("x",)                those of its tests that run in the suite long
                                 instead of lab: what all of lab takes is what
                                 each commit waits for
    NEEDS = ("module", "fio")    what it needs, see below; may be left out
    TIMEOUT = 60                 seconds for each of its tests
    ONLY_FULL = {"x": "why"}     those that run only with NSWAP_FULL=1, since
                                 they take very long
    CPUS = 2                     processors of its lab kernel, 1 if left out
    BUSY = 1.5                   how many of this machine's it keeps busy, if not CPUS
    HERE = True                  it needs no kernel but this machine's
    NOT_IN_DEBUG = "why"         set if it makes no sense on the debug kernels

    def run(t): …                one test named like the file, or
    def test_x(t): …             several, named <file>.x

NEEDS may hold "module" (nswap.ko), "inject" (the fault-injection build),
"discards" (as for a kernel that does not tell of freed swap slots),
"kunit" (nswap_kunit.ko), "progs" (tests/progs), "benchprogs" (bench/programs),
"lib" (libnswap and its example programs) and names of programs that must be installed.  A missing program is a skip; a
build that failed is not.
"""
import fnmatch
import functools
import importlib.util
import inspect
import dataclasses
import json
import os
import pathlib
import time
import traceback

from . import check

TESTS = pathlib.Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
FOLDER = TESTS / "scenarios"
# downloads, kernels and objects; tests/setup/cache.sh says the same
CACHE = pathlib.Path(os.environ.get("NSWAP_CACHE") or pathlib.Path.home() / ".cache/nswap")


@dataclasses.dataclass
class Case:
    """One test: a function of a scenario file."""
    name: str
    path: str
    function: str
    suites: tuple
    needs: tuple
    timeout: float
    description: str
    not_in_debug: str
    cpus: int
    busy: float
    full: str       # why it runs only with NSWAP_FULL, or ""
    here: bool      # on this machine, without a kernel of its own

    def load(self):
        """The function itself."""
        return getattr(load(pathlib.Path(self.path)), self.function)


@dataclasses.dataclass
class Result:
    """What came of a test: pass, fail, skip or unmet (check.Unmet), with the
    reason."""
    name: str
    verdict: str
    reason: str = ""
    seconds: float = 0.0
    cpu: float = 0.0        # seconds of processor time of it and its children

    def line(self):
        """The result as a line of JSON."""
        return json.dumps(dataclasses.asdict(self))


@functools.cache
def load(path):
    """Import one scenario file, once: each suite asks for all of them, and a lab
    kernel takes seconds to compile them."""
    spec = importlib.util.spec_from_file_location("scenario_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def files():
    """The scenario files by name, whichever folder they are in."""
    found = {}
    for path in sorted(FOLDER.rglob("[a-z]*.py"), key=lambda p: p.stem):
        if path.stem in found:
            raise ValueError(f"{path} and {found[path.stem]} have one name")
        found[path.stem] = path
    return found


def sibling(name):
    """Another scenario as a module, for what it shares with this one."""
    return load(files()[name])


def functions(module, suite):
    """The names of a scenario's functions that are tests of a suite."""
    found = [f for f in vars(module) if (f == "run" or f.startswith("test_")) and
             callable(getattr(module, f))]
    for name in found:
        wanted = list(inspect.signature(getattr(module, name)).parameters)
        if len(wanted) != 1:
            raise ValueError(f"{module.__file__}: {name}({', '.join(wanted)}) is named like a "
                             "test, which takes one argument")
    late = {f"test_{name}" for name in getattr(module, "LONG", ())}
    full = {f"test_{name}" for name in getattr(module, "ONLY_FULL", ())}
    for wrong in sorted((late | full) - set(found)):
        raise ValueError(f"{module.__file__}: LONG or ONLY_FULL names no test: "
                         f"{wrong}")
    return [f for f in found if suite in
            (("long",) if f in late else module.SUITES)]


def discover(suite, patterns=()):
    """The tests of a suite, by file and then in the order written.  Patterns
    (shell style, "swap*" or "badinput.size_zero") choose among them."""
    cases = []
    of_file = [pattern.partition(".")[0] for pattern in patterns]
    for path in files().values():
        if patterns and not any(fnmatch.fnmatch(path.stem, p) for p in of_file):
            continue
        module = load(path)
        for function in functions(module, suite):
            name = path.stem
            if function != "run":
                name += "." + function.removeprefix("test_")
            if patterns and not any(
                    fnmatch.fnmatch(name, p) or path.stem == p
                    for p in patterns):
                continue
            cases.append(Case(
                name, str(path), function, tuple(module.SUITES),
                tuple(getattr(module, "NEEDS", ())),
                getattr(module, "TIMEOUT", 60), module.DESCRIPTION,
                getattr(module, "NOT_IN_DEBUG", ""),
                getattr(module, "CPUS", 1),
                getattr(module, "BUSY", getattr(module, "CPUS", 1)),
                getattr(module, "ONLY_FULL", {}).get(
                    function.removeprefix("test_"), ""),
                getattr(module, "HERE", False)))
    return cases


class Test:
    """What a scenario's function is handed.

    name, dir   the test and the folder for its files
    flavour     "plain", "debug", "kcsan" or "faults": the lab kernel it runs on;
                "cover": the plain one, and the module counts the lines that are run
    seed        for everything random; printed by log()
    """

    def __init__(self, name, folder, backend, settings):
        self.name = name
        self.dir = pathlib.Path(folder)
        self.settings = settings
        self.flavour = settings.get("flavour", "plain")
        self.seed = settings.get("seed", 1)
        self.allow_oom = False
        self.allow_starved = False
        self._backend = backend
        self._subs = []
        self._clusters = []
        self._events = open(self.dir / "events", "a", buffering=1,
                            encoding="utf-8")
        self._start = time.monotonic()

    def cluster(self, n, inject=False, **options):
        """A new cluster of n nodes; closed, and asked what was wrong with
        it, when the test ends."""
        cluster = self._backend(self, n, inject=inject, **options)
        self._clusters.append(cluster)
        return cluster

    def log(self, what):
        """One line in the test's events file."""
        passed = time.monotonic() - self._start
        self._events.write(f"{passed:9.3f} {what}\n")

    def skip(self, why):
        """End the test as skipped."""
        raise check.Skip(why)

    def sub(self, name, ok, reason=""):
        """Report a part of this test as a test of its own."""
        verdict = "pass" if ok is True else "skip" if ok is None else "fail"
        self._subs.append(Result(f"{self.name}.{name}", verdict, reason))

    def expect_oom(self):
        """OOM kills are part of this test: their log lines do not fail it."""
        self.allow_oom = True

    def expect_starved(self):
        """Interrupts without a free page are part of this test (vm only)."""
        self.allow_starved = True

    def close(self):
        """Close what the test left open; returns what was wrong."""
        wrong = []
        while self._clusters:
            wrong += self._clusters.pop().close()
        return wrong

    def run(self, function):
        """Run the test function: (verdict, reason)."""
        verdict, reason = "pass", ""
        try:
            function(self)
        except check.Skip as why:
            verdict, reason = "skip", str(why)
        except check.Failure as why:
            unmet = isinstance(why, check.Unmet)
            verdict, reason = "unmet" if unmet else "fail", str(why)
            traceback.print_exc()
        except Exception as why:  # a broken scenario is a failed test
            verdict, reason = "fail", f"{type(why).__name__}: {why}"
            traceback.print_exc()
        self.log(f"{verdict} {reason}".strip())
        wrong = []
        try:
            wrong = self.close()
        except check.Unmet as why:      # the lab itself broke
            verdict = "fail" if verdict == "fail" else "unmet"
            reason = f"{reason} (then: {why})" if reason else str(why)
        except Exception as why:
            wrong = [f"clean-up: {why}"]
            traceback.print_exc()
        if wrong and verdict == "pass":
            reason = "; ".join(wrong)
        elif wrong:
            reason += " (then: " + "; ".join(wrong) + ")"
        if wrong:
            verdict = "fail"
        return verdict, reason

    def verdicts(self, function):
        """Run it and return a list: the parts if it reported parts and all
        else went well, the test itself otherwise."""
        verdict, reason = self.run(function)
        told = {"allow_oom": self.allow_oom, "results": []}
        if verdict != "pass" or not self._subs:
            told["results"].append((self.name, verdict, reason))
        told["results"] += [(r.name, r.verdict, r.reason) for r in self._subs]
        return told
