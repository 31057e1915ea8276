#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is written about nswapctl is what it can do, and all of it.

The program's own --help is the measure. Each command, option and fixed word
(policy [place|size]) has to stand in the table of docs/commands.md, in the
manual page and in the completions, and these may have none that the program lacks.
The page's knobs are in the module's table, with the same default and unit.

usage: interface.py      run from the top of the tree, with build/nswapctl built
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

PROGRAM = "build/nswapctl"
COMPLETIONS = {"bash": "tools/nswapctl/completion/nswapctl",
               "zsh": "tools/nswapctl/completion/_nswapctl"}
MANUAL = "tools/nswapctl/nswapctl.8"
PAGE = "docs/commands.md"

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# fixed words to choose from: place|size|read, show | on | off
CHOICE = re.compile(r"(?<![\w|])[a-z]+(?: ?\| ?[a-z]+)+")
KNOB = re.compile(r"\bX\((\w+),([^,]+),([^,]+),([^,]+),([^;]*?)\)(?: \\|$)", re.S | re.M)


def run(*words):
    """What a program prints."""
    return subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout


def parts_of(text):
    """The options and fixed words in a piece of usage."""
    found = set(OPTION.findall(text))
    for choice in CHOICE.findall(text):
        found.update(word.strip() for word in choice.split("|"))
    return found


def in_program():
    """{command: its parts} and the options of all commands, from --help."""
    text = run(PROGRAM, "--help")
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  +\S", text, re.M)
    commands = {}
    for name in names:
        usage = run(PROGRAM, *name.split(), "--help").split("\n\n", 1)[0]
        commands[name] = parts_of(usage.split(name, 1)[1])
    return commands, set(re.findall(r"^  (--[a-z]+)", text, re.M))


def command_of(words, commands):
    """The command that a usage begins with, and the rest; or None."""
    for name in sorted(commands, key=len, reverse=True):
        if words == name or words.startswith(name + " "):
            return name, words[len(name):]
    return None


def gather(usages, commands):
    """({command: parts}, usages that no command has) of a list of usages."""
    found, unknown = {}, []
    for usage in usages:
        known = command_of(usage, commands)
        if known:
            found.setdefault(known[0], set()).update(parts_of(known[1]))
        else:
            unknown.append(usage)
    return found, unknown


def section(text, title):
    """A page's part below a heading of the second rank."""
    return re.split(r"^## ", text.split(f"## {title}\n", 1)[1], flags=re.M)[0]


