#!/bin/bash
# Every source file, the tests' too, with the compiler that the build does not use.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
ALL=1 exec tests/lint/headers.sh
