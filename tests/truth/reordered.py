#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Clocks of CPUs that are not in order: the events of a recording are written anew, from babeltrace2's text, once with
ordered stamps and once with each CPU's clock ahead by up to 2 us, which changes at random. Each CPU's own order stays,
that of its kernel events and those of user space, too. Before, events of two CPUs that depend on each other are moved
closer together, so that many of them are in the wrong order then.

The figures of both may differ by the time that was moved; nothing else happens in the second one: no request is
outstanding, no thread is preempted, no call is unpaired, no span is partial that is not so in the first one."""
import bisect
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

TRACES = ["kernel-small/trace", "block/trace", "kernel-ust/trace", "net/trace", "thumb/trace"] + ["demo/trace"] * blk.ALL
SEEDS = (1, 2, 3)
MOST_NS = 2000
CLOSE_NS = (50, 1200)   # between two events that depend on each other
BETWEEN = 12            # events between them, at most
RUN_NS = 50000          # for so long at least, the threads of these events are on their CPUs before or after them
FEWEST = 20             # pairs in the wrong order, of each recording and seed
LEFT_OUT = ["sched_wakeup"]     # the second event of a wakeup, which may be in order where the first one is not
BLOCKED, LEFT, WOKEN, FORKED, ISSUED = KINDS = ("switch-out and wakeup", "switch-out and switch-in", "wakeup and switch-in",
                                               "fork and switch-in", "issue and completion")
MAGIC = 0xC1FC1FC1
UUIDS = {"kernel": uuid.UUID(int=38), "ust": uuid.UUID(int=39)}
CLOCK = uuid.UUID(int=40)
EPOCH = 1700000000 * 10**9      # of the written traces: raw clocks of recordings begin near 0

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = true; } := s64;
trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;
	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };
env { hostname = "made"; domain = "%s"; tracer_name = "lttng-%s"; tracer_major = 2; tracer_minor = 13;
	kernel_release = "6.1.0"; };
clock { name = monotonic; uuid = "%s"; freq = 1000000000; offset_s = 0; offset = %d; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := stamp;
stream { id = 0;
	packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u64 content_size; u64 packet_size;
		u64 events_discarded; u32 cpu_id; };
	event.header := struct { u32 id; stamp timestamp; };
	event.context := struct { s32 _%s; s32 _%s; string _procname; }; };
"""


def is_wanted(e):
    return e.cpu is not None and not e.name.startswith("lttng_") and not e.name.endswith("_unknown") and e.name not in LEFT_OUT


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


def write_domain(folder, domain, events, stamps, begin, end):
    """One trace, of events (event, stamp) of kernel or user space."""
    contexts = ("vtid", "vpid") if domain == "ust" else ("tid", "pid")
    kinds = kinds_of(events)
    ids = {name: i for i, name in enumerate(sorted(kinds))}
    tracer = "ust" if domain == "ust" else "modules"
    out = [METADATA % (UUIDS[domain], domain, tracer, CLOCK, EPOCH, *contexts)]
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
            body += struct.pack("<IQii", ids[e.name], ns, *(e.ctx.get(c, 0) for c in contexts))
            body += text(str(e.ctx.get("procname", "")))
            for field, kind in kinds[e.name]:
                value = e.payload.get(field, 0 if kind == "number" else "")
                body += text(value) if kind == "text" else struct.pack("<Q", value & (2**64 - 1))
        head = struct.calcsize("<I16sIQQQQQI")
        bits = (head + len(body)) * 8
        with open(os.path.join(folder, f"c_{cpu}"), "wb") as f:
            f.write(struct.pack("<I16sIQQQQQI", MAGIC, UUIDS[domain].bytes, 0, begin, end, bits, bits, 0, cpu) + body)


def write(folder, events, stamps):
    """The trace of the events, of which event i has stamps[i]."""
    begin, end = min(stamps), max(stamps)       # of all CPUs: what each did is known as long
    for domain in ("kernel", "ust"):
        mine = [(e, ns) for e, ns in zip(events, stamps) if e.user_space == (domain == "ust")]
        if mine:
            write_domain(os.path.join(folder, domain), domain, *zip(*mine), begin, end)


