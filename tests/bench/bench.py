#!/usr/bin/env python3
"""make bench: the native reader and the whole of blktop, measured against babeltrace2.

All figures are of one run on one machine: what is compared alternates, the median of
the pairs' ratios counts, so the machine's speed does not matter much. Of what one thread
does CPU time counts, of what the user waits for the best of some tries. The trace is $BLKTOP_BENCH_TRACE (a directory or a .tar.xz), else
../shared/traces/kernel-busy-part.tar.xz beside the source tree; without it the parts
that need it are skipped. $BENCH_RUNS pairs of each (5). Long traces are made of it below
BUILD/bench-trace and removed in the end (BENCH_KEEP=1 keeps them); the pair of CTF 1.8 and
CTF 2 that record-pair makes there stays.

    bench.py                 the trace itself, and 1 GB of it
    bench.py --formats       only CTF 2 against CTF 1.8 (make bench-pair)
    bench.py --tracefs       only the kernel's own ring buffer (make bench-tracefs)
    bench.py --sizes 10G     10 GB of it (make bench-big)
    bench.py --check         instructions an event against tests/bench/instructions
    bench.py --record        writes that file

Exit status 1: a bar is missed.
"""
import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

import busy_trace
import tracefs

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "truth"))
import exposition  # noqa: E402
from spans_server import Spans  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import made_calls  # noqa: E402
RECORDED = os.path.join(HERE, "instructions")
SMALL = os.path.join(HERE, "..", "traces", "kernel-small", "trace")
MANY_THREADS = os.path.join(HERE, "..", "traces", "many-threads", "trace.tar.xz")

RECORD_PAIR = os.path.join(HERE, "record-pair")
METADATA = (            # format, the directory with the metadata, ms that it may take
    ("CTF 1.8", os.path.join(SMALL, "kernel"), 0),
    ("CTF 2", os.path.join(HERE, "..", "traces", "ctf2", "demo", "trace", "kernel"), 10))

SERVED = ("--metrics", "call.busy by tid; thread.syscalls by tid", "--most-values", "5200")
ISOLATION_BAR = 1.03      # CPU time of an isolated run, of one that is not
PATTERN_BAR = 1.15      # of spans by one pattern for all functions of an interface, of spans by a rule for each
METRIC_BAR = 1.10         # of a run that prints a metric, of one that prints the view of the same figures
SPEED_BAR = 20          # times faster than babeltrace2 -o dummy
PROCESS_BAR = 20        # likewise, of the time that a user waits for the whole process
SHORT_THREADS_BAR = 6.5 # likewise, where most threads live for some ms; a seventh of it is the start of the program
TWO_THREADS_BAR = 1.8   # times faster than one
THREADS_BAR = 0.85      # of what two independent readers of a half each reach
MEMORY_BUDGET = 128     # MiB given to the screen
MEMORY_BESIDE = 64      # MiB that the program may take beside its budget
FIRST_BAR = 100         # ms until the strip and the first rows of 10 GB are there
AGAIN_BAR = 300         # ms until the whole screen of 10 GB is there that was read before
EXPLAIN_BAR = 0.15      # of the kernel model's time, for explaining the spans of a recording
EXPLAINED = ("rotation", "live", "demo")  # of tests/traces: the more spans an event, the later
MAP_BAR = 1.1           # CPU time of a map, of reading the trace on one thread
SLICE_BAR = 0.02        # of the trace's size, for its slice file
REDUCE_BAR = 0.05       # CPU time of a reduce of four slices, of mapping them
TWO_MAPS_AIM = 1.8      # times faster at once than one after the other
FORWARD_SPANS, FORWARD_AIM = 20000, 0.2  # a second, of a core
SPANS_BUDGET = 64       # MiB given to the screen that shows nothing but spans
TEXTS_BUDGET = 64       # and to one whose spans have a text each that no other has
NAMES_BUDGET = 16       # likewise, with names that no other has
FRAMES_BAR = 20         # a second, of a waterfall that scrolls
FRAMES = 200            # of it that are timed: 250 pages, less one, are there
SEEK_BAR = 20           # ms until the events of any instant are there
CTF2_BAR = 1.05         # of the time of the same event in CTF 1.8
RING_BAR = 6            # CPU time of transcoding the kernel's pages, of copying them: 15 ns an event where a copy takes 2.5
CAPTURE_BAR = 0.03      # of a core at 800,000 events a second
OPEN_BAR = 1            # s from the start until the screen has the open second of the kernel
REGRESSION_BAR = 1.05   # instructions an event, against what is recorded
GIGA = 1 << 30

missed = []


class Tools:
    """The programs of one build, called by name."""

    def __init__(self, build, blktop):
        self.build, self.blktop = build, blktop
        self.reads = [blktop, "--no-cache"]     # the program, where reading is measured

    def path(self, name):
        return os.path.join(self.build, "bench", name)

    def figures(self, name, *arguments):
        """What a bench program says: {key: number}, the last of each key."""
        said = subprocess.run([self.path(name), *map(str, arguments)], capture_output=True, text=True, check=False)
        if said.returncode != 0:
            sys.exit(f"{name} {' '.join(map(str, arguments))}: exit status {said.returncode}\n{said.stderr}")
        return {key: float(value) for key, value in (line.split() for line in said.stdout.splitlines())}


