#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long it is unknown what a CPU did: blktop's view cpus against a recount of babeltrace2's text, of recordings
without losses.

Each event says which thread runs: by its context, or by a switch. Where an event contradicts the one before it on that
CPU, a switch is missing, and the time between the two is unknown: the CPU was offline. In exec() by a thread that is
not the leader, events have the leader's tid already before that of the exec: they are the same thread's."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["mix1/trace", "demo/trace", "kernel-small/trace", "containers/trace"]


def tid_of(e):
    return e.ctx.get("tid", e.payload.get("prev_tid") if e.name == "sched_switch" else None)


def early_tids(events):
    """Events of a thread that is not the leader, in its exec(), that have the leader's tid: their positions, and its tid before."""
    found, last, exits, left = {}, {}, set(), {}
    for i, e in enumerate(events):
        if e.name == "sched_process_exec" and e.payload["old_tid"] != e.payload["tid"]:
            old, new = e.payload["old_tid"], e.payload["tid"]
            begin = max(last.get(old, 0), left.get(new, 0))
            found.update({k: old for k in range(begin + 1, i) if tid_of(events[k]) == new})
        if e.name == "sched_process_exit":
            exits.add(e.payload["tid"])
        elif e.name == "sched_switch" and e.payload["prev_tid"] in exits:
            exits.discard(e.payload["prev_tid"])
            left[e.payload["prev_tid"]] = i         # the last event of an ended thread
        last[tid_of(e)] = i
    return found


def recount(events):
    task, last, unknown = {}, {}, collections.Counter()
    early = early_tids(events)
    for i, e in enumerate(events):
        tid = early.get(i, tid_of(e))
        if tid is None:                 # not the kernel's, or without a context
            continue
        if e.name == "sched_process_exec":
            tid = e.payload["old_tid"]
        if task.get(e.cpu, tid) != tid:
            unknown[e.cpu] += e.ns - last[e.cpu]
        became = {"sched_switch": "next_tid", "sched_process_exec": "tid"}.get(e.name)
        task[e.cpu] = e.payload[became] if became else tid
        last[e.cpu] = e.ns
    return unknown


def compare(tap, name, trace):
    events = [e for e in btparse.events(trace) if not e.name.startswith(("zipkin:", "lttng_ust"))]
    want = recount(events)
    for more in ((), ("--reader", "babeltrace2"), ("-j", "2", "--slices", "23")):
        found = {r["cpu"]: r["unknown_ns"] for r in blk.rows("cpus", trace, *more)}
        bad = [f"CPU {cpu}: {ns} not {want[cpu]}" for cpu, ns in sorted(found.items()) if ns != want[cpu]]
        tap.none(bad, f"{' '.join((name, *more))}: unknown time of {len(found)} CPUs, of {sum(want.values())} ns")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
