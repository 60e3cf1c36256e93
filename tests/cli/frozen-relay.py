#!/usr/bin/env python3
"""A relay that freezes at each step of the conversation, while a process ends, and another one begins and ends: all
events that it had are counted, or what may be missing is told.

The steps are those of a conversation without a freeze. Each session has buffers per process: `stays` is there to the
end, `ends` is there at the attachment, `short` lives only while the relay is frozen, `later` begins after that. Relays
of 2.15 are frozen at each step in each way, older ones in turn; with ALL=1 in the environment everything is combined.
"""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import threading
import time

from hostile_relay import CLOSE, POINTS, Relay
from replay import Tap
from replay_relay import INDEX_HUP, INDEX_OK, INDEX_RETRY, Transcript

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BLKTOP = os.environ.get("BLKTOP", os.environ.get("BUILD", str(SRC / "build")) + "/blktop")
INACTIVE, NEW_METADATA, NEW_STREAM = 5, 1, 2
RETAINS = 15                            # relays from this minor version on deliver closed streams to who was told of them
PACKETS = 2                             # of each process
LIMIT = 1                               # seconds: the viewer's, for an answer
SHORT, LONG = 0.4 * LIMIT, 1.7 * LIMIT  # that the relay is frozen
WAIT = 0.7                              # seconds until the session ends, so that its list is asked for again
BEFORE_ATTACH = ("connect", "create", "list", "attach")
MISSING = ("left_packets", "unread_packets", "ended_early", "ends_unknown", "gave_up", "lost_events", "lost_packets", "damaged_packets")


class Process:
    def __init__(self, name, number, packets):
        self.name, self.packets = name, packets
        self.trace, self.stream, self.metadata = number, 2 * number, 2 * number + 1
        self.there = self.closed = False

    def entry(self, is_metadata):
        path = f"ust/pid/{self.name}-{self.trace}-20261127-120000".encode()
        return struct.pack(">QQI", self.metadata if is_metadata else self.stream, self.trace, is_metadata) + \
            path.ljust(4096, b"\0") + (b"metadata" if is_metadata else b"chan_0").ljust(255, b"\0")


