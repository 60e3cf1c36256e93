#!/bin/bash
# The timeline on a real terminal, of a recorded trace: what its line says about the cell under the cursor is what
# batch mode prints for that step. The waterfall's lanes come when they are decoded.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
demo=$PWD/tests/traces/demo/trace
if [ ! -x "$BLKTOP" ] || [ ! -d "$demo" ]; then
	echo "1..0 # SKIP $BLKTOP or $demo is missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")

start() { # start ARGUMENT...: the demo, read to its end
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" TERM=xterm-256color
	keys "'$blktop' --config none --utc $* '$demo'; echo rc=\$?" Enter
	wait_for "PAUSED" && until_true is_read
}
is_read() { ! shows "loading"; }
is_decoded() { shows "a cell is $1" && ! shows "whole seconds"; }

# Of a row of batch mode, by what the screen calls it: "CPU1: thumbd-w1/254 480us 48%, ..." or "lane: futex 1.00ms ..."
says() { # says KIND LANE STEP FROM TO
	"$blktop" -b --config none --utc --view timeline --by "$1" --step "$3" --from "$4" --to "$5" \
		--format json "$demo" | python3 -c '
import json, sys
def short(ns):
    for unit, name in ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")):
        if ns >= unit:
            return f"{ns / unit:.{max(0, 3 - len(str(ns // unit))) if unit > 1 else 0}f}{name}"
    return "0"
for row in json.loads(sys.stdin.readline())["rows"]:
    if row["lane"] != sys.argv[1]:
        continue
    total = row["end_ns"] - row["begin_ns"]
    ns, what = (row["who_ns"], "{}/{}".format(row["who"], row["who_tid"])) if row["kind"] == "cpu" and row["who"] \
        else (row["state_ns"], row["state"])
    print("{}: {} {} {}%".format(row["lane"], what, short(ns), int(100 * ns / total + .5)))' "$2"
}
cursor_says() { t capture-pane -p -t now | tr '\n' ' ' | tr -s ' ' | grep -qF -- "$1"; }

start --at +5s
keys v
wait_for "Timeline of threads"
result $? "v opens the timeline of the range"
until_true is_decoded 20.0ms
result $? "it is decoded in steps of a cell"
keys z
until_true is_decoded 10.0ms
result $? "z zooms in, and that is decoded, too"
at=$(t capture-pane -p -t now | sed -n 's/^cursor \([0-9:.]*\) .*/\1/p')
until=${at%??}$((${at: -2:1} + 1))0	# one step on; the cursor is at .500
for lane in CPU0 CPU1 thumbd-w0/253; do
	kind=cpu
	case $lane in
	CPU0) ;;
	CPU1) keys j ;;
	*) kind=thread && keys / thumbd-w0 Enter ;;
	esac
	want=$(says $kind "$lane" 10ms "$at" "$until")
	[ -n "$want" ] && until_true cursor_says "$want"
	result $? "at $at: ${want:-nothing}, as batch mode says"
	case $kind in
	cpu)
		ran=$(sed 's@^[^:]*: [^ ]*/\([0-9]*\) .*@\1@' <<<"$want")
		keys L
		wait_for "log of $ran"
		result $? "L: the log of the thread that ran there"
		keys Escape
		wait_for "Timeline of threads"
		;;
	esac
done
keys Z Z Z Z Z Z Z Z Z Z Z Z
until_true is_decoded 500ms && wait_for "all of the trace is shown"
result $? "Z zooms out to the whole trace"
at=$(t capture-pane -p -t now | sed -n 's/^cursor \([0-9:.]*\) .*/\1/p')
until=$(date -u -d "1970-01-01 $at 0.5 sec" +%T.%3N)
want=$("$blktop" -b --config none --utc --view wakers --by thread --filter "tid == 253" --step 100ms --from "$at" \
	--to "$until" --format json "$demo" | python3 -c '
import json, sys
rows = sorted(json.loads(sys.stdin.readline())["rows"], key=lambda r: -r["count"])
print("woken by {} {}x".format(rows[0]["waker"], rows[0]["count"]) if rows else "")')
[ -n "$want" ] && until_true cursor_says "$want"
result $? "at $at: ${want:-nothing}, as the view wakers says"
keys w
wait_for "Wakers: tid 253"
result $? "w: the wakers of the thread"
keys Escape
wait_for "Timeline of threads"
keys Q
wait_for "rc=0"
result $? "Q quits"

t kill-session -t now
start --view traces
t resize-window -t now -x 110 -y 45
keys Enter
wait_for "began "
result $? "a waterfall is drawn"
wait_for "What else ran" && wait_for "CPU1"
result $? "and says what else ran, once that is decoded"
done_testing
