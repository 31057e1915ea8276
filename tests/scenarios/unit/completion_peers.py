# SPDX-License-Identifier: GPL-2.0
"""What completions make of the list of peers, with a program in place of nswapctl."""
import json
import subprocess

from nswaptest.check import equal
from nswaptest.scenario import ROOT, sibling

asked = sibling("completion")

DESCRIPTION = "peers that were never heard, which 'weight' refuses, are not offered to it"
SUITES = ("unit",)
NEEDS = ("bash", "zsh")
HERE = True
TIMEOUT = 60

NEVER, ID = "0" * 16, "3f2a9c0011223344"
PEERS = (("10.0.0.6", 9611, ID), ("10.0.0.7", 9611, NEVER), ("fd00::8", 9700, "1000000000000000"),
         ("fe80::9%eth0", 9611, "0000000000000001"), ("fd00::a", 9611, NEVER))
HEARD = ["10.0.0.6:9611", "[fd00::8]:9700", "[fe80::9%eth0]:9611"]


def run(t):
    """Addresses of those that were heard, of both families, in both shells."""
    listed = [{"index": i, "id": node, "epoch": node, "addr": ip, "port": port, "state": "up"}
              for i, (ip, port, node) in enumerate(PEERS)]
    lines = "\n".join(f"{i} {f'[{ip}]' if ':' in ip else ip}:{port} up"
                      for i, (ip, port, _) in enumerate(PEERS))
    program = t.dir / "nswapctl"
    program.write_text(f"""#!/bin/sh
case "$*" in
"--json peers") cat <<'END' ;;
{json.dumps(listed, indent=2)}
END
peers) cat <<'END' ;;
INDEX ADDRESS STATE
{lines}
END
esac
""")
    program.chmod(0o755)
    for shell, (name, script) in asked.ASK.items():
        said = subprocess.run([shell, "-c", script, shell,
                               ROOT / "tools/nswapctl/completion" / name, "weight"], check=True,
                              env={"PATH": f"{t.dir}:/usr/bin:/bin"}, capture_output=True,
                              text=True).stdout
        equal([line for line in said.splitlines() if line and not line.startswith("-")], HEARD,
              f"what {shell} offers")
