#!/usr/bin/env python3
"""The program's commands on damaged recordings: each ends by itself, with a known exit status, in bounded time and
memory, and the sanitizers find nothing.

    RUNS       commands of each kind of damage (600)
    FIRST      number of the first damaged trace (1); the same numbers make the same traces
    DAMAGE     parts that contradict each other (relations), any bytes (noise), or both with a comma between (both)
    PROGRAMS   sanitizers, release, or both (both), where they are built
    JOBS       commands at once (as many as there are processors)
    FINDINGS   directory that keeps what broke it (BUILD/findings)

Damage of relations is of small recordings by tests/tools/mutate-trace; noise is of whole ones, by this.
"""
import collections
import concurrent.futures
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

BUILD = os.path.abspath(tap.BUILD)
RUNS = int(os.environ.get("RUNS", "600"))
FIRST = int(os.environ.get("FIRST", "1"))
FINDINGS = pathlib.Path(os.environ.get("FINDINGS", BUILD + "/findings"))
PROGRAMS = {"sanitizers": BUILD + "-asan/blktop", "release": BUILD + "/blktop"}
EACH = 4                                # commands of one trace
# seconds, bytes: of the small ones a release build ends within 2 s; others may run beside.
LIMITS = {("release", "relations"): (2, 200 << 20), ("release", "noise"): (10, 1 << 30),
          ("sanitizers", "relations"): (10, 1 << 30), ("sanitizers", "noise"): (60, 2 << 30)}
SMALL = ["kernel-small/trace", "kernel-ust/trace", "lost/trace", "lost/trace-overwrite", "rotation/trace", "ust-fields/trace",
         "containers/trace", "block/trace", "net/trace", "demo/trace", "faults/trace", "ctf2/lost/trace", "ctf2/demo/trace",
         "ctf2/ust-both/ctf-2"]
LARGE = ["kernel-small/trace", "rotation/trace", "lost/trace", "lost/trace-overwrite", "kernel-ust/trace", "ust-fields/trace",
         "containers/trace", "snapshot/trace", "ctf2/lost/trace", "ctf2/ust-both/ctf-2"]
VIEWS = ["overview", "processes", "process", "syscalls", "files", "devices", "interrupts", "scheduler", "wakers", "cpus",
         "events", "losses", "counters", "spans", "traces", "services", "phases", "slow", "slow-spans", "open", "changed",
         "peers", "io", "path", "compare", "waterfall"]
KEYS = [b"\t", b"\r", b"\x1b", b"j", b"k", b"\x1b[B", b"\x1b[A", b"\x1b[C", b"\x1b[D", b"\x1b[6~", b"\x1b[5~", b"\x1b[H",
        b"\x1b[F", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"0", b"w", b"s", b"l", b"t", b"+", b"-", b"?",
        b"/a\r", b"b", b"e", b"g50%\r", b"\x1bOR", b"\x1b[18~", b"<", b">", b"i", b"p"]

# ---- damage ----


def copy_small(number, to, seeds):
    subprocess.run([BUILD + "/tools/mutate-trace", str(number), to, *seeds], check=True)


def change_number(data, r):
    """In metadata: one number becomes another one."""
    found = list(re.finditer(rb"(?<![\w])\d+", data))
    if not found:
        return data
    at = r.choice(found)
    new = r.choice([0, 1, 7, 8, 64, 65, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, int(at.group()) + 1, int(at.group()) * 8])
    return data[:at.start()] + str(new).encode() + data[at.end():]


def change_noise(data, r):
    """Bits flipped, runs of bytes away, twice, exchanged, zeroed; near the beginnings of packets more often."""
    n = len(data)
    if not n:
        return data
    size = min(n, r.choice([1, 8, 84, 512, 4096, 65536]))
    at = r.randrange(0, n - size + 1)
    if r.random() < 0.5:
        at -= at % 4096
    to = r.randrange(0, n - size + 1)
    how = r.randrange(8)
    if how < 3:
        data = bytearray(data)
        for _ in range(r.choice([1, 3, 20, 200])):
            data[min(n - 1, at + r.randrange(size))] ^= 1 << r.randrange(8)
        return bytes(data)
    if how == 3:
        return data[:at] + data[at + size:]
    if how == 4:
        return data[:to] + data[at:at + size] + data[to:]
    if how == 5:
        return data[:to] + data[at:at + size] + data[to + size:]
    if how == 6:
        return data[:at] + r.choice([b"\0", b"\xff", b"\x7f"]) * size + data[at + size:]
    return data[:r.randrange(n)]


