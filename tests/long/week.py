#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A week of a live session, as fast as it can be read: the memory of a blktop that serves and forwards it does not grow, and
every request is forwarded once. SECONDS: how long the week is (604800)."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SRCDIR / "tests/truth"), str(SRCDIR / "tests/cli")]
import blk  # noqa: E402
import exposition  # noqa: E402
from hostile_relay import Recording, Relay  # noqa: E402
from spans_server import Spans, spans_of  # noqa: E402

WEEK = int(os.environ.get("SECONDS", 604800))
EVERY = 2               # s, a request
MEMORY, BESIDE = 32, 64  # MiB
GROWS = 1.10            # the second half of the week, of the first
SECOND = 10 ** 9
PACKET_EVENTS = 500
OPERATIONS = 20
LIMIT = 3600            # s, of the test
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = 32; align = 8; signed = 1; } := s32;
typealias integer { size = 64; align = 8; signed = 1; } := s64;
trace { major = 1; minor = 8; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"; byte_order = le;
packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { domain = "ust"; hostname = "web1"; tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 13; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num;
u64 events_discarded; u32 cpu_id; };
event.context := struct { s32 _vpid; s32 _vtid; }; };
event { name = "zipkin:timestamp"; id = 0; stream_id = 0; loglevel = 4; fields := struct {
string _trace_name; string _service_name; s32 _port_no; string _ip; s64 _trace_id; s64 _span_id; s64 _parent_span_id; string _event; }; };
"""
UUID = bytes.fromhex("2a6422d06cee11e08c08cb07d7b3a564")


def event(at, request, what):
    texts = b"operation %d\0service\0" % (request % OPERATIONS) + struct.pack("<i", 80) + b"10.0.0.1\0"
    return struct.pack("<HQii", 0, at, 7, 7) + texts + struct.pack("<qqq", request, request, 0) + what + b"\0"


def write_trace(directory):
    """One request each two seconds. Returns their number."""
    directory.mkdir()
    (directory / "metadata").write_text(METADATA, "utf-8")
    events = []
    for i in range(WEEK // EVERY):
        begin = (i * EVERY + 1) * SECOND
        events += [(begin, event(begin, i + 1, b"sr")), (begin + 1000 * (i % 997 + 1), event(begin + 1000 * (i % 997 + 1), i + 1, b"ss"))]
    with open(directory / "s_0", "wb") as f:
        for n, first in enumerate(range(0, len(events), PACKET_EVENTS)):
            some = events[first:first + PACKET_EVENTS]
            body = b"".join(e for _, e in some)
            size = (84 + len(body)) * 8
            f.write(struct.pack("<I", 0xc1fc1fc1) + UUID + struct.pack("<IQQQQQQQI", 0, 0, some[0][0], some[-1][0], size, size, n, 0, 0) + body)
    return WEEK // EVERY


class Counted(Spans):
    """Only the ids: a week of bodies would fill memory."""

    ids = []

    def answer(self, s, first, headers, size, data):
        more = super().answer(s, first, headers, size, data)
        while self.taken:
            self.ids += [span[1] for span in spans_of(json.loads(self.taken.pop()))]
        self.requests.clear()
        self.times.clear()
        return more


def rss(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return int(status.split("VmRSS:")[1].split()[0]) / 1024 if "VmRSS:" in status else 0


def counted(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return exposition.counted(exposition.parse(answer.read().decode()))[0]
    except (urllib.error.URLError, OSError, KeyError):
        return None


def watch(p, url):
    """(seconds counted, MiB), until it ends."""
    found, begun = [], time.monotonic()
    while p.poll() is None and time.monotonic() - begun < LIMIT:
        time.sleep(0.5)
        n = counted(url) if url else 0
        if n:
            found.append((n, rss(p.pid)))
    p.kill()
    return found


def main():
    tap = blk.Tap()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        trace = pathlib.Path(name) / "week"
        wanted = write_trace(trace)
        relay, server = Relay(Recording(trace)), Counted()
        file = os.path.join(name, "blktop.prom")
        p = subprocess.Popen([blk.BLKTOP, "-b", "--memory", f"{MEMORY}M", "--from-beginning", "-r",
                              f"net://127.0.0.1:{relay.port}/host/web1/prod", "--metrics-file", file,
                              "--listen", "0", "--metrics", "request.latency by operation; event.count by host",
                              "--forward", f"http://127.0.0.1:{server.port}/v1/traces"],
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        url = p.stderr.readline().split()[-1]
        begun = time.monotonic()
        found = watch(p, url)
        err = p.stderr.read()
        tap.ok(p.wait() in (0, 3), f"{WEEK} s in {time.monotonic() - begun:.0f} s: status {p.returncode}", err)
        families = exposition.parse(open(file, encoding="utf-8").read())
        relay.close()
    counts = {w: families[f"blktop_forward_{w}_spans_total"].samples["_total", ()] for w in ("chosen", "sent", "dropped")}
    tap.equal(counts, {"chosen": wanted, "sent": wanted, "dropped": 0}, "every request is chosen and sent")
    tap.ok(len(server.ids) == wanted == len(set(server.ids)), "each once", len(server.ids), len(set(server.ids)))
    tap.equal(sum(n for (which, _), n in families["blktop_request_latency_seconds"].samples.items() if which == "_count"), wanted,
              "and counted")
    for n, mib in found[::max(len(found) // 20, 1)]:
        tap.note(f"{n:8.0f} s {mib:7.1f} MiB")
    warm = max((mib for n, mib in found if n < wanted / 2), default=0)          # seconds with a request
    late = max((mib for n, mib in found if n >= wanted / 2), default=0)
    tap.ok(0 < late <= warm * GROWS, f"memory: the second half takes {late:.0f} MiB, the first {warm:.0f}")
    tap.ok(late <= MEMORY + BESIDE, f"memory: at most {MEMORY} + {BESIDE} MiB")
    tap.done()


if __name__ == "__main__":
    main()