def rows_of(text):
    """The cells of each row of a page's tables, heads left out."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            yield [cell.strip().replace("\\|", "|") for cell in cells]


def in_page(text, commands):
    """As gather(), and the options named around the table."""
    part = section(text, "nswapctl")
    usages = []
    for cells in rows_of(part):
        usages += [code.removeprefix("nswapctl ")
                   for code in re.findall(r"`([^`]+)`", cells[0])]
    around = "\n".join(line for line in part.splitlines()
                       if not line.startswith("|"))
    return (*gather(usages, commands), set(OPTION.findall(around)))


def plain(line):
    """A line of the manual page without macros, fonts and quotes."""
    line = re.sub(r"\\f[A-Z]", "", line).replace("\\-", "-")
    if line.startswith("."):
        # arguments of a macro of two fonts are joined without blanks
        parts = re.findall(r'"([^"]*)"|(\S+)', line.partition(" ")[2])
        mixed = re.match(r"\.(BR|RB|BI|IB|IR|RI) ", line)
        return ("" if mixed else " ").join(a or b for a, b in parts)
    return line


def in_manual(text, commands):
    """As gather(), from the heads of its entries, and the global options."""
    lines = text.splitlines()
    usages, general, current, part = [], set(), "", ""
    for number, line in enumerate(lines):
        if line.startswith(".SH"):
            part = line[4:]
        if not line.startswith(".TP"):
            continue
        head, after = plain(lines[number + 1]), number + 2
        # .BR x " [" y ], with the rest of the usage on the next line
        while lines[after].startswith((".IR", ".RB")) and head.count("[") > \
                head.count("]"):
            head += " " + plain(lines[after])
            after += 1
        if part == "OPTIONS":
            general.update(OPTION.findall(head))
        elif part == "COMMANDS" and head.startswith("--"):
            usages.append(f"{current} {head}")
        elif part == "COMMANDS":
            usages.append(head)
            known = command_of(head, commands)
            current = known[0] if known else head
    return (*gather(usages, commands), general)


ASK = {"bash": r"""
nswapctl() { :; }
. "$1"
while IFS= read -r line; do
	read -ra COMP_WORDS <<< "$line"
	COMP_WORDS=(nswapctl "${COMP_WORDS[@]}")
	[[ $line != *' ' && -n $line ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_nswapctl
	echo "${COMPREPLY[*]}"
done
""", "zsh": r"""
nswapctl() { build/nswapctl "$@" }
compadd() { shift; offered+=(${(M)@:#$words[CURRENT]*}) }
_describe() {
	local each
	for each in ${(P)2}; do
		compadd -- ${each%%:*}
	done
}
_files() { : }
_message() { : }
fpath=(${1:h} $fpath)
autoload -Uz _nswapctl
while IFS= read -r line; do
	words=(nswapctl ${=line})
	[[ $line != *' ' && -n $line ]] || words+=("")
	CURRENT=$#words
	offered=()
	_nswapctl
	print -r -- $offered
done
"""}


def complete(shell, path, lines):
    """What a shell's completion offers for each command line."""
    out = subprocess.run([shell, "-c", ASK[shell], shell, path], check=True,
                         input="".join(f"{line}\n" for line in lines),
                         capture_output=True, text=True).stdout
    return [set(line.split()) for line in out.splitlines()]


def in_completion(shell, path, commands, general):
    """As gather(): what it offers behind each command, and the first words."""
    groups = {name.split()[0] for name in commands if " " in name}
    first, *_ = answers = complete(
        shell, path, ["", *(f"{g} " for g in sorted(groups))])
    unknown = sorted(first - general - {n.split()[0] for n in commands})
    found = {}
    for group, words in zip(sorted(groups), answers[1:]):
        for word in words:
            if f"{group} {word}" in commands:
                found[f"{group} {word}"] = set()
            else:
                unknown.append(f"{group} {word}")
    found |= {name: set() for name in commands if name in first}
    # an argument may have to stand in front of options
    for name in found:
        words, dashes, later = complete(
            shell, path, [f"{name} ", f"{name} --", f"{name} x --"])
        offered = {w for w in words if re.fullmatch(r"[a-z]+|--[a-z-]+", w)}
        found[name] = (offered | dashes | later) - general
    return found, unknown, first & general


def compare(where, commands, general, described):
    """Sentences on what is missing, and on what is too much."""
    found, unknown, globals_found = described
    said = [f"{where}: '{usage}' is no command" for usage in unknown]
    for name, parts in commands.items():
        if name not in found:
            said.append(f"{where}: nothing on '{name}'")
            continue
        said += [f"{where}: '{name}' lacks {part}"
                 for part in sorted(parts - found[name] - general)]
        said += [f"{where}: '{name}' has no {part}"
                 for part in sorted(found[name] - parts - general)]
    said += [f"{where}: nothing on {option}"
             for option in sorted(general - globals_found)]
    return said


def knob_unit(name, help_text, low, high):
    """The unit that the page is to give, by a knob's name and bounds."""
    if (low, high) == (0, 1):
        return "0, 1"
    if "percent points" in help_text:
        return "% points"
    for ending, unit in (("_mib_s", "MiB/s"), ("_ms", "ms"), ("_s", "s"),
                         ("_mib", "MiB"), ("_pct", "%")):
        if name.endswith(ending):
            return unit
    return ""


def number(text):
    """A bound or default as C has it; None if it is a name."""
    text = text.strip()
    if re.fullmatch(r"[\d\s*<]+", text):
        left, shift, right = text.partition("<<")
        product = 1
        for factor in left.split("*"):
            product *= int(factor)
        return product << int(right) if shift else product
    return None


def module_knobs(text):
    """{name: (unit, default)} of the module's table."""
    return {name: (knob_unit(name, about, number(low), number(high)),
                   number(default))
            for name, low, high, default, about in
            KNOB.findall(text)}


def knob_complaints(page, manual, knobs):
    """What is wrong on knobs in the page's table, and defaults in the manual."""
    rows = [[cells[0].strip("`"), *cells[1:]]
            for cells in rows_of(section(page, "Knobs")) if cells[0] != "knob"]
    said = [f"{PAGE}: nothing on the knob {name}"
            for name in sorted(knobs.keys() - {cells[0] for cells in rows})
            if not name.startswith("fed_")]
    for cells in rows:
        name = cells[0]
        if name not in knobs:
            said.append(f"{PAGE}: there is no knob {name}")
            continue
        unit, default = knobs[name]
        if cells[2] != str(default):
            said.append(f"{PAGE}: {name} is {default} by default, not "
                        f"{cells[2]}")
        if cells[1] != unit:
            said.append(f"{PAGE}: {name} is in {unit}, not {cells[1]}")
    for name, default in re.findall(r"^\.B (\w+)\n\((\d+)\)", manual, re.M):
        if name not in knobs or str(knobs[name][1]) != default:
            said.append(f"{MANUAL}: {name} is not {default} by default")
    return said


PLANTED = {"bash": """
_nswapctl() {
	case "${COMP_WORDS[*]:1}" in
	"") COMPREPLY=(up down policy device halt --json) ;;
	"device ") COMPREPLY=(add del) ;;
	"device add --") COMPREPLY=(--size --json) ;;
	"up --") COMPREPLY=(--borrow --json) ;;
	"policy ") COMPREPLY=(place) ;;
	esac
}
""", "zsh": """
case "${words[2,-1]}" in
"") compadd -- up down policy device halt --json ;;
"device ") found=("add:a device" del); _describe command found ;;
"device add --") compadd -- --size --json ;;
"up --") compadd -- --borrow --json ;;
"policy ") compadd -- place ;;
esac
"""}


def completion_test(shell, commands, general):
    """What was planted in a shell's completion and is not found."""
    with tempfile.TemporaryDirectory() as folder:
        planted = pathlib.Path(folder, "_nswapctl")
        planted.write_text(PLANTED[shell], encoding="utf-8")
        said = compare("completion", commands | {"watch": set()}, general,
                       in_completion(shell, planted, commands, general))
    return [f"{shell} completion: {expected}" for expected in (
        "nothing on 'watch'", "'up' lacks --lend", "'up' has no --borrow",
        "'policy' lacks size", "'halt' is no command",
        "'device del' is no command") if not any(expected in s for s in said)]


def self_test():
    """Plant each violation once; every one must be found, and no other."""
    commands = {"up": {"--lend"}, "down": set(), "policy": {"place", "size"},
                "device add": {"--size"}}
    general = {"--json"}
    knobs = module_knobs('#define KNOBS(X) \\\n\tX(a_ms, 1, 60 * 60, 30, \\\n\t  "x") \\\n'
                         '\tX(trace, 0, 1, 0, "y")\n')
    page = ("## nswapctl\n`--json` everywhere\n| command | what |\n|---|---|\n"
              "| `nswapctl up [--lend SIZE]`, `down` | x |\n"
              "| `nswapctl policy [place\\|size NAME]` | x |\n"
              "| `nswapctl device add --size SIZE` | x |\n"
              "## Knobs\n| knob | unit | default | x |\n"
              "| `a_ms` | ms | 30 | x |\n| `trace` | 0, 1 | 0 | x |\n")
    manual = (".SH OPTIONS\n.TP\n.B \\-\\-json\nx\n.SH COMMANDS\n"
              '.TP\n.BI up " \\fR[\\fPoptions\\fR]\\fP"\n.RS\n.TP\n'
              '.BI \\-\\-lend " SIZE"\nx\n.RE\n.TP\n.B down\nx\n'
              '.TP\n.BR policy " [\\fBplace\\fP|\\fBsize\\fP \\fINAME\\fP]"\n'
              '.TP\n.BI "device add \\-\\-size" " SIZE"\n.B a_ms\n(30)\n')

    def said(page, manual):
        return (compare("page", commands, general,
                        in_page(page, commands)) +
                compare("manual", commands, general,
                        in_manual(manual, commands)) +
                knob_complaints(page, manual, knobs))

    missed = [f"(none, but it said: {s})" for s in said(page, manual)]
    for old, new, expected in (
            (", `down`", "", "nothing on 'down'"),
            ("`down`", "`down`, `halt`", "'halt' is no command"),
            ("[--lend SIZE]", "", "'up' lacks --lend"),
            ("[--lend SIZE]", "[--lend SIZE] [--b]", "'up' has no --b"),
            ("place\\|size", "place\\|read", "'policy' lacks size"),
            ("`--json`", "", "nothing on --json"),
            ("| ms |", "| s |", "a_ms is in ms"),
            ("| 30 |", "| 31 |", "a_ms is 30"),
            ("`trace`", "`b`", "no knob b"),
            ("| `trace` |", "| knob |", "nothing on the knob trace")):
        if not any(expected in s for s in
                   said(page.replace(old, new, 1), manual)):
            missed.append(f"page: {expected}")
    for old, new, expected in (
            (".B down", ".B halt", "nothing on 'down'"),
            ("lend", "borrow", "'up' has no --borrow"),
            ("\\-\\-json", "\\-\\-yaml", "nothing on --json"),
            ("(30)", "(31)", "a_ms is not 31")):
        if not any(expected in s for s in
                   said(page, manual.replace(old, new, 1))):
            missed.append(f"manual: {expected}")
    for shell in PLANTED:
        missed += completion_test(shell, commands, general)
    for what in missed:
        print(f"self-test: planted, not found: {what}")
    return bool(missed)


def main():
    if self_test():
        return 1
    commands, general = in_program()
    page = pathlib.Path(PAGE).read_text(encoding="utf-8")
    manual = pathlib.Path(MANUAL).read_text(encoding="utf-8")
    table = [text for text in tree.texts(tree.is_kernel).values()
             if "#define NSWAP_KNOBS(X)" in text]
    if len(commands) < 10 or len(table) != 1:
        print("cannot read the program's --help, or the module's knobs")
        return 1
    found = compare(PAGE, commands, general, in_page(page, commands))
    found += compare(MANUAL, commands, general, in_manual(manual, commands))
    for shell, path in COMPLETIONS.items():
        found += compare(path, commands, general,
                         in_completion(shell, path, commands, general))
    found += knob_complaints(page, manual, module_knobs(table[0]))
    print("\n".join(found) or
          f"{len(commands)} commands and their options are where they should be")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
