#!/bin/bash
# With the compiler that the build does not use (clang, or gcc where CC is clang): every header can be included alone
# and first (of most the build itself shows that); with ALL=1, as in make check-long, every source file compiles without
# a warning, those of the tests, too.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
packages=${PACKAGES:-glib-2.0 ncursesw babeltrace2 lttng-ctl popt libseccomp}
# shellcheck disable=SC2086
read -ra cflags < <(pkg-config --cflags $packages | sed 's/-I/-isystem/g')
options=(-std=c11 -D_GNU_SOURCE -DBLKTOP_VERSION='"0"' -DBLKTOP_DATADIR='"/usr/share/blktop"'
	-Isrc -Isrc/blkin -Itests -I"${BUILD:-build}/gen" "${cflags[@]}" -Wall -Wextra -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wvla -Wno-unused-parameter -Werror -fsyntax-only)
BATCH=40
n=0 failed=0
empty=$(mktemp -d) || exit 1
trap 'rm -rf "$empty"' EXIT

# What is compiled for a file: the file, or one that includes only the header.
unit() { # unit FILE
	case $1 in
	*.h) echo "$empty/${1//\//,}.c" ;;
	*) echo "$1" ;;
	esac
}

try() { # try COMPILER FILE: one result
	local messages
	n=$((n + 1))
	if messages=$("$1" "${options[@]}" -x c "$(unit "$2")" 2>&1); then
		echo "ok $n - $1 $2"
	else
		failed=1
		echo "not ok $n - $1 $2"
		head -n 20 <<<"$messages" | sed 's/^/#   /'
	fi
}

# Most of clang's time is its start. Its inner command compiles many files, each by itself: if there is no message,
# each is fine. If there is one, each file is tried alone. gcc has no such command.
inner=()
find_inner() { # find_inner COMPILER
	local words word
	[ "$1" = clang ] || return
	eval "words=($(clang "${options[@]}" -### -x c /dev/null 2>&1 | grep '"-cc1"'))"
	for word in "${words[@]}"; do
		case $word in
		-disable-free | /dev/null) ;;
		*) inner+=("$word") ;;
		esac
	done
}

try_all() { # try_all COMPILER FILE...
	local compiler=$1 file units=()
	shift
	for file; do units+=("$(unit "$file")"); done
	if [ ${#inner[@]} -gt 0 ] && "${inner[@]}" "${units[@]}" >/dev/null 2>&1; then
		for file; do
			n=$((n + 1))
			echo "ok $n - $compiler $file"
		done
	else
		for file; do try "$compiler" "$file"; done
	fi
}

case ${CC:-cc} in
*clang*) other=gcc ;;
*) other=clang ;;
esac
if ! command -v $other >/dev/null; then
	echo "1..0 # SKIP $other is not installed"
	exit 0
fi
find_inner $other
# *_numbers.h are rows, included inside of a table; *_tp.h and what includes them is LTTng's.
# shellcheck disable=SC2046
readarray -t sources < <(find src $([ -z "${ALL:-}" ] || echo tests/unit tests/lib tests/bench tests/tools) -name '*.c' \
	! -path 'tests/tools/*/*' ! -path src/blkin/calls.c ! -path src/blkin/probes.c | sort)
# A source file that includes a header first is the proof for it, here or in the build.
declare -A first=()
while read -r _ header; do first[$header]=yes; done < <(grep -hm1 '^#include' "${sources[@]}")
files=()
[ -z "${ALL:-}" ] || files=("${sources[@]}")
while read -r file; do
	[ -z "${first[\"${file#*/}\"]:-}" ] || continue
	files+=("$file")
	echo "#include \"${file#*/}\"" >"$(unit "$file")"
done < <(find src tests/lib -name '*.h' ! -name '*_numbers.h' ! -name '*_tp.h' | sort)
for ((at = 0; at < ${#files[@]}; at += BATCH)); do
	try_all $other "${files[@]:at:BATCH}"
done
echo "1..$n"
exit $failed
