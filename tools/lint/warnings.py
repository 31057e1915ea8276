#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A warning of the module says what to do, and cannot fill the log.

Its reader has the log and nothing else. So each text of nswap_warn(), or of
another function that logs a warning or an error, has behind a semicolon what helps; and
all that log are rate-limited, or stand behind __ratelimit().

usage: warnings.py          run from the top of the tree
"""
import re
import sys

import tree

LOGS = re.compile(r"\b(nswap_warn|(?:pr|dev)_(?:warn|err|crit|alert|notice|info)"
                  r"(?:_ratelimited)?)\s*\(")
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


def silent(text):
    """(line, what is wrong) of each that does not say, or is not limited."""
    code = tree.c_code(text)
    for match in LOGS.finditer(code):
        line = tree.line_of(text, match.start())
        name = match.group(1)
        above, own = text.splitlines()[max(0, line - 2):line]
        if own.startswith("#define") or above.endswith("\\"):
            continue
        end = code.find(";", match.end())
        said = "".join(TEXT.findall(text[match.end():end]))
        if "info" not in name and not re.search(r"; \w", said):
            yield line, f"it does not say what to do: {said[:60]}"
        if name.startswith(("pr", "dev")) and not name.endswith("limited") and \
                "__ratelimit" not in above:
            yield line, f"{name}() is not rate-limited"


PLANTED = """
#define nswap_warn(node, fmt, ...) \\
	pr_warn_ratelimited("node %u: " fmt "\\n", (node)->number, ##__VA_ARGS__)
	nswap_warn(node, "it is gone");
	nswap_warn(node, "it is gone %u; see there",
		   peer);
	nswap_warn(node, "it is gone: %s", x ? "ever; after" :
		   "not");
	pr_err("x; y\\n");
	if (__ratelimit(&rate))
		pr_warn("x; y\\n");
	pr_info_ratelimited("x\\n");
	/* pr_err("x") */
"""


def main():
    return tree.verdict([line for line, _ in silent(PLANTED)], [4, 9], silent,
                        "silent warnings")


if __name__ == "__main__":
    sys.exit(main())
