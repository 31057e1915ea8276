# SPDX-License-Identifier: GPL-2.0
"""A few minutes of a cluster, watched by Prometheus: the half that runs in the lab.

    python3 bench/lib/observed.py FOLDER

        node0  swaps: a device with two copies of each page, and one with a home
        node1  lends, then less, then as much again
        node2  lends
        node3  lends, is cut off for a while, and comes back

FOLDER is shared with bench/dashboard: job.json has what is to be asked of Prometheus, the
answers go to answers.json; top.txt and cluster.txt have what nswapctl shows meanwhile.
"""
import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import traceback
import urllib.parse
import urllib.request

from nswaptest import check, lab, scenario
from nswaptest.disk import disk
from nswaptest.netns import enter, inside
from nswaptest.work import Slots, eater, held_back

PORT = 9612
PROMETHEUS = "127.0.0.1:9090"
TMUX = ("tmux", "-f", "/dev/null", "-S", "/tmp/tmux")
# (share of the time, what happens then)
LEND_LESS, LEND_AGAIN, CUT, HEAL, LOOK = 0.25, 0.45, 0.6, 0.78, 0.55


def serve(node):
    """Answer each connection as nswap-metrics.socket does, on a node."""
    with inside(node):
        listening = socket.create_server((node.addr, PORT))

    def answer():
        with open(node.netns, "rb") as there:
            enter(there)
        while True:
            link, _ = listening.accept()
            with link:
                subprocess.run([node.prog("nswapctl"), "metrics", "--http"],
                               stdin=link, stdout=link, check=False)
    threading.Thread(target=answer, daemon=True).start()


def prometheus(program, cluster, every):
    """Have it scrape all nodes, from the namespace of the first."""
    targets = ", ".join(f"'{n.addr}:{PORT}'" for n in cluster)
    pathlib.Path("/tmp/prometheus.yml").write_text(f"""
global: {{scrape_interval: {every}s, scrape_timeout: {every}s}}
scrape_configs:
  - job_name: nswap
    static_configs: [{{targets: [{targets}]}}]
""")
    return cluster[0].popen([program, "--config.file=/tmp/prometheus.yml",
                             "--storage.tsdb.path=/tmp/prometheus",
                             f"--web.listen-address={PROMETHEUS}"])


def ask(path, **what):
    """One question to Prometheus; its result."""
    url = f"http://{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(what)}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["data"]["result"]


def look_at_top(node, folder):
    """What nswapctl top shows on a terminal of 80 by 24."""
    node.run("mkdir -p /dev/pts && mount -t devpts -o ptmxmode=666 devpts /dev/pts && "
             "ln -sf pts/ptmx /dev/ptmx")
    node.run([*TMUX, "new-session", "-d", "-x", "80", "-y", "24",
              node.prog("nswapctl"), "top", "--interval", "5"])
    check.hold(11)
    (folder / "top.txt").write_text(node.run([*TMUX, "capture-pane", "-p"]).out)
    node.run([*TMUX, "kill-server"])


def look_at_cluster(node, folder):
    """The same of all nodes as a table."""
    (folder / "cluster.txt").write_text(node.run(
        [node.prog("nswapctl"), "stat", "--cluster", "--interval", "5", "--times", "1"]).out)


def happenings(cluster, folder):
    """(share of the time, what happens), in order."""
    node, second, _, last = cluster
    return [(LEND_LESS, lambda: second.ctl("lend", "32M")),
            (LEND_AGAIN, lambda: second.ctl("lend", "128M")),
            (LOOK, lambda: look_at_top(node, folder)),
            (CUT, lambda: cluster.isolate(last)),
            (CUT, lambda: look_at_cluster(node, folder)),
            (HEAL, lambda: cluster.heal(last))]


def swap(cluster, job, folder):
    """The programs, until the time is over; what Prometheus says then."""
    seconds = job["seconds"]
    node = cluster[0]
    with contextlib.ExitStack() as stack:
        mirrored = stack.enter_context(cluster.swap(node, "192M"))
        node.ctl("device", "protect", mirrored, "mirror")
        home = stack.enter_context(disk(64))
        other = node.device_add(home=home.path)
        node.ctl("device", "protect", other, "home")
        program = node.popen(held_back("40M", eater(node, 80, order="random", rate=1500,
                                                    seconds=seconds)), memory_max="56M")
        left, begin, at = happenings(cluster, folder), time.time(), 0
        with Slots(other) as slots:
            while time.time() < begin + seconds:
                at = (at + 64) % 8192
                slots.write(at, 64)
                slots.read_run(at, 64)
                check.hold(0.5)
                if left and time.time() > begin + left[0][0] * seconds:
                    left.pop(0)[1]()
        result = json.loads(program.wait(120).check().out.splitlines()[-1])
        check.equal(result["wrong_pages"], 0, "wrong pages")
        with inside(node):
            told = answers(job, begin, begin + seconds)
        node.device_del(other)
    return told


def answers(job, begin, end):
    """What Prometheus says to each question."""
    step = job["every"]
    return {"begin": begin, "end": end, "results": [
        ask("query", query=q["expr"], time=end) if q["instant"] else
        ask("query_range", query=q["expr"], start=begin, end=end, step=step)
        for q in job["questions"]]}


def main():
    folder = pathlib.Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    test = scenario.Test("observed", folder, lab.Cluster, job["settings"])
    try:
        cluster = test.cluster(4)
        for node in cluster:
            node.up(lend="128M", dead_after=10)
            serve(node)
        cluster.wait_connected()
        cluster[0].ctl("set", "latency", 1)
        watcher = prometheus(job["prometheus"], cluster, job["every"])
        result = swap(cluster, job, folder)
        watcher.kill()
    except Exception:       # said on the host
        result = {"error": traceback.format_exc()}
    result["wrong"] = test.close()
    (folder / "answers.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
