#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rates of a trace's first second: over the time from its first event on, by babeltrace2's text."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk  # noqa: E402

TRACES = ("kernel-small", "thumb", "faults")


def first_event(trace):
    """In ns since the epoch, of the kernel's events."""
    kernel = next(path for path, _, _ in os.walk(trace) if os.path.basename(path) == "kernel")
    with subprocess.Popen(["babeltrace2", "--clock-seconds", "--clock-gmt", kernel], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as text:
        m = re.match(r"\[(\d+)\.(\d{9})\]", text.stdout.readline())
        text.kill()
    return int(m.group(1)) * 10**9 + int(m.group(2))


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
        first = first_event(trace)
        end = first // 10**9 * 10**9 + 10**9
        rows = [r for r in blk.rows("processes", trace, "--from", f"@{first}", "--to", f"@{end}") if r["cpu_ns"]]
        bad = [f"{r['comm']} {r['pid']}: {r['cpu_ratio']}, not {r['cpu_ns']} of {end - first} ns" for r in rows
               if abs(r["cpu_ratio"] - r["cpu_ns"] / (end - first)) > 0.002 + 0.002 * r["cpu_ratio"]]
        tap.ok(bool(rows), f"{name}: {len(rows)} processes ran in the first {(end - first) / 1e9:.3f} s")
        tap.none(bad, f"{name}: CPU time of the first second by the time that was traced")
    tap.done()


main()
