#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The view flame, recounted from other views: of requests from the critical path of each of them and the parents of
spans, of threads from the parts of threads and the time in their system calls. All frames have the same names and the
same times, exactly; no frame has less than the frames below it; folded lines are the same paths and sum to the same."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

REQUESTS = ["nested/trace", "demo/trace", "thumb/trace"]
THREADS = ["kernel-small/trace", "faults/trace", "block/trace"] + ["containers/trace", "thumb/trace"] * blk.ALL
MOST_REQUESTS = 400 if blk.ALL else 12          # each of them is one run of blktop
MODES = "user", "syscall", "kernel", "irq"
OUTSIDE = "user", "kernel", "fault"             # parts that are never in a system call
SEPARATOR = ";"
WAITING = "waiting for work"


def safe(name):
    """As paths have it: names of these recordings have no control characters."""
    return name.replace(SEPARATOR, ":")


def add(frames, names, ns):
    """All frames from the outermost to the innermost have that time more."""
    for n in range(1, len(names) + 1):
        frames[SEPARATOR.join(safe(x) for x in names[:n])] += ns


# ---- requests ----

def phases(span, spans):
    """Names from the root down to the span. A server half lies below the client half of the same id."""
    chain = []
    while span:
        chain.append(span)
        client = spans.get((span["span_id"], "client")) if span["kind"] == "server" else None
        above = [spans.get((span["parent_id"], kind)) for kind in ("server", None, "client")]
        span = client or next((s for s in above if s), None)
    names, service = [], None
    for s in reversed(chain):
        names.append(s["name"] if s["service"] == service else f"{s['name']}@{s['service']}")
        service = s["service"]
    return names


def parts(piece):
    """What the piece is divided into, and how long each is. A waker's mode on its CPU may be unknown: all of it is."""
    if piece["state"] == "cpu" and not piece["mode"]:
        return [("cpu", piece["duration_ns"])]
    modes = collections.Counter({mode: piece[mode + "_ns"] or 0 for mode in MODES})
    modes[piece["mode"] or piece["state"]] += piece["duration_ns"] - sum(modes.values())
    return [(mode, ns) for mode, ns in modes.items() if ns]


def pieces(trace, request):
    for p in blk.rows("path", trace, "--only", f"trace={request['trace_id']}"):
        names = []
        if p["hops"]:
            names.append(p["comm"] or "?")
        if p["syscall"]:
            names.append(p["syscall"] + "()")
        yield p, names


def recount_requests(trace, when):
    """Frames; requests whose root span has ended; differences between durations and pieces."""
    frames, bad, requests = collections.Counter(), [], []
    listed = blk.objects("traces", trace, *when)[0]
    for r in listed["rows"]:
        spans = {(s["span_id"], s["kind"]): s for s in blk.rows("spans", trace, "--only", f"trace={r['trace_id']}")}
        roots = {s["state"] for s in spans.values() if s["span_id"] == r["span_id"] and s["end_ns"] == r["end_ns"]}
        inside = listed["range"]["from_ns"] <= r["end_ns"] < listed["range"]["to_ns"]
        if "open" in roots or (r["state"] == "open" and not inside):
            continue
        requests.append(r)
        total = 0
        for p, names in pieces(trace, r):
            waiter = spans[p["waiter_span_id"], p["waiter_kind"]]
            for part, ns in parts(p):
                add(frames, phases(waiter, spans) + names + [part], ns)
                total += ns
        if total != r["duration_ns"]:
            bad.append(f"{r['trace_id']}: {total}, not {r['duration_ns']}")
    return frames, requests, bad


def judge_requests(tap, name, trace):
    seconds = [o for o in blk.objects("traces", trace, "--each") if o["rows"]]
    when, n = (), sum(len(o["rows"]) for o in seconds)
    if n > MOST_REQUESTS:
        most = max((o for o in seconds if len(o["rows"]) <= MOST_REQUESTS), key=lambda o: len(o["rows"]))
        when = ("--at", f"@{most['range']['from_ns']}")
    want, requests, bad = recount_requests(trace, when)
    tap.none(bad, f"{name}: pieces sum to the duration of {len(requests)} requests")
    judge(tap, f"{name}: requests", trace, want, *when)
    if requests:
        one = requests[0]
        frames, _, _ = recount_requests(trace, ("--filter", f"trace_id == {one['trace_id']}"))
        judge(tap, f"{name}: one request", trace, frames, "--only", f"trace={one['trace_id']}")


# ---- threads ----

