#!/usr/bin/env python3
"""blktop map, reduce, and slice files as input: however a trace is cut and in whatever order it is merged, every view prints the same
bytes as of the whole trace. Rotation chunks are mapped one by one; other traces are cut at random instants."""
import glob
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from views_of import ALL, TRACES, blktop, views  # noqa: E402

SEED = os.environ.get("SEED", str(random.randrange(10**6)))
# Views of all: what is slow, where losses count, what spans are made of, names.
VIEWS = ["events", "losses", "syscalls", "processes", "files", "cpus", "scheduler", "spans", "slow", "wakers"]


def report(paths):
    """What each view prints, and its exit status."""
    return {v: (r.returncode, r.stdout) for v in VIEWS for r in [blktop("-b", "--utc", "--view", v, "--format", "csv", *paths)]}


def tree(files, work, rng):
    """Merges neighbours, some at a time, until one is left; arguments in random order."""
    problems, n = [], 0
    while len(files) > 1:
        at = rng.randrange(len(files) - 1)
        some = files[at : at + rng.randrange(2, 4)]
        n += 1
        merged = os.path.join(work, f"merged-{n}.blkslice")
        shuffled = rng.sample(some, len(some))
        r = blktop("reduce", *shuffled, "-o", merged)
        if r.returncode:
            problems.append(r.stderr)
            return None, problems
        files[at : at + len(some)] = [merged]
    return files[0], problems


def check(name, trace, files, work, rng):
    """The report of the pieces is that of the whole trace."""
    merged, problems = tree(list(files), work, rng)
    if merged is None:
        tap.ok(f"{name}: {len(files)} pieces merge", problems)
        return
    whole, got, at_once = report([trace]), report([merged]), report(rng.sample(files, len(files)))
    tap.ok(f"{name}: some views print something", [] if sum(len(out) > 200 for _, out in whole.values()) > 4 else ["nothing"])
    tap.ok(f"{name}: {len(files)} pieces, merged, print the same", [v for v in whole if whole[v] != got[v]])
    tap.ok(f"{name}: opened together they do, too", [v for v in whole if whole[v] != at_once[v]])


def map_to(path, *arguments):
    r = blktop("map", "-o", path, *arguments)
    return [] if r.returncode == 0 and r.stderr.startswith("wrote ") else [r.stderr]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def chunks(trace):
    return sorted(glob.glob(os.path.join(trace, "archives", "*")), key=lambda c: int(c.rsplit("-", 1)[1]))


def check_rotation(name, trace, rng):
    with tempfile.TemporaryDirectory() as work:
        files, problems, left = [], [], chunks(trace)
        while left:
            some = left[:rng.choice((1, 1, 2))]
            left = left[len(some):]
            files.append(os.path.join(work, f"{len(files)}.blkslice"))
            problems += map_to(files[-1], *rng.sample(some, len(some)))
        tap.ok(f"{name}: chunks are mapped", problems)
        check(name, trace, files, work, rng)
        check_packets(name, trace, files, work)
        check_wrong(name, trace, files, work)


def check_wrong(name, trace, files, work):
    """Pieces that do not fit, or are damaged: the last byte is in one of the parts that reduce copies."""
    out, damaged, own = (os.path.join(work, f"{n}.blkslice") for n in ("wrong", "damaged", "own-piece"))
    some = chunks(trace)
    data = bytearray(read(files[1]))
    data[-1] ^= 1
    with open(damaged, "wb") as f:
        f.write(data)
    for what, words, arguments in (
            ("a gap", "is missing", ["reduce", files[0], files[2]]), ("a piece twice", "overlap", ["reduce", files[1], files[1]]),
            ("chunks that are no neighbours", "follow each other", ["map", some[0], some[2]]),
            ("what is no slice", "cannot read", ["reduce", files[0], os.path.join(work, "absent")]),
            ("a damaged slice", "damaged.blkslice: the checksum", ["reduce", files[0], damaged])):
        r = blktop(*arguments, "-o", out)
        tap.ok(f"{name}: {what} is refused", [] if r.returncode == 1 and words in r.stderr else [f"{r.returncode}: {r.stderr}"])
    tap.ok(f"{name}: and nothing is written", glob.glob(out + "*"))
    shutil.copy(files[0], own)
    blktop("reduce", own, files[1], "-o", out)
    r = blktop("reduce", "--force", own, files[1], "-o", own)
    tap.ok(f"{name}: a result may replace one of its pieces", [] if r.returncode == 0 and read(own) == read(out) else [r.stderr])
    r = blktop("-b", "--view", "events", "--step", "100ms", files[0])
    tap.ok(f"{name}: seconds of another length are refused", [] if "--step" in r.stderr and r.returncode == 1 else [r.stderr])
    words = f"is a slice file, which has no single events: they are in {os.path.basename(some[0])}"
    for by in ("process", "thread", "container"):
        r = blktop("-b", "--view", "events", "--by", by, files[0])
        tap.ok(f"{name}: events by {by} are refused, and it says where they are",
               [] if words in r.stderr and r.returncode == 1 and not r.stdout else [f"{r.returncode}: {r.stderr}"])
    r = blktop("-b", "--view", "events", "--by", "second", files[0])
    tap.ok(f"{name}: events by second are there", [] if r.returncode in (0, 3) and r.stdout.count("\n") > 1 else [r.stderr])
    for what in ("log", "--doctor"):
        r = blktop(what, files[0])
        tap.ok(f"{name}: {what} says where events are", [] if words in r.stderr and r.returncode == 1 else [r.stderr])


