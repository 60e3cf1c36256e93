#!/bin/bash
# Thresholds from the command line: what is said and run when one is reached, and --check.
# shellcheck disable=SC2154,SC2317 # work, code: from lib.sh; functions are called through until_true
. "$(dirname "$0")/lib.sh"
. "$SRCDIR/tests/lib/poll.sh"

demo=$SRCDIR/tests/traces/demo/trace
export XDG_STATE_HOME=$work/state

# --- live: a relay that ends the session when all was sent
live() { # live OPTION...: the exit status in $code
	rm -f "$work/port"
	python3 "$SRCDIR/tests/cli/hostile_relay.py" "$demo" "$work/port" ends &
	server=$!
	until_true [ -s "$work/port" ]
	run -b -r "net://127.0.0.1:$(cat "$work/port")/host/web1/prod" --from-beginning "$@"
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}

cat >"$work/note" <<END
#!/bin/sh
printf '%s\n' "\$#:\$*" "\$BLKTOP_ALERT" >>'$work/alerts'
exit \${1:-0}
END
chmod +x "$work/note"
live --view alerts --threshold 'count of any > 5 every 10s' --threshold 'p99 of any > 1h' \
	--exec-on-alert "$work/note 0 'two words' \$HOME"
ok "an alert is told" grep -q '^blktop: alert: count of thumbnail is [0-9]' "$work/err"
ok "the program runs with its words, which no shell reads" grep -qx '3:0 two words \$HOME' "$work/alerts"
ok "and has the reason" grep -q '^count of thumbnail is ' "$work/alerts"
ok "all lines of it" grep -q '^threshold: count of any > 5 every 10s$' "$work/alerts"
ok "not more often than every 10 s of the trace" [ "$(grep -c '^threshold: ' "$work/alerts")" -le 3 ]
live --threshold 'count of any > 5' --exec-on-alert "$work/note 3"
ok "its failure is told" grep -q "note ended with exit status 3" "$work/err"
live --threshold 'count of any > 5' --exec-on-alert "$work/no-such-program"
ok "also that there is none" grep -q "no-such-program ended with exit status 127" "$work/err"
rm "$work/alerts"
live --check --threshold 'p99 of any > 1h' --exec-on-alert "$work/note"
ok "--check, live" [ "$code" -eq 0 ]
ok "its line" grep -q '^BLKTOP OK: 1 threshold, none reached' "$work/out"
ok "nothing is run" [ ! -e "$work/alerts" ]

# --- recorded
refused 2 "needs a live session" -b --threshold 'losses > 0' --exec-on-alert true "$demo"
refused 2 "--exec-on-alert needs --threshold" -b --exec-on-alert true -r 127.0.0.1:1
run -b --check --threshold 'p99 of any > 1h' --threshold 'losses > 0' "$demo"
ok "none is reached" [ "$code" -eq 0 ]
run -b --check --threshold 'p99 of any > 1h warn 100ms' "$demo"
ok "the warning" [ "$code" -eq 1 ]
ok "in a line with performance data" \
	grep -qx "BLKTOP WARNING: p99 of thumbnail is [0-9.]*ms (and [0-9]* more) | 'p99 of any'=0\.[0-9]*s;0.1;3600" "$work/out"
run -b --check --threshold 'p99 of any > 100ms' "$demo"
ok "an alert" [ "$code" -eq 2 ]
run -b --check --threshold 'p99 of nosuch > 100ms' "$demo"
ok "nothing to judge" [ "$code" -eq 3 ]
run -b --check --threshold 'losses > 0' "$work/no-such-trace"
ok "nothing to read" [ "$code" -eq 3 ]
run -b --check --threshold 'p99 of any > 100ms' --from +0s --to +5s "$demo"
ok "before it went wrong" [ "$code" -eq 0 ]

# --- what is usual
run -b --save-baseline good --threshold 'p99 of any > 3 x usual' --from +0s --to +10s --view alerts "$demo"
ok "a baseline is a file" grep -q '^thumbnail=' "$work/state/blktop/baselines/good"
run -b --check --baseline good --threshold 'p99 of any > 3 x usual' --from +0s --to +2s "$demo"
ok "with it the first seconds are judged, too" [ "$code" -eq 2 ]
run -b --check --threshold 'p99 of any > 3 x usual' --from +0s --to +2s "$demo"
ok "which else have nothing before them" [ "$code" -eq 0 ]
run -b --check --threshold 'p99 of any > 3 x usual' --baseline nosuch "$demo"
ok "a baseline that is not there" [ "$code" -eq 3 ]
ok "is named" grep -q 'baselines/nosuch' "$work/err"
done_testing
