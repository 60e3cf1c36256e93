#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording the kernel by tracefs costs, on this machine and in one run.

    tracefs.py [--build BUILD]                     prints the table
    tracefs.py --record FILE [--seconds N]         records a busy kernel as a file of trace-cmd (version 6)

Needs root. It uses a private instance of the kernel's tracer, which it removes; nothing else of the machine's tracing
changes.
"""
import argparse
import contextlib
import glob
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

MOUNT = "/sys/kernel/tracing"
PAGE = 4096
SCHED = ("sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup", "sched/sched_wakeup_new", "sched/sched_migrate_task",
         "sched/sched_process_fork", "sched/sched_process_exec", "sched/sched_process_exit", "task/task_newtask")
# A program that switches, makes threads, and reads and writes files, on all CPUs.
LOAD = r"""
import os, threading, time
until = time.monotonic() + %f
def pipes():
    a, b = os.pipe(), os.pipe()
    def echo():
        while os.read(a[0], 1):
            os.write(b[1], b"x")
    threading.Thread(target=echo, daemon=True).start()
    while time.monotonic() < until:
        os.write(a[1], b"x")
        os.read(b[0], 1)
def files():
    while time.monotonic() < until:
        fd = os.open("/proc/self/stat", os.O_RDONLY)
        os.read(fd, 4096)
        os.close(fd)
        os.stat("/etc/passwd")
def processes():
    while time.monotonic() < until:
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
for f in (pipes, files, processes, pipes):
    if not os.fork():
        f()
        os._exit(0)
for _ in range(4):
    os.wait()
