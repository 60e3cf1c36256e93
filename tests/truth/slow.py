#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The slowest calls of each second, against a recount of babeltrace2's text: of calls that wait for something to do, and of
all others, the longest of each second. A call that waits did so while working if a span of its thread, as the view spans
has it, was open at its entry, else for work; those for work come last."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "kernel-ust/trace", "demo/trace"] + ["mix1/trace", "containers/trace"] * blk.ALL
MOST = 64
WAITS = re.compile(r"((_new|old_|p)?select6?|p?poll|epoll_p?wait2?|accept4?|(clock_)?nanosleep|pause|(rt_)?sigsuspend|"
                   r"rt_sigtimedwait|wait(4|id|pid))(_time32|_time64)?$")
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group"}


def calls(trace):
    """{(second of the exit, waits): [(duration, tid, name, begin)]}, the longest first."""
    offset, pending, found = btparse.offset(trace), {}, collections.defaultdict(list)
    for e in btparse.events(trace):
        what, name = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if e.name == "sched_process_exec" and e.payload["old_tid"] in pending:
            pending[e.payload["tid"]] = pending.pop(e.payload["old_tid"])     # it ends in the leader
        elif what == "entry":
            pending[tid] = name, e.ns + offset, tid
        elif what == "exit" and tid in pending:
            entered, begin, caller = pending.pop(tid)
            if entered == name and name not in NO_EXIT:
                end = e.ns + offset
                found[end // 10**9, bool(WAITS.match(name))].append((end - begin, caller, name, begin))
    for of in found.values():
        of.sort(key=lambda c: (-c[0], c[3]))
    return found


def judge(tap, name, trace):
    want, got = calls(trace), collections.defaultdict(list)
    rows = blk.rows("slow", trace, lossy=True)
    for r in rows:
        waits = bool(WAITS.match(r["syscall"]))
        got[(r["begin_ns"] + r["duration_ns"]) // 10**9, waits].append(
            (r["duration_ns"], r["tid"], r["syscall"], r["begin_ns"]))
    bad = []
    for key in sorted(want.keys() | got.keys()):
        longest = [c[0] for c in want[key][:MOST]]
        if sorted((c[0] for c in got[key]), reverse=True) != longest or set(got[key]) - set(want[key]):
            bad.append(f"second {key}: {set(got[key]) - set(want[key][:MOST])}, not {set(want[key][:MOST]) - set(got[key])}")
    tap.none(bad, f"{name}: {len(rows)} slowest calls of {len({s for s, _ in want})} seconds, {sum(map(len, want.values()))} calls")

    spans = collections.defaultdict(list)
    for s in blk.rows("spans", trace, lossy=True):
        spans[s["tid"]].append((s["begin_ns"], s["begin_ns"] + s["duration_ns"]))
    said = collections.Counter(r["waited"] for r in rows)
    bad = []
    for r in rows:
        worked = any(begin <= r["begin_ns"] < end for begin, end in spans[r["tid"]])
        wanted = None if not WAITS.match(r["syscall"]) else "while working" if worked else "for work"
        if r["waited"] != wanted:
            bad.append(f"{r['waited']}, not {wanted}: {r}")
    tap.none(bad, f"{name}: {said['for work']} waited for work, {said['while working']} while working")
    kinds = [r["waited"] == "for work" for r in rows]
    tap.ok(kinds == sorted(kinds), f"{name}: waits for work are last")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, judge)
    tap.done()


if __name__ == "__main__":
    main()
