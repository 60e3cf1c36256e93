#!/bin/bash
# What an annotation costs the thread that makes it (CPU time, nanoseconds; median of
# RUNS), in the five cases of BlkKin's author. "lost": annotations that the tracer dropped
# since its buffers were full; they cost less. Run by make bench-blkin.
set -u
src=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(realpath "${BUILD:-$src/build}")/blkin
lab=$src/tests/live/lab
RUNS=${RUNS:-7}
REQUESTS=${REQUESTS:-20000}

work=$(mktemp -d "${TMPDIR:-/tmp}/bench-blkin.XXXXXX")
chmod 711 "$work"
export LAB_DIR=$work/lab LAB_APPS=0 LAB_SUBBUF=4M LAB_NUM_SUBBUF=8
cleanup() {
	"$lab/lab-down" >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
"$lab/lab-up" >"$work/env" || { echo "bench-blkin: no session daemon" >&2; exit 1; }
. "$work/env"
mkdir "$LAB_DIR/blkin" && cp "$bin/bench-blkin" "$bin"/*.so* "$LAB_DIR/blkin/"
ctl() { "$lab/lab-run" lttng --no-sessiond "$@" >>"$work/log" 2>&1; }

run() { # run WHAT VARIABLE=VALUE...: a row of the table
	local what=$1 lost
	shift
	for _ in $(seq "$RUNS"); do
		"$lab/lab-run" env "$@" "$LAB_DIR/blkin/bench-blkin" "$REQUESTS"
	done | sort -n | sed -n "$(((RUNS + 1) / 2))p" >"$work/median"
	lost=$("$lab/lab-run" lttng --no-sessiond list "${session:-spans}" 2>/dev/null |
		sed -n 's/.*Discarded events: //p' | awk '{ n += $1 } END { print n + 0 }')
	printf '%-28s %8s %10s\n' "$what" "$(cat "$work/median")" "${lost:--}"
}

echo "ns an annotation, median of $RUNS runs of $((REQUESTS * 8)) annotations"
printf '%-28s %8s %10s\n' '' ns lost
run 'none (no tracer)' BLKIN_PROVIDER=none
run 'live' BLKIN_RATE=1
run 'live, one request of 500' BLKIN_RATE=500
ctl stop spans
run 'stopped (not started)' BLKIN_RATE=1
ctl destroy spans
session=normal
ctl create normal --output="$LAB_DIR/normal"
ctl enable-channel -u -s normal --subbuf-size=4M --num-subbuf=8 c
for context in vpid vtid procname; do ctl add-context -u -s normal -c c -t $context; done
ctl enable-event -u -s normal -c c 'zipkin:*'
ctl start normal
run 'normal (to a directory)' BLKIN_RATE=1
ctl destroy normal
