#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds blktop's explanation of every span against a brute-force one made from babeltrace2's
text (machine.py has the rules of the parts, this file those of spans).

Rules of spans
--------------
- A span's rows: one of kind client when it has cs or cr, one of kind server when it has sr or
  ss, else one without a kind. Begin: cs or sr, else the first zipkin:timestamp; end: cr or ss,
  else the last one. An annotation that is none of the four belongs to the half of its service,
  where there are two halves with different ones.
- An annotation's thread is the kernel's current task on the event's CPU by raw cycles, held
  against the vtid of the event's context; where they differ it is unknown.
- Between consecutive annotations of one thread time is that thread's; between annotations of
  different threads it is `handoff`.
- Times are the raw clock plus the kernel metadata's offset.
- Self time is the duration less what the children's intervals cover of it; the client half's
  child is the server half, the server half's are the span's children.
"""
import collections
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from machine import Machine, PARTS, Wait

MS = 1000000
BLOCKED = ("disk", "socket", "pipe", "timer", "poll", "fault", "handoff", "other", "unknown", "stopped")
U64 = (1 << 64) - 1


def hex16(i):
    return f"{i & U64:016x}"


class Half:
    """One row of the spans view."""

    def __init__(self, key):
        self.trace, self.span, self.kind = key
        self.marks = []             # (ns, event, tid), in order


class Explained:
    def __init__(self, path, events=None):
        self.offset = btparse.offset(path) if path else 0
        self.machine = Machine()
        self.annotations = collections.defaultdict(list)
        self.mismatched = 0
        for e in events or btparse.events(path):
            if e.name == "zipkin:timestamp":
                self.on_timestamp(e)
            else:
                self.machine.feed(e)
        self.rows = sorted((row for key, marks in self.annotations.items()
                            for row in self.explain(key, marks)),
                           key=lambda r: (r["begin_ns"], r["span_id"], r["kind"] or ""))
        self.add_self_times()

    def add_self_times(self):
        children, server = collections.defaultdict(list), {}
        for r in self.rows:
            children[r["trace_id"], r["parent_id"]].append(r)
            if r["kind"] == "server":
                server[r["trace_id"], r["span_id"]] = r
        for r in self.rows:
            key = r["trace_id"], r["span_id"]
            mine = [server[key]] if r["kind"] == "client" and key in server else children[key]
            at, covered = r["begin_ns"], 0
            for c in sorted(mine, key=lambda c: c["begin_ns"]):
                a, b = max(at, c["begin_ns"]), min(r["end_ns"], c["end_ns"])
                if a < b:
                    covered, at = covered + b - a, b
            r["self_ns"] = r["duration_ns"] - covered

    def on_timestamp(self, e):
        p, m = e.payload, self.machine
        task = m.current.get(e.cpu)
        vtid = e.ctx.get("vtid")
        tid = task.tid if task else None
        if tid is None and e.cpu not in m.current:
            tid = None
        elif tid is not None and vtid is not None and m.vtid.get(tid, tid) != vtid:
            tid = None
        if tid is None:
            self.mismatched += 1
        self.annotations[p["trace_id"], p["span_id"]].append((e.ns, tid, p))

    def explain(self, key, marks):
        names = {p["event"] for _, _, p in marks}
        client, server = names & {"cs", "cr"}, names & {"sr", "ss"}
        if client and server:
            halves = ("client", "cs", "cr"), ("server", "sr", "ss")
        elif client:
            halves = ("client", "cs", "cr"),
        elif server:
            halves = ("server", "sr", "ss"),
        else:
            halves = (None, None, None),
        for kind, first, last in halves:
            mine = self.of_half(marks, kind, first, last, len(halves))
            begin = next((m for m in mine if m[2]["event"] == first), mine[0])
            end = next((m for m in reversed(mine) if m[2]["event"] == last), mine[-1])
            parts = collections.Counter()
            inside = [m for m in mine if begin[0] <= m[0] <= end[0]]
            for (a, tid, _), (b, other, _) in zip(inside, inside[1:]):
                if tid is None or other is None:
                    parts["unknown"] += b - a
                elif tid != other:
                    parts["handoff"] += b - a
                else:
                    parts += self.machine.explain(tid, a, b)
            p = begin[2]
            yield {
                "trace_id": hex16(key[0]), "span_id": hex16(key[1]), "kind": kind,
                "parent_id": hex16(p["parent_span_id"]) if p["parent_span_id"] else None,
                "name": p["trace_name"], "service": p["service_name"],
                "tid": begin[1], "pid": self.machine.pid.get(begin[1]),
                "begin_ns": begin[0] + self.offset, "end_ns": end[0] + self.offset,
                "duration_ns": end[0] - begin[0],
                **{f"{part}_ns": parts[part] for part in PARTS},
            }

    @staticmethod
    def of_half(marks, kind, first, last, halves):
        if halves == 1:
            return marks
        edge = [m for m in marks if m[2]["event"] in (first, last)]
        services = {m[2]["service_name"] for m in edge}
        others = [m for m in marks if m[2]["event"] not in ("cs", "cr", "sr", "ss")
                  and m[2]["service_name"] in services]
        return sorted(edge + others, key=lambda m: m[0])


def self_consistent(tap, name, found):
    bad = [f"{r['span_id']} {r['name']}: parts {sum(r[p + '_ns'] for p in PARTS)}, "
           f"duration {r['duration_ns']}" for r in found.rows
           if sum(r[p + "_ns"] for p in PARTS) != r["duration_ns"]]
    tap.none(bad, f"{name}: the explainer's own parts sum to the duration of each of "
                  f"{len(found.rows)} rows")
    tap.equal(found.mismatched, 0, f"{name}: every annotation is on the thread the kernel runs")
    unknown = sum(r["unknown_ns"] for r in found.rows)
    tap.equal(unknown, 0, f"{name}: nothing is unknown to the explainer")


def row_key(r):
    return r["trace_id"], r["span_id"], r["kind"]


def compare(tap, name, trace, found):
    theirs = {}
    doubles = []
    for r in blk.rows("spans", trace):
        if row_key(r) in theirs:
            doubles.append(row_key(r))
        theirs[row_key(r)] = r
        if r.get("writeback_ns"):       # causes.py holds the two apart
            r["disk_ns"] += r["writeback_ns"]
    tap.none(doubles, f"{name}: no span has two rows")
    ours = {row_key(r): r for r in found.rows}
    tap.none([f"only in blktop: {k}" for k in sorted(theirs.keys() - ours.keys(), key=str)] +
             [f"not in blktop: {k}" for k in sorted(ours.keys() - theirs.keys(), key=str)],
             f"{name}: the same {len(ours)} rows of spans")
    both = [(ours[k], theirs[k]) for k in ours if k in theirs]
    for what, columns in (
            ("identity", ("parent_id", "name", "service", "tid", "pid")),
            ("begin, end, duration, self", ("begin_ns", "end_ns", "duration_ns", "self_ns")),
            ("explanation", [p + "_ns" for p in PARTS])):
        bad = []
        for o, t in both:
            wrong = [f"{c[:-3] if what == 'explanation' else c} {t.get(c)} not {o[c]}"
                     for c in columns if t.get(c) != o[c]
                     and not (c == "pid" and o[c] is None)]
            if wrong:
                bad.append(f"{o['trace_id']}/{o['span_id']} {o['name']} {o['kind'] or ''} "
                           f"tid {o['tid']} at {o['begin_ns']}: {', '.join(wrong)}")
        tap.none(bad, f"{name}: {what} of {len(both)} spans")
    if any(t[p + "_ns"] is None for t in theirs.values() for p in PARTS):
        tap.ok(False, f"{name}: no part is missing")
        return theirs
    tap.none([f"{k}: {t['state']}" for k, t in sorted(theirs.items(), key=str)
              if t["state"] != "complete"], f"{name}: every span is complete")
    sums = [f"{k}: {sum(t[p + '_ns'] for p in PARTS)} not {t['duration_ns']}"
            for k, t in sorted(theirs.items(), key=str)
            if sum(t[p + "_ns"] for p in PARTS) != t["duration_ns"]]
    tap.none(sums, f"{name}: blktop's parts sum to the duration")
    return theirs


# ---- what demo's faults must look like ----

class Requests:
    """The rows of each request by (name, kind), and the truth's fault of it."""

    def __init__(self, rows):
        self.fault, self.number = {}, {}
        for t in blk.truth("demo"):
            if t["kind"] == "request":
                self.fault[hex16(t["trace"])] = t["fault"]
                self.number[hex16(t["trace"])] = t["number"]
        self.rows = collections.defaultdict(dict)
        for r in rows:
            self.rows[r["trace_id"]][r["name"], r["kind"]] = r

    def __iter__(self):
        return iter(sorted(self.number, key=self.number.get))


