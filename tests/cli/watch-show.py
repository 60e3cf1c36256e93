#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""blktop -b --watch: seconds are printed as slices, or chunks, appear. In the end they are those of the whole trace."""
import difflib
import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from rotation_chunks import LIMIT, PROGRAM, TRACE, number, until  # noqa: E402

VIEWS = ["events", "losses", "syscalls", "processes", "cpus", "spans", "traces"]


class Watch:
    """A directory, and blktop that prints what appears in it."""

    def __init__(self, work, view, *options, there=()):
        self.dir = tempfile.mkdtemp(dir=work)
        self.seen, self.out, self.err = os.path.join(self.dir, "seen"), self.dir + ".out", self.dir + ".err"
        os.mkdir(self.seen)
        for path in there:
            self.add(path)
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([PROGRAM, "-b", "--utc", "--view", view, *options, "--watch", self.seen], stdout=out, stderr=err)

    def add(self, path, content=None, old=0):
        """Written elsewhere and renamed; `old` seconds ago."""
        target = os.path.join(self.seen, os.path.basename(path))
        if content is not None:
            pathlib.Path(target + ".part").write_bytes(content)
        elif os.path.isdir(path):
            shutil.copytree(path, target + ".part")
        else:
            shutil.copy(path, target + ".part")
        if old:
            os.utime(target + ".part", (time.time() - old,) * 2)
        os.rename(target + ".part", target)

    def printed(self):
        return pathlib.Path(self.out).read_text("utf-8")

    def errors(self):
        return pathlib.Path(self.err).read_text("utf-8")

    def seconds(self):
        """Those of which a row is printed (from_ns)."""
        return sorted({line.split(",")[0] for line in self.printed().splitlines()[1:] if "," in line})

    def wait(self):
        return self.process.wait(timeout=LIMIT)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.wait()


def without_corrected(text):
    """Only what comes later has the column (always 0 here)."""
    rows = [line.split(",") for line in text.splitlines()]
    assert not rows or rows[0][2] == "corrected"
    return "".join(",".join(row[:2] + row[3:]) + "\n" for row in rows)


def as_known(text):
    """The rows of syscalls as they are known while chunks come: that a process has spans is known from its first one on; its waits before are
    unknown, not for work."""
    return sorted(text.replace(",for work,", ",unknown,").splitlines())


def whole(view, *paths):
    return tap.output(PROGRAM, "-b", "--each", "--no-cache", "--utc", "--view", view, "--format", "csv", *paths).stdout


def map_all(work, chunks):
    slices = []
    for chunk in chunks:
        slices.append(os.path.join(work, f"slice-{number(chunk)}.blkslice"))
        tap.output(PROGRAM, "map", chunk, "-o", slices[-1])
    return slices


def test_each_view(work, slices):
    """All at once, in the order of a directory."""
    for view in VIEWS:
        w = Watch(work, view, "--format", "csv", there=reversed(slices))
        code = w.wait()
        got, wanted = without_corrected(w.printed()).splitlines(), whole(view, TRACE).splitlines()
        differing = list(difflib.unified_diff(wanted, got, n=0, lineterm=""))
        tap.ok(f"view {view}: the seconds are those of the trace, and it ends with the trace's last slice",
               [] if code == 0 and not differing else [code, w.errors(), *differing[:20]])


def test_one_by_one(work, slices):
    w = Watch(work, "syscalls", "--format", "csv")
    w.add(slices[0])
    shown = []
    for path in slices[1:-1]:       # the second at the end of a slice is printed with the next one
        w.add(path)
        found = until(lambda: len(w.seconds()) > len(shown))    # pylint: disable=cell-var-from-loop
        tap.ok(f"seconds of {os.path.basename(path)} are printed when it appears", [] if found else [w.errors()])
        tap.ok("what is printed does not change", [] if w.seconds()[:len(shown)] == shown else [shown, w.seconds()])
        shown = w.seconds()
    w.add(slices[-1])
    tap.ok("the end", [] if w.wait() == 0 and as_known(without_corrected(w.printed())) == as_known(whole("syscalls", TRACE)) else [w.errors()])


