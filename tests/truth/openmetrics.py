#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What --listen serves of a recorded trace: the sums of batch views, exactly (second by second where processes change
their names); calls by duration, recounted from babeltrace2's text for each bucket; exemplars are the requests that view
traces has."""
import collections
import json
import os
import sys
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
import exposition

TRACES = ["demo/trace", "block/trace", "mix1/trace"]
METRICS = ["request.latency by service,operation", "request.time by part", "call.latency by call", "ran.time by process",
           "device.bytes by device,direction", "device.latency by device", "loss.events by host", "event.count by event",
           "sched.switches", "thread.time by process,part"]
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group", "execve", "execveat"}
NS = Decimal(10) ** 9


def series(family, suffix):
    return {found: n for (which, found), n in family.samples.items() if which == suffix}


def batch(trace, metric):
    """Sums and counts of a metric, by their labels as Prometheus knows them."""
    name, _, by = metric.partition(" by ")
    options = (["--by", by] if by else []) + ["--each"] * ("process" in by)
    status, out, err = blk.blktop("-b", "--metric", name, "--format", "json", *options, trace)
    if status not in (0, 3):
        raise blk.Failed(f"--metric {metric}: {err[:300]}")
    fields = by.split(",") if by else []
    sums, counts = collections.Counter(), collections.Counter()
    for row in (row for line in out.splitlines() for row in json.loads(line)["rows"]):
        key = tuple(sorted((f, "" if row[f] is None else str(row[f])) for f in fields))
        sums[key] += row["total_ns"] / NS if "total_ns" in row else row.get("total_bytes", row.get("total"))
        counts[key] += row.get("count", 1)
    return {key: (n, counts[key]) for key, n in sums.items() if counts[key]}


def judge_metric(tap, name, families, metric, rows):
    family = "blktop_" + metric.split()[0].replace(".", "_")
    found = next((f for n, f in families.items() if n.startswith(family) and "_by_" not in n), None)
    if not found or not rows:
        tap.ok(not rows and not found, f"{name}: {metric}: neither here nor there")
        return
    bad = []
    is_distribution = found.kind == "histogram"
    sums, counts = series(found, "_sum" if is_distribution else "_total"), series(found, "_count")
    for key, (total, n) in rows.items():
        if sums.get(key) != total or (is_distribution and counts.get(key) != n):
            bad.append(f"{key}: {total}, {n}, not {sums.get(key)}, {counts.get(key)}")
    bad += [f"{key} is no row" for key in sums.keys() - rows.keys()]
    tap.none(bad, f"{name}: {metric}: {len(rows)} sums")


def judge_buckets(tap, name, family, events):
    calls, pending = collections.defaultdict(list), {}
    for e in events:
        what, call = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if what == "entry":
            pending[tid] = call, e.ns
        elif what == "exit" and tid in pending and pending[tid][0] == call and call not in NO_EXIT:
            calls[call].append(e.ns - pending.pop(tid)[1])
    bad, n = [], 0
    for found, value in series(family, "_bucket").items():
        n += 1
        of = dict(found)
        le = exposition.number(of["le"]) * NS
        want = sum(ns <= le for ns in calls[of["call"]]) if of["call"] not in NO_EXIT else value
        if want != value:
            bad.append(f"{of}: {want}, not {value}")
    tap.none(bad, f"{name}: {n} buckets of calls")


def judge_exemplars(tap, name, families, trace):
    traces = {row["trace_id"]: row for row in blk.rows("traces", trace)}
    bad, n = [], 0
    for (_, found), (of, ns, instant) in families["blktop_request_latency_seconds"].exemplars.items():
        n += 1
        row = traces.get(of["trace_id"])
        if not row or row["duration_ns"] != ns * NS or row["begin_ns"] + row["duration_ns"] != instant * NS:
            bad.append(f"{found}: {of} {ns} {instant}: {row}")
    tap.none(bad, f"{name}: {n} exemplars are requests")
    tap.ok(n > 0, f"{name}: there are exemplars")


def compare(tap, name, trace):
    server = exposition.Served(blk.BLKTOP, "--metrics", "; ".join(METRICS), "--most-values", "10000", trace)
    first, end = (int(blk.objects("cpus", trace, lossy=True)[0]["range"][k]) for k in ("from_ns", "to_ns"))
    families = server.until(lambda f: (exposition.counted(f)[1] or 0) * NS >= end)
    metrics = exposition.parse(server.get("application/openmetrics-text")[2], True)
    code, out, _ = server.end()
    tap.ok(code in (0, 3) and not out, f"{name}: SIGTERM ends it: status {code}")
    seconds = exposition.counted(families)[0]
    tap.ok(seconds >= (end - first) // 10 ** 9, f"{name}: all of its seconds")
    for metric in METRICS:
        judge_metric(tap, name, families, metric, batch(trace, metric))
    same = {n.removesuffix("_total"): f.samples for n, f in families.items()} == {n: f.samples for n, f in metrics.items()}
    tap.ok(same, f"{name}: OpenMetrics has the same")
    judge_buckets(tap, name, families["blktop_call_latency_seconds"], btparse.events(trace))
    if name.startswith("demo"):
        judge_exemplars(tap, name, metrics, trace)


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
