# SPDX-License-Identifier: GPL-2.0
"""Chaos of everything at once: protection, classes, flash, a prefetcher, and deaths.

        node0 ------ node1 … node5     node0 writes, reads and discards on five
        |   |                          devices: mirror and critical; parity; parity,
    flash  home                        compressed; home with flash, compressed; droppable

Servers shrink, drain, fall silent for a moment, die, and come back empty, and what
prefetches is switched all the time. One server at a time, and the next only when every
page is protected again: so no page is lost but those that were dropped, and no page is
wrong. In the end the module has no more memory than in the beginning, and unloaded none:
of vmalloc() by each of its functions that asks for some, and of slabs too where these
record who asks (tests/run faults -k chaos_all.all). Of single pages, which have no owner,
only the kernel's total tells.
"""
import contextlib
import json
import os
import time

from nswaptest import modmem
from nswaptest.check import at_least, at_most, equal, hold, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling

slots = sibling("chaos_slots")
prefetch = sibling("prefetch")
chaos = slots.chaos
KINDS = sibling("chaos_flash").KINDS

DESCRIPTION = "chaos with every protection, class and tier loses no page and leaks nothing"
SUITES = ("chaos", "faults")
NEEDS = ("module", "progs", "dmsetup", "blkdiscard")
CPUS = 2
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 400 + 4 * SECONDS

SERVERS = 5
LENT_MB = 64
SIZE_MB = 12
FLASH_MB = 4
FLASH_AT = 512          # MiB, on the scratch disk
DEAD_AFTER = 2
LEAK_KB = 16384         # in single pages; the kernel's own caches grow by a third of it
SAMPLES = 10            # half a second apart: what is under way is in the fewest of them
OPEN_ROWS = 2 * 2 * 32 * 4  # pages of the rows that the two devices with parity have open


class AllChaos(chaos.Chaos):
    """What goes on beside the workloads."""

    def __init__(self, t, cluster):
        super().__init__(t, cluster, LENT_MB)
        self.client = cluster[0]
        self.actions = ("lend", "lend", "drain", "silence", "kill", "choose")
        known = self.client.ctl("prefetch")["known"]
        self.policies = {kind: known[kind] for kind in KINDS}

    def known(self):
        """Does the owner know each server as it is now, and what died with those before?"""
        peers = self.client.ctl("peers")
        up = {p["addr"]: p["epoch"] for p in peers if p["state"] == "up"}
        return all(up.get(server.addr) == server.stat()["node"]["epoch"]
                   for server in self.servers) and \
            not any(p["slots"] for p in peers if p["state"] == "lost")

    def protected(self):
        """Wait until one more death costs nothing."""
        self.cluster.wait_connected()
        wait_for(self.known, 60, "the owner knows each server as it is")
        wait_for(lambda: not any(d["exposed_pages"] or d["lag_pages"]
                                 for d in self.client.devices()
                                 if d["protect"] != "none"), 60,
                 "every page is protected")

    def choose(self):
        """The prefetcher goes by something else."""
        prefetch.choose(self.client, **{kind: self.random.choice(names)
                                        for kind, names in self.policies.items()})

    def silence(self):
        """A server reaches no other node for a while; it may be taken for dead."""
        self.protected()
        server = self.random.choice(self.servers)
        self.cluster.isolate(server)
        hold(self.random.uniform(0.3, 2 * DEAD_AFTER))
        self.cluster.heal(server)

    def kill(self):
        """A server dies, and is back empty."""
        self.protected()
        server = self.random.choice(self.servers)
        self.cluster.kill(server)
        hold(self.random.uniform(0.1, 2 * DEAD_AFTER))
        self.cluster.revive(server)
        come_up(server)


def come_up(node, lent_mb=LENT_MB):
    """A node is up."""
    node.up(lend=f"{lent_mb}M", dead_after=DEAD_AFTER, reconcile=2)


def add(client, *args):
    """device add with these options; the device's name."""
    return client.ctl("device", "add", *args)["device"]


