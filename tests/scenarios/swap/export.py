# SPDX-License-Identifier: GPL-2.0
"""nswapctl export: a device for a machine without the module.

        node2 - - - node0 ------ node1     node0 has the device and exports it, node1
       a client                            lends, node2 has no node of nswap
"""
import contextlib
import errno
import json
import pathlib

from nswaptest import nvme
from nswaptest.check import Failure, at_least, equal, true, wait_for
from nswaptest.lab import sh
from nswaptest.work import Slots

DESCRIPTION = "a device that another machine uses by NVMe/TCP or NBD"
SUITES = ("lab",)
NEEDS = ("module", "progs", "qemu-nbd", "nbd-client", "nvme")
TIMEOUT = 120
ONLY_FULL = {"full": "it waits for page-outs to be given up; export.nvme and export.nbd show the rest"}

CONFIG = pathlib.Path("/sys/kernel/config/nvmet")
SLOTS = 1500


@contextlib.contextmanager
def start(t, lend="64M"):
    """The gateway with a device, its lender, and the client; in the end nothing is
    exported."""
    gateway, lender, client = t.cluster(3)
    gateway.up(lend="0")
    lender.up(lend=lend)
    gateway.device_add("32M")
    try:
        yield gateway, lender, client
    finally:
        nvme.disconnect(client)
        client.run(["nbd-client", "-d", "/dev/nbd0"], check=False)
        gateway.run([gateway.prog("nswapctl"), "unexport", "nswap0", "--now"], check=False)
    equal(left(), [], "what is left of it")


def held(lender):
    """Pages that the lender holds."""
    return lender.stat()["node"]["held_pages"]


def left():
    """What nvmet has been told, but for its own folders."""
    return [p for name in ("subsystems", "ports", "hosts") for p in CONFIG.glob(f"{name}/*")]


def use(t, lender, client, disk):
    """Pages go to the lender and come back; what is discarded is given back there."""
    with Slots(disk.removeprefix("/dev/"), t.seed) as slots:
        for first in range(0, SLOTS, 30):
            slots.write(1 + first, 30)
        at_least(held(lender), SLOTS, "pages at the lender")
        equal(slots.compare(), (SLOTS, 0, 0), "pages that are right, wrong, unreadable")
    client.run(["blkdiscard", "--force", disk])
    wait_for(lambda: not held(lender), 20, "what was discarded is free at the lender")


def end(gateway, client):
    """Refused while the client is connected; its disk is gone already."""
    wait_for(lambda: not gateway.ctl("export")[0]["clients"], 20,
             f"{client} is connected no longer")
    gateway.ctl("unexport", "nswap0")
    equal((left(), gateway.ctl("export")), ([], []), "what is left of it")


def refusals(gateway, made):
    """What must not be done meanwhile, and how to go about it."""
    again = gateway.ctl("export", "nswap0", "--nvme")
    equal((again["name"], again["clients"]), (made["name"], []), "the same again")
    for args, words in (
            (("export", "nswap0", "--nbd"), "nswapctl unexport nswap0 first"),
            (("export", "nswap0", "--nvme", "--to", f"{gateway.addr}:4421"), "already"),
            (("export", "nswap0", "--nvme", "--host", "nqn.x"), "already"),
            (("device", "del", "nswap0"), "nswapctl unexport nswap0"),
            (("export", "nswap9", "--nvme"), "no device of this node"),
            (("export", "nswap0", "--nvme", "--to", "192.0.2.1"), "no address of this machine"),
            (("unexport", "nswap9"), "not exported")):
        said = gateway.refused(*args)
        true(words in said, f"{args}: {said}")
    equal(gateway.ctl("export"), [again], "what is exported")


