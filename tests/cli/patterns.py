#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rules with patterns, on a trace with hundreds of event classes: the same spans as by one rule for each pair, and as this test pairs them; by both readers,
in slices, in two threads, and beside rules for single events."""
import csv
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
NAMES = [f"call{i}{'_entry' * (i % 7 == 0)}" for i in range(300)]	# some names end like the events
PATTERN = "[all]\nbegin=api:*_entry\nend=api:${1}_exit\nname=${1}\nnested=yes\nparent=thread\nerror_if=result < 0\ntags=size\n"
FIXED = "".join(f"[{n}]\nbegin=api:{n}_entry\nend=api:{n}_exit\nname={n}\nnested=yes\nparent=thread\nerror_if=result < 0\ntags=size\n" for n in NAMES)
work = tempfile.mkdtemp(prefix="blktop-patterns.")


def story(seed, n_pairs):
    """[(time, thread, name, is_exit, value)], and {(begin, thread): (end, name, begin of the parent, error)} as nested calls of threads."""
    rand, events, spans, open_, now = random.Random(seed), [], {}, {t: [] for t in range(71, 76)}, 1000
    while n_pairs or any(open_.values()):
        now += rand.randrange(1, 400_000)
        thread = rand.choice(list(open_))
        stack = open_[thread]
        if stack and (not n_pairs or len(stack) > 6 or rand.random() < 0.5):
            begin, name, parent = stack.pop()
            result = rand.randrange(-1, 3)
            events.append((now, thread, name, 1, result))
            spans[begin, thread] = (now, name, parent, result < 0)
        elif n_pairs:
            n_pairs -= 1
            name = rand.choice(NAMES)
            events.append((now, thread, name, 0, rand.randrange(1 << 20)))
            stack.append((now, name, stack[-1][0] if stack else None))
    return events, spans


def write(to, events):
    classes = {(name, kind): i for i, (name, kind) in enumerate((n, k) for n in NAMES for k in (0, 1))}
    text = BEGIN + """trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "ust"; hostname = "lab"; };
clock { name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
 event.context := struct { i32 vtid; i32 vpid; string procname; }; };
""" + "".join(f'event {{ id = {i}; stream_id = 0; name = "api:{n}_{("entry", "exit")[k]}"; fields := struct {{ i64 {("size", "result")[k]}; }}; }};\n'
                  for (n, k), i in classes.items())
    pathlib.Path(to, "metadata").write_text(text, encoding="ascii")
    body = b"".join(struct.pack("<HQii4sq", classes[name, kind], time, tid, 70, b"app\0", value) for time, tid, name, kind, value in events)
    size = (8 + 36 + len(body)) * 8
    head = struct.pack("<IIQQQQI", 0xc1fc1fc1, 0, events[0][0], events[-1][0], size, size, 3)
    pathlib.Path(to, "s_0").write_bytes(head + body)


def run(*args):
    return subprocess.run([PROGRAM, "--config", "none", "--utc", *map(str, args)], capture_output=True, text=True, timeout=120, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=work + "/cache", XDG_STATE_HOME=work + "/state"))


def spans(rules, *source):
    r = run("-b", "--view", "spans", "--format", "csv", *rules, *source)
    rows = [x for x in csv.DictReader(io.StringIO(r.stdout)) if x.get("span_id") != "span_id"]
    ids = {x["span_id"]: int(x["begin_ns"]) for x in rows}
    return {(int(x["begin_ns"]) - 1795241230 * 10**9, int(x["tid"])): (
        int(x["begin_ns"]) + int(x["duration_ns"]) - 1795241230 * 10**9, x["name"],
        ids.get(x["parent_id"], 1795241230 * 10**9) - 1795241230 * 10**9 or None, x["errors"] not in ("0", "")) for x in rows}, r


def main():
    trace = os.path.join(work, "trace")
    os.mkdir(trace)
    events, truth = story(42, 3000)
    write(trace, events)
    files = {}
    for name, text in (("pattern", PATTERN), ("fixed", FIXED), ("both", PATTERN + "[one]\nbegin=api:call5_entry\nend=api:call5_exit\nname=one\nnested=yes\n")):
        files[name] = os.path.join(work, name)
        pathlib.Path(files[name]).write_text(text, encoding="ascii")
    for what, args in (("read natively", []), ("read by babeltrace2", ["--reader", "babeltrace2"]), ("read by two threads", ["--jobs", "2"])):
        got, r = spans(["--no-cache", *args, "--spans", files["pattern"]], trace)
        tap.ok("a pattern makes the spans of all its pairs, " + what, [] if got == truth else
               [len(got), len(truth), sorted(set(got.items()) ^ set(truth.items()))[:4], r.stderr])
    fixed, r = spans(["--no-cache", "--spans", files["fixed"]], trace)
    tap.ok("as do rules for each pair", [] if fixed == truth else [len(fixed), r.stderr])
    for second in ("first", "second"):
        got, r = spans(["--slices", "5", "--spans", files["pattern"]], trace)
        tap.ok(f"so they are in slices, the {second} time", [] if got == truth else [len(got), r.stderr])
    r = run("-b", "--no-cache", "--view", "spans", "--format", "csv", "--spans", files["both"], trace)
    names = [x["name"] for x in csv.DictReader(io.StringIO(r.stdout))]
    tap.ok("a rule for one of the events makes its spans, too", [] if names.count("one") == names.count("call5") == sum(
        v[1] == "call5" for v in truth.values()) > 0 and names.count("span_id") == 0 else [names.count("one"), names.count("call5"), r.stderr])
    listed = run("--spans", files["pattern"], "--list-events").stdout
    tap.ok("the list of events has the patterns", [] if "api:*_entry " in listed and "api:*_exit " in listed else [listed[-500:]])
    lanes = run("-b", "--no-cache", "--view", "events", "--format", "csv", "--spans", files["pattern"], trace).stdout
    plain = run("-b", "--no-cache", "--view", "events", "--format", "csv", trace).stdout
    tap.ok("events are counted as without rules", [] if lanes == plain and "api:call0_entry_entry" in plain else [lanes[:300], plain[:300]])
    tap.done()


if __name__ == "__main__":
    main()
