"""blktop in a terminal of its own, byte by byte, for the tests beside this."""
import array
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
import tty

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", os.environ.get("BUILD", "build") + "/blktop"))
TRACE = os.path.abspath("tests/traces/demo/trace")
LONG = 30                       # seconds in which anything has to happen


class Screen:
    """blktop in a terminal of its own, which answers only what the test writes; before: what starts the command."""

    def __init__(self, *options, size=(80, 24), before=(), **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORFGBG", "COLORTERM", "STY", "TMUX")}
        env.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}, **environment)
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.out, self.seen_at = b"", {}
        if "--config" not in options:
            options = ("--config", "none", *options)
        self.process = subprocess.Popen([*before, PROGRAM, "--utc", *options, TRACE], env=env, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        start_new_session=True)

    def read(self, seconds):
        """Is there anything within this time?"""
        ready = select.select([self.master], [], [], seconds)[0]
        if ready:
            self.out += os.read(self.master, 1 << 16)
        return bool(ready)

    def wait(self, text, seconds=LONG):
        """Until the text was written; what it took is in seen_at."""
        until = time.monotonic() + seconds
        while text not in self.out and time.monotonic() < until:
            self.read(0.02)
        self.seen_at.setdefault(text, time.monotonic())
        return text in self.out

    def type(self, data):
        while data:
            data = data[os.write(self.master, data[:512]):]
            self.read(0)

    def settles(self):
        """It takes a key, and shows what the key does: all before was read."""
        self.type(b"4")
        return self.wait(b"Processes")

    def end(self, quits=True):
        if quits:
            self.type(b"Q")
        until = time.monotonic() + LONG
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.02)
        alive = self.process.poll() is None
        if alive:
            self.process.kill()
        code = self.process.wait()
        left = array.array("i", [0])
        tty.setraw(self.slave, termios.TCSANOW)
        fcntl.ioctl(self.slave, termios.FIONREAD, left)
        os.close(self.master)
        os.close(self.slave)
        return [] if code == 0 and not alive else [f"ended with {code}"], left[0]
