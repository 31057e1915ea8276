# SPDX-License-Identifier: GPL-2.0
"""Programs that know nothing of nswap and check themselves.

        node0 ------ node1        node0's program is larger than its group
             `------ node2
"""
import random
import re

from nswaptest.check import at_least, equal, wait_for
from nswaptest.lab import attempt, sh
from nswaptest.work import held_back

DESCRIPTION = "fio --verify, sort and stress-ng over nswap"
SUITES = ("long",)
NEEDS = ("module", "fio", "stress-ng", "sort", "mkfs.ext4")
TIMEOUT = 300

FOLDER = "/mnt/scratch"
MB = 24
WHOLE = re.compile(rb"[0-9a-f]{32}\n")


def start(t):
    """A client and two servers."""
    cluster = t.cluster(3)
    cluster.up(lend="144M")
    return cluster, cluster[0]


def fio(client, dev, *job, size="24m"):
    """One fio job over the raw device, verified."""
    client.run(["fio", "--name=verify", f"--filename=/dev/{dev}",
                f"--size={size}", "--direct=1", "--verify=crc32c",
                "--verify_fatal=1", "--ioengine=libaio", "--iodepth=16",
                "--thread", "--randrepeat=1", *job], timeout=250)


def test_fio(t):
    """Random writes and reads of one size, 4 KiB to 1 MiB."""
    _, client = start(t)
    dev = client.device_add("32M")
    for size in ("4k", "16k", "64k", "256k", "1m"):
        fio(client, dev, "--rw=randwrite", f"--bs={size}",
            size="8m" if size == "4k" else "24m")
    client.device_del(dev)


def test_fio_mixed(t):
    """Random writes of 4 KiB to 1 MiB mixed, then read back."""
    _, client = start(t)
    dev = client.device_add("32M")
    fio(client, dev, "--rw=randwrite", "--bsrange=4k-1m", "--blockalign=4k")
    fio(client, dev, "--rw=randrw", "--bsrange=4k-1m", "--blockalign=4k",
        "--serialize_overlap=1")
    client.device_del(dev)


def text(path, megabytes, seed):
    """A file of random lines; the sum of their hashes."""
    numbers = random.Random(seed)
    total = 0
    with open(path, "wb") as file:
        for _ in range(megabytes << 10):
            block = [b"%032x" % numbers.getrandbits(128) for _ in range(31)]
            file.write(b"\n".join(block) + b"\n")
            total += sum(int(line[:8], 16) for line in block)
    return total


def judged(path):
    """Of a sorted file: lines, the sum of their hashes, and some lines, with their
    numbers, that are not in order; a line that is none counts as that."""
    last, total, lines, bad = b"", 0, 0, []
    with open(path, "rb") as file:
        for line in file:
            whole = WHOLE.fullmatch(line)
            if (not whole or line < last) and len(bad) < 8:
                bad.append((lines, last.decode("latin1"), line.decode("latin1")))
            total += int(line[:8], 16) if whole else 0
            last = line
            lines += 1
    return lines, total, bad


def test_sort(t):
    """sort with a buffer above its RAM and its temporary files on a disk."""
    cluster, client = start(t)
    sh("mkfs.ext4", "-q", "-F", "/dev/ubda")
    sh("mkdir", "-p", FOLDER)
    sh("mount", "/dev/ubda", FOLDER)
    try:
        total = text(f"{FOLDER}/in", MB, t.seed)
        with cluster.swap(client, "256M"):
            before = client.vmstat("pswpin")
            client.run(held_back(
                "20M", "sort --buffer-size=40M --parallel=1 -T "
                f"{FOLDER} -o {FOLDER}/out {FOLDER}/in"),
                timeout=250, memory_max="60M")
            pages = client.vmstat("pswpin") - before
            t.log(f"{pages} pages in")
            at_least(pages, 1000, "pages in")
        equal(judged(f"{FOLDER}/out"), ((MB << 10) * 31, total, []),
              "lines, their sum, and some that are not in order")
    finally:
        attempt("umount", FOLDER)


def test_stress_ng(t):
    """stress-ng's own memory checks in a group smaller than its memory."""
    cluster, client = start(t)
    with cluster.swap(client, "256M"):
        before = client.vmstat("pswpin")
        for method in ("incdec", "rand-set", "modulo-x"):
            client.run(held_back(
                "64M", "stress-ng --vm 1 --vm-bytes 96M "
                f"--vm-method {method} --verify --vm-keep "
                "--timeout 8 --oomable --temp-path /run"),
                timeout=150, memory_max="160M")
        pages = client.vmstat("pswpin") - before
        t.log(f"{pages} pages in")
        at_least(pages, 1000, "pages in")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")
