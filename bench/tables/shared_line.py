# SPDX-License-Identifier: GPL-2.0
"""One line that several clients share, by arithmetic: what a page takes if the line serves
flows in turn, packet by packet, and the computers at its ends take no time.

    quiet clients     a page each at a time, the next one after an exponential rest
    the greedy one    always has a packet that waits

Invariant: a client has one page under way at most, so its packets wait in its own flow
alone, and only the line's time is shared.
"""
import collections
import heapq
import random

GREEDY = -1


class Line:
    """Packets of one page after the other of each quiet client, and of a greedy one."""

    def __init__(self, packets_ns, greedy_ns):
        self.packets_ns, self.greedy_ns = packets_ns, greedy_ns
        self.turns = collections.deque([GREEDY] if greedy_ns else [])
        self.left, self.free = {}, 0

    def come(self, client):
        """All packets of a page of this client wait from now on."""
        self.left[client] = list(self.packets_ns)
        self.turns.append(client)

    def serve(self, now):
        """Send the next packet; (when it is over, the client whose page that ends)."""
        client = self.turns.popleft()
        took = self.greedy_ns if client == GREEDY else self.left[client].pop(0)
        if client == GREEDY or self.left[client]:
            self.turns.append(client)
            client = None
        self.free = now + took
        return self.free, client


def fair(clients, packets_ns, greedy_ns, way_ns, rest_ns, samples, seed=1):
    """Nanoseconds of so many pages.  packets_ns: of each packet of one, on the line;
    greedy_ns: of one of the greedy client's, 0 without it; way_ns: all of a page's time
    that is not on this line."""
    dice = random.Random(seed)
    line, took, asked = Line(packets_ns, greedy_ns), [], {}
    come = [(dice.expovariate(1 / rest_ns) if rest_ns else 0, client)
            for client in range(clients)]
    heapq.heapify(come)
    while len(took) < samples:
        if not line.turns or (come and come[0][0] <= line.free):
            at, client = heapq.heappop(come)
            asked[client] = at
            line.free = max(line.free, at) if not line.turns else line.free
            line.come(client)
            continue
        now, ended = line.serve(line.free)
        if ended is not None:
            took.append(now - asked[ended] + way_ns)
            rest = dice.expovariate(1 / rest_ns) if rest_ns else 0
            heapq.heappush(come, (now + way_ns + rest, ended))
    return took