class Frozen(Relay):
    """step: the label at which it freezes; None: it does not. seconds: for so long. answers_first: what it was asked,
    before it reads what the traced machine sent meanwhile. drops: the connection, instead of an answer. names: of the
    processes. first: which packets are the first process's. labels: what was asked, in order."""

    def __init__(self, transcript, minor, names, step=None, seconds=0.0, answers_first=False, drops=False, first=0):
        self.t, self.step, self.seconds, self.answers_first, self.drops = transcript, step, seconds, answers_first, drops
        stream = min(transcript.indexes)
        found = [r for r in transcript.indexes[stream] if struct.unpack(">I", r[56:60])[0] == INDEX_OK]
        self.last = struct.unpack(">Q", found[-1][32:40])[0]
        self.bytes = transcript.packets[stream]
        order = ("stays", "ends", "short", "later")
        self.processes = [Process(n, 1 + i, found[PACKETS * i:PACKETS * (i + 1)])
                          for i, n in enumerate(order, first) if n in names]
        self.by_name = {p.name: p for p in self.processes}
        self.by_stream = {n: p for p in self.processes for n in (p.stream, p.metadata)}
        self.text = b"".join(transcript.all_metadata())
        self.world, self.labels, self.over, self.was_attached, self.frozen = threading.RLock(), [], False, False, False
        self.read_at = 0                # monotonic: when nothing was left but the step that was not met yet
        self.generation = 0             # of connections
        self.announced = set()          # processes
        self.had = set()                # the processes whose events were there at the attachment or later
        for name in ("stays", "ends"):
            self.begins(name)
        super().__init__(None, None, minor)

    # ---- the traced machine ----

    def begins(self, name):
        p = self.by_name.get(name)
        if p and not p.there:
            p.there = True
            if self.was_attached:
                self.had.add(name)

    def closes(self, name):
        if name in self.by_name and self.by_name[name].there:
            self.by_name[name].closed = True

    def what_happens_meanwhile(self):
        """While it was frozen."""
        if self.over:
            return                      # no process registers with a session that was destroyed
        for name in ("ends", "later"):
            self.closes(name)
        self.begins("short")
        self.closes("short")
        self.goes_on()

    def goes_on(self):
        if "ends" not in self.by_name or self.by_name["ends"].closed:
            self.begins("later")

    # ---- the relay ----

    def begin(self):
        return {"known": [], "next": {p.stream: 0 for p in self.processes}, "sent": set(),
                "generation": self.generation}

    def new(self, state):
        return [p for p in self.processes if p.there and not p.closed and p not in state["known"]]

    def label(self, state, point, data):
        if point in BEFORE_ATTACH + ("detach",):
            return f"{point} {min(self.counts[point], 2)}"
        if point == "streams":
            new = self.new(state)
            return "streams: " + (f"new {new[0].name}" if new else "over" if self.is_over(state) else "none")
        p = self.by_stream[struct.unpack(">Q", data[:8])[0]]
        at = state["next"][p.stream]
        if point == "metadata":
            return f"metadata {p.name}: " + ("none" if p in state["sent"] else "text")
        if point == "packet":
            return f"packet {p.name} {at}"
        return f"index {p.name}: " + (str(at + 1) if at < PACKETS else "end" if p.closed or self.over else "none")

    def is_over(self, state):
        return self.over and all(state["next"][p.stream] == PACKETS for p in state["known"])

    def lie_to(self, state, point, data):
        """What to send for the request."""
        with self.world:
            label = self.label(state, point, data)
            self.labels.append(label)
            if state["generation"] != self.generation:
                return CLOSE
            if self.frozen or label != self.step:
                return getattr(self, "on_" + point)(state, data)
            self.frozen = True
            reply = getattr(self, "on_" + point)(state, data) if self.answers_first else None
            self.pause(self.seconds)
            self.what_happens_meanwhile()
            if self.seconds > LIMIT:    # the viewer has left
                self.generation += 1
            if self.drops or self.seconds > LIMIT:
                return CLOSE
            return reply or getattr(self, "on_" + point)(state, data)

    def serve(self, c):
        state = self.begin()
        try:
            with c:
                while True:
                    size, command, _ = struct.unpack(">QII", self.receive(c, 16))
                    data, point = self.receive(c, size), POINTS[command]
                    with self.lock:
                        self.counts[point] = self.counts.get(point, 0) + 1
                    self.act(c, self.lie_to(state, point, data))
        except (OSError, ConnectionError):
            pass

    def on_list(self, state, data):
        if self.over:
            return struct.pack(">I", 0)
        reply = struct.pack(">IQIII", 1, 1, 10000, 0, 3)
        form = int(self.minor >= 15)
        if form:
            return reply + struct.pack(">III", 4, 4, 1) + b"web1" + b"prod"
        return reply + b"web1".ljust(64, b"\0") + b"prod".ljust(255, b"\0")

    def announce(self, state):
        new = self.new(state)
        state["known"] += new
        self.announced |= {p.name for p in new}
        return struct.pack(">II", 1 if new or not state["known"] else 2, 2 * len(new)) + \
            b"".join(p.entry(n) for p in new for n in (0, 1))

    def on_attach(self, state, data):
        if self.over:
            return struct.pack(">II", 3, 0)
        if not self.was_attached:
            self.was_attached = True
            self.had |= {p.name for p in self.new(state)}
        return struct.pack(">I", 1) + self.announce(state)[4:]

    def on_streams(self, state, data):
        if not self.new(state) and self.is_over(state):
            return struct.pack(">II", 4, 0)
        return self.announce(state)

    def on_metadata(self, state, data):
        p = self.by_stream[struct.unpack(">Q", data)[0]]
        text = b"" if p in state["sent"] else self.text
        if self.minor < RETAINS and p.closed and text:
            return struct.pack(">QI", 0, 2)
        state["sent"].add(p)
        return struct.pack(">QI", len(text), 1 if text else 2) + text

    def on_index(self, state, data):
        p = self.by_stream[struct.unpack(">Q", data)[0]]
        at = state["next"][p.stream]
        flags = (0 if p in state["sent"] else NEW_METADATA) | (NEW_STREAM if self.new(state) else 0)
        withheld = p.closed and self.minor < RETAINS
        if at < PACKETS and not withheld:
            state["next"][p.stream] += 1
            return p.packets[at][:56] + struct.pack(">II", INDEX_OK, flags)
        if not p.closed and not self.over:
            self.read(state, p)
            end = self.last if p.name == "stays" and p in state["sent"] else 0
            return struct.pack(">7QII", 0, 0, 0, 0, end, 0, 0, INACTIVE if end else INDEX_RETRY, flags)
        state["next"][p.stream] = PACKETS
        self.read(state, p)
        return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, INDEX_HUP, 0)

    def read(self, state, p):
        """All of it was. The next thing happens: the process ends, the session ends."""
        if p.name != "stays":
            p.closed = True
        self.goes_on()
        if all(q.closed or q.name == "stays" for q in self.processes if q.there) and not self.new(state) and \
                all(state["next"][q.stream] == PACKETS for q in state["known"]):
            self.read_at = self.read_at or time.monotonic()
            self.over = self.frozen or not self.step or time.monotonic() - self.read_at > WAIT

    def on_packet(self, state, data):
        _, offset, n = struct.unpack(">QQI", data)
        for at, piece in self.bytes.items():
            if at <= offset and offset + n <= at + len(piece):
                return struct.pack(">III", 1, n, 0) + piece[offset - at:offset - at + n]
        return struct.pack(">III", 3, 0, 0)


