#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the table of docs/security.md from the last run of the attacks.

    NSWAP_FULL=1 tests/run lab -j 1 -k 'attacks.*' -k 'hostile_*'
    tools/attack_table.py [FOLDER]      with an attacks.json for each test, default
                                        build/test/lab

It ends with 1 if an attack has not been tried.
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
    folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else ROOT / "build/test/lab")
    found = {(path.parent.name, row["name"]): row for path in folder.glob("*/attacks.json")
             for row in json.loads(path.read_text())}
    print("| test | | by | attack | what happens | lender | processor |\n"
          "|---|---|---|---|---|---|---|")
    missing = []
    for (test, name), what in listed().items():
        row = found.get((test, name))
        if not row:
            missing.append(f"{test} {name}")
            continue
        print(f"| `{test}` | `{name}` | {WHO.get(row['key'], row['key'])} | {what} | "
              f"{row['happened']} | {row['of_elsewhere_pct']:.0f} % | "
              f"{row['of_computing_pct']:.0f} % |")
    if missing:
        print("not tried: " + ", ".join(missing), file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
