#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What threads read, wrote and synced: blktop's io and files views against a recount of
babeltrace2's text, and against an independent analyser (lttng-analyses' iousagetop) on the public
trace uneven-streams.

The analyser's differences, as its README explains them: system calls before a CPU's first switch
are not its; an exit is paired with whatever call of the thread is pending (this trace holds one CPU
of several); splice and sendfile read and write, as here. It counts a socket of the host as disk."""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
from recount import BOTH, READS, Recount, WRITES

SYNCS = "fsync fdatasync sync_file_range syncfs sync msync".split()
TRACES = ["kernel-small/trace", "kernel-ust/trace", "live/trace", "demo/trace", "rotation/trace",
          "ctf2/kernel-small/trace", "ctf2/kernel-ust/trace"]


def sums(count):
    """{tid: [reads, writes, syncs, bytes read, bytes written]}"""
    found = collections.defaultdict(lambda: [0] * 5)
    for (tid, name), c in count.calls.items():
        if name in READS or name in BOTH:
            found[tid][0] += c.count
        if name in WRITES or name in BOTH:
            found[tid][1] += c.count
        if name in SYNCS:
            found[tid][2] += c.count
    for tid, n in count.read_bytes.items():
        found[tid][3] += n
    for tid, n in count.write_bytes.items():
        found[tid][4] += n
    return {tid: row for tid, row in found.items() if any(row)}


COLUMNS = ("reads", "writes", "syncs", "read_bytes", "write_bytes")


def theirs(view, trace):
    found = collections.defaultdict(lambda: [0] * 5)
    for r in blk.rows(view, trace, "--by", "thread"):
        for i, column in enumerate(COLUMNS):
            found[r["tid"]][i] += r[column]
    return {tid: row for tid, row in found.items() if any(row)}


def compare(tap, what, expected, found):
    bad = [f"tid {tid}: {found.get(tid)} not {expected.get(tid)}"
           for tid in sorted(expected.keys() | found.keys(), key=str)
           if expected.get(tid) != found.get(tid)]
    tap.none(bad, what)


def one(tap, name, trace):
    expected = sums(Recount(btparse.events(trace)))
    compare(tap, f"{name}: reads, writes, syncs, bytes of {len(expected)} threads, by kind",
            expected, theirs("io", trace))
    # sync() is of no file.
    for row in expected.values():
        row[2] = 0
    found = theirs("files", trace)
    for row in found.values():
        row[2] = 0
    compare(tap, f"{name}: the same by file", {t: r for t, r in expected.items() if any(r)},
            {t: r for t, r in found.items() if any(r)})


def load(name):
    with open(os.path.join(blk.SHARED, "oracle", "uneven-streams", name)) as f:
        return json.load(f)["results"]


def oracle(tap, trace):
    events = btparse.events(trace)
    count = Recount(events)
    mismatched = {tid for tid, *_ in count.mismatched}
    early = collections.Counter()
    for tid, name, _, ret in count.early:
        if ret and ret > 0 and name in READS + BOTH:
            early[tid, "read"] += ret
        if ret and ret > 0 and name in WRITES + BOTH:
            early[tid, "written"] += ret
    found = collections.defaultdict(collections.Counter)
    for r in blk.rows("io", trace, "--by", "thread"):
        found[r["tid"]]["read"] += r["read_bytes"]
        found[r["tid"]]["written"] += r["write_bytes"]
        found[r["tid"]]["read", r["kind"]] += r["read_bytes"]
        found[r["tid"]]["written", r["kind"]] += r["write_bytes"]
    bad, n, kinds = [], 0, []
    for what, table in zip(("read", "written"), load("iousagetop.mi.json")[:2]):
        for who, total, disk, net, unknown in table["data"]:
            tid = who["tid"]
            n += 1
            if tid in mismatched:
                continue
            if found[tid][what] - early[tid, what] != total["value"]:
                bad.append(f"tid {tid}: {found[tid][what]} - {early[tid, what]} {what} not {total['value']}")
            if not net["value"] and found[tid][what, "net"]:
                kinds.append(f"tid {tid}: {what} from the network, not by the analyser")
            if disk["value"] > found[tid][what, "disk"] + found[tid][what, "unix"] + sum(
                    found[tid][what, k] for k in ("event", "tty", "pipe", "socket")):
                kinds.append(f"tid {tid}: {disk['value']} {what} on disk, not "
                             f"{found[tid][what, 'disk']}")
    tap.none(bad, f"uneven-streams: bytes of {n} threads as the analyser has them")
    tap.none(kinds, "uneven-streams: what it knows to be disk or network is so here")


def latencies(tap, trace):
    """The analyser's Open, Read, Write, Sync: counts and the extremes, from the syscalls view."""
    count = Recount(btparse.events(trace))
    names = {"Open": ["open", "openat", "socket"], "Read": READS + BOTH, "Write": WRITES + BOTH, "Sync": SYNCS}
    early = collections.Counter(name for _, name, _, _ in count.early)
    wrong = collections.Counter(name for _, name, _, _ in count.mismatched)
    found = collections.defaultdict(list)
    for r in blk.rows("syscalls", trace, "--by", "thread"):
        found[r["syscall"]].append(r)
    for kind, n, low, _, high, _ in load("iolatencystats.mi.json")[0]["data"]:
        mine = [r for name in names[kind["value"]] for r in found[name] if r["count"]]
        total = sum(r["count"] for r in mine) - sum(early[x] - wrong[x] for x in names[kind["value"]])
        tap.equal(total, n["value"], f"uneven-streams: {kind['value']}: calls")
        if mine and n["value"]:
            tap.ok(min(r["min_ns"] for r in mine) <= low["value"], f"{kind['value']}: shortest")
            longest = max([r["max_ns"] for r in mine] +
                          [ns for _, name, ns, _ in count.mismatched if name in names[kind["value"]]])
            tap.ok(longest >= high["value"], f"{kind['value']}: longest")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if trace:
            one(tap, name, trace)
    trace = blk.find("public", "uneven-streams")
    if trace and os.path.isdir(os.path.join(blk.SHARED, "oracle", "uneven-streams")):
        oracle(tap, trace)
        latencies(tap, trace)
    else:
        tap.skip("uneven-streams", "the trace or its oracle is not there")
    tap.done()


if __name__ == "__main__":
    main()
