#!/usr/bin/env python3
"""--suggest-rules: pairs by names, by threads that nest, by objects that cross threads, and by a field that tells phases apart; what it prints works with --spans,
and its counts are those of the spans. Both readers; discarded events; recordings of others where they are present."""
import html
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
SHARED = pathlib.Path(tap.ROOT, "../shared")
METADATA = BEGIN + """typealias enum : u8 { begin = 3, end = 7 } := when;
trace { major = 1; minor = 8; byte_order = le; uuid = "0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a";
 packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { domain = "ust"; hostname = "lab"; };
clock { name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };
 event.context := struct { i32 vtid; i32 vpid; }; };
"""
EVENTS = [("app:read_entry", "u64 fd;"), ("app:read_exit", "i64 ret;"), ("app:job_start", "u64 job; string kind;"), ("app:job_done", "u64 job;"),
          ("app:step", "when phase; u64 step;"), ("app:say", "string what; string op;"), ("net:GCStart_V2", "u64 count;"), ("net:GCEnd_V1", "u64 count;"),
          ("app:buffer_acquire", "u64 ptr;"), ("app:buffer_release", "u64 ptr;"), ("app:alone_start", "u64 x;"), ("app:noise", "u64 x;"), ("app:write_pre", ""), ("app:write", "")]
IDS = {name: i for i, (name, _fields) in enumerate(EVENTS)}


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def write(work, packets):
    """packets: of one CPU, each (events discarded so far, events); an event is (time, tid, pid, name, payload)."""
    text = METADATA + "".join(f'event {{ id = {i}; stream_id = 0; name = "{name}"; fields := struct {{ {fields} }}; }};\n'
                              for i, (name, fields) in enumerate(EVENTS))
    pathlib.Path(work, "metadata").write_text(text, encoding="ascii")
    data = b""
    for number, (discarded, events) in enumerate(packets):
        body = b"".join(struct.pack("<HQii", IDS[name], time, tid, pid) + payload for time, tid, pid, name, payload in events)
        head = struct.pack("<I", 0xc1fc1fc1) + b"\x0a" * 16 + struct.pack("<IQ", 0, 1)
        size = (len(head) + 52 + len(body)) * 8
        data += head + struct.pack("<QQQQQQI", events[0][0], events[-1][0], size, size, number, discarded, 0) + body
    pathlib.Path(work, "s_0").write_bytes(data)


def check_that(what, good, why=""):
    tap.ok(what, [] if good else [why or "it is not"])


def run(*args):
    return subprocess.run([PROGRAM, "-b", "--utc", "--presets", "none", *map(str, args)], capture_output=True, text=True, timeout=120, check=False)


def rules_of(text):
    """name -> (pairs, open, ends, unsure, lines)"""
    found = {}
    for part in text.split("\n\n")[1:]:
        numbers = [int(n) for n in re.findall(r"\d+", part.split("\n")[0])]
        words = part.split("\n")[0]

        def count(pattern, words=words):
            m = re.search(r"(\d+) " + pattern, words)
            return int(m[1]) if m else 0
        lines = dict(line.split("=", 1) for line in part.split("\n") if "=" in line and not line.startswith("#"))
        found[re.search(r"\[(.*)\]", part)[1]] = (numbers[0], count("open"), count("ends without"), count("around"), lines)
    return found


def check(what, work, *more):
    """The counts of the rules are those of the spans that they make. Returns the rules."""
    out = run("--suggest-rules", *more, work)
    rules = rules_of(out.stdout)
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
        file.write(out.stdout)
        file.flush()
        spans = run("--view", "spans", "--format", "json", "--spans", file.name, *more, work)
    complete, others = {}, {}
    for s in json.loads(spans.stdout or '{"rows": []}')["rows"]:
        rule = s["name"].split(" ")[0]
        where = complete if s["state"] == "complete" else others
        where[rule] = where.get(rule, 0) + 1
    check_that(f"{what}: rules are found, and the file works with --spans", bool(rules) and spans.returncode in (0, 3), out.stderr + spans.stderr)
    check_that(f"{what}: pairs are complete spans", {n: r[0] for n, r in rules.items()} == complete, f"{rules} {complete}")
    check_that(f"{what}: the others are partial or open spans", {n: sum(r[1:4]) for n, r in rules.items() if sum(r[1:4])} == others, f"{rules} {others}")
    return rules


def story():
    """Each kind of pair, over time."""
    events = []
    for i in range(40):
        at = 10**6 * (10 + 100 * i)
        events += [(at, 101, 100, "app:read_entry", u64(3)), (at + 1000, 101, 100, "app:read_entry", u64(4)),
                   (at + 2000, 102, 100, "app:read_entry", u64(3)), (at + 3000, 101, 100, "app:read_exit", u64(1)),
                   (at + 4000, 102, 100, "app:read_exit", u64(1)), (at + 5000, 101, 100, "app:read_exit", u64(1)),
                   # a job ends on another thread, and the one before it ends later
                   (at + 6000, 101, 100, "app:job_start", u64(2 * i) + b"small\0"), (at + 7000, 101, 100, "app:job_start", u64(2 * i + 1) + b"large\0"),
                   (at + 8000, 102, 100, "app:job_done", u64(2 * i)), (at + 9000, 102, 100, "app:job_done", u64(2 * i + 1)),
                   (at + 10000, 103, 100, "app:step", b"\3" + u64(i)), (at + 11000, 103, 100, "app:step", b"\7" + u64(i)),
                   (at + 12000, 103, 100, "app:say", b"enter\0" + b"parse\0"), (at + 13000, 103, 100, "app:say", b"leave\0" + b"parse\0"),
                   (at + 14000, 104, 100, "net:GCStart_V2", u64(i)), (at + 15000, 104, 100, "net:GCEnd_V1", u64(i)),
                   # two objects of one thread, not nested; the other process has the same addresses
                   (at + 16000, 105, 100, "app:buffer_acquire", u64(0x1000)), (at + 16500, 205, 200, "app:buffer_acquire", u64(0x1000)),
                   (at + 17000, 105, 100, "app:buffer_acquire", u64(0x2000)), (at + 18000, 105, 100, "app:buffer_release", u64(0x1000)),
                   (at + 18500, 205, 200, "app:buffer_release", u64(0x1000)), (at + 19000, 105, 100, "app:buffer_release", u64(0x2000)),
                   (at + 20000, 106, 100, "app:alone_start", u64(i)), (at + 21000, 106, 100, "app:noise", u64(i)),
                   (at + 22000, 106, 100, "app:write_pre", b""), (at + 23000, 106, 100, "app:write", b"")]
    return events


