# SPDX-License-Identifier: GPL-2.0
"""A kernel of the lab that is no user-mode one: QEMU with this machine's root.

What user mode has as hostfs is 9p here: the root, read only, and what the job lets
it read or write besides, each as a share of its own. The machine is emulated unless
NSWAP_ACCEL=kvm says that this machine can do better.
"""
import os

from vm.guest import CLOCK

FLAVOURS = ("kcsan",)
ROOT_TAG = "/dev/root"
PLAIN_9P = "trans=virtio,version=9p2000.L,msize=262144"
# The root does not change meanwhile. What is written is read by the runner at once.
ROOT_9P = PLAIN_9P + ",cache=loose"


def shares(job):
    """How a job's folders are mounted: {folder: (type, options, tag)}."""
    folders = dict.fromkeys([*job["readable"], *job["writable"]])
    return {folder: ("9p", PLAIN_9P, f"share{number}")
            for number, folder in enumerate(folders)}


def _share(number, path, tag, readonly):
    """QEMU's arguments for a folder that the machine may mount."""
    return ["-fsdev", f"local,id=fs{number},path={path},security_model=none,"
            "multidevs=remap" + ",readonly=on" * readonly,
            "-device", f"virtio-9p-pci,fsdev=fs{number},mount_tag={tag}"]


def argv(kernel, memory, cpus, scratch, mounts, extra):
    """QEMU's command line for a kernel's build folder; extra goes to the kernel."""
    accel = os.environ.get("NSWAP_ACCEL", "tcg")
    line = ["console=ttyS0", "root=" + ROOT_TAG, "rootfstype=9p",
            "rootflags=" + ROOT_9P, "ro", "mitigations=off", "no_timer_check",
            "pci=lastbus=0", "random.trust_cpu=on", CLOCK[accel].strip(), *extra]
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
               "-display", "none", "-no-reboot", "-machine", "q35,usb=off,vmport=off",
               "-accel", accel + ",thread=multi" * (accel == "tcg"),
               "-cpu", "host" if accel == "kvm" else "max",
               "-smp", str(cpus), "-m", str(memory), "-serial", "stdio",
               "-kernel", str(kernel / "vmlinux"), "-append", " ".join(line),
               "-device", "virtio-rng-pci",
               "-drive", f"if=none,id=disk,format=raw,file={scratch},cache=unsafe",
               "-device", "virtio-blk-pci,drive=disk"]
    command += _share(0, "/", ROOT_TAG, True)
    for number, (folder, (_, _, tag)) in enumerate(mounts.items(), 1):
        command += _share(number, folder, tag, False)
    return command
