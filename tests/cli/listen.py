#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--listen and --metrics-file: formats by Accept, what is refused, bad clients, hostile names, limits, the end."""
import json
import os
import pathlib
import re
import resource
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRCDIR / "tests/truth"))
import bad_clients  # noqa: E402
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


rest = bad_clients.read_all


def asked(server, data):
    return rest(connect(server, data))


def is_answer(answer, status, length=None):
    """One answer with this status, and nothing behind it."""
    head, _, body = answer.partition(b"\r\n\r\n")
    found = re.search(rb"\r\nContent-Length: (\d+)", head)
    return head.startswith(b"HTTP/1.1 %d " % status) and found and len(body) == int(found[1]) and length in (None, len(body))


def check_usage():
    refused("needs -b", "--listen", "0", DEMO)
    refused("needs --listen, --metrics-file or --graphite", "-b", "--most-values", "5", DEMO)
    refused("needs --listen, --metrics-file or --graphite", "-b", "--metrics", "call.latency", DEMO)
    refused("needs --listen", "-b", "--listen-host", "x", DEMO)
    for names in ("", "a,,b", "a b", "a/b", "a:1", "\u00e9"):
        refused("is no host name", "-b", "--listen", "0", "--listen-host", names, DEMO)
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


def check_garbage(server):
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", bytes(range(256)) + b"\r\n\r\n", b"\0" * 100 + b"\r\n\r\n",
                 b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3", b"GET /metrics HTTP/1.1\r\nAccept: " + b"a" * 4000 + b"\r\n\r\n",
                 b"GET /%00%ff/../metrics?x=%n HTTP/1.1\r\nHost: x\r\n\r\n", b"GET //evil.example:x/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: [::1\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost:\r\n\r\n", b"OPTIONS * HTTP/1.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        s = connect(server, data)
        s.shutdown(socket.SHUT_WR)
        rest(s)
        ok(server.get()[0] == 200, f"after {data[:30]!r} it serves")
    most = limits["request-bytes"]
    start = bad_clients.GET + b"X: "
    answer = asked(server, start + b"x" * (most - len(start) - 3) + b"\r\n\r\n")
    ok(answer == b"", f"limit request-bytes: above {most} the connection is closed", answer[:100])
    answer = asked(server, start + b"x" * most * 4)
    ok(answer == b"", "far above it, too", answer[:100])
    answer = rest(connect(server, start + b"x" * (most - len(start) - 4) + b"\r\n\r\n"))
    ok(answer.startswith(b"HTTP/1.1 200 "), f"{most} bytes are accepted", answer[:100])


def check_ranges(server, wanted):
    """libsoup would send each of them."""
    size = len(wanted.encode())
    before = bad_clients.memory(server.process.pid)
    for value in ("bytes=0-9", "bytes=-1", "bytes=0-9,20-29", "bytes=99999999-", "lines=1-2"):
        answer = asked(server, bad_clients.GET + b"Range: " + value.encode() + b"\r\n\r\n")
        ok(is_answer(answer, 200, size), f"Range: {value}: the whole text", answer[:300])
    most = (limits["request-bytes"] - 100) // 3
    answer = asked(server, bad_clients.ranges(most))
    ok(is_answer(answer, 200, size), f"{most} ranges: the whole text, once", len(answer), answer[:300])
    after = bad_clients.memory(server.process.pid)
    ok(after < before + 4096, "and no memory for each", before, after)


