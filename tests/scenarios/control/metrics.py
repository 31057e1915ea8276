# SPDX-License-Identifier: GPL-2.0
"""nswapctl metrics, read by the parsers of the Prometheus project, and what is made
of them: the dashboard and the alert rules name only what is printed."""
import json
import re

from nswaptest.check import at_least, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.scenario import ROOT
from nswaptest.work import Slots

DESCRIPTION = "metrics: OpenMetrics, textfile, HTTP, dashboard and alerts"
SUITES = ("lab",)
NEEDS = ("module", "dmsetup")
TIMEOUT = 90

# Debian's python3-prometheus-client, for Debian's own python3
PYTHON = "/usr/bin/python3"
PARSE = """
import json, sys
from prometheus_client import openmetrics, parser
from prometheus_client.openmetrics import parser as strict
which = {"open": strict, "plain": parser}[sys.argv[1]]
print(json.dumps([[f.name, f.type, f.unit, f.documentation,
                   [[s.name, s.labels, s.value] for s in f.samples]]
                  for f in which.text_string_to_metric_families(sys.stdin.read())]))
"""
HTTP = r"printf '%s /%s HTTP/1.1\r\nHost: a\r\n%s\r\n' | {ctl} metrics --http"


def parse(node, text, kind="open"):
    """{sample's name: [(labels, value)]} and {family: (type, unit)} of a text."""
    node.write("/tmp/metrics.py", PARSE)
    node.write("/tmp/metrics.txt", text)
    done = node.run(f"{PYTHON} /tmp/metrics.py {kind} < /tmp/metrics.txt", check=False)
    equal(done.code, 0, f"exit code of the parser, which said: {done.err[-500:]}")
    samples, families = {}, {}
    for name, type_, unit, about, found in json.loads(done.out):
        true(about, f"nothing says what {name} is")
        families[name] = (type_, unit)
        for sample, labels, value in found:
            samples.setdefault(sample, []).append((labels, value))
    return samples, families


def metrics(node, *args):
    """What nswapctl metrics prints."""
    return node.run([node.prog("nswapctl"), "metrics", *args]).check().out


def only(samples, name, **labels):
    """The value of the one sample of that name and labels."""
    found = [value for has, value in samples[name]
             if labels.items() <= has.items()]
    equal(len(found), 1, f"samples of {name} {labels}")
    return found[0]


def check_counters(before, after, samples):
    """Every counter of stat is there, with its value: one between those before and after."""
    states = {"held_pages", "ram_pages", "set_aside_pages", "granted_pages", "owners"}
    for role in ("client", "server"):
        for name, most in after[role].items():
            if name in states:
                continue
            value, least = only(samples, f"nswap_{role}_{name}_total"), before[role][name]
            true(least <= value <= most, f"{role} {name}: {value}, stat said {least}, {most}")
    equal(only(samples, "nswap_node_lent_bytes"),
          after["node"]["target_pages"] * 4096, "what is lent")


def check_latency(samples):
    """The buckets of a histogram rise up to its count."""
    rows = [(float(labels["le"]), value) for labels, value in
            samples["nswap_latency_seconds_bucket"]
            if (labels["op"], labels["tier"]) == ("page-out", "remote")]
    counts = [value for _, value in sorted(rows)]
    equal(counts, sorted(counts), "the buckets, by their bounds")
    equal(counts[-1], only(samples, "nswap_latency_seconds_count",
                           op="page-out", tier="remote"), "the last bucket")
    true(counts[0] < counts[-1], "every page took less than a microsecond")
    steps = {labels["step"] for labels, _ in
             samples["nswap_step_latency_seconds_count"]}
    true({"network", "disk", "queue"} <= steps, f"steps: {steps}")


def used_names(text):
    """The metrics that a dashboard or rules name."""
    return set(re.findall(r"\bnswap_\w+", text))


def check_layout(panels):
    """Panels lie side by side on the 24 columns, and each says in what its figures are."""
    taken = {}
    for panel in panels:
        grid, title = panel["gridPos"], panel["title"]
        true(panel["fieldConfig"]["defaults"].get("unit"), f"{title} has no unit")
        true(grid["x"] + grid["w"] <= 24, f"{title} is wider than the page")
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                true((x, y) not in taken, f"{title} lies over {taken.get((x, y))}")
                taken[x, y] = title


def check_users(samples):
    """The dashboard is JSON and asks for what there is; so do the alerts."""
    dashboard = ROOT / "dist/grafana/nswap.json"
    board = json.loads(dashboard.read_text(encoding="utf-8"))
    asked = {target["expr"] for panel in board["panels"]
             for target in panel.get("targets", [])}
    at_least(len(asked), 15, "queries of the dashboard")
    check_layout(board["panels"])
    alerts = (ROOT / "dist/grafana/nswap-alerts.yaml").read_text(encoding="utf-8")
    exprs = re.findall(r"^ +expr: (.*)$", alerts, re.M)
    at_least(len(exprs), 8, "alert rules")
    for expr in (*asked, *exprs, dashboard.read_text(encoding="utf-8"), alerts):
        missing = used_names(expr) - samples.keys()
        true(not missing, f"metrics that are not printed: {sorted(missing)}")


