# SPDX-License-Identifier: GPL-2.0
"""The half of a benchmark that runs inside the lab's kernel.

    python3 bench/lab_side.py FOLDER

FOLDER is shared with the host side (bench/run): it holds job.json; progress
lines go to FOLDER/progress, the result to FOLDER/result.json as
{"rows": […]} or {"error": "one sentence"}, "warnings" beside either.
"""
import json
import os
import pathlib
import sys
import traceback
import types

from nswaptest import check, dmesg, lab, scenario

import bench_device
import bench_swap
import measure

BENCHES = {"device": bench_device, "swap": bench_swap}


def measured(job, folder, test):
    """Set two nodes up, measure, and hand back the rows."""
    options = types.SimpleNamespace(**job["options"])
    with_module = "nswap" in options.devices
    cluster = test.cluster(2, module=with_module)
    load = measure.OtherLoad(folder / "load")
    about = dict(job["about"], kernel=os.uname().release)
    return BENCHES[job["bench"]].run(cluster[0], cluster[1], options, about,
                                     load)


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
    result["warnings"] = wrong + dmesg.problems(log)
    (folder / "result.json.new").write_text(json.dumps(result))
    (folder / "result.json.new").rename(folder / "result.json")


if __name__ == "__main__":
    main()
