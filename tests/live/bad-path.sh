#!/bin/bash
# A real relay daemon behind a bad path: each event of a bounded run is counted or reported missing, also where
# the session is destroyed while the connection is broken.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
export LAB_APPS=0 LAB_LIVE_US=100000
lab_up
path='' blktop=''
trap 'kill $path $blktop 2>/dev/null; cleanup' EXIT

# through MODE [NUMBER]: in $got, $code
through() {
	rm -f "$LAB_DIR"/truth
	path_up "$@"
	timeout 100 "$BLKTOP" -b --view events --columns name,count --format json --timeout 2 "$path_url" \
		>"$work/rows" 2>"$work/rows.err" &
	blktop=$!
	until_true is_taken
	in_lab "$LAB_DIR/bin/spangen" -t 2 -n 300 -r 300 --truth "$LAB_DIR/truth"
	in_lab lttng --no-sessiond destroy spans
	code=0
	wait "$blktop" || code=$?
	kill "$path"
	wait "$path" 2>/dev/null
	got=$(events_in "$work/rows")
	all=$(truth_of 4 "$LAB_DIR/truth")
}
whole() { [ "$got" = "$all" ] && [ "$code" = 0 ]; }
reported() { [ "$code" = 4 ] && grep -q 'incomplete: ' "$work/rows.err"; }
damaged() { [ "$code" = 3 ]; }
none() { [ "$got" = 0 ] && [ "$code" = 1 ] && grep -q 'blktop: ' "$work/rows.err"; }
accounted() { whole || reported || damaged || none; }

first=1
for mode in "delay 0.2" "slow 400000" "drop 300000" dropmany "trunc 200000" "hang 500000" "corrupt 100000"; do
	[ $first ] || session_again || exit 1
	first=''
	# shellcheck disable=SC2086 # words
	through $mode
	case $mode in
	delay* | slow*) ok "$mode: all events, $got of $all, status $code" whole ;;
	*) ok "$mode: $got of $all events, status $code" accounted ;;
	esac
done
done_testing
