# SPDX-License-Identifier: GPL-2.0
"""The figure of BENCH=apps: each program by the share of its memory that it has, a line
a device: throughput in one panel, and for those that are asked, percentiles in the
one below.
"""
from matplotlib import lines, pyplot

from plot import colours
from plot.caption import LEGEND

# Line and width of each percentile.
PERCENTILES = {"p50_us": ("p50", ":", 1.0), "p99_us": ("p99", "-", 1.4),
               "p999_us": ("p99.9", "--", 1.0)}
COLUMNS = 3


def _points(rows, place, key):
    """(x, row) of those that have such a figure, from much memory to little."""
    return sorted(((place[row["share"]], row) for row in rows
                   if row.get(key) is not None), key=lambda point: point[0])


def _devices(rows):
    """{device: colour} in their order."""
    return colours.of(colours.ordered(row["device"] for row in rows))


def _throughput(panel, rows, place):
    for name, colour in _devices(rows).items():
        at = _points([r for r in rows if r["device"] == name], place, "ops_per_s")
        middle = [row["ops_per_s"] for _, row in at]
        below = [max(0, m - row["ops_min"]) for m, (_, row) in zip(middle, at)]
        above = [max(0, row["ops_max"] - m) for m, (_, row) in zip(middle, at)]
        panel.errorbar([x for x, _ in at], middle, [below, above], fmt="o-",
                       color=colour, markersize=3.5, linewidth=1.4,
                       elinewidth=0.8)
    panel.set_title(f"{rows[0]['workload']}: {rows[0]['unit']} a second")


def _latency(panel, rows, place):
    for name, colour in _devices(rows).items():
        for key, (_, style, width) in PERCENTILES.items():
            at = _points([r for r in rows if r["device"] == name], place, key)
            panel.plot([x for x, _ in at], [row[key] for _, row in at], style,
                       color=colour, linewidth=width, marker=".", markersize=4)
    panel.set_title(f"{rows[0]['workload']}: microseconds of a request")


def _panels(rows):
    """What is drawn, row by row: (function, rows of a program) or None."""
    programs = {}
    for row in rows:
        programs.setdefault(row["workload"], []).append(row)
    asked = [p for p in programs.values() if p[0]["p50_us"] is not None]
    others = [p for p in programs.values() if p[0]["p50_us"] is None]
    drawn = [(_throughput, p) for p in asked]
    drawn += [None] * (-len(drawn) % COLUMNS)
    drawn += [(_latency, p) for p in asked]
    drawn += [None] * (-len(drawn) % COLUMNS)
    drawn += [(_throughput, p) for p in others]
    return drawn + [None] * (-len(drawn) % COLUMNS)


def draw(rows, path, caption):
    """caption(figure, rows, above) says what was measured."""
    shares = sorted({row["share"] for row in rows if row["share"]}, reverse=True)
    place = {None: 0, **{share: 1 + n for n, share in enumerate(shares)}}
    panels = _panels(rows)
    deep = len(panels) // COLUMNS
    figure, axes = pyplot.subplots(deep, COLUMNS, squeeze=False,
                                   figsize=(11, 2.9 * deep + 0.5))
    for panel, what in zip(axes.flat, panels):
        if what is None:
            panel.set_axis_off()
            continue
        function, mine = what
        function(panel, mine, place)
        panel.set_yscale("log")
        panel.set_xticks(range(len(place)),
                         ["enough", *(f"{share} %" for share in shares)])
    handles = [lines.Line2D([], [], color=colour, label=name)
               for name, colour in _devices(rows).items()]
    handles += [lines.Line2D([], [], color="#505050", linestyle=style, label=label)
                for label, style, _ in PERCENTILES.values()]
    figure.legend(handles=handles, loc="upper center", ncols=len(handles))
    caption(figure, rows, LEGEND)
    figure.savefig(path)
    pyplot.close(figure)
