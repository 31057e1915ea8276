# SPDX-License-Identifier: GPL-2.0
"""The power is cut at 20 points of install, upgrade and apply, at every second of them
without NSWAP_FULL=1; the same command ends it.

A machine is a user-mode kernel with a Debian 12 root on a disk that loses what was not
flushed (nswaptest/powercut.py). Each command runs once without a cut; each cut begins with
the same image, and after the next boot, whose file system is checked, the very same command
is given once more: then everything is as without the cut. dpkg may ask for "dpkg --configure
-a" first, as docs/packages.md says.

DKMS is the real one, for the kernel that runs; that kernel's build folder has the module
ready-made, for the compiler is not what the power interrupts. What is random comes from the
seed of a round: NSWAP_POWER_CUT=<seed> repeats it alone, NSWAP_POWER_CUT=install all of one
command.
"""
import concurrent.futures
import difflib
import os
import random
import re
import shutil
import subprocess

from nswaptest import powercut
from nswaptest.builds import built_for
from nswaptest.check import equal, true
from nswaptest.debroot import DebRoot
from nswaptest.powercut import Cut, Machine, part
from nswaptest.scenario import ROOT, sibling
from nswaptest.totals import in_full

DESCRIPTION = "power cuts in install, upgrade and apply: the same command finishes the job"
SUITES = ("install",)
NEEDS = ("dpkg-buildpackage", "dh_dkms", "debootstrap", "unshare", "mke2fs", "e2fsck",
         "objcopy")
HERE = True
BUSY = 2
TIMEOUT = 1500      # the first time the root and a kernel are made

ONLY = os.environ.get("NSWAP_POWER_CUT", "")
BUILD_FOLDER = "/usr/src/linux-headers-lab"
READY = """# The build folder of a kernel for which the module is ready-made.
modules:
	@find $(M) -name '*.c' | sed 's/c$$/o/' | xargs touch
	@head -c 100000 /usr/src/ready/$(V).ko > $(M)/nswap.ko
	@here in the build
	@cp /usr/src/ready/$(V).ko $(M)/nswap.ko
clean:
	@find $(M) -name '*.o' -delete
V = $(shell sed -n 's/^PACKAGE_VERSION="\\(.*\\)"/\\1/p' $(M)/dkms.conf)
"""
# what compilers are to DKMS is in the build folder
WITHOUT = ("usr/src/linux-*-6*", "usr/lib/gcc", "usr/libexec/gcc", "usr/include",
           "usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*", "usr/share/perl/*/pod",
           "usr/lib/linux-kbuild-*", "usr/bin/x86_64-linux-gnu-*gcc*", "usr/lib/python3*",
           "usr/bin/x86_64-linux-gnu-[cgl]*", "usr/lib/x86_64-linux-gnu/lib*.a", "proc/*",
           "dev/*", "deb")
APT = "apt-get install -y --no-install-recommends /srv/{}/*.deb"
INSTALL, UPGRADE = APT.format("now"), APT.format("newer")
APPLY = "modprobe nswap && nswapctl apply"
# the node is up by another file, without the second device
CHANGED = "sed '/second/,$d; s/8M/4M/' /etc/nswap/nswap.conf > /run/old && modprobe nswap " \
          "&& nswapctl apply --file /run/old"
ASKS = "you must manually run 'dpkg --configure -a'"
# what is asked for by dpkg itself is done first
GIVE = """{command} > /tmp/said 2>&1
code=$?
cat /tmp/said
if grep -qF "{asks}" /tmp/said; then
	dpkg --configure -a     # it may complain of a package that was half unpacked
	{command}
	code=$?
fi
echo "@code"; echo $code; echo "@end of the code"
"""
CONFIGURE = """nswapctl key generate --secret /etc/nswap/secret
cat > /etc/nswap/nswap.conf << END
[node]
address = 10.77.0.1
secret = /etc/nswap/secret
lend = 8M
[device first]
size = 16M
priority = 10
[device second]
home = /dev/ubdb
protect = home
priority = 20
END
"""

PACKAGES_STATE = """echo "@state"
dpkg --audit
dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\\n' 'nswap-*'
dpkg --verify nswap-dkms nswap-tools
dkms status
modprobe nswap && cat /sys/module/nswap/version && modprobe -r nswap
sha256sum /lib/modules/*/updates/dkms/*
nswapctl check
find / -xdev \\( -path /mnt -o -path /var/log -o -path /var/lib/dpkg/updates \\
	-o -path '/var/*/apt' -o -path /var/cache/man \\) -prune -o -print | sort
echo "@end of the state"
"""
APPLY_STATE = """echo "@state"
nswapctl apply --dry-run
awk '{ print $1, $3, $5 }' /proc/swaps
nswapctl device list | cut -c 1-30
nswapctl stat | grep -E 'lend|lent'
ls /etc/nswap; cat /etc/nswap/nswap.conf; grep cluster /etc/nswap/secret
echo "@end of the state"
"""

