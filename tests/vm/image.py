# SPDX-License-Identifier: GPL-2.0
"""What a guest boots: an unpacked stock kernel and a small initramfs.

Invariants: the kernel is Debian's own, only its compression is undone on the
host (software emulation would take seconds for it); an initramfs is two
archives one after the other, the base (busybox, agent, the kernel's modules;
kept in the cache under a hash of what went in) and what is under test.
"""
import ctypes
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess

from nswaptest.scenario import CACHE

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build"

# Programs of this machine that a guest needs and busybox's do not replace
# (its swapon knows no priorities).
TOOLS = ["swapon"]
PATH = "/sbin:/usr/sbin:/bin:/usr/bin"

# Loaded by the agent at boot, with what they depend on; nswap itself needs dm_mod,
# curve25519-x86_64 (libcurve25519 in 7.2), libchacha20poly1305, lz4_compress and
# zstd_compress, and seals faster with aesni-intel. What a kernel does not have, or has built
# in, is left out.
MODULES = ["virtio_pci", "virtio_mmio", "virtio_console", "virtio_net",
           "virtio_blk", "dm_mod", "curve25519-x86_64", "libcurve25519",
           "libchacha20poly1305", "lz4_compress", "zstd_compress", "aesni-intel", "evdev"]


class SetupError(Exception):
    """Something the vm lab needs is missing; the text says what to do."""


