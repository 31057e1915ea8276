# SPDX-License-Identifier: GPL-2.0
"""The lab back end: a cluster of network namespaces in one kernel.

        node0        node1        node2     namespaces, eth0 inside
          |v0          |v1          |v2     veth pairs
        --+------------+------------+--     bridge lan0

Runs inside the user-mode kernel.  A cut is a rule in both namespaces that
drops what comes from the other one's interface address, and neither is
told; one way, it is in the namespace that is not to hear.  Swap and the module belong to the kernel, not to a node: one node's
workload swaps at a time.
"""
import contextlib
import itertools
import os
import pathlib
import select
import signal
import subprocess
import time

from . import check, covered
from .cluster import Cluster as Base
from .cluster import Done, Node as BaseNode, Process as BaseProcess, shown
from .netns import inside
from .work import Slots

CGROUPS = pathlib.Path("/sys/fs/cgroup")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_group_number = itertools.count()


def sh(*argv, stdin=None):
    """Run a set-up command; Failure if it fails."""
    done = subprocess.run(argv, input=stdin, text=True, capture_output=True,
                          env={"PATH": PATH}, check=False)
    if done.returncode:
        raise check.Failure(f"{shown(argv)}: {done.stderr.strip()}")
    return done.stdout


def attempt(*argv):
    """Run a clean-up command whose failure does not matter."""
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"PATH": PATH}, check=False)


def module_loaded(name="nswap"):
    """Whether a module is in the kernel."""
    return pathlib.Path(f"/sys/module/{name}/initstate").exists()


class Process(BaseProcess):
    """A process of this kernel, in a node's namespace."""

    def __init__(self, cmd, popen, out, err, group):
        self.cmd = shown(cmd)
        self.popen = popen
        self._out, self._err, self._group = out, err, group

    def poll(self):
        return self.popen.poll()

    def kill(self, signal=signal.SIGKILL):
        try:
            os.killpg(self.popen.pid, signal)
        except ProcessLookupError:
            pass

    def output(self):
        return self._out.read_text(errors="replace")

    def errors(self):
        """Standard error so far."""
        return self._err.read_text(errors="replace")

    def memory_mb(self):
        """What it and its children keep, in MiB, if it has a memory limit and runs."""
        with contextlib.suppress(OSError):
            return int((self._group / "memory.current").read_text()) / 2 ** 20
        return 0

    def reclaim(self, size):
        """Have the kernel take size of memory away from it, as far as it
        can; the process has a memory limit."""
        with contextlib.suppress(OSError):
            (self._group / "memory.reclaim").write_text(size)

    def unlimited(self):
        """From now on it may have as much memory as there is."""
        (self._group / "memory.max").write_text("max")

    def wait(self, timeout):
        limit = timeout * check.scale
        if not ended(self.popen, limit):
            self.kill()
            raise check.Unmet(f"'{self.cmd}' did not end within {limit:g} s")
        if self._group:
            remove_group(self._group)
        return Done(self.cmd, self.popen.returncode, self.output(),
                    self._err.read_text(errors="replace"))


def ended(popen, limit):
    """Wait for a process for so many seconds; whether it has ended. Popen.wait() looks
    again and again instead, after up to 50 ms each time."""
    if popen.poll() is not None:
        return True
    pid = os.pidfd_open(popen.pid)
    try:
        select.select([pid], [], [], limit)
    finally:
        os.close(pid)
    return popen.poll() is not None


def make_group(memory_max):
    """A fresh memory cgroup with a limit."""
    group = CGROUPS / f"t{os.getpid()}.{next(_group_number)}"
    group.mkdir()
    (group / "memory.max").write_text(str(memory_max))
    return group


def remove_group(group):
    """Remove a cgroup whose processes have ended."""
    def gone():
        try:
            group.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True
    check.wait_for(gone, 5, f"cgroup {group.name} is empty")


