#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Walls between the layers, read off the #include lines.

  client | server      the two roles meet in the wire header and in the node
  policy, prefetch, pure units
                       see their own headers and plain kernel headers only
  transport, tiers     know neither role
  proc                 sees views, never what changes state; policies alone
                       are set there, by the node's functions
  compat               named by nobody; nothing else asks for a version
  tools, bench         see include/uapi only

usage: layers.py [--self-test]     run from the top of the tree
"""
import pathlib
import re
import sys

CLIENT = r"(client\w*|session|conn|ctl|peer|place|reconcile|device\w*|meter|" \
         r"profile|slot_trace|home_out|move_out|empty_flash|tier)"
SERVER = r"(server\w*|cache\w*|owner\w*|held)"
PURE = r"(slot_map|flash_map|ip_table|wire|stats|steps|types)"
TRANSPORT = r"(tcp|sockaddr|transport)"
TIER = r"(home|flash\w*)"
HARDWARE = r"(net/.*|linux/(blk.*|bio.*|net\.h|in6?\.h|skbuff.*|" \
           r"netlink.*|swap.*|proc_fs.*|seq_file.*))"

# (which files, which includes they must not have, why)
FORBIDDEN = [
    (rf"nswap/{CLIENT}\.[ch]", rf'"{SERVER}\.h"',
     "the client must not know the server"),
    (rf"nswap/{SERVER}\.[ch]", rf'"{CLIENT}\.h"',
     "the server must not know the client"),
    (rf"nswap/{TRANSPORT}\.[ch]", rf'"({CLIENT}|{SERVER}|node)\.h"',
     "the transport knows neither role nor node"),
    (rf"nswap/{TIER}\.[ch]", rf'"({CLIENT}|{SERVER}|node|slot_map)\.h"',
     "a tier knows slots and pages, neither role, node nor slot map"),
    (rf"nswap/{TRANSPORT}\.[ch]", r'"\.\./.*"',
     "the transport stays inside nswap/"),
    (rf"(policy/.*|prefetch/.*|nswap/{PURE})\.[ch]", rf"<{HARDWARE}>",
     "pure units touch no socket, no bio and no file"),
    (r"proc/.*\.[ch]", rf'"\.\./nswap/({CLIENT}|{SERVER}|slot_map)\.h"',
     "proc sees views only"),
    (r"(?!nswap/netlink).*\.[ch]", r'"(\.\./nswap/)?netlink_gen\.h"',
     "only netlink sees the generated tables"),
    (r"(tools|bench|tests/progs)/.*\.[ch]",
     r'".*(nswap|policy|prefetch|proc)/.*"',
     "programs see include/uapi only"),
    (r"(?!compat/).*\.[ch]", r'"(.*/)?(compat|probed)\.h"',
     "compat is force-included and named by nobody"),
]

# (which files, the only quoted includes they may have, why)
ALLOWED = [
    (r"policy/(?!registry\.c).*\.[ch]",
     r'"(policy\.h|registry\.h|\.\./nswap/types\.h)"',
     "a policy sees policy.h and types.h"),
    (r"policy/registry\.c", r'"(policy\.h|\.\./prefetch/prefetch\.h)"',
     "the registry sees the policies and nothing else"),
    (r"prefetch/.*\.[ch]",
     r'"(prefetch\.h|\.\./policy/registry\.h|\.\./nswap/types\.h)"',
     "a prefetch policy sees prefetch.h and types.h"),
    (rf"nswap/{PURE}\.[ch]", rf'"{PURE}\.h"',
     "a pure unit sees pure units only"),
]

VERSION = re.compile(r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|UTS_RELEASE)\b")
CANNOT = re.compile(r"\bNSWAP_COMPAT_CANNOT_\w+")
CANNOT_BUDGET = 5
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])', re.M)
WRITES_IN_PROC = re.compile(r"\bproc_write\b|_single_write\(|\bWRITE_ONCE\(")
# the paper's knobs of prefetching, and starting the profile anew
MAY_SET = ("proc/prefetch.c", "proc/proc.c")
KNOBS_IN_PROC = re.compile(r"_single_write\(|\bproc_write\b")


def target_of(name, include, files):
    """The file that a quoted include of `name` means, or None."""
    folder = pathlib.PurePosixPath(name).parent
    parts = []
    for part in (folder / include.strip('"')).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    path = "/".join(parts)
    return path if path in files else None


def find_cycle(graph):
    """A list of files that include each other in a ring, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for following in graph.get(node, ()):
            ring = visit(following)
            if ring:
                return ring
        path.pop()
        done.add(node)
        return None

    for node in graph:
        ring = visit(node)
        if ring:
            return ring
    return None


