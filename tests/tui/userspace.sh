#!/bin/bash
# The timeline of a trace without a kernel: marks of events in lanes of threads, the events under the cursor, the log of that thread there, and pairs as lines once
# they are spans. Nothing says that a thread ran.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ]; then
	echo "1..0 # SKIP $BLKTOP is not built"
	exit 0
fi
program=$(realpath "$BLKTOP")
mkdir "$work/trace" "$work/bare"
python3 tests/cli/userspace.py --write "$work/trace"
python3 tests/cli/userspace.py --write "$work/bare" bare
shows() { t capture-pane -p -t now | tr '\n' ' ' | tr -s ' ' | grep -qF -- "$1"; }

t new-session -d -s now -x 120 -y 24 "cd '$work' && '$program' --config none --utc trace; sleep 3600"
until_true shows "v shows when each thread recorded its events"
result $? "the first screen names the key of the timeline"
t kill-session -t now
t new-session -d -s now -x 120 -y 24 "cd '$work' && '$program' --config none --utc --view timeline trace; sleep 3600"
until_true shows "2 lanes, a cell is" && until_true shows "marks are events: when threads ran is not recorded"
result $? "the timeline has the threads, and says what its marks are"
shows "LANE EVENTS" && shows "app/72" && shows "app/71" && shows "events" && ! shows "CPU3" && ! shows "unknown"
result $? "lanes have numbers of events; nothing is said of CPUs"
shows "app/71: no event"
result $? "no event is said as such"
t send-keys -t now \\
until_true shows "filter"
t send-keys -t now "tid == 71" Enter
until_true shows "1 lane, a cell"
result $? "lanes can be filtered"
t send-keys -t now u
until_true shows "2 lanes"
t send-keys -t now Down
until_true shows "app/72: 1 event: app:work_start"
result $? "the event under the cursor has its name"
t send-keys -t now Enter
until_true shows "Log of thread 72: 80 lines"
result $? "Enter opens the log of that thread"
t send-keys -t now Escape
until_true shows "2 lanes"
t send-keys -t now Y
until_true shows "spans by 1 suggested rule"
t send-keys -t now v
until_true shows "marks are events"
shows "span" && shows "work"
result $? "pairs that became spans are lines with their name"
t kill-session -t now
t new-session -d -s now -x 120 -y 24 "cd '$work' && '$program' --config none --utc --view timeline bare; sleep 3600"
until_true shows "CPU3, some thread"
result $? "without contexts the lane is a CPU's, of some thread"
done_testing