def metric(trace, name, by, *more):
    status, out, err = blk.blktop("-b", "--metric", name, "--by", by, *more, "--format", "json", trace)
    if status:
        raise blk.Failed(f"--metric {name}: status {status}: {err[:300]}")
    return [row for line in out.splitlines() for row in json.loads(line)["rows"]]


def names_of_threads(trace):
    """[process, thread] by tid."""
    leaders = {r["pid"]: r["comm"] for r in blk.rows("processes", trace)}
    names = {}
    for r in blk.rows("processes", trace, "--by", "thread"):
        path = [leaders.get(r["pid"]) or r["comm"] or "?", r["comm"] or "?"]
        if names.setdefault(r["tid"], path) != path:
            raise blk.Failed(f"tid {r['tid']} is that of {path} and of {names[r['tid']]}: choose another recording")
    return names


def recount_threads(trace, by_process):
    lives, calls = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    frames, names = collections.Counter(), names_of_threads(trace)
    for r in metric(trace, "thread.time", "tid,part"):
        lives[r["tid"]][r["part"]] += r["total_ns"]
    for r in metric(trace, "call.busy", "tid,call"):
        if r["total_ns"] > 0:
            calls[r["tid"]][r["call"]] += r["total_ns"]
    idle = collections.Counter()
    for r in metric(trace, "call.busy", "tid,call", "--where", 'waited == "for work"'):
        idle[r["tid"], r["call"]] += r["total_ns"]
    for tid, life in lives.items():
        path = names[tid][:1] if by_process else names[tid]
        left = sum(life.values()) - sum(calls[tid].values())
        for call, ns in calls[tid].items():
            if idle[tid, call]:
                add(frames, [WAITING] + path + [call + "()"], idle[tid, call])
            if ns > idle[tid, call]:
                add(frames, path + [call + "()"], ns - idle[tid, call])
        for part, ns in life.items():
            if ns > 0 and (not calls[tid] or part in OUTSIDE):
                add(frames, path + [part], ns)
                left -= ns
        if calls[tid] and left > 0:
            add(frames, path + ["other"], left)
    return frames


def judge_threads(tap, name, trace):
    for by in ("thread", "process"):
        judge(tap, f"{name}: by {by}", trace, recount_threads(trace, by == "process"), "--by", by)


# ---- what holds for all ----

def judge(tap, name, trace, want, *more):
    rows = blk.rows("flame", trace, *more)
    got = {r["path"]: r["total_ns"] for r in rows if r["path"]}
    tap.none([f"{path}: {want.get(path)}, not {got.get(path)}" for path in sorted(want.keys() | got.keys())
              if want.get(path) != got.get(path)], f"{name}: {len(want)} frames")
    judge_sums(tap, name, rows)
    judge_folded(tap, name, rows, trace, *more)


def judge_sums(tap, name, rows):
    bad, stack = [], []
    below = collections.Counter()
    for i, r in enumerate(rows):
        del stack[r["depth"]:]
        if stack:
            below[stack[-1]] += r["total_ns"]
            share = r["total_ns"] / rows[stack[-1]]["total_ns"]
            if abs(share - r["parent_ratio"]) > 1e-5 or abs(r["total_ns"] / rows[0]["total_ns"] - r["share_ratio"]) > 1e-5:
                bad.append(f"{r['path']}: shares {r['parent_ratio']} and {r['share_ratio']}")
        stack.append(i)
    bad += [f"{r['path']}: {r['total_ns']} in all, {r['self_ns']} itself, {below[i]} below" for i, r in enumerate(rows)
            if r["total_ns"] - r["self_ns"] != below[i] or r["self_ns"] < 0 or r["total_ns"] <= 0]
    tap.none(bad, f"{name}: a frame has what is below it, and itself")
    if rows:
        tap.equal(sum(r["self_ns"] for r in rows), rows[0]["total_ns"], f"{name}: all of them are the whole")


def judge_folded(tap, name, rows, trace, *more):
    r = subprocess.run([blk.BLKTOP, "-b", "--view", "flame", "--format", "folded", *more, trace], capture_output=True,
                       text=True, timeout=300, check=False)
    lines = [line.rpartition(" ") for line in r.stdout.splitlines()]
    got = sorted((path, int(ns)) for path, _, ns in lines)
    want = sorted((x["path"], x["self_ns"]) for x in rows if x["self_ns"] and x["path"])
    tap.ok(r.returncode == 0 and got == want, f"{name}: {len(want)} folded lines", f"status {r.returncode}",
           *[x for x in want if x not in got], *[x for x in got if x not in want])


def main():
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, REQUESTS, judge_requests)
    blk.each_trace(tap, THREADS, judge_threads)
    tap.done()


if __name__ == "__main__":
    main()
