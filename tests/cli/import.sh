#!/bin/bash
# Spans from Zipkin's JSON in place of a trace: views, reports, several files, bad ones.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
ust=$TRACES/kernel-ust/trace

run --export-slowest 1000 --with-kernel -o "$work/all.json" "$ust"
run --export-slowest 1000 "$ust"
cp "$work/out" "$work/plain.json"

for view in traces phases services; do
	succeeds 0 "--view $view" -b --view "$view" --format json "$work/all.json"
	ok "--view $view has rows" json "len(lines[0]['rows']) > 0"
done
columns=service,name,spans,duration_ns,self_ns,errors,state,user_ns,timer_ns,socket_ns
run -b --view traces --columns $columns --format csv "$ust"
sort "$work/out" >"$work/wanted"
run -b --view traces --columns $columns --format csv "$work/all.json"
ok "the same traces" diff "$work/wanted" <(sort "$work/out")
run -b --view traces --columns $columns --format csv "$work/plain.json"
ok "without the kernel's spans, too" diff "$work/wanted" <(sort "$work/out")
succeeds 0 "report" report "$work/all.json"
ok "which tells what was read" grep -q 'import of Zipkin JSON' "$work/out"
succeeds 0 "--each" -b --view traces --each --format json "$work/all.json"

# Two files, of which the second says nothing new, and a third one that does.
echo '[{"traceId":"1","id":"2","name":"more","timestamp":1500000000000000,"duration":7}]' >"$work/more.json"
run -b --view spans --format json "$work/all.json"
cp "$work/out" "$work/one"
run -b --view spans --format json "$work/all.json" "$work/plain.json"
ok "what is said twice is there once" cmp -s "$work/out" "$work/one"
succeeds 0 "several files" -b --view spans --format json "$work/all.json" "$work/more.json"
ok "spans of both" json "'more' in {r['name'] for r in lines[0]['rows']} and len(lines[0]['rows']) > 9"

# What is left out is told of, and the exit status says so.
head -c 60000 "$work/plain.json" >"$work/cut.json"
succeeds 3 "a file that was cut off: spans up to there, and 3" -b --view spans "$work/cut.json"
echo '[{"traceId":"1","id":"2","timestamp":5},{}]' >"$work/some.json"
succeeds 3 "spans without an id: the others, and 3" -b --view spans --format json "$work/some.json"
ok "and which" grep -q 'some.json: span 2: no valid traceId' "$work/err"

for text in '' '[]' '{}' nonsense '[{}]'; do
	printf '%s' "$text" >"$work/bad.json"
	refused 1 "no spans in" -b --view spans "$work/bad.json"
done
# Clocks: that of the called service is 40 ms behind.
span() { # span ID PARENT KIND SERVICE IP BEGIN DURATION, in us
	printf '{"traceId":"f1","id":"%s","parentId":"%s","kind":"%s","localEndpoint":{"serviceName":"%s","ipv4":"%s"},' \
		"${@:1:5}"
	printf '"timestamp":%s,"duration":%s}' "$6" "$7"
}
{
	printf '[%s,' "$(span a2 '' CLIENT front 10.0.0.1 1795241240010000 100000)"
	printf '%s]' "$(span a3 a2 SERVER back 10.0.0.2 1795241239980000 80000)"
} >"$work/skewed.json"
clock='[(r["clock_ns"], r["clock_error_ns"]) for r in lines[0]["rows"] if r["caller"] == "front"]'
succeeds 0 "clocks of services" -b --view services --format json "$work/skewed.json"
ok "which differ" json "$clock == [(-40000000, 10000000)]"
succeeds 0 "aligned" -b --view services --format json --align-hosts "$work/skewed.json"
ok "they do not" json "$clock == [(0, 10000000)]"
ok "what was moved" grep -q 'clock of back (10.0.0.2) is moved forward by 40.000ms' "$work/err"
succeeds 0 "spans" -b --view spans --format json --align-hosts "$work/skewed.json"
ok "of the called service lie within their call" \
	json '{r["service"]: r["self_ns"] for r in lines[0]["rows"]} == {"front": 20000000, "back": 80000000}'

# Spans that are missing: one between two, and a root.
{
	printf '[%s,' "$(span a1 '' SERVER front 10.0.0.1 1795241240000000 100000)"
	printf '%s,' "$(span a3 a2 SERVER back 10.0.0.2 1795241240010000 20000)"
	printf '%s]' "$(span b2 b1 SERVER back 10.0.0.2 1795241240010000 20000 | sed s/f1/f2/)"
} >"$work/missing.json"
succeeds 0 "spans are missing" -b --view traces --format json "$work/missing.json"
ok "which is told of both traces" json '[(r["state"], r["missing_spans"], r["duration_ns"], r["duration_bound"])
	for r in lines[0]["rows"]] == [("incomplete", 1, 100000000, None), ("incomplete", 1, 20000000, "at least")]'
succeeds 0 "in spans" -b --view spans --columns span_id,parent_state --format csv "$work/missing.json"
ok "which" diff <(grep missing "$work/out" | cut -d , -f 1) <(printf '%s\n' 00000000000000a3 00000000000000b2)
succeeds 0 "in a report" report "$work/missing.json"
ok "too" grep -q '20.0ms.*incomplete' "$work/out"

# Another format is refused by its name, with what to do; its parts that look like spans are not read.
v2='{"traceId":"1","id":"3","timestamp":5,"localEndpoint":{"serviceName":"a"}}'
v1='{"traceId":"1","id":"2","timestamp":5,"annotations":[{"timestamp":5,"value":"sr","endpoint":{"serviceName":"a"}}]}'
printf '[%s]' "$v1" >"$work/v1.json"
refused 1 "it is Zipkin v1 JSON; blktop reads Zipkin v2 JSON: send it to a Zipkin server" -b --view spans "$work/v1.json"
printf '[%s,%s]' "$v2" "$v1" >"$work/mixed.json"
refused 1 "from its object 2 on it is Zipkin v1" -b --view spans "$work/mixed.json"
refused 1 "it is Zipkin v1" -b --view spans "$work/more.json" "$work/v1.json"
run --export-slowest 1000 --format otlp -o "$work/otlp.json" "$ust"
refused 1 "it is OTLP JSON; blktop reads Zipkin v2 JSON: let the OpenTelemetry Collector" -b --view spans "$work/otlp.json"
for i in {1..100000}; do printf '['; done >"$work/deep.json"
refused 1 "no spans in" -b --view spans "$work/deep.json"
{ printf '[{"a":'; cat "$work/deep.json"; } >"$work/deeper.json"
refused 1 "nested too deeply" -b --view spans "$work/deeper.json"
truncate -s 2G "$work/large.json"
refused 1 "at byte 0: no list of spans" -b --view spans "$work/large.json"
refused 1 "nowhere.json" -b --view spans "$work/nowhere.json"
refused 1 "cannot be combined" -b --view spans "$work/all.json" "$ust"
refused 1 "all.json" -b --view spans "$ust" "$work/all.json"
mkfifo "$work/fifo.json"
refused 1 "fifo.json" -b --view spans "$work/fifo.json"
for command in log --doctor; do
	refused 1 "all.json" $command "$work/all.json"
done
# A name in it that would move the cursor stays text.
printf '[{"traceId":"1","id":"2","timestamp":5,"name":"\\u001b[2J\\u009b"}]' >"$work/evil.json"
run -b --view spans "$work/evil.json"
ok "no escape sequences" sh -c "! grep -q \$(printf '\\033') '$work/out'"

done_testing
