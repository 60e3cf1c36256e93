#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds blktop's tables against what the traced programs themselves wrote down (truth.jsonl),
and against a second count of babeltrace2's text (recount.py).

Each statement is first held against the text alone ("text"), so that a wrong referee shows
before blktop is accused. A process's truth begins at its work, the trace's count at its fork and
exec: the loader reads a few files, and each process writes one line of truth per statement.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from explain import Explained, hex16
from recount import as_calls, Calls, Recount

MS = 1000000
LOADER = 16384      # bytes read at most by the loader, the shell's last steps, and the like
LINE = 400          # bytes of a line of truth


# ---- spans ----

def spans(tap, name, who, rows, offset, partial=False):
    told = collections.defaultdict(dict)
    for t in blk.truth(name):
        if t["kind"] == "span":
            told[hex16(t["span"])][t["service"]] = t
    seen, bad, held = set(), [], 0
    for r in rows:
        t = told.get(r["span_id"], {}).get(r["service"])
        label = f"{r['span_id']} {r['name']} {r['service']}"
        if t is None:
            if not partial:
                bad.append(f"{label}: no such span in the truth")
            continue
        seen.add((r["span_id"], r["service"]))
        wrong = []
        for what, a, b in (("trace", r["trace_id"], hex16(t["trace"])),
                           ("parent", r["parent_id"], hex16(t["parent"]) if t["parent"] else None),
                           ("name", r["name"], t["name"]), ("tid", r["tid"], t["tid"]),
                           ("pid", r["pid"], t["pid"])):
            if a != b and not (partial and what in ("tid", "pid") and a is None):
                wrong.append(f"{what} {a} not {b}")
        if partial and r.get("state", "complete") != "complete":
            continue
        for edge in "begin_ns", "end_ns":
            at = r[edge] - offset
            if not t["start_ns"] <= at <= t["end_ns"]:
                wrong.append(f"{edge} {at} not in {t['start_ns']}..{t['end_ns']}")
        if wrong:
            bad.append(f"{label}: {', '.join(wrong)}")
        else:
            held += 1
    tap.none(bad, f"{name} ({who}): ids, parent, thread, begin and end of {held} spans")
    if not partial:
        tap.none([f"{span} {service}" for span, by in sorted(told.items()) for service in by
                  if (span, service) not in seen], f"{name} ({who}): no span of the truth is missing")


# ---- exact amounts ----

class Tables:
    """What one side says: rows per (pid, call) and per pid. Built from the text or from blktop."""

    def __init__(self):
        self.calls = {}             # (pid, name) -> dict(count, errors, total, min, max)
        self.cpu, self.reads, self.writes = {}, {}, {}
        self.children = {}

    @staticmethod
    def of_text(count):
        self = Tables()
        merged = {}
        for (tid, name), c in count.calls.items():
            key = count.pid.get(tid, tid), name
            merged.setdefault(key, Calls()).merge(c)
        self.calls = {k: c.as_dict() for k, c in merged.items()}
        self.cpu = count.by_pid(count.cpu)
        self.reads, self.writes = count.by_pid(count.read_bytes), count.by_pid(count.write_bytes)
        self.children = count.children
        return self

    @staticmethod
    def of_blktop(syscalls, processes):
        """From its rows by thread."""
        self, merged = Tables(), {}
        for r in syscalls:
            merged.setdefault((r["pid"], r["syscall"]), Calls()).merge(as_calls(r))
        self.calls = {k: c.as_dict() for k, c in merged.items()}
        self.children = collections.Counter()
        self.cpu, self.reads, self.writes = (collections.Counter() for _ in range(3))
        for r in processes:
            pid = r["pid"]
            self.cpu[pid] += r["cpu_ns"]
            self.reads[pid] += r["read_bytes"] or 0
            self.writes[pid] += r["write_bytes"] or 0
            if r["tid"] == pid and r["start_ns"] is not None:
                self.children[r["ppid"]] += 1
        return self

    def call(self, pid, name, what="count"):
        return (self.calls.get((pid, name)) or {}).get(what) or 0


def statement(bad, what, told, found, slack=0):
    """told <= found <= told + slack"""
    if not told <= found <= told + slack:
        bad.append(f"{what}: {found}, truth {told}" + (f" (+{slack})" if slack else ""))


def near(bad, what, told, found, ratio):
    if abs(found - told) > ratio * told:
        bad.append(f"{what}: {found}, truth {told} within {100 * ratio:.0f} %")


def check_io(t, tables, bad):
    pid = t["pid"]
    # Started in the background, it is the shell before its exec, and traces what it runs.
    statement(bad, f"io {pid} writes", t["writes"] + 1, tables.call(pid, "write"), 12)
    statement(bad, f"io {pid} fsyncs", t["fsyncs"], tables.call(pid, "fsync"))
    statement(bad, f"io {pid} bytes written", t["bytes_written"], tables.writes.get(pid, 0), LINE)
    statement(bad, f"io {pid} bytes read", t["bytes_read"], tables.reads.get(pid, 0), LOADER)
    statement(bad, f"io {pid} reads", t["reads"], tables.call(pid, "read"), 20)
    near(bad, f"io {pid} slowest fsync", t["slowest_fsync_ns"], tables.call(pid, "fsync", "max_ns"), .05)


