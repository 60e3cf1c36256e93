#!/usr/bin/env python3
"""How complete what is read of a live session is: what is missing is told, as figures and by the exit status, and
nothing is told missing that is there."""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys

from hostile_relay import HOST, SESSION, Recording, Relay
from replay import Tap
from replay_relay import INDEX_HUP, INDEX_OK, Replay, Transcript

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRC / "tests/lib"))
from bad_path import CLOSE, BadPath, Gone, Slow, Until, Whole  # pylint: disable=wrong-import-position

BLKTOP = os.environ.get("BLKTOP", os.environ.get("BUILD", str(SRC / "build")) + "/blktop")
UST = SRC / "tests/traces/kernel-ust/trace/ust"
OVERFLOW = SRC / "../shared/hostile/heap-overflow"
EVENTS = 17588
FINE, FAILED, LOSS, INCOMPLETE = 0, 1, 3, 4
NOTHING = {"left_packets": 0, "left_bytes": 0, "unread_packets": 0, "ended_early": 0, "ends_unknown": 0, "gave_up": 0}


class Got:
    def __init__(self, done):
        self.out, self.code = done.stdout, done.returncode
        self.err = "".join(line for line in done.stderr.splitlines(True) if line != "blktop: attaching\n")

    @property
    def objects(self):
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def events(self):
        if self.out.startswith("{"):
            return sum(row["count"] for o in self.objects for row in o["rows"])
        return sum(int(row["count"]) for row in csv.DictReader(io.StringIO(self.out)) if row["count"])

    def last(self):
        """What is known to be missing in the end."""
        trust = self.objects[-1]["trust"]
        return {key: trust.get(key, "no such key") for key in NOTHING}

    def notes(self):
        return self.err, self.out[-600:], self.code


def run(url, *options, form="csv"):
    return Got(subprocess.run([BLKTOP, "-b", "--view", "events", "--columns", "name,count", "--format", form, *options, url],
                              capture_output=True, text=True, timeout=100, check=False))


def url_of(relay, port):
    _, _, host, name = next(iter(relay.transcript.sessions.values()))
    return f"net://127.0.0.1:{port}/host/{host.decode()}/{name.decode()}"


def replayed(transcript, *options, path=None, form="csv", **how):
    relay = Replay(transcript, **how)
    way = BadPath(relay.port, path) if path else None
    got = run(url_of(relay, way.port if way else relay.port), *options, form=form)
    for end in (way, relay):
        if end:
            end.close()
    return got


def first_packets(n, timer_us=1000, name="ctf-2"):
    """Only so many packets of each stream; a short live timer, so that little patience is asked for."""
    t = Transcript(SRC / f"tests/traces/viewer/{name}.transcript.xz")
    t.sessions = {s: (timer_us, *rest) for s, (_, *rest) in t.sessions.items()}
    for stream, replies in t.indexes.items():
        found = [r for r in replies if struct.unpack(">I", r[56:60])[0] == INDEX_OK]
        t.indexes[stream] = found[:n]
    return t


def of_processes(t, minor):
    """Its streams are those of processes."""
    for entries in [*t.attached.values(), *(n for all_of_them in t.news.values() for n in all_of_them)]:
        entries[:] = [e[:20] + e[20:4116].rstrip(b"\0").replace(b"ust/uid/0", b"ust/pid/a-1").ljust(4096, b"\0") + e[4116:]
                      for e in entries]
    return t, {"minor": minor}


# ---- what is asked for ----

def whole(tap):
    got = replayed(first_packets(5), form="json")
    tap.equal((got.code, got.err), (FINE, ""), "all came: status, messages", *got.notes())
    keys = {key for o in got.objects for key in (*NOTHING, "behind_ns", "damaged_packets") if key in o["trust"]}
    tap.equal(sorted(keys), sorted([*NOTHING, "behind_ns", "damaged_packets"]), "all came: figures in each object")
    tap.equal(got.last(), NOTHING, "all came: nothing is missing")
    done = subprocess.run([BLKTOP, "-b", "--view", "events", "--format", "json", UST], capture_output=True, text=True, check=False)
    trust = json.loads(done.stdout)["trust"]
    tap.equal([trust[key] for key in (*NOTHING, "behind_ns")], [None] * 7, "of a recorded trace nothing like it is known")


