#!/usr/bin/env python3
"""make bench-live: live sessions, followed and read from their beginning, measured beside babeltrace2.

Private relay and session daemons (tests/live/lab) and a traced program; nothing of the
machine's is touched. CPU time is that of whole processes, the viewer's alone: daemons and
the traced program take theirs beside it. Rows marked "wall" are times on the wall: they
are blktop's only where the machine is quiet and has cores for all of them. The table is of
one run. Every wait has an end: what does not come is a row that says what was waited for,
and the others are measured all the same.

    bench_live.py --build BUILD --blktop BLKTOP [--seconds N] [--rate EVENTS] [--only PART,...]

Exit status 1: a bar is missed; 0 with "skipped" where there is no LTTng.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import busy_trace

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "..", "live", "lab")
RELAY = os.path.join(HERE, "..", "cli", "hostile_relay.py")
EVENTS_A_TRACE = 22      # of spangen, on average
DRAIN_BAR = 5e6          # events a second and core, records only
FOLLOW_BAR = 0.2         # of a core
IDLE_BAR = 0.01
TIMER = 1                # s: the live timer
LAG_SPARE = 500          # ms that closing a second may take beside the live timer
MEMORY = 128             # --memory, MiB
MEMORY_SPARE = 192       # MiB: the program, what the last two minutes may be corrected by, packets not decoded yet
DENSE_SPANS = 3000000
DENSE_MEMORY = (16, 64)  # --memory, MiB
DENSE_SPARE = 64         # MiB beside
LIMIT = 120              # s: of what takes seconds
LIMIT_SOAK = 60          # s, and a tenth of what is replayed
missed = []


class Late(Exception):
    """What did not come in time."""


def line(what, value, bar="", good=True):
    if not good:
        missed.append(what)
    print(f"  {what:70} {value:>20}  {bar}{'' if good else '  MISSED'}", flush=True)


def run(command, limit=LIMIT, **options):
    try:
        return subprocess.run(command, timeout=limit, text=True, check=False, **options)
    except subprocess.TimeoutExpired:
        raise Late(f"{os.path.basename(command[0])} {' '.join(command[1:3])} did not end within {limit} s") from None


def end_process(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Lab:
    """A relay, a session daemon and a live session, until the with-block ends."""

    def __init__(self, timer_us, **env):
        self.home = tempfile.mkdtemp(prefix="bl.", dir="/tmp")
        os.chmod(self.home, 0o711)
        self.dir = os.path.join(self.home, "lab")
        self.env = dict(os.environ, LAB_DIR=self.dir, LAB_APPS="0", LAB_LIVE_US=str(timer_us), LAB_SUBBUF="2M",
                        LAB_NUM_SUBBUF="8", **env) if "LAB_APPS" not in env else \
            dict(os.environ, LAB_DIR=self.dir, LAB_LIVE_US=str(timer_us), **env)

    def __enter__(self):
        # Into files: the daemons would keep a pipe open.
        with open(os.path.join(self.home, "up"), "w+", encoding="utf-8") as out, \
                open(os.path.join(self.home, "err"), "w+", encoding="utf-8") as err:
            try:
                up = run([os.path.join(LAB, "lab-up")], env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            except Late:
                self.__exit__()
                raise
            out.seek(0)
            err.seek(0)
            said, why = out.read(), err.read().strip()
        if up.returncode:
            shutil.rmtree(self.home, ignore_errors=True)
            print(f"skipped: {why}")
            sys.exit(bool(missed))
        self.url = said.split("LAB_URL='")[1].split("'")[0]
        return self

    def __exit__(self, *_):
        run([os.path.join(LAB, "lab-down")], env=self.env)
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, *command, limit=LIMIT):
        return run([os.path.join(LAB, "lab-run"), *command], limit, env=self.env, stdin=subprocess.DEVNULL,
                   capture_output=True).stdout

    def generate(self, rate, seconds):
        """Events emitted (some may be discarded). rate 0: as many as go."""
        said = self.run(self.dir + "/bin/spangen", "-t", "2", "-r", str(rate / 2 / EVENTS_A_TRACE), "-l", "0",
                        "-u", "0", "-s", str(seconds), limit=seconds + LIMIT)
        return int(said.split()[3])


class Viewer:
    """A process that reads the session; ready: what it says first."""

    def __init__(self, command, ready=None):
        # pylint: disable=consider-using-with
        self.name = " ".join([os.path.basename(command[0]), *command[1:2]])
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.said = ""
        until = time.monotonic() + LIMIT
        while ready and ready not in self.said and self.process.poll() is None:
            if select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))[0]:
                self.said += self.process.stdout.readline()
            else:
                end_process(self.process)
                raise Late(f"{self.name} did not say \"{ready}\" within {LIMIT} s")

    def end(self, sig=None, limit=LIMIT):
        if sig:
            self.process.send_signal(sig)
        try:
            self.said += self.process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            end_process(self.process)
            raise Late(f"{self.name} did not end within {limit} s") from None
        return self

    def figures(self):
        if not self.said:
            raise Late(f"{self.name} said nothing")
        return {k: float(v) for k, v in (text.split() for text in self.said.splitlines())}


class Stored:
    """A relay of our own that gives out a directory of traces, once and from its beginning, at a pace or at once."""

    def __init__(self, traces, work, pace=0):
        self.port_file = os.path.join(work, "port")
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([sys.executable, RELAY, traces, self.port_file, "ends", str(pace)])

    def __enter__(self):
        until = time.monotonic() + LIMIT
        while not os.path.exists(self.port_file):
            if time.monotonic() > until or self.process.poll() is not None:
                self.__exit__()
                raise Late("the relay of our own did not listen")
            time.sleep(0.02)
        self.url = f"net://127.0.0.1:{pathlib.Path(self.port_file).read_text('ascii')}/host/web1/prod"
        return self

    def __exit__(self, *_):
        end_process(self.process)
        pathlib.Path(self.port_file).unlink(missing_ok=True)


class Screen:
    """blktop in a terminal of tmux; .process is its process id."""

    def __init__(self, work, command):
        self.tmux = ["tmux", "-S", os.path.join(work, "tmux"), "-f", "/dev/null"]
        run([*self.tmux, "new-session", "-d", "-s", "now", "-x", "140", "-y", "45", "exec " + shlex.join(command)],
            env=dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_STATE_HOME=work))
        self.process = int(self.ask("display", "-p", "-t", "now", "#{pane_pid}") or 0)

    def ask(self, *what):
        return run([*self.tmux, *what], capture_output=True).stdout

    def text(self):
        return self.ask("capture-pane", "-p", "-t", "now")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run([*self.tmux, "kill-server"], capture_output=True)


def cpu_now(pid, threads=""):
    """CPU seconds of a process that runs; threads="/task/N": of a thread of it."""
    with open(f"/proc/{pid}{threads}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of(what):
    """CPU seconds of the children that ended while what() ran, what it returned."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    value = what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, value


