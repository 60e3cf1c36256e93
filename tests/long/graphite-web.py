#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A real graphite-web answers each query of the dashboard for Graphite with the values that batch views print. carbon-cache
stored them; both have settings, ports and directories of the test's own."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SRCDIR / "tests/truth"), str(SRCDIR / "tests/cli"), str(SRCDIR / "tests/long")]
import blk  # noqa: E402
import carbon  # noqa: E402
import dashboards  # noqa: E402
import shifted  # noqa: E402
from graphite import part, printed  # noqa: E402
from prometheus import free_port  # noqa: E402

TRACES = ["thumb/trace", "lost/trace", "lost/trace-overwrite"]         # requests; lost events; lost packets
DATACENTER = "dc1"
AGO = 3600              # s: how long ago the recording began, as it is sent
PYTHON = "/usr/bin/python3"             # Debian's, which has Debian's packages
SETTINGS = """
SECRET_KEY = "of a test"
TIME_ZONE = "UTC"
CONF_DIR = STORAGE_DIR = LOG_DIR = {work!r}
INDEX_FILE = {work!r} + "/index"
WHISPER_DIR = {work!r} + "/whisper"
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": {work!r} + "/graphite.db"}}}}
CARBONLINK_HOSTS = []
FIND_CACHE_DURATION = DEFAULT_CACHE_DURATION = 0
LOG_ROTATION = False
ALLOWED_HOSTS = ["127.0.0.1"]
"""