def slow_and_destroyed(tap):
    """Each packet takes longer than the supervisor's patience, and than the time limit of the connection, which is one of
    silence; the session is destroyed right after the beginning."""
    t = first_packets(2)
    wanted = replayed(t).events
    got = replayed(t, "--timeout", "1", path=lambda: Slow(15000), form="json", destroyed=True)
    tap.equal((got.events, got.code, got.err, got.last()), (wanted, FINE, "", NOTHING),
              "slow path, session destroyed: events, status, messages, missing", *got.notes())


def path_gone(tap):
    """The path ends within a packet, and for good."""
    t = first_packets(30)
    for options in ((), ("--fail-if-incomplete",)):
        got = replayed(t, "--timeout", "2", *options, path=Gone(400000), form="json")
        code = FAILED if options else INCOMPLETE
        tap.ok(0 < got.events < EVENTS and got.code == code, f"the path is gone: status {code} {options}", *got.notes())
        tap.ok("gave up on the relay" in got.err and "that the relay announced did not come" in got.err,
               "the path is gone: how much did not come is told", *got.notes())
    got = replayed(t, "--timeout", "2", path=Gone(9000))
    tap.equal(got.code, FAILED, "nothing could be read: status", *got.notes())


def withheld(tap):
    """The session is destroyed while the connection is broken: the relay has its streams, and hands nothing out."""
    breaks = [Until(400000, CLOSE)]
    got = replayed(first_packets(30), path=lambda: breaks[0] if breaks[0].at < 400000 else Whole(), form="json", withholds=True)
    tap.ok(0 < got.events < EVENTS and got.code == INCOMPLETE, "withheld: status 4", *got.notes())
    tap.ok("the relay delivers nothing more of it" in got.err, "withheld: it is told", *got.notes())


def daemon_killed(tap):
    """The relay has no more, and no session, but no end either: as when the session daemon is killed."""
    t = first_packets(5)
    wanted = replayed(t).events
    got = replayed(t, form="json", destroyed=True, stays=True)
    tap.equal((got.events, got.code), (wanted, INCOMPLETE), "killed session daemon: events, status", *got.notes())
    tap.ok("ended without being destroyed" in got.err, "killed session daemon: it is told", *got.notes())


def no_events(tap):
    t = first_packets(0)
    for how in ({"stays": True}, {}):
        got = replayed(t, "-n", "2", **how)
        tap.equal((got.out, got.code), ("", FAILED), f"not an event: {how or 'it ends'}", *got.notes())
        tap.ok("no events came from" in got.err, "not an event: it is told", *got.notes())


def processes(tap):
    """Streams of processes end while the session goes on: nothing proves that something is missing."""
    for minor, unknown in ((13, 2), (15, 0)):
        t, how = of_processes(first_packets(5), minor)
        wanted = replayed(first_packets(5)).events
        for stream in t.indexes:        # later than its last packet
            t.indexes[stream] += [struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 2, 0)] * 400
        relay = Replay(t, lasts=2.5, **how)
        relay.few_retries = list        # all of them
        got = run(url_of(relay, relay.port), form="json")
        relay.close()
        tap.equal((got.events, got.code), (wanted, FINE), f"processes exit, 2.{minor}: events, status", *got.notes())
        told = got.last()["ends_unknown"]       # more on a machine that pauses
        tap.ok(got.last() == NOTHING | {"ends_unknown": told} and told >= unknown, f"processes exit, 2.{minor}: {unknown} unknown", *got.notes())
        tap.ok(f"events of processes that ended may be missing (ends_unknown: {told})" in got.err if told else got.err == "",
               f"processes exit, 2.{minor}: it is told", *got.notes())


def stream_ends_early(tap):
    """A stream of all processes ends, and the session goes on."""
    t = first_packets(5)
    got = replayed(t, "-n", "100", form="json", lasts=3)
    tap.equal((got.code, got.err, got.last()), (FINE, "", NOTHING), "all streams end, the session a little later", *got.notes())
    t = first_packets(5)
    first = min(t.indexes)
    t.indexes[first].append(struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, INDEX_HUP, 0))
    relay = Replay(t, stays=True)
    relay.hangs_up = {first}
    got = run(url_of(relay, relay.port), "-n", "4", form="json")
    relay.close()
    tap.equal(got.code, INCOMPLETE, "one stream ends early: status", *got.notes())
    tap.ok("1 stream ended before the session did" in got.err, "one stream ends early: it is told", *got.notes())


