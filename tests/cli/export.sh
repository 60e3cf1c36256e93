#!/bin/bash
# Exporting spans from the command line.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
ust=$TRACES/kernel-ust/trace

zipkin() { # zipkin EXPRESSION over `spans`
	python3 - "$1" "$2" <<-'PY'
		import json, sys
		spans = json.load(open(sys.argv[1], encoding="utf-8"))
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}

run -b --view traces --format json "$ust"
trace=$(python3 -c "import json; print(max(json.load(open('$work/out'))['rows'], key=lambda r: r['duration_ns'])['trace_id'])")
run -b --view spans --format json "$ust"
span=$(python3 -c "import json; print([r['span_id'] for r in json.load(open('$work/out'))['rows'] if r['name'] == 'send' and r['trace_id'] == '$trace'][0])")
spans=$(python3 -c "import json; print(len([r for r in json.load(open('$work/out'))['rows'] if r['trace_id'] == '$trace']))")

succeeds 0 "--export-trace" --export-trace "$trace" "$ust"
ok "all its spans, Zipkin v2" zipkin "$work/out" "len(spans) == $spans and all(s['traceId'] == '$trace' for s in spans)"
cp "$work/out" "$work/trace.json"
succeeds 0 "--export-trace with 0x" --export-trace "0x$trace" "$ust"
ok "the same" cmp -s "$work/out" "$work/trace.json"
succeeds 0 "--export-span" --export-span "$span" "$ust"
ok "the span and what is below it" zipkin "$work/out" "{s['name'] for s in spans} == {'send', 'store'}"
succeeds 0 "--export-slowest" --export-slowest 3 "$ust"
ok "three traces, the slowest among them" zipkin "$work/out" "len({s['traceId'] for s in spans}) == 3 and '$trace' in {s['traceId'] for s in spans}"
succeeds 0 "--format json" --export-trace "$trace" --format json "$ust"
ok "blktop's own is JSON" python3 -m json.tool "$work/out" /dev/null

for format in otlp perfetto json zipkin; do
	succeeds 0 "--format $format --with-kernel" --export-trace "$trace" --format $format --with-kernel "$ust"
	ok "JSON, and of the kernel, too" grep -qE 'blktop.kernel|"kernel":"wait"' "$work/out"
done
refused 2 "with-kernel" --with-kernel "$ust"

cd "$work" || exit 1
run --export-trace "$trace" -o out.json "$ust"
ok "-o FILE" cmp -s "$work/trace.json" "$work/out.json"
ok "-o FILE prints nothing on stdout" [ ! -s "$work/out" ]
ok "-o FILE says where it is" grep -qF "$work/out.json" "$work/err"
echo old >out.json
refused 1 "out.json" --export-trace "$trace" -o out.json "$ust"
ok "an old file stays" [ "$(cat out.json)" = old ]
run --export-trace "$trace" -o out.json --force "$ust"
ok "--force" cmp -s "$work/trace.json" "$work/out.json"
refused 1 "no-such-dir" --export-trace "$trace" -o no-such-dir/out.json "$ust"
run --export-trace "$trace" -o - "$ust"
ok "-o -" cmp -s "$work/trace.json" "$work/out"
ok "nothing is left behind" [ "$(find . -name '*out.json*' | wc -l)" -eq 1 ]

refused 1 "00000000000000ff" --export-trace ff "$ust"
refused 1 "00000000000000ff" --export-span ff "$ust"
refused 1 "" --export-slowest 1 "$TRACES/kernel-small/trace"
refused 1 "nowhere" --export-slowest 1 "$work/nowhere"

# The slowest of those that a filter leaves: as the view traces has them.
run -b --view traces --filter 'duration_ns < 12ms' --sort -duration_ns --columns trace_id,duration_ns --format csv "$TRACES/demo/trace"
sed -n 's/,.*//p' "$work/out" | tail -n +2 | tail -n 2 | tr -d '\r' | sort >"$work/want"
run --export-slowest 2 --filter 'duration_ns < 12ms' --format zipkin "$TRACES/demo/trace"
grep -o '"traceId":"[0-9a-f]*"' "$work/out" | cut -d '"' -f 4 | sort -u >"$work/got"
ok "the slowest of those that a filter leaves" cmp "$work/want" "$work/got"
ok "these are two" [ "$(wc -l <"$work/got")" -eq 2 ]
refused 1 "the filter leaves none" --export-slowest 2 --filter 'duration_ns > 1h' "$TRACES/demo/trace"
refused 2 "no column 'nosuch'" --export-slowest 2 --filter 'nosuch > 1' "$TRACES/demo/trace"
refused 2 "--filter needs" --export-trace 1 --filter 'duration_ns > 1' "$TRACES/demo/trace"

done_testing
