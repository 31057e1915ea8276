# SPDX-License-Identifier: GPL-2.0
"""Programs of today that compute, as bench/lib/outside.py runs them: a compiler, a
graph in igraph, arrays in numpy.

Invariant: what is compared with is made again from the seed, in pieces, and never
taken from memory that the program itself has filled.
"""
import hashlib
import importlib
import math
import random
import subprocess

from outcome import Clock, Failed, enter, run

# -- the compiler -------------------------------------------------------------

# What gcc takes for one of the functions, in KiB, and before it has any.
FUNCTION_KB, GCC_KB = 900, 6 * 1024
STEPS = 10
WORD = 1 << 32
# When it looks for memory to free: as on a machine with 1 GiB or more, wherever it is.
COLLECT = ["--param", "ggc-min-expand=100", "--param", "ggc-min-heapsize=131072"]

HEAD = "#include <stdio.h>\n"
BEGIN = """
unsigned f{name}(unsigned y)
{{
	unsigned a[8], i;

	for (i = 0; i < 8; i++)
		a[i] = y = y * {0}u + i * {1}u;
"""
STEP = """	for (i = 0; i < 8; i++) {{
		y = (y ^ a[(i + {at}) & 7]) * {by}u;
		y ^= y >> {shift};
		if (y & {bit}u)
			a[i] += y;
	}}
"""
END = "\treturn y;\n}\n"
# called by a table, so that no function becomes part of another one
MAIN = """
unsigned (*const all[])(unsigned) = {{ {names} }};

int main(void)
{{
	unsigned i;

	for (i = 0; i < {count}; i++)
		printf("%u\\n", all[i](i));
	return 0;
}}
"""


def numbers(seed, name):
    """The constants of a function: odd, so that no factor is lost."""
    order = random.Random(f"{seed} {name}")
    return [order.randrange(WORD) | 1 for _ in range(2 + STEPS)]


def steps(constants):
    """Those of its loops: (where, factor, shift, bit)."""
    return [(k % 8, k, k % 23 + 5, 1 << k % 31) for k in constants[2:]]


def source(seed, name):
    """A function in C."""
    constants = numbers(seed, name)
    return BEGIN.format(*constants[:2], name=name) + "".join(
        STEP.format(at=at, by=by, shift=shift, bit=bit)
        for at, by, shift, bit in steps(constants)) + END


def computed(seed, name):
    """What the function comes to, here."""
    constants, y, a = numbers(seed, name), name, [0] * 8
    for i in range(8):
        a[i] = y = (y * constants[0] + i * constants[1]) % WORD
    for at, by, shift, bit in steps(constants):
        for i in range(8):
            y = (y ^ a[(i + at) & 7]) * by % WORD
            y ^= y >> shift
            if y & bit:
                a[i] = (a[i] + y) % WORD
    return y


