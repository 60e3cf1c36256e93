#!/bin/bash
# Attach first, then a bounded run, then destroy: every event comes, once, in order.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
spangen=$LAB_DIR/bin/spangen

view all "$LAB_URL"
in_lab "$spangen" -n 60 -r 60 --truth "$LAB_DIR/truth"
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
is "events" "$(sum_of all)" "$(truth_of 4 "$LAB_DIR/truth")"
is "requests" "$(value all roots)" "$(truth_of 2 "$LAB_DIR/truth")"
is "records out of order" "$(value all disorder)" 0
is "late records" "$(value all late)" 0
is "lost" "$(value all lost)" "0 0"
is "gaps" "$(value all gaps)" 0
ok "every stream that began has ended" test "$(value all streams | cut -d' ' -f1)" = "$(value all streams | cut -d' ' -f2)"
ok "ends when the session is destroyed" says all '^end'
ok "source_next() never waits for the relay (5 s would be a hang)" [ "$(value all longest)" -lt 5000 ]
done_testing