def line(what, value, bar="", good=True):
    """One row of the table; a missed bar is remembered."""
    if not good:
        missed.append(what)
    print(f"  {what:58} {value:>18}  {bar}{'' if good else '  MISSED'}", flush=True)


def skipped(what, why):
    print(f"  {what:58} {'-':>18}  skipped: {why}", flush=True)


# ---- traces ----

def amplified(tools, trace, size):
    """A trace of that many bytes, or None where the disk has no room for it."""
    target = os.path.join(tools.build, "bench-trace", size)
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    want = int(size[:-1]) * GIGA
    if shutil.disk_usage(os.path.dirname(target)).free < want * 1.3:
        return None
    begin = time.monotonic()
    subprocess.run([tools.path("amplify"), "--size", size, trace, target], check=True, stdout=subprocess.DEVNULL)
    print(f"{size}: made in {time.monotonic() - begin:.0f} s", flush=True)
    return target


def forget_file(path):
    if os.path.exists(path) and not os.environ.get("BENCH_KEEP"):
        os.remove(path)


def forget(target):
    if target and not os.environ.get("BENCH_KEEP"):
        shutil.rmtree(target, ignore_errors=True)


# ---- processes ----

def measure(command):
    """CPU seconds and peak MiB of a command that must succeed (3: read with loss; 4: not all figures had memory)."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        messages = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3, 4):
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{messages}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def wall_of(*commands):
    """Seconds until all of the commands, begun at once, have ended."""
    begin = time.monotonic()
    all_of_them = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # pylint: disable=R1732
                   for c in commands]
    if any(p.wait() != 0 for p in all_of_them):
        sys.exit(f"failed: {commands}")
    return time.monotonic() - begin


# ---- rows of the table ----

def steps(tools, trace, repeat):
    """ns an event, one thread: each step more than the one before."""
    limit = tools.figures("bench-native", "sum", "--repeat", repeat, trace)
    done = {name: tools.figures("bench-native", name, "--repeat", repeat, trace)
            for name in ("scan", "merge", "model")}
    events = done["model"]["events"]
    line("a plain sum over the same mapping: the limit", f"{limit['ms'] * 1e6 / events:.1f} ns/event")
    for name, what in (("scan", "decode: headers and classes, no merge"), ("merge", "decode + merge, fields lazily"),
                       ("model", "decode + merge + whole model")):
        line(what, f"{done[name]['ns_per_event']:.1f} ns/event")
    return events


def speed(tools, trace, events, runs):
    """Alternating: babeltrace2, the reader with the model, whole processes of both ways."""
    model = "decode + merge + whole model"
    commands = {"babeltrace2 -o dummy": ["babeltrace2", "-o", "dummy", trace],
                f"{model}, the process": [tools.path("bench-native"), "model", trace],
                "the process of blktop -b": [*tools.reads, "-b", "-j", "1", "--view", "syscalls", "--format", "csv", trace]}
    names = list(commands)
    seconds = {name: [] for name in names + [model]}
    for run in range(runs + 1):
        best = tools.figures("bench-native", "model", "--repeat", 3, trace)["ns_per_event"] * events / 1e9
        all_of_them = [measure(commands[name])[0] for name in names]
        if run:  # the first warms the cache
            for name, cpu in zip(names + [model], all_of_them + [best]):
                seconds[name].append(cpu)
    line(names[0], f"{statistics.median(seconds[names[0]]) / events * 1e9:.0f} ns/event")
    for name in [model] + names[1:]:
        ratio = statistics.median(a / b for a, b in zip(seconds[names[0]], seconds[name]))
        ns = statistics.median(seconds[name]) / events * 1e9
        bar = f"(bar {SPEED_BAR} x)" if name == model else ""
        line(f"{name}, {ns:.0f} ns/event", f"{ratio:.1f} x faster", bar, not bar or ratio >= SPEED_BAR)


def whole_process(tools, what, trace, runs, bar):
    """What a user waits for, by turns: of babeltrace2's empty pass and of a view, one thread, the best."""
    commands = [["babeltrace2", "-o", "dummy", trace],
                [*tools.reads, "-b", "-j", "1", "--view", "syscalls", "--format", "csv", trace]]
    seconds = [[], []]
    for _ in range(runs + 1):
        seconds[0].append(wall_of(commands[0]))
        seconds[1] += [wall_of(commands[1]) for _ in range(4)]
    other, own = (min(of) for of in seconds)
    ratio = other / own
    line(f"whole process, {what}, {own * 1e3:.0f} ms", f"{ratio:.1f} x faster", f"(bar {bar} x)", ratio >= bar)


def alternate(tools, mode, traces, runs):
    """ns an event of both traces, by turns, and the median of the pairs' ratios (second : first)."""
    ns = ([], [])
    for run in range(runs + 1):
        for which in (0, 1) if run % 2 else (1, 0):
            found = tools.figures("bench-native", mode, traces[which])["ns_per_event"]
            if run:  # the first warms the cache
                ns[which].append(found)
    return [statistics.median(of) for of in ns], statistics.median(b / a for a, b in zip(*ns))


