#!/usr/bin/env python3
"""Packets recovered after a crash; and a stream whose clock goes back: between packets, within one, by 1 ns, in one stream of two, with and without packet numbers, of the kernel and of user space. What lies
across that is never 0 and complete, nothing counts as lost, and a message says when and how far. Both readers.
And clocks of two CPUs that differ: the doctor says it if it is more than usual, with the figures of trust."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from made_ctf import BEGIN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
MS = 10**6
SPAN = """event { id = 0; stream_id = 0; name = "zipkin:timestamp"; fields := struct { string trace_name; string service_name; i32 port_no; string ip;
 i64 trace_id; i64 span_id; i64 parent_span_id; string _event; }; };"""
CALLS = """event { id = 0; stream_id = 0; name = "sched_switch"; fields := struct { text16 prev_comm; i32 prev_tid; i32 prev_prio; i64 prev_state; text16 next_comm;
 i32 next_tid; i32 next_prio; }; };
event { id = 1; stream_id = 0; name = "syscall_entry_read"; fields := struct { i32 fd; i64 count; }; };
event { id = 2; stream_id = 0; name = "syscall_exit_read"; fields := struct { i64 ret; }; };"""
METADATA = BEGIN + """trace { major = 1; minor = 8; byte_order = le; uuid = "0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a";
 packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { domain = "DOMAIN"; hostname = "lab"; };
clock { name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; SEQ u32 cpu_id; };
 event.context := struct { i32 CONTEXT; }; };
