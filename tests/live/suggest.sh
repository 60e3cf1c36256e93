#!/bin/bash
# Pairs of events in a live session of user space: they are suggested, and become spans, from the session's beginning and from then on; after the session's end, from
# the stored packets. -b --suggest-rules prints them. F7 and the first screen do not ask for zipkin:*.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
trap 't kill-server 2>/dev/null; cleanup' EXIT
lab_up
cc -O2 -I"$LAB" -o "$LAB_DIR/bin/work" "$LAB/work.c" -llttng-ust -ldl 2>"$work/cc.log" || skip_all "work.c does not build"
chmod 755 "$LAB_DIR/bin/work"
in_lab lttng --no-sessiond enable-event -u -s spans -c chan 'app:*'
pairs="work_start and work_end look like the beginning and end of a span"
says() { t capture-pane -p -t now | tr '\n' ' ' | tr -s ' ' | grep -qF -- "$1"; }
says_not() { ! says "$1"; }
watch() {
	shell "XDG_STATE_HOME='$work/state'"
	t resize-window -t now -x 120 -y 30
	keys "'$BLKTOP' --config none --utc -r $LAB_URL; echo rc=\$?" Enter
}
start_work() {
	"$LAB/lab-run" "$LAB_DIR/bin/work" </dev/null >/dev/null 2>&1 &
	app=$!
}
rules() { XDG_STATE_HOME=$work/state timeout 60 "$BLKTOP" -b --suggest-rules "$@" >"$work/out.rules" 2>"$work/out.err"; }

start_work
watch
ok "the first screen names the pair" until_true says "$pairs"
ok "with the key that shows it" until_true says "Y shows them as spans"
keys 2
ok "a view of spans does, too" until_true says "Traces: 0 rows"
keys F7
ok "and F7" until_true says "How to record"
ok "with the pair" says "$pairs"
ok "not with zipkin:*" says_not "'zipkin:*'"
keys Escape
keys v
ok "the timeline has the thread's events" until_true says "marks are events"
ok "of the program" until_true says "work/"
keys Escape
keys Y
ok "the key makes spans, live" until_true says "spans by 1 suggested rule"
ok "they go on" until_true says "LIVE"
ok "as operations" until_true says "OPERATION"
keys 0
keys 7
ok "seconds before the key have spans, too" until_true says "work"
keys Q
ok "the terminal is given back" given_back 0
rules -n 2 -r "$LAB_URL"
is "-b --suggest-rules, of some seconds: exit status" $? 0
ok "the rule" grep -q '^\[work\]$' "$work/out.rules"
ok "with its pairs" grep -Eq '^# [0-9]+ pairs' "$work/out.rules"
timeout 60 "$BLKTOP" --doctor -n 2 -r "$LAB_URL" >"$work/out.doctor" 2>&1
ok "the doctor names the pair of a session, and how to get its rules" grep -q "there are no spans, but $pairs" "$work/out.doctor"
ok "with commands" grep -qF "blktop -b --suggest-rules -n 10 -r $LAB_URL" "$work/out.doctor"
ok "not zipkin:*" sh -c "! grep -qF \"'zipkin:*'\" '$work/out.doctor'"
watch
ok "the pair is named again" until_true says "$pairs"
kill "$app"
wait "$app" 2>/dev/null
in_lab lttng --no-sessiond destroy spans
ok "the session ends" until_true says "the session has ended"
keys Y
ok "then its stored packets have the spans" until_true says "spans by 1 suggested rule"
ok "as a trace that is read" until_true says "OPERATION"
ok "not live" says_not "LIVE"
keys Q
ok "the terminal is given back, again" given_back 0

# --- a session of this machine: its program goes on while the session is read once more
for port in 5342 5343 5344; do
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && done_testing
done
cp "$BLKTOP" "$LAB_DIR/bin/blktop"
chmod 755 "$LAB_DIR/bin/blktop"
shell
t resize-window -t now -x 120 -y 30
keys "XDG_STATE_HOME=$LAB_HOME/state '$LAB/lab-run' $LAB_DIR/bin/blktop --config none --utc -y --tracepoints 'app:*' --live-timer 100ms -- $LAB_DIR/bin/work; echo rc=\$?" Enter
ok "here: the pair is named" until_true says "$pairs"
keys Y
ok "the key makes spans" until_true says "spans by 1 suggested rule"
ok "the session goes on" until_true says "LIVE"
ok "as operations" until_true says "OPERATION"
keys Q
ok "the program ended with it" until_true says "rc=0"
done_testing
