# SPDX-License-Identifier: GPL-2.0
"""Each check of the doctor on a copy of a machine's files: a bad one, a good one.

What is copied is a dict of paths and texts; a case changes some of it, None leaves a
file out.
"""
import json
import os
import subprocess

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "nswapctl doctor: each check finds what is wrong, and only that"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

NODE = ("node id epoch addr port netns conns broadcast place lent held\n"
        "1 0123456789abcdef 0123456789abcdef 10.0.0.5 9611 1 3 1 two-choices 0 0\n")
PEERS = "node peer id epoch addr port state leaving fresh listed lent free used\n"
PEER = "1 1 1 1 10.0.0.7 9611 up 0 1 0 524288 0 0\n"
DEVICES = "node device instance slots remote lost map_bytes in_use at_home home\n"
DEVICE = "1 nswap0 1 262144 0 0 2097152 1 0 -\n"
STATS = "node counter value\n1 pages_out 9\n1 write_errors {}\n1 read_errors 0\n"
ROUTES = ("Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
          "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
          "wan0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
SWAPS = ("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
         "/dev/nswap0 partition 1048572 {used} {ours}\n"
         "/dev/sda2 partition 1048572 0 {other}\n")
OTHER = "/dev/sdb2 partition 1048572 0 {}\n"
EFI = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
MODULE = "/lib/modules/6.1.0/updates/nswap.ko"
BOND = "/sys/class/net/eth0/bonding/"
GROUP = "/sys/fs/cgroup/user/web/memory."
CONF = "/etc/nswap/nswap.conf"
KEYS = {CONF: "[node]\nsecret = /etc/nswap/other\n", "/etc/nswap/other": "cluster x\n"}

WELL = {
    "/proc/nswap/node": NODE, "/proc/nswap/peers": PEERS + PEER,
    "/proc/nswap/devices": DEVICES + DEVICE, "/proc/net/route": ROUTES,
    "/proc/swaps": SWAPS.format(used=0, ours=100, other=-2),
    "/proc/meminfo": "MemTotal:       16000000 kB\nMemFree: 1 kB\n",
    "/proc/sys/vm/min_free_kbytes": "250000\n",
    "/proc/sys/vm/page-cluster": "3\n",
    "/proc/sys/net/ipv4/tcp_mem": "188640\t251520\t377280\n",
    "/proc/sys/kernel/osrelease": "6.1.0\n",
    "/proc/pressure/memory": "some avg10=0.00\n",
    "/boot/config-6.1.0": "CONFIG_SWAP=y\nCONFIG_MEMCG=y\nCONFIG_PSI=y\n",
    "/sys/module/zswap/parameters/enabled": "N\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/class/net/eth0/mtu": "1500\n", "/sys/class/net/wan0/mtu": "1280\n",
    GROUP + "max": "33554432\n", GROUP + "swap.max": "max\n",
    "/sys/kernel/security/lockdown": "[none] integrity confidentiality\n",
    EFI: "\6\0\0\0\0", MODULE: "ELF",
    "/commands/nft": "table inet filter { # handle 1\n\tchain input { # handle 2\n"
                     "\t\ttype filter hook input priority filter; policy accept;\n"
                     "\t\ttcp dport 22 drop # handle 3\n\t}\n}\n",
    "/commands/timedatectl": "NTP=yes\nNTPSynchronized=yes\n",
}
DROPPING = WELL["/commands/nft"].replace("policy accept", "policy drop")


def rule(text):
    """The firewall's rules with this one."""
    return {"/commands/nft": WELL["/commands/nft"].replace("tcp dport 22 drop", text)}


def saved(text):
    """Rules of iptables, where there is no nft."""
    return {"/commands/nft": None,
            "/commands/iptables-save": f"*filter\n:INPUT ACCEPT [0:0]\n{text}\nCOMMIT\n"}


# rules that name the port and drop other packets, or some of those to it
SOME = ("tcp dport != 9611 drop", 'tcp dport 9611 accept comment "dropped before 2024"',
        "tcp dport 9611 ct state invalid drop", "tcp dport 9611 limit rate over 100/second drop",
        "tcp sport 53 udp dport 9611 drop")
SOME_SAVED = (
    "-A INPUT -p tcp -m tcp ! --dport 9611 -j DROP",
    "-A INPUT -p tcp -m tcp --dport 9611 -m conntrack --ctstate INVALID -j DROP",
    "-A INPUT -p tcp -m tcp --dport 9611 -m state --state INVALID -j DROP",
    '-A INPUT -p tcp -m tcp --dport 9611 -m comment --comment "not \\"dropped\\" now" -j ACCEPT',
    "-A INPUT -p tcp -m tcp --dport 9611 -m comment --comment dropped -j ACCEPT")

# (check, its level, what of its sentence, what of its command, what is changed)
BAD = (
    ("node", "problem", "no node is up", "nswapctl up", {"/proc/nswap/node": NODE.split("\n")[0]}),
    ("node", "problem", "not loaded", "modprobe nswap",
     {p: None for p in WELL if p.startswith("/proc/nswap")}),
    ("peers", "problem", "no announcement", "--peers", {"/proc/nswap/peers": PEERS}),
    ("udp port", "problem", "10.0.0.8:9611 is connected", "-p udp --dport 9611",
     {"/proc/nswap/peers": PEERS + PEER + PEER.replace("0.7", "0.8").replace("0 1 0 5", "0 0 0 5")}),
    ("firewall", "problem", "udp dport 9611 drop", "nft delete rule inet filter input handle 3",
     rule("udp dport 9611 drop")),
    ("firewall", "problem", 'comment "# handle 9, with a limit"', "input handle 3",
     rule('tcp dport 9611 drop comment "# handle 9, with a limit"')),
    ("firewall", "problem", "reject", "handle 3", rule("tcp dport { 22, 9611 } reject")),
    ("firewall", "problem", "--dport 9611", "iptables -D INPUT -p tcp",
     saved("-A INPUT -p tcp -m tcp --dport 9611 -j DROP")),
    ("firewall", "advice", "no rule names port 9611",
     "nft insert rule inet filter input meta l4proto", {"/commands/nft": DROPPING}),
    ("mtu", "advice", "eth0 has an MTU of 1400", "ip link set dev eth0 mtu 1500",
     {"/sys/class/net/eth0/mtu": "1400\n"}),
    ("mtu", "advice", "wan0 has an MTU of 1280", "ip link set dev wan0",
     {"/proc/nswap/peers": PEERS + PEER.replace("10.0.0.7", "10.0.1.7")}),
    ("mtu", "advice", "eth6 has an MTU of 1400", "dev eth6",
     {"/proc/nswap/node": NODE.replace("10.0.0.5", "fd00::5"),
      "/proc/net/ipv6_route": ("fd" + "0" * 30 + " 40 " + "0" * 32 + " 00 " + "0" * 32 +
                               " 00000100 00000001 00000000 00000001     eth6\n"),
      "/sys/class/net/eth6/mtu": "1400\n"}),
    ("bond", "advice", "eth0 picks a link by layer2,", f"echo layer3+4 > {BOND}xmit_hash_policy",
     {BOND + "mode": "802.3ad 4\n", BOND + "xmit_hash_policy": "layer2 0\n"}),
    ("bond", "advice", "bond0 picks a link by layer2,", "bond0/bonding",
     {"/sys/class/net/eth0/lower_bond0": "", **{
         f"/sys/class/net/bond0/bonding/{name}": text
         for name, text in (("mode", "balance-xor 2\n"), ("xmit_hash_policy", "layer2 0\n"))}}),
    ("room", "problem", "take 1 GiB of RAM at peers when they are full, the peers lend 4 KiB", "nswapctl lend",
     {"/proc/nswap/peers": PEERS + PEER.replace("524288", "1")}),
    ("lost pages", "problem", "7 pages", "restart",
     {"/proc/nswap/devices": DEVICES + DEVICE.replace("262144 0 0", "262144 0 7")}),
    ("lost pages", "problem", "of 7 pages that no peer holds at least 5 were on peers", "restart",
     {"/proc/nswap/devices": DEVICES + DEVICE.replace("262144 0 0", "262144 0 7"),
      "/proc/nswap/stats": STATS.format(2)}),
    ("lost pages", "problem", "7 page-outs failed", "nswapctl lend",
     {"/proc/nswap/devices": DEVICES + DEVICE.replace("262144 0 0", "262144 0 7"),
      "/proc/nswap/stats": STATS.format(7)}),
    ("swap priority", "problem", "/dev/sda2 has 5", "swapoff /dev/nswap0 && swapon -p 100",
     {"/proc/swaps": SWAPS.format(used=0, ours=-3, other=5)}),
    ("swap priority", "problem", "/dev/sdb2 has 200", "swapon -p 201 /dev/nswap0",
     {"/proc/swaps": SWAPS.format(used=0, ours=-3, other=5) + OTHER.format(200)}),
    ("swap priority", "problem", "/dev/sdb2 has 32767", "swapoff /dev/sdb2 && swapon -p 32766 "
     "/dev/sdb2 && swapoff /dev/nswap0 && swapon -p 32767 /dev/nswap0",
     {"/proc/swaps": SWAPS.format(used=0, ours=100, other=5) + OTHER.format(32767)}),
    ("memory reserve", "problem", "is 8192, 131072 is", "sysctl -w vm.min_free_kbytes=131072",
     {"/proc/sys/vm/min_free_kbytes": "8192\n"}),
    ("memory reserve", "problem", "with 30 peers may fill 184320 KiB", "=184320",
     {"/proc/sys/vm/min_free_kbytes": "131072\n", "/proc/nswap/peers": PEERS + 30 * PEER}),
    ("memory reserve", "problem", "can spare a 16th", "=5102",
     {"/proc/sys/vm/min_free_kbytes": "977\n", "/proc/meminfo": "MemTotal: 81636 kB\n",
      "/proc/nswap/peers": PEERS + 2 * PEER}),
    ("memory reserve", "advice", "more than an eighth", "=5102",
     {"/proc/sys/vm/min_free_kbytes": "16384\n", "/proc/meminfo": "MemTotal: 81636 kB\n",
      "/proc/nswap/peers": PEERS + 2 * PEER}),
    ("socket buffers", "advice", "with 30 peers may fill 184320 KiB, and net.ipv4.tcp_mem gives "
     "all connections of this machine 262144 KiB", "net.ipv4.tcp_mem='69120 92160 138240'",
     {"/proc/sys/net/ipv4/tcp_mem": "49152\t65536\t98304\n", "/proc/nswap/peers": PEERS + 30 * PEER}),
    ("page cluster", "advice", "up to 32 pages", "sysctl -w vm.page-cluster=3",
     {"/proc/sys/vm/page-cluster": "5\n"}),
    ("page cluster", "note", "is 0", "sysctl", {"/proc/sys/vm/page-cluster": "0\n"}),
    ("zswap", "advice", "zswap is on", "echo N > /sys/module/zswap/parameters/enabled",
     {"/sys/module/zswap/parameters/enabled": "Y\n"}),
    ("huge pages", "note", "every program", "echo madvise > ",
     {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"}),
    ("memory cgroups", "advice", "one is /sys/fs/cgroup/user/web:", f"echo 16M > {GROUP}max",
     {GROUP + "max": "8388608\n"}),
    ("clock", "advice", "nothing keeps the clock", "timedatectl set-ntp true",
     {**KEYS, "/commands/timedatectl": "NTPSynchronized=no\n"}),
    ("key files", "problem", "/etc/nswap/key: others may read", "chmod 600 /etc/nswap/key",
     {"/etc/nswap/key": ("key x\n", 0o644)}),
    ("key files", "problem", "/etc/nswap/other: others may read", "chown root: /etc/nswap/other",
     {**KEYS, "/etc/nswap/other": ("cluster x\n", 0o640)}),
    ("key files", "problem", "/etc/the node's key: others may read",
     r"chown root: '/etc/the node'\''s key' && chmod 600 '/etc/the node'\''s key'",
     {CONF: "[node]\nsecret = /etc/the node's key\n", "/etc/the node's key": ("cluster x\n", 0o640)}),
    ("signature", "problem", "secure boot is on", "mokutil",
     {EFI: "\6\0\0\0\1", **{p: None for p in WELL if p.startswith("/proc/nswap")}}),
    ("signature", "problem", "locked down", "mokutil",
     {"/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
      **{p: None for p in WELL if p.startswith("/proc/nswap")}}),
    ("kernel options", "note", "CONFIG_PSI", "psi=1",
     {"/boot/config-6.1.0": None, "/proc/pressure/memory": None}),
    ("kernel options", "note", "CONFIG_PSI", "apt install linux-image-amd64",
     {"/boot/config-6.1.0": "CONFIG_SWAP=y\nCONFIG_MEMCG=y\n", "/proc/pressure/memory": None}),
    ("kernel options", "note", "CONFIG_MEMCG", "apt install linux-image-amd64",
     {"/boot/config-6.1.0": "CONFIG_SWAP=y\n# CONFIG_MEMCG is not set\n"}),
    ("kernel options", "problem", "CONFIG_SWAP", "apt install",
     {"/boot/config-6.1.0": "CONFIG_MEMCG=y\n", "/proc/swaps": None}),
)
# what the line of a check says where it finds nothing
FINE = (
    ("mtu", "a page is one packet and costs less", {}),
    ("mtu", "eth0 has one of 9001 bytes", {"/sys/class/net/eth0/mtu": "9001\n"}),
)
# nothing is found in these: a check that must not speak up
GOOD = (
    {}, KEYS, rule("ip saddr != 10.0.0.0/24 tcp dport 9611 drop"),
    rule('iifname "eth1" tcp dport 9611 drop'), rule("tcp dport 19611 drop"), rule("tcp dport 9611 accept"),
    saved("-A INPUT ! -s 10.0.0.0/24 -p tcp -m tcp --dport 9611 -j DROP"),
    rule("\n\t\t".join(SOME)), saved("\n".join(SOME_SAVED)),
    {"/commands/nft": DROPPING.replace("tcp dport 22 drop", "tcp dport 9611 accept")},
    {BOND + "mode": "802.3ad 4\n", BOND + "xmit_hash_policy": "layer3+4 1\n"},
    {BOND + "mode": "active-backup 1\n", BOND + "xmit_hash_policy": "layer2 0\n"},
    {"/sys/class/net/eth0/mtu": "9001\n"},
    {GROUP + "max": "8388608\n", GROUP + "swap.max": "0\n"},
    {"/proc/nswap/devices": DEVICES + DEVICE.replace("262144", "9999999").replace("-\n", "sdb2\n")},
    {"/proc/nswap/devices": "device slots\nnswap0 1\n"},   # of a module without the others
    {EFI: "\6\0\0\0\1", MODULE: "ELF~Module signature appended~\n"},
    {"/commands/timedatectl": "NTPSynchronized=no\n"},     # without keys that is no matter
    {"/proc/swaps": SWAPS.format(used=0, ours=10, other=9)},
    {"/etc/nswap/key": ("key x\n", 0o600)},
    {"/proc/sys/vm/page-cluster": "1\n"},
    {"/proc/nswap/stats": STATS.format(7)},                     # written again since
    {"/proc/sys/net/ipv4/tcp_mem": "2304\t3072\t4608\n"},       # one peer needs a half
    {"/proc/sys/vm/min_free_kbytes": "5102\n", "/proc/meminfo": "MemTotal: 81636 kB\n"},
)


def doctor(root, *args):
    """nswapctl doctor on the copy in a folder."""
    return subprocess.run([ROOT / "build/nswapctl", "doctor", *args], text=True, check=False,
                          env={**os.environ, "NSWAP_DOCTOR_ROOT": str(root)},
                          stdin=subprocess.DEVNULL, capture_output=True)


def lay_out(root, changes):
    """Make the copy of a machine."""
    for path, what in {**WELL, **changes}.items():
        if what is None:
            continue
        text, mode = what if isinstance(what, tuple) else (what, 0o600)
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)


def found(root):
    """What it finds, and the exit code."""
    done = doctor(root, "--json")
    equal(done.stderr, "", "errors")
    told = json.loads(done.stdout)
    equal(done.returncode, int(any(f["level"] == "problem" for f in told)), "exit code")
    for f in told:
        equal(f["severity"], "problem" if f["level"] == "problem" else "note",
              f"severity of {f}")
        true(f["text"] and f.get("fix"), f"no command: {f}")
    return told


def run(t):
    """A finding for each bad one, with its sentence and command; none for the good."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    for number, (check, level, text, fix, changes) in enumerate(BAD):
        root = t.dir / f"bad{number}"
        lay_out(root, changes)
        told = found(root)
        mine = [f for f in told if f["check"] == check]
        true(len(mine) == 1, f"{check} with {changes}: {told}")
        equal(mine[0]["level"], level, f"level of {mine[0]}")
        true(text in mine[0]["text"] and fix in mine[0]["fix"],
             f"{check} said {mine[0]}")
        lines = doctor(root).stdout.splitlines()
        true(any(check in line and mine[0]["text"] in line for line in lines),
             f"{check} as text: {lines}")
    for number, (check, text, changes) in enumerate(FINE):
        root = t.dir / f"fine{number}"
        lay_out(root, changes)
        lines = doctor(root).stdout.splitlines()
        true(any(line.startswith("ok") and f" {check}: " in line and text in line
                 for line in lines), f"{check} of a good one: {lines}")
    for number, changes in enumerate(GOOD):
        root = t.dir / f"good{number}"
        lay_out(root, changes)
        equal(found(root), [], f"findings with {changes}")
    done = doctor(root, "--fix", "--yes")
    equal((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1),
          "mending a copy")
