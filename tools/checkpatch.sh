#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's checkpatch with this project's settings.
#
# usage: checkpatch.sh files            every C file of the tree
#        checkpatch.sh staged           what is about to be committed
#        checkpatch.sh commits [RANGE]  subjects (default: not yet pushed)
#
# Kernel code is held to --strict. What is not asked of it, and why:
#   FILE_PATH_CHANGES      there is no MAINTAINERS file out of tree
#   LINUX_VERSION_CODE     only in compat/, whose fence it is
#   CONSTANT_COMPARISON    same: KERNEL_VERSION() is taken for a constant
#   MACRO_ARG_REUSE        static tables and type-generic macros need it
#   MACRO_ARG_UNUSED       only in compat/: shims drop what was not there yet
#   EMBEDDED_FILENAME      not a naming rule of ours
#   LONG_LINE_STRING       sentences for users stay whole, so that grep finds them
#   UNCOMMENTED_DEFINITION the kernel-doc above the struct says what it protects
#   BIT_MACRO              flag tables on the wire are written in hexadecimal
#   MULTIPLE_ASSIGNMENTS   counters that begin together are cleared in one line
#   TYPO_SPELLING          codespell reads the same words, British ones too
#   CAMELCASE              names of zstd's own
#   NR_CPUS                only in a BUILD_BUG_ON(), where nothing else is known yet
#   NEW_TYPEDEFS           only in compat/: blk_mode_t
# nswap/base/stats.[ch], core/inject.[ch], core/inject_point.c and core/knob_list.h are lists expanded several times, which it takes
# for careless macros (COMPLEX_MACRO and its kin); so are the tables of
# policies (policy.h, policies.c, prefetch.h), and nswap/observe/trace.h, laid out as
# all tracepoints are.
# Programs of user space are read for layout only: the rest of checkpatch's
# advice (u64, ARRAY_SIZE, strscpy, volatile) is about the kernel.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

tree=$(tools/kernel_source.sh) || exit 1
checkpatch() { perl "$tree/scripts/checkpatch.pl" --no-tree --quiet --show-types "$@"; }

always=FILE_PATH_CHANGES,MACRO_ARG_REUSE,EMBEDDED_FILENAME,BIT_MACRO
always=$always,UNCOMMENTED_DEFINITION,LONG_LINE_STRING,MULTIPLE_ASSIGNMENTS
always=$always,TYPO_SPELLING,CAMELCASE,NR_CPUS
compat=$always,LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_UNUSED,NEW_TYPEDEFS
tables=$always,COMPLEX_MACRO,TRAILING_SEMICOLON,MACRO_ARG_PRECEDENCE
tables=$tables,MULTISTATEMENT_MACRO_USE_DO_WHILE,OPEN_ENDED_LINE
tables=$tables,PARENTHESIS_ALIGNMENT,MACRO_ARG_UNUSED
user=$always,ASSIGN_IN_IF,EMBEDDED_FUNCTION_NAME,PREFER_KERNEL_TYPES,VOLATILE,ARRAY_SIZE,SPLIT_STRING
user=$user,PREFER_DEFINED_ATTRIBUTE_MACRO,UNSPECIFIED_INT,CONST_STRUCT
user=$user,STRCPY,STRNCPY,STRLCPY,SSCANF_TO_KSTRTO,NAKED_SSCANF
user=$user,PREFER_FALLTHROUGH,CONSIDER_KSTRTO,MINMAX,USLEEP_RANGE,NEW_TYPEDEFS,SYMBOLIC_PERMS
user=$user,ALLOC_WITH_SIZEOF,ALLOC_WITH_MULTIPLY,ALLOC_SIZEOF_STRUCT

files()
{
	local bad=0 kernel shims tools tables_of_code lists
	lists='nswap/core/knob_list\.h|nswap/core/inject(_point)?\.[ch]|nswap/base/stats\.[ch]|nswap/observe/trace\.h|policy/policy\.h|policy/policies\.c|prefetch/prefetch\.h'
	list() { git ls-files -c -o --exclude-standard -- "$@" | grep '\.[ch]$'; }
	# Generated code is the generator's to answer for.
	mapfile -t kernel < <(list nswap policy prefetch proc tests/kunit tests/model_dev |
		grep -vE "_gen\.[ch]\$|^($lists)\$")
	mapfile -t tables_of_code < <(list nswap policy prefetch | grep -E "^($lists)\$")
	mapfile -t shims < <(list compat)
	mapfile -t tools < <(list tools tests bench | grep -vE '^tests/(kunit|model_dev)/')
	checkpatch --strict --ignore "$always" -f "${kernel[@]}" || bad=1
	checkpatch --strict --ignore "$tables" -f "${tables_of_code[@]}" || bad=1
	checkpatch --strict --ignore "$compat" -f "${shims[@]}" || bad=1
	[ ${#tools[@]} -eq 0 ] ||
		checkpatch --ignore "$user" -f "${tools[@]}" || bad=1
	return $bad
}

staged()
{
	git diff --cached -- '*.[ch]' | checkpatch --no-signoff --strict \
		--ignore "$compat,COMMIT_MESSAGE" -
}

# Subjects are "area: do this", at most 72 characters, no full stop; a message
# of the protocol may come first, in capitals.
commits()
{
	local range bad=0 subject
	range=${1:-$(git rev-parse -q --verify '@{upstream}' > /dev/null 2>&1 &&
		echo '@{upstream}..HEAD' || echo HEAD)}
	while read -r subject; do
		if [ ${#subject} -gt 72 ]; then
			echo "subject longer than 72 characters: $subject"
			bad=1
		fi
		case $subject in
		*.) echo "subject ends with a full stop: $subject"; bad=1 ;;
		esac
		if ! grep -qE '^[a-z][a-zA-Z0-9_./, {}-]*: ([a-z]|[A-Z]{2,} )' <<< "$subject"; then
			echo "subject is not \"area: do this\": $subject"
			bad=1
		fi
	done < <(git log --no-merges --format=%s "$range")
	return $bad
}

case ${1:-} in
files) files ;;
staged) staged ;;
commits) shift; commits "$@" ;;
*)
	sed -n 's/^# \(usage:.*\|       checkpatch.*\)/\1/p' "$0" >&2
	exit 2
	;;
esac
