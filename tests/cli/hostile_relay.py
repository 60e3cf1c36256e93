"""A relay daemon made of a recording, which speaks the viewer protocol, and lies when told to.

Relay(trace, lie) listens on a free port of 127.0.0.1; `lie` is asked about every reply:
lie(point, n, reply) gives the bytes to send instead, or a list of what to do: bytes to send,
CLOSE, SILENCE, (DRIP, bytes), (ENDLESS, bytes).
"""
import mmap
import pathlib
import select
import signal
import socket
import struct
import sys
import threading
import time

CLOSE, SILENCE, DRIP, ENDLESS = "close", "silence", "drip", "endless"
POINTS = {1: "connect", 2: "list", 3: "attach", 4: "index", 5: "packet", 6: "metadata", 7: "streams",
          8: "create", 9: "detach"}
HOST, SESSION = "web1", "prod"


class Stream:
    def __init__(self, path, number, trace):
        self.name, self.number, self.trace = path.name, number, trace
        with path.open("rb") as f:
            self.bytes = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        index = path.parent / "index" / (path.name + ".idx")
        self.packets = self.from_index(index.read_bytes()) if index.exists() else self.from_packets()
        self.next = 0

    @staticmethod
    def from_index(idx):
        length = struct.unpack(">I", idx[12:16])[0]
        return [struct.unpack(">7Q", idx[at:at + 56]) for at in range(16, len(idx), length)]

    def from_packets(self):
        """As LTTng's headers say: magic, uuid, stream class, instance, begin, end, content and packet size."""
        packets, at = [], 0
        while at + 64 <= len(self.bytes):
            stream_class, _, begin, end, content, size = struct.unpack("<I5Q", self.bytes[at + 20:at + 64])
            packets.append((at, size, content, begin, end, 0, stream_class))
            at += size // 8
            if not size:
                break
        return packets


class Recording:
    """The streams of a trace directory, without their progress."""

    def __init__(self, directory):
        self.traces, self.files = [], []
        for metadata in sorted(pathlib.Path(directory).rglob("metadata")):
            self.traces.append(metadata.read_bytes())
            for path in sorted(metadata.parent.iterdir()):
                if path.is_file() and path.name != "metadata" and path.stat().st_size:
                    self.files.append((path, len(self.traces) - 1))


