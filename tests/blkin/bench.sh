#!/bin/bash
# What an annotation costs the thread that makes it (CPU time, nanoseconds; median of
# RUNS), and a request of an application as BlkKin's author measured it (microseconds on
# the wall, which the disk decides: 64 KiB written and synced, 113 annotations), with the share
# of it that these annotations are, in its five cases. The last columns are measured on one with
# fixed work: CPU time of a request of the whole process, microseconds, and how many times that
# of a run without a tracer just before it (median of the pairs). "lost": annotations that the tracer dropped
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
mkdir -m 777 "$LAB_DIR/blkin" && cp "$bin/bench-blkin" "$bin"/*.so* "$LAB_DIR/blkin/"
ctl() { "$lab/lab-run" lttng --no-sessiond "$@" >>"$work/log" 2>&1; }

median() { # median COMMAND...
	for _ in $(seq "$RUNS"); do "$@"; done | sort -n | sed -n "$(((RUNS + 1) / 2))p"
}

works() { "$lab/lab-run" env "$1" "$LAB_DIR/blkin/bench-blkin" "$((REQUESTS / 40))" "$LAB_DIR/blkin/file" work; }
# beside VARIABLE=VALUE: "RATIO CPU" of the pair with the median ratio
beside() {
	local none
	for _ in $(seq "$RUNS"); do
		none=$(works BLKIN_PROVIDER=none)
		echo "$none $(works "$1")"
	done | awk '{ print $2 / $1, $2 / 1000 }' | sort -n | sed -n "$(((RUNS + 1) / 2))p"
}

run() { # run WHAT VARIABLE=VALUE: a row of the table
	local what=$1 lost note app ratio cpu
	shift
	read -r ratio cpu < <(beside "$1")
	note=$(median "$lab/lab-run" env "$@" "$LAB_DIR/blkin/bench-blkin" "$REQUESTS")
	app=$(median "$lab/lab-run" env "$@" "$LAB_DIR/blkin/bench-blkin" "$((REQUESTS / 100))" "$LAB_DIR/blkin/file")
	lost=$("$lab/lab-run" lttng --no-sessiond list "${session:-spans}" 2>/dev/null |
		sed -n 's/.*Discarded events: //p' | awk '{ n += $1 } END { print n + 0 }')
	awk -v what="$what" -v note="$note" -v app="$app" -v lost="$lost" -v cpu="$cpu" -v ratio="$ratio" 'BEGIN {
		printf "%-28s %8s %10.1f %7.1f %% %8.1f %7.3f %8s\n", what, note, app / 1000,
			113 * note / app * 100, cpu, ratio, lost }'
}

echo "ns an annotation, and us a request that writes 64 KiB; medians of $RUNS runs"
printf '%-28s %8s %10s %9s %8s %7s %8s\n' '' note request share CPU times lost
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
