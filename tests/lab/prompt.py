#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make shell: three nodes, swap on, and a prompt on each for the asking.

Runs inside the lab's user-mode kernel. Makes the cluster with the same code
as the tests do, then leaves it to the user.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from nswaptest import lab  # noqa: E402 (needs the path above)

RC = "/tmp/shell.rc"
DEVICE = "192M"
LEND = "128M"
WELCOME = f"""
Three nodes in one kernel, each a network namespace; each lends {LEND}.
node0 swaps to the other two over /dev/{{dev}} ({DEVICE}).

  n0 nswapctl peers         any command on node 0, 1 or 2
  n1 nswapctl stat
  eat                       128 MB of verified pages in a cgroup of 64 MB on node0
  cut 1, heal 1             take node 1 off the link, put it back
  n0 cat /proc/nswap/stats  what /proc says in node 0's namespace
  exit                      take it all down again
"""
FUNCTIONS = """
PS1='nswap lab \\w \\$ '
PATH={root}/build:{root}/build/progs:$PATH
n0() {{ ip netns exec node0 "$@"; }}
n1() {{ ip netns exec node1 "$@"; }}
n2() {{ ip netns exec node2 "$@"; }}
cut() {{ ip link set "v$1" down; }}
heal() {{ ip link set "v$1" up; }}
eat() {{
	mkdir -p /sys/fs/cgroup/eat
	echo 64M > /sys/fs/cgroup/eat/memory.max
	(echo 0 > /sys/fs/cgroup/eat/cgroup.procs
	 exec ip netns exec node0 eater --mb 128 --progress "$@")
}}
"""


class Session:
    """What the cluster API needs to know of its user."""

    def __init__(self, module):
        programs = {p.name: str(p) for p in (ROOT / "build/progs").iterdir()}
        programs["nswapctl"] = str(ROOT / "build/nswapctl")
        self.settings = {"modules": {"module": module}, "programs": programs}
        self.dir = pathlib.Path("/tmp")

    def log(self, text):
        """No log is kept here."""


def own_terminal():
    """Make the console our terminal, so that Ctrl-C reaches what runs."""
    os.setsid()
    console = os.open("/dev/tty0", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(console, number)


def main():
    # nothing but warnings of the kernel between what is typed
    pathlib.Path("/proc/sys/kernel/printk").write_text("5 4 1 7")
    print("making the cluster ...", flush=True)
    cluster = lab.Cluster(Session(sys.argv[1]), 3)
    cluster.up(lend=LEND)
    device = cluster[0].device_add(DEVICE)
    cluster[0].swapon(device)
    pathlib.Path(RC).write_text(FUNCTIONS.format(root=ROOT))
    print(WELCOME.format(dev=device), flush=True)
    subprocess.run(["/bin/bash", "--rcfile", RC, "-i"], check=False,
                   preexec_fn=own_terminal, env=dict(os.environ, HOME="/tmp"))
    print("taking it down ...", flush=True)
    for complaint in cluster.close():
        print("  " + complaint, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
