#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Walls between the folders, read off the #include lines.

nswap/ has rooms, folders by rank: an include goes to the same room, to a lower
one, or to policy/ and prefetch/, which are lower than all rooms but base. Only
main.c stands outside of them, on top. Beside the ranks:

  client | server      never include each other; they meet in the wire header
  pure code            no socket, no bio, no file, and only pure code
  compat/              included by no file (the compiler is told to); no other
                       file asks for a kernel version
  programs             tools/, lib/, bench/ and tests/ see include/uapi and their own
  rings                a ring of units that include each other (a .c and its .h
                       are one unit) stays in one room and is small
  coverage             each C file is in a room or in a folder named in SEES

usage: layers.py [--table | --self-test]     run from the top of the tree
"""
import fnmatch
import posixpath
import re
import sys

import tree

# Lowest rank first. A room that is not in the tree is no error.
ROOMS = ("base", "pure", "keys", "transport", "backing", "core", "peers", "observe",
         "client", "server", "migrate", "tiering", "device", "control")
TOP = "nswap/main.c"

# Folders outside nswap/ and what their files may include, beside the kernel's
# and the C library's headers. The longest name that fits a file counts.
SEES = {
    "policy/": ("policy/*.h", "nswap/base/types.h"),
    # the table of all policies
    "policy/policies.c": ("policy/*.h", "prefetch/prefetch.h"),
    "prefetch/": ("prefetch/*.h", "policy/registry.h", "nswap/base/types.h"),
    "proc/": ("proc/*.h", "nswap/base/*.h", "nswap/core/node.h",
              "nswap/core/nodes.h", "nswap/control/knobs.h",
              "policy/registry.h"),
    "proc/policies.c": ("proc/*.h", "nswap/base/*.h", "nswap/core/node.h",
                        "nswap/core/nodes.h",
                        "nswap/control/policy_select.h", "policy/registry.h"),
    "proc/prefetch.c": ("proc/*.h", "nswap/core/node.h", "nswap/core/nodes.h",
                        "nswap/control/knobs.h",
                        "nswap/control/policy_select.h",
                        "policy/registry.h", "prefetch/prefetch.h"),
    "compat/": ("compat/*",),
    "include/uapi/": (),
    "tools/nswapctl/": ("tools/nswapctl/*.h", "nswap/core/knob_list.h"),
    # the server and the mover, and no more of the module
    "tools/nswap-lend/": ("tools/nswap-lend/*.h", "tools/nswapctl/*.h", "nswap/base/*.h",
                          "nswap/pure/*.h", "nswap/keys/*.h", "nswap/transport/*.h",
                          "nswap/core/*.h", "nswap/server/*.h", "nswap/migrate/*.h",
                          "nswap/peers/version.h", "nswap/control/announce*.h",
                          "policy/policy.h", "include/uapi/linux/nswap.h"),
    "lib/nswap/": ("lib/nswap/*.h",),
    "lib/include/": (),
    "lib/examples/": ("lib/examples/*.h",),
    "bench/programs/": ("bench/programs/*.h", "tests/progs/*.h"),
    "tests/progs/": ("tests/progs/*.h",),
    "tests/model_dev/": ("tests/model_dev/*.h",),
    "tests/fuzz/": ("tests/fuzz/*.h", "nswap/pure/*.h", "nswap/keys/*.h",
                    "nswap/transport/sockaddr.h", "policy/policy.h",
                    "tools/nswapctl/parse.h", "tools/nswap-lend/kernel/arith.h"),
    "tests/lab/": ("tests/lab/*.h",),
    "tests/vm/": ("tests/vm/*.h",),
    "tests/cover/": ("tests/cover/*.h",),
    # a unit test includes the one unit that it tests
    "tests/kunit/": ("tests/kunit/*.h", "nswap/base/*", "nswap/pure/*",
                     "nswap/keys/*",
                     "nswap/core/client_state.c",
                     "nswap/server/attached.c",
                     "nswap/server/cache.c", "nswap/server/cache_count.c",
                     "nswap/server/cache_sent.c", "nswap/server/held.c",
                     "nswap/server/owner.c", "nswap/server/owner_turn.c",
                     "nswap/server/pack.c", "nswap/server/pending.c",
                     "nswap/transport/conn.c", "nswap/transport/refer.c",
                     "nswap/transport/sockaddr.c",
                     "policy/*", "prefetch/*"),
}

# Outside of nswap/, and open to every room but base; kinds of policies to it too.
DECIDERS = ("policy/", "prefetch/")
KINDS = "policy/registry.h"

PURE = ("nswap/base/", "nswap/pure/", *DECIDERS)
HARDWARE = re.compile(r"net/.*|linux/(blk.*|bio.*|net\.h|in6?\.h|skbuff.*|fs\.h|"
                      r"file\.h|netlink.*|swap.*|proc_fs.*|seq_file.*)")

# (which files, what they never include though its rank is lower, why)
NEVER = (
    (r"nswap/server/.*", r"nswap/client/.*", "the server does not know the client"),
    (r"nswap/client/.*", r"nswap/server/.*", "the client does not know the server"),
    (r"nswap/backing/.*", r"nswap/pure/slot_map\.h",
     "a tier knows pages, not where the owner's map says they are"),
    (r"(?!nswap/control/netlink).*", r"nswap/control/netlink_gen\.h",
     "only netlink sees the generated tables"),
    (r"(?!compat/).*", r"compat/.*",
     "compat is force-included, and no file names it"),
)

# Where a quoted include is looked for when it is not beside its file, as the
# compiler is told to in Kbuild and the Makefiles.
SEARCH = {"bench/programs/": ("tests/progs",),
          "tools/nswap-lend/": ("tools/nswap-lend", "tools/nswap-lend/kernel",
                                "tools/nswapctl"),
          "": ("nswap", "")}
# made by the build
GENERATED = ("compat/probed.h",)

RING_UNITS = 5          # largest ring in a room
CANNOT_BUDGET = 5       # things that an older kernel cannot do at all

VERSION = re.compile(r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|UTS_RELEASE)\b")
CANNOT = re.compile(r"\bNSWAP_COMPAT_CANNOT_\w+")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<][^">]+[">])', re.M)
WRITES = re.compile(r"\bproc_write\b|_single_write\(|\bWRITE_ONCE\(")
# the paper's knobs of prefetching, and resetting the profile
MAY_WRITE = ("proc/prefetch.c", "proc/proc.c")
WRITES_BY_HAND = re.compile(r"\bWRITE_ONCE\(")


def room_of(name):
    """The room of a file: its name, "main" for main.c, or None."""
    parts = name.split("/")
    if name == TOP:
        return "main"
    return parts[1] if parts[0] == "nswap" and len(parts) == 3 else None


def rank_of(name):
    """The rank of a file that a room may include or be in; None if it has none."""
    if name == KINDS:
        return 0
    if name.startswith(DECIDERS):
        return 0.5
    room = room_of(name)
    if room == "main":
        return len(ROOMS)
    return ROOMS.index(room) if room in ROOMS else None


def target_of(name, include, files):
    """The file in the tree that a quoted include means, or None."""
    places = [posixpath.dirname(name)]
    for folder, more in SEARCH.items():
        if name.startswith(folder):
            places += more
    for place in places:
        path = posixpath.normpath(posixpath.join(place, include))
        if path in files or path in GENERATED:
            return path
    return None


def unit_of(name):
    """A .c and its .h are one unit."""
    return name.rsplit(".", 1)[0]


def rings(graph):
    """The strongly connected sets of more than one node of {node: nodes}."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            ring = stack[at:]
            del stack[at:]
            if len(ring) > 1:
                found.append(sorted(ring))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


