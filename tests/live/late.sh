#!/bin/bash
# A stream stalls: the others go on without it after --late-bound, and the seconds that its
# events came too late for are made again from the spool, so that all sums are right. Without
# a spool it is told how many are in the wrong second. And a process that is stopped: it holds
# nobody up.
# shellcheck disable=SC2154 # work, url, holder: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs: a stream each"
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
spangen=$LAB_DIR/bin/spangen

hold_stream chan_0
trap 'kill $holder; cleanup' EXIT

# watch NAME OPTION...: seconds as JSON, until the session ends
watch() {
	local name=$1
	shift
	timeout 100 "$BLKTOP" -b --view events --format json --late-bound 1 "$@" -r "$url" >"$work/out.$name" 2>"$work/err.$name" &
	viewer=$!
}
has_seconds() { [ "$(wc -l <"$work/out.$1")" -ge "$2" ]; } # has_seconds NAME N
generate() { "$LAB/lab-run" taskset -c "$1" "$spangen" -t 1 -n 600 -r 100 --truth "$LAB_DIR/truth.$1" </dev/null >>"$work/lab.log" 2>&1; }
# all events by the last version of each second; how many lines are corrections; in how many seconds
# there are others than in those of a second file
sums() {
	python3 - "$work/out.$1" "${2:-/dev/null}" <<-'PY'
		import json, sys
		def seconds(path):
		    last, corrected = {}, 0
		    for line in open(path):
		        second = json.loads(line)
		        last[second["range"]["from_ns"] // 10**9] = sum(r["count"] for r in second["rows"])
		        corrected += second["trust"]["corrected"]
		    return last, corrected
		last, corrected = seconds(sys.argv[1])
		truth, _ = seconds(sys.argv[2])
		print(sum(last.values()), corrected, sum(last.get(at, 0) != truth.get(at, 0) for at in set(last) | set(truth)))
	PY
}
# stall NAME: both CPUs have events, one's are held back for about three seconds
stall() {
	generate 0 &
	local first=$!
	generate 1 &
	local second=$!
	until_true has_seconds "$1" 2
	touch "$work/hold"
	local had
	had=$(wc -l <"$work/out.$1")
	ok "$1: the others go on" until_true has_seconds "$1" $((had + 3))
	rm "$work/hold"
	wait $first $second
	# what is late comes before the end
	had=$(wc -l <"$work/out.$1")
	until_true has_seconds "$1" $((had + 3))
}

watch kept --spool "$work/spool"
stall kept
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "kept: exit status" $? 0
"$BLKTOP" -b --each --view events --format json "$work"/spool/* >"$work/spooled"
read -r events corrected wrong <<<"$(sums kept "$work/spooled")"
is "kept: all events, each in one second" "$events" "$(truth_of 4 "$LAB_DIR"/truth.*)"
ok "kept: seconds were corrected ($corrected)" [ "$corrected" -ge 2 ]
is "kept: seconds with other events than the spool has" "$wrong" 0
ok "kept: it is told" grep -q 'events came too late: [0-9]* seconds were corrected' "$work/err.kept"
rm "$LAB_DIR"/truth.*

ok "a session once more" session_again
watch unkept
stall unkept
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "not kept: exit status" $? 0
read -r events corrected _ <<<"$(sums unkept)"
is "not kept: no event is lost" "$events" "$(truth_of 4 "$LAB_DIR"/truth.*)"
is "not kept: nothing is corrected" "$corrected" 0
ok "not kept: how many is told" grep -q 'events came too late and are not counted in their seconds' "$work/err.unkept"
rm "$LAB_DIR"/truth.*

# CSV has a column for it; a stopped process stalls no stream, as the daemon flushes its buffers
ok "a session once more" session_again
timeout 100 "$BLKTOP" -b --view events --format csv -r "$url" >"$work/out.csv" 2>"$work/err.csv" &
viewer=$!
generate 0 &
generator=$!
until_true has_seconds csv 2
stopped=$(pgrep -n -f "$spangen -t 1 -n 600")
kill -STOP "$stopped"
had=$(wc -l <"$work/out.csv")
generate 1
ok "stopped: the other's seconds come" has_seconds csv $((had + 5))
kill -CONT "$stopped"
wait $generator
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "stopped: exit status" $? 0
ok "stopped: a column says whether a second is corrected" [ "$(head -n 1 "$work/out.csv" | cut -d, -f1-3)" = from_ns,to_ns,corrected ]
ok "stopped: nothing was late" sh -c "! grep -q 'too late' '$work/err.csv'"
done_testing
