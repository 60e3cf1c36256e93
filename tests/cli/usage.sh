#!/bin/bash
# What the command line refuses, and what it tells without a trace.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"

refused 2 "no trace directory"
ok "a usage error points to --help" grep -qF "Try 'blktop --help'" "$work/err"
refused 2 "--nonsense" --nonsense "$TRACES/demo"
refused 2 "'nonsense'" -b --view nonsense "$TRACES/demo"
refused 2 "'nonsense'" -b --view syscalls --sort nonsense "$TRACES/demo"
refused 2 "--filter" -b --view syscalls --filter 'nonsense > 1' "$TRACES/demo"
refused 2 "did you mean call.latency?" -b --metric call.latencies "$TRACES/demo"
refused 2 "did you mean process?; it has host" -b --metric call.latency --by proces "$TRACES/demo"
refused 2 "at most 2 fields" -b --metric call.latency --by host,process,call "$TRACES/demo"
refused 2 "'call' twice" -b --metric call.latency --by call,call "$TRACES/demo"
refused 2 "--where: " -b --metric call.latency --where 'device == x' "$TRACES/demo"
refused 2 "--where: " -b --metric call.latency --where 'pid == mysqld' "$TRACES/demo"
refused 2 "--where needs --metric" -b --view syscalls --where 'call == x' "$TRACES/demo"
refused 2 "cannot be combined" -b --view syscalls --metric call.latency "$TRACES/demo"
refused 2 "--where needs -b" --metric call.latency --where 'call == read' "$TRACES/demo"
refused 2 "need -b" --metric call.latency --by errno "$TRACES/demo"
refused 2 "is of durations, one by one, which ran.time does not have" --metric ran.time "$TRACES/demo"
refused 2 "--metric needs -b or the screen" report --metric call.latency "$TRACES/demo"
refused 2 "before, history or FROM..TO" -b --metric call.latency --against usual "$TRACES/demo"
refused 2 "--against: time" -b --metric call.latency --against 'x..+2s' "$TRACES/demo/trace"
refused 2 "is not before" -b --metric call.latency --against '+2s..+1s' "$TRACES/demo/trace"
refused 2 "needs a recorded trace" -b --metric call.latency --against '+1s..+2s' -r localhost
refused 2 "log comes first" --config none log "$TRACES/demo"
refused 2 "--filter needs" --export-trace 1 --filter 'name == x' "$TRACES/demo"
refused 2 "--filter needs" save -o "$work/piece" --filter 'name == x' "$TRACES/demo"
refused 2 "--at needs" --export-slowest 1 --at +1s "$TRACES/demo"
refused 2 "--view needs" log --view spans "$TRACES/demo"
refused 2 "--view needs" --export-slowest 1 --view spans "$TRACES/demo"
refused 2 "not a duration" -b --view syscalls --filter 'total_ns > 5msec' "$TRACES/demo"
refused 2 "--at" -b --view syscalls --at yesterday "$TRACES/demo"
for far in @9223372036854775807 @-9223372036854775808 "2200-01-01 00:00:00"; do
	for option in --at --from --to; do
		refused 2 "$option: time '$far': out of the range of times" \
			-b --view syscalls "$option" "$far" "$TRACES/demo"
	done
	refused 2 "--against: time '$far': out of the range of times" \
		-b --metric call.latency --against "$far..end" "$TRACES/demo"
	refused 2 "--from: time '$far': out of the range of times" log --from "$far" "$TRACES/demo"
	refused 2 "--at: time '$far': out of the range of times" --at "$far" "$TRACES/demo"
done
refused 2 "--at: time '-9000000000s': too large: at most 146 years" -b --at -9000000000s "$TRACES/demo"
refused 2 "--to: time '+4600000000s': out of the range of times" -b --to +4600000000s "$TRACES/demo"
refused 2 "hex" --export-span thumbnail "$TRACES/demo"
refused 2 "combined" --export-slowest 1 --export-span 1 "$TRACES/demo"
refused 2 "-o" -o x "$TRACES/demo"
refused 2 "combined" -r localhost "$TRACES/demo"
refused 2 "net://" -b net://

# Where nothing can be read the next step is said, by each command.
mkdir -p "$work/empty/deeper" "$work/files"
echo '[]' >"$work/files/none.json"
printf '#!/bin/sh\n' >"$work/script"
chmod +x "$work/script"
next() { # next WHAT WORDS: are the words in the last message?
	ok "$1" grep -qF -- "$2" "$work/err"
}
for command in "" -b log --doctor report "save -o $work/saved" "--export-slowest 1" "-b --metric call.latency"; do
	for path in "$work/empty" "$work/files" "$work/nosuch"; do
		# shellcheck disable=SC2086 # words
		refused 1 "$path" $command "$path"
		next "what was looked for" "looked for directories with CTF traces"
		next "an example, a script, this machine" "'blktop --demo' shows an example, 'blktop --recipe' prints"
	done
done
refused 1 "no spans in" "$work/files/none.json"
next "a file: what a file can be" "Zipkin's JSON"
ok "a file: no directory was looked for" sh -c "! grep -q 'looked for' '$work/err'"
refused 1 "blktop -- $work/script" "$work/script"
refused 1 "blktop -- sh" -b sh
refused 1 "blktop -- sh" -b run sh
ok "a program: no trace was looked for" sh -c "! grep -q 'looked for' '$work/err'"
mkdir "$work/sh"
cd "$work" || exit 1
refused 1 "no trace in 'sh'" -b sh
next "a directory of a program's name" "looked for"
cd "$OLDPWD" || exit 1

