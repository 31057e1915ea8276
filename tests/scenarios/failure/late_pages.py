# SPDX-License-Identifier: GPL-2.0
"""What a lender takes long after its page-out was given up.

        node0 ------ node1        lenders by hand, see tests/nswaptest/rawwire.py; node2
            `------- node2        takes nothing for a while
"""
import mmap
import os
import threading

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.rawwire import PAGE, Peer

DESCRIPTION = "what comes late of a page-out that was given up is still the page"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 120

RUN = 32                # slots in one page-out
RUNS = 6


def write(dev, run, turn):
    """One page-out, from memory that has something else at once afterwards."""
    with mmap.mmap(-1, RUN * PAGE) as buffer:
        file = os.open(f"/dev/{dev}", os.O_RDWR | os.O_DIRECT)
        for i in range(RUN):
            buffer[i * PAGE:(i + 1) * PAGE] = bytes([run + 1, i, turn, 1]) * (PAGE // 4)
        equal(os.pwrite(file, buffer, (1 + run * RUN) * PAGE), RUN * PAGE, "bytes written")
        buffer[:] = b"\xee" * (RUN * PAGE)
        os.close(file)


class Lender(Peer):
    """It remembers each page that it was sent: (slot, generation, content)."""

    def __init__(self, *args):
        self.sent = []
        super().__init__(*args)

    def _store(self, q):
        answer = super()._store(q)
        for slot in range(q.slot, q.slot + q.nr):
            self.sent.append((slot, *self.pages[q.instance, slot]))
        return answer


def sent(t, *options):
    """All that both lenders were sent of a device with these options, node2 after it was
    given up."""
    cluster = t.cluster(3)
    client = cluster[0]
    client.up(lend="0")
    good, slow = (Lender(node, [client]) for node in cluster.nodes[1:])
    try:
        wait_for(lambda: len(client.peers()) == 2, 10, "the lenders are heard")
        dev = client.ctl("device", "add", "--size", "8M", *options)["device"]
        client.wait_sessions()
        client.ctl("policy", "place", "round-robin")
        client.ctl("set", "store_timeout_ms", "300")
        slow.slow = threading.Event()
        for turn in range(3):
            threads = [threading.Thread(target=write, args=(dev, run, turn))
                       for run in range(RUNS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        at_least(client.stat()["client"]["timeouts"], RUN, "pages given up")
        before = len(slow.sent)
        slow.slow.set()
        wait_for(lambda: len(slow.sent) >= before + RUN, 10, "pages that come late")
        client.device_del(dev)
        return good.sent + slow.sent
    finally:
        good.close()
        slow.close()


def contents(pages):
    """Of each name, how many contents were sent under it."""
    seen = {}
    for name, content in pages:
        seen.setdefault(name, set()).add(content)
    return max(map(len, seen.values()))


def test_one_name(t):
    """With a mirror the slot may keep the generation, and have it recorded at that lender
    later: nothing else is ever sent under that name."""
    equal(contents(((slot, gen), page) for slot, gen, page in
                   sent(t, "--protect", "mirror")), 1, "contents under one name")


def test_sealed(t):
    """Of a sealed device nothing is sent but what a slot was sealed to: no page of the
    pool that another page-out uses by then."""
    true(contents((slot, page) for slot, _, page in sent(t, "--seal")) <= 3,
         "a slot that was written three times has no fourth content")
