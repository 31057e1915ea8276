# SPDX-License-Identifier: GPL-2.0
"""What runs inside the lab's user-mode kernel, as its first process.

    python3 -m nswaptest.guest FOLDER

FOLDER is this boot's folder on the host, with job.json in it; it and the
folder of results are the only places of the host that can be written.
Verdicts go, line by line, into FOLDER/verdicts; the console is only a log.
Several boots may share one list of tests: a test belongs to the boot that
manages to make its folder under claims/.
"""
import ctypes
import json
import os
import pathlib
import re
import select
import signal
import stat
import subprocess
import sys
import threading

from . import check, child, dmesg, lab, scenario

RB_POWER_OFF = 0x4321FEDC


class Log:
    """The verdicts file: a line is on the host when write() returns."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, **what):
        """Append one JSON line."""
        os.write(self.file, (json.dumps(what) + "\n").encode())
        os.fsync(self.file)


class KernelLog:
    """The kernel's log from one mark to the next, read while it is made so
    that nothing is overwritten unseen."""

    def __init__(self):
        self._file = os.open("/dev/kmsg", os.O_RDWR | os.O_NONBLOCK)
        self._lines = []
        self._lock = threading.Lock()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        while True:
            select.select([self._file], [], [])
            with self._lock:
                self._read()

    def _read(self):
        while True:
            try:
                record = os.read(self._file, 8192).decode(errors="replace")
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._lines.append("nswaptest: BUG: kernel log lines were lost")
                continue
            head, _, text = record.partition(";")
            stamp = int(head.split(",")[2]) / 1e6
            # what follows the first line names a device
            self._lines.append(f"[{stamp:12.6f}] {text.partition(chr(10))[0]}")

    def mark(self, text):
        """Put a line into the log and return everything before it."""
        os.write(self._file, f"<6>nswaptest: {text}".encode())
        with self._lock:
            self._read()
            lines, self._lines = self._lines, []
        return "\n".join(lines) + "\n"


def mount(kind, where, options="", source="none"):
    """Mount a file system."""
    pathlib.Path(where).mkdir(parents=True, exist_ok=True)
    argv = ["mount", "-t", kind, source, where]
    if options:
        argv += ["-o", options]
    subprocess.run(argv, check=True)


def mount_host(job, folder, readonly=False):
    """Mount a folder of the host: user mode's own way, or as the job's share."""
    kind, options, source = job.get("shares", {}).get(folder, ("hostfs", folder, "none"))
    mount(kind, folder, "ro," * readonly + options, source)


def prepare(job):
    """Mount what a system needs, over the host's read-only root."""
    os.environ.update(job.get("environment", {}), PATH=lab.PATH)
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("devtmpfs", "/dev")
    mount("tmpfs", "/dev/shm")
    for folder in ("/tmp", "/run", "/var", "/mnt"):
        mount("tmpfs", folder)
    for folder in ("/var/tmp", "/var/log", "/run/lock"):
        os.mkdir(folder)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    os.symlink("/proc/self/fd", "/dev/fd")
    for folder in job["readable"]:
        if not os.path.isdir(folder):
            mount_host(job, folder, readonly=True)
    for folder in job["writable"]:
        mount_host(job, folder)
    if not os.path.exists("/dev/ubda") and os.path.exists("/dev/vda"):
        os.mknod("/dev/ubda", 0o600 | stat.S_IFBLK, os.stat("/dev/vda").st_rdev)
    mount("cgroup2", "/sys/fs/cgroup")
    mount("debugfs", "/sys/kernel/debug")
    (lab.CGROUPS / "cgroup.subtree_control").write_text("+memory")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for knob, value in (("kernel/panic_on_oops", 1),
                        ("kernel/hung_task_timeout_secs", job["hung_task"]),
                        ("kernel/hung_task_check_interval_secs", 5),
                        ("kernel/printk", "8 4 1 7"),
                        ("vm/page-cluster", 3)):
        path = pathlib.Path("/proc/sys") / knob
        if path.exists():
            path.write_text(str(value))


def end_strays():
    """Kill every process but the first one and this one."""
    mine = {1, os.getpid()}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in mine:
            continue
        try:
            os.readlink(entry / "exe")
            os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


