#!/bin/bash
# Printing views: formats, ranges, filters, exit codes, output errors.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
small=$TRACES/kernel-small/trace

succeeds 0 "text" -b --view processes "$small"
succeeds 0 "the first view is processes" -b "$small"
run -b --view events "$TRACES/ust-fields/trace"
mv "$work/out" "$work/want"
run -b "$TRACES/ust-fields/trace"
ok "the first view is events where nothing else has figures, as on the screen" cmp "$work/want" "$work/out"
run -b --columns pid "$TRACES/ust-fields/trace"
ok "but not if columns of processes are asked for" grep -qx 6082 "$work/out"
succeeds 0 "csv" -b --view syscalls --format csv "$small"
head -1 "$work/out" >"$work/header"
ok "csv has one header" [ "$(grep -cxFf "$work/header" "$work/out")" -eq 1 ]
# A span whose name is a formula in spreadsheets, and a plain one
cat >"$work/formula.json" <<-'EOF'
[{"traceId":"1","id":"1","name":"=HYPERLINK(\"x\",1)","kind":"SERVER","timestamp":1000000,"duration":5,"localEndpoint":{"serviceName":"-api"}},
 {"traceId":"2","id":"2","name":"get","kind":"SERVER","timestamp":1000010,"duration":5,"localEndpoint":{"serviceName":"web"}}]
EOF
run -b --view spans --format csv --columns name,service,duration_ns "$work/formula.json"
printf 'name,service,duration_ns\r\n"=HYPERLINK(""x"",1)",-api,5000\r\nget,web,5000\r\n' >"$work/want"
ok "csv has texts as they are" cmp "$work/want" "$work/out"
run -b --view spans --format csv --csv-safe --columns name,service,duration_ns "$work/formula.json"
printf 'name,service,duration_ns\r\n"\047=HYPERLINK(""x"",1)","\047-api",5000\r\n"get","web",5000\r\n' >"$work/want"
ok "--csv-safe: formulas become text, numbers stay" cmp "$work/want" "$work/out"
run -b --view processes --each --csv-safe --format csv "$small"
ok "--each --csv-safe has the range in each row" grep -qE '^[0-9]+,[0-9]+,"' "$work/out"

succeeds 0 "json" -b --view syscalls --format json "$small"
ok "json is one object on one line" json "len(lines) == 1"
ok "json has the envelope" json "list(lines[0]) == ['blktop', 'view', 'range', 'trust', 'rows'] and lines[0]['view'] == 'syscalls'"
ok "json has the range" json "list(lines[0]['range']) == ['from_ns', 'to_ns'] and 10.4e9 < lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'] < 10.5e9"
ok "json has the trust" json "lines[0]['trust']['lost_events'] == 0 and lines[0]['trust']['lost_packets'] == 0 and 'soft' in lines[0]['trust']"
ok "no warning on a whole trace" [ ! -s "$work/err" ]
read -r calls < <(python3 -c "import json, sys; print(sum(r['count'] for r in json.load(open('$work/out'))['rows']))")

for by in system process thread; do
	succeeds 0 "--by $by" -b --view syscalls --by $by --format json "$small"
	ok "--by $by counts the same calls" json "sum(r['count'] for r in lines[0]['rows']) == $calls"
done
ok "--by thread has the tid" json "all(r['tid'] is not None for r in lines[0]['rows'] if r['comm'])"
run -b --view syscalls --by process --format json "$small"
ok "--by process has tid null" json "all(r['tid'] is None for r in lines[0]['rows'])"

run -b --view syscalls --each --format json "$small"
ok "--each exits 0" [ "$code" -eq 0 ]
ok "--each prints a line a second" json "11 <= len(lines) <= 12"
ok "--each covers the trace without gaps" json "all(a['range']['to_ns'] == b['range']['from_ns'] for a, b in zip(lines, lines[1:]))"
ok "--each counts all calls" json "sum(r['count'] for l in lines for r in l['rows']) == $calls"
run -b --view syscalls --each -n 3 --format json "$small"
ok "--each -n 3" json "len(lines) == 3"
run -b --view syscalls --each --format csv "$small"
ok "--each csv has one header, and the range in each row" grep -qE '^from_ns,to_ns,host' "$work/out"
run -b --view syscalls --each "$small"
ok "--each text has a title a block" [ "$(grep -c '^# syscalls ' "$work/out")" -ge 11 ]
run -b --view syscalls --each --from +2s --to +4s --format json "$small"
ok "--each inside of a range" json "2 <= len(lines) <= 3"

