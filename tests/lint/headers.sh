#!/bin/bash
# Every header can be included alone and first, by gcc and by clang; every source
# file compiles without a warning with the compiler that the build does not use.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
packages=${PACKAGES:-glib-2.0 json-glib-1.0 ncursesw babeltrace2 lttng-ctl popt}
# shellcheck disable=SC2086
read -ra cflags < <(pkg-config --cflags $packages)
options=(-std=c11 -D_GNU_SOURCE -DBLKTOP_VERSION='"0"' -DBLKTOP_DATADIR='"/usr/share/blktop"'
	-Isrc -Itests -I"${BUILD:-build}/gen" "${cflags[@]}" -Wall -Wextra -Wshadow -Wstrict-prototypes
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
for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null; then
		n=$((n + 1))
		echo "ok $n - $compiler # SKIP $compiler is not installed"
		continue
	fi
	# *_numbers.h are rows, included inside of a table.
	mapfile -t files < <(find src tests/lib -name '*.h' ! -name '*_numbers.h' 2>/dev/null | sort)
	if [ $compiler = $other ]; then
		mapfile -t -O ${#files[@]} files < <(find src tests/lib tests/unit -name '*.c' 2>/dev/null | sort)
	fi
	for file in "${files[@]}"; do
		try $compiler "$file"
	done
done
echo "1..$n"
exit $failed