def kernel(series, what="image"):
    """fetch_kernel.sh's answer: a path, or a string for "release" and "suite"."""
    done = subprocess.run([HERE / "fetch_kernel.sh", series, what],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SetupError(f"the stock {series} kernel could not be fetched")
    text = done.stdout.strip()
    return text if what in ("release", "suite") else pathlib.Path(text)


def store(path, data):
    """Write a cache file so that half of it is never read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.write_bytes(data)
    new.rename(path)
    return path


def vmlinux(series):
    """The kernel of a series without its compression."""
    image = kernel(series)
    plain = image.with_name(image.name.replace("vmlinuz", "vmlinux"))
    if plain.exists():
        return plain
    data = image.read_bytes()
    if data[0x202:0x206] != b"HdrS":
        raise SetupError(f"{image} is no x86 kernel image")
    start = (data[0x1f1] + 1) * 512 + struct.unpack_from("<I", data, 0x248)[0]
    packed = data[start:start + struct.unpack_from("<I", data, 0x24c)[0]]
    if packed.startswith(b"\xfd7zXZ\0"):
        elf = lzma.LZMADecompressor().decompress(packed)
    elif packed.startswith(b"\x28\xb5\x2f\xfd"):
        elf = _unzstd(packed[:-4])
    else:
        raise SetupError(f"{image}: unknown compression {packed[:4].hex()}")
    return store(plain, elf)


def _unzstd(packed):
    """Undo zstd through the library that dpkg itself depends on."""
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    size = lib.ZSTD_getFrameContentSize(packed,
                                        ctypes.c_size_t(len(packed)))
    if size > 1 << 30:      # unknown, or an error
        size = 256 << 20
    out = ctypes.create_string_buffer(size)
    got = lib.ZSTD_decompress(out, ctypes.c_size_t(size), packed,
                              ctypes.c_size_t(len(packed)))
    if lib.ZSTD_isError(ctypes.c_size_t(got)):
        raise SetupError("the kernel image cannot be decompressed")
    return out.raw[:got]


class Archive:
    """A cpio archive ("newc") in memory; paths get their folders."""

    def __init__(self):
        self.parts = []
        self.seen = set()

    def _entry(self, path, mode, data=b"", rdev=(0, 0)):
        name = path.encode() + b"\0"
        head = "070701" + "".join(
            f"{n:08x}" for n in (len(self.parts) + 1, mode, 0, 0, 1, 0,
                                 len(data), 0, 0, *rdev, len(name), 0))
        part = head.encode() + name
        part += bytes(-len(part) % 4) + data
        self.parts.append(part + bytes(-len(part) % 4))

    def folder(self, path):
        """A folder and those above it."""
        for parent in reversed(pathlib.PurePath(path).parents):
            self._folder(str(parent))
        self._folder(str(path))

    def _folder(self, path):
        if path not in self.seen and path != ".":
            self.seen.add(path)
            self._entry(path, 0o040755)

    def data(self, path, data, mode=0o755):
        """A file with this content."""
        self.folder(pathlib.PurePath(path).parent)
        self._entry(path, 0o100000 | mode, data)

    def file(self, path, source, mode=0o755):
        """A file with the content of one here."""
        self.data(path, pathlib.Path(source).read_bytes(), mode)

    def link(self, path, target):
        """A symbolic link."""
        self.folder(pathlib.PurePath(path).parent)
        self._entry(path, 0o120777, str(target).encode())

    def device(self, path, major, minor):
        """A character device."""
        self.folder(pathlib.PurePath(path).parent)
        self._entry(path, 0o020600, rdev=(major, minor))

    def bytes(self):
        """The archive with its trailer."""
        self._entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def compiled(name):
    """A C program of this folder, compiled into build/vm."""
    source = HERE / f"{name}.c"
    out = BUILD / "vm" / name
    if out.exists() and out.stat().st_mtime > source.stat().st_mtime:
        return out
    if not shutil.which("gcc"):
        raise SetupError("gcc is missing: run tests/setup/setup.sh as root")
    out.parent.mkdir(parents=True, exist_ok=True)
    new = out.with_name(f"{name}.{os.getpid()}")
    static = ["-static"] if name == "agent" else []
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-std=gnu11", "-Wall", "-Wextra",
                    "-O2", *static, "-o", new, source], check=True)
    new.rename(out)
    return out


def module_files(series, names=tuple(MODULES)):
    """The files of a kernel's modules, what they depend on first."""
    folder = kernel(series, "modules")
    found = []
    for name in names:
        done = subprocess.run(
            ["/sbin/modprobe", "-d", folder.parents[2], "-S", folder.name,
             "--show-depends", "-q", name],
            stdout=subprocess.PIPE, text=True, check=False)
        for path in re.findall(r"^insmod (\S+)", done.stdout, re.M):
            if path not in found:
                found.append(path)
    return [pathlib.Path(p) for p in found]


def module_bytes(path):
    """A module file without its compression."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def busybox():
    """The static busybox."""
    path = shutil.which("busybox")
    if not path:
        raise SetupError("busybox-static is missing: "
                         "run tests/setup/setup.sh as root")
    return pathlib.Path(path)


def installed(name):
    """A program of this machine."""
    path = shutil.which(name, path=PATH)
    if not path:
        raise SetupError(f"{name} is missing: "
                         "run tests/setup/setup.sh as root")
    return pathlib.Path(path)


def tools():
    """TOOLS as {path in the guest: file here}, with their libraries."""
    found = {}
    for name in TOOLS:
        path = found[f"/bin/{name}"] = installed(name)
        found.update(libraries(path))
    return found


def base(series):
    """The archive that depends on nothing under test; its path."""
    agent, box, extra = compiled("agent"), busybox(), tools()
    modules = module_files(series)
    key = hashlib.sha256()
    for path in [agent, box, pathlib.Path(__file__), *extra.values(),
                 *modules]:
        key.update(str(path.name).encode() + path.read_bytes())
    out = CACHE / f"initramfs-{series}-{key.hexdigest()[:12]}.cpio"
    if out.exists():
        return out
    cpio = Archive()
    for name in ("proc", "sys", "dev", "tmp", "etc", "root", "run", "sbin"):
        cpio.folder(name)
    cpio.device("dev/console", 5, 1)
    cpio.file("init", agent)
    cpio.file("bin/busybox", box)
    applets = subprocess.run([box, "--list"], stdout=subprocess.PIPE,
                             text=True, check=True).stdout.split()
    for name in applets:
        if name != "busybox" and name not in TOOLS:
            cpio.link(f"bin/{name}", "busybox")
    for target, source in extra.items():
        cpio.file(target.lstrip("/"), source)
    for path in modules:
        cpio.data(f"modules/{path.name.removesuffix('.xz')}",
                  module_bytes(path))
    cpio.data("modules/order", "".join(
        f"{p.name.removesuffix('.xz')}\n" for p in modules).encode())
    for old in CACHE.glob(f"initramfs-{series}-*.cpio"):
        old.unlink(missing_ok=True)
    return store(out, cpio.bytes())


def libraries(program):
    """The shared libraries a program needs: {path in the guest: file}."""
    done = subprocess.run(["ldd", program], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return {p: pathlib.Path(p).resolve()
            for p in re.findall(r"(/\S+) \(0x", done.stdout)}


def stripped(path, work):
    """A copy without debug information (it would only take guest RAM)."""
    out = work / f"{path.name}.stripped"
    subprocess.run(["strip", "--strip-debug", "-o", out, path], check=True)
    return out


def _more_modules(cpio, series, names):
    """Modules of the kernel that only this kind of guest needs, into /extra."""
    have = module_files(series)
    found = [p for p in module_files(series, names) if p not in have]
    for path in found:
        cpio.data(f"extra/{path.name.removesuffix('.xz')}", module_bytes(path))
    cpio.data("extra/order", "".join(f"{p.name.removesuffix('.xz')}\n" for p in found).encode())


def overlay(out, programs=(), module=None, more=None):
    """The archive of what is under test, written to out.

    programs are put into /bin with the libraries they need, module becomes
    /nswap.ko; more is (series, names of modules), of the kernel's own.
    """
    cpio = Archive()
    have, libs = tools(), {}
    for path in map(pathlib.Path, programs):
        cpio.file(f"bin/{path.name}", stripped(path, out.parent))
        libs.update(libraries(path))
    for target, source in libs.items():
        if target not in have:
            cpio.file(target.lstrip("/"), source)
    if more:
        _more_modules(cpio, *more)
    if module:
        cpio.file("nswap.ko", stripped(pathlib.Path(module), out.parent),
                  0o644)
    out.write_bytes(cpio.bytes())
    return out


ROOT_INIT = """#!/bin/sh
mount -t proc none /proc
mount -t devtmpfs none /dev
while read -r name; do insmod "/modules/$name"; done < /modules/order
while read -r name; do insmod "/modules/$name"; done < /modules/root-order
mount -t ext4 /dev/vda /root || echo "no root file system on /dev/vda"
umount /proc
mount --move /dev /root/dev
exec switch_root /root /sbin/init
"""


def root_boot(series, out):
    """The archive that, behind base(), boots what is on /dev/vda instead of the agent,
    which such a root has to start itself; written to out."""
    cpio = Archive()
    have = module_files(series)
    names = []
    for path in module_files(series, ("ext4", "crc32c_generic")):
        if path not in have:
            names.append(path.name.removesuffix(".xz"))
            cpio.data(f"modules/{names[-1]}", module_bytes(path))
    cpio.data("modules/root-order", "".join(f"{n}\n" for n in names).encode())
    cpio.data("init", ROOT_INIT.encode())
    out.write_bytes(cpio.bytes())
    return out
