# SPDX-License-Identifier: GPL-2.0
"""The model of a slot and its moves, every reachable state of it.

The configurations together cover what tests/model/move.pml has; all of it at
once has too many states.  Taking one rule away must be noticed: that shows
that the model looks at it.
"""
import re

from nswaptest.check import equal
from nswaptest.scenario import ROOT
from nswaptest.spin import MODELS, mutate, search

DESCRIPTION = "spin: page-out, page-in, free, move, claim, comparison, cuts"
SUITES = ("model",)
NEEDS = ("spin", "gcc")
HERE = True
TIMEOUT = 1200

MODEL = "move.pml"
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


def test_states(t):
    """The C header and the model name the same states, but for flash: what
    is there does not move between nodes."""
    header = re.search(r"enum nswap_slot_state \{(.*?)\}", HEADER.read_text(),
                       re.S)[1]
    model = re.search(r"mtype:slot = \{(.*?)\}", (MODELS / MODEL).read_text(), re.S)[1]
    equal(set(re.findall(r"\w+", model)) | {"NR", "FLASH"},
          set(re.findall(r"NSWAP_SLOT_(\w+)", header)), "the model's states")


def test_search(t):
    """Every configuration, every state, no error."""
    search(t, MODEL, CONFIGURATIONS)


def test_mutations(t):
    """Each rule taken away is noticed."""
    mutate(t, MODEL, MUTATIONS)
