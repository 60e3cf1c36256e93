#!/bin/bash
# blktop record: the kernel of this machine and programs, as a trace that blktop and babeltrace2 read.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
if ! mountpoint -q /sys/kernel/tracing; then
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || skip_all "this kernel has no tracefs that can be mounted"
	umount /sys/kernel/tracing
fi
export LAB_APPS=0 LAB_LIVE_US=100000
lab_up
export XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
blktop=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
spangen=$LAB_HOME/bin/spangen

# record NAME ARGUMENT...: into $work/NAME; the exit status
record() {
	local name=$1
	shift
	timeout 100 "$blktop" record -o "$work/$name" --live-timer 100ms --kernel tracefs "$@" >"$work/out.$name" 2>"$work/out.$name.err" </dev/null
}
# begin NAME OPTION...: records a program that does not end; sets $child
begin() {
	local name=$1
	shift
	env --default-signal=INT "$blktop" record -o "$work/$name" "$@" -- sleep 60 >"$work/out.$name" 2>"$work/out.$name.err" </dev/null &
	child=$!
	until_true has "$name.err" "recording to"
}
# rows NAME VIEW EXPRESSION [OPTION...]: the rows of the view in a Python expression over `rows`
rows() {
	local name=$1 view=$2 expression=$3
	shift 3
	"$blktop" -b --config none --no-cache --view "$view" --format csv "$@" "$work/$name" 2>"$work/out.view" |
		python3 -c "import csv, sys; rows = list(csv.DictReader(sys.stdin)); print($expression)"
}
has() { grep -qF -- "$2" "$work/out.$1"; }
is_there() { [ -d "/sys/kernel/tracing/instances/blktop-$1" ]; }
is_gone() { ! is_there "$1"; }

# --- a program: its spans, its calls, what other readers say
record program -- "$spangen" -t 2 -n 40 -r 50 --truth "$work/truth"
is "a program that ends well: exit status" $? 0
ok "the result is said" has program.err "wrote $work/program: "
spans=$(rows program spans "len({(r['trace_id'], r['span_id'], r['kind']) for r in rows if r['state'] == 'complete'})")
ok "all of its spans are there" [ "$spans" -ge "$(awk '$1 == "total" { print $3 }' "$work/truth")" ]
is "each span has its thread" "$(rows program spans "sum(not r['tid'] for r in rows)")" 0
is "its time is explained by the kernel" "$(rows program spans "any(int(r['timer_ns'] or 0) and int(r['syscall_ns'] or 0) for r in rows)")" True
is "kernel and programs are of one host" "$(rows program spans "len({r['host'] for r in rows})")" 1
repairs=$("$blktop" --doctor --config none --format json "$work/program" 2>/dev/null |
	python3 -c "import json, sys; print(sum('not recorded' in r['problem'] for r in json.load(sys.stdin)['repairs']))")
is "the doctor misses no event that only did not occur" "$repairs" 0
names=$("$blktop" --doctor --config none --format json "$work/program" 2>/dev/null |
	python3 -c "import json, sys; print(*(k.split(': ', 1)[1] for k in json.load(sys.stdin)['kernels']))")
