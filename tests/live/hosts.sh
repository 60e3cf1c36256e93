#!/bin/bash
# Two hosts, live, from two relays: the clock of one is a quarter of a second ahead. How far is
# found from the calls of one to the other, told, and moved on request: by the option in batch,
# by the key on the screen.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] && unshare --uts true 2>/dev/null || skip_all "needs root, to be a host of another name"
command -v tmux >/dev/null || skip_all "tmux is not installed"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"
caller='' server=''
end() { # ends what we started, and reaps it
	[ -z "$caller$server" ] || kill $caller $server 2>/dev/null
	caller='' server=''
	wait
}
# shellcheck disable=SC2086 # words
trap 'end; t kill-server 2>/dev/null; cleanup' EXIT
export LAB_LIVE_US=100000 LAB_APPS=0
ahead=250000000

cc -shared -fPIC -O2 -o "$work/clock.so" "$LAB/clock_ahead.c" -llttng-ust 2>"$work/cc.log" &&
	cc -O2 -I"$LAB" -o "$work/pair" "$LAB/pair.c" "$LAB/zipkin_tp.c" -llttng-ust -ldl 2>>"$work/cc.log" ||
	skip_all "they do not build: $(head -n 1 "$work/cc.log")"
mkfifo -m 666 "$work/to" "$work/back"
cat >"$work/other-host" <<END
#!/bin/sh
exec unshare --uts sh -c 'hostname lab-store && exec "\$@"' sh env BLK_CLOCK_AHEAD=$ahead LTTNG_UST_CLOCK_PLUGIN=$work/clock.so "\$@"
END
chmod 755 "$work/other-host" "$work/pair" "$work/clock.so"

lab_up
front=$LAB_DIR front_url=$LAB_URL
LAB_DIR=$work/lab2 LAB_IN=$work/other-host
export LAB_DIR LAB_IN
lab_up
store_url=$LAB_URL
"$LAB/lab-run" "$work/pair" serve "$work/to" "$work/back" >/dev/null 2>&1 &
server=$!
LAB_IN='' LAB_DIR=$front "$LAB/lab-run" "$work/pair" call "$work/to" "$work/back" >/dev/null 2>&1 &
caller=$!

both=(-r "$front_url" -r "$store_url")
batch() { timeout 60 "$BLKTOP" -b --format json -n 3 "$@" "${both[@]}" >"$work/out.batch" 2>"$work/err"; }
rows() { # rows EXPRESSION: over the rows of all ranges that were printed
	python3 - "$work/out.batch" "$1" <<-'PYTHON'
		import json, sys
		rows = [r for line in open(sys.argv[1]) for r in json.loads(line)["rows"]]
		spans = {(r.get("trace_id"), r.get("kind")): r for r in rows if r.get("state") == "complete"}
		pairs = [(c, spans[i, "server"]) for (i, kind), c in spans.items()
		         if kind == "client" and (i, "server") in spans]
		def share(by):
		    good = [s for c, s in pairs if c["begin_ns"] - by <= s["begin_ns"] and s["end_ns"] <= c["end_ns"] + by]
		    return len(good) / len(pairs) if len(pairs) >= 20 else -1
		clocks = [r["clock_ns"] for r in rows if r.get("clock_ns") is not None]
		sys.exit(not eval(sys.argv[2]))
	PYTHON
}

ok "both hosts are there" batch --view services
ok "and by how much the store is ahead" rows "clocks and abs(clocks[-1] - $ahead) < 20000000"
ok "spans as they come" batch --view spans
ok "do not fit together" rows 'share(0) == 0'
ok "aligned" batch --view spans --align-hosts
ok "it is told what is moved" grep -Eq 'clock of lab-store is moved back by 2[0-9][0-9]\.[0-9]*ms .*, to that of' "$work/err"
ok "answers lie in their calls" rows 'share(2000000) > 0.9'

# --- on the screen
shell "XDG_STATE_HOME='$work/state'"
t resize-window -t now -x 140 -y 40
keys "'$BLKTOP' --config none --utc --view services ${both[*]}; echo rc=\$?" Enter
screen_says() { t capture-pane -p -t now | grep -Eq -- "$1"; }
ok "the screen tells it" until_true screen_says 'lab-store is 2[0-9][0-9]\.[0-9]*ms .* ahead of'
keys M
ok "M moves it" until_true screen_says 'lab-store is moved back by 2[0-9][0-9]\.'
ok "and reads again" until_true screen_says 'ust aligned'
ok "then less than a millisecond is left of it" until_true screen_says 'clocks: .* is 0\.[0-9]+ms'
keys q
ok "the terminal is given back" given_back 0
end
done_testing
