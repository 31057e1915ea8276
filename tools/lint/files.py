#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What every file of the tree must be like.

Length (hard limits: 800 lines a file but the netlink spec, 80 a function of the
module, 250 the README), an SPDX line at the head, no notes to self, no trailing blanks, no
paths of one machine, links in the documentation that lead somewhere.

usage: files.py          run from the top of the tree
"""
import pathlib
import re
import subprocess
import sys

MAX_FILE = 800
MAX_README = 250
MAX_FUNCTION = 80
CODE = (".c", ".h", ".py", ".sh", ".cocci", ".yaml")
# Spelled in pieces, so that this file may be checked as well.
NOTES = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) +
                   r")\b")
MACHINE = re.compile(r"(?<![\w.$}])/(" + "|".join(["home", "work", "Users"]) +
                     r")/\w")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)")


def tracked():
    """Every file that is or would be committed."""
    out = subprocess.run(
        ["git", "ls-files", "-c", "-o", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return [pathlib.Path(n) for n in out.splitlines()
            if pathlib.Path(n).is_file()]


def is_code(path, text):
    """Is this a source file or script?"""
    return path.suffix in CODE or text.startswith("#!") or \
        path.name in ("Makefile", "Kbuild", "Kbuild.include")


def functions(text):
    """(line, length) of every function of a C file in kernel style."""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield start, number - start + 1
            start = None


def complaints(path, text):
    """What is wrong with one file; a list of sentences."""
    found = []
    lines = text.splitlines()
    code = is_code(path, text)
    limit = MAX_README if path.name == "README.md" else MAX_FILE
    counts = code and path.suffix != ".yaml" or path.suffix == ".md"
    if counts and len(lines) > limit:
        found.append(f"{len(lines)} lines, at most {limit}")
    if code and not any("SPDX-License-Identifier:" in line
                        for line in lines[:3]):
        found.append("no SPDX line at its head")
    if path.parts[0] in ("nswap", "policy", "prefetch", "proc") and path.suffix == ".c":
        found += [f"line {line}: a function of {length} lines, at most "
                  f"{MAX_FUNCTION}" for line, length in functions(text)
                  if length > MAX_FUNCTION]
    for number, line in enumerate(lines, 1):
        if NOTES.search(line):
            found.append(f"line {number}: a note to self")
        if MACHINE.search(line):
            found.append(f"line {number}: a path of one machine")
        if line != line.rstrip() and path.suffix != ".md":
            found.append(f"line {number}: trailing blanks")
    if path.suffix == ".md":
        for link in LINK.findall(text):
            if not (path.parent / link).exists():
                found.append(f"link to {link}, which is not there")
    return found


def main():
    bad = 0
    for path in tracked():
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