def ask(node, method="GET", path="metrics", accept=""):
    """(status line, headers, body) of one request."""
    command = HTTP.replace("{ctl}", node.prog("nswapctl")) % (
        method, path, accept and f"Accept: {accept}" + r"\r\n")
    head, _, body = node.run(command).check().out.partition("\n\n")
    lines = head.splitlines()
    return lines[0], dict(line.split(": ", 1) for line in lines[1:]), body


def check_http(node):
    """Over HTTP the one who asks says which format; other paths are not there."""
    status, headers, body = ask(node, accept="application/openmetrics-text;version=1.0.0")
    equal(status, "HTTP/1.1 200 OK", "status")
    true(headers["Content-Type"].startswith("application/openmetrics-text"),
         f"type: {headers}")
    equal(int(headers["Content-Length"]), len(body.encode()), "length of the body")
    equal(only(parse(node, body)[0], "nswap_up"), 1, "nswap_up")
    _, headers, body = ask(node)
    true(headers["Content-Type"].startswith("text/plain"), f"type: {headers}")
    equal(only(parse(node, body, "plain")[0], "nswap_up"), 1, "nswap_up")
    equal(ask(node, "HEAD")[2], "", "body for HEAD")
    for status, args in (("404", ("GET", "")), ("405", ("POST",)), ("400", ("", ""))):
        true(f" {status} " in ask(node, *args)[0], f"{args} got no {status}")


def check_textfile(t, node):
    """The file for node_exporter is there as a whole, or as it was."""
    script = ROOT / "dist/metrics/nswap-textfile"
    ctl = node.prog("nswapctl").rsplit("/", 1)[0]
    node.run(f"PATH={ctl}:$PATH {script} /tmp/nswap.prom").check()
    text = node.read("/tmp/nswap.prom")
    equal(only(parse(node, text, "plain")[0], "nswap_up"), 1, "nswap_up")
    (t.dir / "nswap.prom").write_text(text)
    node.run("mkdir -p /tmp/broken && ln -sf /bin/false /tmp/broken/nswapctl")
    done = node.run(f"PATH=/tmp/broken:$PATH {script} /tmp/nswap.prom", check=False)
    true(done.code, "a failure is none")
    equal(node.read("/tmp/nswap.prom"), text, "the file after a failure")
    equal(node.run("ls /tmp | grep prom").out.split(), ["nswap.prom"], "files left")


def test_metrics(t):
    """Pages at a peer and at home: both formats parse, values are those of stat,
    and nothing is asked for that is not there."""
    cluster = t.cluster(2)
    node = cluster[0]
    down, _ = parse(node, metrics(node))
    equal(only(down, "nswap_up"), 0, "nswap_up before the node is up")
    cluster.up(lend="1M")
    true("JSON" in node.refused("--json", "metrics"), "no word on JSON")
    with disk(64) as home:
        dev = node.device_add(home=home.path)
        node.ctl("set", "latency", 1)
        with Slots(dev) as slots:
            slots.write(1, 400)
            equal(slots.compare()[1:], (0, 0), "pages wrong and unreadable")
            wait_for(lambda: not any(p["inflight"] for p in node.ctl("peers")), 5,
                     "nothing is under way")
            before = node.stat()
            samples, families = parse(node, metrics(node))
            check_counters(before, node.stat(), samples)
            check_latency(samples)
            plain, _ = parse(node, metrics(node, "--textfile"), "plain")
            equal(plain.keys(), samples.keys(), "samples of both formats")
        for name, (_, unit) in families.items():
            true(not name.endswith(("_bytes", "_seconds")) or
                 unit == name.rsplit("_", 1)[1], f"{name} has the unit '{unit}'")
        peer = f"{cluster[1].addr}:9611"
        equal(only(samples, "nswap_peer_lent_bytes", peer=peer), 1 << 20,
              "what the peer lends")
        equal(only(samples, "nswap_peer_state", peer=peer, state="up"), 1, "up")
        equal(only(samples, "nswap_device_home_bytes", device=dev),
              node.devices()[0]["slots_home"] * 4096, "what is at home")
        at_least(only(samples, "nswap_device_remote_bytes", device=dev), 4096,
                 "what the peer holds")
        equal(samples["nswap_device_info"][0][0]["home"], node.devices()[0]["home"],
              "the home")
        check_users(samples)
        check_http(node)
        check_textfile(t, node)
        node.device_del(dev)
