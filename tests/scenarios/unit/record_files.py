# SPDX-License-Identifier: GPL-2.0
"""Files that nswapctl report --record is given: records are kept short, others as they are.

No node is there, so nothing is added to them.
"""
import json
import os
import signal
import stat
import subprocess

from nswaptest.check import equal, true, wait_for
from nswaptest.scenario import ROOT

DESCRIPTION = "nswapctl report --record: what is no record is not touched, what is stays its owner's"
SUITES = ("unit",)
NEEDS = ("gcc", "make")
HERE = True
TIMEOUT = 120
BUSY = 0.5      # it waits

LINE = json.dumps({"node": "10.0.0.5:9611", "time": 1260.0, "every": 60, "pages_out": 7}) + "\n"
CUT = LINE[:40].encode()
# their name, what is in them
OTHERS = (
    ("image", bytes(1024) + b"\x53\xef" + bytes(3072)),
    ("swapfile", bytes(4086) + b"SWAPSPACE2"),
    ("zeros", bytes(2 << 20)),
    ("text", b"# not a record\n"),
    ("json", b'{"node": "x", "members": [1, 2]}\n'),
    ("lines", b'{"node": "x",\n "members": [1, 2]}\n' * 9),
    ("open", b'{"node": "x", "members": ['),
    ("closed", b'{"node": "x", "time": 5}'),
    ("behind", bytes(512) + b'{"node": "x"}\n' + bytes(512)),
)
# what a power failure leaves of a record, and how many lines are kept of it
LEFT = (
    ("new", b"", 0),
    ("unwritten", bytes(65536), 0),
    ("head", LINE[:7].encode(), 0),
    ("cut", CUT + bytes(4096), 0),
    ("address", LINE[:14].encode(), 0),
    ("end", LINE.encode() + CUT, 1),
    ("middle", bytes(512) + LINE.encode() + bytes(512) + LINE.encode(), 2),
)


def recorder(path, *before):
    """It runs until it is told to end."""
    return subprocess.Popen([*before, ROOT / "build/nswapctl", "report", "--record", path,
                             "--every", "60"], stderr=subprocess.PIPE, text=True)


def ended(running):
    """Wait for its end: what it wrote to standard error."""
    wait_for(lambda: running.poll() is not None, 20, "it has ended")
    return running.stderr.read()


def ignores(pid, number):
    """Whether a process ignores a signal."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(file.read().partition("SigIgn:")[2].split()[0], 16) >> (number - 1) & 1


def build():
    """nswapctl."""
    subprocess.run(["make", "-s", "-C", ROOT, "nswapctl"], check=True)


def what(path):
    """All that is to be seen of a file that is left alone."""
    status = path.lstat()
    return (status.st_ino, status.st_mode, status.st_mtime_ns,
            path.read_bytes() if stat.S_ISREG(status.st_mode) else None)


def test_others(t):
    """Each is refused in a sentence, and is as it was, with nothing beside it."""
    build()
    folder = t.dir / "others"
    folder.mkdir(exist_ok=True)
    for name, text in OTHERS:
        (folder / name).write_bytes(text)
    if not (folder / "fifo").exists():
        os.mkfifo(folder / "fifo")
    before = {path.name: what(path) for path in folder.iterdir()}
    for name in before:
        running = recorder(folder / name)
        error = ended(running)
        equal((running.returncode, error.count("\n")), (1, 1), f"exit code, lines about {name}")
        true("is no record, and is not written over" in error, f"{name}: {error}")
    equal({path.name: what(path) for path in folder.iterdir()}, before, "the files")


def test_left(t):
    """Records go on, and are of the same owner, mode and place as before, also behind a link."""
    build()
    folder = t.dir / "left"
    folder.mkdir(exist_ok=True)
    owner = 1234 if os.geteuid() == 0 else os.geteuid()
    for name, text, lines in LEFT:
        path, link = folder / name, folder / "link"
        path.write_bytes(text)
        path.chmod(0o600)
        os.chown(path, owner, -1)
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        beside = folder / f"{name}.tmp"
        beside.write_text("of somebody else")
        before = path.stat()
        running = recorder(link)
        wait_for(lambda: running.poll() is not None or path.stat().st_ino != before.st_ino, 20,
                 f"{name} is written again")
        running.send_signal(signal.SIGTERM)
        error = ended(running)
        equal((running.returncode, error), (0, ""), f"exit code, errors about {name}")
        after = path.stat()
        equal((link.is_symlink(), after.st_mode, after.st_uid),
              (True, before.st_mode, owner), f"link, mode and owner of {name}")
        equal([json.loads(x)["pages_out"] for x in path.read_text().splitlines()], [7] * lines,
              f"records in {name}")
        equal(beside.read_text(), "of somebody else", f"the file beside {name}")
        equal(sorted(p.name for p in folder.glob(f"{name}*")), [name, f"{name}.tmp"], "files")


def test_signals(t):
    """Each ends it as it should, also that of a terminal that is closed; with nohup that one
    does not end it."""
    build()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)    # tests/run may have been started with nohup
    path = t.dir / "ended"
    for before, signals in (((), (signal.SIGTERM,)), ((), (signal.SIGINT,)),
                            ((), (signal.SIGHUP,)), (("nohup",), (signal.SIGHUP, signal.SIGTERM))):
        path.write_text(LINE)
        was = path.stat()
        running = recorder(path, *before)
        wait_for(lambda: running.poll() is not None or path.stat().st_ino != was.st_ino, 20,
                 "it is written again")
        for number, one in enumerate(signals, 1):
            if number < len(signals):
                true(ignores(running.pid, one), f"{one.name} is not ignored with {before}")
            running.send_signal(one)
        error = ended(running)
        equal((running.returncode, error.replace("nohup: ignoring input\n", "")), (0, ""),
              f"exit code, errors after {signals}")
