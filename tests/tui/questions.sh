#!/bin/bash
# Questions that a stranger has, and how many keys they take from the start of the program: at most six, of which a text
# that is typed into a line is one. The answers are computed from what -b prints as JSON, also of recordings that are not
# in the project, which are skipped where they are not there. The last lines are the table of keys.
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
	printf '# %-28s %-50s %s\n' "${name%%: *}" "${name#*: }" $# >> "$work/table"
	keys Q C-c
}

# without NAME REASON: there is no answer to ask for
without() {
	skip "$1" "$2"
	printf '# %-28s %-50s %s\n' "${1%%: *}" "${1#*: }" "- ($2)" >> "$work/table"
}

# rows VIEW EXPRESSION OPTION...: what Python makes of the rows
rows() {
	local view=$1 expression=$2
	shift 2
	# shellcheck disable=SC2086 # one argument or more
	"$blktop" --config none -b --no-cache --utc --format json --view "$view" "$@" ${arguments//\'/} 2>/dev/null |
		python3 -c "import json, sys; rows = json.load(sys.stdin)['rows']; print($expression)"
}

# shown NAME: the time of the second that the first screen shows
shown() {
	# shellcheck disable=SC2086 # one argument or more
	open $arguments
	t capture-pane -p -t now | sed -n '1s/.* \([0-9][0-9]:[0-9][0-9]:[0-9][0-9]\) PAUSED.*/\1/p'
	keys Q C-c
}

disk='next((r["device"] for r in rows if r["kind"] == "block"), "")'
# The request that was delayed most, in ns over its usual duration
most='max(rows, key=lambda r: r["duration_ns"] * (1 - 1 / r["x_usual_ratio"]) if r["x_usual_ratio"] else 0)["end_ns"]'
clock="__import__('time').strftime('%H:%M:%S', __import__('time').gmtime(%s // 10**9))"

# spans NAME KEY...: the ten questions about the requests of the recording opened by ARGUMENTS. Its keys go to the
# request that waited for a lock; without them it is found by a search.
spans() {
	local name=$1 worst at holder written device
	shift
	worst=$(shown)
	at="--at $worst"
	[ -n "$worst" ] && [ "$worst" = "$(rows traces "${clock//%s/$most}")" ]
	result $? "$name: the worst second, $worst, in which the most delayed request ended: 0 keys"
	# shellcheck disable=SC2086 # an option and its value
	{
		answer "$name: the cause" "$(rows causes 'rows[0]["cause"][:12]' $at)"
		holder=$(rows traces 'next((r["why"].split("woken by ")[1].split()[0] for r in rows
			if "futex, woken by " in (r["why"] or "")), "")' $at)
		answer "$name: CPU in the worst second: who" "$(rows processes 'max(rows, key=lambda r: r["cpu_ns"])["comm"]' $at)" 4
		answer "$name: CPU in the worst second: share" \
			"$(rows processes '"%.1f" % (100 * max(r["cpu_ratio"] for r in rows))' $at)"
	}
	answer "$name: which operation, since when" "slow since "
	if [ $# -gt 0 ]; then
		# shellcheck disable=SC2086 # an option and its value
		holder=$(rows causes 'next(r["verdict"] for r in rows if " holding it" in r["verdict"]).split("; ")[1].split()[0]' $at)
		answer "$name: who held the lock" "$holder" "$@"
	elif [ "$holder" ]; then
		answer "$name: who held the lock" "$holder" 2 / futex Enter Enter
	else
		without "$name: who held the lock" "no request waited for a lock in that second"
	fi
	answer "$name: how many took over 64 ms" \
		"$(rows traces '"%d of %d" % (sum(r["duration_ns"] > 64 * 10**6 for r in rows), len(rows))')" 0 d '\' '>64ms' Enter
	written=$(rows files 'max((r for r in rows if r["kind"] == "file"), key=lambda r: r["write_bytes"])["path"][-12:]')
	answer "$name: the file written most" "$written" 0 6 '<' '<'
	device=$(rows devices "$disk")
	if [ -n "$device" ]; then
		answer "$name: disk latency" "$device " F2 disk Enter
	else
		without "$name: disk latency" "the trace has no block events"
	fi
	answer "$name: what changed" "WHY against " X
	answer "$name: losses" "lost $(rows losses 'sum(r["lost_events"] or 0 for r in rows)')"
}

# kernel NAME: what is asked of any recording of the kernel
kernel() {
	local name=$1 device
	answer "$name: how long threads waited for a CPU" "WHY threads waited "
	answer "$name: who waited longest for a CPU" \
		"$(rows scheduler 'max(rows, key=lambda r: r["total_ns"])["comm"] or "- -"')" 0 F2 sched Enter
	answer "$name: the slowest call that is no idle wait" \
		"$(rows slow 'rows[0]["syscall"] if rows else "no system calls"')" 0 F2 slow Enter
	answer "$name: interrupts by CPU" "$(rows interrupts \
		'max(rows, key=lambda r: r["self_ns"])["irq"] if rows else "No data"' --by cpu)" 0 F2 interr Enter H
	device=$(rows devices "$disk")
	if [ -n "$device" ]; then
		answer "$name: the disk" "$device " 0 F2 disk Enter
	else
		without "$name: the disk" "the trace has no block events"
	fi
}

# there NAME PATH: is the recording there? It is opened as ARGUMENTS.
there() {
	arguments="'$2'"
	[ -e "$2" ] && return
	skip "$1: questions" "$2 is not here"
	return 1
}

shared=$PWD/../shared/traces
[ -d "$shared" ] || shared=$PWD/../../shared/traces
for run in 6.1 7.2; do
	if [ -e "$shared/tracefs/both-$run.tar.xz" ]; then
		tar -C "$work" -xf "$shared/tracefs/both-$run.tar.xz"
	fi
done
arguments=--demo
spans demo Down Down Enter
for name in live ctf2/kernel-ust; do
	there "$name" "$shared/$name/trace" && spans "$name"
done
arguments="'$kernel'"
kernel kernel-small
for name in mix1/trace mix2/trace public/scp_src; do
	there "$name" "$shared/$name" && kernel "${name%/trace}"
done
for run in 6.1 7.2; do
	there "both-$run" "$work/both-$run/trace" && kernel "both-$run"
	there "both-$run from tracefs" "$work/both-$run/ft" && kernel "both-$run ft"
done
sort -s -t ' ' -k 2,2 "$work/table"
done_testing
