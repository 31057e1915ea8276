# SPDX-License-Identifier: GPL-2.0
"""nswap-lend's command line: each option is in its help, its manual page, its completion
and the table of commands, and what makes no sense is refused in a sentence."""
import base64
import re
import subprocess

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "nswap-lend's options are told everywhere, and wrong ones refused"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

PUBLIC = base64.b64encode(b"9" * 32).decode()
OPTION = re.compile(r"--[a-z][a-z-]*")
WRONG = (
    (2, "--bogus", "'--bogus' is no option"),
    (2, "--lend", "'--lend' needs a value"),
    (2, "--lend 12x --open", "'12x' is no size"),
    (1, "--lend 5000 --open", "multiple of 4 KiB"),
    (2, "--lend 0 --open", "with --lend SIZE"),
    (2, "--open", "with --lend SIZE"),
    (1, "--lend 1M", "say --open"),
    (2, "--lend 1M --open --secret x", "--open is for a node without keys"),
    (2, "--lend 1M --key x", "go together"),
    (2, "--lend 1M --key x --members y --secret z", "goes with neither"),
    (1, "--lend 1M --secret /nowhere", "/nowhere: No such file"),
    (2, "--lend 1M --open --port 0", "'0' is no port, 1 to 65535"),
    (2, "--lend 1M --open --owner-max 101", "'101' is no percentage"),
    (2, "--lend 1M --open --lease 1", "'1' is no time, 5 to"),
    (2, "--lend 1M --open --peers ,", "names no address"),
    (2, "--lend 1M --open --addr nowhere", "'nowhere' is no address"),
    (2, "--lend 1M --open --addr 10.0.0.1:1 --port 2", "different ports"),
    (1, "--lend 1M --open --addr 0.0.0.0", "not the unspecified"),
    (2, "--lend 1M --open --json", "--json goes with --status"),
    (2, "--lend 1M --open more", "'more' is one argument too many"),
    (2, "--metrics --json", "--metrics goes with neither"),
    (2, "--metrics --status", "--metrics goes with neither"),
    (1, "--status --port 1", "no nswap-lend runs on port 1"),
)


def said(*words):
    """Exit code, and what it says of a command line."""
    done = subprocess.run([ROOT / "build/nswap-lend", *words], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    return done.returncode, done.stdout, done.stderr


def other_files(folder):
    """A file without the key that is asked for is refused with a command that makes one: with
    what it makes the refusal is another one."""
    key, secret, members = (folder / name for name in ("key", "secret", "members"))
    for path, text in ((key, "key"), (secret, "cluster"), (members, "member me")):
        path.write_text(f"{text} {base64.b64encode(bytes(range(32))).decode()}\n")
        path.chmod(0o600)
    for number, (options, wrong, asked) in enumerate((
            ("--secret WRONG --lend 1M", key, "secret of a cluster"),
            (f"--key {key} --members WRONG --lend 1M", members, "secret of a cluster"),
            (f"--key WRONG --members {folder / 'made1'} --lend 1M", secret, "key of a node"))):
        code, _, error = said(*options.replace("WRONG", str(wrong)).split())
        made = folder / f"made{number}"
        sentence, _, command = error.partition(", make another file with: nswapctl ")
        equal((code, sentence), (1, f"nswap-lend: {wrong} has no {asked}"), options)
        words = command.replace("FILE", str(made)).replace("NAME PUBLIC", f"me {PUBLIC}").split()
        subprocess.run([ROOT / "build/nswapctl", *words], check=True, stdout=subprocess.DEVNULL)
        _, _, error = said(*options.replace("WRONG", str(made)).split(), "--addr", "0.0.0.0")
        true("not the unspecified" in error, f"{options} with the file of {command}: {error}")


def run(t):
    """All options, in all places; values out of bounds."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswap-lend", "nswapctl"], check=True)
    other_files(t.dir)
    code, text, _ = said("--help")
    options = set(OPTION.findall(text))
    true(code == 0 and len(options) > 15, f"--help ends with {code}: {options}")
    true(max(map(len, text.splitlines())) <= 88, "its help is too wide")
    source = (ROOT / "tools/nswap-lend/options.c").read_text()
    known = {"--" + name for name in re.findall(r'^\t{ "([a-z-]+)", ', source, re.M)}
    equal(options ^ (known - {"--help", "--version"}), set(), "options that help does not tell")
    page = (ROOT / "tools/nswap-lend/nswap-lend.8").read_text().replace("\\-", "-")
    row = "".join(x for x in (ROOT / "docs/commands.md").read_text().splitlines()
                  if x.startswith("| `nswap-lend"))
    completion = (ROOT / "tools/nswap-lend/completion/nswap-lend").read_text()
    equal(known - set(OPTION.findall(page)), set(), "options that are not in the manual")
    equal(options - set(OPTION.findall(row)), set(), "options not in docs/commands.md")
    equal(known - set(OPTION.findall(completion)), set(), "options not completed")
    for code, line, sentence in WRONG:
        got, out, error = said(*line.split())
        true((got, out) == (code, "") and sentence in error and
             error.count("\n") == (2 if code == 2 else 1), f"{line}: {got}, {error!r}")
