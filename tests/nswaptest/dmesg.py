# SPDX-License-Identifier: GPL-2.0
"""The kernel-log gate: which lines of a kernel's log fail a test."""
import itertools
import re

BAD = re.compile("|".join((
    r"WARNING:",
    r"\bBUG:",
    r"kernel BUG at",
    r"Oops",
    r"general protection",
    r"Kernel panic",
    r"INFO: task .* blocked for more than",
    r"INFO: rcu\w* .*(stall|detected)",
    r"rcu: INFO: .*stall",
    r"INFO: (possible|trying to register|suspicious)",
    r"possible (recursive|circular) locking",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"sleeping function called from invalid context",
    r"scheduling while atomic",
    r"soft lockup",
    r"workqueue: .* hogged CPU for .* forever",
    r"Call Trace:",
    r"refcount_t:",
    r"UBSAN:",
    r"KASAN:",
    r"unreferenced object",
    r"list_(add|del) corruption",
    r"ODEBUG:",
    r"leaked reference|ref_tracker: .* has \d",
    r"unregister_netdevice: waiting for",
    r"Objects remaining",
    r"out of memory|Out of memory|invoked oom-killer",
)))

OOM = re.compile(r"[oO]ut of memory|oom-kill|Memory cgroup|Call Trace:")

# An interrupt found no page free, as must happen on a starved machine: what it
# wanted to receive is dropped and sent again. The report ends with the memory
# figures; who asked stands before the </IRQ>.
STARVED = re.compile(r"page allocation failure: order:\d+, mode:\S+\(GFP_ATOMIC")
STARVED_END = "Mem-Info:"


def _harmless(report):
    """Whether a report of a failed allocation has nothing to do with the
    module: it may have been interrupted, but did not ask."""
    asked = list(itertools.takewhile(lambda line: "</IRQ>" not in line,
                                     report))
    return not any("[nswap]" in line for line in asked)


def _judged(lines, begins, end, left_of):
    """The lines, of each report from one that begins() to one with end in it what
    left_of(report) leaves."""
    kept, report = [], None
    for line in lines:
        if report is None and begins(line):
            report = []
        if report is None:
            kept.append(line)
            continue
        report.append(line)
        if end in line:
            kept += left_of(report)
            report = None
    return kept + (report or [])


def _without_starved(lines):
    """The lines, but for the stacks of harmless failed allocations."""
    def left_of(report):
        harmless = _harmless(report)
        return [line for line in report if not (harmless and "Call Trace:" in line)]
    return _judged(lines, STARVED.search, STARVED_END, left_of)


# Two tasks at one place without a lock or a mark. The kernel has such races of its own:
# a report is the module's if its head names one of its functions, or if both stacks
# have one near their top (it called what raced over data of the module).
RACE = "BUG: KCSAN:"
RACE_END = "Reported by Kernel Concurrency Sanitizer"
OURS = "[nswap"
NEAR = 3


def _foreign(report):
    """Whether a report of a race is about the kernel's own data."""
    if OURS in report[0]:
        return False
    stacks = [[]]
    for line in report[1:]:
        if FRAME.search(line):
            stacks[-1].append(line)
        elif stacks[-1]:
            stacks.append([])
    near = [any(OURS in line for line in stack[:NEAR]) for stack in stacks if stack]
    return not near or not all(near)


def _without_foreign(lines):
    """The lines, but for the kernel's own races."""
    return _judged(lines, lambda line: RACE in line, RACE_END,
                   lambda report: [] if _foreign(report) else report)


FRAME = re.compile(r"^(?:\[ *[\d.]+\])?\s+([a-z_]\w*[\w.]*)\+0x")
ASKERS = 12         # functions of a stack that are told

KILLER = "invoked oom-killer"
KILLED = re.compile(
    r"oom-kill:(constraint=\w+)|memory: (usage \S+ limit \S+)(?=,)|"
    r"\] ((?:anon|kernel|unevictable|swapcached|file_writeback|(?:in)?active_anon|"
    r"pgscan_direct|pgsteal_direct) \d+)$")
BEFORE = 6          # lines of the module before it that are told


def _killing(lines, at):
    """Of a report of the OOM killer: whose memory was short, and how it was used; and
    what the module had said before."""
    said = [line.split("nswap: ", 1)[1].strip() for line in lines[:at]
            if "nswap: " in line]
    used = []
    for line in lines[at + 1:at + 150]:
        if KILLER in line:
            break
        used += [next(filter(None, found)) for found in KILLED.findall(line)]
    return "; ".join(used + said[-BEFORE:])


def _told(lines, at):
    """A line that fails a test; of a stack, the report it belongs to and its
    innermost functions: often this is all that is left of a run."""
    line = lines[at].strip()
    if KILLER in line:
        return f"{line} ({_killing(lines, at)})"
    if "Call Trace:" not in line:
        return line
    stack = (FRAME.search(below) for below in lines[at + 1:at + 60])
    names = [frame[1] for frame in stack if frame][:ASKERS]
    head = next((above.strip() for above in reversed(lines[max(0, at - 8):at])
                 if " failure: " in above or " killer: " in above or "BUG:" in above or
                 "WARNING:" in above), "")
    return " ".join(filter(None, (head, line, " < ".join(names))))


def problems(text, allow_oom=False, allow_starved=False):
    """The lines of a kernel log that fail a test, first ten.

    allow_oom: the scenario expects OOM kills; their lines do not count.
    allow_starved: it starves machines; reports of allocations that failed in
    a driver's interrupt do not count.
    """
    lines = _without_foreign(text.splitlines())
    if allow_starved:
        lines = _without_starved(lines)
    bad = []
    for at, line in enumerate(lines):
        if BAD.search(line) and not (allow_oom and OOM.search(line)):
            bad.append(_told(lines, at))
    return bad[:10]
