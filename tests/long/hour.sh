#!/bin/bash
# An hour of 3,000 requests a second with 16, 32, 64 and 448 MiB for the timeline: each second, as it is closed, has all its
# requests, and so have the served metrics. test-evicted has half a minute of it in make check.
set -u
BUILD=$(realpath "${BUILD:-build}")
exec "$BUILD/tests/test-evicted" -m slow -p /evicted/hour
