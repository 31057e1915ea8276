# SPDX-License-Identifier: GPL-2.0
# Sourced by the set-up scripts: where downloads and kernel builds are kept,
# and private apt states that leave the machine's own package lists alone
# (so no root is needed to fetch a package, and no lock is shared).

NSWAP_CACHE="${NSWAP_CACHE:-$HOME/.cache/nswap}"
NSWAP_SETUP=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf '   %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# own_mirror PATTERN: the first of this machine's package sources that matches.
own_mirror()
{
	# shellcheck disable=SC2016 # apt expands it
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
		grep -E "$1" | sed 's|/$||' | sort -u | head -n 1
}

# debian_mirror: where Debian comes from.
debian_mirror()
{
	local mirror="${NSWAP_DEBIAN_MIRROR:-$(own_mirror '/debian/?$')}"
	[ -n "$mirror" ] ||
		die "no Debian mirror among this machine's package sources: set NSWAP_DEBIAN_MIRROR to one"
	echo "$mirror"
}

# debian_root SUITE PACKAGES FOLDER: a small Debian there, with these, by debootstrap.
# The caller has to move it to its place; its log stays beside it.
debian_root()
{
	local mirror
	mirror=$(debian_mirror) || exit 1
	rm -rf "$3"
	debootstrap --variant=minbase --include="$2" \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		"$1" "$3" "$mirror" > "$3.log" 2>&1 ||
		die "debootstrap failed, see $3.log"
	rm -f "$3"/var/cache/apt/archives/*.deb
}

# apt_sources SUITE: the sources.list lines of a Debian release.
apt_sources()
{
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	local deb="deb [signed-by=$key]" mirror security
	mirror=$(debian_mirror) || exit 1
	security=$(own_mirror 'debian-security/?$')
	case $1 in
	trixie)
		echo "$deb $mirror trixie-backports main"
		echo "$deb $mirror trixie main"
		;;
	bookworm | bullseye)
		echo "$deb $mirror $1 main"
		echo "$deb ${security:-$mirror-security} $1-security main"
		;;
	*)
		die "no package sources known for '$1'"
		;;
	esac
}

# private_apt SUITE PROG ARG…: apt-get or apt-cache against that release,
# signed by this machine's debian-archive-keyring, state kept in the cache.
private_apt()
{
	local state="$NSWAP_CACHE/apt-$1" suite=$1 prog=$2 quiet=-q
	shift 2
	[ -t 2 ] && quiet=
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	apt_sources "$suite" > "$state/sources.list"
	"$prog" ${quiet:+"$quiet"} \
		-o Dir::Etc::SourceList="$state/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$state/lists" \
		-o Dir::Cache="$state" \
		-o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
		-o APT::Sandbox::User=root "$@"
}

# private_download SUITE PACKAGE: that release's package into this folder.
# "apt-get download" starts over when it was cut short, so it is only asked
# where the file is, unless there is no other way to get it.
private_download()
{
	local uri name size sum
	read -r uri name size sum < <(private_apt "$1" apt-get --print-uris \
		download "$2") || die "$1 has no package $2"
	uri=${uri//\'/}
	"$NSWAP_SETUP/get.py" "$uri" "$name" "$size" "${sum#SHA256:}" ||
		private_apt "$1" apt-get download "$2" >&2
}

# backports_apt PROG ARG…: the release that carries the lab's kernel source.
backports_apt()
{
	private_apt trixie "$@"
}
