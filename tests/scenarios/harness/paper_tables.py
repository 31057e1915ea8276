# SPDX-License-Identifier: GPL-2.0
"""How make paper's tables are made of units: no unit twice, medians over seeds, and
what a second run is compared by."""
import json
import pathlib
import subprocess
import sys

from nswaptest.check import Failure, equal, true
from nswaptest.scenario import ROOT

sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/lab")]

import boot  # noqa: E402 (needs the path above)
from tables import boots, compare, families, reads, units  # noqa: E402
from tables.workload import WORKLOADS  # noqa: E402

DESCRIPTION = "the papers' tables are made of units as they should be"
SUITES = ("lab",)
TIMEOUT = 60


def all_rows():
    """Rows of every table."""
    return [row for table in families.TABLES.values()
            for row in table(list(WORKLOADS))]


def test_units(_):
    """Each is known, measured once, and has a folder of its own."""
    rows = all_rows()
    wanted = units.wanted(rows)
    equal(len(wanted), len(set(wanted)), "units wanted, and different ones")
    for unit, _seed in wanted:
        true(unit.what in families.MEASURES, f"{unit.what} can be measured")
    folders = {boots.folder_of(pathlib.Path("x"), *one) for one in wanted}
    equal(len(folders), len(wanted), "folders of units")
    equal(sorted(boots.slow_first(wanted)), sorted(wanted), "units in order")
    for row in rows:
        true(row.ident in families.PAPERS, f"{row.ident} says what it is")


def test_seeds(_):
    """A row is made of medians, and says between what it lay."""
    unit = units.Unit("prefetch", ("IS", "rr"))
    row = units.Row("N-T6", "IS", {"rr": unit}, lambda got: {
        "ours": {"rr": got["rr"]["seconds"]}, "off": got["rr"]["off"]}, seeds=2)
    found = {(unit, 3): {"seconds": 1.0, "off": 5, "said": "a"},
             (unit, 4): {"seconds": 2.0, "off": None, "said": "b"}}
    equal(units.wanted([row, row], 3), [(unit, 3), (unit, 4)], "wanted")
    made = units.made(row, found, 3)
    equal(made["ours"], {"rr": 1.5}, "median")
    equal(made["more"], {"off": None, "between": {"rr": [1.0, 2.0]}, "seeds": 2},
          "what else the row says")


class Sleeper:
    """A boot that does not end by itself."""

    def __init__(self):
        # its end is the test's, which kills it
        self.process = subprocess.Popen(["sleep", "600"])  # pylint: disable=consider-using-with

    def kill(self):
        """End it."""
        self.process.kill()
        self.process.wait()


def test_places(t):
    """Boots of one name have one path in every tree, but never two at once."""
    folders = [pathlib.Path(t.dir) / tree / f"unit-{t.seed}" for tree in ("a", "longer")]
    for folder in folders:
        folder.mkdir(parents=True)
    first, beside = [boot.Place(folder) for folder in folders]
    equal((first.path.resolve(), beside.path), (folders[0].resolve(), folders[1]),
          "the first has the name, and one beside it its folder's")
    first.close()
    after = boot.Place(folders[1])
    equal((after.path, after.path.resolve()), (first.path, folders[1].resolve()),
          "the name, and what it leads to once the first is over")
    beside.close()
    true(after.path.is_symlink(), "one that never had the name leaves it alone")
    after.close()
    equal(list(boot.PLACES.glob(f"unit-{t.seed}*")), [], "nothing is left of the name")


def test_unending(t):
    """A boot that does not end is told of as failed; as killed if a process was."""
    folder = pathlib.Path(t.dir) / "unit"
    folder.mkdir()
    for said, end in (("all is well", False), (f"{units.OOM},nodemask=(null)", True)):
        (folder / "console").write_text(said)
        sleeper = Sleeper()
        equal(boots.ended(sleeper, folder, limit_s=3, killed_s=0), end, f"ended: {said}")
        true(sleeper.process.returncode, "the boot is over")
    true(json.loads((folder / "result.json").read_text())["killed"], "told as killed")


def test_killed(_):
    """A row is made without the seeds whose programs were killed, and says so; of fewer than
    half it is not made."""
    unit = units.Unit("prefetch", ("IS", "rr"))
    row = units.Row("adaptive", "IS", {"rr": unit}, lambda got: {
        "ours": {"rr": got["rr"]["seconds"]}}, seeds=3)
    found = {(unit, 1): {"seconds": 1.0}, (unit, 2): units.KILLED, (unit, 3): {"seconds": 3.0}}
    made = units.made(row, found)
    equal((made["ours"], made["more"]["seeds"], made["more"]["between"]),
          ({"rr": 2.0}, 2, {"rr": [1.0, 3.0]}), "what it is made of")
    equal(made["marks"], ["without 1 of 3 seeds, with which a process was killed for want of "
                          "memory"], "marks")
    found[unit, 3] = units.KILLED
    try:
        units.made(row, found)
    except units.Unmade as why:
        equal(str(why), "adaptive, IS: a process was killed for want of memory with 2 of 3 seeds",
              "why not")
    else:
        raise Failure("it was made of one seed in three")


def test_reads(_):
    """A run's page reads by the paper's columns: sums, shares, and one read of each."""
    run = {"seconds": 2.0, "network": {"pages": 30, "seconds": 0.006, "us": 200.0},
           "flash": {"pages": 10, "seconds": 0.002, "us": 200.0}}
    equal(reads.run_row("WL1, rand", {"run": run})["ours"],
          {"TT": 2.0, "NWRsp": 200.0, "FRCtm": 0.002, "NWRCtm": 0.006, "NFreads": 10,
           "of reads": 0.25, "of time": 0.25}, "with flash")
    equal(reads.reads_row("WL1, rand", {"run": run})["paper"],
          {"network": 141.5, "flash": 843.6}, "the paper's reads")
    equal(reads.papers_run("HPL, none"), {"TT": 628.4, "NWRsp": 153.1, "NWRCtm": 96.1},
          "the paper without flash")


def test_again(_):
    """A second run: the same, nearly, further away, and missing."""
    def table(**ours):
        return {"N-T3": {"rows": [{"name": "WL1", "ours": ours}]}}
    got = compare.compared(table(a=1.0, b=1.0, c=1.0, d=1.0, f=0.0),
                                 table(a=1.0, b=1.004, c=1.006, e=1.0, f=0.1))
    equal((got["figures"], got["identical"], got["within"]), (6, 1, 1), "figures")
    equal([one["figure"] for one in got["further"]],
          ["N-T3 WL1 c", "N-T3 WL1 d", "N-T3 WL1 f", "N-T3 WL1 e"],
          "figures further away")
