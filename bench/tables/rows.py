# SPDX-License-Identifier: GPL-2.0
"""How the papers' tables are written down, and ours laid beside them.

A table is {"unit", "columns", "over", "rows": [{"name", "ours": {column: value},
"paper": {…}}]}; the ids are those of the project's list of the papers' figures.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Paper:
    """A table of a paper: its unit, columns, and rows by name.  over: the column
    that the others are divided by before they are compared, where scales
    differ."""
    unit: str
    columns: tuple = ()
    rows: dict = dataclasses.field(default_factory=dict)
    over: str = None

    def row(self, name):
        """The paper's row by column, {} if it has none."""
        return dict(zip(self.columns, self.rows.get(name, ())))


def relative(row, over):
    """A row over one of its columns; as it is if there is none to divide by."""
    if not over:
        return row
    base = row.get(over)
    return {k: v / base for k, v in row.items()} if base else {}


def tables_of(rows, papers):
    """{id: table} from the rows that the lab's side hands back."""
    tables = {}
    for row in rows:
        paper = papers[row["id"]]
        table = tables.setdefault(row["id"], {
            "unit": paper.unit, "over": paper.over, "rows": [],
            "about": row["about"]})
        table["rows"].append({
            "name": row["name"], "ours": row["ours"],
            "paper": row.get("paper", paper.row(row["name"])),
            "marks": row["marks"], **row.get("more", {})})
    return tables


def show(tables):
    """Each table beside the paper's, with the ratio of the two."""
    for ident, table in tables.items():
        over = table.get("over")
        unit = table["unit"] + (f"; ratio: of the times over {over}" if over else "")
        print(f"\n{ident}: {unit}")
        print(f"  {'':<22}{'':<10}{'ours':>12}{'paper':>12}{'ratio':>8}")
        for row in table["rows"]:
            _show_row(row, over)


def _show_row(row, over):
    ours, paper = row["ours"], row["paper"]
    mine, theirs = relative(ours, over), relative(paper, over)
    for column in ours:
        line = f"  {row['name']:<22}{column:<10}{ours[column]:>12.2f}"
        if paper.get(column):
            line += f"{paper[column]:>12.2f}" \
                    f"{mine[column] / theirs[column]:>8.2f}"
        print(line)
    for mark in row["marks"]:
        print(f"  mark: {row['name']}: {mark}")
