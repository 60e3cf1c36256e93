#!/bin/bash
# With the compiler that the build does not use (clang, or gcc where CC is clang): every header can be included alone
# and first, every source file compiles without a warning; with ALL=1, as in make check-long, those of the tests, too.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
packages=${PACKAGES:-glib-2.0 json-glib-1.0 ncursesw babeltrace2 lttng-ctl popt libseccomp}
# shellcheck disable=SC2086
read -ra cflags < <(pkg-config --cflags $packages)
options=(-std=c11 -D_GNU_SOURCE -DBLKTOP_VERSION='"0"' -DBLKTOP_DATADIR='"/usr/share/blktop"'
	-Isrc -Isrc/blkin -Itests -I"${BUILD:-build}/gen" "${cflags[@]}" -Wall -Wextra -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wvla -Wno-unused-parameter -Werror -fsyntax-only)
n=0 failed=0

try() { # try COMPILER FILE: one result; a header is included from an empty file
	local messages file=$2
	n=$((n + 1))
	case $file in *.h) file=- ;; esac
	if messages=$("$1" "${options[@]}" -x c "$file" 2>&1 <<<"#include \"${2#*/}\""); then
		echo "ok $n - $1 $2"
	else
		failed=1
		echo "not ok $n - $1 $2"
		head -n 20 <<<"$messages" | sed 's/^/#   /'
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
# *_numbers.h are rows, included inside of a table; *_tp.h and what includes them is LTTng's.
while read -r file; do
	try $other "$file"
done < <({
	find src tests/lib -name '*.h' ! -name '*_numbers.h' ! -name '*_tp.h'
	find src ${ALL:+tests/unit tests/lib tests/bench tests/tools} -name '*.c' ! -path 'tests/tools/*/*' \
		! -path src/blkin/calls.c ! -path src/blkin/probes.c
} | sort)
echo "1..$n"
exit $failed
