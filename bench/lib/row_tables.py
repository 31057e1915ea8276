# SPDX-License-Identifier: GPL-2.0
"""Rows of bench/results/<name>.json as tables of the documents, a column a device.

What stands between two lines like these is generated (bench/run --markdown):

    <!-- rows apps workload share ops_per_s -->
    <!-- end -->

The words are the file, the keys of a row that tell lines apart, and the figure.  Runs with
enough RAM (device ram) have no share: they stand in each line of their workload.  (!):
other programs had more than a tenth of the processors, or what else the row is marked for.
"""
import json
import re

from lib import cost_tables

MARK = re.compile(r"<!-- rows (\S+) ([^>]+) (\S+) -->\n.*?<!-- end -->", re.S)
NAMES = {**cost_tables.NAMES, "ram": "enough RAM", "ssd": "modelled SSD"}
SHOWN = {"share": "{} %".format, "mb": "{:g} MiB".format, "limit_mb": "in {:g}".format}


def _number(value):
    if value is None:
        return ""
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.3g}"


def _cell(row, figure):
    number = _number(row.get(figure))
    return number + " (!)" if number and row.get("marks") else number


def _label(row, keys):
    return ", ".join(SHOWN.get(key, str)(row[key]) for key in keys)


def _lines(rows, keys):
    """{label: {device: row}}, with a row of enough RAM in each of its workload."""
    lines = {}
    for row in rows:
        if all(row.get(key) is not None for key in keys):
            lines.setdefault(_label(row, keys), {})[row["device"]] = row
    for row in rows:
        if row["device"] == "ram":
            for label, line in lines.items():
                if any(one["workload"] == row["workload"] for one in line.values()):
                    line["ram"] = row
    return lines


def lines_of(name, keys, figure, rows):
    """A table as lines of markdown."""
    lines = _lines(rows, keys)
    devices = [device for device in dict.fromkeys(row["device"] for row in rows)
               if any(line.get(device, {}).get(figure) is not None for line in lines.values())]
    yield "| | " + " | ".join(NAMES.get(device, device) for device in devices) + " |"
    yield "|---" * (len(devices) + 1) + "|"
    for label, line in lines.items():
        cells = [_cell(line.get(device, {}), figure) for device in devices]
        if any(cells):
            yield f"| {label} | " + " | ".join(cells) + " |"
    commits = dict.fromkeys(row["commit"] for row in rows)
    yield ""
    yield f"*bench/results/{name}.json, commit {', '.join(commits)}.*"


def fill(text, folder):
    """The document with its tables generated again from the files of a folder."""
    def one(found):
        name, keys, figure = found[1], found[2].split(), found[3]
        rows = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        return "\n".join([f"<!-- rows {name} {found[2]} {figure} -->",
                          *lines_of(name, keys, figure, rows), "<!-- end -->"])
    return MARK.sub(one, text)
