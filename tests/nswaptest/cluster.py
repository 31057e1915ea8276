# SPDX-License-Identifier: GPL-2.0
"""The cluster API that every scenario is written against.

Two back ends implement it:

  lab  tests/nswaptest/lab.py   one user-mode kernel, a node is a network
                                namespace; the scenario runs inside it
  vm   tests/vm/cluster.py      a node is a stock kernel under QEMU; the
                                scenario runs outside

What holds in both:

* A back end's class is called Cluster and is made by Test.cluster(); nothing
  else of a back end is imported by scenarios.
* Nodes are numbered 0 … n-1 and sit on one link.  A new cluster has the
  module loaded on every node and no node up.
* Every wait has a deadline and every command a time limit; both end in
  Failure with a sentence that says what was waited for.
* Sizes are what nswapctl takes ("64M") or a number of bytes.
"""
import abc
import base64
import contextlib
import dataclasses
import json
import os
import shlex

from .check import Failure, Unmet, wait_for

PAGE = 4096
SECRET = bytes(range(1, 33))


@dataclasses.dataclass(frozen=True)
class Done:
    """A finished command: exit code and what it wrote."""
    cmd: str
    code: int
    out: str
    err: str

    def check(self):
        """Return self, or raise Failure if the command failed."""
        if self.code != 0:
            said = (self.err or self.out).strip()
            raise Failure(f"'{self.cmd}' ended with {self.code}: {said}")
        return self


def shown(cmd):
    """A command (string for the shell, or list) as one line of text."""
    return cmd if isinstance(cmd, str) else shlex.join(map(str, cmd))


class Process(abc.ABC):
    """A command that is still running on a node."""

    @abc.abstractmethod
    def poll(self):
        """The exit code, or None while it runs (minus the signal's number
        if a signal ended it)."""

    @abc.abstractmethod
    def kill(self, signal=9):
        """Send it a signal; no error if it is gone already."""

    @abc.abstractmethod
    def output(self):
        """Standard output so far."""

    @abc.abstractmethod
    def wait(self, timeout):
        """Wait until it ends and return a Done; Failure at the deadline
        (the process is killed then)."""


