#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Streams: `blktop -` shows a recording that comes as a stream as it shows the recording; `record -o -` writes what an independent reader understands, and
what blktop reads; the screen takes its keys from the terminal; what cannot be read is said."""
import csv
import fcntl
import io
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
LIMIT = 120
work = tempfile.mkdtemp(prefix="blktop-stream.")
ENV = dict(os.environ, HOME=work, XDG_STATE_HOME=work + "/state", XDG_CACHE_HOME=work + "/cache", TZ="UTC", LC_ALL="C.UTF-8", TERM="xterm-256color")
MAGIC = b"BLKTOP STREAM 1\n"
TRACE, METADATA, RESTART, STREAM, PACKET, BEACON, END_STREAM, END_TRACE, END = range(1, 10)


# ---- an independent writer and reader ----

def record(kind, number, payload=b""):
    return struct.pack("<IIQ", kind, number, len(payload)) + payload


def packets(path):
    """(begin, end, bytes) of a stream file, by LTTng's index file."""
    index = path.parent.joinpath("index", path.name + ".idx").read_bytes()
    entry, = struct.unpack_from(">I", index, 12)
    data = path.read_bytes()
    for at in range(16, len(index), entry):
        offset, bits, _, begin, end = struct.unpack_from(">QQQQQ", index, at)
        yield begin, end, data[offset:offset + bits // 8]


def stream_of(root, end=True):
    """The stream of a recording, its packets in the order of their ends."""
    out, all_packets, n = [MAGIC], [], 0
    for number, metadata in enumerate(sorted(pathlib.Path(root).rglob("metadata"))):
        text = metadata.read_bytes()
        out.append(record(TRACE, number, str(metadata.parent.name).encode()))
        out += [record(METADATA, number, text[i:i + 5000]) for i in range(0, len(text), 5000)]
        for path in sorted(p for p in metadata.parent.iterdir() if p.is_file() and p.name != "metadata"):
            out.append(record(STREAM, n, struct.pack("<I", number) + path.name.encode()))
            all_packets += [(e, n, data) for _, e, data in packets(path)]
            n += 1
    for e, number, data in sorted(all_packets, key=lambda p: p[0]):
        out.append(record(PACKET, number, data))
    out += [record(END_STREAM, i) for i in range(n)]
    if end:
        out.append(record(END, 0))
    return b"".join(out)


def records(data):
    assert data.startswith(MAGIC)
    at = len(MAGIC)
    while at < len(data):
        kind, number, length = struct.unpack_from("<IIQ", data, at)
        yield kind, number, data[at + 16:at + 16 + length]
        at += 16 + length


def run(*arguments, data=b""):
    return subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, env=ENV, timeout=LIMIT, check=False)


def rows(r):
    first = None
    for x in csv.DictReader(io.StringIO(r.stdout.decode())):
        first = first or list(x)
        if x[first[0]] != first[0]:
            yield x


# ---- a recording as a stream ----

def check_recordings():
    for name in ("demo/trace", "kernel-small/trace", "lost/trace"):
        root = pathlib.Path(tap.ROOT, "tests/traces", name)
        if not root.exists():
            root = pathlib.Path(tap.ROOT, "tests/traces/ctf2", name)
        if not root.exists() or not list(root.rglob("*.idx")):
            tap.skip(f"{name} as a stream", "the recording or its index files are not here")
            continue
        data = stream_of(root)
        problems = []
        counts = {}
        for how, arguments, text in (("recorded", [str(root)], b""), ("stream", ["-"], data)):
            r = run("-b", "--config", "none", "--no-cache" if how == "recorded" else "--no-spool", "--view", "events", "--format", "csv", *arguments, data=text)
            counts[how] = {}
            for x in rows(r):
                counts[how][x["name"]] = counts[how].get(x["name"], 0) + int(x["count"])
            if r.returncode not in (0, 3):
                problems.append([how, r.returncode, r.stderr.decode()])
        if counts["recorded"] != counts["stream"] or not counts["stream"]:
            problems.append(sorted(set(counts["recorded"].items()) ^ set(counts["stream"].items()))[:6])
        tap.ok(f"{name} as a stream has the events of the recording", problems)
    return data


def check_ends(data):
    whole = len(list(rows(run("-b", "--config", "none", "--no-spool", "--view", "events", "--format", "csv", "-", data=data))))
    for what, text, code, words in (
            ("cut off within a record", data[:-20], 4, "ends within a record"),
            ("without its end", data[:-16], 4, "ends within a record"),
            ("of another version", b"BLKTOP STREAM 2\n" + data[16:], 1, "version 2"),
            ("of something else", b"{}" * 5000, 1, "is no stream"),
            ("that is empty", b"", 1, "nothing came")):
        r = run("-b", "--config", "none", "--no-spool", "--view", "events", "--format", "csv", "-", data=text)
        shown = len(list(rows(r)))
        tap.ok(f"a stream {what}", [] if r.returncode == code and words in r.stderr.decode() and (code == 1 or shown >= whole > 0) and "relay" not in r.stderr.decode()
               else [r.returncode, shown, whole, r.stderr.decode()])
    for arguments, words in ((["log", "-"], "does not read a stream"), (["-b", "--view", "events", "-", "x"], "cannot be combined")):
        r = run(*arguments)
        tap.ok("refused: " + " ".join(arguments), [] if r.returncode == 2 and words in r.stderr.decode() else [r.returncode, r.stderr.decode()])


