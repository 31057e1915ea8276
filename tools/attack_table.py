#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the table of docs/security.md from the last run of the attacks.

    NSWAP_FULL=1 tests/run lab -j 1 -k 'attacks.*' -k 'hostile_*'
    tools/attack_table.py [--no-rates] [FOLDER]     with an attacks.json for each test,
                                                    default build/test/lab

--no-rates: of a run on a busy machine, whose rates say nothing. It ends with 1 if an attack
has not been tried.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from nswaptest.victims import listed  # noqa: E402 (needs the path above)

WHO = {"none": "stranger"}


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--no-rates"]
    rates = "--no-rates" not in sys.argv
    folder = pathlib.Path(args[0] if args else ROOT / "build/test/lab")
    found = {(path.parent.name, row["name"]): row for path in folder.glob("*/attacks.json")
             for row in json.loads(path.read_text())}
    more = " lender | processor |" if rates else ""
    print(f"| test | | by | attack | what happens |{more}\n"
          f"|---|---|---|---|---|{'---|---|' if rates else ''}")
    missing = []
    for (test, name), what in listed().items():
        row = found.get((test, name))
        if not row:
            missing.append(f"{test} {name}")
            continue
        more = f" {row['of_elsewhere_pct']:.0f} % | {row['of_computing_pct']:.0f} % |"
        print(f"| `{test}` | `{name}` | {WHO.get(row['key'], row['key'])} | {what} | "
              f"{row['happened']} |{more if rates else ''}")
    if missing:
        print("not tried: " + ", ".join(missing), file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
