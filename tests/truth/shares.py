#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which file each write and read went to, where processes share a descriptor table, and calls of exec() by threads
that are not leaders: blktop's files, syscalls and log against a recount of babeltrace2's text.

A table belongs to those who share it: clone() with CLONE_FILES joins the child to its parent's; unshare(), and exec
of a table that is shared, copy it. Each copy begins with what the table had. Where the flags of a clone are not known
(clone3), what either changes afterwards is unknown in the other. The traced programs' own words (truth.jsonl) are a
second witness."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from recount import READS as FEW_READS, WRITES as FEW_WRITES

TRACES = ["mix1/trace", "mix2/trace", "demo/trace", "kernel-small/trace", "kernel-ust/trace", "containers/trace"]
FILES, THREAD, UNSHARE_RANGE, CLOEXEC_RANGE, O_CLOEXEC = 0x400, 0x10000, 2, 4, 0o2000000
UNKNOWN = "?"
READS, WRITES = FEW_READS + ["preadv2"], FEW_WRITES + ["pwritev2"]


class Table:
    """fd -> (path, close on exec); a path that is not known for certain is UNKNOWN."""

    def __init__(self, files=(), users=1):
        self.files, self.users, self.rivals = dict(files), users, set()

    def put(self, fd, path, cloexec=False):
        self.files[fd] = (path, cloexec)
        for rival in self.rivals:
            if rival.files.get(fd, (None,))[0] != path:
                rival.files[fd] = (UNKNOWN, False)

    def close(self, fd):
        self.files.pop(fd, None)
        for rival in self.rivals:
            if fd in rival.files:
                rival.files[fd] = (UNKNOWN, False)

    def settle(self):
        for rival in self.rivals:
            rival.rivals.discard(self)
        self.rivals = set()


class Tables:
    def __init__(self):
        self.of = {}                    # tid -> Table
        self.pid = {}                   # tid -> pid
        self.pending = {}               # tid -> (name, payload, ns)
        self.clones = {}                # tid -> flags; None: unknown
        self.bytes = collections.Counter()      # (pid, path, "read" or "write")
        self.doubtful = set()           # paths that may be stale, see recount()
        self.execs = []                 # (tid, ns) of exec() by others than leaders

    def table(self, tid):
        if tid not in self.of:
            pid = self.pid.get(tid, tid)
            self.of[tid] = self.of[pid] if pid in self.of else Table()
            self.of.setdefault(pid, self.of[tid])
        return self.of[tid]

    def fork(self, p):
        parent, child = p["parent_tid"], p["child_tid"]
        flags = self.clones.pop(parent, 0)
        mine = self.table(parent)
        self.pid[child] = p.get("child_pid", child)
        self.pending.pop(child, None)
        if self.pid[child] != child:
            flags = flags if flags is not None else FILES
        if flags is not None and flags & FILES:
            self.of[child] = mine
            mine.users += self.pid[child] == child
            return
        self.of[child] = Table(mine.files)
        if flags is None:
            self.of[child].rivals.add(mine)
            mine.rivals.add(self.of[child])

    def copy(self, tid):
        table = self.table(tid)
        table.settle()
        self.of[tid] = Table(table.files)

    def exec(self, tid, old):
        if old != tid and old in self.pending:
            name, payload, ns = self.pending.pop(old)
            self.pending[tid] = (name, payload, ns, old)
        self.of[tid] = self.table(old)
        self.copy(tid)
        table = self.of[tid]
        for fd in [fd for fd, (_, cloexec) in table.files.items() if cloexec]:
            del table.files[fd]

    def entry(self, tid, name, p, ns):
        self.pending[tid] = (name, p, ns)
        if name in ("clone", "clone3", "fork", "vfork"):
            self.clones[tid] = p.get("flags") if name == "clone" else None if name == "clone3" else 0
        elif name == "close":
            p["path"] = self.path(tid, p["fd"])
            self.table(tid).close(p["fd"])
        elif name == "close_range":
            first, last, flags = p["args"][:3] if "args" in p else (p["fd"], p["max_fd"], p["flags"])
            if flags & UNSHARE_RANGE:
                self.copy(tid)
            table = self.table(tid)
            for fd in [fd for fd in table.files if first <= fd <= last]:
                if flags & CLOEXEC_RANGE:
                    table.files[fd] = (table.files[fd][0], True)
                else:
                    table.close(fd)

    def path(self, tid, fd):
        return self.table(tid).files.get(fd, (None,))[0]

    def exit(self, tid, name, p, ns):
        ret, entry = p.get("ret"), self.pending.pop(tid, None)
        if entry is None or not isinstance(ret, int) or (name and entry[0] != name):
            return
        name, e = entry[0], entry[1]
        if len(entry) > 3:
            self.execs.append((entry[3], ns - entry[2]))
        fd = e["fd"] if "fd" in e else e["args"][0] if "args" in e else None
        if name in READS + WRITES and ret > 0 and fd is not None:
            what = "read" if name in READS else "write"
            self.bytes[self.pid.get(tid, tid), self.path(tid, fd), what] += ret
        if ret < 0:
            return
        table, flags = self.table(tid), e.get("flags", 0)
        if name in ("open", "openat", "creat"):
            table.put(ret, self.name_of(e), bool(flags & O_CLOEXEC))
        elif name == "dup":
            table.put(ret, self.path(tid, e["fildes"]))
        elif name in ("dup2", "dup3") and e["oldfd"] != e["newfd"]:
            table.put(ret, self.path(tid, e["oldfd"]), name == "dup3" and bool(flags & O_CLOEXEC))
        elif name == "fcntl" and e["cmd"] in (0, 1030):
            table.put(ret, self.path(tid, e["fd"]), e["cmd"] == 1030)
        elif name == "fcntl" and e["cmd"] == 2 and e["fd"] in table.files:
            table.files[e["fd"]] = (self.path(tid, e["fd"]), bool(e["arg"] & 1))
        elif name == "unshare" and e["unshare_flags"] & FILES:
            self.copy(tid)
        elif name in ("socket", "accept", "accept4", "epoll_create1", "eventfd2", "timerfd_create", "signalfd4",
                      "memfd_create", "inotify_init1", "pidfd_open", "io_uring_setup", "epoll_create"):
            table.put(ret, UNKNOWN)
        elif name in ("pipe", "pipe2", "socketpair"):
            for fd in p.get("fds", ()):
                table.put(fd, UNKNOWN)

    @staticmethod
    def name_of(e):
        """Relative or not readable names are not this script's subject."""
        path = str(e.get("filename", e.get("pathname", "")))
        return path if path.startswith("/") and not e.get("stale") else UNKNOWN


