"""A bad network between a viewer and its relay: a TCP proxy that delays, slows down, cuts and damages what
the relay says.

BadPath(port, damage) listens on a free port of 127.0.0.1 and connects each client to `port`. For each
connection, damage() gives an object with one method:

    pieces(data)    what is passed on of these bytes of the relay, in pieces: bytes, a number (seconds to
                    wait before the next piece), CLOSE or HANG

As a program, for tests in shell: bad_path.py PORT PORT_FILE MODE [NUMBER], until SIGTERM. MODE: a name in MODES.
"""
import pathlib
import random
import select
import signal
import socket
import sys
import threading
import time

CLOSE, HANG = "close", "hang"
CHUNK = 65536


class Whole:
    """Passes on everything; what the others are made of."""
    def __init__(self):
        self.at = 0                     # bytes of this connection so far

    def pieces(self, data):
        yield data


class Delay(Whole):
    """Each piece comes `seconds` later, and none overtakes another."""
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def pieces(self, data):
        yield self.seconds
        yield data


class Slow(Whole):
    """So many bytes a second, in small pieces."""
    def __init__(self, rate, step=1024):
        super().__init__()
        self.rate, self.step, self.due = rate, step, 0.0

    def pieces(self, data):
        for at in range(0, len(data), self.step):
            piece = data[at:at + self.step]
            self.due = max(self.due, time.monotonic()) + len(piece) / self.rate
            yield max(0.0, self.due - time.monotonic())
            yield piece


class Bytes(Whole):
    """One byte at a time."""
    def pieces(self, data):
        for at in range(len(data)):
            yield data[at:at + 1]


class Drop(Whole):
    """`n` bytes are missing, once in each connection, from its byte `at` on."""
    def __init__(self, at, n=50):
        super().__init__()
        self.where, self.n = at, n

    def pieces(self, data):
        begin, self.at = self.at, self.at + len(data)
        first, end = (min(max(place - begin, 0), len(data)) for place in (self.where, self.where + self.n))
        yield data[:first] + data[end:]


class DropMany(Whole):
    """Of one piece of `of` the 50 bytes behind its first 100 are missing."""
    def __init__(self, rng, of):
        super().__init__()
        self.rng, self.of = rng, of

    def pieces(self, data):
        cut = len(data) > 200 and self.rng.randrange(self.of) == 0
        yield data[:100] + data[150:] if cut else data


class Until(Whole):
    """After so many bytes of each connection `then` happens."""
    def __init__(self, most, then):
        super().__init__()
        self.most, self.then = most, then

    def pieces(self, data):
        left, self.at = self.most - self.at, self.at + len(data)
        yield data[:max(left, 0)]
        if len(data) > left:
            yield self.then


class Corrupt(Whole):
    """One bit is another, once in each `every` bytes."""
    def __init__(self, rng, every):
        super().__init__()
        self.rng, self.every, self.next = rng, every, every

    def pieces(self, data):
        data = bytearray(data)
        while self.next < self.at + len(data):
            data[self.next - self.at] ^= 1 << self.rng.randrange(8)
            self.next += self.every
        self.at += len(data)
        yield bytes(data)


class Gone:
    """For BadPath's `damage`: after so many bytes in all the path is gone: what is connected hangs or is
    closed, and nothing connects any more."""
    def __init__(self, most, then=CLOSE):
        self.most, self.then = most, then

    def __call__(self):
        return self

    def pieces(self, data):
        left, self.most = self.most, max(0, self.most - len(data))
        yield data[:left]
        if len(data) > left:
            yield self.then


MODES = {
    "none": lambda number: Whole,
    "delay": lambda number: lambda: Delay(number or 0.5),
    "slow": lambda number: lambda: Slow(number or 131072),
    "bytes": lambda number: Bytes,
    "drop": lambda number: lambda: Drop(int(number or 300000)),
    "dropmany": lambda number, rng=random.Random(5): lambda: DropMany(rng, int(number or 50)),
    "trunc": lambda number: lambda: Until(int(number or 200000), CLOSE),
    "hang": lambda number: lambda: Until(int(number or 200000), HANG),
    "gone": lambda number: Gone(int(number or 200000)),
    "corrupt": lambda number, rng=random.Random(5): lambda: Corrupt(rng, int(number or 100000)),
}


class BadPath:
    def __init__(self, port, damage=Whole):
        self.target, self.damage = port, damage
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stop_r, self.stop_w = socket.socketpair()
        self.lock, self.sockets = threading.Lock(), []
        self.passed = 0                 # bytes of the relay, in all
        self.connections = 0
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def close(self):
        self.stop_w.close()
        self.threads[0].join(20)
        self.listener.close()
        with self.lock:
            for s in self.sockets:
                self.shut(s)
        for thread in self.threads[1:]:
            thread.join(20)
        for s in self.sockets:
            s.close()

    def pause(self, seconds):
        """True: it is to end."""
        return bool(select.select([self.stop_r], [], [], seconds)[0])

    @staticmethod
    def shut(s):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def accept(self):
        while self.stop_r not in (ready := select.select([self.listener, self.stop_r], [], [])[0]) and ready:
            near, _ = self.listener.accept()
            self.connections += 1
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets += [near, far]
            for pump in (lambda a=near, b=far: self.pump(a, b, Whole()), lambda a=near, b=far: self.pump(b, a, self.damage())):
                self.threads.append(threading.Thread(target=pump, daemon=True))
                self.threads[-1].start()

    def pump(self, source, to, damage):
        try:
            while data := source.recv(CHUNK):
                for piece in damage.pieces(data):
                    if piece == CLOSE:
                        return
                    if piece == HANG:
                        self.pause(None)
                        return
                    if isinstance(piece, bytes):
                        to.sendall(piece)
                        self.passed += len(piece)
                    elif self.pause(piece):
                        return
        except OSError:
            pass
        finally:
            self.shut(source)
            self.shut(to)


def main():
    mode = MODES[sys.argv[3]](float(sys.argv[4]) if len(sys.argv) > 4 else None)
    path = BadPath(int(sys.argv[1]), mode)
    temporary = pathlib.Path(sys.argv[2] + ".new")
    temporary.write_text(str(path.port), "utf-8")
    temporary.rename(sys.argv[2])
    signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