def pairs(events):
    """(kind, i, j) for events of two CPUs, of which i must be before j. Not of a thread that was woken while it ran: its
    switch-in without a wakeup may end that one."""
    left, woken, forked, issued, running = {}, {}, {}, {}, set()
    for j, e in enumerate(events):
        p, found = e.payload, []
        if e.name == "sched_switch":
            tid, out = p["next_tid"], p["prev_tid"]
            if tid in left and tid not in woken:
                found = [(LEFT, left[tid], j)]
            elif tid in left and woken[tid] > left[tid]:
                found = [(BLOCKED, left[tid], woken[tid]), (WOKEN, woken[tid], j)]
            elif tid in forked:
                found = [(FORKED, forked.pop(tid), j)]
            woken.pop(tid, None)
            if out:
                left[out] = j
            running = (running | {tid}) - {out}
        elif e.name == "sched_waking":
            if p["tid"] in left or p["tid"] in running:
                woken.setdefault(p["tid"], j)
        elif e.name == "sched_process_fork":
            forked[p["child_tid"]] = j
        elif e.name == "block_rq_issue":
            issued[p["dev"], p["sector"]] = j
        elif e.name == "block_rq_complete" and (p["dev"], p["sector"]) in issued:
            found = [(ISSUED, issued.pop((p["dev"], p["sector"])), j)]
        yield from ((kind, i, k) for kind, i, k in found if events[i].cpu != events[k].cpu)


def runs(events):
    """{event: the times of the run that it begins or ends}; None: it wakes a thread of which nothing is known."""
    since, found, seen = {}, {}, set()
    for j, e in enumerate(events):
        if e.name == "sched_switch":
            i = since.get(e.cpu)
            since[e.cpu] = j if e.payload["next_tid"] else None
            seen |= {e.payload["prev_tid"], e.payload["next_tid"]}
            if i is not None:
                of = events[i].ns, e.ns
                found.setdefault(i, []).append(of)
                found.setdefault(j, []).append(of)
        elif e.name == "sched_waking" and e.payload["tid"] not in seen:
            found[j] = None
    return found


def move_closer(events, found):
    """Shortens the time between the events of such pairs, where there are few others in between, and none of a thread
    that is on a CPU for so short a time that it may be mistaken."""
    r, end, run = random.Random(len(events)), 0, runs(events)

    def is_free(i, j):
        first, last = events[i].ns, events[j].ns
        return all(run.get(k, ()) is not None and all(first - a >= RUN_NS or b - last >= RUN_NS for a, b in run.get(k, ()))
                   for k in range(i, j + 1))

    shorter = {}                        # event: what the time before it is multiplied with
    for _, i, j in sorted(found, key=lambda pair: pair[1:]):
        ns = events[j].ns - events[i].ns
        if i >= end and j - i <= BETWEEN and ns > CLOSE_NS[0] and is_free(i, j):
            shorter.update(dict.fromkeys(range(i + 1, j + 1), min(1, r.randint(*CLOSE_NS) / ns)))
            end = j
    before, now = events[0].ns, events[0].ns
    for k, e in enumerate(events):
        ns = e.ns - before
        before = e.ns
        now += max(int(ns * shorter.get(k, 1)), ns > 0)
        e.ns = now


def moved(events, seed):
    """Stamps: each CPU's clock is ahead by another time, again and again, and never goes back."""
    r = random.Random(seed)
    ahead, last, before = collections.Counter(), collections.Counter(), collections.Counter()
    stamps = []
    for e in events:
        if r.random() < 0.05:
            ahead[e.cpu] = r.choice((0, MOST_NS, r.randrange(MOST_NS + 1)))
        last[e.cpu] = max(last[e.cpu] + (e.ns > before[e.cpu]), e.ns + ahead[e.cpu])
        before[e.cpu] = e.ns
        stamps.append(last[e.cpu])
    return stamps


def rows(trace, view, by):
    """{key: row} and the completeness."""
    found = subprocess.run([blk.BLKTOP, "-b", "--no-cache", "--utc", "--format", "json", "--view", view] +
                           (["--by", by] if by else []) + [trace], text=True, capture_output=True)
    if found.returncode not in (0, 3):
        raise RuntimeError(f"{view}: {found.stderr}")
    answer = json.loads(found.stdout)
    keys = ("trace_id", "span_id") if view == "spans" else ("pid", "tid", "comm", "cpu", "device", "syscall", "prio")
    keys += ("host", "kind", "name")
    return {tuple(r.get(k) for k in keys): r for r in answer["rows"]}, answer["trust"]


