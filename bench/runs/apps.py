# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=apps: programs of today, with 100, 75, 50 and 25 % of their memory.

A program's memory is what its group has at most in a run with enough RAM, in the same
boot; shares of that are the limits of its group, soft ones (memory.high), since at a
hard one a group is killed now and then although its pages could go out.  Who asks a server, and the
interpreter and the libraries that a program begins with, are not in the group; the
files that it reads are in memory before, and charged to none.

Devices and shares take turns in one boot, and so does a run with enough RAM, called
"ram"; a row is the median of its runs.  Percentiles are each run's own, so theirs are
medians too.  Processor time (cpu_s) is that of the whole kernel with both nodes, for
all that a run does, and says something where other programs share the processors too.
"""
import functools
import time

from lib import apps, devices
from lib.measure import Progress, median, rounded, turns
from nswaptest import lab
from nswaptest.check import Failure
from runs import swap

NODES = 2
NAMES = ("nswap", "nvme-tcp", "zram", "ssd")
SHARES = (100, 75, 50, 25)
# Sizes are for a run of some seconds at the smallest share on the slowest device.
SIZES = {"redis": 40, "memcached": 40, "SQLite": 52, "graph": 48, "compiler": 40,
         "numpy": 48}
# The least that a program can be, for files to be in memory before it is measured.
WARM_MB = 1
DEVICE_MB = 128
# How many times as long as with the others a run takes, about.
WEIGHT = {"nvme-tcp": 3, "ram": 0.3}
LATENCIES = ("p50_us", "p99_us", "p999_us")
PAGE = 4096


def execute(node, app, limit=None, under=("taskset", "-c", "0")):
    """Run a program, itself in a group with this limit in bytes; its result with the
    most that its group had, and when it began and ended.  under: what it is started by."""
    group = lab.make_group(limit * 2 if limit else "max")
    if limit:
        (group / "memory.high").write_text(str(limit))
    command = [*under, *app.command(node, group=group)]
    begin = time.time()
    done = node.run(command, timeout=swap.TIMEOUT_S, check=False)
    end = time.time()
    peak = int((group / "memory.peak").read_text())
    lab.remove_group(group)
    return dict(apps.result_of(done), peak=peak), begin, end


def in_enough_ram(node, app, load):
    """A run that need not swap."""
    got, begin, end = execute(node, app)
    mark = load.mark(begin, end)
    return dict(got, marks=[mark] if mark else [], cpu_s=load.seconds(begin, end))


def limited(node, app, right, share, load):
    """A run with a share of the memory, for swap.one_run()."""
    got, begin, end = execute(node, app, limit_of(right, share))
    return dict(got, cpu_s=load.seconds(begin, end)), begin, end


def limit_of(right, share):
    """So much of what a program had with enough RAM, in bytes."""
    return right["peak"] * share // 100 // PAGE * PAGE


def row_of(name, app, share, runs, right, about):
    """A row of apps.json; share None: with enough RAM."""
    row = swap.row_of(name, app, runs, right, about)
    row["mb"] = round(right["peak"] / 2 ** 20, 1)
    row["limit_mb"] = share and round(limit_of(right, share) / 2 ** 20, 1)
    row["share"], row["unit"] = share, right["unit"]
    row["ops"] = right["ops"]
    rates = [r["ops_per_s"] for r in runs]
    row.update(ops_per_s=round(median(rates), 3), ops_min=min(rates),
               ops_max=max(rates))
    for key in LATENCIES:
        row[key] = rounded(median([r.get(key) for r in runs]), 1)
    row["cpu_s"] = rounded(median([r["cpu_s"] for r in runs]), 2)
    return row


def measured(app, plan, client, ready, load, progress):
    """All runs of a program: {(device, share): [result, …]}, and the first one with
    enough RAM, which the others are compared with."""
    execute(client, apps.of_size(app.name, WARM_MB))
    runs, right = {}, None
    for name, share in plan:
        if name == "ram":
            got = in_enough_ram(client, app, load)
            right = right or got
            got["wrong"] = apps.wrong(got, right)
            if got["wrong"]:
                raise Failure(f"{app.name} is wrong with enough RAM")
        else:
            program = functools.partial(limited, app=app, right=right, share=share,
                                        load=load)
            got = swap.one_run(ready[name], program, right, load, fits=share == 100)
        runs.setdefault((name, share), []).append(got)
        progress.step(WEIGHT.get(name, 1),
                      f"{app.name:10} {name:9} {share or '':>3} "
                      f"{got['ops_per_s']:12,.1f} {got['unit']}/s {got['seconds']:7.2f} s "
                      f"{got['pswpin']:7} in {got['pswpout']:7} out {got['wrong']} wrong")
    return runs, right


def run(cluster, options, about, load):
    """Measure; the rows."""
    client, server = cluster.nodes
    names = [name for name in NAMES if name in options.devices]
    todo = [apps.of_size(name, mb) for name, mb in SIZES.items()
            if (not options.workloads or name in options.workloads) and
            name not in options.parts]
    plan = [(name, share) for _, name in turns(["ram", *names], options.rounds)
            for share in ([None] if name == "ram" else SHARES)]
    # every other round is in reverse, and the first run is one with enough RAM
    progress = Progress([WEIGHT.get(name, 1) for name, _ in plan] * len(todo))
    with devices.opened(names, client, server, DEVICE_MB, options.kernel,
                        options.model) as ready:
        for app in todo:
            runs, right = measured(app, plan, client, ready, load, progress)
            options.parts.add(app.name, [
                row_of(name, app, share, got, right, about)
                for (name, share), got in runs.items()])
    return options.parts.all_rows()
