# SPDX-License-Identifier: GPL-2.0
"""A cloud's Debian 12 that is given dist/cloud-init/user-data.yaml, and nothing is typed.

The machine finds the user data on a disk of the kind NoCloud reads, and two lenders on
its network. What would come over the Internet comes from one of them: a release as "make
release" makes it, and a mirror of Debian with headers that have nothing in them. DKMS is
kept from building, which takes minutes under emulation (packages.py has it build): the
module is there already.
"""
import hashlib
import json
import pathlib
import shutil
import subprocess

from nswaptest import check
from nswaptest.check import equal, true, wait_for
from nswaptest.debroot import SETUP, DebRoot
from nswaptest.scenario import ROOT, sibling
from vm import image, installed

DESCRIPTION = "user data for cloud-init, booted: packages installed, a node up, swap on"
SUITES = ("install",)
NEEDS = ("dpkg-buildpackage", "dh_dkms", "debootstrap", "unshare", "mke2fs", "genisoimage",
         "qemu-system-x86_64")
TIMEOUT = 900
BUSY = 2

SERIES = "6.1"
DATA = ROOT / "dist/cloud-init/user-data.yaml"
SERVER = "10.77.0.1"
# what the image of a cloud says, and what this lab has for the rest
IMAGE = """datasource_list: [NoCloud]
apt_preserve_sources_list: true
ssh_genkeytypes: []
locale: false
"""
WAITS = "[Service]\nExecStartPre=/bin/sh -c 'until [ -e /run/served ]; do sleep 0.2; done'\n"
NETWORK = """version: 2
ethernets:
  eth0:
    addresses: [10.77.0.3/24]
"""
PART = 128 << 10        # a frame of the agent has room for that
EMPTY = """Package: {}
Version: 1
Architecture: amd64
Maintainer: nswap <nswap@localhost>
Description: nothing
"""


