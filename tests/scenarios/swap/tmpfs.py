# SPDX-License-Identifier: GPL-2.0
"""nswapctl tmpfs: file systems for temporary files in peers' RAM.

        node0 ------ node1 … node3     node0 has the file system; the others lend
"""
import contextlib
import errno
import os
import pathlib
import random
import signal

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.lab import attempt
from nswaptest.work import Slots

DESCRIPTION = "tmpfs: file systems in peers' RAM"
SUITES = ("lab",)
NEEDS = ("module", "progs", "mkfs.ext4")
TIMEOUT = 180

DIR = pathlib.Path("/run/tmpfs")
CHUNK = 256 << 10


@contextlib.contextmanager
def start(t, servers=2, lend="64M", keys=False, **options):
    """A client, its servers, and an empty folder, which is unmounted in the end."""
    cluster = t.cluster(1 + servers)
    for node in cluster:
        node.up(lend=lend, **options, **{"secret": node.secret()} if keys else {})
    cluster.wait_connected()
    DIR.mkdir(exist_ok=True)
    try:
        yield cluster, cluster[0]
    finally:
        attempt("umount", "-l", str(DIR))


def create(node, *args):
    """The file system; what nswapctl says of it."""
    return node.ctl("tmpfs", "create", *args, DIR)


def content(t, name):
    """What a file has: f(seed, name), incompressible."""
    return random.Random(f"{t.seed}.{name}").randbytes(CHUNK)


def write(t, name):
    """Write a file through to the device."""
    with open(DIR / str(name), "wb") as file:
        file.write(content(t, name))
        file.flush()
        os.fsync(file.fileno())


def compare(t, node, names):
    """Read files from the device, not from memory: all are as they were written."""
    node.write("/proc/sys/vm/drop_caches", "3")
    wrong = [n for n in names if (DIR / str(n)).read_bytes() != content(t, n)]
    equal(wrong, [], "files that are wrong")


def remove(cluster):
    """Unmount it; nothing is left of it."""
    cluster[0].ctl("tmpfs", "remove", DIR)
    equal(cluster[0].devices(), [], "devices left")
    wait_for(lambda: cluster.held_pages() == 0, 20, "no page is held")
    equal(list(DIR.iterdir()), [], "what is in the folder")