run -b --view syscalls --at +3s --format json "$small"
ok "--at is its second" json "lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'] == 10**9 and lines[0]['range']['from_ns'] % 10**9 == 0"
run -b --view syscalls --from 20% --to 80% --format json "$small"
ok "--from, --to" json "0 < sum(r['count'] for r in lines[0]['rows']) < $calls"
# whole seconds are counted: the range says so, and rates are of it
run -b --view cpus --from +2.5s --to +3.6s --format json "$small"
ok "the range is what was counted" json "all(r['run_ns'] + r['idle_ns'] + r['unknown_ns'] == lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'] for r in lines[0]['rows'])"
ok "that it is wider is told" grep -q 'counted in steps of 1s' "$work/err"
run -b --view processes --from +2.5s --to +3.6s --format json "$small"
ok "shares are of it, too" json "all(abs(r['cpu_ratio'] - r['cpu_ns'] / (lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'])) < 1e-6 for r in lines[0]['rows'] if r['cpu_ratio'] is not None)"
run -b --view cpus --from +2.5s --to +3.6s --step 10ms --format json "$small"
ok "--step counts closer" json "all(r['run_ns'] + r['idle_ns'] + r['unknown_ns'] == lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'] <= 1.12e9 for r in lines[0]['rows'])"
run -b --view cpus --each --format json "$small"
ok "also in the last second" json "all(r['run_ns'] + r['idle_ns'] + r['unknown_ns'] == l['range']['to_ns'] - l['range']['from_ns'] for l in lines for r in l['rows'])"
run -b --view syscalls --format json "$small"
all=$(python3 -c 'import json, sys; print(sum(r["count"] for r in json.loads(sys.stdin.readline())["rows"]))' <"$work/out")
run -b --view slow --format json "$small"
ok "slow: how many of all calls are listed" json "lines[0]['trust']['omitted'].startswith(f\"{len(lines[0]['rows'])} of $all calls: \")"
ok "and said on stderr" grep -q "slow: .* of $all calls" "$work/err"
run -b --view syscalls --from start --to end --format json "$small"
ok "--from start --to end" json "lines[0]['rows']"
refused 1 "outside" -b --view syscalls --at 1999-01-01T00:00:00 "$small"
ok "a trace may be shorter than a second: told to the millisecond" grep -qE '\.[0-9]{3} is outside .*\.[0-9]{3} to .*\.[0-9]{3}$' "$work/err"
refused 2 "--from" -b --view syscalls --from +4s --to +2s "$small"

run -b --view syscalls --filter 'syscall == read && count > 0' --format json "$small"
ok "--filter" json "lines[0]['rows'] and all(r['syscall'] == 'read' for r in lines[0]['rows'])"
run -b --view syscalls --sort max_ns --format json "$small"
ok "--sort" json "(lambda v: v == sorted(v, reverse=True))([r['max_ns'] for r in lines[0]['rows'] if r['max_ns'] is not None and r['waited'] not in ('for work', 'unknown')])"
run -b --view syscalls --sort -max_ns --format json "$small"
ok "--sort, turned round" json "(lambda v: v == sorted(v))([r['max_ns'] for r in lines[0]['rows'] if r['max_ns'] is not None and r['waited'] not in ('for work', 'unknown')])"
run -b --view syscalls --columns max_ns,syscall --format json "$small"
ok "--columns" json "all(list(r) == ['max_ns', 'syscall'] for r in lines[0]['rows'])"

run -b --view processes --format json "$small" "$demo"
ok "two traces at once" json "len(lines[0]['rows']) > 0"
run -b --view spans --format json "$demo"
ok "spans of the demo" json "len({(r['trace_id'], r['span_id']) for r in lines[0]['rows']}) == 700 * 8"
run -b --view spans --format json --demo
ok "--demo in batch" json "len({(r['trace_id'], r['span_id']) for r in lines[0]['rows']}) == 700 * 8"
cp "$work/out" "$work/demo"
run -b --view spans --format json "$TRACES/ctf2/demo/trace"
ok "which is the one in CTF 2" cmp "$work/out" "$work/demo"

