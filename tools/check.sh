#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lints, one line each. What a failed one said is in build/check/<name>.log
# and its first lines are shown.
#
# usage: check.sh [NAME…]      names as printed, default all of them
#        check.sh quick        those that need no kernel built: two minutes
#        check.sh light        those of them that take seconds: what CI begins with
#
# Two run at a time; build and sparse, which share objects, one after the other.
# A tool that is missing is a failure, not a skip: tests/setup/setup.sh
# installs it. Skipped is only what cannot be judged here, with the reason.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
logs=build/check
mkdir -p "$logs"
passed=0 failed=0 skipped=0

# -- the checks: each writes to its log and returns 0, 1 or 77 (skipped, the
#    reason on the last line) ------------------------------------------------

# Every kernel within reach, all warnings on, any warning fails.
check_build() { tools/build_all.sh; }

# sparse 0.6.4 cannot read 7.2's headers (they use __typeof_unqual__), so it
# looks at the stock kernels; the endian checks are on in all of them.
check_sparse() { tools/build_all.sh sparse; }

check_checkpatch() { tools/checkpatch.sh files; }

check_commits() { tools/checkpatch.sh commits; }

check_coccinelle() { tools/lint/cocci.sh; }

check_kerneldoc()
{
	local tree out files
	tree=$(tools/kernel_source.sh) || return 1
	mapfile -t files < <(find nswap policy prefetch proc -name '*.[ch]' | sort)
	out=$(python3 "$tree/scripts/kernel-doc" -none -Wall "${files[@]}" 2>&1) || {
		echo "$out"
		return 1
	}
	[ -z "$out" ] || { echo "$out"; return 1; }
}

check_layers() { python3 tools/lint/layers.py; }

check_statics() { python3 tools/lint/statics.py; }

check_sizes() { python3 tools/lint/sizes.py; }

check_files() { python3 tools/lint/files.py; }

check_words() { python3 tools/lint/words.py; }

check_warnings() { python3 tools/lint/warnings.py; }

check_interface() { make -s nswapctl && python3 tools/lint/interface.py; }

check_tests() { python3 tools/lint/tests.py; }

check_spec() { tools/ynl/check_spec.sh; }

check_shell()
{
	local scripts
	mapfile -t scripts < <(git ls-files -c -o --exclude-standard |
		xargs -r grep -lE '^#!.*\b(ba)?sh\b' --)
	shellcheck -x "${scripts[@]}" && shellcheck -s bash tests/setup/cache.sh &&
		shellcheck -x -a tests/vm/cost.sh
}

check_python()
{
	local files
	mapfile -t files < <(git ls-files -c -o --exclude-standard | while read -r f; do
		case $f in
		*.py) echo "$f" ;;
		*) head -c 60 "$f" | grep -aq '^#!.*python3' && echo "$f" ;;
		esac
	done)
	[ ${#files[@]} -gt 0 ] || return 0
	python3 - "${files[@]}" <<-'END' && pyflakes3 "${files[@]}"
	import ast, sys
	for name in sys.argv[1:]:
	    with open(name, encoding="utf-8") as text:
	        ast.parse(text.read(), name)
	END
}

check_spelling()
{
	git ls-files -c -o --exclude-standard |
		grep -vE '^(COPYING|bench/results/.*|.*\.(png|svg|json))$' |
		xargs -r codespell -L inflight,statics,fro
}

light="spec commits kerneldoc layers statics sizes files words warnings interface"
light="$light tests shell python spelling"
quick="checkpatch coccinelle $light"
all="build $quick sparse"

say() { printf '  %-5s %-11s %s\n' "$@"; }

# run NAME: the check, in the background; its exit code and seconds are kept
run()
{
	local start=$SECONDS
	"check_$1" > "$logs/$1.log" 2>&1
	echo "$? $((SECONDS - start))" > "$logs/$1.end"
}

# tell NAME: how it ended
tell()
{
	local code seconds log=$logs/$1.log
	read -r code seconds < "$logs/$1.end"
	case $code in
	0)
		passed=$((passed + 1))
		say OK "$1" "$seconds s"
		;;
	77)
		skipped=$((skipped + 1))
		say SKIP "$1" "$(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		say FAIL "$1" "$seconds s, see $log"
		head -n 12 "$log" | sed 's/^/        /'
		;;
	esac
}

# shellcheck disable=SC2086  # lists of words
case ${1:-} in
"") set -- $all ;;
quick) set -- $quick ;;
light) set -- $light ;;
esac
for name in "$@"; do
	if ! declare -F "check_$name" > /dev/null; then
		echo "error: no check '$name'; there are: light quick $all" >&2
		exit 2
	fi
done

for name in "$@"; do
	rm -f "$logs/$name.end"
	[ "$name" != sparse ] || wait
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	run "$name" &
done
wait
for name in "$@"; do
	tell "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