def check_tcp(t, tables, bad):
    pid = t["pid"]
    statement(bad, f"tcp {pid} sends", t["send_calls"], tables.call(pid, "sendto"))
    statement(bad, f"tcp {pid} bytes sent", t["bytes"], tables.writes.get(pid, 0), LINE)


def check_receiver(t, tables, bad):
    pid = t["pid"]
    statement(bad, f"tcp receiver {pid} calls", t["recv_calls"], tables.call(pid, "recvfrom"))
    statement(bad, f"tcp receiver {pid} bytes", t["bytes"], tables.reads.get(pid, 0))


def check_forks(t, tables, bad):
    statement(bad, f"forks {t['pid']}", t["forks"], tables.children[t["pid"]])
    for pid in t["first_child"], t["last_child"]:
        if pid not in tables.cpu:
            bad.append(f"forks {t['pid']}: its child {pid} has no row")


def check_errors(t, tables, bad):
    # The loader looks for a cache file or two that may not be there.
    statement(bad, f"errors {t['pid']} failed opens", t["enoent"],
              tables.call(t["pid"], "openat", "errors"), 4)


def check_sleep(t, tables, bad):
    pid = t["pid"]
    n, total = tables.call(pid, "clock_nanosleep"), tables.call(pid, "clock_nanosleep", "total_ns")
    statement(bad, f"sleep {pid} sleeps", t["sleeps"], n)
    near(bad, f"sleep {pid} time slept", t["sleeps"] * t["ms_each"] * MS, total, .05)
    if tables.call(pid, "clock_nanosleep", "min_ns") < t["ms_each"] * MS:
        bad.append(f"sleep {pid}: a sleep shorter than asked for")


def check_hog(t, tables, bad):
    near(bad, f"hog {t['pid']} CPU time", t["cpu_ns"], tables.cpu.get(t["pid"], 0), .05)


CHECKS = {"io": check_io, "tcp": check_tcp, "tcp-receiver": check_receiver, "forks": check_forks,
          "errors": check_errors, "sleep": check_sleep, "hog": check_hog}


def amounts(tap, name, who, tables):
    by_kind = collections.defaultdict(list)
    for t in blk.truth(name):
        by_kind[t["kind"]].append(t)
    for kind, check in CHECKS.items():
        if by_kind[kind]:
            bad = []
            for t in by_kind[kind]:
                check(t, tables, bad)
            tap.none(bad, f"{name} ({who}): {len(by_kind[kind])} statements of {kind}")
    if by_kind["slowpipe"]:
        slow_pipes(tap, name, who, by_kind["slowpipe"], tables)


def slow_pipes(tap, name, who, told, tables):
    """Each reader's slow reads: the longest, and the sum, to 5 ms a read."""
    bad = []
    by_pid = collections.defaultdict(list)
    for t in told:
        by_pid[t["reader"]].append(t["end_ns"] - t["start_ns"])
    for pid, times in sorted(by_pid.items()):
        longest, total = tables.call(pid, "read", "max_ns"), tables.call(pid, "read", "total_ns")
        if not max(times) - 5 * MS <= longest <= max(times):
            bad.append(f"reader {pid}: longest read {longest}, truth {max(times)}")
        if not sum(times) - 5 * MS * len(times) <= total <= sum(times) + 5 * MS:
            bad.append(f"reader {pid}: reads of {total} in all, truth {sum(times)}")
    tap.none(bad, f"{name} ({who}): {len(told)} slow reads of a pipe")


def by_work(name):
    return any(t["kind"] in CHECKS for t in blk.truth(name))