def pair(tools, runs):
    """An event of CTF 2 against CTF 1.8: one run that two sessions recorded (record-pair)."""
    what = "an event of CTF 2, of one of CTF 1.8"
    where = os.path.join(tools.build, "bench-trace", "pair")
    if not os.path.exists(where):
        print("recording one run in CTF 1.8 and CTF 2: some minutes", flush=True)
        made = subprocess.run([RECORD_PAIR, where], stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode != 0:
            skipped(what, (made.stderr.strip() or "record-pair failed").rsplit("\n", 1)[-1])
            return
    traces = [os.path.join(where, name) for name in ("ctf-1.8", "ctf-2")]
    with open(os.path.join(where, "events"), encoding="ascii") as f:
        wanted = int(f.read())
    events = [tools.figures("bench-native", "scan", trace)["events"] for trace in traces]
    line("events emitted, read in CTF 1.8 and in CTF 2", f"{wanted / 1e6:.2f} million", f"({events[0]:.0f}, {events[1]:.0f})",
         events == [wanted, wanted])
    for mode, of, bar in (("merge", "decode + merge", 0), ("model", "decode + merge + whole model", CTF2_BAR)):
        ns, ratio = alternate(tools, mode, traces, runs)
        line(f"{what}: {of}", f"{ratio:.3f}", f"({ns[1]:.0f} : {ns[0]:.0f} ns{f', bar {bar}' if bar else ''})",
             not bar or ratio <= bar)


def metadata(tools, runs):
    """Reading, parsing and compiling the metadata of kernel traces."""
    for what, path, bar in METADATA:
        size = os.path.getsize(os.path.join(path, "metadata"))
        what = f"opening the kernel's metadata, {what}, {size / 1000:.0f} kB"
        found = tools.figures("bench-native", "metadata", "--repeat", 10 * runs, path)
        line(what, f"{found['ms']:.1f} ms", f"({found['records']:.0f} event classes{f', bar {bar} ms' if bar else ''})",
             not bar or found["ms"] <= bar)


def formats(tools, runs):
    print("Formats", flush=True)
    metadata(tools, runs)
    pair(tools, runs)


def threads(tools, trace, runs):
    """Two threads: whole processes against one; and against two processes that read a half each at the same time."""
    if os.cpu_count() < 2:
        skipped("two threads", "one CPU")
        return
    bounds = subprocess.run([tools.path("bench-native"), "cuts", trace], capture_output=True, text=True, check=True)
    cut = re.search(r"^cut (\d+)$", bounds.stdout, re.M).group(1)
    job = [tools.path("bench-job"), "whole", "--memory", str(MEMORY_BUDGET << 20), "--threads"]
    halves = [job + ["1", "--to", cut, trace], job + ["1", "--from", cut, trace]]
    whole = [*tools.reads, "-b", "--view", "syscalls", "--format", "csv", trace, "-j"]
    took = {"one": [], "two": [], "halves": [], "job": []}
    for _ in range(runs):
        took["halves"].append(wall_of(*halves))
        took["job"].append(wall_of(job + ["2", trace]))
        took["two"].append(wall_of(whole + ["2"]))
        took["one"].append(wall_of(whole + ["1"]))
    reached = statistics.median(h / t for h, t in zip(took["halves"], took["job"]))
    gain = statistics.median(o / t for o, t in zip(took["one"], took["two"]))
    line("two threads against one", f"{gain:.2f} x faster", f"(bar {TWO_THREADS_BAR} x)", gain >= TWO_THREADS_BAR)
    line("of what two independent half-readers reach", f"{reached * 100:.0f} %", f"(bar {THREADS_BAR * 100:.0f} %)",
         reached >= THREADS_BAR)


def instants(tools, trace, size):
    found = tools.figures("bench-native", "seek", trace)
    for key, what in (("median", "median"), ("max", "slowest")):
        wall, cpu = found[key + "_ms"], found[key + "_cpu_ms"]
        bar = f"(bar {SEEK_BAR} ms)" if key == "max" else ""
        line(f"position at 100 instants, {what} ({cpu:.1f} ms of CPU)", f"{wall:.1f} ms", bar,
             not bar or wall <= SEEK_BAR)
    runs = [tools.figures("bench-job", "first", "--memory", MEMORY_BUDGET << 20, trace) for _ in range(9)]
    strip, rows = (min(r[key] for r in runs) for key in ("strip_ms", "rows_ms"))
    line(f"strip of the whole trace, {size}", f"{strip:.0f} ms", f"(bar {FIRST_BAR} ms)", strip <= FIRST_BAR)
    line(f"first rows, {size}", f"{rows:.0f} ms", f"(bar {FIRST_BAR} ms)", rows <= FIRST_BAR)


def start_screen(tools, lines, columns, *arguments):
    """(pid, terminal) of the program on a terminal of that size."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LINES=str(lines), COLUMNS=str(columns))
        os.execv(tools.blktop, [*tools.reads, "--config", "none", *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    return pid, terminal


def end_screen(pid, terminal):
    os.kill(pid, signal.SIGTERM)
    while select.select([terminal], [], [], 5)[0] and drain(terminal):
        pass
    os.waitpid(pid, 0)
    os.close(terminal)


def wait_for(terminal, text, seconds=60):
    """Whether the screen says it in time."""
    said, deadline = "", time.monotonic() + seconds
    while text not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            said += drain(terminal).decode(errors="replace")
    return text in said


def frame(terminal, key, what):
    """Seconds from a key until the last of what it changes has come."""
    begin = last = time.monotonic()
    os.write(terminal, key)
    wait = 10
    while select.select([terminal], [], [], wait)[0]:
        drain(terminal)
        last, wait = time.monotonic(), 0.01
    if last == begin:
        sys.exit(f"a {what} of the waterfall does not come")
    return last - begin


def scrolling(tools):
    """Frames a second of a request of 10,000 spans, a page and a line at a time, 140x45."""
    target = made_spans(tools, 20000, 10000)
    pid, terminal = start_screen(tools, 45, 140, "--view", "traces", target)
    try:
        if not wait_for(terminal, "request"):
            sys.exit("the list of traces does not come")
        os.write(terminal, b"\r")
        if not wait_for(terminal, "10000 spans"):
            sys.exit("the waterfall does not come")
        for key, what in ((b"\x1b[6~", "page"), (b"\x1b[B", "line")):
            rate = FRAMES / sum(frame(terminal, key, what) for _ in range(FRAMES))
            line(f"waterfall of 10,000 spans, a {what} at a time", f"{rate:.0f} frames/s", f"(bar {FRAMES_BAR})",
                 rate >= FRAMES_BAR)
    finally:
        end_screen(pid, terminal)
        forget(target)


def screen_memory(tools, trace, size, budget=MEMORY_BUDGET):
    """The screen's peak with a budget (MiB), on a terminal of 80x24, until it has loaded all."""
    pid, terminal = start_screen(tools, 24, 80, "--memory", f"{budget}M", trace)
    quiet, last, deadline, said = 0, -1, time.monotonic() + 600, ""
    while quiet < 3 and time.monotonic() < deadline:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                said = (said + drain(terminal).decode(errors="replace"))[-1000:]
        now = cpu_ticks(pid)
        quiet = quiet + 1 if now - last <= 3 else 0  # 3 % of a CPU: it only redraws
        last = now
    peak = proc_field(pid, "VmHWM") / 1024
    end_screen(pid, terminal)
    if peak == 0:
        sys.exit(f"{tools.blktop} --memory {budget}M {trace}: ended early\n{said[-500:]}")
    bar = budget + MEMORY_BESIDE
    line(f"screen's peak with --memory {budget}M, {size}", f"{peak:.0f} MiB", f"(bar {bar} MiB)", peak <= bar)


def made_spans(tools, spans, *more):
    """A trace of nothing but so many spans, ten a request; more: as make-spans has it."""
    target = os.path.join(tools.build, "bench-trace", f"spans-{spans}")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    subprocess.run([tools.path("make-spans"), target, str(spans), *map(str, more)], check=True)
    return target


def span_costs(tools, runs):
    """What a span's event costs, and how much of the kernel model's time their explanation."""
    target = made_spans(tools, 200000)
    try:
        found = tools.figures("bench-native", "model", "--repeat", runs, target)
        line("an event of a span, decode + merge + whole model", f"{found['ns_per_event']:.0f} ns/event")
    finally:
        forget(target)
    model = explained = 0
    for name in EXPLAINED:
        found = tools.figures("bench-explain", os.path.join(HERE, "..", "traces", name), 3 * runs)
        part, each = found["explanation_part"], found["events"] / found["spans"]
        model += found["kernel_ms"]
        explained += part * found["kernel_ms"]
        line(f"explanation, of the kernel model ({name}, {each:.0f} events a span)", f"{part * 100:.0f} %")
    line("explanation, of the kernel model (all of these)", f"{explained / model * 100:.0f} %",
         f"(bar {EXPLAIN_BAR * 100:.0f} %)", explained <= EXPLAIN_BAR * model)


def forwarding(tools, runs):
    """What it costs to forward a span, beside reading it; the server's own time is not in it."""
    spans = 200000
    target = made_spans(tools, spans)
    server = Spans(always="accepted")
    try:
        for what, path in (("Zipkin", "/api/v2/spans"), ("OTLP", "/v1/traces")):
            costs = []
            for _ in range(runs):
                read, _ = measure([tools.blktop, "-b", "--view", "services", target])
                sent, _ = measure([tools.blktop, "-b", "--forward", f"http://127.0.0.1:{server.port}{path}", target])
                server.taken.clear()
                server.requests.clear()
                costs.append((sent - read) / spans)
            us = statistics.median(costs) * 1e6
            line(f"forwarding a span as {what}", f"{us:.1f} us",
                 f"(aim {FORWARD_AIM * 1e6 / FORWARD_SPANS:.0f} us: {FORWARD_SPANS} a second in {FORWARD_AIM} of a core)", True)
    finally:
        server.close()
        forget(target)


def serving(tools, trace, runs):
    """How long a scrape of many series takes: making the text, which was not asked for in this format yet, and reading it."""
    took = []
    for _ in range(runs):
        server = exposition.Served(tools.blktop, *SERVED, trace)
        try:
            server.until(lambda families: sum(len(f.samples) for f in families.values()) > 10000)
            begun = time.monotonic()
            text = server.get("application/openmetrics-text")[2]
            took.append(time.monotonic() - begun)
        finally:
            server.end()
    series = sum(not x.startswith("#") for x in text.splitlines())
    line(f"/metrics with {series:,} series", f"{statistics.median(took) * 1000:.0f} ms", "(aim 50 ms)", True)


def printed_memory(tools, trace, size, view, budget):
    """The peak of a printed view with a budget (MiB)."""
    _, peak = measure([*tools.reads, "-b", "--memory", f"{budget}M", "--view", *view.split(), "--format", "csv", trace])
    bar = budget + MEMORY_BESIDE
    line(f"-b --view {view} with --memory {budget}M, {size}", f"{peak:.0f} MiB", f"(bar {bar} MiB)", peak <= bar)


def span_memory(tools, millions):
    target = made_spans(tools, int(millions * 1000000))
    try:
        screen_memory(tools, target, f"{millions} million spans", SPANS_BUDGET)
        for view in ("services", "phases", "traces", "spans", "spans --sort duration"):
            printed_memory(tools, target, f"{millions} million spans", view, SPANS_BUDGET)
    finally:
        forget(target)
    target = made_spans(tools, 2000000, 10, 20000, 60)
    try:
        screen_memory(tools, target, "2 million spans with a text each", TEXTS_BUDGET)
        printed_memory(tools, target, "2 million spans with a text each", "phases", TEXTS_BUDGET)
    finally:
        forget(target)
    target = made_spans(tools, 400000, 10, 10000, 0, 64)
    try:
        screen_memory(tools, target, "400,000 spans with names of their own", NAMES_BUDGET)
        for view in ("phases", "traces", "spans --sort duration"):
            printed_memory(tools, target, "400,000 spans with names of their own", view, NAMES_BUDGET)
    finally:
        forget(target)


def processes_memory(tools, thousands):
    """A simulated part of a day of 10 million processes with buffers of their own: the peak no longer grows."""
    for budget in (NAMES_BUDGET, SPANS_BUDGET):
        found = tools.figures("bench-processes", str(thousands * 1000), str(budget << 20))
        peak, bar = found["peak_kib"] / 1024, budget + MEMORY_BESIDE
        line(f"{thousands},000 processes with buffers of their own, --memory {budget}M", f"{peak:.0f} MiB",
             f"(bar {bar} MiB)", peak <= bar)


def proc_field(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        for text in f:
            if text.startswith(name + ":"):
                return int(text.split()[1])
    return 0


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def drain(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


# ---- instructions ----

def instructions_once(tools, mode, repeat):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tools.path("bench-native"), mode,
               "--repeat", str(repeat), SMALL]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", said.stderr)
    if said.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)}\n{said.stderr}")
    events = re.search(r"^events (\d+)$", said.stdout, re.M)
    return int(found.group(1)), int(events.group(1))