def drain_once(tools, what, mode, url, bar, runs=3):
    best, f = 0, {}
    for _ in range(runs):
        f = Viewer([tools.bench, *mode, url]).end().figures()
        best = max(best, f["events"] / (f["cpu_ms"] / 1000))
    line(f"{what}: events a second and core, of {f['events'] / 1e6:.1f} million", f"{best / 1e6:.2f} M",
         f"(at least {bar / 1e6:.0f} M)" if bar else "", best >= bar)
    if f["late"]:
        line(f"{what}: late", f"{f['late']:.0f}", "(none)", False)
    return f["events"]


def drain(tools):
    print("A stored session, from its beginning", flush=True)
    with Lab(1000000) as lab:
        lab.generate(0, 2)
        lab.run("lttng", "--no-sessiond", "stop", "spans")
        n = drain_once(tools, "records, merged", ["drain"], lab.url, DRAIN_BAR)
        drain_once(tools, "and the whole model", ["model"], lab.url, 0)
        if not shutil.which("babeltrace2"):
            return
        with Stored(os.path.join(lab.dir, "traces"), lab.home) as relay:
            cpu, _ = cpu_of(lambda: Viewer(["babeltrace2", "-i", "lttng-live", relay.url, "-o", "dummy"]).end())
        line("babeltrace2 -i lttng-live -o dummy, from a relay of our own", f"{n / cpu / 1e6:.2f} M")


