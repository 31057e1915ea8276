# SPDX-License-Identifier: GPL-2.0
"""The files of bench/results, and of which commit and module each is.

    found = results.kept(folder)     Part of each file, more where it is of several commits
    results.told(found, module)      the same as a table's lines, and what it comes to

A result without a module is older than that word: git says which module its commit had.
"""
import collections
import json
import typing

from lib import source


class Part(typing.NamedTuple):
    """What of a file is of one commit."""
    file: str
    count: int      # of its rows; tables where it has some
    unit: str
    commit: str
    module: str     # None if git does not know the commit
    date: str       # when the file was last committed


def _abouts(data):
    """(a word for one, what says its commit), of each row or table."""
    if isinstance(data, list):
        return [("rows", row) for row in data]
    if "commit" in data:
        return [("tables", {**data, "table": table}) for table in data["tables"]]
    return [("tables", table["about"]) for table in data.values()]


def parts(path):
    """Of one file, in the order of what it holds."""
    counts, date = collections.Counter(), source.git("log", "-1", "--format=%as",
                                                     paths=[str(path)])
    for unit, about in _abouts(json.loads(path.read_text(encoding="utf-8"))):
        module = about.get("module") or source.module_of(about["commit"])
        counts[unit, about["commit"], module] += 1
    return [Part(path.name, n, unit, commit, module, date or "not committed")
            for (unit, commit, module), n in counts.items()]


def kept(folder):
    """Of all files."""
    return [part for path in sorted(folder.glob("*.json")) for part in parts(path)]


def told(found, now):
    """The table, and how many are of the tree's module."""
    yield f"{'file':18} {'of it':>10}  {'commit':14} {'module':14} date"
    for part in found:
        yield (f"{part.file:18} {part.count:3} {part.unit:6}  {part.commit:14} "
               f"{part.module or '?':14} {part.date}")
    modules = {part.module for part in found if part.module}
    yield (f"{len(found)} lines, {sum(part.module == now for part in found)} of them of the "
           f"tree's module, {now}; {len(modules)} modules, and "
           f"{sum(not part.module for part in found)} of commits that git does not know")
