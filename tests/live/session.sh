#!/bin/bash
# What happens to a session while it is watched: stopped and started, cleared, its events
# added to, its session daemon killed and started again; and two relays on one timeline.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
spangen=$LAB_DIR/bin/spangen
span() { in_lab "$spangen" -n 30 -r 100 --truth "$LAB_DIR/truth.$1"; }

view all "$LAB_URL"
span 1
in_lab lttng --no-sessiond stop spans
in_lab lttng --no-sessiond start spans
span 2
ok "stopped and started: the viewer stays" kill -0 "$viewer"
rotates() { in_lab lttng --no-sessiond rotate spans; }
ok "a live session can't be rotated" eval '! rotates'
span 3
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
is "all events" "$(sum_of all)" "$(truth_of 4 "$LAB_DIR"/truth.*)"
is "late records" "$(value all late)" 0
is "lost" "$(value all lost)" "0 0"
rm "$LAB_DIR"/truth.*

ok "a session once more" session_again
view cleared "$LAB_URL"
span 1
in_lab lttng --no-sessiond clear spans
in_lab lttng --no-sessiond enable-event -u -s spans -c chan 'lttng_ust_statedump:*'
span 2
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "cleared: exit status" $? 0
wanted=$(truth_of 4 "$LAB_DIR"/truth.*) got=$(sum_of cleared)
ok "cleared: what came after it is there ($got of $wanted)" [ "$got" -ge "$(truth_of 4 "$LAB_DIR"/truth.2)" ]
ok "cleared: nothing comes twice" [ "$got" -le "$wanted" ]
is "cleared: records out of order" "$(value cleared disorder)" 0

# two relays, one timeline: sessions of two labs
ok "a session once more" session_again
first=$LAB_DIR first_url=$LAB_URL
LAB_DIR=$work/lab2
lab_up
second=$LAB_DIR
rm -f "$first"/truth.* "$second"/truth.*
view two "$first_url" "$LAB_URL"
ok "both are attached" until_true says two '^status connected 2'
LAB_DIR=$first in_lab "$spangen" -n 30 -r 100 --truth "$first/truth.1"
in_lab "$second/bin/spangen" -n 40 -r 100 --truth "$second/truth.1"
LAB_DIR=$first in_lab lttng --no-sessiond destroy spans
ok "one ends, the other goes on" until_true eval \
	'[ "$(grep ^status "$work/out.two" | tail -n 1)" = "status connected 1 " ]'
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "two relays: exit status" $? 0
is "two relays: all events" "$(sum_of two)" "$(truth_of 4 "$first/truth.1" "$second/truth.1")"
is "two relays: records out of order" "$(value two disorder)" 0

# the session daemon dies, and its session with it: a stream that was quiet before got no last packet, so
# tracing was not stopped. The consumer daemon flushes all streams then; a viewer of LTTng 2.13 is told that the
# session is over before that, one of 2.16 has all of it, and nothing is missing.
touch "$work/before"
ok "a session once more" session_again
"$LAB/lab-run" taskset -c 0 "$second/bin/spangen" -t 1 -r 100 -k </dev/null >/dev/null 2>&1 &
app=$!
timeout 60 "$BLKTOP" -b --each --view events --columns name,count --format csv "$LAB_URL" >"$work/rows" 2>"$work/rows.err" &
batch=$!
ok "blktop prints rows" until_true eval '[ "$(wc -l <"$work/rows")" -gt 5 ]'
kill -9 "$LAB_SESSIOND_PID"
wait "$batch"
status=$?
# Is the last packet of a stream empty, as the relay's index files have it?
is_flushed() {
	find "$second/traces" -name '*.idx' -newer "$work/before" -print0 | python3 -c '
import struct, sys
for path in sys.stdin.read().split("\0")[:-1]:
    with open(path, "rb") as f:
        index = f.read()
    entry = struct.unpack_from(">I", index, 12)[0]
    begin, end = struct.unpack_from(">QQ", index, len(index) - entry + 24)
    if begin == end:
        sys.exit(0)
sys.exit(1)'
}
if [ $status -ne 0 ]; then
	is "the session daemon is killed: blktop's exit status" $status 4
	ok "the session daemon is killed: it is told" grep -q 'ended without being destroyed' "$work/rows.err"
else
	ok "the session daemon is killed: exit status 0, as all streams were flushed" is_flushed
	ok "the session daemon is killed: nothing is said to be missing" eval '! grep -q "has ended, though" "$work/rows.err"'
fi
kill "$app"
wait "$app" 2>/dev/null
"$COUNT" -w "$LAB_URL" >"$work/out.waiting" 2>&1 &
viewer=$!
ok "no session daemon: waits" until_true says waiting 'waiting'
ok "a session daemon again" sessiond_again
ok "with a session" session_again
ok "it is attached to" until_true says waiting '^status connected 1'
kill "$viewer"
wait "$viewer" 2>/dev/null
done_testing
