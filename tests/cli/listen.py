#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--listen and --metrics-file: formats by Accept, what is refused, hostile clients and names, limits, the end."""
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

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRCDIR / "tests/truth"))
import exposition  # noqa: E402

BLKTOP = os.environ.get("BLKTOP", str(SRCDIR / "build/blktop"))
DEMO = str(SRCDIR / "tests/traces/demo/trace")
SMALL = str(SRCDIR / "tests/traces/kernel-small/trace")
SECOND = 10 ** 9
METADATA = """/* CTF 1.8 */
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "ust"; hostname = "h"; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; }; };
"""
TEXT, METRICS = "text/plain; version=0.0.4; charset=utf-8", "application/openmetrics-text; version=1.0.0; charset=utf-8"
count = failed = 0
limits = {}


def ok(good, name, *details):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name, flush=True)
    for detail in details if not good else ():
        print("\n".join("# " + line for line in str(detail).splitlines()[:20]), flush=True)


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}", flush=True)


def run(*arguments):
    return subprocess.run([BLKTOP, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)


def refused(words, *arguments):
    done = run(*arguments)
    ok(done.returncode == 2 and words in done.stderr, f"{' '.join(arguments)[:70]}: refused", done.returncode, done.stderr)


def write_trace(directory, names):
    """One event of each name."""
    directory.mkdir()
    events = "".join(f'event {{ id = {i}; stream_id = 0; name = "{name}"; fields := struct {{ }}; }};\n'
                     for i, name in enumerate(names))
    (directory / "metadata").write_text(METADATA + events, "utf-8")
    body = b"".join(struct.pack("<HQ", i, SECOND + i) for i in range(len(names)))
    size = 40 + len(body)
    (directory / "s_0").write_bytes(struct.pack("<IIQQQQ", 0xc1fc1fc1, 0, SECOND, SECOND + len(names), size * 8, size * 8) + body)


def connect(server, data=b""):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    s.sendall(data)
    return s


def rest(s):
    """What it sends until it ends the connection."""
    found = b""
    try:
        while data := s.recv(1 << 16):
            found += data
    except ConnectionError:
        pass
    s.close()
    return found


def check_usage():
    refused("needs -b", "--listen", "0", DEMO)
    refused("needs --listen, --metrics-file or --graphite", "-b", "--most-values", "5", DEMO)
    refused("needs --listen, --metrics-file or --graphite", "-b", "--metrics", "call.latency", DEMO)
    refused("did you mean", "-b", "--listen", "0", "--metrics", "call.latncy", DEMO)
    refused("there twice", "-b", "--listen", "0", "--metrics", "call.errors by call; call.errors by call;call.errors by call", DEMO)
    refused("not in seconds", "-b", "--listen", "0", "--metrics", "call.latency by errno", DEMO)
    refused("write METRIC by", "-b", "--listen", "0", "--metrics", "call.latency errno", DEMO)
    most = limits["sent-metrics"]
    fields = ["host", "process", "pid", "thread", "tid", "container"]
    many = [f"thread.{what} by {a},{b}" for what in ("syscalls", "errors", "read_bytes") for a in fields for b in fields if a != b]
    refused("too many metrics", "-b", "--metrics-file", "/dev/null", "--metrics", ";".join(many[:most + 1]), DEMO)
    ok(len(many) > most, f"limit sent-metrics: above {most} the option is refused")
    refused(f"1 to {limits['sent-values']}", "-b", "--listen", "0", "--most-values", str(limits["sent-values"] + 1), DEMO)
    ok(True, "limit sent-values: above it the option is refused")
    for where in ("x", "127.0.0.1", "localhost:1", "1.2.3.4:99999", "::1:80", "[::1]"):
        done = run("-b", "--listen", where, DEMO)
        ok(done.returncode == 1 and "with an address in digits" in done.stderr, f"--listen {where}: no address", done.stderr)


def check_formats(server):
    for accept, wanted in (
            (None, TEXT), ("*/*", TEXT), ("text/plain", TEXT), ("text/html", TEXT), ("application/openmetrics-text", METRICS),
            ("application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
             "text/plain;version=0.0.4;q=0.3,*/*;q=0.2", METRICS),
            ("text/plain;q=0.9, application/openmetrics-text;q=0.1", TEXT), ("application/openmetrics-text;q=0, */*", TEXT),
            (";;;=\"", TEXT)):
        status, kind, text = server.get(accept)
        try:
            good = bool(exposition.parse(text, wanted == METRICS))
        except exposition.Wrong as e:
            good, text = False, e
        ok(status == 200 and kind == wanted and good, f"Accept: {accept}: {wanted.split(';')[0]}", status, kind, str(text)[:500])
    ok(server.get(url=server.url + "x")[0] == 404, "no other path")
    status, kind, text = server.get(method="HEAD")
    ok((status, kind, text) == (200, TEXT, ""), "HEAD", status, kind, text)
    for method in ("POST", "PUT", "DELETE"):
        ok(server.get(method=method)[0] == 405, f"{method}: refused")
    answer = rest(connect(server, b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n" + b"x" * 100000))
    ok(b" 200 " not in answer, "a body is not read", answer[:100])


def check_garbage(server):
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", bytes(range(256)) + b"\r\n\r\n", b"\0" * 100 + b"\r\n\r\n",
                 b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3", b"GET /metrics HTTP/1.1\r\nAccept: " + b"a" * 4000 + b"\r\n\r\n",
                 b"GET /%00%ff/../metrics?x=%n HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        s = connect(server, data)
        s.shutdown(socket.SHUT_WR)
        rest(s)
        ok(server.get()[0] == 200, f"after {data[:30]!r} it serves")
    most = limits["request-bytes"]
    answer = rest(connect(server, b"GET /metrics HTTP/1.1\r\nX: " + b"x" * most * 4))
    ok(answer.startswith(b"HTTP/1.1 431 ") or not answer, f"limit request-bytes: above {most} it is refused", answer[:100])
    start = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: "
    answer = rest(connect(server, start + b"x" * (most - len(start) - 4) + b"\r\n\r\n"))
    ok(answer.startswith(b"HTTP/1.1 200 "), f"{most} bytes are accepted", answer[:100])


def check_many(server):
    most = limits["scrapers"]
    silent = [connect(server, b"GET /metrics HT") for _ in range(most)]
    status = server.get()[0]
    silent[0].settimeout(10)
    ok(status == 200 and silent[0].recv(1) == b"", f"limit scrapers: of {most} and one the oldest is closed", status)
    for s in silent:
        s.close()
    # They ask, and take nothing of the answer.
    deaf = [connect(server, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 3) for _ in range(3 * most)]
    ok(server.get()[0] == 200, "clients that take no answer do not stop others")
    for s in deaf:
        s.close()


def check_time(server):
    most = limits["scrape-seconds"]
    begun = time.monotonic()
    slow, silent = connect(server, b"GET /met"), connect(server)
    slow.settimeout(0.1)
    ended = None
    while ended is None and time.monotonic() - begun < 3 * most:
        try:
            slow.sendall(b"r")
            ended = None if slow.recv(1) else time.monotonic() - begun
        except TimeoutError:
            pass
        except ConnectionError:
            ended = time.monotonic() - begun
    ok(ended and most - 1 < ended < 2 * most, f"limit scrape-seconds: after {most} s a slow client is closed", ended)
    silent.settimeout(10)
    ok(silent.recv(1) == b"", "and a silent one")
    silent.close()
    slow.close()


def check_isolation(server):
    """It can accept from this socket, and make none."""
    found = {w[0]: w[1] for w in (line.split() for line in open(f"/proc/{server.process.pid}/status", encoding="utf-8"))
             if len(w) > 1}
    if "calls are filtered" in run("-v").stdout:
        ok(found["Seccomp:"] == "2", "the server is isolated")
    else:
        skip("the server is isolated", "the kernel cannot")


def check_promtool(text):
    if not shutil.which("promtool"):
        skip("promtool check metrics", "prometheus is not installed")
        return
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    ok(done.returncode in (0, 3), "promtool check metrics", done.returncode, done.stdout, done.stderr)


def check_hostile_names(work):
    most = limits["label-bytes"]
    names = ["plain", "a b", 'quo\\"te', "back\\\\slash", "new\\nline} 1", "tab\\t", "x" * (most + 50), "x" * (most + 60), "\u00e9" * most,
             'end\\"} 5']
    write_trace(work / "hostile", names)
    server = exposition.Served(BLKTOP, "--metrics", "event.count by event; event.count by host", str(work / "hostile"))
    families = server.until(lambda f: "blktop_event_count_total" in f and exposition.counted(f)[0])
    found = {dict(of)["event"]: n for (_, of), n in families["blktop_event_count_total"].samples.items()}
    ok(sum(found.values()) == len(names), "hostile names: each event is counted", found)
    ok({'quo"te', "back\\slash", 'end"} 5', "a b"} < found.keys(), "they are escaped", found)
    ok(not any(c in name for name in found for c in "\n\t"), "control characters are visible", found)
    ok(found.get("x" * most) == 2 and max(len(name.encode()) for name in found) <= most, f"limit label-bytes: it is cut at {most}", found)
    ok("blktop_event_count_by_host_total" in families, "a metric that is split twice has two names", families.keys())
    server.end()


def check_others():
    """Above --most-values the sums are still right."""
    server = exposition.Served(BLKTOP, "--metrics", "call.latency by call", "--most-values", "3", SMALL)
    families = server.until(lambda f: exposition.counted(f)[0])
    server.end()
    full = json.loads(run("-b", "--metric", "call.latency", "--format", "json", SMALL).stdout.splitlines()[0])["rows"][0]
    counts = {dict(of)["call"]: n for (which, of), n in families["blktop_call_latency_seconds"].samples.items() if which == "_count"}
    left_out = families["blktop_values_left_out_total"].samples["_total", (("metric", "call_latency"),)]
    ok(len(counts) == 4 and counts["(other)"] and sum(counts.values()) == full["count"] and left_out > 0,
       "above --most-values: (other) has the rest, which is counted", counts, left_out)


def check_file(work, wanted):
    path = work / "blktop.prom"
    done = run("-b", "--metrics-file", str(path), DEMO)
    ok(done.returncode == 0 and not done.stdout and path.read_text("utf-8") == wanted, "--metrics-file has the same text", done)
    ok(path.stat().st_mode & 0o777 == 0o644 and len(list(work.glob("blktop.prom*"))) == 1, "others may read it, and nothing is beside it")
    path.write_text("old", "utf-8")
    done = run("-b", "--metrics-file", str(path), str(work / "nothing"))
    ok(done.returncode == 1 and path.read_text("utf-8") == "old", "without a trace it stays", done)
    done = run("-b", "--view", "cpus", "--metrics-file", str(path), "--from", "50%", DEMO)
    part = exposition.parse(path.read_text("utf-8"))
    ok(done.stdout and 0 < exposition.counted(part)[0] < exposition.counted(exposition.parse(wanted))[0],
       "a view is printed as well; a part of the trace", done)
    done = run("-b", "--metrics-file", str(work / "no/such/file"), DEMO)
    ok(done.returncode == 0 and done.stderr.count("--metrics-file: ") == 1, "it cannot be written: said once", done)


def main():
    limits.update({row["id"]: row["value"] for row in json.loads(run("--list-limits", "--format", "json").stdout)["limits"]})
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        check_usage()
        server = exposition.Served(BLKTOP, DEMO)
        first = server.process.pid
        server.until(lambda f: "blktop_request_latency_seconds" in f)
        wanted = None
        while wanted != (wanted := server.get()[2]) or exposition.counted(exposition.parse(wanted))[0] < 3:
            time.sleep(0.1)
        done = run("-b", "--listen", f"127.0.0.1:{server.port}", DEMO)
        ok(done.returncode == 1 and "cannot listen" in done.stderr, "a port that is taken", done)
        check_formats(server)
        check_promtool(wanted)
        check_garbage(server)
        check_many(server)
        check_time(server)
        check_isolation(server)
        ok(server.get()[2] == wanted and server.process.pid == first, "and the text is the same after all that")
        begun = time.monotonic()
        code, out, err = server.end()
        ok(code == 0 and not out and not err and time.monotonic() - begun < 5, "SIGTERM: status 0, at once", code, out, err)
        check_hostile_names(work)
        check_others()
        check_file(work, wanted)
    print(f"1..{count}")
    sys.exit(failed > 0)


if "built without libsoup" in run("-b", "--listen", "0", DEMO, "--metrics", "x").stderr:
    print("1..0 # SKIP blktop was built without libsoup 3")
else:
    main()
