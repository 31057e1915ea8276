# SPDX-License-Identifier: GPL-2.0
"""Which lines of the module take a lock or change a word atomically, and how often a page.

    for site in sites(module, found["read-4k-d32"]): site.times, site.where, site.text

Counted, not sampled, from a profile (profiling.py): each block of code that was executed
is looked up in the module's disassembly. What the kernel's own functions lock is not the
module's and is not here.
"""
import bisect
import collections
import dataclasses
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

INSN = re.compile(r"^\s*([0-9a-f]+):\t(\S.*)$")
RELOC = re.compile(r"^\s*[0-9a-f]+: R_X86_64_\S+\t(\w+)")
LOCK = re.compile(r"(?:_raw_(?:spin|read|write)_(?:try)?lock|mutex_(?:try)?lock|down_)\w*$")
ATOMIC = re.compile(r"lock |xchg.*\(")
OURS = re.compile(r"(?:^|/)((?:nswap|policy|prefetch|proc)/[\w/]+\.[ch]):(\d+)")


# what the locks and words of a file belong to, or those of a line with this in it
WHOSE = {
    "nswap/transport/conn.c": "connection",
    "nswap/transport/conn_take.c": "connection",
    "nswap/peers/session_send.c": "connection",
    "nswap/peers/peer.c": "peer",
    "nswap/peers/parked.c": "peer",
    "nswap/pure/tally.h": "peer",
    "nswap/pure/slot_map.c": "slot",
    "nswap/client/request_queue.c": "request",
    "nswap/client/pagein.c": "request",
    "nswap/client/store.c": "request",
    "nswap/server/held.c": "owner",
    "nswap/server/answers.c": "owner",
    "nswap/server/cache.c": "lender",
    "nswap/server/cache_count.c": "lender",
    "nswap/server/ready.h": "owner",
    "nswap/client/pageout_limit.c": "device",
    "nswap/client/free.c": "device",
    "nswap/pure/freed_set.c": "device",
    "nswap/pure/freed_set.h": "device",
    "->place_lock": "node",
    "&peer->": "peer",
    "&e->ref": "page",
    "smp_mb()": "barrier",
    "->unpushed": "node",
}
# those that tasks on two processors that page at two peers, for one device, both need
SHARED = ("lender", "device", "node", "unknown")


@dataclasses.dataclass(frozen=True)
class Site:
    """A line of the module: kind is "lock" or "atomic", times is a page."""
    kind: str
    times: float
    where: str
    text: str

    @property
    def whose(self):
        """What it belongs to: a word of WHOSE, or "unknown"."""
        named = [of for part, of in WHOSE.items() if part in self.text]
        return named[0] if named else WHOSE.get(self.where.partition(":")[0], "unknown")


def _tool(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout


class Code:
    """The module's instructions, as addresses in its .text, and those looked for; stack:
    those whose text is like a pattern."""

    def __init__(self, module, stack=None):
        self.module = module
        self.at, self.kind, self.stack = [], {}, set()
        call = False
        for line in _tool("objdump", "-dr", "-j", ".text", "--no-show-raw-insn",
                          module).splitlines():
            insn = INSN.match(line)
            if insn:
                self.at.append(int(insn.group(1), 16))
                call = insn.group(2).startswith(("call", "jmp"))
                if stack and stack.match(insn.group(2)):
                    self.stack.add(self.at[-1])
                if ATOMIC.match(insn.group(2)):
                    self.kind[self.at[-1]] = "atomic"
                continue
            reloc = call and RELOC.match(line)
            if reloc and LOCK.match(reloc.group(1)):
                self.kind[self.at[-1]] = "lock"

    def base(self, symbols):
        """Where .text is in the guest: by a function that has a name of its own."""
        offset = collections.defaultdict(list)
        for line in _tool("nm", self.module).splitlines():
            word = line.split()
            if len(word) == 3 and word[1] == "T":
                offset[word[2]].append(int(word[0], 16))
        ours = {name.split()[0]: at for at, name in symbols.names.items()
                if name.endswith("[nswap]")}
        name = next(n for n in ("nswap_held_find", *sorted(offset))
                    if len(offset[n]) == 1 and n in ours)
        return ours[name] - offset[name][0]

    def times(self, base, blocks):
        """Executions of each address looked for; blocks are (address, instructions,
        times). What the kernel has patched may begin between two of these addresses."""
        found = collections.Counter()
        for at, insns, times in blocks:
            first = bisect.bisect_left(self.at, at - base)
            if at < base or first == len(self.at):
                continue
            for one in self.at[first:first + insns]:
                if one in self.kind:
                    found[one] += times
        return found

    def lines(self, addresses):
        """{address: (file:line of ours that it is of, or was put in)}"""
        text = _tool("addr2line", "-a", "-i", "-j", ".text", "-e", self.module,
                     *(hex(at) for at in addresses))
        found, at = {}, None
        for line in text.splitlines():
            if re.match(r"0x[0-9a-f]+$", line):
                at = int(line, 16)
            elif at not in found and OURS.search(line):
                found[at] = ":".join(OURS.search(line).groups())
        return found


def source(where):
    """The line itself; where: file:line."""
    file, _, number = where.partition(":")
    return (ROOT / file).read_text().splitlines()[int(number) - 1].strip()


def sites(module, profile):
    """The sites of a work, the most frequent first; module is the file the guest has
    loaded, not stripped."""
    code = Code(module)
    times = code.times(code.base(profile.symbols), profile.blocks)
    where = code.lines(times)
    summed = collections.Counter()
    for at, n in times.items():
        summed[code.kind[at], where.get(at, "?")] += n / profile.pages
    return [Site(kind, n, line, source(line) if line != "?" else "")
            for (kind, line), n in summed.most_common()]
