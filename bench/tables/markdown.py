# SPDX-License-Identifier: GPL-2.0
"""The tables of bench/results/paper.json as markdown, put into docs/results.md.

The text there is written by hand and holds no figure of ours; what stands between
these two lines is generated from the results:

    <!-- table N-T3 -->
    <!-- end -->
"""
import re

from tables.rows import relative

MARK = re.compile(r"<!-- table (\S+) -->\n.*?<!-- end -->", re.S)


def number(value):
    """As many digits as a reader wants."""
    if value is None:
        return "–"
    if value and abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.0f}" if abs(value) >= 1000 else \
        f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def columns_of(table):
    """All columns of a table in their order."""
    return list(dict.fromkeys(c for row in table["rows"] for c in row["ours"]))


def _cell(row, column, over):
    ours, paper = row["ours"].get(column), row["paper"].get(column)
    text = number(ours)
    if ours is None or not paper:
        return text
    if not over:
        return f"{text} ({number(paper)})"
    mine = relative(row["ours"], over)[column]
    theirs = relative(row["paper"], over)[column]
    return f"{text} = {number(mine)} ({number(theirs)})"


def lines_of(table):
    """One table as lines of markdown."""
    columns, over = columns_of(table), table.get("over")
    yield "| | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in table["rows"]:
        mark = " (!)" if row["marks"] else ""
        yield "| " + " | ".join([row["name"] + mark, *(
            _cell(row, column, over) for column in columns)]) + " |"
    about = table["about"]
    note = f"{table['unit']}"
    if any(row["paper"] for row in table["rows"]):
        note += "; " + (f"ours = ours over {over} (the paper's over {over})" if over
                        else "ours (the paper's)")
    yield ""
    yield f"*{note}. Kernel {about['kernel']}, commit {about['commit']}.*"
    for row in table["rows"]:
        if row.get("seeds", 1) > 1:
            yield f"*{row['name']}: medians of {row['seeds']} seeds{_off(row)}.*"
        for mark in row["marks"]:
            yield f"*{row['name']}: {mark}.*"


def _off(row):
    """How far the seeds lie from their median."""
    off = [abs(v / row["ours"][column] - 1)
           for column, between in row["between"].items() for v in between
           if row["ours"][column]]
    return f", which lie up to {max(off):.1%} off" if off else ""


def fill(text, tables):
    """The document with its tables generated again; (text, ids without results)."""
    missing = []

    def one(found):
        ident = found[1]
        if ident not in tables:
            missing.append(ident)
            lines = ["*Not in the reference run.*"]
        elif not any(row["ours"] for row in tables[ident]["rows"]):
            lines = []
        else:
            lines = lines_of(tables[ident])
        return "\n".join([f"<!-- table {ident} -->", *lines, "<!-- end -->"])
    return MARK.sub(one, text), missing
