# SPDX-License-Identifier: GPL-2.0
"""docs/security.md has a row for each attack of the scenarios, and no other."""
from nswaptest.check import equal, true
from nswaptest.scenario import ROOT
from nswaptest.victims import listed

DESCRIPTION = "the table of attacks in docs/security.md"
SUITES = ("unit",)
HERE = True
TIMEOUT = 30

COLUMNS = 5


def rows(text):
    """Of a text in markdown, rows that name a test and an attack: {(test, name): cells}."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) >= COLUMNS and cells[1].startswith("`"):
            found[cells[0].strip(" `"), cells[1].strip("`")] = cells
    return found


def test_all(_):
    """Each has a row, which says what it tries and what happened."""
    found, wanted = rows((ROOT / "docs/security.md").read_text()), listed()
    equal(sorted(found.keys() ^ wanted.keys()), [], "attacks on one side only")
    true(wanted, "there are attacks")
    for key, what in wanted.items():
        equal(found[key][3], what, f"what {key} is")
        true(found[key][4].rstrip("| "), f"what happened after {key} is said")


def test_missing(_):
    """A row that is taken away is missed."""
    text = (ROOT / "docs/security.md").read_text()
    test, name = next(iter(listed()))
    less = "\n".join(line for line in text.splitlines()
                     if not line.startswith(f"| `{test}` | `{name}` |"))
    equal((test, name) in rows(less), False, "the row is seen still")
    equal(len(rows(text)) - len(rows(less)), 1, "rows taken away")
