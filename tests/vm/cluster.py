# SPDX-License-Identifier: GPL-2.0
"""The vm back end of the cluster API: a node is a stock kernel under QEMU.

Invariants: node n has 10.77.0.(n+1)/24 and fd77::(n+1)/64 on eth0 and port n
of the switch; its processes are the agent's children; a guest that ends
without having been killed by the test is reported by close().
"""
import collections
import functools
import itertools
import os
import pathlib
import re
import shutil
import signal as signals
import subprocess
import sys
import tempfile

from nswaptest import ccache, check, dmesg
from nswaptest import cluster as api
from nswaptest.check import Failure, Skip, Unmet

from . import accel, guest, image, link

SCALE = {"kvm": 1, "tcg": 4}
PROGRAMS = ("eater", "heartbeat", "blkverify")


def say(text):
    """A line for people; never read by a program."""
    print(f"   {text}", file=sys.stderr, flush=True)


def a_node(option, n):
    """An option of n nodes as a list with one for each."""
    return option if isinstance(option, list) else [option] * n


# what a guest boots: two of one kind have one initramfs
Kind = collections.namedtuple("Kind", "series own_root bare modules tools")

# the stock kernels that the module is for: Debian 12's, then Debian 13's
SERIES = ("6.1", "6.12", "trixie-6.12", "7.2")


