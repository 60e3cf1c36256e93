# SPDX-License-Identifier: GPL-2.0-only
"""Packets of a kernel trace of LTTng, as its tracer writes them: read from the stream files, without a reader of
traces."""
import collections
import os
import re
import struct

# magic, uuid, stream class, instance; begin, end (cycles), content and packet size (bits), number, discarded events, CPU
HEADER = struct.Struct("<I16sIQQQQQQQI")
MAGIC = 0xc1fc1fc1
Packet = collections.namedtuple("Packet", "begin end content size seq discarded cpu")


def packets(trace):
    """{stream file's name: [Packet in order]}; begin and end in cycles."""
    found = {}
    for where, _, names in os.walk(trace):
        for name in sorted(names):
            if not re.search(r"_\d+(_\d+)?$", name):
                continue
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                data = f.read()
            at, all_of_it = 0, []
            while at + HEADER.size <= len(data):
                magic, _, _, _, *rest = HEADER.unpack_from(data, at)
                if magic != MAGIC:
                    raise RuntimeError(f"{path}: no packet of LTTng's kernel tracer at {at}")
                all_of_it.append(Packet(*rest))
                at += all_of_it[-1].size // 8
            found[os.path.relpath(path, trace)] = all_of_it
    return found


def discarded(trace):
    """[(end of the packet before, begin, end, is the next one's first event at this end, cpu)] of each packet with which the
    counter of discarded events rose."""
    rises = []
    for of_stream in packets(trace).values():
        for before, p, after in zip(of_stream, of_stream[1:], of_stream[2:] + [None]):
            if p.discarded != before.discarded:
                rises.append((before.end, p.begin, p.end, after is not None and after.begin == p.end, p.cpu))
    return sorted(rises)
