# SPDX-License-Identifier: GPL-2.0
"""What the Nswap2L paper's tables say, and how ours are laid beside them.

A table is {"unit", "rows": [{"name", "ours": {column: value}, "paper": {…}}]}; the
ids are those of the project's list of the papers' figures.
"""
DEVICES = ("nswap2l", "network", "flash", "disk")
POLICIES = ("rr", "rand", "lrs", "mrs")

T3 = {"WL1": (443.0, 471.8, 574.2, 1547.4),
      "WL2": (591.6, 609.7, 883.1, 17754.8),
      "WL3": (503.3, 526.4, 514.1, 1701.3),
      "WL4": (578.9, 591.7, 978.4, 17881.2),
      "Radix": (110.7, 113.7, 147.4, 255.5),
      "IS": (94.4, 95.1, 107.6, 224.4)}
T4 = {"WL1": (1.1, 1.2, 1.1, 1.2), "WL2": (3.0, 3.2, 2.7, 3.0),
      "IS": (1.7, 1.4, 1.9, 1.6), "Radix": (0.5, 0.5, 0.2, 0.4)}
T5 = {"WL1": (5.5, 3.8), "WL2": (5.7, 5.3), "IS": (5.6, 6.1),
      "Radix": (5.4, 13.7)}
# Figure 2 in words: nearly every slot is written once, and read more than once.
UNITS = {"N-T1": "us a page of many in order, straight through the device",
         "N-T7": "us of a lone page read",
         "N-T3": "seconds; as a ratio: over network RAM",
         "N-T4": "flash reads per prefetched page",
         "N-T5": "pages being read at once, mean of the samples with any",
         "N-F2": "swap slots"}


def paper_of(ident, name):
    """The paper's row, {} if it has none."""
    if ident == "N-T3":
        return dict(zip(DEVICES, T3.get(name, ())))
    if ident == "N-T4":
        return dict(zip(POLICIES, T4.get(name, ())))
    if ident == "N-T5":
        return dict(zip(("without", "with"), T5.get(name, ())))
    return {}


def relative(row):
    """A row of N-T3 over its network column, so that scales drop out."""
    base = row.get("network")
    return {k: v / base for k, v in row.items()} if base else {}


def tables_of(rows):
    """{id: table} from the rows that the lab's side hands back."""
    tables = {}
    for row in rows:
        table = tables.setdefault(row["id"], {
            "unit": UNITS[row["id"]], "rows": [], "about": row["about"]})
        paper = row["paper"] if "paper" in row else paper_of(row["id"],
                                                             row["name"])
        table["rows"].append({"name": row["name"], "ours": row["ours"],
                              "paper": paper, "marks": row["marks"],
                              **row.get("more", {})})
    return tables


def show(tables):
    """Each table beside the paper's, with the ratio of the two."""
    for ident, table in tables.items():
        print(f"\n{ident}: {table['unit']}")
        print(f"  {'':<22}{'':<10}{'ours':>12}{'paper':>12}{'ratio':>8}")
        for row in table["rows"]:
            ours, paper = row["ours"], row["paper"]
            if ident == "N-T3":
                for line, a, b in _both(relative(ours), relative(paper)):
                    print(f"  {row['name']:<22}{line:<10}"
                          f"{ours[line]:>10.2f} s"
                          f"{paper.get(line, 0):>10.1f} s  "
                          f"over network {a:7.2f} {b:7.2f}, ratio {a / b:.2f}")
            else:
                for line, a, b in _both(ours, paper):
                    print(f"  {row['name']:<22}{line:<10}{a:>12.2f}{b:>12.2f}"
                          f"{a / b:>8.2f}")
                for line in ours:
                    if line not in paper:
                        print(f"  {row['name']:<22}{line:<10}"
                              f"{ours[line]:>12.2f}")
            for mark in row["marks"]:
                print(f"  mark: {row['name']}: {mark}")


def _both(ours, paper):
    return [(k, ours[k], paper[k]) for k in ours if paper.get(k)]