def instructions(tools):
    """{step: instructions an event} on kernel-small: of two runs more, so that opening
    does not count; but merge and model open the trace each time: without that too."""
    opening = [instructions_once(tools, "index", repeat)[0] for repeat in (1, 3)]
    found = {}
    for mode in ("scan", "merge", "model"):
        (few, events), (many, _) = (instructions_once(tools, mode, repeat) for repeat in (1, 3))
        own = many - few - (0 if mode == "scan" else opening[1] - opening[0])
        found[mode] = own / 2 / events
    return found


def read_recorded():
    with open(RECORDED, encoding="ascii") as f:
        return {name: float(value) for name, value in (text.split() for text in f if not text.startswith("#"))}


def check_instructions(tools, record):
    if not shutil.which("valgrind"):
        skipped("instructions an event", "no valgrind here")
        return
    found = instructions(tools)
    if record:
        with open(RECORDED, "w", encoding="ascii") as f:
            f.write("# Instructions an event on tests/traces/kernel-small, by callgrind (bench.py --record).\n")
            f.writelines(f"{name} {value:.1f}\n" for name, value in found.items())
    recorded = read_recorded()
    for name, value in found.items():
        line(f"instructions an event, {name}", f"{value:.1f}",
             f"(recorded {recorded[name]:.1f}, at most {(REGRESSION_BAR - 1) * 100:.0f} % more)",
             value <= recorded[name] * REGRESSION_BAR)


