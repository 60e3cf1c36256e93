#!/bin/bash
# What bash offers after some beginnings of a command line.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
blktop=${BLKTOP:-build/blktop}
[ -x "$blktop" ] || { echo "1..0 # SKIP $blktop is not built"; exit 0; }
. completions/blktop.bash
compopt() { :; } # there is no command line being typed
n=0 failed=0

offers() { # offers WANTED WORD...: completing the last word offers that
	local wanted=$1
	shift
	COMP_WORDS=("$blktop" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_blktop
	n=$((n + 1))
	if printf '%s\n' "${COMPREPLY[@]}" | grep -Fxq -- "$wanted"; then
		echo "ok $n - $*: $wanted"
	else
		failed=1
		echo "not ok $n - $*: $wanted"
		printf '#   %s\n' "${COMPREPLY[@]}"
	fi
}

offers --export-slowest --exp
offers -b -
offers syscalls --view sys
offers syscalls --view = sys
offers spans --list-columns ''
offers duration_ns -b --view spans --filter dur
offers duration_ns -b --view = spans --filter dur
offers tid -b --view syscalls --sort t
offers process --by p
offers zipkin --export-slowest 1 --format z
offers tests/traces tests/tr
offers end --from e
offers babeltrace2 --reader b
offers light --theme l
offers off --mouse o
offers --slices -j 2 --sl
echo "1..$n"
exit $failed
