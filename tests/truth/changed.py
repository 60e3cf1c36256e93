#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The phase that the view changed names, recounted from the spans' begins, ends and parents."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk  # noqa: E402

S = 10**9


def link(spans):
    """Sets the parent of each span: of a server half its client half, else the best of those with that id."""
    by_id = collections.defaultdict(list)
    for s in spans:
        by_id[s["trace_id"], s["span_id"]].append(s)
        s["children"] = []
    for s in spans:
        same = [p for p in by_id[s["trace_id"], s["span_id"]] if s["kind"] == "server" and p["kind"] == "client"]
        found = same or [p for p in by_id[s["trace_id"], s["parent_id"]] if p is not s]
        found.sort(key=lambda p: (p["service"] != s["service"], p["tid"] != s["tid"]))
        if found:
            found[0]["children"].append(s)


def own(s):
    """Its duration without the time in which a child was open."""
    at, covered = s["begin_ns"], 0
    for c in sorted(s["children"], key=lambda c: c["begin_ns"]):
        begin, end = max(at, c["begin_ns"]), min(s["end_ns"], c["end_ns"])
        if end > begin:
            covered += end - begin
            at = end
    return s["end_ns"] - s["begin_ns"] - covered


def below(s):
    for c in s["children"]:
        yield c
        yield from below(c)


def averages(spans, begin, end):
    """For each operation: number of its spans, mean duration, mean own time of each phase."""
    of = collections.defaultdict(list)
    for s in spans:
        if s["state"] != "open" and (s["parent_id"] is None or s["kind"] == "server") and begin <= s["end_ns"] < end:
            of[s["service"], s["name"], s["kind"]].append(s)
    result = {}
    for key, roots in of.items():
        phases = collections.Counter()
        for r in roots:
            for c in below(r):
                if c["state"] != "open" and c["end_ns"] <= r["end_ns"]:
                    phases[c["service"], c["name"], c["kind"]] += own(c)
        n = len(roots)
        result[key] = (sum(r["end_ns"] - r["begin_ns"] for r in roots) // n,
                       {k: v // n for k, v in phases.items()})
    return result


def check(tap, trace, name):
    spans = blk.rows("spans", trace)
    link(spans)
    first = min(s["begin_ns"] for s in spans) // S * S
    last = max(s["end_ns"] for s in spans) // S * S
    bad, named, silent = [], 0, 0
    for length in (1, 3):
        for at in range(first + length * S, last - length * S, length * S):
            now, before = averages(spans, at, at + length * S), averages(spans, at - length * S, at)
            for row in blk.rows("changed", trace, "--from", f"@{at}", "--to", f"@{at + length * S}"):
                key = row["service"], row["name"], row["kind"]
                if key not in now or key not in before:
                    bad += [f"{at} {key}: {row['phase']}, not in both"] if row["phase"] else []
                    continue
                more = now[key][0] - before[key][0]
                grew = {k: v - before[key][1].get(k, 0) for k, v in now[key][1].items()}
                most = max(grew, key=grew.get, default=None)
                wanted = None
                if most and more > 0 and grew[most] >= (more + 1) // 2:
                    wanted = most[1] if most[0] == row["service"] else f"{most[1]} in {most[0]}"
                delta = grew[most] if wanted else None
                named += wanted is not None
                silent += wanted is None and more > 0
                if (row["phase"], row["phase_delta_ns"]) != (wanted, delta):
                    bad.append(f"{at} {key}: {row['phase']} {row['phase_delta_ns']}, not {wanted} {delta}")
    tap.ok(named and (silent or name == "thumb"), f"{name}: a phase is named {named} times, and {silent} times none is proven")
    tap.none(bad, f"{name}: phases that grew, from the spans")


def main():
    tap = blk.Tap()
    for name in ("demo/trace", "thumb"):
        trace = blk.find(*name.split("/"))
        if trace and blk.have_blktop():
            check(tap, trace, name)
    tap.done()


main()
