# SPDX-License-Identifier: GPL-2.0
"""tools/release.sh in a small repository, with another program that builds packages."""
import subprocess
import tarfile

from nswaptest.check import equal, true
from nswaptest.scenario import ROOT

DESCRIPTION = "a release has source, packages, notes and checksums, or is refused"
SUITES = ("unit",)
NEEDS = ("git",)
HERE = True
TIMEOUT = 60

CHANGES = "# Changes\n\n## 1.2.1\n\n* later\n\n## 1.2.0 (2026-11-25)\n\n* one\n* two\n\n## 1.1.0\n\n* old\n"
BUILD = """#!/bin/bash
mkdir -p "$2" && cd "$(dirname "$0")/.." && cp Kbuild "$2/nswap-tools_$1_amd64.deb"
echo "$SOURCE_DATE_EPOCH" > "$2/nswap-doc_$1_all.deb"
"""


def run(t):
    """Refused with a sentence and without a folder; else all of it, and right."""
    tree = t.dir / "tree"
    (tree / "tools").mkdir(parents=True)

    def git(*words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
                              cwd=tree, check=True, capture_output=True, text=True).stdout

    def put(name, text):
        (tree / name).write_text(text)
        (tree / name).chmod(0o755)

    def commit():
        git("add", "-A")
        git("commit", "-q", "-m", "a")

    def release():
        return subprocess.run(["tools/release.sh", t.dir / "made"], cwd=tree, check=False,
                              capture_output=True, text=True)

    def refused(why):
        done = release()
        equal((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        true(why in done.stderr, f"it says {done.stderr!r}")
        equal([p.name for p in t.dir.glob("made*")], [], "what is left")

    git("init", "-q")
    put("tools/release.sh", (ROOT / "tools/release.sh").read_text())
    put("tools/build_deb.sh", BUILD)
    put("Kbuild", "NSWAP_VERSION := 1.3.0\n")
    put("CHANGELOG.md", CHANGES)
    commit()
    refused("nothing in a section '## 1.3.0'")
    put("Kbuild", "NSWAP_VERSION := 1.2.0\n")
    refused("changes that are not committed")
    commit()
    put("loose", "not added\n")
    refused("changes that are not committed")
    (tree / "loose").unlink()
    done = release()
    equal((done.returncode, done.stderr), (0, ""), "exit code, errors")
    out = t.dir / "made"
    names = ["NOTES.md", "SHA256SUMS", "nswap-1.2.0.tar.gz", "nswap-doc_1.2.0_all.deb",
             "nswap-tools_1.2.0_amd64.deb"]
    equal(sorted(p.name for p in out.iterdir()), names, "files")
    equal((out / "NOTES.md").read_text(), "* one\n* two\n", "notes")
    equal((out / names[3]).read_text(), git("log", "-1", "--format=%ct"), "date of packages")
    with tarfile.open(out / names[2]) as tar:
        equal(sorted(m.name for m in tar if m.isfile()),
              sorted(f"nswap-1.2.0/{f}" for f in git("ls-files").splitlines()), "source")
    said = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=out, check=True,
                          capture_output=True, text=True).stdout
    equal(sorted(said.splitlines()), [f"{n}: OK" for n in names if n != "SHA256SUMS"], "checksums")
    done = release()
    true(done.returncode == 1 and "is there already" in done.stderr, f"it says {done.stderr!r}")
