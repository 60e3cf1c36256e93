#!/bin/bash
# What happens to a session, on the screen: somebody else has it, it is stopped and started, its
# session daemon dies and comes back, its relay's disk is full, it is destroyed. The banner says
# so, the history stays, and the terminal is given back.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
full=
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare --mount "$0" "$@"
	full=yes
fi
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"
export LAB_LIVE_US=100000 LAB_APPS=0 LAB_SUBBUF=64k
trap 't kill-server 2>/dev/null; cleanup' EXIT
# The relay's disk: a megabyte, once it is mounted.
cat >"$work/small" <<END
#!/bin/sh
mountpoint -q $LAB_DIR/traces || mount -t tmpfs -o size=1m,mode=777 tmpfs $LAB_DIR/traces
exec "\$@"
END
chmod 755 "$work/small"
lab_up
spangen=$LAB_DIR/bin/spangen
lacks() { ! shows "$1"; }
head_shows() { t capture-pane -p -t now | head -n 1 | grep -Eq "$1"; }
follows() { ! shows_since && lacks "is silent" && head_shows 'LIVE lag [01]\.'; }
ended() { shows "the session has ended" && shows "history "; }
watch() { # watch OPTION...: the screen on the session
	shell "XDG_STATE_HOME='$work/state'"
	t resize-window -t now -x 140 -y 40
	keys "'$BLKTOP' --config none --utc --timeout 2 $* -r $LAB_URL; echo rc=\$?" Enter
}
trace() { # trace [OPTION...]: a program, in the background; its pid in $app
	"$LAB/lab-run" "$spangen" -t 1 -r 100 "$@" </dev/null >/dev/null 2>&1 &
	app=$!
}
stop_app() {
	kill "$app"
	wait "$app" 2>/dev/null
}

# --- somebody else has it
trace
view other "$LAB_URL"
watch
ok "somebody else watches: told, with what to do" wait_for "another viewer is attached"
ok "and left: the terminal as it was" given_back 1
watch --wait
ok "--wait: the screen says that it waits" wait_for "another viewer"
kill "$viewer"
wait "$viewer" 2>/dev/null
ok "the other one leaves: it goes on" until_true follows

# Beside the strip: where nothing came for a second, as when stopped, is one, too.
n_gaps() { t capture-pane -p -t now | sed -n 's/.* \([0-9]*\) gaps\{0,1\}\b.*/\1/p' | grep . || echo 0; }
one_gap_more() { [ "$(n_gaps)" = $((gaps + 1)) ]; }

# --- stopped, started, its session daemon killed
in_lab lttng --no-sessiond stop spans
n_events() { t capture-pane -p -t now | sed -n 's/.* \([0-9.a-zA-Z]*\) events.*/\1/p'; }
idle() {
	local before
	before=$(n_events)
	sleep 0.5
	[ "$before" = "$(n_events)" ]
}
ok "stopped: no events come" until_true idle
ok "told, and since when" wait_for "no event since "
ok "and what that means" shows "nothing happens, or tracing is stopped"
in_lab lttng --no-sessiond start spans
ok "started: it goes on" until_true follows
kill -9 "$LAB_SESSIOND_PID"
killed=$(date +%s)
a_second_is_missing() { [ "$(date +%s)" -ge $((killed + 2)) ]; }
ok "the session daemon is killed: the banner says that the session is missed" wait_for "does not exist any more: waiting"
ok "since when" shows_since
ok "the history stays" shows "history "
keys 4
wait_for "Processes: "
gaps=$(n_gaps)
stop_app
ok "a whole second passes without it: less would be no gap" until_true a_second_is_missing
ok "a session daemon again" sessiond_again
ok "with a session" session_again
trace
ok "it goes on" until_true follows
ok "the time between is a gap" until_true one_gap_more
keys Q
ok "Q: the terminal as it was" given_back 0

# --- destroyed
watch
ok "attached again" until_true follows
in_lab lttng --no-sessiond destroy spans
ok "destroyed: told, and the history stays" until_true ended
keys Left
keys q
ok "q after the end: the terminal as it was" given_back 0
stop_app

# --- the relay's disk is full: it gives the session up, which looks like its end
if [ -n "$full" ]; then
	kill "$LAB_RELAYD_PID"
	export LAB_RELAY_IN=$work/small
	mkdir -p "$LAB_DIR/traces"
	ok "a relay with a small disk" relay_again
	unset LAB_RELAY_IN
	ok "a session" session_again
	trace -t 2 -r 50
	watch
	ok "full: at first the session is shown" wait_for ' history '
	head -c 2M /dev/zero >"$LAB_DIR/traces/filler" 2>/dev/null
	ok "full: the session's end is told, the history stays" until_true ended
	ok "full it is" [ "$(df --output=avail "$LAB_DIR/traces" | tail -n 1)" -eq 0 ]
	keys q
	ok "full: the terminal as it was" given_back 0
	watch --wait
	ok "full, and waiting: told" wait_for "does not exist yet: waiting"
	keys q
	ok "q: the terminal as it was" given_back 0
	stop_app
	umount -l "$LAB_DIR/traces"
else
	n=$((n + 1))
	echo "ok $n - the relay's disk is full # SKIP needs root, for a small one"
fi
done_testing
