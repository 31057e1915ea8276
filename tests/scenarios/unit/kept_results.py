# SPDX-License-Identifier: GPL-2.0
"""Of which commit and module the files of bench/results are, and what documents say of it."""
import json
import pathlib
import re
import sys

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

sys.path += [str(ROOT / "bench"), str(ROOT / "tests")]

from lib import cost_tables, results, row_tables, source  # noqa: E402 (needs the path above)
from tables import markdown  # noqa: E402

DESCRIPTION = "kept results say of which commit they are, and documents name the same"
SUITES = ("unit",)
NEEDS = ("git",)
HERE = True
TIMEOUT = 60

COMMIT = re.compile(r"[0-9a-f]{7,12}\+?")
NAMED = re.compile(r"([a-z-]+\.json)\)?,\s+commit\s+([0-9a-f]{7,12})")


def test_files(t):
    """Each file says it, in every row or table; those of which git knows the commit have a
    module, and the table has a line for each."""
    found = results.kept(ROOT / "bench/results")
    for line in results.told(found, source.module()):
        t.log(line)
    equal({part.file for part in found},
          {path.name for path in (ROOT / "bench/results").glob("*.json")}, "files")
    for part in found:
        true(COMMIT.fullmatch(part.commit), f"a commit of {part.file}, {part.commit}")


def test_documents(_):
    """A document that names a file with its commit names one that it is of."""
    found, named = results.kept(ROOT / "bench/results"), 0
    for page in [ROOT / "README.md", ROOT / "bench/README.md", *(ROOT / "docs").glob("*.md")]:
        for file, commit in NAMED.findall(page.read_text(encoding="utf-8")):
            named += 1
            true(any(part.file == file and part.commit.startswith(commit) for part in found),
                 f"{page.name}: {file} is not of {commit}")
    true(named > 1, "documents name files with their commits")


def test_tables(_):
    """The documents' tables are those that the kept files make."""
    def data(name):
        return json.loads((ROOT / "bench/results" / name).read_text(encoding="utf-8"))
    tables, rows = data("paper.json"), data("cost.json")
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        true(markdown.fill(text, tables)[0] == text,
             f"{page.name} has other tables than bench/paper --markdown makes")
        true(cost_tables.fill(text, rows) == text,
             f"{page.name} has other tables than bench/run --markdown makes")
        true(row_tables.fill(text, ROOT / "bench/results") == text,
             f"{page.name} has other rows than bench/run --markdown makes")


def test_told(t):
    """Rows and tables by what they say; a module that is not said is that of the commit, and
    none if git has no such commit."""
    folder = pathlib.Path(t.dir)
    here, older = source.module().rstrip("+"), source.module_of("HEAD")
    equal((here, source.module_of("ffffffffffff")), (older, None), "modules of commits")
    for name, data in {
            "a.json": [{"commit": "1" * 12, "module": here}, {"commit": "1" * 12, "module": here},
                       {"commit": older + "+"}],
            "b.json": {"N-T1": {"about": {"commit": "f" * 12}}},
            "c.json": {"commit": "2" * 12, "module": "3" * 12, "tables": ["N-T1", "N-T2"]},
    }.items():
        (folder / name).write_text(json.dumps(data), encoding="utf-8")
    found = results.kept(folder)
    equal([(part.file, part.count, part.unit, part.module) for part in found],
          [("a.json", 2, "rows", here), ("a.json", 1, "rows", here + "+"),
           ("b.json", 1, "tables", None), ("c.json", 2, "tables", "3" * 12)], "parts")
    last = list(results.told(found, here))[-1]
    equal(last, f"4 lines, 1 of them of the tree's module, {here}; 3 modules, and "
          "1 of commits that git does not know", "what it comes to")


def test_cost(_):
    """Ratios, works and devices that have no row, and members, of rows of cost."""
    rows = [{"kernel": kernel, "device": device, "work": work, "instr_per_page": cost,
             "commit": "f" * 12} for kernel, device, work, cost in [
                 ("6.1", "nswap", "read-4k-d1", 12345.6), ("6.1", "nvme-tcp", "read-4k-d1", 20000),
                 ("6.12", "brd", "swap-seq", 999.5), ("6.1", "members", "reads-none-p50", 1000),
                 ("6.1", "members", "reads-none-p99", 2000), ("6.1", "lenders", "move", 15302.2)]]
    lines = list(cost_tables.lines_of(["6.1", "nswap", "nswap/nvme-tcp", "6.12", "brd"], rows))
    equal(lines[0::2], ["| work | 6.1: nswap | ratio | 6.12: RAM disk |",
                        "| `read-4k-d1` | 12 346 | 0.62 |  |", ""], "title, row, end")
    equal(lines[3:], ["| `swap-seq` |  |  | 1 000 |", "",
                      f"*bench/results/cost.json, commit {'f' * 12}.*"], "row of the other kernel")
    equal(list(cost_tables.lines_of(["6.1", "members"], rows))[2],
          "| reads | 1 000, 2 000 | ,  | ,  | ,  |", "members' reads")
    equal(list(cost_tables.lines_of(["6.1", "lenders"], rows))[0:3:2],
          ["| work | 6.1: three nodes |", "| `move` | 15 302 |"], "a work of one device alone")
    text = "<!-- cost 6.12 nswap brd -->\nby hand\n<!-- end -->\n"
    equal(cost_tables.fill(text, rows), text, "a table of which a device was not measured")


def test_rows(t):
    """A line of each share with a column a device; enough RAM in each, a mark, a gap."""
    rows = [{"device": device, "workload": "redis", "share": share, "ops_per_s": rate,
             "marks": marks, "commit": "f" * 12} for device, share, rate, marks in [
                 ("ram", None, 2000.4, []), ("nswap", 100, 1234.5, []), ("nswap", 50, 9.876, []),
                 ("ssd", 50, 12, ["disturbed"])]]
    pathlib.Path(t.dir, "some.json").write_text(json.dumps(rows), encoding="utf-8")
    text = "<!-- rows some workload share ops_per_s -->\n<!-- end -->"
    equal(row_tables.fill(text, pathlib.Path(t.dir)).splitlines()[1:-3],
          ["| | enough RAM | nswap | modelled SSD |", "|---|---|---|---|",
           "| redis, 100 % | 2 000 | 1 234 |  |", "| redis, 50 % | 2 000 | 9.88 | 12 (!) |"],
          "the table")
