#!/bin/bash
# Leaving: by cancel, in the middle, while the relay is frozen. A next viewer gets in.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_SPANGEN="-t 1 -r 50"
lab_up

"$COUNT" ${READER:+"$READER"} -c "$LAB_URL" >"$work/out.cancelled"
is "cancelled from another thread: exit status" $? 0
ok "cancelled: says so" says cancelled '^cancelled'
# the relay needs a moment to notice
next() { "$COUNT" ${READER:+"$READER"} -n 0.5 "$LAB_URL" >"$work/out.next"; }
ok "the place is free again" until_true next
ok "it ended when asked to" says next '^stopped'

view frozen -t 60000 -n 2 "$LAB_URL"
kill -STOP "$LAB_RELAYD_PID"
begin=$SECONDS
wait "$viewer"
ok "a frozen relay does not hold the end up" [ $((SECONDS - begin)) -le 30 ]
ok "source_next() returned all the time (5 s would be a hang)" [ "$(value frozen longest)" -lt 5000 ]
kill -CONT "$LAB_RELAYD_PID"
done_testing
