#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The report is the same to the byte whichever reader fed it, in how many slices, on how many
threads: every view of every recording of ours, and some of a big one, of made-up ones and of CTF 2.

Each view is read in one piece and in several. Some, that together see all of the model, are read by babeltrace2, too,
and in more ways; with ALL=1, as in make check-long, all are."""
import glob
import multiprocessing.pool
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import ctf2_make
import made_trace

OWN = os.path.join(blk.ROOT, "tests", "traces")
PIECES = [(jobs, slices) for jobs in (1, 2) for slices in (1, 2, 8, 32)] if blk.ALL else [(1, 1), (2, 32)]
USUAL = [(2, 8)]
THOROUGH = {"processes", "processes --each", "cpus"}
BIG = ["processes --each", "syscalls"]
# Without ALL=1 only these have all views, the others the thorough ones.
USUAL_OF = ["lost/trace", "net/trace", "snapshot/trace"]
CTF2 = ["lost/trace", "ust-both/ctf-2", "demo/trace"]
CTF2_WHOLE = {"lost/trace"}     # the others: some views
MADE_UP = range(101, 109 if blk.ALL else 103)


def report(trace, view, reader, jobs=None, slices=None):
    pieces = ["-j", str(jobs), "--slices", str(slices)] if jobs else []
    command = [blk.BLKTOP, "-b", "--view", *view.split(), "--format", "csv", "--reader", reader, *pieces, trace]
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "not done after 120 s", b"", b""
    return run.returncode, run.stdout, run.stderr


def first_difference(a, b):
    a, b = a.decode(errors="replace").splitlines(), b.decode(errors="replace").splitlines()
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"line {i + 1}:\n  expected {x[:300]}\n  native   {y[:300]}"
    return f"{len(a)} lines expected, {len(b)} of native"


def is_ctf2(trace):
    metadata = next((os.path.join(d, "metadata") for d, _, files in os.walk(trace) if "metadata" in files), None)
    with open(metadata, "rb") as f:
        return f.read(1) == b"\x1e"


def is_thorough(view):
    return view in THOROUGH or "--each" in view


def compare(job):
    """(problems, reports compared) of one view of one trace."""
    trace, view, pieces = job
    # CTF 2 is held against babeltrace2 by ctf2.py; older versions cannot read it.
    alone = is_ctf2(trace) or not (blk.ALL or is_thorough(view))
    reader = "native in one piece" if alone else "babeltrace2"
    want = report(trace, view, "native", 1, 1) if alone else report(trace, view, "babeltrace2")
    problems = []
    if not want[1].strip():
        problems.append(f"{view}: {reader}: prints nothing, not even the header")
    if want[0] not in (0, 3):
        problems.append(f"{view}: {reader}: status {want[0]}: {want[2].decode(errors='replace')[:300]}")
    for jobs, slices in pieces:
        got = report(trace, view, "native", jobs, slices)
        if got[:2] != want[:2]:
            problems.append(f"{view}, -j {jobs} --slices {slices}: status {got[0]}, of {reader} {want[0]}; "
                            + first_difference(want[1], got[1]) + "\n" + got[2].decode(errors="replace")[:300])
    return problems, len(pieces)


def check(tap, pool, name, trace, views):
    jobs = [(trace, v, PIECES if is_thorough(v) else USUAL) for v in views]
    results = pool.map(compare, jobs, chunksize=1)
    problems = [p for found, _ in results for p in found]
    tap.ok(not problems, f"{name}: {sum(n for _, n in results)} native reports of {len(views)} views are as expected",
           *problems)


def main():
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    listed = subprocess.run([blk.BLKTOP, "--list-views"], capture_output=True, text=True, check=True).stdout
    views = [line.split()[0] for line in listed.splitlines() if line.strip()] + ["processes --each"]
    with multiprocessing.pool.ThreadPool(2) as pool, tempfile.TemporaryDirectory(prefix="blktop-equal-") as temp:
        for path in sorted(glob.glob(os.path.join(OWN, "*", "trace*/"))):
            name = os.path.relpath(path, OWN)
            if blk.is_wanted(name):
                check(tap, pool, name, path, views if blk.ALL or name in USUAL_OF else
                      [v for v in views if is_thorough(v)])
        for name in CTF2:
            path = os.path.join(OWN, "ctf2", name)
            if os.path.isdir(path):
                check(tap, pool, f"ctf2/{name}", path, views if name in CTF2_WHOLE else BIG)
        for seed in MADE_UP:
            path = os.path.join(temp, f"seed-{seed}")
            made_trace.Maker(seed).write(path)
            check(tap, pool, f"made_trace.py {seed}", path, ["events --each"])
            path = os.path.join(temp, f"ctf2-{seed}")
            ctf2_make.Maker(seed).write(path)
            check(tap, pool, f"ctf2_make.py {seed}", os.path.join(path, "trace"), ["events --each"])
        packed = os.path.join(blk.SHARED, "traces", "kernel-busy-part.tar.xz")
        if not blk.ALL:
            pass
        elif os.path.exists(packed):
            subprocess.run(["tar", "-C", temp, "-xf", packed], check=True)
            check(tap, pool, "kernel-busy-part", os.path.join(temp, "kernel-busy-part"), BIG)
        else:
            tap.skip("kernel-busy-part", f"there is no {os.path.relpath(packed, blk.ROOT)}")
    tap.done()


main()
