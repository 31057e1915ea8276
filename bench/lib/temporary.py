#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run programs that keep temporary files in a folder, and verify what comes of it: one
JSON line out.

    bench/lib/temporary.py sort --dir DIR --mb 32
    bench/lib/temporary.py sqlite --dir DIR --mb 32
    bench/lib/temporary.py compile --dir DIR --mb 24

sort     sort -T DIR with a buffer of 1 MiB, lines through pipes: they must come in
         order, and be those that were put in
sqlite   a temporary table of the sqlite3 shell, on file, with 0.5 MiB of cache; filled,
         indexed, sorted by a column without index, asked for rows by key and by index,
         and for a sum of each customer; every answer must be right, then all rows and
         what SQLite says of itself
compile  gcc with TMPDIR=DIR, many sources in one command, so that their objects wait
         there for the linker; the program is put there too, and what it prints must be
         what its sources say

With --group the program, not this one, is in that memory cgroup.

Exit code 0: all right, 1: a wrong result, 2: refused, 3: the program failed.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

# bench instead of bench/lib
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib import orders  # noqa: E402 (needs the path above)

# Hexadecimal digits of a line, and how much of them sort keeps in memory.
LINE, SORT_BUFFER = 100, "1M"
# SQLite's cache, of which its sorter may take as much again, in KiB.
SQL_CACHE_KB = 512
# One row of a table, and all those of one customer, of so many are asked for.
SQL_FEW = 16
# A source has so many functions, and so much text.
FUNCTIONS, TEXT = 60, 1 << 20
MASK = (1 << 32) - 1

FUNCTION = """static unsigned f{i}(unsigned x)
{{
	unsigned i;

	for (i = 0; i < {rounds}; i++) {{
		x = x * {a}u + {b}u;
		x ^= x >> 15;
		if (x & 1)
			x += {c}u;
	}}
	return x;
}}
"""
UNIT = """
unsigned sum{k}(void)
{{
	unsigned a = 1, b = 0, i;

	for (i = 0; i < sizeof(text) - 1; i++) {{
		a = (a + text[i]) % 65521;
		b = (b + a) % 65521;
	}}
	return b << 16 | a;
}}

unsigned unit{k}(unsigned x)
{{
{calls}	return x;
}}
"""
MAIN = """#include <stdio.h>

{declared}
int main(void)
{{
{printed}	return 0;
}}
"""


class Failed(Exception):
    """The program failed: one sentence and the exit code."""

    def __init__(self, sentence, code=3):
        super().__init__(sentence)
        self.code = code


class Program:
    """A program under test, in its group; as a context it must end well."""

    def __init__(self, argv, args, **options):
        def enter():
            if args.group:
                (args.group / "cgroup.procs").write_text(str(os.getpid()))
        self.name = argv[0]
        self.begin, self.seconds = time.monotonic(), 0
        self.process = subprocess.Popen(
            argv, preexec_fn=enter, stderr=subprocess.PIPE, cwd=args.dir,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TMPDIR": str(args.dir),
                 "SQLITE_TMPDIR": str(args.dir)}, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        failed = kind and not issubclass(kind, BrokenPipeError)
        if failed:
            self.process.kill()
        if self.process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        said = self.process.stderr.read().decode(errors="replace").strip()
        self.process.stderr.close()
        if self.process.stdout:
            self.process.stdout.close()
        code = self.process.wait()
        self.seconds = time.monotonic() - self.begin
        if code and not failed:
            raise Failed(f"{self.name} ended with {code}: {said[-300:]}")


def spoil(path, places):
    """Change bytes of a file that a program keeps: as many, in its first half."""
    with open(path, "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for n in range(places):
            at = size // 2 * (n + 1) // (places + 1)
            old = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), b"0" if old != b"0" else b"1", at)


def largest(paths):
    """The largest of some files that are there."""
    paths = [path for path in paths if path.is_file()]
    if not paths:
        raise Failed("there is no temporary file")
    return max(paths, key=lambda path: path.stat().st_size)


# -- sort -------------------------------------------------------------------

