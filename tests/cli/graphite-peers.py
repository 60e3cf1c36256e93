#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""--graphite to servers in trouble: each value arrives, or is counted as not sent (exit status 4); few connections; it ends,
and a signal ends it at once."""
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SRCDIR / "tests/truth"), str(SRCDIR / "tests/cli")]
import blk  # noqa: E402
from hostile_relay import Recording, Relay  # noqa: E402

TRACE = "thumb/trace"
LARGE = ["--metrics", "call.latency by thread,call; file.latency by thread,file; thread.time by thread,part",
         "--graphite-name", "x" * 900 + ".$metric.$values.$figure"]
PATIENCE = 60


class Peer:
    """Does with its first connections what `ways` say, and with others what `always` says: close or reset them at once;
    read N lines, then close or reset; close after so many seconds without reading; end its half, and read; read to the end;
    hold the connection and never read; talk. .lines: what it read of all connections."""

    def __init__(self, *ways, always, buffer=None):
        self.ways, self.always, self.lines, self.connections = list(ways), always, set(), 0
        self.held, self.over = [], threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        if buffer:
            self.listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.port = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while True:
            try:
                s, _ = self.listening.accept()
            except OSError:
                return
            self.connections += 1
            way = self.ways.pop(0) if self.ways else self.always
            threading.Thread(target=self.serve, args=(s, *way), daemon=True).start()

    def read(self, s, most=None):
        data = b""
        while most is None or data.count(b"\n") < most:
            try:
                got = s.recv(1 << 16 if most is None else 512)
            except OSError:
                break
            if not got:
                break
            data += got
        self.lines.update(data[:data.rfind(b"\n") + 1].splitlines())

    def serve(self, s, how, n=None):
        if how == "hold":
            self.held.append(s)
            return
        if how == "wait":
            self.over.wait(n)
        elif how == "half":
            s.shutdown(socket.SHUT_WR)
            self.read(s)
        elif how in ("read", "reset after"):
            self.read(s, n)
        elif how == "talk":
            while not self.over.is_set():
                try:
                    s.sendall(b"what?\n" * 1000)
                except OSError:
                    break
        if how.startswith("reset"):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()

    def close(self):
        """What it holds is read to its end: the program has ended."""
        self.over.set()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join(PATIENCE)
        for s in self.held:
            s.settimeout(PATIENCE)
            self.read(s)
            s.close()


def dropped(err):
    found = re.search(r"--graphite: (\d+) values were not sent, or not acknowledged", err)
    return int(found[1]) if found else 0


def send(peer, *more, trace=None):
    return blk.blktop("-b", "--no-cache", "--graphite", f"127.0.0.1:{peer.port}", *more, trace or blk.find(TRACE), timeout=PATIENCE * 2)


def check(tap, what, peer, wanted, *statuses, connections=9):
    """Lines of a name and time are one value: what the server has and what is dropped are all. One that is dropped may
    have arrived."""
    status, _, err = send(peer)
    peer.close()
    lost, got = dropped(err), len(peer.lines & wanted)
    tap.ok(status in statuses and (status == 4) == (lost > 0) and "Traceback" not in err, f"{what}: status {status}, {lost} dropped", err)
    tap.ok(got + lost >= len(wanted) and lost <= len(wanted), f"{what}: {got} of {len(wanted)} arrived", lost, err)
    tap.ok(0 < peer.connections <= connections, f"{what}: {peer.connections} connections, at most {connections}")
    return lost, got


def recorded(tap):
    peer = Peer(always=("read",))
    status, _, err = send(peer)
    peer.close()
    wanted = peer.lines
    tap.ok(status == 0 and not err and len(wanted) > 500, f"reads all: status {status}, {len(wanted)} values", err)
    for how in "close", "reset":
        lost, got = check(tap, f"{how} at once", Peer(always=(how,)), wanted, 4)
        tap.ok(lost == len(wanted) and not got, f"{how} at once: all is dropped", lost)
    check(tap, "close after 0.3 s", Peer(always=("wait", 0.3)), wanted, 4)
    for seconds in 0.9, 1.1:        # about where what is acknowledged begins to count: either is right
        check(tap, f"close after {seconds} s, then it reads", Peer(("wait", seconds), always=("read",)), wanted, 0)
    check(tap, "close after 10 lines", Peer(always=("read", 10)), wanted, 4)
    check(tap, "reset after 10 lines", Peer(always=("reset after", 10)), wanted, 4)
    check(tap, "close, reset, some lines, then it reads", Peer(("close",), ("reset",), ("reset after", 100), always=("read",)), wanted, 0)
    check(tap, "reads after it ended its half", Peer(always=("half",)), wanted, 0, 4)
    check(tap, "talks", Peer(always=("talk",)), wanted, 4)
    lost, _ = check(tap, "holds all in its buffer", Peer(always=("hold",)), wanted, 0, connections=1)
    tap.ok(not lost, "holds all in its buffer: it has it all")


def full_buffer(tap):
    """The lines are more than the buffers of a connection have room for."""
    trace = blk.find("demo/trace")
    peer = Peer(always=("read",))
    status, _, err = send(peer, *LARGE, trace=trace)
    peer.close()
    wanted = peer.lines
    size = sum(map(len, wanted))
    tap.ok(status == 0 and size > 16 << 20, f"{size >> 20} MB: status {status}", err)
    peer = Peer(always=("hold",), buffer=1 << 16)
    status, _, err = send(peer, *LARGE, trace=trace)
    peer.close()
    lost, got = dropped(err), len(peer.lines & wanted)
    tap.ok(status == 4 and 0 < lost <= len(wanted), f"never reads: status {status}, {lost} of {len(wanted)} dropped", err)
    tap.ok(got + lost >= len(wanted), f"never reads: {got} arrived", err)
    tap.ok(peer.connections == 1, f"never reads: {peer.connections} connection")


def live(tap):
    """What is acknowledged late or never is counted when the session ends, and after a signal."""
    recording = Recording(blk.find("kernel-ust/trace/ust"))
    for what, always, is_lost, sign in (("reads", "read", False, None), ("reads", "read", False, signal.SIGTERM), ("closes", "close", True, None),
                                        ("closes", "close", True, signal.SIGTERM), ("resets", "reset", True, signal.SIGINT)):
        relay, peer = Relay(recording), Peer(always=(always,))
        relay.stays = bool(sign)
        p = subprocess.Popen([blk.BLKTOP, "-b", "--from-beginning", "-r", f"net://127.0.0.1:{relay.port}/host/web1/prod", "--graphite",
                              f"127.0.0.1:{peer.port}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + PATIENCE
        while sign and peer.connections < (3 if is_lost else 1) and p.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        if sign:
            p.send_signal(sign)
        err = p.communicate(timeout=PATIENCE)[1]
        peer.close()
        relay.close()
        status = 128 + sign if sign else 4 if is_lost else 0
        tap.ok(p.returncode == status and (dropped(err) > 0) == is_lost,
               f"live: {what}, {sign.name if sign else 'the session ends'}: status {p.returncode}, {dropped(err)} dropped", err)


def main():
    tap = blk.Tap()
    recorded(tap)
    full_buffer(tap)
    live(tap)
    tap.done()


if __name__ == "__main__":
    main()
