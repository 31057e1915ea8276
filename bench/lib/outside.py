#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run third-party programs and verify their results, as our own do: one JSON line out.

    bench/lib/outside.py hpl --mb 64 --library build/bench-programs/libhplsleep.so
    bench/lib/outside.py redis --mb 64

hpl        High Performance Linpack of Debian's hpcc, in one process; its own
           residual check must pass
povray     a field of spheres, as in the Anemone thesis; the checksum of its
           picture is the same with enough RAM
ns2        the network simulator: wireless nodes and seven connections, as in the
           Anemone thesis; the checksum of its trace is the same with enough RAM
redis      redis-server filled with values and then read at random; every value
           must be the one that was put there
memcached  filled likewise, then asked as by YCSB's workload B, 95 of 100 requests
           reads, keys by Zipf's law; every value must be the last one put there
sqlite     SQLite, as Python has it: a table in memory is filled, asked for rows by
           key, for those of a customer by an index, and for a sum of each customer;
           every answer must be right, then all rows and what SQLite says of itself
graph      a graph as in Graph500, made in igraph, PageRank, and searches from some
           vertices; each rank must follow from the others, each search must pass
           Graph500's rules
compiler   gcc -O2 of one large file; each function of the program that it makes must
           come to what is computed here
numpy      arrays: keys sorted, what belongs to them fetched in their order and summed
           by class, two matrices multiplied; each number is compared

Of redis, memcached and sqlite's rows by key the time of each request is taken.

Exit code 0: all right, 1: a wrong result, 2: refused, 3: the program failed.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import sys
import tempfile

import computing
import orders
import stores
from outcome import Clock, Failed, Latencies, enter, run

# What a program takes before it has anything to do, in MiB.
HPL_BASE, POV_BASE, NS_BASE, SQL_BASE = 20, 18, 18, 20
# and for each sphere or simulated node in bytes.
POV_SPHERE, NS_NODE = 1000, 185_000
POV_WIDTH, POV_HEIGHT = 320, 240
HPL_BLOCK = 64
# How its matrix lies on so many ranks: rows and columns of them.
HPL_GRIDS = {1: (1, 1), 4: (2, 2)}
# How Open MPI starts them, and what it is told of one process and of several.  Over its
# shared memory a rank that swaps was seen to turn without end under virtual time, without a
# system call: perhaps at a queue whose writer waited for a page.
HPL_START = ("mpirun", "--oversubscribe", "--bind-to", "none", "-np")
HPL_ALONE = {"OMPI_MCA_btl": "self", "OMPI_MCA_ess_singleton_isolated": "1"}
HPL_TOGETHER = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_mpi_yield_when_idle": "1",
                "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo",
                "PMIX_MCA_gds": "hash", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# OpenBLAS, which hpl and numpy multiply with, takes its kernels by the processor's model, and
# how much memory they work in with them: HPL that swaps takes 3.75 s with Haswell's and
# SkylakeX's, 4.09 with these, which every x86-64-v2 can run.
OPENBLAS = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"}
# What is simulated, and how long. It sleeps for its computing every so many milliseconds
# of these.
NS_SCENE = pathlib.Path(__file__).resolve().with_name("wireless.tcl")
NS_SECONDS, NS_STEP_MS = 100, 100
NS_LEAST = 14           # nodes: two for each connection
# One row of a table, and all those of one customer, of so many are asked for.
SQL_ROWS, SQL_CUSTOMERS = 8, 16

HPL_INPUT = """HPLinpack benchmark input file
nswap
HPL.out output file name (if any)
6 device out
1 # of problems sizes (N)
{n} Ns
1 # of NBs
{block} NBs
0 PMAP process mapping
1 # of process grids (P x Q)
{rows} Ps
{columns} Qs
16.0 threshold
1 # of panel fact
1 PFACTs (Crout)
1 # of recursive stopping criterium
4 NBMINs
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (Crout)
1 # of broadcast
0 BCASTs
1 # of lookahead depth
0 DEPTHs
2 SWAP (mix)
64 swapping threshold
0 L1 in transposed form
0 U in transposed form
1 Equilibration
8 memory alignment in double
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""

SCENE = """#version 3.7;
global_settings {{ assumed_gamma 1.0 }}
#declare N = {side};
camera {{ location <0, N / 3, -N / 2.2> look_at <0, 0, -N / 20> }}
light_source {{ <100, 400, -350> rgb 1 }}
#declare R = seed({seed});
#for (I, 0, N - 1)
#for (J, 0, N - 1)
sphere {{ <(I - N / 2) * 0.5, 0, (J - N / 2) * 0.5>, 0.25
    pigment {{ rgb <rand(R), rand(R), rand(R)> }} }}
