# SPDX-License-Identifier: GPL-2.0
"""The paper profile: a cluster of the Nswap2L paper's time, in numbers.

1 Gb Ethernet, an X25-M-like flash, a 7 200 rpm disk.  Network and flash are
calibrated on N-T1 (a page of many, straight through the device) and N-T7 (a lone
read) and on nothing else; the step "calibration" of bench/paper checks that they are
within 5 %.  All other tables are results.  The disk is in neither table: it has what
such a drive's data sheet says.
"""
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
              "HPL": 1250}
# Radix and IS sleep so long at once: shorter sleeps take long in real time.
STEP_US = 5000
ITERATIONS = 3
HPL_MB, HPL_LIMIT_MB = 36, 16

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
