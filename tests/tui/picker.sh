#!/bin/bash
# blktop -r HOST: the list of sessions is there before the relay has answered, says why when it
# does not, and is left at once. No LTTng needed.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ] || ! command -v python3 >/dev/null; then
	echo "1..0 # SKIP $BLKTOP is not built, or python3 is not installed"
	exit 0
fi
BLKTOP=$(realpath "$BLKTOP")
python3 tests/lib/fake-server.py silent "$work/port" &
silent=$!
trap 'kill "$silent" 2>/dev/null; t kill-server 2>/dev/null; rm -rf "$work"' EXIT
until_true test -s "$work/port"
port=$(cat "$work/port")

shell
keys "'$BLKTOP' --config none --timeout 3 -r 127.0.0.1:$port; echo rc=\$?" Enter
wait_for "asking"
result $? "a relay that says nothing: asked, on the screen"
wait_for "asking again"
result $? "and why nothing came, after --timeout"
keys q && wait_for "rc=0"
result $? "q leaves"

keys "clear; '$BLKTOP' --config none --timeout 60 -r 127.0.0.1:$port; echo rc=\$?" Enter
wait_for "asking" && keys Escape && wait_for "rc=0"
result $? "Escape leaves while it is still asked"

kill "$silent"
wait "$silent" 2>/dev/null
keys "clear; '$BLKTOP' --config none -r 127.0.0.1:$port; echo rc=\$?" Enter
wait_for "refused; asking again"
result $? "no relay: told, and asked again"
shows "lttng-relayd --daemonize" && shows "sh record.sh SESSION net://localhost" && ! shows "VIEWERS"
result $? "with the two commands that start one, and no headings of a table"
keys Enter && wait_for "asking again"
result $? "what is told can't be picked"
keys q && wait_for "rc=0"
result $? "q leaves"
done_testing
