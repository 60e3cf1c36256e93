#!/bin/bash
# A live session on the screen, and what a network does to it: details from what is kept on
# disk; cut, refused, frozen: the banner says what, the history stays, and it goes on.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ] || ! command -v python3 >/dev/null; then
	echo "1..0 # SKIP $BLKTOP is not built, or python3 is not installed"
	exit 0
fi
BLKTOP=$(realpath "$BLKTOP")
python3 tests/cli/hostile_relay.py "$PWD/tests/traces/kernel-ust/trace" "$work/port" &
relay=$!
end() {
	kill -CONT "$relay" 2>/dev/null
	kill "$relay" 2>/dev/null
	t kill-server 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
until_true test -s "$work/port"
url=net://127.0.0.1:$(cat "$work/port")/host/web1/prod
follow() { # follow OPTION...: opens the screen on the relay
	shell "XDG_STATE_HOME='$work/state'"
	t resize-window -t now -x 140 -y 40
	keys "'$BLKTOP' --config none --utc --timeout 1 $* -r $url; echo rc=\$?" Enter
	wait_for "p99 ms" || wait_for "history 06:08"
}

follow
result $? "attaches: the history is there"
until_true compgen -G "$work/state/blktop/spool/*/0*" >/dev/null
result $? "what comes is kept in XDG_STATE_HOME"
is_private() { test -z "$(find "$work/state" -perm /077)"; }
is_private
result $? "for nobody else to read"

keys 4 && wait_for "Processes" && keys L
wait_for "lines, 06:08"
result $? "L: the log of a live session"
keys Escape Escape
keys S
wait_for "save as trace ([statedump] DIR): blktop-trace-0608" && keys Enter
wait_for "wrote $work/blktop-trace-0608"
result $? "S: a saved range"
"$BLKTOP" -b --view events "$work"/blktop-trace-0608* 2>"$work/err" | grep -q sched_switch
result $? "which opens"

keys Down
kill -USR1 "$relay"
wait_for "Connection refused" && shows_since
result $? "cut and refused: the banner says what, and since when"
shows "history 06:08"
result $? "the history stays"
keys Left
wait_for "PAUSED"
result $? "keys answer"
kill -USR2 "$relay"
gone() { ! shows "Connection refused"; }
until_true gone
result $? "back again: the banner goes"

kill -STOP "$relay"
wait_for "no answer"
result $? "frozen: the banner says so"
keys Right 1
wait_for "Overview"
result $? "keys answer"
kill -CONT "$relay"
thawed() { ! shows "no answer"; }
until_true thawed
result $? "thawed: the banner goes"
kill -STOP "$relay"
wait_for "no answer"
keys Q
given_back 0
result $? "q while it is frozen: the terminal as it was"
kill -CONT "$relay"

shell HOME=/nonexistent/home XDG_STATE_HOME= XDG_CONFIG_HOME=
t resize-window -t now -x 140 -y 40
keys "'$BLKTOP' --utc --timeout 1 -r $url; echo rc=\$?" Enter
wait_for "settings are not stored: there is no home directory '/nonexistent/home'; XDG_CONFIG_HOME or --config FILE"
result $? "no home directory: what is not kept, and what names another place"
keys '!'
wait_for "packets are not stored: there is no home directory '/nonexistent/home'; XDG_STATE_HOME or --spool DIR"
result $? "no home directory: the spool, too"
keys Escape
keys L
wait_for "or see !"
result $? "no home directory: no log, and where it says why"
keys Escape Escape
keys W
wait_for "XDG_CONFIG_HOME or --config FILE names another place"
result $? "no home directory: no settings, and what to do"
is_missing() { test ! -e "$1"; }
is_missing /nonexistent
result $? "no home directory: none is made"
keys Q
given_back 0
result $? "no home directory: it ends well"

follow --no-spool
keys L
wait_for "no packets of this session are stored on disk"
result $? "--no-spool: no log, and why"
keys Escape Escape
keys S
wait_for "there are no packets to save"
result $? "--no-spool: no saved range, and why"
keys Down
kill -KILL "$relay"
wait_for "Connection refused"
result $? "the relay is killed: the banner says so"
keys Q
given_back 0
result $? "q without a relay: the terminal as it was"

rm "$work/port"
python3 tests/cli/replay_relay.py "$work/port" tests/traces/viewer/ctf-2.transcript.xz \
	tests/traces/viewer/ctf-1.8.transcript.xz &
relay=$!
until_true test -s "$work/port"
url=net://127.0.0.1:$(cat "$work/port")/host/vm/mine
keys "'$BLKTOP' --config none --utc --no-spool -r $url; echo rc=\$?" Enter
wait_for "cannot read trace 'vm/ust/uid/0/64-bit': cannot read metadata: "
result $? "one trace of two can't be read: the banner says which, and why"
keys 4 && wait_for "spangen"
result $? "the other one is shown"
keys Q
given_back 0
result $? "q: the terminal as it was"

kill "$relay"
rm "$work/port"
python3 tests/cli/replay_relay.py "$work/port" tests/traces/viewer/ctf-2.transcript.xz &
relay=$!
until_true test -s "$work/port"
url=net://127.0.0.1:$(cat "$work/port")/host/vm/mine
keys "'$BLKTOP' --config none --utc --no-spool -r $url; echo rc=\$?" Enter
wait_for "DATA ! lost 0 INCOMPLETE"
result $? "the session daemon was killed: the DATA line says that it is incomplete"
wait_for "incomplete: session 'mine' of host 'vm'"
result $? "and the bottom line why"
keys Q
given_back 0
result $? "q after that: the terminal as it was"
done_testing
