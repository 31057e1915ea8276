# SPDX-License-Identifier: GPL-2.0
"""Python binding of libnswap: regions of files in peers' RAM.

    import nswap
    nswap.attach("/dev/nswap0")
    with open("data", "rb+") as file:
        region = nswap.Region(file, 0, 1 << 20)
        data = region.read(0, 4096)
        region.write(0, data)
        region.leave()          # or close(), which frees it; the end of a with leaves it

    python3 -m nswap list               # what there is, on the device of NSWAP_DEVICE
    python3 -m nswap free /data/file    # or --all

Cached has the same methods, behind the cache in local memory. Calls that fail raise OSError
with the errno that nswap_mopen(3) has for them; nswap.Lost is the one of a region that is gone.
"""
import argparse
import ctypes
import errno
import json
import os
import sys

LRU, MRU, FIRST_IN = range(3)
WRITE_BACK, WRITE_THROUGH = range(2)
RAM, FLASH, HOME = range(3)

_lib = ctypes.CDLL(os.environ.get("NSWAP_LIBRARY", "libnswap.so.0"), use_errno=True)
_int, _size, _ssize, _off = ctypes.c_int, ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_int64
_COUNTS = ("remote_pages", "stored_pages", "file_bytes", "local_hits", "local_misses",
           "lost_regions", "changed_files", "found_regions", "store_failures")


class Lost(OSError):
    """The region is not active: lost, reclaimed, or its file was changed by others."""


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in _COUNTS]


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("offset", "len", "valid_bytes", "dev", "ino")] + \
               [("pid", _int), ("path", ctypes.c_char * 256)]


_EACH = ctypes.CFUNCTYPE(_int, ctypes.POINTER(_Info), ctypes.c_void_p)
for _name, _result, _types in (
        ("attach", _int, (ctypes.c_char_p, ctypes.c_char_p)),
        ("alloc", _int, (_size,)), ("free", _int, (_int,)),
        ("place", _ssize, (_int, _int)),
        ("mopen", _int, (_size, _int, _off)), ("copen", _int, (_size, _int, _off)),
        ("mread", _ssize, (_int, _off, ctypes.c_void_p, _size)),
        ("cread", _ssize, (_int, _off, ctypes.c_void_p, _size)),
        ("mwrite", _ssize, (_int, _off, ctypes.c_void_p, _size)),
        ("cwrite", _ssize, (_int, _off, ctypes.c_void_p, _size)),
        ("mclose", _int, (_int,)), ("cclose", _int, (_int,)),
        ("mleave", _int, (_int,)), ("cleave", _int, (_int,)),
        ("msync", _int, (_int,)), ("csync", _int, (_int,)),
        ("cset_policy", _int, (_int,)), ("cset_write", _int, (_int,)),
        ("cset_size", _int, (_size,)), ("counts", None, (ctypes.POINTER(_Counts),)),
        ("regions", _int, (_EACH, ctypes.c_void_p))):
    _function = getattr(_lib, "nswap_" + _name)
    _function.restype, _function.argtypes = _result, _types


def _call(name, *args):
    """Call a function of the library; OSError if it returns -1."""
    function = getattr(_lib, "nswap_" + name)
    for value, kind in zip(args, function.argtypes):
        # ctypes would cut it off, and the call be about another place
        if isinstance(value, int) and kind(value).value != value:
            raise OSError(errno.EINVAL, f"nswap_{name}: {value} is out of range")
    done = function(*args)
    if done < 0:
        number = ctypes.get_errno()
        lost = number == errno.ENOMEM and name in ("mread", "mwrite", "place")
        raise (Lost if lost else OSError)(number, f"nswap_{name}: {os.strerror(number)}")
    return done


def _path(name):
    return None if name is None else os.fsencode(name)


def attach(device=None, directory=None):
    """Use a device from now on; without a name that of NSWAP_DEVICE."""
    _call("attach", _path(device), _path(directory))


def set_policy(policy):
    """Choose the replacement policy of the local cache."""
    _call("cset_policy", policy)


def set_write(mode):
    """WRITE_BACK, or WRITE_THROUGH for what is written behind the local cache."""
    _call("cset_write", mode)


def set_size(size):
    """How many bytes of memory the local cache may use."""
    _call("cset_size", size)


def counts():
    """What the library did in this process, by name."""
    c = _Counts()
    _lib.nswap_counts(ctypes.byref(c))
    return {name: getattr(c, name) for name in _COUNTS}


