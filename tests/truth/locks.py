#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the views locks and holders against a second count from babeltrace2's text.

The second count follows each thread through its switches, wakeups and system calls. A wait is one for a lock if

- its thread was in futex(), called so that the value says "locked, with waiters" (2 but for a wait with a bitset and
  the real-time clock, or an owner's number with the waiters' bit), or with FUTEX_LOCK_PI; and it was woken, outside of
  interrupts, by a thread in futex() that releases the same address with at most one thread woken, and that does not
  call exit within 10 ms as its next call;
- its thread was in flock(), or fcntl() that waits, which returned 0, and it was woken so by a thread.

What the holder did is followed likewise: it ran, was blocked, or waited for a CPU, from the wait's beginning or the
last release of that lock by any thread, to the wakeup. In recordings without losses only.
"""
import bisect
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "ctf2/demo/trace", "mix1/trace",
          "mix2/trace"]
ENDS_NS = 10000000
NEWEST = 64         # waits of a holder that are known
IRQ_BEGIN = ("irq_handler_entry", "irq_softirq_entry", "softirq_entry", "hrtimer_expire_entry", "timer_hrtimer_expire_entry")
IRQ_END = ("irq_handler_exit", "irq_softirq_exit", "softirq_exit", "hrtimer_expire_exit", "timer_hrtimer_expire_exit")
Wait = collections.namedtuple("Wait", "tid holder begin wake lock call")


class Call:
    def __init__(self, name, begin, payload):
        self.name, self.begin, self.payload, self.end, self.ret = name, begin, payload, None, None


class Thread:
    def __init__(self):
        self.state = "unknown"
        self.call, self.calls = None, []        # the one it is in; all, in order
        self.off = self.wake = None
        self.times = []             # (begin, end, "ran" | "runq" | "blocked"), in order
        self.since = None
        self.woken_early = False

    def to(self, state, ns):
        word = {"on": "ran", "blocked": "blocked", "woken": "runq", "preempted": "runq"}.get(self.state)
        if self.since is not None and word:
            self.times.append((self.since, ns, word, self.state == "preempted"))
        self.state, self.since = state, ns


def wants_lock(call):
    """What the call may wait for: ("futex", address), ("flock", fd), ("record", fd), or None."""
    p = call.payload
    if call.name == "futex":
        op, val = p["op"] & 0xffffffff, p["val"] & 0xffffffff
        command = op & 0x7f
        if command in (6, 13):
            return "futex", p["uaddr"]
        owner = val & 0x3fffffff
        owned = val & 0x80000000 and owner and owner != 0x3fffffff
        timed = command == 9 and op & 0x100
        if command in (0, 9) and ((val == 2 and not timed) or owned):
            return "futex", p["uaddr"]
    if call.name == "flock":
        return "flock", p["fd"]
    if call.name == "fcntl" and p["cmd"] in (7, 14, 38):
        return "record", p["fd"]
    return None


def releases(call):
    p = call.payload
    command = p["op"] & 0x7f
    return command == 7 or (command in (1, 10) and p["val"] & 0xffffffff <= 1)


class Count:
    def __init__(self, events):
        self.threads = collections.defaultdict(Thread)
        self.on, self.irqs = {}, collections.Counter()
        self.waits, self.pids = [], {}
        for e in events:
            if e.name == "sched_switch":
                self.switch(e, e.payload)
            elif e.name in ("sched_waking", "sched_wakeup"):
                self.woken(e)
            elif e.name.startswith("syscall_entry_"):
                self.enter(e)
            elif e.name.startswith("syscall_exit_"):
                self.leave(e)
            elif e.name in IRQ_BEGIN:
                self.irqs[e.cpu] += 1
            elif e.name in IRQ_END:
                self.irqs[e.cpu] = max(self.irqs[e.cpu] - 1, 0)
            elif e.name == "lttng_statedump_process_state":
                self.pids[e.payload["tid"]] = e.payload["pid"]
            elif e.name == "sched_process_fork":
                self.pids[e.payload["child_tid"]] = e.payload.get("child_pid", e.payload["child_tid"])

    def switch(self, e, p):
        self.irqs[e.cpu] = 0
        t = self.threads[p["prev_tid"]]
        preempted = p["prev_state"] == 0 or p["prev_state"] & 256
        t.to("preempted" if preempted else "blocked", e.ns)
        t.off = e.ns
        self.on[e.cpu] = p["next_tid"]
        self.threads[p["next_tid"]].to("on", e.ns)

    def woken(self, e):
        t = self.threads[e.payload["tid"]]
        if t.state != "blocked":
            return
        t.to("woken", e.ns)
        by = self.on.get(e.cpu)
        if by and not self.irqs[e.cpu] and t.call and e.ns > t.off and wants_lock(t.call):
            self.waits.append(Wait(e.payload["tid"], by, t.off, e.ns, wants_lock(t.call), t.call))

    def enter(self, e):
        tid = self.on.get(e.cpu)
        if not tid:
            return
        t = self.threads[tid]
        t.call = Call(e.name[len("syscall_entry_"):], e.ns, e.payload)
        t.calls.append(t.call)

    def leave(self, e):
        t = self.threads[self.on.get(e.cpu)]
        if t.call:
            t.call.end, t.call.ret = e.ns, e.payload.get("ret")
        t.call = None

    def is_lock(self, w):
        if w.lock[0] != "futex":
            return w.call.ret == 0
        calls = self.threads[w.holder].calls
        i = bisect.bisect_right([c.begin for c in calls], w.wake) - 1
        c = calls[i] if i >= 0 else None
        if not c or c.name != "futex" or (c.end is not None and c.end < w.wake) or not releases(c):
            return False
        after = calls[i + 1] if i + 1 < len(calls) else None
        ends = after and after.name in ("exit", "exit_group") and c.end is not None and after.begin - c.end <= ENDS_NS
        return c.payload["uaddr"] == w.lock[1] and not ends

    def did(self, w, begin):
        """{word: ns} of the holder in [begin, wake), and the rest as unknown."""
        found = collections.Counter()
        times = self.threads[w.holder].times
        for b, e, word, _ in times[bisect.bisect_left([x[1] for x in times], begin):]:
            if b >= w.wake:
                break
            found[word] += max(min(e, w.wake) - max(b, begin), 0)
        t = self.threads[w.holder]
        if t.since is not None and t.state == "on":
            found["ran"] += max(w.wake - max(t.since, begin), 0)
        found["unknown"] = w.wake - begin - sum(found.values())
        return found

    def many(self, w, begin):
        """Has the holder waited so often that not all is known? Both parts of a wait are one."""
        return sum(1 for b, e, word, preempted in self.threads[w.holder].times
                   if e > begin and b < w.wake and (word == "blocked" or preempted)) >= NEWEST


def process(count, tid):
    return count.pids.get(tid, tid)


def rows_of(count):
    """{(kind, tid of waiter, holder): [waits, total, longest, earlier, ran, runq, blocked, unknown]}"""
    rows = collections.defaultdict(lambda: [0] * 8)
    released, many = {}, 0
    for w in sorted(count.waits, key=lambda w: w.wake):
        if not count.is_lock(w):
            continue
        begin = w.begin
        if w.lock[0] == "futex":
            key = process(count, w.tid), w.lock[1]
            begin = max(w.begin, released.get(key, 0))
            released[key] = w.wake
        many += count.many(w, begin)
        did = count.did(w, begin)
        row = rows[w.lock[0], w.lock[1] if w.lock[0] == "futex" else None, w.tid]
        new = [1, w.wake - w.begin, w.wake - w.begin, begin - w.begin, did["ran"], did["runq"], did["blocked"],
               did["unknown"]]
        for i, n in enumerate(new):
            row[i] = max(row[i], n) if i == 2 else row[i] + n
    return {k: tuple(v) for k, v in rows.items()}, many


COLUMNS = ("waits", "total_ns", "max_ns", "earlier_ns")
DID = ("holder_ran_ns", "holder_runq_ns", "holder_blocked_ns", "holder_unknown_ns")


def compare(tap, name, trace):
    count = Count([e for e in btparse.events(trace) if ":" not in e.name])
    expected, many = rows_of(count)
    holders = blk.rows("holders", trace)
    waited = {}
    for r in holders:
        if r["role"] == "waited":
            address = int(r["lock"], 16) if r["kind"] == "futex" else None
            key = r["kind"], address, r["tid"]
            row = tuple(r[c] for c in COLUMNS)
            old = waited.get(key)
            waited[key] = row if not old else tuple(max(a, b) if i == 2 else a + b
                                                    for i, (a, b) in enumerate(zip(old, row)))
    bad = [f"{k}: {waited.get(k)} not {expected.get(k, ())[:4]}" for k in sorted(expected.keys() | waited.keys(), key=str)
           if waited.get(k) != expected.get(k, (None,) * 4)[:4]]
    tap.none(bad, f"{name}: {sum(r[0] for r in expected.values())} waits of {len(expected)} threads and locks")
    found = [sum(r[c] for r in holders if r["role"] == "held") for c in DID]
    whole = [sum(r[i] for r in expected.values()) for i in range(4, 8)]
    if many:
        tap.note(f"{name}: of {many} waits not all that the holder did is known")
    elif any(k[0] != "futex" for k in expected):
        tap.note(f"{name}: holders of files' locks may be kernel threads")
    else:
        tap.equal(found, whole, f"{name}: what the holders did: {', '.join(DID)}")
    sums = {v: [sum(r[c] for r in blk.rows(v, trace) if r.get("role", "waited") == "waited") for c in COLUMNS
                if c != "max_ns"] for v in ("locks", "holders")}
    tap.equal(sums["locks"], sums["holders"], f"{name}: both views have the same waits")
    return sum(r[0] for r in expected.values())


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    waits = []
    blk.each_trace(tap, TRACES, lambda tap, name, trace: waits.append(compare(tap, name, trace)))
    tap.ok(sum(waits) > 50, f"the recordings have {sum(waits)} waits for locks")
    tap.done()


if __name__ == "__main__":
    main()
