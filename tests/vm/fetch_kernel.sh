#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Get a stock Debian kernel and its headers into the cache, without
# installing anything: packages are downloaded through a private apt state
# and unpacked, /boot and the machine's own package lists stay untouched.
#
# usage: fetch_kernel.sh SERIES [image|kdir|modules|release]
#
# SERIES is 6.1 or 6.12. Prints the path of the kernel image, of the tree to
# build modules against, of the folder of its own modules, or its release.
# Downloads once; set NSWAP_KERNEL_UPDATE=1 to look for a newer kernel.
# NSWAP_KERNEL_FLAVOUR (default amd64) may name cloud-amd64.
#
# What is in the cache is complete: an unpacked kernel is moved to its place
# in one step, after everything in it was checked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/../setup/cache.sh"

series=${1:-}
what=${2:-image}
flavour=${NSWAP_KERNEL_FLAVOUR:-amd64}
place="$NSWAP_CACHE/debian-$series-$flavour"

# The package that always depends on the newest kernel of the series.
meta_of()
{
	case $series in
	6.1) echo "linux-image-$flavour" ;;
	6.12) echo "linux-image-6.12-$flavour" ;;
	*) die "unknown kernel series '$series': 6.1 or 6.12" ;;
	esac
}

apt_of() { private_apt bookworm "$@"; }

# depends_of PACKAGE PATTERN: the first dependency that matches.
depends_of()
{
	apt_of apt-cache depends --important "$1" |
		sed -n 's/^ *|\{0,1\}Depends: //p' | grep -E -m 1 "$2"
}

newest_release()
{
	local meta image
	meta=$(meta_of) || exit 1
	image=$(depends_of "$meta" '^linux-image-') ||
		die "Debian 12 has no package $meta"
	echo "${image#linux-image-}"
}

# unpack RELEASE FOLDER: image, headers and the scripts they build with.
unpack()
{
	local release=$1 root=$2/root debs=$NSWAP_CACHE/debs headers common
	local kbuild pkg name
	headers=linux-headers-$release
	common=$(depends_of "$headers" '^linux-headers-.*-common$')
	kbuild=$(depends_of "$headers" '^linux-kbuild-')
	mkdir -p "$root" "$debs"
	for pkg in "linux-image-$release" "$headers" "$common" "$kbuild"; do
		say "getting $pkg"
		(cd "$debs" && private_download bookworm "$pkg")
		name=$(find "$debs" -name "${pkg}_*.deb" | sort -V | tail -n 1)
		dpkg-deb -x "$name" "$root"
		rm -f "$name"
	done
	# The headers name each other by where they would be installed.
	sed -i "s|/usr/src/|$place/root/usr/src/|" \
		"$root/usr/src/$headers/Makefile"
	[ -f "$root/boot/vmlinuz-$release" ] ||
		die "linux-image-$release holds no /boot/vmlinuz-$release"
	depmod -b "$root" "$release"
	echo "$release" > "$2/release"
}

fetch()
{
	local release
	mkdir -p "$NSWAP_CACHE"
	exec 9> "$NSWAP_CACHE/fetch-kernel.lock"
	flock 9
	if [ -f "$place/release" ] && [ -z "${NSWAP_KERNEL_UPDATE:-}" ]; then
		return
	fi
	say "looking for Debian's newest $series kernel ($flavour)"
	apt_of apt-get update >&2
	release=$(newest_release) || exit 1
	if [ "$release" = "$(cat "$place/release" 2>/dev/null)" ]; then
		return
	fi
	say "downloading stock kernel $release and its headers (about 80 MB, once)"
	rm -rf "$place.new"
	unpack "$release" "$place.new"
	rm -rf "$place"
	mv "$place.new" "$place"
}

main()
{
	local release root
	meta_of > /dev/null
	if [ ! -f "$place/release" ] || [ -n "${NSWAP_KERNEL_UPDATE:-}" ]; then
		fetch
	fi
	release=$(cat "$place/release")
	root=$place/root
	case $what in
	image) echo "$root/boot/vmlinuz-$release" ;;
	kdir) echo "$root/usr/src/linux-headers-$release" ;;
	modules) echo "$root/lib/modules/$release" ;;
	release) echo "$release" ;;
	*) die "unknown request '$what': image, kdir, modules or release" ;;
	esac
}

main
