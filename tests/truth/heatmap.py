#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Views heatmap and distribution: every cell and row is recounted from the single calls of babeltrace2's text (by
second of their ends, duration, and which process or call most of them have) and from the single requests of the view
traces; also of requests that took a part of the range. Percentiles are within the histogram's bound."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["demo/trace", "thumb/trace", "kernel-small/trace"] + ["block/trace", "mix1/trace"] * blk.ALL
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group", "execve", "execveat"}
LEAVE_OUT = "!(call in (%s))" % ", ".join(sorted(NO_EXIT))
SECOND, LAST = 10**9, 2**44             # durations above LAST share a row
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def rows(view, trace, *more):
    return blk.rows(view, trace, *more)


def bounds(ns, parts):
    """The first and last duration of the row that ns is in; an octave has so many rows."""
    ns = max(ns, 0)
    if ns >= LAST:
        ns = LAST - 1
    width = 1
    while ns >= 2 * parts * width:
        width *= 2
    low = ns // width * width
    return low, None if low + width >= LAST else low + width - 1


def single_calls(events):
    """(end, duration, thread, call) of each."""
    pending, found = {}, []
    for e in events:
        what, call = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if what == "entry":
            pending[tid] = call, e.ns
        elif what == "exit" and pending.get(tid, (None,))[0] == call:
            begin = pending.pop(tid)[1]
            if call not in NO_EXIT:
                found.append((e.ns, e.ns - begin, tid, call))
    return found


