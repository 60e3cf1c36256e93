#!/bin/bash
# Seconds pass while nothing happens: -n N ends after N of them, each printed as it closes;
# and where nothing comes at all, by the clock.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
spangen=$LAB_DIR/bin/spangen
now() { date +%s; }

# before anything was recorded
begin=$(now)
timeout 60 "$BLKTOP" -b --view events --format json -n 3 -r "$LAB_URL" >"$work/out.silent" 2>"$work/err.silent"
is "silent: exit status" $? 1
ok "silent: ends by the clock ($(($(now) - begin)) s)" [ $(($(now) - begin)) -le 8 ]
ok "silent: it is told" grep -q 'no events came' "$work/err.silent"

# some events, then nothing
timeout 60 "$BLKTOP" -b --view events --format json -n 6 -r "$LAB_URL" >"$work/out.quiet" 2>"$work/err.quiet" &
viewer=$!
taken() { "$BLKTOP" --list-sessions -r "127.0.0.1:$LAB_LIVE_PORT" | grep -q '(taken)'; }
ok "quiet: attached" until_true taken
in_lab "$spangen" -t 1 -n 100 -r 100
begin=$(now)
wait "$viewer"
is "quiet: exit status" $? 0
ok "quiet: ends when its seconds are over ($(($(now) - begin)) s)" [ $(($(now) - begin)) -le 8 ]
is "quiet: all seconds, one after another, the last ones empty" "$(python3 - "$work/out.quiet" <<-'PY'
	import json, sys
	seconds = [json.loads(line) for line in open(sys.argv[1])]
	begins = [s["range"]["from_ns"] // 10**9 for s in seconds]
	print(len(seconds), begins == list(range(begins[0], begins[0] + len(begins))), len(seconds[0]["rows"]) > 0, seconds[-1]["rows"])
PY
)" "6 True True []"
done_testing
