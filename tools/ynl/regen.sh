#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make the netlink code from docs/netlink/nswap.yaml, or with --check show how
# the committed code differs from what the spec makes.
#
# The unmodified generator of a kernel tree runs on a copy of the spec in a
# folder laid out like that tree, because it takes the schema's place and the
# paths in the banner from there.
#
#   YNL_KDIR   kernel tree with tools/net/ynl
#              (default: the lab kernel's, see tools/kernel_source.sh)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
want=$(sed -n 's/^kernel //p' "$top/tools/ynl/YNL-VERSION")
kdir=${YNL_KDIR:-$("$top/tools/kernel_source.sh")}
gen=$kdir/tools/net/ynl/pyynl/ynl_gen_c.py
check=

fail() {
	echo "regen.sh: $1" >&2
	exit "${2:-1}"
}

case "${1-}" in
"") ;;
--check) check=yes ;;
*) fail "usage: tools/ynl/regen.sh [--check]" 2 ;;
esac

[ -f "$gen" ] || fail "no generator in $kdir; set YNL_KDIR to a kernel tree that has one"
have=$(awk '/^VERSION =/{v=$3} /^PATCHLEVEL =/{print v "." $3; exit}' \
	"$kdir/Makefile")
[ "$have" = "$want" ] || fail "the generator is of kernel $have, tools/ynl/YNL-VERSION names $want"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/docs/netlink" "$tmp/nswap/control" "$tmp/include/uapi/linux"
touch "$tmp/MAINTAINERS"
cp "$top/docs/netlink/nswap.yaml" "$tmp/docs/netlink/"
cp "$kdir/Documentation/netlink/genetlink-legacy.yaml" "$tmp/docs/"

make_one() {
	python3 "$gen" --mode "$1" "--$2" \
		--spec "$tmp/docs/netlink/nswap.yaml" -o "$tmp/$3"
	sed -i 's#tools/net/ynl/ynl-regen.sh#tools/ynl/regen.sh#' "$tmp/$3"
}

make_one uapi header include/uapi/linux/nswap.h
make_one kernel header nswap/control/netlink_gen.h
make_one kernel source nswap/control/netlink_gen.c

status=0
for f in include/uapi/linux/nswap.h nswap/control/netlink_gen.h nswap/control/netlink_gen.c; do
	if [ -n "$check" ]; then
		diff -u --label "$f" --label "$f (from the spec)" \
			"$top/$f" "$tmp/$f" || status=1
	elif ! cmp -s "$tmp/$f" "$top/$f"; then
		mkdir -p "$(dirname "$top/$f")"
		cp "$tmp/$f" "$top/$f"
		echo "made $f"
	fi
done
[ $status -eq 0 ] || fail "generated files differ from the spec; run tools/ynl/regen.sh"
