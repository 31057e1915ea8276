# SPDX-License-Identifier: GPL-2.0
"""One guest: a QEMU process and the conversation with its agent.

Invariants: what a guest says reaches the harness only as frames of the agent
(agent.c describes them), read by one thread per guest; the serial console is
a log file and nothing else. A guest's memory, processors and MAC address are
fixed by the caller. Every wait has a deadline.
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import threading
import time

from nswaptest.check import Failure

from . import image

FRAME = struct.Struct("<III")
BOOT_SECONDS = 120

# Quiet but for warnings and worse; no search for hardware that is not there.
# rootfstype=ramfs: files of the guest's root are never swapped out.
CMDLINE = ("console=ttyS0 loglevel=5 panic=-1 rootfstype=ramfs "
           "random.trust_cpu=on mitigations=off "
           "no_timer_check pci=lastbus=0 rcupdate.rcu_expedited=1")

# Under emulation on a busy host the time-stamp counter is calibrated wrong
# (40 times too fast has been seen); the HPET counts real nanoseconds.
CLOCK = {"tcg": " clocksource=hpet tsc=unstable", "kvm": ""}

# QEMU 7.2 emulates cmpxchg16b with flags that are made of a former comparison's
# operands. The kernel's allocator uses it for each object: an interrupt right after it
# saves such flags, and what goes on with them may be single-stepped (a warning in
# exc_debug_kernel()). Without it the kernel does what it did on older processors.
CPU = {"tcg": "max,-cx16", "kvm": "host"}

# For a guest that can have one processor only, QEMU before 8.1 emits neither memory
# barriers nor atomic accesses, though its devices run in another thread: a virtio queue
# may miss a notification, and with it wait for ever. One more that is never there, and
# it emits them.
PROCESSORS = {"tcg": 2, "kvm": 1}


UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def in_bytes(size):
    """96M, 64K or a number of bytes, as a number; 0 for None."""
    if size is None:
        return 0
    text = str(size)
    if text[-1:] in UNITS:
        return int(text[:-1]) * UNITS[text[-1]]
    return int(text)


def new_disk(path, megabytes):
    """An empty disk, a sparse file; its path."""
    with open(path, "wb") as file:
        file.truncate(megabytes << 20)
    return path


def disks(disk):
    """The files of what a guest is given as its disk: none, one, or a list."""
    return disk if isinstance(disk, list) else [disk] if disk else []


def _disk_args(number, path):
    """QEMU's arguments for a disk. It is read and written past the host's
    page cache, which a few guests would fill, where the host's file system
    can do that."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
        cache = "none"
    except OSError:
        cache = "writeback"
    return ["-drive", f"if=none,id=disk{number},format=raw,file={path},cache={cache}",
            "-device", f"virtio-blk-pci,drive=disk{number}"]


class GuestError(Failure):
    """The guest did not do what it was asked; the text says what."""


class Command:
    """A command in a guest: out and err grow while it runs, code is None
    until it ends (minus the signal's number if a signal ended it)."""

    def __init__(self, cmd):
        self.cmd = cmd
        self.out = bytearray()
        self.err = bytearray()
        self.code = None
        self.ended = threading.Event()


class _Transfer:
    """A file on its way from or to the guest."""

    def __init__(self):
        self.data = bytearray()
        self.errno = None
        self.ended = threading.Event()


