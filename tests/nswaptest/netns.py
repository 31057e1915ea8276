# SPDX-License-Identifier: GPL-2.0
"""Network namespaces of nodes, entered by a thread."""
import contextlib
import ctypes

CLONE_NEWNET = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


def enter(file):
    """Be in a network namespace from now on, this thread."""
    if _libc.setns(file.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def inside(node):
    """Be in a node's network namespace for a while. What this thread opens or starts
    meanwhile is there too: a child that enters it by itself would have to be forked, a
    copy of all of Python's memory. Where no namespace is named, this thread is there."""
    if node.netns is None:
        yield
        return
    with open("/proc/thread-self/ns/net", "rb") as home, open(node.netns, "rb") as there:
        enter(there)
        try:
            yield
        finally:
            enter(home)
