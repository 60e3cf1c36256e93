#!/bin/bash
# blktop log: text and JSON lines, ranges, filters, exit codes, output errors.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
small=$TRACES/kernel-small/trace

refused 2 "no trace directory" log
refused 2 "recorded" log -r localhost
refused 2 "csv" log --format csv "$small"
refused 2 "--filter" log --filter 'nonsense > 1' "$small"
refused 2 "not a duration" log --filter 'duration_ns > 5MB' "$small"
refused 2 "--from" log --from yesterday "$small"
refused 2 "before --to" log --from +2s --to +1s "$small"
refused 2 "-b" log --each "$small"
refused 1 "outside" log --from @1 --to @2 "$small"
refused 1 "no trace" log "$work"
cp -r "$TRACES/ust-fields/trace/uid" "$work/nothing"
find "$work/nothing" -type f ! -name metadata -delete
refused 1 "no events in the trace" log "$work/nothing"

succeeds 0 "text" log --from +3s --to +3.2s "$demo"
ok "a line an event, with instant, thread and CPU" \
	sh -c "! grep -qvE '^[0-9:]{8}\.[0-9]{9} \[[^]]*/[0-9?]+\] ' '$work/out'"
ok "calls with their descriptors' names" grep -qE '(read|write)\(fd [0-9]+ "[^"]+", count = [0-9]+' "$work/out"
ok "flags and operations by name" grep -qE 'openat\(dfd AT_FDCWD, filename = "[^"]+", flags = O_RDONLY(\|O_[A-Z]+)*, mode = 0' "$work/out"
ok "of futexes, too" grep -q 'op = FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, ' "$work/out"
ok "user-space events in place" grep -q 'zipkin:timestamp: trace_name = ' "$work/out"
ok "nothing else is said" [ ! -s "$work/err" ]
cp "$work/out" "$work/native"
succeeds 0 "by babeltrace2" log --reader babeltrace2 --from +3s --to +3.2s --filter 'kind == user' "$demo"
grep 'zipkin:' "$work/native" | cmp -s - "$work/out" && pass "both readers print the same" || fail "both readers print the same"

succeeds 0 "json" log --format json --at +2s "$demo"
ok "json: an object a line, within the second" json "all(0 <= l['time_ns'] - lines[0]['time_ns'] <= 1e9 for l in lines) and len(lines) > 1000"
ok "json: calls" json "any(l['kind'] == 'call' and l['state'] == 'whole' and l['exit_ns'] >= l['entry_ns'] for l in lines)"

succeeds 0 "filters" log --format json --filter 'name == openat && ret < 0' "$demo"
ok "filters: only these" json "all(l['name'] == 'openat' and l['ret'] < 0 and l['error'] for l in lines)"
ok "errors have names" json "any(l['error'] == 'ENOENT' for l in lines)"
succeeds 0 "numbers of flags in filters" log --format json --filter 'name == futex && arg.op == 393' "$demo"
ok "and in JSON" json "lines and all(l['args']['op'] == 393 for l in lines)"
succeeds 0 "the demo" log --demo --filter 'error == ENOENT'
ok "as strace has them" grep -q -- '= -1 ENOENT (No such file or directory) <' "$work/out"

succeeds 3 "losses are told, and the exit code says so" log --filter 'kind == loss' "$TRACES/lost/trace"
ok "a loss is a line" grep -qE -- '--- lost [0-9]+ events of CPU [0-9]+, until ' "$work/out"

if [ -w /dev/full ]; then
	code=0
	"$BLKTOP" log "$small" >/dev/full 2>"$work/err" || code=$?
	ok "a full disk is told" grep -q 'cannot write the output' "$work/err"
	ok "and fails" [ "$code" -eq 1 ]
fi
code=$( ("$BLKTOP" log "$demo"; echo $? >"$work/code") 2>"$work/err" | head -n 1 >"$work/out"; cat "$work/code")
ok "a reader that leaves ends it" [ "$code" -eq 141 ]
ok "without a word" [ ! -s "$work/err" ]

done_testing
