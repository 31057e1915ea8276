#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is the netlink spec sound? Four questions, each on a fresh copy:
#
#   schema   does docs/netlink/nswap.yaml follow the kernel's schema?
#   docs     is everything in it documented?
#   output   does the code it makes for programs compile, and does its page of
#            documentation render?
#   drift    is the committed code what the spec makes (regen.sh --check)?
#
#   YNL_KDIR   kernel tree with tools/net/ynl (default: the lab kernel's)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
YNL_KDIR=${YNL_KDIR:-$("$top/tools/kernel_source.sh")}
export YNL_KDIR
ynl=$YNL_KDIR/tools/net/ynl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mkdir -p "$tmp/docs/netlink" "$tmp/user"
touch "$tmp/MAINTAINERS"
spec=$tmp/docs/netlink/nswap.yaml
cp "$top/docs/netlink/nswap.yaml" "$spec"
cp "$YNL_KDIR/Documentation/netlink/genetlink-legacy.yaml" "$tmp/docs/"

# The generator checks the schema itself, but only says where; do both here.
python3 - "$spec" "$tmp/docs/genetlink-legacy.yaml" <<'END'
import sys

import jsonschema
import yaml

with open(sys.argv[1], encoding="utf-8") as text:
    spec = yaml.safe_load(text)
with open(sys.argv[2], encoding="utf-8") as text:
    schema = yaml.safe_load(text)

wrong = []
for error in jsonschema.Draft7Validator(schema).iter_errors(spec):
    place = "/".join(str(part) for part in error.absolute_path)
    wrong.append(f"{place}: {error.message}")


def documented(what, items):
    """Note every item that says nothing about itself."""
    for item in items:
        if not str(item.get("doc", "")).strip():
            wrong.append(f"{what} {item['name']} has no doc")


documented("definition", spec.get("definitions", []))
for definition in spec.get("definitions", []):
    documented(f"entry of {definition['name']}:",
               [e if isinstance(e, dict) else {"name": e}
                for e in definition.get("entries", [])])
documented("set", spec["attribute-sets"])
for one in spec["attribute-sets"]:
    documented(f"attribute of {one['name']}:", one["attributes"])
documented("operation", spec["operations"]["list"])
used = {name for op in spec["operations"]["list"] for mode in ("do", "dump")
        for way in op.get(mode, {}).values() for name in way["attributes"]}
for attribute in spec["attribute-sets"][0]["attributes"]:
    if attribute["name"] not in used and attribute["type"] != "pad":
        wrong.append(f"attribute {attribute['name']} is used by no operation")

for line in wrong:
    print(f"docs/netlink/nswap.yaml: {line}", file=sys.stderr)
sys.exit(bool(wrong))
END

for kind in header source; do
	ext=h
	[ $kind = header ] || ext=c
	python3 "$ynl/pyynl/ynl_gen_c.py" --mode user --$kind --spec "$spec" \
		-o "$tmp/user/nswap-user.$ext"
done
${CC:-cc} -std=gnu11 -Wall -Werror -fsyntax-only -I "$top/include/uapi" \
	-I "$ynl/lib" "$tmp/user/nswap-user.c"

python3 "$ynl/pyynl/ynl_gen_rst.py" -i "$spec" -o "$tmp/nswap.rst"
[ -s "$tmp/nswap.rst" ]

"$top/tools/ynl/regen.sh" --check
