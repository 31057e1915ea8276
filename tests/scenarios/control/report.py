# SPDX-License-Identifier: GPL-2.0
"""nswapctl report: the recorder, and the page that is made of its file."""
import html.parser
import json
import signal

from nswaptest.check import at_least, at_most, equal, true, wait_for
from nswaptest.disk import disk
from nswaptest.lab import attempt
from nswaptest.work import Slots

DESCRIPTION = "report: recording, a bounded file, a page that needs nothing else"
SUITES = ("lab",)
NEEDS = ("module", "dmsetup", "mkfs.ext4")
TIMEOUT = 60

FILE = "/tmp/nswap.record"
# of a figure; of a label's letters at most
WIDTH, HEIGHT, LETTER = 860, 204, 7.5


class Page(html.parser.HTMLParser):
    """Complains of what is not closed, comes from elsewhere or is beside its figure."""

    def __init__(self, text):
        super().__init__()
        self.label = None
        self.open, self.counts, self.texts, self.wrong = [], {}, [], []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag in ("script", "link", "img", "iframe"):
            self.wrong.append(f"<{tag}> is from elsewhere")
        for name, value in attrs:
            if name in ("src", "href") or "nan" in value or "inf" in value:
                self.wrong.append(f'{name}="{value}" in <{tag}>')
        self.label = dict(attrs) if tag == "text" else None
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        self.label = None
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.texts.append(data)
        if self.label:
            x, y = float(self.label["x"]), float(self.label["y"])
            width = LETTER * len(data)
            left = x - {"value": width, "time": width / 2}.get(
                self.label.get("class"), 0)
            if left < 0 or left + width > WIDTH or not 10 <= y <= HEIGHT - 3:
                self.wrong.append(f"the label '{data}' is cut off")
            self.label = None


def page_of(node, path=FILE):
    """The page of a record, looked through."""
    text = node.run([node.prog("nswapctl"), "report", path]).check().out
    page = Page(text)
    equal(page.wrong, [], "what is wrong with the page")
    equal(page.counts["svg"], 10, "figures")
    true("http" not in text, "it names something elsewhere")
    return page, text


def lines_of(node):
    """The whole records of the file."""
    return [json.loads(line) for line in node.read(FILE).splitlines(True)
            if line.endswith("\n")]


def recorder(node, *args):
    """A recorder that runs."""
    return node.popen([node.prog("nswapctl"), "report", "--record", FILE, *args])


def test_report(t):
    """What is recorded is what stat says; the page draws it."""
    cluster = t.cluster(2)
    cluster.up(lend="8M")
    node = cluster[0]
    dev = node.device_add("8M")
    node.ctl("set", "latency", 1)
    node.run(f"rm -f {FILE}")
    process = recorder(node, "--every", "1")
    with Slots(dev) as slots:
        wait_for(lambda: node.run(f"cat {FILE}", check=False).out, 10, "a record")
        slots.write(0, 200)
        equal(slots.compare()[1:], (0, 0), "pages wrong and unreadable")
        out = node.stat()["client"]["pages_out"]
        last = wait_for(lambda: [r for r in lines_of(node) if r["pages_out"] >= out], 10,
                        "a record with the pages")[0]
        equal(last["pages_out"], out, "pages that went out")
        equal(last["remote_pages"], node.devices()[0]["slots_remote"], "pages at peers")
        equal((last["peers_up"], last["peers_lent_pages"]), (1, 2048), "the peer")
        true(last["in_p50_ns"] <= last["in_p99_ns"], "the median is above p99")
        true("another" in node.refused("report", "--record", FILE), "two recorders")
    node.device_del(dev)
    node.down()
    process.kill(signal.SIGTERM)
    equal(process.wait(5).code, 0, "exit code of the recorder")
    said = node.ctl("report", FILE)
    true(0 < said["pages_out"] <= out, f"pages that went out: {said}")
    page, text = page_of(node)
    (t.dir / "report.html").write_text(text)
    at_least(page.counts["path"], 20, "lines drawn")
    true(any(node.addr in text for text in page.texts), "the node is not named")


def test_report_files(t):
    """A file that is too long, cut off, of another clock, or no record at all."""
    node = t.cluster(1)[0]
    node.up()
    record = {"node": "<i>\\", "time": 1260, "every": 60, "pages_out": 0}
    # labels of time fall on both ends of the hour
    rows = [json.dumps(record | {"time": 1260 + 60 * n, "pages_out": 6000 * n})
            for n in range(300)]
    node.write(FILE, "\n".join(rows) + "\n" + rows[0][:-9])
    page, text = page_of(node)
    true("100 pages/s" in text and "366000 pages" not in text, "what it adds up to")
    true("<i>\\" not in text.replace("<i style", ""), "a name is taken for HTML")
    process = recorder(node, "--every", "60")
    kept = wait_for(lambda: (lambda n: n < 300 and n)(len(lines_of(node))), 10,
                    "the file is made shorter")
    at_most(kept, 62, "records kept of one hour")
    equal(lines_of(node)[0]["time"], 1260 + 60 * (300 - 61), "the first one kept")
    process.kill(signal.SIGTERM)
    equal(process.wait(5).code, 0, "exit code of the recorder")
    for wrong in ("", "x" * 10000, "{}\n", '{"time": 1e300, "every": 1}\n',
                  '{"time": nan, "every": 1}\n', '{"time": 5, "every": 0}\n'):
        node.write(FILE, wrong)
        true("no record" in node.refused("report", FILE), f"said of {wrong[:30]!r}")
    node.write(FILE, "".join(f'{{"time": {n}, "every": 1, "held_pages": 1e15}}\n'
                             for n in (900, 950, 5, 5, 6)))
    equal(node.ctl("report", FILE)["records"], 3, "records since the clock was set")
    page_of(node)
    for other in ("# not a record\n", '{"time": 5}\n'):
        node.write(FILE, other)
        true("is not written over" in node.refused("report", "--record", FILE), "its sentence")
        equal(node.read(FILE), other, "a file that is no record, afterwards")
    node.refused("report", "/nowhere")
    node.refused("report", "--record", "/nowhere/x")
    for args in ((), ("a", "b"), ("--every", "1", FILE),
                 ("--record", FILE, "--every", "0"), ("--record", FILE, "--every", "601"),
                 ("--record", FILE, "x")):
        node.refused("report", *args, code=2)


def test_on_disk(t):
    """When it was told to end and has ended, its last line is on the disk."""
    node = t.cluster(1)[0]
    node.up()
    folder = t.dir / "mounted"
    folder.mkdir()
    file = folder / "record"
    with disk(16) as one, disk(16, at=16) as copy:
        node.run(["mkfs.ext4", "-q", one.path])
        node.run(["mount", one.path, folder])
        try:
            process = node.popen([node.prog("nswapctl"), "report", "--record",
                                  file, "--every", "1"])
            wait_for(lambda: file.exists() and len(file.read_text().splitlines()) > 1, 20,
                     "two lines")
            process.kill(signal.SIGTERM)
            equal(process.wait(5).code, 0, "exit code of the recorder")
            node.run(["dd", f"if={one.path}", f"of={copy.path}", "bs=1M", "iflag=direct",
                      "oflag=direct"])
            text = file.read_text()
            node.run(["umount", folder])
            node.run(["mount", copy.path, folder])
            equal(file.read_text(), text, "the record, as the disk was then")
        finally:
            attempt("umount", "-l", str(folder))
