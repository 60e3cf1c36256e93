#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The slowest calls of each second, and the sums of calls by what they waited for, against a recount of babeltrace2's text.

Of each second the longest calls of four kinds are listed: those that work, those that wait for an event, those that wait
on a futex or for data, and plain reads. Whether a call waited for work follows from its kind, from the spans of its thread
(the view spans) and from whether its process has spans. Calls that waited for work come last, before them those of which
it is unknown. What a plain read reads is taken from the view, as files are the business of io.py."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "kernel-ust/trace", "demo/trace", "thumb/trace", "causes/trace"] + \
         ["mix1/trace", "mix2/trace", "containers/trace", "public/ros2"] * blk.ALL
MOST = 64
EVENT = re.compile(r"((_new|old_|p)?select6?|p?poll|epoll_p?wait2?|accept4?|(clock_)?nanosleep|pause|(rt_)?sigsuspend|"
                   r"rt_sigtimedwait|wait(4|id|pid))(_time32|_time64)?$")
DATA = re.compile(r"recv(from|msg|mmsg)?(_time32|_time64)?$|io_uring_enter$")
READ = re.compile(r"readv?$")
FUTEX = re.compile(r"futex(_time32|_time64)?$")
NEW_FUTEX = {"futex_waitv", "futex_wait"}
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group"}
WAIT, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI, LOCK_PI2 = 0, 9, 11, 6, 13
REALTIME, WAITERS, OWNER = 256, 1 << 31, (1 << 30) - 1
LAST = {None: 0, "while working": 0, "unknown": 1, "for work": 2}


def futex(arguments):
    if "op" not in arguments:
        return "unknown"
    op, val = arguments["op"], arguments.get("val", 0) & 0xffffffff
    command = op & 0x7f
    if command in (LOCK_PI, LOCK_PI2):
        return "lock"
    if command not in (WAIT, WAIT_BITSET, WAIT_REQUEUE_PI):
        return None
    owned = val & WAITERS and val & OWNER not in (0, OWNER)
    for_end = command == WAIT_BITSET and op & REALTIME and val == 2
    return "lock" if command != WAIT_REQUEUE_PI and not for_end and (val == 2 or owned) else "queue"


def kind(name, arguments):
    """What the call waits for: an event, data, a lock, a queue; "read": its file tells; None: nothing."""
    if FUTEX.match(name):
        return futex(arguments)
    return "event" if EVENT.match(name) else "data" if DATA.match(name) else "read" if READ.match(name) else \
        "unknown" if name in NEW_FUTEX else None


def listing(what):
    return "works" if what in (None, "lock") else "event" if what == "event" else "read" if what == "read" else "waits"


Call = collections.namedtuple("Call", "begin duration tid name what")


def calls(trace):
    """[Call] in order of their ends."""
    offset, pending, found = btparse.offset(trace), {}, []
    for e in btparse.events(trace):
        what, name = btparse.syscall(e) or (None, None)
        tid = e.ctx.get("tid")
        if e.name == "sched_process_exec" and e.payload["old_tid"] in pending:
            pending[e.payload["tid"]] = pending.pop(e.payload["old_tid"])     # it ends in the leader
        elif what == "entry":
            pending[tid] = name, e.ns + offset, tid, kind(name, e.payload)
        elif what == "exit" and tid in pending:
            entered, begin, caller, waits_for = pending.pop(tid)
            if entered == name and name not in NO_EXIT:
                found.append(Call(begin, e.ns + offset - begin, caller, name, waits_for))
    return found


