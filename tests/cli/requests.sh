#!/bin/bash
# Views that hold requests against something, over a recording: what they say follows from
# the view spans, counted again in Python.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace

json_of() { # json_of NAME ARGUMENT...: printed once, kept as $work/NAME
	local name=$1
	shift
	succeeds 0 "$name" -b --format json "$@" "$demo"
	cp "$work/out" "$work/$name"
}
holds() { # holds WHAT EXPRESSION: over rows of what was kept, by name
	if python3 - "$work" "$2" <<'PYTHON' 2>"$work/err"; then pass "$1"; else fail "$1"; fi
import json, os, sys
work, text = sys.argv[1:]
kept = {}
for name in os.listdir(work):
    if name.startswith("k_"):
        with open(os.path.join(work, name)) as f:
            whole = json.load(f)
            kept[name[2:]] = whole["rows"]
            kept[name[2:] + "_range"] = whole["range"]
ended = [s for s in kept["spans"] if s["state"] != "open"]
# A range is of whole seconds.
second = 10**9
period = [kept["changed_range"]["from_ns"] // second * second, -(-kept["changed_range"]["to_ns"] // second) * second] if "changed" in kept else None
def mean(values):
    return sum(values) / len(values) if values else None
sys.exit(not eval("(" + text + ")"))
PYTHON
}

json_of k_spans --view spans
worst=$(python3 -c "
import json
rows = [r for r in json.load(open('$work/k_spans'))['rows'] if r['parent_id'] is None]
print(max(rows, key=lambda r: r['duration_ns'])['trace_id'])")

# What is open at an instant: all that has begun by then, and not ended.
json_of k_open --view open --at 50%
holds "open spans are those that are" "
sorted((s['trace_id'], s['span_id'], s['kind'] or '') for s in kept['open']) ==
sorted((s['trace_id'], s['span_id'], s['kind'] or '') for s in kept['spans']
       if s['begin_ns'] <= kept['open_range']['to_ns'] < s['end_ns'])"
json_of k_open2 --view open --step 10ms --at 62%
holds "they have been open since they began" "
all(s['open_ns'] == kept['open2_range']['to_ns'] - s['begin_ns'] for s in kept['open2'])"
holds "and took longer in the end" "all(s['took_ns'] >= s['open_ns'] for s in kept['open2'] if s['took_ns'])"

# Two periods, counted again.
json_of k_changed --view changed --by name --from 20% --to 60%
holds "what changed is the mean now less the mean before" "
all(row['avg_delta_ns'] is None or abs(row['avg_delta_ns'] - (mean(now) - mean(then))) <= 2
    for row in kept['changed']
    for same in [[s for s in ended if (s['name'], s['service'], s['kind']) == (row['name'], row['service'], row['kind'])]]
    for now in [[s['duration_ns'] for s in same if period[0] <= s['end_ns'] < period[1]]]
    for then in [[s['duration_ns'] for s in same if 2 * period[0] - period[1] <= s['end_ns'] < period[0]]])"
holds "the cause of the longest is that of the lists" "
any(row['verdict'] for row in kept['changed']) and
all((row['worst_span_id'] is None) == (not row['count']) for row in kept['changed']) and
all(row['verdict'] in [s['verdict'] for s in ended if (s['span_id'], s['name'], s['kind']) == (row['worst_span_id'], row['name'], row['kind'])]
    for row in kept['changed'] if row['worst_span_id'])"
json_of k_history --view changed --by name --at 50% --against history
holds "against history nothing is left out" "
all(row['count'] + row['count_before'] ==
    sum((s['name'], s['service'], s['kind']) == (row['name'], row['service'], row['kind']) for s in ended)
    for row in kept['history'])"
holds "its parts add up" "
all(abs(sum(v for k, v in row.items() if k.startswith('avg_') and k.endswith('_delta_ns') and k != 'avg_delta_ns')
        - row['avg_delta_ns']) <= 40 for row in kept['history'] if row['avg_delta_ns'] is not None)"

# The slowest request against the usual, and against another: phases add up to the whole.
json_of k_compare --view compare --only "trace=$worst"
holds "compare is of the slowest request" "
[r['a_ns'] for r in kept['compare'] if r['name'] == '(all)'] == [max(s['duration_ns'] for s in ended if s['parent_id'] is None)]"
holds "states add up to each phase" "
all(abs(sum(v for k, v in r.items() if k.endswith('_delta_ns') and k != 'runnable_delta_ns') - r['delta_ns']) <= 20
    for r in kept['compare'])"
holds "phases of its thread add up to it" "
sum(r['a_ns'] for r in kept['compare'] if r['service'] == 'thumbd' and r['name'] != '(all)') ==
[r['a_ns'] for r in kept['compare'] if r['name'] == '(all)'][0]"
usual="sorted(s['duration_ns'] for s in ended if s['parent_id'] is None)[sum(s['parent_id'] is None for s in ended) // 4]"
holds "the usual is about the 25th percentile" "
abs([r['b_ns'] for r in kept['compare'] if r['name'] == '(all)'][0] / $usual - 1) < 0.05"
json_of k_same --view compare --only "trace=$worst" --against "$worst"
holds "a request does not differ from itself" "kept['same'] and all(r['delta_ns'] == 0 for r in kept['same'])"

json_of k_wide --view traces --only "trace=0123456789abcdef$worst"
holds "of an id of 32 digits the lower half counts" "[r['trace_id'] for r in kept['wide']] == ['$worst']"
holds "of the same usual is xUSUAL" "
abs(kept['wide'][0]['duration_ns'] / kept['wide'][0]['x_usual_ratio'] / $usual - 1) < 0.05"
json_of k_wider --view traces --filter "trace_id == 0123456789abcdef$worst"
holds "in a filter, too" "kept['wider'] == kept['wide']"

# The slowest of every name.
json_of k_slow --view slow-spans --filter 'rank == 1'
holds "the slowest are the slowest" "
all(r['duration_ns'] == max(s['duration_ns'] for s in kept['spans'] if (s['name'], s['service']) == (r['name'], r['service']))
    for r in kept['slow'])"

# Phases and services.
json_of k_phases --view phases
holds "total and self are the spans'" "
all(r['total_ns'] == sum(s['duration_ns'] for s in same) and r['self_ns'] == sum(s['self_ns'] for s in same)
    for r in kept['phases'] if r['name'] != '(self)' and r['operation'] == 'thumbnail'
    for same in [[s for s in ended if (s['name'], s['service'], s['kind']) == (r['name'], r['service'], r['kind'])]])"
json_of k_services --view services
holds "the network gap is the caller's time less the called one's" "
sum(r['gap_ns'] for r in kept['services'] if r['gap_ns'] is not None) ==
sum(c['duration_ns'] - s['duration_ns'] for s in ended if s['kind'] == 'server'
    for c in ended if c['kind'] == 'client' and c['span_id'] == s['span_id'])"

# Verdicts, and what was said.
json_of k_traces --view traces --filter 'tags =~ "fault=" && duration_ns > 50ms'
holds "every request has a verdict and what it was tagged with" "
kept['traces'] and all(r['verdict'] and 'fault=' in r['tags'] and 'sr' in r['annotations'] for r in kept['traces'])"
pid=$(python3 -c "
import json
print(json.load(open('$work/k_traces'))['rows'][0]['pid'])")
json_of k_process --view process --only "pid=$pid"
holds "a process is who it is" "{r['fact']: r['value'] for r in kept['process']}['pid'] == '$pid'"
refused 2 "--only" -b --view spans --only nonsense=1 "$demo"
refused 2 "view devices takes pid=, tid=, not trace=" -b --view devices --only trace=1 "$demo"
refused 2 "--against" -b --view compare --against nonsense "$demo"
refused 1 "no trace 0000000000001234 in what was read" -b --view path --only trace=1234 "$demo"
refused 1 "no span 0000000000001234 in trace $worst" -b --view spans --only "trace=$worst,span=1234" "$demo"
refused 1 "no trace 0000000000001234" -b --view compare --only "trace=$worst" --against 1234 "$demo"
refused 2 "view events by system cannot be narrowed" -b --view events --by system --only "pid=$pid" "$demo"
json_of k_interrupts --view interrupts --only "pid=$pid"
json_of k_events --view events --only "pid=$pid"
holds "interrupts and events of a process are its own" "all(
    kept[v] and all(r['pid'] == $pid for r in kept[v]) for v in ('interrupts', 'events'))"
refused 2 "needs --metric, or --view compare or changed" -b --view spans --against usual "$demo"
refused 2 "compare takes usual" -b --view compare --against history "$demo"
refused 2 "changed takes before, quiet or history" -b --view changed --against usual "$demo"
refused 2 "changed takes before, quiet or history" -b --view changed --against 1 "$demo"
refused 2 "a tree" -b --view waterfall --sort duration_ns "$demo"
refused 2 "needs -b" --only pid=1 "$demo"

done_testing
