#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One quantity has one value: what several views, or a view and a metric, show is computed from each of them and
compared, over whole recordings, second by second and in a range that is none of whole seconds.

To add a quantity, add a row to QUANTITIES: its name, the columns that identify whose it is, and the sources. A
source is a view with its options, a column (or several, which are summed), and which rows count. A source that has
not all values, because the trace has no events for them, is left out. Each pair of sources must have values in one of
the recordings.

    agree.py              the recordings
    agree.py DIR...       these traces
"""
import collections
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
from machine import PARTS

QUICK = ["kernel-small/trace", "lost/trace", "nested/trace", "snapshot/trace"]
MORE = ["demo/trace", "block/trace", "net/trace", "kernel-ust/trace", "live/trace", "rotation/trace",
        "containers/trace", "faults/trace", "pause/trace", "thumb/trace", "ust-fields/trace",
        "lost/trace-overwrite", "ctf2/kernel-small/trace", "ctf2/lost/trace",
        "mix1", "mix2", "public/uneven-streams"]
REPORTS = ["migrate-in-before-out", "migrate-in-before-out.control", "block-end-before-issue.cause",
           "block-end-before-issue.cause.control", "span-begins-before-kernel.small", "waking-before-switch-out",
           "syscalls-pid-context-only", "syscalls-without-tid-and-switch", "restart-syscall.timer"]
RANGES = {"whole": (), "by second": ("--each",), "30 % to 70 %": ("--from", "30%", "--to", "70%")}


class Source:
    def __init__(self, what, columns, where=lambda row: True):
        """what: a view and its options; "--metric X": a metric. columns: one, or several that are summed."""
        self.what = tuple(what.split() if what.startswith("--") else ["--view", *what.split()])
        self.columns = columns.split()
        self.where = where
        self.name = what

    def values(self, rows, keys):
        """{key: value}, those that are not 0; None: not all are known."""
        found = collections.Counter()
        for row in rows:
            if not self.where(row):
                continue
            values = [row[column] for column in self.columns]
            if None in values:
                return None
            found[tuple(row[key] for key in keys)] += sum(values)
        return {key: value for key, value in found.items() if value}


def metric(name, by, columns="total_ns", where=lambda row: True):
    return Source(f"--metric {name} --by {by}", columns, where)


def having(**wanted):
    return lambda row: all(row.get(key) == value for key, value in wanted.items())


def is_request(row):
    return row["parent_id"] is None or row["kind"] == "server"


def has_ended(row):
    return row["state"] == "complete"


THREAD = ("pid", "tid")
STATES = "cpu_ns runnable_ns blocked_ns unknown_ns"
ON_CPU = "user_ns syscall_ns kernel_ns irq_ns"
# parts of threads: their time of disk and writeback is one, "file"
OF_THREADS = [part for part in PARTS if part not in ("handoff", "unknown", "disk")]

QUANTITIES = [
    ("time on a CPU", ("tid",),
     Source("processes --by thread", "cpu_ns"),
     Source("processes --by thread", ON_CPU),
     Source("timeline --by thread", ON_CPU, having(kind="thread")),
     metric("thread.time", "tid,part", where=lambda row: row["part"] + "_ns" in ON_CPU.split())),
    ("time that CPUs ran threads", (),
     Source("cpus", "run_ns"),
     metric("cpu.run", "cpu"),
     Source("timeline --by system", "run_ns", having(kind="cpu")),
     metric("ran.time", "tid")),
    ("idle time of CPUs", (),
     Source("cpus", "idle_ns"),
     metric("cpu.idle", "cpu"),
     Source("timeline --by system", "idle_ns", having(kind="cpu"))),
    ("time taken by interrupts from CPUs", ("cpu",),
     Source("cpus", "irq_ns"), metric("cpu.irq", "cpu")),
    ("time taken by interrupts from threads", ("tid",),
     Source("processes --by thread", "irq_ns"),
     metric("thread.time", "tid,part", where=having(part="irq"))),
    ("lives of threads", (),
     Source("processes --by thread", STATES),
     Source("processes --by process", STATES),
     Source("processes --by system", STATES),
     Source("flame --by thread", "total_ns", having(depth=0)),
     Source("flame --by process", "total_ns", having(depth=0)),
     metric("thread.time", "part")),
    *[(f"{part} time of threads", ("tid",),
       Source("timeline --by thread", part + "_ns", having(kind="thread")),
       metric("thread.time", "tid,part", where=having(part=part))) for part in OF_THREADS],
    ("file time of threads", ("tid",),
     Source("timeline --by thread", "file_ns", having(kind="thread")),
     metric("thread.time", "tid,part", where=having(part="disk"))),
    ("file time of spans", (),
     Source("spans", "file_ns", has_ended),
     metric("span.time", "part", where=lambda row: row["part"] in ("disk", "writeback"))),
    ("runnable time", THREAD,
     Source("processes --by thread", "runnable_ns"),
     Source("timeline --by thread", "preempted_ns wakeup_ns", having(kind="thread"))),
    ("time from wakeups to a CPU", THREAD,
     Source("scheduler --by thread", "total_ns"),
     Source("wakers --by thread", "total_ns"),
     metric("sched.wakeup", "pid,tid"),
     metric("wakeup.total", "pid,tid")),
    ("time from wakeups to a CPU, in all", (),
     Source("scheduler --by process", "total_ns"),
     Source("scheduler --by cpu", "total_ns"),
     Source("scheduler --by priority", "total_ns")),
    ("wakeups", THREAD,
     Source("scheduler --by thread", "count"), Source("wakers --by thread", "count")),
    ("wakeups, in all", (),
     Source("scheduler --by cpu", "count"), Source("wakers --by process", "count"),
     Source("wakers --by system", "count")),
    ("time from preemptions to a CPU", THREAD,
     Source("scheduler --by thread", "preempted_ns"), metric("sched.preempted", "pid,tid")),
    ("system calls", THREAD,
     Source("processes --by thread", "syscalls"),
     Source("syscalls --by thread", "count"),
     metric("call.latency", "pid,tid", "count")),
    ("system calls, in all", (),
     Source("processes --by process", "syscalls"), Source("syscalls --by process", "count"),
     Source("syscalls --by system", "count")),
    ("failed system calls", THREAD,
     Source("syscalls --by thread", "errors"), metric("call.errors", "pid,tid", "total")),
    ("time in system calls", THREAD,
     Source("syscalls --by thread", "busy_ns"), metric("call.busy", "pid,tid")),
    ("time from entry to exit of system calls", THREAD,
     Source("syscalls --by thread", "total_ns"), metric("call.latency", "pid,tid")),
    ("bytes read", ("pid",),
     Source("processes --by process", "read_bytes"), Source("io --by process", "read_bytes"),
     Source("files --by process", "read_bytes")),
    ("bytes written", ("pid",),
     Source("processes --by process", "write_bytes"), Source("io --by process", "write_bytes"),
     Source("files --by process", "write_bytes")),
    ("reads and writes", ("pid",),
     Source("io --by process", "reads writes"), Source("files --by process", "reads writes")),
    ("block requests", (),
     Source("devices --by system", "reads writes others", having(kind="block")),
     Source("devices --by process", "reads writes others", having(kind="block")),
     metric("device.requests", "device", "total"),
     metric("block.requests", "device", "total")),
    ("bytes of block requests", (),
     Source("devices --by system", "read_bytes write_bytes", having(kind="block")),
     Source("devices --by process", "read_bytes write_bytes", having(kind="block"))),
    ("busy time of block devices", (),
     Source("devices --by system", "busy_ns", having(kind="block")),
     Source("timeline --by system", "busy_ns", having(kind="device")),
     metric("device.busy", "device")),
    ("time in interrupt handlers", ("irq",),
     Source("interrupts --by system", "total_ns"), Source("interrupts --by cpu", "total_ns")),
    ("own time of interrupt handlers, in all", (),
     Source("interrupts --by system", "self_ns"), Source("interrupts --by cpu", "self_ns"),
     metric("interrupt.self", "interrupt")),
    ("interrupts of threads", THREAD,
     Source("interrupts --by thread", "count"), metric("interrupted.count", "pid,tid", "total")),
    ("time that interrupts took from threads", THREAD,
     Source("interrupts --by thread", "self_ns"), metric("interrupted.self", "pid,tid")),
    ("events", ("name",),
     Source("events --by system", "count"), Source("events --by process", "count"),
     Source("events --by thread", "count")),
    ("losses", ("cpu",),
     Source("losses", "events", lambda row: row["events"] is not None), metric("loss.events", "cpu", "total")),
    ("lost time", ("cpu",),
     Source("losses", "lost_ns"), metric("loss.ns", "cpu")),
    ("spans of known duration", ("service", "span"),
     Source("spans", "duration_ns", has_ended), metric("span.latency", "service,span")),
    ("requests of known duration", ("service", "operation"),
     Source("overview", "count"),
     Source("spans", "one", lambda row: is_request(row) and has_ended(row))),
    ("partial requests", ("service", "operation"),
     Source("overview", "partial"),
     Source("spans", "one", lambda row: is_request(row) and row["state"] == "partial")),
    ("time of roots", (),
     Source("spans", "duration_ns", lambda row: row["parent_id"] is None and has_ended(row)),
     metric("request.latency", "operation")),
    *[(f"{part} time of spans", (),
       Source("spans", part + "_ns", lambda row, part=part: has_ended(row) and row[part + "_ns"] is not None),
       metric("span.time", "part", where=having(part=part))) for part in (*PARTS, "writeback")],
]


def shown(row):
    """Names that differ between views."""
    row["one"] = 1
    row.setdefault("span", row.get("name"))
    row.setdefault("operation", row.get("name"))
    return row


def read(trace, what, when):
    """[(beginning of the range, rows)]"""
    status, out, err = blk.blktop("-b", "--no-cache", "--format", "json", *what, *when, trace)
    if status not in (0, 3):
        raise blk.Failed(f"{' '.join(what)}: {err.strip()[:300]}")
    blocks = [json.loads(line) for line in out.splitlines() if line.strip()]
    return [(b["range"]["from_ns"], [shown(row) for row in b["rows"]]) for b in blocks]


def differences(keys, first, second, blocks):
    """None: none of them has values."""
    b, compared, bad = dict(blocks[second.what]), 0, []
    for begin, rows in blocks[first.what]:
        x, y = first.values(rows, keys), second.values(b.get(begin, []), keys)
        if x is None or y is None:
            continue
        compared += len(x) + len(y)
        bad += [f"{begin}: {dict(zip(keys, key))} {x.get(key, 0)} and {y.get(key, 0)}"
                for key in sorted(x.keys() | y.keys(), key=str) if x.get(key, 0) != y.get(key, 0)]
    return bad if compared else None


PAUSED = ["pause/trace"]            # a wait over the pause does not end
RUNNABLE = Source("processes --by thread", "runnable_ns")
ENDED = Source("scheduler --by thread", "total_ns preempted_ns")
LOSSES = Source("losses", "lost_ns")


def judge_runnable(tap, name, whole, seconds):
    """A wait for a CPU counts in the scheduler's view when it ends, thus not if the trace ends before."""
    def of(source, keys):
        return source.values(whole[source.what][0][1], keys)
    runnable, ended = of(RUNNABLE, THREAD), of(ENDED, THREAD)
    if of(LOSSES, ()) or not runnable or ended is None or name in PAUSED:
        tap.skip(f"{name}: runnable time is that of waits for a CPU", "events are lost or not recorded")
        return
    last = RUNNABLE.values(seconds[RUNNABLE.what][-1][1], THREAD) or {}
    left = {key: runnable.get(key, 0) - ended.get(key, 0) for key in runnable.keys() | ended.keys()}
    tap.none([f"{key}: {runnable.get(key, 0)} and {ended.get(key, 0)}" for key, ns in left.items()
              if ns < 0 or (ns and not last.get(key))],
             f"{name}: runnable time is that of waits for a CPU, but for those of {sum(map(bool, left.values()))} "
             "threads that have not ended")