"""


def span(time, trace, event):
    return struct.pack("<HQi", 0, time, 100) + b"r\0s\0" + struct.pack("<i", 0) + b"\0" + struct.pack("<qqq", trace, 1, 0) + event + b"\0"


def switch(time, before, state, after):
    name = b"app".ljust(16, b"\0")
    return struct.pack("<HQi", 0, time, before) + name + struct.pack("<iiq", before, 20, state) + name + struct.pack("<ii", after, 20)


def call(time, exits=False):
    return struct.pack("<HQi", 1 + exits, time, 100) + (struct.pack("<q", 1) if exits else struct.pack("<iq", 3, 1))


def write(work, kernel, streams, numbered=True):
    """streams: of each CPU, packets (begin, end, events)."""
    events = CALLS.replace("text16 prev_comm", "u8 prev_comm[16]").replace("text16 next_comm", "u8 next_comm[16]") if kernel else SPAN
    text = METADATA.replace("DOMAIN", "kernel" if kernel else "ust").replace("CONTEXT", "tid" if kernel else "vtid")
    text = text.replace("SEQ", "u64 packet_seq_num;" if numbered else "") + events.replace(
        "u8 prev_comm", "integer { size = 8; align = 8; encoding = UTF8; } prev_comm").replace(
        "u8 next_comm", "integer { size = 8; align = 8; encoding = UTF8; } next_comm")
    pathlib.Path(work, "metadata").write_text(text, encoding="ascii")
    for cpu, packets in enumerate(streams):
        data = b""
        for number, (begin, end, all_events) in ((n, p) for n, p in enumerate(packets) if p):
            body = b"".join(all_events)
            bits = 8 * (len(body) + (76 if numbered else 68))
            data += struct.pack("<I16sIQQQQQ", 0xC1FC1FC1, b"\x0a" * 16, 0, cpu, begin, end, bits, bits)
            data += (struct.pack("<Q", number) if numbered else b"") + struct.pack("<I", cpu) + body
        pathlib.Path(work, f"chan_{cpu}").write_bytes(data)


def rows(work, reader, view, *more):
    r = subprocess.run([PROGRAM, "-b", "--no-cache", "--utc", "--format", "json", "--reader", reader, "--view", view, *more, work],
                       capture_output=True, text=True, check=False)
    return r, json.loads(r.stdout) if r.stdout else None


def check(name, kernel, streams, wanted, said="", numbered=True, readers=("native", "babeltrace2")):
    """wanted: of spans, by trace id: (state, ns); of the kernel, how many reads have a latency."""
    with tempfile.TemporaryDirectory() as work:
        write(work, kernel, streams, numbered)
        for reader in readers:
            r, out = rows(work, reader, "syscalls" if kernel else "spans")
            if not out:
                tap.ok(f"{name}, {reader}", [f"exit {r.returncode}: {r.stderr}"])
                continue
            is_now = {int(x["trace_id"], 16): (x["state"], x["duration_ns"]) for x in out["rows"]} if not kernel else sum(x["count"] for x in out["rows"])
            trust, bad = out["trust"], []
            if is_now != wanted:
                bad.append(f"{is_now}, not {wanted}")
            if r.returncode or trust["lost_packets"] or trust["lost_events"] or trust["damaged_packets"] or "lost " in r.stderr:
                bad.append(f"lost: exit {r.returncode} {r.stderr}")
            if said not in r.stderr or bool(said) != bool(trust["late_records"]):
                bad.append(f"said {r.stderr!r}, late {trust['late_records']}")
            _, losses = rows(work, reader, "losses")
            if said and [x["early_events"] for x in losses["rows"]] != [trust["late_records"]]:
                bad.append(f"losses {losses['rows']}")
            doctor = subprocess.run([PROGRAM, "--doctor", "--utc", "--reader", reader, work], capture_output=True, text=True, check=False).stdout
            problems = doctor.partition("PROBLEMS")[2].partition("REPAIRS")[0]
            how = said.partition(" (")[0].removeprefix("clock ") if said.startswith("clock ") else ""
            if ("clock of a stream" in problems) != bool(said) or how not in problems:
                bad.append(f"doctor: {problems}")
            tap.ok(f"{name}, {reader}", bad)


def check_crash(name, streams, wanted, lost, said=True):
    """Packets as lttng-crash saves them: their end is 0. lost: packets that are."""
    with tempfile.TemporaryDirectory() as work:
        write(work, False, streams)
        r, out = rows(work, "native", "spans")
        is_now = {int(x["trace_id"], 16): (x["state"], x["duration_ns"]) for x in out["rows"]}
        tap.ok(f"recovered after a crash: {name}", [
            *([f"{is_now}, not {wanted}"] if is_now != wanted else []),
            *([f"exit {r.returncode}: {r.stderr}"] if r.returncode != (3 if lost else 0) or ("recovered after a crash" in r.stderr) != said or
              ("--subbuf-size" in r.stderr) > (lost > 0) else []),
            *([str(out["trust"])] if out["trust"]["lost_packets"] != lost or out["trust"]["damaged_packets"] else [])])


def check_skew(name, skews, is_problem):
    """Thread 100 moves between the CPUs; each time it is switched in so many ns before it is switched out on the other one."""
    s, moves = 10**10, [[], []]
    for i, ns in enumerate((*skews, 0)):
        moves[i % 2].append((s + i * MS, 0, 100))
        moves[i % 2].append((s + (i + 1) * MS + ns * (i < len(skews)), 100, 0))
    streams = [[(s, s + (len(skews) + 2) * MS, [switch(at, before, 0, after) for at, before, after in all_of])] for all_of in moves]
    with tempfile.TemporaryDirectory() as work:
        write(work, True, streams)
        for reader in "native", "babeltrace2":
            _, out = rows(work, reader, "cpus")
            trust, bad = out["trust"], []
            if (trust["reordered_pairs"], trust["reordered_max_ns"]) != (len(skews), max(skews)):
                bad.append(str(trust))
            text = subprocess.run([PROGRAM, "--doctor", "--reader", reader, work], capture_output=True, text=True, check=False).stdout
            wanted = f"{len(skews)} pair{'s' * (len(skews) > 1)} of events of two CPUs"
            if (wanted in text) != is_problem or ("clocks of CPUs differ" in text) != is_problem:
                bad.append(text)
            tap.ok(f"clocks of CPUs, {name}, {reader}", bad)


def main():
    s = 10**10

    def spans(*times):
        return [span(s + at, trace, event) for at, trace, event in times]

    def pair_of(trace):
        return spans((0, trace, b"sr"), (5 * MS, trace, b"ss"))

    pair = pair_of(1)
    check("it does not go back", False, [[(s, s + 9 * MS, pair + spans((6 * MS, 2, b"sr"), (8 * MS, 2, b"ss")))]],
          {1: ("complete", 5 * MS), 2: ("complete", 2 * MS)})
    check("within a packet", False, [[(s, s + 6 * MS, pair + spans((-399 * MS, 2, b"sr"), (-394 * MS, 2, b"ss")))]],
          {1: ("complete", 5 * MS), 2: ("partial", 0)}, "clock went back by 404ms at 06:07:20 (stream of lab, user space, CPU 0)")
    check("across it", False, [[(s, s + 6 * MS, spans((0, 1, b"sr"), (5 * MS, 2, b"sr"), (4 * MS, 1, b"ss"), (6 * MS, 2, b"ss")))]],
          {1: ("partial", 5 * MS), 2: ("partial", MS)}, "clock went back by 1.00ms")
    check("after it was ahead", False, [[(s, s + 5 * MS, spans((0, 1, b"sr"), (400 * MS, 2, b"sr"), (401 * MS, 2, b"ss"), (5 * MS, 1, b"ss")))]],
          {1: ("partial", 5 * MS), 2: ("partial", 0)}, "clock went back by 396ms", readers=["native"])
    check("by 1 ns", False, [[(s, s + 6 * MS, spans((0, 1, b"sr"), (5 * MS, 1, b"ss"), (5 * MS - 1, 2, b"sr"), (5 * MS - 1, 2, b"ss")))]],
          {1: ("complete", 5 * MS), 2: ("partial", 0)}, "clock went back by 1ns")
    packets = [(s + i * MS, s + (i + 1) * MS, spans((i * MS, i + 1, b"sr"), (i * MS + 9, i + 1, b"ss"))) for i in range(8)]
    back = [(b - 400 * MS, e - 400 * MS, spans((i * MS - 400 * MS, i + 1, b"sr"), (i * MS - 400 * MS + 9, i + 1, b"ss")))
            for i, (b, e, _) in enumerate(packets)]
    after = {i + 1: ("complete", 9) if i < 4 else ("partial", 0) for i in range(8)}
    for numbered in True, False:
        check(f"between packets, {'with' if numbered else 'without'} numbers", False, [packets[:4] + back[4:]], after,
              "clock went back by 399ms at 06:07:20", numbered)
    check("in one stream of two", False, [packets[:4] + back[4:], [(s, s + 6 * MS, spans((MS, 11, b"sr"), (5 * MS, 11, b"ss")))]],
          {**after, 11: ("complete", 4 * MS)}, "user space, CPU 0")
    check("in a packet that ends before it began", False, [[(s, s - 300 * MS, pair + spans((-399 * MS, 2, b"sr"), (-394 * MS, 2, b"ss")))]],
          {1: ("complete", 5 * MS), 2: ("partial", 0)}, "clock went back by 404ms", readers=["native"])
    check("while a call is in flight", True, [[(s, s + 20 * MS, [switch(s, 0, 0, 100), call(s + MS), call(s + 2 * MS, True), call(s + 5 * MS),
                                                                    call(s + 4 * MS, True), call(s + 9 * MS), call(s + 10 * MS, True)])]],
          2, "clock went back by 1.00ms at 06:07:20 (stream of lab, kernel, CPU 0)")
    check("while a thread is blocked", True, [[(s, s + 20 * MS, [switch(s, 0, 0, 100), call(s + MS), switch(s + 2 * MS, 100, 1, 0), switch(s + MS, 0, 0, 100),
                                                                    call(s + MS + 9, True), call(s + 9 * MS), call(s + 10 * MS, True)])]],
          1, "clock went back by 1.00ms")
    check_crash("nothing is lost", [[*packets[:3], (packets[3][0], 0, packets[3][2])], [(s, 0, pair_of(11))]],
                {**{i + 1: ("complete", 9) for i in range(4)}, 11: ("complete", 5 * MS)}, 0)
    check_crash("in the middle", [[packets[0], (packets[1][0], 0, packets[1][2]), packets[2]]], {i + 1: ("complete", 9) for i in range(3)}, 0)
    check_crash("a packet is lost", [[packets[0], None, (packets[2][0], 0, packets[2][2])]], {1: ("complete", 9), 3: ("complete", 9)}, 1)
    check_crash("there was none", [packets[:3]], {i + 1: ("complete", 9) for i in range(3)}, 0, said=False)
    check_skew("a pair by 500 ns", [500], False)
    check_skew("a pair by 3 us", [3000], True)
    check_skew("one of many by 1.1 us", [1, 2, 1100, 3, 4], True)
    check_skew("a few pairs by 1 ns", [1] * 9, False)
    check_skew("most pairs by 1 ns", [1] * 40, True)
    tap.done()


main()
