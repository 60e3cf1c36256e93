#!/bin/bash
# Relays that are not there, are none, or say nothing. No LTTng needed.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"

# relay MODE: a TCP server on a free port; sets $port and $server
relay() {
	rm -f "$work/port"
	python3 "$SRCDIR/tests/lib/fake-server.py" "$1" "$work/port" &
	server=$!
	until [ -s "$work/port" ]; do kill -0 $server || break; done
	port=$(cat "$work/port")
}
end_relay() {
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}

relay closing
end_relay
free=$port		# nobody listens there now
refused 1 "$free" -b -r "127.0.0.1:$free"
ok "no relay: why" grep -qi 'refused' "$work/err"
refused 1 "$free" --list-sessions -r "127.0.0.1:$free"
ok "no relay: the command that starts one there" grep -q "lttng-relayd --daemonize --live-port=tcp://127.0.0.1:$free" "$work/err"
ok "and the one for a session" grep -q "sh record.sh SESSION net://localhost" "$work/err"
refused 1 "--list-sessions -r" -b -r "net://127.0.0.1:$free/host/a/b"
refused 1 "$free" -r "127.0.0.1:$free"
refused 1 "$free" "net://127.0.0.1:$free/host/a/b"
refused 1 "$free" -b -r "net://127.0.0.1:$free/host/a/b"
refused 1 "no-such-host.invalid" -b -r no-such-host.invalid
ok "another machine: how to reach it" grep -q "ssh -f -N -L 5344:localhost:5344 no-such-host.invalid" "$work/err"

mkdir "$work/spool"
ln -s spool "$work/link"
for link in "$work/link" "$work/link/" "$work/link/."; do
	refused 1 "is a link" -b --spool "$link" -r "net://127.0.0.1:$free/host/a/b"
done
ok "a link as --spool: nothing is made behind it" [ -z "$(ls -A "$work/spool")" ]
touch "$work/file"
refused 1 "cannot make '$work/file/spool': Not a directory" -b --spool "$work/file/spool" -r "net://127.0.0.1:$free/host/a/b"

for mode in silent closing talking; do
	relay $mode
	begin=$SECONDS
	refused 1 "$port" -b --timeout 1 -r "127.0.0.1:$port"
	refused 1 "$port" --list-sessions --timeout 1 -r "127.0.0.1:$port"
	refused 1 "$port" -b --timeout 1 -r "net://127.0.0.1:$port/host/a/b"
	ok "$mode: within the time limit" [ $((SECONDS - begin)) -le 20 ]
	end_relay
done

done_testing
