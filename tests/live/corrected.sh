#!/bin/bash
# A stream stalls, on the screen at 80x24: it is named, the seconds that the others close without it show
# less than there was, and once it comes they show all and are marked as corrected.
# shellcheck disable=SC2154,SC2317 # work, url, holder: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs: a stream each"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
trap 't kill-server 2>/dev/null; cleanup' EXIT
lab_up
spangen=$LAB_DIR/bin/spangen
hold_stream chan_0
trap 't kill-server 2>/dev/null; kill $holder $apps; cleanup' EXIT

apps=
generate() { # generate CPU: about 2200 events a second until it is killed
	"$LAB/lab-run" taskset -c "$1" "$spangen" -t 1 -r 100 </dev/null >/dev/null 2>&1 &
	apps="$apps $!"
}
text() { t capture-pane -p -t now; }
lacks() { ! shows "$1"; }
# All events of the second that is shown.
counted() { text | awk '/zipkin:/ { for (i = 1; i <= NF; i++) if ($i ~ /zipkin:/) { n = $(i + 1); if (n ~ /k$/) n *= 1000; sum += n } } END { print sum + 0 }'; }
more_than() { [ "$(counted)" -gt "$1" ]; }
shown_second() { text | head -n 1 | grep -Eo '[0-9]{2}:[0-9]{2}:[0-9]{2}' | head -n 1; }

generate 0
generate 1
shell "XDG_STATE_HOME='$work/state'"
t resize-window -t now -x 80 -y 24
keys "'$BLKTOP' --config none --utc --late-bound 1 --view events -r $url; echo rc=\$?" Enter
ok "events of both are shown" until_true more_than 3000
ok "nothing is corrected yet" lacks corrected
touch "$work/hold"
ok "the stream that stalls is named" wait_for "chan_0 is silent"
ok "and that it lacks, where trust is told" wait_for "DATA ! NO DATA from chan_0"
held=$(date +%s)
a_second_was_held() { [ "$(date +%s)" -ge $((held + 4)) ]; }
until_true a_second_was_held
keys p
ok "it pauses" wait_for PAUSED
paused=$(shown_second)
moved() { [ "$(shown_second)" != "$paused" ]; }
keys Left
until_true moved
second=$(shown_second)
until_true more_than 0
before=$(counted)
ok "a second without it has the other's events ($before)" [ "$before" -gt 0 ]
rm "$work/hold"
ok "it comes: the second is corrected" wait_for " corrected"
ok "with the events of both ($before, then $(counted))" until_true more_than $((before + before / 2))
is "the second is the same" "$(shown_second)" "$second"
ok "it is told how many came late" wait_for "events came too late: "
ok "the stream is not named any more" until_true lacks "is silent"
ok "nor lacks it" until_true lacks "NO DATA"
keys q
ok "the terminal as it was" given_back 0
done_testing
