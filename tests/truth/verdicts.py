#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the sentence about each request, what its spans were doing, and the critical path against
what the recorded server did (thumbd.c; tests/traces/README.md). The server puts faults in on purpose,
and says in its truth every how many requests, and how long: the lock is held asleep, the store sleeps, the
encode computes more. Who held the lock while somebody waited follows from the truth, too: the lock
is held from the end of a request's span `lock` until its span `open` begins.

    verdicts.py            the recordings
    verdicts.py DIR...     folders with trace/ and truth.jsonl
"""
import collections
import json
import os
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

MS = 1000000
NAMES = ("demo", "rotation", "live", "kernel-ust", "thumb", "crowd", "ctf2/demo", "ctf2/rotation", "ctf2/kernel-ust")
# What the server does if its truth says nothing else.
USUAL = {"lock_every": 9, "lock_ms": 60, "store_every": 13, "store_ms": 80, "encode_every": 11,
         "faults_from": 0}
FIRST = {"demo": 350, "ctf2/demo": 350}       # the request that faults begin with, where the truth does not say it
CPU = ("preempted_ns", "wakeup_ns")


def hex16(i):
    return f"{i & (1 << 64) - 1:016x}"


class Request:
    def __init__(self, told, run, row, spans, truth, critical, path):
        self.number, self.run = told["number"], run
        on = self.number >= run["faults_from"]
        self.holds, self.store, self.encodes = (
            bool(told.get(said, on and run[k] and self.number % run[k] == 0))
            for said, k in (("holds", "lock_every"), ("store", "store_every"), ("encodes", "encode_every")))
        self.why, self.ns, self.by, self.truth = row["verdict"] or "", row["duration_ns"], spans, truth
        self.excess = 0             # over the usual; 0: within it, so that no cause is named
        self.row, self.critical, self.path = row, critical, path
        self.waited = 0             # for others who held the lock; and who did longest
        self.holder = None

    def __str__(self):
        did = [f"waited {self.waited / MS:.1f}ms for {self.holder}" if self.waited > MS else "",
               "held" if self.holds else "", "store" if self.store else "", "encode" if self.encodes else ""]
        return f"request {self.number} ({self.ns / MS:.0f}ms; {' '.join(d for d in did if d)}): {self.why}"

    def own_sleep(self):
        root = self.by["thumbnail", "server"]
        return root["timer_ns"] - sum(s["timer_ns"] for s in self.by.values()
                                      if s["parent_id"] == root["span_id"] and s["tid"] == root["tid"])

    def spent(self, **like):
        """How long the path is like that: name and kind of the span, state, tid."""
        return sum(p["end_ns"] - p["begin_ns"] for p in self.path if all(p.get(k) == v for k, v in like.items()))

    def on_path(self, *key):
        name, kind = key
        return (name, kind) in self.critical or self.by[key]["duration_ns"] * 9 < self.ns


def find_excess(all_of):
    """The usual is that of the faster half of the requests: their 25th percentile."""
    usual = sorted(q.ns for q in all_of)[len(all_of) // 4]
    for q in all_of:
        q.excess = q.ns - usual if q.ns > 1.8 * usual else 0


def find_holders(all_of):
    """How long each waited for the lock while another had it, and who had it longest."""
    held = sorted((q.truth["lock", "thumbd"]["end_ns"], q.truth["open", "thumbd"]["start_ns"], q.truth["lock", "thumbd"]["tid"])
                  for q in all_of)
    for q in all_of:
        a, b = q.truth["lock", "thumbd"]["start_ns"], q.truth["lock", "thumbd"]["end_ns"]
        by = collections.Counter()
        for x, y, tid in held:
            if x < b and y > a and tid != q.truth["lock", "thumbd"]["tid"]:
                by[tid] += min(y, b) - max(x, a)
        # The truth encloses the span: its thread may have lost its CPU in between.
        q.waited = min(sum(by.values()), q.by["lock", None]["duration_ns"])
        q.holder = by.most_common(1)[0][0] if by else None


def below(spans):
    for s in spans:
        yield s
        yield from below(s["children"])


def segments(trace):
    """The critical path of the root, each segment with the name and kind of its span."""
    spans = {(s["span_id"], (s["thread"] or {}).get("tid")): s for s in below(trace["spans"])}
    for p in trace["spans"][0]["critical_path"]:
        p["tid"] = (p["thread"] or {}).get("tid")
        s = spans.get((p["span_id"], p["tid"])) if p["trace_id"] == trace["trace_id"] else None
        p["name"], p["span_kind"] = (s["name"], s["kind"]) if s else (None, None)
        yield p


def requests(name, trace, told):
    by, runs, truth, critical, path = (collections.defaultdict(dict) for _ in range(5))
    for s in blk.rows("spans", trace):
        by[s["trace_id"]][s["name"], s["kind"]] = s
    processes = [t for t in told if t["kind"] == "process" and t["service"] == "thumbd"]
    run = dict(USUAL, faults_from=FIRST.get(name, 0))
    for t in processes:
        run.update((k, t[k]) for k in USUAL if k in t)
    for t in told:
        if t["kind"] == "span":
            truth[hex16(t["trace"])][t["name"], t["service"]] = t
    for t in json.loads(blk.blktop("--export-slowest", "100000", "--format", "json", trace)[1])["traces"]:
        path[t["trace_id"]] = list(segments(t))
        critical[t["trace_id"]] = {(s["name"], s["kind"]) for s in below(t["spans"]) if s["critical"]}
    asked = {hex16(t["trace"]): t for t in told if t["kind"] == "request"}
    all_of = [Request(asked[r["trace_id"]], run, r, by[r["trace_id"]], truth[r["trace_id"]],
                      critical[r["trace_id"]], path[r["trace_id"]])
              for r in blk.rows("traces", trace) if r["trace_id"] in asked and
              len(by[r["trace_id"]]) == len(truth[r["trace_id"]])]      # all of it was recorded
    runs = collections.defaultdict(list)
    for q in all_of:            # each run of the server has a lock of its own
        runs[q.truth["lock", "thumbd"]["pid"]].append(q)
    for of_run in runs.values():
        find_holders(of_run)
    find_excess(all_of)
    return all_of


def check_locks(tap, name, all_of):
    waits = [q for q in all_of if q.waited > 5 * MS]
    named = [q for q in waits if q.excess and q.waited * 8 > q.excess]
    tap.none([q for q in named if "for a lock" not in q.why],
             f"{name}: the lock is named for each of {len(named)} requests that waited for it over 5 ms, an eighth of the excess")
    tap.none([q for q in named if "holding it" not in q.why and "held it" not in q.why],
             f"{name}: and that somebody held it")
    tap.none([q for q in named if not re.search(rf"/{q.holder}\b", q.why)],
             f"{name}: namely who had it for most of the time")
    tap.none([q for q in waits if not q.on_path("lock", None)], f"{name}: and lies on the critical path")
    tap.none([q for q in all_of if re.search(r"for a lock\b(?! of the file)", q.why) and q.waited < 4 * MS],
             f"{name}: it is named for no other")
    tap.none([q for q in waits if sum(q.by["lock", None][k] for k in ("futex_ns", *CPU)) * 2 < q.waited],
             f"{name}: their lock spans were blocked by a futex")


def slept(tap, found, told_ms, what):
    """None shorter, and the median to 5 %: an emulated machine's timers come late now and then."""
    tap.ok(not found or (min(found) >= told_ms * MS and statistics.median(found) <= told_ms * 1.05 * MS), what,
           *sorted(found))


