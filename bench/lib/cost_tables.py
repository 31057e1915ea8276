# SPDX-License-Identifier: GPL-2.0
"""The tables of bench/results/cost.json as markdown, put into the documents.

What stands between two lines like these is generated (bench/run cost --markdown):

    <!-- cost 6.1 brd nswap nvme-tcp nswap/nvme-tcp 6.12 nswap -->
    <!-- end -->

The words are kernels, each with the devices behind it and ratios of two; members alone is a table
of their medians and 99th percentiles, a row a job and a column a flood. A table stays as it is
if it has a device of which the file has no row.
"""
import re

from vm import counting

MARK = re.compile(r"<!-- cost ([^>]+) -->\n.*?<!-- end -->", re.S)
NAMES = {"brd": "RAM disk", "nvme-tcp": "NVMe/TCP", counting.LENDERS: "three nodes"}
WORKS = [*counting.WORKS, counting.TCP, counting.MOVE]
JOBS = {"reads": "reads", "stores": "writes", "reads-beside-stores": "reads, the flood writes"}
FLOODS = {"none": "alone", "elsewhere": "beside a flood elsewhere", "same": "at their lender",
          "same-8": "over 8 connections"}


def _number(value):
    return "" if value is None else f"{value:,.0f}".replace(",", " ")


class Costs:
    """What the rows say, None of what they do not."""

    def __init__(self, rows):
        self.of = {(row["kernel"], row["device"], row["work"]): row["instr_per_page"]
                   for row in rows}

    def has(self, kernel, device):
        """Whether there is any row of a device, or of two."""
        return all(any(key[:2] == (kernel, name) for key in self.of)
                   for name in device.split("/"))

    def cell(self, kernel, device, work):
        """A device's, or a ratio of two."""
        one, _, other = device.partition("/")
        mine, theirs = (self.of.get((kernel, name, work)) for name in (one, other))
        if not other:
            return _number(mine)
        return f"{mine / theirs:.2f}" if mine and theirs else ""

    def works(self, columns):
        """Lines of a table, a work each."""
        titles = ["work"]
        for n, (kernel, device) in enumerate(columns):
            name = "ratio" if "/" in device else NAMES.get(device, device)
            first = not n or columns[n - 1][0] != kernel
            titles.append(f"{kernel}: {name}" if first else name)
        yield "| " + " | ".join(titles) + " |"
        yield "|---" * len(titles) + "|"
        for work in WORKS:
            cells = [self.cell(*column, work) for column in columns]
            if any(cells):
                yield f"| `{work}` | " + " | ".join(cells) + " |"

    def turns(self, kernel):
        """Lines of the members' table."""
        yield "| | " + " | ".join(FLOODS.values()) + " |"
        yield "|---" * (len(FLOODS) + 1) + "|"
        for job, name in JOBS.items():
            cells = [", ".join(_number(self.of.get((kernel, counting.MEMBERS,
                                                    f"{job}-{flood}-{part}")))
                               for part in ("p50", "p99")) for flood in FLOODS]
            yield f"| {name} | " + " | ".join(cells) + " |"


def lines_of(words, rows):
    """A table as lines of markdown, none if it is not all there."""
    columns, kernel = [], counting.KERNELS[0]
    for word in words:
        if word in counting.KERNELS:
            kernel = word
        else:
            columns.append((kernel, word))
    costs = Costs(rows)
    if not all(costs.has(*column) for column in columns):
        return
    yield from (costs.turns(kernel) if (kernel, counting.MEMBERS) in columns else
                costs.works(columns))
    commits = dict.fromkeys(row["commit"] for row in rows)
    yield ""
    yield f"*bench/results/cost.json, commit {', '.join(commits)}.*"


def fill(text, rows):
    """The document with its tables generated again."""
    def one(found):
        lines = list(lines_of(found[1].split(), rows))
        return "\n".join([f"<!-- cost {found[1]} -->", *lines, "<!-- end -->"]) if lines \
            else found[0]
    return MARK.sub(one, text)