class Node(abc.ABC):
    """One machine of the cluster, or what stands for one.

    name     "node0", …
    index    its place in Cluster.nodes
    addr     its IPv4 address on the link
    addr6    its global IPv6 address on the link
    iface    its interface on the link
    """

    name: str
    index: int
    addr: str
    addr6: str
    iface: str

    # -- what a back end supplies ------------------------------------------

    @abc.abstractmethod
    def run(self, cmd, timeout=60, check=True, memory_max=None):
        """Run a command there and wait for it; returns Done.

        cmd is a list, or a string for /bin/sh.  memory_max (bytes or "96M")
        runs it in a fresh memory cgroup with that limit.  check=False
        returns a failed command instead of raising Failure.
        """

    @abc.abstractmethod
    def popen(self, cmd, memory_max=None):
        """Start a command there; returns a Process."""

    @abc.abstractmethod
    def read(self, path):
        """The text of a file there."""

    @abc.abstractmethod
    def write(self, path, text):
        """Write text into a file there (a /proc or /sys knob mostly)."""

    @abc.abstractmethod
    def prog(self, name):
        """The path, there, of a program of tests/progs or build/
        (nswapctl, eater, …)."""

    # -- the same for both -------------------------------------------------

    def ctl(self, *args, timeout=60):
        """Run nswapctl --json and return what it prints, parsed (None when
        it prints nothing)."""
        done = self.run([self.prog("nswapctl"), "--json", *map(str, args)],
                        timeout=timeout).check()
        return json.loads(done.out) if done.out.strip() else None

    def refused(self, *args, code=1):
        """Run nswapctl, expect a refusal: exit code `code` and exactly one
        sentence on standard error.  Returns the sentence."""
        done = self.run([self.prog("nswapctl"), *map(str, args)], check=False)
        said = done.err.strip()
        if done.code != code:
            raise Failure(f"'{done.cmd}' ended with {done.code}, "
                          f"{code} was expected: {said or done.out.strip()}")
        if not said or (code == 1 and "\n" in said):
            raise Failure(f"'{done.cmd}' must say one sentence, said: {said!r}")
        return said

    def up(self, lend=None, **options):
        """nswapctl up.  Options are its long options with _ for -:
        up(lend="64M", peers=[a, b], dead_after=5, no_broadcast=True).
        Lists are joined with commas; a Node in one stands for its addr.
        Without keys it is open."""
        args = ["up"]
        if lend is not None:
            options["lend"] = lend
        if not {"secret", "key", "open"} & options.keys():
            options |= {"secret": self.secret()} if os.environ.get("NSWAP_KEYS") \
                else {"open": True}
        for key, value in options.items():
            if value is None or value is False:
                continue
            args.append("--" + key.replace("_", "-"))
            if value is True:
                continue
            if not isinstance(value, (list, tuple)):
                value = [value]
            args.append(",".join(v.addr if isinstance(v, Node) else str(v)
                                 for v in value))
        return self.ctl(*args)

    def secret(self):
        """A file with the secret of the cluster that all nodes of a run with
        NSWAP_KEYS=1 are in."""
        path = f"/tmp/nswap-secret-{self.name}"
        self.write(path, f"cluster {base64.b64encode(SECRET).decode()}\n")
        self.run(["chmod", "600", path])
        return path

    def down(self):
        """nswapctl down."""
        return self.ctl("down")

    def device_add(self, size=None, wait=True, home=None, force=False,
                   flash=(), tiers=(), compress="off"):
        """nswapctl device add; returns the device's name, "nswap0".  Then
        wait for the sessions with peers: they come up with the first
        device."""
        args = ["--size", str(size)] if size else []
        args += ["--home", str(home)] if home else []
        for path in flash:
            args += ["--flash", str(path)]
        for path, rank in tiers:
            args += ["--tier", f"{path},rank={rank}"]
        args += ["--force"] if force else []
        args += ["--compress", compress] if compress != "off" else []
        done = self.run([self.prog("nswapctl"), "device", "add",
                         *args]).check()
        for word in done.out.replace(",", " ").split():
            if word.startswith("/dev/nswap"):
                if wait:
                    self.wait_sessions()
                return word.removeprefix("/dev/")
        raise Failure(f"'{done.cmd}' named no device: {done.out.strip()}")

    def wait_sessions(self, deadline=15):
        """Wait until a session stands with every peer heard of that has
        room."""
        def without():
            return [p["addr"] for p in self.peers().values() if p["fresh"] and
                    p["free_pages"] > 64 and p["state"] != "up"]
        try:
            wait_for(lambda: not without(), deadline, "")
        except Failure:
            raise Unmet(f"{self}: no session within {deadline} s with " +
                          ", ".join(without())) from None

    def device_del(self, dev):
        """nswapctl device del."""
        return self.ctl("device", "del", dev)

    def discard(self, dev, *args):
        """blkdiscard with these options; by force, or it reads the device's first and
        last pages before, and gives up if they are lost."""
        self.run(["blkdiscard", "--force", *args, f"/dev/{dev}"])

    def devices(self):
        """nswapctl device list."""
        return self.ctl("device", "list")

    def stat(self):
        """nswapctl stat: {"node": {…}, "client": {…}, "server": {…}}."""
        return self.ctl("stat")

    def peers(self):
        """nswapctl peers, by address; of a peer that restarted, perhaps where it
        had moved to and so as another node, what it is now."""
        over = ("lost", "dead")
        return {p["addr"]: p for p in
                sorted(self.ctl("peers"), key=lambda p: over.index(p["state"])
                       if p["state"] in over else len(over))}

    def swapon(self, dev, *options, prio=100):
        """mkswap and swapon."""
        self.run(["mkswap", f"/dev/{dev}"]).check()
        self.run(["swapon", "-p", str(prio), *options, f"/dev/{dev}"]).check()

    def swapoff(self, dev, timeout=120):
        """swapoff: pages everything in."""
        self.run(["swapoff", f"/dev/{dev}"], timeout=timeout).check()

    def swap_used_pages(self, dev):
        """What /proc/swaps calls used, in pages."""
        for line in self.read("/proc/swaps").splitlines()[1:]:
            fields = line.split()
            if fields[0] == f"/dev/{dev}":
                return int(fields[3]) * 1024 // PAGE
        raise Failure(f"{self.name}: {dev} is not in /proc/swaps")

    def vmstat(self, name):
        """One counter of the node's kernel's /proc/vmstat."""
        for line in self.read("/proc/vmstat").splitlines():
            key, value = line.split()
            if key == name:
                return int(value)
        raise Failure(f"{self.name}: no {name} in /proc/vmstat")

    def meminfo_kb(self, name):
        """One figure of /proc/meminfo."""
        for line in self.read("/proc/meminfo").splitlines():
            key, value = line.split(":")
            if key == name:
                return int(value.split()[0])
        raise Failure(f"{self.name}: no {name} in /proc/meminfo")

    def inject(self, **knobs):
        """Set fault-injection knobs of the inject build:
        inject(corrupt=1, seed=7) writes inject_corrupt and inject_seed.
        In the lab they belong to the whole kernel."""
        for key, value in knobs.items():
            self.write(f"/sys/module/nswap/parameters/inject_{key}",
                       str(value))

    def __str__(self):
        return self.name


