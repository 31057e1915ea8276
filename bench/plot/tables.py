# SPDX-License-Identifier: GPL-2.0
"""Figures of the papers' tables: ours plain, the paper's hatched beside it.

A table is a panel: bars grouped by row, or lines where the rows are numbers.  Where
scales differ, what is drawn is each column over the one that the table names.
"""
import pathlib
import re
import textwrap

import matplotlib
matplotlib.use("Agg")
from matplotlib import lines, patches, pyplot

from plot import caption, colours
from tables.markdown import columns_of, number
from tables.rows import relative

STYLE = pathlib.Path(__file__).resolve().parent / "style.mplstyle"
# Above this quotient of the largest and the smallest value the axis is logarithmic.
LOGARITHMIC = 12
# Bars in a panel above which their numbers are written upwards.
NARROW = 22
# Bars in a panel: a table of more has several.
MOST = 90
# Quotients that all lie between these are drawn as what they differ from 1 by.
NEAR_ONE = (0.75, 1.33)
# Characters that the labels below a panel have room for, side by side.
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


def _has_paper(table):
    return any(row["paper"] for row in table["rows"])


def _lines(panel, table, columns):
    has = colours.of(columns)
    for column in columns:
        for side, style in (("ours", "-o"), ("paper", "--s")):
            at = [(number_in(r["name"]), r[side].get(column))
                  for r in table["rows"]]
            at = [(x, y) for x, y in at if y is not None]
            if at:
                panel.plot(*zip(*at), style, color=has[column], markersize=3,
                           linewidth=1.2)
    if panel.get_ylim()[0] > 0:
        panel.set_ylim(bottom=0)


def _label(panel, names):
    """Names below a panel, in lines between words, aslant if a word is wider than its room."""
    names = [re.sub(r"(\d) ", "\\1\u00a0", name) for name in names]
    room = LABEL // len(names)
    parts = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    if max(len(line) for name in parts for line in name) <= room:
        panel.set_xticks(range(len(names)), ["\n".join(name) for name in parts])
    else:
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right",
                         rotation_mode="anchor", fontsize=8)


def _colour(row, column, has):
    """Of a bar: its column's; where there is but one, that of the row's device, if any."""
    device = colours.device_in(row["name"]) if len(has) == 1 else None
    return colours.DEVICES[device] if device else has[column]


def _scale(panel, seen, base):
    """The axis of bars that begin at a base and have these values."""
    above = [v for v in seen if v > 0]
    if base:
        room = max(abs(v - base) for v in seen) * 1.6
        panel.set_ylim(base - room, base + room)
        panel.axhline(base, color="#303030", linewidth=0.8)
    elif above and max(above) > LOGARITHMIC * min(above) and min(seen) > 0:
        panel.set_yscale("log")
        panel.set_ylim(min(above) / 2, max(above) * 4)
    elif above:
        panel.set_ylim(min(0, *seen), max(above) * 1.25)


def _base(table, columns, sides):
    """What bars begin at: 0, or 1 where all are quotients that lie near it."""
    over = table.get("over")
    seen = [v for row in table["rows"] for side in sides for column in columns
            for v in (_values(row, side, over).get(column, 1),
                      *_between(row, side, column, over))]
    return 1 if over and NEAR_ONE[0] < min(seen) and max(seen) < NEAR_ONE[1] else 0


def _bars(panel, table, columns):
    over, rows, has = table.get("over"), table["rows"], colours.of(columns)
    sides = ("ours", "paper") if _has_paper(table) else ("ours",)
    base = _base(table, columns, sides)
    width = 0.84 / (len(sides) * len(columns))
    size = 7 if len(rows) * len(columns) * len(sides) <= NARROW else 5.5
    seen = []
    for g, row in enumerate(rows):
        for c, column in enumerate(columns):
            for s, side in enumerate(sides):
                value = _values(row, side, over).get(column)
                if value is None:
                    continue
                x = g - 0.42 + width * (len(sides) * c + s + 0.5)
                panel.bar(x, value - base, width * 0.9, bottom=base, color=_colour(row, column, has),
                          alpha=0.45 if s else 1, hatch="////" if s else None,
                          edgecolor="white", linewidth=0)
                between = _between(row, side, column, over)
                if between:
                    panel.vlines(x, *between, color="#303030", linewidth=0.8)
                panel.annotate(number(value), (x, max(value, base, *between)), ha="center",
                               va="bottom", fontsize=size, xytext=(0, 1.5),
                               textcoords="offset points",
                               rotation=0 if size == 7 else 90)
                seen += [value, *between] if base else [value]
    _label(panel, [row["name"] for row in rows])
    panel.set_xlim(-0.5, len(rows) - 0.5)
    _scale(panel, seen, base)


def _panel(panel, ident, table):
    columns, over = table["columns"], table.get("over")
    if _is_line(table):
        _lines(panel, table, columns)
        over, theirs = None, lines.Line2D([], [], color="#606060", linestyle="--", marker="s",
                                          markersize=3, label="dashed: the paper's")
    else:
        _bars(panel, table, columns)
        theirs = patches.Patch(facecolor="#aaaaaa", hatch="////", edgecolor="white",
                               label="hatched: the paper's")
    panel.set_title(f"{ident}: {table['unit']}" + (f", over {over}" if over else ""),
                    loc="left")
    handles = [patches.Patch(color=colour, label=column)
               for column, colour in colours.of(columns).items()] if columns[1:] else []
    if _has_paper(table):
        handles.append(theirs)
    if handles:
        panel.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def drawn(table):
    """Whether a table has anything to draw."""
    return any(row["ours"] for row in table["rows"])


def _parts(table):
    """A table as some that fit a panel each, in all of which a column has one colour."""
    columns, rows = columns_of(table), table["rows"]
    table = dict(table, columns=columns)
    panels = -(-len(rows) // max(1, MOST // (2 * len(columns))))
    if _is_line(table) or panels == 1:
        return [table]
    at_once = -(-len(rows) // panels)
    return [dict(table, rows=rows[first:first + at_once])
            for first in range(0, len(rows), at_once)]


def draw(tables, path):
    """Draw some tables, {id: table}, into one figure."""
    parts = [(ident, part) for ident, table in tables.items() for part in _parts(table)]
    with pyplot.style.context(str(STYLE)):
        figure, axes = pyplot.subplots(len(parts), 1, squeeze=False,
                                       figsize=(10, 2.9 * len(parts)))
        for panel, (ident, table) in zip(axes[:, 0], parts):
            _panel(panel, ident, table)
        about = list(tables.values())[0]["about"]
        commits = dict.fromkeys(t["about"]["commit"] for t in tables.values())
        caption.below(figure, f"virtual time, {about['kernel']}, commit "
                      f"{', '.join(commits)}")
        figure.savefig(path)
        pyplot.close(figure)