class Relay:
    stays = False                       # the session does not end
    pace = 0                            # seconds of the recording that come in a second; 0: all are there

    def __init__(self, recording, lie=None, minor=13, packets=10 ** 9, sessions=1):
        self.recording, self.lie, self.minor = recording, lie or (lambda point, n, reply: reply), minor
        self.most, self.sessions = packets, sessions
        # bytes, as they are sent: of sessions (host, session), of streams (path, channel or None: the file's)
        self.host, self.session, self.path, self.channel = HOST.encode(), SESSION.encode(), b"ust/uid/0/64-bit", None
        self.viewers, self.started = 0, 0
        self.counts, self.lock = {}, threading.Lock()
        self.over, self.open = False, set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stop_r, self.stop_w = socket.socketpair()
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def close(self):
        self.stop_w.close()
        self.threads[0].join(20)        # it looks at the listener
        self.listener.close()
        for thread in self.threads:
            thread.join(20)

    def accept(self):
        while True:
            try:
                ready, _, _ = select.select([self.listener, self.stop_r], [], [])
                if self.stop_r in ready:
                    return
                connection, _ = self.listener.accept()
            except (OSError, ValueError):
                return              # it was closed
            thread = threading.Thread(target=self.serve, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def pause(self, seconds):
        """False: the test is over."""
        return not select.select([self.stop_r], [], [], seconds)[0]

    def receive(self, c, n):
        got = b""
        while len(got) < n:
            ready, _, _ = select.select([c, self.stop_r], [], [])
            piece = c.recv(n - len(got)) if self.stop_r not in ready else b""
            if not piece:
                raise ConnectionError
            got += piece
        return got

    def send(self, c, data):
        c.settimeout(0.2)
        view = memoryview(data)
        while view:
            try:
                view = view[c.send(view):]
            except socket.timeout:
                if not self.pause(0):
                    raise ConnectionError from None

    def act(self, c, what):
        for part in what if isinstance(what, list) else [what]:
            if part == CLOSE:
                raise ConnectionError
            if part == SILENCE:
                while self.pause(1):
                    pass
                raise ConnectionError
            if isinstance(part, tuple) and part[0] == DRIP:
                for byte in part[1]:
                    self.send(c, bytes([byte]))
                    if not self.pause(0.03):
                        raise ConnectionError
            elif isinstance(part, tuple):
                while True:
                    self.send(c, part[1])
            else:
                self.send(c, part)

    def begin(self):
        """The state of a connection."""
        return {"streams": [Stream(path, i, trace) for i, (path, trace) in enumerate(self.recording.files)],
                "metadata": [0] * len(self.recording.traces)}

    def serve(self, c):
        state = self.begin()
        self.open.add(c)
        try:
            with c:
                c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while True:
                    size, command, _ = struct.unpack(">QII", self.receive(c, 16))
                    data = self.receive(c, min(size, 65536))
                    point = POINTS[command]
                    with self.lock:
                        n = self.counts[point] = self.counts.get(point, 0) + 1
                    self.act(c, self.lie(point, n, getattr(self, "on_" + point)(state, data)))
        except (OSError, ConnectionError):
            pass

    # ---- the truth ----

    def on_connect(self, state, data):
        return struct.pack(">QIII", 7, 2, self.minor, 1)

    def on_create(self, state, data):
        return struct.pack(">I", 1)

    def on_list(self, state, data):
        if self.over:
            return struct.pack(">I", 0)
        reply = struct.pack(">I", self.sessions)
        for i in range(self.sessions):
            numbers = struct.pack(">QIII", 1 + i, 100000, self.viewers, len(self.recording.files))
            if self.minor < 15:
                reply += numbers + self.host[:64].ljust(64, b"\0") + self.session[:255].ljust(255, b"\0")
            else:
                reply += numbers + struct.pack(">III", len(self.host), len(self.session), 0) + self.host + self.session
        return reply

    def entry(self, number, trace, is_metadata, name):
        return struct.pack(">QQI", number, trace, is_metadata) + self.path[:4096].ljust(4096, b"\0") + \
            (self.channel or name.encode())[:255].ljust(255, b"\0")

    def on_attach(self, state, data):
        reply = [self.entry(1000 + i, i, 1, "metadata") for i in range(len(self.recording.traces))]
        reply += [self.entry(s.number, s.trace, 0, s.name) for s in state["streams"]]
        return struct.pack(">II", 1, len(reply)) + b"".join(reply)

    def on_metadata(self, state, data):
        i = struct.unpack(">Q", data)[0] - 1000
        if not 0 <= i < len(state["metadata"]) or state["metadata"][i]:
            return struct.pack(">QI", 0, 2)
        state["metadata"][i] = 1
        return struct.pack(">QI", len(self.recording.traces[i]), 1) + self.recording.traces[i]

    def on_index(self, state, data):
        i = struct.unpack(">Q", data)[0]
        s = state["streams"][i] if i < len(state["streams"]) else None
        if not s or s.next >= min(len(s.packets), self.most):
            self.over = not self.stays
            if self.stays:
                return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 2, 0)
            return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 3, 0)
        if self.pace and s.packets[s.next][4] > self.reached(state):
            return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 2, 0)
        s.next += 1
        return struct.pack(">7QII", *s.packets[s.next - 1], 1, 0)

    def reached(self, state):
        """The instant of the recording (its cycles are ns) whose packets have come."""
        self.started = self.started or time.monotonic()
        first = min(s.packets[0][3] for s in state["streams"] if s.packets)
        return first + (time.monotonic() - self.started) * self.pace * 1e9

    def on_packet(self, state, data):
        i, offset, n = struct.unpack(">QQI", data)
        s = state["streams"][i] if i < len(state["streams"]) else None
        got = s.bytes[offset:offset + n] if s else b""
        return struct.pack(">III", 1, len(got), 0) + got

    def on_streams(self, state, data):
        return struct.pack(">II", 4 if self.over else 2, 0)

    def on_detach(self, state, data):
        return struct.pack(">I", 1)


def main():
    """hostile_relay.py TRACE_DIR PORT_FILE [ends [PACE]]: an honest relay whose session stays (or ends when all
    was given out; PACE seconds of it in a second), until SIGTERM. SIGUSR1 cuts all connections and refuses others, SIGUSR2 takes them again."""
    relay = Relay(Recording(sys.argv[1]))
    relay.stays = len(sys.argv) < 4
    relay.pace = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    signals = {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
    temporary = pathlib.Path(sys.argv[2] + ".new")
    temporary.write_text(str(relay.port), "utf-8")
    temporary.rename(sys.argv[2])
    while True:
        got = signal.sigwait(signals)
        if got == signal.SIGTERM:
            return
        if got == signal.SIGUSR1:
            relay.listener.shutdown(socket.SHUT_RDWR)
            relay.listener.close()
            for c in list(relay.open):
                try:
                    c.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            relay.open.clear()
        else:
            relay.listener = socket.create_server(("127.0.0.1", relay.port))
            relay.threads.append(threading.Thread(target=relay.accept, daemon=True))
            relay.threads[-1].start()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2})
    main()
