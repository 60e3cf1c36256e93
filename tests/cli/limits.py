#!/usr/bin/env python3
"""The list of limits, and the one that takes a live session: seconds without events that batch prints."""
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from hostile_relay import Recording, Relay

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BLKTOP = os.environ.get("BLKTOP", str(SRCDIR / "build/blktop"))
SECOND = 10 ** 9
METADATA = """/* CTF 1.8 */
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "ust"; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; }; };
event { id = 0; stream_id = 0; name = "e"; fields := struct { }; };
"""
number = failed = 0


def ok(name, good, detail=""):
    global number, failed
    number += 1
    failed += not good
    print("ok" if good else "not ok", number, "-", name)
    for line in str(detail).splitlines()[:20] if not good else []:
        print("#  ", line)


def run(*arguments):
    return subprocess.run([BLKTOP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=120)


def write_trace(directory, instants):
    """A stream of one event a packet."""
    stream, index = b"", struct.pack(">IIII", 0xc1f1dcc1, 1, 0, 56)
    for at in instants:
        size = 50
        index += struct.pack(">7Q", len(stream), size * 8, size * 8, at, at + 1, 0, 0)
        stream += struct.pack("<IIQQQQHQ", 0xc1fc1fc1, 0, at, at + 1, size * 8, size * 8, 0, at)
    (directory / "index").mkdir(parents=True)
    (directory / "metadata").write_text(METADATA, "utf-8")
    (directory / "s_0").write_bytes(stream)
    (directory / "index/s_0.idx").write_bytes(index)


def printed(work, gap):
    """How many seconds batch prints of two events with so many seconds between theirs."""
    trace = work / f"gap-{gap}"
    write_trace(trace, [SECOND // 2, (gap + 1) * SECOND + SECOND // 2])
    relay = Relay(Recording(trace))
    done = run("-b", "--view", "events", "--format", "json", "--from-beginning", "-r",
               f"net://127.0.0.1:{relay.port}/host/web1/prod")
    relay.close()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return len(lines), sum(row["count"] or 0 for line in lines for row in line["rows"]), done


limits = json.loads(run("--list-limits", "--format", "json").stdout)["limits"]
text = run("--list-limits")
rows = list(csv.DictReader(io.StringIO(run("--list-limits", "--format", "csv").stdout)))
ok("--list-limits: exit status", text.returncode == 0)
ok("all of them, in each format", len(limits) == len(rows) > 50 and
   all(f"  {row['id']} " in text.stdout and str(row["value"]) in text.stdout for row in limits))
ok("CSV and JSON say the same", [[str(v) for v in row.values()] for row in limits] == [list(row.values()) for row in rows]
   and list(limits[0]) == list(rows[0]) == ["id", "value", "unit", "group", "limits", "above", "why"])
safe = run("--list-limits", "--format", "csv", "--csv-safe").stdout
ok("--csv-safe: options are no formulas", '"\'--jobs"' in safe and '"--jobs"' not in safe)
ok("--list-limits takes no trace", run("--list-limits", "x").returncode == 2)

most = next(row["value"] for row in limits if row["id"] == "empty-seconds")
with tempfile.TemporaryDirectory(prefix="blktop-limits.") as name:
    for gap, wanted in ((most, most + 2), (most + 1, 2)):
        seconds, events, done = printed(pathlib.Path(name), gap)
        ok(f"limit empty-seconds: a gap of {gap}", (seconds, events) == (wanted, 2),
           f"{seconds} seconds, {events} events\n{done.stderr}")
print(f"1..{number}")
sys.exit(1 if failed else 0)