def hosts(gateway):
    """One that was there stays; the files of one that is made, which can show its secret, are
    not for others, and it goes; a secret is not changed for what it connects to already."""
    theirs = CONFIG / "hosts/nqn.x"
    theirs.mkdir()
    gateway.write("/tmp/export-secret", SECRET)
    gateway.run(["chmod", "600", "/tmp/export-secret"])
    said = gateway.refused("export", "nswap0", "--nvme", "--host", "nqn.x", "--secret",
                           "/tmp/export-secret")
    true("leave --secret out" in said, said)
    gateway.ctl("export", "nswap0", "--nvme", "--host", "nqn.x")
    gateway.ctl("unexport", "nswap0")
    equal(left(), [theirs], "hosts that were there")
    theirs.rmdir()
    gateway.ctl("export", "nswap0", "--nvme", "--host", "nqn.y")
    equal([oct((CONFIG / name).stat().st_mode & 0o777) for name in ("hosts", "hosts/nqn.y")],
          ["0o755", "0o711"], "what others may")
    gateway.ctl("unexport", "nswap0")
    equal(left(), [], "what is left of it")


def not_ended(gateway):
    """What is not ended is not said to be."""
    name = gateway.ctl("export", "nswap0", "--nvme")["name"]
    done = gateway.run(["setpriv", "--reuid=65534", "--clear-groups", gateway.prog("nswapctl"),
                        "unexport", "nswap0"], check=False)
    equal((done.code, len(gateway.ctl("export"))), (1, 1), "not root: exit code, exports")
    theirs = CONFIG / "subsystems" / name / "namespaces/2"
    theirs.mkdir()
    said = gateway.refused("unexport", "nswap0")
    true("does not end: Directory not empty" in said, said)
    theirs.rmdir()
    gateway.ctl("unexport", "nswap0")


def test_nvme(t):
    """By NVMe/TCP: what is exported again is another disk, and no client takes it for the
    first; only the host that is named may connect."""
    with start(t) as (gateway, lender, client):
        made = gateway.ctl("export", "nswap0", "--nvme")
        refusals(gateway, made)
        said = gateway.run([gateway.prog("nswapctl"), "export", "nswap0", "--nvme"]).out
        true(made["name"] in said, f"what to type: {said!r}")
        use(t, lender, client, nvme.connect_by(client, " && ".join(said.splitlines()[1:])))
        equal(client.run("cat /sys/class/nvme/*/fast_io_fail_tmo").out, "10\n", "its time-out")
        equal(gateway.ctl("export")[0]["clients"], [client.addr], "who is connected")
        said = gateway.refused("unexport", "nswap0")
        true(client.addr in said and "--now" in said, f"refused while it is in use: {said}")
        nvme.disconnect(client)
        end(gateway, client)
        hosts(gateway)
        not_ended(gateway)
        named = gateway.ctl("export", "nswap0", "--nvme", "--host", nvme.HOST)
        for host, nqn in ((nvme.HOST + "x", named["name"]), (nvme.HOST, made["name"])):
            done = client.run(f"printf '%s' '{nvme.options(gateway.addr, nqn, host)}' "
                              "> /dev/nvme-fabrics", check=False)
            true(done.code, f"{host} may connect to {nqn}")
        nvme.connect_by(client, f"nvme connect-all -t tcp -a {gateway.addr} -s 4420 "
                        f"-k 5 -l -1 -q {nvme.HOST}")
        gateway.ctl("unexport", "nswap0", "--now")
        equal(left(), [], "what is left of it")
        nvme.disconnect(client)
        gateway.device_del("nswap0")


def secrets(gateway):
    """Files without one, or that others may read; and a kernel that knows no secrets."""
    for text, mode, words in (("cluster x\n", "600", "no secret as"),
                              (SECRET, "644", "others may read"),
                              (SECRET, "600", "CONFIG_NVME_TARGET_AUTH")):
        gateway.write("/tmp/export-secret", text)
        gateway.run(["chmod", mode, "/tmp/export-secret"])
        said = gateway.refused("export", "nswap0", "--nvme", "--host", nvme.HOST,
                               "--secret", "/tmp/export-secret")
        true(words in said, f"{text!r}, {mode}: {said}")
    equal(left(), [], "what is left of it")


