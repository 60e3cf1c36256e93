# SPDX-License-Identifier: GPL-2.0-only
"""A second count of what blktop's tables say, straight from babeltrace2's text.

Who makes a system call is who the scheduler runs on its CPU; before a CPU's first sched_switch
that is the switch's prev_tid. A call is counted at its exit, with the entry that is pending for
the thread; an exit without one (the call began before the trace, or a child returns from its
parent's clone) is not. A new entry supersedes a pending one. Threads are told apart by tid.
"""
import collections

import btparse

READS = "read pread64 readv preadv preadv2 recvfrom recvmsg".split()
WRITES = "write pwrite64 writev pwritev pwritev2 sendto sendmsg".split()
BOTH = "sendfile64 sendfile splice tee copy_file_range".split()


class Calls:
    __slots__ = ("count", "errors", "total", "min", "max")

    def __init__(self):
        self.count = self.errors = self.total = self.max = 0
        self.min = None

    def add(self, duration, ret):
        self.count += 1
        self.errors += ret is not None and -4095 <= ret < 0
        self.total += duration
        self.max = max(self.max, duration)
        self.min = duration if self.min is None else min(self.min, duration)

    def merge(self, other):
        self.count += other.count
        self.errors += other.errors
        self.total += other.total
        self.max = max(self.max, other.max)
        if other.min is not None:
            self.min = other.min if self.min is None else min(self.min, other.min)


    def as_dict(self):
        return dict(count=self.count, errors=self.errors, total_ns=self.total, min_ns=self.min,
                    max_ns=self.max)


def as_calls(row):
    """A row of blktop's syscalls view."""
    c = Calls()
    c.count, c.errors, c.total = row["count"], row["errors"], row["total_ns"] or 0
    c.min, c.max = row["min_ns"], row["max_ns"] or 0
    return c


class Recount:
    def __init__(self, events):
        self.calls = collections.defaultdict(Calls)         # (tid, name)
        self.unfinished = collections.Counter()             # (tid, name)
        self.orphans = 0                                    # exits without their entry
        self.read_bytes = collections.Counter()             # tid
        self.write_bytes = collections.Counter()
        self.cpu = collections.Counter()                    # tid
        self.pid, self.ppid = {}, {}
        self.children = collections.Counter()               # pid of the parent
        self.errno = collections.Counter()                  # (tid, name, errno)
        # For oracle.py: calls from before a CPU's first switch, and exits of another call than
        # the one pending (thread was on a CPU that is not in the trace): (tid, name, ns, ret)
        self.early, self.mismatched = [], []
        self.first = events[0].ns if events else None
        self.last = events[-1].ns if events else None
        self.hosts = {e.host for e in events}
        self.initial, kernel = {}, []
        for e in events:
            if e.name == "sched_switch":
                if e.cpu not in self.initial:
                    self.initial[e.cpu] = e.payload["prev_tid"]
                kernel.append(e)
            elif e.name.startswith(("syscall_", "sched_process_fork", "lttng_statedump_process_state",
                                    "sys_", "exit_syscall")):
                kernel.append(e)
        self.run(kernel)

    def run(self, kernel):
        current, since = dict(self.initial), dict.fromkeys(self.initial, self.first)
        switched = set()
        pending = {}
        for e in kernel:
            if e.name == "sched_switch":
                tid = e.payload["prev_tid"]
                if tid:
                    self.cpu[tid] += e.ns - since[e.cpu]
                current[e.cpu], since[e.cpu] = e.payload["next_tid"], e.ns
                switched.add(e.cpu)
            elif e.name == "sched_process_fork":
                p = e.payload
                if "child_pid" in p:
                    self.pid[p["child_tid"]], self.pid[p["parent_tid"]] = p["child_pid"], p["parent_pid"]
                    if p["child_pid"] != p["parent_pid"]:
                        self.ppid[p["child_pid"]] = p["parent_pid"]
                        self.children[p["parent_pid"]] += 1
            elif e.name == "lttng_statedump_process_state":
                self.pid[e.payload["tid"]] = e.payload["pid"]
            else:
                tid = current.get(e.cpu, e.ctx.get("tid"))
                if tid is not None:
                    self.syscall(e, tid, pending, e.cpu in switched)
        for cpu, tid in current.items():
            if tid:
                self.cpu[tid] += self.last - since[cpu]
        for tid, (name, *_) in pending.items():
            self.unfinished[tid, name] += 1

    def syscall(self, e, tid, pending, switched):
        found = btparse.syscall(e)
        if not found:
            return
        what, name = found
        if what == "entry":
            pending[tid] = (name, e.ns, switched)
            return
        entry = pending.pop(tid, None)
        if entry is None or (name is not None and entry[0] != name):
            self.orphans += 1
            if entry is not None:
                self.mismatched.append((tid, entry[0], e.ns - entry[1], None))
            return
        name = entry[0]
        ret = e.payload.get("ret")
        ret = ret if isinstance(ret, int) else None
        self.calls[tid, name].add(e.ns - entry[1], ret)
        if not (switched and entry[2]):
            self.early.append((tid, name, e.ns - entry[1], ret))
        if ret is not None and -4095 <= ret < 0:
            self.errno[tid, name, -ret] += 1
        elif ret:
            if name in READS or name in BOTH:
                self.read_bytes[tid] += ret
            if name in WRITES or name in BOTH:
                self.write_bytes[tid] += ret

    def by_pid(self, counter):
        """A Counter over tids summed over processes (tids of unknown pid: themselves)."""
        out = collections.Counter()
        for tid, n in counter.items():
            out[self.pid.get(tid, tid)] += n
        return out
