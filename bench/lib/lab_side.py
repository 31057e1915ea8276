# SPDX-License-Identifier: GPL-2.0
"""The half of a benchmark that runs inside the lab's kernel.

    python3 bench/lib/lab_side.py FOLDER

FOLDER is shared with the host side (bench/run): it holds job.json; progress
lines go to FOLDER/progress, what is measured to FOLDER/parts part by part
(kept.py), the result to FOLDER/result.json as {"rows": […]} or
{"error": "one sentence"}, "warnings" beside either, and whether a memory group had a
process "killed".
"""
import json
import os
import pathlib
import sys
import traceback
import types

from nswaptest import check, dmesg, lab, scenario

# bench instead of bench/lib
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from lib import kept, measure  # noqa: E402 (needs the path above)
from runs import (apps, device, fairness, idle, moves, policy, protect, size,  # noqa: E402
                  swap, tiers, tmpfs, trace)
from tables import families, units  # noqa: E402

BENCHES = {"device": device, "swap": swap, "others": swap, "apps": apps,
           "moves": moves, "idle": idle, "fairness": fairness,
           "tiers": tiers, "policy": policy, "trace": trace, "protect": protect, "size": size,
           "tmpfs": tmpfs,
           "paper": families}


def problems(job, log):
    """What the kernel has complained of, but for kills that a benchmark counts itself."""
    return dmesg.problems(log, allow_oom=BENCHES[job["bench"]] is swap)


def measured(job, folder, test):
    """Set the nodes up, measure, and hand back the rows."""
    bench = BENCHES[job["bench"]]
    options = types.SimpleNamespace(**job["options"])
    with_module = bench is protect or "nswap" in options.devices
    nodes = bench.nodes(options) if bench is families else bench.NODES
    cluster = test.cluster(nodes, module=with_module)
    load = measure.Load(folder / "load")
    cpus = f"{os.cpu_count()} CPU" + "s" * (os.cpu_count() != 1)
    about = dict(job["about"], kernel=os.uname().release,
                 lab=f"user-mode kernel, {cpus}, {nodes} namespaces")
    if bench is families:
        # nothing that disturbs the machine is seen under virtual time
        return bench.run(cluster, options, about, folder)
    options.folder = folder
    options.parts = kept.Parts(folder,
                               lambda: problems(job, lab.sh("dmesg")))
    return options.parts.stamped(bench.run(cluster, options, about, load))


def main():
    folder = pathlib.Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    sys.stderr = open(folder / "progress", "a", buffering=1, encoding="utf-8")
    test = scenario.Test("bench", folder, lab.Cluster, job["settings"])
    result = {}
    try:
        result["rows"] = measured(job, folder, test)
    except check.Failure as why:
        result["error"] = str(why)
    except Exception as why:  # said on the host, with the trace in its file
        result["error"] = f"{type(why).__name__}: {why}"
        (folder / "trace").write_text(traceback.format_exc())
    wrong = test.close()
    log = lab.sh("dmesg")
    (folder / "dmesg").write_text(log)
    result["warnings"] = wrong + problems(job, log)
    result["killed"] = "error" in result and units.OOM in log
    (folder / "result.json.new").write_text(json.dumps(result))
    (folder / "result.json.new").rename(folder / "result.json")


if __name__ == "__main__":
    main()
