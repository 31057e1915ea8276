# SPDX-License-Identifier: GPL-2.0
"""What the completions of bash and zsh offer for an argument is what the command takes."""
from nswaptest.check import equal
from nswaptest.scenario import ROOT

DESCRIPTION = "completed arguments are accepted"
SUITES = ("lab",)
NEEDS = ("module", "progs", "zsh")

# what is offered behind "nswapctl WORD ", a line each
ASK = {"bash": ("nswapctl", """
. "$1"
COMP_WORDS=(nswapctl "$2" "") COMP_CWORD=2
_nswapctl
printf '%s\\n' "${COMPREPLY[@]}"
"""), "zsh": ("_nswapctl", """
compadd() { print -rl -- $@ }
words=(nswapctl $2 '') CURRENT=3
. $1
""")}


def offered(node, shell, word):
    """What a shell offers behind a command, options left out."""
    name, script = ASK[shell]
    path = node.prog("nswapctl").rpartition("/")[0]
    said = node.run(["env", f"PATH={path}:/usr/bin:/bin", shell, "-c", script, shell,
                     ROOT / "tools/nswapctl/completion" / name, word]).out
    return [line for line in said.splitlines() if line and not line.startswith("-")]


def test_weight(t):
    """Addresses of peers, of both families; of none that is listed and was never heard."""
    cluster = t.cluster(2)
    for family, unheard in (("addr", "10.77.0.99"), ("addr6", "fd77::99")):
        for node in cluster:
            node.up(lend="4M", addr=getattr(node, family), peers=unheard)
        cluster.wait_connected()
        ip = getattr(cluster[1], family)
        want = [f"[{ip}]:9611" if ":" in ip else f"{ip}:9611"]
        for shell in ASK:
            equal(offered(cluster[0], shell, "weight"), want, f"what {shell} offers")
        cluster[0].ctl("weight", *want, 200)
        for node in cluster:
            node.down()
