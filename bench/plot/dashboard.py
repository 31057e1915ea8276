# SPDX-License-Identifier: GPL-2.0
"""A Grafana dashboard drawn from its file and from what Prometheus answered.

What of the file is heeded: the position of a panel on the 24 columns, its title, type, unit,
thresholds, queries, legends, scale and whether it is stacked.
"""
import datetime
import math
import pathlib
import re

import matplotlib
matplotlib.use("Agg")
from matplotlib import dates, pyplot, transforms

STYLE = pathlib.Path(__file__).resolve().parent / "style.mplstyle"
COLUMN, ROW = 0.6, 0.36         # inches
GAP = 0.12
DPI = 100
COLOURS = ("#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#37872d",
           "#e0b400", "#1f60c4", "#fa6400", "#c4162a", "#8f3bb8")
NAMED = {"green": "#37872d", "orange": "#fa6400", "red": "#c4162a", None: "#202020"}
EDGE = "#d8d9da"


def questions(board, every):
    """What Grafana would ask for all nodes: [{expr, instant}], target by target."""
    return [{"expr": target["expr"].replace("$node", ".*")
             .replace("$__rate_interval", f"{4 * every}s"),
             "instant": target.get("instant", False)}
            for panel in board["panels"] for target in panel["targets"]]


def _scaled(value, base, units):
    step = 0
    while abs(value) >= base and step < len(units) - 1:
        value, step = value / base, step + 1
    return f"{value:.3g}", units[step]


