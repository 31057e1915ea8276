# SPDX-License-Identifier: GPL-2.0
"""Programs that use libnswap, each a process that does what a scenario tells it.

    with Program(library, device, directory) as program:
        region = program.mopen(path, 4096, 0)
        program.mread(region, 0, 4096)      # bytes, or the name of the errno

Calls have the names of the paper; the Python binding makes them.  The process ends by itself,
as programs do, with the with, or by kill().
"""
import concurrent.futures
import errno
import os
import pathlib
import pickle
import random
import resource
import subprocess
import sys

BINDING = pathlib.Path(__file__).resolve().parent.parent.parent / "lib/python"


class Program:
    """A process that has libnswap loaded; environment: more of it, by name."""

    def __init__(self, library, device, directory=None, **environment):
        if directory:
            environment["NSWAP_DIRECTORY"] = str(directory)
        if device:
            environment["NSWAP_DEVICE"] = str(device)
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **environment, "NSWAP_LIBRARY": str(library),
                 "PYTHONPATH": str(BINDING)})

    def start(self, name, *args):
        """Have it do something; result() waits for the end of that."""
        pickle.dump((name, args), self.process.stdin)
        self.process.stdin.flush()

    def result(self):
        """What the call returned, or the name of the errno it failed with."""
        return pickle.load(self.process.stdout)

    def __getattr__(self, name):
        def call(*args):
            self.start(name, *args)
            return self.result()
        return call

    def kill(self):
        """End it at once."""
        self.process.kill()
        self.process.wait()

    def close(self):
        """Let it end."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Served:
    """The calls, in the process."""

    def __init__(self):
        import nswap    # needs the library that the environment names
        self.nswap = nswap
        self.files = {}
        self.maps = {}

    def _file(self, path, flags):
        if (path, flags) not in self.files:
            self.files[path, flags] = os.open(path, flags)
        return self.files[path, flags]

    def _open(self, kind, path, length, offset, flags=os.O_RDWR):
        fd = path if isinstance(path, int) else self._file(path, flags)
        region = kind(fd, offset, length)
        self.maps[kind, region.number] = region
        return region.number

    def _of(self, kind, number):
        if (kind, number) not in self.maps:
            region = kind.__new__(kind)
            region.number, region.length = number, 0
            return region
        return self.maps[kind, number]

    def mopen(self, *args):
        """path or descriptor, length, offset, flags of open()"""
        return self._open(self.nswap.Region, *args)

    def copen(self, *args):
        """The same behind the local cache."""
        return self._open(self.nswap.Cached, *args)

    def alloc(self, length):
        """Blocks without a file; mread, mwrite and free take them."""
        blocks = self.nswap.Blocks(length)
        self.maps[self.nswap.Blocks, blocks.number] = blocks
        return blocks.number

    def free(self, number):
        """Free blocks without a file."""
        self._of(self.nswap.Blocks, number).close()

    def place(self, number, tier):
        """Bring blocks, or a region, to a tier; how many pages are elsewhere."""
        kind = self.nswap.Blocks if (self.nswap.Blocks, number) in self.maps else \
            self.nswap.Region
        return self._of(kind, number).place(tier)

    def fork(self, number, offset, length):
        """What a child reads from a region."""
        here, there = os.pipe()
        if not os.fork():
            os.write(there, self.call("mread", number, offset, length))
            os._exit(0)
        os.close(there)
        with os.fdopen(here, "rb") as pipe:
            data = pipe.read()
        os.wait()
        return data

    def raw(self, name, *args):
        """A function of the library with these numbers."""
        return self.nswap._call(name, *args)

    def work(self, number, first, end, seed, rounds):
        """Random reads and writes of a part of a region that is its own; how many reads were
        wrong, and the part's data."""
        choose = random.Random(seed)
        data, wrong = bytearray(self.call("mread", number, first, end - first)), 0
        for _ in range(rounds):
            at, size = choose.randrange(end - first), choose.randrange(1, 9000)
            size = min(size, end - first - at)
            if choose.random() < 0.5:
                data[at:at + size] = choose.randbytes(size)
                self.call("mwrite", number, first + at, data[at:at + size])
            else:
                wrong += self.call("mread", number, first + at, size) != data[at:at + size]
        return wrong, bytes(data)

    def churn(self, path, first, end, seed, rounds):
        """Regions of a part of a file are opened, read and closed; what was read wrong, and
        calls that failed."""
        choose = random.Random(seed)
        with open(path, "rb") as file:
            data = file.read()
        wrong = 0
        for _ in range(rounds):
            at = choose.randrange(first, end)
            size = choose.randrange(1, end - at + 1)
            region = self.call("mopen", path, size, at)
            wrong += self.call("mread", region, 0, size) != data[at:at + size]
            self.call("mclose", region)
        return wrong

    def threads(self, number, bounds, seed, rounds):
        """work() of a thread for each part, at once."""
        with concurrent.futures.ThreadPoolExecutor(len(bounds)) as pool:
            done = [pool.submit(self.work, number, *part, f"{seed}.{part}", rounds)
                    for part in bounds]
            return [one.result() for one in done]

    def hammer(self, number, seed, length):
        """Random writes until it is killed."""
        choose = random.Random(seed)
        while True:
            at = choose.randrange(length)
            self.call("mwrite", number, at, choose.randbytes(choose.randrange(1, 60000)))

    def limit(self, size):
        """How large files may become; -1: no limit."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, -1))

    def policy(self, number):
        """Of the local cache."""
        self.nswap.set_policy(number)

    def write_mode(self, mode):
        """Through or back."""
        self.nswap.set_write(mode)

    def size(self, size):
        """Of the local cache."""
        self.nswap.set_size(size)

    def counts(self):
        """What the library did, by name."""
        return self.nswap.counts()

    def regions(self):
        """What is in the directory."""
        return self.nswap.regions()

    def free_all(self):
        """Free all that is in the directory."""
        return len(self.nswap.regions(lambda region: True))

    def call(self, name, *args):
        """Any of the calls, by its name in the paper or here."""
        if not hasattr(Served, name):
            kind = self.nswap.Region if name[0] == "m" else self.nswap.Cached
            return getattr(self._of(kind, args[0]), name[1:])(*args[1:])
        return getattr(self, name)(*args)


def serve():
    """The process: calls from standard input, results to standard output."""
    served = Served()
    while True:
        try:
            name, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = served.call(name, *args)
        except OSError as why:
            result = errno.errorcode[why.errno]
        pickle.dump(result, sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
