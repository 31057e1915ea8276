# SPDX-License-Identifier: GPL-2.0
"""libnswap over a droppable device.

        node0 ------ node1     node0's programs have regions in the RAM of the others
             `------ node2
"""
import contextlib
import json
import os
import pathlib
import random

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.lab import sh
from nswaptest.regions import Program

DESCRIPTION = "libnswap: regions of files in peers' RAM, errors of the Dodo paper"
SUITES = ("lab",)
NEEDS = ("module", "lib", "dmsetup")
TIMEOUT = 240
ONLY_FULL = {"programs_all": "both programs in every way take two minutes"}

PAGE = 4096
LENGTH = 256 * PAGE
DATA = pathlib.Path("/tmp/regions")
ENOMEM, EINVAL = "ENOMEM", "EINVAL"


class Place:
    """A client with a device, its lenders, and a data file."""

    def __init__(self, t, lend, device=("--size", "16M")):
        self.t = t
        self.cluster = t.cluster(1 + len(lend))
        self.client, *self.lenders = self.cluster.nodes
        self.client.up(lend="0", dead_after=1)
        for node, amount in zip(self.lenders, lend):
            node.up(lend=amount)
        self.cluster.wait_connected()
        self.add(*device)
        DATA.mkdir(exist_ok=True)
        self.path = str(DATA / "data")
        self.data = random.Random(t.seed).randbytes(LENGTH)
        pathlib.Path(self.path).write_bytes(self.data)

    def add(self, *device):
        """The device."""
        self.name = self.client.ctl("device", "add", *device, "--class",
                                    "droppable")["device"]
        self.client.wait_sessions()

    def program(self, **environment):
        """A program that uses it."""
        return Program(self.t.settings["programs"]["libnswap.so.0"], f"/dev/{self.name}",
                       **environment)

    def held(self):
        """Pages at lenders."""
        return sum(node.stat()["server"]["held_pages"] for node in self.lenders)

    def run(self, name, *args, check=True):
        """Run an example program; its result."""
        done = self.client.run(self.command(name, *args), timeout=200, check=check)
        return json.loads(done.out)

    def command(self, name, *args):
        """Its command line."""
        return ["env", f"NSWAP_DEVICE=/dev/{self.name}", "NSWAP_REFRACTION_MS=50",
                self.client.prog(name), *map(str, args)]


@contextlib.contextmanager
def place(t, *lend, **options):
    """A Place; the device goes, and nothing is held in the end."""
    p = Place(t, lend, **options)
    yield p
    p.client.device_del(p.name)
    alive = [node for node in p.lenders if node.alive]
    wait_for(lambda: not any(node.stat()["server"]["held_pages"] for node in alive), 20,
             "no page is held")


def test_errors(t):
    """The paper's calls and errors, line by line."""
    with place(t, "32M", "32M") as p:
        with p.program() as program:
            for line, got, want in errors(p, program):
                t.sub(line.replace(" ", "_"), got == want,
                      "" if got == want else f"{got!r:.60}, expected {want!r:.60}")


def errors(p, program):
    """What the paper says of each call, what came, and what should."""
    whole = p.data
    yield "mopen bad descriptor", program.mopen(999, LENGTH, 0), EINVAL
    yield ("mopen not open for writing", program.mopen(p.path, LENGTH, 0, os.O_RDONLY), EINVAL)
    yield "mopen length below 1", program.mopen(p.path, 0, 0), EINVAL
    yield "mopen offset below 0", program.mopen(p.path, LENGTH, -1), EINVAL
    yield "mopen no memory", program.mopen(p.path, 64 << 20, 0), ENOMEM
    region = program.mopen(p.path, LENGTH, 0)
    yield "mopen a descriptor", isinstance(region, int) and region >= 0, True
    yield "mread the bytes", program.mread(region, 0, LENGTH), whole
    yield "mread from the middle", program.mread(region, 5000, 9000), whole[5000:14000]
    yield "mread as many as there are", program.mread(region, LENGTH - 10, 50), whole[-10:]
    yield "mread offset beyond the end", program.mread(region, LENGTH, 1), EINVAL
    yield "mread invalid pointer", program.raw("mread", region, 0, 4096, 10), EINVAL
    yield "mread invalid descriptor", program.mread(999, 0, 10), ENOMEM
    yield "mwrite the count", program.mwrite(region, 5000, b"written"), 7
    yield "mwrite the file", pathlib.Path(p.path).read_bytes()[5000:5007], b"written"
    yield "mwrite the region", program.mread(region, 5000, 7), b"written"
    yield "mwrite as many as fit", program.mwrite(region, LENGTH - 3, b"at the end"), 3
    yield "mwrite offset beyond the end", program.mwrite(region, LENGTH, b"x"), EINVAL
    yield "mwrite invalid pointer", program.raw("mwrite", region, 0, 4096, 10), EINVAL
    yield "mwrite invalid descriptor", program.mwrite(999, 0, b"x"), ENOMEM
    full = program.mopen("/dev/full", 10, 0)
    yield "mopen no regular file", full, EINVAL
    yield "msync", program.msync(region), None
    yield "mclose", program.mclose(region), None
    yield "mclose invalid descriptor", program.mclose(region), EINVAL
    yield from errors_of_limits(p, program)
    yield from errors_of_lost(p, program)


