#!/bin/bash
# Rows of small steps are printed as they are read: within --memory, in pieces that have all rows of the whole.
set -u
# shellcheck disable=SC1091,SC2154 # lib.sh; work, code: from there
. "$(dirname "$0")/lib.sh"
# With ALL=1, as in make check-long, ten times as many rows and four times the memory: both are printed in pieces.
if [ -n "${ALL-}" ]; then step=1 memory=64; else step=10 memory=16; fi
LIMIT=$((memory + 64)) # MiB
small=$TRACES/kernel-small/trace
demo=$TRACES/ctf2/demo/trace
steps=(--no-cache --utc -b --view timeline --step "${step}ms")
# What does not depend on the end of the piece: not the names.
columns=begin_ns,end_ns,host,kind,cpu,pid,tid,state,state_ns,who_tid,who_ns,run_ns,idle_ns,busy_ns,handler_ns,user_ns
columns+=,syscall_ns,wakeup_ns,disk_ns,timer_ns,other_ns,unknown_ns

in_pieces() {
	grep -q 'the rows exceed --memory: they are printed in pieces' "$work/err"
}

peak $LIMIT "${steps[@]}" --memory ${memory}M --format csv --columns $columns "$small"
ok "it is printed in pieces" in_pieces
ok "one header" [ "$(grep -c begin_ns "$work/out")" -eq 1 ]
mv "$work/out" "$work/pieces"
ok "in order of time" python3 - "$work/pieces" <<-'PY'
	import sys
	with open(sys.argv[1]) as f:
	    assert next(f).startswith("begin_ns,")
	    begins = [int(line.split(",", 1)[0]) for line in f]
	pieces = 1 + sum(b < a - 10**9 // 2 for a, b in zip(begins, begins[1:]))
	first, last = begins[:len(begins) // 10], begins[-len(begins) // 10:]
	sys.exit(0 if pieces < 10 and max(first) < min(last) else 1)
PY

# Ranges that fit are printed whole.
: >"$work/ranges"
ends=(06:07:32.993011 06:07:36 06:07:39 06:07:42 end)
for i in 0 1 2 3; do
	run "${steps[@]}" --memory 2G --from "${ends[i]}" --to "${ends[i + 1]}" --format csv --columns $columns "$small"
	ok "the rows from ${ends[i]} on" [ "$code" -eq 0 ]
	ok "nothing is told" [ ! -s "$work/err" ]
	[ "$i" -eq 0 ] && head -1 "$work/out" >"$work/ranges"
	tail -n +2 "$work/out" >>"$work/ranges"
done
ok "pieces have the rows of consecutive ranges" cmp <(LC_ALL=C sort "$work/pieces") <(LC_ALL=C sort "$work/ranges")

# A range of a second, with a filter, in other formats.
range=(--from 06:07:35 --to 06:07:40 --filter 'kind = cpu or kind = thread and tid > 200')
run "${steps[@]}" --memory 2G "${range[@]}" --format json "$small"
mv "$work/out" "$work/whole"
peak $LIMIT "${steps[@]}" --memory ${memory}M "${range[@]}" --format json --sort tid "$small"
ok "JSON in pieces" in_pieces
ok "it has range, completeness and rows of the whole" python3 - "$work/out" "$work/whole" $step <<-'PY'
	import json, sys
	pieces, whole = (json.load(open(path)) for path in sys.argv[1:3])
	key = lambda row: (row["begin_ns"], row["kind"], row["cpu"] or -1, row["tid"] or -1)
	for rows in pieces["rows"], whole["rows"]:
	    for row in rows:
	        row["lane"] = row["comm"] = row["who"] = None
	    assert len(rows) > 50000 // int(sys.argv[3])
	assert sorted(pieces["rows"], key=key) == sorted(whole["rows"], key=key)
	assert pieces["range"] == whole["range"] and pieces["trust"] == whole["trust"], pieces["trust"]
	begins, tids = ([row[column] for row in pieces["rows"]] for column in ("begin_ns", "tid"))
	turns = sum(a > b for a, b in zip(tids, tids[1:]))
	assert 0 < turns < 1000, turns		# sorted within a piece
PY

# A short range is printed whole, from the same reading.
for format in text json csv; do
	run "${steps[@]}" --memory 2G --at +3s --format $format "$small"
	mv "$work/out" "$work/whole"
	peak $LIMIT "${steps[@]}" --memory ${memory}M --at +3s --format $format "$small"
	ok "a step as $format is the same" cmp "$work/out" "$work/whole"
	ok "nothing is told" [ ! -s "$work/err" ]
done
peak $LIMIT "${steps[@]}" --memory ${memory}M --at 50% "$demo"
ok "a step of a larger trace" [ "$(wc -l <"$work/out")" -gt 50 ]

if [ -n "${ALL-}" ]; then
	for options in '' '--by cpu'; do
		# shellcheck disable=SC2086 # words
		peak $LIMIT "${steps[@]}" --memory ${memory}M $options "$demo"
		ok "$options: in pieces" in_pieces
	done
	# Older versions of babeltrace2 do not read CTF 2.
	peak $LIMIT "${steps[@]}" --memory ${memory}M --reader babeltrace2 "$small"
	ok "read by babeltrace2: in pieces" in_pieces
	peak $LIMIT "${steps[@]}" --memory ${memory}M --from 20% --format csv --columns begin_ns,tid,state "$demo"
	ok "most of a larger trace" [ "$(wc -l <"$work/out")" -gt 2000000 ]
fi

timeout 60 "$BLKTOP" "${steps[@]}" --memory ${memory}M "$small" 2>"$work/err" | head -2 >/dev/null
ok "a reader that leaves ends it" [ "${PIPESTATUS[0]}" -ne 124 ]
run "${steps[@]}" --memory ${memory}M --at +300s "$small"
ok "a range outside of the trace" grep -q 'outside the trace' "$work/err"

done_testing
