#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Debian packages of the module (DKMS), the tools and the documents, into build/deb/.
#
# usage: build_deb.sh [VERSION [FOLDER]]     default: that of Kbuild, build/deb
#
# Built is a copy of the tree with dist/debian as its debian/, so that the tree stays as
# it is. The date in the packages is that of the last commit: the same source makes the
# same packages.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:-$(sed -n 's/^NSWAP_VERSION := //p' Kbuild)}
out=$(realpath -m "${2:-build/deb}")
tree=$out/tree/nswap-$version
if [[ ! $version =~ ^[0-9][0-9a-zA-Z.+~]*$ ]]; then
	echo "error: '$version' is no version of a package" >&2
	exit 1
fi

rm -rf "$out"
mkdir -p "$tree"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$tree"
cp -r dist/debian "$tree/debian"
sed -i "s/^NSWAP_VERSION := .*/NSWAP_VERSION := $version/" "$tree/Kbuild"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH
cat > "$tree/debian/changelog" <<END
nswap ($version) unstable; urgency=medium

  * What changed is in CHANGELOG.md of the source.

 -- $(sed -n 's/^Maintainer: //p' dist/debian/control)  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
(cd "$tree" && dpkg-buildpackage -b -us -uc -ui -rfakeroot) > "$out/build.log" 2>&1 || {
	tail -n 20 "$out/build.log" >&2
	echo "error: dpkg-buildpackage failed, see $out/build.log" >&2
	exit 1
}
mv "$out"/tree/*.deb "$out"/tree/*.changes "$out"/tree/*.buildinfo "$out"
rm -rf "$out/tree"
for deb in "$out"/*.deb; do
	echo "  built   ${deb#"$PWD"/}"
done
