#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The view timeline, to the nanosecond.

- By CPU: who ran on which CPU in which step, recounted from the sched_switch events of babeltrace2's text: running and
  idle time, the thread that ran longest, and how long. Steps between the first and the last switch of a CPU are compared.
- By thread: the sums of each thread's steps are its row in `processes --by thread` of the same range, part by part; each
  dominant state is the largest part; and the threads' time on a CPU is the CPUs' running time.
- Devices and interrupts: the steps sum to the rows of the views devices and interrupts.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace"] + ["demo/trace", "block/trace", "mix1/trace", "containers/trace"] * blk.ALL
MS = 1000000
STEPS = {"1ms": MS, "10ms": 10 * MS, "1s": 1000 * MS}
PARTS = ("user_ns syscall_ns kernel_ns irq_ns preempted_ns wakeup_ns file_ns socket_ns pipe_ns futex_ns timer_ns "
         "poll_ns fault_ns other_ns stopped_ns unknown_ns").split()
UNKNOWN = -1             # instead of a tid
EXECUTED = 1 << 32
GROUPS = {"cpu_ns": PARTS[:4], "runnable_ns": PARTS[4:6], "blocked_ns": PARTS[6:15]}


def timeline(trace, by, step, *more):
    return blk.rows("timeline", trace, "--by", by, "--step", step, *more)


def recount(events, offset):
    """By CPU: [(from, to, tid)], who ran. Where an event is of another thread than the last switch was to, a switch is missing (of a CPU
    that was taken away): UNKNOWN from the event before it on. sched_process_exec is of old_tid; then another thread, of EXECUTED + tid, runs."""
    ran, now = collections.defaultdict(list), {}        # now: since, tid, latest event
    for e in events:
        if e.user_space:
            continue
        at = e.ns + offset
        since, tid, latest = now.get(e.cpu, (None, None, None))
        of = {"sched_switch": "prev_tid", "sched_process_exec": "old_tid"}.get(e.name)
        becomes = {"sched_switch": "next_tid", "sched_process_exec": "tid"}.get(e.name)
        seen = e.payload[of] if of else e.ctx.get("tid", tid)
        if tid is not None and seen != tid % EXECUTED:
            ran[e.cpu] += [(since, latest, tid), (latest, at, UNKNOWN)]
            since, tid = at, seen
        if becomes and since is not None:
            ran[e.cpu].append((since, at, tid))
        if e.name == "sched_switch" or becomes and since is not None:
            since, tid = at, e.payload[becomes] + (EXECUTED if e.name != "sched_switch" and e.payload["tid"] != seen else 0)
        if tid is not None:
            now[e.cpu] = since, tid, at
    return ran


def in_steps(runs, step):
    """By step's begin: Counter of tids."""
    found = collections.defaultdict(collections.Counter)
    for begin, end, tid in runs:
        while begin < end:
            at = begin // step * step
            until = min(end, at + step)
            found[at][tid] += until - begin
            begin = until
    return found