def check_sleeps(tap, name, all_of):
    held = [q for q in all_of if q.holds]
    lock, store = (all_of[0].run[k] for k in ("lock_ms", "store_ms"))
    slept(tap, [q.own_sleep() for q in held], lock,
          f"{name}: the root of each of {len(held)} that held the lock slept {lock} ms")
    tap.none([q for q in held if q.excess and lock * MS * 8 > q.excess and not re.search(r"(^|; and )slept ", q.why)],
             f"{name}: and that is named, if it is an eighth of the excess")
    stores = [q for q in all_of if q.store]
    tap.none([q for q in stores if q.excess and store * MS * 8 > q.excess and "send in stored: slept" not in q.why],
             f"{name}: the store's sleep is named for each of {len(stores)} slow stores")
    slept(tap, [q.by["send", "server"]["timer_ns"] for q in stores], store, f"{name}: which was {store} ms")
    tap.none([q for q in stores if q.by["send", "client"]["socket_ns"] + sum(q.by["send", "client"][k] for k in CPU) < store * .95 * MS],
             f"{name}: and their clients waited for the socket")
    tap.none([q for q in stores if not q.on_path("send", "client") or not q.on_path("send", "server")],
             f"{name}: and that lies on the critical path")
    tap.none([q for q in all_of if "stored: slept" in q.why and not q.store] +
             [q for q in all_of if re.search(r"(^|; and )slept ", q.why) and not q.holds] +
             [q for q in all_of if q.own_sleep() > 2 * MS and not q.holds],
             f"{name}: no other slept so")