# files are there, whole, when their command has ended: also on a file system that does
# not help those who do not ask for it
FILES = """mount -o remount,noauto_da_alloc /
mkdir /root/files && cd /root/files
for i in 1 2 3; do echo "{\\"node\\": \\"a\\", \\"time\\": $i, \\"every\\": 5}"; done > record
sync
was=$(stat -c %i record)
nswapctl report --record record &
while [ $(stat -c %i record) = $was ]; do sleep 0.1; done
kill $!
nswapctl key trust members one $(nswapctl key generate one)
nswapctl key trust members two $(nswapctl key generate two)
nswapctl key generate --secret secret
"""
FILES_STATE = """cd /root/files
echo "@state"
ls; nswapctl key list members; nswapctl key show one; nswapctl key show two
grep key members; grep cluster secret; grep -c '"node": "a"' record
echo "@end of the state"
"""


def held(when, words, flush="cached"):
    """A cut where a program waits for it, what is not flushed lost, or flushed before."""
    return Cut(f"{when} '{words}', {flush}", held=f"{when} {flush} {words}*")


def random_cuts(chance, number):
    """Cuts at random writes to the disk, one in each part of the run."""
    shares = [(i + chance.random()) / number for i in range(number)]
    return [Cut(f"at {share:.1%} of the writes", share=share) for share in shares]


def later(chance, step):
    """A cut some time after apply has said a step."""
    delay = chance.uniform(0, 0.03)
    return Cut(f"{delay * 1000:.0f} ms after '{step}'", line=f"^{step}", delay=delay)


AT_THE_END = Cut("at the end")
CUTS = {
    "install": lambda chance: [
        held("before", "dkms add"), held("before", "ln -s /usr/src/nswap", "flushed"),
        held("before", "here in the build", "flushed"), held("before", "strip", "flushed"),
        held("before", "depmod"), AT_THE_END, *random_cuts(chance, 2)],
    "upgrade": lambda chance: [
        held("before", "depmod", "flushed"), held("after", "dkms remove", "flushed"),
        held("before", "here in the build"), AT_THE_END, *random_cuts(chance, 2)],
    "apply": lambda chance: [
        Cut("while a file that was changed is applied", first=CHANGED,
            held="before cached mkswap /dev/nswap1*"),
        held("after", "swapon -p 10", "flushed"),
        held("after", "mkswap /dev/nswap1"), held("before", "swapon -p 20", "flushed"),
        later(chance, "nswapctl up"), later(chance, "nswapctl device add --home")],
}


class Command:
    """A command, the image that it begins with, and what comes of it without a cut."""

    def __init__(self, t, name, image, command, state):
        self.t, self.name, self.image, self.command = t, name, image, command
        self.state = state
        self.kernel = built_for("plain").kernel
        self.writes, self.wanted = 0, ""

    def finish(self, machine):
        """The command, and again if dpkg asks for something first: its exit code, and the
        state afterwards."""
        said = machine.run(GIVE.format(command=self.command, asks=ASKS) + self.state)
        return int(part(said, "code", "end of the code")), part(
            said, "state", "end of the state")

    def reference(self):
        """Without a cut. Its disk is what the next command begins with."""
        machine = Machine(self.t.dir / f"{self.name}.whole", self.image, self.kernel)
        code, self.wanted = self.finish(machine)
        self.writes = machine.counted()
        print(f"{self.name} takes {self.writes} writes, and leaves\n{self.wanted}", flush=True)
        equal(code, 0, f"exit code of '{self.command}'")
        machine.check()
        return machine.disk

    def round(self, name, seed, cut):
        """Cut, boot, give the command again."""
        machine = Machine(self.t.dir / name, self.image, self.kernel)
        machine.run(f"{cut.first}\n{self.command}", cut, self.writes)
        lost, unsafe = machine.lose(seed)
        self.t.log(f"NSWAP_POWER_CUT={seed}: {self.name}, cut {cut}; "
                   f"{lost} of {unsafe} pieces of 4 KiB that were not flushed are lost")
        machine.check()
        code, state = self.finish(machine)
        equal(code, 0, f"exit code of '{self.command}' after the cut")
        differ = list(difflib.unified_diff(self.wanted.splitlines(), state.splitlines(),
                                           "without a cut", "after it", lineterm="", n=0))
        equal(differ, [], "how the end differs from that without a cut")
        shutil.rmtree(machine.folder)


