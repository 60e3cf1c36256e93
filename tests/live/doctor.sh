#!/bin/bash
# blktop --doctor of a live session: listens for some seconds, changes nothing, gives the
# viewer's place back.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_LIVE_US=100000 LAB_SPANGEN="-t 1 -r 50"
lab_up

listen() { # listen NAME ARGUMENT...: exit status 124: it does not end
	local name=$1
	shift
	timeout 120 "$BLKTOP" --doctor --format json "$@" >"$work/out.$name" 2>"$work/out.$name.err"
}
holds() { # holds NAME EXPRESSION over `d`
	python3 - "$work/out.$1" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1], encoding="utf-8"))
		answer = {q["id"]: q["answer"] for q in d["questions"]}
		commands = [c for r in d["repairs"] for c in r["commands"]]
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}

# hears NAME SECONDS EXPRESSION: where the traced program had no CPU to run on, once more
hears() {
	listen "$1" -n "$2" "$LAB_URL"
	status=$?
	[ $status != 3 ] || holds "$1" "$3"
}

session=${LAB_URL##*/}
came="any(c['domain'] == 'ust' and c['events'] > 0 for c in d['channels'])"
until_true hears first 2 "$came"
is "a session that lacks the kernel: exit status" $status 3
ok "within its time" [ $status != 124 ]
ok "spans came" holds first "$came"
ok "contexts are known" holds first "all({'vpid', 'vtid'} <= set(c['contexts']) for c in d['channels'] if c['events'])"
ok "which requests: yes" holds first "answer['requests'] == 'yes'"
ok "who used the CPUs: no" holds first "answer['cpu'] == 'no'"
ok "the session is named" holds first "all(c['session'] == '$session' for c in d['channels'])"
ok "the recipe is the repair" holds first "'blktop --recipe >record.sh' in commands"
until_true hears second 1 "d['events'] > 0"
is "the place was given back, and the session goes on" $status 3
ok "spans still come" holds second "d['events'] > 0"
listen none -n 1 --timeout 2 "${LAB_URL}x"
is "no such session: exit status" $? 1
ok "says so" grep -q "no such session" "$work/out.none.err"
done_testing
