# SPDX-License-Identifier: GPL-2.0
"""What nswapctl says of each command, and to what makes no sense.

None of it needs the module: what is wrong on the command line is found before that.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT, sibling

docs = sibling("docs_commands")

DESCRIPTION = "each command explains its options, and refuses others in one sentence"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 60

# of a command that has no other options than these it is clear what they do
PLAIN = {"--device"}
WRONG = (
    ("watch --times 0", "'0' is no number of times, 1 to"),
    ("stat --cluster --interval 1 --times 0", "'0' is no number of times, 1 to"),
    ("psi --every 0", "'0' is no number of seconds, 1 to 3600"),
    ("report --record x --every 0", "'0' is no number of seconds, 1 to 600"),
    ("top --once --interval 0", "'0' is no interval, 0.1 to 3600"),
    ("stat --cluster --interval 0.5", "'0.5' is no interval, 1 to 3600"),
    ("export --nvme", "name the device to export"),
    ("export nswap0", "say how to export it: --nvme or --nbd"),
    ("export nswap0 --nvme --nbd", "say how to export it: --nvme or --nbd"),
    ("export nswap0 --nbd --host nqn.x", "NBD does not ask who a client is"),
    ("export nswap0 --nvme --secret x", "--secret goes with --host"),
    ("export nswap0 --nvme --host a/b", "'a/b' is no host NQN"),
    ("unexport", "name the device to export no longer"),
    ("up --open --addr fe80::1%nowhere9", "the interface of 'fe80::1%nowhere9' is not there"),
    ("up --open --addr 10.0.0.1%nowhere9", "'10.0.0.1%nowhere9' is no address"),
    ("device", "'device' needs a command behind it"),
    ("stats", "'stats' is no command"),
)


def said(code, *words):
    """The sentence to a wrong command line."""
    done = subprocess.run([ROOT / "build/nswapctl", *words], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)
    equal((done.returncode, done.stdout), (code, ""), f"exit code of {words}, what it printed")
    sentence, *more = done.stderr.splitlines()
    true(len(more) == (code == 2), f"{words} said {done.stderr!r}")
    return sentence


def as_nobody():
    """An ordinary user is told what 'apply' needs. The program is copied to where such a one
    gets at it."""
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        shutil.copy(ROOT / "build/nswapctl", folder)
        (folder / "conf").write_text("[node]\nopen = yes\n")
        (folder / "conf").chmod(0o644)
        done = subprocess.run([folder / "nswapctl", "apply", "--file", folder / "conf"], text=True,
                              cwd=folder, check=False, capture_output=True, **user)
    equal((done.returncode, done.stderr.count("\n")), (1, 1), "exit code, lines")
    true("this needs root" in done.stderr, done.stderr)


def run(_):
    """Options that are, and one that is not, of each command; values out of bounds."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    commands, _ = docs.program()
    for name, (options, _) in commands.items():
        words = name.split()
        text = docs.helped(*words).split("\n\n", 1)[1]
        unsaid = {o for o in options - PLAIN if not re.search(rf"^  .*{o}\b", text, re.M)}
        equal(unsaid, set(), f"options of {name} that its help says nothing of")
        true(max(map(len, text.splitlines())) <= 88, f"help of {name} is too wide")
        equal(said(2, *words, "--bogus"), "nswapctl: '--bogus' is no option of this command",
              name)
    for line, sentence in WRONG:
        true(sentence in said(2, *line.split()), f"{line}: {said(2, *line.split())}")
    true("nswap.conf(5)" in said(1, "check", "--file", "/nowhere"), "no word on what to write")
    as_nobody()
