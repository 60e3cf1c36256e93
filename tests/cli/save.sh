#!/bin/bash
# blktop save: a range as a trace of its own, which babeltrace2 and blktop open.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
cd "$work" || exit 1

# saved DIR WHAT ARGUMENT...
saved() {
	local dir=$1 what=$2
	shift 2
	run save -o "$dir" "$@"
	ok "$what" [ "$code" -eq 0 ]
	ok "$what: says where and what" grep -q "^wrote $work/$dir: [1-9][0-9]* streams\?, [1-9]" err
}

rows() { # rows TRACE SECOND VIEW COLUMNS: what was pending before the range nobody knows
	local some=()
	[ "$3" = syscalls ] && some=(--by system --filter 'count > 0')
	run -b --utc --view "$3" --at "$2" --columns "$4" "${some[@]}" --format csv "$1"
	[ "$code" -le 3 ] && sort out
}

run -b --utc --view events --each --format json "$demo"
second=$(python3 -c 'import json,sys
print(sorted(json.loads(l)["range"]["from_ns"] for l in open("out"))[8])')
saved piece "a range" --from "@$second" --to "@$((second + 4000000000))" "$demo"

# What was asked for lies whole in it: the second in the middle says the same.
inner=$((second + 2000000000))
for view in "events name,count" "syscalls syscall,count,errors,total_ns" "cpus cpu,run_ns,idle_ns,irq_ns"; do
	# shellcheck disable=SC2086 # a view and its columns
	set -- $view
	rows "$demo" "@$inner" "$1" "$2" >want
	rows piece "@$inner" "$1" "$2" >got
	ok "rows of the inner second: $1" [ "$(wc -l <want)" -gt 1 ]
	ok "are the same" cmp -s want got
done

if command -v babeltrace2 >/dev/null; then
	at() { date -u -d "@$(($1 / 1000000000))" +%Y-%m-%d\ %H:%M:%S; }
	for trace in "$demo" piece; do
		babeltrace2 --clock-gmt --begin "$(at "$inner").000000000" \
			--end "$(at $((inner + 1000000000))).000000000" "$trace" >"events.${trace##*/}" 2>err
	done
	# The deltas of each first line are to an event outside; and babeltrace2 2.0.4 shows
	# old text for some empty strings.
	plain() { sed -e 's/ (+[?0-9.]*)//' -e 's/"[^"]*"//g' "$1"; }
	ok "babeltrace2 reads it" [ "$(wc -l <events.piece)" -gt 1000 ]
	ok "the same events" cmp -s <(plain events.trace) <(plain events.piece)
	babeltrace2 --clock-gmt piece 2>err >/dev/null
	ok "without a complaint" [ ! -s err ]
else
	skip "babeltrace2 reads it" "babeltrace2 is not installed"
fi
ok "index files are LTTng's" [ "$(find piece -name '*.idx' | wc -l)" -eq "$(find piece -type f ! -name '*.idx' ! -name metadata | wc -l)" ]
ok "nobody else may read it" [ -z "$(find piece -perm /077)" ]

saved second "one second" --at "@$inner" "$demo"
ok "is not more than the range" [ "$(du -sk second | cut -f1)" -le "$(du -sk piece | cut -f1)" ]
saved named "with the state dump" --at end --with-statedump "$demo"
ok "says that it is there" grep -q "with the state dump" err
saved all "everything" "$TRACES/rotation/trace"

refused 1 "it already exists" save -o piece "$demo"
refused 2 "save needs -o DIR" save "$demo"
refused 2 "save has no --force" save --force -o x "$demo"
refused 2 "save needs a recorded trace" save -r localhost -o x
refused 2 "--with-statedump needs save" -b --with-statedump "$demo"
refused 1 "is outside the trace" save -o x --from +3600s --to +3700s "$demo"
refused 1 "nowhere" save -o x nowhere
refused 1 "cannot save to" save -o /proc/x/y "$demo"
cp -r "$TRACES/kernel-small/trace" damaged
chmod -R u+w damaged
stream=$(find damaged -type f ! -name metadata ! -name '*.idx' -size +100k | sort | head -1)
truncate -s -5000 "$stream"
run save -o mended damaged
ok "a damaged trace: exit 3" [ "$code" -eq 3 ]
ok "says what is left out" grep -q "1 damaged packet is left out" err
run -b mended
ok "what is left is whole" [ "$code" -eq 0 ]
ok "nothing is left behind" [ -z "$(find . -maxdepth 1 -name '*.??????' -o -name x)" ]
done_testing