def leftovers():
    """What a test must not leave behind: makes this kernel unfit for the
    next test."""
    left = []
    if lab.module_loaded():
        left.append("the module is still loaded")
    if len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1:
        left.append("a swap device is still on")
    if pathlib.Path("/sys/class/net/lan0").exists():
        left.append("the bridge is still there")
    return left


def restore_knobs():
    """Undo what a test may have set for the whole kernel."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def run_tests(job, boot):
    """Claim and run tests until none is left or this kernel is unfit."""
    log = Log(boot / "verdicts")
    kernel_log = KernelLog()
    check.scale = job["scale"]
    kernel_log.mark("booted")
    log.write(event="booted", problems=blind())
    names = [test["name"] for test in job["tests"]]
    cases = {c.name: c for suite in job["suites"]
             for c in scenario.discover(suite, names)}
    for test in job["tests"]:
        case = cases[test["name"]]
        try:
            os.mkdir(pathlib.Path(job["claims"]) / test["key"])
        except FileExistsError:
            continue
        log.write(event="start", key=test["key"],
                  limit=case.timeout * check.scale)
        kernel_log.mark(f"start {case.name}")
        settings = dict(job["settings"], suite=test["suite"])
        outcome = child.execute(case, test["folder"], lab.Cluster, settings)
        end_strays()
        left = leftovers()
        text = kernel_log.mark(f"end {case.name}")
        pathlib.Path(test["folder"], "dmesg").write_text(text)
        spoil(outcome.results, dmesg.problems(text, outcome.allow_oom),
              [] if outcome.stuck else left)
        for result in outcome.results:
            log.write(event="verdict", key=test["key"], **vars(result))
        log.write(event="end", key=test["key"])
        if left or outcome.stuck:
            log.write(event="unfit")
            return
        restore_knobs()
    leaks = leak_scan()
    if leaks is not None:
        log.write(event="leaks", problems=leaks)
    log.write(event="done")


def blind():
    """Why this kernel would not notice a bug.  Its own complaints before the
    first process are in the console and fail nothing: user mode's way to
    start a second processor makes the debug kernel complain once."""
    wrong = []
    for path, wanted, what in (
            ("/proc/lockdep_stats", r"debug_locks:\s+1", "lock checker"),
            ("/sys/kernel/debug/kcsan", r"enabled: 1", "race detector")):
        path = pathlib.Path(path)
        if path.exists() and not re.search(wanted, path.read_text()):
            wrong.append(f"the {what} is off")
    return wrong


def spoil(results, problems, left):
    """Turn the verdict into a failure if the kernel complained."""
    first = results[0]
    reasons = [first.reason] if first.reason else []
    if problems:
        reasons.append("the kernel's log says: " + problems[0])
    reasons += left
    if problems or left:
        first.verdict, first.reason = "fail", "; ".join(reasons)


def leak_scan():
    """kmemleak's findings, twice scanned so that young objects settle; None
    where it is switched off or was never there."""
    path = pathlib.Path("/sys/kernel/debug/kmemleak")
    try:
        path.write_text("scan")
    except OSError:
        return None
    check.hold(6)
    path.write_text("scan")
    return path.read_text().splitlines()[:20]


def power_off():
    """Stop the kernel."""
    os.sync()
    ctypes.CDLL(None).reboot(RB_POWER_OFF)


def first_process(boot):
    """Prepare, run the tests in a child, reap orphans until it ends."""
    job = json.loads((boot / "job.json").read_text())
    try:
        prepare(job)
        tests = os.fork()
        if tests == 0:
            try:
                if job.get("command"):
                    os.execvp(job["command"][0], job["command"])
                run_tests(job, boot)
            except BaseException:
                import traceback
                traceback.print_exc()
                sys.stderr.flush()
            os._exit(0)
        while os.wait()[0] != tests:
            pass
    finally:
        power_off()


if __name__ == "__main__":
    if os.getpid() != 1:
        sys.exit("nswaptest.guest: only as the first process of a lab kernel")
    first_process(pathlib.Path(sys.argv[1]))
