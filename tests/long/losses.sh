#!/bin/bash
# A day of 100 losses a second: what a model remembers of it does not grow.
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
BUILD=${BUILD:-build}
if [ ! -x "$BUILD/tests/test-losses" ]; then
	echo "1..0 # SKIP $BUILD/tests/test-losses is not built"
	exit 0
fi
LOSSES_SECONDS=86400 exec "$BUILD/tests/test-losses" -p /losses/day
