#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`blktop log --format json` against babeltrace2's text: every call joined from entry to exit with
its thread, instants and return value; every other event; every user-space field; every loss. The
native reader's lines are babeltrace2's, byte for byte, whole and in ranges; and the bytes of files
by name are those of the files view."""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
import packets

ENTRY, EXIT = "syscall_entry_", "syscall_exit_"
LAST_EVENTS = 200       # of a packet: before these any event would have fitted
NO_RETURN = {"exit", "exit_group", "rt_sigreturn", "sigreturn", 15, 60, 231}     # by number too


def log(trace, *more, lossy=False):
    status, out, err = blk.blktop("log", "--format", "json", *more, trace)
    if status != (3 if lossy else 0):
        raise blk.Failed(f"blktop log {' '.join(more)}: status {status}: {err.strip()[:400]}")
    return out


def kernel_losses(trace, events, wide):
    """[(begin, end, cpu)], raw clock: where events were lost of packets with which the counter rose: before the packet, and
    behind its last event; wide: behind one of its last events, where a large one may not have fitted."""
    at = collections.defaultdict(list)
    for e in events:
        if not e.user_space:
            at[e.cpu].append(e.ns)
    windows = []
    for gap, begin, end, next_at_end, cpu in packets.discarded(trace):
        if gap < begin:
            windows.append((gap, begin, cpu))
        last = (bisect.bisect_left if next_at_end and not wide else bisect.bisect_right)(at[cpu], end)
        first = bisect.bisect_left(at[cpu], begin)
        behind = max(first, last - (LAST_EVENTS if wide else 1))
        windows.append((max(begin, at[cpu][behind]) if first < last else begin, end, cpu))
    return windows


class Joiner:
    """Pairs of calls: of one thread, the same name, with no other call of the thread between, and
    proven over losses: the thread ran on another CPU for as long as the loss and the call overlap."""

    def __init__(self, losses):
        self.losses, self.to_come = losses, sorted(losses, reverse=True)
        self.open, self.calls = {}, collections.Counter()
        self.exits = self.never = self.unfinished = 0
        self.runs = collections.defaultdict(list)       # tid -> [[from, to or None, cpu]]
        self.on = {}                                    # cpu -> (tid, its run)
        self.pairs = []

    def running(self, ns, cpu, tid):
        if self.on.get(cpu, (0,))[0] == tid:
            return
        self.stops(ns, cpu)
        if tid:
            run = [ns, None, cpu]
            self.on[cpu] = tid, run
            self.runs[tid].append(run)

    def stops(self, ns, cpu):
        if cpu in self.on:
            self.on.pop(cpu)[1][1] = ns

    def see(self, e):
        while self.to_come and self.to_come[-1][0] < e.ns:
            self.stops(self.to_come[-1][0], self.to_come[-1][2])    # nobody knows who runs there
            self.to_come.pop()
        tid = e.ctx.get("tid", self.on.get(e.cpu, (None,))[0])
        if e.user_space or tid is None:
            return
        self.running(e.ns, e.cpu, tid)
        if e.name == "sched_switch":
            self.stops(e.ns, e.cpu)
            self.running(e.ns, e.cpu, e.payload["next_tid"])
        elif e.name.startswith(ENTRY):
            name = e.name[len(ENTRY):]
            if self.open.pop(tid, None):
                self.unfinished += 1
            if name in NO_RETURN or name == "unknown" and e.payload.get("id") in NO_RETURN:
                self.never += 1
            else:
                self.open[tid] = (name, e.ns)
        elif e.name.startswith(EXIT):
            name, entry = e.name[len(EXIT):], self.open.pop(tid, None)
            if entry and entry[0] == name:
                self.pairs.append((tid, name, entry[1], e.ns, e.payload["ret"]))
            else:
                self.unfinished += entry is not None
                self.exits += 1

    def proven(self, tid, begin, end):
        for a, b, cpu in self.losses:
            if b < begin or a > end:
                continue
            a, b = max(a, begin), min(b, end)
            if not any(c != cpu and f <= a and (t is None or t >= b) for f, t, c in self.runs[tid]):
                return False
        return True


def join(events, losses):
    j = Joiner(losses)
    for e in events:
        j.see(e)
    return j


def proven(j):
    return collections.Counter(p for p in j.pairs if p[1] != "unknown" and j.proven(p[0], p[2], p[3]))


def judge_calls(tap, name, events, lines, offset, losses, wide):
    j = join(events, losses)
    calls = [l for l in lines if l["kind"] == "call" and l["state"] != "pending"]
    found = collections.Counter(
        (l["tid"], l["name"], l["entry_ns"] - offset, l["exit_ns"] - offset, l["ret"])
        for l in calls if l["state"] in ("whole", "resumed"))
    known = lambda n: n != "unknown"
    by_number = sum(not known(p[1]) for p in j.pairs)
    pairs = collections.Counter(p for p in j.pairs if known(p[1]))
    numbered = {(t, b, e) for t, n, b, e, _ in j.pairs if not known(n)}
    found = collections.Counter({k: v for k, v in found.items() if (k[0], k[2], k[3]) not in numbered})
    if not losses:
        tap.none(sorted((pairs - found).items()) + sorted((found - pairs).items()),
                 f"{name}: {sum(pairs.values())} joined calls ({by_number} by number) are babeltrace2's")
        states = collections.Counter(l["state"] for l in calls)
        tap.equal((states["exit"], states["no-return"], states["unfinished"]),
                  (j.exits, j.never, j.unfinished + len(j.open)),
                  f"{name}: calls without entry, without return, without end")
        return
    tap.none(sorted((found - pairs).items()), f"{name}: {sum(found.values())} joined calls are babeltrace2's pairs")
    # In which of two packets an event at the border is the text does not say.
    border = {end for _, end, _ in losses}
    unproven = {k: n for k, n in (found - proven(j)).items() if k[2] not in border}
    tap.none(sorted(unproven.items()), f"{name}: and none over a loss but where it is proven")
    sure = proven(join(events, wide))
    tap.none(sorted((sure - found).items()), f"{name}: all {sum(sure.values())} proven calls are there")


def judge_events(tap, name, events, lines, offset):
    expected = collections.Counter(e.name for e in events
                                   if e.user_space or not e.name.startswith((ENTRY, EXIT)))
    found = collections.Counter(l["name"] for l in lines if l["kind"] in ("event", "user"))
    tap.equal(found, expected, f"{name}: {sum(expected.values())} other events, by name")
    users = [e for e in events if e.user_space]
    lines = [l for l in lines if l["kind"] == "user"]
    bad = []
    want = collections.Counter((e.ns + offset, e.name) for e in users)
    have = collections.Counter((l["time_ns"], l["name"]) for l in lines)
    fields = collections.defaultdict(list)
    for l in lines:
        fields[l["time_ns"], l["name"]].append(l["args"])
    for e in users:
        scalars = {k: v for k, v in e.payload.items() if not k.startswith("_")}
        if not any(all(a.get(k) == v or isinstance(a.get(k), (float, dict, list)) or k not in a
                       for k, v in scalars.items()) for a in fields[e.ns + offset, e.name]):
            bad.append((e.ns, e.name, scalars))
    tap.none(sorted((want - have).items()) + sorted((have - want).items()) + bad,
             f"{name}: {len(users)} user-space events with their fields")


def judge_order(tap, name, lines):
    bad = [(a["time_ns"], b["time_ns"]) for a, b in zip(lines, lines[1:]) if a["time_ns"] > b["time_ns"]]
    tap.none(bad, f"{name}: lines are in order of time")


def judge_ranges(tap, name, trace, lines, lossy):
    """A range has the lines of the whole that stand there, but for calls over its borders."""
    first, last = lines[0]["time_ns"], lines[-1]["time_ns"]
    a, b = first + (last - first) // 3, first + (last - first) // 2
    status, out, err = blk.blktop("log", "--format", "json", "--from", f"@{a}", "--to", f"@{b}", trace)
    part = [json.loads(x) for x in out.splitlines()]

    def sure(all_lines):
        return [l for l in all_lines if a <= l["time_ns"] < b and
                (l["kind"] != "call" or (l["state"] == "whole" and l["entry_ns"] >= a and l["exit_ns"] < b))]

    def thin(l):            # who it was may be known only later, or from before
        return {k: v for k, v in l.items() if k not in ("pid", "comm", "fds", "ret_name", "tid")}
    bad = [(x, y) for x, y in zip(map(thin, sure(part)), map(thin, sure(lines))) if x != y]
    tap.ok(len(sure(part)) == len(sure(lines)) and not bad and status in (0, 3) and sure(part),
           f"{name}: {len(part)} lines of a range are those of the whole",
           f"{len(sure(part))} and {len(sure(lines))} lines, status {status}", *bad[:3], err)
    named = [l for l in sure(lines) if l.get("fds")]
    same = [l for l in sure(part) if l.get("fds")]
    if not lossy:
        tap.equal([l["fds"] for l in same], [l["fds"] for l in named],
                  f"{name}: {len(named)} calls of the range name the same files")


def judge_files(tap, name, trace, lines):
    """Bytes read and written by path: the log's own names against those of the files view, which
    knows of the time before the state dump, too."""
    want, found = collections.Counter(), collections.Counter()
    for row in blk.rows("files", trace):
        if row["path"] and row["path"].startswith("/"):
            want[row["path"]] += (row["read_bytes"] or 0) + (row["write_bytes"] or 0)
    io = {"read", "pread64", "readv", "preadv", "write", "pwrite64", "writev", "pwritev",
          "splice", "tee", "sendfile", "sendfile64", "copy_file_range"}      # both ends
    dumped = max((l["time_ns"] for l in lines if l.get("name") == "lttng_statedump_file_descriptor"), default=0)
    nameless = 0
    for l in lines:
        if l["kind"] != "call" or l["name"] not in io or not l["ret"] or l["ret"] < 0 or l["state"] == "pending":
            continue
        if not l["fds"] and l["time_ns"] <= dumped:
            nameless += l["ret"]
        for path in (l["fds"] or {}).values():
            if path.startswith("/"):
                found[path] += l["ret"]
    lacks = want - found
    tap.ok(want and not found - want and sum(lacks.values()) <= nameless,
           f"{name}: bytes of {len(want)} files by name are those of the files view",
           f"{nameless} bytes before the dump", *lacks.items(), *(found - want).items())


def judge(tap, name, trace, lossy):
    events = btparse.events(trace)
    offset = btparse.offset(trace)
    text = log(trace, lossy=lossy)
    lines = [json.loads(x) for x in text.splitlines()]
    losses = kernel_losses(trace, events, False) if lossy else []
    wide = kernel_losses(trace, events, True) if lossy else []
    judge_calls(tap, name, events, lines, offset, losses, wide)
    judge_events(tap, name, events, lines, offset)
    judge_order(tap, name, lines)
    judge_ranges(tap, name, trace, lines, lossy)
    if lossy:
        tap.ok(any(l["kind"] == "loss" for l in lines), f"{name}: losses are lines")
    else:
        judge_files(tap, name, trace, lines)
    if btparse.is_ctf2(trace) and btparse.version() < (2, 1):
        tap.skip(f"{name}: babeltrace2's reader prints the same", "it reads CTF 2 from 2.1 on")
        return
    if lossy:
        tap.skip(f"{name}: babeltrace2's reader prints the same", "it does not say where in a packet events were lost")
        return
    other = log(trace, "--reader", "babeltrace2", lossy=lossy)
    tap.ok(other == text, f"{name}: babeltrace2's reader prints the same {len(lines)} lines",
           *[(a, b) for a, b in zip(text.splitlines(), other.splitlines()) if a != b][:2])


LEFT_OUT = "demo/trace", "rotation/trace", "ctf2/kernel-ust/trace"     # unless ALL=1


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    for name, lossy in (("kernel-small/trace", False), ("kernel-ust/trace", False), ("demo/trace", False),
                        ("rotation/trace", False), ("snapshot/trace", False), ("lost/trace", True),
                        ("ctf2/kernel-small/trace", False), ("ctf2/kernel-ust/trace", False)):
        if not blk.ALL and name in LEFT_OUT:
            continue
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        try:
            judge(tap, name, trace, lossy)
        except (blk.Failed, RuntimeError) as e:
            tap.ok(False, f"{name}: judged", e)
    tap.done()


main()
