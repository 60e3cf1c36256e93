#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The referee's own test: the explainer and the second count on small made-up texts, one for each
rule, with the answers worked out by hand. Needs neither babeltrace2 nor blktop."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from explain import Explained
from machine import PARTS
from recount import Recount

SWITCH = ('sched_switch: {{ cpu_id = {cpu} }}, {{ prev_comm = "a", prev_tid = {prev}, '
          'prev_prio = 20, prev_state = {state}, next_comm = "b", next_tid = {next}, next_prio = 20 }}')


class Script:
    """A trace, event by event."""

    def __init__(self):
        self.events = []

    def add(self, ns, rest):
        e = btparse.parse(f"[{ns:020}] (+0) h {rest}\n")
        assert e, rest
        self.events.append(e)
        return self

    def switch(self, ns, prev, nxt, state=0, cpu=0):
        return self.add(ns, SWITCH.format(cpu=cpu, prev=prev, state=state, next=nxt))

    def entry(self, ns, call, fields="", cpu=0):
        return self.add(ns, f"syscall_entry_{call}: {{ cpu_id = {cpu} }}, {{ {fields} }}")

    def exit(self, ns, call, fields="ret = 0", cpu=0):
        return self.add(ns, f"syscall_exit_{call}: {{ cpu_id = {cpu} }}, {{ {fields} }}")

    def waking(self, ns, tid, cpu=1, name="sched_waking"):
        return self.add(ns, f'{name}: {{ cpu_id = {cpu} }}, {{ comm = "b", tid = {tid}, '
                            f'prio = 20, target_cpu = 0 }}')

    def irq(self, ns, what, cpu=0, kind="irq_handler"):
        return self.add(ns, f'{kind}_{what}: {{ cpu_id = {cpu} }}, {{ irq = 1, name = "x" }}')

    def mark(self, ns, event, tid, cpu=0, span=7, service="s"):
        return self.add(ns, f'zipkin:timestamp: {{ cpu_id = {cpu} }}, {{ vpid = 1, vtid = {tid}, '
                            f'procname = "b" }}, {{ trace_name = "n", service_name = "{service}", '
                            f'port_no = 1, ip = "::1", trace_id = 5, span_id = {span}, '
                            f'parent_span_id = 0, event = "{event}" }}')

    def run(self, tid, ns=0, cpu=0):
        """The thread is switched in, and known to be in user mode."""
        return self.switch(ns, 0, tid, cpu=cpu).entry(ns + 1, "getpid", cpu=cpu).exit(
            ns + 2, "getpid", cpu=cpu)

    def parts(self):
        """Of the one row: {part: ns}"""
        row, = self.rows()
        return {p: row[p + "_ns"] for p in PARTS if row[p + "_ns"]}

    def rows(self):
        return Explained(None, self.events).rows

    def blocked(self, call, fields="", then=()):
        """The parts of a span with the call in it, blocked for 100, woken, waiting 10 for a CPU."""
        self.mark(10, "start", 9).entry(20, call, fields).switch(30, 9, 0, 1)
        self.waking(130, 9).switch(140, 0, 9)
        self.exit(150, call.removesuffix("_x")).mark(160, "end", 9)
        return self.parts()


def causes(tap):
    """The cause of blocking, by call and by what the descriptor is."""
    socket = Script().run(9).entry(3, "socket", "family = 2, type = 1, protocol = 0").exit(
        4, "socket", "ret = 5")
    pipe = Script().run(9).entry(3, "pipe2", "flags = 0").exit(
        4, "pipe2", "ret = 0, fildes = [ [0] = 5, [1] = 6 ]")
    opened = Script().run(9).entry(3, "openat", 'dfd = -100, filename = "/a", flags = 0, mode = 0').exit(
        4, "openat", "ret = 5")
    dup = Script().run(9).entry(3, "pipe", "").exit(4, "pipe", "ret = 0, fildes = [ [0] = 3, [1] = 4 ]")
    dup.entry(5, "dup2", "oldfd = 3, newfd = 5").exit(6, "dup2", "ret = 5")
    closed = Script().run(9).entry(3, "socket", "family = 2, type = 1, protocol = 0").exit(
        4, "socket", "ret = 5").entry(5, "close", "fd = 5").exit(6, "close")
    event = Script().run(9).entry(3, "eventfd2", "count = 0, flags = 0").exit(4, "eventfd2", "ret = 5")
    read = "fd = 5, count = 1"
    for what, script, call, fields, part in (
            ("of a socket", socket, "read", read, "socket"), ("of a pipe", pipe, "read", read, "pipe"),
            ("of a file", opened, "read", read, "disk"), ("of a copied pipe", dup, "read", read, "pipe"),
            ("of a closed socket", closed, "read", read, "other"),
            ("of an eventfd", event, "read", read, "other"),
            ("", Script().run(9), "recvfrom", "fd = 5", "socket"),
            ("", Script().run(9), "fsync", "fd = 5", "disk"),
            ("", Script().run(9), "futex", "uaddr = 1, op = 0", "futex"),
            ("", Script().run(9), "clock_nanosleep", "which_clock = 0", "timer"),
            ("", Script().run(9), "epoll_wait", "epfd = 3", "poll"),
            ("", Script().run(9), "wait4", "upid = 3", "other")):
        tap.equal(script.blocked(call, fields), {"user": 20, "syscall": 20, part: 100, "wakeup": 10},
                  f"blocked in {call}{what and chr(32) + what} is {part}")


