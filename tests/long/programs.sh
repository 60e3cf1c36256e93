#!/bin/bash
# The programs of tests/live/programs.py for longer: several seeds, thousands of spans, an interface of 250
# functions, many rules made by chance.
SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
export PROGRAM_SEEDS=${PROGRAM_SEEDS:-2 3 4 5 6 7} SIZES=${SIZES:-3 40 300} FUNCTIONS=${FUNCTIONS:-250} RULES=${RULES:-12}
exec "$SRCDIR/tests/live/programs.py"
