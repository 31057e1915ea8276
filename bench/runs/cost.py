# SPDX-License-Identifier: GPL-2.0
"""make bench BENCH=cost: instructions a page, on stock kernels under emulation.

Both nodes are in one guest that counts instructions (tests/vm/counting.py), so a
figure is the sum of both, and the same on a busy machine. Each kernel and device
has a guest of its own, as many at once as there are processors.
"""
import concurrent.futures
import os
import sys
import threading

from nswaptest.check import Failure
from vm import counting, image

KERNELS, DEVICES = counting.KERNELS, [*counting.DEVICES, *counting.OTHERS]
WORKS = [*counting.WORKS, counting.TCP, counting.MOVE, *counting.TURNS]
_telling = threading.Lock()


class Refused(Exception):
    """It could not be measured; the text says why."""


def say(text):
    """Print a line of progress."""
    print(f"  {text}", file=sys.stderr, flush=True)


def asked(args):
    """What is to be measured."""
    return {"kernels": [k for k in KERNELS if not args.kernels or k in args.kernels],
            "devices": [d for d in DEVICES
                        if d in (args.devices or counting.DEVICES)
                        and counting.works_of(d, args.works)],
            "works": args.works}


def guests(options):
    """Kernels and devices, those devices first that take longest."""
    slow = ["nbd", *reversed(counting.SEVERAL), counting.MEMBERS, counting.LENDERS,
            "nvme-tcp", "nvme-tcp-jumbo", "sealed", "zstd", "lz4", "zram-text", "keys", "early",
            "cache", "nswap", "nswap-jumbo", "flash", "home", "zswap-text", "zram", "zswap",
            "disk", "brd", "tcp", "tcp-jumbo"]
    return [(kernel, device) for kernel in options["kernels"]
            for device in sorted(options["devices"], key=slow.index)]


def measured(kernel, device, options, folder, done, about):
    """Measure in one guest; done takes its rows."""
    rows = counting.measure(kernel, device, counting.works_of(device, options["works"]),
                            folder / f"{kernel}-{device}", folder / f"{kernel}.initramfs")
    release = image.kernel(kernel, "release")
    with _telling:
        done.part(f"{kernel} {device}", [{**row, "release": release, **about}
                                         for row in rows])
        say(f"{len(done.parts)} of {len(guests(options))} guests: "
            f"{device} on {kernel}")


def _all(pool, left, options, folder, done, about):
    """Measure what is left; a kernel's guests run while the next one is built for."""
    running = []
    for kernel in dict.fromkeys(one[0] for one in left):
        say(f"building for {kernel}")
        counting.archive(kernel, folder / f"{kernel}.initramfs")
        for one in left:
            if one[0] == kernel:
                running.append(pool.submit(measured, *one, options, folder, done,
                                           about))
    for ended in concurrent.futures.as_completed(running):
        ended.result()


def measure(options, folder, done, about, jobs=None):
    """All rows, in the order of kernels, devices and works. done (kept.Kept) has
    the guests of an interrupted run and takes each that ends."""
    left = [one for one in guests(options) if " ".join(one) not in done.parts]
    about = {**about, "lab": counting.lab()}
    try:
        with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            try:
                _all(pool, left, options, folder, done, about)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                counting.stop()
    except (Failure, image.SetupError) as why:
        raise Refused(str(why)) from why
    return [row for kernel in options["kernels"] for device in options["devices"]
            for row in done.parts[f"{kernel} {device}"]]
