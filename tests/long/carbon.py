#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A real carbon-cache stores what --graphite sends: its whisper files have, second by second, what batch views print."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SRCDIR / "tests/truth"), str(SRCDIR / "tests/cli"), str(SRCDIR / "tests/long")]
import blk  # noqa: E402
import week  # noqa: E402
from graphite import part, printed  # noqa: E402
from prometheus import free_port  # noqa: E402

METRICS = ["request.latency by operation", "event.count by event"]
LENGTH, AGO = 120, 3600         # s, of the trace; how long ago it began
SCHEMA = "[lttng]\npattern = .*\nretentions = 1s:6h\n"
CONFIG = """[cache]
STORAGE_DIR = {work}
LOCAL_DATA_DIR = {work}/whisper
WHITELISTS_DIR = {work}
CONF_DIR = {work}
LOG_DIR = {work}
PID_DIR = {work}
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {port}
PICKLE_RECEIVER_INTERFACE = 127.0.0.1
PICKLE_RECEIVER_PORT = {pickle}
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = {query}
ENABLE_UDP_LISTENER = False
ENABLE_TAGS = False
MAX_CREATES_PER_MINUTE = inf
MAX_UPDATES_PER_SECOND = inf
CARBON_METRIC_INTERVAL = 0
"""


def start(work):
    ports = {"port": free_port(), "pickle": free_port(), "query": free_port()}
    (work / "carbon.conf").write_text(CONFIG.format(work=work, **ports), "utf-8")
    (work / "storage-schemas.conf").write_text(SCHEMA, "utf-8")
    with open(work / "out", "w", encoding="utf-8") as out:
        p = subprocess.Popen(["carbon-cache", f"--config={work}/carbon.conf", f"--logdir={work}", f"--pidfile={work}/pid", "--nodaemon",
                              "start"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    until = time.monotonic() + 60
    while time.monotonic() < until and p.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", ports["port"]), timeout=5).close()
            break
        except OSError:
            time.sleep(0.2)
    return p, ports["port"]


def stored(whisper, folder, begin):
    """{(name, second): value}"""
    found = {}
    for file in folder.rglob("*.wsp"):
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        (first, _, step), values = whisper.fetch(str(file), begin - 10, begin + LENGTH + 10)
        found.update({(name, first + i * step): v for i, v in enumerate(values) if v is not None})
    return found


def main():
    sys.path.append("/usr/lib/python3/dist-packages")     # another Python may come first in PATH
    try:
        import whisper
    except ImportError:
        blk.skip_all("python3-whisper is not installed (scripts/deps long)")
    if not shutil.which("carbon-cache"):
        blk.skip_all("carbon-cache is not installed (scripts/deps long)")
    tap = blk.Tap()
    begin = int(time.time()) - AGO
    week.WEEK = LENGTH
    week.METADATA = week.METADATA.replace("1700000000", str(begin))
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        week.write_trace(work / "trace")
        trace, wanted, doubtful = str(work / "trace"), {}, set()
        for metric in METRICS:
            found, several = printed(trace, metric, lambda n, by, f, row: f"x.{part(n)}.{part(by[0])}.{f}")
            wanted.update(found)
            doubtful |= several
        p, port = start(work)
        status, _, err = blk.blktop("-b", "--graphite", f"127.0.0.1:{port}", "--metrics", ";".join(METRICS), "--graphite-name",
                                    "x.$metric.$values.$figure", trace)
        tap.ok(status in (0, 3), f"status {status}", err)
        until = time.monotonic() + 60
        values = {}
        while len(values) < len(wanted) and time.monotonic() < until:
            time.sleep(1)
            values = stored(whisper, work / "whisper", begin)
        p.terminate()
        p.wait(30)
        bad = [f"{k}: {wanted.get(k)}, not {values.get(k)}" for k in wanted.keys() | values.keys()
               if wanted.get(k) != values.get(k) and k not in doubtful]
        tap.ok(len(wanted) > LENGTH, f"{len(wanted)} values of {LENGTH} s")
        tap.none(sorted(bad), "whisper files have what batch views print")
    tap.done()


if __name__ == "__main__":
    main()