def copy_large(number, to, recordings):
    r = random.Random(number)
    shutil.copytree(r.choice(recordings), to, dirs_exist_ok=True)
    paths = sorted(p for p in pathlib.Path(to).rglob("*") if p.is_file())
    for _ in range(r.choice([1, 1, 2, 5])):
        path = r.choice(paths)
        data = path.read_bytes()
        if r.random() < 0.05:
            other = r.choice(paths)
            path.write_bytes(other.read_bytes())
            other.write_bytes(data)
        elif path.name == "metadata" and r.random() < 0.6:
            path.write_bytes(change_number(data, r))
        else:
            path.write_bytes(change_noise(data, r))
    if r.random() < 0.5:
        for index in pathlib.Path(to).rglob("index"):
            shutil.rmtree(index)


# ---- commands ----


def command(r, trace, out):
    """Arguments; None: the screen."""
    kind = r.randrange(20)
    scope = r.choice([[], [], ["--from", "50%"], ["--from", "+1s", "--to", "+2s"], ["--to", "end"]])
    if kind == 0:
        return None
    if kind == 1:
        return ["--doctor", *r.choice([[], ["--format", "json"]]), trace]
    if kind < 4:
        return ["log", *scope, *r.choice([[], ["--format", "json"]]), trace]
    if kind == 4:
        return ["save", "--from", "50%", "--to", "end", "-o", out, trace]
    if kind == 5:
        return ["report", *scope, trace]
    if kind < 8:
        return ["--export-slowest", "3", "--format", r.choice(["zipkin", "otlp", "perfetto", "json"]),
                *r.choice([[], ["--with-kernel"]]), "-o", out, trace]
    more = r.choice([[], [], ["--each"], ["--align-hosts"], ["-j", "2", "--slices", "3"], ["--memory", "16M"], ["--step", "100ms"]])
    return ["-b", "--view", r.choice(VIEWS), *more, *scope, "--format", r.choice(["text", "json", "csv"]), trace]


class Ended:
    def __init__(self, status, seconds, memory, said):
        self.status, self.seconds, self.memory, self.said = status, seconds, memory, said