def test_story(work):
    events = story()
    events += [(events[-1][0] + 1000, 101, 100, "app:read_entry", u64(9)), (events[-1][0] + 2000, 107, 100, "net:GCEnd_V1", u64(99))]
    write(work, [(0, events)])
    for reader in ("native", "babeltrace2"):
        rules = check(f"{reader}, all kinds", work, "--reader", reader)
        want = {"read": (120, 1, 0, "thread"), "job": (80, 0, 0, "ctx.vpid, job"), "step": (40, 0, 0, "thread"), "say": (40, 0, 0, "thread"),
                "gc": (40, 0, 1, "thread"), "buffer": (120, 0, 0, "ptr, thread"), "write": (40, 0, 0, "thread")}
        check_that(f"{reader}: pairs, open ones, ends, key", {n: (*r[:3], r[4]["key"]) for n, r in rules.items()} == want, str(rules))
        check_that(f"{reader}: reads nest, steps do not", rules["read"][4].get("nested") == "yes" and "nested" not in rules["step"][4], str(rules))
        check_that(f"{reader}: an enumeration is compared by number, a text by its word",
                  rules["step"][4]["begin_if"] == "phase == 3" and rules["say"][4]["end_if"] == "what == leave", str(rules))
        check_that(f"{reader}: a text with few values is part of the name", rules["job"][4]["name"] == "job ${kind}", str(rules))


def test_loss(work):
    events = story()
    cut = len(events) // 2 + 1			# in a read that is open on its thread
    write(work, [(0, events[:cut]), (5, events[cut:cut + 50]), (5, events[cut + 50:])])
    rules = check("5 events discarded", work)
    check_that("pairs around the loss do not count", rules["read"][0] + rules["read"][3] <= 120 and any(r[3] or r[1] or r[2] for r in rules.values()), str(rules))


def test_doctor(work):
    write(work, [(0, story())])
    out = subprocess.run([PROGRAM, "--doctor", work], capture_output=True, text=True, timeout=60, check=False)
    check_that("the doctor names the pairs, and does not ask for zipkin:*", "buffer_acquire and buffer_release look like" in out.stdout and
               "--suggest-rules" in out.stdout and "'zipkin:*'" not in out.stdout, out.stdout)


def test_slices(work):
    """Slices have no single events: the screen says so, and what makes spans of them."""
    trace, picture = pathlib.Path(work, "trace"), pathlib.Path(work, "screen.svg")
    trace.mkdir()
    write(trace, [(0, story())])
    subprocess.run([PROGRAM, "map", trace, "-o", pathlib.Path(work, "slice")], check=True, timeout=60, capture_output=True)
    out = subprocess.run([PROGRAM, "--config", "none", "--screenshot", picture, "--size", "200x30", pathlib.Path(work, "slice")],
                         capture_output=True, text=True, timeout=60, check=False)
    text = html.unescape(re.sub("<[^>]*>", "", picture.read_text(encoding="utf-8"))) if picture.exists() else ""
    check_that("a slice names a pair, and says why it has no spans of it", "look like the beginning and end of a span. Slices have no single events" in text and
               "Y shows" not in text, out.stderr + text[:500])


def test_nothing(work):
    write(work, [(0, [(1000 * i, 1, 1, "app:noise", u64(i)) for i in range(1, 9)] + [(9000, 1, 1, "app:alone_start", u64(1))])])
    out = run("--suggest-rules", work)
    check_that("nothing looks like a pair: a message, status 1", out.returncode == 1 and not out.stdout and "look like the beginning and end" in out.stderr, out.stderr)
    out = subprocess.run([PROGRAM, "--suggest-rules", work], capture_output=True, text=True, timeout=60, check=False)
    check_that("without -b: status 2", out.returncode == 2 and "--suggest-rules needs -b" in out.stderr, out.stderr)


def test_others():
    for path, rule, pairs in (("reports/ros2-ust-only", "callback", 480), ("traces/public/ros2", "callback", 6065)):
        trace = SHARED / path
        if trace.is_dir():
            rules = check(path, trace)
            check_that(f"{path}: {pairs} pairs", rules[rule][0] == pairs, str(rules))
        else:
            tap.skip(path, "the recording is not here")


def main():
    if sys.argv[1:2] == ["--write"]:		# the story as a trace, for tests of the screen
        write(sys.argv[2], [(0, story())])
        return
    for test in (test_story, test_loss, test_doctor, test_slices, test_nothing):
        with tempfile.TemporaryDirectory() as work:
            test(work)
    test_others()
    tap.done()


main()
