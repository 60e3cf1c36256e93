#!/bin/bash
# A few simulated live sessions: see tests/long/simulate.sh, which has all of them in make check-long.
exec "$(dirname "$0")/../long/simulate.sh" SEEDS=200
