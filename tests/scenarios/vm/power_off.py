# SPDX-License-Identifier: GPL-2.0
"""One separate kernel after the other loses its power, and no page is lost.

        node0 ------ node1 … node3 or 4     node0 writes, reads and discards

5 rounds, or as many as NSWAP_CRASH_ROUNDS says. In each one a server's QEMU is killed at
a random moment and boots again with a new epoch, while another server gives its RAM back
and a third lends less. The owner takes the server for dead meanwhile, or does not until it
hears the new epoch. The next round begins when every page is protected again: so no read
and no write may fail, and no page may be wrong. Seeds are as in crash.py:
NSWAP_CRASH_SEED=<seed of a round> makes the same decisions again.
"""
import os
import time

from nswaptest.check import hold, wait_for
from nswaptest.scenario import sibling
from vm import pressure

crash = sibling("crash")

DESCRIPTION = "one power failure after the other loses no page of a protected device"
SUITES = ("vm",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = crash.TIMEOUT
CPUS = 2        # of the host: mostly two guests are busy
ONLY_FULL = dict.fromkeys(
    ("mirror_6_1", "mirror_6_12", "parity_6_1"),
    "it takes minutes of emulation, and parity_6_12 has the same rounds")

MIRROR = crash.Scheme("mirror", servers=3, held=(2, 2))
# two pages and their check, or a page and its check where there are only two peers
PARITY = crash.Scheme("parity:2+1", servers=4, held=(1, 2.2))
MEMORY_MB = 192


class PowerOff(crash.Crash):
    """Real servers that lose their power."""

    dead_after = 6      # about as long as a guest takes to boot
    device_mb = 16
    number = int(os.environ.get("NSWAP_CRASH_ROUNDS", "5"))

    def up(self, node):
        pressure.watch_for_hangs(node)
        super().up(node)

    def give_back(self, server):
        """A server wants all of its RAM back, or most of it."""
        self.draining = None
        if self.random.random() < 0.5:
            self.draining = server.popen([server.prog("nswapctl"), "drain"])
        else:
            server.ctl("lend", f"{self.random.choice((0, 2))}M")

    def lend_less(self, server):
        server.ctl("lend", f"{self.random.choice((32, 48, self.lent_mb))}M")

    def power_off(self, server):
        self.cluster.kill(server)

    def heard(self, server):
        """Every other node has heard of the server as it is now."""
        epoch = server.stat()["node"]["epoch"]
        return all(node.peers().get(server.addr, {}).get("epoch") == epoch
                   for node in self.cluster if node is not server)

    def round(self):
        """The three things begin one after the other, in any order."""
        wait_for(self.protected, 60, "every page is protected", every=0.3)
        begun = time.monotonic()
        chosen = self.random.sample(self.servers, 3)
        victim, mover, resized = chosen
        patience = self.random.choice((self.dead_after, crash.PATIENCE))
        self.client.ctl("set", "dead_after_ms", 1000 * patience)
        doing = list(zip((self.power_off, self.give_back, self.lend_less), chosen))
        self.random.shuffle(doing)
        print(", ".join(f"{what.__name__} {node}" for what, node in doing),
              f"dead after {patience} s", flush=True)
        for what, node in doing:
            hold(self.random.uniform(0, 0.7))
            what(node)
        hold(self.random.uniform(0, 2))
        self.cluster.revive(victim)
        self.up(victim)
        wait_for(lambda: self.heard(victim), 20, f"every node hears of {victim}",
                 every=0.3)
        if self.draining:
            self.draining.kill(2)
            self.draining.wait(30)
        for server in (mover, resized):
            server.ctl("lend", f"{self.lent_mb}M")
        self.cluster.wait_connected()
        self.done[f"dead after {patience} s"] += 1
        self.t.log(f"a round of {time.monotonic() - begun:.1f} s; {self.device()}")

    def check_covered(self):
        """Both kinds of death are in as many rounds."""


def rounds(t, series, scheme):
    """All rounds of a scheme on one kernel."""
    crash.run_rounds(crash.start(t, scheme, kind=PowerOff, kernel=series,
                                 memory_mb=MEMORY_MB))


def test_mirror_6_1(t):
    """Stock 6.1, two copies of each page on three servers."""
    rounds(t, "6.1", MIRROR)


def test_mirror_6_12(t):
    """Stock 6.12, two copies of each page on three servers."""
    rounds(t, "6.12", MIRROR)


def test_parity_6_1(t):
    """Stock 6.1, groups of two pages and their check on four servers."""
    rounds(t, "6.1", PARITY)


def test_parity_6_12(t):
    """Stock 6.12, groups of two pages and their check on four servers."""
    rounds(t, "6.12", PARITY)
