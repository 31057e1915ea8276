# SPDX-License-Identifier: GPL-2.0
"""Clusters beside that of the paper profile, in numbers: those of the other papers,
and one of 2026.

What a paper says of its hardware is taken as it is; where it is silent, data sheets
speak.  Nothing is fitted to what is measured with them.  A delay of 0 is one that
the paper does not state: the wire's time is the rate's, and the processor's
none.
"""
import dataclasses

from tables import profile

# Mean of the square root of the way between two places at random: with it a modelled
# disk's mean seek is least + ROOT * (most - least).
ROOT = 8 / 15


@dataclasses.dataclass(frozen=True)
class Profile:
    """A cluster: rates of owner and peer in kbit/s, delay each way, and what
    tests/model_dev is told of flash and disk."""
    what: str
    owner_kbit: int
    peer_kbit: int
    delay_us: int
    disk: dict
    flash: dict = dataclasses.field(default_factory=dict)

    def scaled(self, share):
        """The same with a disk that is smaller, for seeks as long as they were
        where the data is smaller too."""
        span = max(1, round(self.disk["span_mb"] * share))
        return dataclasses.replace(self, disk=dict(self.disk, span_mb=span))


def ms(value):
    """Milliseconds in nanoseconds."""
    return round(value * 1e6)


NSWAP2L = Profile("the paper profile (of the Nswap2L paper)",
                  profile.OWNER_KBIT, profile.PEER_KBIT,
                  profile.DELAY_US, profile.DISK, profile.FLASH)

# Markatos and Dramitinos, section 3.1: standard Ethernet, "the same bandwidth as the
# disk"; a DEC RZ55 of 10 Mbit/s whose mean seek is 16 ms.  Assumed, as usual for such
# a drive and not in the paper: 332 MB, 3 600 rpm, 4 ms to the next track.
_RZ55_TURN, _RZ55_LEAST, _RZ55_MEAN = 1000 / 60, 4, 16
MARKATOS = Profile(
    "10 Mbit/s Ethernet, DEC RZ55 disk", 10_000, 10_000, 0,
    {"depth": 32, "rotation_ns": ms(_RZ55_TURN),
     "track_sectors": round(10e6 / 8 * _RZ55_TURN / 1000 / 512),
     "seek_min_ns": ms(_RZ55_LEAST),
     "seek_max_ns": ms(_RZ55_LEAST + (_RZ55_MEAN - _RZ55_LEAST) / ROOT),
     "span_mb": 332})

# Dodo, section 5.1: Fast Ethernet; a Quantum Fireball ST3.2A of 3.2 GB, 5 400 rpm,
# 10 ms the mean and 12 ms the longest seek of reads, 7.75 MB/s read in order.
_ST32_TURN, _ST32_MEAN, _ST32_MOST, _ST32_MB_S = 1000 / 90, 10, 12, 7.75
DODO = Profile(
    "100 Mbit/s Ethernet, Quantum Fireball ST3.2A disk", 100_000, 100_000, 0,
    {"depth": 32, "rotation_ns": ms(_ST32_TURN),
     "track_sectors": round(_ST32_MB_S * 1e6 * _ST32_TURN / 1000 / 512),
     "seek_min_ns": ms((_ST32_MEAN - ROOT * _ST32_MOST) / (1 - ROOT)),
     "seek_max_ns": ms(_ST32_MOST), "span_mb": 3200})

# 2026: classes of hardware, by what their data sheets have in common.
#   25 Gb Ethernet; 10 us each way are a switch (1 us or less) and an adapter that
#     waits 8 us for more packets before it interrupts, a common default
#   NVMe flash for data centres, TLC, PCIe 4: a lone 4 KiB read 80 us, 800 000 of
#     them a second at once; a lone write 15 us, into memory that a power cut does
#     not empty, 4 GB/s in order
#   a 7 200 rpm SATA disk of 1 TB: 210 MB/s, seeks of 0.6 to 17 ms, 8.5 on average
_NOW_TURN = 1000 / 120
NOW = Profile(
    "25 Gb Ethernet, NVMe flash, 7 200 rpm disk of 1 TB", 25_000_000, 25_000_000, 10,
    {"depth": 32, "rotation_ns": ms(_NOW_TURN),
     "track_sectors": round(210e6 * _NOW_TURN / 1000 / 512),
     "seek_min_ns": ms(0.6), "seek_max_ns": ms(17), "span_mb": 1_000_000},
    {"channels": 64, "depth": 1023, "read_ns": 79_000, "bus_read_ns": 1_000,
     "write_ns": 14_000, "bus_write_ns": 1_000})