class Guest:
    """One running guest."""

    def __init__(self, name, folder, series, archives, memory_mb=256,
                 accel="tcg", cpus=1, nic=None, disk=None, args=()):
        """Start it; folder takes its sockets and its console log.

        nic is (path of the switch's port, MAC address) or None; disk a file
        that becomes /dev/vda, a list of them, or None; archives are initramfs files, put one
        after the other.
        """
        self.name = name
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.console = self.folder / "console.log"
        self.release = None
        self.booted = None              # seconds that it took to the agent's first word
        self._lock = threading.Lock()
        self._next = 1
        self._waiting = {}
        self._gone = threading.Event()
        self._hello = threading.Event()
        self._agent = None
        initrd = self.folder / "initramfs"
        initrd.write_bytes(b"".join(pathlib.Path(a).read_bytes()
                                    for a in archives))
        ours, theirs = socket.socketpair()
        self._monitor, monitor = socket.socketpair()
        argv = ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
                "-display", "none", "-no-reboot", "-name", name,
                "-machine", "q35,usb=off,vmport=off",
                "-accel", accel + (",thread=multi" if accel == "tcg" else ""),
                "-cpu", CPU[accel],
                "-smp", f"{cpus},maxcpus={max(cpus, PROCESSORS[accel])}",
                "-m", str(memory_mb),
                "-kernel", str(image.vmlinux(series)), "-initrd", str(initrd),
                "-append", CMDLINE + CLOCK[accel],
                "-serial", f"file:{self.console}",
                "-device", "virtio-serial-pci",
                "-chardev", f"socket,id=agent,fd={theirs.fileno()}",
                "-device", "virtserialport,chardev=agent,name=nswap.agent",
                "-device", "virtio-rng-pci",
                "-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
                "-mon", "chardev=monitor,mode=control"]
        if nic:
            argv += ["-netdev", "stream,id=net,server=off,addr.type=unix,"
                     f"addr.path={nic[0]}",
                     "-device", f"virtio-net-pci,netdev=net,mac={nic[1]},"
                     "romfile="]
        for number, path in enumerate(disks(disk)):
            argv += _disk_args(number, path)
        with open(self.folder / "qemu.log", "wb") as log:
            self._qemu = subprocess.Popen(
                argv + list(args), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, pass_fds=[theirs.fileno(), monitor.fileno()])
        theirs.close()
        monitor.close()
        self._agent = ours
        self.started = time.monotonic()
        threading.Thread(target=self._reader, daemon=True,
                         name=f"agent of {name}").start()

    # -- the conversation --------------------------------------------------

    def _read(self, size):
        data = bytearray()
        while len(data) < size:
            part = self._agent.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _reader(self):
        try:
            while True:
                size, ident, kind = FRAME.unpack(self._read(FRAME.size))
                self._frame(ident, chr(kind), self._read(size))
        except (EOFError, OSError):
            self._gone.set()
            self._hello.set()
            with self._lock:
                waiting = list(self._waiting.values())
                self._waiting.clear()
            for item in waiting:
                item.ended.set()

    def _frame(self, ident, kind, data):
        if kind == "H":
            self.release = data.decode()
            self._hello.set()
            return
        with self._lock:
            item = self._waiting.get(ident)
            if item is not None and kind in "XF":
                del self._waiting[ident]
        if item is None:
            return
        if kind == "O":
            item.out += data
        elif kind == "E":
            item.err += data
        elif kind == "D":
            item.data += data
        elif kind == "X":
            item.code, = struct.unpack("<i", data)
            item.ended.set()
        elif kind == "F":
            item.errno, = struct.unpack("<i", data)
            item.ended.set()

    def _send(self, kind, data, item=None, ident=0):
        with self._lock:
            if self._gone.is_set():
                raise GuestError(f"{self.name} is gone")
            if item is not None:
                ident, self._next = self._next, self._next + 1
                self._waiting[ident] = item
            try:
                self._agent.sendall(FRAME.pack(len(data), ident, ord(kind))
                                    + data)
            except OSError as error:
                raise GuestError(f"{self.name} is gone") from error
        return ident

    # -- what a caller uses ------------------------------------------------

    def wait_booted(self, deadline=BOOT_SECONDS):
        """Wait for the agent's first word; returns seconds since start."""
        self._hello.wait(max(0, self.started + deadline - time.monotonic()))
        if not self.release:
            raise GuestError(f"{self.name} did not boot in {deadline} s, see "
                             f"{self.console} and {self.folder}/qemu.log")
        self.booted = time.monotonic() - self.started
        return self.booted

    def start(self, argv, limit=0):
        """Start a command (a list); returns a Command."""
        command = Command(argv)
        data = struct.pack("<Q", limit)
        data += b"".join(str(a).encode() + b"\0" for a in argv)
        command.ident = self._send("R", data, command)
        return command

    def kill(self, command, number):
        """Send a command's processes a signal."""
        if not command.ended.is_set():
            self._send("K", struct.pack("<i", number), ident=command.ident)

    def wait(self, command, timeout):
        """Wait until a command ends; at the deadline it is killed."""
        if not command.ended.wait(timeout):
            self.kill(command, signal.SIGKILL)
            return False
        if command.code is None:
            raise GuestError(f"{self.name} went away during {command.cmd}")
        return True

    def _transfer(self, kind, path, data, timeout):
        item = _Transfer()
        self._send(kind, data, item)
        if not item.ended.wait(timeout):
            raise GuestError(f"{self.name} did not answer for {path} "
                             f"in {timeout} s")
        if item.errno is None:
            raise GuestError(f"{self.name} went away")
        if item.errno:
            raise GuestError(f"{self.name}: {path}: "
                             f"{os.strerror(item.errno)}")
        return bytes(item.data)

    def read(self, path, timeout=60):
        """A file's content, as bytes."""
        return self._transfer("r", path, str(path).encode() + b"\0", timeout)

    def write(self, path, data, timeout=60):
        """Write bytes into a file in one call."""
        self._transfer("w", path, str(path).encode() + b"\0" + data, timeout)

    def press(self, key):
        """A key of the guest's keyboard, down and up, by the name QEMU has for it."""
        for say in ({"execute": "qmp_capabilities"},
                    {"execute": "send-key",
                     "arguments": {"keys": [{"type": "qcode", "data": key}]}}):
            self._monitor.sendall(json.dumps(say).encode() + b"\n")

    def alive(self):
        """Whether QEMU runs and the agent's port is open."""
        return self._qemu.poll() is None and not self._gone.is_set()

    def pause(self):
        """Stop QEMU: the machine stands still, its clock does not."""
        self._qemu.send_signal(signal.SIGSTOP)

    def go_on(self):
        """Undo pause()."""
        self._qemu.send_signal(signal.SIGCONT)

    def destroy(self):
        """End QEMU at once, as if the machine's power failed."""
        self._qemu.kill()
        self._qemu.wait()
        self._agent.close()
        self._monitor.close()

    def power_off(self, deadline=10):
        """Let the agent stop the machine; by force after the deadline."""
        try:
            self._send("Q", b"")
            self._qemu.wait(deadline)
        except (GuestError, subprocess.TimeoutExpired):
            pass
        self.destroy()
