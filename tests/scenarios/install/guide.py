# SPDX-License-Identifier: GPL-2.0
"""The commands of docs/admin.md and README.md, exactly those, typed by this test.

A machine is a guest of the vm lab with the document's address. What is changed in a
command are sizes, since the guests are small. What installs is left to packages.py, and
the nswapctl and the module of this tree are there; scp is played by the lab.
"""
import json
import pathlib
import re
import time

from nswaptest import check
from nswaptest.check import Failure, equal, true, wait_for
from nswaptest.scenario import ROOT
from vm import image

DESCRIPTION = "every command of the administrator's guide and the README, minutes counted"
SUITES = ("install",)
NEEDS = ("qemu-system-x86_64", "script")
TIMEOUT = 240
BUSY = 2

KEYS_A_SECOND = 3       # typed by one who looks at the document between
INSTALL_S = 180         # what packages.py's part may take of the ten minutes
COMMANDS_S = 60         # and what the commands may take on real machines
ELSEWHERE = ("make deb", "apt install ", "make && make install && modprobe nswap",
             "modprobe nswap")
SIZES = {"4G": "32M"}
SCRIPT = "/usr/bin/script"     # a terminal to type at
CONF = "/etc/nswap/nswap.conf"


def sections(name):
    """{heading: text} of a document."""
    parts = re.split(r"^## (.*)$", (ROOT / name).read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(text):
    """Its blocks, each a list of lines without comments."""
    found = re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)
    return [[line for line in (re.sub(r"\s+#\s.*", "", raw) for raw in block.splitlines())
             if line.strip()] for block in found]


class Machine:
    """One of the document's."""

    typed = 0
    by_name = {}

    def __init__(self, node, address):
        self.node, self.name = node, address
        self.by_name[address] = self
        node.run(f"ip addr flush dev eth0 && ip addr add {address}/24 broadcast + dev eth0 && "
                 "mkdir -p /etc/nswap /etc/sysctl.d /dev/pts && "
                 "mount -t devpts -o ptmxmode=666 devpts /dev/pts")
        node.addr = address
        for path in image.libraries(SCRIPT) | {SCRIPT: SCRIPT}:
            if node.run(["test", "-e", path], check=False).code:
                node.run(["mkdir", "-p", path.rpartition("/")[0]])
                node.machine.write(path, pathlib.Path(path).read_bytes())
        node.run(["chmod", "755", SCRIPT])

    def _copy(self, line):
        """scp -p FILE HOST:FOLDER/"""
        path, name, folder = re.fullmatch(r"scp -p (\S+) ([\d.]+):(\S+)/", line).groups()
        node = self.by_name[name].node
        target = f"{folder}/{path.rsplit('/', 1)[1]}"
        node.write(target, self.node.read(path))
        node.run(["chmod", self.node.run(["stat", "-c", "%a", path]).out.strip(), target])
        return ""

    def _done(self, command, counts_room):
        """The command, ended. What peers lend counts while they have been heard lately, which
        a busy machine may take some seconds for."""
        last = []

        def settled():
            last[:] = [self.node.run(command, check=False)]
            return not (counts_room and re.search("^PROBLEM room:", last[0].out, re.M))
        wait_for(settled, 10, f"{self.name}: '{command}' finds room at all peers", every=2)
        return last[0]

    def type(self, line):
        """A line of the document; Failure if it fails."""
        Machine.typed += len(line) + 1
        if line.startswith("scp "):
            return self._copy(line)
        command = line
        for size, ours in SIZES.items():
            command = re.sub(rf"\b{size}\b", ours, command)
        # busybox's shell prefers its own, which knows no priorities
        command = re.sub(r"\bswapon\b", "/bin/swapon", command)
        if line == "nswapctl doctor --fix":
            command = f"yes | {SCRIPT} -qec '{command}' /dev/null"
        elif line == "nswapctl top":
            command = f"(sleep 3; printf q) | {SCRIPT} -qec '{command}' /dev/null"
        elif line == "nswapctl watch":
            command = f"timeout -s INT 3 {command}; [ $? = 143 -o $? = 130 -o $? = 0 ]"
        done = self._done(command, line.startswith("nswapctl doctor"))
        # README's doctor is to find the reserve that is low everywhere, and no more
        found = re.findall("^PROBLEM ([^:]*):", done.out, re.M)
        if done.code and (line, found) != ("nswapctl doctor", ["memory reserve"]):
            raise Failure(f"{self.name}: '{line}' ended with {done.code}: "
                          f"{done.out.strip()[-900:]} {done.err.strip()[-600:]}")
        return done.out

    def write(self, block):
        """The file of settings, from the document."""
        Machine.typed += len("\n".join(block))
        text = "\n".join(block) + "\n"
        for size, ours in SIZES.items():
            text = text.replace(size, ours)
        self.node.write(CONF, text)


def machines(t, n):
    """The document's first n machines."""
    cluster = t.cluster(n, memory_mb=256)
    Machine.typed = 0
    return [Machine(node, f"10.0.0.{5 + i}") for i, node in enumerate(cluster)]


def installs(block):
    """Whether all of a block is the packages' part."""
    return all(line.startswith(ELSEWHERE) for line in block)