class Shifts:
    """How far events were moved: sums of those that have a part in a figure."""

    def __init__(self, events, stamps):
        self.of = collections.Counter()             # (kind of event, CPU or thread)
        self.in_span = collections.defaultdict(list)    # thread: [(ns, how far)]
        for e, ns in zip(events, stamps):
            by = abs(ns - e.ns)
            kind = e.name.split("_")[0]
            tids = {e.ctx.get("vtid" if e.user_space else "tid")}
            if kind == "sched":
                tids |= {e.payload.get(f) for f in ("tid", "prev_tid", "next_tid", "child_tid")}
                self.of["switch", e.cpu] += by
            self.of["block"] += by * (kind == "block")
            for tid in tids - {None}:
                self.of[kind, tid] += by
                self.in_span[tid].append((e.ns, by))

    def most(self, view, row):
        """What a time in the row may differ by: that, and what the ends of the recording were moved by."""
        if view == "spans":
            of, begin, end = self.in_span[row["tid"]], row["begin_ns"] - EPOCH, row["end_ns"] - EPOCH
            at = slice(bisect.bisect_left(of, (begin - MOST_NS,)), bisect.bisect_right(of, (end + 2 * MOST_NS,)))
            return sum(by for _, by in of[at]) + 2 * MOST_NS    # of a child that another thread has
        key = {"cpus": ("switch", row.get("cpu")), "devices": "block", "syscalls": ("syscall", row.get("tid"))}
        return self.of[key.get(view, ("sched", row.get("tid")))] + 2 * MOST_NS


# view, times, and what is equal in both
SPAN = ["duration_ns", "self_ns", "user_ns", "syscall_ns", "irq_ns", "preempted_ns", "wakeup_ns", "disk_ns", "writeback_ns", "socket_ns",
        "pipe_ns", "futex_ns", "timer_ns", "poll_ns", "fault_ns", "handoff_ns", "other_ns", "unknown_ns"]
VIEWS = [
    ("processes", "thread", ["cpu_ns", "runnable_ns", "blocked_ns", "unknown_ns"], ["syscalls", "read_bytes"]),
    ("cpus", None, ["run_ns", "idle_ns", "unknown_ns"], []),
    ("scheduler", "thread", ["total_ns", "preempted_ns"], ["switches", "preemptions", "count", "preempted_count", "moves"]),
    ("devices", None, ["busy_ns", "depth_ns", "queued_ns", "total_ns"], ["reads", "writes", "read_bytes", "write_bytes"]),
    ("syscalls", "thread", ["busy_ns"], ["count", "errors"]),
    ("spans", None, SPAN, ["state", "tid", "pid"]),
]


def compare(tap, name, ordered, other, shifts):
    """The completeness of the second one."""
    for view, by, times, same in VIEWS:
        if view == "spans" and not os.path.isdir(os.path.join(ordered, "ust")):
            continue
        before, trust = rows(ordered, view, by)
        after, trust_after = rows(other, view, by)
        bad = [f"only in one: {k}" for k in before.keys() ^ after.keys()]
        for key in before.keys() & after.keys():
            a, b = before[key], after[key]
            most = shifts.most(view, a)
            bad += [f"{key} {t}: {a[t]} and {b[t]}, by at most {most}" for t in times
                    if (a[t] is None) != (b[t] is None) or abs((a[t] or 0) - (b[t] or 0)) > most]
            bad += [f"{key} {c}: {a[c]} and {b[c]}" for c in same if a[c] != b[c]]
        bad += [f"trust {k}: {trust[k]} and {trust_after[k]}" for k in ("soft", "lost_events") if trust[k] != trust_after[k]]
        bad += [] if before else ["there are no rows"]
        tap.none(bad, f"{name}: {len(before)} rows of {view}")
    return trust_after


def one(tap, name, trace, folder):
    """Returns how many pairs of each kind were in the wrong order."""
    events = [e for e in btparse.events(trace) if is_wanted(e)]
    found = list(pairs(events))
    move_closer(events, found)
    ordered = os.path.join(folder, "ordered")
    write(ordered, events, [e.ns for e in events])
    in_all = collections.Counter()
    for seed in SEEDS if blk.ALL or name == TRACES[0] else SEEDS[:1]:
        other, stamps = os.path.join(folder, str(seed)), moved(events, seed)
        write(other, events, stamps)
        trust = compare(tap, f"{name}, seed {seed}", ordered, other, Shifts(events, stamps))
        wrong = collections.Counter(kind for kind, i, j in found if stamps[i] >= stamps[j])
        least, n = wrong.total() - wrong[BLOCKED], trust["reordered_pairs"]     # a wakeup before a switch-out may be in order
        tap.ok(FEWEST <= least <= n <= wrong.total() and trust["reordered_max_ns"] <= MOST_NS, f"{name}, seed {seed}: {n} of {least} to "
               f"{wrong.total()} pairs in the wrong order, by {trust['reordered_max_ns']} ns at most")
        in_all += wrong
    return in_all


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap, in_all = blk.Tap(), collections.Counter()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if trace:
            with tempfile.TemporaryDirectory() as folder:
                in_all += one(tap, name, trace, folder)
    tap.ok(all(in_all[kind] for kind in KINDS), "pairs of each kind were in the wrong order", dict(in_all))
    tap.done()


if __name__ == "__main__":
    main()
