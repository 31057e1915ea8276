#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""English that a kernel engineer need not read twice.

Looked at are comments and strings of the module, of nswapctl and of compat/,
all pages of documentation, comments of the shell scripts in tools/, and the
netlink spec. A word that has to stay, as the name of something, stands in `backquotes`.

usage: words.py          run from the top of the tree
"""
import re
import sys

import tree

# (what is written, what to write instead)
WORDS = (
    (r"nobody|no-one", "no peer, no task, nothing: say who"),
    (r"somebody|someone", "a peer, a task, a user: say who"),
    (r"whoever", "the one that …, any task that …"),
    (r"anew|afresh", "again"),
    (r"innocent", "not affected"),
    (r"in vain", "without effect, for nothing"),
    (r"for ever", "forever, never ends"),
    (r"by (?:whose|the) word|by the word of", "which … decided it"),
    (r"in the books", "in the counters"),
    (r"gives? way|giving way|gave way", "is evicted, yields"),
    (r"wait(?:s|ed)? for company", "are batched"),
    (r"has the say", "decides"),
    (r"takes? leave", "exits, leaves"),
    (r"ere|lest|naught|thereof|wherein|whence|hither|thither",
     "a word of this century"),
)
PATTERN = re.compile(r"(?<![\w`])(?:" + "|".join(
    f"(?P<w{n}>{word})" for n, (word, _) in enumerate(WORDS)) +
    r")(?![\w`])", re.I)

C_FOLDERS = (*tree.KERNEL, "compat", "tools")
PAGES = (".md", ".8", ".yaml")


def prose_of(name, text):
    """The part of a file that is English, at the same lines; None if none is."""
    top = name.split("/")[0]
    if name.endswith(tree.C_CODE):
        return tree.c_prose(text) if top in C_FOLDERS else None
    if name.endswith(PAGES) or name.startswith("docs/abi/"):
        return text
    if top in ("tools", ".ci") and tree.is_shell(name, text):
        return text
    return None


def strange(prose):
    """(line, word, better) of each strange word of a page."""
    numbers, words = [], []
    for number, line in enumerate(prose.splitlines(), 1):
        for part in re.sub(r"^\s*(?:\*(?!/)|//|#)", " ", line).split():
            numbers.append(number)
            words.append(part)
    starts, at = [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    text = " ".join(words)
    index = 0
    for match in PATTERN.finditer(text):
        while index + 1 < len(starts) and starts[index + 1] <= match.start():
            index += 1
        better = WORDS[int(match.lastgroup[1:])][1]
        yield numbers[index], match.group(0), better


PLANTED = """
/*
 * Nobody waits, in
 * vain or for ever.
 */
int anew;	/* started anew */
char *s = "whoever";
"""


def main():
    got = [(line, word.lower())
           for line, word, _ in strange(tree.c_prose(PLANTED))]
    want = [(3, "nobody"), (3, "in vain"), (4, "for ever"), (6, "anew"),
            (7, "whoever")]
    if got != want:
        print(f"self-test: planted {want}, found {got}")
        return 1
    found = []
    for name, text in tree.texts(lambda p: True).items():
        prose = prose_of(name, text)
        if prose:
            found += [f"{name}:{line}: \"{word}\": {better}"
                      for line, word, better in strange(prose)]
    print("\n".join([*found, f"{len(found)} strange words"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