class Walls:
    """The includes of a set of files, {name: text}, and what is wrong there."""

    def __init__(self, files):
        self.files = files
        self.found = []
        self.upward = []        # (from, to) of includes to a higher room
        self.edges = {}         # file: files it includes
        for name, text in sorted(files.items()):
            self.look_at(name, text)
        self.budget()
        self.look_behind()
        self.look_for_rings()

    def look_at(self, name, text):
        """One file."""
        includes = INCLUDE.findall(text)
        self.edges[name] = set()
        rule = self.rule_of(name)
        for include in includes:
            if include[0] == "<":
                if name.startswith(PURE) and HARDWARE.fullmatch(include[1:-1]):
                    self.say(name, f"includes {include}: pure code touches no "
                             "socket, no bio and no file")
                continue
            target = target_of(name, include[1:-1], self.files)
            if target is None:
                self.say(name, f"includes {include}, which is not in the tree")
                continue
            self.edges[name].add(target)
            self.arrow(name, target, rule)
        if not name.startswith("compat/") and VERSION.search(text):
            self.say(name, "asks for a kernel version: only compat/ may")
        forbidden = WRITES_BY_HAND if name in MAY_WRITE else WRITES
        if name.startswith("proc/") and forbidden.search(text):
            self.say(name, "proc shows state and never writes it")

    def rule_of(self, name):
        """What may be included by a file outside the rooms; None in a room."""
        if name.startswith("nswap/"):
            if rank_of(name) is None:
                self.say(name, "is in no room of ROOMS, and is not main.c")
            return None
        fits = [folder for folder in SEES if name.startswith(folder)]
        if not fits:
            self.say(name, "is covered by no rule of layers.py")
            return ("*",)
        return SEES[max(fits, key=len)]

    def arrow(self, name, target, rule):
        """One include of a file of the tree."""
        if name.startswith(PURE) and not target.startswith(PURE):
            self.say(name, f"includes {target}: pure code sees pure code only")
        if rule is not None:
            if not any(fnmatch.fnmatchcase(target, seen) for seen in rule):
                self.say(name, f"includes {target}, and may see "
                         f"{', '.join(rule) or 'nothing'} only")
            return
        mine, other = rank_of(name), rank_of(target)
        if mine is None or name == TOP:
            return
        if other is None:
            self.say(name, f"includes {target}, which is no room's")
        elif other > mine:
            self.upward.append((name, target))
            self.say(name, f"includes {target}, a higher room's")

    def budget(self):
        """How much is given up on older kernels."""
        cannot = {flag for text in self.files.values()
                  for flag in CANNOT.findall(text)}
        if len(cannot) > CANNOT_BUDGET:
            self.say("compat/", f"{len(cannot)} NSWAP_COMPAT_CANNOT flags, at "
                     f"most {CANNOT_BUDGET} are allowed: {sorted(cannot)}")

    def look_behind(self):
        """NEVER, through headers too: what a header brings is not repeated by
        the file that includes it. Ranks need no such look: each edge goes down."""
        for name in self.edges:
            seen, left = set(), [name]
            while left:
                new = self.edges.get(left.pop(), set()) - seen
                seen |= new
                left += new
            for who, what, why in NEVER:
                if re.fullmatch(who, name):
                    for target in sorted(filter(re.compile(what).fullmatch, seen)):
                        self.say(name, f"includes {target}: {why}")

    def look_for_rings(self):
        """Rings of headers, and rings of units."""
        for ring in rings(self.edges):
            self.say(ring[0], "is in a ring of headers: " + " ".join(ring))
        units = {}
        for name, targets in self.edges.items():
            if not name.startswith("tests/kunit/"):
                mine = units.setdefault(unit_of(name), set())
                mine.update({unit_of(t) for t in targets} - {unit_of(name)})
        self.rings = rings(units)
        for ring in self.rings:
            if len({posixpath.dirname(unit) for unit in ring}) > 1:
                self.say(ring[0], "is in a ring of several rooms: " +
                         " ".join(ring))
            elif len(ring) > RING_UNITS:
                self.say(ring[0], f"is in a ring of {len(ring)} files, at most "
                         f"{RING_UNITS} may be: " + " ".join(ring))

    def say(self, name, sentence):
        """Note what is wrong with a file."""
        self.found.append(f"{name}: {sentence}")

    def largest_ring(self, folder=""):
        """The largest ring with a unit in a folder, [] if there is none."""
        return max((r for r in self.rings
                    if any(u.startswith(folder) for u in r)),
                   key=len, default=[])


