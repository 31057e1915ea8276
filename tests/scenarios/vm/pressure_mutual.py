# SPDX-License-Identifier: GPL-2.0
"""Starved kernels that hold each other's pages must not wait for each other
(tests/vm/pressure.py says how)."""
from vm import pressure

DESCRIPTION = "small guests swap to each other while all are starved"
SUITES = ("pressure",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 400
CPUS = 3        # of the host: its guests eat, and are timed
ONLY_FULL = {
    **dict.fromkeys(("6_1_256", "6_12_256"), "with 256 MB and a third guest it takes 5 to "
                                             "10 minutes of emulation"),
    **dict.fromkeys(("sealed_6_12", "three_6_1", "alone_6_1_128", "alone_6_12_256",
                     "compressed_6_1"),
                    "it takes minutes of emulation, and the other kernel shows the same"),
    **dict.fromkeys(("6_1_128", "6_12_128"),
                    "it takes minutes of emulation, and sealed and three show the same"),
    "cached_6_1": "it takes minutes of emulation, and cache_* and crash.early show the cache",
    "alone_6_1_256": "it takes minutes of emulation, and 128 MB shows the same",
    **dict.fromkeys(("mirror_6_1", "mirror_6_12", "parity_6_1", "parity_6_12"),
                    "it takes minutes of emulation, and sealed has one device of each kind"),
    **dict.fromkeys(("three_mirror_6_1", "three_mirror_6_12"),
                    "it takes minutes of emulation, and mirror and three show each half"),
}


def test_6_1_128(t):
    """Stock 6.1, 128 MB."""
    pressure.none_lost(t, "6.1", pressure.Shape(small_mb=128))


def test_6_1_256(t):
    """Stock 6.1, 256 MB."""
    pressure.none_lost(t, "6.1", pressure.Shape(small_mb=256))


def test_6_12_128(t):
    """Stock 6.12, 128 MB."""
    pressure.none_lost(t, "6.12", pressure.Shape(small_mb=128))


def test_6_12_256(t):
    """Stock 6.12, 256 MB."""
    pressure.none_lost(t, "6.12", pressure.Shape(small_mb=256))


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


def test_compressed_6_1(t):
    """Stock 6.1, pages leave compressed, half of them shorter."""
    pressure.none_lost(t, "6.1", pressure.COMPRESSED)


def test_compressed_6_12(t):
    """Stock 6.12, likewise."""
    pressure.none_lost(t, "6.12", pressure.COMPRESSED)


def test_cached_6_1(t):
    """Stock 6.1, a write cache, and page-outs end when they are in it."""
    pressure.none_lost(t, "6.1", pressure.CACHED)


def test_mirror_6_1(t):
    """Stock 6.1, each page at two of the others."""
    pressure.none_lost(t, "6.1", pressure.MIRROR)


def test_mirror_6_12(t):
    """Stock 6.12, each page at two of the others."""
    pressure.none_lost(t, "6.12", pressure.MIRROR)


def test_sealed_6_1(t):
    """Stock 6.1, one mirrors, one has parity, sealed; they reconnect with keys."""
    pressure.none_lost(t, "6.1", pressure.SEALED)


def test_sealed_6_12(t):
    """Stock 6.12, one mirrors, one has parity, sealed; they reconnect with keys."""
    pressure.none_lost(t, "6.12", pressure.SEALED)


def test_parity_6_1(t):
    """Stock 6.1, groups of two pages and their check at the three others."""
    pressure.none_lost(t, "6.1", pressure.PARITY)


def test_parity_6_12(t):
    """Stock 6.12, groups of two pages and their check at the three others."""
    pressure.none_lost(t, "6.12", pressure.PARITY)


def test_three_6_1(t):
    """Stock 6.1, three small guests, each a server of the other two."""
    pressure.none_lost(t, "6.1", pressure.THREE)


def test_three_6_12(t):
    """Stock 6.12, three small guests, each a server of the other two."""
    pressure.none_lost(t, "6.12", pressure.THREE)


def test_three_mirror_6_1(t):
    """Stock 6.1, three small guests, each page at two of the others."""
    pressure.none_lost(t, "6.1", pressure.THREE_MIRROR)


def test_three_mirror_6_12(t):
    """Stock 6.12, three small guests, each page at two of the others."""
    pressure.none_lost(t, "6.12", pressure.THREE_MIRROR)
