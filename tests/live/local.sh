#!/bin/bash
# Sessions of this machine: made from nothing, watched, destroyed whatever happens.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"

for port in 5342 5343 5344; do
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && skip_all "a relay daemon runs on the usual ports"
done
export LAB_APPS=0 LAB_LIVE_US=100000
lab_up
export XDG_STATE_HOME=$LAB_HOME/state
cp "${BLKTOP:-$SRCDIR/build/blktop}" "$LAB_HOME/bin/blktop"
chmod 755 "$LAB_HOME/bin/blktop"
mkdir -p "$LAB_HOME/share/blktop"
cp -r "$SRCDIR/share/blktop/presets" "$LAB_HOME/share/blktop"
chmod -R a+rX "$LAB_HOME/share"
spangen=$LAB_HOME/bin/spangen
blktop=$LAB_HOME/bin/blktop

# here OUT ARGUMENT...: blktop as the lab's user; its exit status
here() {
	local out=$1
	shift
	"$LAB/lab-run" timeout 60 "$blktop" "$@" >"$work/out.$out" 2>"$work/out.$out.err" </dev/null
}
sessions() { "$LAB/lab-run" lttng --no-sessiond list 2>/dev/null; }
is_listed() { sessions | grep -q "[ \`]$1[ \`]"; }	# LTTng from 2.15 on quotes the name
is_unlisted() { ! is_listed "$1"; }
is_gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
has() { grep -qF -- "$2" "$work/out.$1"; }
lacks() { ! has "$@"; }
# Daemons and programs that belong to none but us, by their user
strays() { pgrep -u "$(stat -c %u "$LAB_HOME/bin")" "$1" | grep -vxF -e "$LAB_SESSIOND_PID" -e "$LAB_RELAYD_PID"; }
no_strays() { [ -z "$(for name in lttng-relayd lttng-sessiond spangen blktop; do strays $name; done)" ]; }
state_is_empty() { [ -z "$(ls -A "$XDG_STATE_HOME/blktop" 2>/dev/null)" ]; }

