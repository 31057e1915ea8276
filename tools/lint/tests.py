#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests wait for events, never for time, and have names of their own.

A sleep in Python may stand only in a function whose name starts with "wait"
(it polls for something with a deadline) or in check.hold(), for scenarios in
which time itself is under test; shell scripts of the tests may not sleep at
all. tests/progs, which measures time, is not looked at.

Names of tests have no folder in them, so no two scenarios share a file name.
docs/failures.md names a test for each of its claims, and every one exists; so does what a
scenario takes of another one by sibling("name").

usage: tests.py          run from the top of the tree
"""
import ast
import pathlib
import re
import sys

SLEEP = re.compile(r"^\s*sleep\b|[;&|]\s*sleep\b", re.M)
CLAIMS = pathlib.Path("docs/failures.md")
CLAIM = re.compile(r"`([a-z]\w*)\.(\w+|\*)`")
TEST = re.compile(r"^def test_(\w+)", re.M)
SIBLING = re.compile(r'\bsibling\("(\w+)"\)\.(\w+)')
HOLD = ("tests/nswaptest/check.py", "hold")


def python_sleeps(text, name):
    """Lines of sleeps outside functions called wait…."""
    found = []

    def visit(node, waiting):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting = waiting or node.name.lstrip("_").startswith("wait") \
                or (name, node.name) == HOLD
        if isinstance(node, ast.Call):
            called = node.func
            title = called.attr if isinstance(called, ast.Attribute) else \
                getattr(called, "id", "")
            if title == "sleep" and not waiting:
                found.append(f"{name}:{node.lineno}: sleeps outside a "
                             "function called wait…")
        for child in ast.iter_child_nodes(node):
            visit(child, waiting)

    visit(ast.parse(text, name), False)
    return found


def same_names(paths):
    """Scenarios that have another one's name."""
    first = {}
    return [f"{path}: {first[path.stem]} has the same name" for path in paths
            if first.setdefault(path.stem, path) != path]


def unknown(text, scenarios):
    """Tests that a text names and that do not exist."""
    there = {path.stem: set(TEST.findall(path.read_text(encoding="utf-8")))
             for path in scenarios}
    return [f"{CLAIMS}: there is no test {name}.{test}"
            for name, test in CLAIM.findall(text)
            if test != "md" and (name not in there or
                                 test not in there[name] | {"*"})]


def not_there(text, name, scenarios):
    """What a scenario takes of another one that has no such thing."""
    there = {path.stem: path for path in scenarios}
    return [f"{name}: {other} has no {what}" for other, what in SIBLING.findall(text)
            if other not in there or
            not re.search(rf"^(?:def |class )?{what}\b", there[other].read_text(encoding="utf-8"),
                          re.M)]


def main():
    if not python_sleeps("import time\ntime.sleep(1)\n", "planted"):
        print("self-test: the planted sleep was not found")
        return 1
    scenarios = sorted(pathlib.Path("tests/scenarios").rglob("*.py"))
    if not same_names(scenarios + [pathlib.Path("a") / scenarios[0].name]):
        print("self-test: the planted second name was not found")
        return 1
    if len(unknown("`tests.planted` `README.md`", scenarios)) != 1:
        print("self-test: the planted name of a test was not found")
        return 1
    if not not_there('sibling("keys").planted', "planted", scenarios):
        print("self-test: the planted use of another scenario was not found")
        return 1
    found = unknown(CLAIMS.read_text(encoding="utf-8"), scenarios)
    found += same_names(scenarios)
    for path in sorted(pathlib.Path("tests").rglob("*")):
        if not path.is_file() or path.parts[1] == "progs" or \
                path.suffix in (".c", ".h", ".pyc"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".py" or "python3" in text[:60]:
            found += python_sleeps(text, str(path)) + not_there(text, path, scenarios)
        elif path.suffix == ".sh" or re.match(r"#!.*\bsh\b", text):
            found += [f"{path}: sleeps: {m.group(0).strip()}"
                      for m in SLEEP.finditer(text)]
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
