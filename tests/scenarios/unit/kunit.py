# SPDX-License-Identifier: GPL-2.0
"""The pure units' KUnit suites, each case reported as a test."""
import pathlib
import re

from nswaptest.check import Failure, true
from nswaptest.lab import sh

DESCRIPTION = "KUnit: slot map, wire format, IPTable, policies"
SUITES = ("unit",)
NEEDS = ("kunit",)
TIMEOUT = 60

RESULTS = pathlib.Path("/sys/kernel/debug/kunit")
CASE = re.compile(r" {4}(not ok|ok) \d+ (\S+)(?: # SKIP ?(.*))?")
PLAN = re.compile(r" {4}1\.\.(\d+)")


def cases(text):
    """(name, verdict, reason) of each case of one suite's KTAP, checked
    against its plan."""
    planned, said = None, []
    for line in text.splitlines():
        plan, case = PLAN.fullmatch(line), CASE.match(line)
        if plan:
            planned = int(plan[1])
            said = []
        elif case:
            skipped = case[3] is not None or "# SKIP" in line
            verdict = None if skipped else case[1] == "ok"
            yield case[2], verdict, (case[3] or "; ".join(said[-6:]))
            said = []
            planned = planned - 1 if planned is not None else None
        elif "#" in line and "# Subtest" not in line:
            said.append(line.strip(" #\t"))
    if planned != 0:
        raise Failure("a suite's plan and its cases differ")


def run(t):
    """Load nswap_kunit.ko, which runs them, and read the results."""
    kunit = pathlib.Path(t.settings["kernel"]) / "lib/kunit/kunit.ko"
    sh("insmod", str(kunit))
    sh("insmod", t.settings["modules"]["kunit"])
    try:
        suites = sorted(RESULTS.glob("nswap*"))
        true(suites, "nswap_kunit.ko holds no suite")
        for suite in suites:
            text = (suite / "results").read_text()
            (t.dir / f"{suite.name}.ktap").write_text(text)
            for name, verdict, reason in cases(text):
                t.sub(f"{suite.name}.{name}", verdict,
                      "" if verdict else reason)
    finally:
        sh("rmmod", "nswap_kunit")
        sh("rmmod", "kunit")
