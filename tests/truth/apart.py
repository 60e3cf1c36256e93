#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of two hosts, weeks apart, in one directory: each counts as long as it was recorded,
whoever reads it in whatever pieces, and the weeks between cost nothing."""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import shifted

WEEKS = 3 * 7 * 86400
MEMORY = 2 << 30  # of addresses: seconds of three weeks would be far more
FLUSH_NS = 100_000_000  # a packet may end so long behind its last event


def limited(*arguments):
    command = [blk.BLKTOP, "-b", "--format", "csv", *arguments]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, text=True, check=False,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    if run.returncode != 0:
        raise blk.Failed(f"{' '.join(command)}: status {run.returncode}: {run.stderr[:300]}")
    if run.stdout.count("\n") < 2:
        raise blk.Failed(f"{' '.join(command)}: no row is printed")
    return run.stdout


def cpus(text):
    """[(run, idle, unknown)] of each CPU, sorted."""
    lines = [line.split(",") for line in text.splitlines()[1:]]
    return sorted(tuple(int(field or 0) for field in line[2:5]) for line in lines)


def as_alone(tap, both, alone):
    """Each CPU has what it has in its own recording, but for the time from its last event to its packet's end."""
    for got, want in zip(sorted(cpus(both)), sorted(sum((cpus(a) for a in alone), []))):
        over = sum(got) - sum(want)
        tap.ok(0 <= over <= FLUSH_NS and all(0 <= g - w <= FLUSH_NS for g, w in zip(got, want)),
                  f"a CPU that ran for {want[0]} ns alone", f"run, idle, unknown {got}, alone {want}")


def main():
    tap = blk.Tap()
    own = [os.path.join(blk.ROOT, "tests", "traces", name, "trace") for name in ("demo", "rotation")]
    with tempfile.TemporaryDirectory() as target:
        for i, trace in enumerate(own):
            shifted.write(trace, os.path.join(target, str(i)), i * WEEKS)
        both = limited("--view", "cpus", target)
        tap.ok(len(cpus(both)) == 4, "two CPUs of each host", both)
        as_alone(tap, both, [limited("--view", "cpus", trace) for trace in own])
        for view in ("cpus", "processes", "syscalls", "scheduler", "traces", "devices", "cpus --each"):
            arguments = ["--view", *view.split(), target]
            want = limited(*arguments)
            for how in (["--reader", "babeltrace2"], ["-j", "2", "--slices", "7"], ["--slices", "40"]):
                tap.ok(limited(*how, *arguments) == want, f"{view} {' '.join(how)}", "differs")
    tap.done()


if __name__ == "__main__":
    main()
