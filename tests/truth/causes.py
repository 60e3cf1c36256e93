#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the cause that blktop names for each request against the cause that was injected.

The recordings in tests/traces/causes are of a server (src/causes.c there) whose requests are made slow on purpose, each
by one of nine causes, mixed at random with healthy ones. The thread that does the harm writes to truth.jsonl what it
did, from when to when.

From the truth alone a request is
- faulty, of the cause whose injected intervals lie for the longest time over the step of the request that needs the
  resource: the request took more than twice the usual, the overlap is at least 0.6 of the excess over the usual, and no
  other cause has half as much;
- healthy: no injected interval lies over such a step, and it took at most 1.5 times the usual;
- else mixed: not judged.
The usual is the median of the requests that nothing was injected into.

    causes.py [--confusion] [DIR...]     folders with trace/ and truth.jsonl, or packed recordings

BLKTOP_CAUSES_ALL (environment) names a folder with recordings of all kernel events, made by src/make-causes: these are
too large to be kept beside the others.
"""
import collections
import glob
import json
import os
import re
import statistics
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

SLOW = 2            # times the usual: a faulty request takes longer
WITHIN = 1.5        # times the usual: a healthy request does not
MOST = 0.6          # of the excess: what the injected cause explains at least
RIGHT = 0.99        # of the faulty requests of each cause
LEAST_FAULTY, LEAST_HEALTHY = 300, 1000

# The step that needs the resource; None: any of the request. Alone: only the request that it was meant for is hit.
STEPS = {"slow-store": "send", "lock-holder": "lock", "big-encode": "encode", "cpu-hog": None, "writeback": "save",
         "throttled": None, "slow-disk": "save", "full-pipe": "log", "slow-accept": "auth"}
SHARED = ("lock-holder", "full-pipe", "slow-accept")
# What the sentence must hold; "{by}" is the thread that did the harm.
NAMES = {"slow-store": [r"stored", r"slept|computed|ran"],
         "lock-holder": [r"for a lock", r"{by}"],
         "big-encode": [r"encode: computed"],
         "cpu-hog": [r"for a CPU", r"{by}"],
         "writeback": [r"writeback|kernel's own writ", r"kworker|jbd2|flush|{by}"],
         "throttled": [r"throttl|cpu\.max"],
         "slow-disk": [r"disk"],
         "full-pipe": [r"pipe", r"{by}"],
         "slow-accept": [r"auth|socket|accept", r"{by}"]}
NOT = {"slow-disk": r"writeback|kworker|jbd2"}


def hex16(i):
    return f"{i & (1 << 64) - 1:016x}"


def covered(intervals):
    """How long at least one of them lasts."""
    ns, at = 0, 0
    for begin, end in sorted(intervals):
        ns += max(0, end - max(begin, at))
        at = max(at, end)
    return ns


class Request:
    def __init__(self, told):
        self.id = hex16(told["trace"])
        self.number, self.meant, self.how = told["number"], told["fault"], told["how"]
        self.begin, self.end = told["start_ns"], told["end_ns"]
        self.ns = self.end - self.begin
        self.steps = {None: (self.begin, self.end)}
        self.over = collections.defaultdict(list)       # cause: injected intervals over the step
        self.hit = collections.Counter()        # cause: ns that they cover
        self.by = collections.defaultdict(set)  # cause: threads that did the harm
        self.label = None
        self.said = None

    def add(self, i):
        step = self.steps.get(STEPS[i["cause"]])
        if not step or (i["trace_id"] != self.id and i["cause"] not in SHARED):
            return
        interval = max(i["start_ns"], step[0]), min(i["end_ns"], step[1])
        if interval[0] < interval[1]:
            self.over[i["cause"]].append(interval)
            self.hit[i["cause"]] = covered(self.over[i["cause"]])
            self.by[i["cause"]].add(i["tid"])

    def judge(self, usual):
        top = self.hit.most_common(2)
        if not top:
            self.label = "healthy" if self.ns <= WITHIN * usual else "mixed"
            return
        cause, ns = top[0]
        alone = len(top) < 2 or top[1][1] * 2 < ns
        self.label = cause if alone and self.ns > SLOW * usual and ns >= MOST * (self.ns - usual) else "mixed"

    def is_named(self, cause):
        said = self.said or ""
        by = "(?:" + "|".join(rf"/{tid}\b" for tid in sorted(self.by[cause])) + ")" if self.by[cause] else "$^"
        return all(re.search(r.replace("{by}", by), said) for r in NAMES[cause]) and \
            not (cause in NOT and re.search(NOT[cause], said))

    def __str__(self):
        hit = " ".join(f"{c} {ns / 1e6:.1f}ms" for c, ns in self.hit.most_common())
        return f"request {self.number} {self.id} ({self.ns / 1e6:.1f}ms; {self.label}: {hit}): {self.said}"


def read_truth(path):
    """The requests, judged, and the usual duration."""
    with open(os.path.join(path, "truth.jsonl")) as f:
        told = [json.loads(line) for line in f]
    requests = {q.id: q for q in (Request(t) for t in told if t["kind"] == "request")}
    shared = []
    for t in told:
        if t["kind"] == "span" and t["service"] == "thumbd":
            requests[hex16(t["trace"])].steps[t["name"]] = (t["start_ns"], t["end_ns"])
    for t in told:
        if t["kind"] != "injected":
            continue
        t["trace_id"] = hex16(t["trace"])
        if t["cause"] in SHARED:
            shared.append(t)
        else:
            requests[t["trace_id"]].add(t)
    for q in requests.values():
        for t in shared:
            if t["start_ns"] < q.end and t["end_ns"] > q.begin:
                q.add(t)
    usual = statistics.median(q.ns for q in requests.values() if not q.hit)
    for q in requests.values():
        q.judge(usual)
    return list(requests.values()), usual


def first_clause(sentence):
    return (sentence or "").split("; and ")[0]


def ask(requests, trace):
    """What blktop names as the cause of each request."""
    rows = {r["trace_id"]: r for r in blk.rows("traces", trace)}
    for q in requests:
        row = rows.get(q.id, {})
        q.said = row["cause"] if "cause" in row else first_clause(row.get("verdict"))
        q.row = row


def recordings(arguments, stack):
    """(name, folder with trace/ and truth.jsonl) of each."""
    paths = arguments or sorted(glob.glob(os.path.join(blk.find("causes") or "", "*.tar.xz")))
    everything = os.environ.get("BLKTOP_CAUSES_ALL")
    if everything and not arguments:
        paths += sorted(os.path.dirname(p) for p in glob.glob(os.path.join(everything, "*", "truth.jsonl")))
    for path in paths:
        if os.path.isdir(path):
            yield path, path
            continue
        to = tempfile.TemporaryDirectory(prefix="causes-")
        stack.append(to)
        with tarfile.open(path) as tar:
            tar.extractall(to.name)
        inner = to.name if os.path.exists(os.path.join(to.name, "truth.jsonl")) else glob.glob(to.name + "/*")[0]
        yield os.path.basename(path), inner
        to.cleanup()


def right_shares(faulty):
    """cause: (right, all)"""
    found = collections.defaultdict(lambda: [0, 0])
    for q in faulty:
        found[q.label][0] += q.is_named(q.label)
        found[q.label][1] += 1
    return found


def would_pass(faulty, healthy, says):
    """Does a program pass that names says(request), None: no cause?"""
    of = collections.defaultdict(list)
    for q in faulty:
        of[q.label].append(says(q) == q.label)
    return all(sum(v) >= RIGHT * len(v) for v in of.values()) and not any(says(q) for q in healthy)


def check_baselines(tap, faulty, healthy):
    commonest = collections.Counter(q.label for q in faulty).most_common(1)[0][0]
    right = sum(q.label == commonest for q in faulty)
    slow = {q.id for q in faulty}
    tap.ok(not would_pass(faulty, healthy, lambda q: commonest),
           f"the commonest cause ({commonest}) for every request would not pass")
    tap.ok(not would_pass(faulty, healthy, lambda q: commonest if q.id in slow else None),
           f"nor for every slow request: right for {right} of {len(faulty)}")


def check(tap, name, all_of):
    faulty = [q for q in all_of if q.label in STEPS]
    healthy = [q for q in all_of if q.label == "healthy"]
    mixed = len(all_of) - len(faulty) - len(healthy)
    counts = collections.Counter(q.label for q in faulty)
    least = min(counts.get(c, 0) for c in STEPS)
    tap.ok(least >= LEAST_FAULTY and len(healthy) >= LEAST_HEALTHY,
           f"{name}: {len(healthy)} healthy requests, at least {least} faulty ones of each cause", dict(counts))
    tap.ok(mixed * 10 <= len(all_of), f"{name}: {mixed} of {len(all_of)} are neither")
    for cause, (right, of) in sorted(right_shares(faulty).items()):
        tap.ok(right >= RIGHT * of, f"{name}: {cause} is named for {right} of {of}",
               *[q for q in faulty if q.label == cause and not q.is_named(cause)])
    tap.none([q for q in healthy if q.said], f"{name}: none is named for {len(healthy)} healthy requests")
    check_baselines(tap, faulty, healthy)


def confusion(all_of):
    """Which causes the sentences would do for, by injected cause."""
    for label in ["healthy", "mixed", *STEPS]:
        found = collections.Counter()
        for q in all_of:
            if q.label == label:
                for c in STEPS:
                    q.by[c] = q.by[c] or {0}
                found["+".join(c for c in STEPS if q.is_named(c)) or ("?" if q.said else "none")] += 1
        print(f"# {label:12} {dict(found.most_common())}")


def main():
    tap = blk.Tap()
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not blk.have_blktop():
        blk.skip_all("no blktop")
    sets, stack = collections.defaultdict(list), []
    for name, path in recordings(arguments, stack):
        requests, usual = read_truth(path)
        ask(requests, os.path.join(path, "trace"))
        tap.note(f"{name}: {len(requests)} requests, usually {usual / 1e6:.2f} ms")
        sets["all events" if "all" in os.path.basename(name) else "the recipe's events"] += requests
    if not sets:
        blk.skip_all("no recordings")
    for name, all_of in sets.items():
        check(tap, name, all_of)
        if "--confusion" in sys.argv:
            confusion(all_of)
    if not os.environ.get("BLKTOP_CAUSES_ALL"):
        tap.skip("all events", "BLKTOP_CAUSES_ALL is not set: tests/traces/causes/src/make-causes makes these recordings")
    tap.done()


if __name__ == "__main__":
    main()
