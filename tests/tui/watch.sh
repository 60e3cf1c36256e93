#!/bin/bash
# blktop --watch: what appears in a directory is shown; the user's place stays. And history.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
archives=$PWD/tests/traces/rotation/trace/archives
if [ ! -x "$BLKTOP" ] || [ ! -d "$archives" ]; then
	echo "1..0 # SKIP $BLKTOP or $archives is missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")
mkdir "$work/made" "$work/s" "$work/chunks"
for i in 0 1 2 3 4 5; do
	"$blktop" map "$archives"/*-$i -o "$work/made/$i.blkslice" 2>/dev/null
done

# add NUMBER: its slice appears, whole, a minute ago
add() {
	cp "$work/made/$1.blkslice" "$work/s/.$1" && touch -d '1 minute ago' "$work/s/.$1" && mv "$work/s/.$1" "$work/s/$1.blkslice"
}
line() { t capture-pane -p -t now | sed -n "$1p"; }
start() { # start ARGUMENT...
	shell "XDG_STATE_HOME='$work/state'" "XDG_CONFIG_HOME='$work/config'"
	t resize-window -t now -x 130 -y 30
	keys "cd '$work' && '$blktop' --config none --utc $*; echo rc=\$?" Enter
}

start --watch s
wait_for "No slice and no rotation chunk is in s so far" && shows "blktop map --watch CHUNKS -o s" && ! shows "reading ..."
result $? "nothing is there yet, and what makes it is said"
add 0
wait_for "06:08:30 LIVE"
result $? "the first slice is shown when it appears"
add 1
wait_for "06:08:32 LIVE"
result $? "it follows the next one"

keys Left 4 && wait_for "PAUSED" && wait_for "Processes" && keys '\' && wait_for "filter:" && keys "syscalls > 100" Enter && wait_for "rows, filter"
keys Down Down
selected() { t capture-pane -p -t now | grep -q "^▶.* python3"; }
until_true selected
result $? "paused in the second before, with a filter and a selection"
before=$(line "5,20")
add 2
wait_for "second 2 of 4" && wait_for "history 06:08:30-06:08:34"
result $? "the next slice is added"
[ "$(line "5,20")" = "$before" ] && shows "06:08:31 PAUSED" && selected
result $? "second, filter and selection stay"
keys F && wait_for "06:08:33 LIVE"
result $? "F: follows again"

echo junk >"$work/s/junk.blkslice"
wait_for "left out: s/junk.blkslice"
result $? "what is no slice is reported"
add 4
wait_for "the slice before s/4.blkslice is missing"
result $? "so is a missing slice"
wait_for "06:08:38 LIVE"
result $? "what comes after it is shown"
add 5
wait_for "AT THE END" && wait_for "06:08:41"
result $? "the last slice ends it"
keys Q
given_back 0
result $? "q: the terminal as it was"

rm "$work/s/junk.blkslice" "$work/s/4.blkslice" "$work/s/5.blkslice"
add 3
start --watch s --chunks "'$archives'"
wait_for "06:08:36 LIVE" && keys 1 && wait_for "Overview" && keys L && wait_for "lines, 06:08" && keys F && wait_for "LIVE"
result $? "--chunks: the log"
add 4
wait_for "to 06:08:38"
result $? "which goes on with the next slice"
t kill-session -t now

start --watch chunks
wait_for "reading ..."
for i in 0 1 2; do
	cp -r "$archives"/*-$i "$work/chunks/.tmp" && mv "$work/chunks/.tmp" "$work/chunks/$(basename "$archives"/*-$i)"
done
wait_for "06:08:32 LIVE"
result $? "chunks are mapped when the next one follows"
keys 4 && wait_for "Processes" && keys L && wait_for "lines, 06:08"
result $? "the log is read from them"
keys q q q
wait_for "rc=0"
result $? "it ends"
t kill-session -t now

"$blktop" reduce --history "$work"/made/*.blkslice -o "$work/h.blkslice" 2>/dev/null
start h.blkslice
wait_for "range 1m step 1m" && wait_for "dropped 20 traces" && keys 2 && wait_for "INCOMPLETE: history has only the slowest"
result $? "history has steps of a minute, and says what it has not"
done_testing
