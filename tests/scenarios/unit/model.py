# SPDX-License-Identifier: GPL-2.0
"""The model of a slot and its moves, every reachable state of it.

The configurations together cover what tests/model/move.pml has; all of it at
once has too many states.  Taking one rule away must be noticed: that shows
that the model looks at it.
"""
import re
import subprocess

from nswaptest.check import Failure, at_least, equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "spin: page-out, page-in, free, move, claim, comparison, cuts"
SUITES = ("model",)
NEEDS = ("spin", "gcc")
TIMEOUT = 1200

MODEL = ROOT / "tests/model/move.pml"
HEADER = ROOT / "nswap/pure/slot_map.h"

CONFIGURATIONS = {
    "bounce": "READS MOVES=3 ASKS=1",
    "rewrite": "READS GENS=2 FREES=1",
    "rewrite_more": "GENS=3 FREES=1",
    "compare": "GENS=2 FREES=1 ASKS=1",
    "cut": "READS MOVES=2 BREAKS=1",
    "cut_twice": "MOVES=2 BREAKS=2",
    "cut_rewrite": "GENS=2 FREES=1 BREAKS=1",
    "reboot": "READS GENS=2 REBOOTS=1",
    "reboot_move": "READS MOVES=2 REBOOTS=1",
    "home": "WITH_HOME READS GENS=2 MOVES=2",
    "home_cut": "WITH_HOME READS MOVES=2 BREAKS=1",
    "home_reboot": "WITH_HOME GENS=2 FREES=1 REBOOTS=1",
    "drain_home": "WITH_HOME DRAIN MOVES=2 BREAKS=1",
    "drain": "DRAIN MOVES=2 BREAKS=1",
    "drain_free": "DRAIN FREES=1 BREAKS=1",
    "drain_reboot": "DRAIN FREES=1 REBOOTS=1",
}

# the rule taken away, and a configuration that has to notice
MUTATIONS = {
    "NO_GEN_CHECK": "READS GENS=2 MOVES=2",
    "EARLY_FREE": "MOVES=1",
    "ACK_BEFORE_STORE": "MOVES=1",
    "NO_LIST_NUMBER": "MOVES=2 BREAKS=1",
    "ANY_ATTEMPT": "MOVES=2 BREAKS=1",
    "LIVE_ORPHAN": "MOVES=2 BREAKS=1",
    "WRITING_DROP": "MOVES=1",
    "MOVING_DROP": "MOVES=3",
    "HOME_RACE": "WITH_HOME GENS=2",
    "EARLY_RETURN": "WITH_HOME MOVES=1",
    "NO_RECHECK": "READS MOVES=2",
    "PARKED_FAILS": "READS MOVES=1 BREAKS=1",
}


def build(folder, options, optimise):
    """Make the checker of one configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    defines = [f"-D{o}" for o in options.split()]
    for command in (["spin", "-a", *defines, str(MODEL)],
                    ["gcc", optimise, "-DSAFETY", "-DCOLLAPSE", "-DNOREDUCE",
                     "-DMEMLIM=3500", "-o", "pan", "pan.c"]):
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Failure(f"{' '.join(command[:2])}: exit code "
                          f"{done.returncode}: {done.stdout}{done.stderr}")


def check(t, name, options, optimise="-O1"):
    """Run the checker: (errors, states, its whole text)."""
    folder = t.dir / name
    build(folder, options, optimise)
    done = subprocess.run(["nice", "-n", "10", "./pan", "-n", "-m1000000"],
                          cwd=folder, capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    (folder / "output").write_text(text)
    errors = re.search(r"errors: (\d+)", text)
    states = re.search(r"(\d+) states, stored", text)
    true(errors and states, f"{name}: no result, see {folder}/output")
    true("max search depth too small" not in text and
         "out of memory" not in text and
         (int(errors[1]) or "Search not completed" not in text),
         f"{name}: not searched to the end, see {folder}/output")
    t.log(f"{name}: {options}: {errors[1]} errors, {states[1]} states")
    return int(errors[1]), int(states[1]), text


def test_states(t):
    """The C header and the model name the same states, but for flash: what
    is there does not move between nodes."""
    header = re.search(r"enum nswap_slot_state \{(.*?)\}", HEADER.read_text(),
                       re.S)[1]
    model = re.search(r"mtype:slot = \{(.*?)\}", MODEL.read_text(), re.S)[1]
    equal(set(re.findall(r"\w+", model)) | {"NR", "FLASH"},
          set(re.findall(r"NSWAP_SLOT_(\w+)", header)), "the model's states")


def test_search(t):
    """Every configuration, every state, no error."""
    for name, options in CONFIGURATIONS.items():
        errors, states, text = check(t, name, options)
        wrong = re.search(r"pan:1: (.*)", text)
        at_least(states, 1000, f"{name}: states")
        t.sub(name, not errors, wrong[1] if wrong else "")


def test_mutations(t):
    """Each rule taken away is noticed."""
    for name, options in MUTATIONS.items():
        errors, _, _ = check(t, name, f"{options} MUT_{name}", "-O0")
        t.sub(f"without_{name.lower()}", bool(errors),
              "" if errors else "the model does not notice")