def test_files(t):
    """Files are kept at the peers, found in the list, and given back when deleted."""
    with start(t) as (cluster, client):
        made = create(client, "24M")
        equal((made["dir"], made["size_bytes"]), (str(DIR), 24 << 20), "what was made")
        for name in range(40):
            write(t, name)
        compare(t, client, range(40))
        line, = client.ctl("tmpfs", "list")
        equal((line["dir"], line["device"], line["protect"]), (str(DIR), made["device"], "none"),
              "what is listed")
        at_least(line["slots_remote"], 40 * CHUNK // 4096, "pages at peers")
        equal(line["reserved_bytes"], 24 << 20, "bytes reserved")
        for name in range(20):
            (DIR / str(name)).unlink()
        wait_for(lambda: client.ctl("tmpfs", "list")[0]["slots_remote"] <=
                 line["slots_remote"] - 19 * CHUNK // 4096, 20, "deleted files are given back")
        compare(t, client, range(20, 40))
        said = client.run([client.prog("nswapctl"), "tmpfs", "list"]).out
        true(str(DIR) in said and " MiB" in said, f"the list: {said}")
        remove(cluster)


def test_listed(t):
    """The first device of a node whose peers are listed: the sessions with those that were
    heard are waited for, and what is to be reserved is."""
    cluster = t.cluster(2)
    client, server = cluster
    server.up(lend="64M", peers=[client], no_broadcast=True)
    client.up(lend="0", peers=[server], no_broadcast=True)
    wait_for(lambda: client.peers().get(server.addr, {}).get("free_pages"), 20,
             "the server was heard")
    DIR.mkdir(exist_ok=True)
    try:
        create(client, "24M")
        equal(client.ctl("tmpfs", "list")[0]["reserved_bytes"], 24 << 20, "bytes reserved")
        remove(cluster)
    finally:
        attempt("umount", "-l", str(DIR))


def crowd(slots):
    """Write until no peer takes more; how many pages were taken."""
    taken = 0
    try:
        while taken < 12000:
            slots.write(1 + taken, 32)
            taken += 32
    except OSError:
        pass
    return taken


def fill(t):
    """Write files until there is no space; how many there are, and the error."""
    for name in range(1000):
        try:
            write(t, name)
        except OSError as why:
            (DIR / str(name)).unlink(missing_ok=True)
            return name, why.errno
    return 1000, 0


def test_full(t):
    """It is full first, while another owner has all the rest of what peers lend: ENOSPC, and
    every file is right. What is deleted can be used again."""
    with start(t, servers=3, lend="16M") as (cluster, client):
        other = cluster[3]
        create(client, "16M")
        with Slots(other.device_add("64M"), t.seed) as slots:
            taken = crowd(slots)
        at_most(taken, 11000, "pages of another owner, who wants more")
        files, error = fill(t)
        equal(error, errno.ENOSPC, "error of the write that did not fit")
        at_least(files * CHUNK, 12 << 20, "bytes that did")
        compare(t, client, range(files))
        for name in range(0, files, 2):
            (DIR / str(name)).unlink()
        for name in range(0, files, 2):
            write(t, name)
        compare(t, client, range(files))
        equal(client.stat()["client"]["write_errors"], 0, "failed page-outs of the client")


def test_mirror(t):
    """Protected by mirror, a peer dies, and every file is right."""
    with start(t, servers=3, dead_after=2) as (cluster, client):
        create(client, "16M", "--protect", "mirror")
        for name in range(30):
            write(t, name)
        wait_for(lambda: not client.devices()[0]["exposed_pages"], 20, "no page is exposed")
        cluster.kill(cluster[1])
        compare(t, client, range(30))
        write(t, 30)
        compare(t, client, range(31))
        client.ctl("tmpfs", "remove", DIR)
        equal(client.stat()["client"]["read_errors"], 0, "failed page-ins")


def test_keys(t):
    """With keys it is sealed, unless that is not wanted."""
    with start(t, servers=1, keys=True) as (cluster, client):
        create(client, "8M")
        true(client.devices()[0]["sealed"], "the device is sealed")
        for name in range(20):
            write(t, name)
        compare(t, client, range(20))
        remove(cluster)
        create(client, "8M", "--no-seal")
        true(not client.devices()[0]["sealed"], "the device is not sealed")
        remove(cluster)


def test_interrupted(t):
    """A signal at any moment: the file system is there, or nothing is."""
    with start(t) as (cluster, client):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            process = client.popen([client.prog("nswapctl"), "tmpfs", "create", "8M", DIR])
            wait_for(client.devices, 20, "the device is there")
            process.kill(sig)
            done = process.wait(30)
            if done.code == 0:
                remove(cluster)
            else:
                true("interrupted, and nothing was changed" in done.err, f"it says {done.err}")
            equal((done.code in (0, 1), client.devices()), (True, []), "exit code, devices")


def test_ignored(t):
    """What was ignored when it was started, as by nohup, interrupts it not."""
    with start(t) as (cluster, client):
        for _ in range(2):
            process = client.popen(
                f"trap '' HUP; exec {client.prog('nswapctl')} tmpfs create 8M {DIR}")
            wait_for(client.devices, 20, "the device is there")
            process.kill(signal.SIGHUP)
            done = process.wait(30)
            equal(done.code, 0, f"exit code, with '{done.err.strip()}'")
            remove(cluster)


def test_at_once(t):
    """Two on one folder at once: one file system is there, and the other one refused."""
    with start(t) as (cluster, client):
        both = [client.popen([client.prog("nswapctl"), "tmpfs", "create", "8M", DIR])
                for _ in range(2)]
        done = [process.wait(60) for process in both]
        equal((sorted(d.code for d in done), len(client.devices())), ([0, 1], 1),
              f"exit codes, devices; they say {[d.err for d in done]}")
        true("is not empty" in done[0].err + done[1].err, f"they say {[d.err for d in done]}")
        remove(cluster)


def test_stacked(t):
    """Of two that were mounted on one folder the upper one is removed first, and neither while
    something else is on top of them."""
    with start(t) as (cluster, client):
        lower = create(client, "8M")["device"]
        upper = client.device_add("8M")
        client.run(["mkfs.ext4", "-q", "-b", "4096", f"/dev/{upper}"])
        client.run(["mount", f"/dev/{upper}", DIR])
        client.run(["mount", "-t", "tmpfs", "none", DIR])
        true("no temporary file system" in client.refused("tmpfs", "remove", DIR),
             "removing what another one is mounted on")
        client.run(["umount", DIR])
        client.ctl("tmpfs", "remove", DIR)
        equal([d["device"] for d in client.devices()], [lower], "devices left")
        remove(cluster)


def runs_another(process):
    """Does it run another program now?"""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process.popen.pid:
                return True
    return False


def test_interrupted_remove(t):
    """A signal to nswapctl while it unmounts: it goes on, and no device is left."""
    with start(t) as (cluster, client):
        for name in range(3):
            create(client, "8M")
            (DIR / str(name)).write_bytes(content(t, name))
            process = client.popen([client.prog("nswapctl"), "tmpfs", "remove", DIR])
            wait_for(lambda: runs_another(process) or process.poll() is not None, 20,
                     "it unmounts", every=0.002)
            process.popen.send_signal(signal.SIGTERM)
            done = process.wait(30)
            equal((done.code, os.path.ismount(DIR)), (0, False), f"exit code, mounted: {done.err}")
            equal(client.devices(), [], "devices")


def test_refused(t):
    """What cannot be done is said in a sentence, and changes nothing."""
    with start(t, lend="8M") as (cluster, client):
        for args, why in (
                (("64M", "/run/none"), "mkdir -p /run/none"),
                (("64M", "/run"), "is not empty"),
                (("1M", DIR), "4 MiB at least"),
                (("8M", DIR, "--protect", "home"), "has no home"),
                (("8M", DIR, "--protect", "parity:2+1"), "--no-reserve"),
                (("8M", DIR, "--protect", "some"), "no such protection")):
            said = client.refused("tmpfs", "create", *args)
            true(why in said, f"{args}: {said}")
            equal(client.devices(), [], f"{args}: devices")
        said = client.refused("tmpfs", "create", "64M", DIR)
        true("can set aside" in said and "lends" in said, said)
        true("no temporary file system" in client.refused("tmpfs", "remove", DIR),
             "removing what is not there")
        create(client, "4M")
        with open(DIR / "open", "w", encoding="ascii"):
            true("in use" in client.run([client.prog("nswapctl"), "tmpfs", "remove", DIR],
                                        check=False).err, "removing one in use")
        remove(cluster)