def root_of(by):
    return next(r for (name, _), r in by.items() if name == "thumbnail")


def slow_store(number):
    """thumbd.c: stored sleeps for these (the truth names one fault a request, and a lock-holder
    may be a slow store as well); the recording puts faults in from request 350 on."""
    return number >= 350 and number % 13 == 0


def part_of(by, name, part, kind="any"):
    return sum(r[part + "_ns"] for (n, k), r in by.items()
               if n == name and (kind == "any" or k == kind))


def demo_statements(tap, who, rows):
    """The three statements about demo, on anybody's rows."""
    q = Requests(rows)
    bad, holders, stores = [], 0, 0
    for trace in q:
        by, fault = q.rows[trace], q.fault[trace]
        # What the root slept itself: its timer less its children's on the same thread.
        slept = root_of(by)["timer_ns"] - sum(
            part_of(by, n, "timer") for n in ("lock", "open", "seek", "decode", "encode"))
        slept -= part_of(by, "send", "timer", "client")
        if fault == "lock-holder":
            holders += 1
            if not 59 * MS <= slept <= 66 * MS:
                bad.append(f"request {q.number[trace]} held the lock, its root slept {slept}")
        elif slept > MS:
            bad.append(f"request {q.number[trace]} ({fault}): its root slept {slept}")
    tap.ok(holders > 20 and not bad,
           f"demo ({who}): 60 ms of timer in the root of each of {holders} lock-holders only", *bad)
    bad = []
    for trace in q:
        by, fault = q.rows[trace], q.fault[trace]
        socket = part_of(by, "send", "socket", "client")
        timer = part_of(by, "send", "timer", "server")
        if slow_store(q.number[trace]):
            stores += 1
            if socket < 79 * MS or not 79 * MS <= timer <= 90 * MS:
                bad.append(f"request {q.number[trace]}: client socket {socket}, server timer {timer}")
        elif timer > MS or socket > 79 * MS:
            bad.append(f"request {q.number[trace]} ({fault}): client socket {socket}, "
                       f"server timer {timer}")
    tap.ok(stores > 20 and not bad, f"demo ({who}): 80 ms of socket in the client half and of timer "
           f"in the server half of each of {stores} slow stores only", *bad)
    bad, waits = [], 0
    for trace in q:
        lock = q.rows[trace]["lock", None]
        if lock["duration_ns"] > 5 * MS:
            waits += 1
            other = sum(lock[p + "_ns"] for p in BLOCKED)
            if other or lock["futex_ns"] < 0.7 * lock["duration_ns"]:
                bad.append(f"request {q.number[trace]}: futex {lock['futex_ns']} of "
                           f"{lock['duration_ns']}, blocked elsewhere {other}")
    tap.ok(waits > 20 and not bad, f"demo ({who}): every one of {waits} lock waits over 5 ms is futex",
           *bad)
    return q


