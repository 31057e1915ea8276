# SPDX-License-Identifier: GPL-2.0
"""Where the instructions of a page are: a profile of counting.py's guest.

    found = profile("6.1", "nswap", ["read-4k-d32"], folder)
    found["read-4k-d32"].instructions["tcp_sendmsg_locked"]     a page

It is exact, as the count is: nothing is sampled. The program's last window of a work is
looked at, and all that ran in it, on both nodes.
"""
import bisect
import collections
import dataclasses
import shutil
import subprocess

from . import counting, image

USER = 0xffff800000000000       # what is below is no kernel's


@dataclasses.dataclass
class Profile:
    """Of one work, a page: instructions and calls of each function; and the blocks that
    were executed: (address, instructions, times)."""
    pages: int
    instructions: collections.Counter
    calls: collections.Counter
    blocks: list
    symbols: "Symbols"

    @property
    def total(self):
        """Instructions a page."""
        return sum(self.instructions.values())


class Symbols:
    """A kernel's functions by address, modules' too, as /proc/kallsyms has them."""

    def __init__(self, path):
        found = {}
        for line in path.read_text(errors="replace").splitlines():
            word = line.split()
            if len(word) >= 3 and word[1] in "tTwW" and not word[2].startswith("__pfx_"):
                found[int(word[0], 16)] = " ".join(word[2:])
        self.at = sorted(found)
        self.names = found

    def name(self, address):
        """Of the function that an address is in."""
        if address < USER:
            return "(program)"
        place = bisect.bisect_right(self.at, address) - 1
        return self.names[self.at[place]] if place >= 0 else "(kernel)"


def unfit():
    """Why this QEMU cannot, "" if it can: its plugins' interface changed with 9.0."""
    version = counting.emulator()
    return f"QEMU {version} takes no plugins of version 1" \
        if int(version.split(".")[0]) > 8 else ""


def plugin(folder, name):
    """A plugin, compiled there."""
    out = folder / f"{name}.so"
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-O2", "-shared", "-fPIC",
                    "-o", out, image.HERE / f"{name}.c"], check=True)
    return out


def _read(path, symbols, pages):
    """A window's file."""
    instructions, calls, blocks = collections.Counter(), collections.Counter(), []
    for line in path.read_text().splitlines():
        at, insns, times = (int(n, base) for n, base in zip(line.split(), (16, 10, 10)))
        name = symbols.name(at)
        instructions[name] += insns * times / pages
        if at in symbols.names:
            calls[name] += times / pages
        blocks.append((at, insns, times))
    return Profile(pages, instructions, calls, blocks, symbols)


def watched(series, device, works, folder, name):
    """Boot a guest that does the works on a device, beside a plugin: what that wrote of each
    one's last window, {work: (file, pages)}, and the guest's symbols."""
    windows = folder / "windows"
    shutil.rmtree(windows, ignore_errors=True)
    windows.mkdir(parents=True)
    initrd = counting.archive(series, folder / "initramfs")
    try:
        said = counting.repetitions(
            series, device, works, folder, initrd,
            ["-serial", f"file:{folder}/kallsyms",
             "-plugin", f"{plugin(folder, name)},dir={windows}"])
    finally:
        initrd.unlink()
    found, last = {}, -1
    for one in said:
        # before the first repetition of a work is one that is not told of
        last += 2 if one["rep"] == 1 else 1
        found[one["work"]] = windows / str(last), one["pages"]
    return found, Symbols(folder / "kallsyms")


def profile(series, device, works, folder):
    """Boot a guest that does the works on a device: {work: Profile}."""
    found, symbols = watched(series, device, works, folder, "profile")
    return {work: _read(path, symbols, pages) for work, (path, pages) in found.items()}
