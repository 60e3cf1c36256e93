#!/bin/bash
# Printing what does not fit into --memory: counts stay, what went is told, and so much is taken.
set -u
# shellcheck disable=SC1091,SC2154 # lib.sh; work, code: from there
. "$(dirname "$0")/lib.sh"
MAKE_SPANS=$(realpath "${BUILD:-$SRCDIR/build}/bench/make-spans")
spans=$work/spans
BESIDE=64 # MiB

# peak LIMIT ARGUMENT...: as run, but it must take no more MiB than that.
peak() {
	local limit=$1
	shift
	code=0
	timeout 120 python3 - "$limit" "$work" "$BLKTOP" "$@" <<-'EOF' || code=$?
		import os, subprocess, sys
		limit, work, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
		with open(f"{work}/out", "wb") as out, open(f"{work}/err", "wb") as err:
		    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
		    _, status, usage = os.wait4(process.pid, 0)
		took = usage.ru_maxrss // 1024
		if took > limit:
		    with open(f"{work}/err", "a") as err:
		        print(f"{took} MiB at most, where {limit} were to be enough", file=err)
		sys.exit(99 if took > limit else os.waitstatus_to_exitcode(status))
	EOF
	ok "$* takes no more than $limit MiB" [ "$code" -eq 0 ]
}

# Of each row what does not depend on which spans are kept.
rows() { # rows FILE COLUMN...
	python3 - "$@" <<-'EOF'
		import json, sys
		for row in json.load(open(sys.argv[1]))["rows"]:
		    print([row[column] for column in sys.argv[2:]])
	EOF
}

# Half a minute of requests.
"$MAKE_SPANS" "$spans" 300000 10 100000 || fail "a trace is made"
counts=(service count p50_ns p99_ns total_ns errors)

for view in phases services; do
	columns=("${counts[@]}")
	run -b --memory 2G --view $view --format json "$spans"
	ok "$view of all" [ "$code" -eq 0 ]
	ok "nothing was dropped" json "lines[0]['trust']['dropped_spans'] == 0 and lines[0]['trust']['dropped'] is None"
	ok "nothing is told" [ ! -s "$work/err" ]
	rows "$work/out" "${columns[@]}" >"$work/all"
	peak $((64 + BESIDE)) -b --memory 64M --view $view --format json "$spans"
	ok "they count what was dropped" json "lines[0]['trust']['dropped_spans'] > 100000 and lines[0]['trust']['dropped_traces'] * 10 == lines[0]['trust']['dropped_spans'] and 'dropped for memory' in lines[0]['trust']['dropped']"
	ok "it is told" grep -q 'dropped for memory' "$work/err"
	rows "$work/out" "${columns[@]}" >"$work/some"
	ok "$view are the same" cmp "$work/all" "$work/some"
done

run -b --memory 2G --view spans --columns trace_id,duration_ns --format csv "$spans"
trace=$(sed -n '2s/,.*//p' "$work/out")
run -b --memory 64M --view spans --only "trace=$trace" --format json "$spans"
ok "the trace that is asked for stays" json "len(lines[0]['rows']) == 10"
run -b --memory 64M --view path --format json "$spans"
ok "the slowest stays" json "sum(r['duration_ns'] for r in lines[0]['rows']) > 10**7"

done_testing
