#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What every file of the tree must be like.

An SPDX line at the head, no notes to self, no trailing blanks, no paths of one
machine, links in the documentation that lead somewhere, and functions that it names,
`name()` (`room/file.c`), that are in that file of nswap/. What may be how long is asked
by sizes.py.

usage: files.py          run from the top of the tree
"""
import pathlib
import re
import sys

import tree

CODE = (".c", ".h", ".py", ".sh", ".cocci", ".yaml")
# Spelled in pieces, so that this file may be checked as well.
NOTES = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) +
                   r")\b")
MACHINE = re.compile(r"(?<![\w.$}])/(" + "|".join(["home", "work", "Users"]) +
                     r")/\w")
NAMED = re.compile(r"`(\w+)\(\)`\s+\(`([\w/]+\.[ch])`\)")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)")


def is_code(path, text):
    """Is this a source file or script?"""
    return path.suffix in CODE or text.startswith("#!") or \
        path.name in ("Makefile", "Kbuild", "Kbuild.include")


def complaints(path, text):
    """What is wrong with one file; a list of sentences."""
    found = []
    lines = text.splitlines()
    code = is_code(path, text)
    if code and not any("SPDX-License-Identifier:" in line
                        for line in lines[:3]):
        found.append("no SPDX line at its head")
    for number, line in enumerate(lines, 1):
        if NOTES.search(line):
            found.append(f"line {number}: a note to self")
        if MACHINE.search(line):
            found.append(f"line {number}: a path of one machine")
        if line != line.rstrip() and path.suffix not in (".md", ".patch"):
            found.append(f"line {number}: trailing blanks")
    if path.suffix == ".md":
        for link in LINK.findall(text):
            if not (path.parent / link).exists():
                found.append(f"link to {link}, which is not there")
        found += misplaced(text)
    return found


def misplaced(text):
    """Functions that a page says are in a file of nswap/, and are not."""
    found = []
    for name, file in NAMED.findall(text):
        place = pathlib.Path("nswap") / file
        if not place.exists():
            found.append(f"nswap/{file} is not there")
        elif not re.search(rf"\b{name}\(", place.read_text(encoding="utf-8")):
            found.append(f"{name}() is not in nswap/{file}")
    return found


def main():
    bad = 0
    for path in tree.tracked():
        if path.name == "COPYING" or path.parts[:2] == ("bench", "results"):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for complaint in complaints(path, text):
            print(f"{path}: {complaint}")
            bad += 1
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