class Got:
    def __init__(self, transcript, minor, names, *options, **how):
        relay = Frozen(transcript, minor, names, **how)
        command = [BLKTOP, "-b", "--view", "events", "--columns", "name,count", "--format", "json", "--timeout", str(LIMIT), *options,
                   f"net://127.0.0.1:{relay.port}/host/web1/prod"]
        begin = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.out, self.err, self.code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as e:
            self.out, self.err, self.code = "", f"hangs: {e}", -1
        self.seconds = time.monotonic() - begin
        relay.close()
        self.labels, self.had, self.announced, self.was_frozen = relay.labels, relay.had, relay.announced, relay.frozen
        self.reconnected = relay.counts.get("attach", 0) > 1
        objects = [json.loads(line) for line in self.out.splitlines()]
        self.events = sum(row["count"] for o in objects for row in o["rows"])
        self.told = {key: True for key in ("ends_unknown", "incomplete") if key + ": " in self.err}
        for o in objects:
            self.told.update({key: o["trust"][key] for key in MISSING if o["trust"].get(key)})

    def notes(self):
        return f"{self.events} events, told {self.told}, status {self.code}, {self.seconds:.1f} s", self.err, self.out[-300:], \
            " | ".join(self.labels[-12:])


ORDER = ("stays", "ends", "short", "later")
WAYS = {"for a moment": {"seconds": SHORT}, "for a moment, after the answer": {"seconds": SHORT, "answers_first": True},
        "for long": {"seconds": LONG}, "for a moment, and hangs up": {"seconds": SHORT, "drops": True}}


class Case:
    """One step, one way, one version, with or without a process that begins later."""
    def __init__(self, minor, step, way, names):
        self.minor, self.step, self.way, self.names, self.got = minor, step, way, names, None

    def run(self, transcript):
        self.got = Got(transcript, self.minor, self.names, step=self.step, **WAYS[self.way])
        return self

    def wrong(self, counts):
        """What is; None: nothing."""
        g, had = self.got, sum(counts[name] for name in self.got.had)
        if g.code < 0 or not g.was_frozen:
            return "it hung" if g.code < 0 else "the step was not met"
        if g.events > had:
            return f"{g.events} events of {had}"
        if g.events < had and not g.told and not g.code:
            return f"{g.events} events of {had}, and nothing tells so"
        wanted = sum(counts[name] for name in g.announced)
        if self.minor >= RETAINS and not g.reconnected and g.code == 0 and g.events != wanted:
            return f"{g.events} events, of {wanted} that the relay could give"
        return None


def cases(steps, everything):
    for minor in (10, 12, 14, 15):
        for i, step in enumerate(steps[ORDER]):
            for j, way in enumerate(WAYS):
                for k, names in enumerate((ORDER, ORDER[:3])):
                    mine = (i + j) % 2 == k if minor == 15 else (10, 12, 14)[i % 3] == minor and (i + j) % 4 < 2 and k == (i + j) % 2
                    if everything or mine or (step not in steps[ORDER[:3]] and minor == 15 and k == 0):
                        if step in steps[names]:
                            yield Case(minor, step, way, names)


def main():
    tap, t = Tap(), Transcript(SRC / "tests/traces/viewer/ctf-2.transcript.xz")
    counts = {name: Got(t, 15, ("stays",), first=i).events for i, name in enumerate(ORDER)}
    steps = {}
    for names in (ORDER, ORDER[:3]):
        calm = Got(t, 15, names)
        steps[names] = list(dict.fromkeys(calm.labels))
        wanted = sum(counts[name] for name in names if name != "short")
        tap.ok(calm.events == wanted > 0 and calm.code == 0, f"no freeze: {wanted} events, {len(steps[names])} steps", *calm.notes())
    points = {step.split()[0].rstrip(":") for step in steps[ORDER]}
    tap.equal(points, set(POINTS.values()) - {"detach"}, "there is a step of each message")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda case: case.run(t), cases(steps, os.environ.get("ALL") == "1")))
    for step in steps[ORDER]:
        here = [case for case in done if case.step == step]
        wrong = [(c.minor, c.way, c.names[-1], c.wrong(counts), *c.got.notes()) for c in here if c.wrong(counts)]
        tap.ok(here and not wrong, f"frozen at '{step}': {len(here)} cases", *wrong)
    some = [c for c in done if "short" in c.got.had and "short" not in c.got.announced and not c.got.code]
    tap.ok(len(some) > len(done) / 8, f"a process was never announced, status 0: {len(some)} of {len(done)} cases")
    calm, frozen = (Got(t, 15, ORDER[:1], "-n", "1", step=step, seconds=LONG) for step in ("none", "detach 1"))
    tap.ok(frozen.was_frozen and (frozen.events, frozen.code) == (calm.events, 0), "frozen at 'detach 1'", *frozen.notes(), *calm.notes())
    tap.done()


if __name__ == "__main__":
    main()
