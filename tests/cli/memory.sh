#!/bin/bash
# Printing what does not fit into --memory: counts stay, what went is told, and so much is taken. With ALL=1, as in make
# check-long, in more ways.
set -u
# shellcheck disable=SC1091,SC2154 # lib.sh; work, code: from there
. "$(dirname "$0")/lib.sh"
MAKE_SPANS=$(realpath "${BUILD:-$SRCDIR/build}/bench/make-spans")
spans=$work/spans
BESIDE=64 # MiB
# Half of the requests, with half of the memory.
if [ -n "${ALL-}" ]; then requests=30000 memory=64; else requests=15000 memory=32; fi

# Of each row what does not depend on which spans are kept.
rows() { # rows FILE COLUMN...
	python3 - "$@" <<-'EOF'
		import json, sys
		for row in json.load(open(sys.argv[1]))["rows"]:
		    print([row[column] for column in sys.argv[2:]])
	EOF
}

# Half a minute of requests.
"$MAKE_SPANS" "$spans" $((requests * 10)) 10 $((3000000000 / requests)) || fail "a trace is made"
counts=(service count p50_ns p99_ns total_ns errors)

for view in phases ${ALL:+services}; do
	run -b --memory 2G --view $view --format json "$spans"
	ok "$view of all" [ "$code" -eq 0 ]
	ok "nothing was dropped" json "lines[0]['trust']['dropped_spans'] == 0 and lines[0]['trust']['dropped'] is None"
	ok "nothing is told" [ ! -s "$work/err" ]
	rows "$work/out" "${counts[@]}" >"$work/all"
	peak $((memory + BESIDE)) -b --memory ${memory}M --view $view --format json "$spans"
	ok "they count what was dropped" json "lines[0]['trust']['dropped_spans'] > $requests * 10 / 3 and lines[0]['trust']['dropped_traces'] * 10 == lines[0]['trust']['dropped_spans'] and 'dropped for memory' in lines[0]['trust']['dropped']"
	ok "it is told" grep -q 'dropped for memory' "$work/err"
	rows "$work/out" "${counts[@]}" >"$work/some"
	ok "$view are the same" cmp "$work/all" "$work/some"
done

# What each span alone says goes with it.
if [ -n "${ALL-}" ]; then
	"$MAKE_SPANS" "$work/own" 200000 10 100000 200 || fail "a trace is made"
	peak $((memory + BESIDE)) -b --memory ${memory}M --view phases --format json "$work/own"
	rm -r "$work/own"
fi

# However dense they are: what a second holds need not fit.
"$MAKE_SPANS" "$work/dense" "$([ -n "${ALL-}" ] && echo 500000 || echo 150000)" 10 4500 || fail "a trace is made"
run -b --memory 2G --view services --format json "$work/dense"
rows "$work/out" "${counts[@]}" >"$work/all"
for view in services ${ALL:+phases traces 'spans --sort duration'}; do
	# shellcheck disable=SC2086 # words of an option
	peak $((16 + BESIDE)) -b --memory 16M --view $view --format json "$work/dense"
	[ "$view" = services ] || continue
	ok "nothing came too late" json "lines[0]['trust']['late_records'] == 0"
	rows "$work/out" "${counts[@]}" >"$work/some"
	ok "all count" cmp "$work/all" "$work/some"
done
rm -r "$work/dense"

# And with names of their own, which make an operation each.
if [ -n "${ALL-}" ]; then
	"$MAKE_SPANS" "$work/names" 200000 10 10000 0 64 || fail "a trace is made"
	for view in phases 'spans --sort duration'; do
		# shellcheck disable=SC2086 # words of an option
		peak $((16 + BESIDE)) -b --memory 16M --view $view --format json "$work/names"
	done
	rm -r "$work/names"
fi

# Lists have all, in pieces.
listed=trace_id,span_id,begin_ns,duration_ns,name,pid
for view in ${ALL:+spans} traces; do
	run -b --memory 2G --view $view --columns "$listed" --format csv "$spans"
	ok "$view, all at once" [ ! -s "$work/err" ]
	sort "$work/out" >"$work/all"
	peak $((memory + BESIDE)) -b --memory ${memory}M --view $view --columns "$listed" --format csv "$spans"
	ok "they say that they come in pieces" grep -q 'in pieces' "$work/err"
	sort "$work/out" >"$work/some"
	ok "the same $view" cmp -s "$work/all" "$work/some"
	ok "one header" [ "$(grep -c '^trace_id' "$work/out")" -eq 1 ]
