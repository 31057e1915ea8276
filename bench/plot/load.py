# SPDX-License-Identifier: GPL-2.0
"""The figure of load and latency: a column of panels for each loss, a row of them for the
median, the 99th and the 99.9th percentile; lines by the number of clients, and what the
wire alone would take dashed.
"""
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot

from plot import caption, colours
from plot.tables import STYLE, number_in

RANKS = {"p50": "median", "p99": "99th percentile", "p99.9": "99.9th percentile"}
PREFIX = "load-"


def _panel(panel, rows, rank):
    for colour, clients in zip(colours.PALETTE, dict.fromkeys(row["clients"] for row in rows)):
        mine = [row for row in rows if row["clients"] == clients]
        shares = [row["share"] for row in mine]
        panel.plot(shares, [row["ours"][rank] for row in mine], "-o", color=colour,
                   markersize=3, linewidth=1.3,
                   label=f"{clients} client{'s' * (clients > 1)}")
        panel.plot(shares, [row["ours"][f"wire {rank}"] for row in mine], "--",
                   color=colour, linewidth=0.9, alpha=0.7)
    panel.set_yscale("log")
    panel.set_xlim(0, 103)


def draw(tables, path):
    """Draw the tables by loss, {id: table}, of which there may be others."""
    mine = {ident: table for ident, table in tables.items()
            if number_in(ident.removeprefix(PREFIX)) is not None}
    with pyplot.style.context(str(STYLE)):
        figure, axes = pyplot.subplots(len(RANKS), len(mine), squeeze=False, sharex=True,
                                       sharey="row", figsize=(3.4 * len(mine) + 0.8, 7.6))
        for column, (ident, table) in enumerate(mine.items()):
            for line, (rank, text) in enumerate(RANKS.items()):
                panel = axes[line][column]
                _panel(panel, table["rows"], rank)
                if not column:
                    panel.set_ylabel(f"us, {text}")
            axes[0][column].set_title(
                f"{ident.removeprefix(PREFIX)} % of packets lost", loc="left")
            axes[-1][column].set_xlabel("% of the line rate that is due")
        axes[0][0].legend(loc="upper left", title="dashed: the wire alone",
                          title_fontsize=7)
        about = list(tables.values())[0]["about"]
        commits = dict.fromkeys(t["about"]["commit"] for t in tables.values())
        caption.below(figure, f"virtual time, 25 Gb Ethernet, {about['kernel']}, commit "
                      f"{', '.join(commits)}")
        figure.savefig(path)
        pyplot.close(figure)
