# A shell in a terminal of tmux, for tests that press keys and look. Source it, with work
# (a folder), BLKTOP, and until_true.
# shellcheck shell=bash
export TERM=xterm-256color LC_ALL=C.UTF-8 TZ=UTC
unset TMUX NO_COLOR COLORTERM

# A server that stays, and one session after the other in it.
t() { tmux -S "$work/socket" -f /dev/null "$@"; }
t new-session -d -s keep "sleep 3600"

shows() { [[ $(t capture-pane -p -t now) == *"$1"* ]]; }
wait_for() { until_true shows "$1"; }
# A banner that says since when: the lines of trust and of slow requests have the word, too.
shows_since() { t capture-pane -p -t now | grep -v "packets since\|slow since" | grep -q "since "; }
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