# without a kernel's tracer nobody but the contexts of the events says who made them
for by in process thread; do
	run -b --view events --by $by --format json "$TRACES/ust-fields/trace/uid"
	ok "events of user space alone --by $by: whose" json "lines[0]['rows'] and all((r['pid'], r['comm']) == (6082, 'fields') for r in lines[0]['rows'])"
done
run -b --view events --format json "$TRACES/lost/trace"
ok "a trace read with loss: exit 3" [ "$code" -eq 3 ]
ok "the loss is told" json "lines[0]['trust']['lost_events'] == 53255"
run -b --view events --format json "$TRACES/lost/trace-overwrite"
ok "lost packets: exit 3" [ "$code" -eq 3 ]
ok "lost packets are told" json "lines[0]['trust']['lost_packets'] == 727"
run -b --view events --format json --fail-if-incomplete "$TRACES/lost/trace-overwrite"
ok "lost packets, --fail-if-incomplete: exit 1" [ "$code" -eq 1 ]
ok "the same rows" json "lines[0]['trust']['lost_packets'] == 727"
run -b --view events --fail-if-incomplete "$TRACES/demo"
ok "nothing is lost, --fail-if-incomplete: exit 0" [ "$code" -eq 0 ]

run -b --view spans "$small"
ok "a view says what the trace lacks" grep -qE 'zipkin' "$work/err"

# No terminal, no TERM, no environment to speak of.
env -i "$BLKTOP" -b --view processes "$small" >"$work/out" 2>"$work/err" </dev/null
code=$?
ok "works without TERM" eval '[ "$code" -eq 0 ] && [ -s "$work/out" ]'
env -i HOME=/nowhere "$BLKTOP" -b --view processes "$small" <&- >"$work/out" 2>"$work/err"
ok "works without stdin" [ $? -eq 0 ]

# Instants are local time, or UTC on demand; numbers are those of the C locale.
TZ=America/New_York timeout 60 "$BLKTOP" -b --utc --view syscalls --each "$small" >"$work/utc" 2>/dev/null
TZ=UTC timeout 60 "$BLKTOP" -b --view syscalls --each "$small" >"$work/zone" 2>/dev/null
ok "--utc" cmp -s "$work/utc" "$work/zone"

# A time of day is that of the trace: of several days, and of the night in which the clocks go back.
spans_at() { # spans_at FILE INSTANT...: a span of 100 ms at each
	local file=$1 out='' i=0 instant
	shift
	for instant in "$@"; do
		i=$((i + 1))
		out+="${out:+,}{\"traceId\":\"$i\",\"id\":\"$i\",\"name\":\"$instant\",\"kind\":\"SERVER\","
		out+="\"timestamp\":$(date -u -d "$instant" +%s)100000,\"duration\":100000,\"localEndpoint\":{\"serviceName\":\"s\"}}"
	done
	echo "[$out]" >"$file"
}
spans_at "$work/days.json" '2026-11-21 23:59:58' '2026-11-22 00:00:02' '2026-11-22 10:00:00' '2026-11-23 10:00:00' '2026-11-24 00:00:02'
spans_at "$work/autumn.json" '2026-10-25 00:20:00' '2026-10-25 00:30:00' '2026-10-25 01:30:00' '2026-10-25 02:00:00'
means() { # means WANT MESSAGE ARGUMENT...: the names of the spans in that range, and the lines about it on stderr
	local want=$1 message=$2
	shift 2
	run -b --no-cache --view traces --columns name --format csv "$@"
	ok "$*: $want" [ "$code $(sed 1d "$work/out" | tr -d '\r' | paste -sd,)" = "0 $want" ]
	ok "and says ${message:-nothing}" [ "$(grep -v 'not in this trace' "$work/err" | sed 's/^blktop: //' | paste -sd,)" = "$message" ]
}
means '2026-11-22 00:00:02' '--at: 00:00:02 is 2026-11-22 00:00:02 UTC, one of 3 such times in the trace' --utc --at 00:00:02 "$work/days.json"
means '2026-11-21 23:59:58,2026-11-22 00:00:02' '--to: 00:00:03 is 2026-11-22 00:00:03 UTC, one of 2 such times in the trace' \
	--utc --from '2026-11-21 23:59:58' --to 00:00:03 "$work/days.json"
