# SPDX-License-Identifier: GPL-2.0
"""The kernel-log gate: which lines of a kernel's log fail a test."""
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


def problems(text, allow_oom=False):
    """The lines of a kernel log that fail a test, first ten.

    allow_oom: the scenario expects OOM kills; their lines do not count.
    """
    bad = []
    for line in text.splitlines():
        if BAD.search(line) and not (allow_oom and OOM.search(line)):
            bad.append(line.strip())
    return bad[:10]
