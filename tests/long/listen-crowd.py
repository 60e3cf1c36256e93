#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Mixed bad clients of --listen, some at a time, for minutes, beside one that asks as Prometheus does: memory stays flat,
and that one is answered. The answer has some MB.

  MINUTES   how long (6)
  SEED      of the clients (1)
"""
import json
import os
import pathlib
import sys
import tempfile
import threading
import time
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/truth"))
import bad_clients  # noqa: E402
import blk  # noqa: E402
import exposition  # noqa: E402

MINUTES = float(os.environ.get("MINUTES", "6"))
SEED = int(os.environ.get("SEED", "1"))
THREADS = 3
GROWS = 4 << 10         # KiB, of what was taken after the first sixth
SERVICES = 5000
LEAST_BYTES = 2 << 20


def write_spans(path):
    """A request of each of many services."""
    spans = [{"traceId": f"{i + 1:x}", "id": "1", "name": f"operation {i}", "timestamp": 1700000000000000 + i * 10, "duration": 5 + i % 9,
              "localEndpoint": {"serviceName": f"service {i}"}} for i in range(SERVICES)]
    path.write_text(json.dumps(spans), "utf-8")


def crowd(port, seed, ends, counts):
    many = bad_clients.Crowd(port, seed)
    while not ends.is_set():
        many.one()
    many.end()
    counts.append(many.n)


def scrape(server, wanted):
    """Is the answer whole? A connection may be closed for newer ones."""
    try:
        return server.get()[2] == wanted
    except (OSError, urllib.error.URLError, ValueError, EOFError):
        return False


def main():
    tap = blk.Tap()
    ends, counts, memory, answered, asked = threading.Event(), [], [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "spans.json"
        write_spans(path)
        server = exposition.Served(blk.BLKTOP, "--no-cache", "--most-values", str(SERVICES), str(path))
        server.until(lambda families: sum(len(f.samples) for f in families.values()) > SERVICES)
        wanted = None
        while wanted != (wanted := server.get()[2]):
            time.sleep(0.1)
        tap.ok(len(wanted) > LEAST_BYTES, f"an answer of {len(wanted)} bytes")
        threads = [threading.Thread(target=crowd, args=(server.port, SEED + i, ends, counts)) for i in range(THREADS)]
        for t in threads:
            t.start()
        begun = time.monotonic()
        while time.monotonic() - begun < MINUTES * 60 and server.process.poll() is None:
            asked += 1
            answered += scrape(server, wanted)
            memory.append(bad_clients.memory(server.process.pid, "VmRSS"))
            time.sleep(0.5)
        ends.set()
        for t in threads:
            t.join()
        found = scrape(server, wanted)
        peak = bad_clients.memory(server.process.pid)
        code, _, err = server.end()
    tap.note(f"{sum(counts)} bad clients; {answered} of {asked} scrapes answered; at most {peak} KiB")
    for i in range(0, len(memory), max(len(memory) // 12, 1)):
        tap.note(f"{i / len(memory) * MINUTES:5.1f} min {memory[i]:8} KiB")
    sixth = max(memory[:max(len(memory) // 6, 1)])
    tap.ok(memory[-1] <= sixth + GROWS, f"memory at the end: {memory[-1]} KiB, {sixth} KiB in the first sixth")
    tap.ok(peak <= sixth + GROWS, f"at most {peak} KiB at any time")
    tap.ok(answered * 2 > asked, f"{answered} of {asked} scrapes were answered beside them")
    tap.ok(found, "and the text is the same afterwards")
    tap.ok(code == 0 and not err, "it ends, and printed nothing", code, err)
    tap.done()


if __name__ == "__main__":
    main()
