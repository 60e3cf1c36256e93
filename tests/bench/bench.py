#!/usr/bin/env python3
"""make bench: blktop measured against babeltrace2 on one busy kernel trace.

Ratios are of one run: both programs alternate, the median pair counts, so the machine
does not matter much. The trace is $BLKTOP_BENCH_TRACE (a directory or a .tar.xz), else
../shared/traces/kernel-busy-part.tar.xz beside the source tree; without it the parts
that need it are skipped. $BENCH_RUNS runs of each (5). Exit status 1: a bar is missed.
"""
import argparse
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tarfile
import termios
import time

RATIO_BAR = 1.3         # CPU time: blktop's whole model against babeltrace2 -o dummy
MEMORY_BUDGET = 128     # MiB given to the screen
MEMORY_BASE = 96        # MiB that the program may take beside its budget


def find_trace(build):
    """The trace's directory, or None and why not."""
    source = os.environ.get("BLKTOP_BENCH_TRACE", "../shared/traces/kernel-busy-part.tar.xz")
    if not os.path.exists(source):
        return None, f"no trace: {source} does not exist (set BLKTOP_BENCH_TRACE)"
    if os.path.isdir(source):
        return source, ""
    target = os.path.join(build, "bench-trace")
    if not os.path.exists(os.path.join(target, "unpacked")):
        print(f"unpacking {source}", flush=True)
        with tarfile.open(source) as tar:
            tar.extractall(target)
        open(os.path.join(target, "unpacked"), "w").close()
    return target, ""


def measure(command):
    """CPU seconds and peak MiB of a command that must succeed (3: read with loss)."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{messages}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(blktop, trace, runs):
    """CPU time and peak memory of both programs, alternating."""
    commands = {"babeltrace2": ["babeltrace2", "-o", "dummy", trace],
                "blktop": [blktop, "-b", "--view", "syscalls", "--format", "csv", trace]}
    seconds, peaks = {name: [] for name in commands}, {name: 0.0 for name in commands}
    for run in range(runs + 1):
        for name, command in commands.items():
            cpu, peak = measure(command)
            if run:  # the first warms the cache
                seconds[name].append(cpu)
            peaks[name] = max(peaks[name], peak)
    for name in commands:
        all_runs = " ".join(f"{s:.2f}" for s in seconds[name])
        print(f"  {name:12} median {statistics.median(seconds[name]):6.2f} s  peak {peaks[name]:6.0f} MiB  ({all_runs})")
    # Pair by pair: the machine's speed drifts between the first run and the last.
    ratio = statistics.median(a / b for a, b in zip(seconds["blktop"], seconds["babeltrace2"]))
    return verdict("CPU time, blktop -b / babeltrace2 -o dummy", ratio, RATIO_BAR, "")


def proc_field(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        for line in f:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def screen_memory(blktop, trace):
    """The screen's peak with a budget, on a terminal of 80x24, until it has loaded all."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LINES="24", COLUMNS="80")
        os.execv(blktop, [blktop, "--memory", f"{MEMORY_BUDGET}M", trace])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    quiet, last, deadline, said = 0, -1, time.monotonic() + 300, ""
    while quiet < 3 and time.monotonic() < deadline:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                said = (said + drain(terminal).decode(errors="replace"))[-1000:]
        now = cpu_ticks(pid)
        quiet = quiet + 1 if now - last <= 3 else 0  # 3 % of a CPU: it only redraws
        last = now
    peak = proc_field(pid, "VmHWM") / 1024
    os.kill(pid, signal.SIGTERM)
    while select.select([terminal], [], [], 5)[0] and drain(terminal):
        pass
    os.waitpid(pid, 0)
    if peak == 0:
        sys.exit(f"{blktop} --memory {MEMORY_BUDGET}M {trace}: ended early\n{said[-500:]}")
    return verdict(f"screen's peak with --memory {MEMORY_BUDGET}M", peak, MEMORY_BUDGET + MEMORY_BASE, " MiB")


def drain(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def verdict(what, value, bar, unit):
    good = value <= bar
    print(f"{what}: {value:.2f}{unit} (bar {bar}{unit}){'' if good else '  MISSED'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--blktop", default="build/blktop")
    parser.add_argument("--build", default="build")
    args = parser.parse_args()
    good = True
    folder = os.path.join(args.build, "bench")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and "." not in name:
            good &= subprocess.run([path], check=False).returncode == 0
    trace, why = find_trace(args.build)
    if trace:
        good &= compare(args.blktop, trace, int(os.environ.get("BENCH_RUNS", "5")))
        good &= screen_memory(args.blktop, trace)
    else:
        print(f"skipped: {why}")
    sys.exit(0 if good else 1)


main()
