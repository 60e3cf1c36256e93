#!/bin/bash
# The relay freezes for longer than the time limit and comes back: what it kept meanwhile
# is had, and nothing twice. Killed and started again with a new session of the name: that
# one is had from its beginning. A session that is not there yet, waited for.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
spangen=$LAB_DIR/bin/spangen
counts() { grep -c "^status $2" "$work/out.$1"; } # counts VIEWER PATTERN
again() { [ "$(counts "$1" connected)" -ge "$2" ]; }

view all -t 500 "$LAB_URL"
in_lab "$spangen" -n 60 -r 100 --truth "$LAB_DIR/truth.1"
"$LAB/lab-run" "$spangen" -n 300 -r 100 --truth "$LAB_DIR/truth.2" </dev/null >/dev/null 2>&1 &
app=$!
until_true says all '^status connected'
kill -STOP "$LAB_RELAYD_PID"
ok "frozen: the viewer says so" until_true says all '^status gone .*no answer in time'
kill -CONT "$LAB_RELAYD_PID"
ok "thawed: connected again" until_true again all 2
wait "$app"
in_lab "$spangen" -n 60 -r 100 --truth "$LAB_DIR/truth.3"
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
is "all events, over the outage, each once" "$(sum_of all)" "$(truth_of 4 "$LAB_DIR"/truth.*)"
is "records out of order" "$(value all disorder)" 0
is "late records" "$(value all late)" 0
is "lost" "$(value all lost)" "0 0"

# not there yet: neither the session nor, before, the relay
"$COUNT" -w -t 500 "$LAB_URL" >"$work/out.wait" 2>&1 &
viewer=$!
ok "waits for the session, and says so" until_true says wait '^status gone 0 .*does not exist yet: waiting'
kill -0 "$viewer"
is "and goes on waiting" $? 0
kill -9 "$LAB_RELAYD_PID"
ok "the relay dies meanwhile" until_true says wait '^status gone 0 .*Connection refused'
ok "and lives again" relay_again
ok "the session is made" session_again
ok "it is attached to" until_true says wait '^status connected 1'
in_lab "$spangen" -n 60 -r 100 --truth "$LAB_DIR/again"
in_lab lttng --no-sessiond destroy spans
ok "destroyed: waits for it to be made once more" until_true says wait 'does not exist any more: waiting'
ok "which it is" session_again
ok "and attached to" until_true again wait 2
in_lab "$spangen" -n 60 -r 100 --truth "$LAB_DIR/again.2"
in_lab lttng --no-sessiond destroy spans
over() { [ "$(grep -c 'does not exist any more' "$work/out.wait")" -ge 2 ]; }
ok "and over" until_true over
# without -w it would have ended by itself
kill -INT "$viewer"
wait "$viewer"
is "all events of both" "$(sum_of wait)" "$(truth_of 4 "$LAB_DIR"/again*)"
is "late records" "$(value wait late)" 0
done_testing