# ---- all ----

def views(tools):
    print("Views and model", flush=True)
    if subprocess.run([tools.path("bench-show")], check=False).returncode != 0:
        missed.append("a second in a view")


def isolation_cost(tools, trace, runs):
    """The program with its filters of system calls and files, against --no-isolation, by turns."""
    view = ["-b", "-j", "1", "--view", "syscalls", "--format", "csv"]
    for what, path, times, bar in (("a run of the trace", trace, runs, ISOLATION_BAR),
                                   ("a run of a small one", SMALL, 4 * runs, 0)):
        seconds = ([], [])
        for run in range(times + 1):
            for which in (0, 1) if run % 2 else (1, 0):
                cpu, _ = measure([*tools.reads, *(["--no-isolation"] if which == 0 else []), *view, path])
                if run:  # the first warms the cache
                    seconds[which].append(cpu)
        ms = [statistics.median(of) * 1e3 for of in seconds]
        ratio = statistics.median(b / a for a, b in zip(*seconds))
        line(f"isolated, of not: {what}", f"{ratio:.3f}", f"({ms[1]:.1f} : {ms[0]:.1f} ms{f', bar {bar}' if bar else ''})",
             not bar or ratio <= bar)


THRESHOLDS = ("p99 of any > 3 x usual for 5", "errors of any > 0", "call.latency p99 by call,process > 10ms warn 5ms",
              "thread.time sum by process > 500ms", "losses > 0")


