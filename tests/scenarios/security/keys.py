# SPDX-License-Identifier: GPL-2.0
"""Keys: only members take part.

        node0 … node3, some with keys, on one subnet
"""
from nswaptest.check import at_least, equal, hold, true, wait_for
from nswaptest.rawwire import Link
from nswaptest.work import Slots

DESCRIPTION = "only members take part, and clusters on one subnet do not see each other"
SUITES = ("lab",)
NEEDS = ("module", "progs")
TIMEOUT = 120

PAGES = 512


def secret(cluster, name="secret"):
    """A file with a secret of a cluster."""
    path = cluster.scratch / name
    cluster[0].ctl("key", "generate", "--secret", path)
    return path


def key(node, cluster):
    """A node's own key: its file and its public half."""
    path = cluster.scratch / f"key-{node.name}"
    return path, node.ctl("key", "generate", path)["public"]


def use(t, node, count=PAGES):
    """Write to a device, read it back; the slots and the device."""
    dev = node.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, count + 1, 32):
            slots.write(first, 32)
        equal(slots.compare(), (count, 0, 0), "right, wrong, unreadable slots")
    return dev


def refused(node):
    """Connections that were no member's."""
    return node.stat()["server"]["keys_refused"]


def why(node, peer):
    """What a node says against a peer."""
    return node.peers()[peer.addr]["reason"]


def test_secret(t):
    """A node that has the secret is a member: pages are stored, read, moved and freed."""
    cluster = t.cluster(3)
    client, one, two = cluster
    cluster.up(secret=secret(cluster))
    client.ctl("policy", "place", "round-robin")
    dev = client.device_add("8M")
    with Slots(dev, t.seed) as slots:
        for first in range(1, PAGES + 1, 32):
            slots.write(first, 32)
        at_least(one.stat()["server"]["held_pages"], PAGES // 4, "pages at one")
        one.ctl("drain")
        equal(one.stat()["server"]["held_pages"], 0, "pages left there")
        equal(two.stat()["server"]["held_pages"], PAGES, "pages at the other")
        equal(slots.compare(), (PAGES, 0, 0), "right, wrong, unreadable slots")
    client.discard(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "all pages are freed")
    client.device_del(dev)
    equal([refused(node) for node in cluster], [0, 0, 0], "connections refused")


def test_members(t):
    """Each node has a key of its own; one that is revoked is refused at once, and one
    that is trusted again is back."""
    cluster = t.cluster(3)
    client, one, two = cluster
    members = cluster.scratch / "members"
    files = {}
    for node in cluster:
        files[node], public = key(node, cluster)
        client.ctl("key", "trust", members, node.name, public)
        equal(node.ctl("key", "show", files[node])["public"], public, "public half")
    equal([m["name"] for m in client.ctl("key", "list", members)],
          [node.name for node in cluster], "members")
    for node in cluster:
        node.up(lend="16M", key=files[node], members=members)
    cluster.wait_connected()
    dev = use(t, client)
    equal(client.stat()["node"]["members"], 3, "members")
    client.ctl("key", "revoke", members, two.name)
    for node in (client, one):
        node.ctl("key", "apply", members)
    wait_for(lambda: why(client, two).startswith("no member of this cluster"), 10,
             "the revoked one is shown as one")
    public = two.ctl("key", "show", files[two])["public"]
    client.ctl("key", "trust", members, two.name, public)
    for node in (client, one):
        node.ctl("key", "apply", members)
    cluster.wait_connected()
    with Slots(dev, t.seed) as slots:
        slots.write(1, 32)
    client.device_del(dev)


def test_taken_address(t):
    """A member is at the address of another one that is cut off, for whose pages it is
    asked again and again: it says that it is not that one, and its own session goes
    on."""
    cluster = t.cluster(3)
    client, lost, other = cluster
    cluster.up(lend="8M", secret=secret(cluster), dead_after=60)
    client.ctl("policy", "place", "round-robin")
    dev = use(t, client)
    host = int(lost.addr.rpartition(".")[2])
    name = other.stat()["node"]["id"]
    cluster.isolate(lost)
    cluster.readdress(other, host)
    wait_for(lambda: any((p["id"], p["addr"], p["state"]) == (name, other.addr, "up")
                         for p in client.ctl("peers")), 40,
             "a session with the one that is there now")
    hold(3)
    sessions = client.stat()["client"]["sessions"]
    hold(8)
    equal(client.stat()["client"]["sessions"], sessions, "sessions so far")
    equal(refused(other), 0, "connections refused")
    client.device_del(dev)


def test_strangers(t):
    """Nodes without keys, with those of another cluster, and programs that speak the
    protocol: none is heard, none is let in."""
    cluster = t.cluster(4)
    first, second, other, stranger = cluster
    one, another = secret(cluster), secret(cluster, "another")
    for node in (first, second):
        node.up(lend="16M", secret=one)
    other.up(lend="16M", secret=another, peers=[first])
    stranger.up(lend="16M", peers=[first])
    cluster.wait_connected([first, second])
    dev = use(t, first)
    equal(list(first.peers()), [second.addr], "peers of a member")
    wait_for(lambda: first.stat()["announce"]["forged"] >= 2, 10,
             "announcements of others are refused")
    stranger_dev = stranger.device_add("4M", wait=False)
    other_dev = other.device_add("4M", wait=False)
    for node, says in ((stranger, "one side has keys, the other is open"),
                       (other, "turned away")):
        wait_for(lambda n=node, s=says: why(n, first).startswith(s), 10,
                 f"{node} is told why")
    at_least(refused(first), 1, "connections refused")
    for node, name in ((stranger, stranger_dev), (other, other_dev)):
        node.device_del(name)
    link = Link(stranger, first.addr)
    equal(link.hello(), None, "answer to a hello without keys")
    link.close()
    equal(first.stat()["server"]["owners"], 0, "owners that are strangers")
    first.device_del(dev)


def test_files(t):
    """What is wrong with files of keys is said in a sentence, and changes nothing."""
    cluster = t.cluster(1)
    node = cluster[0]
    path, public = key(node, cluster)
    members = cluster.scratch / "members"
    node.ctl("key", "trust", members, "me", public)
    one = secret(cluster)
    for args, says in (
            (("key", "generate", path), "is there already"),
            (("key", "trust", members, "me", public), "already"),
            (("key", "revoke", members, "you"), "no member"),
            (("key", "show", one), "no key of a node"),
            (("up", "--secret", path), "no secret of a cluster, make another file with: nswapctl "
             "key generate FILE --secret"),
            (("up", "--secret", members), "lists members"),
            (("up", "--key", one, "--members", members), "no key of a node, make another file "
             "with: nswapctl key generate FILE"),
            (("up", "--key", path, "--members", one), "lists no members")):
        true(says in node.refused(*args), f"{' '.join(map(str, args))}: {says}")
    path.chmod(0o644)
    true("chmod 600" in node.refused("up", "--key", path, "--members", members),
         "a key that others can read")
    path.chmod(0o600)
    text = members.read_text()
    members.write_text(text + "member you nonsense\n")
    true(":4: " in node.refused("key", "list", members), "the line is named")
    members.write_text(text)
    node.up(key=path, members=members)
    node.ctl("key", "apply", members)
    node.down()
