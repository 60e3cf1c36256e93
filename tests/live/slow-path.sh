#!/bin/bash
# A slow path to the relay, and the session is destroyed while most of its data is still there: all of it is
# read. Where the path ends meanwhile, how much did not come is told.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_APPS=0 LAB_LIVE_US=1000000	# sub-buffers of 512 KiB, a live timer of 1 s: packets take longer than the keeper waits
lab_up
path='' blktop=''
trap 'kill $path $blktop 2>/dev/null; cleanup' EXIT

# follow NAME MODE NUMBER: blktop through such a path (bad_path.py); its process is $blktop, the path's $path
follow() {
	path_up "$2" "$3"
	timeout 120 "$BLKTOP" -b --view events --columns name,count --format json --timeout 3 "$path_url" \
		>"$work/rows.$1" 2>"$work/rows.err.$1" &
	blktop=$!
	until_true is_taken
}
generate() { in_lab "$LAB_DIR/bin/spangen" -t 1 -n "$1" -r 100000 --truth "$LAB_DIR/truth"; }
events_of() { events_in "$work/rows.$1"; }
missing() { # missing NAME KEY: what the last object says
	python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readlines()[-1])["trust"][sys.argv[2]])' "$work/rows.$1" "$2"
}

follow slow slow 131072
generate 800
begin=$SECONDS
in_lab lttng --no-sessiond destroy spans
wait "$blktop"
is "slow: exit status" $? 0
is "slow: events" "$(events_of slow)" "$(truth_of 4 "$LAB_DIR/truth")"
ok "slow: it took longer than the keeper's patience, $((SECONDS - begin)) s" [ $((SECONDS - begin)) -ge 5 ]
is "slow: nothing is missing" "$(missing slow left_packets) $(missing slow gave_up)" "0 0"
ok "slow: no message" sh -c "! grep -v attaching '$work/rows.err.slow'"
kill "$path"
wait "$path" 2>/dev/null

ok "a session once more" session_again
rm "$LAB_DIR/truth"
follow cut gone 1000000
generate 800
in_lab lttng --no-sessiond destroy spans
wait "$blktop"
is "the path ends: exit status" $? 4
got=$(events_of cut) all=$(truth_of 4 "$LAB_DIR/truth")
ok "the path ends: some events came, $got of $all" [ "$got" -gt 0 -a "$got" -lt "$all" ]
ok "the path ends: what did not come is told" grep -q 'packets\? ([^)]*) that the relay announced did not come' "$work/rows.err.cut"
kill "$path"
done_testing