succeeds 0 "--help" --help
ok "--help is one screen" [ "$(wc -l <"$work/out")" -le 24 ]
ok "--help fits 80 columns" sh -c "! grep -q '.\{81\}' '$work/out'"
ok "--help says nothing else" [ ! -s "$work/err" ]

succeeds 0 "--version" --version
ok "--version names the libraries" [ "$(grep -ciE '^(blktop|GLib|babeltrace2|ncurses|libpopt)' "$work/out")" -eq 5 ]

succeeds 0 "--list-views" --list-views
cut -d' ' -f1 "$work/out" >"$work/views"
for view in processes syscalls files events traces spans phases services; do
	ok "view $view is listed" grep -qx "$view" "$work/views"
done
while read -r view; do
	succeeds 0 "--list-columns $view" --list-columns "$view"
	ok "columns of $view are explained" sh -c "! grep -qE '^[a-z0-9_]+ *(\(.*\))?$' '$work/out'"
done <"$work/views"

columns_are() { # columns_are VIEW ID...: these are among them, in this order
	local view=$1
	shift
	run --list-columns "$view"
	cut -d' ' -f1 "$work/out" | grep -xF "$(printf '%s\n' "$@")" >"$work/found"
	printf '%s\n' "$@" | cmp -s - "$work/found" && pass "columns of $view" || fail "columns of $view: $(xargs <"$work/found")"
}
columns_are processes host pid tid ppid comm cpu_ns user_ns syscall_ns kernel_ns irq_ns runnable_ns blocked_ns \
	unknown_ns syscalls read_bytes write_bytes start_ns exit_ns
columns_are syscalls host pid tid comm syscall count errors unfinished total_ns busy_ns min_ns avg_ns p50_ns p95_ns p99_ns max_ns
columns_are files host pid comm path kind reads writes read_bytes write_bytes
columns_are events host name count lost
columns_are traces trace_id span_id parent_id service name host pid tid begin_ns end_ns duration_ns self_ns spans services \
	errors state user_ns unknown_ns verdict
columns_are spans trace_id span_id parent_id kind service name host pid tid begin_ns end_ns duration_ns self_ns state errors \
	user_ns syscall_ns kernel_ns irq_ns preempted_ns wakeup_ns disk_ns socket_ns pipe_ns futex_ns timer_ns poll_ns \
	fault_ns handoff_ns other_ns unknown_ns stopped_ns file_ns verdict
columns_are phases service name kind count errors rate total_ns self_ns p50_ns p95_ns p99_ns max_ns share_ratio parent_ratio \
	user_ns disk_ns socket_ns unknown_ns calls verdict
columns_are services caller service count errors rate p50_ns p99_ns user_ns unknown_ns p50_gap_ns p99_gap_ns verdict

succeeds 0 "--list-events" --list-events
ok "--list-events knows sched_switch and its fields" grep -qE '^sched_switch .*prev_tid' "$work/out"
ok "--list-events knows spans" grep -q '^zipkin:timestamp ' "$work/out"
succeeds 0 "--list-machines" --list-machines
ok "--list-machines knows arm and its other names" grep -qE '^arm +32 bits .*\barmv7l\b' "$work/out"
succeeds 0 "--list-metrics" --list-metrics
ok "--list-metrics: name, unit, help, fields, events" \
	grep -qE '^call\.latency +ns +from entry to exit, .*\(by host,.*,call,file,errno,cpu,waited\) \[syscall_\*, sched_switch or the context tid\]$' "$work/out"
ok "--list-metrics: elements are a field" grep -qE '^file\.bytes +bytes .*direction\)' "$work/out"
ok "--list-metrics: each once" [ "$(cut -d' ' -f1 "$work/out" | sort | uniq -d | wc -l)" = 0 ]

succeeds 0 "--recipe" --recipe
cp "$work/out" "$work/recipe"
ok "the recipe is a shell script" sh -n "$work/recipe"
ok "the recipe enables the scheduler" grep -q "^	lttng enable-event -k .*'sched_switch'" "$work/recipe"
ok "the recipe enables the spans" grep -q "^lttng enable-event -u .*'zipkin:" "$work/recipe"
ok "the recipe enables all system calls" grep -q -- '--syscall --all' "$work/recipe"
ok "the recipe leaves old tracers' names out" sh -c "! grep -qE \"'(softirq_|sys_|exit_syscall)\" '$work/recipe'"
# With a lttng that only notes its arguments: quoting holds, every command names the session.
mkdir "$work/bin"
printf '#!/bin/sh\necho "$@" >>%s/noted\n' "$work" >"$work/bin/lttng"
chmod +x "$work/bin/lttng"
ok "the recipe runs" env PATH="$work/bin:$PATH" sh "$work/recipe" "my session" "$work/to here"
ok "it makes and starts the session" sh -c "head -1 '$work/noted' | grep -q '^create my session --output=$work/to here$' && tail -1 '$work/noted' | grep -qx 'start my session'"
printf '#!/bin/sh\necho "$@" >>%s/noted\ncase $* in enable-channel*-k*) exit 1;; esac\n' "$work" >"$work/bin/lttng"
ok "the recipe goes on without a kernel tracer" env PATH="$work/bin:$PATH" sh "$work/recipe" 2>/dev/null
run --print-keys
ok "--print-keys" eval '[ "$code" -eq 0 ] && [ -s "$work/out" ]'

done_testing
