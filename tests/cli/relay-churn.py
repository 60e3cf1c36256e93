#!/usr/bin/env python3
"""Relays whose sessions, hosts, processes and metadata come and go without end: memory stays within --memory and 64 MiB
beside, each event is counted once, and SIGTERM ends the program in each of these states. With ALL=1, as in make check-long, for minutes."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

from hostile_relay import HOST, SESSION, Relay
from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

BLKTOP = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
SANITIZED = b"__asan_init" in pathlib.Path(BLKTOP).read_bytes()
ALL = bool(os.environ.get("ALL"))
MEMORY, BESIDE = 32, 64         # MiB
LIMIT = 900 if ALL else 240     # s, in which anything has to happen
CPU_SECONDS = 10 if SANITIZED else 1    # of processor time, from SIGTERM to the end
CLASSES, EVENTS = 60, 40
TICKS = os.sysconf("SC_CLK_TCK")

METADATA = BEGIN + """trace { major = 1; minor = 8; byte_order = le; uuid = "%08x-0000-0000-0000-000000000000";
 packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { hostname = "%s"; domain = "ust"; };
clock { name = c; uuid = "%s"; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 7; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size;
 u64 packet_seq_num; u64 events_discarded; u32 cpu_id; }; };
""" + "".join(f'event {{ id = {k}; stream_id = 7; name = "app:event_{k}"; fields := struct {{ u32 n; u16 len; u8 of[len]; string text; }}; }};\n'
              for k in range(CLASSES))
BOOT = "01010101-0101-0101-0101-010101010101"


def packet_of(uuid, instance, begin, filler=0):
    """Times, bytes. Its events are spread over all classes."""
    events = b"".join(struct.pack("<HQIH", i % CLASSES, begin + i * 10, i, 0) + b"text\0" for i in range(EVENTS))
    size = 84 + len(events)
    head = struct.pack("<I", 0xC1FC1FC1) + struct.pack(">I", uuid) + bytes(12) + struct.pack(
        "<IQQQQQQQI", 7, instance, begin, begin + EVENTS * 10, size * 8, (size + filler) * 8, 0, 0, 0)
    return begin, begin + EVENTS * 10, size, head + events + bytes(filler)


class Made(Relay):
    """Sessions of one stream with one packet, one after the other."""

    hosts = False               # each session is of another host
    beside = BESIDE             # MiB
    ending = CPU_SECONDS

    def __init__(self, sessions):
        self.left, self.now, self.streams, self.texts = sessions, 1, {}, {}
        super().__init__(None)

    def begin(self):
        return {}

    def listed(self):
        return [self.now] if self.left else []

    def on_list(self, state, data):
        ids = self.listed()
        return struct.pack(">I", len(ids)) + b"".join(
            struct.pack(">QIII", i, 100000, 0, 1) + HOST.encode().ljust(64, b"\0") + SESSION.encode().ljust(255, b"\0") for i in ids)

    def new_stream(self, number, filler=0):
        """Its entries, and those of its metadata."""
        self.streams[number] = [packet_of(number, 1, 1000, filler), False]
        host = f"host{number}" if self.hosts else "host"
        self.texts[number] = (METADATA % (number, host, f"{number:08x}{BOOT[8:]}" if self.hosts else BOOT)).encode()
        self.path = f"ust/pid/app-{number}".encode()
        return self.entry((1 << 32) + number, number, 1, "metadata") + self.entry(number, number, 0, "channel_0")

    def on_attach(self, state, data):
        return struct.pack(">II", 1, 2) + self.new_stream(self.now)

    def on_metadata(self, state, data):
        text = self.texts.pop(struct.unpack(">Q", data)[0] - (1 << 32), b"")
        return struct.pack(">QI", len(text), 1 if text else 2) + text

    def on_index(self, state, data):
        stream = self.streams.get(struct.unpack(">Q", data)[0])
        if not stream or stream[1]:
            self.ended(struct.unpack(">Q", data)[0])
            return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 3, 0)
        stream[1] = True
        begin, end, size, all_bytes = stream[0]
        return struct.pack(">7QII", 0, len(all_bytes) * 8, size * 8, begin, end, 0, 7, 1, 0)

    def ended(self, number):
        self.streams.pop(number, None)
        self.over = True

    def on_packet(self, state, data):
        number, offset, n = struct.unpack(">QQI", data)
        got = self.streams[number][0][3][offset:offset + n]
        return struct.pack(">III", 1, len(got), 0) + got

    def on_streams(self, state, data):
        if self.over and not state:
            state["over"] = True
            self.over = False
            self.now += 1
            self.left -= 1
        return struct.pack(">II", 4 if state else 2, 0)


class Hosts(Made):
    hosts = True


class Last(Hosts):
    """Metadata comes when the session has ended."""

    def on_metadata(self, state, data):
        return super().on_metadata(state, data) if state else struct.pack(">QI", 0, 2)

    def on_attach(self, state, data):
        self.sent = False
        return super().on_attach(state, data)

    def on_packet(self, state, data):
        self.sent = True
        return super().on_packet(state, data)

    def on_streams(self, state, data):
        if self.sent:
            state["over"] = True
        return struct.pack(">II", 4 if state else 2, 0)

    def ended(self, number):
        self.streams.pop(number, None)
        self.now += 1
        self.left -= 1


class Processes(Made):
    """One session; processes with buffers of their own come and go."""

    alive, came = 0, 0
    beside = 3 * BESIDE         # all of one instant: each waits for those that begin, and the heap is in pieces

    def on_attach(self, state, data):
        return struct.pack(">II", 1, 0)

    def on_streams(self, state, data):
        n = min(64 - self.alive, self.left)
        if n <= 0 and not self.left and not self.alive:
            self.gone = True
            return struct.pack(">II", 4, 0)
        rows = [self.new_stream(self.came + k + 1) for k in range(n)]
        self.came += n
        self.alive += n
        self.left -= n
        return struct.pack(">II", 1 if n else 2, 2 * n) + b"".join(rows)

    gone = False

    def listed(self):
        return [] if self.gone else [1]

    def ended(self, number):
        self.alive -= self.streams.pop(number, None) is not None


class Many(Made):
    """All sessions at once, and they stay."""

    def listed(self):
        return list(range(1, self.left + 1))

    def on_attach(self, state, data):
        return struct.pack(">II", 1, 0)

    def on_streams(self, state, data):
        return struct.pack(">II", 2, 0)


class Without(Made):
    """Streams whose metadata never comes; the session stays."""

    def on_attach(self, state, data):
        rows = [self.new_stream(k + 1, 200000) for k in range(1000)]
        return struct.pack(">II", 1, 2 * len(rows)) + b"".join(rows)

    def on_metadata(self, state, data):
        return struct.pack(">QI", 0, 2)

    def on_index(self, state, data):
        stream = self.streams[struct.unpack(">Q", data)[0]]
        begin, end, size, all_bytes = stream[0]
        return struct.pack(">7QII", 0, len(all_bytes) * 8, size * 8, begin, end, 0, 7, 1, 0)

    def on_streams(self, state, data):
        return struct.pack(">II", 2, 0)


class Growing(Made):
    """Metadata that grows for ever."""

    def on_metadata(self, state, data):
        n = self.counts["metadata"]
        text = METADATA % (1, "host", BOOT) if n == 1 else f'env {{ a{n % 1000} = "{n}"; }};\n' + "".join(
            f"typealias integer {{ size = 8; }} := t{n}_{k};\n" for k in range(100))
        return struct.pack(">QI", len(text), 1) + text.encode()

    def on_index(self, state, data):
        return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 2, 1)

    def on_streams(self, state, data):
        return struct.pack(">II", 2, 0)


class Large(Growing):
    """60,000 event classes in one answer: types and decoders of 20 MB of text."""

    beside = 6 * BESIDE         # the limits of a trace's metadata allow more
    ending = 3 * CPU_SECONDS    # the text is parsed to its end first

    def on_metadata(self, state, data):
        fields = " ".join(f"u8 _f{i};" for i in range(40))
        text = METADATA % (1, "host", BOOT) + "".join(
            f'event {{ id = {k + CLASSES}; stream_id = 7; name = "more_{k}"; fields := struct {{ {fields}}}; }};\n'
            for k in range(60000))
        return struct.pack(">QI", len(text), 1) + text.encode()


class Run:
    def __init__(self, relay, *options):
        self.relay, self.most = relay, 0
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [BLKTOP, "-b", "--config", "none", "--memory", f"{MEMORY}M", "--view", "events", "--format", "json", *options,
             "-r", f"net://127.0.0.1:{relay.port}/host/{HOST}/{SESSION}"],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def until(self, reached):
        """False: it ended before."""
        end = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < end:
            try:
                status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("ascii", "replace")
            except OSError:
                status = ""
            if "VmHWM:" in status:
                self.most = max(self.most, int(status.split("VmHWM:")[1].split()[0]) >> 10)
            if reached():
                return True
            try:
                self.process.wait(0.02)
            except subprocess.TimeoutExpired:
                pass
        return False

    def cpu(self):
        try:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self):
        """What is wrong with how SIGTERM ends it."""
        first = last = self.cpu()
        self.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < end:
            last = self.cpu() or last
            if (last or 0) - (first or 0) > self.relay.ending:
                break
            try:
                self.process.wait(0.01)
            except subprocess.TimeoutExpired:
                pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            return [f"SIGTERM does not end it: {last - first:.1f} s of processor time more"]
        return [] if self.process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM) else [f"status {self.process.returncode}"]

    def peak(self):
        enough = MEMORY + self.relay.beside
        return [] if SANITIZED or 0 < self.most <= enough else [f"{self.most} MiB, {enough} are to be enough"]

    def said(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace")

    def objects(self):
        self.out.seek(0)
        return [json.loads(line) for line in self.out.read().decode().splitlines()]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.relay.close()
        self.out.close()
        self.err.close()


def check_whole(name, relay, sessions):
    """The sessions end, and then the program: all is counted."""
    run = Run(relay)
    run.until(lambda: False)
    code = run.process.poll()
    counted = sum(row["count"] for o in run.objects() for row in o["rows"])
    tap.ok(f"{name}: memory ({run.most} MiB)", run.peak())
    tap.ok(f"{name}: each event is counted once", [] if counted == sessions * EVENTS and code in (0, 3) else [
        f"{counted} of {sessions * EVENTS}, status {code}", *run.said().splitlines()[-3:]])
    run.close()


def check_stop(name, relay, reached, *options):
    run = Run(relay, *options)
    good = run.until(lambda: reached(run))
    tap.ok(f"{name}: memory ({run.most} MiB)", run.peak() if good else [f"status {run.process.poll()}", *run.said().splitlines()[-3:]])
    tap.ok(f"{name}: SIGTERM", run.stop())
    run.close()


def main():
    times = 30 if ALL else 1
    sessions = (300 if SANITIZED else 1500) * times
    for name, kind in (("sessions that end and return", Made), ("hosts that change", Hosts),
                       ("metadata that comes last", Last), ("processes that come and go", Processes)):
        n = min(sessions, 1500) if kind is Hosts else 20 if kind is Last else sessions  # hosts are held for the run
        check_whole(name, kind(n), n)
        check_stop(name, kind(10 ** 9), lambda run: run.relay.counts.get("packet", 0) > (5 if kind is Last else 100), "--each", "--wait")
    check_stop("4,000 sessions at once", Many(4000), lambda run: run.relay.counts.get("attach", 0) >= 64, "--wait")
    check_stop("no metadata", Without(1), lambda run: run.relay.counts.get("packet", 0) > 30)
    check_stop("metadata that grows", Growing(1), lambda run: run.relay.counts.get("metadata", 0) > (300 if SANITIZED else 1000))
    relay = Large(1)
    check_stop("large metadata", relay, lambda run: relay.counts.get("metadata", 0) > 0 and (run.cpu() or 0) > 0.3)
    tap.done()


main()