def wait_until_calm(pid, seconds=0.5):
    """Until it has done what it was given: takes less than a tenth of a core for so many seconds."""
    until, before = time.monotonic() + LIMIT, -1
    while (now := cpu_now(pid)) - before > 0.1 * seconds or before < 0:
        if time.monotonic() > until:
            raise Late(f"process {pid} was still busy after {LIMIT} s")
        before = now
        time.sleep(seconds)


def wait_until_connected(url):
    """Until a viewer has a connection to the relay."""
    port, until = int(re.search(r":(\d+)/", url)[1]), time.monotonic() + LIMIT
    while not any(line.split()[2].endswith(f":{port:04X}") and line.split()[3] == "01"     # remote address, ESTABLISHED
                  for line in pathlib.Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]):
        if time.monotonic() > until:
            raise Late(f"no viewer was connected within {LIMIT} s")
        time.sleep(0.02)


def show_share(what, cpu, events, seconds, bar):
    share = cpu / seconds
    line(f"{what}: of a core, {events / seconds / 1000:.0f} k events/s emitted", f"{share:.3f}",
         f"(at most {bar})" if bar else "", not bar or share <= bar)


class Shares:
    """The CPU time of a screen, and of its first thread, which draws it, from now on."""

    def __init__(self, pid):
        self.pid, self.drawing = pid, f"/task/{pid}"
        self.all, self.drawn = cpu_now(pid), cpu_now(pid, self.drawing)

    def show(self, events, seconds, bar):
        show_share("blktop, the screen", cpu_now(self.pid) - self.all, events, seconds, bar)
        show_share("  of it the thread that draws", cpu_now(self.pid, self.drawing) - self.drawn, events, seconds, 0)


def follow_screen(tools, lab, rate, seconds):
    command = [tools.blktop, "--config", "none", "--no-spool", "-r", lab.url]
    with Screen(lab.home, command) as screen:
        wait_for_screen(screen, "LIVE", LIMIT)
        shares = Shares(screen.process)
        events = lab.generate(rate, seconds)
        wait_until_calm(screen.process)
        shares.show(events, seconds, 0)


def busy(tools):
    """A recording of a busy kernel, at the rate, from a relay of our own."""
    print(f"A busy kernel at {tools.rate} events/s", flush=True)
    trace, why = busy_trace.find(tools.build)
    if not trace or not shutil.which("tmux"):
        print(f"  skipped: {why or 'tmux is not installed'}")
        return
    counted = json.loads(run([tools.blktop, "-b", "--view", "events", "--format", "json", trace], capture_output=True).stdout)
    events = sum(row["count"] for row in counted["rows"])
    recorded = (counted["range"]["to_ns"] - counted["range"]["from_ns"]) / 1e9
    seconds = events / tools.rate
    with tempfile.TemporaryDirectory(dir=tools.build) as work, Stored(trace, work, recorded / seconds) as relay:
        command = [tools.blktop, "--config", "none", "--no-spool", "--from-beginning", "-r", relay.url]
        with Screen(work, command) as screen:
            shares = Shares(screen.process)
            wait_for_screen(screen, "AT THE END", LIMIT)
            shares.show(events, seconds, FOLLOW_BAR)