def lines(args):
    """What is to be sorted: incompressible but for being digits."""
    for n in range(args.mb * 2 ** 20 // (LINE + 1)):
        yield hashlib.shake_128(b"%d line %d" % (args.seed, n)).hexdigest(
            LINE // 2).encode() + b"\n"


class Lines:
    """Lines that went by: how many, and the sum of their checksums."""

    def __init__(self):
        self.count = self.total = 0

    def add(self, line):
        """One more."""
        digest = hashlib.blake2b(line, digest_size=16).digest()
        self.total = (self.total + int.from_bytes(digest, "big")) % (1 << 128)
        self.count += 1


def sort(args):
    """Lines in, the same lines in order out."""
    put, got, disorder, last = Lines(), Lines(), 0, b""
    whole = hashlib.sha256()
    with Program(["sort", "-T", str(args.dir), "-S", SORT_BUFFER, "--parallel=1"], args,
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        for line in lines(args):
            put.add(line)
            program.process.stdin.write(line)
        program.process.stdin.flush()
        if args.damage:
            spoil(largest(args.dir.iterdir()), args.damage)
        program.process.stdin.close()
        filled = time.monotonic() - program.begin
        for line in program.process.stdout:
            got.add(line)
            whole.update(line)
            disorder += line < last
            last = line
    return {"seconds": program.seconds, "fill_seconds": filled, "verified": got.count,
            "wrong_results": disorder + ((got.count, got.total) != (put.count, put.total)),
            "checksum": whole.hexdigest()[:16]}


# -- SQLite -----------------------------------------------------------------

class Shell:
    """The sqlite3 shell: it answers a line before it reads the next one."""

    END = "-- over --"

    def __init__(self, process):
        self.process = process
        self.total = hashlib.sha256()

    def say(self, text):
        """What has no answer."""
        self.process.stdin.write(text.encode() + b"\n")

    def answers(self, question, *what):
        """The rows that come back, lists of words."""
        for value in what:
            question = question.replace("?", str(value), 1)
        self.say(question + f";\n.print '{self.END}'")
        self.process.stdin.flush()
        for line in self.process.stdout:
            line = line.decode().rstrip("\n")
            if line == self.END:
                return
            self.total.update(line.encode())
            yield line.split("|")
        raise Failed("sqlite3 ended: " +
                     self.process.stderr.read().decode(errors="replace").strip()[-300:])

    def answer(self, question, *what):
        """All of them."""
        return list(self.answers(question, *what))


def words(rows):
    """Rows as the shell prints them."""
    return [[word.hex().upper() if isinstance(word, bytes) else str(word) for word in row]
            for row in rows]


def in_order(shell, table):
    """All rows by a column without index: how many are out of order or twice."""
    last, seen, wrong = b"", bytearray(table.rows), 0
    for key, in shell.answers("SELECT id FROM orders ORDER BY note"):
        note = table.row(int(key))[3]
        wrong += note < last or seen[int(key)]
        last, seen[int(key)] = note, 1
    return wrong + seen.count(0)


def asked(shell, table, order):
    """Rows by key, those of some customers, and sums: how many answers are wrong."""
    hexed = "id, customer, amount, hex(note)"
    wrong = 0
    for _ in range(table.rows // SQL_FEW):
        key = order.randrange(table.rows)
        wrong += shell.answer(orders.BY_KEY.replace("*", hexed), key) != \
            words([table.row(key)])
    for _ in range(-(-table.customers // SQL_FEW)):
        who = order.randrange(table.customers)
        count, total = table.of_customer(who)
        wrong += shell.answer(orders.BY_CUSTOMER, who) != words([(count, float(total))])
    return wrong + (shell.answer(orders.OF_EACH) != words(table.of_each()))


def sqlite(args):
    """Fill a temporary table, ask for some of it and for all, and compare all of it."""
    table = orders.Orders(args.mb, args.seed)
    with Program(["sqlite3", "-batch", "-bail", ":memory:"], args,
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        shell = Shell(program.process)
        shell.say("PRAGMA temp_store = FILE;")
        for schema in ("main", "temp"):
            shell.say(f"PRAGMA {schema}.cache_size = -{SQL_CACHE_KB};")
        shell.say("CREATE TEMP TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, "
                  "amount INTEGER, note BLOB);\nBEGIN;")
        for key, customer, amount, note in table.made():
            shell.say(f"INSERT INTO orders VALUES ({key}, {customer}, {amount}, "
                      f"x'{note.hex()}');")
        shell.say(f"COMMIT;\n{orders.INDEX};")
        wrong = shell.answer("SELECT count(*) FROM orders") != [[str(table.rows)]]
        filled = time.monotonic() - program.begin
        if args.damage:
            spoil(largest(pathlib.Path(f"/proc/{program.process.pid}/fd").iterdir()),
                  args.damage)
        wrong += in_order(shell, table) + asked(shell, table, random.Random(args.seed))
        took = time.monotonic() - program.begin
        right = sum(row == words([table.row(int(row[0]))])[0] for row in
                    shell.answers("SELECT id, customer, amount, hex(note) FROM orders "
                                  "ORDER BY id"))
        wrong += table.rows - right
        wrong += shell.answer("PRAGMA integrity_check") != [["ok"]]
        shell.say(".quit")
    return {"seconds": took, "fill_seconds": filled, "verified": right,
            "check_seconds": program.seconds - took, "wrong_results": wrong,
            "checksum": shell.total.hexdigest()[:16]}


# -- the compiler -----------------------------------------------------------

class Unit:
    """A source; sum and value are what the program must print of it."""

    def __init__(self, folder, number, seed):
        numbers = random.Random(f"{seed} unit {number}")
        text = numbers.randbytes(TEXT // 2).hex()
        code, calls, value = [], [], number
        for i in range(FUNCTIONS):
            a, b, c = (numbers.getrandbits(32) | 1 for _ in range(3))
            rounds = numbers.randrange(2, 6)
            code.append(FUNCTION.format(i=i, rounds=rounds, a=a, b=b, c=c))
            calls.append(f"\tx = f{i}(x);\n")
            for _ in range(rounds):
                value = (value * a + b) & MASK
                value ^= value >> 15
                value = (value + c * (value & 1)) & MASK
        self.sum, self.value = zlib.adler32(text.encode()), value
        self.path = folder / f"unit{number}.c"
        self.path.write_text(
            "".join(code) + "static const char text[] =" +
            "".join(f'\n"{text[at:at + 64]}"' for at in range(0, TEXT, 64)) + ";\n" +
            UNIT.format(k=number, calls="".join(calls)))


def main_of(folder, count):
    """The source that calls all others."""
    path = folder / "main.c"
    path.write_text(MAIN.format(
        declared="".join(f"unsigned sum{k}(void), unit{k}(unsigned);\n"
                         for k in range(count)),
        printed="".join(f'\tprintf("%u %u\\n", sum{k}(), unit{k}({k}));\n'
                        for k in range(count))))
    return path


def compiler(args):
    """Sources in one command; the program must print what they say."""
    program = args.dir / "program"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nswap-bench-"))
    try:
        units = [Unit(folder, k, args.seed) for k in range(max(1, (args.mb << 20) // TEXT))]
        sources = [main_of(folder, len(units)), *(unit.path for unit in units)]
        argv = ["gcc", "-O1", "-o", str(program), *map(str, sources)]
        if args.damage:
            argv[1:1] = ["-wrapper", f"{sys.executable},{os.path.abspath(__file__)},--spoil,"
                         f"{args.damage}"]
        with Program(argv, args) as compiled:
            pass
    finally:
        shutil.rmtree(folder)
    with Program([str(program)], args, stdout=subprocess.PIPE) as ran:
        said = ran.process.stdout.read().decode().splitlines()
    right = sum(line == f"{unit.sum} {unit.value}" for line, unit in zip(said, units))
    checksum = hashlib.sha256(program.read_bytes()).hexdigest()[:16]
    program.unlink()
    return {"seconds": compiled.seconds, "check_seconds": ran.seconds, "verified": right,
            "wrong_results": len(units) - right, "checksum": checksum}


def spoilt(damage, argv):
    """Between compiler and assembler: change a byte of the text of the first sources,
    then go on as the compiler asked."""
    if pathlib.Path(argv[0]).name == "as":
        path = next(word for word in argv if word.endswith(".s"))
        head = pathlib.Path(path).read_bytes()[:200]
        if any(b'"unit%d.c"' % k in head for k in range(damage)):
            spoil(path, 1)
    os.execvp(argv[0], argv)


PROGRAMS = {"sort": sort, "sqlite": sqlite, "compile": compiler}


class Parser(argparse.ArgumentParser):
    """A refusal is one sentence."""

    def error(self, message):
        self.exit(2, f"error: {message}, see --help\n")


def parse():
    """The command line."""
    parser = Parser(description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=sorted(PROGRAMS))
    parser.add_argument("--dir", type=pathlib.Path, required=True,
                        help="where the temporary files are")
    parser.add_argument("--mb", type=int, default=32,
                        help="what is sorted, kept or compiled, in MiB (default 32)")
    parser.add_argument("--group", type=pathlib.Path,
                        help="folder of the memory cgroup that the program is in")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of everything random (default 1)")
    parser.add_argument("--damage", type=int, default=0,
                        help="spoil something in the temporary files: N bytes, or those of "
                        "N sources (compile)")
    args = parser.parse_args()
    if args.mb < 1:
        parser.error("--mb must be at least 1")
    for name in ("seed", "damage"):
        if getattr(args, name) < 0:
            parser.error(f"--{name} must not be below 0")
    if not args.dir.is_dir():
        parser.error(f"--dir: {args.dir} is no folder")
    args.dir = args.dir.resolve()
    return args


def main():
    if sys.argv[1:2] == ["--spoil"]:
        spoilt(int(sys.argv[2]), sys.argv[3:])
    args = parse()
    try:
        result = PROGRAMS[args.program](args)
    except (Failed, OSError) as why:
        print(f"error: {why}", file=sys.stderr)
        return getattr(why, "code", 3)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    known = {"program": args.program, "mb": args.mb, "seed": args.seed,
             "cpu_seconds": round(used.ru_utime + used.ru_stime, 3)}
    print(json.dumps({**known, **{key: round(value, 6) if isinstance(value, float) else value
                                  for key, value in result.items()}}))
    return 1 if result["wrong_results"] else 0


if __name__ == "__main__":
    sys.exit(main())