def judge_cpus(tap, name, trace, runs, step):
    ns, bad, n = STEPS[step], [], 0
    rows = {(r["cpu"], r["begin_ns"] // ns * ns): r for r in timeline(trace, "cpu", step)}
    for cpu, pieces in runs.items():
        first, end = pieces[0][0], pieces[-1][1]
        for at, who in in_steps(pieces, ns).items():
            if at < first or at + ns > end:
                continue
            n += 1
            r = rows.get((cpu, at))
            if not r:
                bad.append(f"CPU{cpu} {at}: no row, {who}")
                continue
            idle, unknown = who.pop(0, 0), who.pop(UNKNOWN, 0)
            most = max(who.values(), default=None)
            if (r["run_ns"], r["idle_ns"], r["unknown_ns"]) != (sum(who.values()), idle, unknown):
                bad.append(f"CPU{cpu} {at}: run {sum(who.values())}, idle {idle}, not {r}")
            elif r["who_ns"] != most or (most and most not in (who[r["who_tid"]], who[EXECUTED + r["who_tid"]])):
                bad.append(f"CPU{cpu} {at}: {who.most_common(2)}, not {r['who_tid']} for {r['who_ns']}")
            elif unknown > max(idle, r["run_ns"]):
                if r["state"] != "unknown":
                    bad.append(f"CPU{cpu} {at}: {r['state']}, not unknown")
            elif r["state"] != ("running" if r["run_ns"] >= idle and r["run_ns"] else "idle"):
                bad.append(f"CPU{cpu} {at}: {r['state']}")
            elif r["begin_ns"] != at or r["end_ns"] != at + ns:
                bad.append(f"CPU{cpu} {at}: from {r['begin_ns']} to {r['end_ns']}")
    tap.none(bad, f"{name}: who ran on which CPU in {n} steps of {step}")
    tap.ok(n > 0, f"{name}: steps of {step} were compared")


def judge_threads(tap, name, trace, step, *span):
    sums, wrong = collections.defaultdict(collections.Counter), []
    rows = timeline(trace, "thread", step, *span)
    for r in rows:
        parts = {p: r[p] or 0 for p in PARTS}
        sums[r["tid"]].update(parts)
        most = max(parts.values())
        if r["state"] is not None and (r["state_ns"] != most or parts[r["state"] + "_ns"] != most):
            wrong.append(r)
    tap.none(wrong, f"{name}: the dominant state is the largest part, {len(rows)} rows")
    want = collections.defaultdict(collections.Counter)
    for r in blk.rows("processes", trace, "--by", "thread", "--step", step, *span):
        for what in (*GROUPS, *PARTS[:4], "unknown_ns"):
            want[r["tid"]][what] += r[what] or 0
    for found in sums.values():
        for group, of in GROUPS.items():
            found[group] = sum(found[p] for p in of)
    bad = [f"{tid} {what}: {ns}, not {sums[tid][what]}" for tid, w in want.items() for what, ns in w.items()
           if sums[tid][what] != ns]
    tap.none(bad, f"{name} {' '.join(span)}: {len(want)} threads' steps of {step} sum to their rows")
    running = sum(r["run_ns"] or 0 for r in timeline(trace, "cpu", step, *span))
    on_cpu = sum(found["cpu_ns"] for found in sums.values())
    tap.equal(on_cpu, running, f"{name} {' '.join(span)}: threads are on a CPU as long as CPUs run")


def judge_machine(tap, name, trace):
    sums = collections.Counter()
    for r in timeline(trace, "system", "10ms"):
        for what in ("busy_ns", "depth_ns", "handler_ns"):
            sums[r["kind"], r["lane"], what] += r[what] or 0
    want = collections.Counter()
    for r in blk.rows("devices", trace, "--by", "system"):
        if r["kind"] == "block":
            want["device", r["device"], "busy_ns"] += r["busy_ns"] or 0
            want["device", r["device"], "depth_ns"] += r["depth_ns"] or 0
    for r in blk.rows("interrupts", trace, "--by", "system"):
        want["interrupt", r["irq"], "handler_ns"] += r["self_ns"] or 0
    bad = [f"{key}: {ns}, not {sums[key]}" for key, ns in want.items() if sums[key] != ns]
    tap.none(bad, f"{name}: the steps of devices and interrupts sum to {len(want)} figures")


def compare(tap, name, trace):
    events, offset = btparse.events(trace), btparse.offset(trace)
    runs = recount(events, offset)
    for step in STEPS:
        judge_cpus(tap, name, trace, runs, step)
    judge_threads(tap, name, trace, "10ms")
    judge_threads(tap, name, trace, "1ms", "--from", "30%", "--to", "34%")
    for by in ("process", "container"):
        parts = [sum(r[p] or 0 for r in timeline(trace, how, "100ms") for p in PARTS) for how in ("thread", by)]
        tap.equal(parts[1], parts[0], f"{name}: lanes by {by} sum to those of threads")
    judge_machine(tap, name, trace)


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    tap.done()


main()
