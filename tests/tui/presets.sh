#!/bin/bash
# Presets on the screen: one line says which is used; a line of the list of views switches it off and on again, and W writes the choice.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ]; then
	echo "1..0 # SKIP $BLKTOP is not built"
	exit 0
fi
program=$(realpath "$BLKTOP")
python3 tests/cli/presets.py --write seastar "$work/trace"
shows() { t capture-pane -p -t now | tr '\n' ' ' | tr -s ' ' | grep -qF -- "$1"; }
writes() { grep -qsx "presets=$1" "$work/rc"; }

t new-session -d -s now -x 80 -y 24 "cd '$work' && '$program' --config rc --utc trace; sleep 3600"
until_true shows "preset seastar is used: disk I/O and tasks of each shard"
result $? "a line says that the preset is used"
shows "OPERATION" && shows "run tasks"
result $? "its spans are the requests of the first screen"
t send-keys -t now F2
until_true shows "Views: Enter opens one"
t send-keys -t now presets
until_true shows "Presets seastar: used; Enter reads again without presets"
result $? "the list of views has a line for it"
t send-keys -t now Enter
until_true shows "presets: none"
result $? "Enter reads again without"
t send-keys -t now 7
until_true shows "Spans: 0 rows"
result $? "then there are no spans"
t send-keys -t now W
until_true writes none
result $? "W writes the choice"
t send-keys -t now F2
until_true shows "Views: Enter opens one"
t send-keys -t now presets
until_true shows "Presets seastar: not used; Enter reads again with it"
t send-keys -t now Enter
until_true shows "presets: auto,seastar"
result $? "the line switches it on again"
t send-keys -t now 7 0
until_true shows "Spans: 11 rows"
result $? "its spans are there"
t kill-session -t now
t new-session -d -s now -x 80 -y 24 "cd '$work' && '$program' --config rc --utc trace; sleep 3600"
until_true shows "task_start and task_end look like"
result $? "the setting counts at the next start: other rules are suggested"
done_testing
