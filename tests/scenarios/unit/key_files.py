# SPDX-License-Identifier: GPL-2.0
"""Files with keys and lists of members, as nswapctl key makes and changes them."""
import json
import subprocess

from nswaptest.check import equal
from nswaptest.scenario import ROOT

DESCRIPTION = "nswapctl key: no member is lost or comes back, whatever else changes the file"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

MEMBERS = 12


def command(*words):
    """A command about keys, which runs."""
    return subprocess.Popen([ROOT / "build/nswapctl", "--json", "key", *words], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def key(*words):
    """What a command about keys prints."""
    running = command(*words)
    out, error = running.communicate(timeout=20)
    equal((running.returncode, error), (0, ""), f"exit code, errors of {words}")
    return json.loads(out) if out else None


def build():
    """nswapctl."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)


def names(path):
    """The members in a file."""
    return sorted(member["name"] for member in key("list", path))


def test_at_once(t):
    """Many that change one file at the same time: all of it is there."""
    build()
    publics = [key("generate", t.dir / f"key{n}")["public"] for n in range(MEMBERS)]
    path = t.dir / "members"
    key("trust", path, "first", publics[0])
    running = [command("trust", path, f"m{n:02}", publics[n]) for n in range(1, MEMBERS)]
    for one in running:
        equal((one.communicate(timeout=60)[1], one.returncode), ("", 0), "errors, exit code")
    equal(names(path), ["first", *(f"m{n:02}" for n in range(1, MEMBERS))], "members")
    running = [command("revoke", path, f"m{n:02}") for n in range(1, MEMBERS)]
    for one in running:
        equal((one.communicate(timeout=60)[1], one.returncode), ("", 0), "errors, exit code")
    equal(names(path), ["first"], "members that are left")


def test_link(t):
    """A link to a list stays one, and the list has what was changed by that name."""
    build()
    path, link = t.dir / "list", t.dir / "link"
    publics = [key("generate", t.dir / f"of{n}")["public"] for n in range(2)]
    key("trust", path, "one", publics[0])
    link.symlink_to(path.name)
    key("trust", link, "two", publics[1])
    equal((link.is_symlink(), names(path)), (True, ["one", "two"]), "a link, the members")
    key("revoke", link, "one")
    equal((link.is_symlink(), names(path)), (True, ["two"]), "a link, the members left")


def test_names(t):
    """A name is what has neither spaces nor '#', in any alphabet."""
    build()
    path, public = t.dir / "named", key("generate", t.dir / "of")["public"]
    for wrong in ("a b", "a\tb", "a#b", "\x01"):
        running = command("trust", path, wrong, public)
        error = running.communicate(timeout=20)[1]
        equal((running.returncode, "neither spaces nor" in error), (2, True), f"{wrong!r}: {error}")
    key("trust", path, "Düsseldorf-東", public)
    equal(names(path), ["Düsseldorf-東"], "the member's name")
    key("revoke", path, "Düsseldorf-東")
    equal(names(path), [], "members that are left")
