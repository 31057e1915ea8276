#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Get a stock Debian kernel and its headers into the cache, without
# installing anything: packages are downloaded through a private apt state
# and unpacked, /boot and the machine's own package lists stay untouched.
#
# usage: fetch_kernel.sh SERIES [image|kdir|modules|release|suite]
#
# SERIES is 6.1 or 6.12 (Debian 12), trixie-6.12 or 7.2 (Debian 13, the latter from
# its backports), or 5.10 (Debian 11, for machines without the module). Prints the path of the kernel image, of the tree to build modules
# against, of the folder of its own modules, its release, or Debian's. What is built for a
# kernel of Debian 13 is built in its own root: build_root.sh.
# Downloads once; set NSWAP_KERNEL_UPDATE=1 to look for a newer kernel.
# NSWAP_KERNEL_FLAVOUR (default amd64) may name cloud-amd64 or rt-amd64.
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

# The Debian release a series comes from, and the package that depends on its newest
# kernel; backports have none by which a series could be named.
release_of_series()
{
	case $series in
	5.10) suite=bullseye meta=linux-image-$flavour ;;
	6.1) suite=bookworm meta=linux-image-$flavour ;;
	6.12) suite=bookworm meta=linux-image-6.12-$flavour ;;
	trixie-6.12) suite=trixie meta=linux-image-$flavour ;;
	7.2) suite=trixie meta= ;;
	*) die "unknown kernel series '$series': 5.10, 6.1, 6.12, trixie-6.12 or 7.2" ;;
	esac
}

apt_of() { private_apt "$suite" "$@"; }

# depends_of PACKAGE PATTERN: the dependencies that match.
depends_of()
{
	apt_of apt-cache depends --important "$1" |
		sed -n 's/^ *|\{0,1\}Depends: //p' | grep -E "$2" | sort -u
}

newest_release()
{
	local image
	if [ -n "$meta" ]; then
		image=$(depends_of "$meta" '^linux-image-[0-9]')
	else
		image=$(apt_of apt-cache pkgnames "linux-image-$series." |
			grep -E "^linux-image-[0-9.]+[+]deb13-$flavour\$" |
			sort -V | tail -n 1)
	fi
	[ -n "$image" ] || die "Debian $suite has no $series kernel"
	echo "${image#linux-image-}"
}

# packages_of RELEASE: image, where that is a package of its own its modules too,
# headers, and the scripts they build with.
packages_of()
{
	echo "linux-image-$1"
	depends_of "linux-image-$1" '^linux-(binary|modules)-'
	echo "linux-headers-$1"
	depends_of "linux-headers-$1" '^linux-headers-.*-common(-rt)?$|^linux-kbuild-'
}

# unpack RELEASE FOLDER
unpack()
{
	local release=$1 root=$2/root debs=$NSWAP_CACHE/debs pkg name
	mkdir -p "$root" "$debs"
	for pkg in $(packages_of "$release"); do
		say "getting $pkg"
		(cd "$debs" && private_download "$suite" "$pkg")
		name=$(find "$debs" -name "${pkg}_*.deb" | sort -V | tail -n 1)
		dpkg-deb -x "$name" "$root"
		rm -f "$name"
	done
	# Debian 13 has its libraries below /usr alone
	[ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
	# The headers name each other by where they would be installed.
	sed -i "s|/usr/src/|$place/root/usr/src/|" \
		"$root/usr/src/linux-headers-$release/Makefile"
	# and the kernel of 7.2 beside its modules
	if [ ! -f "$root/boot/vmlinuz-$release" ]; then
		mkdir -p "$root/boot"
		mv "$root/lib/modules/$release/vmlinuz" "$root/boot/vmlinuz-$release"
	fi
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
	local release root suite meta
	release_of_series
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
	suite) echo "$suite" ;;
	*) die "unknown request '$what': image, kdir, modules, release or suite" ;;
	esac
}

main
