# SPDX-License-Identifier: GPL-2.0
"""A peer that sends whatever comes to its mind, as a client and as a server.

        owner ------ server ------ host        the last is no node of the module

The owner has pages at the server, or at the host, all the time.
"""
import contextlib
import random
import socket
import struct

from nswaptest import fuzzcorpus, fuzzing, fuzzkeys, fuzzwire, rawkeys
from nswaptest.check import Failure, at_most, equal, hold, true, wait_for
from nswaptest.rawwire import FREE_ACK, GRANT, HOLD_LIST, PONG, Message, Peer
from nswaptest.scenario import sibling
from nswaptest.work import Slots

keys = sibling("keys")

DESCRIPTION = "fuzzing: messages of the wire protocol to a server, and to a client"
SUITES = ("fuzz",)
NEEDS = ("module", "progs")
TIMEOUT = 7200

PAGES = 128
CONNS = 3               # of a session
EVERY = 250             # inputs of a round


def threads():
    """The module's threads, by name."""
    found = []
    for path in fuzzing.pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            name = path.read_text().strip()
        except OSError:
            continue
        if name.startswith(("nsw", "kworker/R-nsw")):
            found.append(name)
    return found


def adds_up(node):
    """Counts of a server that agree at any time."""
    stat = node.stat()
    server, lent = stat["server"], stat["node"]["lent_pages"]
    ram, aside = server["ram_pages"], server["set_aside_pages"]
    return server["granted_pages"] <= aside and ram + aside <= lent and \
        ram <= server["held_pages"]


def written(slots, slot):
    """Does a peer take a page?"""
    try:
        slots.write(slot, 1)
    except OSError:
        return False
    return True


def unharmed(owner, server, stranger, slots):
    """After a round: the node answers, its counts add up, the stranger's pages are gone
    and the owner's are right."""
    true(stranger.forget(), "the server does not answer a new client")
    wait_for(lambda: adds_up(server), 5, "the counts of the server add up")
    # what the stranger had reserved is free again: the owner hears so with the next pong, and
    # a page-out that no peer has room for fails at once
    wait_for(lambda: written(slots, 1 + stranger.epoch % PAGES), 10, "a page-out is taken")
    equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable pages of the owner")
    equal(owner.peers()[server.addr]["state"], "up", "the owner's session")


