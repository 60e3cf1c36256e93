#!/usr/bin/env python3
"""SIGTERM ends the program within a second: inside a giant packet, whatever is made of it, and in any screen. With ALL=1, as in make check-long, of every view,
else of some."""
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
SECONDS = 1
LONG = 20                       # seconds in which anything else has to happen
GIANT = 256 << 20               # bytes of the packet: the largest that is believed
INSIDE = 20                     # ticks of the processor's time until it is within the packet
METADATA = BEGIN + """trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "kernel"; hostname = "host"; };
clock { name = c; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
typealias integer { size = 7; align = 1; map = clock.c.value; } := ts7;
stream { id = 0; event.header := struct { integer { size = 1; align = 1; } id; ts7 timestamp; } align(8);
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; }; };
event { id = 0; stream_id = 0; name = "EVENT"; fields := struct { }; };
"""
COMMANDS = [["-b", "--view", "events"], ["-b", "--view", "processes", "-j", "1"], ["-b", "--view", "processes", "-j", "2", "--slices", "4"],
            ["-b", "--view", "counters"], ["log"], ["log", "--from", "50%"], ["log", "--filter", "comm =~ nobody"], ["report"],
            ["save", "--from", "50%", "--to", "end", "-o", "OUT"], ["--doctor"], ["--view", "events"], ["--view", "processes"]]
# Keys that open what is no view: the log, help, prompts, lists.
KEYS = {"the log": b"l", "help": b"?", "a prompt": b"/", "a page": b"4\r", "a waterfall": b"2\r", "columns": b"C"}


def write_giant(to, event):
    """A packet of nothing but zeros, which are events without a field, in a file of holes."""
    os.makedirs(to)
    pathlib.Path(to, "metadata").write_text(METADATA.replace("EVENT", event), encoding="utf-8")
    with open(os.path.join(to, "stream"), "wb") as f:
        f.write(struct.pack("<IIQQQQI", 0xC1FC1FC1, 0, 1000, 3600 * 10**9, GIANT * 8, GIANT * 8, 0))
        f.truncate(GIANT)


def ticks(process):
    """Of processor time that it used; None: it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[11]) + int(fields[12])


class Screen:
    """The program on a terminal that is read."""

    def __init__(self, arguments):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL,
                                        start_new_session=True, env={**os.environ, "TERM": "xterm-256color"})
        os.close(slave)
        self.shown = b""

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            self.shown += os.read(self.master, 65536)
        except OSError:
            return False
        return True

    def settle(self):
        """Until it has painted, and paints no more."""
        end = time.monotonic() + LONG
        if self.read(LONG):
            while time.monotonic() < end and self.read(0.3):
                pass

    def close(self):
        os.close(self.master)


def ends(process, screen=None):
    """What is wrong with how SIGTERM ends it."""
    begin = time.monotonic()
    os.kill(process.pid, signal.SIGTERM)
    while process.poll() is None and time.monotonic() - begin < LONG:
        if screen:
            screen.read(0.01)
        else:
            select.select([], [], [], 0.005)
    took = time.monotonic() - begin
    if process.poll() is None:
        process.kill()
        process.wait()
    if process.returncode not in (128 + signal.SIGTERM, -signal.SIGTERM):
        yield f"status {process.returncode}"
    if took > SECONDS:
        yield f"ended after {took:.1f} s"


def check_inside(name, arguments, trace, work):
    """Sent when the program is within the packet, or shows it."""
    arguments = [os.path.join(work, "out") if a == "OUT" else a for a in arguments] + [trace]
    screen = Screen(arguments) if arguments[0] == "--view" else None
    process = screen.process if screen else subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL,
                                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + LONG
    while (used := ticks(process)) is not None and used < INSIDE and time.monotonic() < end:
        if screen:
            screen.read(0.01)
        else:
            select.select([], [], [], 0.005)
    if used is None:                # it reads no event of the packet
        process.wait()
        tap.ok(name, [] if process.returncode in (0, 3) else [f"status {process.returncode}"])
    else:
        tap.ok(name, ends(process, screen))
    if screen:
        screen.close()


def check_screen(name, arguments, keys=b""):
    screen = Screen(arguments)
    screen.settle()
    if keys:
        os.write(screen.master, keys)
        screen.settle()
    tap.ok(name, ends(screen.process, screen) if screen.shown else ["nothing was shown"])
    screen.close()


def main():
    trace = "tests/traces/ctf2/demo/trace"
    with tempfile.TemporaryDirectory() as work:
        for event in ("nothing", "sched_switch"):
            giant = os.path.join(work, event)
            write_giant(giant, event)
            for arguments in COMMANDS:
                check_inside(f"in a packet of {event}: {' '.join(arguments)}", arguments, giant, work)
    listed = tap.output(PROGRAM, "--list-views").stdout
    for view in [line.split()[0] for line in listed.splitlines()][::1 if os.environ.get("ALL") else 4]:
        check_screen(f"the screen with {view}", ["--view", view, trace])
    for name, keys in KEYS.items():
        check_screen(f"the screen with {name}", [trace], keys)
    tap.done()


main()