#end
#end
{damage}
"""


# -- HPL --------------------------------------------------------------------

def hpl_report(folder):
    """What the library says of the operations of all ranks, and of the longest sleep."""
    said = [json.loads(path.read_text()) for path in folder.glob("report*")]
    return {"flops": sum(one["flops"] for one in said),
            "slept_seconds": max(one["slept_seconds"] for one in said)}


def hpl(args, folder):
    """HPL with a matrix of this size."""
    if not args.library:
        raise Failed("hpl wants --library, see --help", 2)
    n = int((max(1, args.mb - HPL_BASE) * 2 ** 20 / 8) ** 0.5)
    n = max(HPL_BLOCK, n - n % HPL_BLOCK)
    rows, columns = HPL_GRIDS[args.ranks]
    (folder / "hpccinf.txt").write_text(HPL_INPUT.format(
        n=n, block=HPL_BLOCK, rows=rows, columns=columns))
    clock = Clock()
    # by default Open MPI looks for fast networks too, and waits until it knows how
    # fast the processor's own counter runs: in real time, under virtual time as well
    run(["hpcc"] if args.ranks == 1 else [*HPL_START, str(args.ranks), "hpcc"], folder,
        LD_PRELOAD=str(pathlib.Path(args.library).resolve()),
        HPL_ONLY="1", HPL_NS_PER_KFLOP=str(args.compute_ns),
        HPL_REPORT=str(folder / "report"), HPL_DAMAGE=str(args.damage),
        TMPDIR=str(folder), OMPI_MCA_pml="ob1",
        **(HPL_ALONE if args.ranks == 1 else HPL_TOGETHER))
    result = clock.end("run_")
    text = (folder / "hpccoutf.txt").read_text(errors="replace")
    # to six digits, where the row of results has hundredths of a second
    took = re.search(r"^HPL_time=(\S+)", text, re.M)
    check = re.search(r"^\|\|Ax-b\|\|\S+=\s*(\S+) \.* (\w+)", text, re.M)
    if not took or not check:
        raise Failed("hpcc said nothing of a residual: " + text.strip()[-300:])
    if float(took[1]) <= 0:
        raise Failed(f"hpcc says that HPL took {took[1]} s")
    right = check[2] == "PASSED"
    # HPL's own time is that of the factorisation and solution
    result.update(
        n=n, seconds=float(took[1]), residual=float(check[1]),
        verified=n if right else 0, wrong_results=int(not right),
        checksum=check[1], pswpin=result.pop("run_pswpin"),
        pswpout=result.pop("run_pswpout"), **hpl_report(folder))
    return result


# -- POV-Ray ----------------------------------------------------------------

def povray(args, folder):
    """A picture of so many spheres as take this much memory."""
    side = int((max(1, args.mb - POV_BASE) * 2 ** 20 / POV_SPHERE) ** 0.5)
    odd = "sphere { <0, 1, -N / 5>, 2 pigment { rgb 1 } }" if args.damage else ""
    scene = SCENE.format(side=side, seed=args.seed, damage=odd)
    (folder / "scene.pov").write_text(scene)
    clock = Clock()
    run(["povray", "+Iscene.pov", "+Opicture.ppm", "+FP8", f"+W{POV_WIDTH}",
         f"+H{POV_HEIGHT}", "-D", "-GA", "+WT1"], folder, HOME=str(folder))
    result = clock.end()
    # what stands before the pixels names the day
    picture = (folder / "picture.ppm").read_bytes()[-POV_WIDTH * POV_HEIGHT * 3:]
    result.update(spheres=side * side, wrong_results=0,
                  verified=int(len(set(picture)) > 32),
                  checksum=hashlib.sha256(picture).hexdigest()[:16])
    if not result["verified"]:
        raise Failed("povray drew nothing")
    return result


# -- ns-2 -------------------------------------------------------------------

def ns2(args, folder):
    """A simulation of so many wireless nodes as take this much memory."""
    nodes = max(NS_LEAST, (args.mb - NS_BASE) * 2 ** 20 // NS_NODE)
    trace = folder / "trace"
    clock = Clock()
    run(["ns", NS_SCENE, str(nodes), str(NS_SECONDS), str(args.seed + args.damage),
         str(round(args.compute_ns * NS_STEP_MS / 1e6)), trace], folder)
    result = clock.end()
    text = trace.read_bytes()
    # "r 1.234 _23_ AGT …": what a program got
    result.update(nodes=nodes, wrong_results=0, verified=text.count(b"\nr "),
                  checksum=hashlib.sha256(text).hexdigest()[:16])
    if not result["verified"]:
        raise Failed("in ns no packet arrived")
    return result


# -- SQLite -----------------------------------------------------------------

def sqlite(args, _):
    """Fill a table, ask for some of it and for all, and compare all of it."""
    enter(args.group)
    table = orders.Orders(max(1, args.mb - SQL_BASE), args.seed, args.damage)
    order, total = random.Random(args.seed), hashlib.sha256()
    wrong, accesses, took = 0, table.rows, Latencies()
    clock, base = Clock(), sqlite3.connect(":memory:")
    base.executescript(orders.SCHEMA)
    with base:
        base.executemany(orders.INSERT, table.made())
    base.execute(orders.INDEX)
    result, clock = clock.end("fill_"), Clock()

    def ask(question, *what):
        got = base.execute(question, what).fetchall()
        total.update(repr(got).encode())
        return got
    for key in [*range(min(args.damage, table.rows)),
                *(order.randrange(table.rows) for _ in range(table.rows // SQL_ROWS))]:
        wrong += took.timed(ask, orders.BY_KEY, key) != [table.row(key)]
        accesses += 1
        stores.rest(args)
    for _ in range(-(-table.customers // SQL_CUSTOMERS)):
        who = order.randrange(table.customers)
        wrong += ask(orders.BY_CUSTOMER, who) != [table.of_customer(who)]
        accesses += table.count[who]
    wrong += ask(orders.OF_EACH) != table.of_each()
    result.update(clock.end())
    clock = Clock()
    right = sum(row == table.row(row[0]) for row in base.execute(orders.ALL))
    wrong += right != table.rows
    wrong += base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
    base.close()
    return {**result, **clock.end("check_"), **took.said(), "unit": "requests",
            "rows": table.rows, "accesses": accesses, "verified": right,
            "wrong_results": wrong,
            "us_per_access": round(result["seconds"] * 1e6 / accesses, 3),
            "checksum": total.hexdigest()[:16]}


PROGRAMS = {"hpl": hpl, "povray": povray, "ns2": ns2, "redis": stores.redis,
            "memcached": stores.memcached, "sqlite": sqlite, "graph": computing.graph,
            "compiler": computing.compiler, "numpy": computing.arrays}


class Parser(argparse.ArgumentParser):
    """A refusal is one sentence."""

    def error(self, message):
        self.exit(2, f"error: {message}, see --help\n")


def main():
    parser = Parser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=sorted(PROGRAMS))
    parser.add_argument("--mb", type=int, default=64,
                        help="memory it takes, about (default 64)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of everything random (default 1)")
    parser.add_argument("--compute-ns", type=int, default=0,
                        help="sleep N nanoseconds a unit of work (default 0): "
                        "1000 floating point operations (hpl), a simulated millisecond "
                        "(ns2), one key asked for (redis, memcached, sqlite)")
    parser.add_argument("--library", help="hpl: path of libhplsleep.so")
    parser.add_argument("--ranks", type=int, choices=HPL_GRIDS, default=1,
                        help="hpl: processes that share the matrix (default 1)")
    parser.add_argument("--damage", type=int, default=0,
                        help="spoil something: the Nth product (hpl), the scene (povray, "
                        "ns2), N values (redis, memcached), rows (sqlite), edges (graph), "
                        "functions (compiler) or keys (numpy)")
    parser.add_argument("--group", help="a folder of /sys/fs/cgroup that the program "
                        "goes into, without what asks it and compares")
    args = parser.parse_args()
    for name in ("seed", "compute_ns", "damage"):
        if getattr(args, name) < 0:
            parser.error(f"--{name.replace('_', '-')} must not be below 0")
    if args.mb < 1:
        parser.error("--mb must be at least 1")
    os.environ.update(OPENBLAS)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nswap-bench-"))
    try:
        result = PROGRAMS[args.program](args, folder)
    except (Failed, OSError) as why:
        print(f"error: {why}", file=sys.stderr)
        return getattr(why, "code", 3)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    known = {"program": args.program, "mb": args.mb, "seed": args.seed,
             "compute_ns": args.compute_ns, "wrong_pages": 0}
    print(json.dumps({**known, **result}))
    return 1 if result["wrong_results"] else 0


if __name__ == "__main__":
    sys.exit(main())
