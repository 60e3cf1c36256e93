#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Clocks of CPUs that are not in order: the kernel events of a recording are written anew, from babeltrace2's text, once
with their stamps and once with the stamps of each CPU moved by up to 2 us, back and forth at random. Each CPU's own
order stays. The figures of both may differ by the time that was moved; nothing else happens in the second one: no
request is outstanding, no thread is preempted, no call is unpaired that is not so in the first one."""
import collections
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "block/trace", "kernel-ust/trace", "net/trace"]
SEEDS = (1, 2, 3)
MOST_NS = 2000
FASTER = 20        # the recordings' machines were slow: their stamps are written closer together
MAGIC = 0xC1FC1FC1
UUID = uuid.UUID(int=38)
EPOCH = 1700000000 * 10**9      # of the written traces: raw clocks of recordings begin near 0

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = true; } := s64;
trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;
	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };
env { hostname = "made"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13;
	kernel_release = "6.1.0"; };
clock { name = monotonic; uuid = "%s"; freq = 1000000000; offset_s = 0; offset = %d; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := stamp;
stream { id = 0;
	packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u64 content_size; u64 packet_size;
		u64 events_discarded; u32 cpu_id; };
	event.header := struct { u32 id; stamp timestamp; };
	event.context := struct { s32 _tid; s32 _pid; string _procname; }; };
"""


def is_wanted(e):
    return e.cpu is not None and not e.user_space and not e.name.startswith("lttng_") and not e.name.endswith("_unknown")


def text(value):
    return value.encode("utf-8", "surrogateescape").replace(b"\0", b"") + b"\0"


def kinds_of(events):
    """{event: {field: is it a text?}}; a field that is both, or no number, is left out."""
    kinds = {}
    for e in events:
        of = kinds.setdefault(e.name, {})
        for field, value in e.payload.items():
            is_number = isinstance(value, int) and -2**63 <= value < 2**64
            kind = "text" if isinstance(value, str) else "number" if is_number else None
            of[field] = kind if of.get(field, kind) == kind else None
    return {name: [f for f in of.items() if f[1]] for name, of in kinds.items()}


def write(folder, events, stamps):
    """The trace of the events, of which event i has stamps[i]."""
    kinds = kinds_of(events)
    ids = {name: i for i, name in enumerate(sorted(kinds))}
    out = [METADATA % (UUID, UUID, EPOCH)]
    for name, i in ids.items():
        fields = "".join(f"\n\t\t{'string' if kind == 'text' else 's64'} _{field};" for field, kind in kinds[name])
        out.append(f"event {{ name = \"{name}\"; id = {i}; stream_id = 0;\n\tfields := struct {{{fields}\n\t}}; }};\n")
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as f:
        f.write("".join(out))
    of_cpu = collections.defaultdict(list)
    for e, ns in zip(events, stamps):
        of_cpu[e.cpu].append((ns, e))
    for cpu, all_of in of_cpu.items():
        body = bytearray()
        for ns, e in all_of:
            body += struct.pack("<IQii", ids[e.name], ns, e.ctx.get("tid", 0), e.ctx.get("pid", 0))
            body += text(str(e.ctx.get("procname", "")))
            for field, kind in kinds[e.name]:
                value = e.payload.get(field, 0 if kind == "number" else "")
                body += text(value) if kind == "text" else struct.pack("<Q", value & (2**64 - 1))
        head = struct.calcsize("<I16sIQQQQQI")
        bits = (head + len(body)) * 8
        begin, end = min(stamps), max(stamps)      # of all CPUs: what each did is known as long
        with open(os.path.join(folder, f"k_{cpu}"), "wb") as f:
            f.write(struct.pack("<I16sIQQQQQI", MAGIC, UUID.bytes, 0, begin, end, bits, bits, 0, cpu) + body)


