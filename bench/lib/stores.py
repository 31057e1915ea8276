# SPDX-License-Identifier: GPL-2.0
"""redis and memcached, as bench/lib/outside.py runs them: a server in its group, on a
socket in a folder, and one client that knows every value.

Invariant: a value is a function of seed, key and version alone, so each answer can be
compared whole without keeping it.
"""
import hashlib
import itertools
import random
import shutil
import socket
import subprocess
import time

from outcome import Clock, Failed, Latencies, enter

VALUE = 4000
BATCH = 64
WAIT_S = 30
# memcached: YCSB's workload B, a share of writes and keys by Zipf's law with its exponent
WRITES, EXPONENT = 0.05, 0.99
# Room for what it keeps beside values.
SPARE_MB = 64


def value(seed, key, version=0):
    """What belongs to a key: incompressible, and no other one's."""
    return hashlib.shake_128(b"%d %d %d" % (seed, key, version)).digest(VALUE)


class Server:
    """A server of our own, and one connection; refusals: how its own begin."""

    refusals = ()

    def __init__(self, argv, path, group, program=None):
        self.name = argv[0]
        self.process = subprocess.Popen(
            argv, executable=program, stdout=subprocess.DEVNULL,
            preexec_fn=lambda: enter(group))
        try:
            self._connect(path)
        except Failed:
            self.close()
            raise

    def _connect(self, path):
        until = time.monotonic() + WAIT_S
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise Failed(f"{self.name} did not start") from None
                time.sleep(0.02)
        self.file = self.socket.makefile("rb")

    def line(self):
        """The next line it says."""
        line = self.file.readline()
        if not line or line.startswith(self.refusals):
            raise Failed(f"{self.name} said: " + line.decode(errors="replace"))
        return line

    def body(self, size):
        """So many bytes that follow, without their end of line."""
        return self.file.read(size + 2)[:-2]

    def close(self):
        """End the server."""
        self.process.terminate()
        self.process.wait()


class Redis(Server):
    """redis-server, which keeps nothing on a disk."""

    refusals = (b"-",)

    def __init__(self, folder, group):
        # redis-tools has it under this name, and it goes by what it is called
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        if not program:
            raise Failed("redis-tools is not installed", 2)
        path = folder / "socket"
        super().__init__(["redis-server", "--port", "0", "--unixsocket", str(path),
                          "--save", "", "--appendonly", "no", "--dir", str(folder)],
                         path, group, program)

    def send(self, commands):
        """Send commands, each a list of bytes."""
        self.socket.sendall(b"".join(
            b"*%d\r\n" % len(words) +
            b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)
            for words in commands))

    def answer(self):
        """The next answer; None if there is no such key."""
        line = self.line()
        if line[:1] != b"$":
            return line[1:-2]
        size = int(line[1:])
        return self.body(size) if size >= 0 else None

    def put(self, pairs):
        """Set keys, all with one send."""
        self.send([b"SET", b"%d" % key, what] for key, what in pairs)
        for _ in pairs:
            self.answer()

    def get(self, key):
        """The value of a key, or None."""
        self.send([[b"GET", b"%d" % key]])
        return self.answer()


class Memcached(Server):
    """memcached with room for so many MiB, which refuses what goes beyond."""

    refusals = (b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR")

    def __init__(self, folder, group, mb):
        if not shutil.which("memcached"):
            raise Failed("memcached is not installed", 2)
        path = folder / "socket"
        super().__init__(["memcached", "-u", "root", "-s", str(path), "-t", "1", "-M",
                          "-m", str(2 * mb + SPARE_MB)], path, group)

    def put(self, pairs):
        """Set keys, all with one send."""
        self.socket.sendall(b"".join(
            b"set %d 0 0 %d\r\n%s\r\n" % (key, len(what), what) for key, what in pairs))
        for _ in pairs:
            if self.line() != b"STORED\r\n":
                raise Failed("memcached did not store a value")

    def get(self, key):
        """The value of a key, or None."""
        self.socket.sendall(b"get %d\r\n" % key)
        line = self.line()
        if line == b"END\r\n":
            return None
        got = self.body(int(line.split()[3]))
        if self.line() != b"END\r\n":
            raise Failed("memcached said more than one value")
        return got


def filled(server, keys, args):
    """Put a value at each key, spoilt ones first; members for the result."""
    clock = Clock()
    for first in range(0, keys, BATCH):
        server.put([(key, value(args.seed + (key < args.damage), key))
                    for key in range(first, min(keys, first + BATCH))])
    return clock.end("fill_")


def keys_in(args):
    """How many keys take so much memory."""
    return args.mb * 2 ** 20 // (VALUE + 96)


def rest(args):
    """What a unit of work takes, if it is to take something."""
    if args.compute_ns:
        time.sleep(args.compute_ns / 1e9)


def said_of(clock, took, keys, wrong, total):
    """Members for the result of reading."""
    result = {**clock.end(), **took.said()}
    accesses = result["ops"]
    return {**result, "keys": keys, "accesses": accesses, "unit": "requests",
            "verified": accesses - min(wrong, accesses),
            "us_per_access": round(result["seconds"] * 1e6 / accesses, 3),
            "wrong_results": wrong, "checksum": total.hexdigest()[:16]}


def redis(args, folder):
    """Fill a server and read keys at random, one at a time."""
    keys = keys_in(args)
    server = Redis(folder, args.group)
    try:
        result = filled(server, keys, args)
        clock, wrong, order = Clock(), 0, random.Random(args.seed)
        took, total = Latencies(), hashlib.sha256()
        for key in [*range(min(args.damage, keys)),
                    *(order.randrange(keys) for _ in range(keys))]:
            got = took.timed(server.get, key)
            wrong += got != value(args.seed, key)
            total.update(got or b"")
            rest(args)
        result.update(said_of(clock, took, keys, wrong, total))
    finally:
        server.close()
    return result


def memcached(args, folder):
    """Fill a server, then read and now and then write keys of which some are asked
    for far more often than others, one at a time; read all at the end."""
    keys = keys_in(args)
    order, version = random.Random(args.seed), bytearray(keys)
    ranks = list(range(keys))
    order.shuffle(ranks)
    often = list(itertools.accumulate(1 / (n + 1) ** EXPONENT for n in range(keys)))
    server = Memcached(folder, args.group, args.mb)
    try:
        result = filled(server, keys, args)
        clock, wrong, took, total = Clock(), 0, Latencies(), hashlib.sha256()
        for key in order.choices(ranks, cum_weights=often, k=keys):
            if order.random() < WRITES and key >= args.damage:
                version[key] = (version[key] + 1) % 256
                what = value(args.seed, key, version[key])
                took.timed(server.put, [(key, what)])
            else:
                got = took.timed(server.get, key)
                wrong += got != value(args.seed, key, version[key])
                total.update(got or b"")
            rest(args)
        result.update(said_of(clock, took, keys, wrong, total))
        clock = Clock()
        lost = sum(server.get(key) != value(args.seed, key, version[key])
                   for key in range(keys))
        result.update(clock.end("check_"))
    finally:
        server.close()
    # a value that is wrong at the end was wrong whenever it was asked for
    result.update(wrong_results=wrong + lost, verified=keys - lost)
    return result
