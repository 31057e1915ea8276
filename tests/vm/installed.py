# SPDX-License-Identifier: GPL-2.0
"""Roots of Debian (nswaptest.debroot) that guests boot by systemd from a disk."""
import shutil

from . import cluster as vm
from . import image

# what a guest does not need: compilers, headers, documents
WITHOUT = ("usr/src", "usr/lib/gcc", "usr/libexec/gcc", "usr/include", "usr/share/doc",
           "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt",
           "usr/lib/linux-kbuild-*", "usr/bin/x86_64-linux-gnu-*",
           "usr/lib/x86_64-linux-gnu/lib*.a", "proc/*", "dev/*", "deb")
AGENT = """[Unit]
Description=agent of the vm lab
After=systemd-user-sessions.service
[Service]
ExecStart=/usr/bin/nswap-agent
OOMScoreAdjust=-1000
KillMode=process
[Install]
WantedBy=multi-user.target
"""
MASKED = ("systemd-networkd-wait-online getty@tty1 getty-static serial-getty@ttyS0 "
          "systemd-timesyncd apt-daily.timer apt-daily-upgrade.timer e2scrub_reap "
          "e2scrub_all.timer fstrim.timer dpkg-db-backup.timer")


def furnish(root, series, modules=()):
    """What the lab adds to a root: its agent as a service, test programs, the module for a
    stock kernel, and modules of that kernel, these besides those of every guest."""
    upper, kernel = root.folder / "upper", image.kernel(series, "release")
    updates = upper / f"usr/lib/modules/{kernel}/updates"
    for folder in updates, upper / "usr/bin":
        folder.mkdir(parents=True, exist_ok=True)
    for path in [vm.built_module(series),
                 *image.module_files(series, (*image.MODULES, *modules))]:
        shutil.copy(path, updates)
    for path in vm.built_programs()[1:]:
        shutil.copy(path, upper / "usr/bin")
    shutil.copy(image.compiled("agent"), upper / "usr/bin/nswap-agent")
    root.write("/modules/order", "")
    root.write("/etc/systemd/system/agent.service", AGENT)
    root.run(f"depmod {kernel} && ln -s /dev/null /etc/systemd/network/99-default.link && "
             "systemctl --root=/ enable agent systemd-networkd && "
             f"systemctl --root=/ mask {MASKED}")
