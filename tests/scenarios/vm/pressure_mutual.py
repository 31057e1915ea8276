# SPDX-License-Identifier: GPL-2.0
"""Two starved kernels that hold each other's pages must not wait for each
other (tests/vm/pressure.py says how)."""
from vm import pressure

DESCRIPTION = "two small guests swap to each other while both are starved"
SUITES = ("pressure",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 400
CPUS = 3        # of the host: its guests eat, and are timed
ONLY_FULL = {"6_1_256": "with 256 MB and a third guest it takes 5 to 10 "
                        "minutes of emulation"}


def test_6_1_128(t):
    """Stock 6.1, 128 MB."""
    pressure.with_third(t, "6.1", 128)


def test_6_1_256(t):
    """Stock 6.1, 256 MB."""
    pressure.with_third(t, "6.1", 256)


def test_6_12_128(t):
    """Stock 6.12, 128 MB."""
    pressure.with_third(t, "6.12", 128)


def test_6_12_256(t):
    """Stock 6.12, 256 MB."""
    pressure.with_third(t, "6.12", 256)


def test_alone_6_1_128(t):
    """Stock 6.1, 128 MB, no other peer to swap to."""
    pressure.without_third(t, "6.1", 128)


def test_alone_6_1_256(t):
    """Stock 6.1, 256 MB, no other peer to swap to."""
    pressure.without_third(t, "6.1", 256)


def test_alone_6_12_128(t):
    """Stock 6.12, 128 MB, no other peer to swap to."""
    pressure.without_third(t, "6.12", 128)


def test_alone_6_12_256(t):
    """Stock 6.12, 256 MB, no other peer to swap to."""
    pressure.without_third(t, "6.12", 256)
