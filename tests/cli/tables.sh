#!/bin/bash
# Tables: which columns and sentences they show for what a trace has, seen in pictures; names that only filters know.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
nested=$TRACES/nested/trace	# user space only
busy=$TRACES/kernel-ust/trace

picture() { # picture VIEW ARGUMENT... TRACE: its text in $work/text, a row a line
	local view=$1
	shift
	run --config none --utc --screenshot "$work/x.svg" --force --size 120x30 --view "$view" "$@"
	sed 's/<[^>]*>//g; s/&gt;/>/g; s/&lt;/</g' "$work/x.svg" >"$work/text"
}
shows() { grep -qF -- "$1" "$work/text"; }
hides() { ! shows "$1"; }

picture phases "$demo"
ok "phases: shares of parts" shows "USR%"
picture phases "$nested"
ok "without kernel events there are none" hides "USR%"
ok "but room for the half" shows "KIND"
ok "and no call without a name" hides "(user)"
picture processes "$nested"
ok "processes: what a trace without kernel events says of them" shows "The trace has no kernel events"
picture processes "$demo"
ok "others do not" hides "The trace has no kernel events"
ok "percentages of several threads say so" shows "100%=1 thread"

picture changed --at 06:08:05 "$busy"
ok "what changed: nothing to compare with is said" shows "no operation ended in both"
picture changed --at 07:07:20 "$demo"
ok "what is comparable is compared" hides "no operation ended in both"
picture changed "$TRACES/kernel-small/trace"
ok "and nothing is said where there is no data" shows "No data"
ok "nor compared" hides "against"

succeeds 0 "distribution by duration" -b --view distribution --format json --filter 'duration >= 16ms' "$demo"
ok "from there on" json "all(r['low_ns'] >= 16e6 for r in lines[0]['rows']) and lines[0]['rows']"
succeeds 0 "kernel threads" -b --view processes --format json --filter 'kernel_thread == 1 && cpu_ns > 0' "$demo"
ok "by name" json "any(r['comm'].startswith('kworker') for r in lines[0]['rows']) and all(not r['syscalls'] for r in lines[0]['rows'])"
refused 2 "kernel_thread" -b --view syscalls --filter 'kernel_thread == 1' "$demo"

done_testing
