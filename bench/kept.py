# SPDX-License-Identifier: GPL-2.0
"""What a run has measured so far, so that an interrupted one can go on.

A benchmark's folder has the file "parts", a JSON object a line:

    {"run": …, "asked": […], "boot": 2}  what it is a run of, which benchmarks were
                                         asked for together, the boot under way
    {"part": "WL1", "rows": […]}         a part, as soon as it is over
    {"rows": […]}                        all rows: nothing is left to do

A part is what has to be compared, one program or one job on every device: all of it
is measured in one boot, and its rows say in which ("boot").  A line that was cut
off when the machine stopped is none.
"""
import json
import os

FILE = "parts"


class Kept:
    """What the folder of a benchmark has kept."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / FILE
        self.head, self.parts, self.rows = {}, {}, None
        for line in self._lines():
            if "run" in line:
                self.head = line
            elif "part" in line:
                self.parts[line["part"]] = line["rows"]
            else:
                self.rows = line["rows"]

    def _lines(self):
        found = []
        try:
            for text in self.path.read_text(encoding="utf-8").splitlines():
                found.append(json.loads(text))
        except (FileNotFoundError, ValueError):
            pass
        return found

    def differs(self, run):
        """In what it differs from a run, None if in nothing."""
        mine = self.head.get("run", {})
        return next((what for what in run if mine.get(what) != run[what]), None)

    def begin(self, run, asked):
        """Write down that a boot begins which measures what is left."""
        boot = self.head.get("boot", 0) + 1 if self.parts else 1
        lines = [{"run": run, "asked": asked, "boot": boot}]
        lines += [{"part": name, "rows": rows}
                  for name, rows in self.parts.items()]
        new = self.folder / (FILE + ".new")
        new.write_text("".join(json.dumps(line) + "\n" for line in lines),
                       encoding="utf-8")
        new.rename(self.path)

    def forget(self):
        """Nothing is kept."""
        self.path.unlink(missing_ok=True)
        self.head, self.parts, self.rows = {}, {}, None

    def _append(self, line):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def part(self, name, rows):
        """A part is over."""
        self.parts[name] = rows
        self._append({"part": name, "rows": rows})

    def whole(self, rows):
        """Everything has been measured."""
        self.rows = rows
        self._append({"rows": rows})


class Parts(Kept):
    """The lab side's view: which parts are there, and one more.  warnings() says
    what the kernel has complained of in this boot."""

    def __init__(self, folder, warnings):
        super().__init__(folder)
        self.boot = self.head["boot"]
        self._warnings = warnings

    def __contains__(self, name):
        return name in self.parts

    def stamped(self, rows):
        """Rows with the boot they were measured in, if they do not say yet."""
        for row in rows:
            row.setdefault("boot", self.boot)
        return rows

    def add(self, name, rows):
        """A part is over."""
        if self._warnings():
            for row in rows:
                row["marks"].insert(0, WARNED)
        self.part(name, self.stamped(rows))

    def all_rows(self):
        """The rows of all parts, in the order they were measured."""
        return [row for rows in self.parts.values() for row in rows]


WARNED = "kernel warnings"