"""


def usable():
    """Why there is no tracefs to measure; None: there is."""
    if os.geteuid() != 0:
        return "not root"
    return None if os.path.isdir(MOUNT + "/instances") else f"no tracefs at {MOUNT}"


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Instance:
    """A private ring buffer, named so that `blktop --sweep` would remove it."""

    def __init__(self, kib=8192):
        self.path = f"{MOUNT}/instances/blktop-{os.getpid()}"
        self.kib = kib

    def __enter__(self):
        os.mkdir(self.path)
        try:
            self.put("tracing_on", "0")
            self.put("trace_clock", "mono")
            self.put("buffer_size_kb", str(self.kib))
        except OSError:
            self.__exit__()
            raise
        self.cpus = sorted(int(p.rsplit("cpu", 1)[1]) for p in glob.glob(self.path + "/per_cpu/cpu*"))
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.put("tracing_on", "0")
        os.rmdir(self.path)

    def put(self, name, text):
        with open(f"{self.path}/{name}", "w", encoding="ascii") as f:
            f.write(text)

    def enable(self, *events):
        """Only these: "system/event", or "system"."""
        self.put("events/enable", "0")
        for event in events:
            with contextlib.suppress(FileNotFoundError):
                self.put(f"events/{event}/enable", "1")

    def count(self, what):
        """The sum of a figure of the CPUs' statistics."""
        return sum(int(line.split()[-1]) for cpu in self.cpus for line in
                   read(f"{self.path}/per_cpu/cpu{cpu}/stats").decode().splitlines() if line.startswith(what))

    @contextlib.contextmanager
    def pages(self):
        """A function that reads what is in all buffers: {cpu: pages}."""
        fds = {cpu: os.open(f"{self.path}/per_cpu/cpu{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK) for cpu in self.cpus}

        def drain():
            found = {}
            for cpu, fd in fds.items():
                pages = found.setdefault(cpu, [])
                with contextlib.suppress(BlockingIOError):
                    while page := os.read(fd, PAGE):
                        pages.append(page.ljust(PAGE, b"\0"))
            return found
        try:
            yield drain
        finally:
            for fd in fds.values():
                os.close(fd)


# ---- recording ----

def sized(data):
    return struct.pack("<Q", len(data)) + data


def write_dat(path, pages):
    """A file of trace-cmd, trace-cmd.dat.v6(5): formats of what is recorded, and pages of each CPU."""
    events = MOUNT + "/events"
    systems = {}
    for event in SCHED:
        systems.setdefault(event.split("/")[0], []).append(event)
    systems["syscalls"] = sorted("syscalls/" + name for name in os.listdir(events + "/syscalls") if name.startswith("sys_"))
    out = bytearray(b"\x17\x08\x44tracing6\0" + struct.pack("<BBI", 0, 8, PAGE))
    for name in ("header_page", "header_event"):
        out += name.encode() + b"\0" + sized(read(f"{events}/{name}"))
    out += struct.pack("<II", 0, len(systems))
    for system, names in systems.items():
        there = [name for name in names if os.path.exists(f"{events}/{name}/format")]
        out += system.encode() + b"\0" + struct.pack("<I", len(there))
        for name in there:
            out += sized(read(f"{events}/{name}/format"))
    out += struct.pack("<IIQ", 0, 0, 0) + struct.pack("<I", len(pages))
    out += b"options  \0" + struct.pack("<H", 0) + b"flyrecord\0"
    at = -(-(len(out) + 16 * len(pages)) // PAGE) * PAGE
    start = at
    for of_cpu in pages.values():
        out += struct.pack("<QQ", at, PAGE * len(of_cpu))
        at += PAGE * len(of_cpu)
    with open(path, "wb") as f:
        f.write(out.ljust(start, b"\0"))
        for of_cpu in pages.values():
            f.writelines(of_cpu)


def record(path, seconds):
    """Scheduling and all system calls of a busy machine. Returns the number of events that were lost."""
    with Instance() as i, i.pages() as drain:
        i.enable(*SCHED, "syscalls")
        i.put("events/syscalls/filter", f"common_pid != {os.getpid()}")     # else each page that is read makes events
        i.put("tracing_on", "1")
        pages = {cpu: [] for cpu in i.cpus}
        with subprocess.Popen([sys.executable, "-c", LOAD % seconds]) as load:
            while load.poll() is None:
                time.sleep(0.02)
                for cpu, of_cpu in drain().items():
                    pages[cpu] += of_cpu
        i.put("tracing_on", "0")
        for cpu, of_cpu in drain().items():
            pages[cpu] += of_cpu
        write_dat(path, pages)
        return i.count("overrun")


# ---- the table ----

# CPU seconds of a command, without what runs it.
MEASURED = "import resource as r, subprocess as s, sys; s.run(sys.argv[1:], check=True, stdout=s.DEVNULL, stderr=s.DEVNULL); " \
    "u = r.getrusage(r.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
# The same as `perf bench sched pipe`, for machines without perf.
PIPES = """
import os, sys
n, a, b = int(sys.argv[1]), os.pipe(), os.pipe()
if os.fork():
    for _ in range(n):
        os.write(a[1], b"x")
        os.read(b[0], 1)
    os.wait()
else:
    for _ in range(n):
        os.read(a[0], 1)
        os.write(b[1], b"x")
    os._exit(0)
"""


def line(what, value, more=""):
    print(f"  {what:58} {value:>18}  {more}", flush=True)


def skipped(what, why):
    line(what, "-", f"skipped: {why}")


def cpu_seconds(command, before=()):
    said = subprocess.run([*before, sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, timeout=300, check=False)
    if said.returncode != 0:
        raise RuntimeError(said.stderr.strip().rsplit("\n", 1)[-1])
    return float(said.stdout.split()[-1])


def overhead(runs, operations):
    """CPU time of two threads of control that wake each other through pipes: what the events add to an operation."""
    perf = shutil.which("perf")
    load = [perf, "bench", "sched", "pipe", "-l", str(operations)] if perf else [sys.executable, "-c", PIPES, str(operations)]
    kinds = {"nothing is recorded": (), "scheduling": SCHED, "all system calls": ("syscalls",), "scheduling and system calls": (*SCHED, "syscalls"),
             "scheduling and raw_syscalls": (*SCHED, "raw_syscalls")}
    ns = {kind: [] for kind in kinds}
    events = {}
    with Instance() as i:
        i.put("options/event-fork", "1")
        for run in range(runs + 1):
            # The first run counts the load's own events; in the others all of the machine are recorded.
            i.put("set_event_pid", "" if run else str(os.getpid()))
            for kind, wanted in kinds.items():
                i.enable(*wanted)
                i.put("trace", "")
                i.put("tracing_on", "1")
                took = cpu_seconds(load)
                i.put("tracing_on", "0")
                if run:
                    ns[kind].append(took / operations * 1e9)
                else:
                    events[kind] = (i.count("overrun") + i.count("entries")) / operations
    base = ns["nothing is recorded"]
    line("an operation, nothing is recorded", f"{statistics.median(base):.0f} ns CPU", "perf bench sched pipe" if perf else "own loop")
    for kind in list(kinds)[1:]:
        more = statistics.median(a - b for a, b in zip(ns[kind], base))
        line(f"  {kind} add", f"{more:.0f} ns CPU", f"{events[kind]:.1f} events, {more / max(events[kind], 1e-9):.0f} ns an event")
    if not perf:
        skipped("  perf record adds", "perf is not installed")
        return
    with tempfile.TemporaryDirectory() as where:
        command = [perf, "record", "-q", "-a", "-o", where + "/data", "-e",
                   "sched:sched_switch,sched:sched_waking,sched:sched_wakeup,raw_syscalls:sys_enter,raw_syscalls:sys_exit"]
        try:
            more = statistics.median(cpu_seconds(load, [*command, "--"]) / operations * 1e9 - b for b in base)
            line("  perf record of scheduling and raw_syscalls adds", f"{more:.0f} ns CPU")
        except RuntimeError as e:
            skipped("  perf record adds", str(e))


def lttng_modules():
    if not os.path.isdir("/sys/module/lttng_tracer"):
        skipped("  lttng-modules add", "lttng-modules are not loaded")
    else:
        skipped("  lttng-modules add", "compare with a session of lttng: this script changes no session")


def figures(text):
    return {key: float(value) for key, value in (row.split() for row in text.splitlines())}


def capture(build, seconds):
    """{figure: number} of the reader while the machine is busy (bench-capture)."""
    with subprocess.Popen([sys.executable, "-c", LOAD % (seconds + 1)], stdout=subprocess.DEVNULL) as load:
        said = subprocess.run([build + "/bench/bench-capture", str(seconds), str(16 << 20)], capture_output=True, text=True,
                              timeout=120, check=False)
        load.wait()
    if said.returncode != 0:
        raise RuntimeError(said.stderr.strip())
    return figures(said.stdout)


def memory_of(name):
    """KiB of a row of /proc/meminfo."""
    return next(int(row.split()[1]) for row in read("/proc/meminfo").decode().splitlines() if row.startswith(name + ":"))


def buffers():
    """What the kernel takes for buffers of 16 MiB a CPU: by its own count, and what is less free."""
    kib = 16384
    before = memory_of("MemFree")
    with Instance(kib) as i:
        taken = before - memory_of("MemFree")
        own = sum(int(read(f"{i.path}/per_cpu/cpu{cpu}/buffer_size_kb").split()[0]) for cpu in i.cpus)
        announced = kib * len(i.cpus)
    line(f"memory of buffers, {kib >> 10} MiB for each of {len(i.cpus)} CPUs", f"{announced / 1024:.1f} MiB",
         f"the kernel says {own / 1024:.1f} MiB, {taken / 1024:.1f} MiB less are free ({(taken / announced - 1) * 100:+.0f} %)")


def table(build, runs, operations):
    print("Cost in the traced code", flush=True)
    overhead(runs, operations)
    lttng_modules()
    print("Capture", flush=True)
    found = capture(build, 3)
    line("capture of a million events", f"{found['ns_per_event']:.1f} ms CPU", f"at {found['rate'] / 1e3:.0f} thousand events a second, "
         f"{found['lost']:.0f} lost")
    line("  in the best part of the time", f"{found['best_ns_per_event']:.1f} ms CPU",
         f"{found['best_ns_per_event'] * 0.08:.2f} % of a core at 800,000 events a second")
    buffers()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=5, help="of each row, by turns (5)")
    parser.add_argument("--operations", type=int, default=100000, help="of a run (100000)")
    parser.add_argument("--record", metavar="FILE", help="only records a busy machine")
    parser.add_argument("--seconds", type=float, default=3, help="of the recording (3)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # the instance must go
    why = usable()
    if why:
        print(f"skipped: {why}")
    elif args.record:
        print(f"{record(args.record, args.seconds)} events lost")
    else:
        table(args.build, args.runs, args.operations)


if __name__ == "__main__":
    main()