def files(tap, name, trace):
    """The files view: exact bytes and calls per pid and file."""
    rows = collections.defaultdict(lambda: collections.Counter())
    for r in blk.rows("files", trace, "--by", "process"):
        for key in (r["pid"], r["kind"]), (r["pid"], "named " + os.path.basename(r["path"] or "")):
            for what in "reads", "writes", "read_bytes", "write_bytes":
                rows[key][what] += r[what] or 0
    bad, n = [], 0
    for t in blk.truth(name):
        pid = t.get("pid")
        if t["kind"] == "io":
            each = t["bytes_written"] // t["files"]
            for i in range(t["files"]):
                r = rows[pid, f"named io-{pid}-{i}"]
                n += 1
                statement(bad, f"io-{pid}-{i} bytes written", each, r["write_bytes"])
                statement(bad, f"io-{pid}-{i} bytes read", each, r["read_bytes"])
                statement(bad, f"io-{pid}-{i} writes", t["writes"] // t["files"], r["writes"])
                statement(bad, f"io-{pid}-{i} reads", t["reads"] // t["files"], r["reads"])
        elif t["kind"] == "tcp":
            n += 1
            statement(bad, f"tcp {pid} bytes sent", t["bytes"], rows[pid, "socket"]["write_bytes"])
            statement(bad, f"tcp {pid} sends", t["send_calls"], rows[pid, "socket"]["writes"])
        elif t["kind"] == "tcp-receiver":
            n += 1
            statement(bad, f"tcp receiver {pid} bytes", t["bytes"], rows[pid, "socket"]["read_bytes"])
            statement(bad, f"tcp receiver {pid} calls", t["recv_calls"], rows[pid, "socket"]["reads"])
        elif t["kind"] == "slowpipe" and t["number"] == 1:
            n += 1
            reads = sum(1 for u in blk.truth(name)
                        if u["kind"] == "slowpipe" and u["reader"] == t["reader"])
            statement(bad, f"slowpipe {pid} reads of a pipe", reads, rows[pid, "pipe"]["reads"])
            statement(bad, f"slowpipe {pid} bytes of a pipe", reads, rows[pid, "pipe"]["read_bytes"])
    if n:
        tap.none(bad, f"{name} (blktop): bytes and calls of {n} files, sockets and pipes")


# ---- blktop against the text, row by row ----

def recount(tap, name, count, syscalls, processes):
    theirs, doubles = {}, []
    for r in syscalls:
        key = r["tid"], r["syscall"]
        if key in theirs:
            doubles.append(str(key))
        theirs[key] = r
    tap.none(doubles, f"{name}: one row a thread and system call")
    bad = []
    for key in sorted(count.calls.keys() | {k for k in theirs if theirs[k]["count"]}, key=str):
        c, r = count.calls.get(key), theirs.get(key)
        if c is None or r is None:
            bad.append(f"{key}: " + ("not in blktop" if r is None else
                                     f"{r['count']} in blktop, not in the text"))
            continue
        wrong = [f"{column} {r[column]} not {b}" for column, b in (
            ("count", c.count), ("errors", c.errors), ("total_ns", c.total), ("min_ns", c.min),
            ("max_ns", c.max)) if r[column] != b]
        if wrong:
            bad.append(f"{key}: {', '.join(wrong)}")
    tap.none(bad, f"{name}: count, errors, total, min, max of {len(count.calls)} (tid, syscall) rows")
    theirs = {}
    for r in processes:
        if r["tid"] is not None:
            t = theirs.setdefault(r["tid"], collections.Counter())
            for column in "cpu_ns", "read_bytes", "write_bytes", "syscalls":
                t[column] += r[column] or 0
    calls = collections.Counter()
    for (tid, _), c in count.calls.items():
        calls[tid] += c.count
    for column, mine in (("cpu_ns", count.cpu), ("read_bytes", count.read_bytes),
                         ("write_bytes", count.write_bytes), ("syscalls", calls)):
        bad = [f"tid {tid}: {theirs.get(tid, {}).get(column)} not {mine[tid]}"
               for tid in sorted(mine.keys() | theirs.keys())
               if tid and theirs.get(tid, {}).get(column, 0) != mine[tid]]
        tap.none(bad, f"{name}: {column} of {len(mine)} threads")


PUBLIC = ("uneven-streams", "flipping-endianness", "scp_src", "scp_dest")


def public(tap, name):
    """Traces of others: no truth, but the second count."""
    trace = blk.find("public", name)
    if not trace or not blk.have_blktop():
        tap.skip(name, f"no {blk.BLKTOP}" if trace else "the trace is not there")
        return
    try:
        recount(tap, name, Recount(btparse.events(trace)),
                blk.calls(trace),
                blk.rows("processes", trace, "--by", "thread"))
    except (blk.Failed, KeyError, RuntimeError) as e:
        tap.ok(False, f"{name}: blktop's rows", repr(e))


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    for name in ("demo", "kernel-small", "kernel-ust", "rotation", "live", "snapshot", "ctf2/demo",
                 "ctf2/kernel-small", "ctf2/kernel-ust", "ctf2/rotation", "ctf2/snapshot"):
        trace = btparse.recording(tap, name + "/trace")
        if not trace:
            continue
        if not blk.truth(name):
            tap.skip(name, "its truth is not there")
            continue
        what = os.path.basename(name)
        offset, has_spans, partial = btparse.offset(trace), what != "kernel-small", what == "snapshot"
        events = btparse.events(trace)
        count = Recount(events)
        if has_spans:
            spans(tap, name, "text", Explained(trace, events).rows, offset, partial)
        if not partial:
            amounts(tap, name, "text", Tables.of_text(count))
        if not blk.have_blktop():
            tap.skip(f"{name}: blktop", f"no {blk.BLKTOP}")
            continue
        try:
            if has_spans:
                spans(tap, name, "blktop", blk.rows("spans", trace), offset, partial)
            syscalls = blk.calls(trace)
            processes = blk.rows("processes", trace, "--by", "thread")
            if not partial:
                amounts(tap, name, "blktop", Tables.of_blktop(syscalls, processes))
                if by_work(name):
                    files(tap, name, trace)
            recount(tap, name, count, syscalls, processes)
        except (blk.Failed, KeyError) as e:
            tap.ok(False, f"{name}: blktop's rows", repr(e))
    for name in PUBLIC:
        public(tap, name)
    tap.done()


if __name__ == "__main__":
    main()