means '2026-11-23 10:00:00' '--to: 10:00:01 is 2026-11-23 10:00:01 UTC, one of 2 such times in the trace' \
	--utc --from '2026-11-23 10:00:00' --to 10:00:01 "$work/days.json"
means '2026-11-23 10:00:00' '' --utc --at '2026-11-23 10:00' "$work/days.json"
means '2026-11-24 00:00:02' '' --utc --from '2026-11-23 11:00' --to 00:00:05 "$work/days.json"
refused 1 'outside the trace' -b --utc --view traces --at '2026-11-25 10:00' "$work/days.json"
refused 2 'out of the range of times' -b --utc --view traces --at @9223372036854775807 "$work/days.json"
refused 2 '--from must be before --to' -b --utc --view traces --from '2026-11-22 10:00' --to '2026-11-21 23:59:59' "$work/days.json"
zone=CET-1CEST,M3.5.0,M10.5.0/3
TZ=$zone means '2026-10-25 00:30:00' '--at: 02:30:00 is 2026-10-25 02:30:00 +0200, one of 2 such times in the trace' --at 02:30:00 "$work/autumn.json"
TZ=$zone means '2026-10-25 01:30:00' '' --at 01:30:00Z "$work/autumn.json"
from='--from: 02:25 is 2026-10-25 02:25:00 +0200, one of 2 such times in the trace'
TZ=$zone means '2026-10-25 00:30:00' "$from,--to: 02:40 is 2026-10-25 02:40:00 +0200, one of 2 such times in the trace" \
	--from 02:25 --to 02:40 "$work/autumn.json"
TZ=$zone means '2026-10-25 00:30:00,2026-10-25 01:30:00' "$from" --from 02:25 --to 03:00 "$work/autumn.json"
TZ=$zone refused 1 'outside the trace' -b --view traces --at 12:00 "$work/autumn.json"
spans_at "$work/spring.json" '2026-03-29 00:59:00' '2026-03-29 01:01:00'
TZ=$zone refused 2 "'02:30': the clocks skipped this time" -b --view traces --at 02:30 "$work/spring.json"

# Output that fails.
"$BLKTOP" -b --view syscalls --format json --each "$small" 2>"$work/err" | head -c 10 >/dev/null
code=${PIPESTATUS[0]}
ok "a reader that leaves: quietly 141" eval '[ "$code" -eq 141 ] && [ ! -s "$work/err" ]'
if [ -w /dev/full ]; then
	code=0
	"$BLKTOP" -b --view syscalls "$small" >/dev/full 2>"$work/err" || code=$?
	: >"$work/out"
	ok "a full disk: exit 1" [ "$code" -eq 1 ]
	ok "a full disk is told" grep -q 'No space left' "$work/err"
	code=0
	"$BLKTOP" --list-views >/dev/full 2>"$work/err" || code=$?
	ok "a full disk, for lists too" [ "$code" -eq 1 ]
else
	skip "a full disk" "no /dev/full"
fi

# Ctrl-C: 130, of a trace that is still being read then. (Signals are caught before the line that it is read.)
big=$work/big
"$BUILD/bench/amplify" --size 200M "$demo" "$big" >/dev/null || exit 1
# (What a script starts in the background ignores SIGINT, as it should.)
env --default-signal=INT "$BLKTOP" -b --view processes --log "$work/log" "$big" >"$work/out" 2>"$work/err" &
pid=$!
until grep -q " reading " "$work/log" 2>/dev/null || ! kill -0 $pid 2>/dev/null; do :; done
kill -INT $pid 2>/dev/null
code=0
wait $pid || code=$?
ok "interrupted: 130" [ "$code" -eq 130 ]
"$BLKTOP" -b --view processes --log "$work/log2" "$big" >"$work/out" 2>"$work/err" &
pid=$!
until grep -q " reading " "$work/log2" 2>/dev/null || ! kill -0 $pid 2>/dev/null; do :; done
kill -TERM $pid 2>/dev/null
code=0
wait $pid || code=$?
ok "SIGTERM: 143" [ "$code" -eq 143 ]
ok "the log file has the end" grep -q 'ends with 143' "$work/log2"

