#!/bin/bash
# What a relay can do to a viewer: no such session, a place that is taken, silence,
# death, a return.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
export LAB_LIVE_US=100000 LAB_SPANGEN="-t 1 -r 50"
lab_up

"$COUNT" ${READER:+"$READER"} -t 1000 "${LAB_URL}x" >"$work/out.none"
is "no such session: exit status" $? 1
ok "no such session: says which there are" says none "there is no such session (there are: .*/spans)"

view main -t 1000 "$LAB_URL"
"$COUNT" ${READER:+"$READER"} -t 1000 "$LAB_URL" >"$work/out.taken"
is "a second viewer: exit status" $? 1
ok "a second viewer: says what to do" says taken "another viewer is attached.*output directory"

kill -STOP "$LAB_RELAYD_PID"
ok "frozen: the viewer says so" until_true says main '^status gone .*no answer in time'
begin=$SECONDS
"$COUNT" ${READER:+"$READER"} -t 1000 "$LAB_URL" >"$work/out.frozen"
is "frozen: exit status of another" $? 1
ok "frozen: within the time limit" [ $((SECONDS - begin)) -le 4 ]
ok "frozen: says so" says frozen "no answer in time"
kill -CONT "$LAB_RELAYD_PID"
ok "thawed: connected again" until_true eval '[ "$(grep -c "^status connected" "$work/out.main")" -ge 2 ]'

kill -9 "$LAB_RELAYD_PID"
ok "killed: the viewer says so" until_true says main '^status gone .*Connection refused'
"$COUNT" ${READER:+"$READER"} -t 1000 "$LAB_URL" >"$work/out.dead"
is "killed: exit status of another" $? 1
ok "killed: says so" says dead "cannot connect to relay 127.0.0.1:[0-9]*: Connection refused"
ok "killed: the viewer is still there" kill -0 "$viewer"
kill "$viewer"
wait "$viewer" 2>/dev/null

"$COUNT" ${READER:+"$READER"} -t 1000 "net://127.0.0.1:$LAB_CTRL_PORT/host/a/b" >"$work/out.port"
is "nobody listens: exit status" $? 1
done_testing
