#!/bin/bash
# The screen of a trace that is in the cache, and of a slice file: what needs packets comes from the trace, or the chunks.
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
cp -r "$demo" "$work/trace"
find "$work/trace" -exec touch -d '1 hour ago' {} +	# else it may still be written

is_logged() { grep -q "cache: $1" "$work/log"; }
is_decoded() { shows "a cell is $1" && ! shows "whole seconds"; }

for says in "stored in" "read from"; do
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" "XDG_CACHE_HOME='$work/cache'" TERM=xterm-256color
	keys "'$blktop' --config none --utc --cache-after 0 --slices 3 --log '$work/log' --log-level debug --at +5s '$work/trace'; echo rc=\$?" Enter
	wait_for "PAUSED" && until_true is_logged "$says"
	status=$?
	result $status "the trace is $says the cache"
	[ $status = 0 ] || grep -a "cache" "$work/log" | sed 's/^/# /'
	keys v
	wait_for "Timeline of threads" && until_true is_decoded 20.0ms
	result $? "$says: steps below a second are decoded"
	keys Escape 4
	wait_for "Processes" && keys L && wait_for "lines, "
	result $? "$says: the log has calls"
	keys q q q
	wait_for "rc=0"
	result $? "$says: it ends"
	t kill-server
done

# start ARGUMENT...: the slice file, by a short path, so that messages are shown whole
start() {
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" TERM=xterm-256color
	keys "cd '$work' && '$blktop' --config none --utc --at +5s $* demo.blkslice; echo rc=\$?" Enter
	wait_for "PAUSED"
}
"$blktop" map -o "$work/demo.blkslice" "$work/trace" 2>/dev/null
mkdir "$work/elsewhere" && mv "$work/trace" "$work/elsewhere/trace"
start
keys 4 && wait_for "Processes" && keys L && wait_for "has no single events"
result $? "a slice file: the log says that it has no events"
t kill-server
start --chunks elsewhere
keys v
wait_for "Timeline of threads" && until_true is_decoded 20.0ms
result $? "--chunks: steps below a second are decoded"
keys Escape 4
wait_for "Processes" && keys L && wait_for "lines, "
result $? "--chunks: the log has calls"
t kill-server
mkdir "$work/empty"
start --chunks empty
keys 4 && wait_for "Processes" && wait_for "are not in"
result $? "--chunks: what is missing is said"
done_testing
