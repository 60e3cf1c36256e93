#!/bin/bash
# One stored session, read from its beginning by both readers, one after the other: the
# same events, fields and all. With buffers per user, and per process.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_LIVE_US=100000 LAB_APPS=0
started=()

all_done() { [ "$(cat "$LAB_DIR"/truth.* 2>/dev/null | grep -c ^total)" = 2 ]; }
stored() { # stored NAME: a session with events of two processes, which stay; stopped
	LAB_DIR=$work/$1
	lab_up
	for i in 1 2; do
		"$LAB/lab-run" "$LAB_DIR/bin/spangen" -n 100 -r 0 -k --truth "$LAB_DIR/truth.$i" \
			</dev/null >>"$work/lab.log" 2>&1 &
		started+=($!)
	done
	until_true all_done
	in_lab lttng --no-sessiond stop spans
	wanted=$(truth_of 4 "$LAB_DIR"/truth.*)
}
free() { # nobody is attached any more, as far as the relay knows
	"$BLKTOP" --list-sessions -r "127.0.0.1:$LAB_LIVE_PORT" >"$work/list" 2>&1 &&
		! grep -q taken "$work/list"
}
both() { # both NAME
	until_true free
	"$COUNT" -B -e "$wanted" "$LAB_URL" >"$work/out.native"
	until_true free
	"$COUNT" -B -b -e "$wanted" "$LAB_URL" >"$work/out.babeltrace2"
	is "$1: all events, native" "$(sum_of native)" "$wanted"
	is "$1: all events, babeltrace2" "$(sum_of babeltrace2)" "$wanted"
	is "$1: the same events" "$(value native digest)" "$(value babeltrace2 digest)"
	is "$1: records out of order" "$(value native disorder)" 0
	is "$1: late records" "$(value native late)" 0
	is "$1: lost" "$(value native lost)" "0 0"
}

stored uid
both "buffers per user"
rows() { # rows READER: events by name in the first seconds, as blktop counts them
	until_true free
	"$BLKTOP" -b --view events --columns name,count --format csv -n 1 --from-beginning \
		--reader "$1" "$LAB_URL" >"$work/rows.$1"
}
ok "blktop, native" rows native
ok "blktop, babeltrace2" rows babeltrace2
ok "blktop prints the same rows" diff "$work/rows.native" "$work/rows.babeltrace2"
ok "which are not empty" grep -q zipkin "$work/rows.native"
export LAB_BUFFERS=pid
stored pid
both "buffers per process"
kill "${started[@]}"
wait "${started[@]}" 2>/dev/null
done_testing