class Node(BaseNode):
    """A network namespace with one interface on the link."""

    def __init__(self, cluster, index):
        self.cluster = cluster
        self.index = index
        self.name = f"node{index}"
        self.addr = f"10.77.0.{index + 1}"
        self.addr6 = f"fd77::{index + 1:x}"
        self.iface = "eth0"
        self.mac = f"02:77:00:00:00:{index + 1:02x}"
        self.port = f"v{index}"
        self.netns = f"/run/netns/{self.name}"
        self.alive = False
        self._count = itertools.count()

    def create(self):
        """Make the namespace and plug it in."""
        sh("ip", "netns", "add", self.name)
        sh("ip", "-batch", "-", stdin=f"""
            link add {self.port} type veth peer name eth0 netns {self.name}
            link set {self.port} master lan0 up
        """)
        sh("ip", "-n", self.name, "-batch", "-", stdin=f"""
            link set lo up
            link set eth0 address {self.mac}
            link set eth0 up
            addr add {self.addr}/24 broadcast 10.77.0.255 dev eth0
            addr add {self.addr6}/64 dev eth0 nodad
        """)
        if self.cluster.netem:
            sh("tc", "-n", self.name, "qdisc", "add", "dev", "eth0", "root",
               "netem", "limit", "100000", *self.cluster.netem)
        self.alive = True

    def destroy(self):
        """Unplug it and delete the namespace."""
        self.alive = False
        attempt("ip", "link", "del", self.port)
        attempt("ip", "netns", "del", self.name)

    def popen(self, cmd, memory_max=None):
        group = make_group(memory_max) if memory_max else None
        stem = f"{self.name}.{next(self._count)}"
        out = self.cluster.scratch / (stem + ".out")
        err = self.cluster.scratch / (stem + ".err")

        def enter_group():
            (group / "cgroup.procs").write_text(str(os.getpid()))
        argv = ["/bin/sh", "-c", cmd] if isinstance(cmd, str) \
            else [str(a) for a in cmd]
        with open(out, "wb") as out_file, open(err, "wb") as err_file, \
                inside(self):
            popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                process_group=0, preexec_fn=enter_group if group else None,
                env={"PATH": PATH, "LC_ALL": "C", "HOME": "/run"})
        process = Process(cmd, popen, out, err, group)
        self.cluster.processes.append(process)
        return process

    def run(self, cmd, timeout=60, check=True, memory_max=None):
        process = self.popen(cmd, memory_max)
        done = process.wait(timeout)
        process._out.unlink()
        process._err.unlink()
        self.cluster.test.log(f"{self.name}: {done.cmd} -> {done.code}")
        return done.check() if check else done

    def read(self, path):
        return pathlib.Path(path).read_text()

    def write(self, path, text):
        pathlib.Path(path).write_text(text)

    def prog(self, name):
        return self.cluster.test.settings["programs"][name]


class Outside(Node):
    """The initial namespace: no node of the cluster, sees all of them."""

    def __init__(self, cluster):
        super().__init__(cluster, -1)
        self.name = "outside"
        self.netns = "/proc/1/ns/net"


