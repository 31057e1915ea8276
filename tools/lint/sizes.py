#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How much may be in one place. The limits are the table below.

Of a function the lines between its braces count, these included; of a Python
function those from "def" to its end. What shell scripts and Python have above
and between functions is held by the limit on files alone.

A slot's word is changed with a compare-exchange in one place: the loop that
reads it again when another CPU was faster is written once.

usage: sizes.py [--table]     run from the top of the tree; --table also
                              prints the longest files and functions
"""
import re
import sys

import tree

LIMITS = {
    "code": 500,            # lines of a C, Python or shell file
    "README.md": 250,
    "prose": 800,           # lines of any other page
    # KUnit files with the tables of rows they test
    "tests/kunit/ip_table_kunit.c": 520,
    "tests/kunit/wire_kunit.c": 540,
    "function": 60,
    "exceptions": 3,        # functions named below
    "slot exchanges": 1,    # files with a compare-exchange of a slot's word
}

# Functions that may be longer, and why.
LONGER = {
    ("tests/progs/blkverify.c", "main"): "one switch over its options",
    ("tests/progs/eater.c", "main"): "one switch over its options",
    ("tests/progs/heartbeat.c", "main"): "one switch over its options",
}

# Where the word's primitives are, and what exchanges a word by hand: itself, or
# by those that take the word they expect and may fail.
SLOT_MAP = "nswap/pure/slot_map.c"
EXCHANGE = re.compile(r"\batomic64_(?:try_)?cmpxchg\w*\s*\([^;]*\bword\b|"
                      r"\bnswap_(?:device_)?slot_move\s*\(")
DEFINED = re.compile(r"^[a-z].*\bnswap_(?:device_)?slot_move\s*\(", re.M)


def is_code(name, text):
    """Is this C, Python or shell?"""
    return name.endswith(tree.C_CODE) or tree.is_python(name, text) or \
        tree.is_shell(name, text)


def functions(name, text):
    """(name, line, lines) of every function of a file."""
    if name.endswith(tree.C_CODE):
        return list(tree.c_functions(text))
    return list(tree.python_functions(text, name)) \
        if tree.is_python(name, text) else []


def limit_of(name, text):
    """How many lines a file may have, or None."""
    if name in LIMITS:
        return LIMITS[name]
    if is_code(name, text):
        return LIMITS["code"]
    return LIMITS["prose"] if name.endswith(".md") else None


def exchanges(files):
    """Files that exchange a slot's word, with the number of their sites."""
    found = {}
    for name, text in files.items():
        if name.startswith("nswap/") and name != SLOT_MAP:
            code = DEFINED.sub("", tree.c_code(text))
            sites = len(EXCHANGE.findall(code))
            if sites:
                found[name] = sites
    return found


def complaints(files, longer):
    """What is too long in {name: text}; a list of sentences."""
    found, met = [], set()
    for name, text in files.items():
        lines, limit = len(text.splitlines()), limit_of(name, text)
        if limit and lines > limit:
            found.append(f"{name}: {lines} lines, at most {limit}")
        for title, line, length in functions(name, text):
            if length <= LIMITS["function"]:
                continue
            if (name, title) in longer:
                met.add((name, title))
                continue
            found.append(f"{name}:{line}: {title}() has {length} lines, "
                         f"at most {LIMITS['function']}")
    found += [f"{name}: {title}() is no longer than others, and need not be "
              "named in sizes.py" for name, title in longer if
              (name, title) not in met]
    if len(longer) > LIMITS["exceptions"]:
        found.append(f"{len(longer)} functions are named in sizes.py, at most "
                     f"{LIMITS['exceptions']} may be")
    sites = exchanges(files)
    if len(sites) > LIMITS["slot exchanges"]:
        found.append(
            f"{sum(sites.values())} hand-written compare-exchanges of a slot "
            f"in {len(sites)} files, at most {LIMITS['slot exchanges']}: " +
            ", ".join(f"{name} {n}" for name, n in sites.items()))
    return found


def self_test():
    """Plant each violation once; every one must be found."""
    body = "void f_x(int a)\n{\n" + "\ta = 1;\n" * 59 + "}\n"
    cas = "\tatomic64_cmpxchg(&m->word[slot], a, b);\n"
    move = "\tif (nswap_device_slot_move(d, slot, a, b))\n"
    planted = [
        ({"a.c": "\n" * 501}, {}, "501 lines, at most 500"),
        ({"a": "#!/bin/sh\n" + "\n" * 501}, {}, "at most 500"),
        ({"README.md": "\n" * 251}, {}, "at most 250"),
        ({"docs/a.md": "\n" * 801}, {}, "at most 800"),
        ({"a.c": body}, {}, "f_x() has 61 lines"),
        ({"a.py": "def f():\n" + "    x = 1\n" * 60}, {}, "f() has 61"),
        ({"a.c": "\n"}, {("a.c", "f"): ""}, "need not be named"),
        ({"a.c": body}, {("a.c", f"f_{n}"): "" for n in "xyzw"},
         "4 functions are named"),
        ({"nswap/a.c": cas, "nswap/b.c": move}, {}, "2 hand-written"),
    ]
    missed = [expected for files, longer, expected in planted
              if not any(expected in c for c in complaints(files, longer))]
    if complaints({"a.c": body}, {("a.c", "f_x"): ""}):
        missed.append("a named function, which may be longer,")
    for what in missed:
        print(f"self-test: planted, not found: {what}")
    return bool(missed)


def table(files):
    """Print the longest files and functions."""
    for name, lines in sorted(((n, len(t.splitlines())) for n, t in
                               files.items() if is_code(n, t)),
                              key=lambda pair: -pair[1])[:10]:
        print(f"{lines:5} {name}")
    print()
    long = [(length, name, title) for name, text in files.items()
            for title, _, length in functions(name, text)]
    for length, name, title in sorted(long, reverse=True)[:10]:
        print(f"{length:5} {name} {title}()")
    print()


def main():
    if self_test():
        return 1
    files = tree.texts(lambda p: p.parts[:2] != ("bench", "results"))
    if sys.argv[1:] == ["--table"]:
        table(files)
    found = complaints(files, LONGER)
    print("\n".join(found) or f"{len(files)} files, none is too long")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