def prepare(t):
    """The disk of a machine that has been installed and never booted."""
    layer = subprocess.run([SETUP / "cloud_layer.sh"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.strip()
    root = DebRoot(t.dir / "root", t.dir)
    root.lay_over(layer)
    installed.furnish(root, SERIES, ["isofs"])
    root.write("/etc/cloud/cloud.cfg.d/90-image.cfg", IMAGE)
    root.write("/etc/apt/sources.list", f"deb [trusted=yes] http://{SERVER}/debian ./\n")
    root.write("/etc/dkms/no-autoinstall", "")
    root.write("/etc/dpkg/dpkg.cfg.d/lab", "force-unsafe-io\n")
    root.write("/etc/systemd/system/cloud-final.service.d/lab.conf", WAITS)
    root.image(t.dir / "base.disk", 700, installed.WITHOUT)
    root.close()
    return t.dir / "base.disk"


def user_data(secret):
    """The user data of the document, with what is to be changed changed."""
    text = DATA.read_text()
    for old, new in (("cluster REPLACE", secret),
                     ("https://example.com/nswap/0.1.0", f"http://{SERVER}/nswap"),
                     ("10.0.0.5,10.0.0.6,10.0.0.7", f"{SERVER},10.77.0.2"),
                     ("lend = 4G", "lend = 16M"), ("size = 4G", "size = 96M")):
        equal(text.count(old), 1, f"how often {old!r} is in the user data")
        text = text.replace(old, new)
    return text


def seed(t, secret):
    """The disk that NoCloud looks for."""
    folder = t.dir / "seed"
    folder.mkdir(exist_ok=True)
    (folder / "user-data").write_text(user_data(secret))
    (folder / "meta-data").write_text("instance-id: lab\nlocal-hostname: node2\n")
    (folder / "network-config").write_text(NETWORK)
    subprocess.run(["genisoimage", "-quiet", "-V", "cidata", "-r", "-o", t.dir / "seed.disk",
                    folder], check=True)
    return t.dir / "seed.disk"


def release(folder, built):
    """What user data fetches of a release."""
    folder.mkdir(parents=True)
    debs = [p for p in built.glob("*.deb") if "dbgsym" not in p.name]
    for path in debs:
        shutil.copy(path, folder)
    (folder / "SHA256SUMS").write_text("".join(
        f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in debs))


def mirror(folder, kernel):
    """A mirror of Debian that has the headers of a kernel, as names only."""
    folder.mkdir(parents=True)
    index = ""
    for name in (f"linux-headers-{kernel}", "linux-headers-amd64"):
        tree = folder / name
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(EMPTY.format(name))
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree,
                        folder / f"{name}.deb"], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)
        data = (folder / f"{name}.deb").read_bytes()
        index += EMPTY.format(name) + (f"Filename: ./{name}.deb\nSize: {len(data)}\n"
                                       f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n")
    (folder / "Packages").write_text(index)


def serve(node, folder):
    """Have a lender hand out a folder over HTTP."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            target, data = f"/www/{path.relative_to(folder)}", path.read_bytes()
            node.run(["mkdir", "-p", str(pathlib.PurePath(target).parent)])
            for at in range(0, len(data), PART):
                node.machine.write("/part", data[at:at + PART])
                node.run(["sh", "-c", 'cat /part >> "$0"', target])
    node.run("httpd -p 80 -h /www")


def finished(node):
    """cloud-init has done all; what it says of errors."""
    wait_for(lambda: node.run("test -e /run/cloud-init/result.json", check=False).code == 0,
             100, f"{node}: cloud-init is done", every=0.5)
    return json.loads(node.read("/run/cloud-init/result.json"))["v1"]


def run(t):
    """From an image to a node that swaps."""
    packages = sibling("packages")
    www = t.dir / "www"
    release(www / "nswap", packages.build(t.dir / "deb", packages.version()))
    mirror(www / "debian", image.kernel(SERIES, "release"))
    made = t.dir / "secret"
    subprocess.run([ROOT / "build/nswapctl", "key", "generate", "--secret", made], check=True,
                   stdout=subprocess.DEVNULL)
    disks = [prepare(t), seed(t, made.read_text().strip().rsplit("\n", 1)[-1])]
    t.log("the images are made")
    cluster = t.cluster(3, kernel=SERIES, memory_mb=[256, 256, 320],
                        roots=[None, None, disks])
    machine = cluster[2]
    for node in cluster[0], cluster[1]:
        node.write("/secret", made.read_text())
        node.run("chmod 600 /secret")
        node.up(lend="128M", secret="/secret", no_broadcast=True,
                peers=[n for n in cluster if n is not node])
    serve(cluster[0], www)
    t.log("the server serves")
    machine.write("/run/served", "")
    said = finished(machine)
    t.log(f"cloud-init: {said}, {machine.read('/proc/uptime')}")
    t.log(machine.run("tail -n 40 /var/log/cloud-init-output.log", check=False).out)
    equal((said["errors"], "seed=/dev/vdb" in said["datasource"]), ([], True),
          "errors, and whether it used the disk")
    swaps = machine.read("/proc/swaps").splitlines()
    true(len(swaps) == 2 and swaps[1].startswith("/dev/nswap0"), f"it swaps to {swaps[1:]}")
    equal(machine.run("systemctl is-active nswap; systemctl is-enabled nswap").out,
          "active\nenabled\n", "the unit")
    kept = machine.read("/etc/sysctl.d/90-nswap.conf").strip()
    have = machine.read("/proc/sys/vm/min_free_kbytes").strip()
    true(not kept or kept == f"vm.min_free_kbytes={have}", f"it keeps {kept!r}, has {have}")
    program = machine.popen([machine.prog("eater"), "--mb", "18", "--passes", "1"],
                            memory_max="16M")
    result = json.loads(program.wait(120).check().out)
    t.log(f"{result}")
    equal(result["wrong_pages"] + result["failed_reads"], 0, "wrong pages, failed reads")
    check.at_least(result["pswpin"], 500, "pages that came in")
    held = [node.stat()["server"]["pages_stored"] for node in (cluster[0], cluster[1])]
    true(min(held) > 300, f"the lenders took {held}")
    machine.run("systemctl stop nswap", timeout=90)
    true(len(machine.read("/proc/swaps").splitlines()) == 1, "it swaps no more")