SECRET = "DHHC-1:00:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQFpqA==:\n"
def full(t, lender, disk):
    """Write until a peer has no more room: what was taken is right, the rest has failed."""
    with Slots(disk.removeprefix("/dev/"), t.seed) as slots:
        try:
            for first in range(1, 4000, 30):
                slots.write(first, 30)
            raise Failure("all was taken, though there is no room for it")
        except OSError as why:
            equal(why.errno, errno.EIO, "what the write ended with")
        for slot in range(first, first + 30):
            del slots.count[slot]
        at_least(len(slots.count), held(lender) - 30, "pages that were taken")
        equal(slots.compare()[1:], (0, 0), "pages that are wrong, unreadable")


def test_full(t):
    """A page that no peer has room for is refused at the client, either way: none that was
    taken is lost."""
    with start(t, lend="8M") as (gateway, lender, client):
        made = gateway.ctl("export", "nswap0", "--nvme")
        disk = nvme.connect(client, gateway.addr, made["name"])
        full(t, lender, disk)
        client.run(["blkdiscard", "--force", disk])
        wait_for(lambda: not held(lender), 20, "the lender has room again")
        nvme.disconnect(client)
        gateway.ctl("unexport", "nswap0", "--now")
        made = gateway.ctl("export", "nswap0", "--nbd")
        client.run(["nbd-client", gateway.addr, "10809", "/dev/nbd0", "-N", made["name"],
                    "-b", "4096"])
        full(t, lender, "/dev/nbd0")


def move(name):
    """An export listens at an interface that nodes have not, in the network namespace of this
    test, which ends again when this does."""
    sh("ip", "-batch", "-", stdin="""
        link add only0 type veth peer name only1
        link set only0 up
        addr add fe80::77/64 dev only0 nodad
    """)
    (old,) = CONFIG.glob("ports/*")
    port = CONFIG / "ports/1"
    port.mkdir()
    for key, value in (("trtype", "tcp"), ("adrfam", "ipv6"), ("traddr", "fe80::77%only0"),
                       ("trsvcid", "4420")):
        (port / f"addr_{key}").write_text(value)
    (old / "subsystems" / name).unlink()
    (port / "subsystems" / name).symlink_to(CONFIG / "subsystems" / name)
    old.rmdir()


def both(gateway, lender):
    """All addresses of one node, and of another one in its own network namespace."""
    lender.device_add("16M")
    for node, name in ((gateway, "nswap0"), (lender, "nswap1")):
        made = node.ctl("export", name, "--nvme", "--to", "0.0.0.0")
        true(":1144 " in node.run(["cat", "/proc/net/tcp"]).out, f"{node} listens at port 4420")
        equal((made["device"], made["addr"]), (name, "0.0.0.0"), "what is exported")
    equal(len(list(CONFIG.glob("ports/*"))), 2, "ports")
    lender.ctl("unexport", "nswap1")
    gateway.ctl("unexport", "nswap0")


def test_elsewhere(t):
    """From another network namespace, where no client is seen, an export is not ended; nor is one
    whose interface is not known taken for half made, which is ended unasked."""
    with start(t) as (gateway, lender, _):
        made = gateway.ctl("export", "nswap0", "--nvme")
        for args in (("export", "nswap0", "--nvme"), ("unexport", "nswap0", "--now")):
            said = lender.refused(*args)
            true("no device of this node" in said, f"{args}: {said}")
        said = gateway.refused("--node", gateway.stat()["node"]["number"], "unexport", "nswap0")
        true("without --node" in said, said)
        move(made["name"])
        try:
            said = gateway.refused("export", "nswap0", "--nvme")
            true("exported already" in said, f"an interface that is not known: {said}")
            equal([(e["name"], e["addr"]) for e in gateway.ctl("export")],
                  [(made["name"], "::")], "what is exported")
        finally:
            gateway.ctl("unexport", "nswap0")
            (CONFIG / "ports/1").rmdir()
            sh("ip", "link", "del", "only0")
        gateway.run("ip addr add fe80::77/64 dev eth0 nodad")
        said = gateway.refused("export", "nswap0", "--nvme", "--to", "fe80::77")
        true("fe80::77%eth0" in said, f"a link-local address without its interface: {said}")
        made = gateway.ctl("export", "nswap0", "--nvme", "--to", "fe80::77%eth0")
        equal((made["addr"], lender.ctl("export")[0]["addr"]), ("fe80::77%eth0",) * 2,
              "a link-local address with it")
        gateway.ctl("unexport", "nswap0")
        both(gateway, lender)