about=$("$blktop" -v)
ok "the doctor says how names of files came" [ "${names/names of files/}" != "$names" ]
ok "blktop -v says the same" [ "${about/"${names#no }"/}" != "$about" ]
if command -v babeltrace2 >/dev/null; then
	read -r theirs < <(babeltrace2 "$work/program" 2>"$work/out.bt2" | wc -l)
	is "babeltrace2 reads as many events" "$theirs" "$(rows program events "sum(int(r['count']) for r in rows)")"
fi
record calls -- python3 -c 'import os
for _ in range(1000): os.sched_get_priority_max(0)
os._exit(7)'
is "the program's exit status is passed on" $? 7
is "its system calls are exact" "$(rows calls syscalls "[r['count'] for r in rows if r['syscall'] == 'sched_get_priority_max' and r['comm'].startswith('python3')]" --by process)" "['1000']"

# --- its ends
record seconds --seconds 1
is "--seconds: exit status" $? 0
record until --until 'count of any > 5' -- "$spangen" -t 1 -r 50 -s 60
is "--until: exit status" $? 0
ok "--until ends before the program" has until.err "ended $spangen"
ok "--until: has the spans" [ "$(rows until spans "len(rows)")" -gt 5 ]
for signal in INT TERM; do
	begin "$signal" --kernel tracefs
	until_true is_there "$child"
	kill "-$signal" "$child"
	wait "$child"
	is "SIG$signal ends it well: exit status" $? 0
	ok "SIG$signal: the trace is there" [ "$(rows "$signal" events "len(rows)")" -gt 10 ]
	ok "SIG$signal: the instance is gone" until_true is_gone "$child"
done
begin killed --kernel tracefs
until_true sh -c "find $work/killed -name 'kernel_*' -size +100k | grep -q ."
kill -9 "$child"
wait "$child" 2>/dev/null
ok "killed: the instance is gone" until_true is_gone "$child"
ok "killed: what was written can be read" [ "$(rows killed events "len(rows)")" -gt 10 ]

# --- a flight recorder
# The snapshots of a program's spans: of the last second, after some. Each begins with the state of its time: it names a file that was opened after the
# recording began, and before the snapshot's range.
writer() { exec python3 -c 'import sys, time
file = open(sys.argv[1], "wb", 0)
while True: file.write(b"x"); time.sleep(0.005)' "$1"; }
writer "$work/before" &
before=$!
env --default-signal=INT "$blktop" record -o "$work/flight" --live-timer 100ms --kernel tracefs --last 1s -- "$spangen" -t 1 -r 50 -s 600 \
	>"$work/out.flight" 2>"$work/out.flight.err" </dev/null &
child=$!
until_true has flight.err "recording to"
writer "$work/late" &
late=$!
ok "--last: old packets are deleted" until_true sh -c "[ -d $work/flight/ring/00000001 ] && [ -d $work/flight/ring/00000009 ] && [ ! -e $work/flight/ring/00000002 ]"
ok "it is said how to take a snapshot" has flight.err "kill -USR1 $child takes a snapshot"
kill -USR1 "$child"
ok "SIGUSR1 takes a snapshot" until_true has flight.err "wrote $work/flight/snapshot-1 (SIGUSR1): "
ok "the snapshot has spans" [ "$(rows flight/snapshot-1 spans "sum(r['state'] == 'complete' for r in rows)")" -gt 5 ]
ok "the snapshot has the state dump" has flight.err ", with the state dump"
for name in before late; do
	is "the snapshot names the file that was opened $name" "$(rows flight/snapshot-1 files "sorted({r['path'].rpartition('/')[2] for r in rows if int(r['writes'] or 0) > 50 and r['path'].endswith('/$name')})")" "['$name']"
done
"$blktop" -b --config none --no-cache --view losses "$work/flight/snapshot-1" >"$work/out.whole" 2>"$work/out.whole.err"
is "nothing of the snapshot is lost: exit status" $? 0
ok "the snapshot has a note of its cause" grep -qx SIGUSR1 "$work/flight/snapshot-1/blktop-cause.txt"
ok "recording goes on" until_true sh -c "[ -d $work/flight/ring/00000040 ]"
first=$(rows flight/snapshot-1 spans "min(int(r['begin_ns']) for r in rows)")
kill -INT "$child"
wait "$child"
is "--last: exit status" $? 0
kill "$before" "$late"
wait "$before" "$late" 2>/dev/null
ok "the end takes a snapshot" has flight.err "wrote $work/flight/snapshot-2 (the end of the recording): "
ok "that has spans, too" [ "$(rows flight/snapshot-2 spans "sum(r['state'] == 'complete' for r in rows)")" -gt 5 ]
ok "without the first of the other" [ "$(rows flight/snapshot-2 spans "min(int(r['begin_ns']) for r in rows)")" -gt "$first" ]
is "snapshots are all that is left" "$(cd "$work/flight" && echo *)" "snapshot-1 snapshot-2"
record rule --last 5s --snapshot-when 'count of any > 5' --until 'count of any > 5 for 2s' -- "$spangen" -t 1 -r 50 -s 600
is "--snapshot-when: exit status" $? 0
ok "--snapshot-when takes a snapshot" has rule.err "wrote $work/rule/snapshot-1 (count of "
ok "and the end another" has rule.err "wrote $work/rule/snapshot-2 (the end of the recording): "
ok "the note has the cause" grep -q '^count of ' "$work/rule/snapshot-1/blktop-cause.txt"

# --- losses
python3 -c 'import os
while True: os.getppid()' &
busy=$!
record lost --seconds 2 --kernel-buffer 64K
is "losses: exit status" $? 3
kill "$busy"
wait "$busy" 2>/dev/null
lost=$(rows lost losses "sum(int(r['events'] or 0) for r in rows)")
ok "losses are counted" [ "$lost" -gt 0 ]
ok "losses are said" has lost.err "lost $lost events"
if command -v babeltrace2 >/dev/null; then
	theirs=$(babeltrace2 "$work/lost" 2>&1 >/dev/null | grep -oE 'discarded [0-9]+ event' | awk '{ n += $2 } END { print n + 0 }')
	is "babeltrace2 counts as many" "$theirs" "$lost"
fi

# --- only programs
record ust --kernel none -- "$spangen" -t 1 -n 20 -r 50
is "--kernel none: exit status" $? 0
ok "--kernel none: spans, and no event of the kernel" [ "$(rows ust events "all(':' in r['name'] for r in rows) and len(rows) > 1")" = True ]

# --- without rights
cp "$blktop" "$LAB_HOME/bin/blktop"
chmod 755 "$LAB_HOME/bin/blktop"
"$LAB/lab-run" env XDG_STATE_HOME="$LAB_HOME/state" timeout 60 "$LAB_HOME/bin/blktop" record -o "$LAB_HOME/plain" --kernel tracefs --seconds 1 \
	2>"$work/out.plain" </dev/null
is "without rights: exit status" $? 1
ok "without rights: says what is needed" has plain "The kernel is not traced: cannot open /sys/kernel/tracing: Permission denied; it needs root (sudo blktop)"

# --- several at once: one does not end the session daemon that another one has just found
short() {
	local i
	for i in 1 2 3 4; do
		record "short$1-$i" --kernel none -- "$spangen" -t 1 -n 2 -r 50 || echo "$1-$i"
	done
}
short a >"$work/failed.a" &
short b >"$work/failed.b" &
wait
is "several at once, again and again: those that failed" "$(cat "$work"/failed.*)" ""

# The one that started it ends first.
begin first --kernel tracefs
first=$child
record second --kernel none -- "$spangen" -t 1 -n 60 -r 50 --truth "$work/truth" &
second=$!
until_true [ -s "$work/out.second.err" ]
until_true has second.err "recording to"
kill -INT "$first"
wait "$first"
is "the one that started the session daemon ends first: exit status" $? 0
wait "$second"
is "the other one: exit status" $? 0
spans=$(rows second spans "len({(r['trace_id'], r['span_id'], r['kind']) for r in rows if r['state'] == 'complete'})")
ok "the other one has all its spans" [ "$spans" -ge "$(awk '$1 == "total" { print $3 }' "$work/truth")" ]
no_daemon() { ! kill -0 "$(cat /run/lttng/lttng-sessiond.pid 2>/dev/null || echo 0x)" 2>/dev/null; }
ok "then the session daemon ends" until_true no_daemon

# --- where it writes
record program
is "a directory with something in it: exit status" $? 1
ok "a directory with something in it: told" has program.err "is not empty"
ln -s "$work" "$work/link"
record link
is "a link: exit status" $? 1
touch "$work/file"
record file
is "a file: exit status" $? 1
mkdir -m 777 "$work/open"
record open
is "a directory that others can write: exit status" $? 1
"$blktop" record -- true 2>"$work/out.usage"
is "without -o: exit status" $? 2
"$blktop" record -o "$work/x" "$work/program" 2>"$work/out.usage"
is "with a trace: exit status" $? 2
ok "with a trace: told" has usage "records this machine"
ok "with a trace: nothing is made" [ ! -e "$work/x" ]
ok "nothing is left in the state directory" [ -z "$(ls -A "$XDG_STATE_HOME/blktop" 2>/dev/null)" ]
done_testing
