#!/bin/bash
# Simulated live sessions (tests/long/simulate): of each seed all events must be counted once or reported missing, and every
# request must be in the sums of its second.
#
#   simulate.sh [SEEDS=10000] [FIRST=1]     so many seeds, on all processors
#   simulate.sh SEED=N                      one, with what happens
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$SRCDIR" || exit 1
SEEDS=10000 FIRST=1 SEED=''
for argument in "$@"; do
	[[ $argument =~ ^(SEEDS|FIRST|SEED)=[0-9]+$ ]] || { sed -n '2,6p' "$0" >&2; exit 2; }
	declare "$argument"
done
BUILD=${BUILD:-build}
program=$BUILD/simulate
[ -x "$program" ] || make --no-print-directory BUILD="$BUILD" "$program" >&2 || exit 1
[ -z "$SEED" ] || exec "$program" -v "$SEED" 1

work=$(mktemp -d "${TMPDIR:-/tmp}/simulate.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
n=0 failed=0
export program work

result() { # result WHAT GOOD [FILE]
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1"
		head -n 30 "${3:-/dev/null}" | sed 's/^/#   /'
	fi
}

once() { nice "$program" "$FIRST" $((SEEDS < 100 ? SEEDS : 100)) >"$work/$1" 2>/dev/null; }
once first
once second
cmp -s "$work/first" "$work/second"
result "a seed does the same each time" $? <(diff "$work/first" "$work/second")

# some: seeds FIRST N: in work/FIRST
some() { nice "$program" "$1" "$2" >"$work/$1" 2>"$work/$1.err"; }
export -f some
at=$FIRST
while [ $at -lt $((FIRST + SEEDS)) ]; do
	count=$((FIRST + SEEDS - at < 250 ? FIRST + SEEDS - at : 250))
	echo "$at $count"
	at=$((at + count))
done >"$work/parts"
xargs -P "$(nproc)" -L 1 bash -c 'some "$1" "$2"' - <"$work/parts"
while read -r first count; do
	grep -v '^fine ' "$work/$first" | sed 's|^FAILED \([0-9]*\).*|&: tests/long/simulate.sh SEED=\1|' >"$work/bad"
	cat "$work/$first.err" >>"$work/bad"
	[ "$(grep -c '^fine ' "$work/$first")" = "$count" ]
	result "seeds $first to $((first + count - 1))" $? "$work/bad"
done <"$work/parts"
echo "1..$n"
exit $((failed > 0))