def connected(all_of_them):
    """Each sees the others."""
    def seen():
        return all(sum(p["state"] == "up" for p in m.node.ctl("peers")) ==
                   len(all_of_them) - 1 for m in all_of_them)
    wait_for(seen, 20, "every machine has a session with the others")


def lent(all_of_them):
    """Each lends what the file says, to which the policy gets step by step."""
    def grown():
        return all(p["lent_pages"] * 4096 >= 32 << 20
                   for m in all_of_them for p in m.node.ctl("peers"))
    wait_for(grown, 30, "every machine lends all it is to")


def eaten(t, machine):
    """A program bigger than its memory, all of whose pages are right."""
    done = machine.node.run([machine.node.prog("eater"), "--mb", "18", "--passes", "1"],
                            memory_max="16M", timeout=60).check()
    t.log(done.out)
    result = json.loads(done.out)
    equal(result["wrong_pages"] + result["failed_reads"], 0, "wrong pages, failed reads")
    check.at_least(result["pswpin"], 500, "pages that came in")


def ten_minutes(t, all_of_them):
    """The first section, step by step."""
    text = sections("docs/admin.md")["A cluster in ten minutes"]
    steps = dict(zip("12345", re.split(r"^\*\*\d\. ", text, flags=re.M)[1:]))
    true(all(installs(block) for block in blocks(steps["1"])), "step 1 installs")
    begin = time.monotonic()
    for line in blocks(steps["2"])[0]:
        all_of_them[0].type(line)
        if line.startswith("scp"):
            all_of_them[0].type(line.replace("10.0.0.6", "10.0.0.7"))
    conf, = blocks(steps["3"])
    for machine in all_of_them:
        machine.write(conf)
        for line in blocks(steps["4"])[0]:
            machine.type(line)
    connected(all_of_them)
    lent(all_of_them)
    look, keep = blocks(steps["5"])
    for machine in all_of_them:
        said = [machine.type(line) for line in look]
        true("PROBLEM" not in said[0].split("Looking again")[-1], f"doctor says {said[0]}")
        equal(said[1].count(" up "), 2, f"peers that are up in {said[1]}")
        true(re.search(r"/dev/nswap0 .* 100$", said[2], re.M), f"swapon says {said[2]}")
        for line in keep:
            machine.type(line)
    seconds = time.monotonic() - begin
    typing = Machine.typed / KEYS_A_SECOND
    t.log(f"{Machine.typed} keys, {typing / 60:.1f} minutes of typing; the commands took "
          f"{seconds:.0f} s")
    # what commands take here is the emulation's and its neighbours' doing, and only told
    check.at_most((typing + INSTALL_S + COMMANDS_S) / 60, 10, "minutes")


def test_admin(t):
    """The ten minutes; watching; an upgrade; keys of their own."""
    all_of_them = machines(t, 3)
    first = all_of_them[0]
    ten_minutes(t, all_of_them)
    eaten(t, first)
    guide = sections("docs/admin.md")
    for line in blocks(guide["Watch it"])[0]:
        true(first.type(line).strip(), f"{line} says nothing")
    stop, = blocks(guide["Upgrades"])
    for machine in all_of_them:
        for line in stop:
            machine.type(line)
        machine.node.run("insmod /nswap.ko")
        machine.type("nswapctl apply")
        connected(all_of_them)
        lent(all_of_them)
    make, show, trust = blocks(guide["Sealing and keys"])[0]
    public = []
    for machine in all_of_them:
        machine.type(make)
        public.append(machine.type(show).split()[-1])
    for machine, key in zip(all_of_them, public):
        name = machine.name.replace(".", "-")
        first.type(trust.replace("alpha", name).replace("PUBLIC", key))
    for machine in all_of_them[1:]:
        first.type(f"scp -p /etc/nswap/members {machine.name}:/etc/nswap/")
    keys = re.findall(r"`((?:key|members) = [^`]*)`", guide["Sealing and keys"])
    equal(len(keys), 2, "keys of the file in place of the secret")
    # no machine swaps when the first one goes down: what it holds has nowhere else to be
    for line in stop[:-1]:
        for machine in all_of_them:
            machine.type(line)
    for machine in all_of_them:
        machine.node.write(CONF, re.sub("^secret = .*", "\n".join(keys),
                                        machine.node.read(CONF), flags=re.M))
        machine.type("nswapctl apply")
    connected(all_of_them)


def test_readme(t):
    """Two machines, by hand: one lends, one swaps, all is undone."""
    lender, client = machines(t, 2)
    section = sections("README.md")["Two machines"]
    install, lend, need = blocks(section)
    true(installs(install), "the first block installs")
    for line in lend:
        lender.type(line)
    lender.type(f"scp -p /etc/nswap/secret {client.name}:/etc/nswap/")
    for line in need:
        client.type(line)
    eaten(t, client)
    stop = re.findall(r"`([^`]*)`", re.search(r"^To stop: (.*?)\. ", section, re.M | re.S)[1])
    equal(stop[-1], "rmmod nswap", "how it ends")
    for line in stop:
        client.type(line)
