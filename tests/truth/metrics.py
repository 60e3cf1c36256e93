#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Metrics split by two fields, recounted from babeltrace2's text: call.latency by thread and call, sched.switches by
thread and CPU, device.bytes by device and direction. Counts and sums are exact, percentiles within the histogram's
bound. Split in any way the parts sum to the same, also
compared with other times; random predicates select what Python selects among the rows."""
import collections
import errno
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["block/trace", "thumb/trace", "mix1/trace"] + ["containers/trace", "demo/trace"] * blk.ALL
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group", "execve", "execveat"}
BUCKET = 1 / 32                         # of a value: as wide is a bucket of the histogram
WRITE, FLUSH_OR_DISCARD = 1, 2 | 256    # rwbs, as LTTng records it
SPLITS = [[], ["process"], ["pid", "call"], ["tid", "call"], ["host", "thread"], ["container"]]


def metric(trace, name, by=(), *more):
    options = ["--by", ",".join(by)] if by else []
    status, out, err = blk.blktop("-b", "--metric", name, "--format", "json", *options, *more, trace)
    if status:
        raise blk.Failed(f"--metric {name} {' '.join(by)} {' '.join(more)}: status {status}: {err[:300]}")
    return [row for line in out.splitlines() for row in json.loads(line)["rows"]]


def recount_fields(events):
    """Of sched_switch.next_prio by CPU; and calls by errno, by its number."""
    prios, errors, pending = collections.defaultdict(list), collections.Counter(), {}
    for e in events:
        what, call = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if what == "entry":
            pending[tid] = call
        elif what == "exit" and pending.pop(tid, None) == call and call not in NO_EXIT:
            ret = e.payload.get("ret", 0)
            errors[-ret if -4096 < ret < 0 else 0] += 1
        elif e.name == "sched_switch":
            prios[e.cpu].append(e.payload["next_prio"])
    return prios, errors


def recount(events):
    calls, switches, sizes = collections.defaultdict(list), collections.Counter(), collections.Counter()
    pending, names = {}, {}
    for e in events:
        what, call = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if what == "entry":
            pending[tid] = call, e.ns
        elif what == "exit" and tid in pending and pending[tid][0] == call:
            calls[tid, call].append(e.ns - pending.pop(tid)[1])
        elif e.name == "sched_switch":
            switches[e.payload["prev_tid"], e.cpu] += 1
        elif e.name == "block_rq_complete":
            p = e.payload
            kind = "write" if p["rwbs"] & WRITE else "other" if p["rwbs"] & FLUSH_OR_DISCARD else "read"
            sizes[p["dev"], kind] += p["nr_sector"] * 512
        elif e.name == "lttng_statedump_block_device":
            names[e.payload["dev"]] = e.payload["diskname"]
    by_name = collections.Counter()
    for (dev, kind), size in sizes.items():
        if size:
            by_name[names.get(dev), kind] += size
    return calls, switches, by_name


def percentile(values, share):
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def judge_calls(tap, name, trace, calls):
    bad, n = [], 0
    rows = {(r["tid"], r["call"]): r for r in metric(trace, "call.latency", ["tid", "call"])}
    for key, values in calls.items():
        if key[1] in NO_EXIT:
            continue
        r, n = rows.get(key), n + 1
        want = len(values), sum(values), min(values), max(values)
        if not r or (r["count"], r["total_ns"], r["min_ns"], r["max_ns"]) != want:
            bad.append(f"{key}: {want}, not {r}")
            continue
        for share, column in ((0.5, "p50_ns"), (0.95, "p95_ns"), (0.99, "p99_ns")):
            exact = percentile(values, share)
            if not exact <= r[column] <= min(exact * (1 + BUCKET) + 1, max(values)):
                bad.append(f"{key} {column}: {exact}, not {r[column]}")
    tap.none(bad, f"{name}: call.latency of {n} threads and calls")


def judge_sums(tap, name, what, want, rows):
    got = {key: n for key, n in rows.items() if n}
    bad = [f"{key}: {want.get(key)}, not {got.get(key)}" for key in sorted(want.keys() | got.keys(), key=str)
           if want.get(key, 0) != got.get(key, 0)]
    tap.none(bad, f"{name}: {what}: {len(want)} sums")


def judge_single(tap, name, trace, events):
    """What needs each call or event: fields of events, errors; the CPU of a call does not change the sums."""
    prios, errors = recount_fields(events)
    rows = metric(trace, "field:sched_switch.next_prio", ["cpu"])
    got = {r["cpu"]: (r["count"], r["total"], r["min"], r["max"]) for r in rows}
    want = {cpu: (len(values), sum(values), min(values), max(values)) for cpu, values in prios.items()}
    tap.ok(got == want, f"{name}: field:sched_switch.next_prio by CPU", f"{want}, not {got}")
    leave_out = "!(call in (%s))" % ", ".join(sorted(NO_EXIT))
    got = collections.Counter({r["errno"]: r["count"]
                               for r in metric(trace, "call.latency", ["errno"], "--where", leave_out)})
    want = collections.Counter()
    for number, n in errors.items():
        want[os_error(number)] += n
    tap.ok(got == want, f"{name}: call.latency by errno: {len(want)} errors", f"{want}, not {got}")
    by = ["pid", "call"]
    sums = [{(r["pid"], r["call"]): (r["count"], r["total_ns"], r["p99_ns"])
             for r in metric(trace, "call.latency", by, *more)} for more in ((), ("--where", "cpu >= 0"))]
    tap.ok(sums[0] == sums[1], f"{name}: call by call, {len(sums[0])} sums are those of the seconds")


KERNEL_ONLY = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 516: "ERESTART_RESTARTBLOCK"}


def os_error(number):
    return errno.errorcode.get(number) or KERNEL_ONLY.get(number) if number else None


def judge_splits(tap, name, trace):
    """However it is split, it is the same in all."""
    sums = {tuple(by): (sum(r["count"] for r in rows), sum(r["total_ns"] for r in rows))
            for by in SPLITS for rows in [metric(trace, "call.latency", by)]}
    tap.ok(len(set(sums.values())) == 1, f"{name}: call.latency split in {len(SPLITS)} ways sums to the same",
           str(sums))
    each = metric(trace, "call.latency", [], "--each")
    tap.equal(sum(r["count"] for r in each), sums[()][0], f"{name}: and second by second")


def judge_time(tap, name, trace):
    """All time of a thread is in one of its parts, though only these cells are read."""
    want = collections.Counter()        # a tid may be used again
    for r in blk.rows("processes", trace, "--by", "thread"):
        want[r["tid"]] += sum(r[k] or 0 for k in ("cpu_ns", "runnable_ns", "blocked_ns", "unknown_ns"))
    got = {r["tid"]: r["total_ns"] for r in metric(trace, "thread.time", ["tid"])}
    bad = [f"tid {tid}: {got.get(tid, 0)} ns, not {ns}" for tid, ns in want.items() if got.get(tid, 0) != ns]
    tap.none(bad, f"{name}: thread.time of {len(want)} threads")


def judge_causes(tap, name, trace):
    """A cause is that of the view traces: where it names none, there is none."""
    traces = [r for r in blk.rows("traces", trace) if r["state"] == "complete" and r["duration_ns"] is not None]
    rows = metric(trace, "request.latency", ["cause"])
    want = collections.Counter("none" if r["verdict"] is None else "some" for r in traces)
    got = collections.Counter()
    for r in rows:
        got["none" if r["cause"] == "none" else "some"] += r["count"]
    tap.equal(got, want, f"{name}: {sum(want.values())} requests by cause")


def predicate(rng, rows, depth=0):
    """A text, and the same in Python."""
    if depth < 2 and rng.random() < 0.6:
        (a, is_a), (b, is_b) = predicate(rng, rows, depth + 1), predicate(rng, rows, depth + 1)
        if rng.random() < 0.5:
            return f"({a}) && ({b})", lambda r: is_a(r) and is_b(r)
        return f"({a}) || !({b})", lambda r: is_a(r) or not is_b(r)
    row = rng.choice(rows)
    call, tid = row["call"], row["tid"]
    return rng.choice([
        (f"call == {call}", lambda r: r["call"] == call),
        (f"call != \"{call}\"", lambda r: r["call"] != call),
        (f"call == {call[:3]}*", lambda r: r["call"].lower().startswith(call[:3].lower())),
        (f"call in ({call}, futex)", lambda r: r["call"] in (call, "futex")),
        (f"tid > {tid}", lambda r: r["tid"] > tid),
        (f"tid == {tid}", lambda r: r["tid"] == tid),
    ])


def judge_predicates(tap, name, trace, rng):
    rows, bad, n, selected = metric(trace, "call.latency", ["tid", "call"]), [], 12, 0
    for _ in range(n):
        text, is_in = predicate(rng, rows)
        want = [{k: v for k, v in r.items() if k != "share_ratio"} for r in rows if is_in(r)]
        got = [{k: v for k, v in r.items() if k != "share_ratio"}
               for r in metric(trace, "call.latency", ["tid", "call"], "--where", text)]
        selected += len(want)
        if got != want:
            bad.append(f"{text}: {len(want)} rows, not {len(got)}")
    tap.none(bad, f"{name}: {n} random predicates select {selected} rows")


def judge_compared(tap, name, trace):
    """Now and before are what each of them is alone; now and all other history are the whole."""
    by, part = ["call"], ("--from", "20%", "--to", "60%")
    whole = {r["call"]: r["count"] for r in metric(trace, "call.latency", by)}
    now = {r["call"]: r["count"] for r in metric(trace, "call.latency", by, *part)}
    rows = metric(trace, "call.latency", by, *part, "--against", "history")
    bad = [f"{r['call']}: {r['count']} and {r['count_before']}, not {now.get(r['call'], 0)} of {whole[r['call']]}"
           for r in rows if r["count"] != now.get(r["call"], 0) or r["count"] + r["count_before"] != whole[r["call"]]]
    tap.none(bad, f"{name}: {len(rows)} calls now and in all other history")
    tap.ok(len(rows) == len(whole) and abs(sum(abs(r["share_ratio"]) for r in rows) - 1) < 1e-6,
           f"{name}: the shares of the differences")
    first = {r["call"]: r["count"] for r in metric(trace, "call.latency", by, "--to", "10%")}
    rows = metric(trace, "call.latency", by, "--from", "50%", "--against", "start..10%")
    bad = [f"{r['call']}: {r['count_before']}, not {first.get(r['call'], 0)}" for r in rows
           if r["count_before"] != first.get(r["call"], 0)]
    tap.none(bad, f"{name}: {len(rows)} calls against the beginning")


def compare(tap, name, trace):
    events = list(btparse.events(trace))
    calls, switches, sizes = recount(events)
    judge_calls(tap, name, trace, calls)
    judge_sums(tap, name, "sched.switches", {key: n for key, n in switches.items() if key[0]},
               {(r["tid"], r["cpu"]): r["total"] for r in metric(trace, "sched.switches", ["tid", "cpu"])})
    judge_sums(tap, name, "device.bytes", sizes, {(r["device"], r["direction"]): r["total_bytes"]
               for r in metric(trace, "device.bytes", ["device", "direction"])})
    judge_single(tap, name, trace, events)
    judge_splits(tap, name, trace)
    judge_time(tap, name, trace)
    judge_causes(tap, name, trace)
    judge_compared(tap, name, trace)
    judge_predicates(tap, name, trace, random.Random(name))


def compare_user(tap, name, trace):
    """User space alone: the contexts of an event name its process and thread."""
    want = {by: collections.defaultdict(list) for by in ("process", "thread")}
    for e in btparse.events(trace):
        if e.name != "fields:integers":
            continue
        of = {**e.payload, **e.ctx}             # contexts with structures are read as fields
        comm = of["procname"].strip('"')
        want["process"][comm, of["vpid"]].append(of["s32"])
        want["thread"][comm if "vtid" in of else None, of["vpid"]].append(of["s32"])
    for by, sums in want.items():
        got = {(r[by], r["pid"]): (r["count"], r["total"])
               for r in metric(trace, "field:fields:integers.s32", [by, "pid"])}
        tap.equal(got, {key: (len(v), sum(v)) for key, v in sums.items()}, f"{name}: an integer field by {by}")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    blk.each_trace(tap, ["ust-fields/trace"], compare_user)
    tap.done()


if __name__ == "__main__":
    main()
