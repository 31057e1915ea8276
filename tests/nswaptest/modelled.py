# SPDX-License-Identifier: GPL-2.0
"""Modelled flash and disks, and a clock for virtual time: tests/model_dev as tests and
benchmarks use it."""
import contextlib
import pathlib

from .check import Failure
from .lab import attempt, module_loaded, sh

CLOCK = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
PARAMETERS = pathlib.Path("/sys/module/model_dev/parameters")


class Modelled:
    """One device: Modelled("mf0", "flash", mb=64, read_ns=50000, channels=4);
    tests/model_dev/model.h says what the numbers are."""

    def __init__(self, name, kind, **numbers):
        self.name, self.path = name, f"/dev/{name}"
        words = [name, kind] + [f"{k}={v}" for k, v in numbers.items()]
        (PARAMETERS / "add").write_text(" ".join(words))

    def set(self, **knobs):
        """Change its times while it is used."""
        for name, value in knobs.items():
            pathlib.Path(f"/sys/block/{self.name}/model/{name}").write_text(
                str(value))

    def remove(self):
        """Remove it; OSError while it is open."""
        (PARAMETERS / "remove").write_text(self.name)


@contextlib.contextmanager
def loaded(module):
    """The driver is in the kernel; its devices go with it."""
    sh("insmod", str(module))
    try:
        yield
    except BaseException:
        attempt("rmmod", "model_dev")
        raise
    if module_loaded("model_dev"):
        sh("rmmod", "model_dev")


@contextlib.contextmanager
def free_clock(module):
    """Under virtual time, reading the clock takes no time for a while."""
    symbols = (line.split() for line in
               pathlib.Path("/proc/kallsyms").read_text().splitlines())
    address = next((at for at, _, name, *_ in symbols if name == "timer_read"), None)
    if not address:
        raise Failure("this kernel has no clock of virtual time")
    before = CLOCK.read_text()
    sh("insmod", str(module), f"read=0x{address}")
    try:
        if CLOCK.read_text().strip() != "free":
            raise Failure("the clock that is free to read is not in use")
        yield
    finally:
        CLOCK.write_text(before)
        sh("rmmod", "free_clock")
