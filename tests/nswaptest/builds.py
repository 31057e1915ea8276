# SPDX-License-Identifier: GPL-2.0
"""What tests need built for a lab kernel, and the copies they are given."""
import functools
import os
import shutil
import subprocess

import lab.boot

from . import ccache
from .scenario import ROOT
from .totals import OUT

KINDS = ("module", "inject", "discards", "kunit", "model-dev", "progs", "benchprogs",
         "lend", "lib")


@functools.cache
def built_for(flavour):
    """The Builds of a flavour of the lab kernel."""
    return Builds(flavour)


def missing_program(case):
    """The first program of NEEDS that is not installed, or None."""
    for need in case.needs:
        if need not in KINDS and not shutil.which(
                need, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return need
    return None


class Builds:
    """What is built for one lab kernel, each part at most once."""

    def __init__(self, flavour):
        self.flavour = flavour
        self.kernel = lab.boot.kernel_folder(lab.boot.kernel_of(flavour))
        self.release = lab.boot.release(self.kernel)
        self.failed = {}
        self.tried = set()
        self.log = OUT / f"build-{flavour}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")

    def _make(self, what, *args):
        with open(self.log, "a", encoding="utf-8") as log:
            done = subprocess.run(["make", f"-j{os.cpu_count()}", *args],
                                  cwd=ROOT, stdout=log, stderr=log,
                                  env=ccache.environment(), check=False)
        if done.returncode:
            self.failed[what] = f"make {' '.join(args)} failed, see {self.log}"

    def build(self, needs):
        """Build what a set of NEEDS asks for and was not asked for before;
        failures are kept."""
        needs, self.tried = needs - self.tried, needs | self.tried
        kdir = f"KDIR={self.kernel}"
        if needs & {"module", "inject", "discards"}:
            self._make("module", "nswapctl", "nswapctl-static")
        if "module" in needs and "module" not in self.failed:
            self._make("module", kdir, *["COVER=1"] * (self.flavour == "cover"), "module")
        if "inject" in needs:
            self._make("inject", kdir, "INJECT=1", "module")
        if "discards" in needs:
            # freed slots are known by discards alone
            self._make("discards", kdir, "LACKS=SLOT_FREE_NOTIFY", "module")
        if "kunit" in needs:
            self._make("kunit", kdir, "kunit")
        if "model-dev" in needs:
            self._make("model-dev", kdir, "model-dev")
        if "progs" in needs:
            self._make("progs", "progs")
        if "benchprogs" in needs:
            self._make("benchprogs", "bench-programs")
        if "lend" in needs:
            self._make("lend", "nswap-lend")
        if "lib" in needs:
            self._make("lib", "lib")

    def settings(self, flavour, seed, folder, needs):
        """What a test is told about them.  They are copied, so that a build
        meanwhile does not take them away from under a test."""
        build = ROOT / "build"
        plain, inject = build / self.release, build / f"{self.release}-inject"
        model = build / f"{self.release}-model/tests/model_dev/model_dev.ko"
        programs = [build / "progs" / source.stem
                    for source in (ROOT / "tests/progs").glob("*.c")]
        if "benchprogs" in needs and "benchprogs" not in self.failed:
            programs += [p for p in (build / "bench-programs").iterdir()
                         if p.suffix in ("", ".so")]
        if "lib" in needs and "lib" not in self.failed:
            programs += [build / "lib" / name for name in ("libnswap.so.0", "dmine", "lu", "scan")]
        module = build / f"{self.release}-cover" if flavour == "cover" else plain
        modules = {"module": module / "nswap.ko", "inject": inject / "nswap.ko",
                   "discards": build / f"{self.release}-lacks/nswap.ko",
                   "kunit": plain / "nswap_kunit.ko", "model-dev": model}
        copies = {p.name: copied(p, folder / p.name) for p in programs}
        if "lend" in needs:
            copies["nswap-lend"] = copied(build / "nswap-lend", folder / "nswap-lend")
        copies["nswapctl"] = copied(build / "nswapctl-static", folder / "nswapctl")
        return {"flavour": flavour, "seed": seed, "kernel": str(self.kernel),
                "programs": copies,
                "modules": {name: copied(p, folder / name / p.name)
                            for name, p in modules.items()}}


def copied(path, to):
    """Copy a built file, if there is one; where the copy is."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy2(path, to)
    return str(to)