def check_encodes(tap, name, all_of):
    big = [q.by["encode", None]["user_ns"] for q in all_of if q.encodes]
    small = [q.by["encode", None]["user_ns"] for q in all_of if not q.encodes]
    if not big or not small:
        return
    usual = statistics.median(small)
    tap.ok(statistics.median(big) > 3 * usual,
           f"{name}: the {len(big)} big encodes computed, in user mode, {statistics.median(big)} ns, "
           f"others {usual}")
    slow = [q for q in all_of if q.encodes and q.excess and (q.by["encode", None]["user_ns"] - usual) * 8 > q.ns]
    tap.none([q for q in slow if "encode: computed" not in q.why],
             f"{name}: that is named for each of {len(slow)} of which it is an eighth")
    tap.none([q for q in slow if not q.on_path("encode", None)], f"{name}: and lies on the critical path")
    # The emulated machine makes an ordinary one compute as long now and then: that is so, too.
    tap.none([q for q in all_of if "encode: computed" in q.why and not q.encodes
              and q.by["encode", None]["user_ns"] < statistics.median(big) / 2],
             f"{name}: an encode that computed is named for no other")


def check_cpus(tap, name, all_of):
    """Time without a CPU is named wherever it is the most, and a fifth of the whole."""
    def most(q):
        parts = {k: v for k, v in q.row.items() if k.endswith("_ns") and k not in
                 ("begin_ns", "end_ns", "duration_ns", "to_last_ns", "self_ns", *CPU)}
        return max(parts.values())
    waits = [q for q in all_of if q.excess and sum(q.row[k] for k in CPU) > max(most(q), q.ns / 5)]
    tap.none([q for q in waits if "for a CPU" not in q.why],
             f"{name}: a wait for a CPU is named for {len(waits)} requests that it kept longest")
    tap.none([q for q in all_of if "for a CPU" in re.sub(r"; [^;]* (of it|holding it)[^;]*", "", q.why) and
              sum(s[k] for s in q.by.values() for k in CPU) * 16 < q.ns], f"{name}: and for none without one")


def is_whole(q):
    ends = [q.row["begin_ns"], *(p["end_ns"] for p in q.path)]
    return [p["begin_ns"] for p in q.path] == ends[:-1] and ends[-1] == q.row["end_ns"]


def most_with(q):
    """The thread with which the path was longest while the request waited for its lock."""
    by = collections.Counter()
    lock = q.by["lock", None]
    for p in q.path:
        if lock["begin_ns"] <= p["begin_ns"] < lock["end_ns"] and p["tid"] != lock["tid"]:
            by[p["tid"]] += p["end_ns"] - p["begin_ns"]
    return by.most_common(1)[0] if by else (None, 0)


