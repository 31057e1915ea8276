# SPDX-License-Identifier: GPL-2.0
"""Configuration files and what nswapctl check says of them, without a kernel."""
import json
import re
import subprocess

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "nswapctl check: file:line, what is wrong, what is allowed"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

N = "[node]\n"
O = N + "open = yes\n"
D = N + "[device a]\nsize = 1G\n"
# what is in the file, the line that is wrong, why, what is allowed
WRONG = (
    ("\ufeff" + O, 1, "a byte order mark", "without it"),
    ("", 1, "no section [node]", "[node]"),
    ("# nothing\n", 1, "no section [node]", "[node]"),
    ("lend = 1G\n" + N, 1, "in front of all sections", "[node]"),
    ("[nod]\n" + N, 1, "no section 'nod'", "[device NAME]"),
    ("[]\n" + N, 1, "no section ''", "[device NAME]"),
    ("[node\n" + N, 1, "does not end in ']'", "[node]"),
    ("[node] x\n" + N, 1, "does not end in ']'", "[node]"),
    ("[node a]\n", 1, "a word too many", "[node]"),
    (N + "[device]\nsize = 1G\n", 2, "no name", "[device NAME]"),
    (N + "[device a b]\nsize = 1G\n", 2, "a word too many", "[device NAME]"),
    (N + "[knobs x]\n", 2, "a word too many", "[knobs]"),
    (N + N, 2, "there already, in line 1", "once"),
    (D + "[device a]\nsize = 1G\n", 4, "there already, in line 2", "once"),
    (N + "lend\n", 2, "neither a key", "KEY = VALUE"),
    (N + "= 1G\n", 2, "neither a key", "KEY = VALUE"),
    (N + "lend = 1G\0\n", 2, "zero byte", "text"),
    (N + "lent = 1G\n", 2, "no key 'lent'", "lend"),
    (N + "size = 1G\n", 2, "no key 'size'", "lend"),
    (D + "lend = 1G\n", 4, "no key 'lend'", "size"),
    (N + "Lend = 1G\n", 2, "no key 'Lend'", "lend"),
    (N + "lend = 1G\nlend = 2G\n", 3, "there already, in line 2", "one line"),
    (N + "lend =\n", 2, "'' is no value of lend", "64M"),
    (N + "lend = much\n", 2, "'much' is no value", "64M"),
    (N + "lend = -1\n", 2, "'-1' is no value", "64M"),
    (N + "lend = 5000\n", 2, "'5000' is no value", "4 KiB"),
    (N + "lend = 1G # of four\n", 2, "'1G # of four' is no value", "64M"),
    (N + "\n# a\n  lend = 99999999999T\n", 4, "is no value of lend", "64M"),
    (N + "address = fe80::1%\n", 2, "is no value of address", "A%IFACE"),
    (N + "address = fe80::1%a23456789b123456\n", 2, "is no value of address", "A%IFACE"),
    (N + "address = 10.0.0.1%eth0\n", 2, "is no value of address", "A%IFACE"),
    (N + "address = [fe80::1%nowhere9]:7\nport = 8\n", 3, "different ports", "one port"),
    (N + "address = 300.1.1.1\n", 2, "is no value of address", "A:PORT"),
    (N + "port = 0\n", 2, "'0' is no value of port", "65535"),
    (N + "port = 65536\n", 2, "'65536' is no value of port", "65535"),
    (N + "address = 10.0.0.1:7\nport = 8\n", 3, "different ports", "one port"),
    (N + "peers = 10.0.0.1,,10.0.0.2\n", 2, "is no value of peers", "addresses"),
    (N + "peers =\n", 2, "is no value of peers", "addresses"),
    (N + "broadcast = maybe\n", 2, "'maybe' is no value", "yes, no"),
    (N + "broadcast = no\n", 2, "has to list its peers", "peers = "),
    (N, 1, "without keys anyone", "secret"),
    (N + "open = no\n", 2, "without keys anyone", "open = yes"),
    (N + "open =\n", 2, "'' is no value of open", "yes, no"),
    (N + "open = y\n", 2, "'y' is no value", "yes, no"),
    (N + "connections = 1\n", 2, "'1' is no value", "2 to 8"),
    (N + "connections = 9\n", 2, "'9' is no value", "2 to 8"),
    (N + "key = /k\n", 2, "go together", "both or neither"),
    (N + "members = /m\n", 2, "go together", "both or neither"),
    (N + "key = k\nmembers = /m\n", 2, "'k' is no value of key", "/PATH"),
    (N + "secret = /s\nkey = /k\nmembers = /m\n", 2, "neither key nor members", "secret"),
    (N + "open = yes\nsecret = /s\n", 2, "with keys is not open", "open = yes"),
    (N + "size-policy = some\n", 2, "'some' is no value", "watermark, pressure, owner"),
    (N + "place-policy = press\n", 2, "'press' is no value", "two-choices"),
    (N + "read-policy = fast\n", 2, "'fast' is no value", "fastest"),
    (N + "[knobs]\ntrace = on\n", 3, "'on' is no value of the knob trace", "0 to 1"),
    (N + "[knobs]\nanounce_ms = 500\n", 3, "no knob 'anounce_ms'", "announce_ms"),
    (N + "[knobs]\nannounce_ms = 99\n", 3, "'99' is no value", "100 to 60000"),
    (N + "[knobs]\nhedge_pct = 101\n", 3, "'101' is no value", "0 to 100"),
    (N + "[knobs]\npsi = 4294967296\n", 3, "is no value of the knob psi", "0 to 10000"),
    (N + "[knobs]\ntrace = 1\ntrace = 0\n", 4, "in line 3", "one line"),
    (N + "[device a]\npriority = 1\n", 2, "neither size nor home", "size = "),
    (N + "[device a]\nsize = 0\n", 3, "'0' is no value of size", "4 KiB"),
    (N + "[device a]\nsize = 36K\n", 3, "'36K' is no value of size", "from 40K to 1T"),
    (N + "[device a]\nsize = 1025G\n", 3, "'1025G' is no value of size", "from 40K to 1T"),
    (D + "home = sdb2\n", 4, "'sdb2' is no value of home", "/PATH"),
    (D + "home = /dev/a\n[device b]\nhome = /dev/a\n", 6, "has this home", "of its own"),
    (D + "flash = /a\n" * 5, 8, "too much flash", "four"),
    (D + "tier = /dev/a\n", 4, "is no value of tier", "rank=N"),
    (D + "tier = /dev/a,rank=256\n", 4, "is no value of tier", "255"),
    (D + "protect = twice\n", 4, "'twice' is no value", "parity:N+1"),
    (D + "protect = parity:9+1\n", 4, "is no value of protect", "2 to 8"),
    (D + "protect = parity:4+ 1\n", 4, "is no value of protect", "parity:N+1"),
    (D + "protect = parity:4+3\n", 4, "is no value of protect", "parity:N+2"),
    (D + "protect = home\n", 4, "has no home", "mirror"),
    (D + "class = cheap\n", 4, "'cheap' is no value", "droppable"),
    (D + "class = droppable\n", 4, "not for swap", "swap = no"),
    (D + "class = droppable\nswap = no\nprotect = mirror\n", 6, "cannot be protected",
     "none"),
    (D + "early-ack = yes\n", 4, "needs a cache", "cache = SIZE"),
    (D + "protect = parity:4+1\nreserve = 1G\n", 4, "cannot be protected by parity",
     "or no reserve"),
    (N + "[device a]\nsize = 512G\nprotect = parity:8+1\n", 4, "too large for protection by parity",
     "less than 512 GiB"),
    (N + "[device a]\nprotect = parity:2+1\nsize = 524285M\n", 3, "too large", "341 GiB at most"),
    (N + "[device a]\nsize = 342G\nhome = /h\nprotect = parity:4+2\n", 5, "too large", "two checks"),
    (D + "reserve = 0\n", 4, "'0' is no value of reserve", "not 0"),
    (D + "reserve = 2G\n", 4, "a reserve larger than the device", "the size of the device"),
    (D + "cache = 124K\n", 4, "'124K' is no value of cache", "from 128K on"),
    (D + "cache = 2G\n", 4, "a cache larger than the device", "the size of the device"),
    (D + "reserve = 1\n", 4, "'1' is no value of reserve", "4 KiB"),
    (D + "seal = on\n", 4, "'on' is no value", "yes, no"),
    (D + "priority = 32768\n", 4, "is no value of priority", "32767"),
    (D + "priority = -1\n", 4, "is no value of priority", "32767"),
    (D + "swap = no\npriority = 1\n", 5, "has no priority", "swap = yes"),
)
A = O + "[device a]\nsize = 1G\n"
RIGHT = (O, A, A.replace("\n", "\r\n"), N + "secret = /s\n", N + "open = no\nkey = /k\nmembers = /m\n",
         "\n; x\n [node] \n\topen=yes\n", O + "peers = 10.0.0.1,[fd00::1]:7\nbroadcast = no\n",
         O + "address = fe80::1%nowhere9\npeers = [fe80::2%nowhere9]:7,fe80::3%a23456789b12345\n",
         A + "class = droppable\nswap = no\n", A + "protect = parity:4+2\nflash = /a\nflash = /b\n",
         A.replace("1G", "40K") + "reserve = 40K\n", A.replace("1G", "1T") + "reserve = 1T\ncache = 1T\n",
         A.replace("1G", "128K") + "cache = 128K\n",
         A.replace("1G", "524284M") + "protect = parity:4+1\n",
         A.replace("1G", "341G") + "protect = parity:4+2\n", A.replace("1G", "1T") + "protect = mirror\n",
         O + "[device a]\nhome = /dev/a\nreserve = 1T\ncache = 1T\n",
         O + "place-policy = two-choices\nread-policy = soonest\n[knobs]\ntrace = 1\n")


