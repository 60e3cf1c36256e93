#!/bin/bash
# Recordings of two hosts, weeks apart, on one screen: the newest is shown, the weeks between are one gap.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
blktop=$(realpath "$BLKTOP")
mkdir "$work/both"
python3 tests/truth/shifted.py tests/traces/demo/trace "$work/both/first" 0
python3 tests/truth/shifted.py tests/traces/rotation/trace "$work/both/second" 1814400

shell
keys "'$blktop' --view cpus both; echo rc=\$?" Enter
wait_for ': 2.38s 1 gap'
result $? "the strip is of three weeks, with one gap"
wait_for ' history 11-21 07:07:06 - 12-12 06:08:'
result $? "history tells the days"
wait_for '2 rows '
result $? "the second's host alone has CPUs there"
keys 0
keys Q
given_back 0
result $? "and q gives the terminal back"
done_testing
