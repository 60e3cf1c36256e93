#!/usr/bin/env python3
"""Relays that lie: whatever they say, and wherever they stop, blktop ends with a message, or goes on
and ends when it is told to; without a crash, in bounded memory, with nothing raw of theirs printed. A third of the lies; with ALL=1, as in make
check-long, all."""
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time

from hostile_relay import CLOSE, DRIP, ENDLESS, SILENCE, HOST, SESSION, Recording, Relay

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BLKTOP = os.environ.get("BLKTOP", os.environ.get("BUILD", str(SRC / "build")) + "/blktop")
RECORDING = Recording(SRC / "tests/traces/kernel-ust/trace/ust")
SANITIZED = b"__asan_init" in pathlib.Path(BLKTOP).read_bytes()
MOST_MEMORY = 400 * 1024        # KiB: what is queued, decoded, and kept
PATIENCE = 5                    # seconds until it is told to end
ALL = bool(os.environ.get("ALL"))
ESC = b"\x1b]0;owned\x07\x1b[2J"


# ---- lies: functions of (point, n, reply) ----

def at(point, what, first=1, last=10 ** 9):
    return lambda p, n, reply: what(reply) if p == point and first <= n <= last else reply


def cut(point, part, then):
    def lie(reply):
        return [reply[:{0: 0, 1: 1, 2: len(reply) // 2, 3: len(reply) - 1}[part]], then]
    return at(point, lie)


def put(fmt, offset, value):
    def lie(reply):
        new = bytearray(reply)
        if len(new) >= offset + struct.calcsize(fmt):
            struct.pack_into(fmt, new, offset, value)
        return bytes(new)
    return lie


def index(where, value):
    return at("index", put(">Q", 8 * where, value))


def noise(point, seed):
    def lie(reply):
        rng = random.Random(seed)
        new = bytearray(reply)
        for _ in range(max(1, len(new) // 50)):
            new[rng.randrange(len(new))] ^= 1 << rng.randrange(8)
        return bytes(new)
    return at(point, lie)


def more_streams(status, n):
    def lie(point, count, reply):
        if point != "streams":
            return reply
        rows = [struct.pack(">QQI", 5000 + count * n + i, 99 + i, i % 2) + (b"\xff" + ESC).ljust(4096, b"/") +
                b"x" * 255 for i in range(n)]
        return struct.pack(">II", status, n) + b"".join(rows)
    return lie


def bomb(text):
    def lie(point, n, reply):
        if point != "metadata":
            return reply
        head = b"/* CTF 1.8 */\n" if n == 1 else b""
        return struct.pack(">QI", len(head + text), 1) + head + text
    return lie


def flags(value):
    def lie(point, n, reply):
        if point == "index":
            return put(">I", 60, value)(reply)
        return put(">I", 8, value)(reply) if point == "packet" else reply
    return lie


def crumbs(text):
    """Metadata, a byte in each answer, for ever."""
    return lambda p, n, reply: struct.pack(">QI", 1, 1) + text[(n - 1) % len(text):][:1] if p == "metadata" else reply


def endless_sessions(p, n, reply):
    """As many as a relay may have, others in each answer, none of them the wanted one."""
    if p != "list":
        return reply
    return struct.pack(">I", 4096) + b"".join(struct.pack(">QIII", n * 4096 + i, 100000, 0, 1) + b"other".ljust(64, b"\0") +
                                              str(i).encode().ljust(255, b"\0") for i in range(4096))


def empty_answers(p, n, reply):
    """No packet, no metadata, no streams; but always a hint that there are some."""
    if p == "index":
        return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, 2, 3)
    return struct.pack(">QI", 0, 1) if p == "metadata" else struct.pack(">II", 1, 0) if p == "streams" else reply


def endless_packets():
    """The first packet of the stream, for ever."""
    first = struct.pack(">7QII", *struct.unpack(">7Q", (
        RECORDING.files[0][0].parent / "index" / (RECORDING.files[0][0].name + ".idx")).read_bytes()[16:72]), 1, 0)
    return at("index", lambda reply: first)


def packet_sizes(offset, value):
    """A packet whose own header lies: sizes are behind magic, uuid, ids and times."""
    def lie(reply):
        return reply[:12] + put("<Q", offset, value)(reply[12:]) if len(reply) > 100 else reply
    return at("packet", lie)


LIES = {
    "nothing": lambda p, n, reply: reply,
    "major 3": at("connect", put(">I", 8, 3)),
    "minor 0": at("connect", put(">I", 12, 0)),
    "minor 4294967295": at("connect", put(">I", 12, 0xffffffff)),
    "list: 4294967295 sessions": at("list", put(">I", 0, 0xffffffff)),
    "list: more than there are": at("list", put(">I", 0, 3)),
    "list: endless": at("list", lambda r: [struct.pack(">I", 0xffffffff), (ENDLESS, r[4:])]),
    "list: nobody's id": at("list", put(">Q", 4, 2 ** 64 - 1)),
    "list: timer 4294967295": at("list", put(">I", 12, 0xffffffff)),
    "list: escape sequences": at("list", lambda r: struct.pack(">I", 2) + r[4:] + r[4:24] + ESC.ljust(64, b"\xff") +
                                 ESC.ljust(255, b"\x9b") if len(r) == 343 else r),
    "create: an error": at("create", put(">I", 0, 2)),
    "create: unknown status": at("create", put(">I", 0, 77)),
    **{f"attach: status {s}": at("attach", put(">I", 0, s)) for s in (0, 2, 3, 4, 5, 6, 77)},
    "attach: 4294967295 streams": at("attach", put(">I", 4, 0xffffffff)),
    "attach: endless streams": at("attach", lambda r: [struct.pack(">II", 1, 0xffffffff), (ENDLESS, r[8:])]),
    "attach: 16000 streams": at("attach", lambda r: struct.pack(">II", 1, 16000) + b"".join(
        struct.pack(">QQI", 9000 + i, i % 7, 0) + r[28:8 + 4371] for i in range(16000))),
    "attach: the same id": at("attach", lambda r: struct.pack(">II", 1, 8) + r[8:8 + 4371] * 8),
    "attach: all are metadata": at("attach", lambda r: r[:8] + b"".join(
        r[i:i + 16] + b"\0\0\0\1" + r[i + 20:i + 4371] for i in range(8, len(r), 4371))),
    "attach: none": at("attach", lambda r: struct.pack(">II", 1, 0)),
    "attach: no metadata": at("attach", lambda r: struct.pack(">II", 1, (len(r) - 8) // 4371 - 1) + r[8 + 4371:]),
    **{f"metadata: {n}": at("metadata", put(">Q", 0, n)) for n in (2 ** 64 - 1, 2 ** 63, 2 ** 32 - 1)},
    "metadata: nonsense": at("metadata", lambda r: struct.pack(">QI", 5000, 1) + os.urandom(5000)),
    "metadata: a bomb": bomb(b"typealias integer { size = 8; } := a;\n" * 20000),
    "metadata: deep": bomb(b"struct { " * 200000),
    "metadata: one declaration": bomb(b"struct a { int " + b"x" * 1000000),
    "metadata: a long array": bomb(b"trace { major = 1; minor = 8; byte_order = le; };\nevent { id = 0; name = \"a\";"
                                   b" stream_id = 0; fields := struct { integer { size = 8; } a[4294967295][4294967295]; }; };\n"),
    "metadata: an escape": at("metadata", lambda r: struct.pack(">QI", 60, 1) + (b"/* CTF 1.8 */\n" + ESC).ljust(60, b"\x9b")),
    "metadata: none": at("metadata", lambda r: struct.pack(">QI", 0, 2)),
    "metadata: an error": at("metadata", lambda r: struct.pack(">QI", 0, 3)),
    "metadata: status 77": at("metadata", lambda r: struct.pack(">QI", 0, 77)),
    "metadata: empty": at("metadata", lambda r: struct.pack(">QI", 0, 1)),
    **{f"index: offset {v}": index(0, v) for v in (2 ** 64 - 1, 2 ** 63, 2 ** 40)},
    **{f"index: packet of {v} bits": index(1, v) for v in (0, 7, 2 ** 31, 2 ** 35, 2 ** 63, 2 ** 64 - 1)},
    **{f"index: content of {v} bits": index(2, v) for v in (0, 2 ** 63, 2 ** 64 - 1)},
    **{f"index: begin {v}": index(3, v) for v in (0, 2 ** 63, 2 ** 64 - 1)},
    **{f"index: end {v}": index(4, v) for v in (0, 2 ** 63, 2 ** 64 - 1)},
    "index: 2^64 - 1 discarded": index(5, 2 ** 64 - 1),
    "index: an unknown class": index(6, 2 ** 64 - 1),
    **{f"index: status {s}": at("index", put(">I", 56, s)) for s in (0, 2, 4, 5, 6, 99)},
    "index: end of all time": at("index", lambda r: struct.pack(">7QII", 0, 0, 0, 0, 2 ** 64 - 1, 0, 0, 5, 0)),
    "all flags, always": flags(0xffffffff),
    "packets for ever": endless_packets(),
    "metadata: crumbs for ever": crumbs(b"/* CTF 1.8 */\n"),
    "list: other sessions for ever": endless_sessions,
    "empty answers for ever": empty_answers,
    "beacons for ever": at("index", lambda r: struct.pack(">7QII", 0, 0, 0, 0, 1, 0, 0, 5, 2)),
    "streams: a flood": at("streams", lambda r: [r, (ENDLESS, struct.pack(">II", 1, 0))]),
    "streams: drop by drop": at("streams", lambda r: [(DRIP, r)]),
    **{f"packet: status {s}": at("packet", put(">I", 0, s)) for s in (0, 2, 3, 4, 99)},
    "packet: longer": at("packet", put(">I", 4, 0xffffffff)),
    "packet: shorter": at("packet", put(">I", 4, 1)),
    "packet: zeros": at("packet", lambda r: r[:12] + bytes(len(r) - 12)),
    "packet: nonsense": at("packet", lambda r: r[:12] + os.urandom(len(r) - 12)),
    **{f"packet: its bytes {o} on are {v:#x}": packet_sizes(o, v)
       for o in (24, 32, 40, 48, 56) for v in (0, 2 ** 63, 2 ** 64 - 1)},
    **{f"noise in {p} ({s})": noise(p, s) for p in ("attach", "index", "packet", "metadata") for s in range(3)},
    "streams: more each time": more_streams(1, 500),
    "streams: 4294967295": at("streams", lambda r: struct.pack(">II", 1, 0xffffffff)),
    "streams: status 77": at("streams", put(">I", 0, 77)),
    "streams: an error": at("streams", put(">I", 0, 3)),
    **{f"{p}: drop by drop": at(p, lambda r: [(DRIP, r)]) for p in ("connect", "list", "attach", "index", "packet", "metadata")},
    **{f"{p}: a flood": at(p, lambda r: [r, (ENDLESS, r)]) for p in ("connect", "list", "attach", "index", "packet", "metadata")},
    **{f"{p}: ends after part {i} of 3": cut(p, i, CLOSE) for p in ("connect", "list", "create", "attach", "metadata", "index", "packet", "streams")
       for i in range(4)},
    **{f"{p}: silent after part {i} of 3": cut(p, i, SILENCE) for p in ("connect", "list", "create", "attach", "metadata", "index", "packet", "streams")
       for i in (0, 2)},
}


# ---- one run ----

def run(name):
    minor = 15 if name == "minor 4294967295" else 13
    relay = Relay(RECORDING, LIES[name], minor=minor)
    relay.stays = "for ever" in name
    command = [BLKTOP, "-b", "--view", "events", "--timeout", "1", "-n", "1000" if relay.stays else "2",
               "-r", f"net://127.0.0.1:{relay.port}/host/{HOST}/{SESSION}"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    told, begun = [], time.monotonic()

    def tell(sign, mark):
        told.append(mark)
        child.send_signal(sign)
    timers = [threading.Timer(PATIENCE, tell, (signal.SIGTERM, "told")),
              threading.Timer(PATIENCE + (60 if SANITIZED else 20), tell, (signal.SIGKILL, "killed"))]
    for timer in timers:
        timer.start()
    parts, most = {}, [0]

    def watch():
        while child.returncode is None:
            try:
                text = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            except OSError:
                return
            found = re.search(r"VmHWM:\s+(\d+)", text)
            most[0] = max(most[0], int(found.group(1)) if found else 0)
            if most[0] > 4 << 20:
                child.kill()
            time.sleep(0.02)
    watcher = threading.Thread(target=watch)
    watcher.start()
    readers = [threading.Thread(target=lambda f=f, k=k: parts.__setitem__(k, f.read()))
               for k, f in (("out", child.stdout), ("err", child.stderr))]
    for thread in readers:
        thread.start()
    code = child.wait()
    code = 128 - code if code < 0 else code
    watcher.join()
    for timer in timers:
        timer.cancel()
    for thread in readers:
        thread.join()
    relay.close()
    if os.environ.get("COUNTS"):
        print("#", name, relay.counts)
    return code, told, time.monotonic() - begun - PATIENCE, most[0], parts["out"], parts["err"]


def wrong(code, told, memory, out, err):
    """What was wrong with it; "" if nothing."""
    if "killed" in told:
        return "hangs: SIGTERM does not end it"
    if memory > 4 << 20:
        return "takes all memory"
    if code not in (0, 1, 3, 4, 128 + signal.SIGTERM) or b"Sanitizer" in err or b"runtime error" in err:
        return f"exit status {code}"
    if code == 128 + signal.SIGTERM and "told" not in told:
        return "ended by a signal that nobody sent"
    if code == 1 and not re.search(rb"^blktop: .{20}", err, re.M):
        return "failed without a message"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out + err) or b"\x9b" in out + err:
        return "printed control characters"
    if memory > MOST_MEMORY and not SANITIZED:
        return f"took {memory} KiB of memory"
    return ""


# What can't be read at all is an error that says why.
SAYS = {
    "metadata: nonsense": b"cannot read metadata: ", "metadata: a bomb": b"cannot read metadata: ",
    "metadata: an escape": b"cannot read metadata: ", "metadata: none": b"packets came, but no metadata",
    "metadata: an error": b"packets came, but no metadata", "metadata: empty": b"packets came, but no metadata",
    "attach: no metadata": b"packets came, but no metadata", "packet: zeros": b"cannot read packets: ",
    "packet: nonsense": b"cannot read packets: ",
}


def main():
    wanted = sys.argv[1:]
    cases = [n for i, n in enumerate(LIES) if n in wanted or (not wanted and (ALL or i % 3 == 0 or n in SAYS or "for ever" in n))]
    print(f"1..{len(cases)}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [(n, pool.submit(run, n)) for n in cases]
        for i, (name, job) in enumerate(jobs, 1):
            code, told, later, memory, out, err = job.result()
            why = wrong(code, told, memory, out, err)
            if name == "nothing" and not why and (code != 0 or len(out) < 50):
                why = f"the truth is not followed: exit status {code}"
            if name in SAYS and not why and (code != 1 or SAYS[name] not in err):
                why = f"exit status {code}, and it does not say '{SAYS[name].decode()}'"
            failed += bool(why)
            said = err.decode("utf-8", "replace").splitlines()
            print(f"{'not ' if why else ''}ok {i} - {name}: "
                  f"{f'waits, ends {later:.1f} s after SIGTERM' if told else 'exit ' + str(code)}, {memory} KiB")
            for line in [why] * bool(why) + said[-3:] * bool(why or wanted):
                print("# " + line[:200])
            sys.stdout.flush()
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