def _make(*args, suite="bookworm"):
    """make here, or in a root of another Debian release."""
    how = ccache.make() if suite == "bookworm" else [image.HERE / "build_root.sh", suite]
    done = subprocess.run([*how, "-s", f"-j{os.cpu_count()}", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=ccache.environment(), check=False)
    if done.returncode:
        raise Failure(f"'make {' '.join(args)}' failed: {done.stdout[-2000:]}")


@functools.cache
def built_module(series, inject=False):
    """nswap.ko for a stock kernel, built if need be."""
    release = image.kernel(series, "release")
    _make(f"KDIR={image.kernel(series, 'kdir')}", f"KVER={release}",
          *(["INJECT=1"] if inject else []), "module",
          suite=image.kernel(series, "suite"))
    return image.BUILD / (release + "-inject" * inject) / "nswap.ko"


@functools.cache
def built_programs(names=PROGRAMS):
    """nswapctl and test programs."""
    _make("nswapctl")
    progs = image.BUILD / "progs"
    _make("-C", "tests/progs", f"OUT={progs}")
    return [image.BUILD / "nswapctl", *(progs / name for name in names)]


def kernels_of(cases):
    """The kernels that tests need: that in the name of each, as three_6_12 has; else the
    two that are used most, and all for kernels_stock."""
    found = [re.search(r"[._](6_1|6_12)(_|$)", case.name) for case in cases]
    if all(found):
        return sorted({match[1].replace("_", ".") for match in found})
    if any(case.name.startswith("kernels_stock") for case in cases):
        return SERIES
    return SERIES[:2]


def prepare(cases):
    """Called once before the tests of a suite: downloads and builds do not
    count against a test's time. What fails here fails again in the test
    that needs it, and is reported there."""
    for series in kernels_of(cases):
        try:
            image.base(series)
            check.scale = SCALE[accel.choose(series, say)]
            built_programs()
            built_module(series, False)
        except (Failure, image.SetupError) as why:
            say(str(why))


class VmProcess(api.Process):
    """A command that runs in a guest."""

    def __init__(self, machine, command):
        self._machine = machine
        self._command = command

    def poll(self):
        if not self._command.ended.is_set():
            return None
        self._machine.wait(self._command, 0)
        return self._command.code

    def kill(self, signal=signals.SIGKILL):
        self._machine.kill(self._command, signal)

    def output(self):
        return self._command.out.decode(errors="replace")

    def errors(self):
        """Standard error so far."""
        return self._command.err.decode(errors="replace")

    def done(self):
        """The finished command as the API shows it."""
        command = self._command
        return api.Done(api.shown(command.cmd), command.code,
                        command.out.decode(errors="replace"),
                        command.err.decode(errors="replace"))

    def wait(self, timeout):
        limit = timeout * check.scale
        if not self._machine.wait(self._command, limit):
            raise Unmet(f"'{api.shown(self._command.cmd)}' on "
                        f"{self._machine.name} did not end within "
                        f"{limit:g} s")
        return self.done()


class VmNode(api.Node):
    """A guest as a node."""

    iface = "eth0"

    def __init__(self, index, boot, own_root=False):
        self.own_root = own_root
        self.index = index
        self.name = f"node{index}"
        self.addr = f"10.77.0.{index + 1}"
        self.addr6 = f"fd77::{index + 1}"
        self.machine = None
        self.killed = False
        self.boots = 0
        self._started = []
        self._boot = boot

    def start(self):
        """Start the guest; set_up() must follow."""
        self.killed = False
        self.boots += 1
        self._started = []
        self.machine = self._boot(self)

    def set_up(self):
        """Wait for the guest, configure its network, load the module."""
        if self.own_root:
            self.machine.wait_booted(guest.BOOT_SECONDS * check.scale)
            return
        self.machine.wait_booted()
        self.run("ip link set lo up; "
                 f"echo 0 > /proc/sys/net/ipv6/conf/{self.iface}/accept_dad; "
                 f"ip addr add {self.addr}/24 broadcast + dev {self.iface} && "
                 f"ip link set {self.iface} up && "
                 f"ip addr add {self.addr6}/64 dev {self.iface}")
        self.run("if [ -f /extra/order ]; then while read -r m; do insmod /extra/$m; done "
                 "< /extra/order; rm -r /extra; fi")
        self.run("if [ -f /nswap.ko ]; then insmod /nswap.ko; fi")

    def popen(self, cmd, memory_max=None):
        argv = ["sh", "-c", cmd] if isinstance(cmd, str) else cmd
        command = self.machine.start(argv, guest.in_bytes(memory_max))
        command.cmd = cmd
        process = VmProcess(self.machine, command)
        self._started = [p for p in self._started if p.poll() is None]
        self._started.append(process)
        return process

    def end_programs(self):
        """Kill what the scenario started and did not wait for."""
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait(30)

    def run(self, cmd, timeout=60, check=True, memory_max=None):
        done = self.popen(cmd, memory_max).wait(timeout)
        return done.check() if check else done

    def read(self, path):
        return self.machine.read(path).decode(errors="replace")

    def write(self, path, text):
        self.machine.write(path, text.encode())

    def prog(self, name):
        return name if self.own_root else f"/bin/{name}"


class Cluster(api.Cluster):
    """n stock kernels on one switch.

    kernel is a series (or a list with one a node), memory_mb the RAM of each
    guest in MB (or a list). disk_mb is the size of a disk, empty at first,
    that each guest has as /dev/vda (or a list, 0 for none); it outlives a
    crash. bare leaves nswap out: guests without a module (or a list). modules names some
    of the kernel's own to load, tools programs of this machine (or lists of tuples). roots
    are disks, one a node, with root file systems that have an init of their own
    (image.root_boot()), or None for a node as usual; a list of disks is such a one and
    others, /dev/vdb and so on.
    """

    def __init__(self, test, n, inject=False, kernel="6.1", memory_mb=256,
                 disk_mb=0, cpus=1, bare=False, roots=None, modules=(), tools=()):
        self._test = test
        self._roots = roots or [None] * n
        try:
            kinds = zip(a_node(kernel, n), map(bool, self._roots), a_node(bare, n),
                        a_node(modules, n), a_node(tools, n))
            self._prepare(pathlib.Path(test.dir), list(map(Kind._make, kinds)), inject,
                          a_node(memory_mb, n), a_node(disk_mb, n), cpus)
        except image.SetupError as error:
            raise Skip(str(error)) from error
        try:
            for node in self.nodes:
                node.start()
            for node in self.nodes:
                node.set_up()
        except BaseException:
            self._destroy()
            raise

    def _prepare(self, folder, kinds, inject, memory, disks, cpus):
        self.dir = folder
        self.accel = accel.choose(kinds[0].series, say)
        check.scale = SCALE[self.accel]
        self._sockets = tempfile.mkdtemp(prefix="nswap-vm-")
        archives = {kind: self._archives(kind, number, inject)
                    for number, kind in enumerate(dict.fromkeys(kinds))}
        self.link = link.Link(self._sockets, len(kinds))
        self._disks = [
            self._roots[i] or (guest.new_disk(folder / f"node{i}.disk", mb) if mb else None)
            for i, mb in enumerate(disks)]

        def boot(node):
            kind = kinds[node.index]
            return guest.Guest(
                node.name, self.dir / f"{node.name}-boot{node.boots}",
                kind.series, archives[kind], memory[node.index],
                self.accel, cpus, self.link.port(node.index), self._disks[node.index])
        self.nodes = [VmNode(i, boot, kind.own_root) for i, kind in enumerate(kinds)]

    def _archives(self, kind, number, inject):
        """The initramfs of a kind of guest, as files."""
        out = pathlib.Path(self._sockets) / f"{number}.cpio"
        files = [image.base(kind.series)]
        if kind.own_root:
            files.append(image.root_boot(kind.series, out))
        elif kind.modules or kind.tools or not kind.bare:
            files.append(image.overlay(
                out, [*built_programs(), *map(image.installed, kind.tools)],
                None if kind.bare else built_module(kind.series, inject),
                (kind.series, kind.modules)))
        return files

    @staticmethod
    def _index(node):
        return node if isinstance(node, int) else node.index

    def cut(self, a, b):
        self.link.cut(self._index(a), self._index(b))

    def isolate(self, a):
        for node in self.nodes:
            if node.index != self._index(a):
                self.link.cut(self._index(a), node.index)

    def heal(self, a=None, b=None):
        for x, y in itertools.combinations(range(len(self.nodes)), 2):
            if (a is None or self._index(a) in (x, y)) and \
               (b is None or self._index(b) in (x, y)):
                self.link.heal(x, y)

    def delay(self, a, b, us):
        """From now on everything between a and b takes us microseconds
        longer each way."""
        self.link.delay(self._index(a), self._index(b), us)

    def kill(self, a):
        node = self.nodes[self._index(a)]
        node.killed = True
        node.machine.destroy()

    def revive(self, a):
        node = self.nodes[self._index(a)]
        node.start()
        node.set_up()

    # -- the end -----------------------------------------------------------

    def _tidy(self, node):
        """Undo what the scenario left on a node; a list of complaints."""
        wrong = []
        node.end_programs()
        for line in node.read("/proc/swaps").splitlines()[1:]:
            node.run(["swapoff", line.split()[0]], timeout=180)
        if "nswap " not in node.read("/proc/modules"):
            return wrong
        if node.run([node.prog("nswapctl"), "stat"], check=False).code == 0:
            for device in node.devices():
                node.device_del(device["device"])
            node.down()
        done = node.run(["rmmod", "nswap"], check=False)
        if done.code:
            wrong.append(f"{node}: the module does not unload: "
                         f"{done.err.strip()}")
        return wrong

    def _problems(self, log):
        return dmesg.problems(log, self._test.allow_oom,
                              self._test.allow_starved)

    def _stuck(self):
        """What a guest says whose emulated network card sends no more, or None. That is
        QEMU's doing (seen once with 7.2: a queue of a guest at rest, for 300 s)."""
        for node in self.nodes:
            if node.killed or not node.machine.alive():
                continue
            for line in node.run(["dmesg"], check=False).out.splitlines():
                if "NETDEV WATCHDOG" in line:
                    return f"{node}: {line.strip()}"
        return None

    def _farewell(self, node, tidy):
        wrong = []
        try:
            wrong += self._tidy(node) if tidy else []
        except Failure as error:
            wrong.append(f"{node}: {error}")
        try:
            log = node.run(["dmesg"], check=False).out
            folder = self.dir / f"{node.name}-boot{node.boots}"
            (folder / "dmesg.log").write_text(log)
            wrong += [f"{node}: {line}" for line in self._problems(log)]
        except Failure as error:
            wrong.append(f"{node}: {error}")
        return wrong

    def _consoles(self):
        wrong = []
        for log in sorted(self.dir.glob("node*-boot*/console.log")):
            wrong += [f"{log.parent.name}: {line}" for line in
                      self._problems(log.read_text(errors="replace"))]
        return wrong

    def close(self):
        wrong = []
        self.heal()
        stuck = self._stuck()
        for node in self.nodes:
            if node.killed:
                continue
            if node.machine.alive():
                wrong += self._farewell(node, not stuck)
            else:
                wrong.append(f"{node}: the guest ended by itself, see its "
                             "console log")
        for node in self.nodes:
            if not node.killed:
                node.machine.power_off()
        self._destroy()
        if stuck:
            raise Unmet(stuck)
        return list(dict.fromkeys(wrong + self._consoles()))

    def _destroy(self):
        for node in self.nodes:
            if node.machine is not None:
                node.machine.destroy()
        self.link.close()
        for disk in self._disks:
            for path in guest.disks(disk):
                path.unlink(missing_ok=True)
        for folder in self.dir.glob("node*-boot*"):
            with_image = folder / "initramfs"
            if with_image.exists():
                os.unlink(with_image)
        shutil.rmtree(self._sockets, ignore_errors=True)
