#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the module for every kernel within reach, one line each, with all
# warnings on; any warning fails. Seconds are by the clock, and of processors.
#
# usage: build_all.sh [sparse]
#
# Within reach: the installed headers, the stock kernels of the vm lab, Debian 13's with
# its own compiler if this is root, the kernels of the user-mode lab. With "sparse", the stock kernels only, and
# sparse looks at every unit, endianness included. Objects go to
# build/check/<n>, beside those of make; the last line counts.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
mode=${1:-build}
failed=0 passed=0

# Lines of a tree and, for another Debian release's compiler, that release.
trees()
{
	tests/vm/fetch_kernel.sh 6.1 kdir || return 1
	tests/vm/fetch_kernel.sh 6.12 kdir || return 1
	[ "$mode" = sparse ] && return 0
	if [ "$(id -u)" = 0 ]; then
		for tree in trixie-6.12 7.2; do
			echo "$(tests/vm/fetch_kernel.sh $tree kdir) trixie" || return 1
		done
	fi
	tests/lab/build_kernel.sh plain || return 1
	for tree in /lib/modules/*/build; do
		[ -e "$tree/Makefile" ] && readlink -f "$tree"
	done
	return 0
}

release_of()
{
	sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		"$1/include/generated/utsrelease.h"
}

one()
{
	local tree=$1 suite=$2 inject=$3 release out log took
	local TIMEFORMAT='%0R s, %0U + %0S'
	local maker=(make)
	[ -z "$suite" ] || maker=(tests/vm/build_root.sh "$suite")
	release=$(release_of "$tree")
	out=build/check/$release${inject:+-inject}
	log=$out/$mode.log
	mkdir -p "$out"
	set -- KDIR="$tree" OUT="$out" INJECT="$inject" W=1 module
	if [ "$mode" = sparse ]; then
		# not the CHECK=… that "make check" may have been given
		set -- C=2 CHECK=sparse CF="-D__CHECK_ENDIAN__ -Wbitwise -Wcontext" "$@"
	else
		# Warnings are given once, when a unit is compiled.
		find "$out" -name '*.o' -delete
	fi
	if took=$({ time "${maker[@]}" "$@" > "$log" 2>&1; } 2>&1) &&
	   ! grep -E 'warning:|error:' "$log" | grep -v 'BTF' | grep -q .; then
		echo "  OK    $release${inject:+ (fault injection)}   $took"
		passed=$((passed + 1))
	else
		echo "  FAIL  $release${inject:+ (fault injection)}, see $log"
		grep -E -A 3 'warning:|error:|Error ' "$log" | head -n 30
		failed=$((failed + 1))
	fi
}

list=$(trees) || exit 1
seen=
while read -r tree suite; do
	release=$(release_of "$tree")
	case " $seen " in *" $release "*) continue ;; esac
	seen="$seen $release"
	one "$tree" "$suite" ""
done <<< "$list"
[ "$mode" = sparse ] || one "$(tail -n 1 <<< "$list")" "" 1

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
