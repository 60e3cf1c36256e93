#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the scheduler's views against a second count from babeltrace2's text, and, on the public
trace uneven-streams, against an independent analyser's schedstats (lttng-analyses).

What is counted, by thread: switches out and how many of them were preemptions (prev_state 0 or
with the kernel's flag for it), sched_migrate_task, CPUs seen by switches that differ from the one
before, and the time from the first wakeup after a switch-out (of a new thread: its first) and from
a preemption to the next switch in. Who runs when the trace begins, runs: its wakeups are nothing.

The analyser's difference: it does not know preempted threads from blocked ones, so it counts a
wakeup of a thread that was preempted when it was seen last. (One CPU of several is in that trace:
the thread went on elsewhere, blocked there, and was woken.) To blktop such a thread is preempted
until it is seen again, and its wait is one after a preemption. The second count can do both.
"""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "rotation/trace",
          "ctf2/demo/trace", "ctf2/kernel-small/trace", "public/uneven-streams"]


class Latency:
    def __init__(self):
        self.count = self.total = self.max = 0
        self.min = None

    def add(self, ns):
        self.count += 1
        self.total += ns
        self.max = max(self.max, ns)
        self.min = ns if self.min is None else min(self.min, ns)


class Thread:
    def __init__(self, state):
        self.state, self.since, self.wake = state, None, None
        self.early = False          # woken since it runs, before it was switched out as blocked
        self.cpu = None
        self.switches = self.preemptions = self.migrations = self.moves = 0
        self.woken, self.again = Latency(), Latency()
        self.prios = set()

    def seen(self, cpu, prio):
        self.moves += self.cpu is not None and self.cpu != cpu
        self.cpu = cpu
        self.prios.add(prio)

    def row(self):
        return (self.switches, self.preemptions, self.migrations, self.moves, self.woken.count,
                self.woken.total, self.woken.min, self.woken.max or None, self.again.count,
                self.again.total, self.again.max or None)


# A thread that is woken while it runs, and is switched out as blocked, and in again without another wakeup within this
# time, was runnable in between: its waker waited until it had left the CPU.
EARLY_NS = 1000000000
COLUMNS = ("switches", "preemptions", "migrations", "moves", "count", "total_ns", "min_ns", "max_ns",
           "preempted_count", "preempted_ns", "preempted_max_ns")


class Scheduler:
    def __init__(self, events, flag, wakeable=("blocked", "unknown")):
        self.wakeable = wakeable
        self.flag = flag
        self.threads = {}
        self.migrates = any(e.name == "sched_migrate_task" for e in events)
        seen = set()
        for e in events:        # who runs when the trace begins
            if e.name == "sched_switch" and e.cpu not in seen:
                seen.add(e.cpu)
                self.thread(e.payload["prev_tid"]).state = "on"
        for e in events:
            if e.name == "sched_switch":
                self.switch(e, e.payload)
            elif e.name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
                self.wakeup(e)
            elif e.name == "sched_process_fork":
                # its tid may have been another's
                self.threads[e.payload["child_tid"], "old", e.ns] = self.threads.pop(
                    e.payload["child_tid"], Thread("dead"))
                self.thread(e.payload["child_tid"]).state = "new"
            elif e.name == "sched_migrate_task":
                self.thread(e.payload["tid"]).migrations += 1
            elif e.name.startswith("syscall_") and "tid" in e.ctx:
                self.thread(e.ctx["tid"]).state = "on"

    def thread(self, tid):
        return self.threads.setdefault(tid, Thread("unknown"))

    def wakeup(self, e):
        t = self.thread(e.payload["tid"])
        if t.state in self.wakeable:
            t.state, t.wake = "woken", e.ns
        elif t.state == "on":
            t.early = True
        elif t.state == "new" and t.wake is None:
            t.wake = e.ns

    def switch(self, e, p):
        t, preempted = self.thread(p["prev_tid"]), p["prev_state"] == 0 or p["prev_state"] & self.flag
        t.switches += 1
        t.preemptions += bool(preempted)
        t.state, t.since, t.wake = "preempted" if preempted else "blocked", e.ns, None
        t.seen(e.cpu, p["prev_prio"])
        t = self.thread(p["next_tid"])
        if t.state == "preempted":
            t.again.add(e.ns - t.since)
        elif t.state == "woken" or (t.state == "new" and t.wake is not None):
            t.woken.add(e.ns - t.wake)
        elif t.state == "blocked" and t.early and e.ns - t.since <= EARLY_NS:
            t.woken.add(e.ns - t.since)
        t.state, t.wake, t.early = "on", None, False
        t.seen(e.cpu, p["next_prio"])

    def rows(self):
        """{tid: sum of all that had it}"""
        found = collections.defaultdict(list)
        for key, t in self.threads.items():
            tid = key[0] if isinstance(key, tuple) else key
            if tid and (t.switches or t.woken.count or t.again.count or t.migrations):
                if not self.migrates:
                    t.migrations = t.moves
                found[tid].append(t.row())
        return {tid: sorted(rows, key=str) for tid, rows in found.items()}


def by_tid(rows):
    found = collections.defaultdict(list)
    for r in rows:
        found[r["tid"]].append(tuple(r[c] for c in COLUMNS))
    return {tid: sorted(r, key=str) for tid, r in found.items()}


def compare(tap, name, trace):
    events = btparse.events(trace)
    flag = 4096 if name.startswith("public") else 256       # Linux 4.11 there
    expected = Scheduler(events, flag).rows()
    got = by_tid(blk.rows("scheduler", trace, "--by", "thread"))
    bad = [f"tid {tid}: {got.get(tid)} not {expected.get(tid)}"
           for tid in sorted(expected.keys() | got.keys()) if got.get(tid) != expected.get(tid)]
    tap.none(bad, f"{name}: {len(expected)} threads, {COLUMNS}")
    whole = {by: blk.rows("scheduler", trace, "--by", by)
             for by in ("system", "process", "thread", "cpu", "priority")}
    sums = {by: [sum(r[c] or 0 for r in rows) for c in COLUMNS if c not in ("min_ns", "max_ns",
                 "preempted_max_ns")] for by, rows in whole.items()}
    tap.none([f"{by}: {s} not {sums['thread']}" for by, s in sums.items() if s != sums["thread"]],
             f"{name}: the same sums by whatever it is grouped")
    wakes = sum(r["count"] for r in blk.rows("wakers", trace))
    tap.equal(wakes, sums["thread"][4], f"{name}: every wakeup that got a CPU has a waker's row")


def oracle(tap, name, trace):
    where = os.path.join(blk.SHARED, "oracle", name, "schedstats.mi.json")
    if not trace or not os.path.exists(where):
        tap.skip("the analyser's schedstats", "the public trace or its oracle is not there")
        return
    with open(where) as f:
        table = next(t for t in json.load(f)["results"] if t["class"] == "per_tid_stats")
    expected = {r[0]["tid"]: (r[1]["value"], r[2]["value"], r[4]["value"]) for r in table["data"]}
    count = Scheduler(btparse.events(trace), 4096, ("blocked", "unknown", "preempted"))
    got = {tid: (t.woken.count, t.woken.min, t.woken.max) for tid, t in count.threads.items()
           if tid and t.woken.count}
    bad = [f"tid {tid}: {got.get(tid)} not {expected.get(tid)}"
           for tid in sorted(expected.keys() | got.keys()) if got.get(tid) != expected.get(tid)]
    tap.none(bad, f"the second count, in the analyser's way, agrees with it on {len(expected)} threads")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    blk.each_trace(tap, TRACES, compare)
    oracle(tap, "uneven-streams", blk.find("public", "uneven-streams"))
    tap.done()


if __name__ == "__main__":
    main()
