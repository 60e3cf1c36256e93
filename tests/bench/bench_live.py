#!/usr/bin/env python3
"""make bench-live: live sessions, followed and read from their beginning, measured beside babeltrace2.

Private relay and session daemons (tests/live/lab) and a traced program; nothing of the
machine's is touched. CPU time is that of whole processes, the viewer's alone: daemons and
the traced program take theirs beside it, and where the machine has too few cores for all
of them lags say more of the machine than of blktop. The table is of one run.

    bench_live.py --build BUILD --blktop BLKTOP [--seconds N] [--rate EVENTS]

Exit status 1: a bar is missed; 0 with "skipped" where there is no LTTng.
"""
import argparse
import fcntl
import os
import pty
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "..", "live", "lab")
EVENTS_A_TRACE = 22      # of spangen, on average
DRAIN_BAR = 5e6          # events a second and core, records only
FOLLOW_BAR = 0.2         # of a core
IDLE_BAR = 0.01
LAG_SPARE = 500          # ms that closing a second may take beside the live timer
MEMORY = 128             # --memory, MiB
MEMORY_SPARE = 192       # MiB: the program, what the last two minutes may be corrected by, packets not decoded yet
SECONDS_OF_RECORDING, BYTES_OF_RECORDING = 6, 2860000
missed = []


def line(what, value, bar="", good=True):
    if not good:
        missed.append(what)
    print(f"  {what:64} {value:>18}  {bar}{'' if good else '  MISSED'}", flush=True)


class Lab:
    """A relay, a session daemon and a live session, until the with-block ends."""

    def __init__(self, timer_us):
        self.home = tempfile.mkdtemp(prefix="bl.", dir="/tmp")
        os.chmod(self.home, 0o711)
        self.env = dict(os.environ, LAB_DIR=os.path.join(self.home, "lab"), LAB_APPS="0", LAB_LIVE_US=str(timer_us),
                        LAB_SUBBUF="2M", LAB_NUM_SUBBUF="8")

    def __enter__(self):
        # Into a file: the daemons would keep a pipe open.
        with open(os.path.join(self.home, "up"), "w+", encoding="utf-8") as out:
            up = subprocess.run([os.path.join(LAB, "lab-up")], env=self.env, stdout=out, stderr=subprocess.PIPE,
                                text=True, check=False)
            out.seek(0)
            said = out.read()
        if up.returncode:
            shutil.rmtree(self.home, ignore_errors=True)
            print(f"skipped: {up.stderr.strip()}")
            sys.exit(0)
        self.url = said.split("LAB_URL='")[1].split("'")[0]
        return self

    def __exit__(self, *_):
        subprocess.run([os.path.join(LAB, "lab-down")], env=self.env, check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, *command):
        said = subprocess.run([os.path.join(LAB, "lab-run"), *command], env=self.env, capture_output=True, text=True,
                              check=False)
        return said.stdout

    def generate(self, rate, seconds):
        """Events emitted (some may be discarded). rate 0: as many as go."""
        said = self.run(self.env["LAB_DIR"] + "/bin/spangen", "-t", "2", "-r", str(rate / 2 / EVENTS_A_TRACE), "-l", "0",
                        "-u", "0", "-s", str(seconds))
        return int(said.split()[3])


class Viewer:
    """A process that reads the session; ready: what it says first."""

    def __init__(self, command, ready=None):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.said = ""
        while ready and ready not in self.said and self.process.poll() is None:
            if select.select([self.process.stdout], [], [], 20)[0]:
                self.said += self.process.stdout.readline()
            else:
                break

    def end(self, sig=None):
        if sig:
            self.process.send_signal(sig)
        self.said += self.process.communicate(timeout=120)[0]
        return self

    def figures(self):
        return {k: float(v) for k, v in (text.split() for text in self.said.splitlines())}


