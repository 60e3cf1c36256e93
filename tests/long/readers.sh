#!/bin/bash
# Both readers for all subscription tables, and many made-up traces.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
ALL=1 SEEDS=${SEEDS:-200} exec tests/truth/readers.py
