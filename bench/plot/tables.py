# SPDX-License-Identifier: GPL-2.0
"""Figures of the papers' tables: ours plain, the paper's hatched beside it.

A table is a panel: bars grouped by row, or lines where the rows are numbers.  Where
scales differ, what is drawn is each column over the one that the table names.
"""
import pathlib
import textwrap

import matplotlib
matplotlib.use("Agg")
from matplotlib import patches, pyplot

from tables.markdown import columns_of, number
from tables.rows import relative

STYLE = pathlib.Path(__file__).resolve().parent / "style.mplstyle"
COLOURS = ("#0b5fa5", "#d97a1e", "#4b9b5e", "#7a7a7a", "#8a5bb0", "#c0504d",
           "#3a9fbf", "#a08040")
# Above this quotient of the largest and the smallest value the axis is logarithmic.
LOGARITHMIC = 12
# Bars in a panel above which their numbers are written upwards.
NARROW = 22
# Characters that the labels below a panel have room for.
LABEL = 100


def _values(row, side, over):
    return relative(row[side], over) if row[side] else {}


def _between(row, side, column, over):
    """Lowest and highest of the seeds, () of a figure that has only one."""
    if side != "ours" or column not in row.get("between", {}):
        return ()
    base = row["ours"][over] if over else 1
    return [v / base for v in row["between"][column]]


def _is_line(table):
    names = [row["name"] for row in table["rows"]]
    return len(names) > 3 and all(number_in(name) is not None for name in names)


def number_in(name):
    """The number that a name is, None if it is none."""
    try:
        return float(name)
    except ValueError:
        return None


def _lines(panel, table, columns):
    for c, column in enumerate(columns):
        for side, style in (("ours", "-o"), ("paper", "--s")):
            at = [(number_in(r["name"]), r[side].get(column))
                  for r in table["rows"]]
            at = [(x, y) for x, y in at if y is not None]
            if at:
                panel.plot(*zip(*at), style, color=COLOURS[c], markersize=3,
                           linewidth=1.2)
    panel.set_ylim(bottom=0)


def _bars(panel, table, columns):
    over, rows = table.get("over"), table["rows"]
    width = 0.84 / (2 * len(columns))
    size = 7 if len(rows) * len(columns) * 2 <= NARROW else 5.5
    seen = []
    for g, row in enumerate(rows):
        for c, column in enumerate(columns):
            for s, side in enumerate(("ours", "paper")):
                value = _values(row, side, over).get(column)
                if value is None:
                    continue
                x = g - 0.42 + width * (2 * c + s + 0.5)
                panel.bar(x, value, width * 0.9, color=COLOURS[c],
                          alpha=0.45 if s else 1, hatch="////" if s else None,
                          edgecolor="white", linewidth=0)
                between = _between(row, side, column, over)
                if between:
                    panel.vlines(x, *between, color="#303030", linewidth=0.8)
                panel.annotate(number(value), (x, max(value, 0, *between)), ha="center",
                               va="bottom", fontsize=size, xytext=(0, 1.5),
                               textcoords="offset points",
                               rotation=0 if size == 7 else 90)
                seen.append(value)
    panel.set_xticks(range(len(rows)), [
        textwrap.fill(row["name"], LABEL // len(rows)) for row in rows])
    above = [v for v in seen if v > 0]
    if above and max(above) > LOGARITHMIC * min(above) and min(seen) > 0:
        panel.set_yscale("log")
        panel.set_ylim(min(above) / 2, max(above) * 4)
    elif above:
        panel.set_ylim(min(0, *seen), max(above) * 1.25)


def _panel(panel, ident, table):
    columns = columns_of(table)
    if _is_line(table):
        _lines(panel, table, columns)
        theirs = "dashed: the paper's"
    else:
        _bars(panel, table, columns)
        theirs = "hatched: the paper's"
    over = table.get("over")
    unit = table["unit"] if not over or _is_line(table) else \
        f"run time over that on {over}"
    panel.set_title(f"{ident}: {unit}", loc="left")
    handles = [patches.Patch(color=COLOURS[c], label=column)
               for c, column in enumerate(columns)]
    if any(row["paper"] for row in table["rows"]):
        handles.append(patches.Patch(facecolor="#aaaaaa", hatch="////",
                                     edgecolor="white", label=theirs))
    panel.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def drawn(table):
    """Whether a table has anything to draw."""
    return any(row["ours"] for row in table["rows"])


def draw(tables, path):
    """Draw some tables, {id: table}, into one figure."""
    with pyplot.style.context(str(STYLE)):
        figure, axes = pyplot.subplots(len(tables), 1, squeeze=False,
                                       figsize=(10, 2.9 * len(tables)))
        for panel, (ident, table) in zip(axes[:, 0], tables.items()):
            _panel(panel, ident, table)
        about = list(tables.values())[0]["about"]
        commits = dict.fromkeys(t["about"]["commit"] for t in tables.values())
        figure.text(0.01, 0.004, f"virtual time, {about['kernel']}, commit "
                    f"{', '.join(commits)}", fontsize=6.5, color="#505050")
        figure.tight_layout(rect=(0, 0.02, 1, 1))
        figure.savefig(path)
        pyplot.close(figure)
