#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every input that a command line names, as every kind of file: what is no regular file is refused with a message that names it, and
nothing waits for it."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
AS_NOBODY = os.geteuid() == 0 and tap.others_run(PROGRAM)
TRACES = os.path.abspath(os.environ.get("TRACES", "tests/traces"))
TRACE = TRACES + "/kernel-small"
LIMIT = 300             # s: what has not ended by then hangs
NOBODY = 65534
BATCH = ["-b", "--no-cache", "--view", "overview"]

# X is the input, S a good slice file, T a good trace, O an output.
COMMANDS = {
    "the trace of the screen": ["--screenshot", "O.svg", "X"],
    "the trace of a view": BATCH + ["X"],
    "one of two traces": BATCH + ["T", "X"],
    "the trace of log": ["log", "X"],
    "the trace of report": ["report", "X"],
    "the trace of save": ["save", "X", "-o", "O"],
    "the trace of map": ["map", "X", "-o", "O"],
    "the slice of reduce": ["reduce", "X", "-o", "O"],
    "the second slice of reduce": ["reduce", "S", "X", "-o", "O"],
    "the first slice of reduce": ["reduce", "X", "S", "-o", "O"],
    "the slice of reduce --history": ["reduce", "--history", "X", "S", "-o", "O"],
    "one of two slices of a view": BATCH + ["S", "X"],
    "one of two files of spans": BATCH + ["J", "X"],
    "the trace of --doctor": ["--doctor", "X"],
    "an exported trace": ["--export-slowest", "3", "--format", "zipkin", "X"],
    "--chunks": ["-b", "--metric", "call.latency", "--by", "errno", "--chunks", "X", "S"],
    "--spans": BATCH + ["--spans", "X", "T"],
    "--thresholds": ["-b", "--view", "alerts", "--thresholds", "X", "T"],
    "--baseline": ["-b", "--view", "alerts", "--threshold", "call.latency p99 > 2 x usual", "--baseline", "B", "T"],
}


def make(kind, path):
    """A file of that kind."""
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        os.mkdir(path)
    elif kind == "device":
        os.symlink("/dev/zero", path)
    elif kind == "socket":
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.close()
    elif kind == "loop of links":
        os.symlink(path, path)
    elif kind == "unreadable file":
        pathlib.Path(path).write_text("x")
        os.chmod(path, 0)
    elif kind == "missing file":
        pass


KINDS = ["fifo", "directory", "device", "socket", "loop of links", "unreadable file", "missing file"]


def run(arguments, env):
    before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if AS_NOBODY else []
    try:
        return subprocess.run(before + [PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                              check=False, errors="replace", env=env)
    except subprocess.TimeoutExpired:
        return None


def problems(r, named):
    if r is None:
        return [f"it has not ended after {LIMIT} s"]
    if r.returncode not in (1, 2):
        return [f"exit status {r.returncode}", r.stdout[:300], r.stderr[:1000]]
    return [] if named in r.stderr + r.stdout else ["the message does not name it", r.stdout[:300], r.stderr[:1000]]


def commands(work, env):
    for kind in KINDS:
        for what, words in COMMANDS.items():
            base = work + "/case"
            shutil.rmtree(base, ignore_errors=True)
            os.mkdir(base)
            os.chmod(base, 0o777)
            baselines = base + "/state/blktop/baselines"
            os.makedirs(baselines)
            make(kind, baselines + "/B" if what == "--baseline" else base + "/X")
            place = {"X": base + "/X", "O": base + "/out", "O.svg": base + "/out.svg", "S": work + "/s.blkslice", "T": TRACE, "J": work + "/spans.json"}
            r = run([place.get(w, w) for w in words], dict(env, XDG_STATE_HOME=base + "/state"))
            tap.ok(f"{kind}: {what}", problems(r, "/B" if what == "--baseline" else "/X"))
    shutil.rmtree(work + "/case")


def in_directory(work, env):
    """The same for files of a trace's directory: it is left out or refused, and what else there is can be read."""
    for kind in ["fifo", "device", "socket", "loop of links"]:
        for reader in ["native", "babeltrace2"]:
            for name in ["metadata", "a_stream", "index"]:
                base = work + "/trace"
                shutil.rmtree(base, ignore_errors=True)
                shutil.copytree(TRACE, base)
                where = next(p.parent for p in pathlib.Path(base).rglob("metadata"))
                os.chmod(base, 0o755)
                path = where / name
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.exists():
                    path.unlink()
                make(kind, str(path))
                r = run(BATCH + ["--reader", reader, base], env)
                fails = name == "metadata"
                tap.ok(f"{kind} as {name} in a trace, {reader}",
                       problems(r, "/trace") if fails or r is None else [] if r.returncode in (0, 3) else [r.returncode, r.stderr])
                if reader == "native":
                    r = run(["--doctor", base], env)
                    tap.ok(f"{kind} as {name} in a trace, --doctor", [] if r and r.returncode in (0, 1, 3) else [r and r.stderr])
    shutil.rmtree(work + "/trace")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o777)
        env = dict(os.environ, HOME=work, XDG_CONFIG_HOME=work + "/config")
        made = tap.output(PROGRAM, "map", TRACE, "-o", work + "/s.blkslice")
        spans = tap.output(PROGRAM, "--export-slowest", "3", "--format", "zipkin", TRACES + "/kernel-ust")
        pathlib.Path(work + "/spans.json").write_text(spans.stdout)
        os.chmod(work + "/s.blkslice", 0o644)
        tap.ok("a slice and spans to combine with", [] if made.returncode == spans.returncode == 0 else [made.stderr, spans.stderr])
        if os.geteuid() == 0 and not AS_NOBODY:
            KINDS.remove("unreadable file")
            tap.skip("unreadable files", tap.NOT_OTHERS)
        commands(work, env)
        in_directory(work, env)
    tap.done()


if __name__ == "__main__":
    main()
