# SPDX-License-Identifier: GPL-2.0-only
"""A brute-force account of every thread: babeltrace2's text in, a list of intervals out.

This is written for being read, not for speed, and shares nothing with blktop's model.

Where a thread's time goes
--------------------------
on a CPU      irq      between the entry of an interrupt or softirq handler and the exit of the
                       outermost one, on the CPU the thread is on
              kernel   a kernel thread
              syscall  between the entry and the exit of a system call
              user     otherwise (unknown before the first entry or exit tells)
runnable      preempted  switched out with prev_state 0 or the preempted flag
              wakeup     from the first sched_waking (where there is none: sched_wakeup) after the
                         switch-out until switched in. Without either: blocked until switched in
blocked       by the system call the thread is in, see CAUSE and FD_CALLS below;
              outside of any: fault

CAUSE, by name (a pattern with * is a prefix):
  disk    see DISK        socket  see SOCKET       futex  futex*
  timer   nanosleep clock_nanosleep                poll   poll ppoll select pselect6 epoll_*wait*
  by fd   see FD_CALLS: of a file disk, of a socket socket, of a pipe pipe;
          of anything else (eventfd, tty, epoll, ...) or of unknown kind other
  other   all the rest (wait4, ioctl, fcntl, mmap, close, ...)
"""
import bisect
import collections

import btparse

PARTS = ("user", "syscall", "kernel", "irq", "preempted", "wakeup", "disk", "socket", "pipe",
         "futex", "timer", "poll", "fault", "handoff", "other", "unknown", "stopped")

DISK = """open openat openat2 creat stat lstat newstat newlstat newfstat newfstatat fstat
    fstatat statx access faccessat faccessat2 statfs fstatfs unlink unlinkat rename renameat
    renameat2 link linkat symlink symlinkat readlink readlinkat mkdir mkdirat rmdir mknod mknodat
    chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat
    fsync fdatasync sync syncfs sync_file_range getdents getdents64 truncate ftruncate fallocate
    fadvise64 readahead chdir fchdir getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr msync""".split()
SOCKET = """send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg connect accept
    accept4""".split()
TIMER = ["nanosleep", "clock_nanosleep"]
POLL = "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2".split()
# Which argument is the file descriptor (of two: the one that is read from).
FD_CALLS = dict.fromkeys("""read write pread64 pwrite64 readv writev preadv pwritev preadv2
    pwritev2 vmsplice""".split(), "fd")
FD_CALLS.update(sendfile64="in_fd", sendfile="in_fd", splice="fd_in", tee="fdin",
                copy_file_range="fd_in")
BY_KIND = {"file": "disk", "socket": "socket", "pipe": "pipe"}

# Calls that change what a descriptor is.
FILE_CALLS = frozenset("""open openat openat2 creat memfd_create open_by_handle_at socket accept
    accept4 pipe pipe2 socketpair dup dup2 dup3 fcntl close close_range eventfd eventfd2
    epoll_create epoll_create1 timerfd_create signalfd signalfd4 inotify_init inotify_init1
    perf_event_open bpf userfaultfd io_uring_setup pidfd_open""".split())

CAUSE = {}
for part, names in ("disk", DISK), ("socket", SOCKET), ("timer", TIMER), ("poll", POLL):
    CAUSE.update(dict.fromkeys(names, part))

EARLY_NS = 1000000000   # a wakeup before a switch-out counts for a switch-in within this time
PREEMPTED = 256         # prev_state's flag since Linux 4.14 (older kernels: 1024, 4096)
STOPPED = 4 | 8         # by a signal, by a debugger
CLOEXEC = 0o2000000


def kind_of_path(path):
    if path.startswith("socket:"):
        return "socket"
    if path.startswith("pipe:"):
        return "pipe"
    if path.startswith("anon_inode:"):
        return "other"
    if path.startswith(("/dev/tty", "/dev/pts/")) or path == "/dev/console":
        return "tty"
    return "file"