STEP = "1ms"
SPANS = ("--view", "spans")


def judge_files(tap, name, trace, spans):
    """What a span's thread was blocked on files is the timeline's, but for the steps at the span's ends. Its parts are
    called disk and writeback in one view, and file in both."""
    parents = {(r["trace_id"], r["parent_id"]) for r in spans}
    leaves = [r for r in spans if has_ended(r) and r["file_ns"] and not r["handoff_ns"] and r["tid"] is not None
              and r["duration_ns"] < 10**9 and (r["trace_id"], r["span_id"]) not in parents]
    leaves.sort(key=lambda r: (-r["file_ns"], r["begin_ns"]))
    bad = []
    for r in leaves[:3]:
        begin, end = r["begin_ns"], r["end_ns"]
        blocks = read(trace, ("--view", "timeline", "--by", "thread", "--step", STEP),
                      ("--from", f"@{begin}", "--to", f"@{end}"))
        steps = [(x["begin_ns"], x["end_ns"], x["file_ns"]) for _, rows in blocks for x in rows
                 if (x["host"], x["pid"], x["tid"]) == (r["host"], r["pid"], r["tid"])]
        inside = sum(ns or 0 for a, b, ns in steps if begin <= a and b <= end)
        touched = sum(ns or 0 for a, b, ns in steps if a < end and b > begin)
        if not inside <= r["file_ns"] <= touched:
            bad.append(f"{r['name']} at {begin}: {r['file_ns']} ns, timeline {inside} to {touched}")
        if (r["disk_ns"] or 0) + (r["writeback_ns"] or 0) != r["file_ns"]:
            bad.append(f"{r['name']} at {begin}: {r['disk_ns']} and {r['writeback_ns']} are not {r['file_ns']}")
    if leaves:
        tap.none(bad, f"{name}: {len(leaves[:3])} spans were blocked on files for as long as their threads")
    else:
        tap.skip(f"{name}: file time of spans and threads", "no span was blocked on a file")