def errors_of_limits(p, program):
    """The write to the file fails: its errno is passed on."""
    path = str(DATA / "limited")
    pathlib.Path(path).write_bytes(b"")
    region = program.mopen(path, LENGTH, 0)
    program.limit(8 * PAGE)
    yield "mwrite the file cannot grow", program.mwrite(region, 9 * PAGE, b"x"), "EFBIG"
    yield "mwrite as many as can be written", program.mwrite(
        region, 7 * PAGE, bytes(4 * PAGE)), PAGE
    program.limit(-1)
    program.mclose(region)


def errors_of_lost(p, program):
    """Reclaimed by the lender, and a lender that crashes."""
    region = [program.mopen(p.path, LENGTH // 4, i * LENGTH // 4) for i in range(4)]
    for number in region:
        program.mread(number, 0, LENGTH // 4)
    before = p.held()
    for node in p.lenders:
        node.ctl("lend", "0")
    wait_for(lambda: p.held() == 0, 20, "all pages are dropped")
    yield "mread reclaimed", program.mread(region[0], 0, 10), ENOMEM
    yield "mread of pages that were there", before >= LENGTH // PAGE, True
    yield "mclose already reclaimed", program.mclose(region[0]), EINVAL
    again = program.mread(region[1], 0, 10)
    yield "mwrite reclaimed", (again, program.mwrite(region[1], 0, b"x")), (ENOMEM, ENOMEM)
    yield "msync reclaimed", program.msync(region[1]), None
    yield "mwrite no room at peers", program.mwrite(region[2], 0, b"y" * PAGE), ENOMEM
    yield "mwrite and the file has it", \
        pathlib.Path(p.path).read_bytes()[LENGTH // 2:][:PAGE], b"y" * PAGE
    for node in p.lenders:
        node.ctl("lend", "32M")
    wait_for(lambda: all(peer["free_pages"] > 1000 for peer in p.client.peers().values()), 20,
             "they lend again")
    wait_for(lambda: program.mopen(p.path, LENGTH, 0) != ENOMEM, 20, "the pause is over")
    region = program.mopen(p.path, LENGTH, 0)
    program.mread(region, 0, LENGTH)
    for node in p.lenders:
        p.cluster.kill(node)
    yield "mread crashed", program.mread(region, 0, LENGTH), ENOMEM
    yield "mread crashed once more", program.mread(region, 0, 10), ENOMEM
    yield "mclose crashed", program.mclose(region), EINVAL


def test_found(t):
    """Regions outlive their programs; not a change of the file, nor their device. What is
    closed gives peers their RAM back."""
    with place(t, "32M") as p:
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            program.mread(region, 0, LENGTH)
            program.mwrite(region, 100, b"of the first program")
        data = pathlib.Path(p.path).read_bytes()
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.mread(region, 0, LENGTH), data, "found again")
            equal(program.counts()["file_bytes"], 0, "bytes read from the file")
            equal(program.counts()["remote_pages"], LENGTH // PAGE, "pages from the peer")
            p.client.discard(p.name, "--offset", str(8 * PAGE), "--length", str(PAGE))
            equal(program.mread(region, 0, LENGTH), ENOMEM, "reading zeros of a freed slot")
            region = program.mopen(p.path, LENGTH, 0)
            program.mread(region, 0, LENGTH)
        with open(p.path, "rb+") as file:
            file.write(b"changed")
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.mread(region, 0, 7), b"changed", "after a change of the file")
            equal(program.counts()["found_regions"], 0, "regions found then")
            program.mread(region, 0, LENGTH)
            at_least(p.held(), LENGTH // PAGE, "pages at the lender")
            program.mclose(region)
            wait_for(lambda: p.held() <= 1, 20, "the lender has its RAM back")
            region = program.mopen(p.path, LENGTH, 0)
            program.mread(region, 0, LENGTH)
        p.client.device_del(p.name)
        p.add("--size", "16M")
        with p.program() as program:
            region = program.mopen(p.path, LENGTH, 0)
            equal(program.counts()["found_regions"], 0, "found on a device added again")
            equal(program.mread(region, 0, LENGTH), pathlib.Path(p.path).read_bytes(), "data")
        left_alone(p)


def left_alone(p):
    """A device that is swapped on, that has other data, even behind an empty first page, or that
    is none of nswap's, is not used."""
    p.client.discard(p.name)
    directory = pathlib.Path(f"/run/nswap/{p.name}.regions")
    directory.unlink()
    with open(f"/dev/{p.name}", "rb+") as device:
        device.seek(1 << 16)
        device.write(b"another's" * 100)
    with p.program() as program:
        equal(program.raw("attach", None, None), "EEXIST", "data behind the first page")
    p.client.discard(p.name)
    link = DATA / "by-id"
    link.symlink_to(f"/dev/{p.name}")
    with Program(p.t.settings["programs"]["libnswap.so.0"], link) as program:
        equal(program.raw("attach", None, None), 0, "by another path")
        true(directory.exists(), "its directory is not named after the device")
        loop_refused(p)
    p.client.swapon(p.name)
    with p.program() as program:
        equal(program.raw("attach", None, None), "EBUSY", "swapped on")
        equal(program.mopen(p.path, LENGTH, 0), ENOMEM, "a region there")
        p.client.swapoff(p.name)
        equal(program.raw("attach", None, None), "EEXIST", "swap that is off")


def loop_refused(p):
    """A loop device is no nswap device, empty or not."""
    image = DATA / "image"
    image.write_bytes(bytes(16 << 20))
    loop = sh("losetup", "--find", "--show", str(image)).strip()
    try:
        with Program(p.t.settings["programs"]["libnswap.so.0"], loop) as program:
            equal(program.raw("attach", None, None), EINVAL, "a loop device")
    finally:
        sh("losetup", "--detach", loop)


def hammer(p, program, kind, choose, rounds):
    """Random reads and writes of four regions; what was refused, and never wrong data."""
    part = LENGTH // 4
    region = [program.call(kind + "open", p.path, part, i * part) for i in range(4)]
    refused = 0
    for _ in range(rounds):
        i, at = choose.randrange(4), choose.randrange(part)
        data = choose.randbytes(choose.randrange(1, 20000))
        whole = i * part + at
        if choose.random() < 0.5:
            put = program.call(kind + "write", region[i], at, data)
            # refused, the file may have it
            if put == ENOMEM:
                with open(p.path, "rb") as file:
                    p.data[:] = file.read()
            else:
                p.data[whole:whole + put] = data[:put]
            got = put
        else:
            got = program.call(kind + "read", region[i], at, 20000)
            if got != ENOMEM:
                equal(got, bytes(p.data[whole:min(whole + 20000, (i + 1) * part)]),
                      f"read from region {i}")
        if got == ENOMEM:
            refused += 1
            program.call(kind + "close", region[i])
            region[i] = program.call(kind + "open", p.path, part, i * part)
    for number in region:
        program.call(kind + "leave", number)
    return refused


def test_lender_killed(t):
    """Lenders die and shrink one after the other while programs work: errors, or none behind
    the local cache, and never wrong data."""
    choose = random.Random(t.seed)
    with place(t, "16M", "16M", "16M") as p:
        p.data = bytearray(p.data)
        with p.program(NSWAP_REFRACTION_MS="0") as program:
            program.size(LENGTH // 3)
            refused = {"m": 0, "c": 0}
            for turn in (None, 0, 1):
                if turn == 0:
                    p.cluster.kill(p.lenders[0])
                elif turn == 1:
                    p.lenders[1].ctl("lend", "0")
                for kind in refused:
                    refused[kind] += hammer(p, program, kind, choose, 40)
            at_least(refused["m"], 1, "calls refused")
            equal(refused["c"], 0, "calls refused behind the local cache")
            at_least(program.counts()["lost_regions"], 1, "regions lost")
        equal(pathlib.Path(p.path).read_bytes(), bytes(p.data), "the file at the end")


def at_tiers(p):
    """Pages by tier."""
    seen = p.client.devices()[0]
    return [seen[f"slots_{tier}"] for tier in ("remote", "flash", "home")]


def test_placed(t):
    """Blocks are brought to each tier and are what they were; those at home are right when
    the lender is dead, and others lost."""
    with disk(16) as home, disk(16, 64) as flash:
        device = ("--home", home.path, "--flash", flash.path)
        with place(t, "32M", device=device) as p, p.program() as program:
            ours, others = program.alloc(LENGTH), program.alloc(LENGTH)
            data = [random.Random(f"{t.seed} {i}").randbytes(LENGTH) for i in range(2)]
            for region, written in zip((ours, others), data):
                equal(program.mwrite(region, 0, written), LENGTH, "bytes written")
            at = at_tiers(p)
            pages = LENGTH // PAGE
            for tier in (1, 0, 2, 1, 2):
                # what a peer that is late does not answer for stays, and is asked for again
                wait_for(lambda tier=tier: program.place(ours, tier) == 0, 20,
                         f"no page is elsewhere, placed on tier {tier}")
                moved = [pages * (to == tier) - pages * (to == 0) for to in range(3)]
                equal(at_tiers(p), [had + by for had, by in zip(at, moved)],
                      f"pages at peers, on flash, at home, placed on tier {tier}")
                equal(program.mread(ours, 0, LENGTH), data[0], f"read from tier {tier}")
            equal(program.place(ours, 3), EINVAL, "no such tier")
            equal(program.place(999, 0), ENOMEM, "no such region")
            p.cluster.kill(p.lenders[0])
            equal(program.mread(others, 0, LENGTH), ENOMEM, "read at the peer that died")
            equal(program.mread(ours, 0, LENGTH), data[0], "read from home without peers")
            equal(program.place(others, 2), ENOMEM, "what is lost is not placed")


def test_not_placed(t):
    """A device without other tiers says so."""
    with place(t, "16M") as p, p.program() as program:
        region = program.alloc(LENGTH)
        program.mwrite(region, 0, b"some")
        equal(program.place(region, 1), "ENODEV", "no flash")
        equal(program.place(region, 2), "ENODEV", "no home")
        equal(program.place(region, 0), 0, "it is at peers")


def both(p, request, access, *more):
    """dmine and lu in one way; their checksums."""
    options = ("--request-kb", request, "--access", access, "--cache-mb", 1, *more)
    mined = p.run("dmine", "--file", DATA / "retail", *options)
    solved = p.run("lu", "--dir", DATA, "--n", 256, "--slab", 32, *options)
    true(solved["right"], f"lu: {solved}")
    return mined, solved


def checksums(results):
    """What must be the same in all ways."""
    return [(r["checksum"], r.get("frequent"), r.get("rules")) for r in results]


def make(p, *more):
    """The retail data."""
    p.client.run(p.command("dmine", "--file", DATA / "retail", "--make", 1, "--seed", p.t.seed,
                           *more))


def test_programs(t):
    """dmine and lu find the same with the library and without, and when a lender dies while
    they are at work; dmine's second run reads nothing from the file."""
    with place(t, "32M", "32M", "32M") as p:
        make(p, "--transactions", 20000)
        want = checksums(both(p, 8, "file"))
        equal(checksums(both(p, 32, "cached")), want, "behind the cache, 32 KiB")
        again = p.run("dmine", "--file", DATA / "retail", "--access", "cached",
                      "--request-kb", 32)
        equal((again["checksum"], again["file_bytes"]), (want[0][0], 0),
              "dmine's second run: checksum, bytes of the file")
        lost = 0
        for i, (victim, name, args) in enumerate((
                (p.lenders[0], "dmine", ("--file", DATA / "retail")),
                (p.lenders[1], "lu", ("--dir", DATA, "--n", 256, "--slab", 32)))):
            lost += killed(p, victim, want[i], name, args)
        at_least(lost, 1, "regions lost")


def killed(p, victim, want, name, args):
    """A lender dies while the program is at work; regions that it lost."""
    stored = victim.stat()["server"]["pages_stored"]
    running = p.client.popen(p.command(name, "--access", "region", "--request-kb", 8, *args))
    wait_for(lambda: victim.stat()["server"]["pages_stored"] > stored + 20, 30,
             f"the lender has pages of {name}")
    p.cluster.kill(victim)
    done = json.loads(running.wait(120).check().out)
    equal(checksums([done]), [want], f"{name} with a lender killed")
    return done["lost_regions"]


def test_programs_all(t):
    """Both programs in each way: requests of 8, 32 and 128 KiB, with each policy, written
    through and back."""
    with place(t, "64M", size="32M") as p:
        make(p)
        want = checksums(both(p, 32, "file"))
        for request in (8, 32, 128):
            equal(checksums(both(p, request, "region")), want, f"regions, {request} KiB")
            for policy in ("lru", "mru", "first-in"):
                for mode in ("back", "through"):
                    ways = ("--policy", policy, "--write", mode)
                    equal(checksums(both(p, request, "cached", *ways)), want,
                          f"cached, {request} KiB, {policy}, {mode}")
