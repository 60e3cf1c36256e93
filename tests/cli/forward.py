#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--forward to servers in trouble: received + dropped = chosen; nothing blocks for ever; hostile names; usage, limits."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRCDIR / "tests/truth"))
import blk  # noqa: E402
from forwarded import PATHS, exported, forward, judge  # noqa: E402
from spans_server import ENDLESS, Spans, spans_of  # noqa: E402


def said(err):
    """What was dropped, and chosen."""
    found = re.search(r"--forward: (\d+) of (\d+) spans were not sent", err)
    return (int(found[1]), int(found[2])) if found else (0, None)


def troubles(tap):
    trace = blk.find("demo/trace")
    wanted = exported(trace, "otlp")[0]
    for what, answers in (
            ("failing", ["500", "accepted", "reset", "closes", "garbage", "chunked", "429", "old"]),
            ("lying", ["nul", "continue", "long", "accepted", "lies"]), ("silent", ["ok", "silent"])):
        server = Spans(answers)
        begun = time.monotonic()
        status, _, err = forward(server, "otlp", trace)
        tap.ok(status == 0 and said(err) == (0, None), f"{what}: status {status} in {time.monotonic() - begun:.0f} s", err)
        if "429" in answers:
            at = next(i for i, (how, _) in enumerate(server.times) if how == "429")
            tap.ok(server.times[at + 1][1] - server.times[at][1] >= 2, "429: it waits as Retry-After says", server.times)
        judge(tap, what, server, wanted)
    for what, answers, refused in (("refusing", ["ok", "400", "302"], 2), ("refusing some", ["partial", "ok", "partial"], 0)):
        server = Spans(answers)
        status, _, err = forward(server, "otlp", trace)
        got = len(server.spans()) - 3 * answers.count("partial")
        dropped, chosen = said(err)
        tap.ok(status == 4 and chosen == len(wanted) and got + dropped == chosen and dropped > 0 and "refused" in err,
               f"{what}: {got} received + {dropped} dropped = {chosen} chosen", status, err)
        tap.ok(sum(how in ("400", "302") for _, how, _ in server.requests) == refused, f"{what}: these are not sent again")
        server.close()
    server = Spans(away=3)
    status, _, err = forward(server, "otlp", trace)
    tap.ok(status == 0 and err.count("cannot connect to 127.0.0.1") == 1, f"away at first: status {status}, said once", err)
    judge(tap, "away at first", server, wanted)
    server = Spans(pause=0.01)
    status, _, err = forward(server, "otlp", trace)
    tap.ok(status == 0 and not err, f"slow: status {status}", err)
    judge(tap, "slow", server, wanted)


def ends(tap):
    """A signal ends it soon; without one it ends when the server takes nothing for long enough."""
    trace = blk.find("demo/trace")
    n = len(exported(trace, "otlp")[0])
    for always in ("silent", "500", "429"):
        server = Spans(always=always)
        p = subprocess.Popen([blk.BLKTOP, "-b", "--forward", f"http://127.0.0.1:{server.port}/v1/traces", trace],
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        limit = time.monotonic() + 60
        while not server.requests and p.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        if always == "silent" and "calls are filtered" in blk.blktop("-v")[1]:
            found = dict(line.split(":\t") for line in open(f"/proc/{p.pid}/status", encoding="utf-8"))
            tap.ok(found["Seccomp"].strip() == "2", "it is isolated")
        begun = time.monotonic()
        if always != "500":
            p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=60)[1]
        took = time.monotonic() - begun
        tap.ok(took < (40 if always == "500" else 3) and said(err) == (n, n) and p.returncode == 4,
               f"{always}: ends after {took:.1f} s, all is counted as dropped", p.returncode, err)
        server.close()