def states(tap):
    s = Script().run(9).mark(10, "start", 9).switch(20, 9, 3, 256).switch(50, 3, 9).mark(60, "end", 9)
    tap.equal(s.parts(), {"user": 20, "preempted": 30}, "switched out while preempted")
    s = Script().run(9).mark(10, "start", 9).switch(20, 9, 3, 0).waking(30, 9).switch(50, 3, 9)
    tap.equal(s.mark(60, "end", 9).parts(), {"user": 20, "preempted": 30},
              "a waking of a runnable thread changes nothing")
    s = Script().run(9).mark(10, "start", 9).switch(20, 9, 3, 2).waking(45, 9, name="sched_wakeup")
    tap.equal(s.switch(50, 3, 9).mark(60, "end", 9).parts(), {"user": 20, "fault": 25, "wakeup": 5},
              "blocked outside of any call, woken without a waking")
    s = Script().run(9).mark(10, "start", 9).switch(20, 9, 3, 1).switch(50, 3, 9).mark(60, "end", 9)
    tap.equal(s.parts(), {"user": 20, "fault": 30}, "never seen to be woken: blocked until it runs")
    s = Script().run(9).mark(10, "start", 9).irq(20, "entry").irq(23, "entry", kind="irq_softirq")
    s.irq(27, "exit", kind="irq_softirq").irq(30, "exit").irq(35, "entry", cpu=1).irq(40, "exit", cpu=1)
    tap.equal(s.mark(60, "end", 9).parts(), {"user": 40, "irq": 10},
              "interrupts of its CPU, nested ones once, none of another CPU")
    s = Script().run(9).mark(10, "start", 9).entry(20, "read", "fd = 0").irq(22, "entry").irq(25, "exit")
    tap.equal(s.exit(30, "read").mark(40, "end", 9).parts(), {"user": 20, "syscall": 7, "irq": 3},
              "an interrupt takes its time from the call")


def span_rules(tap):
    s = Script().run(9).run(8, cpu=1).mark(10, "start", 9).mark(20, "half", 9).mark(50, "on", 8, cpu=1)
    tap.equal(s.mark(55, "end", 8, cpu=1).parts(), {"user": 15, "handoff": 30},
              "from thread to thread is a handoff")
    s = Script().run(9).run(8, cpu=1).mark(10, "cs", 9).mark(20, "sr", 8, cpu=1, service="t")
    rows = s.mark(50, "ss", 8, cpu=1, service="t").mark(55, "cr", 9).rows()
    tap.equal([(r["kind"], r["service"], r["tid"], r["duration_ns"], r["user_ns"]) for r in rows],
              [("client", "s", 9, 45, 45), ("server", "t", 8, 30, 30)], "two halves, each its thread's")
    s = Script().run(9).mark(10, "start", 4).mark(20, "end", 4)
    tap.equal(s.parts(), {"unknown": 10}, "a vtid that is not the running thread's is not believed")
    s = Script().run(9)
    s.add(5, 'sched_process_fork: { cpu_id = 0 }, { parent_tid = 9, parent_pid = 9, child_tid = 20, '
             '_vtids_length = 2, vtids = [ [0] = 20, [1] = 2 ], child_pid = 20 }')
    s.switch(6, 9, 20).exit(7, "clone").mark(10, "start", 2).mark(20, "end", 2)
    tap.equal(s.parts(), {"user": 10}, "a thread of another pid namespace is known by its vtid")


def text(tap):
    e = btparse.parse('[00000000000000000012] (+000000000003) h a:b: { cpu_id = 1 }, { procname = '
                      '"x }, { y = 3", vtid = 4 }, { s = "q\\"u = 5", n = -7, x = 0xFF, o = 017, '
                      'f = { a = ( "E" : container = 2 ), fd = 6 }, v = [ [0] = 1, [1] = -2 ] }\n')
    tap.equal((e.ns, e.host, e.name, e.cpu), (12, "h", "a:b", 1), "the head of a line")
    tap.equal(e.ctx, {"procname": "x }, { y = 3", "vtid": 4}, "a context with braces in a text")
    tap.equal({k: e.payload.get(k) for k in ("s", "n", "x", "o", "fd")},
              {"s": 'q"u = 5', "n": -7, "x": 255, "o": 15, "fd": 6}, "fields, nested and quoted ones")
    tap.equal(btparse.elements(e.text, "v"), [1, -2], "the elements of an array")


def counting(tap):
    s = Script().entry(5, "read", "fd = 0").exit(8, "read", "ret = -11").switch(10, 9, 8)
    s.entry(20, "read", "fd = 0").exit(26, "read", "ret = 40").exit(30, "clone").entry(40, "write")
    c = Recount(s.entry(45, "unknown", "id = 318, args = [ [0] = 1 ]").exit(
        50, "unknown", "id = 318, ret = 3, args = [ [0] = 1 ]").events)
    found = {k: (v.count, v.errors, v.total, v.min, v.max) for k, v in c.calls.items()}
    tap.equal(found, {(9, "read"): (1, 1, 3, 3, 3), (8, "read"): (1, 0, 6, 6, 6),
                      (8, "getrandom"): (1, 0, 5, 5, 5)}, "calls, by thread and name")
    tap.equal(dict(c.cpu), {9: 5, 8: 40}, "CPU time from the first event to the last")
    tap.equal((c.orphans, dict(c.read_bytes)), (1, {8: 40}), "an exit without entry; bytes")


def main():
    tap = blk.Tap()
    for group in causes, states, span_rules, text, counting:
        group(tap)
    tap.done()


if __name__ == "__main__":
    main()
