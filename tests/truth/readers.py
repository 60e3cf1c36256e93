#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The native reader and babeltrace2 are equal: every event with all its fields, and every record,
of every trace there is, and of traces made up from seeds 1 to SEEDS (12). `make check-readers
TRACES="DIR ..."` takes the directories given too. With ALL=1, as in make check-long, also of long
traces, and their records for all subscription tables.

What babeltrace2 refuses or aborts on, and what the native reader leaves to it, is skipped with the
reason; of our own recordings nothing may be."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import made_trace

TOOL = os.path.join(os.environ.get("BUILD", os.path.join(blk.ROOT, "build")), "tools", "compare-readers")
OWN = os.path.join(blk.ROOT, "tests", "traces")
BIG = 50 << 20          # bytes: fewer subscription tables are tried
LARGE = 4 << 20
SUMMARY = re.compile(r"^(events|records) .*: (\d+) \w+, (\d+) streams, (\d+) different, (\d+) not comparable$")


def size(path):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files)


def compare(tap, name, path, must=False):
    n_bytes = size(path)
    tables = "1" if n_bytes > BIG else "2" if n_bytes > LARGE and not blk.ALL else "4"
    run = subprocess.run([TOOL, "-w", tables, path], capture_output=True, text=True, errors="replace",
                         stdin=subprocess.DEVNULL, timeout=900)
    lines = run.stdout.splitlines()
    sums = [m for m in map(SUMMARY.match, lines) if m]
    told = ", ".join(f"{m[2]} {m[1]}" for m in sums)
    refusals = [line for line in lines if " refuses: " in line]
    if len(sums) != 2 or run.returncode not in (0, 1, 2):
        tap.ok(False, f"{name}: compared", f"exit status {run.returncode}", run.stderr, *lines[-5:])
    elif run.returncode == 1 or any(m[4] != "0" for m in sums):
        tap.ok(False, f"{name}: {told}: equal", *lines)
    elif refusals and not must and run.returncode == 2:
        tap.skip(name, refusals[0])
    else:
        tap.ok(not (refusals and must), f"{name}: {told}: equal", *refusals)
        for line in () if must else refusals:
            tap.note(line)


def shared(tap, temp):
    """Public ones, and a part of a big one; the rest are the same as tests/traces."""
    folder = os.path.join(blk.SHARED, "traces")
    for path in sorted(glob.glob(os.path.join(folder, "public", "*/"))):
        compare(tap, "public/" + os.path.basename(os.path.dirname(path)), path)
    for path in sorted(glob.glob(os.path.join(folder, "*/trace*/"))):
        name = os.path.relpath(path, folder)
        if not os.path.isdir(os.path.join(OWN, name)):
            compare(tap, name, path)
    packed = os.path.join(folder, "kernel-busy-part.tar.xz")
    if not os.path.exists(packed):
        tap.skip("kernel-busy-part", f"there is no {os.path.relpath(packed, blk.ROOT)}")
        return
    subprocess.run(["tar", "-C", temp, "-xf", packed], check=True)
    compare(tap, "kernel-busy-part", os.path.join(temp, "kernel-busy-part"))


def made_up(tap, temp):
    """What recorded traces seldom have; both readers take all of it."""
    wrong, events = [], 0
    seeds = range(1, 1 + int(os.environ.get("SEEDS", "12")))
    for seed in seeds:
        path = os.path.join(temp, f"seed-{seed}")
        made_trace.Maker(seed).write(path)
        run = subprocess.run([TOOL, "-w", "2", path], capture_output=True, text=True, errors="replace",
                             stdin=subprocess.DEVNULL, timeout=100)
        events += sum(int(m[2]) for m in map(SUMMARY.match, run.stdout.splitlines()) if m and m[1] == "events")
        if run.returncode:
            wrong.append(f"made_trace.py {seed}: status {run.returncode}\n{run.stdout}")
    tap.ok(not wrong and events, f"{len(seeds)} made-up traces, {events} events: equal", *wrong)


def main():
    tap = blk.Tap()
    if not os.access(TOOL, os.X_OK):
        blk.skip_all(f"{TOOL} is not built (make tests)")
    temp = tempfile.mkdtemp(prefix="blktop-readers-")
    try:
        for path in sorted(glob.glob(os.path.join(OWN, "*", "trace*/"))):
            if blk.is_wanted(os.path.relpath(path, OWN)):
                compare(tap, os.path.relpath(path, OWN), path, must=True)
        # Versions of babeltrace2 before 2.1 refuse these; ctf2.py needs none.
        for name in ("lost/trace", "ust-both/ctf-2", "demo/trace"):
            compare(tap, "ctf2/" + name, os.path.join(OWN, "ctf2", name))
        made_up(tap, temp)
        if not blk.ALL:
            pass
        elif os.path.isdir(os.path.join(blk.SHARED, "traces")):
            shared(tap, temp)
        else:
            tap.skip("shared traces", "there are none beside this source tree")
        for path in os.environ.get("TRACES", "").split():
            compare(tap, path, path)
    finally:
        shutil.rmtree(temp)
    tap.done()


main()