def follow(tools):
    """The same traffic for each viewer, one after the other: a relay lets one in."""
    rate, seconds = tools.rate, tools.seconds
    print(f"Following {rate} events/s for {seconds} s", flush=True)
    commands = (
        ("records, merged", [tools.bench, "follow", "--seconds", str(seconds + 3)], "attached", None, FOLLOW_BAR),
        ("blktop -b", [tools.blktop, "-b", "--each", "-n", str(seconds + 3), "-r"], None, None, FOLLOW_BAR),
        ("blktop -b --view services", [tools.blktop, "-b", "--view", "services", "--each", "-n", str(seconds + 3), "-r"],
         None, None, 0),
        ("babeltrace2 -o dummy", ["babeltrace2", "-o", "dummy", "-i", "lttng-live"], None, signal.SIGINT, 0),
    )
    with Lab(int(TIMER * 1e6)) as lab:
        for what, command, ready, sig, bar in commands:
            if not shutil.which(command[0]):
                continue
            viewer = Viewer([*command, lab.url], ready)
            if not ready:           # it does not say when it is attached
                wait_until_connected(lab.url)
                wait_until_calm(viewer.process.pid)
            events = lab.generate(rate, seconds)
            if sig:                 # what is still in the buffers comes with the next live timer
                wait_until_calm(viewer.process.pid, 2 * TIMER)
            cpu, _ = cpu_of(lambda v=viewer, s=sig: v.end(s, seconds + LIMIT))
            show_share(what, cpu, events, seconds, bar)
        if shutil.which("tmux"):
            follow_screen(tools, lab, rate, seconds)


def lag(tools):
    print("Lag at 50000 events/s", flush=True)
    for timer in (0.1, 1, 2):
        with Lab(int(timer * 1e6)) as lab:
            viewer = Viewer([tools.bench, "follow", "--seconds", "11", lab.url], "attached")
            lab.generate(50000, 8)
            f = viewer.end().figures()
        line(f"live timer {timer} s: wall: an event is there, p50 / p99", f"{f['event_p50']:.0f} / {f['event_p99']:.0f} ms")
        bar = timer * 1000 + LAG_SPARE
        line(f"live timer {timer} s: wall: a second closes after its end, p50 / p99",
             f"{f['close_p50']:.0f} / {f['close_p99']:.0f} ms", f"(at most {bar:.0f} ms)", f["close_p99"] <= bar)
        line(f"live timer {timer} s: wall: from an event to its closed second, p50 / p99",
             f"{f['second_p50']:.0f} / {f['second_p99']:.0f} ms")


def idle(tools):
    """Four processes with buffers of their own, which say nothing: a stream for each and CPU."""
    print("A session in which nothing happens", flush=True)
    with Lab(1000000, LAB_APPS="4", LAB_BUFFERS="pid", LAB_SUBBUF="64k", LAB_SPANGEN="-r 0.001 -t 1") as lab:
        streams = 4 * len(os.sched_getaffinity(0))
        cpu, _ = cpu_of(lambda: Viewer([tools.bench, "follow", "--seconds", "2", lab.url]).end())
        more, _ = cpu_of(lambda: Viewer([tools.bench, "follow", "--seconds", str(2 + tools.seconds), lab.url]).end())
    share = max(more - cpu, 0) / tools.seconds
    line(f"attached to {streams} silent streams: of a core", f"{share:.4f}", f"(at most {IDLE_BAR})", share <= IDLE_BAR)


