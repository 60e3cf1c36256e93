#!/bin/bash
# A trace of user space without spans: the whole of it first, what looks like spans, and the key that shows them and then saves the
# rules. The saved file gives the same spans.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ]; then
	echo "1..0 # SKIP $BLKTOP is not built"
	exit 0
fi
program=$(realpath "$BLKTOP")
mkdir "$work/trace"
python3 tests/cli/suggest.py --write "$work/trace"
shows() { t capture-pane -p -t now | tr '\n' ' ' | tr -s ' ' | grep -qF -- "$1"; }

t new-session -d -s now -x 80 -y 24 "cd '$work' && '$program' --config none --utc trace; sleep 3600"
until_true shows "buffer_acquire and buffer_release look like the beginning and end of a span: 120 pairs, none open; and 6 more. Y shows them as spans"
result $? "the pairs are named, with the key that shows them as spans"
shows "range 4s" && shows "read_entry 120"
result $? "the range is the whole trace"
t send-keys -t now 2
until_true shows "Traces: 0 rows"
shows "look like the beginning and end" && ! shows "zipkin"
result $? "a view of spans names them, too, not zipkin:timestamp"
t send-keys -t now F7
until_true shows "Facts: Traces"
shows "look like the beginning and end" && ! shows "'zipkin:*'"
result $? "so does F7"
t send-keys -t now q Y
until_true shows "spans by 7 suggested rules: Y saves them for --spans"
result $? "the key shows them"
shows "OPERATION" && shows "job small"
result $? "as operations of the overview"
t send-keys -t now Y C-u kept.spans Enter
until_true shows "wrote"
saved=$(cd "$work" && "$program" -b --view spans --format csv --spans kept.spans trace | grep -c complete)
[ "$saved" = 480 ]
result $? "again it saves the rules: with --spans they make 480 spans ($saved)"
t send-keys -t now 7 0
until_true shows "Spans: 480 rows"
result $? "as many as the screen has"
t kill-session -t now
cp -r tests/traces/kernel-ust/trace "$work/spans"
t new-session -d -s now -x 80 -y 24 "cd '$work' && '$program' --config none --utc spans; sleep 3600"
until_true shows "OPERATION"
t send-keys -t now Y
until_true shows "this trace has spans"
result $? "a trace with spans suggests none"
done_testing