def by_turns(tools, trace, runs, what, name, bar=METRIC_BAR):
    """A row for the second command's time, as a ratio of the first one's."""
    seconds = ([], [])
    for run in range(runs + 1):
        for which in (0, 1) if run % 2 else (1, 0):
            cpu, _ = measure([*tools.reads, "-b", "-j", "1", "--format", "csv", *what[which], trace])
            if run:  # the first warms the cache
                seconds[which].append(cpu)
    ratio = statistics.median(b / a for a, b in zip(*seconds))
    ms = [statistics.median(of) * 1e3 for of in seconds]
    line(name, f"{ratio:.3f}", f"({ms[1]:.1f} : {ms[0]:.1f} ms, bar {bar})", ratio <= bar)


def pattern_cost(tools, runs):
    """Spans of 300 pairs of events: by one rule with a pattern, and by a rule for each pair."""
    trace = os.path.join(tools.build, "bench-trace", "calls")
    os.makedirs(trace, exist_ok=True)
    made_calls.write(trace, made_calls.story(1, 200_000)[0])
    what = []
    for name, rules in (("fixed", made_calls.FIXED), ("pattern", made_calls.PATTERN)):
        path = os.path.join(trace + "." + name)
        with open(path, "w", encoding="ascii") as f:
            f.write(rules)
        what.append(["--view", "services", "--spans", path])
    by_turns(tools, trace, runs, what, "spans by a pattern, of spans by 300 rules", PATTERN_BAR)
    forget(trace)


def metric_cost(tools, trace, runs):
    """A metric against the view of the same figures, thresholds against reading as much; and a metric of an hour with
    1,000 processes."""
    by_turns(tools, trace, runs, (["--view", "syscalls", "--by", "process"],
                                  ["--metric", "call.latency", "--by", "process,call"]), "a metric, of the view")
    rules = [word for rule in THRESHOLDS for word in ("--threshold", rule)]
    alerts = ["--view", "alerts", "--columns", "threshold,of,state,begin_ns,worst", *rules]     # no causes
    by_turns(tools, trace, runs, (["--view", "overview"], alerts), "five thresholds, of reading")
    found = tools.figures("bench-metric")
    line("a metric of an hour, 1,000 processes", f"{found['metric_us'] / 1e3:.0f} ms",
         f"(aim 200 ms; the view syscalls: {found['view_us'] / 1e3:.0f} ms)", True)
    found = tools.figures("bench-heatmap")
    line("a heatmap of an hour, 1,000 processes", f"{found['heatmap_us'] / 1e3:.1f} ms",
         f"(aim 50 ms; the first frame {found['heatmap_first_us'] / 1e3:.0f} ms; to add the same cells' counts: "
         f"{found['add_us'] / 1e3:.0f} ms)", True)


def sending_cost(tools, trace, runs):
    """Reading with all that can be sent of a recording, of reading alone."""
    server, file = Spans(always="accepted"), os.path.join(tools.build, "bench-trace", "blktop.prom")
    os.makedirs(os.path.dirname(file), exist_ok=True)
    sends = ["--metrics-file", file, "--forward", f"http://127.0.0.1:{server.port}/v1/traces", "--forward-kernel"]
    by_turns(tools, trace, runs, (["--view", "overview"], ["--view", "overview", *sends]), "metrics and spans sent, of reading")
    server.close()
    if os.path.exists(file):
        os.unlink(file)


def zoom_step(tools, trace):
    """A step of zooming in the timeline, beside reading the same records only."""
    found = tools.figures("bench-zoom", trace)
    line("a zoom step of the timeline, 120 cells of 1 ms", f"{found['zoom_us'] / 1e3:.0f} ms",
         f"(aim 100 ms; only reading as much: {found['read_us'] / 1e3:.0f} ms)", True)


