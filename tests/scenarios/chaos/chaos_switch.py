# SPDX-License-Identifier: GPL-2.0
"""Chaos of protections that are changed all the time, and deaths.

        node0 ------ node1 … node5     node0 writes, reads and discards on three
        |   |                          devices: with a home and flash, compressed;
    flash  home                        with nothing else; with a home, sealed

Each device's protection is another every few moments: home, mirror, parity of several
shapes, none. Servers shrink, drain, fall silent and die meanwhile, one at a time, and
begin to while pages are brought from one protection to another, or are changed to another
while a server is gone. Each time all pages were protected before, by what their devices had
then: so no page is lost, and none is wrong. With no protection no server dies.
"""
import contextlib
import json
import os

from nswaptest.check import at_least, equal, hold, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import sibling

everything = sibling("chaos_all")

DESCRIPTION = "chaos with protections that are changed all the time loses no page"
SUITES = ("chaos",)
NEEDS = ("module", "progs", "dmsetup")
CPUS = 2
SECONDS = float(os.environ.get("NSWAP_CHAOS_SECONDS", "30"))
TIMEOUT = 400 + 8 * SECONDS

SIZE_MB = 12
FLASH_MB = 2
FLASH_AT = 512          # MiB, on the scratch disk
HOME_AT = 256
OPEN_ROWS = 3 * 2 * 32 * 4  # pages of the rows that the devices may have open, see chaos_all
PEERS_ONLY = ("mirror", "parity:2+1", "parity:3+1", "parity:2+2")
WITH_HOME = ("home", *PEERS_ONLY)


class SwitchChaos(everything.AllChaos):
    """What goes on beside the workloads. @kinds: {device: its protections}"""

    def __init__(self, t, cluster, kinds):
        super().__init__(t, cluster)
        self.kinds = kinds
        self.has = dict.fromkeys(kinds, "none")
        self.actions = ("change", "change", "none", "rekey", "lend", "drain", "silence", "kill",
                        "kill")
        for dev in kinds:
            self.protect(dev, self.random.choice(kinds[dev]))

    def protect(self, dev, kind):
        """A device's protection is this one from now on; refused while its key is changed."""
        done = self.client.run([self.client.prog("nswapctl"), "device", "protect", dev, kind,
                                "--no-wait"], check=False)
        if not done.code:
            self.has[dev] = kind
        elif "key is being changed" not in done.err:
            done.check()

    def change(self):
        """Some devices get another protection."""
        for dev in self.random.sample(sorted(self.kinds), self.random.randint(1, len(self.kinds))):
            self.protect(dev, self.random.choice([kind for kind in self.kinds[dev]
                                                  if kind != self.has[dev]]))
            hold(self.random.uniform(0, 0.3))

    def on_the_way(self):
        """All was protected, and perhaps is being brought under another protection."""
        self.protected()
        if self.random.random() < 0.7:
            self.change()

    def none(self):
        """A device is not protected for a while, in which no server dies."""
        dev = self.random.choice(sorted(self.kinds))
        self.protect(dev, "none")
        hold(self.random.uniform(0, 1.5))
        while self.has[dev] == "none":
            self.protect(dev, self.random.choice(self.kinds[dev]))

    def rekey(self):
        """Sealed devices get another key, unless they are being changed otherwise."""
        for dev in self.kinds:
            self.client.run([self.client.prog("nswapctl"), "device", "rekey", dev], check=False)

    def silence(self):
        """A server reaches no other node for a while; it may be taken for dead."""
        self.on_the_way()
        server = self.random.choice(self.servers)
        self.cluster.isolate(server)
        self.gone()
        self.cluster.heal(server)

    def kill(self):
        """A server dies, and is back empty."""
        self.on_the_way()
        server = self.random.choice(self.servers)
        self.cluster.kill(server)
        self.gone()
        self.cluster.revive(server)
        everything.come_up(server)

    def gone(self):
        """A server is, for a while, in which protections may be changed."""
        hold(self.random.uniform(0.1, 2 * everything.DEAD_AFTER))
        if self.random.random() < 0.5:
            self.change()
            hold(self.random.uniform(0.1, everything.DEAD_AFTER))


def start_devices(client, stack):
    """{device: protections that it may have}"""
    homes = [stack.enter_context(disk(SIZE_MB, at)).path for at in (0, HOME_AT)]
    flash = stack.enter_context(disk(FLASH_MB, FLASH_AT)).path
    add = everything.add
    return {
        add(client, "--home", homes[0], "--flash", flash, "--compress", "lz4"): WITH_HOME,
        add(client, "--size", f"{SIZE_MB}M"): PEERS_ONLY,
        add(client, "--home", homes[1], "--seal"): WITH_HOME,
    }


def named(client):
    """Slots that name peers, added up."""
    return sum(peer["slots"] for peer in client.ctl("peers"))


def test_switch(t):
    """Three devices under random workloads while their protections change and servers die."""
    cluster = t.cluster(1 + everything.SERVERS)
    client = cluster[0]
    for node in cluster:
        everything.come_up(node, 0 if node is client else everything.LENT_MB)
    cluster.wait_connected()
    with contextlib.ExitStack() as stack:
        kinds = start_devices(client, stack)
        beside = SwitchChaos(t, cluster, kinds)
        results = everything.drive(t, client, kinds, beside, SECONDS)
        t.log(f"seed {t.seed}: {json.dumps(beside.done)}; {json.dumps(beside.has)}; "
              f"{json.dumps(client.stat()['client'])}")
        for dev, result in results.items():
            at_least(result["verified"], 1000, f"pages compared on {dev}")
            equal((result["wrong_pages"], result["failed_slots"]), (0, 0),
                  f"wrong and failed pages on {dev}")
        for dev in kinds:
            client.discard(dev)
        wait_for(lambda: cluster.held_pages() <= OPEN_ROWS, 60,
                 "no page is held but in rows that take more")
        for dev in kinds:
            client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")
    wait_for(lambda: named(client) == 0, 20, "no slot names a peer")
