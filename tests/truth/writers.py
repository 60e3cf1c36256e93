#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What writers other than LTTng produce, in CTF 1.8: each trace is read as babeltrace2 reads it, event by event: its
time, its name and, with build/tools/compare-readers, all its fields. The traces are made here, one for each property
that such writers have; public ones are in ../shared/reports. Then recordings that babeltrace2's own writer wrote again,
whole and trimmed."""
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

TOOL = os.path.join(os.environ.get("BUILD", os.path.join(blk.ROOT, "build")), "tools", "compare-readers")
TRACES = os.path.join(blk.ROOT, "tests", "traces")
REPORTS = os.path.join(blk.SHARED, "reports")
LINE = re.compile(r"^\[(-?)(\d+)\.(\d{9})\] (?:\S+ )?([^{} ]+): ?(?:\{|$)")

COMMENT = "/* CTF 1.8 */\n"         # babeltrace2 does not read text without it
SAME = re.compile(r"^events .*, 0 different, 0 not comparable$", re.M)
TYPES = "".join(f"typealias integer {{ size = {n}; align = 8; signed = {int(s)}; }} := {'iu'[not s]}{n};\n"
                for n in (8, 16, 32, 64) for s in (False, True))
OFFSET = 1700000000 * 10**9
CLOCK = f"clock {{ name = c; freq = 1000000000; offset_s = {OFFSET // 10**9}; }};\n"
MAPPED = ("typealias integer { size = 32; align = 8; map = clock.c.value; } := t32;\n"
          "typealias integer { size = 64; align = 8; map = clock.c.value; } := t64;\n")


def trace(inside="", order="le"):
    return f"trace {{ major = 1; minor = 8; byte_order = {order}; {inside} }};\n"


def begin(order="le", inside="packet.header := struct { u32 magic; u32 stream_id; };", clock=CLOCK):
    return COMMENT + TYPES + trace(inside, order) + clock + (MAPPED if clock else "")


STREAM = ("stream { id = 0; packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u32 content_size;"
          " u32 packet_size; }; event.header := struct { u16 id; t64 timestamp; }; };\n")
EVENT = "event { name = e; id = 0; stream_id = 0; fields := struct { u32 n; }; };\n"
BARE = "stream { event.header := struct { t64 timestamp; }; };\n"
BARE_EVENT = "event { name = e; fields := struct { u32 n; }; };\n"


def packet(events, first=0, last=10000, order="<", stream=0, pad=0, more=0):
    """A packet of STREAM with events of EVENT's header: (time, bytes). more: bits that the last byte lacks."""
    body = b"".join(struct.pack(order + "HQ", 0, at) + fields for at, fields in events)
    size = 4 + 4 + 16 + 8 + len(body)
    return struct.pack(order + "IIQQII", 0xc1fc1fc1, stream, first, last, size * 8 - more, (size + pad) * 8) + \
        body + bytes(pad)


def numbers(*times):
    return [(at, struct.pack("<I", n)) for n, at in enumerate(times)]


def bare(times, fields=lambda n: struct.pack("<I", n)):
    return b"".join(struct.pack("<Q", at) + fields(n) for n, at in enumerate(times))