def holders(q):
    """[(begin, end, tid)] in which a lock-holder of the truth is in its root span."""
    return [(r["begin_ns"], r["end_ns"], r["tid"]) for trace in q
            if q.fault[trace] == "lock-holder" for r in [root_of(q.rows[trace])]]


def is_holder(held, tid, at):
    return any(a <= at <= b and tid == t for a, b, t in held)


def own_wakers(tap, found, q):
    held, bad, n = holders(q), [], 0
    for trace in q:
        lock = q.rows[trace]["lock", None]
        if lock["duration_ns"] <= 5 * MS:
            continue
        pieces = found.machine.pieces(lock["tid"], lock["begin_ns"] - found.offset,
                                      lock["end_ns"] - found.offset)
        wait = max((p for p in pieces if isinstance(p[3], Wait)), key=lambda p: p[1] - p[0])[3]
        n += 1
        if not is_holder(held, wait.waker, wait.woken + found.offset):
            bad.append(f"request {q.number[trace]}: woken by {wait.waker}")
    tap.ok(n > 20 and not bad, f"demo (explainer): each of {n} long lock waits is ended by the holder",
           *bad)


def compare_waits(tap, found, exported):
    """Every time blocked: why, since when, woken when and by which thread (or none: an
    interrupt). Spans with more waits than are kept are left out."""
    bad, n = [], 0
    for r in found.rows:
        span = exported.get((r["span_id"], r["kind"]))
        if span is None or span["waits_not_kept"]:
            continue
        mine = [(wait.blocked_in or part, a + found.offset, (wait.woken or b) + found.offset,
                 wait.waker if isinstance(wait.waker, int) else None)
                for a, b, part, wait in found.machine.pieces(
                    r["tid"], r["begin_ns"] - found.offset, r["end_ns"] - found.offset) if wait]
        theirs = [("disk" if w["part"] == "writeback" else w["part"], w["begin_ns"], w["wake_ns"], (w["waker"] or {}).get("tid"))
                  for w in span["waits"] if w["part"] not in ("preempted", "handoff", "unknown")]
        n += len(mine)
        if mine != theirs:
            bad.append(f"{r['span_id']} {r['name']}: {theirs} not {mine}")
    tap.none(bad, f"demo (blktop): cause, begin, end and waker of {n} waits in spans")


