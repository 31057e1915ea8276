#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install the Debian packages that are missing.
#
# usage: setup.sh [SECTION…]      sections of the file "packages", default all
#
# Says nothing when nothing is missing. As root it installs with apt-get, and
# says what; without root it prints the command to run and fails. Nothing else
# on the machine is changed: kernels and their headers are unpacked into the
# cache by tests/vm and tests/lab, never installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/setup/cache.sh
. "$here/cache.sh"

# wanted SECTION…: the packages of these sections, or all.
wanted()
{
	local line section='' all=$#
	while read -r line; do
		line=${line%%#*}
		line=${line//[[:space:]]/}
		case $line in
		'') ;;
		'['*']')
			section=${line//[\[\]]/}
			;;
		*)
			if [ "$all" = 0 ] || [[ " $* " == *" $section "* ]]; then
				echo "$line"
			fi
			;;
		esac
	done < "$here/packages"
}

missing()
{
	local pkg state
	for pkg in "$@"; do
		state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$pkg" \
			2>/dev/null || true)
		[[ $state == ?i* ]] || echo "$pkg"
	done
}

apt()
{
	DEBIAN_FRONTEND=noninteractive apt-get -q \
		-o DPkg::Lock::Timeout=600 "$@" >&2
}

main()
{
	local section need lack
	for section in "$@"; do
		grep -qx "\[$section\]" "$here/packages" ||
			die "tests/setup/packages has no section '$section'"
	done
	mapfile -t need < <(wanted "$@")
	mapfile -t lack < <(missing "${need[@]}")
	[ ${#lack[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		die "packages are missing; as root, run:" \
			"apt-get install ${lack[*]}"
	fi
	mkdir -p "$NSWAP_CACHE"
	exec 9> "$NSWAP_CACHE/apt.lock"
	flock 9
	say "installing Debian packages: ${lack[*]}"
	# an installation that was cut short: apt-get refuses until it is ended
	[ -z "$(dpkg --audit)" ] || dpkg --configure -a >&2
	if ! apt install -y --no-install-recommends "${lack[@]}"; then
		say "trying again with fresh package lists"
		apt update
		apt install -y --fix-broken
		apt install -y --no-install-recommends "${lack[@]}"
	fi
}

main "$@"