def complaints(files):
    """What is wrong in files, a dict of name and text; a list of sentences."""
    found, graph, cannot = [], {}, set()
    for name, text in sorted(files.items()):
        includes = INCLUDE.findall(text)
        for pattern, what, why in FORBIDDEN:
            if re.fullmatch(pattern, name):
                found += [f"{name}: includes {i}: {why}"
                          for i in includes if re.fullmatch(what, i)]
        for pattern, what, why in ALLOWED:
            if re.fullmatch(pattern, name):
                found += [f"{name}: includes {i}: {why}" for i in includes
                          if i.startswith('"') and not re.fullmatch(what, i)]
        if not name.startswith("compat/") and VERSION.search(text):
            found.append(f"{name}: asks for a kernel version: "
                         "only compat/ may")
        seen = KNOBS_IN_PROC.sub("", text) \
            if name in MAY_SET else text
        if name.startswith("proc/") and WRITES_IN_PROC.search(seen):
            found.append(f"{name}: proc shows state and never writes it")
        cannot.update(CANNOT.findall(text))
        graph[name] = [t for i in includes if i.startswith('"')
                       for t in [target_of(name, i, files)] if t]
    if len(cannot) > CANNOT_BUDGET:
        found.append(f"{len(cannot)} NSWAP_COMPAT_CANNOT flags, at most "
                     f"{CANNOT_BUDGET} are allowed: {sorted(cannot)}")
    ring = find_cycle(graph)
    if ring:
        found.append("headers in a ring: " + " -> ".join(ring))
    return found


def self_test():
    """Plant each violation once; every one must be found."""
    planted = {
        "nswap/client_read.c": '#include "server.h"\n',
        "nswap/cache.c": '#include "peer.h"\n',
        "nswap/tcp.c": '#include "node.h"\n',
        "nswap/home.c": '#include "client.h"\n',
        "nswap/wire.c": "#include <net/sock.h>\n",
        "nswap/slot_map.c": '#include "node.h"\n',
        "policy/place_x.c": '#include "../nswap/node.h"\n',
        "prefetch/when_x.c": '#include "../nswap/node.h"\n',
        "proc/prefetch.c": "WRITE_ONCE(node->x, 1);\n",
        "proc/a.c": '#include "../nswap/peer.h"\n',
        "proc/b.c": "x.proc_write = f;\n",
        "nswap/main.c": "#if LINUX_VERSION_CODE < 1\n",
        "nswap/server.c": '#include "compat.h"\n',
        "nswap/stats.c": '#include "netlink_gen.h"\n',
        "tools/t.c": '#include "../nswap/types.h"\n',
        "nswap/u.h": '#include "v.h"\n',
        "nswap/v.h": '#include "u.h"\n',
    }
    missed = []
    for name, text in planted.items():
        if name in ("nswap/u.h", "nswap/v.h"):
            continue
        if not complaints({name: text}):
            missed.append(name)
    if not any("ring" in c for c in complaints(planted)):
        missed.append("a ring of headers")
    for name in missed:
        print(f"self-test: the violation planted in {name} was not found")
    return bool(missed)


def main():
    if self_test():
        return 1
    if sys.argv[1:] == ["--self-test"]:
        return 0
    top = pathlib.Path(".")
    folders = ["nswap", "policy", "prefetch", "proc", "compat", "tools",
               "bench", "tests"]
    files = {p.as_posix(): p.read_text(encoding="utf-8")
             for f in folders for p in sorted((top / f).rglob("*.[ch]"))}
    found = complaints(files)
    print("\n".join(found) or f"{len(files)} files, no wall is broken")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
