#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sums close, whatever the trace:

- per second and CPU: running + idle + unknown = the part of the second that the trace covers;
- per second and thread: cpu + runnable + blocked + unknown = the part of its life in the second;
- per thread: cpu = user + syscall + kernel + irq;
- the whole trace's table = the sum of the seconds' tables (--each), row by row;
- --by process and --by system = the sum of --by thread;
- JSON, CSV and text print the same rows.

Coverage is from the first event of any stream to the last event, or to the end of a loss after it,
from babeltrace2's text and warnings. A thread's life is [start_ns, exit_ns]: from its
sched_process_fork, else from the coverage's begin; to its last switch-out after its
sched_process_exit or in a dead prev_state, else to its sched_process_free (it died before the
trace), else to the coverage's end.
"""
import collections
import csv
import io
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

SECOND = 1000000000
DEAD = 16 | 32          # prev_state: EXIT_DEAD, EXIT_ZOMBIE
TASK_DEAD = 64          # before Linux 4.14 (later: parked)
STATES = ("cpu_ns", "runnable_ns", "blocked_ns", "unknown_ns")
MODES = ("user_ns", "syscall_ns", "kernel_ns", "irq_ns")
TRACES = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "rotation/trace",
          "snapshot/trace", "lost/trace", "lost/trace-overwrite", "ctf2/kernel-small/trace",
          "ctf2/rotation/trace", "ctf2/lost/trace", "ctf2/lost/trace-overwrite", "public/uneven-streams",
          "public/flipping-endianness", "public/scp_src"]


def overlap(a, b, c, d):
    return max(0, min(b, d) - max(a, c))


class Run:
    """All a trace's seconds of a view."""

    def __init__(self, view, trace, *more):
        self.blocks = blk.objects(view, trace, "--each", *more, lossy=True)

    def __iter__(self):
        """(begin and end of the whole second, rows)"""
        for o in self.blocks:
            begin = o["range"]["from_ns"] // SECOND * SECOND
            yield begin, begin + SECOND, o["rows"]


