#!/bin/bash
# A session of this machine goes only to a relay daemon of its own user, whoever listens on the usual ports.
# The ports are those of a network namespace.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP network namespaces and other users need root"
	exit 0
fi
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --net --mount true 2>/dev/null || {
		echo "1..0 # SKIP no network namespaces here"
		exit 0
	}
	IN_NAMESPACE=1 exec unshare --net --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
for tool in ip python3; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
ip link set lo up || skip_all "no loopback interface"
# root's session daemon is always in /run
{ mount -t tmpfs none /run && mount -t tmpfs none /dev/shm; } 2>/dev/null || skip_all "no file systems of our own here"
export LAB_APPS=0 LAB_LIVE_US=100000
lab_up
export XDG_STATE_HOME=$LAB_HOME/state
cp "${BLKTOP:-$SRCDIR/build/blktop}" "$LAB_HOME/bin/blktop"
chmod 755 "$LAB_HOME/bin/blktop"
spangen=$LAB_HOME/bin/spangen blktop=$LAB_HOME/bin/blktop
user=$(stat -c %u "$LAB_HOME/bin") stranger=35002
mkdir "$work/strange" && chown $stranger "$work/strange"
pids=''
end_pids() {
	# shellcheck disable=SC2086 # words
	[ -z "$pids" ] || { kill $pids; wait $pids; } 2>/dev/null
	pids=''
}
trap 'end_pids; cleanup' EXIT

# relay_of UID DIR CONTROL DATA LIVE ADDRESS: a relay daemon; waits until it listens
relay_of() {
	setpriv --reuid="$1" --regid="$1" --clear-groups env HOME="$2" lttng-relayd --output="$2" \
		--control-port="tcp://$6:$3" --data-port="tcp://$6:$4" --live-port="tcp://$6:$5" </dev/null >>"$work/relayd.log" 2>&1 &
	pids="$pids $!"
	until_true listens "$3" && until_true listens "$4" && until_true listens "$5"
}
# The traces in a directory, and spans in JSON rows
traces_in() { find "$1" -name metadata 2>/dev/null | wc -l; }
spans_in() { python3 -c "
import json
print(len({(r['trace_id'], r['span_id'], r['kind']) for l in open('$1') for r in json.loads(l)['rows']}))"; }
run() { # run NAME COMMAND...: a program of 20 requests, traced; the exit status in $code
	local name=$1
	shift
	rm -f "$LAB_HOME/truth"
	code=0
	timeout 60 "$@" "$blktop" -y -b --view spans --format json --live-timer 100ms -- \
		"$spangen" -t 1 -n 20 -r 100 --truth "$LAB_HOME/truth" >"$work/out.$name" 2>"$work/out.$name.err" </dev/null || code=$?
}
has() { grep -qF -- "$2" "$work/out.$1"; }
lacks() { ! has "$@"; }
complete() { [ "$code" = 0 ] && [ "$(spans_in "$work/out.$1")" -ge "$(awk '$1 == "total" { print $3 }' "$LAB_HOME/truth")" ]; }
refused() { # refused NAME: the daemon that listens was not used, this is said, and all is there
	ok "$1: it gets nothing" [ "$(traces_in "$work/strange")" = 0 ]
	ok "$1: all spans, from a daemon of its own" complete "$1"
	ok "$1: it is said, with the user" grep -qE "ports 5342 to 5344 belong to .*user id $2.* not to .*user id $3.*lttng-relayd was started on 127" \
		"$work/out.$1.err"
	ok "$1: nothing is left" sh -c "! ls '$XDG_STATE_HOME'/blktop/relay-* 2>/dev/null"
}

# --- another user's
relay_of $stranger "$work/strange" 5342 5343 5344 127.0.0.1
run foreign "$LAB/lab-run"
refused foreign $stranger "$user"
run foreign-root env HOME="$work"
refused foreign-root $stranger 0
python3 - "$LAB/lab-run" "$blktop" >"$work/out.page" <<'END'
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:] + ["-b", "--view", "spans", "-n", "1"])
text = b""
while b"q cancel" not in text and select.select([fd], [], [], 60)[0]:
    text += os.read(fd, 4096)
os.write(fd, b"q")
os.waitpid(pid, 0)
sys.stdout.buffer.write(text)
END
ok "the page that asks says it too" grep -q "relay .*ports 5342 to 5344 belong to .*user id $stranger" "$work/out.page"
end_pids

# --- on all addresses, and in the other address family
relay_of $stranger "$work/strange" 5342 5343 5344 0.0.0.0
run wildcard "$LAB/lab-run"
refused wildcard $stranger "$user"
end_pids

# --- only one of the ports: the one for viewers, which answers like the others' daemon
mkdir "$LAB_HOME/relay" && chown "$user" "$LAB_HOME/relay"
relay_of "$user" "$LAB_HOME/relay" 5342 5343 6344 127.0.0.1
relay_of $stranger "$work/strange" 6342 6343 5344 127.0.0.1
run mixed "$LAB/lab-run"
refused mixed $stranger "$user"
is "mixed: nor is the user's own" "$(traces_in "$LAB_HOME/relay")" 0
end_pids

# --- root's, for another user
mkdir "$work/root"
relay_of 0 "$work/root" 5342 5343 5344 127.0.0.1
run of-root "$LAB/lab-run"
refused of-root 0 "$user"
is "of-root: root's daemon gets nothing" "$(traces_in "$work/root")" 0
run by-root env HOME="$work"
ok "by-root: root uses it" [ "$(traces_in "$work/root")" -gt 0 ]
ok "by-root: all spans" complete by-root
ok "by-root: without a word" lacks by-root.err relayd
end_pids

# --- the user's own
relay_of "$user" "$LAB_HOME/relay" 5342 5343 5344 0.0.0.0
run own "$LAB/lab-run"
ok "own: it is used" [ "$(traces_in "$LAB_HOME/relay")" -gt 0 ]
ok "own: all spans" complete own
ok "own: without a word" lacks own.err relayd
end_pids

# --- the ports change hands after they were looked at: nothing was traced yet, and the session is destroyed
python3 "$SRCDIR/tests/live/takeover.py" "$LAB_CTRL_PORT" "$user" $stranger "$work/taken" &
pids=$!
until_true listens 5344
run taken "$LAB/lab-run"
is "taken: exit status" "$code" 1
ok "taken: the reason" has taken.err "another process took the ports of the relay daemon"
is "taken: ports that another user took, bytes of traces that it got" "$(cat "$work/taken")" "3 0"
ok "taken: the session is gone" sh -c "! '$LAB/lab-run' lttng --no-sessiond list | grep -q blktop-"
end_pids

# --- -r is the user's choice
relay_of $stranger "$work/strange" 5342 5343 5344 127.0.0.1
ok "-r takes any daemon" "$LAB/lab-run" "$blktop" --list-sessions -r 127.0.0.1
done_testing
