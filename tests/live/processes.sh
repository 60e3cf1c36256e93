#!/bin/bash
# Buffers per process, one process idle: babeltrace2 alone shows nothing of those that
# start then. Here nothing of theirs is missing. (They stay until the session is
# destroyed: relay daemons up to 2.13 at least do not hand out what a process wrote in
# its last live timer.)
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_APPS=0 LAB_BUFFERS=pid
lab_up
spangen=$LAB_DIR/bin/spangen
started=()

start() { # start OPTION...: a traced program in the background
	"$LAB/lab-run" "$spangen" "$@" </dev/null >>"$work/lab.log" 2>&1 &
	started+=($!)
}
# one request, then nothing
start -t 1 -n 1 -k --truth "$LAB_DIR/idle"
has_data() { [ -n "$(find "$LAB_DIR/traces" -name 'chan_*' -size +0)" ]; }
until_true has_data
view all "$LAB_URL"
for i in 1 2 3; do
	start -n 20 -r 50 -k --truth "$LAB_DIR/truth.$i"
	in_lab "$spangen" -t 1 -n 5 -r 50
done
all_done() { [ "$(cat "$LAB_DIR"/truth.* | grep -c ^total)" = 3 ]; }
until_true all_done
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
kill "${started[@]}"
wait "${started[@]}" 2>/dev/null
wanted=$(truth_of 4 "$LAB_DIR"/truth.*) got=$(sum_of all)
ok "all events of processes that started while one was idle: $wanted in $got" [ "$got" -ge "$wanted" ]
ok "and no more than those of all" [ "$got" -le $((wanted + 16 + 3 * 104)) ]
ok "every stream that began has ended" test "$(value all streams | cut -d' ' -f1)" = "$(value all streams | cut -d' ' -f2)"
is "records out of order" "$(value all disorder)" 0
is "gaps" "$(value all gaps)" 0
done_testing
