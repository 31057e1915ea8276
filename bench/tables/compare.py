# SPDX-License-Identifier: GPL-2.0
"""Compare two runs of make paper: two sets of tables, figure by figure."""

WITHIN = 0.005


def figures_of(tables):
    """{(table, row, column): value} of ours."""
    return {(ident, row["name"], column): value
            for ident, table in tables.items() for row in table["rows"]
            for column, value in row["ours"].items() if value is not None}


def compared(before, now):
    """How the tables of now differ from the same rows before.  A figure that only one
    of the two has is further away than anything."""
    new = figures_of(now)
    rows = {key[:2] for key in new}
    was = {key: value for key, value in figures_of(before).items() if key[:2] in rows}
    identical, within, further = [], [], []
    for key in dict.fromkeys([*was, *new]):
        a, b = was.get(key), new.get(key)
        if a == b:
            identical.append(key)
        elif a and b is not None and abs(b / a - 1) <= WITHIN:
            within.append(key)
        else:
            further.append({"figure": " ".join(key), "before": a, "now": b})
    return {"figures": len(identical) + len(within) + len(further),
            "identical": len(identical), "within": len(within),
            "may_differ_by": WITHIN, "further": further}


def show(got):
    """In a few lines."""
    print(f"\n{got['figures']} figures: {got['identical']} identical, {got['within']} "
          f"within {got['may_differ_by']:.1%}, {len(got['further'])} further away")
    for one in got["further"]:
        print(f"  {one['figure']}: {one['before']}, now {one['now']}")
