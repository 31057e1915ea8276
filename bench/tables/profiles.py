# SPDX-License-Identifier: GPL-2.0
"""The clusters of the papers' tables, in numbers: all that stands for hardware, and
all that is fitted.

The paper profile is a cluster of the Nswap2L paper's time: 1 Gb Ethernet, an
X25-M-like flash, a 7 200 rpm disk.  Network and flash are calibrated on N-T1 (a page
of many, straight through the device) and N-T7 (a lone read), the programs' own work
on N-share, and nothing on anything else; the step "calibration" of bench/paper
checks that N-T1 and N-T7 are within 5 %.  All other tables are results.  The disk is
in neither table: it has what such a drive's data sheet says.

The other profiles are of the other papers' hardware, and one of 2026.  What a paper
says of its hardware is taken as it is; where it is silent, data sheets speak.
Nothing is fitted to what is measured with them.  A delay of 0 is one that the paper
does not state: the wire's time is the rate's, and the processor's none.
"""
import dataclasses

# -- the paper profile --------------------------------------------------------

# What N-T1 (a page of 500 000) and N-T7 (a lone page) say, in microseconds.
WANTED = {
    ("N-T1", "network read"): 21.7e6 / 500_000,
    ("N-T1", "network write"): 20.2e6 / 500_000,
    ("N-T1", "flash read"): 23.5e6 / 500_000,
    ("N-T1", "flash write"): 32.7e6 / 500_000,
    ("N-T7", "network single read"): 150.0,
    ("N-T7", "flash single read"): 164.0,
}
WITHIN = 0.05

# The share of the time on network RAM that is due to swapping: the paper compared
# runs with and without enough RAM for two programs.  Of its other parallel programs
# it does not say: they are taken to be like HPL.
SHARES = {"WL1": 0.99, "HPL": 0.40, "Radix": 0.40, "IS": 0.40}
SHARE_WITHIN = 0.02
# The nanoseconds of sleep a unit of work (--compute-ns of each) that make it so.
# WL2 to WL4 do the work of WL1 in another order or company.
ALONE = ("WL1", "WL2", "WL3", "WL4")
COMPUTE_NS = {**dict.fromkeys(ALONE, 800), "Radix": 505_000, "IS": 600_000,
              "HPL": 1400, "HPL4": 5600}
# Radix and IS sleep so long at once: shorter sleeps take long in real time.
STEP_US = 5000
ITERATIONS = 3
# Four ranks have 33 MiB that is no matrix, and 22 are their starter's and the interpreter's,
# of which next to nothing is used once HPL computes: so a larger device, too.
HPL_MB, HPL_LIMITS_MB = 36, {"HPL": 16, "HPL4": 24}
RANKS_MORE_MB = 40

# Each node sends at this rate, in kbit/s.  The wire would do 1 Gbit/s; the paper's
# nodes did less, and more slowly when pages were read.  The rest of a page's way
# is the delay, each way.
OWNER_KBIT = 866_000
PEER_KBIT = 806_000
DELAY_US = 52

FLASH = {"channels": 10, "depth": 32,
         "read_ns": 117_000, "bus_read_ns": 47_000,
         "write_ns": 20_000, "bus_write_ns": 65_400}

# One rotation in 8.33 ms, 61 MB/s, seeks of 0.8 to 18 ms over 80 GB.
DISK = {"depth": 32, "rotation_ns": 8_333_333, "track_sectors": 1000,
        "seek_min_ns": 800_000, "seek_max_ns": 18_000_000, "span_mb": 80_000}

# How many requests a swap device has: the fewest that a queue may have.  A page-out
# waits when there is no request left, and nothing else makes a program wait that is
# at its limit.  By default there are 128 of up to 32 pages: a 30th of the paper's
# memory, but more than all of ours.
REQUESTS = 4

# What the kernel counts of memory groups is summed up this often, in seconds: see
# workload.tended().
FRESH_S = 0.001
# Memory is freed for some programs before they are at their limit: when less than
# the first is left, until the second is, in MiB, which is what a network of 1 Gb brings in a few
# milliseconds.
LOW_HIGH = (0.5, 1)
# Four ranks need more at once: with that four of five seeds had one killed on network RAM.
LOW_HIGH_OF = {"HPL4": (2, 2.5)}

# -- the others ---------------------------------------------------------------

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
                  OWNER_KBIT, PEER_KBIT, DELAY_US, DISK, FLASH)

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
