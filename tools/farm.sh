#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make a farm of symbolic links: FOLDER/x -> x for every given source.
#
# usage: farm.sh FOLDER SOURCE…       called from the top of the tree
#
# Links to sources that are gone are removed, and so are the objects that
# were made from them, so that a renamed unit leaves nothing behind.
set -euo pipefail

out=$1
shift

for source in "$@"; do
	link=$out/$source
	[ -L "$link" ] && continue
	mkdir -p "$(dirname "$link")"
	ln -sr "$source" "$link"
done
find "$out" -xtype l -print | while read -r link; do
	rm -f "$link" "${link%.c}.o"
done