def start_devices(client, home, flash):
    """One of each kind: {name: may its reads fail?}"""
    size = ("--size", f"{SIZE_MB}M")
    devs = {
        add(client, *size, "--class", "critical", "--protect", "mirror"): False,
        add(client, *size, "--protect", "parity:3+1"): False,
        add(client, *size, "--protect", "parity:2+1", "--compress", "lz4"): False,
        add(client, "--home", home.path, "--flash", flash.path,
            "--protect", "home", "--compress", "zstd"): False,
        add(client, *size, "--class", "droppable"): True,
    }
    prefetch.setting(client, period_ms=20, pct=50)
    client.ctl("prefetch", "on")
    return devs


def kernel_kb(cluster):
    """KiB that the kernel uses itself, but for pages of file systems and those set
    aside to be lent."""
    kb = {line.split(":")[0]: int(line.split()[1])
          for line in cluster[0].read("/proc/meminfo").splitlines()}
    lent = sum(node.stat()["server"][kind] for node in cluster
               for kind in ("set_aside_pages", "held_pages"))
    return kb["MemTotal"] - 4 * lent - sum(
        kb[name] for name in ("MemFree", "Cached", "Buffers", "AnonPages"))


def memory(cluster, devs):
    """What is used when nothing is written to the devices: (KiB of the kernel, {place:
    objects or bytes of the module's})."""
    client = cluster[0]
    for dev in devs:
        client.discard(dev)
    wait_for(lambda: cluster.held_pages() <= OPEN_ROWS, 60,
             "no page is held but in rows that take more")
    kernel, module = [], []
    for _ in range(SAMPLES):
        hold(0.5)
        client.write("/proc/sys/vm/drop_caches", "3")
        kernel.append(kernel_kb(cluster))
        module.append(modmem.has())
    return min(kernel), {place: min(has.get(place, 0) for has in module)
                         for place in set().union(*module)}


def drive(t, client, devs, beside, seconds):
    """The workloads and what goes on beside them; their results."""
    works = {dev: slots.workload(client, dev, t.seed, threads=2, max_kb=64, reads=50,
                                 discards=10, tolerate_read_errors=True, data="mixed")
             for dev in devs}
    until = time.monotonic() + seconds
    while time.monotonic() < until or len(beside.done) < len(set(beside.actions)):
        beside.step()
        for dev, work in works.items():
            equal(work.poll(), None, f"exit code of the workload on {dev}")
    beside.protected()
    results = {dev: slots.stop(work) for dev, work in works.items()}
    for dev, result in results.items():
        t.log(f"{dev}: {json.dumps(result)}")
    return results


def test_all(t):
    """Five devices under random workloads while everything happens around them."""
    cluster = t.cluster(1 + SERVERS)
    client = cluster[0]
    for node in cluster:
        come_up(node, 0 if node is client else LENT_MB)
    cluster.wait_connected()
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(disk(SIZE_MB))
        flash = stack.enter_context(disk(FLASH_MB, FLASH_AT))
        devs = start_devices(client, home, flash)
        beside = AllChaos(t, cluster)
        drive(t, client, devs, beside, SECONDS / 6)
        before, had = memory(cluster, devs)
        results = drive(t, client, devs, beside, SECONDS)
        after, has = memory(cluster, devs)
        t.log(f"seed {t.seed}: {json.dumps(beside.done)}; the kernel used {before} KiB "
              f"and then {after} KiB; {json.dumps(client.stat()['client'])}")
        for place in sorted(had.keys() | has.keys()):
            t.log(f"the module's {place}: {had.get(place, 0)}, then {has.get(place, 0)}")
        for dev, may_fail in devs.items():
            at_least(results[dev]["verified"], 1000, f"pages compared on {dev}")
            equal(results[dev]["wrong_pages"], 0, f"wrong pages on {dev}")
            if not may_fail:
                equal(results[dev]["failed_slots"], 0, f"failed slots on {dev}")
        at_least(len(has), 1, "places that have memory of the module's")
        equal({place: (had.get(place, 0), n) for place, n in has.items()
               if n > had.get(place, 0)}, {}, "memory of the module's, then and now")
        at_most(after - before, LEAK_KB, "KiB that the kernel uses more than before")
        for dev in devs:
            client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")
    modmem.unload(cluster)
    cluster.load()