def compiler(args, folder):
    """gcc -O2 of one file of so many functions; the program is then run, and each
    function must come to what it comes to here."""
    count = max(1, (args.mb * 1024 - GCC_KB) // FUNCTION_KB)
    (folder / "many.c").write_text(
        HEAD + "".join(source(args.seed + (n < args.damage), n) for n in range(count)) +
        MAIN.format(names=", ".join(f"f{n}" for n in range(count)), count=count))
    clock = Clock()
    run(["gcc", "-O2", *COLLECT, "-c", "many.c", "-o", "many.o"], folder, args.group,
        TMPDIR=str(folder))
    result = clock.end()
    run(["gcc", "many.o", "-o", "many"], folder)
    said = subprocess.run([folder / "many"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.split()
    right = sum(said[n:n + 1] == [str(computed(args.seed, n))] for n in range(count))
    return {**result, "ops": count, "unit": "functions", "verified": right,
            "ops_per_s": round(count / result["seconds"], 3),
            "wrong_results": count - right, "checksum": hashlib.sha256(
                (folder / "many.o").read_bytes()).hexdigest()[:16]}


# -- the graph ----------------------------------------------------------------

# As in Graph500: how many edges a vertex has on average, the chances of the four
# quarters of the matrix that an edge falls into, searches from several vertices.
EDGES_EACH, QUARTERS, SEARCHES = 16, (0.57, 0.19, 0.19, 0.05), 4
# PageRank's usual factor, and how far off a vertex may be, of its rank.
DAMPING, OFF = 0.85, 1e-6
PIECE = 1 << 16
# What igraph takes for an edge while the graph is made, in bytes.
EDGE = 160
# An odd factor takes each number below a power of two to another one.
MIXED = 0x9E3779B1


def with_libraries(*names):
    """Debian's libraries for Python, which this is in the group without."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as why:
        raise Failed(f"python3-{why.name} is not installed", 2) from None


class Rmat:
    """The edges of a graph as in Graph500: a function of the seed, made piece by piece."""

    def __init__(self, numpy, seed, scale):
        self.numpy, self.seed, self.scale = numpy, seed, scale
        self.vertices, self.edges = 1 << scale, EDGES_EACH << scale
        self.out = numpy.zeros(self.vertices)
        into = numpy.zeros(self.vertices)
        for one, other in self.pieces():
            self.out += numpy.bincount(one, minlength=self.vertices)
            into += numpy.bincount(other, minlength=self.vertices)
        self.degree = self.out + into

    def pieces(self):
        """Edges as two arrays of vertices, in always the same pieces."""
        numpy = self.numpy
        a, b, c, _ = QUARTERS
        for first in range(0, self.edges, PIECE):
            order = numpy.random.default_rng([self.seed, first])
            ends = numpy.zeros((2, min(PIECE, self.edges - first)), dtype=numpy.int64)
            for _ in range(self.scale):
                drawn = order.random(ends.shape[1])
                down = drawn >= a + b
                ends[0] = 2 * ends[0] + down
                ends[1] = 2 * ends[1] + numpy.where(down, drawn >= a + b + c, drawn >= a)
            yield (ends * MIXED) & (self.vertices - 1)

    def array(self, spoilt):
        """All edges, and so many that there are not, from where most edges are to
        vertices that have none."""
        numpy = self.numpy
        edges = numpy.empty((self.edges + spoilt, 2), dtype=numpy.int64)
        for number, ends in enumerate(self.pieces()):
            edges[number * PIECE:][:ends.shape[1]] = ends.T
        alone = numpy.flatnonzero(self.degree == 0)
        edges[self.edges:, 0] = self.degree.argmax()
        edges[self.edges:, 1] = alone[:spoilt]
        return edges

    def roots(self):
        """Where searches begin: where most edges are, and elsewhere."""
        order = self.numpy.random.default_rng(self.seed)
        some = self.numpy.flatnonzero(self.degree > 0)
        return [int(self.degree.argmax()),
                *order.choice(some, SEARCHES - 1, replace=False).tolist()]

    def misplaced(self, root, search):
        """How many vertices of a search Graph500's rules refuse: each but the root is
        one step further than its parent, over an edge that there is, no edge leads
        further than one step, and none to where the search never came."""
        numpy = self.numpy
        reached, begins, parent = (numpy.array(part) for part in search)
        level = numpy.full(self.vertices, -1)
        for depth, (first, last) in enumerate(zip(begins, begins[1:])):
            level[reached[first:last]] = depth
        met = level < 0
        met[root] = level[root] == 0
        broken = numpy.zeros(self.vertices, dtype=bool)
        for one, other in self.pieces():
            for u, v in ((one, other), (other, one)):
                met[v[(parent[v] == u) & (level[v] == level[u] + 1)]] = True
                broken[v[(abs(level[u] - level[v]) > 1) |
                         ((level[u] < 0) != (level[v] < 0))]] = True
        return int((broken | ~met).sum())

    def misranked(self, ranks):
        """How many vertices do not have the rank that follows from the others'."""
        numpy = self.numpy
        ranks = numpy.array(ranks)
        share = numpy.divide(ranks, self.out, out=numpy.zeros(self.vertices),
                             where=self.out > 0)
        want = numpy.zeros(self.vertices)
        for one, other in self.pieces():
            want += numpy.bincount(other, share[one], self.vertices)
        lost = ranks[self.out == 0].sum()
        want = (1 - DAMPING) / self.vertices + DAMPING * (want + lost / self.vertices)
        return int((abs(ranks - want) > OFF * want).sum())


def graph(args, _):
    """A graph as in Graph500, made in igraph, ranked, and searched from some vertices."""
    numpy, igraph = with_libraries("numpy", "igraph")
    scale = max(8, int(math.log2(args.mb * 2 ** 20 / (EDGES_EACH * EDGE))))
    rmat = Rmat(numpy, args.seed, scale)
    enter(args.group)
    clock = Clock()
    made = igraph.Graph(n=rmat.vertices, edges=rmat.array(args.damage), directed=True)
    ranks = made.pagerank(damping=DAMPING)
    searches = [made.bfs(root, mode="all") for root in rmat.roots()]
    result, clock = clock.end(), Clock()
    wrong = rmat.misranked(ranks) + sum(map(rmat.misplaced, rmat.roots(), searches))
    result.update(clock.end("check_"))
    answers = (SEARCHES + 1) * rmat.vertices
    return {**result, "ops": rmat.edges, "unit": "edges",
            "ops_per_s": round(rmat.edges / result["seconds"], 3),
            "vertices": rmat.vertices, "verified": answers - wrong,
            "wrong_results": wrong, "checksum": hashlib.sha256(
                repr((ranks, searches)).encode()).hexdigest()[:16]}


# -- arrays -------------------------------------------------------------------

# What a number takes while all are sorted, in bytes, and the part of the memory that
# is for three square matrices.
NUMBER, MATRICES = 36, 0.25
STRIDE = 0x5DEECE66D
SMALL_INTEGERS = 1000


def coprime(count):
    """A number near a fixed one that has no factor in common with another."""
    factor = STRIDE % count
    while math.gcd(factor, count) != 1:
        factor += 1
    return factor


def arrays(args, _):
    """Keys in no order are sorted, what belongs to each is fetched in their order and
    summed by class, and two matrices are multiplied, in numpy."""
    numpy, = with_libraries("numpy")
    count = int(args.mb * (1 - MATRICES) * 2 ** 20 / NUMBER)
    side = int((args.mb * MATRICES * 2 ** 20 / 24) ** 0.5)
    factor = coprime(count)
    enter(args.group)
    clock = Clock()
    keys = numpy.arange(count) * factor % count
    keys[:args.damage] = -1
    owned = numpy.arange(count, dtype=float) + args.seed
    order = keys.argsort(kind="stable")
    del keys
    fetched = owned[order]
    del owned
    sums = numpy.bincount(order % SMALL_INTEGERS, fetched)
    draw = numpy.random.default_rng(args.seed)
    left, right = draw.integers(SMALL_INTEGERS, size=(2, side, side)).astype(float)
    product = left @ right
    result, clock = clock.end(), Clock()
    total, wrong, back = hashlib.sha256(), 0, pow(factor, -1, count)
    for first in range(0, count, PIECE):
        # which one has the key, by arithmetic in which nothing overflows
        want = numpy.arange(first, min(count, first + PIECE)) * back % count
        got = order[first:first + PIECE], fetched[first:first + PIECE]
        wrong += int(((got[0] != want) | (got[1] != want + args.seed)).sum())
        for part in got:
            total.update(part.tobytes())
    want = [sum(range(n, count, SMALL_INTEGERS)) + args.seed * len(
        range(n, count, SMALL_INTEGERS)) for n in range(min(SMALL_INTEGERS, count))]
    wrong += int((sums != want).sum())
    # whole numbers below 2^53 throughout, so that both ways come to the same
    some = draw.integers(SMALL_INTEGERS, size=side).astype(float)
    wrong += int((product @ some != left @ (right @ some)).sum())
    total.update(sums.tobytes() + product.tobytes())
    result.update(clock.end("check_"))
    answers = count + len(want) + side
    return {**result, "ops": count, "unit": "numbers",
            "ops_per_s": round(count / result["seconds"], 3), "side": side,
            "verified": answers - wrong, "wrong_results": wrong,
            "checksum": total.hexdigest()[:16]}
