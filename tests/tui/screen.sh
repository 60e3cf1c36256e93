#!/bin/bash
# The screen in a real terminal (tmux): every key, resizing, colours, and that the
# terminal comes back whatever happens. The story of the unit tests is shown by
# test-loop --screen; the demo recording by blktop itself.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
story="$(realpath "$BUILD")/tests/test-loop --screen"
if [ ! -x "$BUILD/tests/test-loop" ]; then
	echo "1..0 # SKIP $BUILD/tests/test-loop is not built"
	exit 0
fi

shell
run "$story"
result $? "starts on the alternate screen"
keys q
given_back 0
result $? "q gives the terminal back"

# Every key of the tables that does not leave, in the three kinds of screens.
all="1 2 3 4 5 6 7 8 9 F2 Tab BTab Enter w l [ ] z Z e y s n N Left Right { } b p p F A B R ) (
Up k Down j PPage C-u NPage C-d Home g End G / \\ F4 < > I H t F5 + - * Space T U f o F6 F7 u BSpace x ! C-l ? F1 h"
for screen in "" 4 "Enter"; do
	shell
	run "$story coach" || result 1 "starts"
	ok=0
	for key in $all; do
		keys 1
		[ -z "$screen" ] || keys "$screen"
		keys "$key" Escape
	done
	keys Escape
	keys 1 C-l
	wait_for "usual" || ok=1
	[ "$(state '#{alternate_on}')" = 1 ] || ok=1
	result $ok "lives through every key after '${screen:-start}'"
	keys Q
	given_back 0
	result $? "Q gives the terminal back"
done

shell
run "$story"
t resize-window -t now -x 50 -y 10
wait_for "too small, need 60x15"
result $? "says when it is too small"
t resize-window -t now -x 140 -y 45
wait_for "F2Views | Enter:why X:changed"
result $? "uses the room it gets"
t resize-window -t now -x 80 -y 24
wait_for "5Calls F2Views | Enter:why X:changed q:quit ,:more ?"
result $? "is whole again at 80x24"
keys C-c
given_back 130
result $? "Ctrl-C gives the terminal back"

# rxvt sends Alt with an arrow as Esc and the arrow.
for terminal in "rxvt-unicode-256color [D [C" "xterm-256color [D [C" "xterm-256color OD OC"; do
	read -r term left right <<<"$terminal"
	shell "TERM=$term"
	run "$story"
	keys 4
	wait_for "Processes ›" && keys -l $'\033\033'"$left" && wait_for "back to Overview"
	result $? "$term: Esc Esc $left goes back"
	keys -l $'\033\033'"$right"
	wait_for "forth to Processes"
	result $? "$term: Esc Esc $right goes forth"
	keys Enter
	wait_for "Processes › thumbd" && keys -l $'\033\0337' && wait_for "Spans ›"
	result $? "$term: Esc Esc and another key are three keys"
	keys Q
	given_back 0
done

for signal in TERM:143 HUP:129 SEGV:139 ABRT:134 BUS:135 FPE:136 ILL:132; do
	shell
	run "$story" || result 1 "starts"
	kill -"${signal%:*}" "$(pid_of_screen)"
	# A sanitizer reports a crash by an exit code of its own.
	if nm -D "$BUILD/tests/test-loop" 2>/dev/null | grep -q __asan_init && [ "${signal#*:}" -lt 143 ] &&
		[ "${signal#*:}" -gt 129 ]; then
		given_back ""
	else
		given_back "${signal#*:}"
	fi
	result $? "SIG${signal%:*} gives the terminal back"
done

shell
run "$story"
keys C-z
until_true plain && wait_for "READY>"
result $? "Ctrl-Z gives the terminal back"
keys "clear; fg" Enter
wait_for "usual" && [ "$(state '#{alternate_on}')" = 1 ]
result $? "fg comes back"
keys Q
given_back -
result $? "and quits as ever"

shell NO_COLOR=1
run "$story"
! t capture-pane -t now -pe | grep -qE $'\033\\[([0-9]+;)*[34][0-8]'
result $? "NO_COLOR: no colour"
keys Q
shell
run "$story"
t capture-pane -t now -pe | grep -qE $'\033\\[([0-9]+;)*38;5;'
result $? "256 colours otherwise"
keys 4
wait_for 'ev\x1b[31mil'
result $? "a hostile name is shown, not obeyed"
keys Q

shell LC_ALL=C
run "$story"
! t capture-pane -t now -p | LC_ALL=C grep -q '[^ -~]' && shows ">    1 thumbnail 97.3ms"
result $? "plain ASCII in the C locale"
keys Q

