#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long each thread was in each system call: blktop's busy_ns against a recount of babeltrace2's text.

A call is busy from its entry to its exit. A call that was entered before the trace is busy from the trace's beginning,
if its exit is the first that the trace says of the thread's calls. A call without an exit is busy to the trace's end."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["mix1/trace", "mix2/trace", "demo/trace", "kernel-small/trace", "containers/trace"]
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group"}   # or not before the thread's end
EXEC = {"execve", "execveat"}           # shares.py looks at those


class Recount:
    def __init__(self, events, offset):
        self.busy, self.initial = collections.Counter(), []
        self.pending, self.seen, self.skipped = {}, set(), set()
        self.first = events[0].ns + offset
        for e in events:
            self.see(e, e.ns + offset)
        self.last = events[-1].ns + offset
        for tid, (name, begin) in self.pending.items():
            self.busy[tid, name] += self.last - begin

    def see(self, e, ns):
        tid = e.ctx.get("tid")
        what, call = btparse.syscall(e) or (None, None)
        entry, left = what == "entry" and call, what == "exit" and call
        if e.name == "sched_process_fork":
            child = e.payload["child_tid"]
            self.seen.add(child)
            self.pending.pop(child, None)
        elif e.name == "sched_process_exit":
            self.skipped.add(e.payload["tid"])  # its last call ends with it
        elif entry and entry not in NO_EXIT:
            self.end(tid, ns)
            self.pending[tid] = entry, ns
        elif entry:
            self.end(tid, ns)
        elif left and tid in self.pending:
            self.end(tid, ns)
        elif left and tid not in self.seen and left not in NO_EXIT:
            self.busy[tid, left] += ns - self.first
            self.initial.append((tid, left))
        if entry or left:
            self.seen.add(tid)

    def end(self, tid, ns):
        if tid in self.pending:
            name, begin = self.pending.pop(tid)
            self.busy[tid, name] += ns - begin


def check(tap, name, trace, want, *more):
    got = collections.Counter()
    for r in blk.rows("syscalls", trace, "--by", "thread", *more, lossy=True):
        got[r["tid"], r["syscall"]] += r["busy_ns"]
    keys = [k for k in sorted(want.busy.keys() | got.keys(), key=str)
            if k[1] not in NO_EXIT | EXEC and k[0] not in want.skipped]
    bad = [f"tid {k[0]} {k[1]}: {got[k]} not {want.busy[k]}" for k in keys if got[k] != want.busy[k]]
    tap.none(bad, f"{' '.join((name, *more))}: busy time of {len(keys)} calls of threads, {len(want.initial)} from the "
                  "trace's beginning")


def compare(tap, name, trace):
    want = Recount(btparse.events(trace), btparse.offset(trace))
    check(tap, name, trace, want)
    tap.ok(want.initial, f"{name}: some calls began before the trace")
    if name in ("mix1/trace", "kernel-small/trace"):
        check(tap, name, trace, want, "--reader", "babeltrace2")
        check(tap, name, trace, want, "-j", "2", "--slices", "23")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    tap.done()


if __name__ == "__main__":
    main()
