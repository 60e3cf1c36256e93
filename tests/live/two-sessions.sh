#!/bin/bash
# Two relay sessions of one name, as a kernel and application session has: the second
# one appears seconds after the first was attached, and is merged by time.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
first=$LAB_DIR
view all "$LAB_URL"
LAB_DIR=$first "$LAB/lab-run" "$first/bin/spangen" -t 1 -r 100 --truth "$first/truth" >/dev/null 2>&1 &
app=$!
LAB_RELAY=$LAB_CTRL_PORT LAB_DIR=$work/lab2
export LAB_RELAY LAB_DIR
lab_up
ok "the second one is attached" until_true says all '^status connected 2'
in_lab "$LAB_DIR/bin/spangen" -n 50 -r 100 --truth "$LAB_DIR/truth"
in_lab lttng --no-sessiond destroy spans
ok "the first one stays when the second ends" until_true eval \
	'[ "$(grep ^status "$work/out.all" | tail -n 1)" = "status connected 1 " ]'
second=$LAB_DIR
kill "$app"
wait "$app"
LAB_DIR=$first in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
is "events of both" "$(sum_of all)" "$(truth_of 4 "$first/truth" "$second/truth")"
is "records out of order" "$(value all disorder)" 0
is "late records" "$(value all late)" 0
ok "ends when both are destroyed" says all '^end'
done_testing
