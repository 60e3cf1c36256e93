# Shared by the live tests: TAP, a lab of our own, live-count. Source it.
# shellcheck shell=bash
SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
COUNT=${BUILD:-$SRCDIR/build}/tools/live-count
LAB=$SRCDIR/tests/live/lab
export LC_ALL=C.UTF-8 TZ=UTC

. "$SRCDIR/tests/lib/poll.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/live.XXXXXX")
chmod 711 "$work"
export LAB_DIR=$work/lab
n=0 failed=0 labs='' relay_host=${LAB_RELAY_HOST:-127.0.0.1}

skip_all() {
	echo "1..0 # SKIP $*"
	rm -rf "$work"
	exit 0
}
ok() { # ok NAME COMMAND...: the command succeeds
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		failed=$((failed + 1))
		echo "not ok $n - $name"
		echo "#   failed: $*"
		sed 's/^/#   /' "$work"/out* 2>/dev/null
		# the screen, where there is one
		[ ! -S "$work/socket" ] || tmux -S "$work/socket" capture-pane -p -t now 2>/dev/null | sed '/^$/d; s/^/#   | /'
	fi
}
is() { # is NAME GOT WANTED
	ok "$1: $3 (is $2)" [ "$2" = "$3" ]
}
done_testing() {
	echo "1..$n"
	exit $((failed > 0))
}

# A lab in LAB_DIR; the exports of lab-up hold for the last one.
lab_up() {
	"$LAB/lab-up" >"$work/env" 2>"$work/lab.err" || {
		cat "$work/lab.err" >&2
		skip_all "no lab: $(tail -n 1 "$work/lab.err")"
	}
	. "$work/env"
	labs="$labs $LAB_DIR"
}
cleanup() {
	local dir
	for dir in $labs; do
		LAB_DIR=$dir "$LAB/lab-down"
	done
	[ -z "${LAB_ROOT:-}" ] || { umount "$LAB_ROOT$work" && rmdir "$LAB_ROOT$work"; }
	rm -rf "$work"
}
trap cleanup EXIT
# The lab's folder has the same path in the root that it runs in.
if [ -n "${LAB_ROOT:-}" ]; then
	mkdir -p "$LAB_ROOT$work" && mount --bind "$work" "$LAB_ROOT$work" || exit 1
fi
in_lab() { "$LAB/lab-run" "$@" >>"$work/lab.log" 2>&1; }

# The lab's relay daemon once more, on its ports; its session once more.
relay_again() {
	LAB_IN=${LAB_RELAY_IN:-} "$LAB/lab-run" lttng-relayd --control-port="tcp://$relay_host:$LAB_CTRL_PORT" \
		--data-port="tcp://$relay_host:$((LAB_CTRL_PORT + 1))" \
		--live-port="tcp://$relay_host:$LAB_LIVE_PORT" --output="$LAB_DIR/traces" \
		</dev/null >>"$LAB_DIR/relayd.log" 2>&1 &
	LAB_RELAYD_PID=$!
	echo "export LAB_RELAYD_PID='$LAB_RELAYD_PID'" >>"$LAB_DIR/lab"
	until_true listens "$LAB_CTRL_PORT" && until_true listens "$LAB_LIVE_PORT"
}
# shellcheck disable=SC2086 # words
listens() { ${LAB_RELAY_IN:-} bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$relay_host" "$1" 2>/dev/null; }
# A bad path to the lab's relay daemon (bad_path.py MODE [NUMBER]): its process is $path, the session by it $path_url.
path_up() {
	rm -f "$work/port"
	python3 "$SRCDIR/tests/lib/bad_path.py" "$LAB_LIVE_PORT" "$work/port" "$@" &
	path=$!
	until_true [ -s "$work/port" ]
	path_url=net://127.0.0.1:$(cat "$work/port")/${LAB_URL#net://*/}
}
# Has a viewer the session?
is_taken() { "$BLKTOP" --list-sessions -r "127.0.0.1:$LAB_LIVE_PORT" 2>/dev/null | grep -q taken; }
# events_in FILE: all that its JSON of the view events counts
events_in() {
	python3 -c 'import json, sys; print(sum(r["count"] for l in open(sys.argv[1]) for r in json.loads(l)["rows"]))' "$1"
}
sessiond_again() {
	"$LAB/lab-run" lttng-sessiond --no-kernel </dev/null >>"$LAB_DIR/sessiond.log" 2>&1 &
	LAB_SESSIOND_PID=$!
	echo "export LAB_SESSIOND_PID='$LAB_SESSIOND_PID'" >>"$LAB_DIR/lab"
	until_true in_lab lttng --no-sessiond list
}
session_again() {
	in_lab lttng --no-sessiond create spans ${LAB_FORMAT:+--trace-format="$LAB_FORMAT"} --live="$LAB_LIVE_US" \
		--ctrl-url="tcp://$relay_host:$LAB_CTRL_PORT" --data-url="tcp://$relay_host:$((LAB_CTRL_PORT + 1))" &&
		in_lab lttng --no-sessiond enable-channel -u chan -s spans "--buffers-${LAB_BUFFERS:-uid}" \
			${LAB_FILES:+$LAB_FILES} &&
		in_lab lttng --no-sessiond add-context -u -s spans -c chan -t vpid -t vtid -t procname &&
		in_lab lttng --no-sessiond enable-event -u -s spans -c chan 'zipkin:*' &&
		in_lab lttng --no-sessiond start spans
}

says() { grep -q "$2" "$work/out.$1" 2>/dev/null; } # says VIEWER PATTERN

# view NAME [OPTION...] URL: live-count in the background; waits until it is attached. It
# waits LIVE_TIMEOUT_MS (2000) for each answer.
# Its process id is in $viewer.
view() {
	local name=$1
	shift
	"$COUNT" ${READER:+"$READER"} -t "${LIVE_TIMEOUT_MS:-2000}" "$@" >"$work/out.$name" 2>&1 &
	viewer=$!
	until_true says "$name" '^status connected'
}
# value NAME WORD...: the number behind these words in what the viewer printed
value() {
	local name=$1
	shift
	sed -n "s/^$* //p" "$work/out.$name" | tail -n 1
}
sum_of() { # sum_of NAME: all zipkin events
	awk '$1 == "event" { n += $3 } END { print n + 0 }' "$work/out.$1"
}
truth_of() { # truth_of COLUMN FILE...: sums; 2 requests, 3 spans, 4 events
	awk -v c="$1" '$1 == "total" { n += $c } END { print n + 0 }' "${@:2}"
}
# hold_stream NAME: a relay before the lab's, which holds that stream while $work/hold is there;
# its URL in $url, its pid in $holder, to be killed at the end
hold_stream() {
	python3 "$SRCDIR/tests/live/hold.py" "$LAB_LIVE_PORT" "$work/port" "$work/hold" "$1" &
	holder=$!
	until_true [ -s "$work/port" ] || { kill "$holder"; exit 1; }
	url=net://127.0.0.1:$(cat "$work/port")/${LAB_URL#net://*/}
}

for tool in lttng lttng-sessiond lttng-relayd cc setpriv; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
echo "#include <lttng/tracepoint.h>" | cc -E -o /dev/null -x c - 2>/dev/null || skip_all "liblttng-ust-dev is not installed"
