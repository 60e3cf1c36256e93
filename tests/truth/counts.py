#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Event counts by host and name: blktop's events view against babeltrace2's text, on every trace
there is. Where babeltrace2's muxer gives up on a trace of one stream, the stream is printed without
the muxer; where such a trace has more streams it is skipped."""
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

LINE = re.compile(r"\[\S+\] (?:\(\S+\) )?(?:(\S+) )?(\S+): \{")
OWN = ["demo/trace", "kernel-small/trace", "kernel-ust/trace", "live/trace", "rotation/trace",
       "snapshot/trace", "lost/trace", "lost/trace-overwrite", "ctf2/demo/trace", "ctf2/kernel-small/trace",
       "ctf2/kernel-ust/trace", "ctf2/rotation/trace", "ctf2/snapshot/trace", "ctf2/lost/trace",
       "ctf2/lost/trace-overwrite", "ctf2/ust-both/ctf-1.8", "ctf2/ust-both/ctf-2"]
# The README of the recordings says how many events babeltrace2 finds in all.
# (Of scp_src and scp_dest it says what babeltrace2 prints before its muxer gives up.)
TOTAL = {"demo/trace": 197943, "kernel-small/trace": 46153, "kernel-ust/trace": 57269,
         "live/trace": 187474, "rotation/trace": 82184, "snapshot/trace": 18372,
         "lost/trace": 6470, "lost/trace-overwrite": 9270, "uneven-streams": 50618,
         "flipping-endianness": 14310, "scp_src": 110771, "scp_dest": 85729,
         "perf-taskset2": 1500, "ros2": 99338, "context-switches-ust": 3934,
         "glxgears-cyg-profile": 4977, "ctf2/demo/trace": 188563, "ctf2/kernel-small/trace": 48607,
         "ctf2/kernel-ust/trace": 53929, "ctf2/rotation/trace": 108706, "ctf2/snapshot/trace": 18447,
         "ctf2/lost/trace": 1967, "ctf2/lost/trace-overwrite": 3750, "ctf2/ust-both/ctf-1.8": 13200,
         "ctf2/ust-both/ctf-2": 13200}
# All CPUs of perf are in one stream: the native reader refuses that, and says what may read it.
OTHER_READER = {"public/perf-taskset2": ("--reader", "babeltrace2")}


def count(lines):
    found, odd = collections.Counter(), 0
    for line in lines:
        m = LINE.match(line)
        if m:
            # (Of buffers per process it prints "host:process:(pid)".)
            found[(m[1] or "?").split(":")[0], m[2]] += 1
        else:
            odd += 1
    if odd:
        raise RuntimeError(f"{odd} lines of babeltrace2's text are not understood")
    return found


def one(tap, name, trace):
    try:
        mine = count(btparse.lines(trace))
    except RuntimeError as e:
        tap.skip(name, str(e))
        return
    total = TOTAL.get(name.split("/", 1)[-1] if name.startswith("public/") else name)
    if total is not None:
        tap.equal(sum(mine.values()), total, f"{name}: events that babeltrace2 prints")
    if not blk.have_blktop():
        tap.skip(f"{name}: {sum(mine.values())} events", f"no {blk.BLKTOP}")
        return
    try:
        theirs = collections.Counter()
        more = OTHER_READER.get(name, ())
        whole, = blk.objects("events", trace, *more, lossy=True)
        for r in whole["rows"]:
            theirs[r["host"], r["name"]] += r["count"]
    except (blk.Failed, KeyError) as e:
        tap.ok(False, f"{name}: blktop's rows", repr(e))
        return
    if {h for h, _ in mine} == {"?"} and len({h for h, _ in theirs}) == 1:  # no name in the trace
        theirs = collections.Counter({("?", n): c for (_, n), c in theirs.items()})
    bad = [f"{host} {event}: {theirs[host, event]} not {mine[host, event]}"
           for host, event in sorted(mine.keys() | theirs.keys(), key=str)
           if theirs[host, event] != mine[host, event]]
    tap.none(bad, f"{name}: {sum(mine.values())} events of {len(mine)} kinds")
    lost = collections.Counter()
    for n, what, _, _ in btparse.losses(trace):
        lost[what] += n
    tap.equal((whole["trust"]["lost_events"], whole["trust"]["lost_packets"]),
              (lost["event"], lost["packet"]), f"{name}: lost events and packets")
    if sum(lost.values()):
        streams = collections.defaultdict(lambda: [0, 0, 0])   # a CPU has one of each buffer
        for r in blk.rows("losses", trace, *more, lossy=True):
            more = r["losses"], r["events"] or 0, r["packets"]
            streams[r["cpu"]] = [a + b for a, b in zip(streams[r["cpu"]], more)]
        tap.equal(streams, btparse.losses_by_cpu(trace), f"{name}: losses of each stream")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    for name in OWN:
        trace = btparse.recording(tap, name)
        if trace:
            one(tap, name, trace)
    public = blk.find("public")
    if not public:
        tap.skip("public traces", "they are not there")
    else:
        for trace in sorted(glob.glob(os.path.join(public, "*/"))):
            one(tap, "public/" + os.path.basename(trace.rstrip("/")), trace.rstrip("/"))
    tap.done()


if __name__ == "__main__":
    main()
