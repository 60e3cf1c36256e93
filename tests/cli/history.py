#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""blktop reduce --history and map --watch --thin: sums of minutes are those of their seconds, the slowest traces are whole, and what was
dropped is reported; slices are deleted only when history has them, whenever the process is killed."""
import csv
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from rotation_chunks import LIMIT, PROGRAM, TRACE, catches, number, until  # noqa: E402

SUMMED = ["syscalls", "processes", "cpus", "events", "devices", "files", "scheduler", "interrupts", "losses", "wakers"]
MOST = 20       # traces of a minute
DEPENDS = {"x_usual_ratio", "why", "verdict", "causes"}     # on which other traces there are


def view(name, *arguments):
    if name == "events":            # over_time has a bar for each step, and those of history are minutes
        arguments = ("--columns", "-over_time", *arguments)
    return tap.output(PROGRAM, "-b", "--no-cache", "--utc", "--view", name, "--format", "csv", *arguments)


def reduce(out, *arguments):
    return tap.output(PROGRAM, "reduce", "--force", "-o", out, *arguments)


def traces(*paths):
    rows = csv.DictReader(view("traces", *paths).stdout.splitlines())
    return {r["trace_id"]: {k: v for k, v in r.items() if k not in DEPENDS} for r in rows}


def figures(name, *paths):
    """What the view prints; of system calls their sums, as what they waited for is unknown where traces were dropped."""
    out = view(name, *paths).stdout
    if name != "syscalls":
        return out
    sums = {}
    for r in csv.DictReader(out.splitlines()):
        key = tuple(r[k] for k in ("host", "pid", "tid", "comm", "syscall"))
        sums[key] = [a + int(r[k]) for a, k in zip(sums.get(key, [0] * 4), ("count", "errors", "total_ns", "busy_ns"))]
    return sums


def differing(paths, whole):
    return [v for v in SUMMED if figures(v, *paths) != whole[v]]


def recounted(work, slices, whole):
    """One minute has all of the trace; its figures are the sums over the seconds."""
    out = work + "/h.blkslice"
    r = reduce(out, "--history", *slices)
    tap.ok("reduce --history", [] if r.returncode == 0 else [r.stderr])
    tap.ok("its figures are those of the trace", differing([out], whole))
    seconds = view("syscalls", "--each", TRACE).stdout.splitlines()
    names = seconds[0].split(",")
    wanted = {}
    for row in csv.DictReader(seconds):
        key = (row["pid"], row["tid"], row["syscall"])
        wanted[key] = wanted.get(key, 0) + int(row["count"])
    got = {}
    for row in csv.DictReader(view("syscalls", out).stdout.splitlines()):
        key = (row["pid"], row["tid"], row["syscall"])
        got[key] = got.get(key, 0) + int(row["count"])
    tap.ok("calls of a minute are the sum over its seconds", [] if got == wanted and got else [names, len(got), len(wanted)])
    each = view("syscalls", "--each", out).stdout.splitlines()
    tap.ok("--each prints minutes", [] if {r["from_ns"] for r in csv.DictReader(each)} and len({r["from_ns"] for r in csv.DictReader(each)}) == 1 else each[:2])
    return out


def slowest(out):
    history, whole = traces(out), traces(TRACE)
    by_duration = sorted(whole, key=lambda t: -int(whole[t]["duration_ns"]))
    r = view("traces", out)
    tap.ok("limit history-traces: the slowest of the minute are there, whole and with the same causes",
           [] if set(history) == set(by_duration[:MOST]) and all(history[t] == whole[t] for t in history) else [len(history)])
    tap.ok("views of spans say so", [] if "history has only the slowest traces" in view("services", out).stderr and
           "history has only the slowest traces" in r.stderr else [r.stderr])
    left = re.search(r"\((\d+) traces\)", r.stderr)
    tap.ok("the others are counted, and the status is 3", [] if r.returncode == 3 and left and int(left[1]) == len(whole) - MOST else [r.returncode, r.stderr])


def merged(work, slices, out, whole):
    """History of parts, and plain slices, in any order; the border traces are not lost."""
    first, second, both = work + "/h1.blkslice", work + "/h2.blkslice", work + "/both.blkslice"
    reduce(first, "--history", *slices[:3])
    reduce(second, "--history", slices[4], slices[3])
    r = reduce(both, second, first, slices[5])
    tap.ok("reduce refuses history", [] if r.returncode == 1 and "reduce --history" in r.stderr else [r.returncode, r.stderr])
    r = reduce(both, "--history", second, first, slices[5])
    tap.ok("history and plain slices are merged to history", [] if r.returncode == 0 else [r.stderr])
    tap.ok("with the same figures", differing([both], whole))
    tap.ok("and the same traces", [] if traces(both) == traces(out) else [len(traces(both))])
    tap.ok("and the same bytes as at once", [] if view("spans", both).stdout == view("spans", out).stdout else ["spans"])
    r = view("cpus", first, second)
    tap.ok("files of history are shown together", [] if r.returncode == 3 else [r.returncode, r.stderr])
    r = view("cpus", first, slices[3])
    tap.ok("but not with plain slices", [] if r.returncode == 1 and "lengths" in r.stderr else [r.returncode, r.stderr])
    coarse = work + "/coarse.blkslice"
    tap.output(PROGRAM, "map", "--step", "10m", TRACE, "-o", coarse)
    r = reduce(both, "--history", coarse)
    tap.ok("longer steps cannot be folded", [] if r.returncode == 1 and "minutes" in r.stderr else [r.returncode, r.stderr])


class Recorder:
    """A directory of chunks, and blktop map --watch --thin."""

    def __init__(self, work, *options):
        self.work, self.options, self.process = work, options, None
        self.chunks, self.out = os.path.join(work, "archives"), os.path.join(work, "slices")
        os.makedirs(self.chunks)

    def start(self):
        with open(self.work + "/err", "a", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([PROGRAM, "map", "--watch", *self.options, "-o", self.out, self.chunks], stderr=err)

    def add(self, chunk):
        target = os.path.join(self.chunks, os.path.basename(chunk))
        shutil.copytree(chunk, target + ".tmp")
        os.rename(target + ".tmp", target)

    def plain(self):
        return sorted(number(p) for p in glob.glob(self.out + "/*.blkslice"))

    def history(self):
        return glob.glob(self.out + "/history/*.blkslice")

    def err(self):
        return pathlib.Path(self.work + "/err").read_text("utf-8")

    def end(self, how=signal.SIGTERM):
        until(lambda: how == signal.SIGKILL or catches(self.process, how))
        self.process.send_signal(how)
        return self.process.wait(timeout=LIMIT)


def all_of(recorder, chunks):
    """Everything that was recorded, as history."""
    last, out = recorder.work + "/last.blkslice", recorder.work + "/all.blkslice"
    tap.output(PROGRAM, "map", "--force", chunks[-1], "-o", last)
    r = reduce(out, "--history", *recorder.history(), *glob.glob(recorder.out + "/*.blkslice"), last)
    return out, r


def watched(work, chunks, whole):
    w = Recorder(work, "--delete-mapped", "--thin", "3s")
    for chunk in chunks:
        w.add(chunk)
    w.start()
    done = until(lambda: w.plain() == [2, 3, 4] and w.history())
    tap.ok("old slices are folded, new ones stay", [] if done else [w.plain(), w.history(), w.err()])
    tap.ok("chunks are deleted", [] if until(lambda: len(os.listdir(w.chunks)) == 2) else [os.listdir(w.chunks)])
    mapped = w.err().count("wrote ")
    until(lambda: w.err().count("folded"))
    code = w.end()
    tap.ok("SIGTERM: status 0; nothing is mapped twice", [] if code == 0 and mapped == w.err().count("wrote ") == len(chunks) - 1 else [code, w.err()])
    out, r = all_of(w, chunks)
    tap.ok("all is there", [r.stderr] if r.returncode else differing([out], whole))


def killed(work, chunks, whole):
    w = Recorder(work, "--thin", "1s")
    for i, chunk in enumerate(chunks):
        w.add(chunk)
        w.start()
        before = w.plain()
        until(lambda: i == 0 or w.plain() != before)    # pylint: disable=cell-var-from-loop
        w.end(signal.SIGKILL)
    w.start()
    done = until(lambda: w.history() and w.plain() == [3, 4])
    code = w.end()
    out, r = all_of(w, chunks)
    tap.ok("killed at times and started again: only the newest slices are not folded", [] if done and code == 0 else [code, w.plain(), w.err()])
    tap.ok("all is there, once", [r.stderr] if r.returncode else differing([out], whole))
    # As if it had been killed between writing and deleting.
    again = os.path.join(w.out, os.path.basename(chunks[1]) + ".blkslice")
    tap.output(PROGRAM, "map", chunks[1], "-o", again)
    wrote = w.err().count("wrote ")
    w.start()
    tap.ok("a slice that history has is deleted", [] if until(lambda: not os.path.exists(again)) and w.end() == 0 else [w.err()])
    tap.ok("a chunk that history has is not mapped again", [] if w.err().count("wrote ") == wrote else [w.err()])


def damaged(work, chunks):
    """Damaged history is not replaced, and nothing is deleted for it; what follows a gap begins a new file."""
    w = Recorder(work, "--thin", "1s")
    for chunk in chunks[:4]:
        w.add(chunk)
    w.start()
    until(lambda: w.history() and w.plain() == [1, 2])
    w.end()
    path = w.history()[0]
    content = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    w.add(chunks[4])
    w.start()
    reported = until(lambda: "checksum" in w.err())
    code = w.end()
    tap.ok("damaged history is reported, and stays with the slices", [] if reported and code == 1 and w.plain() == [1, 2, 3] else [code, w.plain(), w.err()])
    os.unlink(path)
    os.unlink(glob.glob(w.out + "/*-2.blkslice")[0])
    pathlib.Path(w.out + "/junk-9.blkslice").write_text("x", "utf-8")
    tap.output(PROGRAM, "map", chunks[5], "-o", w.out + "/made-5.blkslice")
    w.add(chunks[5])
    for metadata in pathlib.Path(glob.glob(w.chunks + "/*-2")[0]).rglob("metadata"):
        metadata.write_text("not CTF")
    w.start()
    two = until(lambda: len(w.history()) == 2 and w.plain() == [4, 5, 9])
    w.end()
    tap.ok("after a gap there is a new file of history; what is no slice stays", [] if two else [w.history(), w.plain(), w.err()])


def usage(work):
    for arguments in (["map", "--thin", "1h", "-o", "x", work], ["map", "--watch", "--thin", "soon", "-o", "x", work],
                      ["map", "--watch", "--thin", "0s", "-o", "x", work], ["map", "--history", "-o", "x", work],
                      ["-b", "--view", "cpus", "--history", work]):
        r = tap.output(PROGRAM, *arguments)
        tap.ok(f"refused: {' '.join(a if a != work else 'DIR' for a in arguments)}", [] if r.returncode == 2 and r.stderr else [r.returncode, r.stderr])
    r = tap.output(PROGRAM, "map", "--watch", "--thin", "100001d", "-o", "x", work)
    tap.ok("limit thin-age: longer ones are refused", [] if r.returncode == 2 and "--thin" in r.stderr else [r.returncode, r.stderr])


def main():
    if not os.access(PROGRAM, os.X_OK) or not os.path.isdir(TRACE):
        print(f"1..0 # SKIP {PROGRAM} or {TRACE} is missing")
        return
    chunks = sorted(glob.glob(TRACE + "/archives/*"), key=number)
    whole = {v: figures(v, TRACE) for v in SUMMED}
    with tempfile.TemporaryDirectory() as work:
        slices = []
        for chunk in chunks:
            slices.append(os.path.join(work, f"slice-{number(chunk)}.blkslice"))
            tap.output(PROGRAM, "map", chunk, "-o", slices[-1])
        out = recounted(work, slices, whole)
        slowest(out)
        merged(work, slices, out, whole)
        for name, test in (("a", watched), ("b", killed)):
            os.mkdir(os.path.join(work, name))
            test(os.path.join(work, name), chunks, whole)
        os.mkdir(os.path.join(work, "c"))
        damaged(os.path.join(work, "c"), chunks)
        usage(work)
    tap.done()


main()
