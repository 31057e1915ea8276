# SPDX-License-Identifier: GPL-2.0
"""Figures from results: bars in one style, the spread as a line on each bar.

Axes are logarithmic: the devices differ by more than a factor of ten.
"""
import math
import pathlib

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot

from plot import caption, colours, shares, slots

STYLE = pathlib.Path(__file__).resolve().parent / "style.mplstyle"
POLICY_TITLES = {"place": "placement: where page-outs go",
                 "read": "reading: which of two copies",
                 "prefetch": "prefetching: which pages go to flash"}


# Panels of cost: devices with pages of words, those in large packets, and nswap beside what keeps
# pages on the node.
COST_WORDS = {"lz4", "zstd", "zram-text", "zswap-text"}
COST_JUMBO = {"nswap-jumbo", "nvme-tcp-jumbo"}
COST_NEAR = {"nswap", "cache", "early", "zram", "zswap"}


def _order(rows, key="device"):
    return colours.ordered(row[key] for row in rows)


def _bars(axes, groups, names, values, text=None):
    """Grouped bars; values[(group, name)] = (middle, low, high); text: how a value
    is written."""
    has, text = colours.of(names), text or _short
    width, told = 0.8 / len(names), set()
    for n, name in enumerate(names):
        for g, group in enumerate(groups):
            if (group, name) not in values:
                continue
            middle, low, high = values[group, name]
            x = g - 0.4 + width * (n + 0.5)
            axes.bar(x, middle, width * 0.92, color=has[name],
                     label=None if name in told else name,
                     yerr=[[max(0, middle - low)], [max(0, high - middle)]],
                     error_kw={"elinewidth": 1, "ecolor": "#202020"})
            told.add(name)
            axes.annotate(text(middle), (x, high), ha="center", va="bottom",
                          xytext=(0, 2), textcoords="offset points",
                          fontsize=7)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_yscale("log")


def _legend_above(panel, title, names):
    """A panel's title, and beside it its legend, where no bar is."""
    panel.set_title(title, loc="left")
    panel.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(names), borderaxespad=0.2)


def _short(value):
    if value >= 10000:
        return f"{value / 1000:.0f}k"
    if value >= 1000:
        return f"{value / 1000:.1f}k"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _caption(figure, rows, above=0):
    row = rows[0]
    runs = max(r["runs"] for r in rows)
    marked = sum(bool(r["marks"]) for r in rows)
    text = f"{row['lab']}, {row['kernel']}, commit {row['commit']}; " + \
        (f"median of {runs} runs, line: all runs" if runs > 1 else "one run")
    boots = {r.get("boot", 1) for r in rows}
    if len(boots) > 1:
        text += f"; in {len(boots)} boots, each group in one"
    if marked:
        text += f"; {marked} of {len(rows)} rows are marked as disturbed"
    caption.below(figure, text, above)


def _device(rows, path):
    names = _order(rows)
    # block size, depth, streams, and how many requests a unit has
    panels = [("4 KiB at depth 1: IOPS", ("4k", 1, 1), 1),
              ("4 KiB at depth 32: IOPS", ("4k", 32, 1), 1),
              ("128 KiB in order: MiB/s", ("128k", 8, 1), 8),
              ("at depth 32: MiB/s", ("128k", 32, 1), 8),
              ("four at depth 32: MiB/s", ("128k", 32, 4), 8)]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(17, 4))
    for panel, (title, job, unit) in zip(axes, panels):
        scale = 1 / unit
        mine = [r for r in rows if (r["bs"], r["qd"], r["streams"]) == job]
        groups = list(dict.fromkeys(r["op"] for r in mine))
        values = {(r["op"], r["device"]):
                  tuple(r[k] * scale for k in ("iops", "iops_min", "iops_max"))
                  for r in mine}
        _bars(panel, groups, names, values)
        panel.set_title(title)
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="upper left",
                  ncols=len(names))
    _finish(figure, axes, rows, path, caption.LEGEND)


