# SPDX-License-Identifier: GPL-2.0-only
"""A server that spans are forwarded to: Zipkin's and OTLP's answers, and those of servers in trouble."""
import json
import socket
import struct
import threading
import time

TROUBLES = {
    "ok": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "accepted": b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    "closes": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhatever",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "old": b"HTTP/1.0 200 OK\r\n\r\n{}",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "500": b"HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nsorry",
    "429": b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
    "400": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "302": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "garbage": bytes(range(1, 256)) * 4,
    "nul": b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n",
    "long": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200000 + b"\r\n\r\n",
    "lies": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    "partial": b'HTTP/1.1 200 OK\r\nContent-Length: 61\r\n\r\n{"partialSuccess":{"rejectedSpans":"3","errorMessage":"abc"}}',
    "busy": b"HTTP/1.1 503 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
    "silent": b"",
    "reset": b"",
}
# A beginning, and what follows for ever: as fast as it is read, or (slowly) a byte at a time.
ENDLESS = {
    "continues": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 4000),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 10000),
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 60000),
    "noise": (b"", b"noise" * 10000),
    "slow continues": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "slow headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "slow noise": (b"", b"noise"),
}
TAKES = {"ok", "accepted", "closes", "chunked", "old", "continue", "partial"}


class Spans:
    """Answers as `answers` say, then "ok". .taken: the bodies that it took, .requests: all."""

    def __init__(self, answers=(), away=0.0, pause=0.0, always="ok"):
        self.answers, self.always, self.away, self.pause = list(answers), always, away, pause
        self.taken, self.requests, self.bad, self.times = [], [], [], []
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        time.sleep(self.away)           # it is bound and does not listen: connections are refused
        self.listening.listen(5)
        while True:
            try:
                s, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        data = b""
        with s:
            try:
                while True:
                    while b"\r\n\r\n" not in data:
                        got = s.recv(1 << 16)
                        if not got:
                            return
                        data += got
                    head, data = data.split(b"\r\n\r\n", 1)
                    first, *lines = head.decode("ascii").split("\r\n")
                    headers = dict(line.lower().split(": ", 1) for line in lines)
                    size = int(headers["content-length"])
                    if not self.answer(s, first, headers, size, data):
                        return
                    data = b""
            except OSError:
                pass

    @staticmethod
    def send_for_ever(s, slowly, begin, then):
        s.sendall(begin)
        while True:
            for piece in [then] if not slowly else [then[i:i + 1] for i in range(len(then))]:
                s.sendall(piece)
                time.sleep(0.05 if slowly else 0)

    def answer(self, s, first, headers, size, data):
        """False: the connection ends."""
        how = self.answers.pop(0) if self.answers else self.always
        self.times.append((how, time.monotonic()))
        if how == "at once":
            return False
        while len(data) < size:
            if how == "reset" and data:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            got = s.recv(1 << 16)
            if not got:
                return False
            data += got
            time.sleep(self.pause)
        method, path, version = first.split(" ")
        if (method, version, headers["content-type"], len(data)) != ("POST", "HTTP/1.1", "application/json", size):
            self.bad.append((first, headers, len(data)))
        self.requests.append((path, how, data))
        if how == "reset":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if how in TAKES:
            self.taken.append(data)
        if how in ENDLESS:
            self.send_for_ever(s, how.startswith("slow"), *ENDLESS[how])
        s.sendall(TROUBLES[how])
        if how == "silent":
            time.sleep(30)
        return how not in ("closes", "old", "nul", "garbage", "lies")

    def spans(self):
        return [span for body in self.taken for span in spans_of(json.loads(body))]

    def close(self):
        self.listening.close()


def spans_of(body):
    """(trace, span, name, begin, end): ns of OTLP, us of Zipkin."""
    if isinstance(body, list):
        return [(s["traceId"], s["id"], s.get("kind"), s["name"], s["timestamp"], s.get("duration"), s.get("parentId")) for s in body]
    return [(s["traceId"], s["spanId"], s["kind"], s["name"], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]),
             s.get("parentSpanId"))
            for r in body["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]]