def check_paths(tap, name, all_of):
    """What the critical path is spent on, thread by thread, is what the server did."""
    tap.none([q for q in all_of if not is_whole(q)], f"{name}: critical paths are whole, to the nanosecond")
    waits = [q for q in all_of if q.waited > 5 * MS]
    tap.none([q for q in waits if most_with(q)[0] != q.holder or most_with(q)[1] < q.waited / 2],
             f"{name}: the paths of {len(waits)} that waited for the lock go on in the thread that had it")
    lock, store = (all_of[0].run[k] * MS for k in ("lock_ms", "store_ms"))
    tap.none([q for q in all_of if q.holds and q.spent(name="thumbnail", state="timer", hops=0) < lock],
             f"{name}: of those that held it, in their own sleep")
    tap.none([q for q in all_of if q.store and q.spent(name="send", span_kind="server", state="timer") < store * .95],
             f"{name}: of slow stores, in the store's sleep")
    tap.none([q for q in all_of if q.encodes and q.spent(name="encode", state="cpu") < q.by["encode", None]["user_ns"] * .95],
             f"{name}: of big encodes, on the CPU")
    tap.none([q for q in all_of if not q.store and q.spent(name="send", span_kind="server", state="timer") > 5 * MS] +
             [q for q in all_of if not q.holds and q.spent(name="thumbnail", state="timer", hops=0) > 5 * MS],
             f"{name}: and of no other")
    said = [(q, int(m[1])) for q in all_of for m in [re.search(r"/(\d+) slept holding it", q.why)] if m]
    tap.none([q for q, tid in said if q.spent(tid=tid, state="timer") < 4 * MS],
             f"{name}: {len(said)} sentences blame who slept with the lock, and so do the paths")


ASK = """[ask]
begin=syscall_entry_recvfrom
begin_if=ctx.procname =~ ^thumbd-w
end=syscall_exit_recvfrom
end_if=ctx.procname =~ ^thumbd-w
"""


def check_bare(tap, name, trace, all_of):
    """By the kernel's events alone, with the client's calls as spans: the store has none."""
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules:
        rules.write(ASK)
        rules.flush()
        text = blk.blktop("--spans", rules.name, "--export-slowest", "100000", "--format", "json",
                          os.path.join(trace, "kernel"))[1]
    asks = [t["spans"][0] for t in json.loads(text)["traces"]]
    store = all_of[0].run["store_ms"] * MS
    slow = [s for s in asks if sum(p["end_ns"] - p["begin_ns"] for p in s["critical_path"]
                                   if p["state"] == "timer" and p["thread"]["comm"] == "stored-conn") > store * .95]
    wanted = sum(q.store for q in all_of)
    tap.ok(len(slow) == wanted,
           f"{name}: without the store's spans {len(slow)} of {wanted} paths end in its sleep")
    tap.none([s["why"] for s in slow if not re.search(r"woken by stored-conn.*; stored-conn/\d+ (\S.* for \S+ of it, )?slept for ",
                                           s["why"])],
             f"{name}: and the sentences say so")


def check(tap, name, trace, told):
    all_of = requests(name, trace, told)
    tap.ok(len(all_of) > 30, f"{name}: {len(all_of)} requests")
    check_locks(tap, name, all_of)
    check_sleeps(tap, name, all_of)
    check_encodes(tap, name, all_of)
    check_cpus(tap, name, all_of)
    check_paths(tap, name, all_of)
    if name not in ("thumb", "crowd") and os.path.isdir(os.path.join(trace, "kernel")):     # few system calls
        check_bare(tap, name, trace, all_of)


def main():
    tap = blk.Tap()
    for path in sys.argv[1:]:
        with open(os.path.join(path, "truth.jsonl")) as f:
            check(tap, path, os.path.join(path, "trace"), [json.loads(line) for line in f])
    for name in NAMES if len(sys.argv) == 1 else ():
        trace = blk.find(name, "trace")
        if not trace or not blk.have_blktop():
            tap.skip(name, "no trace, or no blktop")
            continue
        check(tap, name, trace, blk.truth(name))
    tap.done()


if __name__ == "__main__":
    main()