LISTENER = ("import socket, sys; s = socket.create_server((sys.argv[1], 4420)); "
            "print(flush=True); s.accept()")


def in_turn(gateway):
    """While another one makes or ends exports, which is what the lock says, nothing is done."""
    for words in (["export", "nswap0", "--nvme"], ["unexport", "nswap9"]):
        done = gateway.run(["flock", "/run/nswap-export.lock", "timeout", "0.5",
                            gateway.prog("nswapctl"), *words], check=False)
        equal((done.code, left()), (124, []), f"{words} meanwhile: exit code, what is made")


def test_undone(t):
    """What fails half way leaves nothing; what was left half made is made whole; one at a time
    does it."""
    with start(t) as (gateway, _, _):
        other = gateway.popen(["python3", "-c", LISTENER, gateway.addr])
        wait_for(other.output, 20, "another program listens")
        said = gateway.refused("export", "nswap0", "--nvme")
        true("in use" in said and "nothing was changed" in said, f"the port is taken: {said}")
        equal((left(), gateway.ctl("export")), ([], []), "what is left of it")
        secrets(gateway)
        other.kill()
        other.wait(10)
        made = gateway.ctl("export", "nswap0", "--nvme")
        port = next((CONFIG / "ports").iterdir())
        (port / "subsystems" / made["name"]).unlink()
        port.rmdir()
        equal(gateway.ctl("export")[0]["addr"], "", "where it listens, half made")
        found = json.loads(gateway.run([gateway.prog("nswapctl"), "--json", "doctor"],
                                       check=False).out)
        equal([(f["level"], f["fix"]) for f in found if f["check"] == "exports"],
              [("problem", "nswapctl unexport nswap0")], "what doctor says of it")
        made = gateway.ctl("export", "nswap0", "--nvme")
        equal(made["addr"], gateway.addr, "where it listens, whole")
        gateway.ctl("unexport", "nswap0")
        in_turn(gateway)


SERVER = ("exec -a qemu-nbd bash -c 'echo && kill -STOP $$' "
          "--export-name=nswap0-x /dev/nswap0")
GROUP = "/sys/fs/cgroup/nswap.service"


def servers(gateway):
    """Another user's process that has the words of a server is none, nor is another program;
    what ends with nswap.service is none either."""
    for words in (["setpriv", "--reuid=65534", "--clear-groups"], ["nice"]):
        other = gateway.popen([*words, "bash", "-c", SERVER])
        wait_for(other.output, 20, "it has these words")
        equal(gateway.ctl("export"), [], f"what is exported, with one by {words[0]}")
        other.kill()
        other.wait(10)
    done = gateway.run(f"mkdir {GROUP} && echo $$ > {GROUP}/cgroup.procs && "
                       f"exec {gateway.prog('nswapctl')} export nswap0 --nbd", check=False)
    true(done.code == 1 and "from a unit of its own" in done.err, f"in nswap.service: {done.err}")
    gateway.run(["rmdir", GROUP])


def test_nbd(t):
    """By NBD: the same; a process that only says that it is a server is none."""
    with start(t) as (gateway, lender, client):
        servers(gateway)
        made = gateway.ctl("export", "nswap0", "--nbd")
        equal((made["by"], made["addr"], made["port"]), ("nbd", gateway.addr, 10809),
              "where it is")
        true("unexport" in gateway.refused("device", "del", "nswap0"), "deleting it says how")
        said = gateway.run([gateway.prog("nswapctl"), "export", "nswap0", "--nbd"]).out
        true(made["name"] in said, f"the same again: {said!r}")
        client.run(said.splitlines()[1])
        use(t, lender, client, "/dev/nbd0")
        true(client.addr in gateway.refused("unexport", "nswap0"), "it says who is connected")
        client.run(["nbd-client", "-d", "/dev/nbd0"])
        end(gateway, client)
        gateway.device_del("nswap0")
