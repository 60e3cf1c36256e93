#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Namespaces of processes: blktop's processes view against the state dump and the forks in
babeltrace2's text. A child is in its parent's namespaces, but for the pid namespace that the fork
tells."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "kernel-ust/trace", "live/trace", "demo/trace",
          "ctf2/kernel-ust/trace"]
SUMMED = [("processes", "cpu_ns"), ("processes", "syscalls"), ("syscalls", "count"),
          ("files", "read_bytes"), ("io", "write_bytes")]
KINDS = ("pid", "cgroup", "uts")
FIRST = {"pid": 4026531836, "cgroup": 4026531835, "uts": 4026531838}


def namespaces(events):
    found = {}
    for e in events:
        for kind in KINDS:
            if e.name == f"lttng_statedump_process_{kind}_ns":
                found.setdefault(e.payload["tid"], {})[kind] = e.payload["ns_inum"]
        if e.name == "sched_process_fork" and e.payload["child_tid"] == e.payload["child_pid"]:
            child = dict(found.get(e.payload["parent_pid"], {}))
            child["pid"] = e.payload["child_ns_inum"]
            found[e.payload["child_pid"]] = child
    return found


def container(ns):
    for kind in KINDS:
        if ns.get(kind) and ns[kind] != FIRST[kind]:
            return f"{kind}:{ns[kind]}"
    return "host" if ns else None


def sums(trace):
    """By container the sums are those of the container's rows by process."""
    bad = []
    for view, column in SUMMED:
        mine = {}
        for r in blk.rows(view, trace, "--by", "process"):
            who = r["host"], r["container"]
            mine[who] = mine.get(who, 0) + (r[column] or 0)
        theirs = {}
        for r in blk.rows(view, trace, "--by", "container"):
            who = r["host"], r["container"]
            theirs[who] = theirs.get(who, 0) + (r[column] or 0)
        if mine != theirs:
            bad.append(f"{view} {column}: {theirs} not {mine}")
    return bad


def one(tap, name, trace):
    expected = namespaces(btparse.events(trace))
    bad, n = [], 0
    for r in blk.rows("processes", trace):
        ns = expected.get(r["pid"])
        if ns is None:
            continue
        n += 1
        mine = [ns.get(k) for k in KINDS] + [container(ns)]
        theirs = [r[k + "_ns"] for k in KINDS] + [r["container"]]
        if mine != theirs:
            bad.append(f"pid {r['pid']}: {theirs} not {mine}")
        if ns.get("pid") == FIRST["pid"] and r["vpid"] != r["pid"]:
            bad.append(f"pid {r['pid']}: vpid {r['vpid']}")
    tap.ok(n > 10, f"{name}: {n} processes with known namespaces")
    tap.none(bad, f"{name}: their namespaces and containers")
    tap.none(sums(trace), f"{name}: what containers come to")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if trace:
            one(tap, name, trace)
    tap.done()


if __name__ == "__main__":
    main()