class Cluster(abc.ABC):
    """n nodes on one link.

    nodes       list of Node
    """

    nodes: list

    @abc.abstractmethod
    def __init__(self, test, n, inject=False, **options):
        """test is the running Test (its dir takes logs).  inject loads the
        fault-injection build.  Options a back end does not know are a
        TypeError; those known to both: none.  The lab knows delay_us,
        rate_mbit and loss_percent; vm knows kernel, memory_mb and disk_mb
        (one for all, or a list with one a node)."""

    @abc.abstractmethod
    def cut(self, a, b):
        """From now on nothing passes between a and b, in silence."""

    @abc.abstractmethod
    def isolate(self, a):
        """Cut a from everybody."""

    @abc.abstractmethod
    def heal(self, a=None, b=None):
        """Undo cut(a, b), undo isolate(a), or with neither every cut.
        Killed nodes stay dead."""

    @abc.abstractmethod
    def kill(self, a):
        """The node is gone at once, no farewell reaches anyone and its state
        is lost.  (lab: cut for good and taken down behind the cut.)"""

    @abc.abstractmethod
    def revive(self, a):
        """A killed node is back: reachable, module loaded, empty, not up;
        up() gives it a new epoch."""

    @abc.abstractmethod
    def close(self):
        """Swap off, devices deleted, nodes down, module unloaded; logs into
        test.dir.  Returns the list of what was wrong (kernel warnings, a
        refused unload, leftovers), [] if nothing was."""

    # -- the same for both -------------------------------------------------

    def __getitem__(self, index):
        return self.nodes[index]

    def __iter__(self):
        return iter(self.nodes)

    def __len__(self):
        return len(self.nodes)

    def up(self, lend="64M", **options):
        """Bring every node up and wait until each sees all others."""
        for node in self.nodes:
            node.up(lend=lend, **options)
        self.wait_connected()

    def wait_connected(self, nodes=None, deadline=15):
        """Wait until each of nodes has heard of every other one; one with
        a device until its sessions are up."""
        nodes = list(nodes or self.nodes)

        def connected():
            for node in nodes:
                seen = node.peers()
                for other in nodes:
                    if other is node:
                        continue
                    peer = seen.get(other.addr) or seen.get(other.addr6)
                    if not peer or peer["state"] not in ("new", "up"):
                        return False
            return True
        wait_for(connected, deadline, "every node sees every other one")

    def held_pages(self, nodes=None):
        """Pages that nodes (default all) hold for others, summed."""
        return sum(n.stat()["server"]["held_pages"]
                   for n in nodes or self.nodes)

    @contextlib.contextmanager
    def swap(self, node, size=None, prio=100, home=None):
        """with cluster.swap(node, "256M") as dev: the device is added and
        swapped on; swapped off and deleted at the end."""
        dev = node.device_add(size, home=home)
        try:
            node.swapon(dev, prio=prio)
            try:
                yield dev
            finally:
                if f"/dev/{dev} " in node.read("/proc/swaps"):
                    node.swapoff(dev)
        finally:
            if any(d["device"] == dev for d in node.devices()):
                node.device_del(dev)
