#!/bin/bash
# scripts/run-one-test: signals that its parent ignores, what a test leaves running, time limits, being ended itself.
. "$(dirname "$0")/lib.sh"
. "$SRCDIR/tests/lib/poll.sh"
run=$SRCDIR/scripts/run-one-test
unset FAILED_DIR TABLE_DIR

code_is() { [ "$code" = "$1" ]; }
is_gone() { ! grep -qs "^State:[[:space:]]*[^XZ]" "/proc/$1/status"; }
all_gone() { # all_gone FILE: of the processes that it names; there must be some
	local pid
	[ -s "$1" ] || return 1
	while read -r pid; do
		until_true is_gone "$pid" || return 1
	done <"$1"
}
# a_test NAME: a test of the commands that are read; pids go to $pids
pids=$work/pids
a_test() {
	: >"$pids"
	{ printf '#!/bin/bash\npids=%q\n' "$pids"; cat; } >"$work/$1"
	chmod +x "$work/$1"
}
try() { # try COMMAND...: as one test; within half the time limit of the tests below
	timeout --kill-after=5 120 "$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
}

a_test signals <<'END'
grep SigIgn /proc/self/status
ps -o sid= -p $$
exit 7
END
try env --ignore-signal=INT,HUP,QUIT,TERM,PIPE "$run" "$work/signals"
ok "the exit status is the test's" code_is 7
# Signals 32 and 33 are the C library's own, and cannot be reset.
ok "what the parent ignores has its default action in the test" \
	[ $((0x$(awk '/^SigIgn:/ { print $2 }' "$work/out") & 0x7fffffff)) = 0 ]

a_test interrupted <<'END'
trap 'echo "ok 1 - interrupted"; exit 0' INT
kill -INT $$
echo "not ok 1 - nothing came"
END
try env --ignore-signal=INT,HUP "$run" "$work/interrupted"
ok "a test can be sent SIGINT, whatever the parent ignores" grep -q '^ok 1' "$work/out"

# One ignores SIGTERM and has the standard output, one has a session of its own, one no environment.
a_test leaves <<'END'
(trap '' TERM; echo $BASHPID >>"$pids"; while :; do sleep 1000; done) &
setsid sh -c 'echo $$ >>"$1"; exec sleep 1000' - "$pids" >/dev/null &
env -i sh -c 'echo $$ >>"$1"; exec sleep 1000' - "$pids" >/dev/null &
until [ "$(wc -l <"$pids")" = 3 ]; do :; done
echo "Bail out! enough"
exit 3
END
sleep 1000 &
other=$!
mkdir "$work/failed"
FAILED_DIR=$work/failed try "$run" "$work/leaves"
ok "a failed test ends, whatever it left" code_is 3
ok "what it left is ended" all_gone "$pids"
ok "its giving up does not stop the others" grep -qx '# gave up: enough' "$work/out"
ok "what it left is named" test "$(cat "$work"/failed/* | grep -c '^# left running: .*')" -ge 3
ok "other processes go on" kill -0 $other
kill $other

a_test late <<'END'
echo $$ >>"$pids"
sleep 1000 &
echo $! >>"$pids"
setsid sleep 1000 &
echo $! >>"$pids"
wait
END
TEST_SECONDS=1 try "$run" "$work/late"
ok "a test that takes too long is ended" code_is 124
ok "with all that it started" all_gone "$pids"

# The script itself is ended, as by Ctrl-C.
a_test waits <<'END'
setsid sleep 1000 &
echo $! >>"$pids"
echo "$HOME" >"$pids.home"
echo $$ >>"$pids"
wait
END
for signal in INT TERM HUP; do
	: >"$pids"
	env --default-signal "$run" "$work/waits" >"$work/out" 2>"$work/err" &
	script=$!
	until_true eval '[ "$(wc -l <"$pids")" = 2 ]'
	kill -$signal $script
	wait $script
	code=$?
	ok "SIG$signal ends it" code_is 130
	ok "SIG$signal ends its test" all_gone "$pids"
	ok "SIG$signal: nothing is left on disk" test ! -e "$(cat "$pids.home")"
done

# A test that runs tests: what these leave is ended, what it runs itself is not.
a_test inner <<'END'
setsid sleep 1000 &
echo $! >>"$pids"
END
a_test outer <<END
sleep 1000 &
mine=\$!
"$run" "$work/inner"
kill -0 \$mine && echo "ok 1 - mine"
END
: >"$pids"
try "$run" "$work/outer"
ok "a test within a test: its own processes go on" grep -q '^ok 1' "$work/out"
ok "those of the inner one are ended" all_gone "$pids"
echo "1..$n"
exit $((failed > 0))
