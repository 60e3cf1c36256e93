# SPDX-License-Identifier: GPL-2.0-only
"""Clients of --listen that mean it no good: what one of them sends, and many of them together."""
import random
import select
import socket
import struct
import time

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
OPEN = 64       # connections that are left open, at most


def text(rng, n):
    return bytes(rng.choice(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") for _ in range(n))


def ranges(n, one=b"0-"):
    return GET + b"Range: bytes=" + b",".join([one] * n) + b"\r\n\r\n"


# name: what it sends, from a random number generator
REQUESTS = {
    "plain": lambda r: GET + b"\r\n",
    "OpenMetrics": lambda r: GET + b"Accept: application/openmetrics-text\r\n\r\n",
    "ranges": lambda r: ranges(r.randint(1, 2600)),
    "small ranges": lambda r: ranges(r.randint(1, 1500), b"1-9"),
    "an own method": lambda r: text(r, r.randint(1, 7000)) + b" /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "methods": lambda r: r.choice((b"POST", b"PUT", b"TRACE", b"PATCH")) + b" /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an own path": lambda r: b"GET /" + text(r, r.randint(1, 7000)) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an own query": lambda r: b"GET /metrics?" + b"&".join(text(r, 5) + b"=%41" for _ in range(500)) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "own headers": lambda r: GET + b"".join(text(r, 20) + b": x\r\n" for _ in range(250)) + b"\r\n",
    "an own host": lambda r: b"GET /metrics HTTP/1.1\r\nHost: " + text(r, 30) + b".example\r\n\r\n",
    "formats": lambda r: GET + b"Accept: " + b",".join(text(r, 6) + b"/x;q=0." + text(r, 2) for _ in range(300)) + b"\r\n\r\n",
    "a long header": lambda r: GET + b"X: " + text(r, r.randint(1, 200)) * 1000,
    "a long line": lambda r: b"GET /" + b"a" * r.randint(1, 300000),
    "empty lines": lambda r: b"\r\n" * 100000,
    "a body": lambda r: GET + b"Content-Length: 9999999999\r\n\r\n" + b"x" * 300000,
    "a small body": lambda r: b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nxxxxx",
    "chunks": lambda r: GET + b"Transfer-Encoding: chunked\r\n\r\n" + b"5\r\nxxxxx\r\n" * 30000,
    "trailers": lambda r: GET + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 50000,
    "Expect": lambda r: GET + b"Expect: 100-continue\r\nContent-Length: 9999999999\r\n\r\n",
    "a websocket": lambda r: GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                   b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "many at once": lambda r: (GET + b"\r\n") * 50,
    "HTTP/1.0": lambda r: b"GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "TLS": lambda r: b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3" + r.randbytes(500),
    "noise": lambda r: r.randbytes(r.randint(1, 9000)),
    "the half": lambda r: GET[:r.randint(1, len(GET) - 1)],
    "nothing": lambda r: b"",
}


class Crowd:
    """Opens connections, sends, and leaves: without reading, after some of the answer, after all of it, or not at all."""

    def __init__(self, port, seed):
        self.port, self.rng, self.open, self.n = port, random.Random(seed), [], 0

    def one(self):
        rng = self.rng
        self.n += 1
        s = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        try:
            s.settimeout(0.2)
            s.sendall(REQUESTS[rng.choice(list(REQUESTS))](rng))
        except OSError:
            pass                        # it has been closed meanwhile
        how = rng.randrange(4)
        if how == 0:                    # resets
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        elif how == 1:                  # reads some, waits for nothing
            if select.select([s], [], [], 0.05)[0]:
                try:
                    s.recv(100)
                except OSError:
                    pass
            s.close()
        elif how == 2:
            read_all(s, 0.3)
        else:
            self.open.append(s)
            if len(self.open) > OPEN:
                self.open.pop(rng.randrange(OPEN)).close()

    def end(self):
        for s in self.open:
            s.close()
        self.open.clear()


def read_all(s, seconds=30):
    """What it sends until it ends the connection, or until then."""
    found, until = bytearray(), time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            s.settimeout(max(until - time.monotonic(), 0.01))
            data = s.recv(1 << 16)
            if not data:
                break
            found += data
    except OSError:
        pass
    s.close()
    return bytes(found)


def memory(pid, field="VmHWM"):
    """KiB"""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field + ":"))
