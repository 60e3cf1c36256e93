#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the sentence about each request, and what its spans were doing, against the faults that the
recorded server put in on purpose (thumbd.c): request n holds the lock asleep if n % 9 == 0, its store
sleeps if n % 13 == 0, its encode computes six times as much if n % 11 == 0."""
import collections
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

MS = 1000000
FIRST = {"demo": 350}       # the request that faults begin with


def hex16(i):
    return f"{i & (1 << 64) - 1:016x}"


class Request:
    def __init__(self, told, first, row, spans):
        self.number = told["number"]
        on = self.number >= first
        self.holds, self.store, self.encodes = (on and self.number % n == 0 for n in (9, 13, 11))
        self.why, self.ns, self.by = row["verdict"], row["duration_ns"], spans

    def __str__(self):
        return f"request {self.number}: {self.why}"

    def own_sleep(self):
        root = self.by["thumbnail", "server"]
        return root["timer_ns"] - sum(s["timer_ns"] for s in self.by.values()
                                      if s["parent_id"] == root["span_id"] and s["tid"] == root["tid"])


def requests(name, trace):
    by = collections.defaultdict(dict)
    for s in blk.rows("spans", trace):
        by[s["trace_id"]][s["name"], s["kind"]] = s
    told = {hex16(t["trace"]): t for t in blk.truth(name) if t["kind"] == "request"}
    return [Request(told[r["trace_id"]], FIRST.get(name, 0), r, by[r["trace_id"]])
            for r in blk.rows("traces", trace) if r["trace_id"] in told]


def check_locks(tap, name, all_of):
    waits = [q for q in all_of if q.by["lock", None]["duration_ns"] > 5 * MS]
    tap.none([q for q in waits if "for a lock" not in q.why],
             f"{name}: the lock is named for each of {len(waits)} requests that waited for it over 5 ms")
    tap.none([q for q in waits if "holding it" not in q.why and "held it" not in q.why],
             f"{name}: and the thread that released it")
    tap.none([q for q in all_of if "for a lock" in q.why and q.by["lock", None]["duration_ns"] < 2 * MS],
             f"{name}: it is named for no other")
    tap.none([q for q in waits if q.by["lock", None]["futex_ns"] * 2 < q.by["lock", None]["duration_ns"]],
             f"{name}: their lock spans were blocked by a futex")


def check_sleeps(tap, name, all_of):
    held = [q for q in all_of if q.holds]
    tap.none([q for q in held if not 59 * MS <= q.own_sleep() <= 75 * MS],
             f"{name}: the root of each of {len(held)} that held the lock slept 60 ms")
    tap.none([q for q in held if "slept 6" not in q.why and "slept 7" not in q.why],
             f"{name}: and that is named")
    stores = [q for q in all_of if q.store]
    tap.none([q for q in stores if "send in stored: slept" not in q.why],
             f"{name}: the store's sleep is named for each of {len(stores)} slow stores")
    tap.none([q for q in stores if q.by["send", "client"]["socket_ns"] < 75 * MS],
             f"{name}: and their clients waited for the socket")
    tap.none([q for q in all_of if "stored: slept" in q.why and not q.store] +
             [q for q in all_of if q.own_sleep() > 5 * MS and not q.holds],
             f"{name}: no other slept so")


def check_encodes(tap, name, all_of):
    big = [q.by["encode", None]["user_ns"] for q in all_of if q.encodes]
    small = [q.by["encode", None]["user_ns"] for q in all_of if not q.encodes]
    tap.ok(statistics.median(big) > 3 * statistics.median(small),
           f"{name}: the {len(big)} big encodes computed, in user mode, {statistics.median(big)} ns, "
           f"others {statistics.median(small)}")
    # The emulated machine makes an ordinary one compute as long now and then: that is so, too.
    tap.none([q for q in all_of if "encode: computed" in q.why and not q.encodes
              and q.by["encode", None]["user_ns"] < statistics.median(big)],
             f"{name}: an encode that computed is named for no other")


def main():
    tap = blk.Tap()
    for name in ("demo", "rotation", "live", "kernel-ust"):
        trace = blk.find(name, "trace")
        if not trace or not blk.have_blktop():
            tap.skip(name, "no trace, or no blktop")
            continue
        all_of = requests(name, trace)
        tap.ok(len(all_of) > 30, f"{name}: {len(all_of)} requests")
        check_locks(tap, name, all_of)
        check_sleeps(tap, name, all_of)
        check_encodes(tap, name, all_of)
    tap.done()


if __name__ == "__main__":
    main()
