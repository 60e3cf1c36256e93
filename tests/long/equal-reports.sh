#!/bin/bash
# Every view by babeltrace2, too, and in all numbers of pieces.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
ALL=1 exec tests/truth/equal-reports.py
