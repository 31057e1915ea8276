# SPDX-License-Identifier: GPL-2.0
"""The models of protection and of droppable pages, every reachable state.

docs/protection.md is what they model, and has the invariants by number.  As in
model.py the configurations together cover a model, and each rule taken away
must be noticed.
"""
import re

from nswaptest.check import equal
from nswaptest.scenario import ROOT
from nswaptest.spin import MODELS, mutate, search

DESCRIPTION = "spin: two copies, groups with parity, repair, drops"
SUITES = ("model",)
NEEDS = ("spin", "gcc")
HERE = True
TIMEOUT = 1200

HEADER = ROOT / "nswap/pure/slot_map.h"

MIRROR = {
    "rewrite": "GENS=2 FREES=1 READS REFUSALS=1",
    "cut": "GENS=2 BREAKS=1",
    "cut_free": "GENS=1 FREES=1 BREAKS=2",
    "deaths": "GENS=1 REBOOTS=2 READS REFUSALS=1",
    "death_rewrite": "GENS=2 REBOOTS=1",
    "deaths_cut": "GENS=1 REBOOTS=2 BREAKS=1",
    "move": "GENS=1 MOVES=2 READS",
    "move_cut": "GENS=1 MOVES=1 BREAKS=1 READS",
    "move_free": "GENS=1 MOVES=1 FREES=1",
    "move_deaths": "GENS=1 MOVES=1 REBOOTS=2",
    "move_rewrite": "GENS=2 MOVES=1",
    "drop_move": "GENS=1 DROPS=1 MOVES=1",
    "drop_cut": "GENS=1 DROPS=1 BREAKS=1",
    "drop_death": "GENS=1 DROPS=1 REBOOTS=1",
    "alone": "GENS=1 ALONE=2 REFUSALS=1 READS",
    "alone_move": "GENS=1 ALONE=1 MOVES=1 READS",
    "alone_cut": "GENS=1 ALONE=1 BREAKS=1",
    "alone_death": "GENS=1 ALONE=1 REBOOTS=1",
    "alone_free": "GENS=2 ALONE=1 FREES=1",
    "off_move": "GENS=1 OFF MOVES=1 BREAKS=1",
    "off_rewrite": "GENS=2 OFF BREAKS=1",
}

PARITY = {
    "rewrite": "OUTS=4",
    "free": "OUTS=3 FREES=1",
    "refuse": "OUTS=3 REFUSALS=1",
    "death": "OUTS=2 FREES=1 KILLS=1 READS",
    "deaths": "OUTS=2 KILLS=2",
    "move": "OUTS=2 MOVES=1 KILLS=1 READS",
    "move_rewrite": "OUTS=3 MOVES=1",
}

DROP = {
    "droppable": "GENS=3",
    "normal": "GENS=3 NORMAL",
}

# the rule taken away, and a configuration that has to notice
MIRROR_MUTATIONS = {
    "FIRST_ACK": "GENS=1 BREAKS=1",
    "ENDS_ON_DEAD": "GENS=1 REBOOTS=1 REFUSALS=1",
    "FREE_ONE": "GENS=1 FREES=1",
    "ANY_TARGET": "GENS=1 MOVES=1",
    "DROP_UNASKED": "GENS=1 DROPS=1 REBOOTS=1",
    "PLAIN_FREE": "GENS=1 OFF MOVES=1",
    "ALONE_FREE": "GENS=1 ALONE=1",
    "REPAIR_ANY_GEN": "GENS=2 REFUSALS=2",
    "REPAIR_RESTAMPS": "GENS=2 REBOOTS=1",
    "REPAIR_ANY_PLACE": "GENS=1 REBOOTS=2 BREAKS=1",
    "NO_GEN_CHECK": "GENS=2 REBOOTS=1",
    "NO_LIST_NUMBER": "GENS=1 MOVES=1 BREAKS=1",
    "LOAD_ANY_GEN": "GENS=2 READS",
}

PARITY_MUTATIONS = {
    "FREE_DEAD": "OUTS=3 KILLS=1",
    "XOR_AT_SEND": "OUTS=2 REFUSALS=1 KILLS=1",
    "DROP_BUFFER": "OUTS=2 KILLS=1",
    "SAME_NODE": "OUTS=2",
    "CLEAN_UNFENCED": "OUTS=4",
    "EARLY_FREE": "OUTS=3",
    "REBUILD_OPEN": "OUTS=2 KILLS=1",
    "READ_NO_LIST": "OUTS=2 KILLS=1 READS",
}

DROP_MUTATIONS = {
    "DROPPED_ANY_GEN": "GENS=3",
    "DROPPED_IS_EMPTY": "GENS=3",
    "DROPS_NORMAL": "GENS=3 NORMAL",
    "LOAD_ANY_GEN": "GENS=3",
    "FREE_ANY_GEN": "GENS=3 NORMAL",
}


def test_states(t):
    """The models' slots have states that the C header has."""
    header = re.search(r"enum nswap_slot_state \{(.*?)\}", HEADER.read_text(),
                       re.S)[1]
    known = set(re.findall(r"NSWAP_SLOT_(\w+)", header))
    for model in ("mirror", "parity", "drop"):
        states = re.search(r"mtype:slot = \{(.*?)\}",
                           (MODELS / f"{model}.pml").read_text(), re.S)[1]
        equal(set(re.findall(r"\w+", states)) - known, set(), model)


def test_mirror(t):
    """Two copies: every configuration, every state, no error."""
    search(t, "mirror.pml", MIRROR)


def test_mirror_mutations(t):
    """Two copies: each rule taken away is noticed."""
    mutate(t, "mirror.pml", MIRROR_MUTATIONS)


def test_parity(t):
    """Groups: every configuration, every state, no error."""
    search(t, "parity.pml", PARITY)


def test_parity_mutations(t):
    """Groups: each rule taken away is noticed."""
    mutate(t, "parity.pml", PARITY_MUTATIONS)


def test_drop(t):
    """Droppable pages: every configuration, every state, no error."""
    search(t, "drop.pml", DROP, states_at_least=100)


def test_drop_mutations(t):
    """Droppable pages: each rule taken away is noticed."""
    mutate(t, "drop.pml", DROP_MUTATIONS)