def endless(tap):
    """A server that never ends an answer, or never takes anything: a signal ends blktop at once, and nothing is lost untold."""
    trace = blk.find("demo/trace")
    n = len(exported(trace, "otlp")[0])
    for always in [*ENDLESS, "at once", "busy", "garbage"]:
        server = Spans(always=always)
        p = subprocess.Popen([blk.BLKTOP, "-b", "--forward", f"http://127.0.0.1:{server.port}/v1/traces", trace],
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        limit = time.monotonic() + 60
        while not server.times and p.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        begun = time.monotonic()
        p.send_signal(signal.SIGTERM)
        try:
            err = p.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            err = p.communicate()[1] + "it did not end"
        took = time.monotonic() - begun
        tap.ok(p.returncode in (4, 128 + signal.SIGTERM) and said(err) == (n, n),
               f"{always}, for ever: SIGTERM ends it after {took:.1f} s, all is counted as dropped", p.returncode, err)
        server.close()
    for first in ("continues", "headers", "at once", "busy"):
        server = Spans([first, first])
        status, _, err = forward(server, "otlp", trace)
        tap.ok(status == 0 and said(err) == (0, None), f"{first}, twice: status {status}", err)
        judge(tap, f"{first}, twice, then it takes all", server, exported(trace, "otlp")[0])
    server = Spans(always="busy")
    status, _, err = forward(server, "otlp", trace)
    tap.ok(status == 4 and said(err) == (n, n) and len(server.times) < 12,
           f"503 with Retry-After: 0, for ever: status {status}, {len(server.times)} requests", err)
    server.close()


HOSTILE = ["plain", 'quo"te', "back\\slash", "new\nline", "\u202eright", "tab\t\x1b[31m", "\U0001f600", "é" * 300, "</script>", "\x7f\x9b"]


def hostile(tap):
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "spans.json")
        spans = [{"traceId": f"{i + 1:016x}", "id": f"{i + 1:016x}", "name": name, "timestamp": 1700000000000000 + i,
                  "duration": 5, "localEndpoint": {"serviceName": name.lower()}, "tags": {name: name}}
                 for i, name in enumerate(HOSTILE)]
        with open(file, "w", encoding="utf-8") as f:
            json.dump(spans, f)
        for fmt in PATHS:
            server = Spans()
            status, _, err = forward(server, fmt, file)
            tap.ok(status == 0 and sorted(s[3] for s in server.spans()) == sorted(HOSTILE), f"hostile names: {fmt}", status, err)
            tap.ok(not any(re.search(rb"[^\n -~\x80-\xff]", body) for body in server.taken), "no control characters")
            judge(tap, f"hostile names: {fmt}", server, exported(file, fmt)[0])


def usage(tap):
    trace = blk.find("demo/trace")
    for words, *wrong in (("needs --forward", "--forward-only", "failed"), ("needs --forward", "--forward-kernel"),
                          ("https is not supported", "--forward", "https://x/v1/traces"),
                          ("does not end in", "--forward", "http://x/"), ("does not end in", "--forward", "http://x"),
                          ("http://HOST[:PORT]/PATH", "--forward", "x:9411"), ("http://HOST[:PORT]/PATH", "--forward", "http:///v1/traces"),
                          ("http://HOST[:PORT]/PATH", "--forward", "http://x y/v1/traces"),
                          ("http://HOST[:PORT]/PATH", "--forward", "http://x/\r\nA: b/v1/traces"),
                          ("http://HOST[:PORT]/PATH", "--forward", "http://u:p@x/v1/traces"),
                          ("http://HOST[:PORT]/PATH", "--forward", "http://x:99999/v1/traces"),
                          ("is none of", "--forward", "http://x/v1/traces", "--forward-only", "fast"),
                          ("is none of", "--forward", "http://x/v1/traces", "--forward-only", "1 in 0"),
                          ("is empty", "--forward", "http://x/v1/traces", "--forward-only", ";"),
                          ("--forward-only: ", "--forward", "http://x/v1/traces", "--forward-only", "slow x"),
                          ("needs --listen", "--forward", "http://x/v1/traces", "--metrics", "call.latency")):
        status, _, err = blk.blktop("-b", *wrong, trace)
        tap.ok(status == 2 and words in err, f"{' '.join(wrong)!r}: refused", status, err)
    status, _, err = blk.blktop("--forward", "http://x/v1/traces", trace)
    tap.ok(status == 2 and "needs -b" in err, "without -b: refused", err)


def sizes(tap):
    most = {row["id"]: row["value"] for row in json.loads(blk.blktop("--list-limits", "--format", "json")[1])["limits"]}["forward-spans"]
    server = Spans()
    forward(server, "otlp", blk.find("demo/trace"))
    found = [len(spans_of(json.loads(body))) for body in server.taken]
    tap.ok(set(found[:-1]) == {most} and 0 < found[-1] <= most, f"limit forward-spans: {most} spans in a request", found)
    server.close()


def main():
    tap = blk.Tap()
    usage(tap)
    sizes(tap)
    hostile(tap)
    troubles(tap)
    ends(tap)
    endless(tap)
    tap.done()


if __name__ == "__main__":
    main()
