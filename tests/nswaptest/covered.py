# SPDX-License-Identifier: GPL-2.0
"""Which lines of the module were run, in the build that counts them (make COVER=1,
tests/run cover).

Inside, before the module is unloaded, its counters go to the test's folder
(tests/cover/counters.c). On this machine gcov makes lines of them, which are added up over
all tests of a run.
"""
import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess

from .scenario import ROOT, Result
from .totals import OUT

COUNTERS = pathlib.Path("/sys/module/nswap/parameters/counters")
# what is said of each file of the module that a table has
HEAD = f"   {'file':<36} {'lines':>5} {'run':>5}  per cent"
# files in the table: what a stranger's messages, datagrams and requests go through
SHOWN = ("nswap/server/", "nswap/transport/", "nswap/keys/", "nswap/migrate/",
         "nswap/control/announce", "nswap/control/netlink", "nswap/peers/",
         "nswap/client/late.c", "nswap/client/store.c", "nswap/client/pagein.c",
         "nswap/client/free.c")
# per cent of the lines that the harnesses have to reach, for what they are made for
FLOORS = {
    "nswap/server/serve.c": 90, "nswap/server/serve_pages.c": 90, "nswap/server/header.c": 90,
    "nswap/server/held.c": 90, "nswap/server/greet.c": 85,
    "nswap/server/owner.c": 85, "nswap/server/pending.c": 85, "nswap/server/answers.c": 80,
    "nswap/server/cache_size.c": 75, "nswap/server/server.c": 75, "nswap/server/attach.c": 70,
    "nswap/server/conn_queue.c": 70, "nswap/migrate/serve_move.c": 85,
    "nswap/migrate/serve_told.c": 85, "nswap/migrate/returned.c": 70,
    "nswap/migrate/moved.c": 60, "nswap/control/announce.c": 75,
    "nswap/control/announce_keys.c": 90, "nswap/control/announce_known.c": 75,
    "nswap/control/netlink_device.c": 75, "nswap/control/netlink.c": 65,
    "nswap/control/netlink_get.c": 65, "nswap/control/netlink_put.c": 60,
    "nswap/control/netlink_keys.c": 50, "nswap/keys/exchange.c": 90,
    "nswap/keys/tags.c": 90, "nswap/keys/datagram.c": 90, "nswap/keys/identity.c": 80,
    "nswap/transport/tcp.c": 80, "nswap/transport/conn.c": 70,
    "nswap/peers/handshake.c": 85, "nswap/peers/session.c": 80,
}


def counting():
    """Whether the module that is loaded counts."""
    return COUNTERS.exists()


def counters(path):
    """Inside: the counters as they are, written to this path: {object: its .gcda}."""
    COUNTERS.write_text(f"{path}\n")
    return objects(pathlib.Path(path).read_bytes())


def keep(folder):
    """Inside: keep the counters of a module that is about to be unloaded."""
    if counting():
        counters(folder / f"counters.{len(list(folder.glob('counters.*')))}")


def objects(data):
    """What the module has written: {object: what is in its .gcda}."""
    found, at = {}, 0
    while at < len(data):
        name, size = struct.unpack_from("=II", data, at)
        at += 8
        found[data[at:at + name].decode()] = data[at + name:at + name + size]
        at += name + size
    return found


def lines(folder):
    """What a test's counters say: {file: {line: how often it was run}}."""
    found = collections.defaultdict(collections.Counter)
    for kept in sorted(folder.glob("counters.*")):
        beside = folder / "gcda" / kept.name
        shutil.rmtree(beside, ignore_errors=True)
        taken = []
        for name, data in objects(kept.read_bytes()).items():
            path = beside / os.path.relpath(name, ROOT / "build")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.with_suffix(".gcno").symlink_to(pathlib.Path(name).with_suffix(".gcno"))
            taken.append(path)
        done = subprocess.run(["gcov", "--json-format", "--stdout", *taken], cwd=folder,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"gcov: {done.stderr[-300:]}")
        for told in map(json.loads, done.stdout.splitlines()):
            for file in told["files"]:
                for line in file["lines"]:
                    # one of 0 has to be there as well
                    found[source(told, file["file"])][line["line_number"]] += line["count"]
        shutil.rmtree(beside)
    return found


def source(told, name):
    """The file's name below the top of the tree; builds have links to it."""
    path = os.path.normpath(os.path.join(told.get("current_working_directory", ""), name))
    inside = os.path.relpath(path, ROOT / "build")
    return inside if inside.startswith("..") else inside.partition("/")[2]


def write_missing(total, path):
    """The lines that nothing ran, with their text."""
    with open(path, "w", encoding="utf-8") as file:
        for name, counts in sorted(total.items()):
            text = (ROOT / name).read_text(encoding="utf-8").splitlines()
            for number in sorted(n for n, count in counts.items() if not count):
                file.write(f"{name}:{number}: {text[number - 1].strip()}\n")


def table(total):
    """One line for each file that is shown, and {file: per cent}."""
    share, text = {}, [HEAD]
    for name, counts in sorted(total.items()):
        run = sum(1 for count in counts.values() if count)
        share[name] = 100 * run / len(counts)
        if name.startswith(SHOWN):
            text.append(f"   {name:<36} {len(counts):5} {run:5} {share[name]:9.1f}")
    return text, share


def report(folders, totals, whole):
    """The table of a run whose tests have these folders, and, if it was a whole one, a
    verdict for each file that has a floor."""
    total = collections.defaultdict(collections.Counter)
    for folder in folders:
        for name, counts in lines(folder).items():
            if (ROOT / name).is_file() and name.endswith(".c"):
                for number, count in counts.items():
                    total[name][number] += count
    where = OUT / "cover/missing"
    write_missing(total, where)
    text, share = table(total)
    print("\n".join(text), flush=True)
    print(f"   the lines that were not run: {os.path.relpath(where, ROOT)}", flush=True)
    for name, floor in FLOORS.items() if whole else ():
        got = share.get(name, 0.0)
        totals.tell("cover", Result(
            f"lines.{name}", "pass" if got >= floor else "fail",
            "" if got >= floor else f"{got:.1f} % of its lines were run, {floor} are wanted"))