def _swap(rows, path):
    names = _order(rows)
    groups = list(dict.fromkeys(r["workload"] for r in rows))
    half = -(-len(groups) // 2) if len(groups) > 4 else len(groups)
    parts = [groups[:half], groups[half:]] if groups[half:] else [groups]
    figure, axes = pyplot.subplots(len(parts), 1, squeeze=False,
                                   figsize=(9, 3.7 * len(parts)))
    panels = list(axes[:, 0])
    size = {r["workload"]: f"{r['workload']}\n{r['mb']} in {r['limit_mb']} MiB"
            for r in rows}
    for panel, part in zip(panels, parts):
        values = {(size[r["workload"]], r["device"]):
                  (r["seconds"], r.get("seconds_min", r["seconds"]),
                   r.get("seconds_max", r["seconds"]))
                  for r in rows if r["workload"] in part}
        _bars(panel, [size[name] for name in part], names, values)
        panel.set_ylabel("seconds")
    panels[0].set_title("programs larger than their RAM, less is better", pad=26)
    panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(names))
    _finish(figure, panels, rows, path)


def _moves(rows, path):
    names = _order(rows, "what")
    figure, axes = pyplot.subplots(1, 1, figsize=(6, 4))
    values = {(r["link"], r["what"]):
              (r["mbit_s"], r["mbit_s_min"], r["mbit_s_max"]) for r in rows}
    groups = list(dict.fromkeys(r["link"] for r in rows))
    _bars(axes, groups, names, values)
    axes.set_title(f"{rows[0]['mb']} MiB to another peer: Mbit/s")
    axes.legend(loc="upper left", ncols=len(names))
    _finish(figure, [axes], rows, path)


def _idle(rows, path):
    panels = [("% of a CPU, a node", "cpu_percent_of_a_node", 0.1),
              ("bytes a second and peer", "bytes_per_s_and_peer", 1024)]
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.5))
    mine = [row for row in rows if row["state"] != "down"]
    for panel, (title, key, limit) in zip(axes, panels):
        values = [max(0, row[key]) for row in mine]
        panel.bar(range(len(mine)), values, 0.6, color=colours.NSWAP)
        for x, value in enumerate(values):
            panel.annotate(f"{value:.3g}", (x, value), ha="center",
                           va="bottom", fontsize=7)
        panel.axhline(limit, color="#202020", linewidth=1, linestyle="--")
        panel.set_xticks(range(len(mine)), [row["what"] for row in mine])
        panel.set_title(f"{title}; line: {limit:g}")
        panel.set_ylim(0, max(values + [limit]) * 1.2)
    _caption(figure, rows)
    figure.savefig(path)
    pyplot.close(figure)


def _fairness(rows, path):
    mine = [row for row in rows if row["what"] != "rest"]
    names = list(dict.fromkeys(row["flood"] for row in mine))
    figure, axes = pyplot.subplots(1, 1, figsize=(8, 4))
    values = {(row["what"], row["flood"]):
              (row["ratio_p99"], row["ratio_min"], row["ratio_max"]) for row in mine}
    _bars(axes, list(dict.fromkeys(row["what"] for row in mine)), names, values,
          "{:.2f}".format)
    axes.axhline(2, color="#202020", linewidth=1, linestyle="--")
    axes.set_title("seven members beside a flood: p99 of their pages, of that alone")
    axes.legend(loc="upper left", ncols=2)
    _finish(figure, [axes], mine, path)


def _size(rows, path):
    mine = [row for row in rows if row["protect"] == "mirror"]
    names = [row["size"] for row in mine]
    steps = list(mine[0]["seconds"])
    values = {(step, row["size"]): (row["seconds"][step],) * 3
              for step in steps for row in mine}
    figure, axes = pyplot.subplots(1, 1, figsize=(9, 4))
    _bars(axes, steps, names, values, "{:.2g}".format)
    axes.set_yscale("log")
    axes.set_title(f"a mirrored device with {mine[0]['used_mb']} MiB in use: seconds")
    axes.legend(loc="upper left", ncols=len(names))
    _finish(figure, [axes], mine, path)


def _tmpfs(rows, path):
    mine = [row for row in rows if row["device"] != "ram"]
    kinds = list(dict.fromkeys(row["hardware"] for row in mine))
    figure, axes = pyplot.subplots(1, len(kinds), squeeze=False, figsize=(10, 4))
    for panel, hardware in zip(axes[0], kinds):
        of = [row for row in mine if row["hardware"] == hardware]
        size = {row["workload"]: "\n".join((row["workload"], f"in {row['limit_mb']} MiB"))
                for row in of}
        _bars(panel, list(size.values()), _order(of),
              {(size[row["workload"]], row["device"]):
               tuple(row[key] for key in ("seconds", "seconds_min", "seconds_max"))
               for row in of})
        panel.set_title(f"{hardware}: seconds of waiting")
    axes[0][0].legend(loc="upper left", ncols=2)
    _finish(figure, axes[0], mine, path)


