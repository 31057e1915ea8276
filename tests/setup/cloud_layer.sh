#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a cloud's Debian 12 has more than the root of debian_root.sh, cloud-init above all,
# as a layer of an overlay over that: prints its folder, in the cache. It needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/cache.sh"

packages="ca-certificates cloud-init curl"

# shellcheck disable=SC2016 # the inner shell expands it
enter='
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
cp /etc/resolv.conf "$2/root/etc/resolv.conf"
exec chroot "$2/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
	DEBIAN_FRONTEND=noninteractive sh -ec "
		apt-get -q update
		apt-get -q install -y --no-install-recommends $3
		apt-get clean
		rm -rf /var/lib/apt/lists/*"
'

main()
{
	local base place
	base=$("$here/debian_root.sh")
	place="$NSWAP_CACHE/cloud-bookworm-$(sha256sum <<< "${base##*/} $packages" | cut -c 1-12)"
	exec 9> "$NSWAP_CACHE/cloud-bookworm.lock"
	flock 9
	if [ ! -d "$place" ]; then
		say "adding cloud-init to the Debian 12 root (about 30 MB of packages, once)"
		rm -rf "$NSWAP_CACHE"/cloud-bookworm-*
		mkdir -p "$place".new/{upper,work,root}
		unshare --mount --pid --fork sh -ec "$enter" sh "$base" "$place.new" "$packages" \
			> "$place.new/log" 2>&1 || die "it failed, see $place.new/log"
		mv "$place.new" "$place"
	fi
	echo "$place/upper"
}

main
