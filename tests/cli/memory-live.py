#!/usr/bin/env python3
"""Live sessions of dense spans keep within --memory and 64 MiB beside, all processes together, and count every
request, also those for whose spans there is no room."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = os.environ.get("BUILD", str(SRC / "build"))
BLKTOP = os.environ.get("BLKTOP", BUILD + "/blktop")
BESIDE = 64     # MiB
SPANS, A_REQUEST, GAP_NS = 400000, 10, 4500     # 440,000 events a second
LIMIT = 100     # s


def processes(pid):
    """It, and all below it."""
    yield pid
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text("ascii").split()
        except OSError:
            continue
        for child in children:
            yield from processes(int(child))


def note_peaks(pid, peaks):
    for each in list(processes(pid)):
        try:
            status = pathlib.Path(f"/proc/{each}/status").read_text("ascii", "replace")
        except OSError:
            continue
        if "VmHWM:" in status:
            peaks[each] = max(peaks.get(each, 0), int(status.split("VmHWM:")[1].split()[0]))


def watch(command, env):
    """What it printed, its exit status, and the sum of what its processes took at most (MiB)."""
    peaks, until = {}, time.monotonic() + LIMIT
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, env=env) as process:
            while process.poll() is None and time.monotonic() < until:
                note_peaks(process.pid, peaks)
                try:
                    process.wait(0.02)
                except subprocess.TimeoutExpired:
                    pass
            process.kill()
        out.seek(0)
        return out.read().decode().splitlines(), process.returncode, sum(peaks.values()) / 1024


def url_of(relay, port):
    until = time.monotonic() + LIMIT
    while not port.exists() and relay.poll() is None and time.monotonic() < until:
        try:
            relay.wait(0.02)
        except subprocess.TimeoutExpired:
            pass
    return f"net://127.0.0.1:{port.read_text('ascii')}/host/web1/prod"


def read(trace, work, memory, *options):
    port = work / "port"
    port.unlink(missing_ok=True)
    relay = [sys.executable, SRC / "tests/cli/hostile_relay.py", trace, port, "ends"]
    with subprocess.Popen(relay) as process:
        try:
            command = [BLKTOP, "-b", "--config", "none", "--from-beginning", "--memory", f"{memory}M", "--view", "services",
                       "--format", "json", *options, "-r", url_of(process, port)]
            return watch(command, dict(os.environ, XDG_STATE_HOME=str(work), XDG_RUNTIME_DIR=str(work)))
        finally:
            process.terminate()


def main():
    n = failed = 0

    def ok(good, what):
        nonlocal n, failed
        n += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {n} - {what}", flush=True)

    sanitized = b"__asan_init" in pathlib.Path(BLKTOP).read_bytes()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        trace = work / "spans"
        subprocess.run([BUILD + "/bench/make-spans", trace, str(SPANS), str(A_REQUEST), str(GAP_NS)], check=True)
        for memory, options in ((16, ["--no-spool"]), (64, ["--no-spool"]), (16, [])):
            said = f"--memory {memory}M {' '.join(options)}".rstrip()
            lines, code, peak = read(trace, work, memory, *options)
            objects = [json.loads(line) for line in lines]
            trust = [o["trust"] for o in objects]
            ok(code == 0, f"{said}: status {code}")
            ok(sum(row["count"] for o in objects for row in o["rows"]) == SPANS // A_REQUEST, f"{said}: each request counts")
            ok(trust and trust[-1]["dropped_spans"] > SPANS // 4, f"{said}: what was dropped is told")
            ok(sum(t["late_records"] for t in trust) == 0, f"{said}: nothing came too late")
            ok(sanitized or 0 < peak <= memory + BESIDE, f"{said}: {peak:.0f} MiB at most, {memory + BESIDE} are to be enough")
    print(f"1..{n}")
    sys.exit(bool(failed))


main()
