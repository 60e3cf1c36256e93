#!/bin/bash
# What a network does to the screen: cut without a word and back, the viewer's own end down,
# slow and lossy, the relay's host vanished and come back, the traced host gone. Each machine
# is a network namespace; the viewer's way to the relay leads through a cable that can be cut.
# shellcheck disable=SC2154,SC2317 # work: from lib.sh; functions are called through until_true
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP network namespaces need root"
	exit 0
fi
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --net --uts true 2>/dev/null || {
		echo "1..0 # SKIP no network namespaces here"
		exit 0
	}
	IN_NAMESPACE=1 exec unshare --net --uts "$0" "$@"
fi
export LAB_LIVE_US=100000 LAB_SPANGEN="-t 1 -r 50" LAB_RELAY_HOST=10.99.1.2
. "$(dirname "$0")/lib.sh"
for tool in ip nsenter tmux python3; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
. "$SRCDIR/tests/tui/terminal.sh"

# --- the machines: viewer == cable == relay -- web1
hosts=''
host() { # host NAME: a namespace; its process id is in $pid
	unshare --net --uts sh -c "hostname $1 && exec sleep 3600" &
	pid=$!
	hosts="$hosts $pid"
	until_true eval '[ "$(nsenter -t '$pid' -u hostname 2>/dev/null)" = '"$1 ]"
}
on() { nsenter -t "$1" -n "${@:2}"; } # on HOST COMMAND...
leave() {
	t kill-server 2>/dev/null
	cleanup
	# shellcheck disable=SC2086 # words
	kill $hosts 2>/dev/null
}
trap leave EXIT
host cable && cable_host=$pid
host relay && relay=$pid
host web1 && web=$pid
ip link set lo up
on "$relay" ip link set lo up
on "$web" ip link set lo up
{ ip link add view type veth peer name left netns "$cable_host" &&
	on "$cable_host" ip link add right type veth peer name view netns "$relay" &&
	on "$web" ip link add relay type veth peer name web netns "$relay"; } || skip_all "no pairs of interfaces (veth)"
up() { # up HOST INTERFACE [ADDRESS]
	[ -z "${3:-}" ] || on "$1" ip addr add "$3/24" dev "$2"
	on "$1" ip link set "$2" up
}
up $$ view 10.99.1.1
up "$cable_host" left
up "$cable_host" right
up "$relay" view 10.99.1.2
up "$relay" web 10.99.2.1
up "$web" relay 10.99.2.2
on "$web" ip route add 10.99.1.0/24 via 10.99.2.1
coproc cable { exec nsenter -t "$cable_host" -n python3 "$SRCDIR/tests/live/cable.py" left right; }
cable() { # cable WORDS...: says so to the cable; its answer in $answer
	echo "$*" >&"${cable[1]}"
	read -r answer <&"${cable[0]}"
}
export LAB_RELAY_IN="nsenter -t $relay -n -u" LAB_IN="nsenter -t $web -n -u"
lab_up

# --- what is looked for
lacks() { ! shows "$1"; }
head_is() { t capture-pane -p -t now | head -n 1 | grep -q "^$1"; }
# answers: does the screen answer keys while a request waits? A request waits for its time limit, a second, so no key may.
answers() {
	local key word begin ms all=''
	for key in 2 1 2 1 2 1 2 1 2; do
		word=Overview
		[ $key = 1 ] || word=Traces
		begin=${EPOCHREALTIME/./}
		keys $key
		until_true head_is $word || return 1
		ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
		all="$all $ms"
		[ "$ms" -lt 1000 ] || break
	done
	keys 1
	echo "# keys were answered within:$all ms"
	[ "$ms" -lt 1000 ]
}
shows_one() { local word; for word in "$@"; do shows "$word" && return; done; return 1; }
# banner NAME WORDS...: it says one of them, and since when; the history is there and keys are answered
banner() {
	ok "$1: the banner says what" until_true shows_one "${@:2}"
	ok "$1: since when" shows_since
	ok "$1: the history stays" shows "history "
	ok "$1: keys are answered" answers
}
# Back and up to date: no banner, an open second that grows.
follows() { ! shows_since && lacks "is silent" && t capture-pane -p -t now | head -n 1 | grep -Eq 'lag [01]\.'; }
shell "XDG_STATE_HOME='$work/state'"
t resize-window -t now -x 140 -y 40
keys "'$BLKTOP' --config none --utc --timeout 1 -r $LAB_URL; echo rc=\$?" Enter
ok "attached" until_true follows

# --- cut, and nobody is told
cable forget
cable loss 1
banner "cut" "no answer in time"
tried() { cable attempts; [ "$(wc -w <<<"$answer")" -ge 5 ]; }
ok "cut: it goes on trying" until_true tried
# of one attempt: its time limit, and a pause of a second or two, doubled each time, a quarter
# more or less
ok "cut: with pauses that grow" python3 - "$answer" <<'PY'
import sys
at = [float(word) for word in sys.argv[1].split()[1:]][:4]
pauses = [b - a - 1 for a, b in zip(at, at[1:])]
print("# pauses between attempts:", *(f"{p:.2f}" for p in pauses))
sys.exit(not all(b > 1.1 * a for a, b in zip(pauses, pauses[1:])))
PY
cable loss 0
ok "back: it goes on" until_true follows
cable loss 1
wait_for "no answer in time"
cable loss 0
begin=$SECONDS
ok "cut for a moment: it goes on" until_true follows
ok "cut for a moment: soon (the place at the relay is given back)" [ $((SECONDS - begin)) -le 5 ]

# --- the viewer's own end
ip link set view down
banner "own end down" "no answer in time" "unreachable"
ip link set view up
ok "own end up: it goes on" until_true follows

# --- slow and lossy
cable delay 0.25
cable loss 0.02
behind() { t capture-pane -p -t now | head -n 1 | grep -Eq 'lag ([1-9]|0\.[4-9])'; }
ok "slow: it is behind" until_true behind
ok "slow: keys are answered" answers
cable delay 0
cable loss 0
ok "fast again: up to date" until_true follows

# --- the traced host
on "$relay" ip link set web down
ok "the traced host is gone: the banner says which stream is silent" wait_for "is silent"
ok "the traced host is gone: keys are answered" answers
on "$relay" ip link set web up
ok "the traced host is back: it goes on" until_true follows

# --- the relay's host vanishes, and comes back with nothing
cable loss 1
kill -9 "$LAB_RELAYD_PID"
banner "the relay's host vanishes" "no answer in time"
cable loss 0
ok "the relay is started again" relay_again
ok "its session is missed" wait_for "does not exist any more: waiting"
in_lab timeout 20 lttng --no-sessiond destroy spans
ok "the session is made again" session_again
ok "it goes on" until_true follows

keys 4
ok "the time without a relay is a gap" wait_for " 1 gap"
keys 1
# what the viewer kept has every second but those of the gap
"$BLKTOP" -b --each --view events --columns name,count --format csv "$work"/state/blktop/spool/* >"$work/out.kept"
ok "and the only one: what was cut off came later" python3 - "$work/out.kept" <<'PY'
import csv, sys
seconds = sorted({int(row["from_ns"]) // 10**9 for row in csv.DictReader(open(sys.argv[1]))})
holes = [(a, b) for a, b in zip(seconds, seconds[1:]) if b != a + 1]
print("# seconds", seconds[0], "to", seconds[-1], "without", holes)
sys.exit(len(holes) != 1)
PY

# --- leaving
cable loss 1
wait_for "no answer in time"
keys q
ok "q while it is cut: the terminal as it was" given_back 0
done_testing