def covered_seconds(first, last):
    return range(first // SECOND * SECOND, last + 1, SECOND)


def cpus(tap, name, trace, first, last, known):
    bad, missing, n = [], [], 0
    for begin, end, rows in Run("cpus", trace):
        whole = overlap(begin, end, first, last)
        seen = set()
        for r in rows:
            seen.add(r["cpu"])
            n += 1
            got = sum(r[k] or 0 for k in ("run_ns", "idle_ns", "unknown_ns"))    # null: all of it is lost
            if got != whole:
                bad.append(f"cpu {r['cpu']} at {begin}: run {r['run_ns']} + idle {r['idle_ns']} + "
                           f"unknown {r['unknown_ns']} = {got}, covered {whole}")
            if r["irq_ns"] is not None and r["irq_ns"] > got:
                bad.append(f"cpu {r['cpu']} at {begin}: irq {r['irq_ns']} of {got}")
        missing += [f"cpu {c} at {begin}" for c in sorted(known - seen) if whole]
    tap.none(bad, f"{name}: running + idle + unknown = coverage, in {n} rows of cpus")
    tap.none(missing, f"{name}: each of {len(known)} CPUs has a row in each second")


def thread_key(r):
    return r["host"], r["pid"], r["tid"], r["start_ns"]


def lives(tap, name, trace, first, last, born, dead):
    """Each thread's states fill its life, second by second."""
    bad_modes, per, untold = [], collections.defaultdict(dict), 0
    ends, holes, odd = {}, set(), []
    for begin, end, rows in Run("processes", trace, "--by", "thread"):
        for r in rows:
            if [c for c in STATES if r[c] is None] == ["runnable_ns"]:
                untold += 1             # wakeups were not recorded
                continue
            is_lost = all(r[c] is None for c in STATES if c != "unknown_ns") and "lost" in name
            if any(r[c] is None for c in STATES) and not is_lost:
                holes.add(f"tid {r['tid']}: {[c for c in STATES if r[c] is None]}")
                continue
            if r["tid"] is None:        # who it was is lost: it has no life of its own
                continue
            per[thread_key(r)][begin] = sum(r[c] or 0 for c in STATES)
            ends[thread_key(r)] = r["exit_ns"]
            # user and syscall are null where no system calls were recorded
            if r["user_ns"] is not None and sum(r[c] or 0 for c in MODES) != r["cpu_ns"]:
                bad_modes.append(f"tid {r['tid']} at {begin}: cpu {r['cpu_ns']}, modes "
                                 f"{[r[c] for c in MODES]}")
    tap.none(bad_modes, f"{name}: cpu = user + syscall + kernel + irq")
    bad, n = [], 0
    for key, seconds in sorted(per.items(), key=str):
        start, stop = key[3], ends[key]
        stop = last if stop is None else stop
        if start is None:
            start = first
        for begin in covered_seconds(first, last):
            want = overlap(max(begin, first), min(begin + SECOND, last), start, stop)
            n += 1
            if seconds.get(begin, 0) != want:
                bad.append(f"tid {key[2]} at {begin}: states {seconds.get(begin, 0)}, life {want}")
    tap.none(bad, f"{name}: states = life, of {len(per)} threads in {n} thread-seconds")
    if untold and per:
        holes.add(f"runnable_ns is null in {untold} rows, and not in others")
    tap.none(sorted(holes), f"{name}: no thread without its states")
    if born is not None:
        odd = [f"tid {key[2]}: {what} {at} not {want}" for key in sorted(per, key=str)
               for what, at, want in (("start", key[3], born.get(key[2])),
                                      ("exit", ends[key], dead.get(key[2]))) if at != want]
        tap.none(odd, f"{name}: start and exit of {len(per)} threads")


def process_ends(tap, name, trace, events, offset):
    """Since Linux 6.16 the kernel says which thread is the last one of its process."""
    ends = {e.ctx["pid"]: e.ns + offset for e in events
            if e.name == "sched_process_exit" and e.payload.get("group_dead") == 1}
    found = {r["pid"]: r["exit_ns"] for r in blk.rows("processes", trace, "--by", "process")
             if r["exit_ns"] is not None}
    bad = [f"pid {pid}: {found.get(pid)} not {ends.get(pid)}" for pid in sorted(ends.keys() | found.keys())
           if found.get(pid) != ends.get(pid)]
    tap.none(bad, f"{name}: ends of {len(ends)} processes")


SUMMED = {
    "processes": ("thread", ("host", "pid", "tid", "start_ns"),
                  STATES + MODES + ("syscalls", "read_bytes", "write_bytes")),
    "syscalls": ("thread", ("host", "pid", "tid", "syscall"), ("count", "errors", "total_ns", "busy_ns")),
    "files": ("thread", ("host", "pid", "path", "kind"), ("reads", "writes", "read_bytes", "write_bytes")),
    "cpus": (None, ("host", "cpu"), ("run_ns", "idle_ns", "unknown_ns", "irq_ns")),
    "events": (None, ("host", "name"), ("count",)),
}


def added(rows, keys, columns):
    out = collections.defaultdict(collections.Counter)
    for r in rows:
        out[tuple(r[k] for k in keys)].update({c: r[c] or 0 for c in columns})
    return out


def differences(a, b, columns, limit=200):
    bad = []
    for key in sorted(a.keys() | b.keys(), key=str):
        wrong = [f"{c} {a[key][c]} not {b[key][c]}" for c in columns
                 if (a[key][c] if key in a else 0) != (b[key][c] if key in b else 0)]
        if wrong and len(bad) < limit:
            bad.append(f"{key}: {', '.join(wrong)}")
    return bad


def whole_is_sum(tap, name, trace):
    for view, (by, keys, columns) in SUMMED.items():
        more = ["--by", by] if by else []
        whole = added(blk.rows(view, trace, *more, lossy=True), keys, columns)
        each = added([r for _, _, rows in Run(view, trace, *more) for r in rows], keys, columns)
        tap.none(differences(whole, each, columns),
                 f"{name}: {view} of the whole trace = sum of its seconds, {len(whole)} rows")


def levels_agree(tap, name, trace):
    for view, columns in (("processes", STATES + MODES + ("syscalls", "read_bytes", "write_bytes")),
                          ("syscalls", ("count", "errors", "total_ns", "busy_ns"))):
        keys = ("host", "pid") + (("syscall",) if view == "syscalls" else ())
        threads, processes, system = (blk.rows(view, trace, "--by", by, lossy=True)
                                      for by in ("thread", "process", "system"))
        tap.none(differences(added(processes, keys, columns), added(threads, keys, columns), columns),
                 f"{name}: {view} by process = sum of threads")
        keys = keys[:1] + keys[2:]
        tap.none(differences(added(system, keys, columns), added(threads, keys, columns), columns),
                 f"{name}: {view} by system = sum of threads")


# ---- formats ----

def plain(value):
    """A JSON cell as CSV prints it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def same_cell(value, text):
    if isinstance(value, float):
        try:
            return abs(float(text) - value) <= 1e-6 * max(1, abs(value))
        except ValueError:
            return False
    return plain(value) == text


def formats(tap, name, trace, view, *more):
    rows = blk.rows(view, trace, *more, lossy=True)
    status, out, err = blk.blktop("-b", "--view", view, "--format", "csv", *more, trace)
    table = list(csv.reader(io.StringIO(out)))
    bad = [] if status in (0, 3) else [f"status {status}: {err.strip()[:200]}"]
    if rows and table and table[0] != list(rows[0]):
        bad.append(f"CSV header {table[0]}, JSON {list(rows[0])}")
    if len(table) != len(rows) + 1:
        bad.append(f"{len(table) - 1} rows in CSV, {len(rows)} in JSON")
    bad += [f"row {i}: CSV {c}, JSON {list(r.values())}"
            for i, (c, r) in enumerate(zip(table[1:], rows))
            if len(c) != len(r) or not all(same_cell(v, t) for v, t in zip(r.values(), c))]
    tap.none(bad, f"{name}: {view} {' '.join(more)}: CSV = JSON, {len(rows)} rows")

    status, out, err = blk.blktop("-b", "--view", view, "--format", "text", *more, trace)
    lines = [line for line in out.splitlines() if line.strip() and not line.startswith("#")]
    bad = [] if status in (0, 3) else [f"status {status}: {err.strip()[:200]}"]
    if len(lines) != len(rows) + 1:
        bad.append(f"{len(lines) - 1} rows in text, {len(rows)} in JSON")
    for line, r in zip(lines[1:], rows):
        want = r"\s+".join(text_cell(v) for v in r.values())
        if not re.fullmatch(r"\s*" + want + r"\s*", line):
            bad.append(f"text {line.strip()!r}, JSON {list(r.values())}")
    tap.none(bad, f"{name}: {view} {' '.join(more)}: text = JSON, {len(rows)} rows")


def text_cell(value):
    """A pattern of the JSON cell as text prints it (floats: any number)."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return r"[-\d.e+]+"
    if value == "":
        return r"\S*"
    return re.escape(plain(value))


def births_and_deaths(events, offset, release):
    """{tid: its fork}, {tid: its last switch-out}, of threads whose ends are in the trace"""
    born, dying, dead = {}, set(), {}
    gone = DEAD | TASK_DEAD if (0, 0) < release < (4, 14) else DEAD
    for e in events:
        if e.name == "sched_process_fork":
            born[e.payload["child_tid"]] = e.ns + offset
        elif e.name == "sched_process_exit":
            dying.add(e.payload["tid"])
        elif e.name == "sched_switch" and (e.payload["prev_tid"] in dying or
                                           e.payload["prev_state"] & gone):
            dead[e.payload["prev_tid"]] = e.ns + offset
        elif e.name == "sched_process_free":        # it died before the trace
            dead.setdefault(e.payload["tid"], e.ns + offset)
    return born, dead


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        events = btparse.events(trace)
        offset = btparse.offset(trace)
        first, last = events[0].ns + offset, events[-1].ns + offset
        lossy = "lost" in name
        if lossy:
            last = max([last] + [end for _, _, _, end in btparse.losses(trace)])
        known = {e.cpu for e in events if e.name == "sched_switch"}
        try:
            cpus(tap, name, trace, first, last, known)
            lives(tap, name, trace, first, last,
                  *((None, None) if lossy else births_and_deaths(events, offset,
                                                                     btparse.kernel_release(trace))))
            if name in ("ctf2/kernel-small/trace", "ctf2/rotation/trace"):
                process_ends(tap, name, trace, events, offset)
            if name in ("kernel-small/trace", "lost/trace", "ctf2/kernel-small/trace"):
                whole_is_sum(tap, name, trace)
                levels_agree(tap, name, trace)
        except (blk.Failed, KeyError) as e:
            tap.ok(False, f"{name}: blktop's rows", repr(e))
    trace = blk.find("kernel-ust/trace")
    if trace:
        for view in ("processes", "syscalls", "files", "events", "cpus", "traces", "spans", "phases",
                     "services"):
            try:
                formats(tap, "kernel-ust", trace, view)
            except (blk.Failed, KeyError) as e:
                tap.ok(False, f"kernel-ust: {view}", repr(e))
    tap.done()


if __name__ == "__main__":
    main()
