#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""blktop map --watch: chunks are mapped as they are archived, and deleted only when nothing needs them any more; kill -9, damage, the end.
The slices together print the same bytes as the whole trace."""
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
from rotation_chunks import LIMIT, PROGRAM, TRACE, number, until  # noqa: E402

VIEWS = ["events", "losses", "syscalls", "processes", "cpus", "spans"]


class Watch:
    """A directory of chunks, blktop that watches it, and where it writes."""

    def __init__(self, work, *options):
        self.work, self.options, self.process = work, options, None
        self.chunks, self.out = os.path.join(work, "archives"), os.path.join(work, "slices")
        os.makedirs(self.chunks, exist_ok=True)

    def start(self):
        with open(self.work + "/err", "w", encoding="utf-8") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([PROGRAM, "map", "--watch", *self.options, "-o", self.out, self.chunks], stderr=err)
        until(lambda: self.process.poll() is not None or self.catches(signal.SIGINT))
        return self

    def catches(self, number):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1

    def err(self):
        return pathlib.Path(self.work + "/err").read_text("utf-8")

    def archive(self, chunk):
        """As the tracer does: made elsewhere, and renamed."""
        target = os.path.join(self.chunks, os.path.basename(chunk))
        shutil.copytree(chunk, target + ".tmp")
        os.rename(target + ".tmp", target)

    def numbers(self, where):
        """Without what was not finished."""
        return sorted(number(p) for p in glob.glob(where + "/*") if re.fullmatch(r".*-\d+(\.blkslice)?", p))

    def mapped(self, numbers):
        return until(lambda: self.numbers(self.out) == numbers)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=LIMIT), self.err()


def report(paths):
    return {v: tap.output(PROGRAM, "-b", "--no-cache", "--utc", "--view", v, "--format", "csv", *paths).stdout for v in VIEWS}


def one_by_one(work, all_chunks, whole):
    """Something else in the directory is not taken for the chunk before the first one."""
    w = Watch(work)
    os.makedirs(w.chunks + "/else/trace")
    w.start()
    w.archive(all_chunks[0])
    w.archive(all_chunks[1])
    tap.ok("a chunk is mapped when the next one is there", [] if w.mapped([0]) else [w.numbers(w.out)])
    for chunk in all_chunks[2:]:
        w.archive(chunk)
    n = len(all_chunks)
    tap.ok("all but the last are mapped", [] if w.mapped(list(range(n - 1))) else [w.numbers(w.out)])
    code, err = w.end()
    tap.ok("SIGTERM: status 0", [] if code == 0 and err.count("wrote ") == n - 1 else [code, err])
    last = os.path.join(work, "last.blkslice")
    r = tap.output(PROGRAM, "map", glob.glob(w.chunks + f"/*-{n - 1}")[0], "-o", last)
    got = report([*glob.glob(w.out + "/*.blkslice"), last])
    tap.ok("with the last one they print the same as the trace", [r.stderr] if r.returncode else [v for v in VIEWS if got[v] != whole[v]])
    code, _ = w.start().end(signal.SIGINT)
    tap.ok("SIGINT: status 130", [] if code == 130 else [code])


def deleted(work, all_chunks, whole):
    """Killed at any time, and started again; chunks are deleted as soon as they may be."""
    w, n = Watch(work, "--delete-mapped"), len(all_chunks)
    os.mkdir(w.out)
    for chunk in all_chunks:
        w.archive(chunk)
        before = os.listdir(w.out)
        w.start()
        if len(w.numbers(w.chunks)) > 1:
            until(lambda: os.listdir(w.out) != before)      # pylint: disable=cell-var-from-loop
        w.end(signal.SIGKILL)
    w.start()
    done = w.mapped(list(range(n - 1))) and until(lambda: w.numbers(w.chunks) == [n - 2, n - 1])
    tap.ok("killed at times and started again: only what the last chunk needs is left", [] if done else [w.numbers(w.out), w.numbers(w.chunks)])
    w.end()
    last = os.path.join(work, "last.blkslice")
    tap.output(PROGRAM, "map", glob.glob(w.chunks + f"/*-{n - 1}")[0], "-o", last)
    got = report([*glob.glob(w.out + "/*.blkslice"), last])
    tap.ok("deleted: the same is printed", [v for v in VIEWS if got[v] != whole[v]])


def damaged(work, all_chunks):
    w = Watch(work, "--delete-mapped")
    for chunk in all_chunks[:4]:
        w.archive(chunk)
    for metadata in pathlib.Path(glob.glob(w.chunks + "/*-1")[0]).rglob("metadata"):
        metadata.write_text("not CTF")
    w.start()
    done = w.mapped([2]) and until(lambda: w.numbers(w.out) == [2])
    code, err = w.end()
    tap.ok("a damaged chunk: it and its neighbours are not mapped, the others are", [] if done else [w.numbers(w.out), err])
    tap.ok("nothing is deleted", [] if w.numbers(w.chunks) == [0, 1, 2, 3] else [w.numbers(w.chunks)])
    tap.ok("status 1, and one message for each", [] if code == 1 and err.count("-1/") >= 1 and err.count("\n") < 8 else [code, err])


def read_back(work, all_chunks):
    w = Watch(work, "--delete-mapped")
    w.archive(all_chunks[0])
    w.archive(all_chunks[1])
    w.start()
    w.mapped([0])
    w.end()
    with open(glob.glob(w.out + "/*-0.blkslice")[0], "r+b") as f:
        f.seek(-1, os.SEEK_END)
        byte = f.read(1)
        f.seek(-1, os.SEEK_END)
        f.write(bytes([byte[0] ^ 1]))
    w.archive(all_chunks[2])
    w.start()
    until(lambda: "is not deleted" in w.err())
    w.archive(all_chunks[3])
    kept = until(lambda: w.numbers(w.chunks) == [0, 2, 3])
    _, err = w.end()
    tap.ok("a chunk whose slice cannot be read is kept, others are deleted", [] if kept else [w.numbers(w.chunks), err])
    tap.ok("that is printed once", [] if err.count("is not deleted") == 1 else [err])


def usage(work):
    for arguments in (["map", "--watch", work, work], ["map", "--watch", "--from", "+1s", work], ["map", "--delete-mapped", work],
                      ["log", "--watch", work], ["map", "--watch", "--force", work]):
        r = tap.output(PROGRAM, *arguments, "-o", work + "/x")
        tap.ok(f"refused: {' '.join(a if a != work else 'DIR' for a in arguments)}", [] if r.returncode == 2 and ("map" in r.stderr or "--watch" in r.stderr) else [r.returncode, r.stderr])
    r = tap.output(PROGRAM, "map", "--watch", work + "/none", "-o", work + "/x")
    tap.ok("no such directory", [] if r.returncode in (1, 4) and "none" in r.stderr else [r.returncode, r.stderr])


def main():
    if not os.access(PROGRAM, os.X_OK) or not os.path.isdir(TRACE):
        print(f"1..0 # SKIP {PROGRAM} or {TRACE} is missing")
        return
    all_chunks = sorted(glob.glob(TRACE + "/archives/*"), key=number)
    whole = report([TRACE])
    with tempfile.TemporaryDirectory() as work:
        for name, test in (("a", one_by_one), ("b", deleted)):
            os.mkdir(os.path.join(work, name))
            test(os.path.join(work, name), all_chunks, whole)
        for name, test in (("c", damaged), ("d", read_back)):
            os.mkdir(os.path.join(work, name))
            test(os.path.join(work, name), all_chunks)
        usage(work)
    tap.done()


main()