def check_methods(server, wanted):
    size, host = len(wanted.encode()), b"Host: localhost\r\n"
    for method in (b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE"):
        answer = asked(server, method + b" /metrics HTTP/1.1\r\n" + host + b"\r\n")
        ok(is_answer(answer, 405) and b"\r\nAllow: GET, HEAD\r\n" in answer, f"{method.decode()}: refused", answer[:300])
    for line in (b"GET / ", b"POST /x ", b"GET /metrics/ ", b"GET /metricsx ", b"GET http://localhost/x ", b"OPTIONS * "):
        answer = asked(server, line + b"HTTP/1.1\r\n" + host + b"\r\n")
        ok(is_answer(answer, 404), f"{line.decode()}: no such path", answer[:300])
    ok(b" 200 " not in asked(server, b"CONNECT localhost:80 HTTP/1.1\r\n" + host + b"\r\n")[:50], "CONNECT: refused")
    # The names of methods that are unknown would stay in memory.
    for method in (b"FOO", b"get", b"GETS", b"PRI", b"\r\nGET", b"x" * 5000):
        answer = asked(server, method + b" /metrics HTTP/1.1\r\n" + host + b"\r\n")
        ok(answer == b"", f"{method[:10]!r}: the connection is closed", answer[:300])
    answer = asked(server, b"GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    ok(answer.startswith(b"HTTP/1.0 200 ") and answer.endswith(wanted.encode()), "HTTP/1.0 without Host", answer[:300])
    ok(asked(server, b"GET /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 "), "HTTP/1.1 without Host: refused")
    answer = asked(server, (bad_clients.GET + b"\r\n") * 5)
    ok(is_answer(answer, 200, size), "several requests at once: one answer", len(answer), answer[:300])
    answer = asked(server, bad_clients.REQUESTS["a websocket"](None))
    ok(is_answer(answer, 200, size), "no other protocol", answer[:300])
    answer = asked(server, bad_clients.GET + b"Accept-Encoding: gzip, br\r\n\r\n")
    ok(is_answer(answer, 200, size), "and no compression", answer[:300])


def check_bodies(server):
    """None is read."""
    ends = {b"Content-Length: 5\r\n\r\nxxxxx": "a length", b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n": "chunks",
            b"Expect: 100-continue\r\nContent-Length: 9999999999\r\n\r\n": "Expect: 100-continue"}
    for end, name in ends.items():
        answer = asked(server, bad_clients.GET + end)
        ok(is_answer(answer, 413), f"a body with {name}: 413", answer[:300])
        answer = asked(server, bad_clients.GET.replace(b"GET", b"POST") + end)
        ok(is_answer(answer, 405), f"POST of a body with {name}: 405", answer[:300])
    # They send as fast as they can, and another one is served meanwhile.
    for name in ("Content-Length: 9999999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n"):
        s, sent, piece = connect(server, bad_clients.GET + name.encode()), 0, b"5\r\nxxxxx\r\na: b\r\n" * 4000
        answered = False
        try:
            while sent < 64 << 20:
                sent += s.send(piece)
                answered = answered or server.get()[0] == 200
        except OSError:
            pass
        s.close()
        ok(sent < 64 << 20 and server.get()[0] == 200, f"endless, {name.split()[0]}: it is closed, others are served", sent, answered)


def check_hosts(server):
    """A stranger's page cannot make a browser read it."""
    own = socket.gethostname()
    for host in ("127.0.0.1", f"127.0.0.1:{server.port}", "10.1.2.3:80", "[::1]:9464", "[::1]", "localhost", "LocalHost:1", own, own.split(".")[0]):
        answer = asked(server, b"GET /metrics HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
        ok(is_answer(answer, 200), f"Host: {host}", answer[:200])
    for host in ("evil.example", f"evil.example:{server.port}", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "localhostx",
                 own + ".evil.example"):
        answer = asked(server, b"GET /metrics HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
        ok(is_answer(answer, 421) and b"--listen-host" in answer, f"Host: {host}: refused", answer[:200])
    ok(b"HTTP/1.1 4" in asked(server, b"GET /metrics HTTP/1.1\r\nHost: x@evil.example\r\n\r\n")[:10], "Host: x@evil.example: refused")
    for head in (b"HEAD /metrics", b"GET /", b"POST /metrics", b"GET http://evil.example/metrics"):
        host = b"localhost" if b"evil" in head else b"evil.example"
        answer = asked(server, head + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
        ok(answer.startswith(b"HTTP/1.1 421 "), f"{head.decode()}: Host is looked at first", answer[:200])
    named = exposition.Served(BLKTOP, "--listen-host", "Storage1.example.org, b", DEMO)
    for host, status in (("storage1.example.org:9464", 200), ("b", 200), ("storage1", 421), ("c", 421), ("localhost", 200)):
        answer = asked(named, b"GET /metrics HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
        ok(is_answer(answer, status), f"--listen-host: Host: {host}: {status}", answer[:200])
    named.end()


def check_files(server):
    """It has no descriptor for a connection, and later one: it serves again."""
    pid = server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    taken = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(set(range(1024)) - taken), before[1]))
    waits = [connect(server, bad_clients.GET + b"\r\n") for _ in range(3)]
    found = select.select(waits, [], [], 2)[0]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    answers = [rest(s) for s in waits]
    ok(not found and all(is_answer(a, 200) for a in answers), "without free descriptors clients wait", found, [a[:50] for a in answers])


def check_crowd(server):
    """Mixed bad clients take no memory. The first of them are the most that there are at a time."""
    pid, crowd = server.process.pid, bad_clients.Crowd(server.port, 1)
    for n in (300, 900):
        while crowd.n < n:
            crowd.one()
        if n == 300:
            before = bad_clients.memory(pid)
    after = bad_clients.memory(pid)
    ok(after < before + 2048, f"{crowd.n} bad clients: memory is flat", f"{before} KiB after 300, {after} after all")
    ok(server.get()[0] == 200, "and another one is served")
    crowd.end()


def check_many(server):
    most = limits["scrapers"]
    silent = [connect(server, b"GET /metrics HT") for _ in range(most)]
    status = server.get()[0]
    silent[0].settimeout(10)
    ok(status == 200 and silent[0].recv(1) == b"", f"limit scrapers: of {most} and one the oldest is closed", status)
    for s in silent:
        s.close()
    # They ask, and take nothing of the answer.
    deaf = [connect(server, (bad_clients.GET + b"\r\n") * 3) for _ in range(3 * most)]
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
    """It can accept from this socket, and make none. Nothing that GIO brings for TLS, proxies, names or D-Bus is begun."""
    tasks = [pathlib.Path(task, "comm").read_text("utf-8").strip() for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()]
    ok("blk-server" in tasks and not [t for t in tasks if t in ("gmain", "gdbus", "dconf worker") or t.startswith("pool")], "threads", tasks)
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text("utf-8")
    ok("libsoup-3.0" in maps and "/gio/modules/" not in maps and "gnutls" not in maps, "no modules of GIO are loaded",
       *{line.split()[-1] for line in maps.splitlines() if "/gio/" in line or "gnutls" in line})
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
    ok(done.returncode == 1 and done.stderr.count("--metrics-file: ") == 1, "it cannot be written: exit status 1, and said once", done)


def main():
    limits.update({row["id"]: row["value"] for row in json.loads(run("--list-limits", "--format", "json").stdout)["limits"]})
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        check_usage()
        # Only who has CAP_SYS_RESOURCE may change limits of other users' processes: check_files().
        server = exposition.Served(BLKTOP, *(("--user", "root") if os.geteuid() == 0 else ()), DEMO)
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
        check_ranges(server, wanted)
        check_methods(server, wanted)
        check_bodies(server)
        check_hosts(server)
        check_files(server)
        check_crowd(server)
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


main()