COMPARED = set()                    # (quantity, source)
# In none of the quick recordings.
RARE = {"stopped time of threads"} | {f"{part} time of spans" for part in ("kernel", "pipe", "futex", "poll", "fault", "handoff", "stopped")}


def compare(tap, name, trace):
    wanted = {s.what for _, _, *sources in QUANTITIES for s in sources} | {LOSSES.what}
    read_as = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for of, when in RANGES.items():
            jobs = {what: pool.submit(read, trace, what, when) for what in wanted}
            blocks = read_as[of] = {what: job.result() for what, job in jobs.items()}
            bad, n = [], 0
            for quantity, keys, first, *others in QUANTITIES:
                for other in others:
                    found = differences(keys, first, other, blocks)
                    if found is not None:
                        n += 1
                        COMPARED.add((quantity, other.name))
                    bad += [f"{quantity}: {first.name} and {other.name}: {x}" for x in (found or [])[:3]]
            tap.none(bad, f"{name}, {of}: {n} pairs of views agree")
    judge_runnable(tap, name, read_as["whole"], read_as["by second"])
    judge_files(tap, name, trace, read_as["whole"][SPANS][0][1])


def main():
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    for path in sys.argv[1:]:
        compare(tap, path, path)
    if not sys.argv[1:]:
        blk.each_trace(tap, QUICK + MORE * blk.ALL, compare)
        for name in REPORTS * blk.ALL:
            path = os.path.join(blk.SHARED, "reports", name)
            if os.path.isdir(path):
                compare(tap, name, path)
            else:
                tap.skip(name, "it is not there")
        tap.none([f"{quantity}: {first.name} and {other.name}" for quantity, _, first, *others in QUANTITIES if quantity not in RARE
                  for other in others if (quantity, other.name) not in COMPARED], "each pair of views has values somewhere")
    tap.done()


if __name__ == "__main__":
    main()