def regions(free=lambda region: False):
    """The regions in the directory, as dictionaries; those are freed for which free() is
    true."""
    found = []

    def each(info, _):
        i = info.contents
        region = {"offset": i.offset, "len": i.len, "valid_bytes": i.valid_bytes, "dev": i.dev,
                  "ino": i.ino, "pid": i.pid, "path": os.fsdecode(i.path)}
        found.append(region)
        return 1 if free(region) else 0
    _call("regions", _EACH(each), None)
    return found


class Region:
    """A region of a file."""
    _kind = "m"

    def __init__(self, file, offset, length):
        fd = file if isinstance(file, int) else file.fileno()
        self.length = length
        self.number = self._call("open", length, fd, offset)

    def _call(self, name, *args):
        return _call(self._kind + name, *args)

    def read(self, offset, length):
        """So many bytes, fewer at the region's end."""
        buffer = ctypes.create_string_buffer(length)
        got = self._call("read", self.number, offset, buffer, length)
        return buffer.raw[:got]

    def write(self, offset, data):
        """How many bytes were written."""
        data = bytes(data)
        return self._call("write", self.number, offset, data, len(data))

    def sync(self):
        """All of it is on disk afterwards."""
        self._call("sync", self.number)

    def place(self, tier):
        """Bring its pages to RAM (of peers), FLASH or HOME; how many are elsewhere still."""
        return _call("place", self.number, tier)

    def _end(self, function):
        """The last call: the number may be another region's from then on."""
        try:
            _call(function, self.number)
        except OSError as why:
            if why.errno == errno.EINVAL:
                self.number = -1
            raise
        self.number = -1

    def close(self):
        """Free the region."""
        self._end(self._kind + "close")

    def leave(self):
        """Leave the region to the next program that opens it."""
        self._end(self._kind + "leave")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.number >= 0:
            self.leave()


class Cached(Region):
    """A region of a file behind the local cache; what is lost is read from the file."""
    _kind = "c"

    def place(self, tier):
        """The cache decides which of its regions are on the device."""
        raise OSError(errno.EINVAL, "a cached region is not placed")


class Blocks(Region):
    """Blocks without a file; the end of a with frees them."""

    def __init__(self, length):
        self.length = length
        self.number = _call("alloc", length)

    def sync(self):
        """There is no disk."""
        raise OSError(errno.EINVAL, "blocks without a file are on no disk")

    leave = sync

    def close(self):
        """Free them."""
        self._end("free")

    def __exit__(self, *_):
        if self.number >= 0:
            self.close()


def _of_files(names):
    """Which regions are of these files, by whatever name; of one that is gone, by its path."""
    files, paths = set(), set()
    for name in names:
        try:
            there = os.stat(name)
            files.add((there.st_dev, there.st_ino))
        except OSError:
            paths.add(os.path.realpath(name))
    return lambda region: (region["dev"], region["ino"]) in files or region["path"] in paths


def _main():
    """The command: list regions, or free some."""
    parser = argparse.ArgumentParser(prog="python3 -m nswap",
                                     description="Regions that libnswap keeps on a device.")
    parser.add_argument("--device", help="default: that of NSWAP_DEVICE")
    parser.add_argument("--json", action="store_true")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the regions, by file")
    free = commands.add_parser("free", help="free regions; what is in them is in their files")
    free.add_argument("--all", action="store_true", help="of all files, and blocks without one")
    free.add_argument("file", nargs="*", help="of these files")
    args = parser.parse_args()
    if args.command == "free" and bool(args.file) == args.all:
        parser.error("free takes files, or --all")
    if args.device:
        os.environ["NSWAP_DEVICE"] = args.device
    try:
        attach()
        chosen = _of_files(getattr(args, "file", ()))
        gone = (lambda region: args.all or chosen(region)) \
            if args.command == "free" else (lambda region: False)
        found = [r for r in regions(gone) if args.command == "list" or gone(r)]
    except OSError as why:
        sys.exit(f"error: {why.strerror}: name the device with --device or NSWAP_DEVICE; it must "
                 "not be in use for anything else")
    if args.json:
        print(json.dumps(found))
        return
    # names of files are bytes, and one that was cut off may end within a character
    sys.stdout.reconfigure(errors="surrogateescape")
    for r in found:
        print(f"{r['len']:>12} bytes at {r['offset']:<12} {r['valid_bytes']:>12} in peers' RAM  "
              f"{r['path'] or 'process ' + str(r['pid'])}")
    print(f"{len(found)} regions" + (" freed" if args.command == "free" else ""))


if __name__ == "__main__":
    _main()
