# SPDX-License-Identifier: GPL-2.0
"""A machine without the module swaps through one that has it, or through two.

        client ------ gateway ------ lender     nvme-tcp of a stock kernel; nswap
              `------ gateway ------´           raid1 on the client
"""
import base64
import json
import time
import zlib

from nswaptest import check, nvme
from nswaptest.check import wait_for
from nswaptest.work import eater, held_back, result_of
from vm.proc import size

DESCRIPTION = "a stock kernel without the module swaps through a gateway"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64", "mdadm")
TIMEOUT = 300
CPUS = 2        # of the host
ONLY_FULL = {"old": "Debian 11 leaves the mirrors, and gateway.swaps shows it of 6.1",
             "whole": "it takes minutes of emulation, and gateway.swaps shows the same",
             "killed": "it waits for time-outs", "mirrored": "it waits for time-outs",
             "secret": "export.undone shows what is told to the target"}

CLIENT_MB = 112
TARGET, HOST = ("nvmet-tcp",), ("nvme-tcp", "raid1")
AUTH = ("hmac", "sha256_generic")
RAM_SHARE = 16          # of the client's memory is its reserve, as doctor advises
LIMIT_MB = 8            # that the program may keep, where it is not the machine's RAM
ROOM = "32M"            # more than it has
KEEP_ALIVE = 5          # s, until the client knows that a gateway is gone
FAST_FAIL = 5           # s after that, until it gives its I/O up
LATE = 30               # s more, at most, under emulation


