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
		words = {c: r["cost"] for r in d["repairs"] for c in r["commands"]}
		on_request = [c for r in d["repairs"] if r["on_request"] for c in r["commands"]]
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}

# A whole trace: nothing to be done, exit 0.
succeeds 0 "a trace that answers all" --doctor --format json "$TRACES/rotation/trace"
doctor "every answer is yes" "{a for q, a in answer.items() if q != 'counters'} == {'yes'} and not d['losses'] and not d['problems']"
doctor "nothing is counted, which is on request" "answer['counters'] == 'no' and [q['id'] for q in d['questions'] if q['on_request']] == ['counters']"
doctor "what counts" "on_request == ['lttng ' + c for c in (
	'add-context --kernel --session rotated --channel k0 --type perf:cpu:instructions --type perf:cpu:cycles --type perf:cpu:page-fault',
	'enable-event --kernel --session rotated --channel k0 \'x86_exceptions_page_fault_*\'',
	'enable-event --kernel --session rotated --channel k0 --probe=SYMBOL probe_SYMBOL',
	'enable-event --kernel --session rotated --channel k0 --function=SYMBOL function_SYMBOL',
	'enable-event --kernel --session rotated --channel k0 --userspace-probe=PROGRAM:FUNCTION uprobe_FUNCTION')]"
doctor "contexts cost bytes" "cost[on_request[0]] == 0 and '%.1f kB/s' % (24e6 * d['channels'][0]['events'] / (d['to_ns'] - d['from_ns'])) in words[on_request[0]]"
doctor "faults and probes: nobody knows" "all(cost[c] is None and words[c] for c in on_request[1:])"
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

# What is damaged was not lost for lack of room: no advice for larger buffers.
for cut in -1000 -100; do
	rm -rf "$work/cut"
	cp -r "$TRACES/kernel-small/trace" "$work/cut"
	truncate -s $cut "$(find "$work/cut" -name 'k0_0*' -type f -not -name '*.idx' | head -n 1)"
	run --doctor --format json "$work/cut"
	doctor "cut by $cut: damage is a problem" "any('1 packet of channel k0 (kernel) cannot be decoded' in p for p in d['problems'])"
	doctor "cut by $cut: no larger buffers" "not any('--subbuf-size' in c and '--kernel' in c for c in commands)"
done

# Half of a domain; contexts.
mkdir "$work/ust" "$work/kernel"
cp -r "$TRACES/demo/trace/ust" "$work/ust/"
run --doctor --format json "$work/ust"
doctor "no kernel: one repair, the recipe" "answer['why'] == answer['cpu'] == 'no' and commands == ['blktop --recipe >record.sh', 'sh record.sh NEW_SESSION']"
run --doctor --format json "$TRACES/ust-fields/trace/uid"
doctor "contexts go where they lack" "[c for c in commands if 'add-context' in c] == ['lttng add-context --userspace --session uid --channel large --type vpid --type procname']"
# Where the answer is yes, the views have rows (but for losses and alerts: there are none).
for trace in ust-fields/trace/uid kernel-small/trace ../../../shared/reports/syscalls-without-tid-and-switch; do
	if [ ! -d "$TRACES/$trace" ]; then
		skip "views with an answer have rows: $trace" "it is not in this tree"
		continue
	fi
	run --doctor --format json "$TRACES/$trace"
	empty=
	for view in $(python3 -c "import json; print(*[v for q in json.load(open('$work/out'))['questions'] if q['answer'] == 'yes'
		for v in q['views'] if v not in ('losses', 'alerts', 'log')])"); do
		"$BLKTOP" -b --view "$view" --format json "$TRACES/$trace" 2>/dev/null | grep -q '"rows":\[{' || empty+="$view "
	done
	ok "views with an answer have rows: $trace" [ -z "$empty" ]
done

