#!/bin/bash
# The laws of slices with the sanitizers, in as many rounds as without them: ROUNDS (8), and at more cuts.
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
# As the Makefile calls it, or everything would be compiled again.
build=$(realpath --relative-to=. "${BUILD:-build}")
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS
make -s BUILD="$build-asan" SANITIZE=address,undefined "$build-asan/tests/test-laws" >&2 || exit 1
BLKTOP_CUTS_STRIDE=${STRIDE:-3} BLKTOP_LAWS_ROUNDS=${ROUNDS:-8} exec "$build-asan/tests/test-laws"
