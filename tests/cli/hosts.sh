#!/bin/bash
# Clocks of two hosts: a recording's client and server as if on two hosts, by what their
# metadata says; how far they are apart is known, for we moved one.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"

pid=$TRACES/lost/trace/ust/pid
ok "the recording has a buffer a process" test -d "$pid"
cp -r "$pid"/thumbd-* "$work/front"
cp -r "$pid"/exe-* "$work/store"
chmod -R u+w "$work"

# moved HOST UUID NS: the store's clock is another one, ahead by NS. Lengths stay.
moved() {
	python3 - "$work/store/metadata" "$@" <<-'PYTHON'
		import re, sys
		path, host, uuid, ns = sys.argv[1:]
		with open(path, "rb") as f:
		    old = f.read()
		new = re.sub(rb'(hostname = )"[^"]*"', rb'\1"' + host.encode() + b'"', old)
		at = new.index(b"clock {")
		head, clock = new[:at], new[at:]
		clock = re.sub(rb'(uuid = )"[0-9a-f]{8}', rb'\1"' + uuid.encode(), clock, count=1)
		number = re.search(rb"offset = (\d+);", clock).group(1)
		clock = clock.replace(number, str(int(number) + int(ns)).encode(), 1)
		with open(path, "wb") as f:
		    f.write(head + clock)
		sys.exit(len(head + clock) != len(old))
	PYTHON
}
both=("$work/front" "$work/store")

rows() { # rows EXPRESSION: over the rows of the JSON that was printed, `call` the one of interest
	python3 - "$work/out" "$1" <<-'PYTHON'
		import json, sys
		rows = json.load(open(sys.argv[1]))["rows"]
		call = next((r for r in rows if r.get("caller") == "thumbd"), None)
		spans = {(r.get("span_id"), r.get("kind")): r for r in rows}
		def inside(by):
		    pairs = [(c, spans[i, "server"]) for (i, kind), c in spans.items()
		             if kind == "client" and (i, "server") in spans]
		    return len(pairs) == 24 and all(c["begin_ns"] - by <= s["begin_ns"] and
		                                    s["end_ns"] <= c["end_ns"] + by for c, s in pairs)
		sys.exit(not eval(sys.argv[2]))
	PYTHON
}

succeeds 0 "one clock, two processes" -b --view services --format json "${both[@]}"
ok "has nothing to tell of clocks" rows 'call["clock_ns"] is None'

ok "the store's clock is 250 ms ahead" moved lttng-store 357947b5 250000000
succeeds 0 "services of two hosts" -b --view services --format json "${both[@]}"
ok "tell by how much, within their error" rows \
	'abs(call["clock_ns"] - 250000000) <= call["clock_error_ns"] < 1000000'
succeeds 0 "spans as they are recorded" -b --view spans --format json "${both[@]}"
ok "do not fit together" rows 'not inside(1000000)'

for reader in native babeltrace2; do
	succeeds 0 "--align-hosts, $reader" -b --view spans --format json --align-hosts \
		--reader "$reader" "${both[@]}"
	ok "answers lie in their calls, $reader" rows 'inside(0)'
	ok "what is moved is told" grep -q 'clock of lttng-store is moved back by .* to that of lttng-guest' \
		"$work/err"
	cp "$work/out" "$work/$reader"
done
ok "both readers show the same" cmp "$work/native" "$work/babeltrace2"

succeeds 0 "and what is left of the offset" -b --view services --format json --align-hosts "${both[@]}"
ok "is nothing" rows 'call["clock_ns"] == 0 and call["clock_error_ns"] < 1000000'
succeeds 0 "exported, too" --export-slowest 1 --align-hosts "${both[@]}"

# Another day, backwards.
ok "the store's clock is a day behind" moved lttng-store 457947b5 -86400000000000
succeeds 0 "a day apart" -b --view spans --format json --align-hosts "${both[@]}"
ok "answers lie in their calls" rows 'inside(0)'
ok "forward, it says" grep -q 'is moved forward by 863' "$work/err"

