# SPDX-License-Identifier: GPL-2.0
"""Results as a table on the terminal."""


def _print(head, lines):
    widths = [max(len(row[i]) for row in [head, *lines])
              for i in range(len(head))]
    for row in [head, *lines]:
        cells = [cell.ljust(w) if i < 2 else cell.rjust(w)
                 for i, (cell, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def _number(value, digits=1):
    return "-" if value is None else f"{value:,.{digits}f}"


def _find(rows, **want):
    for row in rows:
        if all(row[k] == v for k, v in want.items()):
            return row
    return None


def _device(rows):
    lines = []
    order = {}
    for row in rows:
        order.setdefault((row["op"], row["qd"], row["streams"]), len(order))
    for row in sorted(rows, key=lambda r: order[r["op"], r["qd"], r["streams"]]):
        lines.append([f"{row['op']} {row['bs']} depth {row['qd']}" +
                      (f" x {row['streams']}" if row["streams"] > 1 else ""),
                      row["device"], _number(row["iops"], 0),
                      f"{row['iops_min']:,.0f}-{row['iops_max']:,.0f}",
                      _number(row["mean_us"]), _number(row["p50_us"]),
                      _number(row["p99_us"]), _number(row["p999_us"]),
                      _number(row["cpu_us_a_page"], 2), _number(row["share_of_iperf3"], 2),
                      _number(row["peer_pages"], 0),
                      f" {len(row['marks'])}" if row["marks"] else ""])
    _print(["job", "device", "IOPS", "from-to", "mean us", "p50", "p99", "p99.9",
            "CPU us a page", "of iperf3", "by the peer", "marks"], lines)
    near = _find(rows, device="brd", op="randread", qd=1)
    for name in ("nswap", "nvme-tcp", "nbd"):
        far = _find(rows, device=name, op="randread", qd=1)
        if far and near:
            print(f"{name} adds {far['mean_us'] - near['mean_us']:.1f} us to a "
                  "random read at depth 1")
    _against("random read at depth 1", "mean_us",
             _find(rows, device="nswap", op="randread", qd=1),
             _find(rows, device="nvme-tcp", op="randread", qd=1))


def _against(what, key, ours, theirs):
    if ours and theirs:
        print(f"{what}: nswap {ours[key]:.1f} us, {theirs['device']} "
              f"{theirs[key]:.1f} us, ratio {ours[key] / theirs[key]:.2f}")


def _span(low, high):
    return "-" if low is None else f"{low:,.1f}-{high:,.1f}"


def _checked(name, rows):
    """In words, what shows that a program's results are right while it swaps."""
    rows = [row for row in rows if row["device"] != "ram"]
    if not rows:
        return
    least = min(row["verified"] for row in rows)
    said = [f"{least:,} verified in each run"] if least > 1 else []
    if "residual" in rows[0]:
        said.append(f"residual {max(r['residual'] for r in rows):.3g} at most")
    same = [row["as_in_ram"] for row in rows if row["as_in_ram"] is not None]
    if same:
        said.append(f"as with enough RAM in {sum(same)} of {len(same)} rows")
    print(f"{name}: {', '.join(said)}; {sum(r['wrong_pages'] for r in rows)} wrong")


def _swap(rows):
    lines = []
    order = list(dict.fromkeys(row["workload"] for row in rows))
    for row in sorted(rows, key=lambda r: order.index(r["workload"])):
        low = row.get("seconds_min", row["seconds"])
        lines.append([row["workload"], row["device"],
                      f"{row['mb']}/{row['limit_mb']}",
                      _number(row["seconds"], 2),
                      _span(low, row.get("seconds_max", low)),
                      _number(row["us_per_access"]),
                      _number(row["pages_in"], 0),
                      _number(row["pages_out"], 0), str(row["wrong_pages"]),
                      _number(row["peer_pages"], 0),
                      _number(row["load_per_1000"]),
                      _number(row["store_per_1000"]),
                      f" {len(row['marks'])}" if row["marks"] else ""])
    _print(["load", "device", "MiB", "seconds", "from-to", "us/access",
            "pages in", "pages out", "wrong", "by the peer", "loads/1000",
            "stores/1000", "marks"], lines)
    for name in order:
        _checked(name, [r for r in rows if r["workload"] == name and
                        "verified" in r])
    ours = _find(rows, device="nswap", workload="WL1")
    if ours:
        print(f"nswap, pages read in order: {_number(ours['load_per_1000'])} "
              "load messages per 1 000 pages")
    _against("random swap, one access", "us_per_access",
             _find(rows, device="nswap", workload="WL2"),
             _find(rows, device="nvme-tcp", workload="WL2"))


def _apps(rows):
    lines = []
    for row in sorted(rows, key=lambda r: -(r["share"] or 1000)):
        ram = _find(rows, workload=row["workload"], device="ram")
        lines.append([row["workload"], row["device"],
                      f"{row['share']} %" if row["share"] else "enough",
                      _number(row["mb"]), _number(row["limit_mb"]),
                      _number(row["ops_per_s"], 1),
                      f"{row['ops_min']:,.1f}-{row['ops_max']:,.1f}", row["unit"],
                      _number(row["ops_per_s"] / ram["ops_per_s"], 3),
                      *(_number(row[key], 0) for key in
                        ("p50_us", "p99_us", "p999_us")),
                      _number(row["seconds"], 2), _number(row["cpu_s"], 2),
                      _number(row["pages_in"], 0),
                      _number(row["pages_out"], 0), str(row["wrong_pages"]),
                      f" {len(row['marks'])}" if row["marks"] else ""])
    names = list(dict.fromkeys(row["workload"] for row in rows))
    lines.sort(key=lambda line: names.index(line[0]))
    _print(["program", "device", "share", "MiB", "RAM", "a second", "from-to", "of",
            "of enough RAM", "p50 us", "p99", "p99.9", "seconds", "CPU s", "pages in",
            "pages out", "wrong", "marks"], lines)
    for name in names:
        _checked(name, [r for r in rows if r["workload"] == name])


def _moves(rows):
    _print(["link", "what", "Mbit/s", "from-to", "of iperf3", "program, % longer", "wrong",
            "marks"],
           [[row["link"], row["what"], _number(row["mbit_s"], 0),
             f"{row['mbit_s_min']:,.0f}-{row['mbit_s_max']:,.0f}",
             _number(row["share_of_iperf3"], 2), _number(row["program_longer_pct"], 1),
             str(row["wrong_pages"]), f" {len(row['marks'])}" if row["marks"] else ""]
            for row in sorted(rows, key=lambda r: (r["link"], r["what"]))])


def _idle(rows):
    _print(["state", "nodes", "% of a CPU a node", "all nodes", "from-to",
            "B/s a peer", "marks"],
           [[row["what"], str(row["nodes"]),
             _number(row["cpu_percent_of_a_node"], 3),
             _number(row["cpu_percent_of_all"], 3),
             f"{row['cpu_min']:.3f}-{row['cpu_max']:.3f}",
             _number(row["bytes_per_s_and_peer"], 0),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])


def _fairness(rows):
    floods = [row for row in rows if row["what"] != "rest"]
    _print(["the seven", "the flood", "p50 us", "p99 us", "of alone: p50", "p99",
            "from-to", "of elsewhere: p50", "p99", "their pages/s", "the flood's", "marks"],
           [[row["what"], row["flood"], _number(row["p50_us"], 0),
             _number(row["p99_us"], 0), _number(row["ratio_p50"], 2),
             _number(row["ratio_p99"], 2),
             f"{row['ratio_min']:.2f}-{row['ratio_max']:.2f}",
             _number(row["p50_of_elsewhere"], 2), _number(row["p99_of_elsewhere"], 2),
             _number(row["iops"], 0),
             _number(row["flood_pages_s"], 0),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in floods])
    print()
    _print(["at rest", "members", "lender's threads", "% of a CPU, all nodes",
            "KiB a member", "of it slab", "stacks", "marks"],
           [[row["state"], str(row["members"]), str(row["lender_threads"]),
             _number(row["cpu_percent_of_all"], 2),
             *(_number(row[f"{key}_kib_a_member"]) for key in
               ("used", "slab", "stacks")),
             f" {len(row['marks'])}" if row["marks"] else ""]
            for row in rows if row["what"] == "rest"])


def _size(rows):
    steps = list(rows[-1]["seconds"])
    _print(["size", "protect", "MiB", "% of a CPU at rest", *steps, "marks"],
           [[row["size"], row["protect"], _number(row["memory_mb"], 0),
             _number(row["cpu_percent_at_rest"], 2),
             *(_number(row["seconds"].get(step), 2) for step in steps),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])
    print("steps in seconds")


def _tmpfs(rows):
    _print(["program", "files in", "hardware", "MiB", "of RAM", "seconds", "from-to",
            "of nswap", "MiB in", "MiB out", "by the peer", "verified", "wrong", "marks"],
           [[row["workload"], row["device"], row["hardware"], str(row["mb"]),
             str(row["limit_mb"] or "-"), _number(row["seconds"], 3),
             f"{row['seconds_min']:,.3f}-{row['seconds_max']:,.3f}",
             _number(row["of_nswap"], 2), _number(row["mib_in"]), _number(row["mib_out"]),
             _number(row["peer_pages"], 0), f"{row['verified']:,}", str(row["wrong_pages"]),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])
    print("seconds of waiting: under virtual time programs compute in none")


def _tiers(rows):
    _print(["flash", "job", "raw IOPS", "nswap IOPS", "ratio", "from-to",
            "CPU us raw", "CPU us nswap", "raw idle", "cpu_bound", "marks"],
           [[f"{row['flash_us']} us", f"{row['op']} depth {row['qd']}",
             _number(row["raw_iops"], 0), _number(row["nswap_iops"], 0),
             _number(row["ratio"], 3),
             f"{row['ratio_min']:.3f}-{row['ratio_max']:.3f}",
             _number(row["raw_cpu_us"]), _number(row["nswap_cpu_us"]),
             f"{row['raw_idle']:.0%}", "yes" if row["cpu_bound"] else "",
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])
    free = [row["ratio"] for row in rows
            if not row["cpu_bound"] and row["flash_us"]]
    if free:
        print(f"lowest ratio where the processor is not the limit: {min(free)}")


def _policy(rows):
    _print(["policy", "case", "load", "seconds", "from-to", "out: peers", "flash",
            "in: peers", "flash", "prefetched", "read", "at each peer", "wrong",
            "marks"],
           [[f"{row['kind']} {row['policy']}", row["case"], row["workload"],
             _number(row["seconds"], 2),
             f"{row['seconds_min']:,.2f}-{row['seconds_max']:,.2f}",
             *(_number(row[key], 0) for key in (
                 "pages_out", "flash_out", "pages_in", "flash_in", "prefetched",
                 "prefetch_hits")),
             "+".join(f"{n:,}" for n in row["stored"]), str(row["wrong_pages"]),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])
    for where in dict.fromkeys((r["kind"], r["case"], r["workload"]) for r in rows):
        mine = [r for r in rows if (r["kind"], r["case"], r["workload"]) == where]
        best = min(mine, key=lambda r: r["seconds"])
        worst = max(mine, key=lambda r: r["seconds"])
        apart = best["seconds_max"] < worst["seconds_min"]
        print(f"{where[0]}, {where[1]}, {where[2]}: {best['policy']} "
              f"{best['seconds']:.2f} s, {worst['policy']} {worst['seconds']:.2f} s"
              f"{'' if apart else ', but their runs overlap'}")


def _trace(rows):
    _print(["load", "what", "entries", "pages", "slots", "once", "times a slot",
            "most", "median us", "missed", "wrong", "marks"],
           [[row["workload"], f"{row['op']} {row['tier']}",
             *(_number(row[key], 0) for key in
               ("entries", "pages", "slots", "slots_once")),
             _number(row["times_a_slot"], 2),
             str(row["times_most"]), _number(row["median_us"]),
             str(row["entries_missed"]), str(row["wrong_pages"]),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in rows])


def _cost(rows):
    names = list(dict.fromkeys(row["device"] for row in rows))
    lines = []
    for kernel, work in dict.fromkeys((r["kernel"], r["work"]) for r in rows):
        mine = {name: _find(rows, kernel=kernel, work=work, device=name)
                for name in names}
        far = [mine.get(name) for name in ("nswap", "nvme-tcp")]
        ratio = far[0]["instr_per_page"] / far[1]["instr_per_page"] \
            if all(far) else None
        lines.append([kernel, work,
                      *(_number(row and row["instr_per_page"], 0)
                        for row in mine.values()), _number(ratio, 2),
                      f"{max(row['spread'] for row in mine.values() if row):.2%}"])
    _print(["kernel", "work", *names, "nswap/nvme-tcp", "spread"], lines)
    print("instructions a page, of all nodes together; swap-*: an access")


def _protect(rows):
    ratios = []
    for row in rows:
        none = _find(rows, protect="none", work=row["work"])
        ratios.append(none and row["instr_per_page"] / none["instr_per_page"])
    _print(["protect", "work", "instructions", "of none", "spread"],
           [[row["protect"], row["work"], _number(row["instr_per_page"], 0),
             _number(ratio, 2), f"{row['spread']:.2%}"]
            for row, ratio in zip(rows, ratios)])
    print()
    once = list({row["protect"]: row for row in rows}.values())
    _print(["protect", "lenders", "RAM at rest", "rewriting", "recovered MiB", "s",
            "MiB/s", "program s", "beside a death", "longer %", "gap ms", "worst",
            "not hedged", "worst", "wrong", "marks"],
           [[row["protect"], str(row["lenders"]), _number(row["ram_ratio"], 3),
             _number(row["ram_ratio_rewriting"], 3), _number(row["recovered_mib"]),
             _number(row["recovery_s"], 2), _number(row["recovery_mib_s"]),
             _number(row["seconds"], 2), _number(row["seconds_beside"], 2),
             _number(row["slowdown_pct"]), _number(row["gap_ms"], 0),
             _number(row["gap_ms_max"], 0), _number(row["gap_unhedged_ms"], 0),
             _number(row["gap_unhedged_ms_max"], 0), str(row["wrong_pages"]),
             f" {len(row['marks'])}" if row["marks"] else ""] for row in once])


def _name(row):
    """What a row is about, in a few words."""
    keys = ("device", "kind", "policy", "case", "op", "tier", "workload", "what",
            "link", "flood", "state", "flash_us", "qd", "size", "protect", "work",
            "hardware", "share")
    return " ".join(str(row[key]) for key in keys if row.get(key) is not None)


def show(bench, rows):
    """Print the table of one benchmark and every mark in words."""
    print()
    {"device": _device, "swap": _swap, "others": _swap, "apps": _apps,
     "moves": _moves, "idle": _idle, "fairness": _fairness, "tiers": _tiers,
     "policy": _policy, "trace": _trace, "cost": _cost, "protect": _protect,
     "size": _size, "tmpfs": _tmpfs}[bench](rows)
    boots = {row.get("boot", 1) for row in rows}
    if len(boots) > 1:
        print(f"measured in {len(boots)} boots: compare within one program or job")
    for row in rows:
        for mark in row.get("marks", []):
            print(f"  mark: {_name(row)}: {mark}")
