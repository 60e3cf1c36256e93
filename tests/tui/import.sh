#!/bin/bash
# A long file of spans on the screen: how far it is read, and Esc, which stops it and keeps
# what was read.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
blktop=$(realpath "$BLKTOP")

awk 'BEGIN {
	for (i = 1; i <= 300000; i++)
		printf "%s{\"traceId\":\"%016x\",\"id\":\"%016x\",\"name\":\"get\",\"timestamp\":%d,\"duration\":%d," \
			"\"localEndpoint\":{\"serviceName\":\"web\"}}", i == 1 ? "[" : ",\n", i, i,
			1700000000000000 + i * 1000, 500 + i % 100
	print "]"
}' >"$work/long.json"

title() { t capture-pane -p -t now | head -1; }
has_title() { title | grep -qE -- "$1"; }
far() { title | sed -n 's/.* loading \([0-9]*\)%.*/\1/p'; }
goes_on() { local now; now=$(far); [ -n "$now" ] && [ "$now" -gt "$first" ] && [ "$now" -gt 50 ]; }

shell
keys "'$blktop' long.json; echo rc=\$?" Enter
until_true has_title 'loading [0-9]+%'
result $? "it says how far it is"
first=$(far)
first=${first:-0}
until_true goes_on
result $? "and goes on"
keys Escape
until_true has_title 'stopped at [0-9]+%'
result $? "Esc stops it"
wait_for "get" && ! shows "reading ..."
result $? "what was read stays"
has_title 'long.json spans '
result $? "of a file of spans, whoever traced them"
keys Q
given_back 0
result $? "and q gives the terminal back"

# Stopped while it is looked through, nothing of it is there yet.
shell
keys "'$blktop' \$(yes long.json | head -20); echo rc=\$?" Enter
until_true has_title 'loading [0-9]%'
keys Escape
until_true has_title 'stopped at [0-9]%' && wait_for "nothing was read" && ! shows "reading ..."
result $? "Esc stops the first pass, too, and nothing was read"
keys Q
given_back 0
result $? "and q gives the terminal back after that"

# What is left out is told here, too.
echo '[{"traceId":"1","id":"2","name":"get","timestamp":1700000000000000,"duration":5},{}]' >"$work/some.json"
shell
keys "'$blktop' some.json; echo rc=\$?" Enter
wait_for "some.json: span 2: no valid traceId: left out"
result $? "what is left out is told"
keys Q
given_back 0
result $? "and q gives the terminal back once more"
done_testing
