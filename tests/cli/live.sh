#!/bin/bash
# A real relay daemon: sessions listed, chosen, followed, ended, killed.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
LAB=$SRCDIR/tests/live/lab
skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}
for tool in lttng lttng-sessiond lttng-relayd make cc; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
pkg-config --exists lttng-ust || skip_all "liblttng-ust-dev is not installed"

export LAB_NAME=cli$$ LAB_DIR=$work/lab LAB_LIVE_US=100000 LAB_APPS=0
chmod 711 "$work"
"$LAB/lab-up" >"$work/env" 2>"$work/err" || { cat "$work/err" >&2; skip_all "the lab does not come up"; }
. "$work/env"
trap '"$LAB/lab-down"; clean_work' EXIT
host=127.0.0.1:$LAB_LIVE_PORT
in_lab() { "$LAB/lab-run" "$@" >>"$work/lab.log" 2>&1; }

succeeds 0 "--list-sessions" --list-sessions -r "$host"
ok "the session is listed with its URL" grep -qF "$LAB_URL" "$work/out"
succeeds 0 "--list-sessions as JSON" --list-sessions --format json -r "$host"
facts() { python3 -c 'import json, sys; s = json.load(open(sys.argv[1]))["sessions"]; print(len(s), s[0]["url"], s[0]["live_timer_ns"], s[0]["viewers"])' "$1"; }
ok "one object with all facts" [ "$(facts "$work/out")" = "1 $LAB_URL 100000000 0" ]
refused 2 "csv" --list-sessions --format csv -r "$host"
run -b -n 1 --view events -r "$LAB_URL" -r "$LAB_URL"
ok "a session that is given twice is one: nobody is in the way" grep -q 'no events came from' "$work/err"
ok "not an event in a second: exit 1" [ "$code" -eq 1 ]
refused 1 "nosuch" -b --timeout 3 -r "net://$host/host/$(hostname)/nosuch"

# follow OUT ARGUMENT...: blktop in the background; waits until it is attached
follow() {
	local out=$1
	shift
	"$BLKTOP" -b --view spans --format json "$@" >"$work/$out" 2>"$work/$out.err" </dev/null &
	viewer=$!
	for _ in $(seq 200); do
		"$BLKTOP" --list-sessions -r "$host" 2>/dev/null | grep -q taken && break
		kill -0 $viewer 2>/dev/null || break
		sleep 0.05
	done
}
spans_in() { # spans_in FILE: how many complete ones
	python3 -c "
import json
print(len({(r['trace_id'], r['span_id'], r['kind']) for l in open('$1') for r in json.loads(l)['rows'] if r['state'] == 'complete'}))"
}
in_lab "$LAB_HOME/bin/spangen" -n 3 -r 50	# so that the session has streams

in_lab "$LAB_HOME/bin/spangen" -t 1 -n 400 -r 100 &
spangen=$!
run -b -n 2 --view processes --columns pid,comm -r "$LAB_URL"
ok "processes are listed though no kernel tells of them" grep -Eq '^[0-9]+  spangen' "$work/out"
wait "$spangen"

follow all -r "$host"
in_lab "$LAB_HOME/bin/spangen" -n 40 -r 50 --truth "$LAB_HOME/truth"
in_lab lttng --no-sessiond destroy spans
code=0
wait $viewer || code=$?
cp "$work/all" "$work/out"
cp "$work/all.err" "$work/err"
ok "one session attaches at once; its end is exit 0" [ "$code" -eq 0 ]
want=$(awk '$1 == "total" { print $3 }' "$LAB_HOME/truth")
ok "every span is counted" [ "$(spans_in "$work/all")" -ge "$want" ]
refused 1 "no live session" -b -r "$host"

session() { # session NAME
	in_lab lttng --no-sessiond create "$1" --live=100000 --ctrl-url="tcp://127.0.0.1:$LAB_CTRL_PORT" \
		--data-url="tcp://127.0.0.1:$((LAB_CTRL_PORT + 1))" &&
		in_lab lttng --no-sessiond enable-channel -u chan -s "$1" --buffers-uid --subbuf-size=64k --num-subbuf=4 &&
		in_lab lttng --no-sessiond enable-event -u -s "$1" -c chan 'zipkin:*' && in_lab lttng --no-sessiond start "$1"
}
session one && session two
in_lab "$LAB_HOME/bin/spangen" -n 3 -r 50
refused 2 "/two" -b -r "$host"
ok "of several, both are named" grep -q '/one' "$work/err"

follow some -r "net://$host/host/$(hostname)/one" -n 2
"$LAB/lab-run" "$LAB_HOME/bin/spangen" -t 1 -r 50 -s 20 >/dev/null 2>&1 &
app=$!
code=0
wait $viewer || code=$?
cp "$work/some" "$work/out"
ok "-n 2 ends by itself" [ "$code" -eq 0 ]
ok "-n 2 prints two seconds" json "len(lines) == 2"

follow stopped -r "net://$host/host/$(hostname)/two"
kill -TERM $viewer
code=0
wait $viewer || code=$?
ok "SIGTERM: 143" [ "$code" -eq 143 ]

follow killed --timeout 2 -r "net://$host/host/$(hostname)/one"
for _ in $(seq 200); do
	[ ! -s "$work/killed" ] || break
	sleep 0.05
done
kill -9 "$LAB_RELAYD_PID"
code=0
wait $viewer || code=$?
cp "$work/killed.err" "$work/err"
: >"$work/out"
ok "a relay that is killed: exit 4 after the time limit" [ "$code" -eq 4 ]
ok "it is told" grep -q '^blktop: ' "$work/err"
kill $app 2>/dev/null
wait $app 2>/dev/null

done_testing
