#!/bin/bash
# blktop --doctor over recordings: what they can't answer, why, and what repairs it.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"

# doctor WHAT EXPRESSION: a Python expression over `d`, the object printed, holds.
doctor() {
	ok "$1" python3 - "$work/out" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1], encoding="utf-8"))
		answer = {q["id"]: q["answer"] for q in d["questions"]}
		without = {q["id"]: " ".join(q["without"]) for q in d["questions"]}
		commands = [c for r in d["repairs"] for c in r["commands"]]
		cost = {c: r["events_per_s"] for r in d["repairs"] for c in r["commands"]}
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}

# A whole trace: nothing to be done, exit 0.
succeeds 0 "a trace that answers all" --doctor --format json "$TRACES/rotation/trace"
doctor "every answer is yes" "set(answer.values()) == {'yes'} and not d['losses'] and not d['problems']"
views=$("$BLKTOP" --list-views | awk '{ print $1 }' | sort | tr '\n' ' ')
doctor "every view belongs to one question" "sorted(v for q in d['questions'] for v in q['views']) == sorted('$views log'.split())"
doctor "channels" "{(c['domain'], c['channel'], c['session']) for c in d['channels']} == {('kernel', 'k0', 'rotated'), ('ust', 'u0', 'rotated')}"
run -b --view events --format json "$TRACES/rotation/trace"
events=$(python3 -c "import json; print(sum(r['count'] for r in json.load(open('$work/out'))['rows']))")
run --doctor --format json "$TRACES/rotation/trace"
doctor "as many events as the view has" "d['events'] == $events == sum(c['events'] for c in d['channels'])"

# Parts are missing.
run --doctor --format json "$TRACES/demo/trace"
ok "something is missing: exit 3" [ "$code" -eq 3 ]
doctor "softirqs were not recorded" "answer['why'] == 'partly' and 'irq_softirq_entry' in without['why']"
doctor "the command that adds them" "'lttng enable-event --kernel --session demo --channel k0 irq_softirq_entry' in commands"
doctor "what can't be estimated is null" "cost['lttng enable-event --kernel --session demo --channel k0 irq_softirq_entry'] is None"
run --doctor --format json "$TRACES/kernel-small/trace"
doctor "no spans" "answer['requests'] == 'no' and answer['cpu'] == 'yes'"
doctor "a channel for them" "any('enable-channel --userspace --session small' in c for c in commands)"

# Half of a domain; contexts.
mkdir "$work/ust" "$work/kernel"
cp -r "$TRACES/demo/trace/ust" "$work/ust/"
run --doctor --format json "$work/ust"
doctor "no kernel: one repair, the recipe" "answer['why'] == answer['cpu'] == 'no' and commands == ['blktop --recipe >record.sh', 'sh record.sh NEW_SESSION']"
run --doctor --format json "$TRACES/ust-fields/trace/uid"
doctor "contexts go where they lack" "[c for c in commands if 'add-context' in c] == ['lttng add-context --userspace --session uid --channel large --type vpid --type procname']"

# Losses.
run --doctor --format json "$TRACES/lost/trace"
ok "losses: exit 3" [ "$code" -eq 3 ]
doctor "by stream" "len(d['losses']) == 2 and {l['cpu'] for l in d['losses']} == {0, 1} and {l['channel'] for l in d['losses']} == {'k0'}"
cp "$work/out" "$work/doctor.json"
run -b --view processes --format json "$TRACES/lost/trace"
ok "as many as the views say" python3 - "$work/out" "$work/doctor.json" <<-'PY'
	import json, sys
	view, doctor = (json.load(open(p)) for p in sys.argv[1:])
	sys.exit(view["trust"]["lost_events"] != sum(l["lost_events"] for l in doctor["losses"]))
PY
run --doctor --format json "$TRACES/lost/trace"
doctor "larger buffers" "any(c.startswith('lttng enable-channel --kernel --session lost-discard --subbuf-size=') and c.endswith(' k0') for c in commands)"
doctor "cost what was lost" "[r['events_per_s'] for r in d['repairs'] if 'enable-channel' in r['commands'][0]] == [round(sum(l['lost_events'] for l in d['losses']) * 1e9 / (d['to_ns'] - d['from_ns']))]"
run --doctor --format json "$TRACES/lost/trace-overwrite"
doctor "overwritten: --discard" "any('--discard k0' in c for c in commands)"
doctor "no state dump" "'lttng regenerate statedump --session lost-overwrite' in commands and d['problems']"

# Clocks of two machines, and of two boots.
cp -r "$TRACES/kernel-small/trace" "$work/kernel/a"
cp -r "$TRACES/demo/trace/kernel" "$work/kernel/b"
run --doctor --format json "$work/kernel"
doctor "traces of two boots" "any('different boots' in p for p in d['problems'])"
LC_ALL=C sed -i 's/hostname = "lttng-guest"/hostname = "other-guest"/' "$work/kernel/b/metadata"
run --doctor --format json "$work/kernel"
doctor "traces of two hosts" "any('several hosts (lttng-guest, other-guest)' in p for p in d['problems'])"

# An event without a field that matters.
cp -r "$TRACES/kernel-small/trace" "$work/fields"
LC_ALL=C sed -i 's/ _prev_state;/ _prev_stote;/' "$work/fields/kernel/metadata"
run --doctor --format json "$work/fields"
doctor "a field that lacks" "any('sched_switch' in p and 'has no field prev_state' in p for p in d['problems'])"

# The readers agree; text says what JSON does.
for trace in demo lost rotation; do
	run --doctor --format json "$TRACES/$trace/trace"
	sed 's/"reader":"[^"]*"//' "$work/out" >"$work/native"
	run --doctor --format json --reader babeltrace2 "$TRACES/$trace/trace"
	ok "$trace: equal for both readers" diff "$work/native" <(sed 's/"reader":"[^"]*"//' "$work/out")
done
run --doctor "$TRACES/lost/trace"
for word in CHANNELS LOSSES QUESTIONS PROBLEMS REPAIRS; do
	ok "text: $word" grep -qx "$word" "$work/out"
done
cd "$work" || exit 1
run --doctor -o out.txt "$TRACES/rotation/trace"
ok "-o FILE" grep -q QUESTIONS out.txt

refused 1 "nowhere" --doctor nowhere
refused 2 "no trace directory" --doctor
refused 2 "-n needs a relay" --doctor -n 3 "$TRACES/demo/trace"
refused 2 "no --at" --doctor --at +3s "$TRACES/demo/trace"
refused 2 "text or json" --doctor --format csv "$TRACES/demo/trace"
refused 1 "relay" --doctor -r localhost:1 --timeout 1
done_testing