# --wait is not given up after --timeout.
timeout 3 "$BLKTOP" -b --wait --timeout 1 --view events -r net://127.0.0.1:1/host/a/b >"$work/out" 2>"$work/err"
code=$?
ok "--wait waits for a relay that is not there" [ "$code" -eq 124 ]
ok "and says so" grep -q "cannot connect to relay 127.0.0.1:1:" "$work/err"

# What is told of a process alone: its events are its own, of a thread that has no number.
cp -r "$TRACES/ust-fields/trace" "$work/fields"
find "$work/fields" -name metadata -exec sed -i 's/ _vtid;/ _xtid;/' {} +
run -b --view events --by thread --format json "$work/fields/uid"
ok "vpid alone: events are of processes" json "{r['name'] for r in lines[0]['rows'] if r['pid'] == 6082 and r['comm'] == 'fields'} > {'fields:first', 'fields:reals'}"
ok "and of no thread" json "{r['tid'] for r in lines[0]['rows']} == {None}"
find "$work/fields" -name metadata -exec sed -i 's/ _vpid;/ _xpid;/; s/ _procname\[/ _xrocname[/' {} +
for by in process thread; do
	run -b --view events --by process --format csv --columns pid,comm,name,count "$TRACES/ust-fields/trace/pid"
	cp "$work/out" "$work/with"
	run -b --view events --by "$by" --format csv --columns pid,comm,name,count "$work/fields/pid"
	ok "buffers per process, by $by: no context is needed" cmp "$work/with" "$work/out"
done
run log --format json "$work/fields/pid"
ok "buffers per pid: the log has processes" json "{l['comm'] for l in lines if l['kind'] == 'user'} == {'fields'} and {l['pid'] for l in lines} == {6104, 6105} and {l['tid'] for l in lines} == {None}"

# What ran between lttng stop and start nobody knows; nothing was lost, either.
for reader in native babeltrace2; do
	run -b --reader $reader --view cpus --each --step 1s --format json "$TRACES/pause/trace"
	ok "a pause ($reader): not known" json "[[(r['run_ns'], r['unknown_ns']) for r in l['rows']] for l in lines[4:6]] == [[(None, 10**9)] * 2] * 2"
	ok "and what was around it is" json "all(r['unknown_ns'] == 0 and r['run_ns'] > 0 for l in lines[1:3] + lines[7:] for r in l['rows'])"
	ok "nothing is lost" [ "$code$(cat "$work/err")" = 0 ]
done

# A range inside the trace, after its last event that has a step.
for options in '' --each '--view events' '--view traces'; do
	# shellcheck disable=SC2086
	run -b $options --step 100ms --from +1s --to +2s "$TRACES/ust-fields/trace"
	ok "no event in the range, --step 100ms $options" [ "$code" -eq 0 ]
done

# Perf counters are contexts of events that blktop does not interpret, too.
cp -r "$TRACES/kernel-ust/trace/ust" "$work/ust"
run -b --view counters --by thread --format csv "$work/ust"
cp "$work/out" "$work/with"
ok "counters of user space" grep -q ',thread,' "$work/with"
find "$work/ust" -name metadata -exec sed -i 's/"zipkin:/"zipkon:/' {} +
run -b --view counters --by thread --format csv "$work/ust"
ok "counters of other events" cmp "$work/with" "$work/out"

# A signal ends who prints, too, once everything is read. (Sentences for spans so deep take seconds.)
awk 'BEGIN { for (i = 1; i <= 10000; i++) printf "{\"traceId\":\"1\",\"id\":\"%x\",\"parentId\":\"%x\"," \
	"\"timestamp\":%d,\"duration\":%d}\n", i, i - 1, 1000 + i, 90000 - 2 * i }' >"$work/deep.json"
mkfifo "$work/slow"
"$BLKTOP" -b --view spans --format csv "$work/deep.json" >"$work/slow" 2>/dev/null &
printing=$!
exec 3<"$work/slow"
head -c 1 <&3 >/dev/null
kill -TERM $printing
cat <&3 >/dev/null
code=0
wait $printing || code=$?
exec 3<&-
ok "a signal ends the printing" [ "$code" -eq 143 ]

done_testing