def moved(events, seed):
    """Stamps: each CPU's clock is ahead by another time, again and again, and never goes back."""
    r = random.Random(seed)
    ahead, last = collections.Counter(), collections.Counter()
    stamps = []
    for e in events:
        if r.random() < 0.3:
            ahead[e.cpu] = r.randrange(MOST_NS + 1)
        last[e.cpu] = max(last[e.cpu], e.ns + ahead[e.cpu])
        stamps.append(last[e.cpu])
    return stamps


def rows(trace, view, by):
    """{key: row} and the completeness."""
    found = subprocess.run([blk.BLKTOP, "-b", "--no-cache", "--utc", "--format", "json", "--view", view] +
                           (["--by", by] if by else []) + [trace], text=True, capture_output=True)
    if found.returncode not in (0, 3):
        raise RuntimeError(f"{view}: {found.stderr}")
    answer = json.loads(found.stdout)
    keys = ("host", "pid", "tid", "comm", "cpu", "device", "kind", "syscall", "name", "prio", "waker")
    return {tuple(r.get(k) for k in keys): r for r in answer["rows"]}, answer["trust"]


# view, sums of time, counts, and of what a row has at most as many stamps as twice its number of
VIEWS = [
    ("processes", "thread", ["cpu_ns", "runnable_ns", "blocked_ns", "unknown_ns"], ["syscalls", "read_bytes"]),
    ("cpus", None, ["run_ns", "idle_ns", "unknown_ns"], []),
    ("scheduler", "thread", ["total_ns", "preempted_ns"], ["switches", "preemptions", "count", "preempted_count", "moves"]),
    ("devices", None, ["busy_ns", "depth_ns", "queued_ns", "total_ns"], ["reads", "writes", "read_bytes", "write_bytes"]),
    ("syscalls", "thread", ["busy_ns"], ["count", "errors"]),
]


def stamps_of(events):
    """How many events can have moved a figure of the thread; None: of all."""
    n = collections.Counter()
    for e in events:
        n[e.ctx.get("tid")] += 1
        for field in ("tid", "prev_tid", "next_tid"):
            if isinstance(e.payload.get(field), int):
                n[e.payload[field]] += 1
    n[None] = len(events)
    return n


def compare(tap, name, ordered, other, n):
    for view, by, times, counts in VIEWS:
        before, trust = rows(ordered, view, by)
        after, trust_after = rows(other, view, by)
        bad = [f"only in one: {k}" for k in before.keys() ^ after.keys()]
        for key in before.keys() & after.keys():
            a, b = before[key], after[key]
            most = n[a.get("tid")] * MOST_NS
            bad += [f"{key} {t}: {a[t]} and {b[t]}" for t in times if abs((a[t] or 0) - (b[t] or 0)) > most]
            bad += [f"{key} {c}: {a[c]} and {b[c]}" for c in counts if a[c] != b[c]]
        bad += [f"trust {k}: {trust[k]} and {trust_after[k]}" for k in ("soft", "lost_events") if trust[k] != trust_after[k]]
        tap.none(bad, f"{name}: {len(before)} rows of {view}")
    return trust_after


def one(tap, name, trace, folder):
    events = [e for e in btparse.events(trace) if is_wanted(e)]
    first = events[0].ns
    for e in events:
        e.ns = first + (e.ns - first) // FASTER
    ordered = os.path.join(folder, "ordered")
    write(ordered, events, [e.ns for e in events])
    n = stamps_of(events)
    for seed in SEEDS:
        other = os.path.join(folder, str(seed))
        write(other, events, moved(events, seed))
        trust = compare(tap, f"{name}, seed {seed}", ordered, other, n)
        tap.ok(trust["reordered_max_ns"] <= 2 * MOST_NS, f"{name}, seed {seed}: {trust['reordered_pairs']} pairs in the wrong "
               f"order, by {trust['reordered_max_ns']} ns at most")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if trace:
            with tempfile.TemporaryDirectory() as folder:
                one(tap, name, trace, folder)
    tap.done()


if __name__ == "__main__":
    main()
