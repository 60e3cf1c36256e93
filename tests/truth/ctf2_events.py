# SPDX-License-Identifier: GPL-2.0-only
"""What build/tools/print-events says of a trace, as babeltrace2's text (--clock-cycles --no-delta)
would say it, to be compared line by line."""
import collections
import json
import os
import re
import subprocess

import blk
from ctf2_text import show, sorted_labels

TOOL = os.path.join(os.environ.get("BUILD", os.path.join(blk.ROOT, "build")), "tools", "print-events")
LINE = re.compile(r"\[(\d+)\] (\S+) (\S+): \{ cpu_id = (\d+) \}")
# print-events leaves out the lengths of sequences.
LENGTH = re.compile(r"(?<=[{,] )_\w*_length = \d+(, )?")
NO_LABEL = re.compile(r"\( <unknown> : container = (\S+) \)")


class Refused(Exception):
    pass


def events(*traces, reader=()):
    """(events, losses, streams) as the tool prints them. Raises Refused with the reader's message."""
    with subprocess.Popen([TOOL, *reader, *traces], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="surrogatepass", stdin=subprocess.DEVNULL) as p:
        found, losses, streams = [], [], []
        for line in p.stdout:
            j = json.loads(line)
            if "streams" in j:
                streams = j["streams"]
            else:
                (losses if "lost" in j else found).append(j)
        said = p.stderr.read()
    if p.returncode or said:
        raise Refused(said.strip() or f"exit status {p.returncode}")
    return found, losses, streams


def host(stream):
    """babeltrace2 says of buffers of one process: HOST:PROCNAME:(VPID)."""
    return f"{stream['host']}:{stream['procname']}:({stream['vpid']})" if stream["vpid"] >= 0 else stream["host"]


def variant_names(trace):
    """{name of an event class: names of its members that are variants} of CTF 2 metadata below a
    directory; of contexts under None. print-events shows variants as structures of one member."""
    found = collections.defaultdict(set)

    def walk(owner, name, j):
        if isinstance(j, dict):
            if j.get("type") == "variant":
                found[owner].add(name)
            for v in j.values():
                walk(owner, j.get("name", name) if "field-class" in j else name, v)
        elif isinstance(j, list):
            for v in j:
                walk(owner, name, v)
    for f in metadata_fragments(trace):
        if f["type"] in ("event-record-class", "data-stream-class"):
            walk(f["name"] if f["type"] == "event-record-class" else None, None, f)
    return found


def with_variants(v, names):
    if isinstance(v, list):
        return [with_variants(x, names) for x in v]
    if not isinstance(v, dict) or "struct" not in v:
        return v
    members = [[n, with_variants(x, names)] for n, x in v["struct"]]
    return {"struct": [[n, {"variant": x["struct"][0]} if n in names else x] for n, x in members]}


def to_line(e, stream, offset, variants):
    parts = ["{ cpu_id = %d }" % e["cpu"]]
    names = variants[None] | variants[e["class"]]
    parts += [scope(with_variants(e[s], names)) for s in ("common", "specific") if e[s] is not None]
    parts.append(scope(with_variants(e["payload"] or {"struct": []}, names)))
    return sorted_labels(f"[{e['ns'] - offset:020d}] {host(stream)} {e['class']}: " + ", ".join(parts))


def scope(v):
    return show(v).replace("{}", "{ }")


def normal(line):
    """babeltrace2's line, as far as print-events can say the same."""
    return sorted_labels(NO_LABEL.sub(r"\1", LENGTH.sub("", line)).replace(",  }", " }").replace(", }", " }"))


def by_stream(lines):
    """Lines in order, by host, cpu, and whether they are of user space."""
    found = collections.defaultdict(list)
    for line in lines:
        m = LINE.match(line)
        if not m:
            raise ValueError(f"not understood: {line[:200]}")
        found[m[2], m[4], ":" in m[3]].append(line)
    return found


def differences(ours, theirs):
    """Of two lists of lines, stream by stream: what is not the same."""
    ours, theirs, bad = by_stream(ours), by_stream(theirs), []
    for key in sorted(set(ours) | set(theirs)):
        a, b = ours[key], theirs[key]
        if len(a) != len(b):
            bad.append(f"{key}: {len(a)} events, of babeltrace2 {len(b)}")
        bad += [f"native      {x}\nbabeltrace2 {y}" for x, y in zip(a, b) if x != y][:3]
    return bad


def metadata_fragments(trace):
    for folder, _, files in os.walk(trace):
        if "metadata" in files:
            with open(os.path.join(folder, "metadata"), "rb") as f:
                data = f.read()
            for part in data.split(b"\x1e")[1:] if data[:1] == b"\x1e" else ():
                yield json.loads(part)


def metadata_offsets(trace):
    """{offset of the clock, ns} of the CTF 2 metadata below a directory, as the metadata says it."""
    found = set()
    for c in metadata_fragments(trace):
        if c["type"] == "clock-class":
            offset = c.get("offset-from-origin", {})
            found.add(offset.get("seconds", 0) * 10**9 + offset.get("cycles", 0) * 10**9 // c["frequency"])
    return found
