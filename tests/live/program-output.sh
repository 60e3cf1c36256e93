#!/bin/bash
# What a followed program prints while the screen shows: the last of it is printed when the screen closes, it is bounded,
# no file is left, and the program never notices.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is not installed"
. "$SRCDIR/tests/tui/terminal.sh"
export LAB_APPS=0 LAB_LIVE_US=100000
trap 't kill-server 2>/dev/null; cleanup' EXIT
lab_up
state=$LAB_HOME/state
cp "${BLKTOP:-$SRCDIR/build/blktop}" "$LAB_HOME/bin/blktop"
chmod 755 "$LAB_HOME/bin/blktop"
user=$(stat -c %u "$LAB_HOME/bin")
processes() { pgrep -u "$user" "$@"; }
none() { ! processes "$@" >/dev/null; }
blktop_pid() { processes -x blktop | head -n 1; }
no_files() { [ -z "$(find "$state" -type f -not -path '*/spool/*' 2>/dev/null)" ]; }
stored_kb() { du -sk "$LAB_HOME/state" 2>/dev/null | cut -f1; }
none_of_blktop() { none -x blktop && none -x blktop-helper; }

follow() { # follow COMMAND...: the screen follows a program; waits for both
	shell
	t resize-window -t now -x 100 -y 40
	keys "XDG_STATE_HOME='$state' '$LAB/lab-run' '$LAB_HOME/bin/blktop' --config none -y --live-timer 100ms -- $*; echo rc=\$?" Enter
	until_true on_screen && until_true begun
}
on_screen() { [ "$(state '#{alternate_on}')" = 1 ]; }
begun() { [ -e "$LAB_HOME/begun" ]; }
program() { # program NAME SCRIPT: makes it; it says that it has begun
	cat >"$LAB_HOME/bin/$1" <<END
#!/bin/bash
touch '$LAB_HOME/begun'
$2
END
	chmod 755 "$LAB_HOME/bin/$1"
	rm -f "$LAB_HOME/begun"
	echo "$LAB_HOME/bin/$1"
}

# --- a little, on both files
follow "$(program little 'echo out; echo err >&2; printf "tab\tend"; sleep 1000')"
keys q
wait_for "rc=0"
ok "little: all of it, in order" sh -c "tmux -S '$work/socket' capture-pane -p -t now | grep -A3 'the output of .*little:' | tr '\n' ' ' | grep -q 'out err tab end'"
ok "little: no file is left" no_files
ok "little: nor a process" until_true none blktop

# --- nothing
follow "$(program silent "until [ -e '$LAB_HOME/seen' ]; do read -rt 0.1 <> <(:); done")"
ok "silent: the screen says what was not recorded, and what to do" wait_for "silent has recorded no spans"
ok "silent: it does not say that it reads" sh -c "! tmux -S '$work/socket' capture-pane -p -t now | grep -q 'reading \.\.\.'"
touch "$LAB_HOME/seen"
ok "silent: when it has ended, too" wait_for "nothing was recorded"
ok "silent: with the next command" shows "lttng list --userspace"
keys q
wait_for "rc=0"
ok "silent: nothing is printed" sh -c "! tmux -S '$work/socket' capture-pane -p -t now | grep -q 'the output of'"

# --- no end: a hundred megabytes, and more
follow "$(program endless "trap 'echo the end; exit 7' TERM
head -c 100M /dev/zero | tr '\\0' y | fold -w 9; touch '$LAB_HOME/printed'; while :; do echo \$((++n)); done")"
printed() { [ -e "$LAB_HOME/printed" ]; }
ok "endless: the program is not held up" until_true printed
ok "endless: less than a megabyte is stored" [ "$(stored_kb)" -lt 1000 ]
ok "endless: nor does the helper grow" [ "$(ps -o rss= -p "$(processes -x blktop-output)")" -lt 20000 ]
keys q
ok "endless: the end is printed" wait_for "the end"
says_so() { t capture-pane -p -J -t now | grep -Eq "the first [0-9]{9,} bytes of the output of .*endless are not stored"; }
ok "endless: what is not stored is said" until_true says_so
ok "endless: no file is left" no_files
ok "endless: nor a process" until_true none blktop

# --- blktop is killed: its helper ends the program, and nothing is left
follow "$(program killed 'while :; do echo x; done')"
kill -KILL "$(blktop_pid)"
ok "blktop is killed: the program ends" until_true none killed
ok "blktop is killed: no process is left" until_true none blktop
ok "blktop is killed: no file is left" until_true no_files

# --- killed with its helper: a program that ignores that goes on, prints, and does not notice
follow "$(program stubborn "trap '' TERM; trap 'echo pipe >$LAB_HOME/noticed' PIPE
while [ ! -e '$LAB_HOME/go' ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx || echo \$? >'$LAB_HOME/noticed'; n=\$((n + 1))
[ \$((n % 10000)) != 0 ] || touch '$LAB_HOME/alive'; done; touch '$LAB_HOME/ended'")"
kill -KILL "$(blktop_pid)" "$(processes -x blktop-helper)"
until_true none_of_blktop
rm -f "$LAB_HOME/alive"
lives() { [ -e "$LAB_HOME/alive" ]; }
ended() { [ -e "$LAB_HOME/ended" ]; }
ok "killed with its helper: a stubborn program goes on" until_true lives
ok "and stores nothing" [ "$(stored_kb)" -lt 1000 ]
touch "$LAB_HOME/go"
ok "and ends by itself" until_true ended
ok "and noticed nothing" [ ! -e "$LAB_HOME/noticed" ]
ok "and the process that read its output ends" until_true none blktop-output
"$LAB/lab-run" env XDG_STATE_HOME="$state" "$LAB_HOME/bin/blktop" --sweep >"$work/out.sweep" 2>&1
ok "--sweep leaves no file" no_files
done_testing
