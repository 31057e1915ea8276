#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A release of what is committed: the source, Debian packages of it, release notes and
# checksums, in a folder.
#
# usage: release.sh [FOLDER]     default: build/release/VERSION
#
# The version is that of Kbuild, the notes are its section of CHANGELOG.md. The packages
# are built from the source that is released, and have the date of its commit. The folder
# is there when all of it is done.
set -euo pipefail
cd "$(dirname "$0")/.."

refuse() {
	echo "error: $*" >&2
	exit 1
}

version=$(sed -n 's/^NSWAP_VERSION := //p' Kbuild)
out=$(realpath -m "${1:-build/release/$version}")

git rev-parse -q --verify HEAD > /dev/null || refuse "a release is made of a commit, and there is none"
[ -z "$(git status --porcelain)" ] ||
	refuse "there are changes that are not committed: commit them or put them away"
notes=$(awk -v version="$version" '
	/^## / { inside = $2 == version; next }
	inside { print }' CHANGELOG.md | sed -e '/./,$!d')
[ -n "$notes" ] || refuse "CHANGELOG.md has nothing in a section '## $version', the version of Kbuild"
[ ! -e "$out" ] || refuse "$out is there already: remove it, or name another folder"

mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
name=nswap-$version
mkdir "$work/release"
git archive --prefix="$name/" HEAD | gzip -9n > "$work/release/$name.tar.gz"
tar -xf "$work/release/$name.tar.gz" -C "$work"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
"$work/$name/tools/build_deb.sh" "$version" "$work/deb" > "$work/deb.log" || {
	cat "$work/deb.log" >&2
	refuse "the packages could not be built"
}
cp "$work"/deb/*.deb "$work/release"
printf '%s\n' "$notes" > "$work/release/NOTES.md"
(cd "$work/release" && sha256sum -- * > "$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$work/release"
mv -T "$work/release" "$out"
for file in "$out"/*; do
	echo "  made    ${file#"$PWD"/}"
done