class Thread:
    def __init__(self, tid):
        self.tid = tid
        self.kernel = False
        self.part = "unknown"       # what its time is charged to now
        self.state = "unknown"      # running, preempted, wakeup, blocked, dead, unknown
        self.since = None
        self.call = None            # (name, fd): the system call it is in
        self.mode = "unknown"       # user, syscall, unknown
        self.last_call = None       # the call it finished last
        self.cpu = None
        self.early = None           # (waker, its last call) of the last wakeup since it runs
        # Parallel lists: when an interval begins, its part, and (blocked) the detail
        self.begins, self.parts, self.details = [], [], []

    def become(self, part, now, detail=None):
        if self.begins and self.begins[-1] == now:
            self.parts[-1], self.details[-1] = part, detail
        else:
            self.begins.append(now)
            self.parts.append(part)
            self.details.append(detail)
        self.part = part


class Wait:
    """One time blocked: what in, and who ended it."""

    def __init__(self, begin, call):
        self.begin, self.call = begin, call
        self.woken = self.waker = self.waker_call = self.end = None
        self.blocked_in = None      # of a wait that ended when it began: the part


class Machine:
    """Feed it all events, in order; then ask intervals() of any thread."""

    def __init__(self):
        self.threads = {}
        self.current = {}                               # cpu -> Thread; absent: unknown
        self.depth = collections.Counter()              # cpu -> nested interrupt handlers
        self.irq_name = {}
        self.pid = {}                                   # tid -> tgid
        self.vtid = {}                                  # tid -> tid in its innermost namespace
        self.tables = {}                                # tgid -> {fd: (kind, cloexec)}
        self.table_of_address = {}
        self.pending_address = collections.defaultdict(dict)
        self.first = self.last = None
        self.handlers = {
            "sched_switch": self.on_switch,
            "sched_waking": self.on_wake, "sched_wakeup": self.on_wake,
            "sched_wakeup_new": self.on_wake,
            "irq_handler_entry": self.on_irq_entry, "irq_handler_exit": self.on_irq_exit,
            "irq_softirq_entry": self.on_irq_entry, "irq_softirq_exit": self.on_irq_exit,
            "softirq_entry": self.on_irq_entry, "softirq_exit": self.on_irq_exit,
            "sched_process_fork": self.on_fork, "sched_process_exec": self.on_exec,
            "lttng_statedump_process_state": self.on_statedump_process,
            "lttng_statedump_process_pid_ns": self.on_statedump_ns,
            "lttng_statedump_file_descriptor": self.on_statedump_fd,
        }

    def thread(self, tid):
        t = self.threads.get(tid)
        if t is None:
            t = self.threads[tid] = Thread(tid)
            t.kernel = tid == 2
        return t

    def feed(self, e):
        if self.first is None:
            self.first = e.ns
        self.last = e.ns
        handler = self.handlers.get(e.name)
        if handler:
            handler(e)
        elif "syscall_" in e.name:
            self.on_syscall(e)

    # ---- CPUs ----

    def on_switch(self, e):
        p = e.payload
        now, cpu = e.ns, e.cpu
        prev, nxt = p["prev_tid"], p["next_tid"]
        known = self.current.get(cpu)
        if prev:
            t = self.thread(prev)
            if (known is None and cpu not in self.current) and not t.begins:
                # The first prev_tid of a CPU ran there from the begin of coverage.
                t.become("kernel" if t.kernel else "unknown", self.first)
            state = p["prev_state"]
            t.cpu = None
            if state == 0 or state & PREEMPTED:
                t.state = "preempted"
                t.become("preempted", now)
            else:
                t.state = "blocked"
                wait = Wait(now, t.call)
                t.become("stopped" if state & STOPPED else self.cause(t), now, wait)
        self.depth[cpu] = 0
        self.current[cpu] = None
        if nxt:
            t = self.thread(nxt)
            if t.state == "blocked" and t.early and now - t.begins[-1] <= EARLY_NS:
                # Woken before it was switched out: its waker waited until it had left the CPU.
                wait = t.details[-1]
                wait.woken, wait.blocked_in = t.begins[-1], t.parts[-1]
                wait.waker, wait.waker_call = t.early
                t.parts[-1] = "wakeup"
            t.early = None
            if t.begins and isinstance(t.details[-1], Wait) and t.details[-1].end is None:
                t.details[-1].end = now
            if t.state == "wakeup" and len(t.details) > 1 and isinstance(t.details[-2], Wait):
                t.details[-2].end = now
            t.state, t.cpu = "running", cpu
            self.current[cpu] = t
            self.run(t, now)

    def run(self, t, now):
        """The thread is on a CPU: charge it to what it does there."""
        if self.depth[t.cpu] > 0:
            part = "irq"
        elif t.kernel:
            part = "kernel"
        else:
            part = t.mode
        if part != t.part or not t.begins:
            t.become(part, now)

    def cause(self, t):
        if t.mode == "unknown" and not t.kernel:
            return "unknown"
        if t.call is None:
            return "other" if t.kernel else "fault"
        name, fd = t.call
        if name.startswith("futex"):
            return "futex"
        if name in FD_CALLS:
            return BY_KIND.get(self.table(t.tid).get(fd, ("unknown",))[0], "other")
        return CAUSE.get(name, "other")

    def waker_of(self, e):
        """The waking thread's tid, or the interrupt; and the thread's last call."""
        if self.depth[e.cpu] > 0:
            return self.irq_name.get(e.cpu, "irq"), None
        waker = self.current.get(e.cpu)
        return (waker.tid, waker.last_call) if waker else (None, None)

    def on_wake(self, e):
        p = e.payload
        t = self.thread(p["tid"])
        fresh = e.name == "sched_wakeup_new"
        if t.state == "running":
            t.early = self.waker_of(e)
        if t.state == "blocked" or (fresh and t.state in ("unknown", "dead")):
            if t.state == "blocked":
                wait = t.details[-1]
                wait.woken = e.ns
                wait.waker, wait.waker_call = self.waker_of(e)
            t.state = "wakeup"
            t.become("wakeup", e.ns)

    def on_irq_entry(self, e):
        self.depth[e.cpu] += 1
        if self.depth[e.cpu] == 1:
            self.irq_name[e.cpu] = "irq " + str(e.payload.get("name", e.payload.get("vec")))
        t = self.current.get(e.cpu)
        if t:
            self.run(t, e.ns)

    def on_irq_exit(self, e):
        if self.depth[e.cpu] > 0:
            self.depth[e.cpu] -= 1
        t = self.current.get(e.cpu)
        if t:
            self.run(t, e.ns)

    # ---- system calls ----

    def on_syscall(self, e):
        found = btparse.syscall(e)
        if not found:
            return
        what, name = found
        t = self.current.get(e.cpu)
        if t is None:
            if e.cpu in self.current or "tid" not in e.ctx or not e.ctx["tid"]:
                return
            # Before the CPU's first switch the context tells who it is.
            t = self.thread(e.ctx["tid"])
            if not t.begins:
                t.become("unknown", self.first)
                t.state = "running"
            t.cpu = e.cpu
            self.current[e.cpu] = t
        if what == "entry":
            t.call, t.mode = (name, self.fd_argument(name, e)), "syscall"
            t.entry = e
        else:
            entry = t.entry if t.call and t.call[0] == name else None
            t.last_call = name
            t.call, t.mode = None, "user"
            if name in FILE_CALLS:
                self.on_files(t, name, entry, e)
        self.run(t, e.ns)

    def fd_argument(self, name, e):
        if name not in FD_CALLS:
            return None
        if e.name.endswith("_unknown"):
            arguments = btparse.elements(e.text, "args")
            return arguments[0] if arguments else None
        return e.payload.get(FD_CALLS[name])

    # ---- processes and their files ----

    def table(self, tid):
        return self.tables.setdefault(self.pid.get(tid, tid), {})

    def on_fork(self, e):
        p = e.payload
        child, parent = p["child_tid"], p["parent_tid"]
        self.pid.setdefault(parent, p.get("parent_pid", parent))
        self.pid[child] = p.get("child_pid", child)
        vtids = btparse.elements(e.text, "vtids")
        self.vtid[child] = vtids[-1] if vtids else child
        t = self.threads[child] = Thread(child)
        if parent == 2:
            t.kernel = True
        else:
            t.mode = "syscall"          # it returns from its parent's clone
            t.call = ("clone", None)
            t.entry = None
        if self.pid[child] != self.pid[parent]:
            self.tables[self.pid[child]] = dict(self.table(parent))

    def on_exec(self, e):
        table = self.table(e.payload["tid"])
        for fd in [fd for fd, (_, cloexec) in table.items() if cloexec]:
            del table[fd]

    def on_statedump_process(self, e):
        p = e.payload
        self.pid[p["tid"]] = p["pid"]
        t = self.thread(p["tid"])
        t.kernel = p["type"] == 1
        if t.kernel and t.part in ("unknown", "user") and t.state == "running":
            self.run(t, e.ns)
        address = p.get("file_table_address")
        if address is not None:
            self.table_of_address[address] = p["pid"]
            self.tables.setdefault(p["pid"], {}).update(self.pending_address.pop(address, {}))

    def on_statedump_ns(self, e):
        p = e.payload
        self.vtid[p["tid"]] = p["vtid"]     # the innermost namespace comes last

    def on_statedump_fd(self, e):
        p = e.payload
        what = (kind_of_path(p["filename"]), bool(p["flags"] & CLOEXEC))
        if "pid" in p:
            self.tables.setdefault(p["pid"], {})[p["fd"]] = what
            return
        owner = self.table_of_address.get(p["file_table_address"])
        if owner is None:
            self.pending_address[p["file_table_address"]][p["fd"]] = what
        else:
            self.tables.setdefault(owner, {})[p["fd"]] = what

    def on_files(self, t, name, entry, e):
        ret = e.payload.get("ret", -1)
        if not isinstance(ret, int) or ret < 0:
            return
        table = self.table(t.tid)
        arg = entry.payload if entry else {}
        raw = btparse.elements(entry.text, "args") if entry and name == entry_raw(entry) else []
        flags = arg.get("flags", 0) if isinstance(arg.get("flags", 0), int) else 0
        if name in ("open", "openat", "creat"):
            table[ret] = (kind_of_path(str(arg.get("filename", arg.get("pathname", "")))),
                          bool(flags & CLOEXEC))
        elif name in ("openat2", "memfd_create", "open_by_handle_at"):
            table[ret] = ("file", False)
        elif name == "socket":
            table[ret] = ("socket", bool(arg.get("type", 0) & CLOEXEC))
        elif name in ("accept", "accept4"):
            table[ret] = ("socket", bool(flags & CLOEXEC))
        elif name in ("pipe", "pipe2", "socketpair"):
            array = "fildes" if name != "socketpair" else "socket"
            for fd in btparse.elements(e.text, array) or btparse.elements(e.text, "usockvec"):
                table[fd] = ("socket" if name == "socketpair" else "pipe", bool(flags & CLOEXEC))
        elif name in ("dup", "dup2", "dup3"):
            old = arg.get("fildes", arg.get("oldfd"))
            if old in table:
                if old != ret:
                    table[ret] = (table[old][0], bool(flags & CLOEXEC))
            else:
                table.pop(ret, None)
        elif name == "fcntl":
            cmd = arg.get("cmd")
            if cmd in (0, 1030):
                if arg["fd"] in table:
                    table[ret] = (table[arg["fd"]][0], cmd == 1030)
                else:
                    table.pop(ret, None)
            elif cmd == 2 and arg["fd"] in table:
                table[arg["fd"]] = (table[arg["fd"]][0], bool(arg.get("arg", 0) & 1))
        elif name == "close":
            table.pop(arg.get("fd"), None)
        elif name == "close_range" and len(raw) > 1:
            for fd in [fd for fd in table if raw[0] <= fd <= raw[1] % (1 << 32)]:
                del table[fd]
        elif name in FILE_CALLS and name != "close_range":
            table[ret] = ("other", bool(flags & CLOEXEC))

    # ---- questions ----

    def pieces(self, tid, begin, end):
        """[(begin, end, part, detail)] of the thread's time within, whole and without holes."""
        t = self.threads.get(tid)
        if t is None or not t.begins:
            return [(begin, end, "unknown", None)]
        out = []
        i = bisect.bisect_right(t.begins, begin) - 1
        if i < 0:
            out.append((begin, min(end, t.begins[0]), "unknown", None))
            i = 0
        while i < len(t.begins) and t.begins[i] < end:
            a = max(begin, t.begins[i])
            b = min(end, t.begins[i + 1] if i + 1 < len(t.begins) else end)
            if a < b:
                out.append((a, b, t.parts[i], t.details[i]))
            i += 1
        return out

    def explain(self, tid, begin, end):
        parts = collections.Counter()
        for a, b, part, _ in self.pieces(tid, begin, end):
            parts[part] += b - a
        return parts


def entry_raw(entry):
    found = btparse.syscall(entry)
    return found[1] if found and entry.name.endswith("_unknown") else None