def by_second(found):
    lists = collections.defaultdict(list)
    for c in found:
        lists[(c.begin + c.duration) // 10**9, listing(c.what)].append(c)
    for of in lists.values():
        of.sort(key=lambda c: (-c.duration, c.begin))
    return lists


class Spans:
    """When threads worked for spans, and which processes have any."""
    def __init__(self, trace):
        self.of, self.pids = collections.defaultdict(list), set()
        for s in blk.rows("spans", trace, lossy=True):
            self.of[s["tid"]].append((s["begin_ns"], s["begin_ns"] + s["duration_ns"]))
            self.pids.add(s["pid"])
        self.pid = {r["tid"]: r["pid"] for r in blk.rows("processes", trace, "--by", "thread", lossy=True)}

    def waited(self, what, tid, begin):
        if what is None or what == "lock":
            return what and "while working"
        if any(b <= begin < e for b, e in self.of[tid]):
            return "while working"
        if self.pid.get(tid) in self.pids:
            return "unknown" if what == "unknown" else "for work"
        return "for work" if what == "event" else "unknown"


def kind_of_file(path):
    """As the view names files."""
    if path is None:
        return None
    if re.match(r"fd \d+$", path):
        return "unknown"
    if re.search(r"^(anon_inode:)?\W?(perf_event|memfd)", path):
        return None
    if re.search(r"^(anon_inode:)?\W?(timerfd|signalfd|inotify|fanotify)", path):
        return "event"
    waits = re.match(r"socket|pipe|anon_inode:|/dev/tty|/dev/pts/|/dev/console|eventfd|epoll|userfaultfd|pidfd", path)
    return "data" if waits else None


def judge(tap, name, trace):
    found, spans = calls(trace), Spans(trace)
    judge_lists(tap, name, trace, found, spans)
    judge_sums(tap, name, trace, found, spans)


def judge_lists(tap, name, trace, found, spans):
    want, got, bad = by_second(found), collections.defaultdict(list), []
    rows = blk.rows("slow", trace, lossy=True)
    of = {(c.begin, c.tid, c.name): c.what for c in found}
    for r in rows:
        what = of.get((r["begin_ns"], r["tid"], r["syscall"]), "no such call")
        got[(r["begin_ns"] + r["duration_ns"]) // 10**9, listing(what)].append(
            Call(r["begin_ns"], r["duration_ns"], r["tid"], r["syscall"], what))
    for key in sorted(want.keys() | got.keys()):
        longest = [c.duration for c in want[key][:MOST]]
        if sorted((c.duration for c in got[key]), reverse=True) != longest or set(got[key]) - set(want[key]):
            bad.append(f"second {key}: {set(got[key]) - set(want[key][:MOST])}, not {set(want[key][:MOST]) - set(got[key])}")
    tap.none(bad, f"{name}: {len(rows)} slowest calls of {len({s for s, _ in want})} seconds, {len(found)} calls")

    bad, said = [], collections.Counter(r["waited"] for r in rows)
    for r in rows:
        what = of.get((r["begin_ns"], r["tid"], r["syscall"]))
        what = kind_of_file(r["path"]) if what == "read" else what
        wanted = spans.waited(what, r["tid"], r["begin_ns"])
        if r["waited"] != wanted:
            bad.append(f"{r['waited']}, not {wanted}: {r}")
    tap.none(bad, f"{name}: {said['for work']} waited for work, {said['while working']} while working, {said['unknown']} unknown")
    order = [LAST[r["waited"]] for r in rows]
    tap.ok(order == sorted(order), f"{name}: waits for work are last, before them unknown ones")


def judge_sums(tap, name, trace, found, spans):
    """Of plain reads only the sums of all rows."""
    def figures():
        return collections.defaultdict(lambda: [0, 0, 0])
    want, got = figures(), figures()
    for c in found:
        key = c.tid, c.name, "any" if c.what == "read" else spans.waited(c.what, c.tid, c.begin)
        sums = want[key]
        want[key] = [sums[0] + 1, sums[1] + c.duration, max(sums[2], c.duration)]
    for r in blk.rows("syscalls", trace, "--by", "thread", lossy=True):
        if r["max_ns"] is None:
            continue
        key = r["tid"], r["syscall"], "any" if READ.match(r["syscall"]) else r["waited"]
        sums = got[key]
        got[key] = [sums[0] + r["count"], sums[1] + (r["total_ns"] or 0), max(sums[2], r["max_ns"])]
    bad = [f"{key}: {got[key]}, not {want[key]}" for key in sorted(want.keys() | got.keys(), key=repr)
           if got[key] != want[key]]
    tap.none(bad, f"{name}: {len(want)} sums of calls, by thread, call and what they waited for")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, judge)
    tap.done()


if __name__ == "__main__":
    main()
