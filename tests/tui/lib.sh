# Shared by the tests of the screen: TAP, and a shell in a terminal of tmux. Source it.
# shellcheck shell=bash
# shellcheck disable=SC2317 # functions are called through until_true
BUILD=${BUILD:-build}
BLKTOP=${BLKTOP:-$BUILD/blktop}
if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP tmux is not installed"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/tui.XXXXXX")
export TERM=xterm-256color LC_ALL=C.UTF-8 TZ=UTC
unset TMUX NO_COLOR
n=0 failed=0

# A server that stays, and one session after the other in it.
t() { tmux -S "$work/socket" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$work"' EXIT
t new-session -d -s keep "sleep 3600"

result() { # result STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		t capture-pane -t now -p 2>/dev/null | sed 's/^/# /'
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# until_true COMMAND...: within 10 seconds; once something failed there is no hurry to wait
until_true() {
	local end=$((SECONDS + (failed ? 2 : 10)))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

shows() { t capture-pane -p -t now | grep -qF -- "$1"; }
wait_for() { until_true shows "$1"; }
state() { t display -p -t now "$1"; }
prompt_again() { [ "$(t capture-pane -p -t now | grep -v '^$' | tail -1)" = "READY>" ]; }
plain() { [ "$(state '#{alternate_on}')" = 0 ] && [ "$(state '#{cursor_flag}')" = 1 ]; }
keys() { t send-keys -t now "$@"; }

# shell [ENVIRONMENT...]: a new terminal with a shell whose prompt is READY>
shell() {
	t kill-session -t now 2>/dev/null
	t new-session -d -s now -x 80 -y 24 "cd '$work' && env PS1='READY> ' ENV= $* sh -i"
	wait_for "READY>"
	keys "stty -g >'$work/before'" Enter
	until_true test -s "$work/before"
	keys clear Enter
	until_true prompt_again
}

# Is the terminal as it was? The exit code was the first argument (-: nobody printed it).
given_back() {
	until_true plain || return 1
	[ "$1" = - ] || wait_for "rc=$1" || return 1
	until_true prompt_again || return 1
	rm -f "$work/after"
	keys "clear; stty -g >'$work/after'" Enter
	until_true test -s "$work/after" || return 1
	cmp -s "$work/before" "$work/after"
}

run() { # run COMMAND: and wait until it shows its first screen
	keys "$1; echo rc=\$?" Enter
	wait_for "usual" && [ "$(state '#{alternate_on}')" = 1 ]
}

pid_of_screen() { pgrep -P "$(state '#{pane_pid}')" | tail -1; }

done_testing() {
	echo "1..$n"
	exit "$failed"
}