def relay_errors(tap):
    """The relay refuses a packet that it announced."""
    t = first_packets(5)
    first = min(t.packets)
    offset = struct.unpack(">Q", t.indexes[first][-1][:8])[0]
    size = struct.unpack(">Q", t.indexes[first][-1][8:16])[0] // 8
    t.packets[first] = {at: data for at, data in t.packets[first].items() if not offset <= at < offset + size}
    got = replayed(t, form="json")
    tap.equal((got.code, got.objects[-1]["trust"]["left_bytes"] >= 0), (INCOMPLETE, True), "a packet is refused: status", *got.notes())
    tap.ok("1 packet (" in got.err and "did not come" in got.err, "a packet is refused: it is told", *got.notes())


# ---- damaged packets ----

def name_class(t, which, number):
    """That packet of the first stream names another stream class."""
    first = min(t.indexes)
    at = struct.unpack(">Q", t.indexes[first][which][:8])[0]
    data = t.packets[first][at]
    t.packets[first][at] = data[:20] + struct.pack("<I", number) + data[24:]
    return t


def live_and_recorded(directory, lie=None):
    relay = Relay(Recording(directory), lie)
    got = run(f"net://127.0.0.1:{relay.port}/host/{HOST}/{SESSION}", form="json")
    relay.close()
    done = Got(subprocess.run([BLKTOP, "-b", "--view", "events", "--columns", "name,count", "--format", "json", directory],
                              capture_output=True, text=True, check=False))
    return got, done


def lost(tap):
    """What the tracer itself discarded: on standard error, with host and domain, beside the figures and the status."""
    got, recorded = live_and_recorded(SRC / "tests/traces/lost/trace/kernel")
    events, packets = (sum(o["trust"][key] for o in got.objects) for key in ("lost_events", "lost_packets"))
    counts = " and ".join(f"{n} {what}{'s' if n != 1 else ''}" for n, what in ((events, "event"), (packets, "packet")) if n)
    tap.ok(events and got.code == recorded.code == LOSS, f"lost: {counts}, status 3", *got.notes(), *recorded.notes())
    tap.equal([line for line in got.err.splitlines() if " lost " in line],
              [f"blktop: the tracer lost {counts} (lttng-guest, kernel: {counts}), which are not counted; to lose less: larger "
               "buffers; blktop --doctor says how large; --view losses lists the streams"], "lost: it is told, once", *got.notes())


def classes(tap):
    wanted = replayed(first_packets(5)).events
    for which in (0, 2, 4):
        got = replayed(name_class(first_packets(5), which, 77), form="json")
        tap.ok(got.code == LOSS and wanted / 2 < got.events < wanted, f"packet {which} names no class of the trace: status 3", *got.notes())
        tap.ok("cannot read all packets of trace" in got.err and "/u0_0': " in got.err, "which stream's is told", *got.notes())
        trusts = [o["trust"] for o in got.objects]
        tap.equal([sum(t[key] for t in trusts) for key in ("damaged_packets", "lost_packets", "unread_packets")], [1, 0, 0],
                  "it is in a range, once", *got.notes())
    got, _ = live_and_recorded(UST, lambda point, n, reply: reply[:32] + b"M" + reply[33:] if point == "packet" and n == 1 else reply)
    tap.equal((got.code, got.last()), (LOSS, NOTHING | {"unread_packets": 1}), "the only packet of a stream: status, missing", *got.notes())
    if OVERFLOW.exists():
        got, recorded = live_and_recorded(OVERFLOW)
        tap.ok(got.events == recorded.events and (got.code == FINE) == (recorded.code == FINE) and got.code in (FINE, LOSS),
               f"heap-overflow, live: {got.events} events, as recorded", *got.notes(), *recorded.notes())
    else:
        tap.skip("heap-overflow, live", "it is not beside this source tree")


def main():
    parts = (whole, slow_and_destroyed, path_gone, withheld, daemon_killed, no_events, processes, stream_ends_early, relay_errors, lost,
             classes)
    parts = [p for p in parts if not sys.argv[1:] or p.__name__ in sys.argv[1:]]
    taps = [Held() for _ in parts]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part, tap: part(tap), parts, taps))
    tap = Tap()
    for held in taps:
        for name, arguments in held.calls:
            getattr(tap, name)(*arguments)
    tap.done()


class Held:
    """Results of a part, to be printed in order."""
    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, arguments))


if __name__ == "__main__":
    main()