class Web:
    def __init__(self, work):
        (work / "settings_of_test.py").write_text(SETTINGS.format(work=str(work)), "utf-8")
        env = {**os.environ, "PYTHONPATH": str(work), "GRAPHITE_SETTINGS_MODULE": "settings_of_test",
               "DJANGO_SETTINGS_MODULE": "graphite.settings"}
        self.port = free_port()
        self.log = open(work / "web.log", "w+", encoding="utf-8")
        subprocess.run([PYTHON, "-m", "django", "migrate", "--run-syncdb"], env=env, stdin=subprocess.DEVNULL, stdout=self.log,
                       stderr=self.log, timeout=120, check=False)
        self.process = subprocess.Popen([PYTHON, "-m", "django", "runserver", "--noreload", "--insecure", f"127.0.0.1:{self.port}"],
                                        env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None and self.ask("metrics/find", query="*") is None:
            time.sleep(0.2)

    def ask(self, what, **words):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{what}?{urllib.parse.urlencode(words)}", timeout=60) as answer:
                return json.load(answer)
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        return text


# ---- what the functions of the dashboard's queries mean ----

def arguments(text):
    """Of f(a, g(b, c)): a and g(b, c)."""
    found, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [a.strip() for a in found]


def evaluate(query, values):
    """([(name, label, {second: value})], how many are wanted, by what of a series). values: {name: {second: value}}"""
    call = re.fullmatch(r"(\w+)\((.*)\)", query)
    if not call:
        pattern = re.compile(r"[^.]*".join(map(re.escape, query.split("*"))))
        return [(name, name, of) for name, of in values.items() if pattern.fullmatch(name)], None, None
    function, (inner, *more) = call[1], arguments(call[2])
    series, n, rank = evaluate(inner, values)
    if function == "scale":
        return [(name, label, {at: v * float(more[0]) for at, v in of.items()}) for name, label, of in series], n, rank
    if function == "aliasByNode":
        return [(name, ".".join(name.split(".")[int(i)] for i in more), of) for name, _, of in series], n, rank
    ranks = {"highestAverage": lambda of: sum(of.values()) / len(of), "highestMax": lambda of: max(of.values())}
    return series, int(more[0]), ranks[function]


def is_same(a, b):
    return a.keys() == b.keys() and all(abs(a[at] - b[at]) <= 1e-9 * max(abs(a[at]), 1e-3) for at in a)


def judge(tap, web, query, values, begin, end):
    answer = web.ask("render", target=query, format="json", noCache=1, **{"from": begin - 2, "until": end + 2})
    got = [(s["target"], {at: v for v, at in s["datapoints"] if v is not None}) for s in answer or []]
    series, n, rank = evaluate(query, values)
    bad, chosen = [], []
    for label, of in got:
        same = [s for s in series if s[1] == label and is_same(s[2], of)]
        if same:
            chosen.append(same[0])
            series.remove(same[0])
        else:
            bad.append(f"{label}: {sorted(of.items())[:3]}")
    if n is None:
        bad += [f"{label} is missing" for _, label, _ in series]
    else:           # the others are not higher
        least = min((rank(of) for _, _, of in chosen), default=0)
        bad += [f"{label} is higher" for _, label, of in series if rank(of) > least * (1 + 1e-9)]
        if len(chosen) < n and series:
            bad.append(f"{len(chosen)} of {n}")
    return len(chosen), bad


def values_of(trace):
    """{name: {second: value}} of all metrics that the dashboard is made for, by their names."""
    values = {}
    for text in dashboards.metrics_of_page().split(";"):
        metric = text.strip()
        by_host = metric.endswith("by host")
        make = lambda n, by, f, row, all_hosts=by_host: ".".join(  # noqa: E731
            ["1min.lttng", part(n), "all" if all_hosts else part(by[0]), DATACENTER, part(by[-1])] + [f] * ("count" in row))
        for (name, at), v in printed(trace, metric if by_host else metric + ",host", make)[0].items():
            values.setdefault(name, {})[at] = v
    return values


def store(tap, name, trace, work, n):
    p, port = carbon.start(work)
    status, _, err = blk.blktop("-b", "--graphite", f"127.0.0.1:{port}", "--datacenter", DATACENTER, "--metrics",
                                dashboards.metrics_of_page(), trace)
    tap.ok(status in (0, 3), f"{name}: status {status}", err)
    until = time.monotonic() + 60
    while time.monotonic() < until and len(list((work / "whisper").rglob("*.wsp"))) < n:
        time.sleep(0.2)
    p.terminate()               # writes what it has
    try:
        p.wait(60)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()


def compare(tap, name, trace, work):
    values = values_of(trace)
    seconds = [at for of in values.values() for at in of]
    store(tap, name, trace, work, len(values))
    web = Web(work)
    try:
        with open(os.path.join(dashboards.FOLDER, "grafana-graphite.json"), encoding="utf-8") as f:
            d = json.load(f)
        total = 0
        for panel in d["panels"]:
            for t in panel["targets"]:
                query = t["target"].replace("$datacenter", DATACENTER).replace("$host", "*")
                n, bad = judge(tap, web, query, values, min(seconds), max(seconds))
                total += n
                tap.none(bad, f"{name}: {panel['title']}: {n} series")
        tap.ok(total > 5, f"{name}: {total} series")
        for v in d["templating"]["list"]:
            found = web.ask("metrics/find", query=v["definition"].replace("$datacenter", "*")) or []
            tap.ok(found, f"{name}: the variable {v['name']} has {[x['text'] for x in found]}")
    finally:
        log = web.end()
    tap.ok("Traceback" not in log, f"{name}: graphite-web's log", log[-1500:])


def begin_of(trace):
    status, out, err = blk.blktop("-b", "--each", "--metric", "event.count", "--by", "host", "--format", "json", trace)
    if status not in (0, 3):
        raise blk.Failed(err)
    return json.loads(out.splitlines()[0])["range"]["from_ns"] // 10 ** 9


def main():
    if not shutil.which("carbon-cache"):
        blk.skip_all("carbon-cache is not installed (scripts/deps long)")
    if not shutil.which("graphite-manage"):
        blk.skip_all("graphite-web is not installed (scripts/deps long)")
    tap = blk.Tap()
    for trace in TRACES:
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            at = blk.find(trace)
            shifted.write(at, str(work / "trace"), int(time.time()) - AGO - begin_of(at))
            compare(tap, trace, str(work / "trace"), work)
    tap.done()


if __name__ == "__main__":
    main()
