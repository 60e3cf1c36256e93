#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--graphite: what a server stored is what batch views print, second by second; of a server that is away at first, slow,
or resets connections as well, for carbon overwrites by time."""
import collections
import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import blk
import exposition
from hostile_relay import Recording, Relay

TRACES = ["demo/trace", "thumb/trace", "kernel-small/trace"]
METRICS = ["call.latency by call", "thread.time by process,part", "request.latency by operation", "sched.switches by cpu",
           "device.bytes by device,direction"]
LINE = re.compile(r"[A-Za-z0-9_.-]+ -?\d+ \d+")


class Carbon:
    """Stores what each connection sends: whole lines, the last value of a name and time."""

    def __init__(self, away=0.0, slow=False, resets=()):
        self.stored, self.bad, self.connections = {}, [], 0
        self.slow, self.resets = slow, list(resets)
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.away = away
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        if self.away:
            time.sleep(self.away)       # it is bound and does not listen: connections are refused
        self.listening.listen(5)
        while True:
            try:
                s, _ = self.listening.accept()
            except OSError:
                return
            self.connections += 1
            with s:
                self.serve(s, self.resets.pop(0) if self.resets else None)

    def serve(self, s, most):
        got, rest = 0, b""
        while True:
            try:
                data = s.recv(3000 if self.slow else 1 << 16)
            except OSError:
                return
            if not data:
                return
            got += len(data)
            if most is not None and got >= most:
                # What was read is stored, and what is in the buffers is lost.
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                data = b""
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                text = line.decode(errors="replace")
                if not LINE.fullmatch(text):
                    self.bad.append(text)
                    continue
                name, value, at = text.split(" ")
                self.stored[name, int(at)] = int(value)
            if most is not None and got >= most:
                return
            if self.slow:
                time.sleep(0.002)

    def close(self):
        self.listening.close()


def part(value):
    return re.sub(r"[^A-Za-z0-9_-]", "_", "" if value is None else str(value)) or "-"


def printed(trace, metric, make):
    """What batch prints of each second, by names as `make` makes them. Those that are equal are summed; of them single
    values are not known."""
    name, _, by = metric.partition(" by ")
    status, out, err = blk.blktop("-b", "--each", "--metric", name, "--by", by, "--format", "json", trace)
    if status not in (0, 3):
        raise blk.Failed(f"--metric {metric}: {err[:300]}")
    found, several = collections.Counter(), set()
    for second in (json.loads(line) for line in out.splitlines()):
        for row in second["rows"]:
            for figure in ("total", "total_ns", "total_bytes", "count", "p50_ns", "p95_ns", "p99_ns", "max_ns"):
                if figure not in row or (figure != "count" and "count" in row and not row["count"]):
                    continue
                key = make(name, [row[f] for f in by.split(",")], figure, row), second["range"]["from_ns"] // 10 ** 9
                several |= {key} if key in found and figure[0] in "pm" else set()
                found[key] += row[figure] or 0
    return found, several


def send(trace, server, *options):
    return blk.blktop("-b", "--graphite", f"127.0.0.1:{server.port}", *options, trace)


def judge(tap, what, server, wanted, several):
    """Values of 0 may be there or not."""
    bad = [f"{key}: {wanted.get(key)}, not {server.stored.get(key)}" for key in wanted.keys() | server.stored.keys()
           if wanted.get(key, 0) != server.stored.get(key, 0) and key not in several]
    tap.none(sorted(bad), f"{what}: {len(wanted)} values")
    tap.none(server.bad, f"{what}: every line is one")
    server.close()


def defaults(trace):
    """The names of lttng-graph."""
    wanted = {}
    for metric, kind in (("ran.time by process,host", "procname"), ("event.count by event,host", "event")):
        found, _ = printed(trace, metric, lambda n, by, f, row, k=kind: f"1min.lttng.{k}.{part(by[0])}.dc1.{part(by[1])}")
        wanted.update(found)
    return wanted


def compare(tap, name, trace):
    wanted = defaults(trace)
    server = Carbon()
    status, out, err = send(trace, server, "--datacenter", "dc1")
    tap.ok(status in (0, 3) and not out, f"{name}: status {status}", err)
    judge(tap, f"{name}: names of lttng-graph", server, wanted, set())

    wanted, several = {}, set()
    for metric in METRICS:
        values, doubtful = printed(trace, metric, lambda n, by, f, row: f"x.{part(n)}.{'.'.join(map(part, by))}.y-{f}")
        wanted.update(values)
        several |= doubtful
    server = Carbon(resets=[20000, 1, 70000])
    status, _, err = send(trace, server, "--metrics", ";".join(METRICS), "--graphite-name", "x.$metric.$values.y-$figure",
                          "--most-values", "10000")
    tap.ok(status in (0, 3) and server.connections > 1, f"{name}: resets: status {status}, {server.connections} connections", err)
    judge(tap, f"{name}: a server that resets", server, wanted, several)


def live(tap):
    """A relay that serves a recording gives the same as the recording: to Graphite and in the file for Prometheus."""
    trace = blk.find("kernel-ust/trace/ust")
    wanted = {key: n for key, n in defaults(trace).items()}
    relay, server = Relay(Recording(trace)), Carbon()
    with tempfile.TemporaryDirectory() as work:
        files = []
        metrics = "event.count by event,host; ran.time by process,host"
        for n, source in enumerate((["--from-beginning", "-r", f"net://127.0.0.1:{relay.port}/host/web1/prod"], [trace])):
            files.append(os.path.join(work, f"{n}.prom"))
            more = ["--graphite", f"127.0.0.1:{server.port}", "--datacenter", "dc1", "--graphite-name",
                    "1min.lttng.$by.$values.$datacenter.$host"] if not n else []
            status, out, err = blk.blktop("-b", "--metrics-file", files[n], "--metrics", metrics, *more, *source)
            tap.ok(status in (0, 3) and not out, f"live and recorded: status {status}", err)
        found = [{name: f.samples for name, f in exposition.parse(open(file, encoding="utf-8").read()).items()} for file in files]
    relay.close()
    tap.ok(found[0] == found[1] and "blktop_event_count_total" in found[0], "live: the same text as of the recording", found)
    judge(tap, "live", server, wanted, set())


def troubles(tap):
    trace = blk.find("demo/trace")
    wanted = defaults(trace)
    server = Carbon(away=3)
    status, _, err = send(trace, server, "--datacenter", "dc1")
    tap.ok(status == 0 and "cannot connect to 127.0.0.1" in err, f"away: status {status}", err)
    judge(tap, "away at first", server, wanted, set())
    server = Carbon(slow=True)
    status, _, err = send(trace, server, "--datacenter", "dc1")
    tap.ok(status == 0 and not err, f"slow: status {status}", err)
    judge(tap, "slow", server, wanted, set())
    server = Carbon(away=1e6)
    status, _, err = send(trace, server)
    tap.ok(status == 4 and "values were not sent" in err, f"away for ever: status {status}", err)
    for wrong in (["--graphite-name", "a.$nothing"], ["--graphite-name", "a b"]):
        status, _, err = send(trace, server, *wrong)
        tap.ok(status == 2 and "--graphite-name: " in err, f"{wrong}: refused", err)
    status, _, err = blk.blktop("-b", "--datacenter", "x", trace)
    tap.ok(status == 2, "--datacenter without --graphite: refused", err)
    status, _, err = blk.blktop("-b", "--graphite", "host/x", trace)
    tap.ok(status == 2 and "HOST[:PORT]" in err, "--graphite host/x: refused", err)
    server.close()


def main():
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    live(tap)
    troubles(tap)
    tap.done()


if __name__ == "__main__":
    main()