# TERM belongs to the program alone: the shell keeps its own.
for term in xterm screen linux vt100 dumb; do
	shell
	keys "TERM=$term $story; echo rc=\$?" Enter
	if [ $term = dumb ]; then
		wait_for "cannot move its cursor" && wait_for "rc=1"
		result $? "TERM=dumb: says why not"
		continue
	fi
	wait_for "usual"
	result $? "TERM=$term"
	# Keys that this TERM does not describe are neither other keys nor several.
	keys S-Left && wait_for "06:08:35 PAUSED" && keys S-Right && wait_for "06:08:40 PAUSED" &&
		keys 4 && wait_for "by process" && keys End && keys C-Left &&
		wait_for "this key does nothing here" && shows "Processes" && keys Home F2 &&
		wait_for "Views: Enter"
	result $? "TERM=$term: keys that it does not describe"
	keys Escape
	until_true shows "by process"
	if [ $term = vt100 ]; then
		keys F9
		wait_for "this terminal has no mouse"
		result $? "TERM=$term: has no mouse, and says so"
	fi
	keys Q
	wait_for "rc=0" || result 1 "leaves with TERM=$term"
done

# The walk of the README, on the real thing: from the start to the reason and the exported file.
demo=$PWD/tests/traces/demo
walk=$PWD/tests/traces/ctf2/demo
if [ ! -x "$BLKTOP" ] || [ ! -d "$walk" ]; then
	skip "the walk on the demo" "$BLKTOP or $walk is missing"
else
	shell
	keys "$(realpath "$BLKTOP") --config none --utc --demo; echo rc=\$?" Enter
	# With a sanitizer, and others working beside us, it may take its time.
	until_true shows "usual"
	end=$((SECONDS + 120))
	until shows "PAUSED" || [ $SECONDS -ge $end ]; do sleep 0.1; done
	wait_for "PAUSED" && wait_for "▶    1 thumbnail 570ms"
	result $? "opens the demo paused on its worst second, the cursor on the slowest requests"
	keys b -12s Enter
	wait_for "▶    1 thumbnail 184ms"
	result $? "b -12s: the first fault"
	keys Down Down
	wait_for "▶    2 thumbnail 45.1ms" && keys Enter
	wait_for "WHY" && wait_for "began "
	result $? "Enter: why"
	# The README's screen, all its lines.
	sed -n '/^Overview › /,/^```/p' README.md | grep -v '^```' >"$work/readme"
	as_readme() { t capture-pane -t now -p | cmp -s - "$work/readme"; }
	until_true as_readme
	result $? "and the screen is the README's"
	woken() { shows "woken by thumbd-w3/286" && shows "› 0caffbf2a7a31e9f"; }
	keys w
	until_true woken
	result $? "w: the request that held the lock"
	keys Escape
	wait_for "  (demo kernel+ust)"
	keys e
	exported() { test -n "$(find "$work" -name 'blktop-*.json' -print -quit)"; }
	until_true exported
	result $? "e: the exported file is there"
	keys Q
	given_back 0
	result $? "and the terminal comes back"
fi

# A trace that takes a while to read: shown at once, answers meanwhile, can be stopped.
amplify=$BUILD/bench/amplify
if [ ! -x "$BLKTOP" ] || [ ! -x "$amplify" ] || [ ! -d "$demo" ] ||
	! "$amplify" --size 500M "$demo" "$work/big" >/dev/null; then
	skip "a trace that is shown before it is read" "$BLKTOP, $amplify, $demo or room is missing"
else
	big="$(realpath "$BLKTOP") --reader native -j 1 --utc '$work/big'; echo rc=\$?"
	shell
	keys "$big" Enter
	wait_for "provisional: what came before" && shows "loading"
	result $? "shows the end of a trace that is not read yet"
	middle() { shows " 07:19:" && shows "provisional: what came before" && shows "REQUESTS"; }
	keys b 50% Enter
	until_true middle && shows "loading"
	result $? "and its middle"
	t resize-window -t now -x 140 -y 45
	wait_for "F2Views | Enter:" && wait_for "Esc stops the load"
	result $? "and that with more room"
	for key in $all; do
		case $key in
		Enter | BSpace | b | [/\\] | F4 | e | y | s | F1 | '?' | h | F2 | '!' | 4 | [5-9]) ;;
		*) keys "$key" ;;
		esac
	done
	# One Esc for each level that the keys went down, the last one stops.
	stops() { keys Escape && sleep 0.1 && shows "stopped at"; }
	until_true stops
	result $? "Esc stops"
	keys R b 90% Enter
	wait_for "not read: the load was stopped at" || wait_for "provisional: what came before"
	result $? "what is not read says so"
	keys Q
	given_back 0
	result $? "Q gives the terminal back"
	shell
	keys "$big" Enter
	wait_for "loading"
	kill -TERM "$(pid_of_screen)"
	given_back 143
	result $? "SIGTERM ends it while it reads"
fi

echo "1..$n"
exit $failed
