# SPDX-License-Identifier: GPL-2.0
"""nswap.service and its helper, with other programs in place of those that it calls."""
import subprocess
import time

from nswaptest.check import equal, true
from nswaptest.debroot import DebRoot
from nswaptest.scenario import ROOT

DESCRIPTION = "the unit is well made; start and stop in order, in time, never by force"
SUITES = ("install",)
NEEDS = ("make", "debootstrap", "unshare")
HERE = True
BUSY = 0.5      # it waits
TIMEOUT = 1500      # the first time the root is made, and two kernels are fetched

NODE = "/usr/lib/nswap/nswap-node"
# what stands in for a program says what it was asked; "fails" lists what does not work
STAND_IN = """#!/bin/sh
case "${0##*/} $*" in
*"device list") echo "nswap0 up" ;;
"nswapctl stat") ;;
"nswapctl export") echo nswap7 nvme; echo nswap0 nvme ;;
"systemctl list-jobs --no-legend") cat /jobs 2> /dev/null ;;
*) echo "${0##*/} $*" >> /called ;;
esac
grep -qxF "${0##*/} $*" /fails 2> /dev/null && { echo "${0##*/}: it cannot" >&2; exit 1; }
grep -qxF "${0##*/} $*" /hangs 2> /dev/null && exec tail -f /dev/null
exit 0
"""
SWAPS = "Filename Type Size Used Priority\n"
STOP = ["swapoff /dev/nswap0", "nswapctl unexport nswap0", "nswapctl device del nswap0",
        "nswapctl down", "modprobe -r -q nswap"]


def installed(t):
    """A root in which the tools are installed as "make install-tools" does."""
    root = DebRoot(t.dir / "root", t.dir)
    subprocess.run(["make", "-s", "-C", ROOT, "install-tools", "UNITS=/usr/lib/systemd/system",
                    f"DESTDIR={t.dir}/root/upper"], check=True, stdout=subprocess.DEVNULL)
    return root


def stand_in(root, swapped=True):
    """Other programs; swap is on, which stays so whatever swapoff does not say."""
    for name in ("swapoff", "modprobe", "nswapctl", "systemctl"):
        root.write(f"/usr/sbin/{name}", STAND_IN, 0o755)
    root.run("mkdir -p /sys/module/nswap")
    (root.folder / "swaps").write_text(
        SWAPS + "/dev/sdb2 partition 4 0 -2\n" + "/dev/nswap0 partition 4 0 100\n" * swapped)
    root.swaps = str(root.folder / "swaps")


def told(root, command, fails="", hangs=""):
    """Run the helper; its exit code, its words, what it called, and seconds."""
    root.write("/fails", fails + "\n")
    root.write("/hangs", hangs + "\n")
    root.write("/called", "")
    begin = time.monotonic()
    done = root.run(f"{NODE} {command}", check=False)
    return (done.returncode, done.stdout, root.run("cat /called").stdout.splitlines(),
            time.monotonic() - begin)


def test_verify(t):
    """systemd has nothing to say against the unit, and finds its exposure moderate."""
    root = installed(t)
    unit = "/usr/lib/systemd/system/nswap.service"
    equal(root.run(f"systemd-analyze verify --man=no {unit}").stdout, "", "what verify says")
    root.run("systemd-analyze security --offline=yes --threshold=52 nswap.service")
    own = [line for line in root.run(f"cat {unit}").stdout.splitlines()
           if line.startswith(("Protect", "Private", "ReadOnly", "Inaccessible"))]
    equal(own, [], "settings that give it mounts of its own, see the unit")
    left = [line for line in root.run(f"cat {unit}").stdout.splitlines()
            if line.startswith(("TimeoutStart", "TimeoutStop"))]
    equal(left, ["TimeoutStartSec=90", "TimeoutStopSec=90"], "how long start and stop may take")
    root.close()


def test_start(t):
    """The file is looked at first; a kernel without the module is told once."""
    root = installed(t)
    code, said, called, _ = told(root, "start")
    equal((code, called), (78, []), f"without a module; it says {said!r}; exit code")
    true("there is no module nswap that Linux" in said, f"it says {said!r}")
    root.write("/etc/nswap/nswap.conf", "[node]\nlent = 1G\n")
    code, said, called, _ = told(root, "start")
    equal(code, 78, "exit code with a wrong file")
    true("nswap.conf:2: there is no key 'lent'" in said or "no key 'lent'" in said,
         f"it says {said!r}")
    stand_in(root)
    code, said, called, _ = told(root, "start")
    equal((code, called), (0, ["nswapctl check", "modprobe nswap", "nswapctl apply"]), "start")
    code, said, called, _ = told(root, "start", fails="nswapctl apply")
    equal(code, 1, "exit code if apply fails, which is tried again")
    root.close()


def test_stop(t):
    """Swap, export, device, node, module: in this order, or not further than one that fails."""
    root = installed(t)
    stand_in(root)
    code, said, called, _ = told(root, "stop")
    equal((code, called), (0, STOP), f"stop; it says {said!r}")
    true("swapped off /dev/nswap0" in said and "the node is down after" in said, said)
    root.write("/jobs", " 12 poweroff.target   start waiting\n 13 nswap.service     stop running\n")
    equal(told(root, "stop")[2], STOP, "stop when the machine is switched off")
    root.write("/jobs", " 12 reboot.target     start waiting\n 13 nswap.service     stop running\n")
    equal(told(root, "stop")[2][3], STOP[3] + " --reboot", "down when the machine reboots")
    root.write("/jobs", "")
    code, said, called, seconds = told(root, "stop 27", fails=STOP[0])
    equal((code, set(called)), (1, {STOP[0]}), "swapoff that fails; exit code, what was called")
    true("swapoff: it cannot" in said and "the node stays up" in said, said)
    true(seconds < 20, f"it took {seconds:.0f} s, 2 were for swapoff")
    code, said, called, seconds = told(root, "stop 27", hangs=STOP[0])
    equal((code, set(called)), (1, {STOP[0]}), "swapoff that hangs; exit code, what was called")
    true("it takes too long" in said and seconds < 20, f"{seconds:.0f} s: {said}")
    code, said, called, _ = told(root, "stop", fails=STOP[1])
    equal((code, called), (1, STOP[:2]), "an export with a client")
    code, said, called, _ = told(root, "stop", fails=STOP[2])
    equal((code, called), (1, STOP[:3]), "a device that is in use")
    code, said, called, _ = told(root, "stop", fails=STOP[3])
    equal((code, called), (1, STOP[:4]), "a node that cannot drain")
    true("the node stays up; it lends nothing more" in said, said)
    stand_in(root, swapped=False)
    code, said, called, seconds = told(root, "stop 5", hangs=STOP[3])
    equal((code, called), (1, STOP[1:4]), "a drain that hangs")
    true(seconds < 20, f"it took {seconds:.0f} s, 5 were allowed")
    root.run("rmdir /sys/module/nswap")
    equal(told(root, "stop")[::2], (0, []), "nothing loaded: exit code, what was called")
    root.close()
