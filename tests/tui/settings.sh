#!/bin/bash
# What the user chooses, on a real terminal: blktoprc and its warnings, themes, remapped
# keys, the mouse and that it is given back, W, lines typed, the messages.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
demo=$PWD/tests/traces/demo
if [ ! -x "$BLKTOP" ] || [ ! -d "$demo" ]; then
	echo "1..0 # SKIP $BLKTOP or $demo is missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")
rc=$work/config/blktop/blktoprc history=$work/state/blktop/history
mkdir -p "$work/config/blktop"

# start [ENVIRONMENT...] [-- ARGUMENT...]: the demo, read to its end
start() {
	local env=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		env+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" TERM=xterm-256color "${env[@]}"
	keys "'$blktop' $* '$demo'; echo rc=\$?" Enter
	read_all
}
# With a sanitizer, and others working beside us, it may take its time.
read_all() {
	local end=$((SECONDS + 120))
	until shows "PAUSED" && ! shows "loading"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
quit() { keys Q && given_back 0; }
at_row() { [ "$(state '#{cursor_y}')" = "$1" ]; }
mouse_is() { [ "$(state '#{mouse_any_flag}')" = "$1" ]; }
# row TEXT: the number of the first row that shows it, from 0; column TEXT: where it begins there
row() { t capture-pane -p -t now | grep -nF -- "$1" | head -1 | cut -d: -f1 | awk '{ print $1 - 1 }'; }
column() { t capture-pane -p -t now | grep -F -- "$1" | head -1 | awk -v s="$1" '{ print index($0, s) - 1 }'; }
# at_row_of TEXT [N]: the cursor is N rows below the row that shows it
at_row_of() {
	local at
	at=$(row "$1")
	[ -n "$at" ] && at_row "$((at + ${2:-0}))"
}
# mouse BUTTON X Y, from 0: pressed and let go, as a terminal tells it (SGR)
mouse() {
	keys -l $'\033'"[<$1;$(($2 + 1));$(($3 + 1))M"
	keys -l $'\033'"[<$1;$(($2 + 1));$(($3 + 1))m"
}
click() { mouse 0 "$(($(column "$1") + ${2:-0}))" "$(row "$1")"; }

# ---- the file ----

cat >"$rc" <<'RC'
# my own words
[blktop]
theme = light
frobnicate = 3
mouse=perhaps
utc=yes
not a line
[colors]
title=201 bold
[keys]
time-back=Left H
export=
[someday]
x=y
RC
cp "$rc" "$work/rc.before"
start TZ=Asia/Tokyo
shows "blktoprc:4: unknown key 'frobnicate', and 3 more: ! shows them"
result $? "unknown keys and bad values are told with their line, and stop nothing"
t capture-pane -t now -p | head -1 | grep -q "07:07:2"
result $? "utc=yes"
t capture-pane -t now -pe | grep -qF '38;5;201'
result $? "a role has the colour of the file"
t capture-pane -t now -pe | grep -qF '38;5;24m'
result $? "theme=light"
keys '!'
wait_for "Messages" && shows "blktoprc:5: mouse takes yes or no, not 'perhaps'" &&
	shows "blktoprc:7: neither [GROUP] nor KEY=VALUE" && shows "unknown group [someday]"
result $? "! shows all of them"
keys q H
wait_for "07:07:26"
result $? "a remapped key does it"
keys '{'
wait_for "07:07:16" || wait_for "07:07:06"
keys e
wait_for "e does nothing here"
result $? "a command without a key has none"
cmp -s "$rc" "$work/rc.before"
result $? "the file is only read"
keys W
wait_for "settings written to"
{ grep -qx '# my own words' "$rc" && grep -qx 'frobnicate = 3' "$rc" && grep -qx 'not a line' "$rc" &&
	grep -qx 'theme = light' "$rc" && grep -qx 'x=y' "$rc" && grep -qx 'mouse=yes' "$rc"; }
result $? "W keeps comments, unknown keys and what is no line"
find "$work/config/blktop" -type f | wc -l | grep -qx 1
result $? "W leaves no other file"
quit
result $? "and leaves the terminal as it was"

printf '[blktop]\ntheme=mono\nview=processes\nstep=10s\ncursor=yes\n[view processes]\nsort=-pid\n' >"$rc"
start
shows "Processes" && shows "step 10s"
result $? "begins with the view and the step of the file"
! t capture-pane -t now -pe | grep -qE $'\033\\[([0-9]+;)*[34][0-8]'
result $? "theme=mono: no colour"
keys g j j
cursor_on_selected() { at_row_of '▶' && [ "$(state '#{cursor_flag}')" = 1 ]; }
until_true cursor_on_selected
result $? "cursor=yes: seen on the selected row"
keys z W
wait_for "settings written" && grep -qx 'step=1s' "$rc" && grep -qx 'view=processes' "$rc" &&
	grep -qx 'sort=-pid' "$rc"
result $? "W writes what was changed on the screen"
quit

start NO_COLOR=1 -- --theme dark
! t capture-pane -t now -pe | grep -qE $'\033\\[([0-9]+;)*[34][0-8]'
result $? "NO_COLOR goes before a theme"
quit
start -- --theme light
t capture-pane -t now -pe | grep -qF '38;5;24m'
result $? "the command line goes before the file"
quit

mv "$rc" "$work/elsewhere"
ln -s "$work/elsewhere" "$rc"
start
keys W
wait_for "settings written" && [ -L "$rc" ] && grep -q '^theme=mono' "$work/elsewhere"
result $? "a link stays a link"
quit
rm -f "$rc"
mkfifo "$rc"
start
t resize-window -t now -x 200 -y 24	# the path may be long
wait_for "it is not a regular file"
result $? "a pipe in the place of the file is not waited for"
keys W
wait_for "it is not a regular file" && [ -p "$rc" ]
result $? "nor written over"
quit
rm -f "$rc"
start -- --config none
keys W
wait_for "cannot write the settings: started with --config none" && [ ! -e "$rc" ]
result $? "--config none: nothing is read or written"
quit
start -- --config "'$work/mine/rc'"
wait_for "W makes it"
keys W
wait_for "settings written" && grep -qx 'theme=auto' "$work/mine/rc"
result $? "--config FILE, which W makes"
quit

# ---- lines typed ----

start
keys 4
wait_for "Processes:"
keys '\' 'comm =~ thumb' Enter
wait_for "filter: comm =~ thumb"
keys '\' C-u 'pid > 1' Enter
wait_for "filter: pid > 1"
quit
[ "$(stat -c %a "$history")" = 600 ] && grep -qxF $'filter\tcomm =~ thumb' "$history"
result $? "lines typed are kept, for their owner alone"
printf 'filter\t\033[31mevil\nfilter\t\377\n\0\n%s\n' "$(head -c 20000 /dev/zero | tr '\0' x)" >>"$history"
start
keys 4
wait_for "Processes:"
keys '\' Up
wait_for "filter: pid > 1"
keys Up
wait_for "filter: comm =~ thumb"
result $? "Up brings them back in another run, and nothing that nobody typed"
keys Down
wait_for "filter: pid > 1"
keys Down Escape
quit
start -- --config none
keys 4 '\' Up 'ab' Enter
wait_for "filter: ab" || wait_for "no column"
keys Escape
quit
! grep -q $'\tab$' "$history"
result $? "--config none: lines typed stay where they were"

# ---- the mouse ----

start
until_true mouse_is 1
result $? "the mouse is asked for"
click "stored  " 2
until_true at_row_of 'stored  '
result $? "a click selects"
mouse 65 10 "$(row '95.3ms-166ms')"
until_true at_row_of 95.3ms-166ms 3
result $? "the wheel moves on"
keys 4
wait_for "Processes:"
click "READ " 1
wait_for "sorted by READ, highest first"
result $? "a click on a title sorts"
click "READ▼" 1
wait_for "sorted by READ, lowest first"
result $? "and again the other way"
click "1Over" 1
wait_for "REQUESTS"
result $? "a click on the key bar presses the key"
y=$(row '95.3ms-166ms')
mouse 0 12 "$y"
mouse 0 12 "$y"
wait_for "began " && wait_for "WHY"
result $? "a double click opens"
mouse 0 2 0
wait_for "REQUESTS"
result $? "a click on the path goes back"
mouse 0 8 "$(row '14.7ms')"
wait_for "07:07:03 PAUSED" || wait_for "07:07:04" || wait_for "07:07:06"
result $? "a click on the strip goes to that second"
keys 4
wait_for "Processes:"
y=$(row 'p99    ')
keys -l $'\033'"[<0;$((12 + 1));$((y + 1))M"$'\033'"[<32;$((20 + 1));$((y + 1))M"$'\033'"[<0;$((28 + 1));$((y + 1))m"
wait_for "range 07:0" && wait_for ": R clears it"
result $? "dragging over the strip sets the range"
keys R 1
wait_for "REQUESTS"
keys F9
until_true mouse_is 0
result $? "F9 leaves it to the terminal"
keys F9
until_true mouse_is 1
result $? "and takes it again"
keys C-z
until_true mouse_is 0 && wait_for "READY>"
result $? "Ctrl-Z gives it back"
keys "clear; fg" Enter
until_true mouse_is 1
result $? "fg takes it again"
keys Q
given_back - && mouse_is 0
result $? "Q gives it back"
start
until_true mouse_is 1
kill -SEGV "$(pid_of_screen)"
until_true plain && mouse_is 0
result $? "a crash gives it back"
start -- --mouse off
mouse_is 0
result $? "--mouse off"
quit
# Terminals of the older kind tell bytes.
start TERM=screen
keys -l $'\033[M '"$(printf '%b' '\x2d')$(printf "\\$(printf %o $(($(row 'stored  ') + 33)))")"
until_true at_row_of 'stored  '
result $? "a click as older terminals tell it"
quit
result $? "and gives the terminal back"

# What is done, in the log.
start -- --log "$work/log" --log-level debug
keys t
quit
grep -q ' screen: key t in overview: ' "$work/log"
result $? "--log-level debug writes down each key"

done_testing