# ---- the screen ----

def check_screen(what, data, *steps):
    """Standard input is a pipe, which stays open; keys are typed on the terminal. steps: what must be seen, then the key."""
    down, up = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        os.dup2(down, 0)
        for fd in (down, up):
            os.close(fd)
        os.execve(PROGRAM, [PROGRAM, "--config", "none", "--utc", "-"], ENV)
    os.close(down)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 0, 0))
    seen, sent, steps, until = b"", 0, list(steps), time.monotonic() + LIMIT
    os.set_blocking(up, False)
    status = None
    while time.monotonic() < until and status is None:
        readable, writable, _ = select.select([terminal], [up] if sent < len(data) else [], [], 0.1)
        try:
            if readable:
                seen += os.read(terminal, 65536)
            if writable:
                sent += os.write(up, data[sent:sent + 65536])
        except OSError:
            pass
        if steps and sent >= len(data) and steps[0][0] in seen:
            os.write(terminal, steps.pop(0)[1])
            seen = b""
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(code)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(up)
    os.close(terminal)
    tap.ok(what, [] if status == 0 and not steps else [status, steps, sent, seen[-300:]])


def check_rules():
    """Key Y adds rules: what came of the stream is read again, from the packets that were stored."""
    to = pathlib.Path(work, "pairs")
    to.mkdir()
    subprocess.run([sys.executable, HERE / "cli/suggest.py", "--write", to], check=True)
    data = MAGIC + record(TRACE, 0, b"ust") + record(METADATA, 0, (to / "metadata").read_bytes()) + record(STREAM, 0, struct.pack("<I", 0) + b"s")
    data += record(PACKET, 0, (to / "s_0").read_bytes()) + record(BEACON, 0, struct.pack("<QQ", 0, 10 ** 12))
    check_screen("key Y reads what came of a stream again", data, (b"job_start", b"Y"), (b"buffer 4096", b"q"))


# ---- live ----

def check_live():
    program = "import os\nfor _ in range(1000): os.sched_get_priority_max(0)"
    r = subprocess.run([PROGRAM, "record", "-o", "-", "--kernel", "tracefs", "--", sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True,
                       env=ENV, timeout=LIMIT, check=False)
    problems = [] if r.returncode == 0 else [r.returncode, r.stderr.decode()]
    parts, root, n = {}, pathlib.Path(work, "by-hand"), 0
    streams, kinds = {}, []
    for kind, number, payload in records(r.stdout):
        kinds.append(kind)
        if kind == TRACE:
            parts[number] = root / f"{number}-{payload.decode()}"
            parts[number].mkdir(parents=True)
        elif kind == METADATA:
            with open(parts[number] / "metadata", "ab") as f:
                f.write(payload)
        elif kind == STREAM:
            trace, = struct.unpack_from("<I", payload)
            streams[number] = parts[trace] / payload[4:].decode()
        elif kind == PACKET:
            with open(streams[number], "ab") as f:
                f.write(payload)
            n += 1
    if f"{n} packets" not in r.stderr.decode() or kinds[-1] != END or BEACON not in kinds or kinds.count(END_STREAM) != len(streams):
        problems.append([n, kinds[-1], r.stderr.decode()])
    shown = run("-b", "--config", "none", "--no-spool", "--view", "syscalls", "--by", "process", "--format", "csv", "-", data=r.stdout)
    mine = sum(int(x["count"]) for x in rows(shown) if x["syscall"] == "sched_get_priority_max" and x["comm"].startswith("python"))
    tap.ok("record -o -: an independent reader understands it, and blktop - counts each call", problems + ([] if mine == 1000 else [mine, shown.stderr.decode()]))
    if shutil.which("babeltrace2"):
        theirs = subprocess.run(["babeltrace2", root], capture_output=True, check=False).stdout.count(b"\n")
        events = run("-b", "--config", "none", "--no-spool", "--view", "events", "--format", "csv", "-", data=r.stdout)
        ours = sum(int(x["count"]) for x in rows(events))
        tap.ok("babeltrace2 reads as many events of what was streamed", [] if theirs == ours > 1000 else [theirs, ours])
    else:
        tap.skip("babeltrace2 reads as many events of what was streamed", "no babeltrace2")
    p = subprocess.Popen([PROGRAM, "record", "-o", "-", "--kernel", "tracefs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    p.stdout.read(len(MAGIC) + 1000)
    p.stdout.close()
    err = p.stderr.read().decode()
    p.wait(LIMIT)
    tap.ok("record -o - ends when its reader does", [] if p.returncode == 1 and "its reader has ended" in err else [p.returncode, err])


def main():
    try:
        data = check_recordings()
        check_ends(data)
        demo = pathlib.Path(tap.ROOT, "tests/traces/demo/trace")
        if demo.exists():
            check_screen("the screen shows the stream, and its keys come from the terminal", stream_of(demo), (b"thumb", b"q"))
        else:
            tap.skip("the screen", "no recording")
        check_rules()
        mounted = os.path.isdir("/sys/kernel/tracing/events")
        if os.geteuid() or not (mounted or pathlib.Path("/sys/kernel/tracing").is_dir()):
            tap.skip("record -o -", "needs root, and a kernel with tracefs")
        else:
            check_live()
    finally:
        shutil.rmtree(work)
    tap.done()


if __name__ == "__main__":
    main()