def blktop_wakers(tap, trace, found, q):
    """The same of blktop, from the native export of all traces."""
    held, bad, n = holders(q), [], 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "all.json")
        status, _, err = blk.blktop("--export-slowest", str(len(q.rows)), "--format", "json",
                                    "-o", out, trace)
        if status:
            tap.ok(False, "demo (blktop): export of all traces", f"status {status}: {err.strip()}")
            return
        with open(out) as f:
            exported = exported_spans(json.load(f))
    compare_waits(tap, found, exported)
    for trace_id in q:
        lock = q.rows[trace_id]["lock", None]
        if lock["duration_ns"] <= 5 * MS:
            continue
        n += 1
        mine = exported.get((lock["span_id"], None), {}).get("waits")
        if not mine:
            bad.append(f"request {q.number[trace_id]}: no wait in the export of its lock")
            continue
        longest = max(mine, key=lambda w: w["end_ns"] - w["begin_ns"])
        waker = (longest["waker"] or {}).get("tid")
        if longest["part"] != "futex" or not is_holder(held, waker, longest["wake_ns"]):
            bad.append(f"request {q.number[trace_id]}: {longest}")
    tap.ok(n > 20 and not bad,
           f"demo (blktop): each of {n} long lock waits is ended by the holder", *bad)


def exported_spans(tree):
    """{(span id, kind): the span}, of all spans anywhere in a native export."""
    found, todo = {}, [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if "span_id" in node and "waits" in node:
                found[node["span_id"], node["kind"]] = node
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
    return found


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    for name in ("demo", "kernel-ust", "rotation", "live"):
        trace = blk.find(name, "trace")
        if not trace:
            tap.skip(f"{name}", "the trace is not there")
            continue
        found = Explained(trace)
        self_consistent(tap, name, found)
        if name == "demo":
            own_wakers(tap, found, demo_statements(tap, "explainer", found.rows))
        if not blk.have_blktop():
            tap.skip(f"{name}: blktop", f"no {blk.BLKTOP}")
            continue
        try:
            theirs = compare(tap, name, trace, found)
            if name == "demo":
                q = demo_statements(tap, "blktop", theirs.values())
                blktop_wakers(tap, trace, found, q)
        except (blk.Failed, KeyError, StopIteration) as e:
            tap.ok(False, f"{name}: blktop's rows", repr(e))
    tap.done()


if __name__ == "__main__":
    main()
