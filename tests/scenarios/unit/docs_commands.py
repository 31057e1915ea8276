# SPDX-License-Identifier: GPL-2.0
"""Commands in the documents that begin with nswapctl, against nswapctl's own --help.

Each has to be a command, its options have to be that command's, and where the first
argument is one of fixed words (policy [place|size|read]) it has to be one of them.
"""
import re
import subprocess

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "documents name no command and no option that nswapctl has not"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 60

PAGES = ("README.md", "docs/*.md", "dist/*.service", "bench/README.md")
OPTION = re.compile(r"--[a-z][a-z-]*")
CHOICE = re.compile(r"^\[?([a-z]+(?: ?\| ?[a-z]+)+)")
# a command ends at these, unless they are in a table's cell or stand for a choice
END = re.compile(r"\s(?:#|&&|;|\||<|>|or|\()(?:\s|$)|[;)]$")


def helped(*words):
    """What --help says."""
    return subprocess.run([ROOT / "build/nswapctl", *words, "--help"], check=True,
                          capture_output=True, text=True).stdout


def program():
    """({command: (its options, first words to choose from)}, options of all)."""
    text = helped()
    commands = {}
    for name in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  +\S", text, re.M):
        usage = helped(*name.split()).split("\n\n", 1)[0].split(name, 1)[1].strip()
        choice = CHOICE.match(usage)
        words = {w.strip() for w in choice[1].split("|")} if choice else set()
        commands[name] = (set(OPTION.findall(usage)), words)
    return commands, set(re.findall(r"(--[a-z]+)", text))


def commands_of(page):
    """(line, command) of all in a page: of its blocks, and in `backquotes`."""
    block = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.strip().startswith("```"):
            block = not block
        elif block or line.startswith("    ") or re.match(r"Exec\w+=", line):
            yield from ((number, part) for part in pieces(line))
        else:
            for code in re.findall(r"`([^`]*)`", line):
                yield from ((number, part) for part in pieces(code.replace("\\|", "|")))


def pieces(line):
    """The commands in a line of shell."""
    line = re.split(r"(?:^|\s)#\s", line)[0]
    for part in re.split(r"&&|;|\s\|\s(?=[a-z]+ -)", line):
        found = re.search(r"(?:^|\s|/)nswapctl (.+)", part)
        if found:
            yield END.split(found[1] + " ")[0].strip()


def wrong_with(command, commands, general):
    """A sentence, or None."""
    words = [w.strip("[]'\",.…") for w in command.split()]
    options = [o for w in words for o in OPTION.findall(w.split("=")[0])]
    skip, plain = False, []
    for word in words:
        if skip or not word or word.startswith("-"):
            skip = word == "--node"
            continue
        plain.append(word)
    if not plain or plain[0] == "COMMAND":
        unknown = [o for o in options if o not in general]
        return f"there is no {unknown[0]}" if unknown else None
    name = next((n for n in (" ".join(plain[:2]), plain[0]) if n in commands), None)
    if not name:
        group = len(plain) == 1 and any(n.startswith(plain[0] + " ") for n in commands)
        return None if group else "there is no such command"
    allowed, choice = commands[name]
    unknown = [o for o in options if o not in allowed | general]
    if unknown:
        return f"{name} has no {unknown[0]}"
    rest = plain[len(name.split()):]
    if choice and rest and re.fullmatch("[a-z]+", rest[0]) and rest[0] not in choice:
        return f"{name} takes one of {' '.join(sorted(choice))}, not {rest[0]}"
    return None


def wrong_in(page, commands, general):
    """[(line, command, what is wrong)] of a page, and how many commands it has."""
    all_there = list(commands_of(page))
    judged = [(n, c, wrong_with(c, commands, general)) for n, c in all_there]
    return [j for j in judged if j[2]], len(all_there)


# each of these has to be found
PLANTED = (
    ("```\nnswapctl up --borrow 1G\n```", "up has no --borrow"),
    ("`nswapctl halt`", "there is no such command"),
    ("`nswapctl device move`", "there is no such command"),
    ("text `nswapctl doctor --repair`, more", "doctor has no --repair"),
    ("```\nmodprobe nswap && nswapctl --jsn stat\n```", "stat has no --jsn"),
    ("```\n$ nswapctl policy speed 1\n```", "policy takes one of place read size, not speed"),
    ("| `nswapctl key forget FILE` | x |", "there is no such command"),
    ("    nswapctl --node 2 lend --all   # x", "lend has no --all"),
    ("ExecStart=/usr/sbin/nswapctl apply --now", "apply has no --now"),
)
FINE = ("`nswapctl COMMAND --help`", "`nswapctl --node 3 stat`", "`nswapctl key`",
        "```\nnswapctl policy place default --device nswap1\n```",
        "```\nnswapctl --json trace --follow > trace.json\n```",
        "```\nn0 nswapctl peers | grep up   # --all\n```", "`nswapctl up --peers A,B,…`")


def run(t):
    """What is planted is found, and nothing in the pages."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    commands, general = program()
    true(len(commands) > 20 and general >= {"--json", "--node", "--help", "--version"},
         f"--help says {sorted(commands)}, {general}")
    for page, what in PLANTED:
        equal([w for _, _, w in wrong_in(page, commands, general)[0]], [what], repr(page))
    for page in FINE:
        equal(wrong_in(page, commands, general)[0], [], repr(page))
    said, count = [], {}
    for path in sorted(p for pattern in PAGES for p in ROOT.glob(pattern)):
        name = str(path.relative_to(ROOT))
        found, count[name] = wrong_in(path.read_text(encoding="utf-8"), commands, general)
        said += [f"{name}:{n}: `nswapctl {c}`: {w}" for n, c, w in found]
    equal(said, [], "commands in documents")
    for name, least in (("README.md", 8), ("docs/commands.md", 20), ("docs/admin.md", 40), ("docs/usage.md", 40)):
        true(count[name] >= least, f"only {count[name]} commands were seen in {name}")
