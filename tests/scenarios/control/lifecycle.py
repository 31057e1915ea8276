# SPDX-License-Identifier: GPL-2.0
"""Load, up, down, unload; and every refusal while something is in use.

        node0 ------ node1        node0 swaps to node1
"""
import pathlib

from nswaptest.check import equal, true, wait_for
from nswaptest.lab import module_loaded
from nswaptest.work import eater, result_of

DESCRIPTION = "load, up, down and unload are clean, and refused while in use"
SUITES = ("lab",)
LONG = ("up_down", "down_holding")
NEEDS = ("module", "progs")
TIMEOUT = 200


def sockets(node):
    """Listening sockets of a node's namespace."""
    return node.run("ss -Hltun").out.splitlines()


def test_load(t):
    """Loading opens no port; five loads and unloads leave nothing."""
    cluster = t.cluster(2)
    for _ in range(5):
        true(module_loaded(), "the module is not there after insmod")
        equal(sockets(cluster[0]), [], "sockets after loading")
        equal(cluster[0].ctl("nodes"), [], "nodes after loading")
        cluster.unload()
        true(not module_loaded(), "the module is there after rmmod")
        cluster.load()


def test_load_twice(t):
    """A second insmod is refused and harms nothing."""
    cluster = t.cluster(1)
    cluster[0].up(lend="1M")
    done = cluster[0].run(["insmod", t.settings["modules"]["module"]],
                          check=False)
    true(done.code != 0, "a second insmod was accepted")
    equal(len(cluster[0].ctl("nodes")), 1, "nodes after it")


def test_up_down(t):
    """Up opens the port, down closes it, again and again; the epoch is new
    each time and the peer sees both."""
    cluster = t.cluster(2)
    a, b = cluster
    b.up(lend="4M")
    epochs = set()
    for _ in range(5):
        a.up(lend="4M")
        true(any(":9611" in line for line in sockets(a)), "port 9611 is shut")
        epochs.add(a.stat()["node"]["epoch"])
        cluster.wait_connected()
        a.down()
        equal(sockets(a), [], "sockets after down")
        wait_for(lambda: b.peers().get(a.addr, {"state": "lost"})["state"]
                 != "up", 5, "the peer sees the node leave")
    equal(len(epochs), 5, "different epochs")


def test_rmmod_takes_down(t):
    """A node that is up and idle either keeps the module or goes with it;
    both leave the machine clean."""
    cluster = t.cluster(2)
    cluster.up(lend="4M")
    done = cluster[0].run(["rmmod", "nswap"], check=False)
    if done.code:
        true(done.err.strip(), "rmmod was refused without a reason")
        for node in cluster:
            node.down()
        cluster.unload()
    true(not module_loaded(), "the module is still there")
    cluster.load()


def test_refused_in_use(t):
    """While swapped on: rmmod, device del and down are refused, each with a
    reason, and the program never notices."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client = cluster[0]
    with cluster.swap(client, "96M") as dev:
        process = client.popen(eater(client, 48, passes=1), memory_max="24M")
        wait_for(lambda: client.stat()["client"]["pages_out"] > 1000, 20,
                 "the program swaps")
        done = client.run(["rmmod", "nswap"], check=False)
        true(done.code != 0 and "in use" in done.err, f"rmmod: {done.err}")
        true(dev in client.refused("device", "del", dev),
             "the refusal does not name the device")
        client.refused("down")
        equal(result_of(process.wait(150))["wrong_pages"], 0, "wrong pages")
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")
    for node in cluster:
        node.down()
    cluster.unload()
    cluster.load()


def test_down_holding(t):
    """A node that holds pages for others refuses to go down."""
    cluster = t.cluster(2)
    cluster.up(lend="32M")
    client, server = cluster
    dev = client.device_add("16M")
    client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=1M", "count=8",
                "oflag=direct"])
    server.refused("down")
    equal(server.stat()["server"]["held_pages"], 2047,
          "held pages (the header slot stays with its owner)")
    client.device_del(dev)
    wait_for(lambda: cluster.held_pages() == 0, 10, "no page is held")
    server.down()


def test_down_with_device(t):
    """A node that has a device does not go down: what it holds for others stays there, and it
    lends on."""
    cluster = t.cluster(3)
    cluster.up(lend="32M")
    client, server, _ = cluster
    dev = client.device_add("16M")
    client.run(["dd", "if=/dev/urandom", f"of=/dev/{dev}", "bs=1M", "count=8",
                "oflag=direct"])
    own = server.device_add("8M")
    held = server.stat()["server"]["held_pages"]
    true(held, "the server holds no page")
    true("has devices" in server.refused("down"), "the refusal does not say why")
    stat = server.stat()
    equal((stat["server"]["held_pages"], stat["node"]["lent_pages"]), (held, 8192),
          "pages held, and lent, after the refusal")
    server.device_del(own)
    client.device_del(dev)


def test_netns_del(t):
    """ip netns del while the node is up and swapping: the node holds its
    namespace, goes on, and is stopped from the initial one."""
    cluster = t.cluster(2)
    cluster.up(lend="64M")
    client, outside = cluster[0], cluster.outside
    dev = client.device_add("96M")
    client.swapon(dev)
    process = outside.popen(eater(outside, 48, passes=1), memory_max="24M")
    wait_for(lambda: client.stat()["client"]["pages_out"] > 1000, 20,
             "the program swaps")
    numbers = {n["addr"]: n for n in outside.ctl("nodes")}
    true(client.addr in numbers, "the initial namespace does not list it")
    cluster.forget(client)
    equal(result_of(process.wait(150))["wrong_pages"], 0, "wrong pages")
    outside.swapoff(dev)
    number = numbers[client.addr]["number"]
    outside.ctl("device", "del", dev, "--node", number)
    outside.ctl("down", "--node", number)
    wait_for(lambda: not pathlib.Path(f"/sys/class/net/{client.port}").exists(),
             10, "the namespace is gone with its node")
    wait_for(lambda: cluster.held_pages([cluster[1]]) == 0, 10,
             "no page is held")