def cpu_of(run):
    """CPU seconds of the children that ended while run() ran, what it returned."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    value = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, value


def drain(tools, lab):
    print("A stored session, from its beginning", flush=True)
    lab.generate(0, 3)
    lab.run("lttng", "--no-sessiond", "stop", "spans")
    for mode, what, bar in (("drain", "records, merged", DRAIN_BAR), ("model", "and the whole model", 0)):
        best = 0
        for _ in range(3):
            f = Viewer([tools.bench, mode, lab.url]).end().figures()
            best = max(best, f["events"] / (f["cpu_ms"] / 1000))
        line(f"{what}: events a second and core, of {f['events'] / 1e6:.1f} million", f"{best / 1e6:.2f} M",
             f"(at least {bar / 1e6:.0f} M)" if bar else "", best >= bar)
        if f["late"]:
            line(f"{what}: late", f"{f['late']:.0f}", "(none)", False)
    lab.run("lttng", "--no-sessiond", "start", "spans")


def follow(tools, lab, rate, seconds):
    """The same traffic for each viewer, one after the other: a relay lets one in."""
    print(f"Following {rate} events/s for {seconds} s", flush=True)
    commands = (
        ("records, merged", [tools.bench, "follow", "--seconds", str(seconds + 3), lab.url], "attached", None, FOLLOW_BAR),
        ("blktop -b", [tools.blktop, "-b", "--each", "-r", lab.url, "-n", str(seconds + 3)], None, None, FOLLOW_BAR),
        ("babeltrace2 -o dummy", ["babeltrace2", "-i", "lttng-live", lab.url, "-o", "dummy"], None, signal.SIGINT, 0),
    )
    for what, command, ready, sig, bar in commands:
        if not shutil.which(command[0]):
            continue
        viewer = Viewer(command, ready)
        if not ready:
            time.sleep(1.5)     # it does not say when it is attached
        events = lab.generate(rate, seconds)
        if sig:
            time.sleep(2)       # what is still in the buffers
        cpu, _ = cpu_of(lambda v=viewer, s=sig: v.end(s))
        share = cpu / seconds
        line(f"{what}: of a core, {events / seconds / 1000:.0f} k events/s emitted", f"{share:.3f}",
             f"(at most {bar})" if bar else "", not bar or share <= bar)


def lag(tools, timer_us):
    with Lab(timer_us) as lab:
        viewer = Viewer([tools.bench, "follow", "--seconds", "11", lab.url], "attached")
        lab.generate(50000, 8)
        f = viewer.end().figures()
    timer = timer_us / 1e6
    line(f"live timer {timer} s: an event is there, p50 / p99", f"{f['event_p50']:.0f} / {f['event_p99']:.0f} ms")
    bar = timer * 1000 + LAG_SPARE
    line(f"live timer {timer} s: a second closes after its end, p50 / p99", f"{f['close_p50']:.0f} / {f['close_p99']:.0f} ms",
         f"(at most {bar:.0f} ms)", f["close_p99"] <= bar)
    line(f"live timer {timer} s: from an event to its closed second, p50 / p99",
         f"{f['second_p50']:.0f} / {f['second_p99']:.0f} ms")


def idle(tools, lab, seconds):
    lab.generate(100, 1)        # so that there are streams
    cpu, _ = cpu_of(lambda: Viewer([tools.bench, "follow", "--seconds", "2", lab.url]).end())
    more, _ = cpu_of(lambda: Viewer([tools.bench, "follow", "--seconds", str(2 + seconds), lab.url]).end())
    share = max(more - cpu, 0) / seconds
    line("attached to a silent session: of a core", f"{share:.4f}", f"(at most {IDLE_BAR})", share <= IDLE_BAR)


def resident(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(f.read().split(field + ":")[1].split()[0]) / 1024      # MiB


def watch_screen(pid, fd):
    """RSS of the screen, MiB, about ten times a second, until it says that the session has ended."""
    seen, text = [], b""
    while b"has ended" not in text:
        if select.select([fd], [], [], 0.1)[0]:
            text = text[-100:] + os.read(fd, 65536)
        seen.append(resident(pid))
    return seen


def memory(tools, seconds):
    """A recording again and again, from a relay of our own: so many seconds of a busy kernel, as fast as they go."""
    print(f"{seconds} seconds through --memory {MEMORY}M", flush=True)
    traces = os.path.join(HERE, "..", "traces", "kernel-ust", "trace")
    with tempfile.TemporaryDirectory(dir=tools.build) as work:
        size = seconds // SECONDS_OF_RECORDING * BYTES_OF_RECORDING
        subprocess.run([os.path.join(tools.build, "bench", "amplify"), "--size", str(size), traces, work + "/trace"], check=True,
                       stdout=subprocess.DEVNULL)
        # pylint: disable=consider-using-with
        relay = subprocess.Popen([sys.executable, os.path.join(HERE, "..", "cli", "hostile_relay.py"), work + "/trace",
                                  work + "/port", "ends"])
        while not os.path.exists(work + "/port"):
            time.sleep(0.05)
        with open(work + "/port", encoding="ascii") as f:
            url = f"net://127.0.0.1:{f.read()}/host/web1/prod"
        begin = time.monotonic()
        pid, fd = pty.fork()
        if not pid:
            os.environ["TERM"] = "xterm-256color"
            os.execv(tools.blktop, [tools.blktop, "--config", "none", "--no-spool", "--from-beginning", "--memory", f"{MEMORY}M",
                                    "-r", url])
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 140, 0, 0))
        seen = watch_screen(pid, fd)
        took, peak = time.monotonic() - begin, resident(pid, "VmHWM")
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        relay.terminate()
        relay.wait()
    line(f"took, {size / 1e6:.0f} MB", f"{took:.0f} s")
    quarters = [seen[len(seen) * i // 4 - 1] for i in (1, 2, 3, 4)]
    line("resident after each quarter of it", " ".join(f"{q:.0f}" for q in quarters) + " MiB")
    line("peak", f"{peak:.0f} MiB", f"(at most {MEMORY + MEMORY_SPARE} MiB)", peak <= MEMORY + MEMORY_SPARE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--blktop", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=400000)
    parser.add_argument("--memory-seconds", type=int, default=3600)
    parser.add_argument("--soak", action="store_true", help="nothing but the seconds through --memory")
    args = parser.parse_args()
    args.bench = os.path.join(args.build, "bench", "bench-live")
    memory(args, args.memory_seconds)
    if args.soak:
        sys.exit(bool(missed))
    with Lab(1000000) as lab:
        idle(args, lab, args.seconds)
        follow(args, lab, args.rate, args.seconds)
    with Lab(1000000) as lab:
        drain(args, lab)
    print("Lag at 50000 events/s", flush=True)
    for timer_us in (100000, 1000000, 2000000):
        lag(args, timer_us)
    print(f"missed: {', '.join(missed)}" if missed else "every bar is reached")
    sys.exit(bool(missed))


main()