def planted():
    """(what breaks a wall, what is to be said of it)."""
    chain = {f"nswap/pure/u{n}.c": f'#include "u{(n + 1) % 6}.h"\n'
             for n in range(6)}
    chain |= {f"nswap/pure/u{n}.h": "" for n in range(6)}
    flags = "".join(f"NSWAP_COMPAT_CANNOT_{n}\n" for n in range(6))
    return (
        ({"nswap/base/a.c": '#include "core/node.h"\n'}, "a higher room's"),
        ({"nswap/peers/a.c": '#include "client/a.h"\n',
          "nswap/client/a.h": ""}, "a higher room's"),
        ({"nswap/base/a.c": '#include "policy/policy.h"\n'}, "a higher room's"),
        ({"nswap/server/a.c": '#include "client/a.h"\n',
          "nswap/client/a.h": ""}, "does not know the client"),
        ({"nswap/client/a.c": '#include "server/a.h"\n',
          "nswap/server/a.h": ""}, "does not know the server"),
        ({"nswap/backing/a.c": '#include "pure/slot_map.h"\n',
          "nswap/pure/slot_map.h": ""}, "a tier knows pages"),
        ({"nswap/pure/a.c": "#include <net/sock.h>\n"}, "no socket"),
        ({"nswap/server/a.c": '#include "migrate/a.h"\n',
          "nswap/migrate/a.h": '#include "client/a.h"\n',
          "nswap/client/a.h": ""}, "does not know the client"),
        ({"policy/a.c": "#include <linux/bio.h>\n"}, "no bio"),
        ({"nswap/pure/a.h": '#include "../core/node.h"\n'}, "pure code only"),
        ({"nswap/base/a.h": '#include "../nowhere.h"\n'}, "not in the tree"),
        ({"nswap/loose.c": ""}, "is in no room"),
        ({"nswap/attic/a.c": ""}, "is in no room"),
        ({"nswap/core/deep/a.c": ""}, "is in no room"),
        ({"nswap/core/a.c": '#include "../../proc/proc.h"\n'}, "no room's"),
        ({"policy/a.c": '#include "../nswap/core/node.h"\n'}, "may see"),
        ({"prefetch/a.c": '#include "../policy/policy.h"\n'}, "may see"),
        ({"proc/a.c": '#include "../nswap/client/a.h"\n',
          "nswap/client/a.h": ""}, "may see"),
        ({"proc/a.c": "x.proc_write = f;\n"}, "never writes"),
        ({"proc/prefetch.c": "WRITE_ONCE(node->x, 1);\n"}, "never writes"),
        ({"nswap/core/a.c": "#if LINUX_VERSION_CODE < 1\n"}, "kernel version"),
        ({"nswap/core/a.c": '#include "../../compat/compat.h"\n'}, "names it"),
        ({"compat/a.h": flags}, "6 NSWAP_COMPAT_CANNOT"),
        ({"nswap/core/a.c": '#include "control/netlink_gen.h"\n',
          "nswap/control/netlink_gen.h": ""}, "generated tables"),
        ({"tools/nswapctl/a.c": '#include "../../nswap/base/types.h"\n'},
         "may see"),
        ({"bench/programs/a.c": '#include "../../nswap/base/types.h"\n'},
         "may see"),
        ({"tests/progs/a.c": '#include "../../nswap/base/types.h"\n'},
         "may see"),
        ({"tests/kunit/a.c": '#include "../../nswap/core/node.h"\n'},
         "may see"),
        ({"examples/a.c": ""}, "covered by no rule"),
        ({"nswap/pure/u.h": '#include "v.h"\n',
          "nswap/pure/v.h": '#include "u.h"\n'}, "a ring of headers"),
        ({"nswap/base/u.c": '#include "pure/v.h"\n', "nswap/base/u.h": "",
          "nswap/pure/v.c": '#include "base/u.h"\n', "nswap/pure/v.h": ""},
         "a ring of several rooms"),
        (chain, "a ring of 6 files"),
    )


