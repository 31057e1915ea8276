# SPDX-License-Identifier: GPL-2.0
"""nswap-lend in a node's namespace, where no nswap is up (lab only)."""
import json
import os
import signal

from .check import Failure, wait_for
from .cluster import Node as BaseNode
from .lab import Node


def arguments(node, options):
    """Options as in Node.up(), on a command line."""
    if not {"secret", "key", "open"} & options.keys():
        options |= {"secret": node.secret()} if os.environ.get("NSWAP_KEYS") \
            else {"open": True}
    words = []
    for key, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + key.replace("_", "-"))
        if value is True:
            continue
        values = value if isinstance(value, (list, tuple)) else [value]
        words.append(",".join(v.addr if isinstance(v, BaseNode) else str(v)
                              for v in values))
    return words


class Lender:
    """One that runs; options as in Node.up().  before: a shell command run first, in the
    same process."""

    def __init__(self, node, lend="64M", before="", **options):
        self.node = node
        argv = [node.prog("nswap-lend"), "--lend", lend,
                *arguments(node, {"addr": node.addr} | options)]
        if before:
            argv = ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *argv]
        self.process = node.popen(argv)
        wait_for(lambda: self.process.poll() is not None or self.status(), 15,
                 "the lender is up")
        if self.process.poll() is not None:
            raise Failure(f"nswap-lend ended: {self.process.errors()}")

    def status(self):
        """What --status tells, {} if no lender answers."""
        done = self.node.run([self.node.prog("nswap-lend"), "--status", "--json"],
                             check=False)
        return {} if done.code else json.loads(done.out)

    def held(self):
        """Pages held."""
        return self.status()["held_pages"]

    def count(self, name):
        """One counter."""
        return self.status()["counters"][name]

    def memory_kb(self, what="VmRSS"):
        """What it takes of this machine's memory."""
        for line in self.node.read(f"/proc/{self.process.popen.pid}/status").splitlines():
            if line.startswith(what + ":"):
                return int(line.split()[1])
        raise Failure(f"no {what} of the lender")

    def cpu_ticks(self):
        """Processor time so far, in ticks."""
        text = self.node.read(f"/proc/{self.process.popen.pid}/stat").rpartition(")")[2]
        return sum(int(x) for x in text.split()[11:13])

    def said(self):
        """Its log."""
        return self.process.errors()

    def end(self, timeout=60):
        """SIGTERM: a Done."""
        self.process.kill(signal.SIGTERM)
        return self.process.wait(timeout)

    def kill(self):
        """At once; nothing of it is left."""
        self.process.kill()
        self.process.wait(10)


class LendingNode(Node):
    """A node whose up() starts a lender: what tests of a server ask of one, and no more."""

    lender = None

    def up(self, lend="64M", **options):
        self.lender = Lender(self, lend, **options)

    def down(self):
        return self.lender.end().check()

    def stat(self):
        told = self.lender.status()
        server = {k: told[k] for k in ("held_pages", "ram_pages", "set_aside_pages",
                                       "granted_pages", "free_pages")}
        server["owners"] = len(told["owners"])
        return {"node": {"id": told["id"], "epoch": told["epoch"]},
                "server": server | told["counters"], "client": {"sessions": 0}}

    def peers(self):
        """It knows them all, for all that is known."""
        return {n.addr: {"state": "new", "fresh": True} for n in self.cluster if n is not self}


def lending(t, *which):
    """A Test like t, in whose clusters these nodes lend without the module."""
    class Lending:
        """The same, but for its clusters."""

        def __getattr__(self, name):
            return getattr(t, name)

        @staticmethod
        def cluster(*args, **options):
            """A cluster of the test's."""
            cluster = t.cluster(*args, **options)
            for index in which:
                cluster[index].__class__ = LendingNode
            return cluster
    return Lending()
