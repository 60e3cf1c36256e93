#!/bin/bash
# Every fuzz target, guided by coverage. SECONDS_EACH (60).
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
if ! command -v clang >/dev/null; then
	echo "1..0 # SKIP clang is not installed (scripts/deps long)"
	exit 0
fi
GUIDED=1 SECONDS_EACH=${SECONDS_EACH:-60} exec tests/fuzz/run-short.sh
