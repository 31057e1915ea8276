# SPDX-License-Identifier: GPL-2.0
"""Markatos and Dramitinos: programs that swap to a slow network and to a slow disk.

  M-T1   what a page transfer takes
  M-T1-causes  the same without readahead
  M-F1   how long each program takes
  M-F2   QSORT's time by the size of its input
  M-F3   QSORT on a network that is ten times as fast, as the paper predicts it and
         measured, and with enough RAM

Sizes are a quarter: 16 MB are available there, 4 MiB here. The programs of M-T1 and M-F1
do nothing but swap; QSORT of the others computes for as long as the paper's figures say.
Every program checks its result, or the run ends.
"""
import dataclasses
import functools

from tables import nswap, profiles
from tables.others import DEVICES, of_program, on_device, on_each, program, runs_of, \
    seconds_row
from tables.rows import Paper
from tables.units import Row, Unit

# All twice their RAM. NBODY goes all over its tree for each body: only every 64th is
# moved.
PROGRAMS = {"MVEC": ("mvec",), "QSORT": ("quicksort",), "FFT": ("fft",),
            "GAUSS": ("gauss",), "NBODY": ("nbody", "--every", 64)}
SCALE = 4               # their MB for one MiB of ours
MB, RAM_MB = 8, 4       # 32 MB, and 16 MB available (figure 2)
PROFILE = profiles.MARKATOS.scaled(1 / SCALE)
FASTER = 10
FAST = dataclasses.replace(PROFILE, owner_kbit=FASTER * PROFILE.owner_kbit,
                           peer_kbit=FASTER * PROFILE.peer_kbit)
# Figure 2, and where the gain of network over disk is highest (section 3.2).
INPUTS_MB, HIGHEST_MB, HIGHEST = (12, 16, 20, 24, 28, 32), 24, 0.82
ALTERNATIVES_MB = (24, 32)
# Table 1 and section 3.2: with so many transfers n that take d on the disk and r on the
# network, and computing of C, the gain is n (d - r) / (C + n r), and what is known of
# QSORT is d / r and the gain. So it computes for so much of the time that it waits for
# the network.
TRANSFERS = {"MVEC": (11.36, 7.02), "QSORT": (17.89, 9.63), "FFT": (18.77, 8.7),
             "GAUSS": (18.74, 8.42), "NBODY": (22.14, 8.21)}
COMPUTES = (TRANSFERS["QSORT"][0] / TRANSFERS["QSORT"][1] - 1) / HIGHEST - 1
TRIAL_NS = 1000

PAPERS = {
    "M-T1": Paper("ms a page transfer (theirs of 8 KiB)", DEVICES, TRANSFERS,
                  over="network"),
    "M-T1-causes": Paper("ms a page transfer without readahead (theirs of 8 KiB)", DEVICES,
                         TRANSFERS, over="network"),
    # section 3.2 has the gains of two
    "M-F1": Paper("seconds of the whole program", DEVICES,
                  {"NBODY": (1.4045, 1), "GAUSS": (2.0872, 1)}, over="network"),
    "M-F2": Paper("seconds of QSORT by MB of its input, as in the paper, of which 16 fit "
                  "into RAM; ours a quarter", DEVICES),
    # section 3.2: "as high as 82%"
    "M-F2-gain": Paper("per cent that the disk takes longer, by the same", ("gain",),
                       {str(HIGHEST_MB): (100 * HIGHEST,)}),
    # only drawn there
    "M-F3": Paper("seconds of QSORT: disk, network of 10 Mbit/s, what the paper's "
                  "formula makes of that for 100 Mbit/s, 100 Mbit/s, enough RAM"),
}


# -- inside the lab's kernel ------------------------------------------------

def transfers(run, name, dev, page_cluster=3):
    """M-T1, M-F1: a program that does nothing but swap."""
    with nswap.changed(run, page_cluster=page_cluster):
        return of_program(on_device(run, PROFILE, dev, 2 * MB, *PROGRAMS[name], "--mb", MB,
                                    ram_mb=RAM_MB))


def qsort(run, dev, mb, compute_ns):
    """QSORT on one of the devices, or in RAM."""
    flags = (*PROGRAMS["QSORT"], "--mb", mb, "--compute-ns", compute_ns)
    if dev == "ram":
        return program(run, *flags, ram_mb=2 * mb)
    profile = FAST if dev == "faster" else PROFILE
    name = "disk" if dev == "disk" else "network"
    return on_device(run, profile, name, 2 * MB, *flags, ram_mb=RAM_MB)


def compute_ns(run):
    """What 1024 comparisons take, so that QSORT computes for as much of the time that it
    waits for the network as in the paper."""
    mb = HIGHEST_MB // SCALE
    waits = qsort(run, "network", mb, 0)["total"]
    computes = qsort(run, "ram", mb, TRIAL_NS)["slept_seconds"]
    return round(COMPUTES * waits / computes * TRIAL_NS)


def sized(run, theirs_mb, dev):
    """M-F2, M-F3: QSORT of so much of theirs."""
    each = compute_ns(run)
    got = qsort(run, dev, theirs_mb // SCALE, each)
    return {**of_program(got), "compute_ns": each,
            "computes": round(got["slept_seconds"], 4)}


MEASURES = {"transfers": transfers, "sized": sized}


# -- on the host ------------------------------------------------------------

def transfer_row(got):
    """M-T1: time over pages in and out."""
    return {"ours": {dev: round(found["total"] * 1e3 / found["pages"], 4)
                     for dev, found in got.items()},
            "runs": runs_of(got), "profile": PROFILE.what}


def programs_table(_):
    """M-T1 and M-F1: the same runs."""
    for ident, make in (("M-T1", transfer_row),
                        ("M-F1", functools.partial(seconds_row, PROFILE))):
        for name in PROGRAMS:
            yield Row(ident, name, on_each("transfers", name), make)
    for name in PROGRAMS:
        yield Row("M-T1-causes", name, on_each("transfers", name, more=(0,)), transfer_row)


def gain_row(got):
    """M-F2-gain."""
    gain = got["disk"]["total"] / got["network"]["total"] - 1
    return {"ours": {"gain": round(100 * gain, 2)}, "profile": PROFILE.what}


def alternatives_row(got):
    """M-F3: a network that is X times faster divides what is not computing by X."""
    ours = {dev: found["total"] for dev, found in got.items()}
    computes = got["network"]["computes"]
    predicted = computes + (ours["network"] - computes) / FASTER
    return {"ours": {"disk": ours["disk"], "10 Mbit/s": ours["network"],
                     "predicted": round(predicted, 4), "100 Mbit/s": ours["faster"],
                     "ram": ours["ram"]},
            "runs": runs_of(got), "profile": PROFILE.what}


def sizes_table(_):
    """M-F2, its gains, and M-F3."""
    for ident, make in (("M-F2", functools.partial(seconds_row, PROFILE)),
                        ("M-F2-gain", gain_row)):
        for mb in INPUTS_MB:
            yield Row(ident, str(mb), on_each("sized", mb), make)
    for mb in ALTERNATIVES_MB:
        yield Row("M-F3", f"{mb} MB", {
            dev: Unit("sized", (mb, dev)) for dev in (*DEVICES, "faster", "ram")},
            alternatives_row)


TABLES = {"M-T1": programs_table, "M-F2": sizes_table}
