# SPDX-License-Identifier: GPL-2.0
"""Debian packages: what is in them, and their life in a root of Debian 12 or 13."""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from nswaptest.check import equal, true
from nswaptest.debroot import DebRoot
from nswaptest.scenario import ROOT
from nswaptest.totals import OUT

DESCRIPTION = "packages are built, judged, installed, upgraded, removed, purged"
SUITES = ("install",)
NEEDS = ("dpkg-buildpackage", "dh_dkms", "lintian", "debootstrap", "unshare")
HERE = True
BUSY = 2
ONLY_FULL = {"life_13": "it takes minutes, and Debian 12 shows most of it"}
TIMEOUT = 1500      # the first time the root is made, and two kernels are fetched

KINDS = ("nswap-dkms", "nswap-doc", "nswap-tools")
LIBRARY = ("libnswap0", "libnswap-dev", "python3-nswap")
PROGRAM = """
#include <nswap/nswap.h>
int main(void) { return nswap_attach("/none", 0) == -1 ? 7 : 0; }
"""
TOOLS = {"/etc/nswap/nswap.conf", "/lib/systemd/system/nswap.service",
         "/usr/lib/nswap/nswap-node", "/usr/sbin/nswap-lend", "/usr/sbin/nswapctl",
         "/usr/share/bash-completion/completions/nswap-lend",
         "/usr/share/bash-completion/completions/nswapctl",
         "/usr/share/doc/nswap-tools/README.Debian",
         "/usr/share/doc/nswap-tools/changelog.gz", "/usr/share/doc/nswap-tools/copyright",
         "/usr/share/man/man5/nswap.conf.5.gz", "/usr/share/man/man8/nswap-lend.8.gz",
         "/usr/share/man/man8/nswapctl.8.gz"}
MODULE = ("Kbuild", "nswap", "policy", "prefetch", "proc", "compat", "include")
STUB = "#!/bin/sh\necho \"$*\" >> /called\nexit {}\n"
NODE = "/usr/lib/nswap/nswap-node"
OLD = "5.10.0-1-amd64"


def version():
    """That of Kbuild."""
    return re.search(r"^NSWAP_VERSION := (.*)$", (ROOT / "Kbuild").read_text(), re.M)[1]


