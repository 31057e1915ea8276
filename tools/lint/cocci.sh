#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Semantic lints: our own rule for the page-out path, and those of the kernel's
# rules that can apply here and need no OCaml compiler. Anything reported is a failure.
#
# usage: cocci.sh
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
bad=0

# What runs while a page is being written out: these rooms, and files of others.
# One that is not in the tree is an error: the rule would no longer see it.
page_out=(nswap/transport nswap/client policy prefetch
	nswap/pure/slot_map.c nswap/pure/wire.c nswap/core/slot_update.c
	nswap/backing/home.c nswap/peers/place.c nswap/migrate/moved.c
	nswap/migrate/returned.c nswap/device/disk.c)

for path in "${page_out[@]}"; do
	if [ ! -e "$path" ]; then
		echo "cocci.sh: there is no $path: name what has its code now"
		bad=1
	fi
done
mapfile -t writing < <(find "${page_out[@]}" -name '*.c' 2> /dev/null | sort)
mapfile -t all < <(find nswap policy prefetch proc -name '*.c' | sort)

# spatch on a rule and files; what it reports goes to standard output
rule()
{
	local out err=build/check/spatch.err
	mkdir -p build/check
	if ! out=$(spatch -D report --very-quiet --no-show-diff --timeout 60 \
			--no-includes --include-headers "$@" 2> "$err"); then
		echo "spatch failed on $*"
		cat "$err"
		bad=1
	elif [ -n "$out" ]; then
		echo "$out"
		bad=1
	fi
}

# The rule must find what it is for: one planted allocation.
planted=$(mktemp --suffix=.c)
trap 'rm -f "$planted"' EXIT
printf 'void write_out(void)\n{\n\tp = kmalloc(1, GFP_KERNEL);\n}\n' > "$planted"
spatch -D report --very-quiet --no-show-diff --sp-file \
	tools/lint/swap_path.cocci "$planted" 2> /dev/null |
	grep -q 'write_out() allocates' || {
	echo "self-test: the planted allocation was not found"
	exit 1
}

rule --sp-file tools/lint/swap_path.cocci "${writing[@]}"

kernel=$(tools/kernel_source.sh) || exit 1
for name in api/alloc/alloc_cast api/err_cast api/kfree_mismatch \
	api/string_choices free/ifnullfree free/kfree iterators/itnull \
	iterators/list_entry_update iterators/use_after_iter locks/call_kern \
	locks/double_lock locks/flags locks/mini_lock misc/array_size_dup \
	misc/boolconv misc/cond_no_effect misc/doubleinit misc/excluded_middle \
	misc/flexible_array misc/ifcol misc/newline_in_nl_msg misc/noderef \
	misc/orplus misc/returnvar misc/semicolon misc/struct_size misc/swap \
	misc/test_addr misc/warn null/eno \
	null/kmerr tests/doublebitand tests/doubletest tests/odd_ptr_err \
	tests/unsigned_lesser_than_zero; do
	[ -f "$kernel/scripts/coccinelle/$name.cocci" ] || continue
	rule --sp-file "$kernel/scripts/coccinelle/$name.cocci" "${all[@]}"
done

# spatch 1.1.1 overflows its stack, and with a larger one its time, when this
# rule gets all files at once: matches in one file are tried in all others.
for room in nswap/* policy prefetch proc; do
	mapfile -t few < <(find "$room" -name '*.c' | sort)
	[ ${#few[@]} -eq 0 ] ||
		rule --sp-file "$kernel/scripts/coccinelle/null/deref_null.cocci" "${few[@]}"
done
exit $bad
