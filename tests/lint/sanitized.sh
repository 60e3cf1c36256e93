#!/bin/bash
# The program built with the sanitizers, over whole recordings: some views of one, one view of some; with ALL=1, as in
# make check-long, every view, and of each. Skipped where there is no such build (make asan).
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
blktop=${SANITIZED:-${BUILD:-build}-asan/blktop}
[ -x "$blktop" ] || { echo "1..0 # SKIP $blktop is not built: make asan"; exit 0; }
n=0 failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/blktop-sanitized.XXXXXX")
trap 'rm -rf "$work"' EXIT

run() { # run ARGUMENT...: exit status 0 or 3 (read with loss), nothing said by a sanitizer
	local messages status
	n=$((n + 1))
	messages=$("$blktop" "$@" 2>&1 >/dev/null)
	status=$?
	if { [ $status = 0 ] || [ $status = 3 ]; } && ! grep -Eq 'Sanitizer|runtime error' <<<"$messages"; then
		echo "ok $n - $*"
	else
		failed=1
		echo "not ok $n - $*: exit status $status"
		head -n 40 <<<"$messages" | sed 's/^/#   /'
	fi
}

views="overview phases processes files waterfall losses path changed alerts"
[ -z "${ALL-}" ] || views=$("$blktop" --list-views | awk '{ print $1 }')
for view in $views; do
	run -b --view "$view" --format text tests/traces/snapshot/trace
done
traces=(tests/traces/{lost,net,ust-fields}/trace tests/traces/ctf2/ust-both/ctf-2)
[ -z "${ALL-}" ] || traces=(tests/traces/*/trace*/ tests/traces/ctf2/{demo,lost}/trace tests/traces/ctf2/ust-both/ctf-2)
for trace in "${traces[@]}"; do
	run -b --view spans --each --format json "$trace"
done
for seed in 7 43 44 101 102; do		# events of all fields, of no field, of all kinds of fields
	python3 tests/truth/ctf2_make.py $seed "$work/$seed"
	run log --format json "$work/$seed/trace"
done
run --export-slowest 20 tests/traces/kernel-ust/trace
run --export-slowest 20 --format json tests/traces/kernel-ust/trace
run --list-events
run --list-metrics
run --list-limits
run --list-limits --format json
run --recipe
run --help
echo "1..$n"
exit $failed
