#!/bin/bash
# The relay daemon's stream files rotate and a session is cleared, while packets are kept: what was kept is
# what came, in one trace; readable by blktop at any time.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_LIVE_US=100000 LAB_APPS=0 LAB_SUBBUF=16k LAB_NUM_SUBBUF=8 \
	LAB_FILES="--tracefile-size=65536 --tracefile-count=64"
lab_up
spangen=$LAB_DIR/bin/spangen
span() { in_lab "$spangen" -n 300 -r 150 --truth "$LAB_DIR/truth.$1"; }
events=(--view events --columns 'name,count' --format csv)
count() { # count FILE: the column of that name
	python3 -c 'import csv, sys; print(sum(int(r["count"]) for r in csv.DictReader(open(sys.argv[1])) if r["count"]))' "$1"
}
watch() { # watch NAME: blktop, until the session ends; what comes is kept
	timeout 100 "$BLKTOP" -b "${events[@]}" --spool "$work/spool.$1" -r "$LAB_URL" >"$work/rows.$1" 2>"$work/out.$1.err" &
	viewer=$!
	until_true is_taken
}
is_taken() { "$BLKTOP" --list-sessions -r "127.0.0.1:$LAB_LIVE_PORT" 2>/dev/null | grep -q taken; }
kept() { # kept NAME: events in what was kept
	"$BLKTOP" -b "${events[@]}" --reader native "$work/spool.$1" >"$work/kept.$1" 2>"$work/out.kept.err"
	count "$work/kept.$1"
}

watch rotated
span 1
ok "readable while it grows" eval '[ "$(kept rotated)" -gt 0 ]'
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "stream files that rotate: exit status" $? 0
files=$(find "$LAB_DIR/traces" -name 'chan_*_[1-9]' | wc -l)
ok "they do ($files files more)" [ "$files" -gt 0 ]
is "all events" "$(count "$work/rows.rotated")" "$(truth_of 4 "$LAB_DIR/truth.1")"
is "all are kept" "$(kept rotated)" "$(truth_of 4 "$LAB_DIR/truth.1")"
rm "$LAB_DIR"/truth.*

ok "a session once more" session_again
watch cleared
span 1
in_lab lttng --no-sessiond clear spans
in_lab lttng --no-sessiond enable-event -u -s spans -c chan 'lttng_ust_statedump:*'
span 2
in_lab lttng --no-sessiond clear spans
span 3
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
code=$?
ok "cleared: exit status 0, or 3 where a packet was gone before it came ($code)" eval '[ "$code" = 0 ] || [ "$code" = 3 ]'
sed -n '1p; /zipkin/p' "$work/rows.cleared" >"$work/rows.zipkin"
got=$(count "$work/rows.zipkin")
wanted=$(truth_of 4 "$LAB_DIR"/truth.*)
ok "cleared: what came after it is there, and nothing twice ($got of $wanted)" \
	eval '[ "$got" -ge "$(truth_of 4 "$LAB_DIR/truth.3")" ] && [ "$got" -le "$wanted" ]'
is "cleared: what is kept is what came" "$(kept cleared)" "$(count "$work/rows.cleared")"
done_testing
