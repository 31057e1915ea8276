# SPDX-License-Identifier: GPL-2.0
"""Which accelerator the guests get: KVM if it really boots one, else tcg.

Invariant: the verdict comes from booting the guest that will be used, never
from the presence of /dev/kvm; it is kept in the cache for a day. NSWAP_ACCEL
(kvm or tcg) decides by hand.
"""
import json
import os
import shutil
import tempfile
import time

from . import guest, image

DAY = 24 * 3600
KVM_SECONDS = 15


def _tried(series):
    """Boot one small guest under KVM; returns why it failed, or None."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "there is no usable /dev/kvm"
    with tempfile.TemporaryDirectory(prefix="nswap-kvm-") as folder:
        one = guest.Guest("kvm-probe", folder, series, [image.base(series)],
                          memory_mb=128, accel="kvm")
        try:
            one.wait_booted(KVM_SECONDS)
        except guest.GuestError:
            return f"a guest under KVM said nothing within {KVM_SECONDS} s"
        finally:
            one.destroy()
    return None


def choose(series, say=print):
    """"kvm" or "tcg", and say which and why."""
    wanted = os.environ.get("NSWAP_ACCEL")
    if wanted in ("kvm", "tcg"):
        return wanted
    if not shutil.which("qemu-system-x86_64"):
        raise image.SetupError("qemu-system-x86 is missing: "
                               "run tests/setup/setup.sh as root")
    memory = image.CACHE / "accel.json"
    try:
        known = json.loads(memory.read_text())
        if time.time() - known["when"] < DAY:
            return known["accel"]
    except (OSError, ValueError, KeyError):
        pass
    why = _tried(series)
    accel = "tcg" if why else "kvm"
    say(f"guests run under {accel}" + (f": {why}" if why else ""))
    image.store(memory, json.dumps({"accel": accel, "when": time.time(),
                                    "why": why}).encode())
    return accel
