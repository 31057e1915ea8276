# SPDX-License-Identifier: GPL-2.0
"""What make paper's tables are made of: units, and rows that want them.

A unit is one measurement: the name of a function in a family's MEASURES and its
arguments, which JSON can carry.  It is made in a boot of its own, so what it finds
does not depend on what was measured before it, and rows of several tables that want
the same one share it.

A row names its units and makes its figures of what they found.  Where a program's
time depends on chance, a row wants its units with several seeds: it is made of
their medians, and says between what its figures lay.

A family of tables is a module with

    MEASURES = {name: function(run, *arguments)}    inside the lab's kernel; a dict
    TABLES = {id: function(names)}                  on the host; rows of the tables
                                                    that are asked for by that id,
                                                    of these workloads
    PAPERS = {id: rows.Paper(…)}            what the paper says there

and a line in families.FAMILIES.

Invariants:
 - A row's make() is a function of what its units found, and of nothing else.
 - The same commit, unit and seed find the same in trees that lie as deep, nearly if their paths are
   not as long (docs/results.md, "How to read them"): of the host nothing else is in a unit, as far
   as is known.
 - A seed with which the kernel killed a process of a row's programs, since its memory group
   was full of pages under way, is no figure: the row is made of the others, and says so.
"""
import dataclasses
import statistics
import typing


# What the kernel says when the programs of a memory group can free none of its pages, and
# what is found there.
OOM = "oom-kill:constraint=CONSTRAINT_MEMCG"
KILLED = {"said": "a process was killed for want of memory"}


class Unit(typing.NamedTuple):
    """One measurement."""
    what: str
    args: tuple = ()

    def label(self):
        """For people, and for the name of its folder."""
        return " ".join([self.what, *(str(a) for a in self.args if a not in
                                      (None, ""))])


@dataclasses.dataclass(frozen=True)
class Row:
    """A row to be: units by a key that make() knows them by.  make({key: found})
    is a dict of what rows.tables_of() takes: ours, and marks, paper or
    others of its own."""
    ident: str
    name: str
    units: dict
    make: typing.Callable
    seeds: int = 1


def wanted(rows, first_seed=1):
    """All (unit, seed) that some rows need, each once, in order."""
    return list(dict.fromkeys(
        (unit, seed) for row in rows for unit in row.units.values()
        for seed in range(first_seed, first_seed + row.seeds)))


def middle(found):
    """One result of several: numbers are their medians, the rest is the first's."""
    first = found[0]
    if isinstance(first, dict):
        return {k: middle([f[k] for f in found]) for k in first
                if all(k in f for f in found)}
    if any(f is None for f in found):
        return None
    if isinstance(first, bool) or not isinstance(first, (int, float)):
        return first
    return statistics.median(found)


def between(ours):
    """{column: [lowest, highest]} of a row's figures, seed by seed."""
    return {column: [min(v), max(v)] for column in ours[0]
            if (v := [o[column] for o in ours if o.get(column) is not None])}


class Unmade(Exception):
    """One sentence that says why a row cannot be made."""


def made(row, found, first_seed=1):
    """A row from {(unit, seed): what it found}."""
    each = [{key: found[unit, seed] for key, unit in row.units.items()}
            for seed in range(first_seed, first_seed + row.seeds)]
    whole = [e for e in each if KILLED not in e.values()]
    if 2 * len(whole) < len(each):
        raise Unmade(f"{row.ident}, {row.name}: {KILLED['said']} with "
                     f"{len(each) - len(whole)} of {len(each)} seeds")
    if row.seeds == 1:
        got = row.make(whole[0])
    else:
        got = row.make({key: middle([e[key] for e in whole]) for key in row.units})
        got["between"] = between([row.make(e)["ours"] for e in whole])
        got["seeds"] = len(whole)
    if len(whole) < len(each):
        got["marks"] = [*got.get("marks", []),
                        f"without {len(each) - len(whole)} of {len(each)} seeds, with which "
                        + KILLED["said"]]
    return {"id": row.ident, "name": row.name, "ours": got.pop("ours"),
            "marks": got.pop("marks", []),
            **({"paper": got.pop("paper")} if "paper" in got else {}),
            "more": got}
