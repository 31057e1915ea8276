# SPDX-License-Identifier: GPL-2.0
"""What the lints share: the files of the tree, and C and Python taken apart.

It reads C as this project writes it, in kernel style: a function's braces stand
in the first column.
"""
import ast
import re
import subprocess
from pathlib import Path

C_CODE = (".c", ".h", ".cpp")
# the module's own code
KERNEL = ("nswap", "policy", "prefetch", "proc")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|"
                     r"'(?:\\.|[^'\\\n])*'", re.S)


def tracked():
    """Every file that is or would be committed, as Paths, sorted."""
    out = subprocess.run(
        ["git", "ls-files", "-c", "-o", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return sorted(Path(n) for n in set(out.splitlines()) if Path(n).is_file())


def texts(wanted):
    """{name: text} of the tracked files for which wanted(path) is true."""
    found = {}
    for path in tracked():
        if wanted(path):
            try:
                found[path.as_posix()] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def is_kernel(path):
    """Is this C of the module?"""
    return path.parts[0] in KERNEL and path.suffix in (".c", ".h")


def verdict(got, want, findings, what):
    """The end of a lint of the module: it failed its test on planted text, or findings(text),
    (line, sentence) each, of all files are printed, with what they are. The exit code."""
    if got != want:
        print(f"self-test: planted {want}, found {got}")
        return 1
    found = [f"{name}:{line}: {wrong}" for name, text in texts(is_kernel).items()
             for line, wrong in findings(text)]
    print("\n".join([*found, f"{len(found)} {what}"]))
    return int(bool(found))


def is_python(name, text):
    """Is this Python, by its name or its first line?"""
    return name.endswith(".py") or "python3" in text.split("\n", 1)[0]


def is_shell(name, text):
    """Is this a shell script, by its name or its first line?"""
    return name.endswith(".sh") or \
        bool(re.match(r"#!.*\b(ba)?sh\b", text.split("\n", 1)[0]))


def line_of(text, offset):
    """The number of the line that has text[offset]."""
    return text.count("\n", 0, offset) + 1


def blank(part):
    """As many blanks, with the line breaks kept."""
    return re.sub(r"[^\n]", " ", part)


def c_code(text):
    """C with comments and what is in quotes blanked; offsets stay the same."""
    def hide(match):
        part = match.group(0)
        if part[0] == "/":
            return blank(part)
        return part[0] + blank(part[1:-1]) + part[0]
    return COMMENT.sub(hide, text)


def c_prose(text):
    """C with everything blanked but comments and strings."""
    kept, at = [], 0
    for match in COMMENT.finditer(text):
        kept += [blank(text[at:match.start()]), match.group(0)]
        at = match.end()
    return "".join(kept) + blank(text[at:])


def c_functions(text):
    """(name, line, lines from brace to brace) of every function in C."""
    lines, start = c_code(text).splitlines(), None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            head = []
            for above in reversed(lines[:start - 1]):
                if not above.strip() or above[0] in "}#":
                    break
                head.insert(0, above)
            name = re.search(r"(\w+)\s*\(", " ".join(head))
            yield name.group(1) if name else "?", start, number - start + 1
            start = None


def python_functions(text, name):
    """(name, line, lines) of every function in Python."""
    for node in ast.walk(ast.parse(text, name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1
