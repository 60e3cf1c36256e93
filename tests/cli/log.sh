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

# Large events of a trace whose env has no domain: JSON says what is left out; both readers say the same.
python3 - "$work/large" <<'EOT'
import os, struct, sys
for name, env in ("none", ""), ("bare", 'env { domain = "bare"; };'), ("ust", 'env { domain = "ust"; };'):
    os.makedirs(f"{sys.argv[1]}/{name}")
    with open(f"{sys.argv[1]}/{name}/metadata", "w") as f:
        f.write("""/* CTF 1.8 */
clock { name = c; freq = 1000000000; offset = 1500000000000000000; };
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := stamp_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
%s
stream { id = 0; event.header := struct { uint8_t id; stamp_t timestamp; };
	packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint32_t content_size; uint32_t packet_size; }; };
event { id = 0; stream_id = 0; name = "text"; fields := struct { uint16_t a; string t; uint16_t b; }; };
event { id = 1; stream_id = 0; name = "syscall_entry_read"; fields := struct { struct { uint16_t n; uint16_t l[n]; } in; uint8_t z; }; };
event { id = 2; stream_id = 0; name = "syscall_exit_read"; fields := struct { uint8_t z; }; };
""" % env)
    events = (struct.pack("<BQH", 0, 1, 7) + b"x" * 100000 + b"\0" + struct.pack("<H", 8) +
              struct.pack("<BQH", 1, 2, 5000) + bytes(10000) + b"\5" + struct.pack("<BQB", 2, 3, 9))
    size = (8 + 24 + len(events)) * 8
    with open(f"{sys.argv[1]}/{name}/chan_0", "wb") as f:
        f.write(struct.pack("<IIQQII", 0xC1FC1FC1, 0, 1, 3, size, size) + events)
EOT
for name in none bare ust; do
	succeeds 0 "large events, $name" log --format json "$work/large/$name"
	ok "a text: the bytes that are left out" json "lines[0]['args'] == {'a': 7, '...': 100002}"
	ok "a list: the same" json "lines[1]['args']['...'] == 10001 - 2 * len(lines[1]['args']['in']['l']) and lines[1]['args']['in']['l']"
	ok "each event has its own name" json "[l['name'] for l in lines] == ['text', 'syscall_entry_read', 'syscall_exit_read']"
	ok "nothing of contexts is" json "all(l['context'] == {} for l in lines) and lines[2]['args'] == {'z': 9}"
	cp "$work/out" "$work/native"
	succeeds 0 "by babeltrace2" log --reader babeltrace2 --format json "$work/large/$name"
	ok "the same" cmp -s "$work/native" "$work/out"
done

done_testing