def start(t, gateways=1, kernel="6.12", old="6.1", device="40M", lent="100M",
          fast_fail=FAST_FAIL):
    """The lender, the gateways and the client, which uses an older kernel, one that does not
    know fast_io_fail_tmo if that is None; (cluster, its disks)."""
    more = {} if fast_fail is None else {"fast_io_fail_tmo": fast_fail}
    cluster = t.cluster(2 + gateways, kernel=[kernel] * (1 + gateways) + [old],
                        memory_mb=[288] + [144] * gateways + [CLIENT_MB],
                        bare=[False] * (1 + gateways) + [True],
                        tools=[()] * (1 + gateways) + [("mdadm",)],
                        modules=[()] + [TARGET] * gateways + [HOST])
    lender, *middle, client = cluster
    check.equal(client.run("test -e /sys/module/nswap", check=False).code, 1,
                "whether the client has no module")
    lender.up(lend=lent)
    client.write("/proc/sys/vm/min_free_kbytes", str(client.meminfo_kb("MemTotal") // RAM_SHARE))
    disks = []
    for gateway in middle:
        gateway.up(lend="0")
        gateway.device_add(device)
        made = gateway.ctl("export", "nswap0", "--nvme")
        disks.append(nvme.connect(client, made["addr"], made["name"], nr_io_queues=1,
                                  queue_size=64, keep_alive_tmo=KEEP_ALIVE,
                                  ctrl_loss_tmo=-1, **more))
    return cluster, [disk.removeprefix("/dev/") for disk in disks]


def judge(t, result):
    """No page was wrong."""
    t.log(json.dumps(result))
    check.equal(result["wrong_pages"], 0, "wrong pages")
    return result


def end(t, cluster, disk, out):
    """What the program's end freed is free at the lender, by discard alone; the rest of it
    after swapoff and blkdiscard."""
    lender, gateway, client = cluster
    wait_for(lambda: size(lender)["held"] < out // 4, 60, "what was freed is free at the lender")
    rest = size(lender)["held"]
    client.swapoff(disk)
    off = size(lender)["held"]
    client.run(["blkdiscard", f"/dev/{disk}"])
    wait_for(lambda: not size(lender)["held"], 30, "the lender holds nothing")
    t.log(f"of {out} pages swapped out the lender holds {rest} after the program's end, "
          f"{off} after swapoff, 0 after blkdiscard")
    nvme.disconnect(client)
    wait_for(lambda: not gateway.ctl("export")[0]["clients"], 20, "it is gone")
    gateway.ctl("unexport", "nswap0")


def swaps(t, **options):
    """A program of twice the RAM that it may keep, on a client without the module: every page
    is right, and what is freed is free at the lender."""
    cluster, (disk,) = start(t, **options)
    cluster[2].swapon(disk, "--discard")
    result = judge(t, result_of(cluster[2].run(held_back(
        f"{LIMIT_MB}M", eater(cluster[2], 2 * LIMIT_MB, passes=0, hold=True, release="/")),
        memory_max=ROOM)))
    check.at_least(result["pswpout"], LIMIT_MB * 256, "pages swapped out")
    end(t, cluster, disk, result["pswpout"])


def test_swaps(t):
    """A 6.1 without the module swaps through a 6.12."""
    swaps(t)


def test_old(t):
    """Likewise a 5.10, for which the module is not made."""
    swaps(t, old="5.10", fast_fail=None)


def test_whole(t):
    """The same of twice the RAM of the whole machine."""
    cluster, (disk,) = start(t, device="180M", lent="190M")
    cluster[2].swapon(disk, "--discard")
    ram = cluster[2].meminfo_kb("MemTotal") >> 10
    result = judge(t, result_of(cluster[2].run(
        eater(cluster[2], 2 * ram, passes=0, hold=True, release="/"), timeout=120)))
    check.at_least(result["pswpout"], ram * 256, "pages swapped out")
    end(t, cluster, disk, result["pswpout"])


def begin(cluster, disk):
    """A program that swaps there without end; once pages are at the lender."""
    lender, *_, client = cluster
    client.swapon(disk, "--discard")
    program = client.popen(held_back(
        f"{LIMIT_MB}M", eater(client, 2 * LIMIT_MB, passes=0, seconds=100000, timed=True,
                              order="random")), memory_max=ROOM)
    wait_for(lambda: client.vmstat("pswpin") > 500, 60, "pages have come back")
    check.at_least(size(lender)["held"], LIMIT_MB * 128, "pages at the lender")
    return program


def log_of(client):
    """The client's kernel log."""
    return client.run(["dmesg"]).out


def test_killed(t):
    """The only gateway loses its power: page-ins wait for as long as the client was told to,
    then fail; the programs whose pages those are get SIGBUS, the machine goes on."""
    cluster, (disk,) = start(t)
    _, gateway, client = cluster
    program = begin(cluster, disk)
    cluster.kill(gateway)
    begun = time.monotonic()
    wait_for(lambda: "Read-error on swap-device" in log_of(client), 60, "a page-in has failed")
    took = time.monotonic() - begun
    # what cannot be swapped out has to stay
    client.run("for m in /sys/fs/cgroup/*/memory.high; do echo max > $m; done")
    program.kill(15)
    result = judge(t, result_of(program.wait(60), codes=(3,)))
    t.log(f"the first page-in failed {took:.1f} s after the gateway's end, {result['failed_reads']} "
          "in all")
    check.at_least(result["failed_reads"], 1, "page-ins that failed")
    check.at_most(took, KEEP_ALIVE + FAST_FAIL + LATE, "seconds until page-ins fail")
    client.swapoff(disk)
    nvme.disconnect(client)
    # it would keep the pages of the dead one for a while yet
    cluster[0].ctl("down", "--now")


def test_mirrored(t):
    """Two gateways, mirrored by the client: one loses its power, and no page is lost or
    wrong; what goes on meanwhile waits for as long as the client was told to."""
    cluster, disks = start(t, gateways=2)
    _, _, victim, client = cluster
    client.run(["mdadm", "--build", "/dev/md0", "--level=1", "--raid-devices=2",
                "--assume-clean", *(f"/dev/{disk}" for disk in disks)])
    program = begin(cluster, "md0")
    cluster.kill(victim)
    begun = time.monotonic()
    wait_for(lambda: "Disk failure on" in log_of(client), 60, "the mirror has dropped it")
    took = time.monotonic() - begun
    reads = client.vmstat("pswpin")
    wait_for(lambda: client.vmstat("pswpin") > reads + 2000, 60, "the program goes on")
    program.kill(15)
    result = judge(t, result_of(program.wait(60)))
    t.log(f"the mirror dropped it {took:.1f} s after its end; the slowest access took "
          f"{result['slowest_ms'] / 1000:.1f} s")
    check.equal(result["failed_reads"], 0, "page-ins that failed")
    check.at_most(took, KEEP_ALIVE + FAST_FAIL + LATE, "seconds until the mirror goes on")
    client.swapoff("md0")
    client.run(["mdadm", "--stop", "/dev/md0"])
    nvme.disconnect(client)
    cluster[1].ctl("unexport", "nswap0", "--now")
    cluster[0].ctl("down", "--now")


def secret_of(key):
    """A key as 'nvme gen-dhchap-key' prints it."""
    crc = zlib.crc32(key).to_bytes(4, "little")
    return f"DHHC-1:00:{base64.b64encode(key + crc).decode()}:"


def kept(gateway):
    """The host's folder is not for others; the secret stays as it is for all that it may connect
    to, and until the last of them ends."""
    host = f"/sys/kernel/config/nvmet/hosts/{nvme.HOST}"
    command = ["export", "nswap1", "--nvme", "--host", nvme.HOST]
    for more in ([], ["--secret", "/other"]):
        said = gateway.refused(*command, *more)
        check.true("name the same one with --secret" in said, f"{more}: {said}")
    gateway.ctl(*command, "--secret", "/secret")
    gateway.ctl("unexport", "nswap1")
    check.equal(gateway.run(["stat", "-c", "%a", host]).out.strip(), "700", "what others may")
    check.equal(gateway.read(f"{host}/dhchap_key").strip(), secret_of(bytes([1]) * 32), "the key")


def test_secret(t):
    """6.12 at both ends: a client that has the name, and no secret or another one, is not let
    in; the one that has it is."""
    lender, gateway, client = t.cluster(
        3, kernel="6.12", memory_mb=[160, 160, 144], bare=[False, False, True],
        modules=[(), TARGET + AUTH, HOST + AUTH], tools=[(), (), ("mdadm",)])
    lender.up(lend="16M")
    gateway.up(lend="0")
    gateway.device_add("16M")
    gateway.device_add("16M")
    right, wrong = (secret_of(bytes([n]) * 32) for n in (1, 2))
    for name, text in (("/secret", right), ("/other", wrong)):
        gateway.write(name, text + "\n")
        gateway.run(["chmod", "600", name])
    made = gateway.ctl("export", "nswap0", "--nvme", "--host", nvme.HOST, "--secret", "/secret")
    check.equal((made["host"], made["secret"]), (nvme.HOST, True), "what was asked for")
    kept(gateway)
    for more in ({}, {"dhchap_secret": wrong}):
        words = nvme.options(made["addr"], made["name"], **more)
        done = client.run(f"printf '%s' '{words}' > /dev/nvme-fabrics", check=False, timeout=30)
        check.true(done.code, f"a client is let in with {more}")
    disk = nvme.connect(client, made["addr"], made["name"], dhchap_secret=right)
    client.run(["blkverify", "--device", disk, "--ops", "40", "--max-kb", "64", "--mb", "4"])
    client.run(["blkdiscard", disk])
    wait_for(lambda: not size(lender)["held"], 30, "the lender holds nothing")
    nvme.disconnect(client)
    gateway.ctl("unexport", "nswap0", "--now")
    check.equal(gateway.run(["ls", "/sys/kernel/config/nvmet/hosts"]).out, "", "hosts")
