# SPDX-License-Identifier: GPL-2.0
"""nswapctl apply: from nothing, again, live, refused, interrupted."""
import json

from nswaptest.check import equal, true, wait_for

DESCRIPTION = "apply does what is missing, and refuses what cannot be changed"
SUITES = ("lab",)
LONG = ("interrupted",)
NEEDS = ("module",)
TIMEOUT = 180

CONF = "/tmp/nswap.conf"
TEXT = """[node]
lend = {lend}
open = yes
place-policy = latency
[knobs]
announce_ms = 500
[device swap]
size = {size}
priority = 7
read-policy = fastest
"""


def conf(node, lend="4M", size="16M", more=""):
    """Write the file."""
    node.write(CONF, TEXT.format(lend=lend, size=size) + more)


def apply(node, *args):
    """Apply it; the steps."""
    told = node.ctl("apply", "--file", CONF, *args)
    true("failed" not in told and told["wrong"] == [], f"it says {told}")
    return told["left" if "--dry-run" in args else "done"]


def state(node):
    """What apply may change."""
    swaps = [line.split()[0::4] for line in node.read("/proc/swaps").splitlines()[1:]]
    nodes = node.ctl("nodes")
    return (len(nodes), swaps, nodes and (
        nodes[0]["lent_pages"], node.devices()[0]["size_bytes"], node.devices()[0]["policies"],
        [k["value"] for k in node.ctl("set") if k["knob"] == "announce_ms"]))


def test_whole(t):
    """From nothing to swap; nothing to do; a change; a refusal changes nothing."""
    node = t.cluster(1)[0]
    conf(node)
    node.write(CONF, node.read(CONF).replace("announce_ms", "anounce_ms"))
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:6: there is no knob 'anounce_ms'" in said, said)
    equal(state(node), (0, [], []), "the state after a misspelt knob")
    conf(node)
    would = apply(node, "--dry-run")
    equal(state(node), (0, [], []), "the state after --dry-run")
    did = apply(node)
    equal([s.replace("nswapN", "nswap0") for s in would], did, "what it would do, and did")
    want = (1, [["/dev/nswap0", "7"]], (1024, 16 << 20, {"read": "fastest"}, [500]))
    equal(state(node), want, "the state after apply")
    equal(apply(node), [], "steps when there is nothing to do")
    conf(node, lend="8M")
    equal(apply(node), ["nswapctl lend 8M"], "steps of a change")
    want = (1, want[1], (2048, *want[2][1:]))
    equal(state(node), want, "the state after a change")
    conf(node, lend="12M", size="32M")
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:8: the size of nswap0 cannot be changed; allowed: " in said, said)
    equal(state(node), want, "the state after a refusal")
    for more in ("flash = /dev/null\n", "tier = /dev/null,rank=1\n"):
        conf(node, lend="12M", more=more)
        said = node.refused("apply", "--file", CONF)
        true(f"{CONF}:11: flash cannot be added to nswap0" in said, said)
        equal(state(node), want, "the state after more flash")
    conf(node, lend="12M", more="priority = 8\n")
    node.refused("apply", "--file", CONF)
    equal(state(node), want, "the state after a wrong file")
    conf(node, lend="12M")
    # all nodes may have the same file: one's own address is no peer
    node.write(CONF, node.read(CONF).replace("[knobs]", f"peers = 10.77.0.9,{node.addr}\n[knobs]"))
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:5: the node that is up does not know the peer 10.77.0.9; " in said, said)
    equal(state(node), want, "the state after other peers")
    node.swapoff("nswap0")
    node.device_del("nswap0")
    node.down()
    apply(node)
    equal(apply(node), [], "steps when its peers are listed")


def test_alike(t):
    """Two devices that take the same command are two."""
    node = t.cluster(1)[0]
    conf(node, more="".join(f"[device {name}]\nsize = 8M\nswap = no\n" for name in "ab"))
    equal([s for s in apply(node) if " device add " in s],
          ["nswapctl device add --size 16M", *["nswapctl device add --size 8M"] * 2],
          "devices added")
    equal(sorted(d["size_bytes"] >> 20 for d in node.devices()), [8, 8, 16], "devices")
    equal(apply(node), [], "steps when there is nothing to do")