def test_server(t):
    """Messages of every type to a server, legal, changed, cut off, repeated."""
    cluster = t.cluster(3)
    owner, server, host = cluster
    server.up(lend="8M")
    server.ctl("set", "lease_s", 5)
    owner.up(lend="0")
    cluster.wait_connected([owner, server])
    dev = owner.device_add("4M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        before = threads()
        stranger = fuzzwire.Stranger(host, server, int(owner.stat()["node"]["id"], 16))
        tries = fuzzing.Inputs(t, "server", fuzzwire.make())
        if tries.replay is None:
            of_the_corpus(t, stranger)
        if fuzzcorpus.wanted():
            look_further(t, stranger, tries)
        for data in tries:
            stranger.send(data)
            if tries.number % (2 * EVERY) == EVERY // 2:
                server.ctl("lend", "256K")      # less than it holds
            if tries.number % EVERY == 0:
                server.ctl("lend", "8M")
                check_round(tries, lambda: unharmed(owner, server, stranger, slots))
        server.ctl("lend", "8M")
        check_round(tries, lambda: unharmed(owner, server, stranger, slots))
        stat = server.stat()["server"]
        t.log(f"{stranger.opened} links opened, {stranger.closed} closed; {stat}")
        fuzzing.enough(stranger.closed, 1, "links that the server closed")
        # what movers left for owners that never came goes when their lease ends
        wait_for(lambda: server.stat()["server"]["held_pages"] == PAGES, 60,
                 "nothing is held but the owner's pages")
        t.log(f"threads: {before}, then {threads()}")
        # the server has made new ones to spare for those that the owner's session took
        wait_for(lambda: len(threads()) <= len(before) + CONNS, 30, "no thread is left")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable")
    owner.device_del(dev)


def afresh(stranger, inputs, patience):
    """Send inputs of a line of the corpus; what the last one has reached."""
    true(stranger.forget(), "the server does not answer a new client")
    for data in inputs:
        said = stranger.send(data, patience)
    return fuzzwire.state(inputs[-1], said)


def reached(stranger, what, inputs):
    """What a line of the corpus has reached; if not this, its answer may have been late."""
    got = afresh(stranger, inputs, 1)
    return got if what in (got, "-") else afresh(stranger, inputs, 10)


def of_the_corpus(t, stranger):
    """Each line reaches what it says."""
    lines = fuzzcorpus.read("server")
    wrong = [f"{what}, now {got}" for what, inputs in lines
             if (got := reached(stranger, what, inputs)) != what and what != "-"]
    t.log(f"the corpus: {len(lines)} lines, {len(wrong)} of them wrong")
    true(not wrong, f"{len(wrong)} lines of the corpus: {'; '.join(wrong[:3])}")


def look_further(t, stranger, tries):
    """A new corpus: the smallest inputs for all that they reach here, in the test's folder."""
    pool, counters = fuzzcorpus.Pool(), fuzzcorpus.Counters(("/nswap/server/", "/nswap/migrate/"))
    hold(5)
    others = counters.moved()       # by the other connections
    known = [inputs for _, inputs in fuzzcorpus.read("server")]
    for number in range(len(known) + tries.count // 4):
        inputs = known[number] if number < len(known) else tries.fresh(tries.rng, pool)
        true(stranger.forget(), "the server does not answer a new client")
        counters.moved()
        for sent, data in enumerate(inputs, 1):
            what = fuzzwire.state(data, stranger.send(data))
            # an answer that may still come proves nothing
            new = set() if what.endswith(("/None", "/no link")) else {what}
            pool.offer(inputs[:sent], (counters.moved() | new) - others)

    def again(inputs):
        counters.moved()
        what = afresh(stranger, inputs, 1)
        return what, {what} | counters.moved()

    lines = pool.lines(again)
    (t.dir / "corpus").mkdir()
    fuzzcorpus.write(t.dir / "corpus/server", lines)
    t.log(f"{len(pool.best)} points, {len(lines)} lines of a new corpus")


def check_round(tries, look):
    """Look; what is wrong then is told with the input."""
    try:
        look()
    except Failure as why:
        raise tries.fail(str(why)) from why


def test_keys(t):
    """The same by a member, with tags and without, to a server with keys."""
    cluster = t.cluster(3)
    owner, server, host = cluster
    members = cluster.scratch / "members"
    files = {}
    for node in cluster:
        files[node], public = keys.key(node, cluster)
        owner.ctl("key", "trust", members, node.name, public)
    for node, lend in ((owner, "0"), (server, "8M")):
        node.up(lend=lend, key=files[node], members=members)
    server.ctl("set", "owner_max_pct", 40)
    cluster.wait_connected([owner, server])
    dev = owner.device_add("4M")
    member = fuzzkeys.Member(host, server, int(owner.stat()["node"]["id"], 16),
                             rawkeys.Keys.of(files[host], members))
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        tries = fuzzing.Inputs(t, "keys", fuzzwire.make())
        for data in tries:
            member.send(data)
            if tries.number % (EVERY // 2) == 0:
                check_round(tries, lambda: unharmed(owner, server, member, slots))
        check_round(tries, lambda: unharmed(owner, server, member, slots))
        stat = server.stat()["server"]
        t.log(f"{member.opened} links opened, {member.closed} closed; {stat}")
        fuzzing.enough(stat["keys_refused"], 1, "connections refused")
        fuzzing.enough(stat["pages_stored"] - PAGES, 1, "pages stored for the member")
    owner.device_del(dev)


class Liar(Peer):
    """A server that changes some of its answers, but never a page: without keys it could,
    and its owner would not know."""

    def __init__(self, rng, tries, *args, **options):
        self.rng, self.tries, self.lies, self.honest = rng, tries, 0, False
        super().__init__(*args, **options)

    def _answer(self, sock, answer):
        data = answer.packed()
        if not self.honest and self.rng.random() < 0.2:
            data = self._lie(answer, data)
            self.lies += 1
        cut = len(data) < 72 + len(answer.payload)
        with self._out, contextlib.suppress(OSError):
            sock.sendall(data)
            if cut:
                # else what comes next would be taken for the rest of a page
                sock.shutdown(socket.SHUT_RDWR)

    def _lie(self, answer, data):
        rng, how = self.rng, self.rng.randrange(8)
        if how < 4:
            field = rng.choice(("kind", "nr", "flags", "slot", "instance", "grants",
                                "status", "took", "free", "version"))
            setattr(answer, field, fuzzing.number(rng, fuzzwire.WIDTHS[field]))
            return answer.packed()
        if how == 4:
            answer.ident = rng.getrandbits(64)
            return answer.packed()
        if how == 5:
            return data * 2
        if how == 6:
            return data[:rng.randrange(len(data))]
        kind = rng.choice((PONG, GRANT, FREE_ACK, HOLD_LIST))
        if kind == HOLD_LIST:
            run = struct.pack("<IIQII", fuzzing.number(rng, 32), 1,
                              fuzzing.number(rng, 64), fuzzing.number(rng, 32), 0)
            return Message(kind, run, 1, flags=rng.randrange(2)).packed() + data
        return Message(kind, grants=fuzzing.number(rng, 8)).packed() + data


def test_client(t):
    """Answers of a server that lies, while a device is in use: no page is wrong, and with
    an honest server everything is right again."""
    cluster = t.cluster(3)
    owner, server, host = cluster
    owner.up(lend="0", dead_after=2)
    rng = random.Random(f"{t.seed}.client")
    wanted = fuzzing.inputs("client", t.flavour)
    liar = Liar(rng, None, host, [owner])
    try:
        wait_for(lambda: host.addr in owner.peers(), 10, "the liar is heard")
        dev = owner.device_add("4M", wait=False)
        with Doubtful(dev, t.seed) as slots:
            while liar.lies < wanted:
                use(slots, rng)
                true(owner.stat(), "the node answers")
            t.log(f"client: seed {t.seed}, {liar.lies} inputs; "
                  f"{len(liar.hellos)} hellos, {owner.stat()['client']}")
            at_most(slots.wrong, 0, "wrong pages")
            liar.honest = True
            server.up(lend="8M")
            wait_for(lambda: owner.peers().get(server.addr, {}).get("state") == "up", 30,
                     "the session with an honest server")
    finally:
        liar.close()
    owner.device_del(dev)
    fuzzing.use_device(t, owner, PAGES)


class Doubtful(Slots):
    """Slots whose writes may fail: what was there before them is right then, too."""

    def __init__(self, *args):
        self.sure, self.wrong = {}, 0
        super().__init__(*args)

    def attempt(self, first, slots):
        """Write, perhaps."""
        try:
            self.write(first, slots)
        except (OSError, Failure):
            return
        for slot in range(first, first + slots):
            self.sure[slot] = self.count[slot]

    def look(self, slot):
        """Read, perhaps."""
        try:
            found = self.read(slot)
        except OSError:
            return
        last, first = self.count[slot], self.sure.get(slot, 0)
        right = [bytes(4096)] if not first else []
        for count in range(max(first, 1), last + 1):
            self.count[slot] = count
            right.append(self.page(slot))
        self.wrong += found not in right


def use(slots, rng):
    """Write and read some slots; each may fail, none may be wrong."""
    for _ in range(4):
        slots.attempt(rng.randrange(1, 200), rng.choice((1, 4, 32)))
    for slot in rng.sample(sorted(slots.count), min(16, len(slots.count))):
        slots.look(slot)
