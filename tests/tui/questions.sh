#!/bin/bash
# Questions that the first screen answers, and how many keys they take from the start of the program: since when it is
# slow, what changed, and what a trace of the kernel alone has.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
kernel=$PWD/tests/traces/kernel-small/trace
if [ ! -x "$BLKTOP" ] || [ ! -d tests/traces/demo ] || [ ! -d "$kernel" ]; then
	echo "1..0 # SKIP $BLKTOP or the recordings are missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")

# open ARGUMENT...: until all is read
open() {
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" TERM=xterm-256color
	keys "'$blktop' --config none --utc $*; echo rc=\$?" Enter
	read_whole() { shows "PAUSED" && ! shows "loading"; }
	until_true read_whole
}

open --demo
wait_for "slow since "
result $? "no key: since when it is slow"
since=$(t capture-pane -p -t now | sed -n 's/.*slow since \([0-9:]*\).*/\1/p')
keys Up Enter
wait_for "$since PAUSED" && wait_for "slow since $since, which is shown"
result $? "2 keys: that second"
keys X
wait_for "WHY against the quiet time before, " && shows "rows by cause"
result $? "a key: what changed"
keys Q
given_back 0

open --demo
keys X
wait_for "WHY against the quiet time before, " && shows " in store in stored"
result $? "1 key: what changed, followed into the service that was waited for"
keys Q
given_back 0

open "'$kernel'"
wait_for "Overview › " && wait_for "WHY threads waited " && shows " had a CPU longest, for "
result $? "no key: in a trace of the kernel alone, how long threads waited, and which had a CPU"
shows "more than in any other"
result $? "and what is special about the second"
keys Q
given_back 0
done_testing
