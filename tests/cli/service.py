#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""blktop as a service: the unit file, and what it tells systemd through $NOTIFY_SOCKET."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRCDIR / "tests/truth"))
import blk  # noqa: E402
from hostile_relay import Recording, Relay  # noqa: E402
from spans_server import Spans  # noqa: E402

UNIT = SRCDIR / "doc/blktop-forward.service"
WORST = 2.0             # exposure that systemd-analyze security may find; of 10


def check_unit(tap, work):
    text = UNIT.read_text("utf-8")
    command = re.search(r"^ExecStart=(\S+) (.*)$", text, re.M)
    options = re.search(r'^#\s+BLKTOP_OPTIONS="(.*)"$', text, re.M)[1].split()
    words = [w for w in command[2].split() if w != "$BLKTOP_OPTIONS"]
    # With an address that nobody can listen on, it is refused after the options were understood.
    options[options.index("9464")] = "192.0.2.1:1"
    done = subprocess.run([blk.BLKTOP, *words, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    tap.ok(done.returncode != 2 and "cannot listen" in done.stderr, "its options are options, and it would begin", done.returncode, done.stderr)
    if not shutil.which("systemd-analyze"):
        tap.skip("systemd-analyze", "it is not installed")
        return
    unit = work / UNIT.name
    unit.write_text(text.replace(command[1], blk.BLKTOP).replace("Documentation=man:blktop(1)\n", ""), "utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if UNIT.name in line]
    tap.ok(not said, "systemd-analyze verify finds nothing", done.returncode, *said)
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, timeout=60)
    level = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
    if not level:
        tap.skip("systemd-analyze security", "this one knows no --offline")
    else:
        tap.ok(float(level[1]) <= WORST, f"systemd-analyze security: exposure {level[1]}, at most {WORST}", done.stdout)


def told(s, seconds, until):
    """Datagrams, until one has the text."""
    found = []
    s.settimeout(seconds)
    try:
        while not found or until not in found[-1]:
            found.append(s.recv(4096).decode())
    except TimeoutError:
        pass
    return found


def check_notify(tap, work):
    trace = blk.find("kernel-ust/trace/ust")
    for name, address in ((str(work / "notify"), str(work / "notify")), (f"@blktop-{os.getpid()}", f"\0blktop-{os.getpid()}")):
        kind = "abstract" if name[0] == "@" else "path"
        server, relay = Spans(), Relay(Recording(trace))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(address)
            p = subprocess.Popen([blk.BLKTOP, "-b", "--from-beginning", "-r", f"net://127.0.0.1:{relay.port}/host/web1/prod",
                                  "--forward", f"http://127.0.0.1:{server.port}/api/v2/spans"],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "NOTIFY_SOCKET": name})
            found = told(s, 30, "STOPPING=1")
            err = p.communicate(timeout=60)[1]
        tap.ok(p.returncode in (0, 3) and found and found[0].startswith("READY=1\nSTATUS="), f"{kind}: first READY=1", found, err)
        tap.ok(found and found[-1].startswith("STOPPING=1"), f"{kind}: last STOPPING=1", found)
        lines = [re.fullmatch(r"WATCHDOG=1\nSTATUS=read until (.*); (\d+) spans sent of (\d+), (\d+) dropped", f) for f in found[1:-1]]
        tap.ok(lines and lines[-1] and int(lines[-1][2]) <= int(lines[-1][3]), f"{kind}: a status line between", found)
        server.close()
        relay.close()


def check_alive(tap, work):
    """While it serves a recording, systemd hears of it; SIGTERM ends it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(work / "alive"))
        p = subprocess.Popen([blk.BLKTOP, "-b", "--listen", "0", blk.find("demo/trace")], stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, env={**os.environ, "NOTIFY_SOCKET": str(work / "alive")})
        first = told(s, 30, "STATUS=read until ")
        for _ in range(10):
            first += told(s, 5, "WATCHDOG=1")
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=30)
        last = told(s, 5, "STOPPING=1")
    tap.ok(sum("WATCHDOG=1" in f for f in first) > 9, "WATCHDOG=1 while it serves", first)
    tap.ok(last and last[-1].startswith("STOPPING=1"), "SIGTERM: STOPPING=1", last)


def check_wrong(tap, work):
    file = work / "blktop.prom"
    for name in ("", "relative", "/nothing/there", "/" + "x" * 200, "@nobody"):
        done = subprocess.run([blk.BLKTOP, "-b", "--metrics-file", file, blk.find("demo/trace")], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, env={**os.environ, "NOTIFY_SOCKET": name})
        tap.ok(done.returncode == 0 and not done.stderr, f"NOTIFY_SOCKET={name[:20]}: nobody is told", done.stderr)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:      # full, and never read
        s.bind(str(work / "full"))
        begun = time.monotonic()
        done = subprocess.run([blk.BLKTOP, "-b", "--metrics-file", file, blk.find("demo/trace")], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, env={**os.environ, "NOTIFY_SOCKET": str(work / "full")})
        tap.ok(done.returncode == 0 and time.monotonic() - begun < 30, "a socket that nobody reads does not block", done.stderr)


def main():
    tap = blk.Tap()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        check_unit(tap, work)
        check_notify(tap, work)
        check_alive(tap, work)
        check_wrong(tap, work)
    tap.done()


if __name__ == "__main__":
    main()
