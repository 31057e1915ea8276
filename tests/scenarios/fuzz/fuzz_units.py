# SPDX-License-Identifier: GPL-2.0
"""The pure units as a program with sanitizers: tests/fuzz, a harness after the other.

What each file of the module was covered by them is in the test's t.log.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess

from nswaptest import fuzzing
from nswaptest.check import Failure, at_least
from nswaptest.scenario import ROOT, TESTS

DESCRIPTION = "fuzzing: the pure units with ASan and UBSan, guided by coverage"
SUITES = ("fuzz",)
NEEDS = ("gcc", "gcov", "make")
HERE = True
CPUS = 2
TIMEOUT = 7200

BUILD = ROOT / "build/fuzz"
FUZZ = BUILD / "fuzz"
LEAST = 80              # per cent of the lines of each file
GCOV = re.compile(r"File '(.*)'\nLines executed:([\d.]+)% of (\d+)")


def build(t):
    """Build it, with new counters."""
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    with open(t.dir / "build", "w", encoding="utf-8") as log:
        done = subprocess.run(["make", "-C", TESTS / "fuzz", f"-j{os.cpu_count()}"],
                              stdout=log, stderr=log, check=False)
    if done.returncode:
        raise Failure(f"the harnesses were not built, see {t.dir}/build")


def targets():
    """{name: its part of the inputs}."""
    text = subprocess.run([FUZZ, "--list"], capture_output=True, text=True,
                          check=True).stdout
    weights = {name: int(weight) for name, weight in map(str.split, text.splitlines())}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def fuzz(t, name, count):
    """Run one harness: (name, whether it found nothing, what it said)."""
    done = subprocess.run(
        [FUZZ, "--seed", str(t.seed), "--inputs", str(count), "--save", fuzzing.FOUND,
         "--corpus", TESTS / "fuzz/corpus", "--keep", t.dir / "corpus", name],
        capture_output=True, text=True, check=False)
    (t.dir / f"{name}.said").write_text(done.stdout + done.stderr)
    found = next((x for x in done.stderr.splitlines()
                  if "not so" in x or "rror:" in x or "warning:" in x), "")
    return name, done.returncode == 0, f"{done.stdout.strip()} {found}".strip()


def covered(t):
    """{file: per cent of its lines that were run}."""
    folder = t.dir / "gcov"
    folder.mkdir()
    counters = sorted(BUILD.rglob("*.gcda"))
    text = subprocess.run(["gcov", *counters], cwd=folder, capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for path, share, lines in GCOV.findall(text):
        name = os.path.relpath(TESTS / "fuzz" / path, ROOT)
        if name.endswith(".c") and not name.startswith(".."):
            found[name] = float(share)
            t.log(f"{name:<32} {float(share):6.2f} % of {lines} lines")
    return found


def run(t):
    """All harnesses, two at a time; one result each."""
    shutil.rmtree(t.dir / "corpus", ignore_errors=True)
    (t.dir / "corpus").mkdir()
    fuzzing.FOUND.mkdir(exist_ok=True)
    build(t)
    total = fuzzing.inputs("units")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda x: fuzz(t, x[0], int(total * x[1])),
                              targets().items()))
    for name, good, said in ended:
        t.log(said)
        t.sub(name, good, "" if good else said)
    for name, share in covered(t).items():
        at_least(share, LEAST, f"per cent of {name} that were run")
