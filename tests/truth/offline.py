#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long it is unknown what a CPU did: blktop's view cpus against a recount of babeltrace2's text, of recordings
without losses.

Each event says which thread runs: by its context, or by a switch. Where an event contradicts the one before it on that
CPU, a switch is missing, and the time between the two is unknown: the CPU was offline. In exec() by a thread that is
not the leader, events in between have the leader's tid already, so time before and after them is unknown, too."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["mix1/trace", "demo/trace", "kernel-small/trace", "containers/trace"]


def recount(events):
    task, last, unknown = {}, {}, collections.Counter()
    for e in events:
        tid = e.ctx.get("tid", e.payload.get("prev_tid") if e.name == "sched_switch" else None)
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
