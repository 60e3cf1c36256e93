#!/bin/bash
# Questions that a stranger has, and how many keys they take from the start of the program: at most six, of which a text
# that is typed into a line is one. The answers are computed from what -b prints as JSON.
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

# Is the screen as it was a poll before? A key is pressed on a screen that has been drawn.
still() {
	local now
	now=$(t capture-pane -p -t now)
	[ "$now" = "$before" ] && return
	before=$now
	return 1
}

# answer NAME TEXT KEY...: of the recording opened by ARGUMENTS, the keys show the text in six keys at most
answer() {
	local name=$1 text=$2
	shift 2
	# shellcheck disable=SC2086 # one argument or more
	open $arguments
	for key; do
		keys "$key"
		before=
		until_true still
	done
	[ -n "$text" ] && [ $# -le 6 ] && wait_for "$text"
	result $? "$name: $# keys"
	keys Q C-c
}

# rows VIEW EXPRESSION OPTION...: what Python makes of the rows
rows() {
	local view=$1 expression=$2
	shift 2
	# shellcheck disable=SC2086 # one argument or more
	"$blktop" --config none -b --no-cache --utc --format json --view "$view" "$@" $arguments 2>/dev/null |
		python3 -c "import json, sys; rows = json.load(sys.stdin)['rows']; print($expression)"
}

# shown NAME: the time of the second that the first screen shows
shown() {
	# shellcheck disable=SC2086 # one argument or more
	open $arguments
	t capture-pane -p -t now | sed -n '1s/.* \([0-9][0-9]:[0-9][0-9]:[0-9][0-9]\) PAUSED.*/\1/p'
	keys Q C-c
}

disk='next(r["device"] for r in rows if r["kind"] == "block")'
arguments=--demo
worst=$(shown)
at="--at $worst"
most='max(rows, key=lambda r: r["duration_ns"] * (r["x_usual_ratio"] - 1) / r["x_usual_ratio"])["end_ns"]'
second=$(rows traces "__import__('time').strftime('%H:%M:%S', __import__('time').gmtime($most // 10**9))")
[ -n "$worst" ] && [ "$worst" = "$second" ]
result $? "demo: the worst second, $worst, in which the most delayed request ended: 0 keys"
# shellcheck disable=SC2086 # an option and its value
{
	cause=$(rows causes 'rows[0]["cause"][:13]' $at)
	holder=$(rows causes 'next(r["verdict"] for r in rows if " holding it" in r["verdict"]).split("; ")[1].split()[0]' $at)
	busiest=$(rows processes 'max(rows, key=lambda r: r["cpu_ns"])["comm"]' $at)
	share=$(rows processes '"%.1f" % (100 * max(r["cpu_ratio"] for r in rows))' $at)
}
answer "demo: the cause" "$cause"
answer "demo: which operation, since when" "slow since "
answer "demo: who held the lock, $holder" "$holder" Down Down Enter
answer "demo: CPU in the worst second, $busiest" "$busiest" 4
answer "demo: CPU in the worst second, $share" "$share"
over=$(rows traces '"%d of %d" % (sum(r["duration_ns"] > 64 * 10**6 for r in rows), len(rows))')
answer "demo: how many took over 64 ms, $over" "$over" 0 d '\' '>64ms' Enter
written=$(rows files 'max((r for r in rows if r["kind"] == "file"), key=lambda r: r["write_bytes"])["path"][-12:]')
answer "demo: the file written most, $written" "$written" 0 6 '<' '<'
answer "demo: disk latency" "$(rows devices "$disk") " F2 disk Enter
answer "demo: what changed" "against the quiet time before" X
answer "demo: losses" "lost 0"

for arguments in "$kernel" "$PWD/../shared/traces/mix2/trace" "$PWD/../shared/traces/public/scp_src"; do
	name=$(echo "$arguments" | sed 's:/trace$::; s:.*/::')
	if [ ! -d "$arguments" ]; then
		skip "$name: questions" "$arguments is not here"
		continue
	fi
	answer "$name: waits for a CPU" "ms for CPUs"
	answer "$name: who waited longest for a CPU" "$(rows scheduler 'max(rows, key=lambda r: r["total_ns"])["comm"] or "- -"')" 0 F2 sched Enter
	slowest=$(rows slow 'rows[0]["syscall"] if rows else "no system calls"')
	answer "$name: the slowest call that is no idle wait, $slowest" "$slowest" 0 F2 slow Enter
	answer "$name: interrupts" "$(rows interrupts 'max(rows, key=lambda r: r["self_ns"])["irq"]')" 0 F2 interr Enter
	answer "$name: the disk" "$(rows devices "$disk") " 0 F2 disk Enter
done
done_testing
