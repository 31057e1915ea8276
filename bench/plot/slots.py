#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Draw a slot trace: which swap slots were written and read when, as in
Figure 2 of the Nswap2L paper.

    nswapctl set trace 1
    nswapctl --json trace --follow > trace.json     (interrupt it at the end)
    bench/plot/slots.py trace.json -o slots.png

Takes the list that 'nswapctl --json trace' prints as well.
"""
import argparse
import collections
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from plot import caption, colours  # noqa: E402 (needs the path above)

STYLE = FOLDER / "style.mplstyle"
PANELS = (("page-out", "writes (page-outs)", colours.PALETTE[1]),
          ("page-in", "reads (page-ins)", colours.PALETTE[0]))


def die(sentence):
    """Print an error and exit."""
    print(f"error: {sentence}", file=sys.stderr)
    sys.exit(1)


def entries_of(text):
    """The entries in what nswapctl printed: a list, or one object a line."""
    if text.lstrip().startswith("["):
        return json.loads(text)
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        lines.pop()         # cut off when it was interrupted
    return [json.loads(line) for line in lines if line.strip()]


def points_of(entries):
    """Seconds and slot of every page, by op."""
    begin = min(e["time_ns"] for e in entries)
    points = {op: ([], []) for op, _, _ in PANELS}
    for entry in entries:
        seconds, slots = points[entry["op"]]
        for slot in range(entry["slot"], entry["slot"] + entry["slots"]):
            seconds.append((entry["time_ns"] - begin) / 1e9)
            slots.append(slot)
    return points


def missed(entries):
    """How many entries are missing between the first and the last one."""
    numbers = {e["number"] for e in entries}
    return max(numbers) - min(numbers) + 1 - len(numbers)


def summary_of(entries, points):
    """What the paper says of its figure, in numbers."""
    counts = {op: collections.Counter(slots)
              for op, (_, slots) in points.items()}
    wrote, read = counts["page-out"], counts["page-in"]
    once = sum(n == 1 for n in wrote.values())
    return {
        "pages_out": sum(wrote.values()), "pages_in": sum(read.values()),
        "slots_written": len(wrote), "written_once": once,
        "reads_per_slot_read": round(sum(read.values()) / len(read), 2)
        if read else 0,
        "entries_missed": missed(entries)}


def draw(traces, path):
    """Two panels, one above the other, for each {program: (points, summary)}."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with pyplot.style.context(str(STYLE)):
        figure, axes = pyplot.subplots(
            2, len(traces), figsize=(7.5 if len(traces) == 1 else 5.5 * len(traces), 6),
            sharex="col", sharey="col", squeeze=False)
        for column, (name, (points, _)) in zip(axes.T, traces.items()):
            for panel, (op, title, colour) in zip(column, PANELS):
                panel.plot(*points[op], ",", color=colour, rasterized=True)
                panel.set_title(f"{name}{': ' if name else ''}{title}: "
                                f"{len(points[op][0])} pages")
                panel.set_ylabel("swap slot")
            column[-1].set_xlabel("seconds")
        caption.below(figure, "\n".join(
            ", ".join(f"{k} {v}" for k, v in {**({"program": name} if name else {}),
                                              **summary}.items())
            for name, (_, summary) in traces.items()))
        figure.savefig(path)
        pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="what nswapctl printed, - for stdin")
    parser.add_argument("-o", "--output", default="slots.png",
                        help="the figure (default slots.png)")
    parser.add_argument("--device", help="only this one, such as nswap0")
    args = parser.parse_args()
    try:
        text = sys.stdin.read() if args.trace == "-" else \
            pathlib.Path(args.trace).read_text(encoding="utf-8")
        entries = entries_of(text)
    except (OSError, ValueError) as error:
        die(f"cannot read the trace: {error}")
    entries = [e for e in entries
               if not args.device or e["device"] == args.device]
    if not entries:
        die("the trace is empty: 'nswapctl set trace 1' before the workload")
    points = points_of(entries)
    summary = summary_of(entries, points)
    print(json.dumps(summary))
    draw({"": (points, summary)}, args.output)


if __name__ == "__main__":
    main()
