#!/bin/bash
# Bookmarks on a real terminal: set, kept for the trace wherever it lies, in reports and saved traces; damaged files.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
demo=$PWD/tests/traces/demo/trace
if [ ! -x "$BLKTOP" ] || [ ! -d "$demo" ]; then
	echo "1..0 # SKIP $BLKTOP or $demo is missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")

start() { # start STATE TRACE
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/$1'" TERM=xterm-256color
	keys "'$blktop' --utc '$2'; echo rc=\$?" Enter
	wait_for PAUSED
}
quit() { keys Q && given_back 0; }
file() { echo "$work/$1"/blktop/bookmarks/trace-*; }

start state "$demo"
keys "'"
wait_for "no bookmarks in this trace: m sets one"
result $? "there are none at first"
keys m
wait_for "Bookmark, note"
keys -l "the slow *one*"
keys Enter
wait_for "bookmark set: ' lists 1"
result $? "m sets one, with a note"
quit
[ -f "$(file state)" ] && [ "$(stat -c %a "$(file state)")" = 600 ] && grep -q "note=the slow \*one\*$" "$(file state)"
result $? "it is in the state directory, for the user only"

cp -r "$demo" "$work/elsewhere"
start state "$work/elsewhere"
keys b start Enter "'"
wait_for "the slow \*one\*" || shows "the slow *one*"
result $? "the same trace at another path has it"
keys Enter
wait_for "bookmark 0"
result $? "Enter goes there"
quit

XDG_STATE_HOME=$work/state "$blktop" report --utc "$demo" >"$work/page.md" 2>"$work/err"
grep -A3 '^## Bookmarks' "$work/page.md" | grep -q 'Overview.*the slow'
result $? "a report has it"
XDG_STATE_HOME=$work/state "$blktop" report --html "$work/page.html" --utc "$demo" 2>>"$work/err"
grep -A3 '<h2>Bookmarks</h2>' "$work/page.html" | grep -q '<li>.*Overview.*the slow \*one\*</li>'
result $? "an HTML report has it"
XDG_STATE_HOME=$work/none "$blktop" report --utc "$demo" >"$work/page2.md" 2>>"$work/err"
! grep -q '^## Bookmarks' "$work/page2.md"
result $? "without bookmarks it has no such section"

XDG_STATE_HOME=$work/state "$blktop" save -o "$work/saved" "$demo" 2>>"$work/err"
grep -q "note=the slow" "$work/saved/.blktop-bookmarks"
result $? "blktop save carries it"
"$blktop" -b --view events "$work/saved" >"$work/events" 2>>"$work/err"
result $? "the saved trace is read as before"
start other "$work/saved"
keys "'"
wait_for "the slow"
result $? "and shows it where the state directory has none"
keys q m Enter
wait_for "bookmark set"
quit
grep -q "note=the slow" "$(file other)"
result $? "what is set there is stored beside it"

printf 'blktop bookmarks 1\nat=1\tview=\033[31m\n' >"$(file state)"
cp "$(file state)" "$work/damaged"
start state "$demo"
keys m
wait_for "cannot set a bookmark: the bookmarks file:2 is damaged"
result $? "a damaged file is refused"
quit
cmp -s "$(file state)" "$work/damaged"
result $? "and stays as it is"
head -c 2000000 /dev/zero >"$(file state)"
start state "$demo"
keys "'"
wait_for "it is too long"
result $? "so is one that is too long"
quit

done_testing