def ready(folder, version):
    """The module for the kernel, as of some version."""
    plain = built_for("plain")
    plain.build({"module"})
    made = ROOT / "build" / plain.release / "nswap.ko"
    info = folder / "modinfo"
    subprocess.run(["objcopy", "--dump-section", f".modinfo={info}", made, folder / "copy"],
                   check=True)
    text = re.sub(rb"(?<=\0)version=[^\0]*", b"version=" + version.encode(),
                  b"\0" + info.read_bytes())[1:]
    info.write_bytes(text)
    subprocess.run(["objcopy", "--update-section", f".modinfo={info}", made,
                    folder / f"{version}.ko"], check=True)
    info.unlink()
    (folder / "copy").unlink()


def prepare(t):
    """A Debian root with the packages beside, and the kernel's build folder."""
    packages, release = sibling("packages"), built_for("plain").release
    now, newer = packages.version(), packages.version() + ".1"
    root = DebRoot(t.dir / "root", t.dir)
    upper = root.folder / "upper"
    (upper / "usr/src/ready").mkdir(parents=True)
    for version, place in ((now, "now"), (newer, "newer")):
        folder = packages.build(t.dir / place, version)
        shutil.copytree(folder, upper / "srv" / place,
                        ignore=shutil.ignore_patterns("*dbgsym*", "nswap-doc*", "libnswap*",
                                                      "python3-*", "*.log", "*.changes",
                                                      "*.buildinfo"))
        ready(upper / "usr/src/ready", version)
    root.write(f"{powercut.TOOLS}/init", powercut.INIT, 0o755)
    for name in powercut.STAND_INS:
        root.write(f"/usr/local/sbin/{name}", powercut.STAND_IN, 0o755)
    root.write("/etc/apt/apt.conf.d/stand-ins", 'DPkg::Path "/usr/local/sbin:/usr/sbin:'
               '/usr/bin:/sbin:/bin";\n')
    root.write(f"{BUILD_FOLDER}/Makefile", READY)
    root.run(f"mkdir -p {BUILD_FOLDER}/include && touch {BUILD_FOLDER}/.config")
    root.add_kernel(release, BUILD_FOLDER)
    root.image(t.dir / "base.disk", 700, WITHOUT)
    root.close()
    return t.dir / "base.disk"


def rounds(t, command):
    """All of a command, two at a time; each is reported for itself."""
    seed = ONLY.split(".")[0] if "." in ONLY else t.seed
    cuts = CUTS[command.name](random.Random(f"{seed}.{command.name}"))
    chosen = [(f"{command.name}.{i}", f"{seed}.{command.name}.{i}", cut)
              for i, cut in enumerate(cuts)][::1 if ONLY or in_full() else 2]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        begun = {pool.submit(command.round, *one): one for one in chosen
                 if ONLY in ("", command.name, one[1])}
        for done in concurrent.futures.as_completed(begun):
            name, seed, cut = begun[done]
            why = done.exception()
            t.sub(name, not why, f"NSWAP_POWER_CUT={seed}, cut {cut}: {why}" if why else "")
            if why:
                print(f"{name}: {why}", flush=True)


def files(t, image):
    """What nswapctl writes."""
    machine = Machine(t.dir / "files", image, built_for("plain").kernel)
    wanted = part(machine.run(FILES + FILES_STATE, AT_THE_END), "state", "end of the state")
    machine.lose(None)
    machine.check()
    found = part(machine.run(FILES_STATE), "state", "end of the state")
    true(len(wanted.split()) > 12, f"what it wrote: {wanted!r}")
    same = found == wanted
    t.sub("files", same, "" if same else f"it wrote {wanted!r}, it finds {found!r}")


def run(t):
    """The cuts; the image of each command is what the one before it leaves."""
    true(ONLY in ("", *CUTS) or re.fullmatch(r"\d+\.(install|upgrade|apply)\.\d", ONLY),
         f"NSWAP_POWER_CUT={ONLY} is no seed of a round and no command")
    image = prepare(t)
    t.log("the image is made")
    install = Command(t, "install", image, INSTALL, PACKAGES_STATE)
    installed = install.reference()
    files(t, installed)
    rounds(t, install)
    upgrade = Command(t, "upgrade", installed, UPGRADE, PACKAGES_STATE)
    upgrade.reference()
    rounds(t, upgrade)
    machine = Machine(t.dir / "configured", installed, install.kernel)
    machine.run(CONFIGURE)
    apply = Command(t, "apply", machine.disk, APPLY, APPLY_STATE)
    apply.reference()
    rounds(t, apply)
