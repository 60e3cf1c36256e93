#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which threads are the kernel's, which were idle, and what priorities they had: the names kernel_thread and idle of
filters over the view processes, and the column prios of the view scheduler, against babeltrace2's text.

A thread is the kernel's if the state dump says so, or if it descends from kthreadd (pid 2) by forks. Priorities are those
of sched_switch (of both threads) and sched_migrate_task."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "mix1"]
DUMP = "lttng_statedump_process_state"


def dumped(events):
    """{pid: kernel thread?} by the state dump."""
    kinds = {}
    for e in events:
        if e.name == DUMP and e.payload["tid"] == e.payload["pid"]:
            kinds[e.payload["pid"]] = e.payload["type"] == 1
    return kinds


def judge_kernel(tap, name, trace, events):
    kinds = dumped(events)
    for e in events:
        if e.name == "sched_process_fork":
            kinds.setdefault(e.payload["child_tid"], e.payload["parent_tid"] == 2)
    everything = blk.rows("processes", trace)
    pids = lambda rows: sorted({r["pid"] for r in rows if r["pid"] in kinds})
    kernel = blk.rows("processes", trace, "--filter", "kernel_thread == 1")
    others = blk.rows("processes", trace, "--filter", "kernel_thread == 0")
    if not kinds:
        tap.skip(f"{name}: kernel threads", "no state dump")
        return
    tap.equal(pids(kernel), [p for p in pids(everything) if kinds[p]], f"{name}: {len(kernel)} kernel threads")
    tap.equal(pids(others), [p for p in pids(everything) if not kinds[p]], f"{name}: {len(others)} others")
    idle = blk.rows("processes", trace, "--filter", "idle == 1")
    tap.equal(len(idle), sum(r["cpu_ns"] == 0 and not r["syscalls"] for r in everything), f"{name}: {len(idle)} idle")


def judge_priorities(tap, name, trace, events):
    seen = collections.defaultdict(set)
    for e in events:
        p = e.payload
        if e.name == "sched_switch":
            seen[p["prev_tid"]].add(p["prev_prio"])
            seen[p["next_tid"]].add(p["next_prio"])
        elif e.name == "sched_migrate_task":
            seen[p["tid"]].add(p["prio"])
    bad, several = [], 0
    rows = blk.rows("scheduler", trace, "--by", "thread")
    twice = collections.Counter(r["tid"] for r in rows)
    for r in rows:
        known = seen[r["tid"]]
        if r["prios"] is None or twice[r["tid"]] > 1:
            continue
        several += 1
        if r["prios"] != f"{min(known)}..{max(known)}" or r["prio"] is not None:
            bad.append((r["tid"], r["prios"], sorted(known)))
    tap.none(bad, f"{name}: {several} threads with several priorities have them all")
    tap.none([(r["tid"], r["prio"], sorted(seen[r["tid"]])) for r in rows
              if r["prio"] is not None and r["prio"] not in seen[r["tid"]]], f"{name}: the others have one of theirs")
    return several


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    several = 0
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        events = btparse.events(trace)
        judge_kernel(tap, name, trace, events)
        several += judge_priorities(tap, name, trace, events)
    tap.note(f"{several} threads had several priorities")
    tap.done()


main()
