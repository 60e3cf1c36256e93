#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rates of a trace's first and last second: over the time from its first event on, to its last one, by babeltrace2's
text."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk  # noqa: E402

TRACES = ("kernel-small", "thumb", "faults")


def events(trace):
    """The first event of the kernel, the last one of all: in ns since the epoch."""
    kernel = next(path for path, _, _ in os.walk(trace) if os.path.basename(path) == "kernel")
    found = []
    for path, last in ((kernel, False), (trace, True)):
        line = None
        with subprocess.Popen(["babeltrace2", "--clock-seconds", "--clock-gmt", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as text:
            for line in text.stdout:
                if not last:
                    break
            text.kill()
        m = re.match(r"\[(\d+)\.(\d{9})\]", line)
        found.append(int(m.group(1)) * 10**9 + int(m.group(2)))
    return found


def check_metrics(tap, trace, name, begin, end, where):
    """Rates of metrics in [begin, end), a second or a part of one."""
    wanted = ("call.latency", "thread.syscalls", "thread.time", "ran.time")
    bad, n = [], 0
    for metric in wanted:
        out = subprocess.run([blk.BLKTOP, "-b", "--metric", metric, "--by", "process", "--from", f"@{begin}",
                              "--to", f"@{end}", "--format", "json", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        for r in json.loads(out)["rows"]:
            total = r.get("count", r.get("total", r.get("total_ns")))
            rate = r.get("rate", r.get("rate_ns"))
            n += total > 0
            if abs(rate - total / (end - begin) * 1e9) > 1 + 0.002 * rate:
                bad.append(f"{metric} {r['process']}: {rate}, not {total} in {end - begin} ns")
    tap.ok(n > 3, f"{name}: {n} figures of metrics in the {(end - begin) / 1e9:.3f} s of its {where} second")
    tap.none(bad, f"{name}: rates of metrics of the {where} second by the time that was traced")


def main():
    tap = blk.Tap()
    if not shutil.which("babeltrace2"):
        print("1..0 # SKIP babeltrace2 is not installed")
        tap.finished = True
        return
    for name in TRACES:
        trace = os.path.join(blk.ROOT, "tests", "traces", name)
        if not os.path.isdir(trace):
            continue
        first, last = events(trace)
        end = first // 10**9 * 10**9 + 10**9
        rows = [r for r in blk.rows("processes", trace, "--from", f"@{first}", "--to", f"@{end}") if r["cpu_ns"]]
        bad = [f"{r['comm']} {r['pid']}: {r['cpu_ratio']}, not {r['cpu_ns']} of {end - first} ns" for r in rows
               if abs(r["cpu_ratio"] - r["cpu_ns"] / (end - first)) > 0.002 + 0.002 * r["cpu_ratio"]]
        tap.ok(bool(rows), f"{name}: {len(rows)} processes ran in the first {(end - first) / 1e9:.3f} s")
        check_metrics(tap, trace, name, first, end, "first")
        check_metrics(tap, trace, name, last // 10**9 * 10**9, last + 1, "last")
        tap.none(bad, f"{name}: CPU time of the first second by the time that was traced")
    tap.done()


main()