# LTTng 2.16 accepts the contexts pid and tid in user space, and then records nothing there.
{
	"$BLKTOP" --recipe
	for trace in "$TRACES"/*/trace "$TRACES/demo/trace/kernel" "$TRACES/demo/trace/ust"; do "$BLKTOP" --doctor "$trace"; done
} >"$work/advice"
ok "contexts of user space are advised" [ "$(grep -cE 'add-context (-u|--userspace) .*(-t|--type) vtid' "$work/advice")" -ge 3 ]
ok "but never pid and tid" sh -c "! grep -E 'add-context (-u|--userspace) .*(-t|--type) (pid|tid)' '$work/advice'"

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
doctor "not smaller than they were, and at least 32" "all(
	int(w[-3].split('=')[1][:-1]) << (20 if w[-3][-1] == 'M' else 10) >= ch['packet_bytes'] and int(w[-2].split('=')[1]) >= 32
	for c in commands if 'enable-channel' in c for w in [c.split()] for ch in d['channels'] if ch['channel'] == w[-1])"
doctor "cost what was lost" "[r['events_per_s'] for r in d['repairs'] if 'enable-channel' in r['commands'][0]] == [round(sum(l['lost_events'] for l in d['losses']) * 1e9 / (d['to_ns'] - d['from_ns']))]"
run --doctor --format json "$TRACES/lost/trace-overwrite"
doctor "overwritten: of packets events are not known" "{l['lost_events'] for l in d['losses'] if l['lost_packets']} == {None}"
doctor "overwritten: --discard" "any('--discard k0' in c for c in commands)"
doctor "its begin was overwritten" "[p.split(' do not')[0] for p in d['problems'] if 'first packet' in p] == ['2 of 2 streams of channel k0 (kernel)']"
run --doctor --format json "$TRACES"/rotation/trace/archives/*-1
doctor "a chunk is not a whole" "len([p for p in d['problems'] if 'a clear, or a chunk without those before it' in p]) == 2"
run --doctor --format json "$TRACES/rotation/trace"
doctor "all chunks are" "not d['problems']"
run --doctor --format json "$TRACES/lost/trace-overwrite"
doctor "no state dump" "'lttng regenerate statedump --session lost-overwrite' in commands and d['problems']"

# Several files of a stream (lttng enable-channel --tracefile-size): one channel all the same.
cp -r "$TRACES/lost/trace/kernel" "$work/several"
for cpu in 0 1; do
	mv "$work/several/k0_$cpu" "$work/several/k0_${cpu}_$cpu"
	mv "$work/several/index/k0_$cpu.idx" "$work/several/index/k0_${cpu}_$cpu.idx"
done
mv "$work/several/k0_0_0" "$work/several/k0_0_3"
mv "$work/several/index/k0_0_0.idx" "$work/several/index/k0_0_3.idx"
run --doctor --format json "$work/several"
doctor "several files of a stream: one channel" "[c['channel'] for c in d['channels']] == ['k0'] and {l['channel'] for l in d['losses']} == {'k0'}"

# A part of it: that something was lost before is all that it tells.
run save --from 97% -o "$work/part" "$TRACES/lost/trace"
run --doctor --format json "$work/part"
doctor "not counted is not 0" "{l['lost_events'] for l in d['losses']} == {None} and [c['lost_events'] for c in d['channels'] if c['losses']] == [None]"
run --doctor "$work/part"
ok "not counted: said" grep -q 'LOST an unknown number of events' "$work/out"
ok "and with its repair" grep -q 'k0 (kernel) lost an unknown number of events, 2 times: its buffers were full' "$work/out"
run report "$work/part"
ok "not counted: on a page" grep -q 'their number is unknown' "$work/out"
run -b --view events "$work/part"
ok "not counted: exit 3" [ "$code" -eq 3 ]
ok "not counted: does not mean that it can't be read" grep -q 'or lost an unknown number of events' "$work/err"

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

# What counts is known by its fields, whatever a probe is called. One by one, then all.
plain() { # plain FILE: metadata without packets, so that its length may change
	python3 - "$1" <<-'PY'
		import struct, sys
		data, text = open(sys.argv[1], "rb").read(), b""
		magic = struct.pack("<I", 0x75D11D57)
		n = lambda at: struct.unpack_from("<I", data, at)[0] // 8
		while data[:4] == magic: text += data[37:n(24)]; data = data[n(28):]
		open(sys.argv[1], "wb").write(b"/* CTF 1.8 */\n" + text)
	PY
}
counting() { # counting WHAT SED WORD PROPOSED: with that done to metadata, so many remain
	rm -rf "$work/counts"
	cp -r "$TRACES/rotation/trace" "$work/counts"
	for file in "$work"/counts/archives/*/kernel/metadata; do
		plain "$file"
		LC_ALL=C sed -i "$2" "$file"
	done
	run --doctor --format json "$work/counts"
	doctor "$1: one of three is there" "answer['counters'] == 'partly' and len(without['counters'].split('without')) == 1"
	doctor "$1: not proposed" "not any($3 in c for c in commands) and len(on_request) == $4"
}
counting "page faults" 's/name = "sched_process_wait"/name = "x86_exceptions_page_fault_user"/' "'page_fault_'" 4
counting "a probe" '/name = "irq_softirq_raise"/,/^};/s/ _vec;/ _ip;/; s/name = "irq_softirq_raise"/name = "mine"/' "'SYMBOL'" 2
counting "a perf counter" '/event.context/,/^};/s/ _pid;/ _perf_cpu_instructions;/' "'instructions'" 4
doctor "the channel has it" "['perf_cpu_instructions', 'tid', 'procname'] in [c['contexts'] for c in d['channels']]"
run --doctor "$work/counts"
ok "text: on request" awk '/^ON REQUEST$/ { on = 1 } /^  page faults are not recorded$/ && on { found = 1 } END { exit !found }' "$work/out"
ok "text: not among what lacks" awk '/^REPAIRS$/ { on = 1 } /^ON REQUEST$/ { on = 0 } / (page faults|hits of probes) are/ && on { exit 1 }' "$work/out"

# The readers agree; text says what JSON does.
for trace in demo rotation; do	# babeltrace2 does not say where in a packet events were lost
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
"$BLKTOP" map "$TRACES/rotation/trace" -o a.blkslice 2>"$work/err"
refused 1 "the doctor examines these packets: blktop --doctor DIR" --doctor a.blkslice
refused 2 "-n needs a relay" --doctor -n 3 "$TRACES/demo/trace"
refused 2 "--at needs -b, report" --doctor --at +3s "$TRACES/demo/trace"
refused 2 "text or json" --doctor --format csv "$TRACES/demo/trace"
refused 1 "relay" --doctor -r localhost:1 --timeout 1
done_testing
