#!/bin/bash
# One stored session, read from its beginning: the same events, fields and all, as babeltrace2
# reads in the relay daemon's own output. With buffers per user, and per process.
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
# babeltrace2 is the referee; before 2.1 it can't read CTF 2
reads_files() {
	"$COUNT" "$LAB_DIR/traces" >"$work/out.files" || [ "${LAB_FORMAT:-}" != ctf-2 ]
}
both() { # both NAME
	until_true free
	"$COUNT" -B -e "$wanted" "$LAB_URL" >"$work/out.live"
	is "$1: all events" "$(sum_of live)" "$wanted"
	if reads_files; then
		is "$1: all events are in the relay's files" "$(sum_of files)" "$wanted"
		is "$1: the same events" "$(value live digest)" "$(value files digest)"
	else
		"$COUNT" -N "$LAB_DIR/traces" >"$work/out.files"
		is "$1: the same events as the native reader has of the relay's files" "$(value live digest)" \
			"$(value files digest)"
		is "$1: as many as the root's babeltrace2 has" \
			"$("$LAB/lab-run" babeltrace2 "$LAB_DIR/traces" 2>/dev/null | wc -l)" "$wanted"
	fi
	is "$1: records out of order" "$(value live disorder)" 0
	is "$1: late records" "$(value live late)" 0
	is "$1: lost" "$(value live lost)" "0 0"
}

stored uid
both "buffers per user"
rows() { # rows NAME ARGUMENT...: events by name in the first second, as blktop counts them
	local name=$1
	shift
	until_true free
	"$BLKTOP" -b --each --view events --columns name,count --format csv -n 1 "$@" >"$work/rows.$name"
}
same_rows() { # but for what live alone says (corrected), and when the second ends
	diff <(cut -d, -f1,4- "$work/rows.live") <(cut -d, -f1,3- "$work/rows.files") >"$work/out.diff"
}
ok "blktop, live" rows live --from-beginning "$LAB_URL"
reader=native
! reads_files || reader=babeltrace2
ok "blktop, the relay's files, by $reader" rows files --reader $reader "$LAB_DIR/traces"
ok "blktop prints the same rows" same_rows
ok "which are not empty" grep -q zipkin "$work/rows.live"
export LAB_BUFFERS=pid
stored pid
both "buffers per process"
kill "${started[@]}"
wait "${started[@]}" 2>/dev/null
done_testing