def build(folder, of_version):
    """The packages of a version, in a folder: built once for all tests of these sources."""
    key = hashlib.sha256(of_version.encode())
    for name in sorted(tracked()):
        if (ROOT / name).is_file():
            key.update(f"{name} ".encode() + (ROOT / name).read_bytes())
    kept = OUT / "packages" / key.hexdigest()[:16]
    kept.parent.mkdir(parents=True, exist_ok=True)
    with open(kept.parent / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = kept.with_suffix(".new")
            shutil.rmtree(made, ignore_errors=True)
            subprocess.run([ROOT / "tools/build_deb.sh", of_version, made], check=True)
            made.rename(kept)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return folder


def listed(deb):
    """The files in a package."""
    out = subprocess.run(["dpkg-deb", "-c", deb], check=True, capture_output=True,
                         text=True).stdout
    return {line.split(None, 5)[5][1:].split(" -> ")[0] for line in out.splitlines()
            if line[0] != "d"}


def tracked(*paths):
    """Files of the tree under these paths, as in git or about to be."""
    return set(subprocess.run(["git", "ls-files", "-c", "-o", "--exclude-standard", *paths],
                              cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout.split())


def test_kernels(t):
    """For which kernels DKMS builds."""
    text = (ROOT / "dist/dkms.conf").read_text()
    wanted = re.search(r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', text, re.M)[1]
    for release, right in (("6.1.0-56-amd64", True), ("6.12.117+deb12-amd64", True),
                           ("6.19.10-cloud-amd64", True), ("7.2.1+deb13-amd64", True),
                           ("7.2-rc1", True), (OLD, False), ("6.0.19-amd64", False),
                           ("7.3.0-amd64", False), ("7.20.1-amd64", False)):
        done = subprocess.run(["bash", "-c", '[[ $1 =~ $2 ]]', "bash", release, wanted],
                              check=False)
        equal(done.returncode == 0, right, f"whether {release} is built for")


def test_contents(t):
    """Nothing is missing, nothing is there twice, lintian has nothing to say."""
    folder = build(t.dir / "deb", version())
    found = {k: listed(next(folder.glob(f"{k}_{version()}_*.deb"))) for k in KINDS}
    zsh = "tools/nswapctl/completion/_nswapctl"
    want = TOOLS | ({"/usr/share/zsh/vendor-completions/_nswapctl"} if tracked(zsh) else set())
    equal(found["nswap-tools"], want, "files of nswap-tools")
    source = f"/usr/src/nswap-{version()}/"
    got = {p.removeprefix(source) for p in found["nswap-dkms"] if p.startswith(source)}
    equal(got, tracked(*MODULE) | {"dkms.conf"}, "sources of nswap-dkms")
    names = {pathlib.Path(p).name for p in found["nswap-doc"]}
    missing = {p.name for p in (ROOT / "docs").glob("*.md")} - names
    equal(missing, set(), "documents that nswap-doc lacks")
    linked = {name for page in (ROOT / "docs").glob("*.md") for name in
              re.findall(r"\]\(\.\./dist/([a-z-]+)", page.read_text(encoding="utf-8"))}
    there = {p.split("/dist/")[1].split("/")[0] for p in found["nswap-doc"] if "/dist/" in p}
    equal((linked - there, bool(linked)), (set(), True), "what documents link to in dist, not there")
    changes = next(folder.glob("*.changes"))
    said = subprocess.run(["lintian", "--profile", "debian", "--allow-root", "--no-cfg",
                           changes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    equal((said.returncode, said.stdout), (0, ""), "what lintian says")


def test_library(t):
    """A program is built and run, and the Python binding used, by what the packages of
    libnswap have and nothing else of this tree."""
    folder = build(t.dir / "deb", version())
    tree = t.dir / "root"
    for name in LIBRARY:
        subprocess.run(["dpkg-deb", "-x", next(folder.glob(f"{name}_{version()}_*.deb")), tree],
                       check=True)
    true(next(tree.glob("usr/share/man/man3/nswap_mopen.3*"), None), "there is no nswap_mopen(3)")
    libraries = next(tree.glob("usr/lib/*/pkgconfig")).parent
    run = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "PKG_CONFIG_SYSROOT_DIR": str(tree),
           "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    (t.dir / "program.c").write_text(PROGRAM)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "nswap"], env=run, check=True,
                           capture_output=True, text=True).stdout.split()
    subprocess.run(["gcc", "-o", t.dir / "program", t.dir / "program.c", *flags], check=True)
    equal(subprocess.run([t.dir / "program"], env=run, check=False).returncode, 7,
          "what the program returned")
    module = next(tree.glob("usr/lib/python3/dist-packages/nswap.py"))
    said = subprocess.run([sys.executable, module, "list"], capture_output=True, text=True,
                          env={**run, "NSWAP_DEVICE": "/none"}, check=False)
    true(said.returncode == 1 and "nswap_attach: No such file" in said.stderr,
         f"the binding says {said.stderr!r}")


def modinfo(root, release):
    """What the module that is found for a kernel says of itself."""
    out = root.run(f"modinfo -k {release} nswap").stdout
    return dict(re.findall(r"^(\w+): +(.*)$", out, re.M))


def built_for(root, release, of_version):
    """DKMS has installed that version, and no other, for a kernel."""
    info = modinfo(root, release)
    equal((info["version"], info["vermagic"].split()[0]), (of_version, release),
          "version and kernel of the module")
    true("/updates/dkms/" in info["filename"], f"the module is {info['filename']}")
    status = root.run("dkms status nswap").stdout
    equal(set(re.findall(r"^nswap/([\w.]+), ", status, re.M)), {of_version},
          "versions known to DKMS")


def states(root):
    """What state the packages are in."""
    return root.run("dpkg-query -W -f '${Package} ${db:Status-Status}\\n' 'nswap-*'").stdout


def refused(root, command, reason):
    """dpkg refuses, with the reason, and the packages stay."""
    before = states(root)
    done = root.run(command, check=False)
    true(done.returncode and reason in done.stdout, f"'{command}' says {done.stdout!r}")
    equal(states(root), before, f"packages after '{command}'")


def kept(root, conf):
    """What the administrator wrote is still there."""
    equal(root.run("cat /etc/nswap/nswap.conf").stdout, conf, "the configuration file")
    equal(root.run("cat /etc/nswap/key").stdout, "secret\n", "the key")


def install(root):
    """From nothing, on a machine with a kernel that is too old, which is told."""
    done = root.run("apt-get install -y --no-install-recommends "
                    f"$(ls /deb/nswap-*_{version()}_*.deb | grep -v dbgsym)")
    true(f"there is no module for Linux {OLD}: this version of nswap is for Linux 6.1 to "
         "7.2" in done.stdout, f"of {OLD} it says {done.stdout!r}")
    equal(root.run("dkms status nswap").stdout, f"nswap/{version()}: added\n", "DKMS")
    equal(root.run("systemctl --root=/ is-enabled nswap", check=False).stdout.strip(),
          "disabled", "the unit after the installation")
    equal(root.run("nswapctl check").returncode, 0, "exit code of nswapctl check")


def upgrade_kernel(root, release):
    """The hook of a new kernel's package builds the module, and signs it; that of one
    that goes removes it."""
    root.add_kernel(release)
    root.run(f"/etc/kernel/postinst.d/dkms {release}")
    built_for(root, release, version())
    equal(modinfo(root, release)["signer"], "DKMS module signing key", "who signed it")
    root.run(f"/etc/kernel/prerm.d/dkms {release} && rm -r /lib/modules/{release}")


def upgrade(root, release, newer):
    """Another version and back: the node is left alone, the module is built again.
    A kernel that came without a hook gets its module then, too."""
    root.add_kernel(release)
    conf = root.run("sed -i 's/^# lend = .*/lend = 1G/' /etc/nswap/nswap.conf; "
                    "cat /etc/nswap/nswap.conf").stdout
    root.run("echo secret > /etc/nswap/key; systemctl --root=/ enable nswap")
    root.write(NODE, STUB.format(0), 0o755)
    root.run(f"dpkg -i /deb/*/nswap-tools_{newer}_*.deb /deb/*/nswap-dkms_{newer}_*.deb")
    built_for(root, release, newer)
    kept(root, conf)
    equal(root.run("systemctl --root=/ is-enabled nswap").stdout.strip(), "enabled",
          "the unit after an upgrade")
    # back, without the minute that building takes
    root.run("touch /etc/dkms/no-autoinstall")
    root.write(NODE, STUB.format(0), 0o755)
    root.run(f"dpkg -i /deb/nswap-tools_{version()}_*.deb /deb/nswap-dkms_{version()}_*.deb")
    equal(root.run("ls -d /usr/src/nswap-*").stdout, f"/usr/src/nswap-{version()}\n",
          "sources after a downgrade")
    kept(root, conf)
    equal(root.run("cat /called", check=False).stdout.count("No such file"), 1,
          "whether the node was stopped or started")
    root.run("rm /etc/dkms/no-autoinstall")
    return conf


def remove(root, conf):
    """Refused while the node cannot stop; else it is stopped first."""
    root.write(NODE, STUB.format(1), 0o755)
    refused(root, "dpkg -r nswap-tools", "not removed, the node is in use")
    swaps = root.folder / "swaps"
    swaps.write_text("Filename Type Size Used Priority\n/dev/nswap0 partition 4 0 100\n")
    root.swaps = str(swaps)
    refused(root, "dpkg -r nswap-dkms", "not removed, this machine swaps to nswap")
    root.write(NODE, STUB.format(0), 0o755)
    root.run("rm /called; dpkg -r nswap-dkms nswap-tools")
    root.swaps = ""
    equal(root.run("cat /called").stdout, "stop\n" * 2, "what the node was told")
    kept(root, conf)
    root.run("rm /called")


def life(t, suite):
    """Of the packages in a root of a release of Debian."""
    newer = version() + ".1"
    folder = build(t.dir / "deb", version())
    build(folder / "newer", newer)
    root = DebRoot(t.dir / "root", folder, suite)
    first, second = root.releases()
    root.run(f"mkdir -p /lib/modules/{OLD}/build/include")
    before = root.files()
    install(root)
    upgrade_kernel(root, second)
    t.log("another kernel")
    conf = upgrade(root, first, newer)
    t.log("another version")
    remove(root, conf)
    root.run("apt-get purge -y nswap-tools nswap-dkms nswap-doc")
    # the kernel that was added meanwhile, the key of DKMS itself, and a folder of debconf's
    root.run(f"rm -r /lib/modules/{first} /var/lib/dkms/mok.*; "
             "rm -rf /var/cache/debconf/tmp.ci")
    after = root.files()
    equal((sorted(after - before), sorted(before - after)), ([], []),
          "files that are there after the purge and were not before, and the reverse")
    root.close()


def test_life(t):
    """Debian 12: installed, rebuilt for a new kernel, upgraded, downgraded, removed, purged."""
    life(t, "bookworm")


def test_life_13(t):
    """The same on Debian 13, for its 6.12 and 7.2."""
    life(t, "trixie")
