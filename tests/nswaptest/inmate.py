# SPDX-License-Identifier: GPL-2.0
"""A program in a container on a member's own machine: the member's network, and nothing
else of it. It has no capability, no user of that machine, and namespaces of its own for
users, processes, mounts, messages and names.

It is a process beside the scenario that runs attacks by number, see victims.py.
"""
import ctypes
import json
import os
import socket
import subprocess

from .check import Failure
from .netns import enter

NOBODY = 65534
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, LAST_CAP = 38, 24, 40
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29

_libc = ctypes.CDLL(None, use_errno=True)


def become_nobody():
    """Give up all rights, for good, and all namespaces but that of the network."""
    for cap in range(LAST_CAP + 1):
        _libc.prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _libc.unshare(NEWUSER | NEWNS | NEWUTS | NEWIPC | NEWPID):
        raise OSError(ctypes.get_errno(), "unshare")


class Inmate:
    """What an attack from a container is handed, in the container, and what starts it,
    outside. addr: of its machine's node. secrets: files that only the node may read."""

    netns = None        # it is inside

    def __init__(self, side, secrets, attacks):
        self.addr, self.owner, self.owners = side.lender.addr, side.owner.addr, side
        self.device, self.secrets = f"/dev/{side.dev}", secrets
        self.ctl, self.refusals = side.lender.prog("nswapctl"), 0
        self._attacks = {attack.__name__: attack for attack in attacks}
        self._mine, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            try:
                self._live(side.lender, theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._file = self._mine.makefile("r")

    def _live(self, node, sock):
        with open(node.netns, "rb") as there:
            enter(there)
        become_nobody()
        first = os.fork()               # the first process of its namespace
        if first:
            os.waitpid(first, 0)
            return
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        for line in sock.makefile("r"):
            self.refusals, said = 0, {}
            try:
                said["happened"] = self._attacks[line.strip()](self)
            except Exception as why:
                said["failed"] = f"{type(why).__name__}: {why}"
            said["refusals"] = self.refusals
            sock.sendall(json.dumps(said).encode() + b"\n")

    def run(self, attack):
        """From outside: one try of an attack; what happened."""
        self._mine.sendall(attack.__name__.encode() + b"\n")
        said = json.loads(self._file.readline() or '{"failed": "it is gone"}')
        if "failed" in said:
            raise Failure(f"{attack.__name__}, in a container: {said['failed']}")
        self.owners.refusals += said["refusals"]
        return said["happened"]

    def nswapctl(self, *args):
        """Exit code and words of nswapctl."""
        done = subprocess.run([self.ctl, *map(str, args)], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    def close(self):
        """From outside: end it. Others that were forked since have its socket, too."""
        self._mine.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self._mine.close()
        os.waitpid(self._pid, 0)
