#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Spans, against the words of the traced programs, the stream files' packets and babeltrace2's text:
- calls between services that one thread makes (nested/): counted once, each half with its own children and tags;
- requests whose end is not in the trace: none that had ended is open, none lasts longer than it did;
- rules with begin_if and without end_if: only the spans that were asked for;
- the system calls of one request; fields in base 16; exports with the kernel's part.
Each holds in both readers and however the trace is cut."""
import collections
import glob
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
import packets

WAYS = [("whole", ["-j", "1"]), ("in pieces", ["-j", "3", "--slices", "13"]),
        ("babeltrace2", ["--reader", "babeltrace2"])]
if not blk.ALL:
    WAYS = WAYS[:2]
MASK = (1 << 64) - 1


def hexid(number):
    return f"{number & MASK:016x}"


# ---- one thread that holds both halves of a call ----

def nested_truth(path):
    """{span id: (trace id, parent id, service, begin, end or None)}"""
    spans = {}
    with open(path) as f:
        for line in f:
            w = line.rstrip("\n").split("\t")
            if w[0] == "span":
                spans[hexid(int(w[2]))] = (hexid(int(w[1])), hexid(int(w[3])), w[6], int(w[8]),
                                           None if w[9] == "-" else int(w[9]))
    return spans


def judge_nested(tap, trace, spans, way, options):
    wanted = collections.Counter()
    for trace_id, parent, service, _, end in spans.values():
        if end is not None:
            wanted[spans[parent][2] if parent in spans else None, service] += 1
    said = {(r["caller"], r["service"]): r["count"] for r in blk.rows("services", trace, *options)}
    tap.equal(said, dict(wanted), f"nested, {way}: calls by caller and service")
    rows = blk.rows("spans", trace, *options)
    tap.none([f"{r['span_id']} of {r['service']}: {r['tags']}" for r in rows
              if bool(r["tags"]) != (r["service"] == spans[r["span_id"]][2])],
             f"nested, {way}: tags belong to the half whose service made them")
    deep = [t for t in sorted({s[0] for s in spans.values()}) if all(
        s[4] is not None for s in spans.values() if s[0] == t)][:4]
    for t in deep:
        path = {r["span_id"] for r in blk.rows("path", trace, "--only", f"trace={t}", *options)}
        tap.equal(path, {i for i, s in spans.items() if s[0] == t}, f"nested, {way}: the path of {t} goes to its leaf")


def nested(tap):
    trace, truth = blk.find("nested", "trace"), blk.find("nested", "truth.tsv")
    for way, options in WAYS:
        judge_nested(tap, trace, nested_truth(truth), way, options)


# ---- ends that are not in the trace ----

def ends_of_truth(name, offset):
    """{(trace, span, service): when it ended}"""
    return {(hexid(s["trace"]), hexid(s["span"]), s["service"]): s["end_ns"] + offset
            for s in blk.truth(name) if s["kind"] == "span"}


def judge_ends(tap, name, trace, way, options):
    offset = next(s["realtime_minus_monotonic_ns"] for s in blk.truth(name) if "realtime_minus_monotonic_ns" in s)
    ends = ends_of_truth(name, offset)
    last = max(btparse.events(trace), key=lambda e: e.ns).ns + offset
    rows = blk.rows("spans", trace, *options, lossy=True)
    cut = [r for r in rows if r["state"] != "complete"]
    tap.ok(cut, f"{name}, {way}: {len(cut)} of {len(rows)} spans are not complete")
    key = lambda r: (r["trace_id"], r["span_id"], r["service"])
    tap.none([f"{key(r)} ended {(last - ends[key(r)]) / 1e6:.3f} ms before the trace's end" for r in cut
              if r["state"] == "open" and ends.get(key(r), last) < last - 1000000],
             f"{name}, {way}: no span that had ended is open")
    tap.none([f"{key(r)}: {r['duration_ns']} ns, {r['end_ns'] - ends[key(r)]} ns too long" for r in cut
              if key(r) in ends and r["end_ns"] > ends[key(r)] + 1000000],
             f"{name}, {way}: none lasts longer than it did")
    tap.none([f"{key(r)}: parts of {r['duration_ns']} ns sum to {parts_of(r)}" for r in cut
              if parts_of(r) not in (0, r["duration_ns"])], f"{name}, {way}: their parts sum to what is known of them")


def parts_of(row):
    skip = ("begin_ns", "end_ns", "duration_ns", "self_ns", "runnable_ns", "neighbour_ns")
    return sum(v for k, v in row.items() if k.endswith("_ns") and k not in skip and v is not None)


def without_last_packet(trace, to):
    """A copy of the trace without the last packet of the first user-space stream, as if it ended earlier."""
    shutil.copytree(trace, to)
    for index in glob.glob(os.path.join(to, "**", "index"), recursive=True):
        shutil.rmtree(index)
    name = min(n for n, all_of_it in packets.packets(to).items() if "ust" in n and len(all_of_it) > 1)
    size = packets.packets(to)[name][-1].size // 8
    with open(os.path.join(to, name), "r+b") as f:
        f.truncate(os.path.getsize(os.path.join(to, name)) - size)


def ends(tap, scratch):
    cut = os.path.join(scratch, "demo")
    without_last_packet(blk.find("demo", "trace"), cut)
    for way, options in WAYS:
        judge_ends(tap, "snapshot", blk.find("snapshot", "trace"), way, options)
        judge_ends(tap, "demo", cut, f"one stream shorter, {way}", options)


# ---- rules ----

RULE = """[r]
begin=syscall_entry_read
end=syscall_exit_read
begin_if=ctx.procname =~ ^thumbd-w
name=read ${count} ${fd}
tags=count, fd
"""


def rules(tap, scratch):
    trace = blk.find("kernel-ust", "trace")
    path = os.path.join(scratch, "rules")
    with open(path, "w") as f:
        f.write(RULE)
    calls = [e for e in btparse.events(trace) if e.name == "syscall_entry_read"
             and str(e.ctx.get("procname", "")).startswith("thumbd-w")]
    for way, options in WAYS:
        rows = [r for r in blk.rows("spans", trace, "--spans", path, *options) if r["name"].startswith("read ")
                or r["name"] == "r"]
        tap.equal(len(rows), len(calls), f"begin_if without end_if, {way}: a span for each such call, no others")
        tap.none([r for r in rows if not r["annotations"].startswith("start")],
                 f"begin_if without end_if, {way}: each has a beginning")


def base16(tap, scratch):
    trace = blk.find("kernel-ust", "trace")
    path = os.path.join(scratch, "hex")
    with open(path, "w") as f:
        f.write("[m]\nbegin=napi_poll\nend=napi_poll\nkey=napi\nname=at ${napi}\ntags=napi, work\n")
    wanted = collections.Counter()
    for e in btparse.events(trace):
        if e.name == "napi_poll":
            napi = re.search(r"napi = (\w+)", e.text)[1].lower()
            wanted[f"at {napi}", f"napi={napi} work={e.payload['work']}"] += 1
    tap.ok(any("0x" in name for name, _ in wanted), f"{sum(wanted.values())} events with fields in base 16")
    for way, options in WAYS:
        said = collections.Counter((r["name"], r["tags"]) for r in blk.rows("spans", trace, "--spans", path, *options)
                                   if r["name"].startswith("at "))
        tap.equal(said, wanted, f"{way}: fields in base 16 stay so in names and tags")


# ---- the system calls of a request ----

def calls_of_threads(events):
    """{tid: [(begin, end, name, ret)]}"""
    open_calls, done = {}, collections.defaultdict(list)
    for e in events:
        tid = e.ctx.get("tid")
        if e.name.startswith("syscall_entry_"):
            open_calls[tid] = (e.ns, e.name[len("syscall_entry_"):])
        elif e.name.startswith("syscall_exit_"):
            begin, name = open_calls.pop(tid, (None, None))
            if name == e.name[len("syscall_exit_"):]:
                done[tid].append((begin, e.ns, name, e.payload.get("ret")))
    return done


def judge_calls(tap, trace, way, options):
    events = btparse.events(trace)
    calls, offset = calls_of_threads(events), btparse.offset(trace)
    spans = [r for r in blk.rows("spans", trace, *options) if r["state"] == "complete"]
    traces = collections.defaultdict(list)
    for r in spans:
        traces[r["trace_id"]].append(r)
    wrong, n = [], 0
    for trace_id in sorted(traces)[:12]:
        wanted = collections.Counter()
        seen = set()
        for r in traces[trace_id]:
            for c in calls[r["tid"]]:
                if (r["tid"], c) not in seen and r["begin_ns"] - offset <= c[0] and c[1] <= r["end_ns"] - offset:
                    seen.add((r["tid"], c))
                    wanted[c[2]] += 1
        said = collections.Counter()
        for r in blk.rows("syscalls", trace, "--only", f"trace={trace_id}", *options):
            said[r["syscall"]] += r["count"]
        n += sum(wanted.values())
        nameless = wanted.pop("unknown", 0)     # by the tracer; blktop names them by their numbers
        more = sum((said - wanted).values())
        if wanted - said or more != nameless:
            wrong.append(f"{trace_id}: said {dict(said)}, wanted {dict(wanted)}")
    tap.none(wrong, f"{way}: the system calls of 12 requests ({n})")
    leaf = [r for r in spans if r["name"] == "decode"][:6]
    tap.none([f"{r['span_id']}: {said}, wanted {wanted}" for r, said, wanted in (
        (r, sum(x["count"] for x in blk.rows("syscalls", trace, "--only", f"span={r['span_id']}", *options)),
         sum(1 for c in calls[r["tid"]] if r["begin_ns"] - offset <= c[0] and c[1] <= r["end_ns"] - offset))
        for r in leaf) if said != wanted], f"{way}: the system calls of {len(leaf)} spans")


def judge_export(tap, trace):
    request = max((r for r in blk.rows("spans", trace) if r["name"] == "thumbnail"), key=lambda r: r["duration_ns"])
    for more in [], ["--with-kernel"]:
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "x.json")
            status, _, err = blk.blktop("--export-trace", request["trace_id"], "--format", "zipkin", *more, "-o", out,
                                        trace)
            said = re.search(r"(\d+) span", err)
            with open(out) as f:
                found = json.load(f)
        tap.ok(status == 0 and said and int(said[1]) == len(found), f"export {more}: the message counts what is in the file",
               err, len(found))
    by_id = {s["id"]: s for s in found}
    waits = {s["parentId"] for s in found if s["name"].startswith(("blocked: ", "preempted"))}
    short = [s for s in found if "blktop.ret" in s.get("tags", {}) and s["id"] not in waits
             and s["duration"] * 100 < by_id[s["parentId"]]["duration"] - 100]
    tap.none(short, "export --with-kernel: calls are long, or a wait is in them")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    with tempfile.TemporaryDirectory() as scratch:
        nested(tap)
        ends(tap, scratch)
        rules(tap, scratch)
        base16(tap, scratch)
        for way, options in WAYS:
            judge_calls(tap, blk.find("kernel-ust", "trace"), way, options)
        judge_export(tap, blk.find("kernel-ust", "trace"))
    tap.done()


if __name__ == "__main__":
    main()