def finish(process, seconds):
    """Its exit status, and its memory at most; it is killed where it does not end."""
    fd = os.pidfd_open(process.pid)
    in_time = bool(select.select([fd], [], [], seconds)[0])
    os.close(fd)
    if not in_time:
        os.kill(process.pid, signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0              # it was waited for
    return os.waitstatus_to_exitcode(status) if in_time else "none: it did not end", usage.ru_maxrss << 10


def run_batch(program, arguments, seconds):
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said, open(os.devnull, "r+b") as null:
        process = subprocess.Popen([program, *arguments], stdin=null, stdout=null, stderr=said)  # wait4() ends it
        status, memory = finish(process, seconds)
        said.seek(0)
        return Ended(status, time.monotonic() - begin, memory, said.read().decode(errors="replace"))


def run_screen(program, r, trace, seconds):
    """Some keys on a terminal; then it quits, or SIGTERM ends it within a second."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        master, slave = pty.openpty()
        process = subprocess.Popen([program, trace], stdin=slave, stdout=slave, stderr=said, start_new_session=True,
                                   env={**os.environ, "TERM": "xterm-256color"}, cwd=os.path.dirname(trace))  # keys may save
        os.close(slave)
        for key in [*(r.choice(KEYS) for _ in range(r.randrange(12))), b""]:
            if select.select([master], [], [], seconds if key == b"" else 0.5)[0]:
                read_all(master)
            if key:
                write(master, key)
        os.kill(process.pid, signal.SIGTERM)
        reader = threading.Thread(target=drain, args=(master,))
        reader.start()
        status, memory = finish(process, 1 if program == PROGRAMS["release"] else 5)
        reader.join()
        os.close(master)
        said.seek(0)
        return Ended(0 if status in (-signal.SIGTERM, 128 + signal.SIGTERM) else status, time.monotonic() - begin, memory,
                     said.read().decode(errors="replace"))


def write(fd, data):
    try:
        os.write(fd, data)
    except OSError:
        pass                            # it has ended


def read_all(fd):
    try:
        while select.select([fd], [], [], 0)[0] and os.read(fd, 65536):
            pass
    except OSError:
        pass


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def problems(ended, seconds, memory):
    if ended.status not in (0, 1, 2, 3, 4):
        yield f"exit status {ended.status}"
    if re.search(r"Sanitizer|runtime error|CRITICAL \*\*|ERROR \*\*", ended.said):
        yield next(line for line in ended.said.splitlines() if re.search(r"Sanitizer|runtime error|CRITICAL|ERROR", line))
    if ended.status == 1 and not ended.said:
        yield "exit status 1 without a message"
    if ended.seconds > seconds:
        yield f"took {ended.seconds:.1f} s"
    if ended.memory > memory:
        yield f"took {ended.memory >> 20} MB"


# ---- all of it ----


class Campaign:
    def __init__(self, damage, program, work):
        self.damage, self.name, self.program, self.work = damage, program, PROGRAMS[program], work
        self.lock, self.wrong, self.runs = threading.Lock(), [], 0
        self.slowest, self.largest, self.statuses = (0, ""), (0, ""), collections.Counter()
        if damage == "relations":
            self.sources = make_seeds(work)
        else:
            self.sources = [os.path.join("tests/traces", t) for t in LARGE if os.path.isdir(os.path.join("tests/traces", t))]

    def one_trace(self, number):
        with tempfile.TemporaryDirectory(dir=self.work) as place:
            trace = os.path.join(place, "trace")
            os.mkdir(trace)
            (copy_small if self.damage == "relations" else copy_large)(number, trace, self.sources)
            r = random.Random(number)
            for each in range(EACH):
                out = os.path.join(place, f"out{each}")
                self.one_command(number, r, trace, out)

    def one_command(self, number, r, trace, out):
        seconds, memory = LIMITS[self.name, self.damage]
        arguments = command(r, trace, out)
        if arguments is None:
            ended, shown = run_screen(self.program, r, trace, seconds), "the screen"
            seconds = ended.seconds     # keys are waited for
        else:
            ended = run_batch(self.program, arguments, seconds + 5)
            shown = " ".join(arguments).replace(trace, "TRACE").replace(out, "OUT")
        wrong = list(problems(ended, seconds, memory))
        with self.lock:
            self.runs += 1
            self.statuses[ended.status] += 1
            self.slowest = max(self.slowest, (ended.seconds if arguments else 0, f"{shown}, {number}"))
            self.largest = max(self.largest, (ended.memory, f"{shown}, {number}"))
            self.wrong += [f"trace {number}: {shown}: {w}" for w in wrong]
        if wrong:
            self.keep(number, trace, shown, wrong, ended.said)

    def keep(self, number, trace, shown, wrong, said):
        place = FINDINGS / f"{self.damage}-{number}"
        if not place.exists():
            shutil.copytree(trace, place / "trace")
        with open(place / f"said-{self.name}", "a", encoding="utf-8") as f:
            f.write(f"{shown}\n{wrong}\n{said[-8000:]}\n")

    def run(self):
        begin = time.monotonic()
        traces = range(FIRST, FIRST + (RUNS + EACH - 1) // EACH)
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 1))) as pool:
            for future in [pool.submit(self.one_trace, n) for n in traces]:
                future.result()
        rate = self.runs / (time.monotonic() - begin)
        print(f"# {self.damage}, {self.name}: {self.runs} commands, {rate:.1f} a second, on traces {traces[0]} to {traces[-1]};"
              f" exit statuses {dict(self.statuses)}")
        print(f"# slowest: {self.slowest[0]:.2f} s ({self.slowest[1]}); largest: {self.largest[0] >> 20} MB ({self.largest[1]})")
        tap.ok(f"{self.damage}, {self.name}: {self.runs} commands", self.wrong)


def make_seeds(work):
    seeds = []
    for number, recording in enumerate(SMALL):
        for skip, count, size in ((0, 2, 30000), (3, 3, 60000)):
            seed = os.path.join(work, f"seed{number}-{skip}")
            made = subprocess.run([BUILD + "/tools/make-seed", os.path.join("tests/traces", recording), seed, str(skip), str(count),
                                   str(size)], stderr=subprocess.DEVNULL, check=False)
            if made.returncode == 0 and os.path.exists(seed):
                seeds.append(seed)
    return seeds


def main():
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0:allocator_may_return_null=0")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    os.environ.setdefault("LSAN_OPTIONS", f"suppressions={os.getcwd()}/tests/lsan.supp:print_suppressions=0")
    os.environ.setdefault("G_DEBUG", "fatal-criticals")
    chosen = os.environ.get("PROGRAMS", "both")
    damages = os.environ.get("DAMAGE", "both").replace("both", "relations,noise").split(",")
    for name, program in PROGRAMS.items():
        for damage in damages:
            if chosen not in (name, "both"):
                continue
            if not os.access(program, os.X_OK):
                tap.skip(f"{damage}, {name}", f"{program} is not built: make asan-tests")
                continue
            with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
                Campaign(damage, name, work).run()
    tap.done()


main()
