#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds blktop against an independent analyser's results (lttng-analyses) on the public trace
uneven-streams: count, min and max of every (tid, system call), the CPU time of every tid.

The analyser's differences, as its README explains them, are undone one by one:
1. It drops system calls before the first sched_switch of a CPU; blktop knows from that switch's
   prev_tid who made them. The calls concerned are taken from the text and merged into its rows.
2. System calls that the tracer does not name are one row `unknown` to it; blktop names them by
   number, so its rows of such names are merged.
3. It prints CPU as a ratio of [first event, last event]: a double, so the time computed back is
   compared to the nanosecond after rounding.
4. It pairs an exit with whatever call of the thread is pending; blktop only with an entry of the
   same call (this trace holds one CPU of several: threads go on elsewhere, unseen). Its wrong
   pairs are taken from the text and merged into blktop's rows.
5. The idle task's row (`swapper/N (0)`) is left out.
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from recount import as_calls, Calls, Recount

NAME = "uneven-streams"


def load(name):
    with open(os.path.join(blk.SHARED, "oracle", NAME, name)) as f:
        return json.load(f)["results"]


def oracle_calls():
    """{(tid, name): (count, min, max)}"""
    found = {}
    for table in load("syscallstats.mi.json"):
        title = table["class"]["title"] if isinstance(table["class"], dict) else ""
        m = re.search(r"TID: (\d+)\)\]$", title)
        if not m:
            continue
        for row in table["data"]:
            found[int(m[1]), row[0]["name"]] = (row[1]["value"], row[2]["value"], row[4]["value"])
    return found


def oracle_cpu():
    """{tid: ns}, and the length of the trace"""
    table = next(t for t in load("cputop.mi.json") if t["class"] == "per-process")
    length = table["time-range"]["end"]["value"] - table["time-range"]["begin"]["value"]
    return {row[0]["tid"]: row[3]["value"] * length for row in table["data"] if row[0]["tid"]}, length


def fold(rows, unnamed):
    """Rows {(tid, name): Calls} with the names the tracer lacks as `unknown`."""
    out = {}
    for (tid, name), c in rows.items():
        key = tid, "unknown" if name in unnamed else name
        out.setdefault(key, Calls()).merge(c)
    return out


def compare_calls(tap, who, expected, rows, wrong_pairs):
    bad = []
    for tid, name, duration, ret in wrong_pairs:
        rows.setdefault((tid, name), Calls()).add(duration, ret)
    for key in sorted(expected.keys() | rows.keys()):
        a = expected.get(key)
        b = (rows[key].count, rows[key].min, rows[key].max) if key in rows else None
        if a != b:
            bad.append(f"{key}: {b} not {a} (count, min, max)")
    tap.none(bad, f"{who}: count, min, max of {len(expected)} (tid, system call) rows")


def compare_cpu(tap, who, expected, cpu):
    bad = [f"tid {tid}: {cpu.get(tid)} not {expected.get(tid)}"
           for tid in sorted(expected.keys() | {t for t in cpu if t and cpu[t]})
           if round(expected.get(tid, 0)) != cpu.get(tid, 0)]
    tap.none(bad, f"{who}: CPU time of {len(expected)} tids")


def main():
    blk.need_babeltrace2()
    trace = blk.find("public", NAME)
    if not trace or not os.path.isdir(os.path.join(blk.SHARED, "oracle", NAME)):
        blk.skip_all(f"the public trace {NAME} or its oracle is not there")
    tap = blk.Tap()
    events = btparse.events(trace)
    count = Recount(events)
    unnamed = {btparse.syscall(e)[1] for e in events
               if e.name.startswith("syscall_") and e.name.endswith("_unknown")}
    expected = oracle_calls()
    cpu, length = oracle_cpu()
    tap.equal(events[-1].ns - events[0].ns, length, "the oracle's range is first to last event")

    # Difference 1: the early calls, merged into the oracle's rows.
    early = collections.defaultdict(Calls)
    for tid, name, duration, ret in count.early:
        early[tid, "unknown" if name in unnamed else name].add(duration, ret)
    tap.note(f"{sum(c.count for c in early.values())} calls before a CPU's first switch in "
             f"{len(early)} rows, {len(count.mismatched)} exits of another call than the pending one")
    for key, c in early.items():
        n, low, high = expected.get(key, (0, c.min, c.max))
        expected[key] = (n + c.count, min(low, c.min), max(high, c.max))

    compare_calls(tap, "text", expected, fold(count.calls, unnamed), count.mismatched)
    compare_cpu(tap, "text", cpu, count.cpu)
    if not blk.have_blktop():
        tap.skip("blktop", f"no {blk.BLKTOP}")
        tap.done()
    try:
        rows = {(r["tid"], r["syscall"]): as_calls(r)
                for r in blk.calls(trace) if r["count"]}
        compare_calls(tap, "blktop", expected, fold(rows, unnamed), count.mismatched)
        compare_cpu(tap, "blktop", cpu, {
            r["tid"]: r["cpu_ns"] for r in blk.rows("processes", trace, "--by", "thread")
            if r["tid"]})
    except (blk.Failed, KeyError) as e:
        tap.ok(False, "blktop's rows", repr(e))
    tap.done()


if __name__ == "__main__":
    main()
