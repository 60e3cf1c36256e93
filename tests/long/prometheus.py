#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A real Prometheus scrapes a live blktop: at each scrape it stored the sums, to the second, that batch views print of the
recording; its exemplars are requests; and it answers each query of the dashboard."""
import collections
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SRCDIR / "tests/truth"), str(SRCDIR / "tests/cli")]
import blk  # noqa: E402
import dashboards  # noqa: E402
from hostile_relay import Recording, Relay  # noqa: E402
from spans_server import Spans  # noqa: E402

METRICS = {      # as blktop has it: the name of its sums, of its counts
    "request.latency by service,operation": ("blktop_request_latency_seconds_sum", "blktop_request_latency_seconds_count"),
    "call.latency by call": ("blktop_call_latency_seconds_sum", "blktop_call_latency_seconds_count"),
    "ran.time by process": ("blktop_ran_time_seconds_total", None),
    "event.count by host": ("blktop_event_count_total", None),
    "device.bytes by device,direction": ("blktop_device_bytes_total", None),
}
SPEED = 1               # of the recording's
INACTIVE = 5            # LTTNG_VIEWER_INDEX_INACTIVE
END_NS = 3 * 10 ** 9    # the session goes on for so long
SCRAPES = 8             # with different seconds, at least
SETTINGS = """global: {scrape_interval: 250ms, scrape_timeout: 250ms}
scrape_configs: [{job_name: blktop, static_configs: [{targets: ['127.0.0.1:%d']}]}]
"""
OWN = ("job", "instance", "__name__")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, work, target):
        self.port = free_port()
        config = work / "prometheus.yml"
        config.write_text(SETTINGS % target, "utf-8")
        self.log = open(work / "prometheus.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={work / 'tsdb'}",
                                         f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage",
                                         "--log.level=warn"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None and not self.is_ready():
            time.sleep(0.1)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, what, **words):
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            return {"error": e.read().decode(errors="replace"), "result": []}

    def samples(self, metric):
        """{instant of the scrape: {labels: value}}"""
        found = collections.defaultdict(dict)
        for series in self.ask("query", query=f"{metric}[1h]")["result"]:
            labels = tuple(sorted((k, v) for k, v in series["metric"].items() if k not in OWN))
            for at, value in series["values"]:
                found[at][labels] = float(value)
        return found

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def printed(trace, metric):
    """[(end of a second, {labels: (sum, count)})]"""
    name, _, by = metric.partition(" by ")
    status, out, err = blk.blktop("-b", "--each", "--metric", name, "--by", by, "--format", "json", trace)
    if status not in (0, 3):
        raise blk.Failed(err[:300])
    found = []
    for second in (json.loads(line) for line in out.splitlines()):
        rows = {}
        for row in second["rows"]:
            labels = tuple(sorted((f, str(row[f])) for f in by.split(",") if row[f] not in (None, "")))
            total = row["total_ns"] / 1e9 if "total_ns" in row else row.get("total_bytes", row.get("total"))
            rows[labels] = (total or 0, row.get("count", 0))
        found.append((second["range"]["to_ns"], rows))
    return found


def up_to(seconds, end):
    sums, counts = collections.Counter(), collections.Counter()
    for to_ns, rows in seconds:
        if to_ns <= end:
            for labels, (total, n) in rows.items():
                sums[labels] += total
                counts[labels] += n
    return sums, counts


def is_same(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-3)


def judge(tap, prometheus, trace, metric, ends):
    seconds, (sum_name, count_name) = printed(trace, metric), METRICS[metric]
    bad, n = [], 0
    for name in filter(None, (sum_name, count_name)):
        stored = prometheus.samples(name)
        for at, end in ends.items():
            wanted = up_to(seconds, end)[name == count_name]
            for labels in {k for k, v in wanted.items() if v} | stored.get(at, {}).keys():
                n += 1
                if not is_same(wanted.get(labels, 0), stored.get(at, {}).get(labels, 0)):
                    bad.append(f"{name}{labels} at {end}: {wanted.get(labels)}, not {stored.get(at, {}).get(labels)}")
    tap.ok(n > 0, f"{metric}: {n} values of {len(ends)} scrapes")
    tap.none(bad, metric)


def judge_exemplars(tap, prometheus, trace, since):
    requests = {row["trace_id"] for row in blk.rows("traces", trace)}
    found = [e["labels"]["trace_id"] for series in
             prometheus.ask("query_exemplars", query="blktop_request_latency_seconds_bucket", start=since - 1e8, end=time.time() + 1e8)
             for e in series["exemplars"]]
    # It stores exemplars by their own time, and leaves out those that are older than the newest one.
    tap.ok(set(found) <= requests, f"{len(found)} exemplars are requests", found)


def judge_dashboard(tap, prometheus, since):
    with open(os.path.join(dashboards.FOLDER, "grafana-prometheus.json"), encoding="utf-8") as f:
        d = json.load(f)
    here = {s["__name__"] for s in prometheus.ask("series", **{"match[]": '{__name__=~"blktop_.*"}'})}
    bad, empty = [], 0
    for p in d["panels"]:
        for t in p["targets"]:
            query = t["expr"].replace("$__rate_interval", "5s").replace("$service", ".*")
            data = prometheus.ask("query_range", query=query, start=since, end=time.time(), step=1)
            is_here = any(name in query for name in here)
            empty += not is_here
            if "error" in data or (is_here and not data["result"]):
                bad.append(f"{p['title']}: {query}: {data}")
    tap.none(bad, f"the dashboard's queries give values; {empty} are of metrics that the recording has not")


def counted(prometheus):
    """{instant of the scrape: end of the newest second, ns}"""
    return {at: round(next(iter(of.values())) * 1e6) * 1000 for at, of in prometheus.samples("blktop_counted_until_timestamp_seconds").items()}


class Paced(Relay):
    """Its packets come when they begin; where nothing is yet to come, beacons say until when."""

    begun = None

    def on_index(self, state, data):
        (i,) = struct.unpack(">Q", data)
        s = state["streams"][i]
        self.begun = self.begun or time.monotonic()
        packets = [packet for x in state["streams"] for packet in x.packets]
        now = min(packet[3] for packet in packets) + int((time.monotonic() - self.begun) * SPEED * 1e9)
        if s.next < len(s.packets) and s.packets[s.next][3] <= now or now > max(packet[4] for packet in packets) + END_NS:
            return super().on_index(state, data)
        until = max(now, s.packets[s.next - 1][4] if s.next else 0)
        return struct.pack(">7QII", 0, 0, 0, 0, until, 0, s.packets[0][6], INACTIVE, 0)


def watch(tap, work, trace):
    relay = Paced(Recording(trace))
    server, since = Spans(), time.time()
    p = subprocess.Popen([blk.BLKTOP, "-b", "--from-beginning", "--late-bound", "60", "-r", f"net://127.0.0.1:{relay.port}/host/web1/prod", "--listen", "0",
                          "--forward", f"http://127.0.0.1:{server.port}/v1/traces"],
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    target = int(p.stderr.readline().split(":")[-1].split("/")[0])
    prometheus = Prometheus(work, target)
    err = p.communicate(timeout=300)[1]
    tap.ok(p.returncode in (0, 3), f"blktop: status {p.returncode}", err)
    ends = {at: end for at, end in counted(prometheus).items() if end > 0}
    tap.ok(len(set(ends.values())) >= SCRAPES, f"{len(ends)} scrapes of {len(set(ends.values()))} different seconds")
    for metric in METRICS:
        judge(tap, prometheus, trace, metric, ends)
    judge_exemplars(tap, prometheus, trace, since)
    judge_dashboard(tap, prometheus, since)
    prometheus.end()
    relay.close()
    server.close()


def main():
    if not shutil.which("prometheus"):
        blk.skip_all("prometheus is not installed (scripts/deps long)")
    tap = blk.Tap()
    with tempfile.TemporaryDirectory() as name:
        watch(tap, pathlib.Path(name), blk.find("demo/trace"))
    tap.done()


if __name__ == "__main__":
    main()
