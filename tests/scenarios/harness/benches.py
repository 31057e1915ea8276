# SPDX-License-Identifier: GPL-2.0
"""The host's half of the benchmarks: what an interrupted run keeps."""
import sys

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from lib import kept  # noqa: E402 (needs the path above)

DESCRIPTION = "an interrupted benchmark goes on after what it has measured"
SUITES = ("lab",)
TIMEOUT = 30

RUN = {"commit": "0123456789ab", "tree": "", "options": [{"rounds": 3}, 2]}


def row(name):
    """A row, with what is asked of it."""
    return {"workload": name, "marks": []}


def measured(folder, name, warnings=()):
    """What the lab side does when a part is over."""
    parts = kept.Parts(folder, lambda: warnings)
    parts.add(name, [row(name)])
    return parts


def test_goes_on(t):
    """Parts are there for the next boot, in their order and with their boot; a
    line that was cut off is not."""
    kept.Kept(t.dir).begin(RUN, ["swap"])
    measured(t.dir, "WL1")
    measured(t.dir, "WL2", ["a warning"])
    with open(t.dir / kept.FILE, "a", encoding="utf-8") as file:
        file.write('{"part": "WL3", "ro')
    stopped = kept.Kept(t.dir)
    equal(list(stopped.parts), ["WL1", "WL2"], "parts after it stopped")
    equal((stopped.rows, stopped.differs(RUN)), (None, None),
          "all rows, what differs")
    stopped.begin(RUN, ["swap"])
    rows = measured(t.dir, "WL3").all_rows()
    equal([(r["workload"], r["boot"], r["marks"]) for r in rows],
          [("WL1", 1, []), ("WL2", 1, [kept.WARNED]), ("WL3", 2, [])],
          "rows of both boots")
    kept.Kept(t.dir).whole(rows)
    equal(kept.Kept(t.dir).rows, rows, "rows when nothing is left")


def test_differs(t):
    """Another commit or option is seen; what was forgotten is gone."""
    kept.Kept(t.dir).begin(RUN, ["swap"])
    measured(t.dir, "WL1")
    for what, value in (("commit", "other"), ("tree", "1"), ("options", [])):
        equal(kept.Kept(t.dir).differs({**RUN, what: value}), what,
              "what differs")
    kept.Kept(t.dir).forget()
    true(not (t.dir / kept.FILE).exists() and not kept.Kept(t.dir).parts,
         "something is kept of what was forgotten")
    kept.Kept(t.dir).begin(RUN, ["swap"])
    equal(kept.Kept(t.dir).head["boot"], 1, "the boot of a run that starts over")