def check_packets(name, trace, files, work):
    """What needs packets is read from the chunks, wherever they are."""
    moved = os.path.join(work, "moved")
    shutil.copytree(os.path.join(trace, "archives"), moved)
    merged = os.path.join(work, "packets.blkslice")
    blktop("reduce", *files, "-o", merged)
    own, all_of = ["--chunks", moved, merged], [trace]
    for what in (["log"], ["log", "--from", "+3s", "--to", "+4s"], ["log", "--at", "50%"],
                 ["-b", "--metric", "call.latency", "--by", "errno"]):
        a, b = (blktop(*what, "--utc", *paths) for paths in (all_of, own))
        tap.ok(f"{name}: {' '.join(what)} of the slice is that of the trace",
               [] if a.returncode == b.returncode and a.stdout == b.stdout and len(a.stdout) > 100 else [b.stderr])
    saved = [os.path.join(work, "saved", str(i), "part") for i in range(2)]
    for where, paths in zip(saved, (all_of, own)):
        os.makedirs(os.path.dirname(where))
        blktop("save", "--from", "+3s", "--to", "+5s", "-o", where, *paths)
    same = subprocess.run(["diff", "-r", *saved], stdout=subprocess.PIPE, text=True, check=False)
    tap.ok(f"{name}: so is a saved range", [] if same.returncode == 0 and os.path.isdir(saved[0]) else [same.stdout])
    r = blktop("-b", *own)
    tap.ok(f"{name}: views do not need the chunks", [] if r.returncode == 0 else [r.stderr])
    some = sorted(os.listdir(moved), key=lambda c: int(c.rsplit("-", 1)[1]))
    shutil.rmtree(os.path.join(moved, some[2]))
    r = blktop("log", *own)
    tap.ok(f"{name}: without a chunk, an error has its name",
           [] if r.returncode == 1 and not r.stdout and some[2] in r.stderr and some[1] not in r.stderr else [r.stderr])
    log = [blktop("log", "--utc", "--from", "95%", *paths).stdout for paths in (all_of, own)]
    tap.ok(f"{name}: what does not need it is there", [] if log[0].count("\n") == log[1].count("\n") > 5 else ["other lines"])
    own = os.path.join(work, "own.blkslice")
    problems = map_to(own, chunks(trace)[3])
    r = blktop("log", "--chunks", moved, own)
    tap.ok(f"{name}: events of a slice may be in the chunk before",
           problems + ([] if r.returncode == 1 and f"the one before {some[3]}" in r.stderr else [r.stderr]))


def check_ranges(name, trace, rng):
    """Cut at instants."""
    shown = json.loads(blktop("-b", "--view", "events", "--format", "json", trace).stdout.split("\n")[0])
    first, last = shown["range"]["from_ns"], shown["range"]["to_ns"]
    with tempfile.TemporaryDirectory() as work:
        cuts = sorted(rng.sample(range(first + 1, last), rng.randrange(1, 6)))
        ends = [None, *cuts, None]
        files, problems = [], []
        for begin, end in zip(ends, ends[1:]):
            files.append(os.path.join(work, f"{len(files)}.blkslice"))
            problems += map_to(files[-1], *(["--from", f"@{begin}"] if begin else []), *(["--to", f"@{end}"] if end else []), trace)
        tap.ok(f"{name}: ranges are mapped", problems)
        check(f"{name} cut at {cuts}", trace, files, work, rng)


def main():
    global VIEWS
    VIEWS = views(VIEWS)
    rng = random.Random(SEED)
    print(f"# SEED={SEED}")
    check_rotation("rotation", f"{TRACES}/rotation/trace", rng)
    for name in ["lost/trace", "kernel-ust/trace"] + (["demo/trace", "block/trace", "containers/trace", "thumb/trace", "lost/trace-overwrite",
                                                       "snapshot/trace", "pause/trace", "faults/trace", "net/trace"] if ALL else []):
        check_ranges(name, f"{TRACES}/{name}", rng)
    tap.done()


main()