def reopening(tools, trace, runs, size):
    """Until a view is printed, and until the first screen is drawn: without the cache, when it is stored, and from the cache."""
    home = os.path.join(tools.build, "bench-trace", "cache")
    picture = os.path.join(tools.build, "bench-trace", "first.svg")
    os.environ["XDG_CACHE_HOME"] = home
    then = time.time() - 60             # what was made just now would not be stored
    for where, _, names in os.walk(trace):
        for path in (os.path.join(where, name) for name in names):
            if os.stat(path).st_mtime > then:
                os.utime(path, (then, then))
    stored = [tools.blktop, "--cache-after", "0"]
    for what, words in (("view syscalls", ["-b", "--view", "syscalls", "--format", "csv"]),
                        ("view spans", ["-b", "--view", "spans", "--format", "csv"]),
                        ("the first screen", ["--config", "none", "--screenshot", picture, "--force"])):
        took = {"plain": [], "stores": [], "cached": []}
        for _ in range(runs):
            took["plain"].append(wall_of([*tools.reads, *words, trace]))
            shutil.rmtree(home, ignore_errors=True)
            took["stores"].append(wall_of([*stored, *words, trace]))
            took["cached"].append(wall_of([*stored, *words, trace]))
        plain, stores, cached = (min(took[key]) * 1e3 for key in ("plain", "stores", "cached"))
        kept = sum(os.path.getsize(os.path.join(home, "blktop", f)) for f in os.listdir(home + "/blktop"))
        screen = "--screenshot" in words
        line(f"{what} of {size} again", f"{cached:.0f} ms",
             f"({f'bar {AGAIN_BAR} ms; ' if screen else ''}read: {plain:.0f} ms; read and stored, {kept / 1e6:.1f} MB: {stores:.0f} ms)",
             not screen or cached <= AGAIN_BAR)
    shutil.rmtree(home, ignore_errors=True)
    os.unlink(picture)


def reduces(tools, trace, slices):
    """Many small slices, merged as a tree."""
    target = os.path.join(tools.build, "bench-trace", "slices")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    found = tools.figures("bench-reduce", trace, slices, 16, target)
    shutil.rmtree(target)
    line(f"a reduce of {slices} slices, {found['map_bytes'] / slices / 1e3:.1f} kB each, a slice that is read",
         f"{found['reduce_ms'] / found['merged']:.2f} ms",
         f"(a map: {found['map_ms'] / slices:.2f} ms; result {found['last_bytes'] / 1e6:.1f} MB, its reduce {found['last_ms']:.0f} ms; "
         f"peak {found['peak_mib']:.0f} MiB)")


def slice_files(tools, trace, runs):
    """What it costs to map a trace, beside reading it on one thread, and to reduce four slices of it, beside their maps."""
    target = os.path.join(tools.build, "bench-trace", "quarters")
    os.makedirs(target, exist_ok=True)
    whole, both = os.path.join(target, "whole.blkslice"), os.path.join(target, "both.blkslice")
    quarters = [os.path.join(target, f"{i}.blkslice") for i in range(4)]
    ends = [[], ["--from", "25%"], ["--from", "50%"], ["--from", "75%"]]
    for i, to in enumerate(("25%", "50%", "75%")):
        ends[i] = [*ends[i], "--to", to]
    taken = {"read": [], "map": [], "maps": [], "reduce": []}
    peak = 0
    for _ in range(runs):
        taken["read"].append(measure([*tools.reads, "-b", "-j", "1", "--view", "overview", "--format", "csv", trace])[0])
        taken["map"].append(measure([tools.blktop, "map", "--force", trace, "-o", whole])[0])
        taken["maps"].append(sum(measure([tools.blktop, "map", "--force", *end, trace, "-o", out])[0]
                                 for end, out in zip(ends, quarters)))
        cpu, mib = measure([tools.blktop, "reduce", "--force", *quarters, "-o", both])
        taken["reduce"].append(cpu)
        peak = max(peak, mib)
    read, mapped, maps, reduced = (statistics.median(of) for of in taken.values())
    share = os.path.getsize(whole) / sum(os.path.getsize(os.path.join(where, name))
                                         for where, _, names in os.walk(trace) for name in names)
    pair = [[tools.blktop, "map", "--force", *end, trace, "-o", out] for end, out in list(zip(ends, quarters))[1:3]]
    gain = statistics.median((wall_of(pair[0]) + wall_of(pair[1])) / wall_of(*pair) for _ in range(runs))
    line("a map, of reading on one thread", f"{mapped / read:.2f}", f"({mapped * 1e3:.0f} : {read * 1e3:.0f} ms, bar {MAP_BAR})",
         mapped <= read * MAP_BAR)
    line("its slice file, of the trace", f"{share * 100:.2f} %", f"(bar {SLICE_BAR * 100:.0f} %)", share <= SLICE_BAR)
    line("a reduce of four slices, of their maps", f"{reduced / maps * 100:.1f} %",
         f"({reduced * 1e3:.0f} : {maps * 1e3:.0f} ms, bar {REDUCE_BAR * 100:.0f} %; peak {peak:.0f} MiB)", reduced <= maps * REDUCE_BAR)
    line("two maps at once, of one after the other", f"{gain:.2f} x faster", f"(aim {TWO_MAPS_AIM} x)")
    shutil.rmtree(target)


def the_trace(tools, trace, runs):
    print("The trace", flush=True)
    events = steps(tools, trace, runs)
    speed(tools, trace, events, runs)
    isolation_cost(tools, trace, 2 * runs)
    metric_cost(tools, trace, runs)
    sending_cost(tools, trace, runs)
    zoom_step(tools, trace)
    whole_process(tools, "the trace", trace, runs, PROCESS_BAR)
    reopening(tools, trace, runs, "the trace")
    reduces(tools, trace, 1000)


