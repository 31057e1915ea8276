#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A static function of the module carries its noun: claim_slot(), not claim().

A name of one bare word says nothing in a stack trace, is found five times by
grep, and ftrace cannot tell it from the other four. So the name of a static
function in nswap/, policy/, prefetch/ and proc/ has an underscore in it.

usage: statics.py          run from the top of the tree
"""
import re
import sys

import tree

STATIC = re.compile(r"^static\b[^;={}()]*?\b(\w+)\s*\((?!\s*\*)", re.M)
# attributes with an argument, which stand where the name is looked for
ATTRIBUTE = re.compile(r"\b__\w+\s*\([^()]*\)")


def bare_statics(text):
    """(line, name) of every static function whose name is one word."""
    code = tree.c_code(text)
    code = ATTRIBUTE.sub(lambda m: tree.blank(m.group(0)), code)
    seen = set()
    for match in STATIC.finditer(code):
        name = match.group(1)
        if "_" not in name and name.islower() and name not in seen:
            seen.add(name)
            yield tree.line_of(code, match.start(1)), name


PLANTED = """
static __printf(1, 2) void say_all(const char *format);
static int (*pointer)(int a);
static const struct ops ops = { .take = take(1) };
static DEFINE(x);
/* static void commented(void) */
static struct nswap_page *
took(struct a *b)
{
}
static inline bool rest(void);
static inline bool rest(void)
"""


def main():
    def findings(text):
        return ((line, f"static {bare}() is one bare word") for line, bare in bare_statics(text))
    return tree.verdict([name for _, name in bare_statics(PLANTED)], ["took", "rest"], findings,
                        "static functions of one bare word")


if __name__ == "__main__":
    sys.exit(main())
