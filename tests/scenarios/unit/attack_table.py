# SPDX-License-Identifier: GPL-2.0
"""docs/security.md says of each attack what has come of it."""
from nswaptest.check import equal, true
from nswaptest.scenario import ROOT, files, load
from nswaptest.victims import Attacks

DESCRIPTION = "each attack that is tried is in the table of docs/security.md"
SUITES = ("unit",)
HERE = True
TIMEOUT = 60


def attacks():
    """Test and name of each, and what it is."""
    found = {}
    for file, path in files().items():
        if path.parent.name != "security":
            continue
        for name, listed in vars(load(path)).items():
            test = file if name == "ATTACKS" else f"{file}.{name.lower()}"
            if isinstance(listed, Attacks):
                found |= {(test, attack.__name__): " ".join(attack.__doc__.split())
                          for attack in listed}
    return found


def run(_):
    """Names and descriptions, and no others."""
    rows = {}
    for line in (ROOT / "docs/security.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7:
            rows[cells[0].strip("`"), cells[1].strip("`")] = cells[3]
    for head in ("test", "---"):
        rows = {key: what for key, what in rows.items() if key[0] != head}
    tried = attacks()
    true(len(tried) > 40, f"attacks are found: {len(tried)}")
    equal(sorted(rows), sorted(tried), "attacks in the table")
    for name, what in tried.items():
        equal(rows[name], what, f"what the table says of {name}")