def resident(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(f.read().split(field + ":")[1].split()[0]) / 1024      # MiB


def processes(pid):
    """It, and all below it."""
    yield pid
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text("ascii").split():
            yield from processes(int(child))


def wait_for_screen(screen, words, limit, every=lambda: None):
    until = time.monotonic() + limit
    while words not in (text := screen.text()):
        if time.monotonic() > until:
            raise Late(f"the screen did not say \"{words}\" within {limit:.0f} s; its first line: {text.splitlines()[:1]}")
        every()
        time.sleep(0.1)


def soak(tools):
    """A recording again and again, from a relay of our own: so many seconds of a busy kernel, as fast as they go."""
    seconds = tools.memory_seconds
    print(f"{seconds} seconds through --memory {MEMORY}M", flush=True)
    traces = os.path.join(HERE, "..", "traces", "kernel-ust", "trace")
    amplify = os.path.join(tools.build, "bench", "amplify")
    seen = []
    with tempfile.TemporaryDirectory(dir=tools.build) as work:
        once = run([amplify, "--size", "1", traces, work + "/once"], capture_output=True).stdout
        bytes_once, cycles = (int(re.search(word, once)[1]) for word in (r"(\d+) bytes", r"(\d+) cycles"))
        size = int(seconds * 1e9 / cycles * bytes_once)
        run([amplify, "--size", str(size), traces, work + "/trace"], stdout=subprocess.DEVNULL)
        with Stored(work + "/trace", work) as relay:
            command = [tools.blktop, "--config", "none", "--no-spool", "--from-beginning", "--memory", f"{MEMORY}M", "-r", relay.url]
            begin = time.monotonic()
            with Screen(work, command) as screen:
                pid = screen.process
                wait_for_screen(screen, "has ended", LIMIT_SOAK + seconds / 10, lambda: seen.append(resident(pid)))
                took, peak, cpu = time.monotonic() - begin, resident(pid, "VmHWM"), cpu_now(pid)
    line(f"wall: took, {size / 1e6:.0f} MB, {seconds / took:.0f} times as fast as it was", f"{took:.0f} s")
    line("CPU time", f"{cpu:.1f} s")
    quarters = [seen[len(seen) * i // 4 - 1] for i in (1, 2, 3, 4)] if seen else [peak]
    line("resident after each quarter of it", " ".join(f"{q:.0f}" for q in quarters) + " MiB")
    line("peak", f"{peak:.0f} MiB", f"(at most {MEMORY + MEMORY_SPARE} MiB)", peak <= MEMORY + MEMORY_SPARE)


def dense(tools):
    """Spans at 440,000 events a second, from a relay of our own, as fast as they go: the screen's peak."""
    print("Spans at 440,000 events a second", flush=True)
    with tempfile.TemporaryDirectory(dir=tools.build) as work:
        run([os.path.join(tools.build, "bench", "make-spans"), work + "/trace", str(DENSE_SPANS), "10", "4500"])
        for memory in DENSE_MEMORY:
            with Stored(work + "/trace", work) as relay:
                command = [tools.blktop, "--config", "none", "--from-beginning", "--memory", f"{memory}M", "-r", relay.url]
                with Screen(work, command) as screen:
                    wait_for_screen(screen, "has ended", LIMIT)
                    peak = sum(resident(pid, "VmHWM") for pid in processes(screen.process))
            line(f"all processes' peaks with --memory {memory}M, {DENSE_SPANS / 1e6:.0f} million spans", f"{peak:.0f} MiB",
                 f"(at most {memory + DENSE_SPARE} MiB)", peak <= memory + DENSE_SPARE)


PARTS = {"drain": drain, "follow": follow, "busy": busy, "lag": lag, "idle": idle, "soak": soak, "dense": dense}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--blktop", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=400000)
    parser.add_argument("--memory-seconds", type=int, default=3600)
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...", help=", ".join(PARTS))
    tools = parser.parse_args()
    tools.bench = os.path.join(tools.build, "bench", "bench-live")
    wanted = tools.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    print(f"{cores} cores; load when it began: {load:.1f}", flush=True)
    for part in wanted:
        if part == "soak" and not shutil.which("tmux"):
            print("soak: skipped: tmux is not installed")
            continue
        try:
            PARTS[part](tools)
        except Late as late:
            line(f"{part}: {late}", "", "", False)
    if load > cores / 4:
        print("the machine was not quiet: what is marked \"wall\" says more of it than of blktop")
    print(f"missed: {', '.join(missed)}" if missed else "every bar is reached")
    sys.exit(bool(missed))


main()
