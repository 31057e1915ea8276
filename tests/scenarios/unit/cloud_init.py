# SPDX-License-Identifier: GPL-2.0
"""The user data for cloud-init: what is in it is in the packages, and works."""
import json
import os
import re
import subprocess

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "dist/cloud-init: YAML, a right nswap.conf, files and commands that are there"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120

DATA = ROOT / "dist/cloud-init/user-data.yaml"
MODULES = {"package_update", "packages", "write_files", "runcmd"}
LOAD = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
# what a small Debian has, and what the user data installs itself
THEIRS = {"awk", "apt-get", "cd", "cp", "curl", "grep", "mktemp", "set", "sha256sum", "sysctl",
          "systemctl", "true", "uname"}
WORDS = {"case", "esac", "for", "do", "done", "in"}
# a word where a command begins: of a line, or behind $(, a bar, ; and do
BEGINS = re.compile(r"(?:^|\$\(|\|\|?|; do)\s*([a-z][\w-]*)(?=[\s)])", re.M)


def loaded():
    """The user data as Python's."""
    done = subprocess.run(["python3", "-c", LOAD], input=DATA.read_text(), check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def commands(script):
    """The programs that it starts, without comments and what is quoted."""
    script = re.sub(r"^\s*#.*$", "", script, flags=re.M).replace("\\\n", " ")
    script = re.sub(r"'[^']*'", "''", script)
    return set(BEGINS.findall(script)) - WORDS


def test_files(t):
    """What it writes: a right file of settings, and the secret of which that speaks."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)
    equal(DATA.read_text().splitlines()[0], "#cloud-config", "first line")
    data = loaded()
    equal(set(data), MODULES, "modules")
    files = {f["path"]: f for f in data["write_files"]}
    equal(set(files), {"/etc/nswap/nswap.conf", "/etc/nswap/secret"}, "files")
    conf = t.dir / "nswap.conf"
    conf.write_text(files["/etc/nswap/nswap.conf"]["content"])
    done = subprocess.run([ROOT / "build/nswapctl", "check", "--file", conf], check=False,
                          capture_output=True, text=True)
    equal((done.returncode, done.stderr), (0, ""), "nswapctl check")
    true("secret = /etc/nswap/secret\n" in conf.read_text(), "the secret is that of the node")
    equal(files["/etc/nswap/secret"]["permissions"], "0600", "who may read the secret")
    made = t.dir / "secret"
    made.unlink(missing_ok=True)
    subprocess.run([ROOT / "build/nswapctl", "key", "generate", made, "--secret"], check=True,
                   stdout=subprocess.DEVNULL)
    equal(re.sub(r"[\w+/]+=*$", "REPLACE", made.read_text().strip()),
          files["/etc/nswap/secret"]["content"].strip(), "the form of a secret")


def test_script(t):
    """Its commands are in our packages or in Debian's; packages and units have their names."""
    script, = loaded()["runcmd"]
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    root = t.dir / "root"
    subprocess.run(["make", "-s", "-C", ROOT, "install-tools", f"DESTDIR={root}"], check=True,
                   stdout=subprocess.DEVNULL)
    equal(commands(script) - THEIRS, {"nswapctl"}, "commands that Debian has not")
    true(os.access(root / "usr/sbin/nswapctl", os.X_OK), "nswapctl is in the package")
    units = set(re.findall(r"[\w-]+\.(?:service|socket|timer)", script))
    equal(units, {"nswap.service"}, "units")
    true((root / "lib/systemd/system/nswap.service").is_file(), "the unit is in the package")
    control = (ROOT / "dist/debian/control").read_text()
    packages = set(re.findall(r"\./(nswap-[a-z]+)_", script))
    equal(packages, {"nswap-dkms", "nswap-tools"}, "packages")
    true(packages <= set(re.findall(r"^Package: (.*)$", control, re.M)), "packages are made")


def test_reserve(t):
    """What it writes for sysctl is what doctor says, and nothing if nothing is wrong."""
    script, = loaded()["runcmd"]
    lines = [line for line in script.splitlines() if "doctor" in line and line[0] != "#"]
    equal(len(lines), 2, "lines that ask doctor")
    lines = "\n".join(lines).replace("/etc/sysctl.d", ".")
    (t.dir / "proc/sys/vm").mkdir(parents=True, exist_ok=True)
    (t.dir / "proc/meminfo").write_text("MemTotal: 4194304 kB\n")
    for have, want in (("8000", "vm.min_free_kbytes=65536\n"), ("90000", "")):
        (t.dir / "proc/sys/vm/min_free_kbytes").write_text(have + "\n")
        subprocess.run(["sh", "-eu", "-c", lines], cwd=t.dir, check=True, env=os.environ | {
            "PATH": f"{ROOT}/build:{os.environ['PATH']}", "NSWAP_DOCTOR_ROOT": str(t.dir)})
        equal((t.dir / "90-nswap.conf").read_text(), want, f"settings with {have}")