def test_typed(t):
    """What the shell would take apart is in quotes in a step that is shown."""
    node = t.cluster(1)[0]
    node.write(CONF, "[node]\nsecret = /etc/the node's key\n")
    equal(apply(node, "--dry-run"), [r"nswapctl up --secret '/etc/the node'\''s key'"],
          "what it would do")


def test_early(t):
    """An address whose interface is not there yet is to be tried again: no wrong file, but a
    step that fails."""
    node = t.cluster(1)[0]
    for line in ("address = fe80::1%nowhere9", "address = {}\npeers = fe80::2%nowhere9"):
        node.write(CONF, f"[node]\nopen = yes\n{line.format(node.addr)}\n")
        node.ctl("check", "--file", CONF)
        done = node.run([node.prog("nswapctl"), "apply", "--file", CONF], check=False)
        true(done.code == 1 and "%nowhere9' is not there" in done.err and
             "when that is mended, apply again" in done.err, f"{done.code}: {done.err}")
        equal(state(node), (0, [], []), "the state afterwards")


def test_at_once(t):
    """Of two at once one waits, and what is missing is done once."""
    node = t.cluster(1)[0]
    conf(node)
    both = [node.popen([node.prog("nswapctl"), "apply", "--file", CONF]) for _ in range(2)]
    equal([one.wait(60).code for one in both], [0, 0], "exit codes")
    want = (1, [["/dev/nswap0", "7"]], (1024, 16 << 20, {"read": "fastest"}, [500]))
    equal(state(node), want, "the state after both")
    equal(len(node.devices()), 1, "devices")


def test_weights(t):
    """Weights are set as the file says, and only those that are not so yet; its own one, in a
    file that nodes share, is no step of a node that is up."""
    node = t.cluster(1)[0]
    conf(node)
    apply(node)
    own = node.stat()["node"]["id"]
    lines = ("weight = 00000000000000aa 400\nweight = 00000000000000bb  50\n"
             f"weight = {own} 200\n")
    node.write(CONF, node.read(CONF).replace("[knobs]", lines + "[knobs]"))
    want = ["nswapctl weight 00000000000000aa 400", "nswapctl weight 00000000000000bb 50"]
    equal(apply(node, "--dry-run"), want, "what it would do")
    equal(apply(node), want, "steps")
    equal([(w["id"], w["weight"]) for w in node.ctl("weight")],
          [("00000000000000aa", 400), ("00000000000000bb", 50)], "weights")
    equal(apply(node), [], "steps when there is nothing to do")
    node.swapoff("nswap0")
    node.device_del("nswap0")


def test_takes(t):
    """A device made by hand is made swap if that loses nothing, else it is named."""
    node, peer = t.cluster(2)
    peer.up(lend="64M")
    conf(node)
    node.up(lend="4M")
    node.device_add("16M")
    equal(node.ctl("apply", "--dry-run", "--file", CONF)["taken"],
          [{"device": "nswap0", "section": "swap", "why": "empty"}], "what it would take")
    said = node.run([node.prog("nswapctl"), "apply", "--dry-run", "--file", CONF]).out
    true("would take: nswap0 for [device swap]: it is there as the section would make it, and "
         "empty\n" in said, said)
    node.run("head -c 65536 /dev/urandom > /tmp/page && "
             "dd if=/tmp/page of=/dev/nswap0 bs=64k oflag=direct")
    before = state(node)
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:7: there are " in said and
         " pages and no signature of swap on nswap0, which would be lost" in said, said)
    equal(state(node), before, "the state after a refusal")
    node.run("cmp -n 65536 /tmp/page /dev/nswap0")
    node.discard("nswap0")
    holder = node.popen("exec 3< /dev/nswap0; echo open; exec tail -f /dev/null")
    wait_for(lambda: "open" in holder.output(), 10, "nswap0 is held open")
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:7: nswap0 is in use, and not for swap" in said, said)
    holder.kill()
    holder.wait(10)
    node.device_del("nswap0")
    node.ctl("device", "add", "--size", "16M", "--class", "critical")
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:7: nswap0 is not swapped to, and has another class" in said, said)
    node.swapon("nswap0", prio=7)
    apply(node)
    equal(state(node)[1], [["/dev/nswap0", "7"]], "swap, that of a device swapped to by hand")
    equal(apply(node), [], "steps when there is nothing to do")
    more = "[device two]\nsize = 8M\nswap = no\nclass = droppable\n"
    conf(node, more=more)
    apply(node)
    node.write(CONF, node.read(CONF).replace("[device swap]", more + "[device swap]")
               .removesuffix(more))
    equal(apply(node), [], "steps when the sections change places")


