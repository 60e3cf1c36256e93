#!/bin/bash
# Open spans, live: in every second what the recording of the same session says.
# shellcheck disable=SC2154 # work: from lib.sh
. "$(dirname "$0")/lib.sh"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up
open() { "$BLKTOP" -b --view open --format csv --columns name,open_ns "$@" 2>>"$work/err"; }

open --from-beginning --log "$work/log" -r "$LAB_URL" >"$work/out.live" &
viewer=$!
until_true grep -q . "$work/log"

# From the beginning, so that it does not matter when it is attached. 9.5 a second: at the ends
# of seconds they are at different places.
in_lab "$LAB_DIR/bin/spangen" -t 1 -n 30 -r 9.5 -l 90000
in_lab lttng --no-sessiond destroy spans
wait "$viewer"
is "exit status" $? 0
open --each "$LAB_DIR/traces" >"$work/out.saved"
# Live, a line also tells how often its second was corrected.
tail -n +2 "$work/out.live" | cut -d, -f4- | sort >"$work/live"
tail -n +2 "$work/out.saved" | cut -d, -f3- | sort >"$work/saved"
ok "spans were open when seconds ended" test -s "$work/saved"
ok "live they are the same" cmp "$work/live" "$work/saved"
done_testing
