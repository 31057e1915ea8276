# SPDX-License-Identifier: GPL-2.0
"""A test that missed a moment is told from one that failed, whatever it has left open."""
import threading

from nswaptest.check import Unmet, equal, wait_for
from nswaptest.scenario import Test
from nswaptest.work import Slots

DESCRIPTION = "a test that missed a moment has its second try, though it left a device open"
SUITES = ("lab",)
NEEDS = ("module",)
TIMEOUT = 60


def test_unmet(t):
    """It has a device open, and a thread of it waits for a peer that is cut off."""
    right, readers = [], []

    def missed(one):
        cluster = one.cluster(2)
        cluster.up(lend="8M", dead_after=60)
        client = cluster[0]
        slots = Slots(client.device_add("8M"), one.seed)
        slots.write(1, 32)
        cluster.cut(*cluster)
        reader = threading.Thread(target=lambda: right.append(slots.right(1)), daemon=True)
        reader.start()
        wait_for(lambda: client.stat()["client"]["load_msgs"], 10, "it waits for the peer")
        readers.append(reader)
        raise Unmet("it was late")

    one = Test("one", t.dir, t._backend, t.settings)
    equal(one.run(missed), ("unmet", "it was late"), "its verdict, and why")
    for reader in readers:
        reader.join(10)
    equal(right, [True], "pages that were right")
