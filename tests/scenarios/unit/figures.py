# SPDX-License-Identifier: GPL-2.0
"""What all figures of the benchmarks have in common: colours, and what stands below."""
import sys

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

sys.path.append(str(ROOT / "bench"))

from plot import caption, colours  # noqa: E402 (needs the path above)

DESCRIPTION = "a device has one colour in every figure, and captions fit their width"
SUITES = ("unit",)
HERE = True
TIMEOUT = 30


def test_devices(_):
    """The same, whatever is drawn beside it; devices that are one thing share it, and what
    is no device never has it."""
    equal(colours.of(["disk", "flash"])["disk"], colours.of(["nswap2l", "disk"])["disk"],
          "the disk's colours")
    for one, other in (("network", "nswap"), ("flash", "ssd"), ("ram", "tmpfs")):
        equal(colours.DEVICES[one], colours.DEVICES[other], f"{one} and {other}")
    equal(set(colours.PALETTE) & set(colours.DEVICES.values()), set(),
          "devices' colours in the palette")
    equal((colours.device_in("network single read"), colours.device_in("WL1, rand")),
          ("network", None), "devices of rows")


def test_others(_):
    """Policies have one of their own each; what has no name takes what is left."""
    for kind in colours.KINDS:
        equal(len({colours.NAMED[name] for name in kind}), len(kind), f"colours of {kind}")
    found = colours.of(["none", "10 % faster", "nswap", "20 % faster"])
    equal((list(found), len(set(found.values()))),
          (["none", "10 % faster", "nswap", "20 % faster"], 4), "names in their order")


def test_captions(_):
    """No word is cut, lines stay lines, and none is wider than the figure."""
    text = "user-mode kernel, 1 CPU, commit 52e42dd9fe05; 6 of 6 rows are marked as disturbed"
    lines = caption.wrapped(f"{text}\n{text}", 3)
    equal(" ".join(lines), f"{text} {text}", "all words")
    true(len(lines) > 2 and max(map(len, lines)) * caption.LETTER <= 3 * 72,
         f"lines of {[len(line) for line in lines]} letters in 3 inches")
