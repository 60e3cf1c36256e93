#!/usr/bin/env python3
"""Live sessions of dense spans keep within --memory and 64 MiB beside, all processes together, and count every
request in its second, also those for whose spans there is no room: as printed, as served, and as thresholds judge. With
ALL=1, as in make check-long, of twice as many requests."""
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = os.environ.get("BUILD", str(SRC / "build"))
BLKTOP = os.environ.get("BLKTOP", BUILD + "/blktop")
BESIDE = 64     # MiB
ALL = bool(os.environ.get("ALL"))
SPANS, A_REQUEST, GAP_NS = 400000 if ALL else 250000, 10, 4500     # 440,000 events a second
RATE, EACH, OPERATIONS = 3000 if ALL else 1500, 4, 40   # requests a second, their spans, different names of requests
LIMIT = 100     # s


def processes(pid):
    """It, and all below it."""
    yield pid
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:     # it has ended
        return
    for task in tasks:
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
    with tempfile.TemporaryFile() as out, open(env["XDG_STATE_HOME"] + "/err", "wb") as err:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env) as process:
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


def by_second(lines):
    """Requests of each second that was printed; None: a figure is unknown."""
    seconds = {}
    for o in map(json.loads, lines):
        counts = [row["count"] for row in o["rows"]]
        seconds[o["range"]["from_ns"] // 10**9] = None if None in counts else sum(counts)
    return seconds


def different(code, got, expected):
    """What is, for whoever reads that the test failed."""
    seconds = [f"{at}: {got.get(at)}, not {expected.get(at)}" for at in sorted(got | expected) if got.get(at) != expected.get(at)]
    return f" (status {code}; {'; '.join(seconds)})" if code or seconds else ""


def served(path):
    """The requests that a file of metrics counts, and the spans that it says are missing."""
    count = dropped = 0
    for line in path.read_text("ascii").splitlines():
        if line.startswith("blktop_request_latency_seconds_count{"):
            count += int(line.split()[-1])
        if line.startswith("blktop_dropped_spans_total{"):
            dropped += int(line.split()[-1])
    return count, dropped


def chosen(path):
    """The spans that a file of metrics says were chosen for --forward."""
    lines = path.read_text("ascii").splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith("blktop_forward_chosen_spans_total "))


class Carbon(socketserver.ThreadingTCPServer):
    """Sums the counts of each second that come as lines for Graphite."""
    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), None)
        self.seconds = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        for line in request.makefile("r", encoding="ascii"):
            name, value, at = line.split()
            if name.endswith(".count"):
                self.seconds[int(at)] = self.seconds.get(int(at), 0) + int(value)


def check_sent(ok, work, trace, expected):
    """What other programs get."""
    metrics, requests = work / "metrics", sum(expected.values())
    with Carbon() as server:
        _, code, _ = read(trace, work, 16, "--no-spool", "--metrics", "request.latency by operation", "--graphite",
                          f"127.0.0.1:{server.server_address[1]}")
        server.shutdown()
        ok(code == 0 and server.seconds == expected, "Graphite gets every second exactly")
    with Carbon() as unused:            # not listening any more
        port = unused.server_address[1]
        unused.shutdown()
    read(trace, work, 16, "--no-spool", "--metrics-file", metrics, "--forward", f"http://127.0.0.1:{port}/api/v2/spans")
    ok(chosen(metrics) == requests * EACH, f"every span is chosen for --forward, once: {chosen(metrics)}")


def check_seconds(ok, work):
    """A session of half a minute: each second has its requests, whatever there is room for."""
    trace = work / "half-a-minute"
    requests = 30 * RATE
    subprocess.run([BUILD + "/bench/make-spans", trace, str(requests * EACH), str(EACH), str(10**9 // RATE // EACH), "0", "0",
                    str(OPERATIONS)], check=True)
    recorded = [BLKTOP, "-b", "--config", "none", "--each", "--view", "services", "--format", "json", trace]
    expected = by_second(subprocess.run(recorded, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines())
    ok(len(expected) > 29 and sum(expected.values()) == requests, "the trace has its requests")
    check_sent(ok, work, trace, expected)
    for memory in (16, 32 if ALL else 20):
        out = subprocess.run([*recorded, "--memory", f"{memory}M"], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
        ok(out.returncode == 0 and by_second(out.stdout.splitlines()) == expected,
           f"recorded, --memory {memory}M: every second is exact")
        metrics = work / "metrics"
        least = min(list(expected.values())[1:-1])
        lines, code, _ = read(trace, work, memory, "--no-spool", "--metrics-file", metrics, "--threshold",
                              f"request.latency count < {least}", "--threshold", f"request.latency count by service > {least - 1}")
        got = by_second(lines)
        ok(code == 0 and got == expected, f"live, --memory {memory}M: every second is exact" + different(code, got, expected))
        ok(json.loads(lines[-1])["trust"]["dropped_spans"] > requests, f"live, --memory {memory}M: spans were dropped")
        ok(served(metrics) == (requests, 0), f"live, --memory {memory}M: what is served is exact: {served(metrics)}")
        err = (work / "err").read_text("utf8")
        ok("alert: count of request.latency for bench is" in err and "count of request.latency is" not in err,
           f"live, --memory {memory}M: no false alert, and the true one")
        _, code, _ = read(trace, work, memory, "--no-spool", "--metrics-file", metrics, "--metrics", "request.latency by tid")
        ok(code == 4 and sum(served(metrics)) == requests and "are not counted" in (work / "err").read_text("utf8"),
           f"live, --memory {memory}M: what cannot be counted is told: {served(metrics)}")


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
        check_seconds(ok, work)
    print(f"1..{n}")
    sys.exit(bool(failed))


main()