def recount(events):
    t = Tables()
    current, last = {}, {}
    for e in events:
        if e.user_space:
            continue
        p = dict(e.payload)
        if e.name == "sched_switch":
            current[e.cpu] = p["next_tid"]
        elif e.name == "sched_process_fork":
            t.fork(p)
        elif e.name == "sched_process_exec":
            t.exec(p["tid"], p.get("old_tid", p["tid"]))
            current[e.cpu] = p["tid"]
        elif e.name == "lttng_statedump_process_state":
            t.pid.setdefault(p["tid"], p["pid"])
        elif e.name == "sched_process_free":
            t.of.pop(p["tid"], None)
        else:
            found = btparse.syscall(e)
            tid = current.get(e.cpu)
            if not found or not tid:
                continue
            # babeltrace2 prints an empty text (unreadable for the tracer) as the one before it.
            if "filename" in p:
                p["stale"] = last.get(e.name) == p["filename"]
                if p["stale"] or "\\" in str(p["filename"]):
                    t.doubtful.add(p["filename"])
                last[e.name] = p["filename"]
            if "args = [" in e.text:
                p["args"] = btparse.elements(e.text, "args")
            for array in ("fildes", "socket", "usockvec"):
                if array + " = [" in e.text:
                    p["fds"] = btparse.elements(e.text, array)
            (t.entry if found[0] == "entry" else t.exit)(tid, found[1], p, e.ns)
    return t


def files(tap, name, trace, t, *options):
    """Bytes by process and path, where the text has the path."""
    found = collections.Counter()
    for r in blk.rows("files", trace, *options):
        found[r["pid"], r["path"], "read"] += r["read_bytes"] or 0
        found[r["pid"], r["path"], "write"] += r["write_bytes"] or 0
    bad = [f"{key}: {found[key]} not {n}" for key, n in sorted(t.bytes.items(), key=str)
           if key[1] not in (None, UNKNOWN) and key[1] not in t.doubtful and found[key] != n]
    tap.none(bad, f"{name}{' ' if options else ''}{' '.join(options)}: bytes of {len(t.bytes)} processes and files")


def execs(tap, name, trace, t):
    found = {(r["tid"], r["count"], r["max_ns"]) for r in blk.rows("syscalls", trace, "--by", "thread")
             if r["syscall"] == "execve"}
    bad = [f"thread {tid}: {ns} ns not in {sorted(f for f in found if f[0] == tid)}" for tid, ns in t.execs
           if not any(f[0] == tid and f[2] == ns for f in found)]
    tap.none(bad, f"{name}: {len(t.execs)} calls of exec() by threads that are not leaders")
    if not t.execs:
        return
    status, out, err = blk.blktop("log", trace)
    lines = [line for line in out.splitlines() if " execve(" in line]
    bad = [f"thread {tid}: no line with <{ns / 1e9:.9f}>" for tid, ns in t.execs
           if not any(f" {tid}/" in line and f"<{ns / 1e9:.9f}>" in line for line in lines)]
    tap.none(bad, f"{name}: their ends in the log")


def words(tap, name, trace):
    """What the traced programs said they wrote, where the trace has the name of the file."""
    said = [w for w in blk.truth(os.path.dirname(name)) if w.get("kind") == "file"
            and os.path.basename(w["path"]).startswith(("sh-fork", "sh-vfork", "un-"))]
    if not said:
        return
    found = collections.defaultdict(set)
    for r in blk.rows("files", trace):
        found[r["path"]].add(r["write_bytes"])
    bad = [f"{w['pid']} {w['path']}: {w['write_bytes']} not in {sorted(found[w['path']])}" for w in said
           if w["write_bytes"] not in found[w["path"]]]
    tap.none(bad, f"{name}: {len(said)} statements of the programs")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        t = recount(btparse.events(trace))
        files(tap, name, trace, t)
        execs(tap, name, trace, t)
        words(tap, name, trace)
        if name == "mix1/trace":
            files(tap, name, trace, t, "--reader", "babeltrace2")
            files(tap, name, trace, t, "-j", "2", "--slices", "23")
    tap.done()


if __name__ == "__main__":
    main()