def test_peers(t):
    """Another address of a peer needs no down: once it was heard of there it is known."""
    node, peer = t.cluster(2)
    conf(node)
    text = node.read(CONF)
    node.write(CONF, text.replace("[knobs]", "peers = 10.77.0.9\n[knobs]"))
    apply(node)
    node.write(CONF, text.replace("[knobs]", f"peers = {peer.addr}\n[knobs]"))
    said = node.refused("apply", "--file", CONF)
    true(f"{CONF}:5: the node that is up does not know the peer {peer.addr}; allowed: a peer "
         "that lists this node or was heard of" in said and "'nswapctl down' and apply" in said, said)
    peer.up(lend="8M")
    wait_for(lambda: peer.addr in node.peers(), 15, "the peer is heard of")
    equal(apply(node), [], "steps when the peer is known")


def test_half(t):
    """What failed half way is told in one document: what was done, and what was not."""
    node = t.cluster(1)[0]
    conf(node, more="home = /dev/null\n")
    steps = apply(node, "--dry-run")
    done = node.run([node.prog("nswapctl"), "--json", "apply", "--file", CONF], check=False)
    told = json.loads(done.out)
    at = next(i for i, step in enumerate(steps) if " device add " in step)
    true(at > 1, f"steps {steps}")
    equal((done.code, told["taken"], told["done"], told["failed"]["command"], told["left"],
           told["wrong"]), (1, [], steps[:at], steps[at], steps[at + 1:], []), "the document")
    true("the home is not a block device" in told["failed"]["why"] and
         told["failed"]["why"] in done.err, f"it says {told}, and {done.err}")
    node.write(CONF, node.read(CONF).replace("priority", "prioritie"))
    done = node.run([node.prog("nswapctl"), "--json", "apply", "--file", CONF], check=False)
    told = json.loads(done.out)
    equal((done.code, told["done"], told["left"], [w["line"] for w in told["wrong"]]),
          (1, [], [], [9]), "the document of a wrong file")
    node.run(f"rm {CONF}")
    done = node.run([node.prog("nswapctl"), "--json", "apply", "--file", CONF], check=False)
    told = json.loads(done.out)
    equal((done.code, told["done"], told["left"]), (1, [], []), "the document without a file")
    true("No such file" in told["failed"]["why"], f"it says {told}")


def test_interrupted(t):
    """Whatever of it was done before, apply does the rest."""
    node = t.cluster(1)[0]
    conf(node)
    steps = [s.replace("nswapctl", node.prog("nswapctl"), 1).replace("nswapN", "nswap0")
             for s in apply(node, "--dry-run")]
    true(len(steps) > 5, f"only {steps}")
    for done in range(len(steps) + 1):
        for step in steps[:done]:
            node.run(step)
        equal(len(apply(node)), len(steps) - done, f"steps left after {done}")
        equal(apply(node), [], f"steps left at the end, after {done}")
        equal(state(node)[1], [["/dev/nswap0", "7"]], "swap")
        node.swapoff("nswap0")
        node.device_del("nswap0")
        node.down()
