# SPDX-License-Identifier: GPL-2.0
"""The host's half of the benchmarks: what an interrupted run keeps."""
import sys

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from lib import apps, kept  # noqa: E402 (needs the path above)
from lib.outcome import percentiles  # noqa: E402
from runs import apps as today, swap  # noqa: E402

DESCRIPTION = "an interrupted benchmark goes on where it stopped; what rows are made of"
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


def test_percentiles(t):
    """By nearest rank: a sample, never between two; one of a thousand is p99.9's."""
    equal(percentiles(range(1000, 0, -1)),
          {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999}, "of 1 to 1 000 ns")
    equal(percentiles([7000]), {"p50_us": 7.0, "p99_us": 7.0, "p999_us": 7.0}, "of one")
    equal(percentiles([1000] * 999 + [9000])["p999_us"], 1.0, "p99.9 without the worst")
    equal(percentiles([1000] * 499 + [9000])["p999_us"], 9.0, "p99.9 of 500")


def result(**changes):
    """What a run of a program came to."""
    return {"seconds": 2.0, "pswpin": 10, "pswpout": 20, "wrong": 0, "verified": 5,
            "checksum": "right", "marks": [], "ops": 100, "ops_per_s": 50.0,
            "unit": "requests", "p50_us": 1.0, "p99_us": 2.0, "p999_us": 3.0,
            "peak": 40 << 20, "cpu_s": None, **changes}


def test_rows(t):
    """A row of apps is the median of its runs, of a share of what the program had with
    enough RAM, and says which of its results were another one's."""
    app = apps.of_size("redis", 48)
    about = {"lab": "lab", "kernel": "7.2", "commit": "0123456789ab"}
    runs = [result(ops_per_s=20.0, p999_us=90.0), result(ops_per_s=60.0, p999_us=70.0),
            result(ops_per_s=30.0, p999_us=80.0, wrong=1, checksum="other")]
    row = today.row_of("zram", app, 25, runs, result(), about)
    equal([row[key] for key in ("share", "mb", "limit_mb", "ops_per_s", "ops_min",
                                "ops_max", "p999_us", "wrong_pages", "as_in_ram")],
          [25, 40.0, 10.0, 30.0, 20.0, 60.0, 80.0, 1, False], "a row")
    ram = today.row_of("ram", app, None, [result()], result(), about)
    equal((ram["share"], ram["limit_mb"], ram["as_in_ram"], ram["marks"]),
          (None, None, True, []), "a row with enough RAM")


def killed_first(kills):
    """A run that the kernel ends so often before it lets it end."""
    left = [kills]

    def once():
        if left[0]:
            left[0] -= 1
            raise swap.Killed("the kernel killed WL1, held at 12 MiB")
        return result()
    return once


def test_killed(t):
    """A run that the kernel ended is done again and counted, up to a limit; the row says so."""
    app = apps.of_size("WL1", 24)
    about = {"lab": "lab", "kernel": "7.2", "commit": "0123456789ab"}
    runs = [swap.ended(killed_first(kills)) for kills in (0, 2, 1)]
    equal([run["kills"] for run in runs], [0, 2, 1], "kills of each run")
    row = swap.row_of("nbd", app, runs, result(), about)
    equal((row["runs"], row["killed"], row["marks"]), (3, 3, ["killed 3 times besides"]),
          "runs, kills, marks")
    try:
        swap.ended(killed_first(swap.KILLS_MOST))
    except swap.Killed as why:
        equal(str(why), "the kernel killed WL1, held at 12 MiB", "what is said at last")
    else:
        true(False, "it is done again without end")
