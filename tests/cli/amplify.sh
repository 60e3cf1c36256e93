#!/bin/bash
# The trace amplifier of tests/bench: what babeltrace2 reads of an amplified trace is
set -u
# shellcheck disable=SC1091,SC2154 # lib.sh; work, code: from there
. "$(dirname "$0")/lib.sh"
AMPLIFY=$(realpath "${BUILD:-$SRCDIR/build}/bench/amplify")

# What babeltrace2 shows, in raw cycles: one event a line; and its warnings of losses.
# Without texts: 2.0.4 shows another event's for one that is empty.
show() { # show TRACE
	babeltrace2 --clock-cycles --no-delta "$1" 2>"$work/lost" | sed 's/= "[^"]*"/= ""/g'
	grep -o 'WARNING: Tracer discarded [0-9]* [a-z]*' "$work/lost" >"$work/warnings"
}

# Repetition N of a text that was shown: the time in brackets is shifted.
later() { # later N CYCLES < TEXT
	awk -v by="$(($1 * $2))" '{
		end = index($0, "]")
		printf "[%020.0f%s\n", substr($0, 2, end - 2) + by, substr($0, end)
	}'
}

check() { # check TRACE TIMES OPTION...: amplified, is it the same again and again?
	local trace=$TRACES/$1 times=$2 out=$work/long lines shift k
	shift 2
	rm -rf "$out"
	"$AMPLIFY" --times "$times" "$@" "$trace" "$out" >"$work/said" 2>"$work/err"
	code=$?
	ok "${trace#"$TRACES/"} is amplified $*" test "$code" -eq 0
	shift=$(sed -n 's/.* each \([0-9]*\) cycles later/\1/p' "$work/said")
	show "$trace" >"$work/once"
	cp "$work/warnings" "$work/warned"
	lines=$(wc -l <"$work/once")
	[ "$lines" -gt 0 ] || fail "babeltrace2 reads $trace"
	for ((k = 0; k < times; k++)); do
		later "$k" "$shift" <"$work/once"
	done >"$work/want"
	show "$out" >"$work/have"
	ok "$times times $lines events, the last by $(((times - 1) * shift)) cycles later" \
		cmp -s "$work/want" "$work/have"
	ok "and $times times its losses" [ \
		"$(wc -l <"$work/warnings")" -eq $((times * $(wc -l <"$work/warned"))) ]
}

if command -v babeltrace2 >/dev/null; then
	check kernel-small/trace 3
	ok "index files are there" test -s "$work/long/kernel/index/k0_0.idx"
	check lost/trace 2
	check kernel-ust/trace 2 --no-index
	ok "index files are left out when asked for" test ! -e "$work/long/kernel/index"
else
	skip "an amplified trace" "no babeltrace2 here"
fi

refuse() { # refuse WORDS ARGUMENT...
	local words=$1
	shift
	code=0
	"$AMPLIFY" "$@" >"$work/out" 2>"$work/err" || code=$?
	if [ "$code" -eq 1 ] && grep -qF -- "$words" "$work/err"; then pass "refused: $words"; else fail "$*"; fi
}
refuse usage --times 3 "$TRACES/kernel-small/trace"
refuse 'is no size' --size 3X "$TRACES/kernel-small/trace" "$work/no"
refuse 'chunks of one trace' --times 2 "$TRACES/rotation/trace" "$work/no"
refuse 'No such file' --times 2 "$work/nowhere" "$work/no"
done_testing