class Cluster(Base):
    """n namespaces on a bridge; outside is the initial namespace."""

    def __init__(self, test, n, inject=False, module=True, delay_us=0,
                 rate_mbit=0, loss_percent=0):
        self.test = test
        self.netem = []
        if delay_us:
            self.netem += ["delay", f"{delay_us}us"]
        if rate_mbit:
            self.netem += ["rate", f"{rate_mbit}mbit"]
        if loss_percent:
            self.netem += ["loss", f"{loss_percent}%"]
        self.scratch = pathlib.Path(f"/run/test.{os.getpid()}.{time.time_ns()}")
        self.scratch.mkdir()
        self._cuts = set()
        self.processes = []
        self.module = module
        self.nodes = [Node(self, i) for i in range(n)]
        self.outside = Outside(self)
        sh("ip", "link", "add", "lan0", "type", "bridge")
        pathlib.Path("/proc/sys/net/ipv6/conf/lan0/disable_ipv6"
                     ).write_text("1")
        sh("ip", "link", "set", "lan0", "up")
        for node in self.nodes:
            node.create()
        if module:
            self.load("inject" if inject else "module")

    def load(self, which="module", *parameters):
        """insmod the module: "module", "inject" or "discards"."""
        counted = ["counters=on"] * (self.test.flavour == "cover" and which == "module")
        sh("insmod", self.test.settings["modules"][which], *parameters, *counted)

    def unload(self):
        """rmmod it; Failure with the reason if that is refused."""
        covered.keep(self.test.dir)
        sh("rmmod", "nswap")

    # -- faults ------------------------------------------------------------

    def _apply(self, node):
        drops = [self.nodes[a].mac for a, b in self._cuts if b == node.index]
        rules = "".join(f"    ether saddr {mac} drop\n" for mac in drops)
        sh("ip", "netns", "exec", node.name, "nft", "-f", "-", stdin=f"""
            table inet lab {{
                chain in {{ type filter hook input priority 0; }}
            }}
            flush chain inet lab in
            table inet lab {{
                chain in {{
            {rules}
                }}
            }}
        """)

    def _change(self, change):
        before = set(self._cuts)
        change()
        touched = {b for _, b in before ^ self._cuts}
        for index in sorted(touched):
            if self.nodes[index].alive:
                self._apply(self.nodes[index])

    @staticmethod
    def _both(a, b):
        return {(a.index, b.index), (b.index, a.index)}

    def _others(self, a):
        return {way for o in self.nodes if o is not a for way in self._both(a, o)}

    def cut(self, a, b):
        self.test.log(f"cut {a} from {b}")
        self._change(lambda: self._cuts.update(self._both(a, b)))

    def mute(self, a):
        """Nothing from a reaches the others, and it hears them."""
        self.test.log(f"mute {a}")
        self._change(lambda: self._cuts.update(
            way for way in self._others(a) if way[0] == a.index))

    def deafen(self, a):
        """Nothing from the others reaches a, and they hear it."""
        self.test.log(f"deafen {a}")
        self._change(lambda: self._cuts.update(
            way for way in self._others(a) if way[1] == a.index))

    def disturb(self, a, *netem):
        """What a sends is delayed, lost or doubled as netem says; nothing of that
        any more, and the cluster's own options again, without."""
        self.test.log(f"disturb {a} {' '.join(netem)}".rstrip())
        netem = netem or self.netem
        done = ("replace", "netem", "limit", "100000", *netem) if netem else ("del",)
        sh("tc", "-n", a.name, "qdisc", done[0], "dev", "eth0", "root", *done[1:])

    def readdress(self, a, host):
        """Give a another address in the subnet; the old one is gone. The others
        forget who had the new one, as they do when a host announces itself by ARP."""
        new = f"10.77.0.{host}"
        self.test.log(f"readdress {a}: {new}")
        sh("ip", "-n", a.name, "addr", "del", f"{a.addr}/24", "dev", a.iface)
        sh("ip", "-n", a.name, "addr", "add", f"{new}/24", "broadcast",
           "10.77.0.255", "dev", a.iface)
        a.addr = new
        for other in self.nodes:
            if other.alive:
                sh("ip", "-n", other.name, "neigh", "flush", "dev", other.iface)

    def isolate(self, a):
        self.test.log(f"isolate {a}")
        self._change(lambda: self._cuts.update(self._others(a)))

    def heal(self, a=None, b=None):
        self.test.log(f"heal {a or 'all'} {b or ''}".rstrip())
        if a is None:
            gone = set(self._cuts)
        elif b is None:
            gone = self._others(a)
        else:
            gone = self._both(a, b)
        self._change(lambda: self._cuts.difference_update(gone))

    def kill(self, a):
        self.test.log(f"kill {a}")
        self._change(lambda: self._cuts.update(self._others(a)))
        if module_loaded():
            a.run([a.prog("nswapctl"), "down", "--now"], check=False)
        a.destroy()

    def revive(self, a):
        self.test.log(f"revive {a}")
        a.create()
        self._change(lambda: self._cuts.difference_update(self._others(a)))

    def forget(self, a):
        """Delete a node's namespace while it is in use, as `ip netns del`
        does: its name is gone, its interface stays as long as it lives."""
        a.alive = False
        sh("ip", "netns", "del", a.name)

    # -- the end -----------------------------------------------------------

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.popen.wait()
        self.heal()
        Slots.close_all()
        wrong = [self._must("swapoff", line.split()[0]) for line in
                 pathlib.Path("/proc/swaps").read_text().splitlines()[1:]]
        if module_loaded():
            wrong += self._take_down()
            covered.keep(self.test.dir)
            wrong.append(self._must("rmmod", "nswap"))
        for node in self.nodes:
            if node.alive:
                node.destroy()
        attempt("ip", "link", "del", "lan0")
        return [w for w in wrong if w]

    @staticmethod
    def _must(*argv):
        done = subprocess.run(argv, capture_output=True, text=True,
                              env={"PATH": PATH}, check=False)
        return f"{shown(argv)}: {done.stderr.strip()}" * bool(done.returncode)

    def _take_down(self):
        """Delete every device, then take every node down."""
        wrong, up = [], []
        ctl = self.outside.prog("nswapctl")
        for node in self.nodes:
            if not node.alive:
                continue
            stat = node.run([ctl, "--json", "stat"], check=False)
            if stat.code:
                continue
            (self.test.dir / f"{node.name}.stat.json").write_text(stat.out)
            up.append(node)
            for dev in node.devices() or []:
                done = node.run([ctl, "device", "del", dev["device"]],
                                check=False)
                wrong.append(done.err.strip() * bool(done.code))
        for node in up:
            done = node.run([ctl, "down", "--now"], check=False)
            wrong.append(done.err.strip() * bool(done.code))
        return wrong
