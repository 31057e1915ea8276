#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run make with the compiler of another Debian release, in a root of its own: the build
# tools that come with a kernel's headers run on the release they were built for, and a
# module is to be built by the kernel's own compiler.
#
# usage: build_root.sh SUITE ARG…      SUITE is trixie; ARG…: what make is given
#
# The root is made once, by debootstrap, and kept in the cache. The cache is mounted in it
# where it is here, and this tree in the cache, in a mount namespace that ends with make.
# Needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/../setup/cache.sh"

tree=$(cd "$here/../.." && pwd)
suite=${1:?which Debian release}
shift
# gcc-14 is what trixie's kernels are built with; the libraries are those that the
# headers' own tools load, with W=1 perl or Python
packages=ccache,gcc-14,make,libelf1t64,libssl3t64,pahole,perl,python3
root=$NSWAP_CACHE/root-$suite-$(echo "$packages" | sha256sum | cut -c1-12)

make_root()
{
	[ "$(id -u)" = 0 ] || die "a build root can only be made by root"
	say "making a root of Debian $suite to build modules in (once)"
	rm -rf "$NSWAP_CACHE/root-$suite"-*
	debian_root "$suite" "$packages" "$root.new"
	for name in cc gcc; do
		ln -sf gcc-14 "$root.new/usr/bin/$name"
		ln -sf ../../bin/ccache "$root.new/usr/lib/ccache/$name"
	done
	mv "$root.new" "$root"
}

# bind FOLDER: it is in the root, too
bind()
{
	mkdir -p "$root$1"
	mount --bind "$1" "$root$1"
}

main()
{
	mkdir -p "$NSWAP_CACHE"
	exec 9> "$NSWAP_CACHE/root-$suite.lock"
	flock 9
	[ -d "$root" ] || make_root
	flock -u 9
	bind "$NSWAP_CACHE"
	# at the same path for all clones: the compiler's cache knows objects by it
	mkdir -p "$NSWAP_CACHE/tree"
	mount --bind "$tree" "$root$NSWAP_CACHE/tree"
	mount -t proc proc "$root/proc"
	exec chroot "$root" make -C "$NSWAP_CACHE/tree" "$@"
}

if [ -z "${NSWAP_BUILD_ROOT:-}" ]; then
	NSWAP_BUILD_ROOT=1 exec unshare --mount --propagation private \
		"$0" "$suite" "$@"
fi
main "$@"
