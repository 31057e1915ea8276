#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build one of the lab's kernels once and keep it in the cache.
#
# usage: build_kernel.sh [plain|debug|vtime|faults|kcsan]     prints the build folder
#
# plain  the everyday lab kernel
# debug  the same with KASAN, lockdep, fault injection, and kmemleak if wanted
# vtime  the same for virtual time (UML_TIME_TRAVEL_SUPPORT)
# faults the same with fault injection that looks who asks
# kcsan  no user-mode kernel but one for QEMU, with the data race detector
#
# The build folder is named after the kernel version and a hash of the
# configuration and of patches/, so a changed one is built and an unchanged one is not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/../setup/cache.sh"

flavour=${1:-plain}
series=7.2
package=linux-source-$series

fetch_source()
{
	local src="$NSWAP_CACHE/src/linux-source-$series"
	if [ ! -f "$src/.unpacked" ]; then
		say "downloading $package from Debian's backports (about 150 MB, once)"
		backports_apt apt-get update >&2
		mkdir -p "$NSWAP_CACHE/src/deb"
		(cd "$NSWAP_CACHE/src/deb" &&
			private_download trixie "$package")
		say "unpacking it"
		rm -rf "$src" "$src.tmp"
		mkdir -p "$src.tmp"
		local deb
		deb=$(find "$NSWAP_CACHE/src/deb" -name "${package}_*.deb" |
			sort -V | tail -n 1)
		dpkg-deb --fsys-tarfile "$deb" |
			tar -xO "./usr/src/$package.tar.xz" |
			tar -xJ --strip-components=1 -C "$src.tmp"
		touch "$src.tmp/.unpacked"
		mv "$src.tmp" "$src"
		rm -f "$deb"
	fi
	patch_source "$src"
	echo "$src"
}

# patch_source FOLDER: apply what was not yet. They mend user mode's own faults.
patch_source()
{
	local p
	for p in "${patches[@]}"; do
		patch -d "$1" -p1 -R -s -f --dry-run < "$p" > /dev/null 2>&1 ||
			patch -d "$1" -p1 -s -f < "$p" >&2 ||
			die "$p does not fit the source in $1"
	done
}

fragments()
{
	local names name
	case $flavour in
	plain) names="kernel stock" ;;
	debug) names="kernel stock debug" ;;
	vtime) names="kernel vtime" ;;
	faults) names="kernel stock faults" ;;
	kcsan) names="kernel stock kcsan" ;;
	*) return ;;
	esac
	for name in $names; do
		echo "$here/$name.config"
	done
}

# kbuild ARG…: the kernel's own make. A machine's kernel is started as it is linked.
kbuild()
{
	make -C "$src" O="$out" ARCH="$arch" "$@"
}

main()
{
	local files hash out src arch=um prefix=um targets=all
	local patches=("$here"/patches/*.patch)
	mapfile -t files < <(fragments)
	[ ${#files[@]} -gt 0 ] ||
		die "unknown flavour '$flavour': plain, debug, vtime, faults or kcsan"
	hash=$(cat "${files[@]}" "${patches[@]}" | sha256sum | cut -c1-12)
	if [ "$flavour" = kcsan ]; then
		arch=x86_64 prefix=lab targets="vmlinux modules"
	fi
	out="$NSWAP_CACHE/$prefix-$series-$flavour-$hash"
	if [ -f "$out/.built" ]; then
		echo "$out"
		return
	fi
	mkdir -p "$NSWAP_CACHE"
	exec 9> "$NSWAP_CACHE/um-$flavour.lock"
	flock 9
	if [ ! -f "$out/.built" ]; then
		exec 8> "$NSWAP_CACHE/src.lock"
		flock 8
		src=$(fetch_source)
		exec 8>&-
		say "building the $flavour lab kernel (5 to 10 minutes on 2 cores, once)"
		mkdir -p "$out"
		local log="$out/build.log"
		{
			kbuild allnoconfig
			"$src/scripts/kconfig/merge_config.sh" -m -O "$out" \
				"$out/.config" "${files[@]}"
			kbuild olddefconfig
		} > "$log" 2>&1 || die "configuration failed, see $log"
		# shellcheck disable=SC2086 # several words
		kbuild -j"$(nproc)" $targets >> "$log" 2>&1 ||
			die "the kernel build failed, see $log"
		touch "$out/.built"
		say "done: $out"
	fi
	echo "$out"
}

main
