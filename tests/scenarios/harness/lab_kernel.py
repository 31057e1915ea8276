# SPDX-License-Identifier: GPL-2.0
"""What the lab's kernel must do for a result to be the module's.

        node0 ------ node1        the test's own process swaps from node0
"""
import mmap

from nswaptest.check import equal, wait_for
from nswaptest.cluster import PAGE

DESCRIPTION = "the lab's kernel swaps what a system call has written"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 60

PAGES = 256
MADV_PAGEOUT = 21    # Python knows it from 3.13 on


def pattern(page, count):
    """What a page holds after so many writes."""
    return (b"%08d %08d|" % (page, count)) * (PAGE // 18) + b"." * (PAGE % 18)


def swapped_kb():
    """What of this process is in swap space."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmSwap"))


def swap_out(buffer):
    """Have all pages of a buffer leave RAM; a page under writeback does not, at once."""
    def gone():
        buffer.madvise(MADV_PAGEOUT)
        return swapped_kb() >= PAGES * PAGE // 1024
    wait_for(gone, 10, "the buffer is in swap space")


def test_syscall_writes(t):
    """read() into pages that came in for reading alone, and have a clean copy in swap
    space: user mode's kernel forgot that they were written (uaccess.patch)."""
    cluster = t.cluster(2)
    cluster.up(lend="16M")
    path = cluster.scratch / "source"
    path.write_bytes(b"".join(pattern(page, 2) for page in range(PAGES)))
    with cluster.swap(cluster[0], "16M"), mmap.mmap(
            -1, PAGES * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as buffer:
        for page in range(PAGES):
            buffer[page * PAGE:(page + 1) * PAGE] = pattern(page, 1)
        swap_out(buffer)
        for page in range(PAGES):
            equal(buffer[page * PAGE], pattern(page, 1)[0], "a first byte")
        with open(path, "rb", buffering=0) as file:
            equal(file.readinto(buffer), PAGES * PAGE, "bytes read")
        swap_out(buffer)
        stale = [page for page in range(PAGES)
                 if buffer[page * PAGE:(page + 1) * PAGE] != pattern(page, 2)]
        equal(stale, [], "pages whose write was lost")
