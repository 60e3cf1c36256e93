#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where blktop says that events of a CPU may be lost, against the stream files' packets and babeltrace2's events:
- from the end of a packet to the begin of the next one, where the counter rose with that one;
- from the last event of such a packet to its end; and nowhere but there and between its last events;
- wherever an event contradicts the last one on its CPU about who runs there;
and the seconds that such a window overlaps say so."""
import bisect
import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
import packets

LAST_EVENTS = 200       # of a packet: before these any event would have fitted
SWITCH = "sched_switch"


def union(windows):
    """Sorted, without overlaps."""
    merged = []
    for a, b in sorted(windows):
        if merged and a <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], b)
        else:
            merged.append([a, b])
    return merged


def covers(windows, a, b):
    """Is [a, b] inside one of the merged windows?"""
    i = bisect.bisect_right(windows, [a, 1 << 63]) - 1
    return i >= 0 and windows[i][0] <= a and b <= windows[i][1]


def overlaps(windows, a, b):
    i = bisect.bisect_left(windows, [b]) - 1
    return i >= 0 and windows[i][1] > a


def contradictions(events):
    """[(time of the event before, time, cpu)]: the event's context names another thread than runs there."""
    found, on, last = [], {}, {}
    for e in events:
        if e.user_space:
            continue
        tid = e.ctx.get("tid")
        if tid is not None and e.cpu in on and on[e.cpu] != tid:
            found.append((last[e.cpu], e.ns, e.cpu))
        if tid is not None:
            on[e.cpu] = tid
        if e.name == SWITCH:
            on[e.cpu] = e.payload["next_tid"]
        last[e.cpu] = e.ns
    return found


def judge(tap, name, trace):
    events = btparse.events(trace)
    at = collections.defaultdict(list)
    for e in events:
        if not e.user_space:
            at[e.cpu].append(e.ns)
    status, out, err = blk.blktop("log", "--format", "json", trace)
    if status != 3:
        raise blk.Failed(f"blktop log: status {status}: {err.strip()[:400]}")
    offset = btparse.offset(trace)
    said = collections.defaultdict(list)
    for line in map(json.loads, out.splitlines()):
        if line["kind"] == "loss":
            said[line["cpu"]].append([line["time_ns"] - offset, line["to_ns"] - offset])
    said = {cpu: union(w) for cpu, w in said.items()}
    sure, may = collections.defaultdict(list), collections.defaultdict(list)
    for gap, begin, end, next_at_end, cpu in packets.discarded(trace):
        if gap < begin:
            sure[cpu].append([gap, begin])
        last = (bisect.bisect_left if next_at_end else bisect.bisect_right)(at[cpu], end)
        first = bisect.bisect_left(at[cpu], begin)
        tail = max(begin, at[cpu][last - 1]) if last else begin
        if tail < end:
            sure[cpu].append([tail, end])
        may[cpu] += [[gap, begin], [max(begin, at[cpu][max(first, last - LAST_EVENTS)] if last else begin), end]]
    bad = [(cpu, w) for cpu, all_of_it in sure.items() for w in all_of_it if not covers(said.get(cpu, []), *w)]
    tap.none(bad, f"{name}: {sum(map(len, sure.values()))} windows without an event, in which events were lost")
    may = {cpu: union(w) for cpu, w in may.items()}
    bad = [(cpu, w) for cpu, all_of_it in said.items() for w in all_of_it if not covers(may.get(cpu, []), *w)]
    tap.none(bad, f"{name}: no other windows")
    wrong = contradictions(events)
    bad = [c for c in wrong if not overlaps(said.get(c[2], []), c[0], c[1])]
    tap.none(bad, f"{name}: {len(wrong)} contradictions about who runs, all where events may be lost")
    judge_seconds(tap, name, trace, {cpu: union(w) for cpu, w in sure.items()}, offset)


def judge_seconds(tap, name, trace, sure, offset):
    bad = []
    for o in blk.objects("cpus", trace, "--each", lossy=True):
        begin, end = o["range"]["from_ns"] - offset, o["range"]["to_ns"] - offset
        lost = {cpu: sum(max(0, min(b, end) - max(a, begin)) for a, b in w) for cpu, w in sure.items()}
        if o["trust"]["lost_ns"] < sum(lost.values()) or o["trust"]["lost_cpus"] < sum(map(bool, lost.values())):
            bad.append((o["range"], o["trust"]["lost_ns"], o["trust"]["lost_cpus"], lost))
        bad += [(o["range"], row["cpu"], row["unknown_ns"], lost[row["cpu"]])
                for row in o["rows"] if row["unknown_ns"] < lost.get(row["cpu"], 0)]
    tap.none(bad, f"{name}: each second says for how long, on which CPUs")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    for name in ("lost/trace", "mix2/lossy"):
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        try:
            judge(tap, name, trace)
        except (blk.Failed, RuntimeError) as e:
            tap.ok(False, f"{name}: judged", e)
    tap.done()


main()
