# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=fairness: what one greedy member takes from the others.

        node1 … node7 ----- node0, the lender        4 KiB at depth 1, with rests
        node8 -------------'                         128 KiB at depth 32: the flood
              `------------ node9, another lender

Seven members read or store single pages, first alone, then beside a flood of node8's:
to node9, which shares nothing with them but the lab's processor; and to their own
lender; each over as many connections as by default and as a session may have.  All are
measured in turns, and ratios are to the same seven in the same round, alone and beside
the same flood to node9.  Each of them rests after every page: without that the seven
alone have all of the one processor, and what a page takes is when the kernel's scheduler
comes to its reader.

Then 200 members, each with a device and a few pages at one lender, do nothing: threads,
memory and processor time.
"""
import json
import pathlib
import time

from nswaptest.check import hold, wait_for
from nswaptest.lab import Node

from lib.measure import Progress, median, turns

QUIET = 7
NODES = QUIET + 3
NAMES = ["nswap"]
MB = 8                  # of each of the seven
FLOOD_MB = 64
LEND_MB = 256
RAMP_S = 1
REST_US = 5000
# (what the seven do, what the flood does)
JOBS = {"reads": ("randread", "read"), "stores": ("randwrite", "write"),
        "reads beside stores": ("randread", "write")}
# (connections, whether they lead to the lender of the seven); 0 is the default
FLOODS = {"none": None, "another lender": (0, False), "same lender": (0, True),
          "another lender, 8 connections": (8, False),
          "same lender, 8 connections": (8, True)}
MEMBERS = 200
STORED = 16             # pages of each of them
STATES = ("no node up", "all up, no device", "a device each")
LIMIT_S = 60


def fio(op, bs, depth, seconds, mb):
    """What all of fio's command lines begin with."""
    return ["fio", f"--rw={op}", f"--bs={bs}", f"--iodepth={depth}",
            "--ioengine=libaio", "--direct=1", f"--size={mb}M", "--thread",
            "--norandommap", "--randrepeat=0", "--time_based",
            f"--runtime={seconds}", f"--ramp_time={RAMP_S}", "--lat_percentiles=1",
            "--clat_percentiles=0", "--percentile_list=50:99", "--cpus_allowed=0",
            "--output-format=json"]


def fill(node, dev, mb):
    """Every page of a device written once."""
    node.run(["fio", "--name=fill", f"--filename=/dev/{dev}", "--rw=write",
              "--bs=128k", "--iodepth=8", "--ioengine=libaio", "--direct=1",
              f"--size={mb}M", "--refill_buffers", "--thread"], timeout=300)


class Flood:
    """The greedy member, which is up only while it is."""

    def __init__(self, node, lender, other, kind, op):
        conns, same = FLOODS[kind]
        self.node, self.lender = node, lender if same else other
        self.node.up(lend="0", no_broadcast=True, peers=[self.lender],
                     conns=conns or None)
        self.dev = node.device_add(f"{FLOOD_MB}M")
        fill(node, self.dev, FLOOD_MB)
        self.process = node.popen(
            [*fio(op, "128k", 32, LIMIT_S, FLOOD_MB), "--name=flood",
             f"--filename=/dev/{self.dev}"])
        done = self.served()
        wait_for(lambda: self.served() > done + 1000, 20, "the flood has begun")

    def served(self):
        """Pages its lender has sent or taken."""
        server = self.lender.stat()["server"]
        return server["pages_loaded"] + server["pages_stored"]

    def close(self):
        """The end of it."""
        self.process.kill()
        self.process.popen.wait()
        self.node.device_del(self.dev)
        self.node.down()


def seven(cluster, devs, op, seconds):
    """One run of the seven, in one process, so that they begin together; each one's
    latencies."""
    command = [*fio(op, "4k", 1, seconds, MB), f"--thinktime={REST_US}"]
    for i, dev in enumerate(devs):
        command += [f"--name=quiet{i}", f"--filename=/dev/{dev}"]
    out = cluster.outside.run(command, timeout=seconds + 120).out
    way = "read" if "read" in op else "write"
    return [job[way] for job in json.loads(out[out.index("{"):])["jobs"]]


def one_run(cluster, devs, job, kind, options, load):
    """Measure the seven once, beside one flood or alone."""
    mine, others = JOBS[job]
    flood = None
    if FLOODS[kind]:
        flood = Flood(cluster[QUIET + 1], cluster[0], cluster[QUIET + 2], kind, others)
    begin = time.time()
    served = flood.served() if flood else 0
    got = seven(cluster, devs, mine, options.seconds)
    served = flood.served() - served if flood else 0
    end = time.time()
    mark = load.mark(begin, end)
    if flood:
        flood.close()
    nanos = [each["lat_ns"]["percentile"] for each in got]
    return {"iops": sum(each["iops"] for each in got),
            "p50": median([n["50.000000"] for n in nanos]) / 1e3,
            "p99": median([n["99.000000"] for n in nanos]) / 1e3,
            "p99_worst": max(n["99.000000"] for n in nanos) / 1e3,
            "flood": served / (end - begin) if flood else None,
            "marks": {mark} - {None}}


def rows_of(job, runs, about):
    """The rows of one job from {kind: [run, …]}."""
    rows = []
    for kind, got in runs.items():
        def middle(key, got=got, digits=1):
            value = median([run[key] for run in got])
            return value if value is None else round(value, digits)

        def ratios(key, to, got=got):
            return [run[key] / other[key] for run, other in zip(got, runs[to])]
        beside = kind.replace("same", "another")
        of_alone = ratios("p99", "none")
        rows.append({
            "what": job, "flood": kind, "members": QUIET, "p50_us": middle("p50"),
            "p99_us": middle("p99"), "p99_worst_us": middle("p99_worst"),
            "ratio_p50": round(median(ratios("p50", "none")), 2),
            "ratio_p99": round(median(of_alone), 2),
            "ratio_min": round(min(of_alone), 2), "ratio_max": round(max(of_alone), 2),
            "p50_of_elsewhere": round(median(ratios("p50", beside)), 2),
            "p99_of_elsewhere": round(median(ratios("p99", beside)), 2),
            "iops": middle("iops"), "flood_pages_s": middle("flood"),
            "lab": about["lab"], "runs": len(got),
            "marks": sorted(set().union(*(run["marks"] for run in got))),
            "kernel": about["kernel"], "commit": about["commit"]})
    return rows


def floods(cluster, options, about, load):
    """Measure the seven; keeps a part for each job."""
    lender, quiet = cluster[0], cluster.nodes[1:QUIET + 1]
    todo = [job for job in JOBS if job not in options.parts]
    lenders = [lender, cluster[QUIET + 2]]
    for node in lenders:
        node.up(lend=f"{LEND_MB}M", no_broadcast=True,
                peers=[n for n in cluster if n not in lenders])
    devs = []
    for node in quiet:
        node.up(lend="0", no_broadcast=True, peers=[lender])
    for node in quiet:
        devs.append(node.device_add(f"{MB}M"))
        fill(node, devs[-1], MB)
    progress = Progress([1] * (len(todo) * len(FLOODS) * options.rounds))
    for job in todo:
        runs = {kind: [] for kind in FLOODS}
        for _, kind in turns(list(FLOODS), options.rounds):
            got = one_run(cluster, devs, job, kind, options, load)
            runs[kind].append(got)
            progress.step(1, f"{job:19} {kind:29} p50 {got['p50']:8.0f} us  "
                          f"p99 {got['p99']:8.0f} us")
        options.parts.add(job, rows_of(job, runs, about))
    for node, dev in zip(quiet, devs):
        node.device_del(dev)
    for node in [*quiet, *lenders]:
        node.down()


def memory():
    """Bytes that this kernel has in use, and of these in slabs and in stacks."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    now = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
    return {"used": now["MemTotal"] - now["MemFree"] - now["Cached"] - now["Buffers"],
            "slab": now["Slab"], "stacks": now["KernelStack"]}


def threads(number):
    """How many threads of the kernel are those of the node of this number."""
    found = 0
    for task in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name = (task / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += name.startswith(f"nswap/{number}-") or name == f"nswap-ann/{number}"
    return found


def rest(cluster, state, before, options, load):
    """What doing nothing costs."""
    number = cluster[0].stat()["node"]["number"] if state != STATES[0] else 0
    now, begin = memory(), time.time()
    hold(options.seconds * 12)
    end = time.time()
    members = len(cluster) - 1
    return {"what": "rest", "state": state, "members": members,
            "lender_threads": threads(number),
            "cpu_percent_of_all": round(100 * load.own(begin, end), 3),
            **{f"{key}_kib_a_member": round((now[key] - before[key]) / members / 1024, 1)
               for key in now},
            "seconds": round(end - begin, 1), "runs": 1,
            "marks": sorted({load.mark(begin, end)} - {None})}


def members(cluster, options, about, load):
    """200 members at rest."""
    for index in range(len(cluster), MEMBERS + 1):
        node = Node(cluster, index)
        node.create()
        cluster.nodes.append(node)
    lender, others = cluster[0], cluster.nodes[1:]
    hold(5)
    before, rows = memory(), []
    rows.append(rest(cluster, STATES[0], before, options, load))
    lender.up(lend=f"{LEND_MB}M", no_broadcast=True, peers=others)
    wait_for(lambda: lender.stat()["server"]["set_aside_pages"] >= LEND_MB << 8, LIMIT_S,
             "the lender has set its pages aside")
    before = memory()
    for node in others:
        node.up(lend="0", no_broadcast=True, peers=[lender])
    rows.append(rest(cluster, STATES[1], before, options, load))
    for node in others:
        dev = node.device_add("1M")
        node.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=4k",
                  f"count={STORED}", "oflag=direct"])
    rows.append(rest(cluster, STATES[2], before, options, load))
    for row in rows:
        row.update(lab=about["lab"].replace(f"{NODES} name", f"{MEMBERS + 1} name"),
                   kernel=about["kernel"], commit=about["commit"])
    options.parts.add("rest", rows)


def run(cluster, options, about, load):
    """Measure; the rows."""
    if any(job not in options.parts for job in JOBS):
        floods(cluster, options, about, load)
    if "rest" not in options.parts:
        members(cluster, options, about, load)
    return options.parts.all_rows()