def _tiers(rows, path):
    cases = list(dict.fromkeys((r["flash_us"], r["qd"]) for r in rows
                               if r["flash_us"]))
    costs = [r for r in rows if not r["flash_us"]]
    figure, axes = pyplot.subplots(1, 2, figsize=(13, 4),
                                   width_ratios=[3, 2])
    mine = [r for case in cases for r in rows
            if (r["flash_us"], r["qd"]) == case]
    for x, row in enumerate(mine):
        bound = row["cpu_bound"]
        axes[0].bar(x, row["ratio"], 0.7,
                    color="#bbbbbb" if bound else colours.NSWAP,
                    yerr=[[max(0, row["ratio"] - row["ratio_min"])],
                          [max(0, row["ratio_max"] - row["ratio"])]],
                    error_kw={"elinewidth": 1, "ecolor": "#202020"})
        axes[0].annotate(f"{row['ratio']:.2f}",
                         (x, max(row["ratio"], row["ratio_max"])), ha="center",
                         va="bottom", fontsize=7, xytext=(0, 2),
                         textcoords="offset points")
    axes[0].set_xticks(range(len(mine)),
                       [f"{r['op']}\n{r['flash_us']} us\ndepth {r['qd']}"
                        for r in mine], fontsize=6)
    axes[0].axhline(0.95, color="#202020", linewidth=1, linestyle="--")
    axes[0].set_ylim(0, max([1.1] + [r["ratio_max"] for r in mine]) * 1.1)
    axes[0].set_title("IOPS of nswap on flash, of the raw flash's\n"
                      "(grey: the processor is the limit; line: 0.95)")
    for x, row in enumerate(costs):
        for at, name, colour in ((-0.2, "raw", colours.FLASH),
                                 (0.2, "nswap", colours.NSWAP)):
            value = row[f"{name}_cpu_us"]
            axes[1].bar(x + at, value, 0.38, color=colour,
                        label=name if x == 0 else None)
            axes[1].annotate(f"{value:.0f}", (x + at, value), ha="center",
                             va="bottom", fontsize=7)
    axes[1].set_xticks(range(len(costs)),
                       [f"{r['op']}\ndepth {r['qd']}" for r in costs], fontsize=6)
    _legend_above(axes[1], "flash of 0 us: processor time, us a page\n"
                  "(of a user-mode kernel)", ("raw", "nswap"))
    _caption(figure, rows)
    figure.savefig(path)
    pyplot.close(figure)


def _finish(figure, axes, rows, path, above=0):
    for panel in axes:
        tops = [bar.get_height() for bar in panel.patches]
        # Bars stand on a whole decade below the lowest of them.
        panel.set_ylim(10 ** math.floor(math.log10(min(tops)) - 0.3),
                       max(tops) * 3)
    _caption(figure, rows, above)
    figure.savefig(path)
    pyplot.close(figure)


def _policy(rows, path):
    kinds = list(dict.fromkeys(r["kind"] for r in rows))
    groups = {kind: list(dict.fromkeys((r["case"], r["workload"]) for r in rows
                                       if r["kind"] == kind)) for kind in kinds}
    figure, axes = pyplot.subplots(len(kinds), 1, squeeze=False,
                                   figsize=(9, 3.2 * len(kinds)))
    for panel, kind in zip(axes[:, 0], kinds):
        mine = [r for r in rows if r["kind"] == kind]
        names = list(dict.fromkeys(r["policy"] for r in mine))
        label = {case: f"{case[1]}\n{case[0]}" for case in groups[kind]}
        values = {(label[r["case"], r["workload"]], r["policy"]):
                  (r["seconds"], r["seconds_min"], r["seconds_max"]) for r in mine}
        _bars(panel, list(label.values()), names, values,
              "{:.3g}".format)
        panel.set_yscale("linear")
        panel.tick_params(axis="x", labelsize=8)
        panel.set_ylim(0, max(r["seconds_max"] for r in mine) * 1.35)
        panel.set_ylabel("seconds")
        panel.set_title(POLICY_TITLES.get(kind, kind))
        panel.legend(loc="upper left", ncols=len(names))
    _caption(figure, rows)
    figure.savefig(path)
    pyplot.close(figure)


