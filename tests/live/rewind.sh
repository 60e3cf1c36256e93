#!/bin/bash
# Back in a live session, on the screen at 80x24: requests that memory has no room for are decoded again from
# what is kept on disk, at steps of a second, and are those that the recording has.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
trap 't kill-server 2>/dev/null; cleanup' EXIT
lab_up

"$LAB/lab-run" "$LAB_DIR/bin/spangen" -t 2 -r 400 </dev/null >/dev/null 2>&1 &
app=$!
trap 't kill-server 2>/dev/null; kill $app 2>/dev/null; cleanup' EXIT
head_shows() { t capture-pane -p -t now | head -n 1 | grep -q "$1"; }
rows() { t capture-pane -p -t now | sed -n 's/^Traces: \([0-9]*\) rows.*/\1/p'; }
recorded() { # recorded CLOCK: traces of that second
	"$BLKTOP" -b --utc --view traces --format csv --from "$1" --to "$(date -u -d "$1 1 second" +%T)" \
		"$LAB_DIR/traces" 2>>"$work/out.err" | tail -n +2 | wc -l
}
has_rows() { [ "$(rows)" = "$1" ]; }
shell "XDG_STATE_HOME='$work/state'"
t resize-window -t now -x 80 -y 24
keys "'$BLKTOP' --config none --utc --memory 16M --view traces -r $LAB_URL; echo rc=\$?" Enter
ok "requests are shown" wait_for "Traces: "
first=$(date -u -d "2 seconds" +%T)
ok "requests are dropped from memory" wait_for "dropped "
reaches() { t capture-pane -p -t now | grep -q 'req [0-9:]*-, pkt [0-9:]*-'; }
in_memory() { t capture-pane -p -t now | grep -Eo 'req [0-9:]*' | cut -d' ' -f2; }
is_gone() { [[ $(in_memory) > $(date -u -d "$first 2 seconds" +%T) ]]; }
ok "those of $first are not in memory any more" until_true is_gone
keys b "$first" Enter
ok "it goes back to there" until_true head_shows "$first PAUSED  range 1s step 1s"
ok "it is told how far back requests and packets reach" until_true reaches
ok "what is said of them is what the packets tell" wait_for "~"
count=$(recorded "$first")
ok "all of them ($count)" until_true has_rows "$count"
ok "they are some" [ "$count" -gt 100 ]
keys Left
until_true head_shows "$(date -u -d "$first 1 second ago" +%T) PAUSED"
count=$(recorded "$(date -u -d "$first 1 second ago" +%T)")
ok "a step back, too: all of them ($count)" until_true has_rows "$count"
keys Enter
ok "one of them is shown whole" wait_for "began "
keys q
until_true shows "Traces: "
keys q
ok "the terminal as it was" given_back 0
done_testing
