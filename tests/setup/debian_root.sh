#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A small Debian in the cache, to install packages in: prints its folder.
#
# usage: debian_root.sh [bookworm|trixie]
#
# It has what nswap's packages depend on, so that they are installed without a network,
# systemd, and the headers of the release's stock kernels (tests/vm/fetch_kernel.sh), but
# none in /lib/modules: a test installs those it wants. It needs root. What is in the
# cache is complete, and is never written to: tests put an overlay over it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/cache.sh"

suite=${1:-bookworm}
packages=dkms,iproute2,kmod,libblkid1,libnl-genl-3-200,libsodium23,openssl,pahole,systemd-sysv,udev
case $suite in
bookworm)
	packages+=,libelf1
	series="6.1 6.12"
	;;
trixie)
	packages+=,gcc-14,libelf1t64
	series="trixie-6.12 7.2"
	;;
*)
	die "no packages known for a root of Debian '$suite'"
	;;
esac

# headers SERIES ROOT: of a stock kernel, where its package has them
headers()
{
	local from release kdir
	release=$("$here/../vm/fetch_kernel.sh" "$1" release)
	kdir=$("$here/../vm/fetch_kernel.sh" "$1" kdir)
	from=${kdir%/usr/src/*}
	mkdir -p "$2/usr/src" "$2/usr/lib"
	cp -a "$from"/usr/src/linux-* "$2/usr/src/"
	cp -a "$from"/usr/lib/linux-kbuild-* "$2/usr/lib/"
	sed -i "s|$from||" "$2/usr/src/linux-headers-$release/Makefile"
	echo "$release"
}

main()
{
	local place key one
	[ "$(id -u)" = 0 ] || die "a Debian root can be made and entered by root only"
	key=$packages
	for one in $series; do
		key+=" $("$here/../vm/fetch_kernel.sh" "$one" release)"
	done
	place="$NSWAP_CACHE/system-$suite-$(sha256sum <<< "$key" | cut -c 1-12)"
	exec 9> "$NSWAP_CACHE/system-$suite.lock"
	flock 9
	if [ ! -d "$place" ]; then
		say "making a root of Debian $suite (about 110 MB of packages, once)"
		rm -rf "$NSWAP_CACHE/system-$suite"-*
		debian_root "$suite" "$packages" "$place.new"
		for one in $series; do
			headers "$one" "$place.new" > /dev/null
		done
		mv "$place.new" "$place"
	fi
	echo "$place"
}

main
