#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A live session has the same rows as its recording: every view, second by second, of recordings that a relay
(tests/cli/hostile_relay.py) serves packet by packet. What the other referees prove of recordings holds live, too.

The first second and the last are left out: a live session does not know yet what comes later, and its end is a loss.
Some views of some recordings; with ALL=1, as in make check-long, all."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
sys.path.insert(0, os.path.join(blk.ROOT, "tests", "cli"))
from hostile_relay import HOST, SESSION, Recording, Relay

VIEWS = ["processes", "processes --by thread", "syscalls", "files", "cpus", "devices", "io", "peers", "events",
         "losses", "scheduler", "wakers", "interrupts", "slow", "services", "phases", "traces", "open", "counters"]
LIVE_ONLY = ("behind_ns", "left_packets", "left_bytes", "unread_packets", "ended_early", "ends_unknown", "gave_up")
if not blk.ALL:
    VIEWS = ["processes --by thread", "syscalls", "cpus", "devices", "losses", "traces"]
# What depends on what came until then: the usual, what threads without events did, ends and names that come later.
HISTORY = ("usual_ns", "x_usual_ratio", "verdict", "why", "unfinished", "busy_ns", "busy_ratio", "exit_ns", "life",
           "container")
# A CPU was offline. Live, its last thread runs until an event says otherwise.
OFFLINE_S = {"mix1/trace": 1795445018}
OWN = ["block", "containers", "demo", "net", "thumb"]
SHARED = ["mix1/trace", "mix2/trace", "mix2/lossy", "lost/trace"]
if not blk.ALL:
    OWN, SHARED = ["block", "thumb"], ["mix2/lossy"]
PAUSE_WITHIN_NS = 20000000      # of lttng stop: packets are known to their ends, which live sessions do not wait for


def is_silent(row):
    """Nothing happened: a thread of the state dump, or a call from before the trace of which later events say."""
    known = ("cpu_ns", "runnable_ns", "blocked_ns") if "blocked_ns" in row else ("count", "errors")
    return all(not row.get(key) for key in known) and row.get("pid") is not None and not row.get("syscalls")


def seconds(view, source):
    """What the view says of each second, without what only live sessions have or what they cannot know yet."""
    done = subprocess.run([blk.BLKTOP, "-b", "--view", *view.split(), "--each", "--format", "json", source],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{view} of {source}: status {done.returncode}: {done.stderr[:300]}")
    out = []
    for line in done.stdout.splitlines():
        second = json.loads(line)
        for field in LIVE_ONLY:
            second["trust"].pop(field)
        if view.split()[0] in ("processes", "syscalls"):
            second["rows"] = [row for row in second["rows"] if not is_silent(row)]
        for row in second["rows"]:
            for field in HISTORY + (("unknown_ns",) if view == "processes" else ()):
                row.pop(field, None)
        out.append(second)
    return out


def first_difference(recorded, live, offline_s):
    if len(recorded) != len(live):
        return f"{len(recorded)} seconds recorded, {len(live)} live"
    for a, b in list(zip(recorded, live))[1:-1]:
        if a["range"]["from_ns"] == offline_s * 10 ** 9:
            continue
        at = f"from {a['range']['from_ns']}"
        if len(a["rows"]) != len(b["rows"]):
            return f"{at}: {len(a['rows'])} rows recorded, {len(b['rows'])} live"
        for x, y in zip(a["rows"] + [a["trust"]], b["rows"] + [b["trust"]]):
            # Of an event that no second had so far, live sessions do not know whether it is recorded.
            y = {key: 0 if n is None and x.get(key) == 0 else n for key, n in y.items()}
            if x != y:
                who = {key: x[key] for key in ("pid", "tid", "comm", "name", "syscall", "trace_id") if key in x}
                return f"{at}: {who}: " + str({key: (x[key], y.get(key)) for key in x if x[key] != y.get(key)})
    return None


def both(view, trace):
    """Its seconds, recorded and live."""
    relay = Relay(Recording(trace))
    try:
        live = seconds(view, f"net://127.0.0.1:{relay.port}/host/{HOST}/{SESSION}")
    finally:
        relay.close()
    return seconds(view, trace), live


def compare(tap, name, trace):
    problems, rows = [], 0
    for view in VIEWS:
        recorded, live = both(view, trace)
        rows += sum(len(s["rows"]) for s in recorded)
        difference = first_difference(recorded, live, OFFLINE_S.get(name, 0))
        if difference:
            problems.append(f"{view}: {difference}")
    tap.ok(rows and not problems, f"{name}: {rows} rows of {len(VIEWS)} views, as in the recording", *problems)


def unknown(second):
    """By CPU."""
    return {row["cpu"]: row["unknown_ns"] for row in second["rows"]}


def compare_pause(tap, trace):
    """lttng stop, and later start: nobody knows what ran in between."""
    recorded, live = both("cpus", trace)
    far = [(a["range"]["from_ns"], unknown(a), unknown(b)) for a, b in zip(recorded, live)
           if unknown(a).keys() != unknown(b).keys()
           or any(abs(unknown(b)[cpu] - ns) > PAUSE_WITHIN_NS for cpu, ns in unknown(a).items())]
    most = max(max(unknown(second).values()) for second in live)
    tap.ok(len(recorded) == len(live) and most == 10 ** 9 and not far, "pause: unknown live as in the recording", *far)


def main():
    tap = blk.Tap()
    compare_pause(tap, os.path.join(blk.ROOT, "tests", "traces", "pause", "trace"))
    for name in OWN:
        compare(tap, name, os.path.join(blk.ROOT, "tests", "traces", name, "trace"))
    for name in SHARED:
        trace = os.path.join(blk.ROOT, "..", "shared", "traces", name)
        if os.path.isdir(trace):
            compare(tap, name, trace)
        else:
            tap.skip(name, "no ../shared/traces")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