SOUND = {
    TOP: '#include "control/knobs.h"\n#include "../proc/proc.h"\n',
    "nswap/base/types.h": "#include <linux/types.h>\n",
    "nswap/core/node.h": '#include "base/types.h"\n#include "policy/policy.h"\n',
    "nswap/control/knobs.h": '#include "core/node.h"\n',
    "nswap/control/knobs.c": '#include <net/sock.h>\n#include "knobs.h"\n',
    "policy/policy.h": '#include "../nswap/base/types.h"\n',
    "proc/proc.h": "",
    "proc/proc.c": '#include "../nswap/core/node.h"\n#include "proc.h"\n',
    "compat/compat.h": '#include "probed.h"\nLINUX_VERSION_CODE\n',
    "tests/progs/prog.h": "",
    "bench/programs/wl.c": '#include <linux/nswap.h>\n#include "prog.h"\n',
}


def self_test():
    """Plant each violation once; every one must be found, and no other."""
    bad = 0
    for sentence in Walls(SOUND).found:
        print(f"self-test: said of a sound tree: {sentence}")
        bad = 1
    for files, expected in planted():
        if not any(expected in said for said in Walls(SOUND | files).found):
            print(f"self-test: planted in {min(files)}, not found: {expected}")
            bad = 1
    return bad


def table(walls):
    """Print what is in each room and folder."""
    rows = [(room, f"nswap/{room}/") for room in ROOMS] + [("main", TOP)]
    rows += sorted((folder.strip("/"), folder) for folder in SEES
                   if folder.endswith("/"))
    print("room              files  lines  upward includes  largest ring")
    for title, folder in rows:
        mine = [n for n in walls.files if n.startswith(folder)]
        up = sum(name.startswith(folder) for name, _ in walls.upward)
        lines = sum(len(walls.files[n].splitlines()) for n in mine)
        ring = walls.largest_ring(folder)
        print(f"{title:16} {len(mine):6} {lines:6} {up:16} {len(ring):13}"
              f"{'  ' if ring else ''}"
              f"{' '.join(posixpath.basename(u) for u in ring)}")
    print(f"{'':16} {len(walls.files):6} "
          f"{sum(len(t.splitlines()) for t in walls.files.values()):6} "
          f"{len(walls.upward):16} {len(walls.largest_ring()):13}")


def main():
    if self_test():
        return 1
    if sys.argv[1:] == ["--self-test"]:
        return 0
    walls = Walls(tree.texts(lambda p: p.suffix in tree.C_CODE))
    if sys.argv[1:] == ["--table"]:
        table(walls)
    ring = walls.largest_ring()
    print("\n".join(walls.found) or
          f"{len(walls.files)} files, no wall is broken; the largest ring has "
          f"{len(ring) or 'no'} files: {' '.join(ring)}")
    return bool(walls.found)


if __name__ == "__main__":
    sys.exit(main())
