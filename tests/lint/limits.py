#!/usr/bin/env python3
"""The table of limits (src/base/limits.h) is the only place of limits, the program uses each, and a test reaches each."""
import glob
import json
import os
import re

import tap

TABLE = ("src/base/limits.h", "src/base/limits.c")
SUSPECT = re.compile(r"\s*#\s*define\s+(\w*(?:MAX|MOST|LIMIT|PATIENCE|GRACE|TIMEOUT)\w*)\s+(?!\")[^/]*\d")
# Names that sound like limits. What they bound does not change what is shown, or is the program's own.
OWN = {
    # sizes of the program's own arrays, rows, formats and screens
    "BLK_MAX_FIELDS", "MOST_NAMES", "TABLE_MAX_COLUMNS", "VEC_MAX_SIZE", "ADDRESS_MAX", "HIST_MAX_BITS",
    "LEAVE_MAX", "ESCAPE_MAX", "CTF_INDEX_MOST", "MOST_WHY", "ZOOM_MAX", "NAV_LEFT_MAX", "NAV_WAY_MAX", "MAX_PHASES", "MAX_CALLS", "MAX_WAITS",
    "MAX_PIECES", "MOST_OF_A_NAME", "MOST", "COMPARE_MOST", "MOST_ID",
    # which of two ways to the same result is taken, and how often something is looked at
    "IDX_ENTRY_MOST", "MAX_WINDOW", "MAX_DIRECT_ID", "MAX_LOOKS", "MAX_CELLS_LIKE", "MOST_LARGE", "MOST_DIVIDED",
    "MOST_FREE_BYTES", "MOST_WASTE", "MAX_BACKOFF", "ATTACH_MOST_PAUSE_US", "MAX_QUEUED", "MOST_PAUSE_US", "MOST_AT_ONCE",
    "MOST_READ", "MOST_PREAMBLE", "MAX_LATE_US", "FIRST_PATIENCE_MS", "PATIENCE_US", "FREE_PATIENCE_US", "PLAY_PATIENCE",
    # shares of --memory, with a bound
    "MOST_SPANS", "MOST_BESIDE", "MOST_QUEUE", "MOST_CORRECTIONS", "MOST_SUMS", "SPOOL_DEFAULT_LIMIT",
    "MOST_SECONDS",
    # how much of an explanation is worth telling
    "MOST_SHOWN", "MAX_HOPS", "MOST_DRIFT",
    # how long the program's own processes and daemons may take, each with a message
    "DAEMON_PATIENCE_MS", "FREE_PATIENCE_MS", "START_PATIENCE_US", "PATIENCE_MS", "STOP_PATIENCE_MS", "QUIET_GRACE_S",
    "SILENT_GRACE_S",
    # arithmetic
    "MOST_NS", "MOST_US", "NEST_MAX", "PROMPT_MAX", "LIVE_DEFAULT_TIMEOUT_MS",
}


def table():
    listed = tap.output(f"{tap.BUILD}/blktop", "--list-limits", "--format", "json")
    return json.loads(listed.stdout)["limits"] if listed.returncode == 0 else []


def tested():
    """Each id that a test reaches: of unit tests the programs tell, of scripts the words 'limit ID:'."""
    found = []
    built = [p for where in ("/tests/", "/unit/", "-asan/unit/") for p in glob.glob(tap.BUILD + where + "test-limits-*")]
    newest = {os.path.basename(p): p for p in sorted(built, key=os.path.getmtime) if "." not in os.path.basename(p)}
    for program in newest.values():
        found += re.findall(r"^(?:# )?/limit/(\S+)$", tap.output(program, "-l").stdout, re.M)
    for path in tap.files("tests/cli", "tests/live", "tests/tui", ends=[".py", ".sh"]):
        found += re.findall(r"\blimit ([a-z0-9-]+):", "\n".join(tap.lines(path)))
    return found


rows = table()
ids = [row["id"] for row in rows]
tests = tested()
sources = [s for s in tap.files("src", ends=[".c", ".h"]) if s not in TABLE]
code = {path: tap.lines(path) for path in sources}

tap.ok("the program lists its limits", [] if len(ids) > 50 else [f"{len(ids)} of them"])
tap.ok("each has a name of its own, and says all", [row["id"] for row in rows if ids.count(row["id"]) > 1 or not (
    row["limits"] and row["above"] and row["why"] and row["unit"] and row["value"] > 0)])
tap.ok("a test reaches each limit", sorted(set(ids) - set(tests)))
tap.ok("each has one test", sorted({i for i in tests if tests.count(i) > 1 or i not in ids}))
used = set(re.findall(r"\bLIMIT_([A-Z0-9_]+)\b", "\n".join("\n".join(lines) for lines in code.values())))
tap.ok("the program uses each", sorted(i for i in ids if i.upper().replace("-", "_") not in used))
others, defined = [], set()
for path, lines in code.items():
    for n, line in enumerate(lines, 1):
        name = SUSPECT.match(line)
        if name and not path.startswith("src/blkin/"):
            defined.add(name[1])
            if name[1] not in OWN:
                others.append(f"{path}:{n}: {name[1]}: is it a limit? Then it belongs into src/base/limits.h")
tap.ok("no other file defines a limit", others)
tap.ok("what is excepted here is there", sorted(OWN - defined))
tap.done()
