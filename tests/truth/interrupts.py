#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the view of interrupts against a second count from babeltrace2's text.

A handler is counted at its exit, if that is of the handler that began last on its CPU; a switch or
a system call on the CPU means that none runs. Its time is from entry to exit, its own time is
without the handlers that began and ended meanwhile; it is taken from the thread that ran when it
began. A softirq waits from its first raise since its handler began last.

(The independent analyser reads `softirq_*` only, which no tracer of the last ten years writes: its
irqstats of the public trace are empty.)
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "rotation/trace",
          "ctf2/kernel-small/trace", "ctf2/kernel-ust/trace", "public/uneven-streams"]
SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()
TIMER = "timer_hrtimer_expire_"
BEGINS = {"irq_handler_entry", "irq_softirq_entry", TIMER + "entry"}
ENDS = {"irq_handler_exit", "irq_softirq_exit", TIMER + "exit"}


def key_of(e):
    if e.name.startswith("irq_handler"):
        return f"irq {e.payload['irq']}"
    if e.name.startswith(TIMER):
        return "hrtimer"
    return "softirq " + SOFTIRQS[e.payload["vec"]]


class Row:
    def __init__(self):
        self.times, self.self, self.waits = [], 0, []

    def row(self):
        t, w = self.times, self.waits
        return (len(t), self.self, sum(t), min(t, default=None), max(t, default=None), len(w),
                max(w, default=None))


class Interrupts:
    def __init__(self, events):
        self.rows = collections.defaultdict(Row)            # (cpu, name)
        self.stolen = collections.Counter()                 # (tid, name): ns
        self.current, self.stack = {}, collections.defaultdict(list)
        self.raised = {}
        for e in events:
            if e.name == "sched_switch" and e.cpu not in self.current:
                self.current[e.cpu] = e.payload["prev_tid"]
        for e in events:
            if not e.user_space:
                self.feed(e)

    def feed(self, e):
        stack = self.stack[e.cpu]
        if "tid" in e.ctx:
            self.current[e.cpu] = e.ctx["tid"]
        if e.name == "sched_switch":
            stack.clear()
            self.current[e.cpu] = e.payload["next_tid"]
        elif e.name.startswith(("syscall_", "compat_syscall_")):
            stack.clear()
        elif e.name == "irq_softirq_raise":
            self.raised.setdefault((e.cpu, key_of(e)), e.ns)
        elif e.name in BEGINS:
            key = key_of(e)
            since = self.raised.pop((e.cpu, key), None)
            if since is not None:
                self.rows[e.cpu, key].waits.append(e.ns - since)
            stack.append([key, e.ns, 0, self.current.get(e.cpu)])
        elif e.name in ENDS and stack:
            key, since, nested, tid = stack.pop()
            if stack:
                stack[-1][2] += e.ns - since
            if key == key_of(e):
                row = self.rows[e.cpu, key]
                row.times.append(e.ns - since)
                row.self += e.ns - since - nested
                self.stolen[tid, key] += e.ns - since - nested


def name_of(r):
    return " ".join(r["irq"].split()[:2]) if r["irq"].startswith("irq ") else r["irq"]


def compare(tap, name, trace):
    count = Interrupts(btparse.events(trace))
    expected = {k: r.row() for k, r in count.rows.items()}
    got = {(r["cpu"], name_of(r)): tuple(r[c] if c != "raise_count" else r[c] or 0 for c in (
        "count", "self_ns", "total_ns", "min_ns", "max_ns", "raise_count", "raise_max_ns"))
        for r in blk.rows("interrupts", trace, "--by", "cpu")}
    bad = [f"{k}: {got.get(k)} not {expected.get(k)}"
           for k in sorted(expected.keys() | got.keys()) if got.get(k) != expected.get(k)]
    tap.none(bad, f"{name}: {len(expected)} interrupts of CPUs")
    stolen = {k: ns for k, ns in count.stolen.items() if k[0]}
    got = collections.Counter()
    for r in blk.rows("interrupts", trace, "--by", "thread"):
        got[r["tid"], name_of(r)] += r["self_ns"]
    bad = [f"{k}: {got.get(k)} not {stolen.get(k)}"
           for k in sorted(stolen.keys() | got.keys(), key=str) if got.get(k) != stolen.get(k)]
    tap.none(bad, f"{name}: what interrupts took from threads, {len(stolen)} rows")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