def cells_of(values, parts=4):
    """(second, low, high) -> how many of which value; values are (end, duration, value)."""
    cells = collections.defaultdict(collections.Counter)
    for end, ns, value in values:
        cells[(end // SECOND, *bounds(ns, parts))][value] += 1
    return cells


def differ(cells, found, split):
    bad = []
    got = {(r["begin_ns"] // SECOND, r["low_ns"], r["high_ns"]): r for r in found}
    if len(got) != len(found):
        bad.append(f"{len(found)} rows of {len(got)} cells")
    for key in sorted(cells.keys() | got.keys(), key=str):
        r, want = got.get(key), cells.get(key, {})
        n = sum(want.values())
        if not r or r["count"] != n or not r["begin_ns"] < r["end_ns"] <= (key[0] + 1) * SECOND:
            bad.append(f"{key}: {n}, not {r}")
        elif split and (r["dominant_count"] != max(want.values()) or want[r["dominant"]] != max(want.values())):
            bad.append(f"{key}: mostly {want.most_common(2)}, not {r['dominant']} {r['dominant_count']}")
    return bad


def judge_heatmap(tap, name, trace, calls):
    of = ("--metric", "call.latency", "--where", LEAVE_OUT)
    cells = cells_of((end, ns, "") for end, ns, _, _ in calls)
    tap.none(differ(cells, rows("heatmap", trace, *of), False), f"{name}: {len(calls)} calls in {len(cells)} cells")
    for field, which in (("call", 3), ("tid", 2)):
        cells = cells_of((c[0], c[1], str(c[which])) for c in calls)
        tap.none(differ(cells, rows("heatmap", trace, *of, "--by", field), True), f"{name}: mostly which {field}")
    some = collections.Counter(c[3] for c in calls).most_common(1)[0][0]
    cells = cells_of((end, ns, "") for end, ns, _, call in calls if call == some)
    found = rows("heatmap", trace, "--metric", "call.latency", "--where", f"call == {some}")
    tap.none(differ(cells, found, False), f"{name}: {some} in {len(cells)} cells")
    one = rows("heatmap", trace, *of, "--by", "cpu")
    tap.equal(sum(r["count"] for r in one), len(calls), f"{name}: call by call, there are as many")


def judge_log(tap, name, trace):
    """The log, filtered by end and duration, has the calls of a cell."""
    found = rows("heatmap", trace, "--metric", "call.latency", "--where", LEAVE_OUT)
    bad = []
    for r in sorted(found, key=lambda r: -r["count"])[:2] + sorted(found, key=lambda r: -r["low_ns"])[:2]:
        until = (r["begin_ns"] // SECOND + 1) * SECOND
        _, out, _ = blk.blktop("log", "--format", "json", "--filter", f"kind == call && exit_ns >= {r['begin_ns']} && "
                               f"exit_ns < {until} && duration_ns >= {r['low_ns']} && duration_ns <= {r['high_ns']}", trace)
        calls = [json.loads(line) for line in out.splitlines()]
        n = sum(c.get("name") not in NO_EXIT for c in calls)
        if n != r["count"]:
            bad.append(f"{r}: {n} lines")
    tap.none(bad, f"{name}: the log has the calls of four cells")


def requests_of(trace):
    return [(r["begin_ns"] + r["duration_ns"], r["duration_ns"], r["name"]) for r in rows("traces", trace)
            if r["state"] == "complete" and r["duration_ns"] is not None]


def judge_requests(tap, name, trace):
    found = requests_of(trace)
    if not found:
        tap.ok(not rows("heatmap", trace, "--metric", "request.latency"), f"{name}: no request, no cell")
        return
    cells = cells_of(found)
    tap.none(differ(cells, rows("heatmap", trace, "--metric", "request.latency", "--by", "operation"), True),
             f"{name}: {len(found)} requests in {len(cells)} cells")
    tap.equal(rows("heatmap", trace), rows("heatmap", trace, "--metric", "request.latency"),
              f"{name}: requests are the default")
    judge_rows(tap, f"{name}: requests", trace, [ns for _, ns, _ in found], "--metric", "request.latency")


def parsed(text):
    number, unit = re.fullmatch(r"([\d.]+)(ns|us|ms|s)?", text).groups()
    return float(number) * UNITS[unit or "ns"]


def rank(values, share):
    at = -(-round(share * 1000) * len(values) // 1000)
    return sorted(values)[max(at, 1) - 1]


def judge_figures(tap, what, trace, values, *more):
    """The line above the rows."""
    _, out, _ = blk.blktop("-b", "--view", "distribution", *more, trace)
    line = out.splitlines()[0].split(";")[0].split()
    got = dict(zip(line[1::2], line[2::2]))
    bad = [f"count {got.get('count')}, not {len(values)}"] * (int(got.get("count", -1)) != len(values))
    for figure, want, above in (("mean", sum(values) / len(values), 0), ("max", max(values), 0),
                                *((f"p{share * 100:g}", rank(values, share), 1 / 32)
                                  for share in (0.5, 0.9, 0.99, 0.999))):
        # Three digits are printed, seconds of a longer time.
        minutes = "m" in got[figure] and not got[figure].endswith("ms")
        if not minutes and not want * 0.994 <= parsed(got[figure]) <= want * (1 + above) * 1.006 + 1:
            bad.append(f"{figure}: {want}, not {got[figure]}")
    tap.none(bad, f"{what}: mean, percentiles and maximum")


def judge_rows(tap, what, trace, values, *more):
    want = collections.Counter(bounds(ns, 1) for ns in values)
    found = rows("distribution", trace, *more)
    got = {(r["low_ns"], r["high_ns"]): r["count"] for r in found}
    bad = [f"{key}: {want[key]}, not {n}" for key, n in got.items() if want[key] != n]
    bad += [f"{key} is missing" for key in want if key not in got]
    bad += [f"{r['at_least_count']} from {r['low_ns']} on" for r in found
            if r["at_least_count"] != sum(ns >= r["low_ns"] for ns in values)]
    bad += [f"a gap before {b['low_ns']}" for a, b in zip(found, found[1:]) if a["high_ns"] + 1 != b["low_ns"]]
    bad += ["ends are empty"] * (not found or not found[0]["count"] or not found[-1]["count"])
    bad += [f"share {r['share_ratio']}" for r in found if abs(r["share_ratio"] - r["count"] / len(values)) > 1e-5]
    tap.none(bad, f"{what}: {len(values)} durations in {len(found)} rows")
    judge_figures(tap, what, trace, values, *more)


def judge_distribution(tap, name, trace, calls):
    of = ("--metric", "call.latency", "--where", LEAVE_OUT)
    judge_rows(tap, f"{name}: calls", trace, [c[1] for c in calls], *of)
    judge_compared(tap, name, trace, calls, of)


def judge_compared(tap, name, trace, calls, of):
    """Two sides: seconds from the middle on, and what the option says."""
    begins = sorted({r["begin_ns"] for r in rows("heatmap", trace, *of)})
    middle = begins[len(begins) // 2] // SECOND
    start, end = begins[0] // SECOND, begins[-1] // SECOND + 1
    now = f"@{middle * SECOND}"
    sides = (("history", lambda s: s < middle), (f"@{(start + 1) * SECOND}..@{(start + 3) * SECOND}",
                                                 lambda s: start + 1 <= s < start + 3))
    for against, is_before in sides:
        found = rows("distribution", trace, *of, "--from", now, "--to", f"@{end * SECOND}", "--against", against)
        want = [collections.Counter(bounds(ns, 1) for at, ns, _, _ in calls if is_in(at // SECOND))
                for is_in in (lambda s: s >= middle, is_before)]
        got = [collections.Counter({(r["low_ns"], r["high_ns"]): r[column] for r in found if r[column]})
               for column in ("count", "count_before")]
        got += [collections.Counter({r["low_ns"]: r[column] for r in found})
                for column in ("at_least_count", "at_least_before_count")]
        want += [collections.Counter({r["low_ns"]: sum(n for (low, _), n in side.items() if low >= r["low_ns"])
                                      for r in found}) for side in want]
        tap.ok(got == want, f"{name}: compared with {'history' if against == 'history' else 'a range'}",
               f"{want}, not {got}")


def compare(tap, name, trace):
    offset = btparse.offset(trace)
    calls = [(end + offset, *rest) for end, *rest in single_calls(btparse.events(trace))]
    judge_heatmap(tap, name, trace, calls)
    judge_log(tap, name, trace)
    judge_requests(tap, name, trace)
    judge_distribution(tap, name, trace, calls)


def judge_options(tap):
    trace = blk.find("kernel-small", "trace")
    wrong = (["--view", "heatmap", "--metric", "call.errors"], ["--view", "processes", "--metric", "call.latency"],
             ["--view", "heatmap", "--by", "call"], ["--view", "heatmap", "--metric", "call.latency", "--by", "tid,call"],
             ["--view", "distribution", "--metric", "call.latency", "--by", "call"],
             ["--view", "heatmap", "--metric", "call.latency", "--against", "before"],
             ["--view", "heatmap", "--where", "call == read"])
    bad = [" ".join(w) for w in wrong if blk.blktop("-b", *w, trace)[0] != 2]
    tap.none(bad, f"{len(wrong)} wrong combinations of options are refused")
    status, out, _ = blk.blktop("-b", "--view", "heatmap", "--format", "json", "--each", trace)
    seconds = [json.loads(line)["rows"] for line in out.splitlines()]
    tap.ok(status == 0 and sum(seconds, []) == rows("heatmap", trace), "second by second it is the same")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    judge_options(tap)
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