def long_trace(tools, trace, size):
    """babeltrace2 takes minutes for 10 GB, and no other time an event: not there."""
    print(f"{size} of it", flush=True)
    big = int(size[:-1]) > 2
    target = amplified(tools, trace, size)
    if not target:
        skipped(f"{size} of the trace", "no room on the disk")
        return
    try:
        if not big:
            speed(tools, target, steps(tools, target, 2), 2)
        threads(tools, target, 1 if big else 3)
        instants(tools, target, size)
        zoom_step(tools, target)
        if not big:
            slice_files(tools, target, 3)
        reopening(tools, target, 1 if big else 3, size)
        screen_memory(tools, target, size)
    finally:
        forget(target)


def open_second(tools):
    """Seconds from the start of a live session until its open second is on the screen."""
    live = Tools(tools.build, tools.blktop)
    live.reads = [tools.blktop]
    begin = time.monotonic()
    pid, terminal = start_screen(live, 40, 120, "-y", "--kernel", "tracefs", "--no-spool")
    try:
        return time.monotonic() - begin if wait_for(terminal, "second 1 of") else None      # open, or closed by now
    finally:
        end_screen(pid, terminal)


def kernel_buffers(tools, runs):
    """The kernel's own ring buffer: transcoding, capture, start."""
    print("The kernel by its own ring buffer", flush=True)
    rows = ("transcoding an event, of copying its bytes", "capture at 800,000 events a second, of a core",
            "from the start to the open second on the screen")
    why = tracefs.usable()
    if why:
        for what in rows:
            skipped(what, why)
        return
    path = os.path.join(tools.build, "bench-trace", "ring.dat")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        tracefs.record(path, 2)
        found = [tools.figures("bench-ring", path, 3) for _ in range(runs)]
    finally:
        forget_file(path)
    own, copied = (min(f[key] for f in found) for key in ("ns_per_event", "copy_ns_per_event"))
    ratio = statistics.median(f["ns_per_event"] / f["copy_ns_per_event"] for f in found)
    line(rows[0], f"{ratio:.1f} x", f"({own:.1f} : {copied:.1f} ns of {found[0]['events'] / 1e6:.1f} million events, bar {RING_BAR} x)",
         ratio <= RING_BAR)
    reader = tracefs.capture(tools.build, 3)
    share = reader["best_ns_per_event"] * 800000 / 1e9
    line(rows[1], f"{share * 100:.1f} %", f"({reader['best_ns_per_event']:.0f} ns an event, {reader['ns_per_event']:.0f} on average at "
         f"{reader['rate'] / 1e3:.0f} thousand a second, {reader['lost']:.0f} lost; bar {CAPTURE_BAR * 100:.0f} %)", share <= CAPTURE_BAR)
    took = [seconds for seconds in (open_second(tools) for _ in range(runs)) if seconds is not None]
    if took:
        line(rows[2], f"{min(took) * 1e3:.0f} ms", f"(wall, best of {len(took)}, bar {OPEN_BAR} s)", min(took) < OPEN_BAR)
    else:
        line(rows[2], "-", "it did not come", False)


def all_rows(tools, sizes, runs):
    trace, why = busy_trace.find(tools.build)
    if trace and "10G" in sizes:
        reduces(tools, trace, 10000)
    views(tools)
    formats(tools, runs)
    kernel_buffers(tools, runs)
    print("Short threads", flush=True)
    short = busy_trace.unpacked(tools.build, MANY_THREADS, "many-threads")
    whole_process(tools, "8,600 short threads", short, runs, SHORT_THREADS_BAR)
    if why:
        skipped("all that needs a busy trace", why)
    print("Spans", flush=True)
    span_costs(tools, runs)
    pattern_cost(tools, runs)
    scrolling(tools)
    span_memory(tools, 13.5 if "10G" in sizes else 3)
    processes_memory(tools, 10000 if "10G" in sizes else 200)
    for size in sizes if trace else []:
        if size == "1":
            the_trace(tools, trace, runs)
        else:
            long_trace(tools, trace, size)
    print("Sending", flush=True)      # last: a child's peak of memory includes that of this process, which receives the spans
    forwarding(tools, runs)
    serving(tools, short, runs)
    if trace and "10G" not in sizes:
        skipped("10 GB of it", "make bench-big")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--blktop", default="build/blktop")
    parser.add_argument("--build", default="build")
    parser.add_argument("--sizes", default="1,1G", help="1: the trace as it is; 1G, 10G: so much of it (1,1G)")
    parser.add_argument("--tracefs", action="store_true", help="only the kernel's own ring buffer")
    parser.add_argument("--formats", action="store_true", help="only CTF 2 against CTF 1.8")
    parser.add_argument("--check", action="store_true", help="only the instructions, against those recorded")
    parser.add_argument("--record", action="store_true", help="only the instructions: records them")
    args = parser.parse_args()
    tools = Tools(args.build, args.blktop)
    runs = int(os.environ.get("BENCH_RUNS", "5"))
    if args.formats:
        formats(tools, runs)
    elif args.tracefs:
        kernel_buffers(tools, runs)
    else:
        if not (args.check or args.record):
            all_rows(tools, args.sizes.split(","), runs)
        print("Instructions", flush=True)
        check_instructions(tools, args.record)
    print(f"missed: {', '.join(missed)}" if missed else "every bar is reached")
    sys.exit(1 if missed else 0)


main()
