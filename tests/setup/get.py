#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Download a file, going on where an earlier attempt was cut short.

    get.py URI FILE SIZE SHA256

FILE appears in one step, whole and checked; until then FILE.part holds what
has come.
"""
import hashlib
import os
import pathlib
import sys
import urllib.request

STEP = 1 << 20


def hashed(path):
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(STEP):
            digest.update(block)
    return digest.hexdigest()


def receive(uri, part, size):
    """Append what is missing to part."""
    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        return
    request = urllib.request.Request(uri)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=60) as answer:
        if answer.status != 206:
            have = 0
        with open(part, "ab" if have else "wb") as file:
            while block := answer.read(STEP):
                file.write(block)
                have += len(block)
                if sys.stderr.isatty():
                    print(f"\r   {have >> 20} of {size >> 20} MiB", end="",
                          file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def main(uri, name, size, wanted):
    """The exit code."""
    part = pathlib.Path(name + ".part")
    try:
        receive(uri, part, int(size))
    except (OSError, ValueError) as why:
        print(f"   {uri}: {why}", file=sys.stderr)
        return 1
    if part.stat().st_size < int(size):
        print(f"   {uri}: cut short", file=sys.stderr)
        return 1
    if hashed(part) != wanted:
        part.unlink()
        print(f"   {uri}: wrong checksum", file=sys.stderr)
        return 1
    os.replace(part, name)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