def check(path, *args):
    """Run nswapctl check on a file."""
    return subprocess.run([ROOT / "build/nswapctl", "check", "--file", path, *args],
                          capture_output=True, text=True, check=False)


def listing(folder):
    """All that is in a folder, with what the files say and when they changed."""
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def other_bytes(path):
    """What is no UTF-8 is told in JSON that is."""
    for value, shown in ((b"\xfc\xe9", "\ufffd\ufffd"), ("€\u00fc".encode(), "€\u00fc"),
                         (b"\xc0\xafx\xed\xa0\x80", "\ufffd\ufffdx\ufffd\ufffd\ufffd"),
                         ("\U0001f600".encode()[:3], "\ufffd" * 3)):
        path.write_bytes(O.encode() + b"lend = " + value + b"\n")
        done = subprocess.run([ROOT / "build/nswapctl", "--json", "check", "--file", path],
                              stdout=subprocess.PIPE, check=False)
        equal([x["wrong"] for x in json.loads(done.stdout.decode())],
              [f"'{shown}' is no value of lend"], f"{value} as JSON")


def run(t):
    """Each wrong file is refused by line, each right one is not; none is changed."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    folder = t.dir / "conf"
    folder.mkdir(exist_ok=True)
    path = folder / "nswap.conf"
    for text, line, why, allowed in WRONG:
        path.write_text(text)
        before = listing(folder)
        done = check(path)
        equal((done.returncode, done.stdout), (1, ""), f"exit code, output of {text!r}")
        said = [re.fullmatch(r"(.*):(\d+): (.*); allowed: (.+)", x)
                for x in done.stderr.splitlines()]
        true(said and all(said), f"{text!r}: it says {done.stderr!r}")
        true(any(m[1] == str(path) and int(m[2]) == line and why in m[3] and allowed in m[4]
                 for m in said), f"{text!r}: it says {done.stderr!r}")
        told = json.loads(check(path, "--json").stdout)
        equal([(x["file"], str(x["line"]), x["wrong"], x["allowed"]) for x in told],
              [m.groups() for m in said], f"{text!r} as JSON")
        equal(listing(folder), before, f"files after {text!r}")
    for text in (*RIGHT, (ROOT / "dist/nswap.conf").read_text()):
        path.write_text(text)
        done = check(path)
        equal((done.returncode, done.stderr), (0, ""), f"exit code, errors of {text!r}")
        equal(json.loads(check(path, "--json").stdout), [], f"{text!r} as JSON")
    other_bytes(path)
    example = (ROOT / "dist/nswap.conf").read_text()
    path.write_text(re.sub(r"^# (?=\w[\w-]* = |\[)", "", example, flags=re.M))
    said = {line.split("; ")[0].split(": ", 1)[1]
            for line in check(path).stderr.splitlines()}
    equal(said, {"secret goes with neither key nor members"}, "the example's keys, all at once")
    path.write_text("\ufeff" + O)
    mend = re.search(r"sed .*FILE", check(path).stderr)[0].replace("FILE", str(path))
    subprocess.run(mend, shell=True, check=True)
    equal((path.read_text(), check(path).returncode), (O, 0), "without the byte order mark")
    done = check(folder / "none")
    equal((done.returncode, done.stderr.count("\n")), (1, 1), "a file that is not there")
