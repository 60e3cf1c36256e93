#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the views counters and events (by thread, by second) against a count in babeltrace2's text.

Perf counters of CPUs: the step between two switches of a CPU is the thread's that leaves it at the
second one. Those of user space: the step between two events of a thread is its own. Probes, and all
events: of the thread that the context tid names (of user space: vtid); 0 is idle.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "kernel-ust/trace", "demo/trace", "faults/trace",
          "ctf2/kernel-small/trace"]


def is_counter(name):
    return name.startswith("perf_") and name not in ("perf_tid", "perf_pid", "perf_cpu", "perf_ip")


def is_probe(e):
    return not e.user_space and list(e.payload) in (["ip"], ["ip", "parent_ip"])


def count_perf(events):
    """{(tid, counter, scope): sum}"""
    found, last = collections.Counter(), {}
    for e in events:
        if not (e.name == "sched_switch" or e.user_space):
            continue
        for name, value in e.ctx.items():
            if not is_counter(name) or not value:
                continue
            scope, _, short = name[len("perf_"):].partition("_")
            tid = e.ctx["vtid"] if e.user_space else e.payload["prev_tid"]
            where = (name, tid) if e.user_space else (name, "cpu", e.cpu)
            step = value - last.get(where, value)
            if step > 0:
                found[tid, short, scope] += step
            last[where] = value
    return +found


def tid_of(e):
    return e.ctx["vtid"] if e.user_space else e.ctx["tid"]


def of_rows(rows, *columns, value):
    found = collections.Counter()
    for r in rows:
        tid = 0 if r["tid"] is None and r["comm"] == "idle" else r["tid"]
        found[(tid, *(r[c] for c in columns))] += r[value]
    return found


def differ(got, expected):
    return [f"{k}: {got.get(k)} not {expected.get(k)}"
            for k in sorted(got.keys() | expected.keys(), key=str) if got.get(k) != expected.get(k)]


def compare(tap, name, trace):
    events = btparse.events(trace)
    rows = blk.rows("counters", trace, "--by", "thread")
    perf = of_rows([r for r in rows if r["kind"] in ("cpu", "thread")], "counter", "kind", value="value")
    expected = count_perf(events)
    tap.none(differ(perf, expected), f"{name}: {len(expected)} perf counters of threads")
    probes = collections.Counter((tid_of(e), e.name) for e in events if is_probe(e))
    got = of_rows([r for r in rows if r["kind"] == "probe"], "counter", value="value")
    tap.none(differ(got, probes), f"{name}: {sum(probes.values())} hits of probes")
    counted = of_rows(blk.rows("events", trace, "--by", "thread"), "name", value="count")
    if all("tid" in e.ctx or e.user_space for e in events):
        each = collections.Counter((tid_of(e), e.name) for e in events)
        tap.none(differ(counted, each), f"{name}: {len(events)} events, {len(each)} by thread and name")
    else:
        tap.skip(f"{name}: events by thread", "not all events have the context tid")
    names = collections.Counter(e.name for e in events)
    for by in ("process", "thread", "second", "system"):
        total = collections.Counter()
        for r in blk.rows("events", trace, "--by", by):
            total[r["name"]] += r["count"]
        tap.none(differ(total, names), f"{name}: events by {by} sum up to all of their name")
    whole = collections.Counter()
    for r in rows:
        whole[r["counter"], r["kind"]] += r["value"]
    for by in ("process", "second", "system"):
        total = collections.Counter()
        for r in blk.rows("counters", trace, "--by", by):
            total[r["counter"], r["kind"]] += r["value"]
        tap.none(differ(total, whole), f"{name}: counters by {by} sum up to the same")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