def narrow(times, bits, fields=lambda n: struct.pack("<I", n)):
    return b"".join((at % (1 << bits)).to_bytes(bits // 8, "little") + fields(n) for n, at in enumerate(times))


def barectf_packets():
    """Times of 32 bits in packets and events, which wrap."""
    out = b""
    for i in range(40):
        at = [i * 400_000_000 + 1000 + k * 100_000_000 for k in range(3)]
        body = narrow(at, 32)
        out += struct.pack("<IIIII", 0xc1fc1fc1, at[0] % 2**32, at[2] % 2**32, (20 + len(body)) * 8, 64 * 8) + body
        out += bytes(64 - 20 - len(body))
    return out


def metadata_packets(text, order):
    out = b""
    for i in range(0, len(text), 500):
        part = text[i:i + 500].encode()
        out += struct.pack(order + "I16sIIIBBBBB", 0x75d11d57, bytes(16), 0, (37 + len(part)) * 8,
                           (37 + len(part) + 11) * 8, 0, 0, 0, 1, 8) + part + bytes(11)
    return out


def event(fields, name="e"):
    return f"event {{ name = {name}; fields := struct {{ {fields} }}; }};\n"


def cases():
    """Name, metadata, stream files, and the times of the events (ns after the clock's offset) if babeltrace2 cannot read
    the trace."""
    two = numbers(10, 20)
    plain = begin() + STREAM + EVENT
    yield "plain", plain, [packet(two)]
    yield "metadata in packets", metadata_packets(plain, "<"), [packet(two)]
    yield "metadata in packets, big endian", metadata_packets(begin("be") + STREAM + EVENT, ">"), \
        [packet([(10, b"\0\0\0\1"), (20, b"\0\0\0\2")], order=">")]
    yield "clock again", begin() + STREAM + EVENT + CLOCK + STREAM.replace("id = 0", "id = 1") + \
        EVENT.replace("stream_id = 0", "stream_id = 1").replace("= e", "= f"), \
        [packet(two), packet(numbers(15, 25), stream=1)]
    header = begin(inside="packet.header := struct { u32 magic; };")
    yield "stream without id", header + STREAM.replace("id = 0; ", "") + EVENT, \
        [packet(two).replace(struct.pack("<II", 0xc1fc1fc1, 0), struct.pack("<I", 0xc1fc1fc1))
         .replace(struct.pack("<II", 60 * 8, 60 * 8), struct.pack("<II", 56 * 8, 56 * 8))]
    yield "nothing but times", begin(inside="") + BARE + BARE_EVENT, [bare([10, 20, 30])]
    yield "event before its stream", COMMENT + TYPES + trace() + CLOCK + MAPPED + BARE_EVENT + BARE, [bare([10, 20, 30])]
    yield "times of 32 bits, no clock", begin(inside="", clock="") + \
        "stream { event.header := struct { u32 timestamp; }; };\n" + BARE_EVENT, \
        [narrow([5, 2**31, 2**32 + 7, 2**33], 32)]
    yield "one clock, not mapped", begin(inside="") + "stream { event.header := struct { u64 timestamp; }; };\n" + \
        BARE_EVENT, [bare([10, 20, 30])]
    yield "clock of 2.1 GHz", begin(inside="", clock="clock { name = c; freq = 2100000000; offset_s = 1679921155;"
                                    " offset = 1697611796; };\n") + BARE + BARE_EVENT, [bare([10, 21, 2**50])]
    yield "clock of 32768 Hz", begin(inside="", clock="clock { name = c; freq = 32768; offset = 55706000000000;"
                                     " precision = 100; };\n") + BARE + BARE_EVENT, [bare([0, 1, 2, 32769])]
    yield "times of 48 bits", begin(inside="") + "stream { event.header := struct { integer { size = 48; align = 1;" \
        " map = clock.c.value; } timestamp; u16 id; } align(64); };\n" + event("u32 n;"), \
        [b"".join((at).to_bytes(6, "little") + struct.pack("<HII", 0, n, 0) for n, at in enumerate([5, 2**40]))[:-4]]
    yield "barectf with times of 32 bits", begin(inside="packet.header := struct { u32 magic; };") + \
        "stream { packet.context := struct { t32 timestamp_begin; t32 timestamp_end; u32 content_size;" \
        " u32 packet_size; }; event.header := struct { t32 timestamp; }; };\n" + BARE_EVENT, [barectf_packets()], \
        [i * 400_000_000 + 1000 + k * 100_000_000 for i in range(40) for k in range(3)]
    yield "content ends within a byte", begin() + STREAM + event("integer { size = 27; } n;"), \
        [packet([(10, b"\1\0\0\0"), (20, b"\2\0\0\0")], more=5)]
    yield "padding", plain, [packet(two, last=25, pad=100) + packet(numbers(30, 40), 30, 40)]
    yield "a packet without events", plain, [packet([], 0, 9) + packet(two, 9, 20)]
    yield "header-only file beside another", begin() + STREAM.replace("t64 timestamp_begin; t64 timestamp_end; u32 c",
                                                                      "u32 a, b, c, d; u32 c") + EVENT, \
        [packet([]), packet(two)]
    yield "header only, without sizes", begin(inside="packet.header := struct { u32 magic; };") + \
        "stream { packet.context := struct { u32 cpu_id; }; event.header := struct { t64 timestamp; }; };\n" + \
        BARE_EVENT, [struct.pack("<II", 0xc1fc1fc1, 3), struct.pack("<II", 0xc1fc1fc1, 4) + bare([10, 20])]
    yield "unknown attributes", begin(inside='more = "}"; packet.header := struct { u32 magic; u32 stream_id; };') + \
        STREAM.replace("id = 0", "id = 0; alpha = beta") + EVENT.replace("= e", "= e; x := struct { u8 a; }"), \
        [packet(two)]
    uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"
    with_uuid = begin(inside=f'uuid = "{uuid}"; packet.header := struct {{ u32 magic; u8 uuid[16]; }};') + \
        BARE + BARE_EVENT
    own, other = bytes.fromhex(uuid.replace("-", "")), bytes(range(16))
    yield "another uuid", with_uuid, [struct.pack("<I", 0xc1fc1fc1) + u + bare([10 + i, 20 + i])
                                      for i, u in enumerate((own, other))]
    yield "_field beside field", begin(inside="") + BARE + event("u32 _n; u32 n; u8 __n; u8 x[n];"), \
        [bare([10, 20], lambda n: struct.pack("<IIB", 7, n, 9) + bytes(n))], [10, 20]
    yield "empty structures", begin(inside="") + BARE + event("struct { } a[42]; u8 n; struct { } b[n];"), \
        [bare([10, 20], lambda n: b"\3")]
    yield "sequences of structures", begin(inside="") + BARE + \
        event("u16 n; struct { u8 m; struct { string s; u8 k; } in[m]; } out[n]; u32 end;"), \
        [bare([10, 20], lambda n: struct.pack("<H", n) + n * b"\2ab\0\1c\0\2" + struct.pack("<I", 5))]
    yield "variants by ranges", begin(inside="") + BARE + \
        event('enum : u8 { A = 0 ... 4, B = 9, A = 7, "C d" = 10 ... 200 } t; variant <t> { u8 A; string B; };'
              .replace("};", "} v;").replace('"C d" = 10 ... 200', "B = 10 ... 200")), \
        [bare([10, 20, 30], lambda n: (b"\7\1", b"\12x\0", b"\4\2")[n])]
    yield "floating point in contexts, byte order of a field", begin(inside="") + \
        "stream { event.header := struct { t64 timestamp; }; event.context := struct { floating_point { exp_dig = 11;" \
        " mant_dig = 53; byte_order = be; align = 8; } f; integer { size = 16; byte_order = be; align = 8; } b; }; };" + \
        "event { name = e; context := struct { floating_point { exp_dig = 8; mant_dig = 24; align = 8; } g; };" \
        " fields := struct { u32 n; }; };\n", [bare([10, 20], lambda n: struct.pack(">dH", 1.5, 3) +
                                                    struct.pack("<fI", -2.5, n))]
    yield "ids of 64 bits", begin(inside="") + "stream { event.header := struct { u64 id; t64 timestamp; }; };\n" + \
        "event { name = e; id = 0xfffffffffffffff0; stream_id = 0; fields := struct { u32 n; }; };\n", \
        [b"".join(struct.pack("<QQI", 2**64 - 16, at, at) for at in (10, 20))], [10, 20]
    yield "an id in 3 bits", begin(inside="") + "stream { event.header := struct { integer { size = 3; } id; integer" \
        " { size = 29; align = 1; map = clock.c.value; } timestamp; }; };\n" + \
        event("u32 n;").replace("= e", "= e; id = 5"), [b"".join(struct.pack("<II", 5 | at << 3, at) for at in (1, 9))]
    yield "no events declared after use of typedefs", COMMENT + TYPES + "typedef u32 x;\n" + trace() + CLOCK + MAPPED + BARE + \
        event("x n;"), [bare([10, 20])]
    yield "clock and environment before the trace block", COMMENT + TYPES + CLOCK + MAPPED + 'env { a = "b"; };\n' + trace() + \
        BARE + BARE_EVENT, [bare([10, 20])]
    yield "an event before its packet", plain, [packet(numbers(900, 1200), 1000, 2000) +
                                                 packet(numbers(2500, 3000), 2600, 3500)], \
        [900, 1200, 2500, 3000]
    yield "a type of C in a field", begin(inside="") + BARE + "typealias integer { size = 32; align = 8;" \
        " signed = 1; } := int;\ntypealias integer { size = 8; align = 8; encoding = UTF8; } := char;\n" + \
        event("int n; char text[4];"), [bare([10, 20], lambda n: struct.pack("<i4s", -n, b"ab"))]
    yield "enum of int", begin(inside="") + BARE + "typealias integer { size = 32; align = 8; signed = 1; } := int;\n" + \
        event("enum { a, b } t;"), [bare([10, 20])]


def write(path, text, files):
    os.makedirs(path)
    with open(os.path.join(path, "metadata"), "wb") as f:
        f.write(text.encode() if isinstance(text, str) else text)
    for i, data in enumerate(files):
        with open(os.path.join(path, f"stream_{i}"), "wb") as f:
            f.write(data)


def run(*args):
    r = subprocess.run(args, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=20)
    return r.returncode, r.stdout, r.stderr


def by_babeltrace2(path):
    status, out, err = run("babeltrace2", "--clock-seconds", "--no-delta", path)
    found = []
    for line in out.splitlines():
        m = LINE.match(line)
        if m:
            found.append(((-1 if m[1] else 1) * (int(m[2]) * 10**9 + int(m[3])), m[4]))
    return status, found, err


def by_blktop(path):
    status, out, err = run(blk.BLKTOP, "log", "--format", "json", path)
    return status, [(e["time_ns"], e.get("name")) for e in map(json.loads, out.splitlines())], err


def count(path, *args):
    out = run(blk.BLKTOP, "-b", "--no-cache", "--format", "json", "--view", "events", *args, path)[1]
    return sum(r["count"] for r in json.loads(out)["rows"]) if out else -1


def about_equal(ours, theirs):
    """babeltrace2 rounds a clock's offset and its cycles apart from each other."""
    return len(ours) == len(theirs) and all(abs(a[0] - b[0]) <= 1 and a[1] == b[1] for a, b in zip(ours, theirs))


def compare(tap, name, path, times=None):
    if times:
        status, theirs, their_error = 0, [(OFFSET + at, "e") for at in times], ""
    else:
        status, theirs, their_error = by_babeltrace2(path)
    mine, ours, error = by_blktop(path)
    if status or not theirs:
        tap.ok(False, f"{name}: babeltrace2 reads it", their_error)
        return
    tap.ok(mine == 0 and about_equal(sorted(ours), sorted(theirs)), f"{name}: {len(theirs)} events",
           f"status {mine}: {error}", f"found    {ours[:6]}", f"expected {theirs[:6]}")
    tap.equal([count(path, "-j1"), count(path, "-j4", "--slices", "3")], [len(theirs)] * 2, f"{name}: counts")
    if not times:
        out = run(TOOL, "-w", "0", path)[1]
        tap.ok(SAME.search(out), f"{name}: fields", *out.splitlines()[-6:])


# Public traces: what else is to be said on stderr, and the status.
PUBLIC = {
    "two-clocks-of-one-name": ("", 0), "dpdk-stream-without-id": ("", 0), "bt2-event-without-stream_id": ("no clock", 0),
    "bt2-other-uuid": ("another trace's uuid", 0), "zephyr-no-id-no-clock": ("no clock is declared", 3),
}
# babeltrace2's reader has no time for these either, so that it is not suggested.
WITHOUT_TIME = ("barectf-no-id", "bt2-event-without-id", "bt2-unknown-attribute", "ctfts-empty-elements")


def public(tap):
    for name, (words, expected) in PUBLIC.items():
        path = os.path.join(REPORTS, name)
        theirs = by_babeltrace2(path)[1]
        status, ours, error = by_blktop(path)
        ours = [e for e in ours if e[1]]
        tap.ok(status == expected and words in error and about_equal(sorted(ours), sorted(theirs)),
               f"{name}: {len(theirs)} events", status, error, ours[:4], theirs[:4])
    for name in WITHOUT_TIME:
        status, ours, error = by_blktop(os.path.join(REPORTS, name))
        tap.ok(status == 1 and "time" in error and "--reader" not in error and
               ("unknown attribute 'aa'" in error) == (name == "bt2-unknown-attribute"),
               f"{name}: refused, as it has no time", error)
    tap.equal(count(os.path.join(REPORTS, "dpdk-with-id-added")), 263, "dpdk-with-id-added: counts")
    path = os.path.join(REPORTS, "barectf-event-before-packet")
    tap.equal(by_blktop(path)[1], by_babeltrace2(path)[1], "barectf-event-before-packet: times")


def converted(tap, temp):
    """Recordings that babeltrace2 has written, whole and from their middle on."""
    for name in ("kernel-small/trace", "kernel-ust/trace", "net/trace"):
        source = os.path.join(TRACES, name)
        for at in (None, 0.5):
            to = os.path.join(temp, name.replace("/", "-") + str(at))
            args = []
            if at:
                times = [t for t, _ in by_babeltrace2(source)[1]]
                middle = times[int(len(times) * at)]
                args = [f"--begin={middle // 10**9}.{middle % 10**9:09d}"]
            status, _, error = run("babeltrace2", *args, "--output-format=ctf", f"--output={to}", source)
            if not tap.ok(status == 0, f"{name}: written again from {at}", error):
                continue
            theirs = by_babeltrace2(to)[1]
            tap.ok(count(to) == len(theirs) > 0, f"{name}: {len(theirs)} events from {at}", count(to))


def main():
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    blk.need_babeltrace2()
    with tempfile.TemporaryDirectory(prefix="blktop-writers.") as temp:
        for i, (name, text, files, *times) in enumerate(cases()):
            path = os.path.join(temp, str(i))
            write(path, text, files)
            compare(tap, name, path, *times)
        converted(tap, temp)
    if os.path.isdir(REPORTS):
        public(tap)
    else:
        tap.skip("public traces", "there are none beside this source tree")
    tap.done()


main()
