# SPDX-License-Identifier: GPL-2.0
"""The model of the exchange of keys, with an attacker who has the network.

docs/security.md, "The model", says what it covers.  As in model.py each rule taken away
must be noticed; what is not promised must be found, and what has to be possible as well.
"""
import re

from nswaptest.check import at_least, equal
from nswaptest.scenario import ROOT
from nswaptest.spin import MODELS, mutate, noticed, search

DESCRIPTION = "spin: exchange of keys and tags against a member, a stranger, a thief"
SUITES = ("model",)
NEEDS = ("spin", "gcc")
HERE = True
TIMEOUT = 600

MODEL = "keys.pml"
WIRE = ROOT / "nswap/pure/wire.h"

# what the attacker has: nothing, MEMBER: a member's key, STOLEN: another node's too
CONFIGURATIONS = {
    "stranger": "CLIENTS=2 SERVERS=2 FIRST_IS_A",
    "stranger_talk": "TALK SERVERS=2",
    "member": "MEMBER CLIENTS=2 SERVERS=2 FIRST_IS_A",
    "member_talk": "MEMBER TALK CLIENTS=2",
    "member_talk_twice": "MEMBER TALK SERVERS=2 NUMBERS=3",
    "revoked": "MEMBER REVOKE TALK SERVERS=2",
    "revoked_clients": "MEMBER REVOKE CLIENTS=2",
    "stolen": "MEMBER STOLEN CLIENTS=2",
    "stolen_talk": "MEMBER STOLEN TALK SERVERS=2",
    "late": "MEMBER LATE CLIENTS=2",
    "late_stolen": "MEMBER LATE STOLEN",
    "shared": "SHARED CLIENTS=2",
    "shared_late": "SHARED LATE CLIENTS=2",
    "shared_listens": "SHARED MEMBER LISTENS LATE SERVERS=2 FIRST_IS_A",
    "half_found_listens": "MEMBER HALF_FOUND LISTENS SERVERS=2",
}

# a rule taken away that has another one behind it
SPARE = {
    "ticket_not_mixed": "MEMBER SERVERS=2 SPARE_TICKET_NOT_MIXED",
    "ticket_not_compared": "MEMBER SERVERS=2 SPARE_TICKET_NOT_COMPARED",
    "weak_points": "MEMBER STOLEN CLIENTS=2 SPARE_WEAK",
}

# the rule taken away, and a configuration that has to notice
MUTATIONS = {
    "NO_ONCE": "MEMBER LATE",
    "NO_CLIENT_KEY": "MEMBER",
    "NO_SERVER_KEY": "MEMBER",
    "NO_GREET": "MEMBER",
    "NO_HELLO": "MEMBER",
    "NO_CLUSTER": "SHARED",
    "NO_MAC": "",
    "NO_LIST": "MEMBER",
    "ANY_ID": "MEMBER",
    "NO_TICKET": "SERVERS=2",
    "SAME_ONCE": "CLIENTS=2",
    "NO_HELLO_TAG": "MEMBER",
    "NO_WELCOME_TAG": "",
    "ONE_LABEL": "",
    "BARE_WELCOME": "",
    "GREET_BELIEVED": "",
    "NO_DIRECTION": "TALK",
    "NO_NUMBER": "TALK",
    "NO_DIGEST": "TALK",
    "NO_AGAIN": "MEMBER REVOKE TALK",
    "AGAIN_FIRST": "MEMBER REVOKE TALK",
    "HALF_STAYS": "MEMBER REVOKE",
    "KEEP_HALF": "MEMBER LATE",
    "KEEP_ONCE": "MEMBER LATE",
}

# docs/security.md says that these are not promised
NOT_PROMISED = {
    "shared_member": "SHARED MEMBER",
    "half_found": "MEMBER HALF_FOUND",
}

SEEN = {
    "talk": "TALK SEEN_TALK",
    "crossed": "CLIENTS=2 SERVERS=2 SEEN_CROSSED",
    "revoked": "MEMBER REVOKE SEEN_REVOKED",
}


def fields(text, name, pattern):
    """Names of the fields of a struct, or of a typedef of the model."""
    body = re.search(rf"{name} \{{(.*?)\}}", text, re.S)[1]
    return set(re.findall(pattern, body))


def test_names(t):
    """Messages have the fields of the C structs, steps the names of functions that are
    there; labels are all different."""
    model = "".join((MODELS / name).read_text() for name in (MODEL, "keys_terms.pml"))
    wire = WIRE.read_text()
    member = r"(?:__le\d+|u8) (\w+)"
    keys = fields(wire, "struct nswap_wire_keys", member)
    equal(keys, {"once", "own", "tag", "mac"}, "what the model knows of keys")
    for name in ("greet", "hello"):
        said = fields(wire, f"struct nswap_wire_{name}", member) - {"reserved"}
        equal(fields(model, f"typedef {name}", r"byte (\w+)"), said | {"once", "own"},
              name)
    equal(fields(wire, "struct nswap_wire_welcome", member), {"features"}, "welcome")
    code = "".join(path.read_text() for path in (ROOT / "nswap").rglob("*.c"))
    named = set(re.findall(r"\b(nswap_\w+|exchange_\w+)\(\)", model))
    equal({name for name in named if not re.search(rf"^[\w *]*\b{name}\(", code, re.M)},
          set(), "functions that are not in nswap/")
    at_least(len(named), 8, "functions that the model names")
    labels = re.findall(r'"(nswap [^"]*)"', "".join(
        path.read_text() for path in (ROOT / "nswap/keys").glob("*.c")))
    equal(len(labels), len(set(labels)), "labels are used once")


def test_search(t):
    """Every configuration, every state, no error."""
    search(t, MODEL, CONFIGURATIONS, states_at_least=100, optimise="-O0")


def test_spare(t):
    """A rule taken away that another one makes up for: no error."""
    search(t, MODEL, SPARE, states_at_least=100, optimise="-O0")


def test_mutations(t):
    """Each rule taken away is noticed."""
    mutate(t, MODEL, MUTATIONS)


def test_not_promised(t):
    """What docs/security.md leaves out is found."""
    noticed(t, MODEL, NOT_PROMISED)


def test_seen(t):
    """Exchanges, talks and revocations happen at all."""
    noticed(t, MODEL, SEEN)