def _cost_panels(rows):
    """(title, its rows) of each panel.  What members take is a time, and a page that lenders
    move no page of a device: no cost beside others."""
    groups = [("packets of 9000 bytes", COST_JUMBO), ("pages of words", COST_WORDS),
              ("beside RAM of the node", COST_NEAR)]
    named = {name for _, names in groups for name in names} - {"nswap"}
    groups.insert(0, ("both nodes together", {row["device"] for row in rows} - named -
                      {"tcp", "tcp-jumbo", "members", "lenders"}))
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        for title, names in groups:
            mine = [r for r in rows if r["kernel"] == kernel and r["device"] in names]
            if {r["device"] for r in mine} - {"nswap"} or title == groups[0][0]:
                yield f"Debian's {kernel}, {title}", mine


def _cost(rows, path):
    panels = [(title, mine) for title, mine in _cost_panels(rows) if mine]
    if not panels:
        return
    figure, axes = pyplot.subplots(len(panels), 1, squeeze=False,
                                   figsize=(11, 3.2 * len(panels)))
    for panel, (title, mine) in zip(axes[:, 0], panels):
        label = {work: work.replace("-", " ", 1)
                 for work in dict.fromkeys(r["work"] for r in mine)}
        values = {(label[r["work"]], r["device"]): (r["instr_per_page"],) * 3
                  for r in mine}
        _bars(panel, list(label.values()), _order(mine), values)
        panel.tick_params(axis="x", labelsize=7)
        panel.set_ylabel("instructions a page")
        _legend_above(panel, title, _order(mine))
    caption.below(figure, f"commit {rows[0]['commit']}")
    figure.savefig(path)
    pyplot.close(figure)


def _protect(rows, path):
    once = {row["protect"]: row for row in rows}
    works = list(dict.fromkeys(row["work"] for row in rows))
    figure, (cost, ram) = pyplot.subplots(1, 2, figsize=(11, 3.6),
                                          width_ratios=(2, 1))
    label = {work: work.replace("-", " ", 1) for work in works}
    _bars(cost, list(label.values()), list(once),
          {(label[r["work"]], r["protect"]): (r["instr_per_page"],) * 3 for r in rows})
    cost.tick_params(axis="x", labelsize=7)
    cost.set_ylabel("instructions a page")
    cost.set_title(f"Debian's {rows[0]['counted_on']}, all nodes together")
    kinds = {"at rest": "ram_ratio", "while WL2 rewrites": "ram_ratio_rewriting"}
    _bars(ram, list(kinds), list(once),
          {(kind, name): (row[key],) * 3 for kind, key in kinds.items()
           for name, row in once.items()}, lambda value: f"{value:.2f}")
    ram.set_yscale("linear")
    ram.set_ylabel("pages held over live pages")
    figure.legend(*cost.get_legend_handles_labels(), loc="upper left", ncols=len(once))
    caption.below(figure, f"commit {rows[0]['commit']}", caption.LEGEND)
    figure.savefig(path)
    pyplot.close(figure)


def _trace(rows, path, folder):
    traces = {}
    for name in dict.fromkeys(row["workload"] for row in rows):
        entries = slots.entries_of((folder / f"slots-{name}.json").read_text())
        points = slots.points_of(entries)
        traces[name] = (points, slots.summary_of(entries, points))
    slots.draw(traces, path)


def draw(bench, rows, path, folder=None):
    """Draw the figure of one benchmark; folder: what its boot has left, of which
    only the figure of traces is drawn."""
    with pyplot.style.context(str(STYLE)):
        if bench == "trace":
            _trace(rows, path, folder)
            return
        if bench == "apps":
            shares.draw(rows, path, _caption)
            return
        {"device": _device, "swap": _swap, "others": _swap, "moves": _moves,
         "idle": _idle, "fairness": _fairness, "tiers": _tiers, "policy": _policy,
         "cost": _cost, "protect": _protect, "size": _size,
         "tmpfs": _tmpfs}[bench](rows, path)
