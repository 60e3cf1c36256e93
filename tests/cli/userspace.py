#!/usr/bin/env python3
"""Traces of programs alone, without a kernel: the timeline's lanes are threads with the events that they recorded; where no context names a thread, CPUs; where
packets name no CPU either, one. Nothing is claimed to run. Both readers, slice files, and rules; and traces with a kernel, which have states instead."""
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
NAMES = ["app:work_start", "app:work_end", "app:tick", "plain"]
SECOND = 10**9


def write(work, events, contexts=True, cpu=True):
    """events: (time, tid, index in NAMES), in order of time; all on CPU 3, in process 70."""
    context = " event.context := struct { i32 vtid; i32 vpid; string procname; };" if contexts else ""
    text = BEGIN + f"""trace {{ major = 1; minor = 8; byte_order = le;
 packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
env {{ domain = "ust"; hostname = "lab"; }};
clock {{ name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := ts;
stream {{ id = 0; event.header := struct {{ u16 id; ts timestamp; }};
 packet.context := struct {{ ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; {"u32 cpu_id;" if cpu else ""} }};{context} }};
""" + "".join(f'event {{ id = {i}; stream_id = 0; name = "{name}"; }};\n' for i, name in enumerate(NAMES))
    pathlib.Path(work, "metadata").write_text(text, encoding="ascii")
    body = b"".join(struct.pack("<HQ", name, time) + (struct.pack("<ii", tid, 70) + b"app\0" if contexts else b"") for time, tid, name in events)
    head = struct.pack("<II", 0xc1fc1fc1, 0)
    size = (len(head) + 32 + 4 * cpu + len(body)) * 8
    data = head + struct.pack("<QQQQ", events[0][0], events[-1][0], size, size) + struct.pack("<I", 3) * cpu + body
    pathlib.Path(work, "s_0").write_bytes(data)


def story():
    """Two threads for four seconds; thread 72 has pairs, thread 71 ticks in two of them."""
    events = []
    for i in range(40):
        at = SECOND // 10 * i
        events += [(at + 1000, 72, 0), (at + 60_000_000, 72, 1)]
        if i // 10 % 2:
            events += [(at + 70_000_000 + k, 71, 2) for k in range(3)] + [(at + 71_000_000, 71, 3)]
    return sorted(events)


def run(*args):
    return subprocess.run([PROGRAM, "--no-cache", "--config", "none", "--utc", *map(str, args)], capture_output=True, text=True, timeout=120, check=False)


def lanes(*args):
    out = run("-b", "--view", "timeline", "--format", "json", *args)
    return json.loads(out.stdout or '{"rows": []}')["rows"]


def sums(rows):
    """Lane and kind -> number of events."""
    found = collections.Counter()
    for r in rows:
        found[r["lane"], r["kind"]] += r["events"] or 0
    return dict(found)


def check(what, good, why=""):
    tap.ok(what, [] if good else [str(why) or "it is not"])


def test_threads(work):
    events = story()
    write(work, events)
    want = {(f"app/{tid}", "thread"): sum(e[1] == tid for e in events) for tid in (71, 72)}
    for reader in ("native", "babeltrace2"):
        rows = lanes("--reader", reader, work)
        check(f"{reader}: each thread has a lane with its events", sums(rows) == want, (sums(rows), want))
    check("the most frequent one has its name", {r["event"] for r in rows if r["tid"] == 71 and r["events"]} == {"app:tick"}, rows)
    check("no lane claims that a thread ran, or for how long it was blocked",
          all(r[k] is None for r in rows for k in ("cpu", "state", "run_ns", "user_ns", "syscall_ns", "futex_ns", "other_ns")), rows[:2])
    by = [r["events"] for r in lanes("--by", "process", work)]
    check("seconds of the process have the sums of its threads", by == [sum(e[0] // SECOND == i for e in events) for i in range(4)], by)
    check("one thread alone has its lane alone", sums(lanes("--filter", "tid == 71", work)) == {("app/71", "thread"): want["app/71", "thread"]})


def test_slices(work):
    trace, slices = pathlib.Path(work, "trace"), pathlib.Path(work, "slices")
    trace.mkdir()
    write(trace, story())
    out = subprocess.run([PROGRAM, "map", trace, "-o", slices], capture_output=True, text=True, timeout=120, check=False)
    found = sorted(slices.rglob("*")) if slices.is_dir() else [slices]
    rows = lanes(*[f for f in found if f.is_file()])
    check("slice files have the same lanes", sums(rows) == sums(lanes(trace)) and rows, out.stderr)


def test_no_contexts(work):
    events = story()
    write(work, events, contexts=False)
    rows = lanes(work)
    check("without contexts the lane is a CPU's, and says that the thread is unknown", sums(rows) == {("CPU3, some thread", "events"): len(events)}, sums(rows))
    write(work, events, contexts=False, cpu=False)
    rows = lanes(work)
    check("without a CPU, too, there is one lane of all", sums(rows) == {("unknown thread", "events"): len(events)}, sums(rows))


def test_kernel():
    rows = lanes(pathlib.Path(tap.ROOT, "tests/traces/kernel-ust/trace"))
    check("with a kernel, lanes have states, and no events", rows and all(r["events"] is None for r in rows) and any(r["state"] for r in rows), len(rows))


def main():
    if sys.argv[1:2] == ["--write"]:		# the story as a trace, for tests of the screen
        write(sys.argv[2], story(), contexts="bare" not in sys.argv)
        return
    for test in (test_threads, test_slices, test_no_contexts):
        with tempfile.TemporaryDirectory() as work:
            test(work)
    test_kernel()
    tap.done()


main()