def shown(value, unit):
    """A value as Grafana writes it in a unit."""
    if unit == "bytes":
        return " ".join(_scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB")))
    if unit == "binBps":
        return " ".join(_scaled(value, 1024, ("B/s", "KiB/s", "MiB/s", "GiB/s")))
    if unit == "s":
        for factor, name in ((1, "s"), (1e-3, "ms")):
            if abs(value) >= factor:
                return f"{value / factor:.3g} {name}"
        return f"{value * 1e6:.3g} µs" if value else "0 s"
    if unit.startswith("suffix:"):
        return f"{value:.4g} {unit.removeprefix('suffix:')}"
    return f"{value:.10g}{' ops/s' * (unit == 'ops')}"


def _legend(text, labels):
    if not text:
        return ", ".join(f"{k}={v}" for k, v in labels.items())
    return re.sub(r"\{\{ *(\w+) *\}\}", lambda m: labels.get(m[1], ""), text)


def _series(panel, results):
    """(legend, times, values) of a panel's queries, gaps left out."""
    found = []
    for target, result in zip(panel["targets"], results):
        for row in result:
            points = [(float(t), float(v)) for t, v in row.get("values", [row.get("value")])
                      if v != "NaN"]
            if points:
                found.append((_legend(target.get("legendFormat"), row["metric"]),
                              *zip(*points)))
    return found


def _stat(axes, panel, found):
    value, colour = found[0][2][-1], None
    for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", []):
        if step["value"] is None or value >= step["value"]:
            colour = step["color"]
    axes.text(0.5, 0.45, shown(value, panel["fieldConfig"]["defaults"]["unit"]), ha="center",
              va="center", fontsize=19, color=NAMED[colour], transform=axes.transAxes)


def _ticks(least, most, unit, log):
    """From 0 to above most, round in the unit: of bytes and their rates in powers of two;
    by decades from below least if log."""
    if log:
        return [10.0 ** n for n in range(math.floor(math.log10(least)),
                                         math.ceil(math.log10(most)) + 1)]
    if unit in ("bytes", "binBps"):
        step = 2.0 ** math.ceil(math.log2(most / 5))
    else:
        ten = 10.0 ** math.floor(math.log10(most / 5))
        step = next(n * ten for n in (1, 2, 5, 10) if n * ten * 5 >= most)
    return [step * n for n in range(int(most / step) + 2)]


def _lines(axes, panel, found, span):
    """A line for each series, broken where Prometheus had nothing."""
    custom = panel["fieldConfig"]["defaults"]["custom"]
    stacked = custom["stacking"]["mode"] == "normal"
    log = custom.get("scaleDistribution", {}).get("type") == "log"
    grid = sorted({t for _, times, _ in found for t in times})
    when = [datetime.datetime.fromtimestamp(t) for t in grid]
    below, top_of = [0.0] * len(grid), []
    for (name, times, values), colour in zip(found, COLOURS * len(found)):
        has = dict(zip(times, values))
        line = [has.get(t, 0.0 if stacked else float("nan")) for t in grid]
        top = [a + b for a, b in zip(below, line)] if stacked else line
        axes.plot(when, top, color=colour, linewidth=1, label=name)
        axes.fill_between(when, below if stacked else 1e-9 if log else 0, top, color=colour, linewidth=0,
                          alpha=custom["fillOpacity"] / 100)
        below = top if stacked else below
        top_of += top
    unit = panel["fieldConfig"]["defaults"]["unit"]
    known = [t for t in top_of if t == t]
    ticks = _ticks(min(known), max(known) or 1, unit, log)
    axes.set_yscale("log" if log else "linear")
    axes.set_yticks(ticks, minor=False)
    axes.set_yticks([], minor=True)
    axes.set_ylim(0 if not log else ticks[0], ticks[-1])
    axes.set_xlim(*map(datetime.datetime.fromtimestamp, span))
    axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M"))
    axes.xaxis.set_major_locator(dates.MinuteLocator())
    axes.yaxis.set_major_formatter(lambda value, _: shown(value, unit))
    axes.tick_params(labelsize=7, length=0)


def _legend_below(axes, found, width):
    """Of a panel so many inches wide; returns in how many lines."""
    longest = max(len(name) for name, _, _ in found)
    columns = max(1, min(len(found), int(width * 72 / (longest * 4.2 + 22))))
    below = axes.transAxes + transforms.ScaledTranslation(-0.5, -0.24,
                                                          axes.figure.dpi_scale_trans)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncol=columns,
                fontsize=7, handlelength=1, columnspacing=1, borderaxespad=0)
    return -(-len(found) // columns)


def draw(board, told, path):
    """Draw all panels; returns the titles of those for which there is no data."""
    panels, results, empty = board["panels"], iter(told["results"]), []
    rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels)
    with pyplot.style.context(STYLE):
        figure = pyplot.figure(figsize=(24 * COLUMN, rows * ROW), facecolor="#f4f5f5")
        for panel in panels:
            pos = panel["gridPos"]
            left, bottom = pos["x"] * COLUMN + GAP / 2, (rows - pos["y"] - pos["h"]) * ROW
            width, height = pos["w"] * COLUMN - GAP, pos["h"] * ROW - GAP

            def area(x, y, w, h):
                return [x / (24 * COLUMN), y / (rows * ROW), w / (24 * COLUMN), h / (rows * ROW)]
            frame = figure.add_axes(area(left, bottom, width, height), facecolor="white")
            frame.set(xticks=[], yticks=[])
            frame.grid(False)
            frame.spines[:].set_visible(True)
            frame.spines[:].set_color(EDGE)
            frame.annotate(panel["title"], (0, 1), xycoords="axes fraction", xytext=(6, -14),
                           textcoords="offset points", fontsize=9, weight="bold")
            found = _series(panel, [next(results) for _ in panel["targets"]])
            if not found:
                empty.append(panel["title"])
                frame.text(0.5, 0.45, "No data", ha="center", fontsize=12, color="#808080",
                           transform=frame.transAxes)
            elif panel["type"] == "stat":
                _stat(frame, panel, found)
            else:
                axes = figure.add_axes(area(left, bottom, width, height), facecolor="white")
                _lines(axes, panel, found, (told["begin"], told["end"]))
                lines = _legend_below(axes, found, width - 0.5)
                foot = 0.34 + 0.155 * lines
                axes.set_position(area(left + 0.75, bottom + foot, width - 0.9,
                                       height - foot - 0.34))
        figure.savefig(path, dpi=DPI, facecolor=figure.get_facecolor())
        pyplot.close(figure)
    return empty