# Recordings of two boots, minutes and days apart: rates divide by the time that both were recorded, as cpus counts it.
recorded() { # recorded: for how long, by processes and by cpus
	run -b --view processes --by system --format json "$work/apart"
	cp "$work/out" "$work/whole"
	run -b --view cpus --format json "$work/apart"
	python3 - "$work/whole" "$work/out" <<-'PYTHON'
		import json, sys
		rows, cpus = (json.load(open(p))["rows"] for p in sys.argv[1:])
		by_rate = sum(r["cpu_ns"] for r in rows) / sum(r["cpu_ratio"] for r in rows)
		known = sorted(r["run_ns"] + r["idle_ns"] + r["unknown_ns"] for r in cpus)
		assert len(cpus) == 4 and known[0] == known[1] and known[2] == known[3], known
		sys.exit(abs(by_rate - known[0] - known[2]) > 1e-6 * by_rate)
	PYTHON
}
for two in "kernel-small lost" "lost net"; do
	rm -rf "$work/apart"
	mkdir "$work/apart"
	for one in $two; do cp -r "$TRACES/$one/trace" "$work/apart/$one"; done
	ok "$two: recorded for as long as both were" recorded
done

# A session daemon in a container writes the container's host name; the boot shows the machine.
named() { # named DIRECTORY HOST: of as many letters as before
	find "$1" -name metadata -exec sed -i "s/hostname = \"[^\"]*\"/hostname = \"$2\"/" {} +
}
as_host() { # as_host: are the rows, without what is the container's, equal to those of the host's daemon?
	python3 - "$work/whole" "$work/out" <<-'PYTHON'
		import json, sys
		whole, out = (json.load(open(p))["rows"] for p in sys.argv[1:])
		named = "a-container" in {r["container"] for r in out}
		for r in whole + out:
		    r["container"] = r["vpid"] = None
		sys.exit(not named or whole != out or "a-container" in {r["host"] for r in out})
	PYTHON
}
cp -r "$TRACES/kernel-ust/trace" "$work/machine"
chmod -R u+w "$work/machine"
named "$work/machine/ust" a-container
for view in spans processes; do
	for reader in native babeltrace2; do
		run -b --utc --view $view --format json --reader $reader "$TRACES/kernel-ust/trace"
		cp "$work/out" "$work/whole"
		run -b --utc --view $view --format json --reader $reader "$work/machine"
		ok "$view of a container, explained by its machine's kernel, $reader" as_host
	done
done
run --doctor "$work/machine"
ok "doctor sees one machine" eval '! grep -q "several hosts" "$work/out"'
run -b --view spans --format json "$work/machine/ust"
ok "a container without a kernel's trace is a host" rows '{r["host"] for r in rows} == {"a-container"}'
named "$work/machine" lttng-guest
find "$work/machine/ust" -name metadata -exec sed -i -E '/^clock/,/^}/ s/uuid = "[0-9a-f]{8}/uuid = "357947b5/' {} +
run -b --view spans --format json "$work/machine"
ok "machines of one name and two boots stay apart" rows 'rows and all(r["user_ns"] is None for r in rows)'

cp -r "$TRACES/lost/trace" "$work/two"
chmod -R u+w "$work/two"
named "$work/two/ust/pid/exe-255-20261121-060939" a-container
named "$work/two/ust/pid/thumbd-245-20261121-060938" b-container
run -b --view processes --format json "$work/two"
ok "two containers of a machine" rows \
	'[*{r["host"] for r in rows}] == ["lttng-guest"] and {"a-container", "b-container"} <= {r["container"] for r in rows}'
run -b --view processes --format json "$work/two/ust"
ok "without the kernel's trace, they are hosts" rows '{r["host"] for r in rows} == {"a-container", "b-container"}'

succeeds 0 "one host" -b --view services --align-hosts "$work/front"
ok "has nothing to move" grep -q 'only one clock' "$work/err"
refused 2 "one clock" --align-hosts -b -y
refused 2 "--align-hosts needs -b" --align-hosts --doctor "$work/front"
done_testing