def test_chunks(work, chunks):
    """The last chunk is not mapped: another one might follow."""
    w = Watch(work, "syscalls", "--format", "csv")
    for chunk in chunks[:3]:
        w.add(chunk)
    two = until(lambda: len(w.seconds()) >= 2)
    tap.ok("chunks are mapped and printed when the next one is there", [] if two else [w.errors()])
    for chunk in chunks[3:]:
        w.add(chunk)
    until(lambda: len(w.seconds()) >= 8)
    code = w.end()
    want, got = whole("syscalls", TRACE), without_corrected(w.printed())
    last = got.splitlines()[-1].split(",")[0]
    want, got = ([line for line in as_known(text) if line < last or not line[0].isdigit()] for text in (want, got))
    tap.ok("chunks: the same seconds; SIGTERM ends it", [] if code == 128 + signal.SIGTERM and want == got and len(got) > 100 else [code, w.errors()])


def test_damage(work, slices):
    w = Watch(work, "cpus", "--format", "csv")
    w.add(slices[0])
    w.add(slices[1], pathlib.Path(slices[1]).read_bytes()[:-1], old=60)
    w.add(slices[2], old=60)
    w.add(slices[-1], old=60)
    code = w.wait()
    errors = w.errors()
    tap.ok("a damaged slice and a missing one: each is reported, and the rest is printed",
           [] if code == 3 and "slice-1.blkslice" in errors and errors.count("is missing: nothing is known of") == 2 else [code, errors])
    rows = [line.split(",") for line in w.printed().splitlines()]
    head = rows[0].index("unknown_ns")
    unknown = sum(int(row[head]) for row in rows[1:])
    tap.ok("the time of what is missing is unknown", [] if unknown > 8_000_000_000 else [unknown])
    w = Watch(work, "losses", "--format", "csv")
    w.add(slices[0])
    w.add(slices[2], old=60)
    w.add(slices[-1], old=60)
    w.wait()
    tap.ok("a gap is not the fault of small buffers", [] if "kernel" in w.printed() and "buffers" not in w.printed() else [w.printed()])


def test_wait(work, slices):
    """The one before it was not there 6 seconds ago, and does not come."""
    w = Watch(work, "cpus", "--format", "csv")
    w.add(slices[0])
    written = time.time() - 6
    w.add(slices[2], old=6)
    w.add(slices[-1], old=60)
    code, age = w.wait(), time.time() - written
    tap.ok("limit slice-wait-seconds: then there is a gap", [] if code == 3 and age >= 10 else [code, age, w.errors()])


def test_number(work, slices):
    w = Watch(work, "events", "--format", "json", "-n", "2")
    w.add(slices[0])
    w.add(slices[1])
    tap.ok("-n 2 ends it", [] if w.wait() == 0 and w.printed().count('"view"') == 2 else [w.errors(), w.printed()[:300]])
    w = Watch(work, "events")
    until(lambda: "SigCgt:\t0000000000000000" not in pathlib.Path(f"/proc/{w.process.pid}/status").read_text("utf-8"))
    tap.ok("nothing came", [] if w.end(signal.SIGINT) in (1, 128 + signal.SIGINT) and not w.printed() else [w.errors()])


def usage(work):
    for arguments in (["-b", "--view", "cpus", "--watch"], ["-b", "--view", "cpus", "--watch", work, work], ["--watch", "-r", "localhost", work],
                      ["report", "--watch", work], ["-b", "--view", "cpus", "--watch", "--from", "+1s", work], ["--watch", "--no-spool", work],
                      ["--watch", "--align-hosts", work], ["--watch", "--screenshot", "x.svg", work], ["--delete-mapped", "--watch", work]):
        r = tap.output(PROGRAM, *arguments)
        tap.ok(f"refused: {' '.join(a if a != work else 'DIR' for a in arguments)}", [] if r.returncode == 2 and r.stderr else [r.returncode, r.stderr])
    r = tap.output(PROGRAM, "-b", "--view", "cpus", "--watch", work + "/none")
    tap.ok("no such directory", [] if r.returncode == 1 and "none" in r.stderr else [r.returncode, r.stderr])


def main():
    if not os.access(PROGRAM, os.X_OK) or not os.path.isdir(TRACE):
        print(f"1..0 # SKIP {PROGRAM} or {TRACE} is missing")
        return
    chunks = sorted(glob.glob(TRACE + "/archives/*"), key=number)
    with tempfile.TemporaryDirectory() as work:
        slices = map_all(work, chunks)
        test_each_view(work, slices)
        test_one_by_one(work, slices)
        test_chunks(work, chunks)
        test_damage(work, slices)
        test_wait(work, slices)
        test_number(work, slices)
        usage(work)
    tap.done()


main()
