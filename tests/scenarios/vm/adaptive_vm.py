# SPDX-License-Identifier: GPL-2.0
"""Two guests that lend each other what is idle and want it back in turn
(tests/vm/adaptive.py says how)."""
from vm import adaptive

DESCRIPTION = "two small guests with homes lend and eat out of phase"
SUITES = ("pressure",)
NEEDS = ("module", "progs", "qemu-system-x86_64")
TIMEOUT = 300
CPUS = 3        # of the host: its guests eat, and are timed
ONLY_FULL = dict.fromkeys(
    ("6_12", "pressure_6_1", "pressure_6_12"),
    "it takes minutes of emulation, and adaptive_vm.6_1 shows the same")


def test_6_1(t):
    """Stock 6.1, watermark."""
    adaptive.out_of_phase(t, "6.1")


def test_6_12(t):
    """Stock 6.12, watermark."""
    adaptive.out_of_phase(t, "6.12")


def test_pressure_6_1(t):
    """Stock 6.1, pressure, which hears of PSI."""
    adaptive.out_of_phase(t, "6.1", "pressure", feed=True)


def test_pressure_6_12(t):
    """Stock 6.12, pressure, which hears of PSI."""
    adaptive.out_of_phase(t, "6.12", "pressure", feed=True)
