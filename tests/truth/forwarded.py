#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--forward: what a server took is what the batch exporter prints, with every id, name and time: of recordings, live, and by
a rule."""
import collections
import functools
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import blk
import exposition
from hostile_relay import Recording, Relay
from spans_server import Spans, spans_of

TRACES = ["kernel-ust/trace"] + ["demo/trace", "live/trace", "rotation/trace", "ctf2/kernel-ust/trace"] * blk.ALL
PATHS = {"zipkin": "/api/v2/spans", "otlp": "/v1/traces"}


@functools.cache
def exported(trace, fmt="zipkin", *more):
    """What the exporter prints of finished requests: spans; and the traces that have open ones."""
    status, out, err = blk.blktop("--export-slowest", "10000000", "--format", fmt, "-o", "-", *more, trace)
    if status not in (0, 3):
        raise blk.Failed(f"export: {err[:300]}")
    unfinished = {s["traceId"] for s in json.loads(out) if s["tags"].get("blktop.state") == "open"} if fmt == "zipkin" else \
        {f"{int(t, 16):032x}" for t in exported(trace)[1]}
    return [s for s in spans_of(json.loads(out)) if s[0] not in unfinished], unfinished


def forward(server, fmt, *arguments, timeout=120):
    return blk.blktop("-b", "--forward", f"http://127.0.0.1:{server.port}{PATHS[fmt]}", *arguments, timeout=timeout)


def judge(tap, what, server, wanted):
    found, wanted = collections.Counter(server.spans()), collections.Counter(wanted)
    bad = [f"sent, not wanted: {s}" for s in found - wanted] + [f"wanted, not sent: {s}" for s in wanted - found]
    tap.none(sorted(bad), f"{what}: {wanted.total()} spans")
    tap.none(server.bad, f"{what}: {len(server.requests)} requests are such")
    server.close()


def compare(tap, name, trace):
    for fmt in PATHS:
        for kernel in ([], ["kernel"]):
            server = Spans(always="accepted")
            status, out, err = forward(server, fmt, *["--forward-kernel" for _ in kernel], trace)
            tap.ok(status in (0, 3) and not out, f"{name}: {fmt}: status {status}", err)
            tap.ok({path for path, _, _ in server.requests} == {PATHS[fmt]}, f"{name}: the path is {PATHS[fmt]}")
            judge(tap, f"{name}: {fmt} {' '.join(kernel)}", server, exported(trace, fmt, *["--with-kernel" for _ in kernel])[0])


def memory(tap):
    """What is evicted while the trace is read is sent before."""
    trace = blk.find("demo/trace")
    server = Spans()
    status, _, err = forward(server, "otlp", "--memory", "16M", trace)
    tap.ok(status == 0, f"--memory: status {status}", err)
    judge(tap, "--memory 16M", server, exported(trace, "otlp")[0])


def rules(tap):
    trace = blk.find("demo/trace")
    every = exported(trace)[0]
    rows = {r["trace_id"]: r for r in blk.rows("traces", trace)}
    slow = {t for t, r in rows.items() if (r["duration_ns"] or 0) >= 40_000_000}
    failed = {t for t, r in rows.items() if r["errors"]}
    tap.ok(0 < len(slow) < len(rows), f"{len(slow)} slow and {len(failed)} failed of {len(rows)}")

    def run(rule):
        server = Spans()
        status, _, err = forward(server, "zipkin", "--forward-only", rule, trace)
        tap.ok(status == 0, f"{rule}: status {status}", err)
        return server, {s[0] for s in server.spans()}

    server, _ = run("slow 40ms")
    judge(tap, "slow 40ms", server, [s for s in every if s[0] in slow])
    server, _ = run(" failed ;")
    judge(tap, "failed", server, [s for s in every if s[0] in failed])
    server, sampled = run("1 in 7")
    tap.ok(0.5 < len(sampled) / (len(rows) / 7) < 1.5, f"1 in 7: {len(sampled)} of {len(rows)} traces")
    judge(tap, "1 in 7: whole traces", server, [s for s in every if s[0] in sampled])
    server, _ = run("1 in 7; slow 40ms; failed")
    judge(tap, "all three", server, [s for s in every if s[0] in sampled | slow | failed])
    server, _ = run("1 in 1")
    judge(tap, "1 in 1", server, every)
    server = Spans()
    half = rows_ending_in(trace)
    status, _, err = forward(server, "zipkin", "--from", "50%", trace)
    tap.ok(status == 0 and {s[0] for s in server.spans()} == half, "--from: requests that end there", err,
           len(half), len({s[0] for s in server.spans()}))
    server.close()


def rows_ending_in(trace):
    """Requests that end in whole seconds from the middle on."""
    begin = json.loads(blk.blktop("-b", "--view", "traces", "--each", "--from", "50%", "--format", "json", trace)[1]
                       .splitlines()[0])["range"]["from_ns"]
    last = collections.defaultdict(int)
    for s in json.loads(blk.blktop("--export-slowest", "10000000", "--format", "zipkin", "-o", "-", trace)[1]):
        end = int(s["tags"]["blktop.begin_ns"]) + int(s["tags"]["blktop.duration_ns"])
        last[s["traceId"]] = max(last[s["traceId"]], end)
    return {t for t, end in last.items() if end >= begin}


def live(tap):
    """A relay that serves a recording gives the same as the recording; so do the counts."""
    trace = blk.find("kernel-ust/trace/ust")
    for fmt in PATHS:
        relay, server = Relay(Recording(trace)), Spans(["500", "reset"])
        with tempfile.TemporaryDirectory() as work:
            file = os.path.join(work, "blktop.prom")
            status, out, err = forward(server, fmt, "--metrics-file", file, "--from-beginning", "-r",
                                       f"net://127.0.0.1:{relay.port}/host/web1/prod")
            tap.ok(status in (0, 3) and not out, f"live: {fmt}: status {status}", err)
            families = exposition.parse(open(file, encoding="utf-8").read())
        counts = [families[f"blktop_forward_{w}_spans_total"].samples["_total", ()] for w in ("chosen", "sent", "dropped")]
        relay.close()
        wanted = exported(trace, fmt)[0]
        tap.equal(counts, [len(wanted), len(wanted), 0], f"live: {fmt}: what was chosen, sent and dropped")
        judge(tap, f"live: {fmt}", server, wanted)


def main():
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    memory(tap)
    rules(tap)
    live(tap)
    tap.done()


if __name__ == "__main__":
    main()