# --- a program, and its exit status
here all -y -b --view spans --format json --live-timer 100ms -- "$spangen" -t 2 -n 40 -r 50 --truth "$LAB_HOME/truth"
is "a program that ends well: exit status" $? 0
spans=$(python3 -c "
import json
print(len({(r['trace_id'], r['span_id'], r['kind']) for l in open('$work/out.all') for r in json.loads(l)['rows'] if r['state'] == 'complete'}))")
ok "all of its spans were seen, the first and the last" [ "$spans" -ge "$(awk '$1 == "total" { print $3 }' "$LAB_HOME/truth")" ]
ok "the session is gone" sh -c "! '$LAB/lab-run' lttng --no-sessiond list | grep -q blktop-"
ok "no daemon is left" no_strays
ok "no file is left" state_is_empty
locks=$(ls /usr/lib/*/liblttng-ust-pthread-wrapper.so* 2>/dev/null | head -n 1)
if [ -n "$locks" ]; then
	here locks -y -b --view spans --format csv --presets pthread --live-timer 100ms -- /usr/bin/env "LD_PRELOAD=$locks" "$spangen" -t 2 -n 20 -r 50
	ok "events of presets that are on are recorded" grep -q ',hold mutex 0x' "$work/out.locks"
	ok "and those of others are not" [ "$(grep -c 'preset.*used' "$work/out.locks.err")" -eq 1 ]
else
	skip "events of presets that are on are recorded" "liblttng-ust-pthread-wrapper is not installed"
fi
here three -y -b -- /bin/sh -c 'echo said; echo "files $(ulimit -Sn)"; exit 3'
is "its exit status is passed on" $? 3
ok "it is told" has three.err "ended with exit status 3"
ok "what it prints does not mix with rows" lacks three said
ok "but is not lost" has three.err said
ok "its limits are those that it would have alone" has three.err "files $("$LAB/lab-run" sh -c 'ulimit -Sn')"
here signal -y -b -- /bin/sh -c 'kill -9 $$'
is "a signal is passed on" $? 137
here nothing -y -b -- /no/such/program
is "no such program: exit status" $? 1
ok "no such program: told" has nothing.err "cannot run '/no/such/program'"
here long -y -b -n 1 --live-timer 100ms -- "$spangen" -t 1 -r 50 -s 60
is "-n 1 ends before the program" $? 0
ok "and ends the program" no_strays
here since -y -b -n 1 --format json --live-timer 100ms -- /bin/sh -c \
	"date +%s%N >'$LAB_HOME/began'; exec '$spangen' -t 1 -r 50 -s 60"
ok "seconds are counted from the program's begin" python3 -c "
import json
lines = [json.loads(l) for l in open('$work/out.since')]
assert len(lines) == 1 and lines[0]['range']['to_ns'] > int(open('$LAB_HOME/began').read())"

# --- what can't be done, in words with the command
here taken -y -b --session spans -n 1
is "a name that is taken: exit status" $? 1
ok "a name that is taken: the remedy" has taken.err "lttng destroy spans"
ok "and it is left alone" is_listed spans
here pathless -b -n 1
is "nobody to ask: exit status" $? 2
ok "nobody to ask: -y" has pathless.err "-y"
"$LAB/lab-run" env PATH=/nonexistent /bin/sh -c "[ -e /usr/sbin/lttng-relayd ] || '$blktop' -y -b -n 1" >"$work/out.path" 2>&1 </dev/null
ok "no relay daemon to start: told" sh -c "[ -e /usr/sbin/lttng-relayd ] || grep -q 'there is no lttng-relayd' '$work/out.path'"

# --- one process of two
"$LAB/lab-run" "$spangen" -t 1 -r 50 -s 60 >/dev/null 2>&1 &
"$LAB/lab-run" "$spangen" -t 1 -r 50 -s 60 >/dev/null 2>&1 &
pids() { pgrep -u "$(stat -c %u "$LAB_HOME/bin")" -x spangen; }
both() { [ "$(pids | wc -l)" = 2 ]; }
until_true both
one=$(pids | head -n 1)
here pid -y -b --view spans --format json --columns pid -n 2 --live-timer 100ms --pid "$one"
is "--pid: exit status" $? 0
is "--pid: spans of this one alone" "$(python3 -c "
import json
print({r['pid'] for l in open('$work/out.pid') for r in json.loads(l)['rows']})")" "{$one}"
here recorder -y -b --view spans -n 3 --live-timer 100ms --pid "$one" --snapshot-when 'count of any > 0'
dir=$(sed -n 's/.*snapshot (count of .*): //p' "$work/out.recorder.err" | head -n 1)
is "--pid: of snapshots, too" "$("$blktop" -b --view spans --format json --columns pid "$dir" | python3 -c "
import json, sys
print({r['pid'] for l in sys.stdin for r in json.loads(l)['rows']})")" "{$one}"
rm -rf "$XDG_STATE_HOME"
here pid0 -y -b -n 1 --pid 999999999
is "--pid of nobody: exit status" $? 1

# --- ends: the session, the relay daemon, its files, the program are gone
# start NAME ARGUMENT...: in the background; its pid in $pid, its session's name in $session
start() {
	local name=$1
	shift
	# a shell without job control has what is in the background ignore SIGINT
	"$LAB/lab-run" env --default-signal=INT "$blktop" -y -b --view spans --live-timer 100ms "$@" >"$work/out.$name" 2>"$work/out.$name.err" </dev/null &
	pid=$!
	session=blktop-$pid
	until_true is_listed "$session"
	until_true catches_sigint "$pid"	# until then a signal ends it before the helper is done
}
catches_sigint() { (( 0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") & 1 << 1 )); }
all_gone() { is_unlisted "$session" && [ -z "$(strays lttng-relayd)" ] && state_is_empty; }
for signal in INT TERM HUP; do
	start "$signal"
	kill -$signal "$pid"
	wait "$pid"
	is "SIG$signal: exit status" $? $((128 + $(kill -l $signal)))
	ok "SIG$signal: all is gone when it has ended" all_gone
done
for signal in KILL SEGV ABRT; do
	start "$signal" -- "$spangen" -t 1 -r 50 -s 60
	kill -$signal "$pid"
	wait "$pid" 2>/dev/null
	ok "SIG$signal: all is gone" until_true all_gone
done
pids | xargs -r kill
ok "the programs that were run, too" until_true no_strays

# --- killed with its helper: the next one tells, and destroys
start both --snapshot new
helper=$(pgrep -P "$pid" -x blktop-helper)
kill -KILL "$pid" "$helper"
wait "$pid" 2>/dev/null
ok "killed with its helper: the session stays" is_listed "$session"
ok "but not the relay daemon" until_true is_gone "$(strays lttng-relayd | head -n 1)"
here next -y -b -n 1
ok "the next one tells" has next.err "lttng destroy $session"
here sweep --sweep
is "--sweep: exit status" $? 0
ok "--sweep destroys it" is_unlisted "$session"
ok "--sweep leaves the others" is_listed spans
ok "--sweep removes what the relay wrote, and where no snapshot is" state_is_empty
rm -rf "$XDG_STATE_HOME"

# --- killed with its helper: what becomes of the program
kill_both() {
	helper=$(pgrep -P "$pid" -x blktop-helper)
	kill -KILL "$pid" "$helper"
	wait "$pid" 2>/dev/null
}
sleepers() { pgrep -u "$(stat -c %u "$LAB_HOME/bin")" -r DRST -x sleep; }
no_sleepers() { [ -z "$(sleepers)" ]; }
two_sleepers() { [ "$(sleepers | wc -l)" = 2 ]; }
start mild -- sleep 1000
until_true sleepers >/dev/null
kill_both
ok "killed with its helper: the program ends" until_true no_sleepers
start stubborn -- /bin/sh -c 'trap "" TERM; sleep 1000 & sleep 1001 & wait'
until_true two_sleepers
kill_both
here next -y -b -n 1
ok "a program that ignores that: the next one tells" grep -qE "sh .*sleep .*a blktop that has ended; .*blktop --sweep" "$work/out.next.err"
here sweep --sweep
is "--sweep: exit status" $? 0
ok "--sweep names it" grep -qE "^ended sleep \(process [0-9]+\)$" "$work/out.sweep"
ok "--sweep ends it, and what it started" no_sleepers
ok "--sweep leaves no file" state_is_empty
rm -rf "$XDG_STATE_HOME"

# --- kept
here keep -y -b -n 1 --keep
url=$(sed -n 's/.*Attach: *blktop -r //p' "$work/out.keep.err")
kept=${url##*/}
ok "--keep: the session stays" is_listed "$kept"
here sweep --sweep
ok "--keep: --sweep leaves it" is_listed "$kept"
here attach --list-sessions -r "$url"
ok "--keep: where it says" has attach "$kept"
sed -n 's/^Destroy: *//p' "$work/out.keep.err" >"$LAB_HOME/destroy"
ok "--keep: the command ends all" "$LAB/lab-run" sh "$LAB_HOME/destroy"
ok "--keep: it is gone" is_unlisted "$kept"
ok "--keep: its relay daemon, too" until_true no_strays

# --- snapshots
here rule -y -b --view spans --live-timer 100ms --snapshot-when 'count of any > 0' -- "$spangen" -t 1 -r 50 -s 5
is "a rule: exit status" $? 0
dir=$(sed -n 's/.*snapshot (count of .*): //p' "$work/out.rule.err" | head -n 1)
ok "a rule: a snapshot is taken" [ -d "$dir" ]
ok "a rule: its cause is beside it" grep -q '^threshold: count of any > 0$' "$dir/blktop-cause.txt"
here read -b --view spans --format csv "$dir"
is "a snapshot is a trace" $? 0
ok "with spans" [ "$(wc -l <"$work/out.read")" -gt 1 ]
is "once a minute" "$(grep -c 'snapshot (' "$work/out.rule.err")" 1
here none -y -b -n 1 --snapshot nosuch
ok "a session that is none for snapshots: the remedy" has none.err "lttng create nosuch --snapshot"
ok "nothing is left" until_true no_strays
done_testing