done
run -b --memory ${memory}M --view traces --columns begin_ns,duration_ns --format json "$spans"
ok "one JSON object" json "len(lines) == 1 and len(lines[0]['rows']) == $requests and lines[0]['view'] == 'traces'"
ok "its range and trust" json "lines[0]['range']['to_ns'] - lines[0]['range']['from_ns'] > 25 * 10**9 and lines[0]['trust']['dropped_spans'] == 0"
run -b --memory ${memory}M --view traces --columns begin_ns,duration_ns "$spans"
ok "text has one header" [ "$(grep -c begin_ns "$work/out")" -eq 1 ]
ok "and all rows" [ "$(wc -l <"$work/out")" -eq $((requests + 1)) ]
run -b --memory ${memory}M --view traces --filter 'duration_ns > 5ms' --format json "$spans"
ok "filtered in pieces" json "len(lines[0]['rows']) == $requests / 1000"
run -b --memory ${memory}M --view traces --sort duration_ns --format json "$spans"
ok "sorted, it tells what is not there" grep -q 'traces of this range that were dropped' "$work/err"
ok "the slowest is" json "lines[0]['rows'][0]['duration_ns'] == 1095 * 10**4 * 30000 / $requests"

# What is asked for by its time stays, with either reader, whatever came before it was known how
# long the trace is.
stays() { # RANGE OPTION...
	local range=$1
	shift
	# shellcheck disable=SC2086 # words of an option
	run -b --memory 2G --view spans $range --columns "$listed" --format csv "$@" "$spans"
	cp "$work/out" "$work/all"
	# shellcheck disable=SC2086
	run -b --memory $((memory * 3))M --view spans $range --columns "$listed" --format csv "$@" "$spans"
	ok "$range $*: all of its spans" cmp "$work/all" "$work/out"
	ok "$range $*: nothing is told" [ "$(grep -vc "counted in steps" "$work/err")" -eq 0 ]
}
stays '--from 20% --to +8s'
stays '--at +7s'
[ -z "${ALL-}" ] || stays '--at +7s' --reader babeltrace2
[ -z "${ALL-}" ] || stays '--from +6s --to +8s' --reader babeltrace2

if [ -n "${ALL-}" ]; then
	run -b --memory 2G --view spans --columns trace_id,duration_ns --format csv "$spans"
	trace=$(sed -n '2s/,.*//p' "$work/out")
	run -b --memory ${memory}M --view spans --only "trace=$trace" --format json "$spans"
	ok "the trace that is asked for stays" json "len(lines[0]['rows']) == 10"
fi
run -b --memory ${memory}M --view path --format json "$spans"
ok "the slowest stays" json "sum(r['duration_ns'] for r in lines[0]['rows']) > 10**7"

# Files of spans, too, each with a text of its own, told in any order.
python3 - "$work/spans.json" <<-'EOF'
	import random, sys
	random.seed(5)
	with open(sys.argv[1], "w") as f:
	    spans = [(trace, i) for trace in range(50000) for i in range(5)]
	    random.shuffle(spans)
	    f.write("[")
	    for n, (trace, i) in enumerate(spans):
	        parent = f'"parentId":"{trace * 5 + 1:x}",' if i else ""
	        f.write(f'{"," if n else ""}{{"traceId":"{trace + 1:x}","id":"{trace * 5 + i + 1:x}",{parent}"name":"n{i}",'
	                f'"timestamp":{10**15 + trace * 1000 + i},"duration":{900 - i if trace != 777 else 90000 - i},'
	                f'"localEndpoint":{{"serviceName":"s"}},"tags":{{"text":"{random.getrandbits(128):x}"}}}}\n')
	    f.write("]")
EOF
if [ -n "${ALL-}" ]; then
	peak $((64 + BESIDE)) -b --memory 64M --view phases --format json "$work/spans.json"
	ok "all count" json "{r['count'] for r in lines[0]['rows']} == {50000}"
fi
peak $((64 + BESIDE)) -b --memory 64M --view traces --sort duration_ns --format json "$work/spans.json"
ok "the slowest of a file stays" json "lines[0]['rows'][0]['duration_ns'] == 9 * 10**7"
ok "and what was dropped is told" grep -q 'traces of this range that were dropped' "$work/err"

done_testing
